"""Figures of parallel programs: where the time of each rank went, and what each did when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import counted, show
from elephan.report.figure import draw as d
from elephan.report.figure.registry import figure
from elephan.report.style import BLUE, GREEN, MUTED, ORANGE, VERMILLION, Drawing, new_figure
from elephan.report.words import ranks as words
from elephan.report.words.view import View
from elephan.statistic import needs
from elephan.table.rows import column, texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Rows that a chart can show one by one.
RANKS_MAX = 32
# Iterations whose times are a distribution.
SEVERAL = 10
COLORS = {"compute": BLUE, "send": GREEN, "wait": ORANGE}


def _has_ended(view: View) -> bool:
    if needs.iterations(view.run.resolved):
        return False
    return bool(np.isfinite(column(view.run.iterations, "end_ns")).any())


def _of_iteration(view: View, table: str, row: int) -> d.Array:
    """Which rows of a table are of the same iteration as a row of `iterations`."""
    rows, of = getattr(view.run, table), view.run.iterations
    same = np.asarray(texts(rows, "traffic"), dtype=object) == texts(of, "traffic")[row]
    for name in ("group", "iteration"):
        same = same & (column(rows, name) == column(of, name)[row])
    return np.asarray(same, dtype=bool)


def _plot_times(axes: Axes, view: View) -> None:
    """The cumulative distribution of the time of iterations, and of what they take alone."""
    rows = view.run.iterations
    ended = np.isfinite(column(rows, "end_ns"))
    took, alone = (column(rows, "end_ns") - column(rows, "begin_ns"))[ended], column(rows, "ideal_ns")[ended]
    factor, unit = d.time_scale(float(took.max()))
    for values, name, color in ((took, "took", BLUE), (alone[np.isfinite(alone)], "alone in the network", MUTED)):
        if values.size:
            x, y = d.cdf(values)
            axes.step(x * factor, y, where="post", color=color, linewidth=1.4, label=name)
    axes.set_xlim(0, float(took.max()) * factor * 1.05)
    axes.set_ylim(0, 1.02)
    d.percent_axis(axes)
    axes.set_xlabel(f"time of an iteration, {unit}")
    d.heading(axes, "share of iterations")
    d.legend(axes, loc="lower right")


def _plot_ranks(axes: Axes, view: View, row: int) -> None:
    """Where each rank's time went: computing, messages on their way, waiting, one above the other."""
    mine = _of_iteration(view, "ranks", row)
    rows = view.run.ranks
    order = np.argsort(column(rows, "rank")[mine])
    begin = float(column(view.run.iterations, "begin_ns")[row])
    whole = (column(rows, "end_ns")[mine] - begin)[order]
    computed, waited = column(rows, "computed_ns")[mine][order], column(rows, "waited_ns")[mine][order]
    factor = d.value_axis(axes, "time of each rank", float(whole.max()), "ns")
    parts = {
        "computed": (computed, BLUE),
        "messages on the way": (np.maximum(whole - computed - waited, 0.0), GREEN),
        "waited": (waited, ORANGE),
    }
    place, below = np.arange(whole.size), np.zeros(whole.size)
    for name, (part, color) in parts.items():
        if part.max() > 0:
            axes.bar(
                place, part * factor, 1.0 if whole.size > RANKS_MAX else 0.8, below * factor, color=color, linewidth=0, label=name
            )
        below = below + part
    axes.set_xlim(-0.6, whole.size - 0.4)
    axes.set_ylim(0, float(whole.max()) * factor * 1.2)
    axes.set_xlabel("rank")
    d.legend(axes, loc="upper right", ncols=3)


def _held(view: View, row: int) -> str:
    return f" {said}" if (said := words.held(view.run, row)) else ""


@figure(
    "ranks",
    "ranks of a parallel program: how long iterations took, and where the time of each rank went in the longest",
    _has_ended,
    why_not="no iteration of ranks came to its end",
    needs=(needs.iterations,),
    order=21,
)
def ranks(view: View) -> Drawing:
    row = words.slowest(view.run)
    rows = view.run.iterations
    several = int(np.isfinite(column(rows, "end_ns")).sum()) >= SEVERAL
    fig, axes = new_figure(1, 2 if several else 1, height=3.4)
    if several:
        _plot_times(axes[0], view)
    _plot_ranks(axes[-1], view, row)
    took = show(float(column(rows, "end_ns")[row] - column(rows, "begin_ns")[row]), "ns")
    alone = column(rows, "ideal_ns")[row]
    beside = f"; alone in the network it takes {show(float(alone), 'ns')}" if np.isfinite(alone) else ""
    left = "Left: times of all iterations. Right: the longest" if several else "The longest iteration"
    caption = f"{left} ({words.named(view.run, row)}) took {took}{beside}.{_held(view, row)}"
    return Drawing("ranks", "Ranks", caption, fig)


def _chosen(view: View, row: int, ranks: d.Array) -> list[int]:
    """The ranks that a chart shows: all, or those around the straggler."""
    count = int(column(view.run.iterations, "ranks")[row])
    if count <= RANKS_MAX:
        return list(range(count))
    mine = _of_iteration(view, "ranks", row)
    names = np.asarray(texts(view.run.ranks, "host"), dtype=object)[mine]
    who = texts(view.run.iterations, "straggler")[row]
    place = int(ranks[mine][names == who][0]) if (names == who).any() else 0
    first = min(max(place - RANKS_MAX // 2, 0), count - RANKS_MAX)
    return list(range(first, first + RANKS_MAX))


@figure(
    "gantt",
    "what each rank did when, in the longest iteration: computing, messages on their way, waiting for one",
    lambda view: _has_ended(view) and view.run.operations.num_rows > 0,
    why_not="no iteration came to its end, or no operation of ranks was recorded (record.operations)",
    needs=(needs.iterations, needs.recorded_operations),
    order=22,
)
def gantt(view: View) -> Drawing:
    row = words.slowest(view.run)
    rows = view.run.operations
    chosen = _chosen(view, row, column(view.run.ranks, "rank"))
    kinds, rank = np.asarray(texts(rows, "kind"), dtype=object), column(rows, "rank")
    mine = _of_iteration(view, "operations", row) & np.asarray((rank >= chosen[0]) & (rank <= chosen[-1]), dtype=bool)
    begin, end = column(rows, "begin_ns"), column(rows, "end_ns")
    start, over = (float(column(view.run.iterations, name)[row]) for name in ("begin_ns", "end_ns"))
    fig, (axes,) = new_figure(height=max(1.6, 0.19 * len(chosen) + 1.1))
    factor, unit = d.time_scale(over - start)
    heights = {"wait": (0.0, 0.8), "send": (-0.2, 0.4), "compute": (0.0, 0.8)}
    for kind, (at, height) in heights.items():
        bars = mine & (kinds == kind)
        if bars.any():
            left = (begin[bars] - start) * factor
            width = (end[bars] - begin[bars]) * factor
            name = {"compute": "computes", "send": "message on its way", "wait": "waits for a message"}[kind]
            axes.barh(
                rank[bars] + at,
                width,
                height,
                left,
                color=COLORS[kind],
                alpha=0.55 if kind == "wait" else 0.9,
                linewidth=0,
                label=name,
            )
    axes.axvline((over - start) * factor, color=VERMILLION, linewidth=0.8)
    axes.set_ylim(chosen[-1] + 0.6, chosen[0] - 0.6)
    axes.set_xlim(0, (over - start) * factor * 1.01)
    axes.set_xlabel(f"time since the iteration began, {unit}")
    d.heading(axes, "rank")
    d.legend(axes, loc="lower right", bbox_to_anchor=(1, 1), ncols=3)
    shown = (
        "" if len(chosen) == column(view.run.iterations, "ranks")[row] else f" {counted(len(chosen), 'rank')} around the straggler."
    )
    caption = f"{words.named(view.run, row)}: what each rank did.{shown}{_held(view, row)}"
    return Drawing("gantt", "Ranks over time", caption, fig)
