"""Figures of a trace: throughput, round-trip times, windows, the stream over time, bursts. A run beside it is dashed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.base.errors import InputError
from elephan.base.quantity import show
from elephan.capture.logrows import PROBE
from elephan.capture.oneway import DATA, way_of
from elephan.report.figure import draw as d
from elephan.report.figure.flow_phases import plot
from elephan.report.figure.pair_figure import one_way
from elephan.report.figure.probe_figures import probes
from elephan.report.figure.twin_figures import twin
from elephan.report.style import INK, MUTED, ORANGE, VERMILLION, Drawing, color, new_figure
from elephan.table.rows import column

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from elephan.capture.trace import Trace
    from elephan.result.run import Run
    from elephan.table.phases import Phases

SHOWN_MAX = 6  # connections in one figure
DASHED = (4, 3)
RECEIVERS = "receiver's window"
FAR = 3.0
SEEN = 0.02  # of the height of a figure
SHORT, MARGIN = 0.5, 0.05  # of the capture; of what is shown of it
INTERVALS, INTERVALS_MAX, INTERVAL_MIN_NS = 120, 100_000, 1e6  # of rates: in what is shown, in the whole capture
GRID = 32  # points in an interval at which series of several connections are added up
_CONNECTION = ("connection", "source", "destination", "source_port", "destination_port", "start_ns", "delivered_bytes")
_FLOW = ["flow", "source", "destination", "traffic", "start_ns"]


def _shown(trace: Trace) -> list[int]:
    """The connections that delivered most, as far as they have a series, or of which nobody knows what they delivered."""
    rows = [row for row in trace.ranked[:SHOWN_MAX] if row["protocol"] != PROBE]
    return [row["connection"] for row in rows if row["delivered_bytes"] != 0]


def _rest(trace: Trace) -> str:
    with_data = int((trace.ranked.numeric("delivered_bytes")[0] > 0).sum())
    return f" The {SHOWN_MAX} of {with_data} connections that delivered most." if with_data > SHOWN_MAX else ""


def _shown_time(trace: Trace, number: int | None = None) -> tuple[float, float]:
    """The time that a figure shows, ns: the whole capture, or what it takes to see nearly all bytes of the connections
    (of `number`) delivered, where that is much shorter.
    """
    beside = _run_span(trace.beside) if trace.beside else 0
    span = float(max(trace.span_ns, beside, 1))
    if beside:
        return 0.0, span
    if number is None and trace.carrying > SHOWN_MAX:
        found = [times for times in [trace.data_span(trace.carrying)] if times is not None]
    else:
        rows = trace.ranked[: trace.carrying] if number is None else [trace.row(number)]
        found = [bounds for row in rows if (bounds := trace.activity(row["connection"]).bounds()) is not None]
    if not found:
        return 0.0, span
    begin, end = min(first for first, _ in found), max(last for _, last in found)
    room = MARGIN * (end - begin)
    return (max(begin - room, 0.0), min(end + room, span)) if end - begin < SHORT * span else (0.0, span)


def _time_axis(axes: Axes, trace: Trace, number: int | None = None) -> float:
    """The axis of time of a figure, of one connection `number` or of all."""
    begin, end = _shown_time(trace, number)
    factor, unit = d.time_scale(end)
    axes.set_xlim(begin * factor, max(end, begin + 1) * factor)  # ns: a life may be an instant
    axes.set_xlabel(f"time since the first packet, {unit}")
    return factor


def _run_span(run: Run) -> float:
    """Time from the first flow's start to the end of the run."""
    return float(run.duration_ns - _run_begin(run))


def _run_begin(run: Run) -> float:
    starts = column(run.flows, "start_ns")
    return float(starts.min()) if starts.size else 0.0


def _ends(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["source"], row["destination"]


def _matched(rows: list[dict[str, Any]], flows: list[dict[str, Any]]) -> dict[int, int]:
    """The flow of each connection between the same hosts: by the ports that captures of runs have, else by order of start."""
    of_ports = {_ports_of(flow["flow"]): flow["flow"] for flow in flows}
    ports = {row["connection"]: frozenset((row["source_port"], row["destination_port"])) for row in rows}
    found = {number: of_ports[pair] for number, pair in ports.items() if pair in of_ports}
    rest = [row["connection"] for row in sorted(rows, key=lambda row: (row["start_ns"], row["connection"]))]
    left = [flow["flow"] for flow in sorted(flows, key=lambda flow: (flow["start_ns"], flow["flow"]))]
    pairs = zip((n for n in rest if n not in found), (f for f in left if f not in found.values()), strict=False)
    return found | dict(pairs)


def _ports_of(flow: int) -> frozenset[int]:
    """The ports of a flow in captures of runs (docs/captures.md)."""
    return frozenset((38_000 + flow % 3000, 10_601 + flow // 3000 % 600))


def _flows_beside(trace: Trace) -> dict[int, int]:
    """The sampled flow of the run beside it for each connection that delivered: between its hosts if the run has flows there,
    else, in a run with other names, any.
    """
    run = trace.beside
    if run is None or not run.flow_samples.num_rows:
        return {}
    sampled = set(column(run.flow_samples, "flow").astype(int).tolist())
    flows = [row for row in run.flows.select(_FLOW).to_pylist() if row["flow"] in sampled]
    rows = [row for row in trace.ranked.columns(*_CONNECTION).to_pylist() if (row["delivered_bytes"] or 0) > 0]
    pairs = {_ends(row) for row in rows} & {_ends(flow) for flow in flows}
    if not pairs:
        return _matched(rows, flows)
    found: dict[int, int] = {}
    for pair in sorted(pairs):
        found |= _matched([row for row in rows if _ends(row) == pair], [flow for flow in flows if _ends(flow) == pair])
    return found


def _run_series(trace: Trace, name: str, numbers: list[int]) -> dict[str, tuple[int, d.Array, d.Array]]:
    """A column of `flow_samples` of the flows beside some connections: colour, times since the first flow began, values."""
    run, flows = trace.beside, _flows_beside(trace)
    places = {flows[number]: place for place, number in enumerate(numbers) if number in flows}
    if run is None or not places:
        return {}
    samples = run.flow_samples
    flow, time, value = column(samples, "flow"), column(samples, "time_ns"), column(samples, name)
    traffic = {row["flow"]: row["traffic"] for row in run.flows.select(_FLOW).to_pylist()}
    alike = Counter(traffic[f] for f in places)
    labels = {f: f"run: {traffic[f]}" + (f", flow {f}" if alike[traffic[f]] > 1 else "") for f in places}
    begin = _run_begin(run)
    chosen = {f: flow == f for f in places}
    return {labels[f]: (places[f], time[own] - begin, value[own]) for f, own in chosen.items()}


def _run_of_one(trace: Trace, name: str = "delivered_bytes") -> dict[str, tuple[int, d.Array, d.Array]]:
    """The same of the flow beside the connection that figures of one connection show."""
    return _run_series(trace, name, [trace.focus])


def _top(values: list[d.Array]) -> float:
    return max(float(np.nanmax(y)) for y in values if y.size)


def _together(trace: Trace, width: float, round_ns: float) -> tuple[d.Array, d.Array]:
    """Middles of intervals and the rate of all connections in each, where more than one carries a share; else nothing."""
    if trace.carrying < 2 or trace.apart:
        return np.empty(0), np.empty(0)
    names = ("connection", "time_ns", "span_ns", "delivered_bytes", "data_octets_out")
    samples = trace.sample_columns(*names)
    *columns, octets = (column(samples, key) for key in names)
    number, time, span, total = (one[~np.isnan(octets)] for one in columns)  # others say nothing of data
    unknown = np.isnan(total)
    known = time < time[unknown].min() if unknown.any() else ~unknown  # the sum ends where a part of it is unknown
    if not known.any():
        return np.empty(0), np.empty(0)
    number, time, span, total = number[known], time[known], span[known], total[known]
    order = np.lexsort((time, number))
    number, time, span, total = number[order], time[order], span[order], total[order]
    first = np.diff(number, prepend=-1.0) != 0
    before, had = np.where(first, time - span, np.roll(time, 1)), np.where(first, 0.0, np.roll(total, 1))
    step = width / GRID
    grid = np.arange(0.0, time.max() + step, step)
    return d.rates(grid, _sum_of_lines(grid, step, before, time, total - had), width, round_ns)


def _sum_of_lines(grid: d.Array, step: float, begin: d.Array, end: d.Array, rise: d.Array) -> d.Array:
    """The sum, at times `step` apart, of lines that each rise evenly from 0 at the begin to `rise` at the end."""
    size = grid.size
    # The first point of the grid at or after a begin or an end; what is left of the line's rise lies between these.
    low, high = (np.clip(np.ceil(at / step).astype(np.int64), 0, size - 1) for at in (begin, end))
    wide = high > low
    share = np.zeros(rise.size)
    share[wide] = (grid[low] - begin)[wide] / (end - begin)[wide]
    rises = np.bincount(low, np.where(wide, rise * share, rise), size)
    slope = rise[wide] / (end - begin)[wide]
    rises += np.bincount(high[wide], slope * (end[wide] - grid[high[wide] - 1]), size)
    # Between its first and its last point a line gains the same at each.
    whole = slope * step
    even = np.bincount(low[wide] + 1, whole, size + 1)[:size] - np.bincount(high[wide], whole, size)
    return np.cumsum(rises + np.cumsum(even))


def _rates(trace: Trace, number: int, width: float, round_ns: float) -> tuple[d.Array, d.Array]:
    """Middles of intervals and the rate of a connection in each; no number stands between stretches, where nothing is known."""
    if trace.summary["packets"]:
        return d.rates(*trace.series(number, "delivered_bytes"), width, round_ns)
    found = []
    for time, total in trace.known_stretches(number):
        middle, rate = d.rates(time, total, width, round_ns)
        inside = middle - width / 2 >= time[0] - 1.0
        if not inside.any():
            middle, rate, inside = time[[0, -1]].mean(keepdims=True), total[-1:] * 8e9 / (time[-1] - time[0]), np.ones(1, bool)
        found.append((np.append(middle[inside], time[-1]), np.append(rate[inside], np.nan)))
    times, rates = (np.concatenate(parts)[:-1] for parts in zip(*found, strict=True)) if found else (np.empty(0), np.empty(0))
    return times, rates


def throughput(trace: Trace) -> Drawing | None:
    """Acknowledged payload per interval."""
    if not trace.ranked:
        return None
    # Whole round trips: two windows in an interval now and three then would draw a saw.
    round_ns = trace.rtt_ns(trace.ranked[0]) or 0.0
    begin, end = _shown_time(trace)
    active = max(trace.activity(trace.ranked[0]["connection"]).active_ns(round_ns), 1.0)
    least = max(min(end - begin, active) / INTERVALS, trace.span_ns / INTERVALS_MAX, INTERVAL_MIN_NS)
    if not trace.summary["packets"]:
        # A log says nothing of times within its own intervals.
        least = max(least, float(np.median(trace.series(trace.ranked[0]["connection"], "span_ns")[1])))
    width = d.whole_rounds(least, round_ns)
    shown = {n: _rates(trace, n, width, round_ns) for n in _shown(trace)}
    shown = {n: (t, y) for n, (t, y) in shown.items() if t.size}
    if not shown:
        return None
    found = _run_series(trace, "delivered_bytes", list(shown))
    beside = {name: (place, *d.rates(time, total, width, round_ns)) for name, (place, time, total) in found.items()}
    at, together = _together(trace, width, round_ns)
    top = _top([together, *(y for _, y in shown.values()), *(y for _, _, y in beside.values())])
    figure, (axes,) = new_figure(height=2.9)
    factor = d.value_axis(axes, "goodput", top, "bps")
    x = _time_axis(axes, trace)
    if at.size:
        axes.plot(*d.thin(at * x, together * factor), color=INK, linewidth=1.3, label="all connections")
    for i, (number, (time, rate)) in enumerate(shown.items()):
        axes.plot(*d.thin(time * x, rate * factor), color=color(i), label=trace.label(number))
    _dashed(axes, beside, x, factor)
    _ticks(axes, trace, list(shown), x)
    d.legend_below(axes)
    caption = f"Payload acknowledged, in intervals of {show(width, 'ns')}; ticks on the axis are retransmissions.{_rest(trace)}"
    return Drawing("throughput", "Goodput", caption, figure)


def _dashed(axes: Axes, beside: dict[str, tuple[int, d.Array, d.Array]], x: float, factor: float) -> None:
    for name, (place, time, value) in beside.items():
        if time.size:
            axes.plot(*d.thin(time * x, value * factor), color=color(place), dashes=DASHED, linewidth=1.1, label=name)


def _ticks(axes: Axes, trace: Trace, numbers: list[int], x: float) -> None:
    times = np.concatenate([trace.times(n, "retransmission")[0] for n in numbers]) if numbers else np.empty(0)
    if times.size:
        grid = max(trace.span_ns, 1) / 600
        at = np.unique(np.round(times / grid)) * grid
        style: Any = {"color": INK, "markersize": 5, "markeredgewidth": 0.7, "clip_on": False}
        axes.plot(at * x, np.zeros(at.size), "|", transform=axes.get_xaxis_transform(), **style)


def round_trips(trace: Trace) -> Drawing | None:
    """Round-trip times over time."""
    shown = {n: trace.series(n, "rtt_mean_ns") for n in _shown(trace)}
    shown = {n: (t[~np.isnan(y)], y[~np.isnan(y)]) for n, (t, y) in shown.items() if (~np.isnan(y)).any()}
    if not shown:
        return None
    found = _run_series(trace, "srtt_ns", list(shown))
    beside = {name: (place, t[~np.isnan(y)], y[~np.isnan(y)]) for name, (place, t, y) in found.items()}
    top = _top([y for _, y in shown.values()] + [y for _, _, y in beside.values()])
    figure, (axes,) = new_figure(height=2.7)
    factor = d.value_axis(axes, "round-trip time", top, "ns")
    x = _time_axis(axes, trace)
    for i, (number, (time, rtt)) in enumerate(shown.items()):
        axes.plot(*d.thin(time * x, rtt * factor), color=color(i), label=trace.label(number))
    _dashed(axes, beside, x, factor)
    d.legend_below(axes)
    at = {trace.row(number)["vantage"] for number in shown}
    how = ["From a segment sent once to the ACK that covers it, the mean of each interval."] if at - {"receiver"} else []
    if "receiver" in at:
        how.append("At the receiver: from a time stamp sent to the first data that echoes it.")
    if at - {"sender", "receiver"}:
        how.append("Where the capture is not at an end these are the times from here to the receiver and back.")
    if beside:
        how.append("Dashed: the smoothed round-trip time of the run's sender.")
    caption = " ".join(how)
    return Drawing("round-trip", "Round-trip time", caption, figure)


def windows(trace: Trace) -> Drawing | None:
    """What was in flight, and the windows that bound it, of one connection."""
    if not _shown(trace) or trace.row(trace.focus)["vantage"] == "receiver":
        return None
    number = trace.focus
    lines = [
        ("in flight", trace.series(number, "inflight_max_bytes"), color(0), (None, None)),
        (RECEIVERS, trace.series(number, "cur_rwin_rcvd"), ORANGE, (3, 2)),
        ("congestion window", trace.series(number, "cwnd_bytes"), VERMILLION, (None, None)),
    ]
    lines = [(name, (t, y), c, s) for name, (t, y), c, s in lines if y.size and np.nanmax(np.nan_to_num(y)) > 0]
    beside = _run_of_one(trace, "inflight_bytes")
    flying = [float(np.nanmax(y)) for name, (_, y), *_ in lines if name != RECEIVERS]
    flying += [float(y.max()) for *_, y in beside.values() if y.size]
    if not flying or not max(flying):
        return None
    # A receive window far above what is in flight bounds nothing and would flatten the picture.
    lines = [line for line in lines if float(np.nanmax(line[1][1])) < FAR * max(flying)]
    figure, (axes,) = new_figure(height=2.9)
    top = max([max(flying), *(float(np.nanmax(y)) for _, (_, y), *_ in lines)])
    factor = d.value_axis(axes, "bytes of the connection", top, "bytes")
    x = _time_axis(axes, trace, number)
    for name, (time, value), paint, dashes in lines:
        style: Any = {} if dashes[0] is None else {"dashes": dashes}
        axes.plot(*d.thin(time * x, value * factor), color=paint, label=name, **style)
    for name, (_, time, value) in beside.items():
        axes.plot(*d.thin(time * x, value * factor), color=MUTED, dashes=DASHED, linewidth=1.1, label=f"{name}, in flight")
    d.legend_below(axes)
    caption = f"{trace.label(number)}: most bytes in flight in each interval."
    if trace.summary["packets"]:
        caption += " A capture does not see the congestion window."
    return Drawing("windows", "Bytes in flight and windows", caption, figure)


def time_sequence(trace: Trace) -> Drawing | None:
    """Place in the stream over time: sent, acknowledged, retransmitted."""
    if not trace.ranked or not trace.row(trace.focus)["data_segs_out"]:
        return None
    number = trace.focus
    (time, sent), (_, acked) = trace.series(number, "sent_bytes"), trace.series(number, "delivered_bytes")
    again, places = trace.times(number, "retransmission")
    figure, (axes,) = new_figure(height=3.4)
    beside = _run_of_one(trace)
    factor = d.value_axis(axes, "place in the stream", _top([sent, *(y for *_, y in beside.values())]), "bytes")
    x = _time_axis(axes, trace, number)
    at_receiver = trace.row(number)["vantage"] == "receiver"
    answered = way_of(trace, trace.row(number)) is not DATA
    seen = answered and not at_receiver and bool((sent - acked).max() > SEEN * sent.max())
    if seen:
        axes.fill_between(time * x, acked * factor, sent * factor, color=color(0), alpha=0.18, linewidth=0)
    axes.plot(*d.thin(time * x, sent * factor), color=color(0), linewidth=1.0, label="sent")
    if answered:
        axes.plot(*d.thin(time * x, acked * factor), color=color(2), linewidth=1.0, label="acknowledged")
    _dashed(axes, beside, x, factor)
    if again.size:
        step = max(1, again.size // 4000)
        axes.plot(again[::step] * x, places[::step] * factor, ".", color=VERMILLION, markersize=2.5, label="retransmitted")
    d.legend(axes, loc="upper left")
    caption = f"{trace.label(number)}: " + ("the shaded height is what is in flight." if seen else "how far the stream has come.")
    return Drawing("time-sequence", "Time-sequence graph", caption, figure)


def bursts(trace: Trace) -> Drawing | None:
    """The longest burst in each interval, of one connection."""
    if not trace.ranked:
        return None
    number = trace.focus
    time, longest = trace.series(number, "burst_max_segs")
    if not time.size or longest.max() <= 1:
        return None
    figure, (axes,) = new_figure(height=2.4)
    d.heading(axes, "segments in the longest burst")
    axes.set_ylim(0, float(longest.max()) * 1.08)
    x = _time_axis(axes, trace, number)
    axes.plot(*d.thin(time * x, longest), color=color(3), linewidth=1.0)
    caption = f"{trace.label(number)}: data segments that follow each other within the gap of a burst."
    return Drawing("bursts", "Bursts", caption, figure)


def phases(trace: Trace, found: Phases) -> Drawing:
    """The phases of one connection, as bands behind its rate."""
    number = trace.focus
    figure, (axes,) = new_figure(height=2.9)
    _time_axis(axes, trace, number)
    round_ns = trace.rtt_ns(trace.row(number)) or 0.0
    begin, end = _shown_time(trace, number)
    plot(axes, found, *trace.series(number, "delivered_bytes"), end, round_ns, _run_of_one(trace), end - begin)
    return Drawing("phases", "Phases", f"{trace.label(number)}: how its phases are found is in docs/analyze.md.", figure)


def draw_all(trace: Trace) -> list[Drawing]:
    """All figures that the trace has data for."""
    of_all = [twin(trace), throughput(trace), one_way(trace), probes(trace)]
    drawings = [*of_all, time_sequence(trace), windows(trace), round_trips(trace), bursts(trace)]
    try:
        found = trace.phases()
    except (InputError, IndexError):
        found = None
    return [one for one in drawings if one is not None] + ([phases(trace, found)] if found else [])
