"""Figures of fast links before slow ones: the forbidden area, and what a burst loses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elephan.base.errors import InputError
from elephan.base.quantity import show
from elephan.report.figure import draw as d
from elephan.report.figure.registry import figure
from elephan.report.style import BLUE, GREEN, MUTED, ORANGE, VERMILLION, Drawing, new_figure
from elephan.report.words import curated
from elephan.report.words.view import View, arrow
from elephan.table.burst import read_burst
from elephan.table.rows import column
from elephan.table.steps import Step, find_step
from elephan.theory import closed as theory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OC_BPS = 51.84e6
OC_LEVELS = (1, 3, 6, 9, 12)


def plot_forbidden_area(axes: Axes, fast_bps: float, memory_bytes: float, rtt_to_s: float) -> None:
    """Rates of the slow link over the round trip: dark where a window sent at `f` loses, darker where slow start does."""
    least = theory.forbidden_rtt_min(fast_bps, memory_bytes)
    rtt = np.unique(np.concatenate([np.geomspace(least * 1.0001, max(rtt_to_s, 1.01 * least), 300), [rtt_to_s]]))
    rtt = rtt[rtt >= least]
    for clocked, alpha, words in ((False, 0.16, "sent back to back at f"), (True, 0.30, "sent at min(f, 2·s): slow start")):
        ends = [theory.forbidden_area(fast_bps, memory_bytes, float(r), clocked) for r in rtt]
        low = np.array([e[0] if e else np.nan for e in ends]) * 1e-6
        high = np.array([e[1] if e else np.nan for e in ends]) * 1e-6
        axes.fill_between(rtt * 1e3, low, high, color=VERMILLION, alpha=alpha, linewidth=0, label=f"a window loses if {words}")
    axes.set_xlim(0, rtt_to_s * 1e3)
    axes.set_ylim(0, fast_bps * 1e-6)
    axes.set_xlabel("round-trip time, ms")
    d.heading(axes, "rate s of the slow link, Mb/s")


def plot_levels(axes: Axes, fast_bps: float) -> None:
    """The rates of SONET as lines."""
    for level in OC_LEVELS:
        if OC_BPS * level < fast_bps:
            axes.axhline(OC_BPS * level * 1e-6, color=MUTED, linewidth=0.7, dashes=(2, 3))
            place = (1.0, OC_BPS * level * 1e-6)
            axes.annotate(
                f"OC-{level}",
                place,
                xycoords=("axes fraction", "data"),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                color=MUTED,
            )


def plot_outcomes(axes: Axes, outcomes: Sequence[tuple[float, float, bool]]) -> None:
    """Runs, `(round trip in s, rate s in bit/s, lost)`: filled where something was lost, hollow where nothing was."""
    for lost, fill, paint, words in ((True, VERMILLION, VERMILLION, "packets lost"), (False, "white", BLUE, "nothing lost")):
        points = np.array([(r * 1e3, s * 1e-6) for r, s, was_lost in outcomes if was_lost == lost])
        if points.size:
            axes.plot(
                points[:, 0],
                points[:, 1],
                "o",
                markersize=6,
                markerfacecolor=fill,
                markeredgecolor=paint,
                markeredgewidth=1.2,
                label=words,
                clip_on=False,
                zorder=4,
            )


def _step(view: View) -> Step | None:
    try:
        return find_step(view.run)
    except (InputError, KeyError, ValueError):
        return None


@figure(
    "forbidden-area",
    "rates of the slow link at which its memory loses part of a window",
    lambda v: _step(v) is not None,
    why_not="it is of a fast link before a slower one with a limited queue",
)
def forbidden_area(view: View) -> Drawing:
    step = _step(view)
    if step is None:
        raise InputError("no fast link before a slower one with a limited queue in this run")
    fig, (axes,) = new_figure(height=3.6)
    least = theory.forbidden_rtt_min(step.fast_bps, step.memory_bytes)
    plot_forbidden_area(axes, step.fast_bps, step.memory_bytes, max(1.6 * step.rtt_s, 4 * least))
    plot_levels(axes, step.fast_bps)
    names = view.port_names()
    drops = dict(zip((names[int(p)] for p in column(view.run.ports, "port")), column(view.run.ports, "drops"), strict=True))
    plot_outcomes(axes, [(step.rtt_s, step.slow_bps, drops[step.port] > 0)])
    d.legend(axes, loc="lower center", bbox_to_anchor=(0.5, 1.1), ncols=2)
    needed = theory.memory_needed(step.fast_bps, step.slow_bps, step.rtt_s)
    caption = (
        f"f = {show(step.fast_bps, 'bps')} and M = {show(step.memory_bytes, 'bytes')} before {arrow(step.port)}: s (f - "
        "s) R / f > M is "
        f"forbidden to a window s R that is sent back to back. The point is this run, which would need {show(needed, 'bytes')}."
    )
    return Drawing("forbidden-area", "The forbidden area", caption, fig)


def _readable(view: View) -> bool:
    try:
        return read_burst(view.run).received > 0
    except InputError:
        return False


@figure(
    "burst",
    "what a receiver logs of a burst, and which packets it lost",
    _readable,
    why_not='it is of traffic of the kind burst, whose receiver logs it; set "record.datagrams"',
    order=10,
)
def burst(view: View) -> Drawing:
    reading = read_burst(view.run)
    log = view.run.datagrams
    flow = column(log, "flow")
    chosen = flow == flow[0]
    seq, time = column(log, "seq")[chosen], column(log, "time_ns")[chosen] * 1e-6
    fig, (above, below) = new_figure(2, 1, height=4.8)
    sent = np.array([0.0, reading.packets * reading.gap_s * 1e3])
    above.plot(time[0] + sent, [0, reading.packets * 1e-3], color=MUTED, linewidth=1.1, dashes=(4, 3), label="as sent")
    above.plot(*d.thin(time, seq * 1e-3), color=BLUE, label="as received")
    above.set_xlim(0)
    above.set_ylim(0)
    above.set_xlabel("time of arrival, ms")
    d.heading(above, "number of the packet, thousands")
    if reading.first_lost is not None:
        above.axhline(reading.first_lost * 1e-3, color=VERMILLION, linewidth=0.9, dashes=(1, 2), label="first one lost")
    d.legend(above, loc="lower right")
    _close_up(below, reading.packets, seq, reading.first_lost)
    words = curated.burst(view) + ("" if reading.first_lost is None else " Below: around the first loss.")
    return Drawing("burst", "A burst as its receiver sees it", words, fig)


def _close_up(axes: Axes, packets: int, seq: d.Array, first_lost: int | None) -> None:
    """Each packet around the first loss: a mark above if it came, below if it did not."""
    middle = first_lost if first_lost is not None else packets // 2
    begin, end = max(0, middle - 40), min(packets, middle + 60)
    numbers = np.arange(begin, end)
    came = np.isin(numbers, seq)
    axes.vlines(numbers[came], 0.0, 1.0, color=GREEN, linewidth=1.6)
    axes.vlines(numbers[~came], -1.0, 0.0, color=ORANGE, linewidth=1.6)
    axes.axhline(0, color=MUTED, linewidth=0.7)
    axes.set_yticks([0.5, -0.5], ["received", "lost"])
    axes.set_ylim(-1.1, 1.1)
    axes.set_xlim(begin - 0.5, end - 0.5)
    axes.grid(False)
    axes.set_xlabel("number of the packet")
