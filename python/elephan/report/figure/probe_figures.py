"""The figure of round-trip times that a program measured beside the connections, as ping does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.report.figure import draw as d
from elephan.report.style import MUTED, Drawing, color, new_figure

if TYPE_CHECKING:
    from elephan.capture.trace import Trace

SHOWN_MAX = 6


def probes(trace: Trace) -> Drawing | None:
    """Round-trip times of probes over time; the time in which flows carried data is shaded."""
    numbers = trace.ranked.numbers[trace.ranked.probes].tolist()
    shown = {number: trace.series(number, "rtt_mean_ns") for number in numbers[:SHOWN_MAX]}
    if not shown:
        return None
    figure, (axes,) = new_figure(height=2.7)
    factor = d.value_axis(axes, "round-trip time", max(float(y.max()) for _, y in shown.values()), "ns")
    x, unit = d.time_scale(trace.span_ns)
    axes.set_xlim(0, max(trace.span_ns, 1) * x)
    axes.set_xlabel(f"time since the begin, {unit}")
    load = trace.summary.get("load_ns")
    if load:
        axes.axvspan(load[0] * x, load[1] * x, color=MUTED, alpha=0.12, linewidth=0)
    for place, (number, (time, rtt)) in enumerate(shown.items()):
        middle = time - trace.series(number, "span_ns")[1] / 2
        axes.plot(*d.thin(middle * x, np.asarray(rtt) * factor), color=color(place), label=trace.label(number))
    d.legend_below(axes)
    more = f" The first {SHOWN_MAX} of {len(numbers)} series." if len(numbers) > SHOWN_MAX else ""
    caption = f"As a program measured them beside the connections{'; shaded: flows carried data' if load else ''}.{more}"
    return Drawing("probes", "Round-trip times beside the connections", caption, figure)
