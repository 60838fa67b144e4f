"""Rows of points with intervals: one row for each name, so that many names stay readable."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from elephan.base.quantity import scale_for
from elephan.base.stats import Interval
from elephan.report.figure.draw import log_axis
from elephan.report.style import INK, MUTED, PAPER, color, new_figure

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW_IN = 0.27
NAME_MAX = 22
COLUMN_PX = 165  # of a column of points at least; below that columns stand below one another
WIDE = 30  # the largest to the smallest: from there on an axis is logarithmic


def short_names(labels: Sequence[str]) -> list[str]:
    """Names short enough for an axis, on two lines where they are long, broken after spaces and signs."""
    return ["\n".join(_wrapped(label)[:2]) for label in labels]


def _wrapped(label: str) -> list[str]:
    lines = [""]
    for part in re.split(r"(?<=[ =./,_])", label):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > NAME_MAX:
            lines.append("")
        lines[-1] += part
    return [piece for line in lines for piece in textwrap.wrap(line, NAME_MAX)]


def small_heading(axes: Axes, what: str, unit: str = "") -> None:
    """Names what a row of points shows, above it."""
    axes.set_title(f"{what}, {unit}" if unit else what, loc="left", color=INK, fontsize=9.5)


def row_height(count: int, groups: int = 1) -> float:
    """Inches for rows of up to two groups of points as they are, of more with room for each."""
    return 0.95 + _ROW_IN * max(2, count * max(1.0, groups / 2))


def mark(
    axes: Axes,
    intervals: Sequence[Interval],
    factor: float,
    paints: str | Sequence[str],
    offset: float = 0.0,
    hollow: bool = False,
    gid: str = "",
) -> None:
    """A point and its interval in each row, with a head where the interval goes on beyond the axis, whose limits are set before.

    `paints`: one colour, or one for each row. On a page a click on a name hides what has it as `gid`.
    """
    left, right = axes.get_xlim()
    for row, interval in enumerate(intervals):
        if math.isnan(interval.mean):
            continue
        y, paint = row + offset, paints if isinstance(paints, str) else paints[row]
        if math.isfinite(interval.low):
            axes.hlines([y], [interval.low * factor], [interval.high * factor], color=paint, linewidth=1.6, alpha=0.65, gid=gid)
            for beyond, edge, head in ((interval.low * factor < left, left, "<"), (interval.high * factor > right, right, ">")):
                if beyond:
                    axes.plot([edge], [y], head, color=paint, markersize=4.5, clip_on=False, gid=gid)
        face = PAPER if hollow else paint
        axes.plot([interval.mean * factor], [y], "o", color=paint, markerfacecolor=face, markersize=5, clip_on=False, gid=gid)


def rows_of(axes: Axes, labels: Sequence[str], named: bool = True) -> None:
    """Rows from the top, one for each controller."""
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_yticks(range(len(labels)), short_names(labels) if named else [""] * len(labels))
    axes.tick_params(axis="y", labelcolor=INK)
    axes.grid(True, axis="x")
    axes.grid(False, axis="y")
    for row in range(1, len(labels)):
        axes.axhline(row - 0.5, color=MUTED, linewidth=0.3, alpha=0.4)


def reach(groups: Sequence[Sequence[Interval]]) -> float:
    """The largest value that is shown: of an interval no more than 1.5 times the largest mean."""
    means = [i.mean for group in groups for i in group if not math.isnan(i.mean)]
    highs = [i.high for group in groups for i in group if math.isfinite(i.high)]
    top = max(means, default=0.0)
    return min(max([top, *highs]), 1.5 * top) if top > 0 else 0.0


def wide(values: Sequence[float], unit: str) -> bool:
    """Whether values with a unit are so different that on a linear axis the small ones would be one."""
    known = [value for value in values if not math.isnan(value)]
    return unit != "1" and bool(known) and min(known) > 0 and max(known) > WIDE * min(known)


def dot_columns(
    labels: Sequence[str],
    columns: Sequence[tuple[str, str, Sequence[tuple[str, Sequence[Interval]]]]],
    paints: Sequence[str] | None = None,
) -> Figure:
    """A row for each name and a column for each quantity: `(title, unit, [(what, intervals), ...])`.

    `paints`: the colour of each row; else each `what` has its own.
    """
    height = row_height(len(labels), max(len(groups) for *_, groups in columns))
    figure, axes = new_figure(1, len(columns), height, COLUMN_PX, sharey=True)
    keys: list[Artist] = []
    for axis, (title, unit, groups) in zip(axes, columns, strict=True):
        top = reach([intervals for _, intervals in groups])
        factor, label = scale_for(top, unit)
        rows_of(axis, labels)
        means = [interval.mean for _, intervals in groups for interval in intervals]
        if len(columns) == 1 and wide(means, unit):
            log_axis(axis, "x", min(x for x in means if x > 0) * factor * 0.7, top * factor * 1.4)
            title += " (logarithmic)"
        else:
            axis.set_xlim(0, (top * factor or 1.0) * 1.08)
            axis.locator_params(axis="x", nbins=5 if len(columns) < 3 else 4)
        for k, (what, intervals) in enumerate(groups):
            offset = (k - (len(groups) - 1) / 2) * min(0.26, 0.8 / len(groups))
            hollow = k % 2 == 1
            mark(axis, intervals, factor, paints or color(k), offset, hollow, what)
            if len(groups) > 1:
                paint = INK if paints else color(k)
                keys.append(axis.plot([], [], "o", color=paint, markerfacecolor=PAPER if hollow else paint, label=what)[0])
        small_heading(axis, title, label)
    if keys:
        fit = 110 // max(len(what) + 4 for _, _, groups in columns for what, _ in groups)
        figure.legend(
            handles=keys,
            loc="outside lower center",
            ncols=max(1, min(fit, 3 if len(columns) == 1 else 2)),
            frameon=False,
            fontsize=8.5,
            labelcolor=INK,
            handletextpad=0.2,
        )
    return figure
