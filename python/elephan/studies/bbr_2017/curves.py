"""The paper's figures again: lines are simulated, open circles with a bar were read from the paper's own figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.palette import look
from elephan.report.style import GREEN, INK, MUTED, ORANGE, PURPLE, SKY, Drawing, new_figure
from elephan.studies.bbr_2017 import points
from elephan.table.rows import Array, column

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAINT = {control: look(control.lower()).color for control in ("BBR", "CUBIC")}
READ = "Circles with bars: read from the paper's figure, with the error of reading."


def marks(axes: Axes, figure: str, curve: str, paint: str, span: tuple[float, float] = (-np.inf, np.inf)) -> None:
    """Draws what was read from a figure of the paper between two x."""
    read = [one for one in points.digitised()[figure, curve] if span[0] <= one.x <= span[1]]
    x, y, error = (np.array([getattr(one, key) for one in read]) for key in ("x", "y", "error"))
    axes.vlines(x, np.maximum(y - error, 0), y + error, color=paint, linewidth=1.0)
    axes.plot(x, y, "o", color=paint, markersize=5.4, markerfacecolor="none")


def _line(axes: Axes, results: Results, experiment: str, control: str, axis: str, statistic: str, factor: float) -> float:
    """Draws means over the points of an axis; returns the last one."""
    found = []
    for point in results.experiment(experiment).points[axis]:
        one = results.interval(experiment, f"{control}/{point.label}", statistic)
        if one.n:
            found.append((point.value, one.mean * factor, one.low * factor, one.high * factor))
    x, mean, low, high = np.array(found).T
    d.error_line(axes, x, mean, low, high, PAINT[control], label=control)
    return float(mean[-1])


def loss(results: Results) -> Drawing:
    """Figure 10: goodput against random loss."""
    fig, axes = new_figure(1, 2, height=3.4)
    for ax in axes:
        for control in ("BBR", "CUBIC"):
            marks(ax, "10", control, PAINT[control])
            _line(ax, results, "loss", control, "loss", "goodput_bps.sum", 1e-6)
        d.log_axis(ax, "x", 8e-6, 0.6)
        d.plain_ticks(ax, (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 0.5), ("0.001", "0.01", "0.1", "1", "10", "50"))
        ax.set_xlabel("random loss, %")
        d.heading(ax, "goodput", "Mb/s")
    p = np.geomspace(1e-5, 0.5, 200)
    axes[0].plot(p, 91.6 * (1 - p), "--", color=MUTED, linewidth=0.9, label="limit")
    axes[0].set_ylim(0, 104)
    d.legend(axes[0], loc="lower left")
    q = np.geomspace(3e-5, 0.05, 100)
    axes[1].plot(q, [points.cubic_window(one, 0.1) * points.PAYLOAD * 8e-5 for one in q], "--", color=INK, linewidth=0.9)
    d.log_axis(axes[1], "y", 0.01, 130)
    caption = (
        f"60 s over 100 Mb/s and 100 ms. {READ} Grey dashes: the limit as the paper draws it, 91.6 Mb/s times what is delivered. "
        "Black dashes: the response function of CUBIC at periodic loss (RFC 9438). Right: the same with a logarithmic scale."
    )
    return Drawing("figure-10", "Goodput against random loss", caption, fig)


def _samples(results: Results, experiment: str, variant: str, name: str) -> tuple[Array, Array]:
    """Returns times in s and values of the first kept run."""
    rows = results.runs(experiment, variant)[0].flow_samples
    return column(rows, "time_ns") * 1e-9, column(rows, name)


def step(results: Results) -> Drawing:
    """Figure 5: the rate doubles, and halves."""
    fig, axes = new_figure(1, 2, height=3.4)
    variant = results.experiment("step").variants[0].label
    for ax, begin, end in ((axes[0], 19.3, 22.6), (axes[1], 39.3, 44.7)):
        for name, factor, paint, curve in (("inflight_bytes", 1e-3, GREEN, "inflight"), ("sample_rtt_ns", 1e-6, SKY, "RTT")):
            time, value = _samples(results, "step", variant, name)
            chosen = (time >= begin) & (time <= end)
            ax.plot(*d.thin(time[chosen], value[chosen] * factor), color=paint, label=curve)
            marks(ax, "5", curve, paint, (begin, end))
        ax.set_xlim(begin, end)
        ax.set_xlabel("time, s")
    d.heading(axes[0], "in flight and round trip", "kB and ms")
    d.heading(axes[1], "in flight and round trip", "kB and ms")
    d.legend(axes[0], loc="upper left")
    caption = (
        f"One run over 40 ms. The rate doubles from 10 to 20 Mb/s after 20 s and halves after 40 s. {READ} The phase of the gain "
        "cycle is drawn, so that the steps come a fraction of a cycle earlier or later than the paper's."
    )
    return Drawing("figure-5", "When the rate doubles and halves", caption, fig)


def start(results: Results) -> Drawing:
    """Figures 6 and 7: the round trip in the first second and in the first eight."""
    fig, axes = new_figure(1, 2, height=3.2)
    for ax, end, figure in ((axes[0], 1.0, "6"), (axes[1], 8.0, "7")):
        for control in ("CUBIC", "BBR"):
            time, value = _samples(results, "start", control, "sample_rtt_ns")
            chosen = time <= end
            ax.plot(*d.thin(time[chosen], value[chosen] * 1e-6), color=PAINT[control], label=control)
            curve = f"{control} RTT"
            if (figure, curve) in points.digitised():
                marks(ax, figure, curve, PAINT[control])
        ax.set_xlim(0, end)
        ax.set_ylim(0, 290)
        ax.set_xlabel("time, s")
        d.heading(ax, "round trip", "ms")
    axes[0].set_ylim(0, 160)
    d.legend(axes[0], loc="upper left")
    caption = "One flow each over 10 Mb/s and 40 ms, with a buffer of 210 ms. " + READ
    return Drawing("figures-6-7", "The first second and the first eight", caption, fig)


def flows(results: Results) -> Drawing:
    """Figure 8: throughput of five flows, in one panel each for flows of which the paper's curve could be followed."""
    fig, axes = new_figure(1, 2, height=3.4)
    run = results.runs("flows", results.experiment("flows").variants[0].label)[0]
    rows = run.flow_samples
    number, time, total = (column(rows, name) for name in ("flow", "time_ns", "delivered_bytes"))
    paints = {1: INK, 2: ORANGE, 3: MUTED, 4: SKY, 5: PURPLE}
    edges = np.arange(0, 60.5, 0.5) * 1e9
    for flow in range(5):
        own = number == flow
        delivered = np.interp(edges, time[own], total[own], left=0.0)
        axes[0].plot(edges[1:] * 1e-9, np.diff(delivered) * 8 / 0.5e6, color=paints[flow + 1], label=f"flow {flow + 1}")
        if ("8", f"flow {flow + 1}") in points.digitised():
            read = points.digitised()["8", f"flow {flow + 1}"]
            x, y = np.array([one.x for one in read]), np.array([one.y for one in read])
            axes[1].plot(x, y, "o-", color=paints[flow + 1], markersize=4, markerfacecolor="none", linewidth=0.8)
    for ax, words in ((axes[0], "simulated"), (axes[1], "read from the paper")):
        ax.axhline(points.goodput(100e6) / 5e6, color=MUTED, linewidth=0.9, dashes=(4, 3))
        ax.set_xlim(0, 60)
        ax.set_ylim(0, 100)
        ax.set_xlabel("time, s")
        d.heading(ax, f"throughput, {words}", "Mb/s")
    d.legend(axes[0], loc="upper right")
    caption = (
        "Five flows begin 2 s apart over 100 Mb/s and 10 ms; means over half a second of one run. Dashed: a fifth of the link. "
        "Right: the paper's curves where they could be told apart, read with an error of 1 Mb/s."
    )
    return Drawing("figure-8", "Five flows", caption, fig)


def mobile(results: Results) -> Drawing:
    """Figure 12: median wait against the buffer."""
    fig, axes = new_figure(1, 1, height=3.0)
    ax, ends = axes[0], []
    for control in ("BBR", "CUBIC"):
        marks(ax, "12", control, PAINT[control])
        last = _line(ax, results, "mobile", control, "buffer", "queue_bytes.p50", 8 / points.MOBILE_BPS)
        ends.append((last, control, PAINT[control]))
    ax.set_ylim(0, 660)
    ax.set_xlim(0, 10.4)
    ax.set_xlabel("buffer, MB")
    d.heading(ax, "median wait", "s")
    d.end_labels(ax, ends)
    caption = "Eight flows over 128 kb/s and 40 ms; the wait is the median queue over the rate. " + READ
    return Drawing("figure-12", "A slow mobile link", caption, fig)


def drawings(results: Results) -> Sequence[Drawing]:
    """All figures, in the paper's order."""
    return [step(results), start(results), flows(results), loss(results), mobile(results)]
