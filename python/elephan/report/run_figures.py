"""Figures of one run, by name: each says what it shows, whether a run has the data, and draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elephan import stats
from elephan.errors import InputError, nearest
from elephan.measures import column, windows
from elephan.quantity import scale_for, show, size_bytes
from elephan.report import draw as d
from elephan.report.style import BLUE, GREEN, INK, MUTED, ORANGE, VERMILLION, Drawing, color, new_figure
from elephan.report.view import NAMED_MAX, View, nice_step
from elephan.runs import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Kind:
    """A figure that can be asked for by name."""

    name: str
    about: str
    possible: Callable[[View], bool]
    draw: Callable[[View], Drawing]


REGISTRY: dict[str, Kind] = {}


def figure(
    name: str, about: str, possible: Callable[[View], bool]
) -> Callable[[Callable[[View], Drawing]], Callable[[View], Drawing]]:
    """Registers a figure."""

    def register(function: Callable[[View], Drawing]) -> Callable[[View], Drawing]:
        REGISTRY[name] = Kind(name, about, possible, function)
        return function

    return register


def _few(view: View) -> bool:
    return view.sampled and view.sampled_flows() <= 40


def _finite(view: View) -> bool:
    return bool((~np.isnan(column(view.run.flows, "size_bytes"))).any())


def _has_queue(view: View) -> bool:
    return bool(view.queues(1))


def _top(series: dict[str, tuple[d.Array, d.Array]]) -> float:
    return max((float(np.nanmax(y)) for _, y in series.values() if y.size and not np.isnan(y).all()), default=1.0)


def _has_threshold(view: View) -> bool:
    """Whether there is one flow, and its threshold is ever within the picture."""
    found = view.thresholds()
    return len(found) == 1 and not np.isnan(next(iter(found.values()))[1]).all()


def _plot_windows(axes: Axes, view: View, thresholds: bool) -> None:
    series = view.flow_series("cwnd_bytes")
    factor = d.value_axis(axes, "congestion window", _top(series), "bytes")
    end = view.run.duration_ns
    x = d.time_scale(end)[0]
    d.lines(axes, {name: (t * x, y * factor) for name, (t, y) in series.items()})
    _mark_changes(axes, view)
    _clip(axes, view, series, factor)
    if thresholds and _has_threshold(view):
        time, value = next(iter(view.thresholds().values()))
        axes.plot(*d.thin(time * x, value * factor), color=ORANGE, linewidth=1.1, dashes=(3, 2), drawstyle="steps-post")
        axes.plot([], [], color=BLUE, label="cwnd")
        axes.plot([], [], color=ORANGE, dashes=(3, 2), label="ssthresh")
        d.legend(axes, loc="lower right", bbox_to_anchor=(1, 1), ncols=2)


CHANGES_NAMED_MAX = 8


def _mark_changes(axes: Axes, view: View, named: bool = True) -> None:
    """Lines at what changed during the run, named while they are few."""
    changes = view.changes()
    d.mark_changes(axes, changes, d.time_scale(view.run.duration_ns)[0], named and len(changes) <= CHANGES_NAMED_MAX)


def _clip(axes: Axes, view: View, series: dict[str, tuple[d.Array, d.Array]], factor: float) -> None:
    """Lets an overshoot at the start leave the picture when it would flatten everything after the warm-up."""
    after = {name: (t[t >= view.run.warmup_ns], y[t >= view.run.warmup_ns]) for name, (t, y) in series.items()}
    top, usual = _top(series), _top(after)
    if view.run.warmup_ns and top > 1.5 * usual:
        axes.set_ylim(0, usual * factor * 1.2)
        axes.annotate(
            f"↑ {show(top, 'bytes')} at the start",
            (0, 1),
            xycoords="axes fraction",
            xytext=(12, -10),
            textcoords="offset points",
            fontsize=8,
            color=MUTED,
        )


def _plot_queues(axes: Axes, view: View, most: int = 1) -> None:
    series = view.queues(most)
    factor = d.value_axis(axes, "queue" if most > 1 else f"queue of {next(iter(series), '')}", _top(series), "bytes")
    x = d.time_scale(view.run.duration_ns)[0]
    if len(series) == 1:
        time, value = next(iter(series.values()))
        time, value = d.thin(time * x, value * factor)
        axes.fill_between(time, value, color=VERMILLION, alpha=0.25, linewidth=0)
        axes.plot(time, value, color=VERMILLION, linewidth=1.1)
    else:
        d.lines(axes, {name: (t * x, y * factor) for name, (t, y) in series.items()}, linewidth=1.1)
    _mark_changes(axes, view, named=False)
    drops = view.events("drop")
    if drops.size:
        times = np.unique(np.round(drops / view.run.duration_ns * 600)) / 600 * view.run.duration_ns
        axes.plot(
            times * x,
            np.full(times.size, 1.0),
            "|",
            color=INK,
            markersize=5,
            markeredgewidth=0.7,
            transform=axes.get_xaxis_transform(),
            clip_on=False,
        )


@figure("sawtooth", "congestion window and queue over time", lambda v: _few(v) and _has_queue(v))
def sawtooth(view: View) -> Drawing:
    fig, (above, below) = new_figure(2, 1, height=4.6, sharex=True)
    _plot_windows(above, view, thresholds=True)
    _plot_queues(below, view)
    d.time_axis(below, 0, view.run.duration_ns)
    caption = "Above: congestion window of each flow. Below: bytes waiting at the busiest port; ticks at the top are drops."
    return Drawing("sawtooth", "Congestion window and queue", caption, fig)


@figure("windows", "congestion window and threshold over time", _few)
def congestion_windows(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=2.9)
    _plot_windows(axes, view, thresholds=True)
    d.time_axis(axes, 0, view.run.duration_ns)
    caption = "Congestion window at the sample times."
    if _has_threshold(view):
        caption += " ssthresh is drawn from the first reduction on."
    return Drawing("windows", "Congestion windows", caption, fig)


@figure("slow-start", "congestion window on a logarithmic scale: doublings are straight lines", _few)
def slow_start(view: View) -> Drawing:
    fig, (above, below) = new_figure(2, 1, height=4.6, sharex=True)
    series = view.flow_series("cwnd_bytes")
    factor, unit = scale_for(_top(series), "bytes")
    x = d.time_scale(view.run.duration_ns)[0]
    lowest = min(float(y[y > 0].min()) for _, y in series.values() if (y > 0).any())
    d.log_axis(above, "y", lowest * factor * 0.8, _top(series) * factor * 1.25)
    d.heading(above, "congestion window (logarithmic)", unit)
    d.lines(above, {name: (t * x, np.where(y > 0, y, np.nan) * factor) for name, (t, y) in series.items()})
    _mark_changes(above, view)
    above.grid(axis="y", which="major")
    if _has_queue(view):
        _plot_queues(below, view)
    else:
        _plot_goodput(below, view)
    d.time_axis(below, 0, view.run.duration_ns)
    caption = "In slow start the window doubles every round trip: a straight line here. Ticks below are drops."
    return Drawing("slow-start", "Slow start", caption, fig)


@figure("queue", "queues of the busiest ports over time", _has_queue)
def queue(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=2.6)
    _plot_queues(axes, view, most=3)
    d.time_axis(axes, 0, view.run.duration_ns)
    caption = "Bytes waiting (the packet on the wire does not wait). Ticks at the top are drops."
    return Drawing("queue", "Queues", caption, fig)


def _plot_goodput(axes: Axes, view: View) -> float:
    series, step = view.goodput_series()
    whose = f" of {next(iter(series))}" if len(series) == 1 and len(view.flow_ids) <= NAMED_MAX else ""
    factor = d.value_axis(axes, f"goodput{whose} in windows of {show(step, 'ns')}", _top(series), "bps")
    x = d.time_scale(view.run.duration_ns)[0]
    d.mark_warmup(axes, view.run.warmup_ns, x)
    _mark_changes(axes, view)
    d.lines(axes, {name: (t * x, y * factor) for name, (t, y) in series.items()}, linewidth=1.2)
    return factor


def _goodput_notes(view: View) -> str:
    """What a reader may wonder about in a picture of goodput over time."""
    notes = ""
    if view.run.warmup_ns > 0:
        notes += " The shaded beginning is warm-up and does not count."
    if column(view.run.flows, "segs_retrans").sum() > 0:
        notes += " A window can exceed the rate of the line: a retransmission that fills a hole releases all that waited behind it."
    return notes


@figure("goodput", "goodput of each flow over time", lambda v: v.sampled)
def goodput(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=2.9)
    _plot_goodput(axes, view)
    d.time_axis(axes, 0, view.run.duration_ns)
    caption = "Payload that the receiving applications read." + _goodput_notes(view)
    return Drawing("goodput", "Goodput", caption, fig)


@figure("goodput-window", "goodput and congestion window of each flow over time", _few)
def goodput_window(view: View) -> Drawing:
    fig, (above, below) = new_figure(2, 1, height=4.6, sharex=True)
    _plot_goodput(above, view)
    _plot_windows(below, view, thresholds=False)
    d.time_axis(below, 0, view.run.duration_ns)
    caption = "Above: goodput. Below: congestion window." + _goodput_notes(view)
    return Drawing("goodput-window", "Goodput and congestion window", caption, fig)


def _sharing(view: View) -> tuple[float, d.Array, d.Array, int]:
    """The window in ns, where windows start, Jain's index of each, the number of flows."""
    step = nice_step(max(view.run.duration_ns / 200, view.interval_ns()))
    starts, shares, ids = windows(view.run, int(step))
    return step, starts, stats.jain_per_window(shares) if starts.size else np.empty(0), len(ids)


def _shares(view: View) -> bool:
    """Whether the index is a line: flows deliver something in windows that follow each other."""
    if not view.sampled or view.sampled_flows() < 2:
        return False
    known = ~np.isnan(_sharing(view)[2])
    return bool(np.sum(known[1:] & known[:-1]) > known.size / 10)


@figure("sharing", "Jain's index of each window over time", _shares)
def sharing(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=2.4)
    step, starts, index, flows = _sharing(view)
    x = d.time_scale(view.run.duration_ns)[0]
    axes.plot(*d.thin((starts + step / 2) * x, index), color=GREEN, linewidth=1.1)
    _mark_changes(axes, view)
    d.heading(axes, f"Jain's index in windows of {show(step, 'ns')}")
    axes.set_ylim(0, 1.04)
    d.reference(axes, 1 / flows if flows else 0, "one flow has everything")
    d.time_axis(axes, 0, view.run.duration_ns)
    return Drawing("sharing", "Sharing", "1 means equal shares in the window.", fig)


@figure("rtt", "smoothed round-trip time over time", _few)
def rtt(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=2.6)
    series = view.flow_series("srtt_ns")
    factor = d.value_axis(axes, "smoothed round-trip time", _top(series), "ns")
    x = d.time_scale(view.run.duration_ns)[0]
    _mark_changes(axes, view)
    d.lines(axes, {name: (t * x, y * factor) for name, (t, y) in series.items()}, linewidth=1.2)
    d.time_axis(axes, 0, view.run.duration_ns)
    return Drawing("rtt", "Round-trip time", "As the senders estimate it (RFC 6298).", fig)


def _messages(view: View) -> d.Array:
    messages = view.run.messages
    latency = column(messages, "latency_ns")
    return latency[(column(messages, "enter_ns") >= view.run.warmup_ns) & ~np.isnan(latency)]


@figure("latency", "distribution of message latency", lambda v: _messages(v).size > 20)
def latency(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=3.0)
    values = _messages(view)
    x, y = d.ccdf(values)
    axes.plot(x, y, color=BLUE)
    d.log_time_axis(axes, "x", float(x[0]) * 0.8, float(x[-1]) * 1.6)
    axes.set_yscale("log")
    d.percent_axis(axes)
    axes.grid(axis="both")
    axes.set_xlabel("latency")
    d.heading(axes, "share of messages with a longer latency")
    for q, name in ((0.5, "median"), (0.99, "99 %"), (0.999, "99.9 %")):
        at = stats.quantiles(values, [q])[0]
        if values.size * (1 - q) >= 3:
            axes.plot([at], [1 - q], "o", color=BLUE, markersize=4)
            left = at > float(x[-1]) / 4
            axes.annotate(
                f"{name}: {show(at, 'ns')}",
                (at, 1 - q),
                xytext=(-7 if left else 7, 3),
                textcoords="offset points",
                ha="right" if left else "left",
                fontsize=8.5,
                color=BLUE,
            )
    caption = f"{values.size} messages, from entry into TCP to the last byte out at the receiver, retransmissions included."
    return Drawing("latency", "Latency", caption, fig)


@figure("completion", "completion time of finite flows", lambda v: bool((~np.isnan(column(v.run.flows, "fct_ns"))).any()))
def completion(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=3.0)
    values = column(view.run.flows, "fct_ns")
    finished = values[~np.isnan(values)]
    factor, unit = scale_for(float(finished.max()), "ns")
    x, y = d.cdf(finished * factor)
    axes.plot(x, y, color=BLUE, drawstyle="steps-post")
    if finished.size <= 60:
        axes.plot(x, y, "o", color=BLUE, markersize=3.5)
    axes.set_xlabel(f"completion time, {unit}")
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.03)
    d.percent_axis(axes)
    d.heading(axes, "share of transfers that are complete")
    unfinished = int(np.sum(~np.isnan(column(view.run.flows, "size_bytes"))) - finished.size)
    caption = f"{finished.size} transfers completed" + (f", {unfinished} did not." if unfinished > 0 else ".")
    return Drawing("completion", "Completion times", caption, fig)


@figure("bars", "goodput of each flow, side by side", lambda v: 1 < len(v.flow_ids) <= 40)
def bars(view: View) -> Drawing:
    values = column(view.run.flows, "goodput_bps")
    names = list(view.flow_names.values())
    fig, (axes,) = new_figure(height=0.9 + 0.26 * len(names))
    factor, unit = scale_for(float(values.max()), "bps")
    places = np.arange(len(names))[::-1]
    axes.barh(places, values * factor, color=BLUE, height=0.66)
    for place, value in zip(places, values, strict=True):
        axes.annotate(
            show(value, "bps"), (value * factor, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5
        )
    axes.set_yticks(places, names)
    axes.grid(visible=False)
    axes.set_xlim(0, float(values.max()) * factor * 1.14 or 1)
    axes.set_xlabel(f"goodput, {unit}")
    return Drawing("bars", "Goodput of each flow", "In the measured time.", fig)


@figure("ranking", "goodput of many flows in order", lambda v: len(v.flow_ids) > NAMED_MAX and not _finite(v))
def ranking(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=2.6)
    values = np.sort(column(view.run.flows, "goodput_bps"))[::-1]
    factor = d.value_axis(axes, "goodput of each flow, in order", float(values.max()), "bps")
    axes.step(np.arange(1, values.size + 1), values * factor, where="mid", color=BLUE)
    axes.fill_between(np.arange(1, values.size + 1), values * factor, step="mid", color=BLUE, alpha=0.15, linewidth=0)
    d.reference(axes, float(values.mean()) * factor, f"mean: {show(float(values.mean()), 'bps')}", "right")
    axes.set_xlim(0.5, values.size + 0.5)
    axes.set_xlabel("flow")
    return Drawing("ranking", "Goodput, flow by flow", f"{values.size} flows in the measured time, the fastest first.", fig)


@figure("drops", "packets dropped over time", lambda v: v.events("drop").size > 0)
def drops(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=2.2)
    step = nice_step(view.run.duration_ns / 100)
    edges = np.arange(0, view.run.duration_ns + step, step)
    counts, _ = np.histogram(view.events("drop"), edges)
    x = d.time_axis(axes, 0, view.run.duration_ns)
    axes.bar(edges[:-1] * x, counts, width=step * x, align="edge", color=VERMILLION)
    d.heading(axes, f"packets dropped in {show(step, 'ns')}")
    axes.set_ylim(0, counts.max() * 1.08)
    return Drawing("drops", "Drops", f"{int(counts.sum())} packets dropped in the whole run.", fig)


@figure("limiters", "rates of limited pairs or flows, and the queue", lambda v: bool(v.limiters()))
def limiters(view: View) -> Drawing:
    series = view.limiters()
    fig, (above, below) = new_figure(2, 1, height=4.6, sharex=True)
    factor = d.value_axis(above, "rate of each limiter", _top(series), "bps")
    x = d.time_scale(view.run.duration_ns)[0]
    shown = dict(list(series.items())[:NAMED_MAX])
    d.lines(above, {name: (t * x, y * factor) for name, (t, y) in shown.items()}, linewidth=1.1)
    above.set_ylim(0)
    _mark_changes(above, view)
    _plot_queues(below, view)
    d.time_axis(below, 0, view.run.duration_ns)
    more = f" Of {len(series)} limiters those that are slowest on the average." if len(series) > len(shown) else ""
    caption = f"Above: what limiters allow, where there is none nothing is drawn.{more} Below: the busiest queue; ticks are drops."
    return Drawing("limiters", "Limited rates and queue", caption, fig)


@figure("memory", "shared memory of the switches over time", lambda v: bool(v.memory()) and v.has_memory_limit())
def memory(view: View) -> Drawing:
    series = view.memory()
    samples = next(iter(series.values()))[0]
    zoomed = samples.size > 2000
    fig, axes = (
        new_figure(1, 2, height=2.8, sharey=True, gridspec_kw={"width_ratios": [3, 2]}) if zoomed else new_figure(height=2.8)
    )
    limits = {name: size_bytes(s["memory"]) for name, s in view.run.resolved.get("switches", {}).items() if "memory" in s}
    top = max([_top(series), *limits.values()])
    factor = d.value_axis(axes[0], "memory in use", top, "bytes")
    x = d.time_axis(axes[0], 0, view.run.duration_ns)
    d.lines(axes[0], {name: (t * x, y * factor) for name, (t, y) in series.items()}, named=not zoomed, linewidth=0.9)
    for limit in set(limits.values()):
        d.reference(axes[0], limit * factor, f"memory: {show(limit, 'bytes')}")
    if zoomed:
        _memory_zoom(axes[1], view, series, factor)
    for one in axes:
        _pause_lines(one, view, factor)
    axes[0].set_ylim(0, top * factor * 1.12)
    words = " Right: the stretch in which it varies most." if zoomed else ""
    return Drawing("memory", "Switch memory", f"A frame counts from its last bit in to its last bit out.{words}", fig)


def _memory_zoom(axes: Axes, view: View, series: dict[str, tuple[d.Array, d.Array]], factor: float) -> None:
    """200 samples around the liveliest stretch after the warm-up."""
    time, value = max(series.values(), key=lambda pair: float(pair[1].sum()))
    value, time = value[time >= view.run.warmup_ns], time[time >= view.run.warmup_ns]
    blocks = value[: value.size - value.size % 200].reshape(-1, 200)
    first = int(blocks.std(axis=1).argmax()) * 200 if blocks.size else 0
    time, begin = time[first : first + 200], time[first]
    x, unit = scale_for(float(time[-1] - begin), "ns")
    for i, (t, y) in enumerate(series.values()):
        chosen = (t >= begin) & (t <= time[-1])
        axes.plot((t[chosen] - begin) * x, y[chosen] * factor, color=color(i), linewidth=1.0, drawstyle="steps-post")
    axes.set_xlim(0, float(time[-1] - begin) * x)
    axes.set_xlabel(f"{unit} after {show(float(begin), 'ns', 4)}")


def _pause_lines(axes: Axes, view: View, factor: float) -> None:
    """XOFF and XON of the switches: a line each, one label for both, named where switches differ."""
    found: dict[tuple[float, float], list[str]] = {}
    for name, switch in view.run.resolved.get("switches", {}).items():
        control = switch.get("flow_control", {})
        of_memory = control.get("kind") == "pause" and control.get("per", "memory") == "memory"
        if of_memory and "xoff" in control and "xon" in control:
            found.setdefault((size_bytes(control["xoff"]), size_bytes(control["xon"])), []).append(name)
    for (xoff, xon), names in found.items():
        whose = f" of {', '.join(names)}" if len(found) > 1 else ""
        axes.axhline(xon * factor, color=MUTED, linewidth=0.9, dashes=(1, 2))
        d.reference(axes, xoff * factor, f"XOFF, below it XON{whose}", "right")


def _resumptions(view: View) -> str:
    """PAUSE frames of time 0 end a pause: `pauses_sent` counts them too."""
    resumed = view.events("resume").size
    return f" (and {resumed} that resume)" if resumed else ""


@figure("pause", "share of time that switches hold their neighbours paused", lambda v: v.events("pause").size > 0)
def pause(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=2.2)
    step = nice_step(view.run.duration_ns / 200)
    edges = np.arange(0, view.run.duration_ns + step, step)
    counts, _ = np.histogram(view.events("pause"), edges)
    x = d.time_axis(axes, 0, view.run.duration_ns)
    axes.step(edges[:-1] * x, counts, where="post", color=BLUE, linewidth=1.1)
    axes.fill_between(edges[:-1] * x, counts, step="post", color=BLUE, alpha=0.2, linewidth=0)
    d.heading(axes, f"PAUSE frames in {show(step, 'ns')}")
    axes.set_ylim(0, max(1, counts.max()) * 1.08)
    paused = column(view.run.ports, "paused_ns")
    longest = show(float(paused.max()), "ns")
    caption = f"{int(counts.sum())} PAUSE frames{_resumptions(view)}. The port paused longest stood still for {longest}."
    return Drawing("pause", "PAUSE", caption, fig)


# What a report shows, in this order, as far as the run has the data.
REPORT = (
    "copy",
    "sawtooth",
    "transmit",
    "goodput",
    "sharing",
    "ranking",
    "latency",
    "completion",
    "host",
    "limiters",
    "memory",
    "drops",
    "pause",
    "pause-timeline",
    "pause-tree",
    "rtt",
)


def known(name: str) -> str:
    """The name of a figure, or one line about it."""
    if name not in REGISTRY:
        raise InputError(f'no figure "{name}"{nearest(name, list(REGISTRY))}')
    return name


def draw(run: Run, name: str = "") -> Drawing:
    """A figure of a run by name; without a name the first of the report's figures that the run has data for."""
    view = View(run)
    if not name:
        kind = next((REGISTRY[n] for n in (*REPORT, "bars") if REGISTRY[n].possible(view)), None)
        if kind is None:
            raise InputError('nothing to draw: the run has no samples; set "record.every"')
        return kind.draw(view)
    if not REGISTRY[known(name)].possible(view):
        raise InputError(f'figure "{name}" needs data that this run did not record; set "record.every"')
    return REGISTRY[name].draw(view)


def draw_all(run: Run, first: str = "") -> list[Drawing]:
    """All figures that a report of this run shows, `first` before the others."""
    view = View(run)
    names = [name for name in dict.fromkeys((first, *REPORT)) if name in REGISTRY and REGISTRY[name].possible(view)]
    if first == "goodput-window" and "goodput" in names:
        names.remove("goodput")
    if first in ("slow-start", "goodput-window") and "sawtooth" in names:
        names.remove("sawtooth")
    return [REGISTRY[name].draw(view) for name in names]


# Register their figures.
from elephan.report import copy_figures as copy_figures  # noqa: E402
from elephan.report import host_figures as host_figures  # noqa: E402
from elephan.report import spreading_figures as spreading_figures  # noqa: E402
from elephan.report import transmit_figures as transmit_figures  # noqa: E402
