"""What the study shows: its answer, slowdowns by size, and the numbers of the sources beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import show
from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.page.page import Cell, Column, Section, Table, interval_cell
from elephan.report.style import MUTED, Drawing, color, new_figure
from elephan.studies.hpcc_2019 import rerun

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AT_1_KB = "slowdown[flows, size <= 1200 B].p95"
AT_120_KB = "slowdown[flows, size > 80 KB, size <= 160 KB].p95"
# Each bin of sizes with the place where a figure draws it, in bytes.
BINS = (
    (600, AT_1_KB),
    (3_500, "slowdown[flows, size > 1200 B, size <= 10 KB].p95"),
    (28_000, "slowdown[flows, size > 10 KB, size <= 80 KB].p95"),
    (113_000, AT_120_KB),
    (400_000, "slowdown[flows, size > 160 KB, size <= 1 MB].p95"),
    (3_000_000, "slowdown[flows, size > 1 MB].p95"),
)
SCHEMES = ("HPCC", "DCTCP", "TIMELY+w", "DCQCN+w", "DCQCN", "TIMELY")
PAINT = {scheme: color(i) for i, scheme in enumerate(SCHEMES)}
_TICKS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500)


def answer(results: Results) -> list[str]:
    """The answer, with its numbers."""
    said = []
    for scheme in ("HPCC", "DCTCP", "DCQCN+w", "DCQCN"):
        found = results.interval("fabric", scheme, AT_1_KB)
        if found.n:
            said.append(f"{found.mean:.3g} under {scheme}")
    sentences = [f"At 50 % load the 95th percentile of the slowdown of flows of 1 KB is {', '.join(said)}."] if said else []
    pair = [results.interval("testbed", f"{scheme}/50 %", "queue_bytes.p95") for scheme in ("HPCC", "DCQCN")]
    if all(one.n for one in pair):
        short, tall = (show(one.mean, "B", 3) for one in pair)
        sentences.append(
            f"The queue of a busy port is shorter than {short} 95 % of the time under HPCC, and than {tall} under DCQCN."
        )
    return sentences


def _slowdowns(ax: Axes, results: Results, experiment: str, words: str) -> None:
    ends = []
    for scheme in SCHEMES:
        if not any(v.label == scheme for v in results.experiment(experiment).variants):
            continue
        found = [(x, results.interval(experiment, scheme, name)) for x, name in BINS]
        kept = [(float(x), one.mean) for x, one in found if one.n]
        if kept:
            x, mean = np.array(kept).T
            ax.plot(x, mean, "-o", color=PAINT[scheme], markersize=3, linewidth=1.3, label=scheme)
            ends.append(mean.max())
    if ends:
        d.log_axis(ax, "y", 1, max(ends) * 1.2)
        ax.set_yticks([t for t in _TICKS if t <= max(ends) * 1.2], [str(t) for t in _TICKS if t <= max(ends) * 1.2])
        ax.minorticks_off()
    ax.set_xscale("log")
    d.plain_ticks(ax, (600, 3_500, 28_000, 113_000, 400_000, 3_000_000), ("1.2 K", "10 K", "80 K", "160 K", "1 M", "more"))
    ax.set_xlabel("size up to, bytes")
    d.heading(ax, words)


def sizes(results: Results) -> Drawing:
    """Slowdowns over the size of flows, at 50 % load and beside an incast."""
    fig, axes = new_figure(1, 2, height=3.4)
    _slowdowns(axes[0], results, "fabric", "slowdown, hadoop at 50 %")
    _slowdowns(axes[1], results, "incast", "slowdown, 30 % and an incast")
    axes[0].legend(frameon=False, fontsize=7.5, loc="upper right")
    caption = "95th percentile of the slowdown in bins of sizes, means over the repetitions; 100 Gb/s, as figure 11 of the paper."
    return Drawing("sizes", "Slowdown by size", caption, fig)


def _beside(ax: Axes, results: Results, experiment: str, statistic: str, table: Mapping[str, float], words: str) -> None:
    labels = sorted(table, key=lambda label: -table[label])  # the best on top
    for y, label in enumerate(labels):
        low, high = table[label] / 2, table[label] * 2
        ax.plot([low, high], [y, y], color=MUTED, linewidth=5, alpha=0.25, solid_capstyle="butt")
        ax.plot([table[label]], [y], "|", color=MUTED, markersize=11, markeredgewidth=1.6)
        one = results.interval(experiment, label, statistic)
        if one.n:
            ax.plot([one.mean], [y], "o", color=PAINT[label], markersize=5)
    ax.set_xscale("log")
    ax.set_yticks(range(len(labels)), labels)
    ticks = (1, 3, 10) if max(table.values()) < 50 else (1, 10, 100)
    d.plain_ticks(ax, ticks, [str(t) for t in ticks])
    d.heading(ax, words)


def reruns(results: Results) -> Drawing:
    """Our slowdowns on the values of the re-run, with a factor of two about them."""
    fig, axes = new_figure(1, 3, height=2.7)
    _beside(axes[0], results, "fabric", AT_1_KB, rerun.AT_1_KB, "1 KB, 50 % load")
    _beside(axes[1], results, "fabric", AT_120_KB, rerun.AT_120_KB, "120 KB, 50 % load")
    _beside(axes[2], results, "incast", AT_1_KB, rerun.BESIDE_INCAST, "1 KB, incast")
    caption = (
        "Points: 95th percentile of the slowdown here. Strokes: somebody's re-run, not the paper, whose percentile is not named. "
        "Bars: a factor of 2."
    )
    return Drawing("rerun", "Beside a re-run", caption, fig)


def _testbed(results: Results) -> Table:
    """Short flows and the queue at 25 Gb/s beside the paper's numbers."""
    paper = {"HPCC/30 %": "2.38", "DCQCN/30 %": "11.2", "HPCC/50 %": "2.70", "DCQCN/50 %": "53.9"}
    columns = [Column("scheme, load"), Column("slowdown p99", True), Column("paper", True)]
    columns += [Column("queue p95", True), Column("above 1 MB, median", True)]
    rows = []
    for variant in results.experiment("testbed").variants:
        names = ("slowdown[probe].p99", "queue_bytes.p95", "slowdown[flows, size > 1 MB].p50")
        short, queue, long = (results.interval("testbed", variant.label, name) for name in names)
        if short.n:
            cells = [interval_cell(short, "1", 3), Cell(paper.get(variant.label, ""))]
            rows.append([Cell(variant.label), *cells, interval_cell(queue, "B", 3), interval_cell(long, "1", 3)])
    return Table(columns, rows, "Slowdown of probes of 1 to 3 KB; the queue of the busiest of four ports to servers.")


def _small(results: Results) -> Table:
    """The small experiments."""
    rows = []
    for experiment, words, name, unit in (
        ("long-short", "a long flow after a short one", "goodput_bps[long].sum", "bps"),
        ("seven", "longest queue of an incast of seven", "queue_max_bytes[at sw->r].max", "B"),
        ("mice", "1 KB behind two elephants, median", "sender_fct_ns[mouse].p50", "ns"),
        ("sixteen", "median queue of sixteen flows", "queue_bytes[at sw->r].p50", "B"),
        ("sixteen", "utilisation by sixteen flows", "utilisation[at sw->r].mean", "%"),
        ("join", "Jain index of four flows", "goodput_bps.jain", "1"),
    ):
        found = [results.interval(experiment, scheme, name) for scheme in ("HPCC", "DCQCN")]
        if all(one.n for one in found):
            rows.append([Cell(words), *(interval_cell(one, unit, 3) for one in found)])
    return Table([Column("experiment"), Column("HPCC", True), Column("DCQCN", True)], rows, "Means with 95 % intervals.")


def sections(results: Results) -> Sequence[Section]:
    """The body of the report."""
    return [
        Section("Flows of every size", "The plots of the paper were not to be had.", [sizes(results), reruns(results)]),
        Section("A testbed in size", "Web search between 32 servers at 25 Gb/s.", [], [_testbed(results)]),
        Section("Small experiments", "", [], [_small(results)]),
    ]
