"""Time series for the interactive charts of a page (uPlot): thinned, aligned on one time axis, in good units."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from elephan.quantity import scale_for
from elephan.report.draw import thin, time_scale
from elephan.report.view import Series, View

Array = npt.NDArray[np.float64]
POINTS_MAX = 2500  # of one line; of several together about as many
POINTS_MIN = 250
SERIES_MAX = 12


def _rounded(values: Array) -> list[float | None]:
    """Five significant digits: enough for a chart, half the bytes."""
    return [None if math.isnan(v) else float(f"{v:.5g}") for v in values.tolist()]


def _shown(count: int) -> str:
    return f" (the first {SERIES_MAX} of {count})" if count > SERIES_MAX else ""


def _panel(title: str, unit: str, series: Series, view: View, **style: Any) -> dict[str, Any] | None:
    chosen = dict(list(series.items())[:SERIES_MAX])
    if not chosen:
        return None
    # Each line keeps its own peaks.
    points = max(POINTS_MAX // len(chosen), POINTS_MIN)
    time = np.unique(np.concatenate([thin(t, y, points)[0] for t, y in chosen.values()]))
    top = max((float(np.nanmax(y)) for _, y in chosen.values() if y.size and not np.isnan(y).all()), default=0.0)
    factor, label = scale_for(top, unit)
    x_factor, x_unit = time_scale(view.run.duration_ns)
    lines = []
    for name, (t, y) in chosen.items():
        at = np.searchsorted(t, time, side="right") - 1
        values = np.where(at >= 0, y[np.maximum(at, 0)], np.nan)
        lines.append({"name": name, "y": _rounded(values * factor), **style})
    return {
        "title": (f"{title}, {label}" if label else title) + _shown(len(series)),
        "x_label": f"time, {x_unit}",
        "x": [float(f"{v:.7g}") for v in (time * x_factor).tolist()],
        "series": lines,
    }


def _windows(view: View) -> dict[str, Any] | None:
    what, unit, series = view.sending()
    panel = _panel(what.capitalize(), unit, series, view, step=True)
    thresholds = view.thresholds()
    if panel is None or len(thresholds) != 1 or np.isnan(next(iter(thresholds.values()))[1]).all():
        return panel
    both = {"cwnd": next(iter(view.flow_series("cwnd_bytes").values())), "ssthresh": next(iter(thresholds.values()))}
    merged = _panel("Congestion window and slow-start threshold", "bytes", both, view, step=True)
    if merged is not None:
        merged["series"][1] |= {"dash": True, "color": 4}
    return merged


def panels(view: View) -> list[dict[str, Any]]:
    """The interactive charts of a run, as far as it has the data."""
    goodput = _panel("Goodput", "bps", view.goodput_series(400)[0] if view.sampled else {}, view)
    # What RDMA is allowed to send says little without what it delivers.
    before, after = (goodput, None) if view.by_rate() else (None, goodput)
    found = [
        before,
        _windows(view),
        _panel("Queue", "bytes", view.queues(), view),
        _panel("Switch memory", "bytes", view.memory() if view.has_memory_limit() else {}, view),
        after,
        _panel("Round-trip time (smoothed)", "ns", view.flow_series("srtt_ns"), view),
    ]
    return [panel for panel in found if panel is not None]
