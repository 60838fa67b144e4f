"""The figure of two captures of one transfer: what packets took there and back over time, and the packets that were lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.report.figure import draw as d
from elephan.report.style import VERMILLION, Drawing, color, new_figure
from elephan.table.rows import among, column

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from elephan.capture.pair import Pair
    from elephan.capture.trace import Trace

DIRECTIONS = ("there", "back")
COLORS = (0, 2)  # apart from that of the losses
HIGH = 1.06  # of the largest delay: where losses are marked
MARKS_MAX = 2000
LOST = ("between", "before", "behind")


def one_way(trace: Trace) -> Drawing | None:
    """One-way delays of both directions, one above the other."""
    pair = trace.pair
    if pair is None or not pair.delays.num_rows:
        return None
    top = float(column(pair.delays, "delay_max_ns").max())
    span = float(column(pair.delays, "time_ns").max())
    figure, panels = new_figure(rows=2, height=4.4, sharex=True)
    x, unit = d.time_scale(span)
    for place, axes, direction in zip(COLORS, panels, DIRECTIONS, strict=True):
        _panel(axes, pair, direction, color(place), x, top)
    panels[0].set_xlim(0, max(span, 1.0) * x)
    panels[-1].set_xlabel(f"time since the first packet, {unit}")
    lost = int(among(pair.losses, "fate", LOST).sum()) if pair.losses.num_rows else 0
    caption = (
        f"From {pair.near} to {pair.far} and back: the median of each interval, shaded from its least to its largest delay. "
        "The least delays of both directions are taken to be equal: only their sum is certain."
    )
    caption += " Marks above: lost packets." if lost else ""
    return Drawing("one-way-delay", "One-way delays", caption, figure)


def _panel(axes: Axes, pair: Pair, direction: str, paint: str, x: float, top: float) -> None:
    chosen = among(pair.delays, "direction", [direction])
    factor = d.value_axis(axes, f"one-way delay {direction}", top * HIGH, "ns")
    time, least, median, most = (
        column(pair.delays, name)[chosen] for name in ("time_ns", "delay_min_ns", "delay_median_ns", "delay_max_ns")
    )
    axes.fill_between(time * x, least * factor, most * factor, color=paint, alpha=0.25, linewidth=0)
    axes.plot(*d.thin(time * x, median * factor), color=paint, linewidth=1.0)
    if not pair.losses.num_rows:
        return
    lost = column(pair.losses, "time_ns")[among(pair.losses, "direction", [direction]) & among(pair.losses, "fate", LOST)]
    if lost.size:
        shown = lost[:: max(1, lost.size // MARKS_MAX)] * x
        axes.plot(shown, np.full(shown.size, top * HIGH * factor), "x", color=VERMILLION, markersize=3.5, markeredgewidth=0.8)
