"""What the study shows: its answer, the four panels of the paper again, and how far they depend on what was assumed."""

from __future__ import annotations

from collections.abc import Sequence

from elephan.base.quantity import show
from elephan.experiment.study import Results
from elephan.report.page.page import Cell, Column, Section, Table, interval_cell
from elephan.studies.pcp_2006 import assumed, curves, points

SCHEMES = tuple(curves.PAINT)


def answer(results: Results) -> list[str]:
    """The answer, with its numbers."""
    loads = results.experiment("load").points["load"]
    sentences = []
    for load in (loads[0], loads[-1]):
        parts = []
        for scheme in curves.present(results, curves.PAPER):
            mean, loss = (results.interval("load", f"{scheme}/{load.label}", name) for name in (curves.MEAN, curves.LOSS))
            if mean.n:
                said = "PCP as read here" if scheme == "PCP" else scheme
                parts.append(f"{said} {show(mean.mean, 'ns', 3)} ({show(mean.low, 'ns', 3)} to {show(mean.high, 'ns', 3)}), ")
                parts[-1] += f"{100 * loss.mean:.2g} % lost"
        ideal = 1e3 * points.sharing_s(load.value)[0]
        sentences.append(
            f"At {load.label} load a transfer of 250 kB takes in the mean: {'; '.join(parts)}; evenly shared {ideal:.0f} ms."
        )
    return [
        *sentences,
        f"Means of {results.experiment('load').repetitions} runs with 95 % intervals; all schemes get the same transfers.",
    ]


_ROWS = (
    ("mean response time", curves.MEAN, "ns"),
    ("standard deviation", curves.SD, "ns"),
    ("99th percentile", curves.P99, "ns"),
    ("mean, as the sender sees it", "sender_fct_ns.mean", "ns"),
    ("mean slowdown", "slowdown.mean", "1"),
    ("mean with a timeout", "fct_rto_ns.mean", "ns"),
    ("mean without a timeout", "fct_no_rto_ns.mean", "ns"),
    ("mean queue", curves.QUEUE, "bytes"),
    ("packets lost", curves.LOSS, "%"),
    ("bottleneck busy", "utilisation.max", "%"),
)


def _tables(results: Results) -> list[Table]:
    found = []
    loads = [point.label for point in results.experiment("load").points["load"]]
    for scheme in curves.present(results, SCHEMES):
        columns = [Column(scheme), *(Column(f"{load} load", True) for load in loads)]
        rows = [
            [Cell(title), *(interval_cell(results.interval("load", f"{scheme}/{load}", name), unit, 3) for load in loads)]
            for title, name, unit in _ROWS
        ]
        found.append(Table(columns, rows, title=scheme))
    return found


def sections(results: Results) -> Sequence[Section]:
    """The body of the report."""
    return [
        Section(
            "Figure 4 of the paper",
            "Drawn anew: the paper's own plots were not to be had. Dashed and dotted lines are queueing theory, not simulation.",
            [curves.figure_four(results)],
        ),
        Section(
            "The slow ones",
            "Even at moderate loads, says the paper, packet losses penalise single TCP flows.",
            [curves.tail(results)],
        ),
        Section("Over routers with fair queueing", "Section 4.2 of the paper.", [curves.fair_routers(results)]),
        Section(
            "How far this depends on what was assumed",
            "The paper gives few numbers, and parts of its text are not to be had. What matters most is varied, one at a time.",
            [assumed.region(results)],
            [assumed.holds(results), assumed.compared(results, "tcp", "TCP"), assumed.compared(results, "fq", "FQ")],
        ),
        Section("Beside what there is today", "", [curves.today(results)]),
        Section("In numbers", "Means over the repetitions with 95 % intervals.", tables=_tables(results)),
    ]
