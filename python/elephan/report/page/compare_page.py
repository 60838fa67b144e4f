"""The report of a comparison: the answer, the figures of merit of each congestion control, then a section for each question."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from elephan.base.quantity import counted, show
from elephan.base.stats import Interval
from elephan.experiment.claims import interval_text
from elephan.experiment.compare.experiments import STATISTICS
from elephan.experiment.compare.panel import Panel
from elephan.report.figure import panel_figures as figures
from elephan.report.page.notebook import answered
from elephan.report.page.page import (
    Cell,
    Column,
    Group,
    Page,
    Section,
    Table,
    interval_cell,
    number_cell,
    of_failures,
    parameter_groups,
)
from elephan.report.page.run_page import facts
from elephan.report.style import Drawing
from elephan.report.words.few import few
from elephan.report.words.unheard import unheard

FAIR = 0.95  # Jain's index from which two flows count as sharing equally


def _extreme(
    panel: Panel, value: Callable[[str], Interval], largest: bool, of: list[str] | None = None
) -> tuple[str, Interval] | None:
    known = {label: value(label) for label in of or panel.labels}
    known = {label: interval for label, interval in known.items() if not math.isnan(interval.mean)}
    if not known:
        return None
    choose = max if largest else min
    label = choose(known, key=lambda name: known[name].mean)
    return label, known[label]


def _span(panel: Panel, value: Callable[[str], Interval], unit: str, what: str) -> str:
    """The lowest and the highest congestion control of a quantity."""
    low, high = _extreme(panel, value, False), _extreme(panel, value, True)
    if low is None or high is None:
        return ""
    if low[0] == high[0]:
        return f"{what} {interval_text(low[1], unit, 3)} with {low[0]}"
    return f"{what} {interval_text(low[1], unit, 3)} with {low[0]} and {interval_text(high[1], unit, 3)} with {high[0]}"


def answer(panel: Panel) -> list[str]:
    """What came out, in a few sentences with numbers."""
    goodput = _span(panel, lambda controller: panel.interval("alone", controller, "goodput_bps"), "bps", "One flow alone gets")
    delay = _span(
        panel, lambda controller: panel.interval("alone", controller, "queue_delay_mean_ns"), "ns", "the mean queueing delay is"
    )
    sentences = [f"{goodput}; {delay}."]
    others = [label for label in panel.labels if label != "reno"]
    if others:
        kept = _span(panel, panel.friendliness, "1", "A Reno flow keeps")
        if len(others) < len(panel.labels):
            taking = [label for label in others if panel.friendliness(label).high < 1]
            least = _extreme(panel, panel.friendliness, False, taking or others)
            kept = f"A Reno flow keeps least beside {least[0]}, {interval_text(least[1], '1', 3)}" if least else ""
            if least and not taking:
                least_text = interval_text(least[1], "1", 3)
                kept = f"No congestion control takes from a Reno flow for sure: beside {least[0]} it keeps {least_text}"
        sentences.append(f"{kept} of what it has beside another Reno flow.")
    pairs = [(panel.jain(a, b), a, b) for i, a in enumerate(panel.labels) for b in panel.labels[i:]]
    pairs = [pair for pair in pairs if not math.isnan(pair[0].mean)]
    if pairs:
        fair = sum(pair[0].mean >= FAIR for pair in pairs)
        worst = min(pairs, key=lambda pair: pair[0].mean)
        alone = f"Two flows of {worst[1]} have a Jain's index of {interval_text(worst[0], '1', 3)}."
        sentences.append(
            alone
            if len(pairs) == 1 and worst[1] == worst[2]
            else f"{fair} of {len(pairs)} pairs share evenly (Jain's index {FAIR:g} or more); "
            f"least fair: {worst[1]} beside {worst[2]}, {interval_text(worst[0], '1', 3)}."
        )
        sentences.append(_idle(panel, [(a, b) for _, a, b in pairs]))
    far = _span(
        panel,
        lambda controller: panel.interval("rtt", controller, "long_over_short"),
        "1",
        "With four times the round trip a flow gets",
    )
    sentences.append(f"{far} of what the near one has.")
    sentences.append(_joined(panel))
    return [sentence for sentence in sentences if sentence.strip(" .")]


def _idle(panel: Panel, pairs: list[tuple[str, str]]) -> str:
    """Which pairs leave room, however evenly they share."""
    idle = [pair for pair in pairs if panel.together(*pair).mean < figures.USED * panel.most_bps]
    if not idle:
        return ""
    a, b = min(idle, key=lambda pair: panel.together(*pair).mean)
    who = f"Two flows of {a}" if a == b else f"{a} beside {b}"
    more = f"; so do {len(idle) - 1} more of the pairs, each below {100 * figures.USED:.0f} %" if len(idle) > 1 else ""
    got = interval_text(panel.together(a, b), "bps", 3)
    return f"{who} leave room: together they get {got} of the {show(panel.most_bps, 'bps')} that are to be had{more}."


def _joined(panel: Panel) -> str:
    """Who lets a flow in soonest, and who does not."""
    times = {label: panel.until("join", label, "delta_fair_ns", "horizon_ns") for label in panel.labels}
    times = {label: found for label, found in times.items() if found[0].n}
    if not times:
        return ""
    soon, late = (choose(times, key=lambda label: times[label][0].mean) for choose in (min, max))
    text = f"A flow that joins has its share after {_until(times[soon])} with {soon}"
    return f"{text}, after {_until(times[late])} with {late}." if late != soon else f"{text}."


def _until(found: tuple[Interval, int]) -> str:
    interval, late = found
    if late == interval.n:
        return f"more than {show(interval.mean, 'ns', 3)}"
    text = show(interval.mean, "ns", 3)
    return f"at least {text} (not in {late} of {interval.n} runs)" if late else text


def _until_cell(found: tuple[Interval, int]) -> Cell:
    interval, late = found
    if not interval.n:
        return Cell("n/a")
    if late:
        text = f"> {show(interval.mean, 'ns', 3)}"
        return replace(interval_cell(interval, "ns", 3), text=text, range="", more=f"not in {late} of {interval.n} runs")
    return interval_cell(interval, "ns", 3)


def merits(panel: Panel) -> Table:
    """A row for each congestion control: the figures that one looks at first."""
    heads = (
        "congestion control",
        "goodput alone",
        "queueing delay",
        "its 99 %",
        "loss",
        "Jain with itself",
        "Reno keeps",
        "far / near",
        "joins after",
    )
    rows = []
    for label in panel.labels:

        def alone(statistic: str, label: str = label) -> Cell:
            return interval_cell(panel.interval("alone", label, statistic), STATISTICS[statistic].unit, 3)

        rows.append(
            [
                Cell(label),
                *(alone(name) for name in ("goodput_bps", "queue_delay_mean_ns", "queue_delay_p99_ns", "loss")),
                interval_cell(panel.jain(label, label), "1", 3),
                interval_cell(panel.friendliness(label), "1", 3),
                interval_cell(panel.interval("rtt", label, "long_over_short"), "1", 3),
                _until_cell(panel.until("join", label, "delta_fair_ns", "horizon_ns")),
            ]
        )
    note = (
        "Means with 95 % t intervals below. Goodput, delay and loss: one flow alone. Reno keeps: goodput of a Reno flow beside "
        "this congestion control over that beside another Reno flow. Far / near: goodput with four times the round trip over "
        "that without. "
        "Joins after: delta-fair convergence, delta = 0.1."
    )
    return Table([Column(head, i > 0) for i, head in enumerate(heads)], rows, note)


def _changes(panel: Panel) -> Table:
    names = ("drop_queue_mean_ns", "drop_queue_peak_ns", "drop_loss", "drop_goodput_share")
    heads = ("congestion control", "mean delay", "longest delay", "loss", "of the low capacity", "until 80 % is used again")
    rows = []
    for label in panel.labels:
        cells = [interval_cell(panel.interval("change", label, name), STATISTICS[name].unit, 3) for name in names]
        rows.append([Cell(label), *cells, _until_cell(panel.until("change", label, "rise_ns", "rise_horizon_ns"))])
    note = "While the capacity is a quarter; the last column counts from when it comes back."
    return Table([Column(head, i > 0) for i, head in enumerate(heads)], rows, note)


def _what_was_run(panel: Panel) -> Table:
    rows = []
    for one in panel.facts["experiments"]:
        events = " and ".join(f"{at:g} s" for at in one["event_s"])
        duration = f"{one['duration_s']:g} s, of which {one['warmup_s']:g} s warm-up"
        runs = sum(row.experiment == one["name"] for row in panel.trials)
        what = one["title"] + (f" at {events}" if events else "")
        rows.append([Cell(one["name"]), Cell(what), Cell(duration), number_cell(runs)])
    return Table([Column("experiment"), Column("what"), Column("length"), Column("runs", True)], rows)


def network_line(panel: Panel) -> str:
    """The bottleneck in words."""
    network = panel.facts["network"]
    parts = [show(network[key], unit) for key, unit in (("rate_bps", "bps"), ("buffer_bytes", "bytes"))]
    other = ", ".join(f"{key} = {value}" for key, value in network["set"].items())
    text = f"{parts[0]}, {show(network['rtt_s'], 's')} of round trip, {parts[1]} of buffer"
    return text + (f"; {other}" if other else "")


def _sections(panel: Panel) -> list[Section]:
    look = (
        "a congestion control is good when it fills the wire with a short queue, shares with itself and with Reno, does not "
        "punish long round trips and lets a new flow in soon. Few do all of it."
    )
    several = len(panel.labels) > 1
    pairs: list[Drawing] = [figures.jain_map(panel), figures.share_map(panel)] if several else [figures.jain_map(panel)]
    sections = [
        Section("", look, [figures.overview(panel)], look=True),
        Section("Figures of merit", tables=[merits(panel)]),
        Section("Delay against goodput", drawings=[figures.tradeoff(panel)]),
        Section("Every pair", drawings=pairs),
    ]
    if any(label != "reno" for label in panel.labels):
        sections.append(Section("Friendliness to Reno", drawings=[figures.friendliness(panel)]))
    sections += [
        Section("Different round trips", drawings=[figures.rtt_fairness(panel)]),
        Section("A flow joins", drawings=[figures.convergence(panel), figures.joining(panel)]),
    ]
    if "change" in panel.experiments:
        sections.append(Section("The capacity changes", tables=[_changes(panel)], drawings=figures.change(panel)))
    intro = (
        f"A dumbbell: {network_line(panel)}; one percent of the capacity is other traffic at random times (UDP), so that "
        "nothing stays in step. Repetition by repetition the seeds are the same for every congestion control. The "
        "scenarios are in the folder `scenarios` beside this report."
    )
    sections += [
        Section("Windows", drawings=[figures.windows(panel)]),
        Section("What was run", intro, tables=[_what_was_run(panel)]),
    ]
    return sections


def _parameters(panel: Panel) -> list[Group]:
    """Parameters of the experiment with one flow, with the first congestion control; the others are in their scenarios."""
    provenance = panel.facts["provenance"]
    return parameter_groups(provenance.get("pair", next(iter(provenance.values()), [])))


def shorter(panel: Panel) -> str:
    """What the quick run is, where it is one."""
    if not panel.facts["quick"]:
        return ""
    return " The quick run: runs and warm-ups are shorter, so what is still on its way counts for more than in the full comparison."


def panel_warnings(panel: Panel) -> list[str]:
    """What a reader of the answer must know before he uses it."""
    network = next(iter(panel.facts["scenarios"].values()), "")  # the routers of all experiments are alike
    deaf = unheard([controller.kind for controller in panel.controllers], network)
    return [*of_failures(panel.failures, panel.facts), *([deaf] if deaf else [])]


def page(panel: Panel) -> Page:
    """The page of a comparison."""
    manifest = panel.manifest()
    runs = (
        f"{counted(len(panel.trials), 'run')}, {panel.repetitions} of each variant with the same seeds; ranges are 95 % intervals."
    )
    names = ", ".join(panel.labels[:8]) + (f" and {len(panel.labels) - 8} more" if len(panel.labels) > 8 else "")
    return Page(
        kicker="elephan · compare" + (" · quick" if panel.facts["quick"] else ""),
        title=names,
        question=f"How do they behave alone, beside each other and beside Reno on {network_line(panel)}?",
        answer=answer(panel),
        fine=" ".join(filter(None, (runs, few(panel.repetitions)))) + shorter(panel),
        warnings=panel_warnings(panel),
        version=str(manifest["elephan"]),
        command=str(manifest["command"]),
        sections=_sections(panel),
        parameters=_parameters(panel),
        facts=facts(manifest),
    )


def notebook(panel: Panel) -> str:
    """A comparison in a notebook: its answer, the first figure, the figures of merit."""
    return answered("Comparison", answer(panel), panel_warnings(panel), [figures.overview(panel)], [merits(panel)])
