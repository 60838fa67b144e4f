"""The figures: utilisation beside ns-2 and the router, flows in step, the sawtooth, and short flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.style import BLUE, GREEN, INK, MUTED, ORANGE, VERMILLION, Drawing, new_figure
from elephan.studies.buffers_2004 import points, rows, theory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAINT = {100: VERMILLION, 200: ORANGE, 300: GREEN, 400: BLUE}
SCALE = {"no limit": INK, "model": BLUE, "half": ORANGE, "quarter": VERMILLION}


def table(results: Results) -> Drawing:
    """Draws figure 15: utilisation against the buffer, here, in ns-2, on the router and by equation 6."""
    fig, axes = new_figure(2, 2, height=5.4, sharey=True)
    for ax, (flows, paint) in zip(axes, PAINT.items(), strict=True):
        found = [row for row in rows.TABLE if row.flows == flows]
        x = np.array([row.packets for row in found], dtype=float)
        grid = np.linspace(x[0] / 2, x[-1] * 1.05, 80)
        bound = [100 * theory.utilisation(flows, b, rows.PATH) for b in grid]
        ax.plot(grid, bound, color=MUTED, linewidth=1.0, dashes=(4, 3), label="equation 6")
        ax.plot(x, [row.simulated for row in found], "s", color=INK, markersize=4.5, fillstyle="none", label="ns-2")
        ax.plot(x, [row.router for row in found], "^", color=INK, markersize=4.5, fillstyle="none", label="router")
        for hosts, stroke in zip(rows.HOSTS, ("-", "--"), strict=True):
            each = [results.interval("table", f"{hosts}/{row.label}", "utilisation.max") for row in found]
            mean, low, high = (np.array([100 * getattr(one, what) for one in each]) for what in ("mean", "low", "high"))
            d.error_line(ax, x, mean, low, high, paint, f"here, {hosts}", dashes=stroke, band=False)
        ax.set_ylim(84, 100.6)
        ax.set_xlim(0, x[-1] * 1.08)
        d.heading(ax, f"{flows} flows: utilisation", "%")
    for ax in axes[2:]:
        ax.set_xlabel("buffer, packets")
    d.legend(axes[0], loc="lower right")
    caption = (
        "155 Mb/s, 100 ms in the mean, packets of 1500 B. Means of the runs with 95 % intervals, beside the printed values of "
        "figure 15. Dashed: the lower bound of equation 6, which for most rows is far below the column Model of the table."
    )
    return Drawing("table", "The table of the paper, run again", caption, fig)


def step(results: Results) -> Drawing:
    """Draws the deviation of the queue against the number of flows, between flows in step and independent ones."""
    fig, (axes,) = new_figure(height=3.1)
    numbers = [point.value for point in results.experiment("step").points["number"]]
    whole = 2 * rows.PATH
    grid = np.geomspace(2, 500, 60)
    axes.plot(
        grid, [theory.deviation(n, rows.PATH, rows.PATH) for n in grid], color=MUTED, dashes=(4, 3), label="independent flows"
    )
    axes.plot(grid, [whole / 2 / np.sqrt(12)] * grid.size, color=MUTED, dashes=(1, 2), label="all in step")
    for trip, paint, words in (("equal", VERMILLION, "100 ms each"), ("spread", BLUE, "50 to 150 ms")):
        each = [results.interval("step", f"{trip}/{n:g}", "queue_bytes.sd") for n in numbers]
        mean, low, high = (np.array([getattr(one, what) / points.PACKET for one in each]) for what in ("mean", "low", "high"))
        d.error_line(axes, np.array(numbers), mean, low, high, paint, words, band=False)
    d.log_axis(axes, "x", 1.8, 560)
    d.log_axis(axes, "y", 10, 600)
    axes.set_xlabel("flows")
    d.heading(axes, "standard deviation of the queue", "packets")
    d.legend(axes, loc="lower left")
    caption = "The buffer is the path, 1291 packets, so that the queue follows the sum of the windows."
    return Drawing("step", "How far flows are in step", caption, fig)


def _sawtooth(axes: Axes, results: Results, variant: str, paint: str, words: str) -> None:
    buffers = results.experiment("single").points["buffer"]
    each = [results.interval("single", f"{variant}/{point.label}", "utilisation.max") for point in buffers]
    x = np.array([point.value for point in buffers])
    mean, low, high = (np.array([100 * getattr(one, what) for one in each]) for what in ("mean", "low", "high"))
    d.error_line(axes, x, mean, low, high, paint, words, band=False)


def single(results: Results) -> Drawing:
    """Draws the utilisation of one flow and of two against the buffer, with that of the sawtooth."""
    fig, (axes,) = new_figure(height=2.8)
    grid = np.linspace(0, 2, 100)
    axes.plot(grid, [100 * theory.sawtooth(b) for b in grid], color=MUTED, dashes=(4, 3), label="one sawtooth (fluid)")
    _sawtooth(axes, results, "one flow", INK, "one flow")
    _sawtooth(axes, results, "two flows", BLUE, "two flows")
    axes.set_xlim(0, 2.05)
    axes.set_ylim(74, 100.6)
    axes.set_xlabel("buffer over path")
    d.heading(axes, "utilisation", "%")
    d.legend(axes, loc="lower right")
    return Drawing("single", "One flow needs its path", "12 Mb/s, 142 ms, 142 packets, as in figure 4 of the paper.", fig)


def short(results: Results) -> Drawing:
    """Draws short flows: mean queue against length at three rates, and what a buffer adds to completion times."""
    fig, axes = new_figure(1, 2, height=3.1)
    lengths = [n for n in points.LENGTHS if results.interval("short", f"{n} packets, 80 Mb/s, no limit", "fct_ns.mean").n]
    model = [theory.mean_queue(points.LOAD, theory.bursts(n)) for n in lengths]
    axes[0].plot(lengths, model, color=MUTED, dashes=(4, 3), marker="o", markersize=3, label="M/G/1")
    for rate, paint in zip(points.RATES, (ORANGE, BLUE, GREEN), strict=True):
        each = [results.interval("short", f"{n} packets, {rate} Mb/s, no limit", "queue_mean_bytes.max") for n in lengths]
        mean, low, high = (np.array([getattr(one, what) / points.PACKET for one in each]) for what in ("mean", "low", "high"))
        d.error_line(axes[0], np.array(lengths, dtype=float), mean, low, high, paint, f"{rate} Mb/s", band=False)
    axes[0].set_ylim(bottom=0)
    d.heading(axes[0], "mean queue", "packets")
    d.legend(axes[0], loc="upper left")
    for buffer in ("model", "half", "quarter"):
        added = []
        for n in lengths:
            one, base = (results.interval("short", f"{n} packets, 80 Mb/s, {b}", "fct_ns.mean").mean for b in (buffer, "no limit"))
            added.append(100 * (one / base - 1))
        known = ~np.isnan(added)
        axes[1].plot(np.array(lengths)[known], np.array(added)[known], color=SCALE[buffer], marker="o", label=f"{buffer} buffer")
    d.reference(axes[1], 12.5, "12.5 %", "right")
    axes[1].set_ylim(bottom=0)
    d.heading(axes[1], "added completion time at 80 Mb/s", "%")
    d.legend(axes[1], loc="center left")
    for ax in axes:
        d.plain_ticks(ax, lengths, [str(n) for n in lengths])
        ax.set_xlabel("packets of a flow")
    caption = (
        "Short flows alone at a load of 0.8. Dashed: the mean queue of section 4. The model's buffer is that with "
        "P(Q > B) = 0.025; half and quarter are parts of it."
    )
    return Drawing("short", "Short flows alone", caption, fig)


def mix(results: Results) -> Drawing:
    """Draws long flows beside short ones: utilisation, and completion times of the short ones."""
    fig, axes = new_figure(1, 2, height=3.0)
    numbers = sorted({point.value for point in results.experiment("mix").points["mix"]})
    panels = ((axes[0], "utilisation.max", 100.0, "utilisation", "%"), (axes[1], "fct_ns[short].mean", 1e-6, "short flows", "ms"))
    for ax, statistic, factor, words, unit in panels:
        for buffer, paint in (("rule", BLUE), ("path", VERMILLION)):
            each = [results.interval("mix", f"{n:g} flows, {buffer}", statistic) for n in numbers]
            mean, low, high = (factor * np.array([getattr(one, what) for one in each]) for what in ("mean", "low", "high"))
            d.error_line(ax, np.array(numbers), mean, low, high, paint, f"buffer: {buffer}", band=False)
        d.plain_ticks(ax, numbers, [f"{n:g}" for n in numbers])
        ax.set_xlabel("long flows")
        d.heading(ax, words, unit)
    axes[0].set_ylim(90, 100.4)
    axes[1].set_ylim(bottom=0)
    d.legend(axes[1], loc="lower left")
    caption = "400 Mb/s, 80 ms in the mean, 20 % of the load in flows of 14 packets. Rule: path over the square root of the flows."
    return Drawing("mix", "Long flows beside short ones", caption, fig)
