"""What the slides could not show: single connections, the onset, raw frames, what was assumed, the next steps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import scale_for, show
from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.style import BLUE, GREEN, INK, MUTED, PURPLE, SKY, VERMILLION, Drawing, new_figure
from elephan.statistic import measures
from elephan.studies.intel_2007.slides import (
    ALL,
    BUFFER_B,
    CLOSE_UP,
    COLUMNS,
    HOST,
    HOT_GOODPUT_BPS,
    PAINT,
    PORT,
    SCHEMES,
    SET_POINT_B,
    XOFF_B,
    XON_B,
    left_out,
    was_run,
)
from elephan.table.rows import Part, column, part_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

IN_HOTSPOT = "delivered_bps[during 100-400 ms].sum"
HOT = f"delivered_bps[to {HOST}, during 100-400 ms].sum"
WORDS = {
    "goodput_bps.sum": "goodput",
    IN_HOTSPOT: "goodput of all hosts in the hotspot",
    HOT: "goodput of C0 in the hotspot",
    "drops.sum": "drops, all ports",
    "timeouts.positive": "connections that timed out",
    "latency_ns.p99": "99 % latency",
    "latency_ns.max": "longest latency",
    "latency_ns.p50": "median latency",
}


def survivors(results: Results, experiment: str) -> Drawing:
    """Goodput of each connection to C0 during the hotspot; those that timed out apart."""
    fig, (axes,) = new_figure(height=0.7 + 0.4 * len(was_run(results, experiment)))
    fair = HOT_GOODPUT_BPS * 1e-6 / (4 if experiment == "baseline" else 9)
    schemes = was_run(results, experiment)
    for place, scheme in enumerate(reversed(schemes)):
        alive: list[float] = []
        lost: list[float] = []
        for run in results.runs(experiment, scheme):
            part = part_of(run, f"to {HOST}, during 100-400 ms")
            rates = measures.MEASURES["delivered_bps"].values(part) * 1e-6
            expired = column(part.flows, "timeouts") > 0
            alive += rates[~expired].tolist()
            lost += rates[expired].tolist()
        for values, marker, shift in ((alive, "o", 0.13), (lost, "x", -0.13)):
            spread = place + shift + 0.1 * np.linspace(-1, 1, max(len(values), 1))[: len(values)]
            axes.plot(values, spread, marker, color=PAINT[scheme], markersize=3.6, alpha=0.75, clip_on=False)
    axes.set_yticks(range(len(schemes)), list(reversed(schemes)))
    axes.set_ylim(-0.5, len(schemes) - 0.5)
    axes.set_xlim(left=0)
    axes.grid(axis="x")
    axes.grid(axis="y", visible=False)
    axes.axvline(fair, color=MUTED, dashes=(4, 3), linewidth=0.9)
    axes.annotate(
        "equal share", (fair, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 3), textcoords="offset points",
        ha="center", fontsize=8, color=MUTED,
    )  # fmt: skip
    axes.set_xlabel("goodput during the hotspot, Mb/s")
    caption = (
        "Every connection to C0 in every repetition: dots never timed out in the run, crosses did (some of them outside "
        "the hotspot)." + left_out(results, experiment)
    )
    return Drawing(f"survivors-{experiment}", "Who gets the hotspot", caption, fig)


def onset(results: Results) -> Drawing:
    """The first milliseconds of the hotspot, every 10 us."""
    columns = [place for place, schemes in enumerate(SCHEMES) if was_run(results, "close-up", schemes)]
    fig, axes = new_figure(1, max(len(columns), 1), height=3.0, sharey=True)
    for ax, place in zip(axes, columns, strict=False):
        for scheme in was_run(results, "close-up", SCHEMES[place]):
            samples = Part(results.runs("close-up", scheme)[0], f"at {PORT}, during 99-104 ms").port_samples
            time, waiting = column(samples, "time_ns") * 1e-6 - 100, column(samples, "queue_bytes") * 1e-3
            ax.plot(time, waiting, color=PAINT[scheme], linewidth=1.0, label=scheme)
        ax.set_xlim(-1, 4)
        ax.set_xlabel("ms after the onset")
        d.heading(ax, f"queue to C0, {COLUMNS[place]}", "kB" if ax is axes[0] else "")
        ax.axhline(SET_POINT_B * 1e-3, color=MUTED, dashes=(1, 2), linewidth=0.9)
        for level in (XOFF_B, XON_B) if place else ():
            ax.axhline(level * 1e-3, color=MUTED, dashes=(4, 3), linewidth=0.8)
        d.legend(ax, loc="upper right", ncols=3)
    axes[0].set_ylim(0, BUFFER_B * 1e-3 * 1.2)
    caption = "Baseline, seed 1, a sample every 10 µs. Dotted: QCN's set point; dashed: the marks of PAUSE."
    return Drawing("onset", "The onset of the hotspot", caption + left_out(results, "close-up"), fig)


def raw_frames(results: Results) -> Drawing:
    """How full the hot queue is, with TCP and with frames that nothing acknowledges."""
    fig, axes = new_figure(2, 2, height=4.4, sharex=True, sharey=True)
    grid = np.linspace(0, BUFFER_B, 300)
    for row, (experiment, what) in enumerate(((CLOSE_UP["baseline"], "TCP"), (CLOSE_UP["frames"], "raw frames"))):
        for place, schemes in enumerate(SCHEMES):
            ax = axes[2 * row + place]
            ran = was_run(results, experiment, schemes)
            ax.set_visible(bool(ran))
            for scheme in ran:
                values = [
                    column(Part(run, f"at {PORT}, during 110-400 ms").port_samples, "queue_bytes")
                    for run in results.runs(experiment, scheme)
                ]
                pooled = np.sort(np.concatenate(values))
                share = np.searchsorted(pooled, grid, side="right") / pooled.size
                ax.plot(grid * 1e-3, share, color=PAINT[scheme], label=scheme, drawstyle="steps-post")
            ax.set_ylim(0, 1.03)
            ax.set_xlim(0, BUFFER_B * 1e-3)
            ax.axvline(SET_POINT_B * 1e-3, color=MUTED, dashes=(1, 2), linewidth=0.9)
            d.percent_axis(ax)
            d.heading(ax, f"{what} {COLUMNS[place]}")
            if ran:
                d.legend(ax, loc="center")
            if row == 1 or not was_run(results, CLOSE_UP["frames"], schemes):
                ax.set_xlabel("queue to C0, kB")
                ax.tick_params(labelbottom=True)
    caption = (
        "Share of time that the queue is shorter, from 10 ms after the onset to the end of the hotspot, 5 hosts, all "
        "repetitions, a sample every 10 µs. Dotted: QCN's set point."
    )
    for experiment, what in ((CLOSE_UP["baseline"], "TCP"), (CLOSE_UP["frames"], "raw frames")):
        caption += left_out(results, experiment).replace("cut", f"cut with {what}")
    return Drawing("raw-frames", "TCP beside raw Ethernet frames", caption, fig)


def _ranges(axes: Axes, rows: list[tuple[str, str, str, str]], results: Results, statistic: str) -> None:
    """A mean with its interval for each (experiment, variant, name, colour), the first at the top."""
    unit = measures.unit_of(statistic)
    intervals = [results.interval(experiment, variant, statistic) for experiment, variant, _, _ in rows]
    tops = [i.high if np.isfinite(i.high) else i.mean for i in intervals if i.n]
    top = max([t for t in tops if np.isfinite(t)] or [1.0])
    factor, name = scale_for(max([i.mean for i in intervals if i.n] or [1.0]), unit)
    for place, (interval, (*_, paint)) in enumerate(zip(intervals, rows, strict=True)):
        y = len(rows) - 1 - place
        if not interval.n:
            continue
        if np.isfinite(interval.low):
            axes.plot([max(interval.low, 0) * factor, interval.high * factor], [y, y], color=paint, linewidth=2.5, alpha=0.45)
        axes.plot([interval.mean * factor], [y], "o", color=paint, markersize=4.6, clip_on=False)
    axes.set_xlim(0, min(top, 1.6 * max([i.mean for i in intervals if i.n] or [1.0])) * factor * 1.12 or 1)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_yticks(range(len(rows)), [row[2] for row in reversed(rows)])
    axes.grid(axis="x")
    axes.grid(axis="y", visible=False)
    d.heading(axes, WORDS.get(statistic, statistic), name if unit != "1" else "")


def _ran(results: Results, rows: list[tuple[str, str, str, str]]) -> tuple[list[tuple[str, str, str, str]], str]:
    """The rows that were run, and a sentence about the others."""
    found = [row for row in rows if results.trials.by_variant.get(row[:2])]
    others = [row[2] for row in rows if row not in found]
    return found, f" Not run in the quick run: {', '.join(others)}." if others and results.study.quick else ""


def minimum_rto(results: Results) -> Drawing:
    """No congestion management with three minimum RTOs, and what congestion management gives."""
    labels = [v.label for v in results.experiment("rto_min").variants]
    rows = [("rto_min", label, f"No CM, {label}", VERMILLION) for label in labels]
    rows += [("single-hop", "QCN", "QCN, 100 ms", BLUE), ("single-hop", "QCN & PAUSE", "QCN & PAUSE", BLUE)]
    rows += [("single-hop", "PAUSE", "PAUSE", PURPLE)]
    rows, missing = _ran(results, rows)
    fig, axes = new_figure(1, 3, height=2.5, sharey=True)
    for ax, statistic in zip(axes, (IN_HOTSPOT, HOT, "drops.sum"), strict=True):
        _ranges(ax, rows, results, statistic)
    axes[0].set_title("all hosts, Gb/s", loc="left", color=INK)
    axes[1].set_title("C0, Gb/s", loc="left", color=INK)
    caption = (
        'Single hop; goodput during the hotspot and packets dropped in the run, means with 95 % intervals. Slides: "Other '
        'alternative is to tune TCP for flows within DC".'
    )
    return Drawing("minimum-rto", "Tuning TCP instead: the minimum RTO", caption + missing, fig)


def long_links(results: Results) -> Drawing:
    """Against the propagation delay of each link."""
    found = results.experiment("delay")
    fig, axes = new_figure(1, 3, height=2.9)
    points = found.points["delay"]
    for ax, statistic in zip(axes, (IN_HOTSPOT, HOT, "drops.sum"), strict=True):
        unit = measures.unit_of(statistic)
        factor, name = (1e-9, "Gb/s") if unit == "bps" else (1.0, "")
        for scheme in ALL:
            labels = [p for p in points if results.values("delay", f"{p.label}/{scheme}", statistic)]
            if not labels:
                continue
            x = np.array([p.value for p in labels]) * 1e6
            intervals = [results.interval("delay", f"{p.label}/{scheme}", statistic) for p in labels]
            mean = np.array([i.mean for i in intervals]) * factor
            style = "-" if scheme in SCHEMES[0] else "--"
            ax.plot(x, mean, style, color=PAINT[scheme], marker="o", markersize=3.2, label=scheme, clip_on=False)
        ax.set_xscale("log")
        d.plain_ticks(ax, [p.value * 1e6 for p in points], [f"{p.value * 1e6:g}" for p in points])
        ax.set_xlabel("delay of a link, µs")
        ax.set_ylim(0, 1.08 * max(ax.get_ylim()[1], 1e-9))
        d.heading(ax, {IN_HOTSPOT: "all hosts", HOT: "C0"}.get(statistic, WORDS["drops.sum"]), name)
    handles, names = axes[0].get_legend_handles_labels()
    fig.legend(handles, names, loc="outside lower center", ncols=6, frameon=False, fontsize=8, labelcolor=INK, handlelength=2.8)
    caption = (
        'Slides, next steps: "Long link latency effects". Goodput during the hotspot and packets dropped in the run, means. '
        "A window of 64 240 B fills less and less of a longer path; the 20 kB above XOFF hold what is under way for 16 µs."
    )
    missing = [s for s in ALL if not any(results.trials.by_variant.get(("delay", f"{p.label}/{s}")) for p in points)]
    if missing:
        caption += f" Not run in the quick run: {', '.join(missing)}, and other delays."
    return Drawing("long-links", "Longer links", caption, fig)


def completion_times(results: Results) -> Drawing:
    """Median, mean and 99th percentile of the completion time of transfers."""
    fig, (axes,) = new_figure(height=2.7)
    low, high = np.inf, 0.0
    run = [scheme for scheme in reversed(ALL) if results.values("fct", scheme, "fct_ns.mean")]
    for place, scheme in enumerate(run):
        found = [results.interval("fct", scheme, f"fct_ns.{take}") for take in ("p50", "mean", "p99")]
        values = [i.mean for i in found]
        axes.plot([values[0], values[2]], [place, place], color=PAINT[scheme], linewidth=2.5, alpha=0.4)
        for value, marker in zip(values, ("|", "o", "|"), strict=True):
            axes.plot([value], [place], marker, color=PAINT[scheme], markersize=6 if marker == "o" else 10)
        axes.annotate(
            ", ".join(show(value, "ns", 2) for value in values), (values[2], place), xytext=(8, 0),
            textcoords="offset points", va="center", fontsize=8, color=PAINT[scheme],
        )  # fmt: skip
        low, high = min(low, values[0]), max(high, values[2])
    d.log_time_axis(axes, "x", low / 1.6 if np.isfinite(low) else 1e4, max(high, 1e5) * 30)
    axes.set_yticks(range(len(run)), run)
    axes.set_ylim(-0.5, len(run) - 0.5)
    axes.grid(axis="x")
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("completion time: median, mean (dot), 99th percentile")
    caption = (
        'Slides, next steps: "FCT & dynamic flows, Pareto distribution of small and large flows". New connections at random '
        "times between random hosts, sizes with shape 1.2 and mean 50 kB, 32 Gb/s together on 5 hosts; the same hotspot."
    )
    return Drawing("completion-times", "Flows that come and go", caption + left_out(results, "fct"), fig)


def room(results: Results) -> Drawing:
    """PAUSE alone with more room above XOFF."""
    labels = [v.label for v in results.experiment("room").variants]
    rows = [("room", label, label, PURPLE) for label in labels]
    fig, axes = new_figure(1, 2, height=2.0, sharey=True)
    for ax, statistic in zip(axes, ("drops.sum", IN_HOTSPOT), strict=True):
        _ranges(ax, rows, results, statistic)
    axes[1].set_title("all hosts in the hotspot, Gb/s", loc="left", color=INK)
    caption = (
        "Baseline with PAUSE alone, XOFF/XON. Added after the first run, in which PAUSE dropped packets: 20 kB above XOFF have to "
        "hold what four hosts still send; the switch's latency of 1 µs is assumed."
    )
    return Drawing("room", "Room above XOFF", caption, fig)


TODAY = {"DCTCP": GREEN, "DCTCP & PAUSE": GREEN, "DCTCP & PFC": GREEN}


def today(results: Results) -> Drawing:
    """What came later, beside what the slides compared."""
    rows = [("baseline", scheme, scheme, PAINT[scheme]) for scheme in ALL]
    rows += [("today", v.label, v.label, TODAY.get(v.label, SKY)) for v in results.experiment("today").variants]
    rows, missing = _ran(results, rows)
    fig, axes = new_figure(1, 3, height=0.9 + 0.24 * len(rows), sharey=True)
    for ax, statistic in zip(axes, (IN_HOTSPOT, HOT, "drops.sum"), strict=True):
        _ranges(ax, rows, results, statistic)
    axes[0].set_title("all hosts, Gb/s", loc="left", color=INK)
    axes[1].set_title("C0, Gb/s", loc="left", color=INK)
    caption = "Baseline; goodput during the hotspot and packets dropped in the run, means with 95 % intervals."
    return Drawing("today", "The same hotspot with what there is today", caption + missing, fig)


def star_2004(results: Results) -> Drawing:
    """The next steps of the talk of 2004 on its own star."""
    labels = [v.label for v in results.experiment("star-2004").variants]
    paint = {"NoFC": VERMILLION, "8023x": PURPLE, "ECM": PAINT["ECM"], "QCN": BLUE}
    rows = [("star-2004", label, label, paint.get(label, GREEN)) for label in labels]
    fig, axes = new_figure(1, 3, height=3.0, sharey=True)
    for ax, statistic in zip(axes, ("goodput_bps.sum", "drops.sum", "latency_ns.p99"), strict=True):
        _ranges(ax, rows, results, statistic)
    caption = (
        "Three clients upload 3.6 Gb/s each to one server through 48 KiB (the study intel-2004); none but 8023x has flow "
        "control. Means with 95 % intervals."
    )
    return Drawing("star-2004", "The next steps of the talk of 2004, on its own star", caption, fig)


def spreading(results: Results) -> list[tuple[str, float, float]]:
    """Goodput of the flows that do not go to C0, during the hotspot: (scheme, with a single switch, with edge switches), NaN if
    not run.
    """

    def others(experiment: str, scheme: str) -> float:
        if not was_run(results, experiment, [scheme]):
            return math.nan
        together, hot = (results.interval(experiment, scheme, name).mean for name in (IN_HOTSPOT, HOT))
        return together - hot

    ran = [s for s in ALL if was_run(results, "baseline", [s]) or was_run(results, "two-tier", [s])]
    return [(scheme, others("baseline", scheme), others("two-tier", scheme)) for scheme in ran]
