"""What the study shows: its answer, Copa's queue, twenty round trips, flows that come and go, company, and jitter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elephan.base.quantity import show
from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.page.page import Cell, Column, Section, Table, interval_cell
from elephan.report.palette import look
from elephan.report.style import BLUE, GREEN, MUTED, VERMILLION, Drawing, new_figure
from elephan.studies.copa_2018 import theory
from elephan.table.rows import column, windows

PAINT = {
    "Copa": look("copa").color,
    "Copa, default only": GREEN,
    "CUBIC": look("cubic").color,
    "BBR": look("bbr").color,
}


def answer(results: Results) -> list[str]:
    """The answer, with its numbers."""
    sentences = []
    queue = results.interval("queue", "0.5/100 Mb/s, 20 ms", "queue_mean_bytes.max")
    if queue.n:
        packets = queue.mean / theory.QUEUED_BYTES
        sentences.append(f"Alone, at 100 Mb/s and 20 ms and in its default mode, Copa keeps {packets:.2f} packets in the queue.")
    shares = []
    for control in PAINT:
        index = results.interval("rtts", control, "goodput_bps.jain")
        if index.n:
            shares.append(f"{control} {index.mean:.2f}")
    if shares:
        sentences.append(f"Jain's index of 20 flows of 15 to 300 ms: {'; '.join(shares)}.")
    victim = results.interval("jitter", "two/120 Mb/s/1 ms", "goodput_bps.first/last")
    if victim.n:
        sentences.append(f"A round trip seen 1 ms too short leaves a flow {show(victim.mean, '1', 2)} of the other's rate.")
    return sentences


def queues(results: Results) -> Drawing:
    """Queues against 1 / delta, beside the rule."""
    fig, axes = new_figure(1, 2, height=3.1, sharey=True)
    for ax, path in zip(axes, ("100 Mb/s, 100 ms", "100 Mb/s, 20 ms"), strict=True):
        points = results.experiment("queue").points["delta"]
        ends = []
        for statistic, words, paint in (("queue_bytes.p99", "99 %", VERMILLION), ("queue_mean_bytes.max", "mean", BLUE)):
            found = [(1 / p.value, results.interval("queue", f"{p.label}/{path}", statistic)) for p in points]
            found = [(x, one) for x, one in found if one.n]
            if not found:
                continue
            x = np.array([one[0] for one in found])
            y = np.array([one[1].mean for one in found]) / theory.QUEUED_BYTES
            ax.plot(x, y, "-o", color=paint, markersize=3.6, linewidth=1.2)
            ends.append((float(y[-1]), words, paint))
        line = np.array([1.0, 10.0])
        for factor in (2.5, 1.25):
            ax.plot(line, factor * line, color=MUTED, linewidth=0.9, dashes=(4, 3))
        d.heading(ax, f"{path}: packets in the queue")
        ax.set_xlabel("1 / delta, packets")
        ax.set_xlim(0, 12)
        ax.set_ylim(bottom=0)
        d.end_labels(ax, ends)
    caption = "Default mode, one flow. Dashed: the top of the swing of section 3, 2.5 / delta, and half of it."
    return Drawing("queue", "What Copa keeps in the queue", caption, fig)


def round_trips(results: Results) -> Drawing:
    """Rates of twenty flows against their round trips, first run of each congestion control."""
    fig, (ax,) = new_figure(height=3.4)
    rtts = np.linspace(15, 300, 20)
    ends = []
    for control, paint in PAINT.items():
        runs = results.runs("rtts", control) if ("rtts", control) in results.trials.by_variant else []
        if not runs:
            continue
        rates = np.mean([column(run.flows, "goodput_bps") for run in runs], axis=0) * 1e-6
        ax.plot(rtts, rates, "-o", color=paint, markersize=3.2, linewidth=1.1)
        ends.append((float(rates[-1]), control, paint))
    ax.axhline(theory.MSS_BYTES / theory.WIRE_BYTES * 5, color=MUTED, linewidth=0.9, dashes=(4, 3))
    ax.set_yscale("log")
    d.number_format(ax, "y", "plain", (1.0, 2.0, 5.0))
    ax.set_xlabel("round trip without queue, ms")
    d.heading(ax, "goodput of each flow, Mb/s")
    d.end_labels(ax, ends)
    caption = "Means over the runs. Dashed: a twentieth of the line. The counterpart of figure 6 of the paper."
    return Drawing("round-trips", "Twenty flows of 15 to 300 ms", caption, fig)


def churn(results: Results) -> Drawing:
    """Rates of flows that come and go."""
    kinds = [one for one in PAINT if ("churn", one) in results.trials.by_variant and results.runs("churn", one)]
    fig, axes = new_figure(len(kinds), 1, height=0.6 + 1.5 * len(kinds), sharex=True)
    for ax, control in zip(axes, kinds, strict=True):
        starts, shares, flows = windows(results.runs("churn", control)[0], 200_000_000)
        for i in range(len(flows)):
            rate = shares[:, i] * 8e-6 / 0.2
            ax.plot((starts + 1e8) * 1e-9, np.where(rate > 0, rate, np.nan), color=PAINT[control], linewidth=0.9, alpha=0.7)
        times = np.arange(0, 20)
        active = np.minimum(times + 1, 20 - times)
        fair = 100 * theory.MSS_BYTES / theory.WIRE_BYTES / np.maximum(active, 1)
        ax.step(times, fair, where="post", color=MUTED, linewidth=0.9)
        ax.set_ylim(0, 100)
        d.heading(ax, f"{control}: goodput of each flow, Mb/s")
    axes[-1].set_xlabel("simulated time, s")
    axes[-1].set_xlim(0, 20)
    caption = "A flow more each second for ten seconds, then one fewer. Grey: an equal share. Seed 1, windows of 0.2 s."
    return Drawing("churn", "Ten flows come and go", caption, fig)


def jitter(results: Results) -> Drawing:
    """What an error of the smallest round trip leaves to a flow."""
    fig, axes = new_figure(1, 2, height=3.1)
    errors = np.geomspace(0.05, 3, 60)
    points = [point for point in results.experiment("jitter").points["error"] if point.value > 0]
    for ax, company, words in zip(axes, ("alone", "two"), ("alone", "beside a flow without it"), strict=True):
        for line, paint in (("120 Mb/s", BLUE), ("480 Mb/s", VERMILLION)):
            rate = float(line.split()[0]) * 1e6
            top = rate * theory.MSS_BYTES / theory.WIRE_BYTES
            if company == "alone":
                rule = np.minimum(theory.alone_bps(1) / (errors * 1e-3), top)
            else:
                rule = np.array([theory.shares(rate, error * 1e-3)[0] for error in errors]) * theory.MSS_BYTES * 8
            ax.plot(errors, rule * 1e-6, color=paint, linewidth=0.9, dashes=(4, 3))
            intervals = [results.interval("jitter", f"{company}/{line}/{p.label}", "goodput_bps[victim].sum") for p in points]
            found = [(p.value, one) for p, one in zip(points, intervals, strict=True) if one.n]
            ax.plot([x for x, _ in found], [one.mean * 1e-6 for _, one in found], "o", color=paint, markersize=4, label=line)
        d.log_axis(ax, "x", 0.05, 3)
        d.log_axis(ax, "y", 5, 500)
        ax.set_xlabel("error of the smallest round trip, ms")
        d.heading(ax, f"{words}: goodput, Mb/s")
    d.legend_below(axes[0])
    caption = "Points: the flow whose fastest packets were faster than all others. Dashed: 1 / (delta d) with the error in d."
    return Drawing("jitter", "What jitter takes from Copa", caption, fig)


_LINK = (
    ("goodput", "goodput_bps.sum", "bps"),
    ("mean queue", "queue_mean_bytes.max", "bytes"),
    ("median round trip", "rtt_ns.p50", "ns"),
    ("packets lost", "loss.max", "%"),
)


def _alone(results: Results) -> Table:
    buffers = [point.label for point in results.experiment("link").points["buffer"]]
    columns = [
        Column("one flow, 100 Mb/s, 20 ms"),
        *(Column(f"{words}, {buffer}", True) for buffer in buffers for words, *_ in _LINK),
    ]
    rows = []
    for control in PAINT:
        cells = [
            interval_cell(results.interval("link", f"{control}/{buffer}", name), unit, 3)
            for buffer in buffers
            for _, name, unit in _LINK
        ]
        if ("link", f"{control}/{buffers[0]}") in results.trials.by_variant:
            rows.append([Cell(control), *cells])
    return Table(columns, rows, "Means over the repetitions, 95 % intervals below.")


def _beside(results: Results) -> Table:
    found: list[list[Cell]] = []
    for first in PAINT:
        for rival in ("CUBIC", "Reno"):
            cells = [Cell(f"{first} beside {rival}")]
            values = [
                results.interval("beside", f"{first}/{rival}/{deep}", "goodput_bps.first/last") for deep in ("1 BDP", "4 BDP")
            ]
            if any(value.n for value in values):
                found.append(cells + [interval_cell(value, "1", 3) for value in values])
    columns = [Column("50 Mb/s, 40 ms"), Column("1 BDP", True), Column("4 BDP", True)]
    return Table(columns, found, "First flow over second. Means over the repetitions, 95 % intervals below.")


def sections(results: Results) -> Sequence[Section]:
    """The body of the report."""
    return [
        Section("The queue", "", [queues(results)], [_alone(results)]),
        Section("Round trips that differ", "", [round_trips(results)]),
        Section("Flows that come and go", "", [churn(results)]),
        Section("Company", "", tables=[_beside(results)]),
        Section("Delay that is no queue", "The paper of 2022 says that it must starve some flow.", [jitter(results)]),
    ]
