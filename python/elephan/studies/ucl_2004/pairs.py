"""Two flows of one stack, after Li, Leith and Shorten (2007): fairness, round trips, convergence, responsiveness."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.style import MUTED, Drawing, new_figure
from elephan.studies.ucl_2004.common import NAMES, PAINT, present
from elephan.table.rows import Part, column

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CONTROLLERS = ("reno", "scalable", "highspeed", "bic", "fast", "htcp", "cubic")
SHARE = "goodput_bps[first+second].min/max"
CONVERGENCE = "convergence_ns[first+second].mean"
RECLAIM = "reclaim_ns[first+second].mean"


def fairness(results: Results) -> Drawing:
    """Slower over faster flow on identical paths against the round trip, and with unequal round trips."""
    fig, axes = new_figure(1, 2, height=3.6)
    points, ends = results.experiment("startup").points["rtt"], []
    for controller in CONTROLLERS:
        found = [(point.value * 1e3, results.interval("startup", f"{controller}/{point.label}", SHARE)) for point in points]
        known = [(x, interval) for x, interval in found if interval.n]
        if not known:
            continue
        mean, low, high = (np.array([getattr(i, key) for _, i in known]) for key in ("mean", "low", "high"))
        d.error_line(axes[0], np.array([x for x, _ in known]), mean, low, np.minimum(high, 1.0), PAINT[controller])
        ends.append((float(mean[-1]), NAMES[controller], PAINT[controller]))
    axes[0].set_ylim(0, 1.02)
    if len(points) > 1:
        axes[0].set_xscale("log")
        axes[0].set_xlim(points[0].value * 950, points[-1].value * 1060)
    d.plain_ticks(axes[0], [p.value * 1e3 for p in points], [p.label.split()[0] for p in points])
    axes[0].set_xlabel("round trip of both, ms")
    d.end_labels(axes[0], ends, gap=0.06)
    for row, controller in enumerate(reversed(CONTROLLERS)):
        shares = results.values("rtt-fairness", f"{controller}/42 ms", SHARE)
        if shares:
            axes[1].plot(shares, [row] * len(shares), "|", color=PAINT[controller], markersize=8, alpha=0.6)
            axes[1].plot([float(np.median(shares))], [row], "o", color=PAINT[controller], markersize=5)
    axes[1].axvline(42 / 162, color=MUTED, linewidth=0.9, dashes=(4, 3))
    axes[1].axvline((42 / 162) ** 2, color=MUTED, linewidth=0.9, dashes=(1, 2))
    axes[1].set_yticks(range(len(CONTROLLERS)), [NAMES[controller] for controller in reversed(CONTROLLERS)])
    d.log_axis(axes[1], "x", 1e-3, 1.3)
    axes[1].grid(axis="x")
    axes[1].grid(axis="y", visible=False)
    axes[1].set_xlabel("162 ms over 42 ms")
    d.heading(axes[0], "identical paths: slower over faster flow")
    d.heading(axes[1], "unequal round trips: the same")
    caption = (
        "Two flows on 250 Mb/s, buffer of 20 % of the BDP. Left: the second flow starts 30 s after the first, goodput from "
        f"{results.measured('startup')}, means with 95 % intervals. Right: both start together, goodput from "
        f"{results.measured('rtt-fairness')}, single runs and their "
        "median; dashed: in proportion to the inverse round trip, dotted: to its square."
    )
    return Drawing("fairness", "How evenly two flows share", caption, fig)


def times(results: Results) -> Drawing:
    """Convergence after a start, by round trip, and the time to take up what a flow leaves."""
    fig, axes = new_figure(1, 2, height=3.4, sharey=True)
    points = results.experiment("startup").points["rtt"]
    marks = {"16 ms": "o", "82 ms": "s", "162 ms": "D"}
    for row, controller in enumerate(reversed(CONTROLLERS)):
        for shift, point in zip(np.linspace(0.22, -0.22, len(points)) if len(points) > 1 else (0.0,), points, strict=True):
            _times_dot(
                axes[0],
                row + shift,
                results.values("startup", f"{controller}/{point.label}", CONVERGENCE),
                controller,
                marks[point.label],
            )
        _times_dot(axes[1], row, results.values("responsiveness", controller, RECLAIM), controller, "s")
    for ax, words in (
        (axes[0], "until the new flow keeps within 20 % of one half"),
        (axes[1], "until the other has 80 % of what both had"),
    ):
        d.log_time_axis(ax, "x", 8e8, 5e11)
        ax.grid(axis="x")
        ax.grid(axis="y", visible=False)
        ax.set_xlabel(words)
    axes[0].set_yticks(range(len(CONTROLLERS)), [NAMES[controller] for controller in reversed(CONTROLLERS)])
    d.heading(axes[0], "after a flow starts")
    d.heading(axes[1], "after a flow stops (82 ms)")
    for mark, label in ((m, k) for k, m in marks.items() if any(p.label == k for p in points)):
        axes[0].plot([], [], mark, color=MUTED, label=label, markersize=5)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=8.5)
    caption = (
        "Marks: medians; bars: all repetitions. A time that did not come within the run counts as the rest of the run (about 310 s "
        "left, 100 s right)."
    )
    return Drawing("times", "Convergence and responsiveness", caption, fig)


def _times_dot(ax: Axes, y: float, values: list[float], controller: str, mark: str) -> None:
    if not values:
        return
    shown = np.maximum(np.array(values), 1e9)  # times come in whole seconds; less than one is drawn at one
    ax.plot([shown.min(), shown.max()], [y, y], color=PAINT[controller], linewidth=2.5, alpha=0.35)
    ax.plot([float(np.median(shown))], [y], mark, color=PAINT[controller], markersize=4.5)


def series(results: Results) -> Drawing:
    """Goodput of both flows over time: start, sharing, stop."""
    controllers = present(results, "responsiveness", CONTROLLERS)
    rows = -(-len(controllers) // 2)
    fig, axes = new_figure(rows, 2, height=0.4 + 1.75 * rows, sharex=True, sharey=True)
    for ax, controller in zip(axes, controllers, strict=False):
        run = results.runs("responsiveness", controller)[0]
        for traffic, paint in (("first", MUTED), ("second", PAINT[controller] if controller != "reno" else PAINT["scalable"])):
            samples = Part(run, traffic).flow_samples
            time, delivered = column(samples, "time_ns") * 1e-9, column(samples, "delivered_bytes")
            ax.plot((time[1:] + time[:-1]) / 2, np.diff(delivered) * 8e-6 / np.diff(time), color=paint, linewidth=1.0)
        ax.axvspan(0, 32, color=MUTED, alpha=0.06, linewidth=0)
        ax.axvspan(200, 300, color=MUTED, alpha=0.06, linewidth=0)
        ax.set_xlim(0, 300)
        ax.set_ylim(0, 255)
        d.heading(ax, f"{NAMES[controller]}: goodput per second, Mb/s")
    for ax in axes[len(controllers) :]:
        ax.set_visible(False)
    for ax in axes[max(0, len(controllers) - 2) : len(controllers)]:
        ax.set_xlabel("simulated time, s")
        ax.tick_params(labelbottom=True)
    caption = "Grey: the first flow; coloured: the second, from 30 s to 200 s. 250 Mb/s, 82 ms, buffer of 20 % of the BDP, seed 1."
    return Drawing("series", "Two flows over time", caption, fig)
