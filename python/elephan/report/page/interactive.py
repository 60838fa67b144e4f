"""Time series for the interactive charts of a page (uPlot): thinned, aligned on one time axis, in good units."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from elephan.base.quantity import scale_for, show
from elephan.report.figure.draw import looks_of, thin, time_scale
from elephan.report.palette import ORANGE, VARIABLES, stroked
from elephan.report.words.view import Series, View
from elephan.table.rows import column

Array = npt.NDArray[np.float64]
POINTS_MAX = 2500  # of one line; of several together about as many
POINTS_MIN = 250
SERIES_MAX = 12


def _rounded(values: Array) -> list[float | None]:
    """Five significant digits: enough for a chart, half the bytes."""
    return [None if math.isnan(v) else float(f"{v:.5g}") for v in values.tolist()]


def _largest(series: Series, view: View) -> tuple[Series, str]:
    """As many as a chart can tell apart, of flows those that delivered most, in their order; and which these are."""
    if len(series) <= SERIES_MAX:
        return series, ""
    got = dict(zip(view.flow_names.values(), column(view.run.flows, "delivered_bytes").tolist(), strict=True))
    ranked = sorted(series, key=lambda name: -got.get(name, 0.0))
    shown = {name: series[name] for name in series if name in ranked[:SERIES_MAX]}
    of = f"{SERIES_MAX} of {show(len(series), '1', 9)}"
    if got.get(ranked[0], 0.0) == got.get(ranked[-1], 0.0):
        return shown, f" (the first {of})"
    return shown, f" ({of}, those that delivered most)"


def _panel(title: str, unit: str, series: Series, view: View, **style: Any) -> dict[str, Any] | None:
    shown, which = _largest(series, view)
    chosen = {name: (t[t <= view.end_ns], y[t <= view.end_ns]) for name, (t, y) in shown.items()}
    if not chosen:
        return None
    # Each line keeps its own peaks. From the beginning to the end, so that charts below each other have one time axis.
    points = max(POINTS_MAX // len(chosen), POINTS_MIN)
    time = np.unique(np.concatenate([np.array([0.0, view.end_ns]), *(thin(t, y, points)[0] for t, y in chosen.values())]))
    top = max((float(np.nanmax(y)) for _, y in chosen.values() if y.size and not np.isnan(y).all()), default=0.0)
    factor, label = scale_for(top, unit)
    x_factor, x_unit = time_scale(view.end_ns)
    lines: list[dict[str, Any]] = []
    looks = looks_of([*chosen], view.controls())
    for name, (t, y) in chosen.items():
        at = np.searchsorted(t, time, side="right") - 1
        # Nothing is known before the first sample of a flow, nor after its last.
        values = np.where((at >= 0) & (time <= t[-1]), y[np.maximum(at, 0)], np.nan) if t.size else np.full(time.size, np.nan)
        said = stroked(name, looks[name], looks.values())
        drawn = {"color": VARIABLES[looks[name].color], "stroke": looks[name].stroke}
        lines.append({"name": said, "y": _rounded(values * factor), **drawn, **style})
    return {
        "title": (f"{title}, {label}" if label else title) + which,
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
        control = next(iter(view.controls().values()), "")
        merged["series"][0]["color"] = VARIABLES[looks_of([control], {control: control})[control].color]
        merged["series"][1] |= {"stroke": "--", "color": VARIABLES[ORANGE]}
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
