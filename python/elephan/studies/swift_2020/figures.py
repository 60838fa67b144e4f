"""What the study shows: targets, loads, 5000 flows, busy hosts, and shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import show
from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.page.page import Cell, Column, Section, Table, interval_cell
from elephan.report.style import MUTED, Drawing, color, new_figure
from elephan.studies.swift_2020 import model, points
from elephan.table.rows import column, windows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RATE, RTT, RTT_P99 = "goodput_bps.sum", "last_rtt_ns.mean", "last_rtt_ns.p99"
PAPER_INCAST = {"below 1": ("49.5 Gb/s", "0.0003 %", "110.2 us"), "at least 1": ("8.7 Gb/s", "28.7 %", "2027.4 us")}
PAPER_HOSTS = {
    "two targets": ("48.7 Gb/s", "129.2 us", "175.1 us"),
    "100 us": ("41.6 Gb/s", "118.3 us", "154.4 us"),
    "150 us": ("44.9 Gb/s", "157.6 us", "203.8 us"),
    "200 us": ("49.5 Gb/s", "184.9 us", "252.7 us"),
}


def answer(results: Results) -> list[str]:
    """The answer, with its numbers."""
    said = []
    for label, words in (("below 1", "below one packet"), ("at least 1", "of at least one packet")):
        rate, rtt = (results.interval("incast", label, name) for name in (RATE, RTT))
        if rate.n and rtt.n:
            said.append(f"windows {words} carry {show(rate.mean, 'bps', 3)} at a round trip of {show(rtt.mean, 'ns', 3)}")
    sentences = [f"With 5000 flows {'; '.join(said)}."] if said else []
    two, one = (results.interval("hosts", label, RATE) for label in ("two targets", "100 us"))
    if two.n and one.n:
        rates = f"{show(two.mean, 'bps', 3)} with a target of its own for the hosts, {show(one.mean, 'bps', 3)} with one of 100 us"
        sentences.append(f"Beside a busy host two incasts get {rates} for both.")
    return sentences


def _line(ax: Axes, results: Results, where: tuple[str, str, str], statistic: str, paint: str, scale: float) -> float | None:
    experiment, lead, axis = where
    found = []
    for point in results.experiment(experiment).points[axis]:
        interval = results.interval(experiment, "/".join(filter(None, (lead, point.label))), statistic)
        if interval.n:
            found.append([point.value, *(value * scale for value in (interval.mean, interval.low, interval.high))])
    if not found:
        return None
    x, mean, low, high = np.array(found).T
    d.error_line(ax, x, mean, low, high, paint, gid=lead)
    return float(mean[-1])


def targets(results: Results) -> Drawing:
    """Round trips and throughput over the target (figure 17)."""
    fig, axes = new_figure(1, 2, height=3.2)
    for ax, statistic, scale in ((axes[0], RTT, 1e-3), (axes[1], RATE, 1e-9)):
        ends = []
        for i, point in enumerate(results.experiment("target").points["increment"]):
            found = []
            for other in results.experiment("target").points["target"]:
                interval = results.interval("target", f"{point.label}/{other.label}", statistic)
                if interval.n:
                    found.append([other.value * 1e-3, *(value * scale for value in (interval.mean, interval.low, interval.high))])
            if found:
                x, mean, low, high = np.array(found).T
                d.error_line(ax, x, mean, low, high, color(i), gid=point.label)
                ends.append((float(mean[-1]), point.label, color(i)))
        ax.set_xlim(10, 72)
        ax.set_xlabel("base target, us")
        d.end_labels(ax, ends)
    axes[0].plot([10, 72], [10, 72], color=MUTED, linewidth=0.9, dashes=(4, 3))
    axes[0].set_ylim(0, 100)
    d.heading(axes[0], "mean round trip", "us")
    axes[1].axvline(25, color=MUTED, linewidth=0.9, dashes=(4, 3))
    axes[1].set_ylim(0, 52)
    d.heading(axes[1], "goodput of 100 flows", "Gb/s")
    caption = (
        "ai: segments by which a window grows in a round trip. Dashed: round trips equal to the target, which the paper's are "
        "close to, and 25 us, from where its throughput was full."
    )
    return Drawing("targets", "Round trips and throughput over the target", caption, fig)


def loads(results: Results) -> Drawing:
    """Round trips over the load (figure 18)."""
    fig, (ax,) = new_figure(height=3.0)
    ends = []
    for i, (statistic, words) in enumerate((("p50", "median"), ("p99", "99th"), ("p999", "99.9th"))):
        end = _line(ax, results, ("load", "", "load"), f"last_rtt_ns.{statistic}", color(i), 1e-3)
        if end is not None:
            ends.append((end, words, color(i)))
    ax.set_xlim(0, 1)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("payload offered by each machine, of 100 Gb/s")
    d.percent_axis(ax, "x")
    d.reference(ax, 50, "99.9th, paper, near 100 %")
    d.heading(ax, "percentiles of the round trip", "us")
    d.end_labels(ax, ends)
    caption = "32 machines write 64 KB to each other at random. The target is 25 us."
    return Drawing("loads", "Round trips over the load", caption, fig)


def _rates(ax: Axes, results: Results) -> None:
    paint = {"below 1": color(0), "below 1, target not scaled": color(1)}
    for label, one in paint.items():
        runs = results.runs("incast", label)
        if runs:
            rates = np.concatenate([column(run.flows, "goodput_bps") for run in runs]) * 1e-6
            index = results.interval("incast", label, "goodput_bps.jain").mean
            words = "scaled" if label == "below 1" else "not scaled"
            ax.plot(*d.cdf(rates), color=one, label=f"{words}: Jain's index {index:.2f}")
    ax.set_xlim(0, 40)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("goodput over 100 ms, Mb/s")
    d.percent_axis(ax)
    d.heading(ax, "share of 5000 flows below")
    d.legend(ax, loc="lower right")


def shares(results: Results) -> Drawing:
    """Flows that come and leave, and rates of 5000 flows (figures 20 and 21)."""
    fig, axes = new_figure(1, 2, height=3.1, gridspec_kw={"width_ratios": [3, 2]})
    runs = results.runs("join", "four flows")
    if runs:
        starts, moved, _ = windows(runs[0], 500_000)
        for i in range(moved.shape[1]):
            rate = np.where(moved[:, i] > 0, moved[:, i] * 8e-9 / 500e-6, np.nan)
            axes[0].plot(starts * 1e-6 + 0.25, rate, color=color(i), linewidth=1.0)
    axes[0].set_xlim(0, 70)
    axes[0].set_ylim(0, 52)
    axes[0].set_xlabel("simulated time, ms")
    d.heading(axes[0], "goodput of each flow", "Gb/s")
    _rates(axes[1], results)
    caption = (
        "Left: a flow comes every 10 ms and leaves from 40 ms on, seed 1. Right: all repetitions, with the target scaled by the "
        "window and without; the paper's index with scaling is 0.91."
    )
    return Drawing("shares", "Shares of four and of 5000 flows", caption, fig)


def collisions(results: Results) -> Drawing:
    """The queue of flows at their fair share over their number (figure 4)."""
    fig, (ax,) = new_figure(height=3.0)
    _line(ax, results, ("collide", "", "flows"), "queue_mean_bytes.max", color(0), 1 / 1518)
    counts = np.geomspace(10, 5000, 60)
    ax.plot(counts, [model.collisions(int(n)) for n in counts], color=MUTED, linewidth=0.9, dashes=(4, 3))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(9, 5600)
    ax.set_ylim(0.4, 100)
    d.plain_ticks(ax, points.FLOWS, [str(n) for n in points.FLOWS])
    ax.set_yticks([1, 10, 100], ["1", "10", "100"])
    ax.set_xlabel("flows")
    d.heading(ax, "mean queue", "packets")
    caption = "Flows of one packet in the time of N, which start at random. Dashed: sqrt(pi N / 8)."
    return Drawing("collisions", "Collisions by chance", caption, fig)


def _table(results: Results, experiment: str, first: str, paper: dict[str, tuple[str, str, str]]) -> Table:
    third = ("loss", "loss.max", "%") if experiment == "incast" else ("99th percentile", RTT_P99, "ns")
    names = [("goodput", RATE, "bps"), ("mean round trip", RTT, "ns"), third]
    if experiment == "incast":
        names = [names[0], names[2], names[1]]
    heads = [Column(first)]
    for words, _, _ in names:
        heads += [Column(words, True), Column("paper", True)]
    rows = []
    for label, said in paper.items():
        cells = [Cell(label)]
        for (_, name, unit), word in zip(names, said, strict=True):
            cells += [interval_cell(results.interval(experiment, label, name), unit, 3), Cell(word)]
        rows.append(cells)
    return Table(heads, rows, "Means over the repetitions with 95 % intervals.")


def _paths(results: Results) -> Table:
    """Two flows over paths of one and of three switches."""
    columns = [Column("target"), *(Column(words, True) for words in ("short path", "long path", "round trip, short path"))]
    names = (("goodput_bps[near].sum", "bps"), ("goodput_bps[far].sum", "bps"), ("last_rtt_ns[near].mean", "ns"))
    rows = []
    for point in results.experiment("paths").points["topology"]:
        cells = [interval_cell(results.interval("paths", point.label, name), unit, 3) for name, unit in names]
        rows.append([Cell(f"{point.label} by hops"), *cells])
    return Table(columns, rows, "The paper shows this in a plot only.")


def sections(results: Results) -> Sequence[Section]:
    """The body of the report."""
    return [
        Section("The target", "", [targets(results)]),
        Section("Load", "", [loads(results)]),
        Section("5000 flows", "", [], [_table(results, "incast", "window", PAPER_INCAST)]),
        Section("A busy host", "", [], [_table(results, "hosts", "target", PAPER_HOSTS)]),
        Section("Shares", "", [shares(results)], [_paths(results)]),
        Section("Collisions by chance", "", [collisions(results)]),
    ]
