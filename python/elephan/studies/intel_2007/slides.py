"""The charts of the slides: aggregate and hotspot throughput, queue depth, packet drops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan import theory
from elephan.measures import windows
from elephan.report import draw as d
from elephan.report.style import BLUE, GRID, MUTED, ORANGE, VERMILLION, Drawing, new_figure
from elephan.rows import Part, column, part_of
from elephan.runs import Run
from elephan.study import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NONE, ECM, QCN = "No CM", "ECM", "QCN"
# Without PAUSE, and with it.
SCHEMES = ((NONE, ECM, QCN), ("PAUSE", "ECM & PAUSE", "QCN & PAUSE"))
ALL = (*SCHEMES[0], *SCHEMES[1])
PAINT = dict(zip(ALL, (VERMILLION, ORANGE, BLUE) * 2, strict=True))
COLUMNS = ("without PAUSE", "with PAUSE")
HOT_NS = (100e6, 400e6)
PORT, HOST = "CS1->C[0]", "C[0]"
HOT_GOODPUT_BPS = theory.max_goodput("2 Gbps")
SET_POINT_B, XOFF_B, XON_B, BUFFER_B = 26_176, 130_000, 110_000, 150_000
HOSTS = {"baseline": 5, "single-hop": 10}
_WORDS = {"baseline": "Baseline, 5 hosts", "single-hop": "Single hop, 10 hosts"}


def drawings(results: Results, experiment: str) -> list[Drawing]:
    """The counterparts of the slides' charts of one topology."""
    found = [throughput(results, experiment), queue(results, experiment), drops(results, experiment)]
    return [drawing for drawing in found if drawing is not None]


def shade(axes: Axes) -> None:
    """The time of the hotspot, on an axis of milliseconds."""
    axes.axvspan(HOT_NS[0] * 1e-6, HOT_NS[1] * 1e-6, color=GRID, alpha=0.55, linewidth=0, zorder=0)


def _series(runs: list[Run], to: str | None, step_ns: int = 10_000_000) -> tuple[d.Array, d.Array]:
    """Middles of windows in ms and the goodput in them, mean over runs: of all flows, or of those to one host."""
    each = []
    middle = np.empty(0)
    for run in runs:
        starts, shares, _ = windows(part_of(run, f"to {to}") if to else run, step_ns)
        middle = (starts + step_ns / 2) * 1e-6
        each.append(shares.sum(axis=1) * 8e9 / step_ns)
    return middle, np.mean(each, axis=0)


def throughput(results: Results, experiment: str) -> Drawing:
    """Goodput of all hosts and of C0 over time."""
    fig, axes = new_figure(2, 2, height=4.8, sharex=True, sharey="row")
    hosts = HOSTS[experiment]
    for row, to in enumerate((None, HOST)):
        for place, schemes in enumerate(SCHEMES):
            ax = axes[2 * row + place]
            shade(ax)
            for scheme in schemes:
                runs = results.runs(experiment, scheme)
                if not runs:
                    continue
                time, rate = _series(runs, to)
                ax.plot(time, rate * 1e-9, color=PAINT[scheme], linewidth=1.3)
            ax.set_xlim(0, 500)
            what = "all hosts" if to is None else "C0 alone"
            d.heading(ax, f"{what}, {COLUMNS[place]}", "Gb/s" if place == 0 else "")
            if row == 1:
                ax.set_xlabel("simulated time, ms")
    axes[0].set_ylim(bottom=0)
    axes[2].set_ylim(bottom=0)
    for place, schemes in enumerate(SCHEMES):
        for scheme in schemes:
            axes[2 + place].plot([], [], color=PAINT[scheme], label=scheme)
        d.legend(axes[2 + place], loc="center", ncols=1)
        ideal = ((hosts - 1) * 8.5 + 2) * 1460 / 1538
        axes[place].plot([100, 400], [ideal, ideal], color=MUTED, dashes=(4, 3), linewidth=0.9)
        axes[2 + place].plot([100, 400], [HOT_GOODPUT_BPS * 1e-9] * 2, color=MUTED, dashes=(4, 3), linewidth=0.9)
    caption = (
        "Slides: Aggregate application throughput; Hotspot throughput. Application bytes in windows of 10 ms, means of the "
        "repetitions; the hotspot is shaded, dashed the most that its links allow."
    )
    return Drawing(f"throughput-{experiment}", f"{_WORDS[experiment]}: throughput", caption, fig)


def _queue_line(run: Run) -> tuple[d.Array, d.Array]:
    samples = Part(run, f"at {PORT}").port_samples
    return column(samples, "time_ns") * 1e-6, column(samples, "queue_bytes") * 1e-3


def queue(results: Results, experiment: str) -> Drawing | None:
    """The hot queue over time, one seed."""
    source = "close-up" if experiment == "baseline" else experiment
    fig, axes = new_figure(3, 2, height=5.6, sharex=True, sharey=True)
    for place, schemes in enumerate(SCHEMES):
        for row, scheme in enumerate(schemes):
            ax = axes[2 * row + place]
            runs = results.runs(source, scheme)
            shade(ax)
            if runs:
                ax.plot(*d.thin(*_queue_line(runs[0]), 1200), color=PAINT[scheme], linewidth=0.7)
            ax.axhline(SET_POINT_B * 1e-3, color=MUTED, dashes=(1, 2), linewidth=0.9)
            for level in (XOFF_B, XON_B) if place else ():
                ax.axhline(level * 1e-3, color=MUTED, dashes=(4, 3), linewidth=0.8)
            d.heading(ax, f"{scheme}: queue to C0", "kB" if place == 0 else "")
    axes[0].set_ylim(0, 158)
    axes[0].set_xlim(0, 450 if source == "close-up" else 500)
    for ax in axes[4:]:
        ax.set_xlabel("simulated time, ms")
    every = "10 µs" if source == "close-up" else "millisecond"
    caption = (
        f"Slide: Queue depth. Seed 1, a sample every {every} (the least and the most of each stretch are drawn). Dotted: QCN's set "
        "point; dashed: PAUSE from 130 kB on, until 110 kB. The buffer is 150 kB."
    )
    return Drawing(f"queue-{experiment}", f"{_WORDS[experiment]}: queue depth at CS1 to C0", caption, fig)


def drops(results: Results, experiment: str) -> Drawing | None:
    """Packets dropped since the start, every repetition."""
    fig, axes = new_figure(1, 2, height=2.8, gridspec_kw={"width_ratios": [3, 2]})
    ends: list[tuple[float, str, str]] = []
    for scheme in ALL:
        last = []
        for run in results.runs(experiment, scheme):
            samples = Part(run, f"at {PORT}").port_samples
            time, count = column(samples, "time_ns") * 1e-6, column(samples, "drops")
            if scheme in SCHEMES[0]:
                for ax in axes:
                    ax.plot(*d.thin(time, count, 600), color=PAINT[scheme], linewidth=0.9, alpha=0.6)
            last.append(float(count[-1]))
        if last and scheme in SCHEMES[0]:
            ends.append((float(np.mean(last)), f"{scheme}: {np.mean(last):.0f}", PAINT[scheme]))
    for ax in axes:
        shade(ax)
        ax.set_ylim(0, max([end[0] for end in ends] + [1]) * 1.25)
        ax.set_xlabel("simulated time, ms")
    axes[0].set_xlim(0, 500)
    axes[1].set_xlim(98, 112)
    axes[1].set_xticks([98, 100, 104, 108, 112])
    d.heading(axes[0], "packets dropped since the start")
    d.heading(axes[1], "the onset")
    if ends:
        d.end_labels(axes[1], ends)
    silent = [s for s in SCHEMES[1] if results.values(experiment, s, "drops.sum")]
    lost = sum(sum(results.values(experiment, s, "drops.sum")) for s in silent)
    words = "with PAUSE nothing is dropped" if lost == 0 else f"with PAUSE {lost:.0f} packets are dropped in all runs together"
    caption = f"Slide: Packet drop. A line for each repetition; {words}."
    return Drawing(f"drops-{experiment}", f"{_WORDS[experiment]}: packets dropped", caption, fig)
