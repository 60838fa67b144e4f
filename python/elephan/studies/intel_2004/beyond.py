"""What the slides could not show: distributions, sharing per window, the switch's memory, and sensitivities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import scale_for, show
from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.style import BLUE, INK, MUTED, VERMILLION, Drawing, new_figure
from elephan.report.words.view import View
from elephan.result.run import Run
from elephan.statistic import measures
from elephan.theory import closed as theory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NOFC, PAUSE = "NoFC", "8023x"
PAINT = {NOFC: VERMILLION, PAUSE: BLUE}
MEMORY_B, XOFF_B, XON_B = 49_152, 21_504, 16_384
LOSSLESS_XOFF_B = MEMORY_B - theory.headroom_exact("10 Gbps", 100, quanta=10, ports=3)  # 30 937


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
        x = grid[shown]
        axes.fill_between(x, np.maximum(least[shown], 1e-7), most[shown], color=PAINT[variant], alpha=0.2, linewidth=0)
        axes.plot(x, mean[shown], color=PAINT[variant])
        place = int(np.searchsorted(-mean, -2e-4))
        _label(axes, grid[min(place, grid.size - 1)], 2e-4, variant, PAINT[variant])
    d.log_time_axis(axes, "x", low, high)
    axes.set_yscale("log")
    axes.set_ylim(2e-7, 1.3)
    d.percent_axis(axes)
    axes.grid(axis="both")
    axes.set_xlabel("latency")
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
        for shift, variant in ((0.17, NOFC), (-0.17, PAUSE)):
            interval = results.interval("main", variant, name)
            y = len(readings) - 1 - place + shift
            axes.plot([max(interval.low, 1), interval.high], [y, y], color=PAINT[variant], linewidth=2.5, alpha=0.45)
            axes.plot([interval.mean], [y], "o", color=PAINT[variant], markersize=5)
            text, at = f"{variant}: {show(interval.mean, 'ns')}", max(interval.mean, interval.high)
            axes.annotate(text, (at, y), xytext=(7, 0), textcoords="offset points", color=PAINT[variant], fontsize=8.5, va="center")
            low, high = min(low, interval.mean), max(high, at)
    d.log_time_axis(axes, "x", low / 2, high * 12)
    axes.set_yticks(range(len(readings)), [text for _, text in reversed(readings)])
    axes.set_ylim(-0.5, len(readings) - 0.5)
    axes.grid(axis="x")
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("jitter of application latency")
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
        ax.set_xlim(0.3, 1.02)
        ax.set_ylim(0, 1.02)
        ax.set_xlabel(f"Jain's index, {title}")
    d.percent_axis(axes[0])
    d.heading(axes[0], "share of windows below")
    d.legend(axes[0], loc="center")
    caption = "1 is an equal share for all three clients, 1/3 one client alone. All repetitions."
    return Drawing("jain", "How evenly the clients share, window by window", caption, fig)


def _liveliest(time: d.Array, memory: d.Array, span_ns: float) -> float:
    """Where the stretch of `span_ns` begins in which the memory varies most."""
    step = time[1] - time[0]
    size = max(1, int(span_ns / step))
    blocks = memory[: memory.size - memory.size % size].reshape(-1, size)
    return float(time[int(blocks.std(axis=1).argmax()) * size])


def close_up(results: Results) -> Drawing:
    """The switch's memory over 20 ms, and microsecond by microsecond."""
    fig, axes = new_figure(2, 2, height=4.6, sharey=True, gridspec_kw={"width_ratios": [3, 2]})
    for row, variant in enumerate((NOFC, PAUSE)):
        runs = results.runs("close-up", variant)
        if not runs:
            continue
        time, memory = next(iter(View(runs[0]).memory().values()))
        measured = time >= 100e6
        time, memory = time[measured], memory[measured]
        lost = View(runs[0]).events("drop")
        for ax, span in ((axes[2 * row], 20e6), (axes[2 * row + 1], 150e3)):
            begin = _liveliest(time, memory, span) if span > 1e6 or variant == NOFC else 110e6
            chosen = (time >= begin) & (time <= begin + span)
            factor = 1e-6 if span > 1e6 else 1e-3
            x, y = (time[chosen] - begin) * factor, memory[chosen] * 1e-3
            ax.plot(*d.thin(x, y), color=PAINT[variant], linewidth=0.9, drawstyle="steps-post")
            here = lost[(lost >= begin) & (lost <= begin + span)]
            ax.plot(
                (here - begin) * factor, np.full(here.size, MEMORY_B * 1e-3 + 3), "|", color=INK, markersize=5, markeredgewidth=0.8
            )
            ax.set_xlim(0, span * factor)
            ax.set_xlabel(f"{'ms' if span > 1e6 else 'µs'} after {show(begin, 'ns', 5)}")
            ax.axhline(MEMORY_B * 1e-3, color=MUTED, dashes=(4, 3), linewidth=0.9)
            for level in (XOFF_B, XON_B) if variant == PAUSE else ():
                ax.axhline(level * 1e-3, color=MUTED, dashes=(1, 2), linewidth=0.9)
        d.heading(axes[2 * row], f"{variant}: switch memory in use", "kB")
    axes[0].set_ylim(0, 56)
    caption = (
        "Left 20 ms of one run, right 150 µs of it, a sample every microsecond; the stretches where it varies most. Dashed: the "
        "48 KiB of memory; dotted: XOFF and XON. Ticks above are dropped packets."
    )
    return Drawing("close-up", "The switch's memory", caption, fig)


FRAME_B = 1518


def memory_distribution(results: Results) -> Drawing:
    """How full the memory is, over the whole run."""
    fig, (axes,) = new_figure(height=2.7)
    edges = (np.arange(0, MEMORY_B // FRAME_B + 2) - 0.5) * FRAME_B * 1e-3
    for variant in (NOFC, PAUSE):
        values = [measures.MEASURES["memory_bytes"].values(run) for run in results.runs("main", variant)]
        if not values:
            continue
        share, _ = np.histogram(np.concatenate(values) * 1e-3, edges)
        share = share / share.sum()
        axes.stairs(share, edges, color=PAINT[variant], linewidth=1.2)
        axes.stairs(share, edges, color=PAINT[variant], alpha=0.2, fill=True)
        last = int(np.flatnonzero(share > 0.03)[-1])
        left = edges[last] > 40
        axes.annotate(
            variant,
            (edges[last] if left else edges[last + 1], share[last]),
            xytext=(-6 if left else 6, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            color=PAINT[variant],
        )
    axes.set_xlim(-0.8, 50.4)
    axes.set_ylim(bottom=0)
    for x, text in ((XON_B, "XON"), (XOFF_B, "XOFF"), (MEMORY_B, "48 KiB")):
        axes.axvline(x * 1e-3, color=MUTED, dashes=(4, 3), linewidth=0.9)
        axes.annotate(
            text,
            (x * 1e-3, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            color=MUTED,
        )
    axes.set_xlabel("switch memory in use, kB")
    d.heading(axes, "share of time")
    d.percent_axis(axes)
    caption = "Samples every 100 µs, all repetitions; a bar is one full frame (1518 B) wide."
    return Drawing("memory-distribution", "How full the memory is", caption, fig)


# -- sensitivities ---------------------------------------------------------------------------------------------------


def sensitivities(results: Results) -> list[Drawing]:
    """Goodput, drops, latency and sharing against what the slides leave open."""
    goodput, tail = "goodput_bps.sum", "latency_ns.p99"
    return [
        _sweep(results, "rto_min", "minimum RTO", (goodput, "jain_10ms.mean", "latency_ns.max"), "s",
               "The minimum RTO decides how long a client stays silent after losing the end of a window."),
        _sweep(results, "memory", "switch memory", (goodput, "drops.sum", tail), "bytes",
               "XOFF and XON keep their share of the memory. Below 32 KiB the headroom is less than what can be in flight."),
        _thresholds(results),
        _hysteresis(results),
        _sweep(results, "load", "offered load of each client", (goodput, "drops.sum", tail), "bps",
               f"Three clients offer the server's link its {show(theory.max_goodput('10 Gbps'), 'bps')} at 3.16 Gb/s each."),
    ]  # fmt: skip


_WORDS = {
    "goodput_bps.sum": "goodput",
    "drops.sum": "packets dropped",
    "latency_ns.p99": "99 % latency",
    "latency_ns.max": "longest latency",
    "jain_10ms.mean": "Jain's index per 10 ms",
    "memory_bytes.max": "most memory used",
    "pauses_sent.sum": "PAUSE frames",
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
    least = min(float(np.nanmin(mean)) for _, _, mean, _, _ in lines)
    if unit == "ns" and top > 30 * least:
        d.heading(axes, _WORDS[statistic])
        for variant, x, mean, low, high in lines:
            d.error_line(axes, x, mean, np.maximum(low, least / 10), high, PAINT[variant or PAUSE], variant)
        d.log_time_axis(axes, "y", least / 2, top * 4)
        return
    factor, name = scale_for(top, unit)
    d.heading(axes, _WORDS[statistic], name)
    for variant, x, mean, low, high in lines:
        d.error_line(axes, x, mean * factor, low * factor, high * factor, PAINT[variant or PAUSE], variant)
    reach = max(float(np.nanmax(np.nan_to_num(high))) for *_, high in lines)
    axes.set_ylim(0, (min(max(reach, top), 1.6 * top) * factor or 1) * 1.08)


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
    d.legend(axes[0], loc="lower left")
    reps = results.experiment(experiment).repetitions
    caption = f"{words} Means of {reps} runs with 95 % intervals, cut off at the frame."
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


def _hysteresis(results: Results) -> Drawing:
    fig, axes = new_figure(1, 3, height=2.7)
    for ax, statistic in zip(axes, ("goodput_bps.sum", "pauses_sent.sum", "latency_ns.p99"), strict=True):
        _panel(ax, results, "hysteresis", statistic, ("",))
        _, x = _points(results, "hysteresis", "")
        d.plain_ticks(ax, list(x), [f"{xon / 1024:g}" for xon in x])
        ax.set_xlabel("XON, KiB (XOFF 21 KiB)")
    reps = results.experiment("hysteresis").repetitions
    caption = (
        f"802.3x only; PAUSE frames of the whole run, those that let go on included. Means of {reps} runs with 95 % intervals."
    )
    return Drawing("sensitivity-hysteresis", "Against the XON threshold", caption, fig)
