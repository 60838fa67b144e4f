"""Figures of means over an axis: throughput over the threshold, and incast over the number of servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.palette import look
from elephan.report.style import BLUE, MUTED, Drawing, new_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

PAINT = {"TCP": look("reno").color, "DCTCP": look("dctcp").color}


def line(axes: Axes, results: Results, experiment: str, label: str, statistic: str, paint: str, dashes: str = "-") -> float | None:
    """Draws a statistic over the last axis of an experiment, for variants that begin with a label; returns where it ends."""
    axis = results.experiment(experiment).axes[-1]
    found = []
    for point in results.experiment(experiment).points[axis]:
        if np.isnan(point.value):
            continue
        interval = results.interval(experiment, "/".join(filter(None, (label, point.label))), statistic)
        if interval.n:
            found.append((point.value, interval.mean, interval.low, interval.high))
    if not found:
        return None
    x, mean, low, high = np.array(found).T
    d.error_line(axes, x, mean, low, high, paint, dashes=dashes)
    return float(mean[-1])


def thresholds(results: Results) -> Drawing:
    """Throughput of DCTCP over K at 1 and 10 Gb/s, with that of TCP (figure 14)."""
    fig, axes = new_figure(1, 2, height=3.1)
    for ax, experiment, rows, most in (
        (axes[0], "threshold-1g", (("", "DCTCP", PAINT["DCTCP"], "-"),), 1e9),
        (
            axes[1],
            "threshold-10g",
            (("bursts", "bursts of 35 packets", BLUE, "-"), ("smooth", "no bursts", PAINT["DCTCP"], "--")),
            1e10,
        ),
    ):
        names = []
        for label, words, paint, dashes in rows:
            axis = results.experiment(experiment).axes[-1]
            found = []
            for point in results.experiment(experiment).points[axis]:
                interval = results.interval(experiment, f"{label}/{point.label}".lstrip("/"), "goodput_bps.sum")
                if interval.n and not np.isnan(point.value):
                    found.append([point.value, *(x * 1e-9 for x in (interval.mean, interval.low, interval.high))])
            if found:
                x, mean, low, high = np.array(found).T
                d.error_line(ax, x, mean, low, high, paint, dashes=dashes)
                names.append((float(mean[-1]), words, paint, float(mean[0])))
        tcp = results.interval(experiment, f"{rows[0][0]}/TCP".lstrip("/"), "goodput_bps.sum")
        if tcp.n:
            d.reference(ax, tcp.mean * 1e-9, "TCP, drop-tail", "right")
        for i, (_, words, paint, _) in enumerate(names):
            ax.annotate(words, (0.97, 0.12 + 0.1 * i), xycoords="axes fraction", ha="right", color=paint, fontsize=8.5)
        ax.set_ylim(0, 1.08 * most * 1e-9)
        ax.set_xlim(left=0)
        ax.set_xlabel("threshold K, packets")
        d.heading(ax, f"goodput at {most * 1e-9:.0f} Gb/s", "Gb/s")
    caption = (
        "Two long flows. Right: round trip of 167 us, so that a seventh of C x RTT is 20 packets. The paper found full "
        "throughput at 1 Gb/s for K down to 5, and at 10 Gb/s once K was at least 65, because its hosts sent bursts."
    )
    return Drawing("thresholds", "Throughput over the threshold of marking", caption, fig)


def _marks(ax: Axes, places: Sequence[tuple[float, str]]) -> None:
    for x, words in places:
        ax.axvline(x, color=MUTED, linewidth=0.9, dashes=(2, 2), zorder=1)
        ax.annotate(
            words,
            (x, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(2 if x < 30 else -2, -2),
            textcoords="offset points",
            ha="left" if x < 30 else "right",
            va="top",
            fontsize=7.5,
            color=MUTED,
        )


def incast(results: Results) -> Drawing:
    """Mean query time and share of queries with a timeout over the number of servers, static buffers (figure 18)."""
    fig, axes = new_figure(1, 2, height=3.4)
    timers = [point.label for point in results.experiment("incast").points["timer"]]
    ends: list[list[tuple[float, str, str]]] = [[], []]
    for scheme, paint in PAINT.items():
        for timer in timers:
            dashes = "-" if timer == "300 ms" else "--"
            for place, statistic in enumerate(("round_time.mean", "rounds_timed_out.mean")):
                end = line(axes[place], results, "incast", f"{scheme}/{timer}", statistic, paint, dashes)
                if end is not None:
                    ends[place].append((end, f"{scheme}, {timer}", paint))
    d.log_time_axis(axes[0], "y", 6e6, 1e9)
    d.heading(axes[0], "mean time of a query")
    axes[1].set_ylim(0, 1.02)
    d.percent_axis(axes[1])
    d.heading(axes[1], "queries with a timeout")
    _marks(axes[1], [(10, "TCP,\npaper"), (35, "DCTCP,\npaper")])
    for ax in axes:
        ax.set_xlim(left=0)
        ax.set_xlabel("servers")
    d.end_labels(axes[0], ends[0])
    caption = (
        "Answers of 1 MB / n from n servers through a port with 100 KB of buffer. The line of a minimum timeout of 300 ms is "
        "solid, that of 10 ms dashed; DCTCP is green. Vertical lines: where the paper saw timeouts begin."
    )
    return Drawing("incast", "Incast with static buffers", caption, fig)


def dynamic(results: Results) -> Drawing:
    """The same with dynamic memory (figure 19), and with 100 packets a port."""
    fig, axes = new_figure(1, 2, height=3.1, sharey=True)
    for ax, experiment, words in (
        (axes[0], "incast-dynamic", "queries with a timeout, dynamic memory"),
        (axes[1], "incast-packets", "100 packets a port"),
    ):
        ends = []
        for scheme, paint in PAINT.items():
            end = line(ax, results, experiment, scheme, "rounds_timed_out.mean", paint)
            if end is not None:
                ends.append((end, scheme, paint))
        ax.set_ylim(0, 1.02)
        ax.set_xlim(left=0)
        ax.set_xlabel("servers")
        d.percent_axis(ax)
        d.heading(ax, words)
        d.end_labels(ax, ends)
    caption = (
        "Left: 4 MB shared by all ports, up to 700 KB for one, minimum timeout of 10 ms; the paper saw no timeouts with DCTCP "
        "and some with TCP. Right: the other reading of the static buffer, with a minimum timeout of 300 ms."
    )
    return Drawing("incast-dynamic", "Incast with dynamic memory, and with 100 packets", caption, fig)
