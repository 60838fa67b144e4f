"""Figures of congestion spreading: pause intervals of ports over time, and the tree that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.base.quantity import counted, scale_for, show
from elephan.report.figure import draw as d
from elephan.report.figure.declared.over_time import mark_changes
from elephan.report.figure.declared.switch import NO_PAUSE
from elephan.report.figure.registry import figure
from elephan.report.style import INK, MUTED, SERIES, Drawing, color, new_figure
from elephan.report.words.view import View, arrow
from elephan.statistic import needs
from elephan.table.rows import column
from elephan.table.spreading import PausedPort, Tree, recorded, spreading

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROWS_MAX = 16
TREES_MAX = 3
BARS_MAX = 300  # pause intervals of a port in one picture; more are drawn as the share of time that it was paused
ZOOM_CLOSURES = 40
_SLOTS = 400


def _paused(view: View) -> bool:
    return view.events("pause").size > 0 and recorded(view.run)


def _shown(trees: list[Tree]) -> list[tuple[int, Tree, PausedPort]]:
    """The ports of the first trees, at most `ROWS_MAX` of them, with the number of their tree."""
    rows = [(i, tree, port) for i, tree in enumerate(trees) for port in tree.ports]
    return rows[:ROWS_MAX]


def _label(port: PausedPort) -> str:
    return arrow(port.port) + ("" if port.priority is None else f", p{port.priority}")


class _Intervals:
    """Beginnings and ends of the pause intervals of each port, priority and root."""

    def __init__(self, view: View) -> None:
        pauses = view.run.pauses
        names = view.port_names()
        begin = column(pauses, "begin_ns")
        end = begin + column(pauses, "duration_ns")
        keys = zip(
            column(pauses, "port").astype(int),
            np.nan_to_num(column(pauses, "priority"), nan=-1).astype(int),
            column(pauses, "root").astype(int),
            strict=True,
        )
        found: dict[tuple[str, int, str], list[int]] = {}
        for i, (port, priority, root) in enumerate(keys):
            found.setdefault((names[int(port)], int(priority), names[int(root)]), []).append(i)
        self.spans = {key: (begin[rows], end[rows]) for key, rows in found.items()}

    def of(self, tree: Tree, port: PausedPort) -> tuple[d.Array, d.Array]:
        begin, end = self.spans[port.port, -1 if port.priority is None else port.priority, tree.root]
        order = np.argsort(begin)
        return begin[order], end[order]


def _closed(begin: d.Array, end: d.Array, times: d.Array) -> d.Array:
    """How long pause intervals have lasted up to each of some times."""
    total = np.concatenate([[0.0], np.cumsum(end - begin)])
    done = np.searchsorted(end, times, side="right")
    running = np.minimum(np.searchsorted(begin, times, side="right"), begin.size)
    part = np.where(running > done, times - begin[np.minimum(done, begin.size - 1)], 0.0)
    return np.asarray(total[done] + part)


def _draw_rows(
    axes: Axes, rows: list[tuple[int, Tree, PausedPort]], intervals: _Intervals, low: float, high: float, x: float
) -> bool:
    """Draws the pause intervals within `[low, high]` ns; answers whether some are drawn as shares."""
    shares = False
    for place, (number, tree, port) in enumerate(rows):
        base = len(rows) - 1 - place
        begin, end = intervals.of(tree, port)
        seen = (end > low) & (begin < high)
        first, last = np.maximum(begin[seen], low), np.minimum(end[seen], high)
        if first.size <= BARS_MAX:
            bars = [((b - low) * x, (e - b) * x) for b, e in zip(first, last, strict=True)]
            axes.broken_barh(bars, (base - 0.36, 0.72), facecolors=color(number), linewidth=0)
            continue
        shares = True
        edges = np.linspace(low, high, _SLOTS + 1)
        share = np.diff(_closed(first, last, edges)) / np.diff(edges)
        top = base - 0.36 + 0.72 * np.append(share, share[-1])
        axes.fill_between((edges - low) * x, base - 0.36, top, step="post", color=color(number), linewidth=0)
    return shares


@figure(
    "pause-timeline",
    "which port was paused when, by the port where the congestion began",
    _paused,
    why_not=NO_PAUSE,
    needs=(needs.recorded_events,),
    order=160,
    section="Congestion spreading",
)
def pause_timeline(view: View) -> Drawing:
    run = view.run
    trees = spreading(run)
    rows = _shown(trees)
    intervals = _Intervals(view)
    end = float(run.duration_ns)
    zoom = _zoom(rows, intervals)
    height = 1.0 + 0.27 * len(rows)
    options: Any = {"sharey": True, "gridspec_kw": {"width_ratios": [3, 2]}}
    fig, axes = new_figure(1, 2, height=height, **options) if zoom else new_figure(height=height)
    x = d.time_axis(axes[0], 0, end)
    shares = _draw_rows(axes[0], rows, intervals, 0.0, end, x)
    axes[0].set_yticks(range(len(rows)), [_label(port) for _, _, port in reversed(rows)])
    axes[0].set_ylim(-0.6, len(rows) - 0.4)
    if zoom:
        low, high = zoom
        factor, unit = scale_for(high - low, "ns")
        _draw_rows(axes[1], rows, intervals, low, high, factor)
        axes[1].set_xlim(0, (high - low) * factor)
        axes[1].set_xlabel(f"{unit} after {show(low, 'ns', 4)}")
    for one in axes:
        one.grid(visible=False)
        one.grid(axis="x", visible=True)
    d.heading(axes[0], "ports while paused")
    mark_changes(axes[0], view)
    drawn = {i: tree for i, tree, _ in rows}
    if len(drawn) > 1:
        for i, tree in list(drawn.items())[: len(SERIES)]:
            axes[0].plot([], [], "s", color=color(i), label=f"root {arrow(tree.root)}")
        axes[0].legend(loc="upper left", bbox_to_anchor=(0, -0.9 / height * 1.2), ncols=2)
    hidden = sum(len(tree.ports) for tree in trees) - len(rows)
    words = [f"{counted(len(rows), 'port')} in the order of the tree, below the port to blame; the root of the congestion is "]
    words.append(f"{arrow(trees[0].root)}, which nobody paused." if len(drawn) == 1 else "the colour.")
    words.append(
        " Where pause intervals are too many to be told apart the height is the share of time that a port was paused."
        if shares
        else ""
    )
    words.append(f" {counted(hidden, 'port')} with less paused time left out." if hidden else "")
    return Drawing("pause-timeline", "Who was paused when", "".join(words), fig)


def _zoom(rows: list[tuple[int, Tree, PausedPort]], intervals: _Intervals) -> tuple[float, float] | None:
    """A stretch in the middle of the pause intervals in which single ones can be seen, if the whole run has too many."""
    _, tree, port = max(rows, key=lambda row: row[2].pause_intervals)
    begin, _ = intervals.of(tree, port)
    if begin.size <= BARS_MAX:
        return None
    first = begin.size // 2
    return float(begin[first]), float(begin[min(first + ZOOM_CLOSURES, begin.size - 1)])


@figure(
    "pause-tree",
    "the trees of paused ports, below the port where the congestion began",
    _paused,
    why_not=NO_PAUSE,
    needs=(needs.recorded_events,),
    order=170,
    section="Congestion spreading",
)
def pause_tree(view: View) -> Drawing:
    trees = spreading(view.run)
    chosen: list[tuple[int, Tree]] = []
    for i, tree in enumerate(trees[:TREES_MAX]):
        if not chosen or sum(len(t.ports) + 1 for _, t in chosen) + len(tree.ports) < ROWS_MAX:
            chosen.append((i, tree))
    lines = sum(min(len(tree.ports), ROWS_MAX) + 1 for _, tree in chosen)
    fig, (names, bars) = new_figure(1, 2, height=0.7 + 0.28 * lines, sharey=True, gridspec_kw={"width_ratios": [1, 1]})
    top = max(port.paused_ns for _, tree in chosen for port in tree.ports)
    x, unit = scale_for(top, "ns")
    place = lines - 1
    for i, tree in chosen:
        place = _draw_tree(names, bars, tree, color(i), place, x)
    names.set_axis_off()
    names.set_xlim(0, 1)
    bars.set_ylim(-0.6, lines - 0.4)
    bars.set_xlim(0, top * x * 1.45)
    bars.set_yticks([])
    bars.grid(visible=False)
    d.hide_spine(bars, "left")
    bars.set_xlabel(f"paused, {unit}")
    rest = len(trees) - len(chosen)
    caption = "A port hangs below the port that was to blame when it was first paused. Bars: its paused time in all."
    return Drawing(
        "pause-tree", "How far it spread", caption + (f" {counted(rest, 'smaller tree')} left out." if rest else ""), fig
    )


def _draw_tree(names: Axes, bars: Axes, tree: Tree, paint: str, place: int, x: float) -> int:
    """Draws a tree from row `place` downwards; answers the next free row."""
    indent = 0.07
    names.plot([0.012], [place], "s", color=paint, markersize=6)
    names.text(0.04, place, f"{arrow(tree.root)}  (root)", va="center", fontsize=9, fontweight="bold", color=INK)
    span = show(tree.end_ns - tree.begin_ns, "ns")
    text = f"{counted(tree.episodes, 'episode')} within {span}"
    bars.text(0, place, text, va="center", fontsize=8.5, color=MUTED)
    at = {tree.root: (0.012, place)}
    place -= 1
    for port in tree.ports[:ROWS_MAX]:
        x0, y0 = at.get(port.parent, at[tree.root])
        names.plot([x0, x0, indent * port.depth], [y0 - 0.3, place, place], color=MUTED, linewidth=0.9, solid_capstyle="butt")
        names.text(indent * port.depth + 0.012, place, _label(port), va="center", fontsize=9, color=INK)
        at[port.label] = (indent * port.depth + 0.03, place)
        bars.barh(place, port.paused_ns * x, height=0.62, color=paint, alpha=1.0 if port.depth == 1 else 0.6)
        words = f"{show(port.paused_ns, 'ns')}, {counted(port.pause_intervals, 'time')}"
        at_end = (port.paused_ns * x, place)
        bars.annotate(words, at_end, xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5, color=INK)
        place -= 1
    return place
