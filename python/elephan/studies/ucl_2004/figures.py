"""What the study shows: its answer, the figures of the slides again, and two flows after Li, Leith and Shorten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from elephan.base.quantity import show
from elephan.experiment.claims import interval_text
from elephan.experiment.study import Results
from elephan.report.page.page import Cell, Column, Section, Table, interval_cell
from elephan.studies.ucl_2004 import disks, host, network, pairs, similarity
from elephan.studies.ucl_2004.common import LEFT_BPS, NAMES, factor, impact, present
from elephan.studies.ucl_2004.response import BERNOULLI, CONTROLLERS, PERIODIC


def answer(results: Results) -> list[str]:
    """The answer, with its numbers."""
    sentences = [_impact(results), _sharing(results), _response(results), _background(results)]
    sentences += [host.answer(results), disks.answer(results)]
    return [
        *(s for s in sentences if s),
        "Means with 95 % intervals over repetitions with the same seeds; hosts cost nothing unless said.",
    ]


def _impact(results: Results) -> str:
    long = [(stack, impact(results, stack, "10 new", "DataTAG")) for stack in ("scalable", "highspeed", "htcp")]
    long = [(stack, found) for stack, found in long if found.n]
    short = [found for stack, _ in long if (found := impact(results, stack, "10 new", "MB-NG")).n]
    if not long:
        return ""
    text = ", ".join(f"{NAMES[stack]} {factor(found)}" for stack, found in long)
    return (
        f"Ten flows of a new stack beside ten vanilla ones divide the vanilla goodput on a long path (1 Gb/s, 120 ms) by: {text}"
        + (f"; on a short path (1 Gb/s, 6 ms) by {', '.join(factor(found) for found in short)}." if short else ".")
    )


def _sharing(results: Results) -> str:
    controllers = present(results, "startup", pairs.CONTROLLERS, "/82 ms")
    parts = [
        f"{NAMES[controller]} {factor(results.interval('startup', f'{controller}/82 ms', pairs.SHARE))}"
        for controller in controllers
    ]
    return (
        f"Of two flows on identical paths (250 Mb/s, 82 ms) the slower gets this share of the faster: {', '.join(parts)}."
        if parts
        else ""
    )


def _response(results: Results) -> str:
    low, least, high, most = network.worst(results, "periodic")
    low2, least2, high2, most2 = network.worst(results, "bernoulli")
    return (
        f"Against their closed forms the controllers hold {low:.2f} ({NAMES[least]}) to {high:.2f} ({NAMES[most]}) times the "
        f"window under periodic loss, {low2:.2f} ({NAMES[least2]}) to {high2:.2f} ({NAMES[most2]}) under random loss."
    )


def _background(results: Results) -> str:
    cell = "1 flow/DataTAG/20 %"
    stacks = present(results, "background", network.STACKS, f"/{cell}")
    parts = [
        f"{NAMES[s]} {interval_text(results.interval('background', f'{s}/{cell}', 'goodput_bps[tcp].sum'), 'bps', 3)}"
        for s in stacks
    ]
    if not parts:
        return ""
    return (
        f"One flow on the long path with a buffer of 20 % of the BDP takes, of the {LEFT_BPS * 1e-6:.0f} Mb/s that self-similar "
        f"background leaves, in its first two minutes: {'; '.join(parts)}."
    )


def _response_table(results: Results) -> Table:
    labels = [label for label in PERIODIC if label in BERNOULLI]
    columns = [Column("congestion control"), Column("closed form"), *(Column(f"p = {label}", True) for label in labels)]
    rows = []
    for controller in CONTROLLERS:
        cells = [Cell(NAMES[controller.name]), Cell(controller.words)]
        for label in labels:
            periodic = results.interval("periodic", f"{controller.name} {label}", "window_segments.mean")
            random = results.interval("bernoulli", f"{controller.name} {label}", "window_segments.mean")
            p = 1 / PERIODIC[label]
            pairs_of = [(periodic, controller.window(p)), (random, controller.window(p, "bernoulli"))]
            shown = " / ".join(f"{one.mean / form:.3f}" if one.n else "n/a" for one, form in pairs_of)
            forms = " / ".join(show(form, "1", 3) for _, form in pairs_of)
            numbers = {
                kind: number
                for kind, (one, form) in zip(("periodic", "random"), pairs_of, strict=True)
                for kind, number in ((kind, one.mean / form), (f"{kind} form", form))
            }
            more = f"of {forms}" if periodic.n or random.n else ""
            cells.append(Cell(shown, more=more, numbers=numbers if more else {}, unit="1"))
        rows.append(cells)
    return Table(
        columns,
        rows,
        "Measured mean window over the form for its kind of loss: periodic / random loss; below, the forms in segments. "
        "Under random loss BIC has none of its own.",
    )


def _impact_table(results: Results) -> Table:
    columns = [Column("reading"), *(Column(NAMES[stack], True) for stack in network.STACKS[1:])]
    rows = [
        [Cell(reading), *(replace(interval_cell(one, "1"), text=factor(one), range="") for one in found)]
        for reading, found in network.impact_rows(results)
    ]
    note = (
        "I_van: mean goodput of the vanilla flows, vanilla only over mix (the headline: above 1 they are harmed). I_agg: the "
        "same of all flows together, as the formula stands. I_bg: of short transfers (20 % load, Poisson, Pareto) beside one "
        "flow, as goodput and as median completion time (new over vanilla)."
    )
    return Table(columns, rows, note)


def sections(results: Results) -> Sequence[Section]:
    """The body of the report."""
    return [
        Section(
            "Response functions",
            "The slides induced loss at the receiver and drew the window against the loss rate; the figure did not survive.",
            [network.response(results), network.deviation(results)],
            [_response_table(results)],
        ),
        Section(
            "Beside other traffic",
            "One and ten flows against self-similar background, and Scalable TCP against CBR, on the two networks of the slides.",
            [
                similarity.similarity(results),
                network.background(results),
                network.background_loads(results),
                network.example(results),
                network.cbr(results),
            ],
        ),
        Section(
            "What packets cost the sender",
            "The slides suspect the processing of SACK blocks in Linux: for what a single flow loses, for the silence of a logger.",
            [host.goodput(results), host.silence(results)],
        ),
        Section(
            "Impact",
            "The slides divide the throughput of n vanilla flows by that of n - 1 and a new one, without saying whose.",
            [network.impacts(results)],
            [_impact_table(results)],
        ),
        Section(
            "Two flows: fairness, convergence, responsiveness",
            "The measurements of Li, Leith and Shorten (2007) on a path of 250 Mb/s.",
            [pairs.fairness(results), pairs.times(results), pairs.series(results)],
        ),
        Section(
            "Disks and transfer programs",
            "The slides' RAID controllers, and the copy from RAID 5 to RAID 5 over MB-NG by bbcp and GridFTP.",
            [*disks.example(results), disks.programs_figure(results), disks.stacks(results), disks.read_ahead(results)],
            [disks.limits_table(results), disks.raid_table(results)],
        ),
    ]
