"""Figures of what flows and messages got: shares, latency, completion times, goodput side by side."""

from __future__ import annotations

import numpy as np

from elephan.base import stats
from elephan.base.quantity import counted, scale_for, show
from elephan.report.figure import draw as d
from elephan.report.figure.declared.over_time import mark_changes
from elephan.report.figure.registry import figure
from elephan.report.style import BLUE, GREEN, Drawing, new_figure
from elephan.report.words.view import NAMED_MAX, View, nice_step
from elephan.statistic import needs, observed
from elephan.statistic.sharing import compete_alike
from elephan.table.rows import column, windows


def _sharing(view: View) -> tuple[float, d.Array, d.Array, int]:
    """The window in ns, where windows start, Jain's index of each, the number of flows."""
    step = nice_step(max(view.end_ns / 200, view.interval_ns()))
    starts, shares, ids = windows(view.run, int(step))
    return step, starts, stats.jain_per_window(shares) if starts.size else np.empty(0), len(ids)


def _shares(view: View) -> bool:
    """Whether the index is a line: flows deliver something in windows that follow each other."""
    if not view.sampled or view.sampled_flows() < 2 or not compete_alike(view.run):
        return False
    known = ~np.isnan(_sharing(view)[2])
    return bool(np.sum(known[1:] & known[:-1]) > known.size / 10)


@figure(
    "sharing",
    "Jain's index of each window over time",
    _shares,
    why_not="it compares two flows or more that want alike, have no end and share a port",
    needs=(needs.samples,),
    order=70,
)
def sharing(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=2.4)
    step, starts, index, flows = _sharing(view)
    x = d.time_scale(view.end_ns)[0]
    axes.plot(*d.thin((starts + step / 2) * x, index), color=GREEN, linewidth=1.1)
    d.heading(axes, f"Jain's index in windows of {show(step, 'ns')}")
    mark_changes(axes, view)
    axes.set_ylim(0, 1.04)
    d.reference(axes, 1 / flows if flows else 0, "one flow has everything")
    d.time_axis(axes, 0, view.end_ns)
    return Drawing("sharing", "Sharing", "1 means equal shares in the window.", fig)


def _number(count: int) -> str:
    return show(float(count), "1", 9)


def _finite(view: View) -> bool:
    return bool((~np.isnan(column(view.run.flows, "size_bytes"))).any())


@figure(
    "latency",
    "distribution of message latency",
    lambda v: observed.latency(v.run).size > 20,
    why_not="it is of more than 20 messages or transfers that begin after the warm-up",
    needs=(needs.recorded_messages,),
    order=90,
)
def latency(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=3.0)
    values = observed.latency(view.run)
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
            # The line falls: below and left of a point of it there is room, above and right too.
            axes.annotate(
                f"{name}: {show(at, 'ns')}",
                (at, 1 - q),
                xytext=(-6, -2) if left else (6, 2),
                textcoords="offset points",
                ha="right" if left else "left",
                va="top" if left else "bottom",
                fontsize=8.5,
                color=BLUE,
            )
    caption = (
        f"{_number(values.size)} messages, from entry into TCP to the last byte out at the receiver, retransmissions included."
    )
    return Drawing("latency", "Latency", caption, fig)


def _taken(view: View) -> d.Array:
    """Completion times in ns of the transfers that began in the measured time; not a number where one did not complete."""
    flows = view.run.flows
    finite = ~np.isnan(column(flows, "size_bytes"))
    return column(flows, "fct_ns")[finite & (column(flows, "start_ns") >= view.run.warmup_ns)]


@figure(
    "completion",
    "completion time of finite flows",
    lambda v: bool((~np.isnan(_taken(v))).any()),
    why_not="no transfer that began after the warm-up came to its end",
    order=100,
)
def completion(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=3.0)
    took = _taken(view)
    finished = took[~np.isnan(took)]
    factor, unit = scale_for(float(finished.max()), "ns")
    x, y = d.cdf(finished * factor)
    y = y * (finished.size / took.size)
    axes.plot(x, y, color=BLUE, drawstyle="steps-post")
    if finished.size <= 60:
        axes.plot(x, y, "o", color=BLUE, markersize=3.5)
    axes.set_xlabel(f"completion time, {unit}")
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.03)
    d.percent_axis(axes)
    d.heading(axes, "share of transfers that are complete")
    whose = " that began after the warm-up" if view.run.warmup_ns else ""
    unfinished = took.size - finished.size
    caption = f"{_number(finished.size)} transfers{whose} completed" + (
        f", {_number(unfinished)} did not: shares are of all." if unfinished else "."
    )
    return Drawing("completion", "Completion times", caption, fig)


@figure(
    "bars",
    "goodput of each flow, side by side",
    lambda v: 1 < len(v.flow_ids) <= 40,
    why_not="it compares two flows or more, 40 at most",
    order=190,
    page=False,
)
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


@figure(
    "ranking",
    "goodput of many flows in order",
    lambda v: len(v.flow_ids) > NAMED_MAX and not _finite(v),
    why_not=f"it is of more than {NAMED_MAX} flows, none of which has an end",
    order=80,
)
def ranking(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=2.6)
    values = np.sort(column(view.run.flows, "goodput_bps"))[::-1]
    factor = d.value_axis(axes, "goodput of each flow, in order", float(values.max()), "bps")
    axes.step(np.arange(1, values.size + 1), values * factor, where="mid", color=BLUE)
    axes.fill_between(np.arange(1, values.size + 1), values * factor, step="mid", color=BLUE, alpha=0.15, linewidth=0)
    d.reference(axes, float(values.mean()) * factor, f"mean: {show(float(values.mean()), 'bps')}", "right")
    axes.set_xlim(0.5, values.size + 0.5)
    axes.set_xlabel("flow")
    return Drawing(
        "ranking", "Goodput, flow by flow", f"{counted(values.size, 'flow')} in the measured time, the fastest first.", fig
    )
