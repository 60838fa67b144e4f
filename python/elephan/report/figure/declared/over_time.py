"""Figures of flows over time: windows, rates, goodput, queues, round trips; and the plots that other figures take from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import scale_for, show
from elephan.report.figure import draw as d
from elephan.report.figure.registry import OVER_TIME, by_rate, figure
from elephan.report.style import INK, MUTED, ORANGE, PAPER, VERMILLION, Drawing, new_figure
from elephan.report.words.view import NAMED_MAX, Series, View, arrow
from elephan.statistic import needs
from elephan.table.rows import column, texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes


WINDOWS = "it is of 1 to 40 flows with a window or a rate of their own that were sampled"  # why there may be no figure
LINES_MAX, CHOSEN = 40, 12  # flows that are drawn one by one, and how many of more
MORE = 1.2  # times what samples show: a peak between them that is worth a word


def few(view: View) -> bool:
    return 0 < view.sampled_flows() <= 40


def _sampled(view: View) -> bool:
    return view.sampled_flows() > 0


def largest(view: View, series: Series) -> tuple[Series, str]:
    """As many lines as can be told apart, of flows those that delivered most; and which these are, in a sentence."""
    if len(series) <= LINES_MAX:
        return series, ""
    got = dict(zip(view.flow_names.values(), column(view.run.flows, "delivered_bytes").tolist(), strict=True))
    ranked = sorted(series, key=lambda name: -got.get(name, 0.0))[:CHOSEN]
    alike = got.get(ranked[0], 0.0) == min((got.get(name, 0.0) for name in series), default=0.0)
    of = f"{CHOSEN} of {show(len(series), '1', 9)} flows"
    which = f" The first {of}." if alike else f" Of the flows {of.replace(' flows', '')}: those that delivered most."
    return {name: series[name] for name in series if name in ranked}, which


def _has_queue(view: View) -> bool:
    return bool(view.queues(1))


def highest(series: dict[str, tuple[d.Array, d.Array]]) -> float:
    return max((float(np.nanmax(y)) for _, y in series.values() if y.size and not np.isnan(y).all()), default=1.0)


def _has_threshold(view: View) -> bool:
    """Whether there is one flow, and its threshold is ever within the picture."""
    found = view.thresholds()
    return len(found) == 1 and not np.isnan(next(iter(found.values()))[1]).all()


def plot_windows(axes: Axes, view: View, thresholds: bool) -> str:
    """Draws what flows may send; returns which flows these are, where it is not all."""
    what, unit, series = view.sending()
    series, which = largest(view, series)
    factor = d.value_axis(axes, what, highest(series), unit)
    x = d.time_scale(view.end_ns)[0]
    mark_changes(axes, view)
    _clip(axes, view, series, factor, unit)
    d.lines(axes, {name: (t * x, y * factor) for name, (t, y) in series.items()}, groups=view.groups(), controls=view.controls())
    if thresholds and _has_threshold(view):
        time, value = next(iter(view.thresholds().values()))
        axes.plot(*d.thin(time * x, value * factor), color=ORANGE, linewidth=1.1, dashes=(3, 2), drawstyle="steps-post")
        axes.plot([], [], color=d.looks_of([*series], view.controls())[next(iter(series))].color, label="cwnd")
        axes.plot([], [], color=ORANGE, dashes=(3, 2), label="ssthresh")
        d.legend(axes, loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    return which


CHANGES_NAMED_MAX = 8


def mark_changes(axes: Axes, view: View, named: bool = True) -> None:
    """Lines at what changed during the run, named while they are few."""
    changes = view.change_labels()
    d.mark_changes(axes, changes, view.end_ns, named and len(changes) <= CHANGES_NAMED_MAX)
    if named:
        d.mark_numbers(axes, view.marks, view.end_ns)


def _clip(axes: Axes, view: View, series: dict[str, tuple[d.Array, d.Array]], factor: float, unit: str) -> None:
    """Lets an overshoot at the start leave the picture when it would flatten everything after the warm-up."""
    after = {name: (t[t >= view.run.warmup_ns], y[t >= view.run.warmup_ns]) for name, (t, y) in series.items()}
    top, usual = highest(series), highest(after)
    if view.run.warmup_ns and top > 1.5 * usual:
        axes.set_ylim(0, usual * factor * 1.2)
        axes.annotate(
            f"↑ {show(top, unit)} at the start",
            (0, 1),
            xycoords="axes fraction",
            xytext=(12, -10),
            textcoords="offset points",
            fontsize=8,
            color=MUTED,
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.6, "alpha": 0.8},
        )


def plot_queues(axes: Axes, view: View, most: int = 1, named: bool = False) -> None:
    series = view.queues(most)
    factor = d.value_axis(axes, "queue" if len(series) > 1 else f"queue of {next(iter(series), '')}", highest(series), "bytes")
    x = d.time_scale(view.end_ns)[0]
    if len(series) == 1:
        time, value = next(iter(series.values()))
        time, value = d.thin(time * x, value * factor)
        axes.fill_between(time, value, color=VERMILLION, alpha=0.25, linewidth=0)
        axes.plot(time, value, color=VERMILLION, linewidth=1.1)
    else:
        d.lines(axes, {name: (t * x, y * factor) for name, (t, y) in series.items()}, linewidth=1.1)
    mark_changes(axes, view, named)
    drops = view.drops_at(series)
    if drops.size:
        times = d.places(drops, view.end_ns)
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


def _between_samples(view: View, most: int = 1) -> str:
    """How long a queue was that no sample shows, where that is far more than what is drawn."""
    drawn = view.queues(most)
    longest = dict(zip(map(arrow, texts(view.run.ports, "name")), column(view.run.ports, "queue_max_bytes"), strict=True))
    hidden = {name: longest[name] for name, (_, y) in drawn.items() if longest[name] > MORE * float(np.nanmax(y))}
    if not hidden:
        return ""
    each = ", ".join(f"{show(peak, 'bytes')}{f' at {name}' if len(drawn) > 1 else ''}" for name, peak in hidden.items())
    return f" Samples every {show(view.port_interval_ns(), 'ns')}: between them it was up to {each}."


def _allowed_note(view: View) -> str:
    """What an allowed rate is not."""
    return (
        " The allowed rate is what the congestion control lets a flow send; a flow that is paused or has nothing to send keeps it."
        if view.by_rate()
        else ""
    )


@figure(
    "sawtooth",
    "congestion window and queue over time",
    lambda v: few(v) and _has_queue(v),
    why_not=f"{WINDOWS}, and of a port at which something waited",
    needs=(needs.samples,),
    order=by_rate(None, 30),
    section=OVER_TIME,
    instead_of=("windows", "queue"),
)
def sawtooth(view: View) -> Drawing:
    fig, (above, below) = new_figure(2, 1, height=4.6, sharex=True)
    plot_windows(above, view, thresholds=True)
    plot_queues(below, view)
    d.time_axis(below, 0, view.end_ns)
    what = view.sending()[0]
    above_words = f"Above: {what} of each flow.{_allowed_note(view)}"
    caption = f"{above_words} Below: bytes waiting at the busiest port; ticks at the top are drops there.{_between_samples(view)}"
    return Drawing("sawtooth", f"{what.capitalize()} and queue", caption, fig)


@figure(
    "windows",
    "congestion window and threshold (of RDMA the rate that its congestion control allows) over time",
    _sampled,
    why_not="no flow with a window or a rate of its own was sampled",
    needs=(needs.samples,),
    order=51,
    section=OVER_TIME,
)
def congestion_windows(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=2.9)
    which = plot_windows(axes, view, thresholds=True)
    d.time_axis(axes, 0, view.end_ns)
    what = view.sending()[0]
    caption = f"{what.capitalize()} at the sample times.{which}" + _allowed_note(view)
    if _has_threshold(view):
        caption += " ssthresh is drawn from the first reduction on."
    return Drawing("windows", f"{what.capitalize()}s", caption, fig)


@figure(
    "slow-start",
    "congestion window on a logarithmic scale: doublings are straight lines",
    few,
    why_not=WINDOWS,
    needs=(needs.samples,),
    instead_of=("sawtooth", "windows", "queue"),
)
def slow_start(view: View) -> Drawing:
    fig, (above, below) = new_figure(2, 1, height=4.6, sharex=True)
    series = view.flow_series("cwnd_bytes")
    factor, unit = scale_for(highest(series), "bytes")
    x = d.time_scale(view.end_ns)[0]
    lowest = min(float(y[y > 0].min()) for _, y in series.values() if (y > 0).any())
    d.log_axis(above, "y", lowest * factor * 0.8, highest(series) * factor * 1.25)
    d.heading(above, "congestion window (logarithmic)", unit)
    mark_changes(above, view)
    shown = {name: (t * x, np.where(y > 0, y, np.nan) * factor) for name, (t, y) in series.items()}
    d.lines(above, shown, groups=view.groups(), controls=view.controls())
    above.grid(axis="y", which="major")
    caption = "In slow start the window doubles every round trip: a straight line here."
    if _has_queue(view):
        plot_queues(below, view)
        caption += " Ticks above the queue are drops at that port."
    else:
        plot_goodput(below, view)
    d.time_axis(below, 0, view.end_ns)
    return Drawing("slow-start", "Slow start", caption, fig)


@figure(
    "queue",
    "queues of the busiest ports over time",
    _has_queue,
    why_not="nothing waited at a port when it was sampled",
    needs=(needs.samples,),
    order=by_rate(3, 52),
    section=OVER_TIME,
)
def queue(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=2.6)
    plot_queues(axes, view, most=3, named=True)
    d.time_axis(axes, 0, view.end_ns)
    caption = "Bytes waiting (the packet on the wire does not wait). Ticks at the top are drops at the ports that are drawn."
    caption += _between_samples(view, most=3)
    return Drawing("queue", "Queues", caption, fig)


def plot_goodput(axes: Axes, view: View) -> float:
    series, step = view.goodput_series()
    whose = f" of {next(iter(series))}" if len(series) == 1 and len(view.flow_ids) <= NAMED_MAX else ""
    factor = d.value_axis(axes, f"goodput{whose} in windows of {show(step, 'ns')}", highest(series), "bps")
    x = d.time_scale(view.end_ns)[0]
    d.mark_warmup(axes, view.run.warmup_ns, x)
    mark_changes(axes, view)
    d.lines(
        axes,
        {name: (t * x, y * factor) for name, (t, y) in series.items()},
        groups={name: name for name in series},
        controls=view.controls(),
        linewidth=1.2,
    )
    return factor


def _goodput_notes(view: View) -> str:
    """What a reader may wonder about in a picture of goodput over time."""
    notes = ""
    if view.run.warmup_ns > 0:
        notes += " The shaded beginning is warm-up and does not count."
    if column(view.run.flows, "segs_retrans").sum() > 0:
        notes += " For a moment goodput can exceed the rate of the line: what waited behind a hole comes at once when it is filled."
    return notes


@figure(
    "goodput",
    "goodput of each flow over time",
    lambda v: v.sampled,
    why_not="no flow was sampled",
    needs=(needs.samples,),
    order=by_rate(2, 50),
    section=OVER_TIME,
)
def goodput(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=2.9)
    plot_goodput(axes, view)
    d.time_axis(axes, 0, view.end_ns)
    caption = "Payload that the receiving applications read." + _goodput_notes(view)
    return Drawing("goodput", "Goodput", caption, fig)


@figure(
    "goodput-window",
    "goodput and congestion window of each flow over time",
    few,
    why_not=WINDOWS,
    needs=(needs.samples,),
    order=by_rate(1),
    section=OVER_TIME,
    instead_of=("goodput", "sawtooth", "windows"),
)
def goodput_window(view: View) -> Drawing:
    fig, (above, below) = new_figure(2, 1, height=4.6, sharex=True)
    plot_goodput(above, view)
    plot_windows(below, view, thresholds=False)
    d.time_axis(below, 0, view.end_ns)
    what = view.sending()[0]
    caption = f"Above: goodput. Below: {what}." + _allowed_note(view) + _goodput_notes(view)
    return Drawing("goodput-window", f"Goodput and {what}", caption, fig)


@figure(
    "rtt",
    "smoothed round-trip time over time",
    _sampled,
    why_not="no flow with a round-trip time was sampled",
    needs=(needs.samples,),
    order=60,
    section=OVER_TIME,
)
def rtt(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=2.6)
    series, which = largest(view, view.flow_series("srtt_ns"))
    factor = d.value_axis(axes, "smoothed round-trip time", highest(series), "ns")
    x = d.time_scale(view.end_ns)[0]
    mark_changes(axes, view)
    shown = {name: (t * x, y * factor) for name, (t, y) in series.items()}
    d.lines(axes, shown, groups=view.groups(), controls=view.controls(), linewidth=1.2)
    d.time_axis(axes, 0, view.end_ns)
    return Drawing("rtt", "Round-trip time", f"As the senders estimate it (RFC 6298).{which}", fig)
