"""The figure of a twin: what was delivered, in flight, and how long round trips were, in the capture and in its twin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.report.figure import draw as d
from elephan.report.style import ORANGE, Drawing, color, new_figure
from elephan.table.rows import column

if TYPE_CHECKING:
    from elephan.capture.trace import Trace

DASHED = (4, 3)
_ROWS = (
    ("delivered_bytes", "acknowledged", "bytes"),
    ("inflight_bytes", "in flight", "bytes"),
    ("rtt_ns", "round trip", "ns"),
)


def twin(trace: Trace) -> Drawing | None:
    """The capture and its twin over time, three panels on one axis."""
    if trace.twin is None:
        return None
    samples = trace.twin.samples
    time = column(samples, "time_ns")
    figure, panels = new_figure(len(_ROWS), 1, 6.4, sharex=True)
    factor, unit = d.time_scale(float(time[-1]))
    for axes, (name, label, what) in zip(panels, _ROWS, strict=True):
        pair = [column(samples, f"{prefix}{name}") for prefix in ("", "twin_")]
        scale = d.value_axis(axes, label, max(float(np.nanmax(values)) for values in pair), what)
        axes.plot(*d.thin(time * factor, pair[0] * scale), color=color(0), linewidth=2.0, label="capture")
        axes.plot(*d.thin(time * factor, pair[1] * scale), color=ORANGE, linewidth=1.2, dashes=DASHED, label="twin")
    panels[-1].set_xlabel(f"time since the first data, {unit}")
    d.legend_below(panels[-1])
    control = trace.twin.told["congestion_control"]
    caption = f"The twin runs {control} on the fitted path and loses what the capture lost."
    return Drawing("twin", "The capture and its twin", caption, figure)
