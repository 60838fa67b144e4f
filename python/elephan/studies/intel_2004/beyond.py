"""What the slides could not show: distributions, sharing per window, the switch's memory, and sensitivities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan import measures, theory
from elephan.quantity import scale_for, show
from elephan.report import draw as d
from elephan.report.style import BLUE, MUTED, VERMILLION, Drawing, new_figure
from elephan.report.view import View
from elephan.runs import Run
from elephan.study import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NOFC, PAUSE = "NoFC", "8023x"
PAINT = {NOFC: VERMILLION, PAUSE: BLUE}
MEMORY_B, XOFF_B, XON_B = 49_152, 21_504, 16_384
LOSSLESS_XOFF_B = MEMORY_B - theory.headroom_exact("10 Gbps", 100, quanta=60, ports=3)  # 21 829


def drawings(results: Results) -> list[Drawing]:
    """Figures beyond the slides."""
    return [latency_distribution(results), jitter(results), jain(results), close_up(results), memory_distribution(results)]


def _label(axes: Axes, x: float, y: float, text: str, paint: str) -> None:
    axes.annotate(text, (x, y), xytext=(6, 2), textcoords="offset points", color=paint, fontsize=8.5)


def _pooled(runs: list[Run], low: float, high: float) -> tuple[d.Array, d.Array, d.Array, d.Array]:
    """CCDF of latency on a common grid: mean over the runs and their range."""
    grid = np.geomspace(low, high, 400)
    each = []
    for run in runs:
        values = np.sort(measures.MEASURES["latency_ns"].values(run))
        each.append(1.0 - np.searchsorted(values, grid, side="right") / values.size)
    array = np.array(each)
    return grid, array.mean(axis=0), array.min(axis=0), array.max(axis=0)


def latency_distribution(results: Results) -> Drawing:
    """Distribution of message latency in both cases, all repetitions."""
    fig, (axes,) = new_figure(height=3.3)
    runs = {variant: results.runs("main", variant) for variant in (NOFC, PAUSE)}
    extremes = [measures.MEASURES["latency_ns"].values(run) for found in runs.values() for run in found[:1]]
    low = min(float(v.min()) for v in extremes)
    high = 1.5 * max(results.interval("main", v, "latency_ns.max").mean for v in runs)
    for variant, found in runs.items():
        grid, mean, least, most = _pooled(found, low, high)
        shown = mean > 2e-7
        x = grid[shown] * 1e-3
        axes.fill_between(x, np.maximum(least[shown], 1e-7), most[shown], color=PAINT[variant], alpha=0.2, linewidth=0)
        axes.plot(x, mean[shown], color=PAINT[variant])
        place = int(np.searchsorted(-mean, -2e-4))
        _label(axes, grid[min(place, grid.size - 1)] * 1e-3, 2e-4, variant, PAINT[variant])
    d.log_axis(axes, "x", low * 1e-3, high * 1e-3)
    axes.set_yscale("log")
    axes.set_ylim(2e-7, 1.3)
    d.percent_axis(axes)
    axes.grid(axis="both")
    axes.set_xlabel("latency, µs")
    d.heading(axes, "share of messages with a longer latency")
    caption = (
        "All repetitions together; the band spans the single runs. The step without flow control is the retransmission timeout."
    )
    return Drawing("latency-distribution", "Distribution of application latency", caption, fig)


def jitter(results: Results) -> Drawing:
    """The three readings of jitter, side by side."""
    fig, (axes,) = new_figure(height=2.6)
    readings = (
        ("latency_ns.sd", "standard deviation"),
        ("latency_ns.p99-p50", "99th percentile\nless median"),
        ("latency_ns.range", "longest less\nshortest"),
    )
    low, high = np.inf, 0.0
    for place, (name, _) in enumerate(readings):
        for shift, variant in ((0.14, NOFC), (-0.14, PAUSE)):
            interval = results.interval("main", variant, name)
            y = len(readings) - 1 - place + shift
            axes.plot([interval.low * 1e-3, interval.high * 1e-3], [y, y], color=PAINT[variant], linewidth=2.5, alpha=0.45)
            axes.plot([interval.mean * 1e-3], [y], "o", color=PAINT[variant], markersize=5)
            _label(axes, interval.mean * 1e-3, y, f"{variant}: {show(interval.mean, 'ns')}", PAINT[variant])
            low, high = min(low, interval.mean * 1e-3), max(high, interval.mean * 1e-3)
    d.log_axis(axes, "x", low / 2, high * 8)
    axes.set_yticks(range(len(readings)), [text for _, text in reversed(readings)])
    axes.set_ylim(-0.5, len(readings) - 0.5)
    axes.grid(axis="x")
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("jitter of application latency, µs")
    return Drawing("jitter", "Jitter, read in three ways", "The slides say only jitter. Means and 95 % intervals.", fig)


def jain(results: Results) -> Drawing:
    """Distribution of Jain's index over windows of 1 ms and 10 ms."""
    fig, axes = new_figure(1, 2, height=2.9, sharey=True)
    for ax, measure, title in ((axes[0], "jain_1ms", "windows of 1 ms"), (axes[1], "jain_10ms", "windows of 10 ms")):
        for variant in (NOFC, PAUSE):
            values = [measures.MEASURES[measure].values(run) for run in results.runs("main", variant)]
            if not values:
                continue
            x, y = d.cdf(np.concatenate(values))
            ax.plot(np.append(x, 1.0), np.append(y, 1.0), color=PAINT[variant], label=variant, drawstyle="steps-post")
        ax.set_xlim(1 / 3, 1.005)
        ax.set_ylim(0, 1.02)
        ax.set_xlabel(f"Jain's index, {title}")
    d.percent_axis(axes[0])
    d.heading(axes[0], "share of windows below")
    axes[0].legend(loc="upper left")
    caption = "1 is an equal share for all three clients, 1/3 one client alone. All repetitions."
    return Drawing("jain", "How evenly the clients share, window by window", caption, fig)


def close_up(results: Results) -> Drawing:
    """The switch's memory, microsecond by microsecond."""
    fig, axes = new_figure(2, 1, height=4.4, sharex=True)
    begin, end = 110e6, 111.5e6
    for ax, variant in zip(axes, (NOFC, PAUSE), strict=True):
        runs = results.runs("close-up", variant)
        if not runs:
            continue
        time, memory = next(iter(View(runs[0]).memory().values()))
        chosen = (time >= begin) & (time <= end)
        ax.plot((time[chosen] - begin) * 1e-3, memory[chosen] * 1e-3, color=PAINT[variant], linewidth=1.0)
        lost = View(runs[0]).events("drop")
        lost = lost[(lost >= begin) & (lost <= end)]
        ax.plot((lost - begin) * 1e-3, np.full(lost.size, MEMORY_B * 1e-3 + 2.2), "|", color="#1b1f24", markersize=5)
        d.heading(ax, f"{variant}: switch memory in use", "kB")
        d.reference(ax, MEMORY_B * 1e-3, "48 KiB", "right")
        if variant == PAUSE:
            d.reference(ax, XOFF_B * 1e-3, "XOFF", "right")
            d.reference(ax, XON_B * 1e-3, "XON", "right")
        ax.set_ylim(0, 57)
        ax.set_xlim(0, (end - begin) * 1e-3)
    axes[-1].set_xlabel(f"µs after {show(begin, 'ns')}")
    caption = "1.5 ms of one run, a sample every microsecond. Ticks above are dropped packets."
    return Drawing("close-up", "The switch's memory", caption, fig)


def memory_distribution(results: Results) -> Drawing:
    """How full the memory is, over the whole run."""
    fig, (axes,) = new_figure(height=2.7)
    edges = np.linspace(0, 50, 101)
    for variant in (NOFC, PAUSE):
        values = [measures.MEASURES["memory_bytes"].values(run) for run in results.runs("main", variant)]
        if not values:
            continue
        share, _ = np.histogram(np.concatenate(values) * 1e-3, edges)
        share = share / share.sum() / (edges[1] - edges[0])
        axes.stairs(share, edges, color=PAINT[variant], linewidth=1.2)
        axes.stairs(share, edges, color=PAINT[variant], alpha=0.2, fill=True)
        top = int(np.argmax(share))
        _label(axes, edges[top], share[top], variant, PAINT[variant])
    axes.set_xlim(0, 50)
    axes.set_ylim(bottom=0)
    for x, text in ((XON_B, "XON"), (XOFF_B, "XOFF"), (MEMORY_B, "48 KiB")):
        axes.axvline(x * 1e-3, color=MUTED, dashes=(4, 3), linewidth=0.9)
        axes.annotate(
            text,
            (x * 1e-3, 1),
            xycoords=("data", "axes fraction"),
            xytext=(-3, 2),
            textcoords="offset points",
            ha="right",
            fontsize=8,
            color=MUTED,
        )
    axes.set_xlabel("switch memory in use, kB")
    d.heading(axes, "share of time per kB")
    axes.yaxis.set_major_formatter(lambda v, _: f"{100 * v:g} %")
    return Drawing("memory-distribution", "How full the memory is", "Samples every 100 µs, all repetitions.", fig)


# -- sensitivities ---------------------------------------------------------------------------------------------------


def sensitivities(results: Results) -> list[Drawing]:
    """Goodput, drops, latency and sharing against what the slides leave open."""
    goodput, tail = "goodput_bps.sum", "latency_ns.p99"
    return [
        _sweep(results, "rto_min", "minimum RTO", (goodput, "jain_10ms.mean", "latency_ns.max"), "s",
               "The minimum RTO decides how long a client stays silent after losing the end of a window."),
        _sweep(results, "memory", "switch memory", (goodput, "drops.sum", tail), "bytes",
               "XOFF and XON keep their share of the memory. Below 48 KiB the headroom no longer covers what is in flight."),
        _thresholds(results),
        _sweep(results, "load", "offered load of each client", (goodput, "drops.sum", tail), "bps",
               f"Three clients offer the server's link its {show(theory.max_goodput('10 Gbps'), 'bps')} at 3.16 Gb/s each."),
    ]  # fmt: skip


_WORDS = {
    "goodput_bps.sum": "goodput",
    "drops.sum": "packets dropped",
    "latency_ns.p99": "latency, 99th percentile",
    "latency_ns.max": "longest latency",
    "jain_10ms.mean": "Jain's index, 10 ms windows",
    "memory_bytes.max": "most memory in use",
}


def _points(results: Results, experiment: str, suffix: str) -> tuple[list[str], d.Array]:
    found = results.experiment(experiment)
    points = [p for p in found.points[found.axes[0]] if results.values(experiment, p.label + suffix, "goodput_bps.sum")]
    return [p.label for p in points], np.array([p.value for p in points])


def _panel(axes: Axes, results: Results, experiment: str, statistic: str, variants: tuple[str, ...]) -> None:
    unit = measures.unit_of(statistic)
    lines: list[tuple[str, d.Array, d.Array, d.Array, d.Array]] = []
    for variant in variants:
        suffix = f"/{variant}" if variant else ""
        labels, x = _points(results, experiment, suffix)
        intervals = [results.interval(experiment, label + suffix, statistic) for label in labels]
        mean, low, high = (np.array([getattr(i, key) for i in intervals]) for key in ("mean", "low", "high"))
        lines.append((variant, x, mean, low, high))
    top = max(float(np.nanmax(mean)) for _, _, mean, _, _ in lines)
    factor, name = scale_for(top, unit)
    d.heading(axes, _WORDS[statistic], name)
    for variant, x, mean, low, high in lines:
        d.error_line(axes, x, mean * factor, low * factor, high * factor, PAINT[variant or PAUSE], variant)
    if unit == "ns" and top > 30 * min(float(np.nanmin(mean)) for _, _, mean, _, _ in lines):
        d.log_axis(axes, "y", min(float(np.nanmin(m)) for _, _, m, _, _ in lines) * factor / 2, top * factor * 2)
    else:
        axes.set_ylim(0, (top * factor or 1) * 1.12)


def _sweep(results: Results, experiment: str, what: str, statistics: tuple[str, ...], unit: str, words: str) -> Drawing:
    fig, axes = new_figure(1, 3, height=2.7)
    for ax, statistic in zip(axes, statistics, strict=True):
        _panel(ax, results, experiment, statistic, (NOFC, PAUSE))
        labels, x = _points(results, experiment, f"/{PAUSE}")
        if x.size and x.max() / x.min() >= 8:
            ax.set_xscale("log")
        factor, name = scale_for(float(x.max()), unit) if unit != "bytes" else (1 / 1024, "KiB")
        kept = range(0, len(x), 2) if len(x) > 5 else range(len(x))
        d.plain_ticks(
            ax, [x[i] for i in kept], [f"{x[i] * factor:g}" for i in kept] if unit != "s" else [labels[i].split()[0] for i in kept]
        )
        ax.set_xlabel(f"{what}, {name if unit != 's' else 'ms'}")
    axes[0].legend(loc="lower left", handlelength=1.2)
    reps = results.experiment(experiment).repetitions
    caption = f"{words} Means of {reps} runs with 95 % intervals."
    return Drawing(f"sensitivity-{experiment.replace('_', '-')}", f"Against the {what}", caption, fig)


def _thresholds(results: Results) -> Drawing:
    fig, axes = new_figure(1, 3, height=2.7)
    for ax, statistic in zip(axes, ("goodput_bps.sum", "drops.sum", "memory_bytes.max"), strict=True):
        _panel(ax, results, "thresholds", statistic, ("",))
        labels, x = _points(results, "thresholds", "")
        d.plain_ticks(ax, list(x), [label.split("/")[0] for label in labels])
        ax.set_xlabel("XOFF, KiB (XON 5 KiB lower)")
        ax.axvline(LOSSLESS_XOFF_B, color=MUTED, dashes=(4, 3), linewidth=0.9)
    axes[1].annotate(
        "lossless\nby proof",
        (LOSSLESS_XOFF_B, 1),
        xycoords=("data", "axes fraction"),
        xytext=(-3, -12),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=8,
        color=MUTED,
    )
    reps = results.experiment("thresholds").repetitions
    caption = (
        f"802.3x only. Left of the dashed line ({show(LOSSLESS_XOFF_B, 'bytes')}) no loss is possible whatever the traffic. "
        f"Means of {reps} runs with 95 % intervals."
    )
    return Drawing("sensitivity-thresholds", "Against the XOFF threshold", caption, fig)
