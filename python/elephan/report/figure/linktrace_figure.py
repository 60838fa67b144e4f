"""The figure of a trace of a link: its rate over one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.base.quantity import show
from elephan.report.figure import draw as d
from elephan.report.style import BLUE, Drawing, new_figure

if TYPE_CHECKING:
    from elephan.statistic.linktrace import LinkTrace


def linktrace_figure(trace: LinkTrace, name: str) -> Drawing:
    """Returns the rate of a trace over time, in windows."""
    fig, (axes,) = new_figure(height=2.9)
    factor = d.value_axis(axes, "rate that the link can carry", float(trace.rates_bps.max()), "bps")
    end = 1e9 * trace.duration_s
    axes.stairs(trace.rates_bps * factor, 1e9 * trace.edges_s * d.time_scale(end)[0], fill=True, color=BLUE, alpha=0.55)
    d.time_axis(axes, 0, end)
    width = trace.duration_s / len(trace.rates_bps)
    return Drawing("link-trace", name, f"One pass of {name}, in windows of {show(width, 's', 3)}.", fig)
