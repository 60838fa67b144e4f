"""What the study shows: its answer, every measured ratio against ours, what the shaper's bucket changes, and all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import show
from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.page.page import Cell, Column, Section, Table, number_cell
from elephan.report.style import BLUE, GREEN, GRID, MUTED, ORANGE, VERMILLION, Drawing, new_figure
from elephan.studies.l4s_2020.rows import EXPERIMENTS, NEAR, STATISTIC, TIE, TIE_HERE, Row, of, rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAINT = {"dualpi2": VERMILLION, "pfifo": BLUE, "fq_codel": GREEN, "classic": ORANGE}
LINUX = 3300  # where measured ratios stand beside buckets in bytes
NAMES = {"dualpi2": "DualPI2", "pfifo": "FIFO", "fq_codel": "FQ-CoDel", "classic": "classic queues that mark"}


def ours(results: Results, row: Row) -> list[float]:
    """The ratio of a row in each run."""
    if (row.experiment, row.variant) not in results.trials.by_variant:
        return []
    return results.values(row.experiment, row.variant, STATISTIC)


def middle(ratios: Sequence[float]) -> float:
    """The mean of ratios: of their logarithms."""
    return float(np.exp(np.mean(np.log(ratios))))


def _admits(bounds: dict[str, float], value: float) -> bool:
    low, high = bounds.get("min", bounds.get("above", 0.0)), bounds.get("max", bounds.get("below", np.inf))
    return (value > low if "above" in bounds else value >= low) and (value < high if "below" in bounds else value <= high)


def agreeing(results: Results, chosen: Sequence[Row], near: bool = False) -> tuple[int, int]:
    """In how many of the rows that were run every run has the same winner (or with `near` the same ratio), and of how many."""
    found = [(row.near if near else row.winner, ours(results, row)) for row in chosen]
    run = [(bounds, values) for bounds, values in found if values]
    return sum(all(_admits(bounds, value) for value in values) for bounds, values in run), len(run)


def answer(results: Results) -> list[str]:
    """The answer, with its numbers."""
    same, total = agreeing(results, rows())
    sentences = [f"In {same} of {total} rows every run has the winner that Linux had; a ratio below {TIE_HERE} passes for a tie."]
    for rate, chosen in (("50 Mb/s", [n for n in EXPERIMENTS if not n.endswith("-10")]), ("10 Mb/s", None)):
        some = of(*(chosen or [n for n in EXPERIMENTS if n.endswith("-10")]))
        near, run = agreeing(results, some, near=True)
        sentences.append(f"At {rate} the ratio of the flows is within 25 % of the measured one in {near} of {run} rows.")
    return sentences


def _panel(results: Results, ax: Axes, experiments: Sequence[str], limits: tuple[float, float]) -> None:
    low, high = limits
    ends = np.array([low, high])
    ax.fill_between(ends, ends / NEAR, ends * NEAR, color=GRID, alpha=0.6, linewidth=0, zorder=0)
    ax.plot(ends, ends, color=MUTED, linewidth=0.9, zorder=1)
    tie = np.array([1 / TIE, TIE])
    ax.fill_between(tie, [1 / TIE_HERE] * 2, [TIE_HERE] * 2, color=MUTED, alpha=0.35, linewidth=0, zorder=1)
    for name in experiments:
        kind = name.partition("-")[0]
        points = [(row.ratio, values) for row in of(name) if (values := ours(results, row))]
        for place, (measured, values) in enumerate(points):
            ax.plot([measured] * 2, [min(values), max(values)], color=PAINT[kind], linewidth=0.8, alpha=0.6, zorder=2)
            label = NAMES[kind] if place == 0 else ""
            ax.plot([measured], [middle(values)], "o", color=PAINT[kind], markersize=3.6, alpha=0.85, zorder=3, label=label)
    d.log_axis(ax, "x", low, high)
    d.log_axis(ax, "y", low, high)
    ax.set_xlabel("first flow over second, measured on Linux")


def ratios(results: Results) -> Drawing:
    """Every row: the measured ratio and ours."""
    fig, axes = new_figure(1, 2, height=4.3)
    fast = [name for name in EXPERIMENTS if not name.endswith("-10")]
    for ax, experiments, words in zip(axes, (fast, [n for n in EXPERIMENTS if n not in fast]), ("50 Mb/s", "10 Mb/s"), strict=True):
        _panel(results, ax, experiments, (0.015, 120))
        d.heading(ax, f"{words}: first flow over second, here")
    d.legend_below(axes[0])
    caption = (
        "A point is a row of the source's tables, the mean of our runs; its line goes from the smallest to the largest of them. "
        "The band is 25 % to each side. In the dark square are ties: below 1.1 there and below 1.25 here."
    )
    return Drawing("ratios", "Each measured row and ours", caption, fig)


def bucket(results: Results) -> Drawing:
    """What the shaper's bucket changes at 10 Mb/s."""
    fig, (ax,) = new_figure(height=3.2)
    points = results.experiment("bucket").points
    paints = dict(zip(("10 ms", "20 ms", "80 ms"), (VERMILLION, BLUE, GREEN), strict=True))
    ends = []
    for rtt in points["alike"]:
        found = [(p.value, results.values("bucket", f"{p.label}/{rtt.label}", STATISTIC)) for p in points["bucket"]]
        found = [(place, values) for place, values in found if values]
        if not found:
            continue
        x, y = np.array([one[0] for one in found]), np.array([middle(one[1]) for one in found])
        ax.plot(x, y, "-o", color=paints[rtt.label], markersize=3.6, linewidth=1.2)
        ends.append((float(y[-1]), rtt.label, paints[rtt.label]))
        number = int(rtt.value)
        for row in (row for row in of("dualpi2-10") if row.rtts_ms == (number, number) and len(set(row.flows)) == 2):
            ratio = row.ratio if row.flows[0] == "prague" else 1 / row.ratio
            ax.plot([LINUX], [ratio], "x", color=paints[rtt.label], markersize=7, markeredgewidth=1.6)
    ax.axhline(1, color=MUTED, linewidth=0.9, dashes=(4, 3))
    ax.set_yscale("log")
    ax.set_ylim(0.02, 5)
    ax.set_xlim(-100, LINUX + 150)
    d.number_format(ax, "y", "plain", (1.0, 2.0, 5.0))
    d.plain_ticks(ax, [0, 800, 1600, 2850, LINUX], ["0", "800", "1 600", "2 850", "Linux"])
    ax.set_xlabel("bytes that the shaper lets out early")
    d.heading(ax, "Prague over CUBIC at DualPI2, 10 Mb/s")
    d.end_labels(ax, ends)
    caption = (
        "Crosses are what was measured behind HTB. Unless someone sets its bucket, tc takes 1 600 B, and a millisecond of the rate "
        "more where its clock ticks 1 000 times a second: 2 850 B. Lines are our means."
    )
    return Drawing("bucket", "The shaper's bucket decides at 10 Mb/s", caption, fig)


def _table(results: Results, name: str) -> Table:
    columns = [Column(EXPERIMENTS[name]), Column("Linux", True), Column("here", True), Column("winner"), Column("within 25 %")]
    lines = []
    for row in of(name):
        values = ours(results, row)
        if not values:
            continue
        marks = ["yes" if all(_admits(bounds, v) for v in values) else "no" for bounds in (row.winner, row.near)]
        said = f"{row.queue}: {' and '.join(row.words)}" if name == "classic" else " and ".join(row.words)
        runs = ", ".join(show(value, "1", 3) for value in values)
        lines.append([Cell(said), number_cell(row.ratio), number_cell(middle(values), more=runs), *map(Cell, marks)])
    return Table(columns, lines, "First flow over second. Small: each of our runs; yes: in every run.")


def sections(results: Results) -> Sequence[Section]:
    """The body of the report."""
    tables = [_table(results, name) for name in EXPERIMENTS]
    return [
        Section("All rows at a glance", "", [ratios(results)]),
        Section("Why the rows at 10 Mb/s hang on the shaper", "", [bucket(results)]),
        Section("Row by row", "", tables=[table for table in tables if table.rows]),
    ]
