"""Figures of kept runs: queues, rates of flows and times of queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.style import MUTED, Drawing, color, new_figure
from elephan.statistic import measures
from elephan.studies.dctcp_2010 import analysis
from elephan.studies.dctcp_2010.curves import PAINT
from elephan.table.rows import Part, column, windows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from elephan.result.run import Run

PORT = "sw->receiver"
RED_PAINT = {"DCTCP": PAINT["DCTCP"], "RED 50/150": color(4), "RED 150/450": color(1), "drop-tail": PAINT["TCP"]}
PIPE = analysis.pipe_packets(10e9, 100e-6, 1538)


def queue_of(run: Run) -> tuple[d.Array, d.Array]:
    """Times in ns and the queue in packets after the warm-up."""
    samples = Part(run, f"at {PORT}").port_samples
    time, queue = column(samples, "time_ns"), column(samples, "queue_bytes") / analysis.FRAME_BYTES
    measured = time >= run.warmup_ns
    return time[measured], queue[measured]


def _distribution(ax: Axes, values: d.Array, words: str, paint: str) -> None:
    x, y = d.cdf(values)
    ax.plot(x, y, color=paint, label=words)


def queue(results: Results) -> Drawing:
    """The queue of two flows at 1 Gb/s over time and its distribution (figures 1 and 13)."""
    fig, axes = new_figure(1, 2, height=3.1, gridspec_kw={"width_ratios": [3, 2]})
    for scheme, paint in PAINT.items():
        runs = results.runs("queue", scheme)
        if not runs:
            continue
        time, packets = queue_of(runs[0])
        axes[0].plot(*d.thin(time * 1e-9, packets, 1200), color=paint, linewidth=0.9, label=scheme)
        _distribution(axes[1], np.concatenate([queue_of(run)[1] for run in runs]), scheme, paint)
    axes[0].set_xlabel("simulated time, s")
    axes[0].set_ylim(bottom=0)
    d.heading(axes[0], "queue, packets")
    d.reference(axes[0], 20, "around 20 packets (paper)", "right")
    axes[1].set_ylim(0, 1.02)
    axes[1].set_xlim(left=0)
    axes[1].set_xlabel("queue, packets")
    d.percent_axis(axes[1])
    d.heading(axes[1], "share of samples below")
    d.legend(axes[1], loc="lower right")
    caption = (
        "Two long flows from 1 Gb/s ports to a 1 Gb/s port, K = 20 packets. Left: seed 1, every millisecond. Right: all "
        "repetitions. The paper's DCTCP stood around 20 packets, its TCP had ten times as much, up to about 700 KB."
    )
    return Drawing("queue", "The queue of two long flows", caption, fig)


def red(results: Results) -> Drawing:
    """Distribution of the queue under RED and DCTCP at 10 Gb/s (figure 15)."""
    fig, (axes,) = new_figure(height=3.0)
    for label, paint in RED_PAINT.items():
        runs = results.runs("red", label)
        if runs and label != "drop-tail":
            rate = results.interval("red", label, "goodput_bps.sum").mean * 1e-9
            name = label if label == "DCTCP" else f"TCP, {label}"
            _distribution(axes, np.concatenate([queue_of(run)[1] for run in runs]), f"{name}: {rate:.1f} Gb/s", paint)
    axes.set_ylim(0, 1.02)
    axes.set_xlim(left=0)
    axes.set_xlabel("queue, packets")
    d.percent_axis(axes)
    d.heading(axes, "share of samples below")
    d.legend(axes, loc="lower right")
    caption = (
        "Two long flows at 10 Gb/s with bursts of 35 packets, K = 65. The paper measured 7.8 Gb/s with thresholds of 50 and "
        "150 packets, and 9.2 Gb/s once the minimum threshold was 150."
    )
    return Drawing("red", "RED beside DCTCP at 10 Gb/s", caption, fig)


def converge(results: Results) -> Drawing:
    """Rates of five flows that join and leave (figure 16)."""
    shown = [scheme for scheme in PAINT if results.runs("converge", scheme)]
    fig, axes = new_figure(max(len(shown), 1), 1, height=0.6 + 2.1 * len(shown), sharex=True)
    for ax, scheme in zip(axes, shown, strict=False):
        run = results.runs("converge", scheme)[0]
        starts, moved, _ = windows(run, 1_000_000_000)
        for i in range(moved.shape[1]):
            rate = np.where(moved[:, i] > 0, moved[:, i] * 8e-9, np.nan)
            ax.plot(starts * 1e-9 + 0.5, rate, color=color(i), linewidth=1.0)
        for n in range(1, 6):
            ax.axhline(0.949 / n, color=MUTED, linewidth=0.5, dashes=(1, 3), zorder=0)
        ax.set_ylim(0, 1)
        ax.set_xlim(0, 270)
        d.heading(ax, f"{scheme}: goodput of each flow", "Gb/s")
    axes[max(len(shown), 1) - 1].set_xlabel("simulated time, s")
    caption = "Goodput per second, seed 1. Dotted: equal shares of one to five flows."
    return Drawing("converge", "Flows that join and leave every 30 s", caption, fig)


def times(results: Results) -> Drawing:
    """Distributions of query times: all to all, and beside two long flows (figures 20 and 21)."""
    fig, axes = new_figure(1, 2, height=3.1, sharey=True)
    for ax, experiment, words in (
        (axes[0], "all-to-all", "queries within, all to all"),
        (axes[1], "build-up", "20 KB beside two long flows"),
    ):
        for scheme, paint in PAINT.items():
            runs = results.runs(experiment, scheme)
            if runs:
                values = np.concatenate([measures.MEASURES["round_time"].values(run) for run in runs])
                _distribution(ax, values, scheme, paint)
        ax.set_ylim(0, 1.02)
        d.heading(ax, words)
    d.log_time_axis(axes[0], "x", 5e6, 1e8)
    d.log_time_axis(axes[1], "x", 1e5, 1e8)
    axes[1].axvline(19e6, color=MUTED, linewidth=0.9, dashes=(4, 3))
    axes[1].axvline(1e6, color=MUTED, linewidth=0.9, dashes=(1, 2))
    for ax in axes:
        ax.set_xlabel("time of a query")
    d.percent_axis(axes[0])
    d.legend(axes[0], loc="lower right")
    caption = (
        "Left: 41 machines ask each other for 25 KB each; the paper saw no timeout with DCTCP and one in over 55 % of TCP's "
        "queries. Right: the paper's median was 19 ms with TCP (dashed) and below 1 ms with DCTCP (dotted)."
    )
    return Drawing("times", "Times of queries", caption, fig)


def sawtooth(results: Results) -> Drawing:
    """The queue at 10 Gb/s beside the sawtooth of the analysis (figure 12)."""
    shown = [point.label for point in results.experiment("analysis").points["analysed"] if results.runs("analysis", point.label)]
    fig, axes = new_figure(max(len(shown), 1), 1, height=0.6 + 1.6 * len(shown), sharex=True)
    for ax, label in zip(axes, shown, strict=False):
        time, packets = queue_of(results.runs("analysis", label)[0])
        chosen = time < time[0] + 6e6
        ax.plot((time[chosen] - time[0]) * 1e-6, packets[chosen], color=PAINT["DCTCP"], linewidth=0.9)
        theory = analysis.steady(PIPE, 40, int(label))
        at = np.arange(0, 6.001, 0.1 * theory.swing)
        x = np.repeat(at, 2)[1:]
        y = np.tile([theory.q_max, theory.q_min], at.size)[: x.size]
        ax.plot(x, np.append(theory.q_min, y[:-1]), color=MUTED, linewidth=0.8, dashes=(3, 2))
        ax.set_xlim(0, 6)
        ax.set_ylim(0, max(85.0, float(packets[chosen].max())))
        d.heading(ax, f"queue of {label} flows, packets")
    axes[max(len(shown), 1) - 1].set_xlabel("time, ms")
    caption = (
        "10 Gb/s, round trip of 100 us, K = 40, g = 1/16. Dashed: the sawtooth of equations 5 to 12, whose phase means "
        "nothing: it rises from its least to its largest queue in its period."
    )
    return Drawing("sawtooth", "The queue beside the analysis", caption, fig)
