"""The charts of the slides: aggregate and hotspot throughput, queue depth, packet drops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import show
from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.style import BLUE, GRID, MUTED, ORANGE, VERMILLION, Drawing, new_figure
from elephan.report.words.view import arrow
from elephan.result.run import Run
from elephan.table.rows import Part, column, part_of, windows
from elephan.theory import closed as theory

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
# Where the hot queue is sampled every 10 us, in runs that are otherwise the same.
CLOSE_UP = {"baseline": "close-up", "single-hop": "single-hop-close-up", "frames": "frames-close-up"}
_WORDS = {"baseline": "Baseline, 5 hosts", "single-hop": "Single hop, 10 hosts"}


def was_run(results: Results, experiment: str, schemes: Sequence[str] = ALL) -> list[str]:
    """Those of some schemes that an experiment ran."""
    return [scheme for scheme in schemes if results.trials.by_variant.get((experiment, scheme))]


def left_out(results: Results, *experiments: str, schemes: Sequence[str] = ALL) -> str:
    """A sentence about schemes that the quick run does not run in any of some experiments; empty if there are none."""
    planned = {variant.label for name in experiments for variant in results.experiment(name).variants}
    names = [scheme for scheme in schemes if scheme not in planned]
    return f" Not run in the quick run: {', '.join(names)}." if names else ""


def drawings(results: Results, experiment: str) -> list[Drawing]:
    """The counterparts of the slides' charts of one topology."""
    return [throughput(results, experiment), queue(results, experiment), drops(results, experiment)]


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
    columns = [place for place, schemes in enumerate(SCHEMES) if was_run(results, experiment, schemes)]
    fig, axes = new_figure(2, max(len(columns), 1), height=4.8, sharex=True, sharey="row")
    ideal = ((HOSTS[experiment] - 1) * 8.5 + 2) * 1460 / 1538
    for row, (to, most) in enumerate(((None, ideal), (HOST, HOT_GOODPUT_BPS * 1e-9))):
        for column_, place in enumerate(columns):
            ax = axes[row * len(columns) + column_]
            shade(ax)
            for scheme in was_run(results, experiment, SCHEMES[place]):
                time, rate = _series(results.runs(experiment, scheme), to)
                ax.plot(time, rate * 1e-9, color=PAINT[scheme], linewidth=1.3, label=scheme)
            ax.plot([100, 400], [most, most], color=MUTED, dashes=(4, 3), linewidth=0.9)
            ax.set_xlim(0, 500)
            what = "all hosts" if to is None else "C0 alone"
            d.heading(ax, f"{what}, {COLUMNS[place]}", "Gb/s" if column_ == 0 else "")
            if row == 1:
                ax.set_xlabel("simulated time, ms")
                d.legend(ax, loc="center", ncols=1)
    for ax in axes:
        ax.set_ylim(bottom=0)
    caption = (
        "Slides: Aggregate application throughput; Hotspot throughput. Application bytes in windows of 10 ms, means of the "
        "repetitions; the hotspot is shaded, dashed the most that its links allow." + left_out(results, experiment)
    )
    return Drawing(f"throughput-{experiment}", f"{_WORDS[experiment]}: throughput", caption, fig)


def _queue_line(run: Run) -> tuple[d.Array, d.Array]:
    samples = Part(run, f"at {PORT}").port_samples
    return column(samples, "time_ns") * 1e-6, column(samples, "queue_bytes") * 1e-3


def queue(results: Results, experiment: str) -> Drawing:
    """The hot queue over time, one seed, every 10 us where such runs are kept."""
    close = [scheme for scheme in was_run(results, CLOSE_UP[experiment]) if results.runs(CLOSE_UP[experiment], scheme)]
    source = {scheme: CLOSE_UP[experiment] if scheme in close else experiment for scheme in ALL}
    drawn = [[scheme for scheme in schemes if results.runs(source[scheme], scheme)] for schemes in SCHEMES]
    columns = [place for place, schemes in enumerate(drawn) if schemes]
    rows = max(map(len, drawn))
    fig, axes = new_figure(max(rows, 1), max(len(columns), 1), height=0.8 + 1.6 * rows, sharex=True, sharey=True)
    for ax in axes:
        ax.set_visible(False)
    for column_, place in enumerate(columns):
        for row, scheme in enumerate(drawn[place]):
            ax = axes[row * len(columns) + column_]
            ax.set_visible(True)
            shade(ax)
            ax.plot(*d.thin(*_queue_line(results.runs(source[scheme], scheme)[0]), 1200), color=PAINT[scheme], linewidth=0.7)
            ax.axhline(SET_POINT_B * 1e-3, color=MUTED, dashes=(1, 2), linewidth=0.9)
            for level in (XOFF_B, XON_B) if place else ():
                ax.axhline(level * 1e-3, color=MUTED, dashes=(4, 3), linewidth=0.8)
            d.heading(ax, f"{scheme}: queue to C0", "kB" if column_ == 0 else "")
        ax.set_xlabel("simulated time, ms")
        ax.tick_params(labelbottom=True)
    axes[0].set_ylim(0, 158)
    axes[0].set_xlim(0, 450 if close else 500)
    coarse = [scheme for schemes in drawn for scheme in schemes if source[scheme] == experiment]
    every = "10 µs" if close else "millisecond"
    if close and coarse:
        every += f", of {' and '.join(coarse)} every millisecond"
    caption = (
        f"Slide: Queue depth. Seed 1, a sample every {every} (the least and the most of each stretch are drawn). Dotted: QCN's set "
        "point; dashed: PAUSE from 130 kB on, until 110 kB. The buffer is 150 kB."
        + left_out(results, experiment, *([CLOSE_UP[experiment]] if close else []))
    )
    return Drawing(f"queue-{experiment}", f"{_WORDS[experiment]}: queue depth at CS1 to C0", caption, fig)


def drops(results: Results, experiment: str) -> Drawing:
    """Packets dropped at the hot port since the start, every repetition; in the caption those of all ports."""
    fig, axes = new_figure(1, 2, height=2.8, gridspec_kw={"width_ratios": [3, 2]})
    ends: list[tuple[float, str, str]] = []
    for scheme in was_run(results, experiment, SCHEMES[0]):
        last = []
        for run in results.runs(experiment, scheme):
            samples = Part(run, f"at {PORT}").port_samples
            time, count = column(samples, "time_ns") * 1e-6, column(samples, "drops")
            for ax in axes:
                ax.plot(*d.thin(time, count, 600), color=PAINT[scheme], linewidth=0.9, alpha=0.6)
            last.append(float(count[-1]))
        ends.append((float(np.mean(last)), f"{scheme}: {np.mean(last):.0f}", PAINT[scheme]))
    for ax in axes:
        shade(ax)
        ax.set_ylim(0, max([end[0] for end in ends] + [1]) * 1.25)
        ax.set_xlabel("simulated time, ms")
    axes[0].set_xlim(0, 500)
    axes[1].set_xlim(98, 112)
    axes[1].set_xticks([98, 100, 104, 108, 112])
    d.heading(axes[0], f"packets dropped at {arrow(PORT)}")
    d.heading(axes[1], "the onset")
    d.end_labels(axes[1], ends)
    whole = [f"{s} {show(results.interval(experiment, s, 'drops.sum').mean, '1', 3)}" for s in was_run(results, experiment)]
    caption = (
        f"Slide: Packet drop. Drops at {arrow(PORT)} since the start, a line for each repetition, means at the end, without PAUSE. "
        f"At all ports together, in the mean: {', '.join(whole)}." + left_out(results, experiment)
    )
    return Drawing(f"drops-{experiment}", f"{_WORDS[experiment]}: packets dropped at {arrow(PORT)}", caption, fig)
