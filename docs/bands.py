"""Writes docs/bands.md and its figure: congestion controls over each kind of link that varies.

    python docs/bands.py [--check]        (make bands)

Each kind of link has ten traces, and each trace is a repetition: seed N runs over trace N. The runs are ordinary sweeps whose
trials are kept, so that a second call only draws and writes. With --check nothing is written, and the exit status says whether the
page is what the runs say.
"""

import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import elephan as el
from elephan.base.quantity import show
from elephan.base.stats import Interval
from elephan.experiment.sweep import Sweep
from elephan.experiment.trials import Trial, Variant
from elephan.report import palette
from elephan.report.figure import draw
from elephan.report.style import Drawing, new_figure

HERE = Path(__file__).parent
PAGE, PICTURE = HERE / "bands.md", HERE / "images" / "bands.png"
SCENARIO = HERE / "examples" / "bands" / "one.toml"
WORK = HERE.parent / "results" / "bands"
SECONDS, TRACES = 60, 10
LEAST_MS = 20.0  # of the axis of delays
MSS = 1448  # bytes of a segment with time stamps

LINKS: Mapping[str, str] = {
    "fixed": "6 Mb/s all the time",
    "markov": "0 to 12 Mb/s in steps of 3 Mb/s, a step each 0.5 s in the mean",
    "cellular": "wanders from 0 to 12 Mb/s, with outages",
    "wifi": "62.7 Mb/s in the mean, in aggregates of 32 packets",
    "leo": "50 to 250 Mb/s; rate and delay change each 15 s, with losses",
}
CONTROLS = {"bbr": "BBR", "cubic": "CUBIC", "reno": "Reno", "copa": "Copa", "prague": "Prague"}
# What a sender can do with marks: Prague needs accurate ECN, CUBIC and Reno answer a mark as a loss, the others do not answer.
ECN = {"prague": "accurate", "cubic": "classic", "reno": "classic"}
QUEUES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "fifo": ("FIFO", {"kind": "fifo", "limit": "2 bdp"}),
    "dualpi2": ("DualPI2", {"kind": "dualpi2"}),
}
USED, P50, P95 = "capacity_used.max", "last_rtt_ns.p50", "last_rtt_ns.p95"
GOODPUT, AGAIN = "goodput_bps.sum", "each.retransmitted"
COLUMNS = ((GOODPUT, "goodput", "bps"), (USED, "capacity used", "%"), (P50, "RTT p50", "s"), (P95, "RTT p95", "s"))


def with_share(values: Mapping[str, float]) -> dict[str, float]:
    """Returns the statistics of a run, and which share of its data segments were retransmissions."""
    again = values["retransmits.sum"]
    return {**values, AGAIN: again / (again + values[GOODPUT] * SECONDS / 8 / MSS)}


def trace_of(link: str, number: int) -> tuple[str, str]:
    """Returns the name and the text of a trace of a kind of link."""
    if link == "fixed":
        return "fixed.csv", f"time_s,rate_mbps\n0,6\n{SECONDS},6\n"
    text = el.link_trace(link, SECONDS, seed=number)
    return f"{link}.{'csv' if text.startswith('time') else 'trace'}", text


def point(link: str, file: str, control: str, queue: str) -> dict[str, Any]:
    """Returns what a variant sets in its scenario."""
    trace = {"trace": file}
    found: dict[str, Any] = {"template.rate": trace, "template.queue": QUEUES[queue][1]}
    if link == "leo":
        found |= {"template.delay": trace, "template.loss": trace}
    found["traffic.first.congestion_control"] = control
    if queue == "dualpi2" and control in ECN:
        found["traffic.first.tcp.ecn"] = ECN[control]
    return found


def label(link: str, control: str, queue: str) -> str:
    """Returns the label of a variant."""
    return f"{link}/{control}/{queue}"


def swept() -> Sweep:
    """Returns the trials of all links, controls and queues: seed N is of trace N."""
    keys = [(link, control, queue) for link in LINKS for control in CONTROLS for queue in QUEUES]
    variants = [Variant(label(*key), dict(zip(("link", "control", "queue"), key, strict=True))) for key in keys]
    rows: list[Trial] = []
    facts: dict[str, Any] = {}
    for number in range(1, TRACES + 1):
        folder = WORK / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        files = {}
        for link in LINKS:
            files[link], text = trace_of(link, number)
            (folder / files[link]).write_text(text, encoding="utf-8")
        (folder / SCENARIO.name).write_text(SCENARIO.read_text(encoding="utf-8"), encoding="utf-8")
        found = el.sweep(
            folder / SCENARIO.name,
            design=[point(link, files[link], control, queue) for link, control, queue in keys],
            seed=number,
            statistics=[GOODPUT, USED, P50, P95, "retransmits.sum"],
            store=WORK / "trials",
        )
        if found.failures:
            sys.exit(f"trace {number}: {found.failures}")
        of = dict(zip(found.labels, (one.label for one in variants), strict=True))
        rows += [Trial(of[row.variant], row.seed, with_share(row.values)) for row in found.trials]
        facts = {**found.facts, "flows": {variant.label: 1 for variant in variants}, "set": {}}
        print(f"trace {number} of {TRACES}", file=sys.stderr, flush=True)
    return Sweep("bands", variants, rows, facts)


def cell(interval: Interval, unit: str) -> str:
    """Returns a mean with its interval, in one unit."""
    if unit == "%":
        low, mean, high = (f"{100 * one:.1f}" for one in (max(interval.low, 0.0), interval.mean, interval.high))
        return f"{mean} % ({low} to {high})"
    return f"{show(interval.mean, unit)} ({show(interval.low, unit)} to {show(interval.high, unit)})"


def table(sweep: Sweep, queue: str, link: str) -> Iterator[str]:
    """Yields the rows of a link and a queue, one for each control."""
    columns = [*COLUMNS, (AGAIN, "retransmitted", "%")]
    yield f"| control | {' | '.join(name for _, name, _ in columns)} |"
    yield "|---|" + "---|" * len(columns)
    for control, spoken in CONTROLS.items():
        cells = []
        for statistic, _, unit in columns:
            found = sweep.interval(label(link, control, queue), statistic)
            scale = 1e-9 if statistic.endswith(("p50", "p95")) else 1.0
            cells.append(cell(Interval(found.mean * scale, found.low * scale, found.high * scale, found.n), unit))
        yield f"| {spoken} | {' | '.join(cells)} |"


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def listed(names: list[str]) -> str:
    """Returns names as a sentence has them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def extremes(sweep: Sweep, link: str, queue: str, statistic: str, most: bool) -> tuple[str, list[str]]:
    """Returns the control with the highest or lowest mean, and those that its paired interval does not tell from it."""
    sign = 1 if most else -1
    best = max(CONTROLS, key=lambda one: sign * sweep.interval(label(link, one, queue), statistic).mean)
    alike = []
    for other in CONTROLS:
        if other != best:
            apart = sweep.difference(label(link, best, queue), label(link, other, queue), statistic)
            if apart.n < 2 or apart.low <= 0 <= apart.high:
                alike.append(CONTROLS[other])
    return best, alike


def follows(sweep: Sweep, link: str, queue: str) -> str:
    """Returns what the rows of a link and a queue say, in sentences."""
    said = []
    for statistic, most, verb in ((USED, True, "uses most of the link"), (P95, False, "has the shortest 95th percentile")):
        best, alike = extremes(sweep, link, queue, statistic, most)
        mean = sweep.interval(label(link, best, queue), statistic).mean
        value = percent(mean) if statistic == USED else show(mean * 1e-9, "s", 3)
        said.append(f"{CONTROLS[best]} {verb}: {value}.")
        if alike:
            said.append(f"The traces do not tell {listed(alike)} from it.")
    best, _ = extremes(sweep, link, queue, USED, True)
    calm, _ = extremes(sweep, link, queue, P95, False)
    if best == calm:
        return " ".join(said)
    share = sweep.ratio(label(link, calm, queue), label(link, best, queue), GOODPUT).mean
    longer = sweep.ratio(label(link, best, queue), label(link, calm, queue), P95).mean
    said.append(f"{CONTROLS[calm]} gets {percent(share)} of the goodput of {CONTROLS[best]}.")
    said.append(f"The 95th percentile of {CONTROLS[best]} is {longer:.1f} times as long.")
    return " ".join(said)


def against_fixed(sweep: Sweep) -> Iterator[str]:
    """Yields how much less of each link a control uses than of the fixed one, in points of per cent."""
    links = list(LINKS)[1:]
    yield f"| control | {' | '.join(links)} |"
    yield "|---|" + "---|" * len(links)
    for control, spoken in CONTROLS.items():
        found = [sweep.difference(label(link, control, "fifo"), label("fixed", control, "fifo"), USED) for link in links]
        cells = [f"{100 * one.mean:+.1f} ({100 * one.low:+.1f} to {100 * one.high:+.1f})" for one in found]
        yield f"| {spoken} | {' | '.join(cells)} |"


def worst_fall(sweep: Sweep) -> str:
    """Returns which control loses most against the fixed link, and where, in a sentence."""
    falls = {
        (link, control): sweep.difference(label(link, control, "fifo"), label("fixed", control, "fifo"), USED).mean
        for link in list(LINKS)[1:]
        for control in CONTROLS
    }
    link, control = min(falls, key=lambda key: falls[key])
    return f"{CONTROLS[control]} over `{link}` falls most: {100 * falls[link, control]:+.1f} points."


def against_fifo(sweep: Sweep) -> Iterator[str]:
    """Yields what DualPI2 instead of the FIFO does to each control on each link."""
    yield f"| link | {' | '.join(CONTROLS.values())} |"
    yield "|---|" + "---|" * len(CONTROLS)
    for link in LINKS:
        cells = []
        for control in CONTROLS:
            one, other = label(link, control, "dualpi2"), label(link, control, "fifo")
            cells.append(f"{sweep.difference(one, other, USED).mean * 100:+.1f}, {sweep.ratio(one, other, P95).mean:.2f}")
        yield f"| {link} | {' | '.join(cells)} |"


def marked(sweep: Sweep) -> str:
    """Returns for how many links and controls DualPI2 shortens the 95th percentile, and for how many the link is used less."""
    pairs = [(label(link, one, "dualpi2"), label(link, one, "fifo")) for link in LINKS for one in CONTROLS]
    shorter = sum(sweep.difference(*pair, P95).high < 0 for pair in pairs)
    less = sum(sweep.difference(*pair, USED).high < 0 for pair in pairs)
    return (
        f"Of {len(pairs)} pairs of link and control, DualPI2 shortens the 95th percentile in {shorter}."
        f" The link is used less in {less}. Only differences whose interval is without 0 count."
    )


def figure(sweep: Sweep) -> Drawing:
    """Returns a panel for each link: capacity used over the 95th percentile of the round trip, with both intervals."""
    drawn, axes = new_figure(rows=2, columns=3, height=5.6)
    for place, link in zip(axes, LINKS, strict=False):
        seen: list[float] = []
        for control, spoken in CONTROLS.items():
            look = palette.CONTROLS[control]
            for queue, marker in (("fifo", "o"), ("dualpi2", "^")):
                key = label(link, control, queue)
                delay, used = sweep.interval(key, P95), sweep.interval(key, USED)
                x, low, high = delay.mean / 1e6, max(delay.low / 1e6, LEAST_MS), delay.high / 1e6
                seen += [low, high]
                place.plot([low, high], [100 * used.mean] * 2, color=look.color, linewidth=1.1)
                place.plot([x, x], [100 * used.low, 100 * used.high], color=look.color, linewidth=1.1)
                name = spoken if queue == "fifo" and link == "fixed" else "_"
                place.plot([x], [100 * used.mean], color=look.color, marker=marker, markersize=5, linestyle="none", label=name)
        place.set_title(link)
        draw.log_axis(place, "x", 0.8 * min(seen), 1.25 * max(seen))
        place.set_xlabel("RTT, 95th percentile (ms)")
        place.set_ylabel("capacity used (%)")
        place.set_ylim(0, 105)
    draw.legend(axes[0])
    axes[5].set_axis_off()
    return Drawing("bands", "Controls over links that vary", "", drawn)


def wrapped(words: str) -> str:
    """Returns a paragraph in lines of at most 100 columns."""
    return textwrap.fill(" ".join(words.split()), 100, break_long_words=False, break_on_hyphens=False)


HEAD = """# Bands: congestion controls over links that vary

For readers who choose a congestion control for a cellular, satellite or Wi-Fi link. Written by
`make bands` from its runs; do not edit. Each number has a band: the 95 % interval over {traces} traces.

![Capacity used over the 95th percentile of the round trip, for five links](images/bands.png)

In the figure a circle is the FIFO and a triangle is DualPI2. The lines are the intervals of both
numbers. Up and to the left is better.

## What runs

One bulk flow runs for {seconds} s over a bottleneck that follows a trace. The propagation delay is 20 ms
one way, and `leo` has its own. The links are [models](models/link-traces.md) with their defaults:

{links}

Seed N runs over trace N of its kind, so all controls meet the same {traces} traces. Differences are
taken trace by trace. The first queue is a FIFO of two bandwidth-delay products of the mean rate.
The second is DualPI2 with its defaults. There Prague has accurate ECN, CUBIC and Reno classic ECN,
and BBR and Copa none, because they do not answer marks. Over the FIFO nobody has ECN, so Prague
acts much as Reno does there. All numbers count from the start of the flow,
slow start included. The round trips are samples of the last round trip, every 20 ms.
"""
LIMITS = """## What this cannot say

- The parameters of the links are assumptions, and no measurements. Another cellular link may put
  the controls in another order.
- A trace lasts {seconds} s, so what a control does in hours is not here.
- The model of Wi-Fi has no collisions, and one flow has the queue to itself.
- The scenario is `docs/examples/bands/one.toml`. Change it and run `make bands` again.
"""


def text(sweep: Sweep) -> str:
    """Returns the page."""
    links = "\n".join(f"- `{link}`: {words}." for link, words in LINKS.items())
    lines = [HEAD.format(traces=TRACES, seconds=SECONDS, links=links)]
    for link in LINKS:
        lines += [f"## One flow over `{link}`", ""]
        for queue, (spoken, _) in QUEUES.items():
            lines += [wrapped(f"**{spoken}.** {follows(sweep, link, queue)}"), ""]
            lines += [*table(sweep, queue, link), ""]
    lines += ["## Against the fixed link", ""]
    lines += [
        wrapped(f"How many points of capacity a control uses more or less than over `fixed`, with the FIFO. {worst_fall(sweep)}"),
        "",
    ]
    lines += [*against_fixed(sweep), "", "## DualPI2 instead of the FIFO", ""]
    lines += [
        wrapped(f"The first number is the points of capacity used, the second the ratio of the 95th percentiles. {marked(sweep)}"),
        "",
    ]
    lines += [*against_fifo(sweep), ""]
    return "\n".join([*lines, LIMITS.format(seconds=SECONDS)])


def main(words: list[str]) -> int:
    """Writes the page and its figure, or says whether the page is current."""
    sweep = swept()
    found = text(sweep)
    if "--check" not in words:
        PAGE.write_text(found, encoding="utf-8")
        PICTURE.write_bytes(figure(sweep).png())
        return 0
    if PAGE.read_text(encoding="utf-8") != found:
        print(f"{PAGE} is not current: python docs/bands.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
