"""Figures of ports and switches: drops, limiters, shared memory, PAUSE."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import scale_for, show, size_bytes
from elephan.report.figure import draw as d
from elephan.report.figure.declared.over_time import highest, mark_changes, plot_queues
from elephan.report.figure.registry import OVER_TIME, figure
from elephan.report.style import BLUE, MUTED, SERIES, VERMILLION, Drawing, color, new_figure
from elephan.report.words.view import NAMED_MAX, View, nice_step
from elephan.statistic import needs
from elephan.table.rows import column

if TYPE_CHECKING:
    from matplotlib.axes import Axes


NO_PAUSE = "no port sent PAUSE"
WIDE = 20  # times the usual: a bar beside which the others would not be seen


def _counted(axes: Axes, view: View, kind: str, bins: int) -> tuple[d.Array, d.Array, float]:
    """Events of a kind in windows: where windows begin, in the axis' unit, how many in each, and a window in ns."""
    step = nice_step(view.end_ns / bins)
    edges = np.arange(0, view.end_ns + step, step)
    return edges[:-1] * d.time_axis(axes, 0, view.end_ns), _in_windows(view.events(kind), edges), step


def _in_windows(times: d.Array, edges: d.Array) -> d.Array:
    """Returns how many times lie between edges; the times are sorted, as millions of them would take too long otherwise."""
    before = np.searchsorted(times, edges)
    before[-1] = np.searchsorted(times, edges[-1], side="right")
    return np.diff(before)


@figure(
    "drops",
    "packets dropped over time",
    lambda v: v.events("drop").size > 0,
    why_not="no packet was dropped",
    needs=(needs.recorded_events,),
    order=140,
)
def drops(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=2.2)
    begins, counts, step = _counted(axes, view, "drop", 100)
    edges = np.arange(begins.size + 1, dtype=np.float64) * step
    reasons = view.drops_by_reason()
    below = np.zeros(begins.size)
    paints = [VERMILLION, *(paint for paint in SERIES if paint != VERMILLION)]
    for (reason, times), paint in zip(reasons.items(), cycle(paints), strict=False):
        these = _in_windows(np.sort(times, kind="stable"), edges)
        axes.bar(begins, these, bottom=below, width=begins[1] - begins[0], align="edge", color=paint, label=reason)
        below = below + these
    d.legend_below(axes)
    wide = counts.max() > WIDE * np.median(counts[counts > 0])
    d.heading(axes, f"packets dropped in {show(step, 'ns')}{' (logarithmic)' if wide else ''}")
    mark_changes(axes, view)
    axes.set_ylim(0, counts.max() * 1.08)
    if wide:
        d.count_axis(axes, float(counts.max()))
    dropped = int(counts.sum())
    why = ", ".join(f"{show(float(times.size), '1', 9)} {reason}" for reason, times in reasons.items())
    caption = f"{show(float(dropped), '1', 9)} packet{'' if dropped == 1 else 's'} dropped in the whole run: {why}."
    return Drawing("drops", "Drops", caption, fig)


@figure(
    "limiters",
    "rates of limited pairs or flows, and the queue",
    lambda v: bool(v.limiters()),
    why_not="no source was limited by congestion management",
    needs=(needs.samples,),
    order=120,
)
def limiters(view: View) -> Drawing:
    series = view.limiters()
    fig, (above, below) = new_figure(2, 1, height=4.6, sharex=True)
    chosen = sorted(list(series)[:NAMED_MAX])  # in the order, so in the colours, that other figures have
    shown = {name: series[name] for name in chosen}
    top, least = highest(shown), min(float(np.nanmin(y)) for _, y in shown.values())
    factor, unit = scale_for(top, "bps")
    wide = least > 0 and top > 8 * least
    d.heading(above, "rate of each limiter (logarithmic)" if wide else "rate of each limiter", unit)
    if wide:
        d.log_axis(above, "y", least * factor * 0.8, top * factor * 1.25)
    else:
        above.set_ylim(0, top * factor * 1.06)
    x = d.time_scale(view.end_ns)[0]
    mark_changes(above, view)
    d.lines(above, {name: (t * x, y * factor) for name, (t, y) in shown.items()}, linewidth=1.1)
    plot_queues(below, view)
    d.time_axis(below, 0, view.end_ns)
    more = f" Of {len(series)} limiters those that are slowest on the average." if len(series) > len(shown) else ""
    caption = (
        f"Above: what limiters allow, where there is none nothing is drawn.{more} Below: the busiest queue; ticks are drops there."
    )
    return Drawing("limiters", "Limited rates and queue", caption, fig)


@figure(
    "memory",
    "shared memory of the switches over time",
    lambda v: bool(v.memory()) and v.has_memory_limit(),
    why_not="no switch has a limit of memory",
    needs=(needs.samples,),
    order=55,
    section=OVER_TIME,
)
def memory(view: View) -> Drawing:
    series = view.memory()
    samples = next(iter(series.values()))[0]
    zoomed = samples.size > 2000
    fig, axes = (
        new_figure(1, 2, height=2.8, sharey=True, gridspec_kw={"width_ratios": [3, 2]}) if zoomed else new_figure(height=2.8)
    )
    limits = {name: size_bytes(s["memory"]) for name, s in view.run.resolved.get("switches", {}).items() if "memory" in s}
    used = highest(series)
    # A limit far above what is used would flatten everything: it is told and not drawn.
    near = [limit for limit in limits.values() if limit <= 4 * used]
    top = max([used, *near])
    factor = d.value_axis(axes[0], "memory in use", top, "bytes")
    x = d.time_axis(axes[0], 0, view.end_ns)
    mark_changes(axes[0], view)
    d.lines(axes[0], {name: (t * x, y * factor) for name, (t, y) in series.items()}, named=not zoomed, linewidth=0.9)
    for limit in set(near):
        whose = [name for name, own in limits.items() if own == limit]
        of = f" of {', '.join(whose)}" if len(set(limits.values())) > 1 else ""
        d.reference(axes[0], limit * factor, f"memory{of}: {show(limit, 'bytes')}")
    if zoomed:
        _memory_zoom(axes[1], view, series, factor)
    for one in axes:
        _pause_lines(one, view, factor)
    axes[0].set_ylim(0, top * factor * 1.12)
    words = _pause_words(view) + _share_words(view) + (" Right: the stretch in which it varies most." if zoomed else "")
    if limits and not near:
        words += f" There are {' and '.join(show(limit, 'bytes') for limit in sorted(set(limits.values())))} of it."
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


def _thresholds(view: View) -> dict[tuple[float, float], list[str]]:
    """XOFF and XON in bytes, and the switches that have them."""
    found: dict[tuple[float, float], list[str]] = {}
    for name, switch in view.run.resolved.get("switches", {}).items():
        control = switch.get("flow_control", {})
        of_memory = control.get("kind") == "pause" and control.get("per", "memory") == "memory"
        if of_memory and "xoff" in control and "xon" in control:
            found.setdefault((size_bytes(control["xoff"]), size_bytes(control["xon"])), []).append(name)
    return found


def _pause_lines(axes: Axes, view: View, factor: float) -> None:
    """A line for each XOFF and each XON. A name would lie on the memory that swings about them."""
    for xoff, xon in _thresholds(view):
        axes.axhline(xoff * factor, color=MUTED, linewidth=0.9, dashes=(4, 3))
        axes.axhline(xon * factor, color=MUTED, linewidth=0.9, dashes=(1, 2))


def _pause_words(view: View) -> str:
    """What the lines without a name are."""
    found = _thresholds(view)
    each = [
        f"{show(xoff, 'bytes')} and {show(xon, 'bytes')}{' of ' + ', '.join(names) if len(found) > 1 else ''}"
        for (xoff, xon), names in found.items()
    ]
    return f" Dashed without a name: XOFF, dotted: XON ({'; '.join(each)})." if each else ""


def _share_words(view: View) -> str:
    """What a port may hold where the memory has a dynamic threshold."""
    switches = view.run.resolved.get("switches", {})
    alphas = {name: switch["alpha"] for name, switch in switches.items() if "alpha" in switch}
    of = {alpha: [name for name, own in alphas.items() if own == alpha] for alpha in sorted(set(alphas.values()))}
    whose = [f"{alpha:g} times what is free{' of ' + ', '.join(names) if len(switches) > 1 else ''}" for alpha, names in of.items()]
    return f" A port may hold {' or '.join(whose)}." if whose else ""


def _resumptions(view: View) -> str:
    """PAUSE frames of time 0 end a pause: `pauses_sent` counts them too."""
    resumed = view.events("resume").size
    return f" (and {show(float(resumed), '1', 9)} that resume)" if resumed else ""


@figure(
    "pause",
    "PAUSE frames that switches send over time",
    lambda v: v.events("pause").size > 0,
    why_not=NO_PAUSE,
    needs=(needs.recorded_events,),
    order=150,
)
def pause(view: View) -> Drawing:
    fig, (axes,) = new_figure(height=2.2)
    begins, counts, step = _counted(axes, view, "pause", 200)
    axes.step(begins, counts, where="post", color=BLUE, linewidth=1.1)
    axes.fill_between(begins, counts, step="post", color=BLUE, alpha=0.2, linewidth=0)
    d.heading(axes, f"PAUSE frames in {show(step, 'ns')}")
    mark_changes(axes, view)
    axes.set_ylim(0, max(1, counts.max()) * 1.08)
    paused = column(view.run.ports, "paused_ns")
    longest = show(float(paused.max()), "ns")
    caption = (
        f"{show(float(counts.sum()), '1', 9)} PAUSE frames{_resumptions(view)}. The port paused longest stood still for {longest}."
    )
    return Drawing("pause", "PAUSE", caption, fig)
