"""What the study shows: goodput over the number of servers, and what changes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import show
from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.page.page import Cell, Column, Section, Table, interval_cell
from elephan.report.style import MUTED, Drawing, color, new_figure
from elephan.studies.incast_2009 import model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GOODPUT = "goodput_bps[read].sum"
MOST_MBPS = 1000 * 1460 / 1538


def answer(results: Results) -> list[str]:
    """The answer, with its numbers."""
    said = []
    for label in [point.label for point in results.experiment("timer").points["minimum"]]:
        few, many = (results.interval("timer", f"{label}/{n}", GOODPUT) for n in (2, 16))
        if few.n and many.n:
            said.append(f"{show(many.mean, 'bps', 3)} with a minimum timeout of {label}")
    two = results.interval("timer", "200 ms/2", GOODPUT)
    if not said or not two.n:
        return []
    return [
        f"Two servers read at {show(two.mean, 'bps', 3)}; sixteen at {', '.join(said)}.",
        "A timer of 200 ms stands still for a hundred times as long as a block takes; a short timer loses as much and waits less.",
    ]


def _line(ax: Axes, results: Results, experiment: str, lead: str, axis: str, paint: str, dashes: str = "-") -> float | None:
    found = []
    for point in results.experiment(experiment).points[axis]:
        interval = results.interval(experiment, "/".join(filter(None, (lead, point.label))), GOODPUT)
        if interval.n:
            found.append([point.value, *(x * 1e-6 for x in (interval.mean, interval.low, interval.high))])
    if not found:
        return None
    x, mean, low, high = np.array(found).T
    d.error_line(ax, x, mean, low, high, paint, dashes=dashes, gid=lead)
    return float(mean[-1])


def _servers(ax: Axes, results: Results, experiment: str, axis: str, words: str = "servers") -> None:
    values = [point.value for point in results.experiment(experiment).points[axis]]
    ax.set_xscale("log")
    ax.set_xlim(min(values), max(values))
    d.plain_ticks(ax, values, [f"{value:.0f}" for value in values])
    ax.set_ylim(0, 1000)
    ax.set_xlabel(words)


def timers(results: Results) -> Drawing:
    """Goodput over the number of servers and over the minimum timeout."""
    fig, axes = new_figure(1, 2, height=3.3, gridspec_kw={"width_ratios": [3, 2]})
    ends = []
    for i, point in enumerate(results.experiment("timer").points["minimum"]):
        end = _line(axes[0], results, "timer", point.label, "servers", color(i))
        if end is not None:
            ends.append((end, point.label, color(i)))
    _servers(axes[0], results, "timer", "servers")
    d.reference(axes[0], MOST_MBPS, "most that TCP can have")
    d.heading(axes[0], "goodput, fragments of 256 KB", "Mb/s")
    d.end_labels(axes[0], ends)
    _line(axes[1], results, "minima", "", "minima", color(0))
    points = results.experiment("minima").points["minima"]
    axes[1].set_xscale("log")
    axes[1].set_xlim(points[0].value, points[-1].value)
    chosen = [point for point in points if point.label in ("50 us", "200 us", "1 ms", "10 ms", "200 ms")]
    d.plain_ticks(axes[1], [point.value for point in chosen], [point.label for point in chosen])
    axes[1].set_ylim(0, 1000)
    axes[1].set_xlabel("minimum timeout")
    d.heading(axes[1], "goodput of 16 servers", "Mb/s")
    caption = (
        "Buffer of 64 KB, NewReno, an ACK for every packet; the names at the lines are minimum timeouts. SIGCOMM 2009 says that "
        "1 ms is needed for 16 servers and that 200 us removes the collapse."
    )
    return Drawing("timers", "Goodput, servers and timers", caption, fig)


def buffers(results: Results) -> Drawing:
    """Goodput over the number of servers for each buffer, and for blocks of a fixed size."""
    fig, axes = new_figure(1, 2, height=3.3)
    ends = []
    for i, point in enumerate(results.experiment("buffer").points["buffer"]):
        end = _line(axes[0], results, "buffer", point.label, "powers", color(i))
        if end is not None:
            ends.append((end, point.label, color(i)))
    _servers(axes[0], results, "buffer", "powers")
    d.heading(axes[0], "goodput by buffer, 200 ms", "Mb/s")
    d.end_labels(axes[0], ends)
    ends = []
    for i, (experiment, lead, axis, words) in enumerate(
        (
            ("buffer", "64 KB", "powers", "256 KB each"),
            ("block-4mb", "", "block_4mb", "4 MB in all"),
            ("block-1mb", "200 ms", "block_1mb", "1 MB in all"),
            ("block-1mb", "200 us", "block_1mb", "1 MB, 200 us"),
        )
    ):
        end = _line(axes[1], results, experiment, lead, axis, color(i))
        if end is not None:
            ends.append((end, words, color(i)))
    _servers(axes[1], results, "buffer", "powers")
    d.heading(axes[1], "goodput by what is read, 64 KB", "Mb/s")
    d.end_labels(axes[1], ends)
    caption = (
        "Left: fragments of 256 KB, minimum timeout of 200 ms. Right: fragments of a fixed size, and blocks of a fixed size that "
        "all servers share."
    )
    return Drawing("buffers", "Memories and blocks", caption, fig)


def rack(results: Results) -> Drawing:
    """The testbed of WREN 2009: minimum timeouts, with delayed ACKs and without."""
    acks = results.experiment("rack").points["ack"]
    fig, axes = new_figure(1, 2, height=3.3, sharey=True)
    for ax, ack in zip(axes, acks, strict=False):
        ends = []
        for i, point in enumerate(results.experiment("rack").points["rack_minimum"]):
            end = _line(ax, results, "rack", f"{ack.label}/{point.label}", "senders", color(i))
            if end is not None:
                ends.append((end, point.label, color(i)))
        _servers(ax, results, "rack", "senders", "senders")
        ticks = (1, 2, 4, 8, 16, 47)
        d.plain_ticks(ax, ticks, [str(n) for n in ticks])
        words = "delayed ACKs of 40 ms" if ack.label == "delayed" else "an ACK for every packet"
        d.heading(ax, f"goodput, {words}", "Mb/s")
        d.end_labels(ax, ends)
        counts = range(1, 48)
        fitted = [model.goodput(n, 25.6e6, 1e9, 0.2) * 1e-6 for n in counts]
        ax.plot(list(counts), np.minimum(fitted, 1000), color=MUTED, linewidth=0.9, dashes=(3, 2))
    caption = (
        "128 KB for the port to the client, SACK, fragments of 256 KB. Dashed: the model of WREN 2009 for 200 ms without its "
        "wait between packets, S D / (D / C + R r), with D of 100 fragments and R = 3.5 S up to 10 senders, then 35."
    )
    return Drawing("rack", "The testbed of WREN 2009", caption, fig)


_ROWS = (("goodput", GOODPUT, "bps"), ("blocks with a timeout", "rounds_timed_out.mean", "%"), ("packets lost", "loss.max", "%"))


def _variants(results: Results) -> Table:
    """What TCP does about losses, at 16 servers."""
    columns = [Column("16 servers, 200 ms"), *(Column(words, True) for words, _, _ in _ROWS)]
    rows = []
    for point in results.experiment("variant").points["recovery"]:
        cells = [interval_cell(results.interval("variant", f"{point.label}/16", name), unit, 3) for _, name, unit in _ROWS]
        rows.append([Cell(point.label), *cells])
    return Table(columns, rows, "Means over the repetitions with 95 % intervals.")


def _others(results: Results) -> Table:
    """Minimum timeouts that differ, and flow control."""
    columns = [Column("16 senders"), *(Column(words, True) for words, _, _ in _ROWS), Column("bystander", True)]
    rows = []
    for experiment, axis in (("spread", "spread"), ("flow-control", "flow_control")):
        for point in results.experiment(experiment).points[axis]:
            cells = [interval_cell(results.interval(experiment, point.label, name), unit, 3) for _, name, unit in _ROWS]
            other = results.interval(experiment, point.label, "goodput_bps[bystander].sum")
            name = f"minimum timeouts: {point.label}" if experiment == "spread" else f"flow control: {point.label}"
            rows.append([Cell(name), *cells, interval_cell(other, "bps", 3) if other.n else Cell("")])
    return Table(columns, rows, "The bystander is one long flow from the first server to another machine.")


def sections(results: Results) -> Sequence[Section]:
    """The body of the report."""
    return [
        Section("Servers and timers", "The plots of the papers were not to be had.", [timers(results)]),
        Section("Memories and blocks", "", [buffers(results)], [_variants(results)]),
        Section("Delayed ACKs", "", [rack(results)], [_others(results)]),
    ]
