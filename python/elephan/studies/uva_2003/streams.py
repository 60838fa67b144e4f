"""Slides 7 and 9 to 17, and the future work: single streams over time, the modifications, the table."""

from __future__ import annotations

import math

import numpy as np

from elephan.base.quantity import show
from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.figure.dots import dot_columns, small_heading
from elephan.report.figure.flow_phases import ALPHA, PAINT, shade
from elephan.report.page.page import Cell, Column, Table, interval_cell, number_cell
from elephan.report.palette import look
from elephan.report.style import BLUE, INK, MUTED, Drawing, new_figure
from elephan.result.run import Run
from elephan.studies.uva_2003.layer2 import value
from elephan.table import phases
from elephan.table.rows import Array, column, part_of
from elephan.theory import closed as theory

GOODPUT = "goodput_bps.sum"
RING = 256
DELAYED_GROWTH = 1.5  # of the window in a round trip of slow start, an ACK for every second segment
PAYLOAD = 1448 / 1538  # of what is on the wire: packets of 1500 B with timestamps
CONTROLLER_PAINT = {"Reno": look("reno").color, "HSTCP": look("highspeed").color, "CUBIC": look("cubic").color}
SLIDE_15 = {
    "Lambda (622M)": (80, 540, 560),
    "Lambda (1.2G)": (120, 580, 800),
    "iGrid2002": (120, 580, 800),
    "Post iGrid2002 (HSTCP)": (730, 730, 900),
    "DataTag (HSTCP)": (950, 950, 950),
}
STREAMS = ("single", "multi", "UDP")


def series(run: Run, flow: str = "flow") -> tuple[Array, Array]:
    """Times in s and cumulative bytes of a traffic entry's flow."""
    samples = part_of(run, flow).flow_samples
    return column(samples, "time_ns") * 1e-9, column(samples, "delivered_bytes")


def rate(run: Run, step_s: float) -> tuple[Array, Array]:
    """Goodput in Mb/s in intervals of `step_s`, at their ends."""
    time, total = series(run)
    edges = np.arange(0, time[-1] + step_s / 2, step_s)
    at = np.interp(edges, np.append(0, time), np.append(0, total))
    return edges[1:], np.diff(at) * 8e-6 / step_s


def early(results: Results) -> Drawing:
    """Goodput over a minute after an early loss or stall, with its phases."""
    variants = [v.label for v in results.experiment("early").variants if results.runs("early", v.label)]
    rows = max(1, -(-len(variants) // 2))
    fig, axes = new_figure(rows, 2, height=0.6 + 2.0 * rows, sharex=True, sharey=True)
    for axis, variant in zip(axes, variants, strict=False):
        run = results.runs("early", variant)[0]
        time, goodput = rate(run, 0.5)
        shade(axis, run.phases())
        axis.plot(time, goodput, color=INK, linewidth=1.1)
        axis.set_xlim(0, 60)
        axis.set_ylim(0, 1000)
        small_heading(axis, f"{variant.replace('/', ', ')}: Mb/s")
    for axis in axes[-2:]:
        axis.set_xlabel("simulated time, s")
    handles = [axes[0].plot([], [], "s", color=paint, alpha=ALPHA, label=name)[0] for name, paint in PAINT.items()]
    fig.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=8.5)
    caption = (
        "Left and right: Reno and HSTCP. Above: 622.08 Mb/s behind 0.5 MB, where slow start loses; below: no slower "
        "link, a txqueuelen "
        "of 100, where the sender's own queue stalls it and nothing is lost. 100 ms of round trip."
    )
    return Drawing("early", "Phases of a stream after an early loss or stall", caption, fig)


def phase_table(results: Results) -> Table:
    """Slide 7 in figures: what `elephan.table.phases` finds in the streams above."""
    columns = [
        Column("Stream"),
        Column("startup", True),
        Column("goodput at its end", True),
        Column("of the minute in congestion avoidance", True),
        Column("until it has recovered", True),
    ]
    rows = []
    for variant in results.experiment("early").variants:
        runs = results.runs("early", variant.label)
        if not runs:
            continue
        found = runs[0].phases()
        last = found.recovery_s
        late = (
            "never"
            if math.isinf(last)
            else "n/a"
            if math.isnan(last)
            else f"{show(round(last), '1', 9)} s after the minute"
            if last
            else "it has"
        )
        if last and found.cuts > 1:
            late += f" (of its {found.cuts} cuts the last)"
        numbers = ((found.startup_s, "s"), (found.startup_end_bps, "bps"), (found.share(phases.AVOIDANCE), "%"))
        cells = [number_cell(number, unit, 2 if unit == "%" else 3) for number, unit in numbers]
        rows.append([Cell(variant.label.replace("/", ", ")), *cells, Cell(late)])
    note = (
        "Phases against what the path carries. Until it has recovered: a line through the last congestion avoidance, to "
        "0.95 of that; it has, where it was there again after its last cut."
    )
    return Table(columns, rows, note)


def modifications(results: Results) -> Drawing:
    """Goodput of a minute under each modification."""
    experiment = results.experiment("modifications")
    labels = [p.label for p in experiment.points["modification"]]
    columns = []
    for lam in experiment.points["lambda"]:
        intervals = [results.interval("modifications", f"{lam.label}/{label}", GOODPUT) for label in labels]
        columns.append((f"lambda of {lam.label}", "bps", [("goodput", intervals)]))
    caption = "Mean goodput of the first minute of one stream of Reno over 100 ms. TXQ is 100 packets unless said otherwise."
    return Drawing("modifications", "What the modifications bring", caption, dot_columns(labels, columns))


def long(results: Results) -> Drawing | None:
    """Slides 12 and 13 over time."""
    variants = [v.label for v in results.experiment("long").variants if results.runs("long", v.label)]
    if not variants:
        return None
    fig, axes = new_figure(len(variants), 1, height=0.5 + 1.7 * len(variants))
    for axis, variant in zip(axes, variants, strict=True):
        run = results.runs("long", variant)[0]
        span = run.duration_ns * 1e-9
        time, goodput = rate(run, max(1.0, span / 600))
        axis.plot(time, goodput, color=BLUE, linewidth=1.1)
        target = next(p.value for p in results.experiment("long").points["long"] if p.label == variant)
        d.reference(axis, target * 1e-6, "the slide", "right")
        axis.set_xlim(0, span)
        axis.set_ylim(0, 680)
        small_heading(axis, f"{variant}: Mb/s")
    axes[-1].set_xlabel("simulated time, s")
    caption = (
        "Simulated as long as the slides say, from the first packet on. Three minutes with pacing at the device, the hour without."
    )
    return Drawing("long", "Long transfers over 622.08 Mb/s", caption, fig)


def txqueuelen(results: Results) -> Drawing:
    """Slide 14: goodput against txqueuelen."""
    fig, (axes,) = new_figure(height=3.0)
    points = results.experiment("txqueuelen").points["txq"]
    known = [(p, value(results, "txqueuelen", p.label, GOODPUT)) for p in points]
    known = [(p, g) for p, g in known if not math.isnan(g)]
    rooms = np.geomspace(50, 10_000, 200)
    form = np.array([theory.stalled_goodput(room + RING, 0.1, 60, growth=DELAYED_GROWTH, per_round=0.5) for room in rooms]) * 1e-6
    form = np.minimum(form, 1e3 * PAYLOAD)
    axes.fill_between(rooms, form[:, 0], form[:, 1], color=MUTED, alpha=0.18, linewidth=0, label="after one stall, closed form")
    axes.plot([p.value for p, _ in known], [g * 1e-6 for _, g in known], marker="o", color=BLUE, clip_on=False, label="simulated")
    d.legend(axes, loc="lower right")
    axes.set_xscale("log")
    d.plain_ticks(axes, [p.value for p, _ in known], [p.label for p, _ in known])
    axes.set_ylim(0, 1000)
    axes.set_xlabel("txqueuelen, packets")
    d.reference(axes, 1e3 * PAYLOAD, "what the wire carries", "left")
    d.heading(axes, "mean goodput of the first minute, Mb/s")
    caption = "One Reno stream at 1 Gb/s over 100 ms, nothing slower than the interface, a ring of 256. Linux 2.4's default is 100."
    return Drawing("txqueuelen", "Throughput against txqueuelen", caption, fig)


def jumbo(results: Results) -> Drawing:
    """Slides 16 and 17: a gigabit over 196 ms, and after a second of congestion."""
    fig, (axes,) = new_figure(height=3.0)
    ends = []
    for variant in results.experiment("jumbo").variants:
        runs = results.runs("jumbo", variant.label)
        controller, congestion = (point.label for point in variant.points)
        if not runs or (controller, congestion) == ("HSTCP", "none"):
            continue
        time, goodput = rate(runs[0], 1.0)
        style = "-" if congestion == "none" else "--"
        axes.plot(time, goodput, color=CONTROLLER_PAINT[controller], linewidth=1.2, linestyle=style)
        ends.append(
            (
                float(goodput[-5:].mean()),
                f"{controller}" + ("" if congestion == "none" else ", congested"),
                CONTROLLER_PAINT[controller],
            )
        )
    axes.set_xlim(0, 120)
    axes.set_ylim(0, 1080)
    axes.set_xlabel("simulated time, s")
    d.reference(axes, 980, "980 Mb/s", "left")
    d.heading(axes, "goodput in windows of 1 s, Mb/s")
    d.end_labels(axes, ends)
    caption = (
        "Packets of 9000 B, 196 ms, 1 Gb/s at both ends, OC-192 between. Dashed: 300 Mb/s of UDP join the last link from 40 to "
        "41 s."
    )
    return Drawing("jumbo", "Near a gigabit with plain TCP", caption, fig)


def table(results: Results) -> Table:
    """Slide 15 beside what was simulated."""
    columns = [Column("Network"), *(Column(word, True) for word in ("Single", "Multi (16)", "UDP"))]
    rows = []
    for network, figures in SLIDE_15.items():
        cells = [Cell(network)]
        for streams, figure in zip(STREAMS, figures, strict=True):
            found = value(results, "table", f"{network}/{streams}", GOODPUT)
            text = "n/a" if math.isnan(found) else f"{found * 1e-6:.0f}"
            cells.append(number_cell(found, "bps", text=text, more=f"slide: {figure}"))
        rows.append(cells)
    note = "Mb/s of payload, mean of the first minute; below, what slide 15 says. The 16 streams start at once."
    return Table(columns, rows, note)


def receivers(results: Results) -> Table:
    """The table of slide 15 by what a packet costs the receiver."""
    costs = ("nothing", "10 us", "15 us")
    columns = [Column("receiver: " + ", ".join(costs)), *(Column(word, True) for word in ("Single", "Multi (16)", "UDP"))]
    rows = []
    for network in SLIDE_15:
        cells = [Cell(network)]
        for streams in STREAMS:
            variant = f"{network}/{streams}"
            where = [("table", variant) if cost == "10 us" else ("table-receiver", f"{cost}/{variant}") for cost in costs]
            found = [value(results, *one, GOODPUT) for one in where]
            text = " / ".join("n/a" if math.isnan(x) else f"{x * 1e-6:.0f}" for x in found)
            cells.append(Cell(text, numbers=dict(zip(costs, found, strict=True)), unit="bit/s"))
        rows.append(cells)
    return Table(
        columns, rows, "The same with receivers whose processor has nothing to do, 10 and 15 us a packet. Mb/s of payload."
    )


def starts(results: Results) -> Table:
    """The 16 streams of slide 15 by how far apart they start, over the first two lambdas."""
    experiment = results.experiment("starts")
    lambdas = [point.label for point in experiment.points["first_row"]]
    columns = [Column("16 streams that start"), *(Column(label, True) for label in lambdas)]
    at_once = [Cell("at once"), *(interval_cell(results.interval("table", f"{one}/multi", GOODPUT), "bps", 3) for one in lambdas)]
    spread = [
        [
            Cell(point.label),
            *(interval_cell(results.interval("starts", f"{one}/{point.label}", GOODPUT), "bps", 3) for one in lambdas),
        ]
        for point in experiment.points["starts"]
        if point.label != "UDP"
    ]
    return Table(
        columns, [at_once, *spread], "Goodput of the first minute. What opens within a small part of a round trip is one burst."
    )


def future(results: Results) -> list[Drawing]:
    """10 Gb/s interfaces, and a lambda against a routed path."""
    wide, routed = results.experiment("ten-gigabit"), results.experiment("routed")
    labels = [f"{m.label}, {controller.label}" for m in wide.points["wan"] for controller in wide.points["today"]]
    whole = [
        results.interval(
            "ten-gigabit", label.replace(", ", "/") if "paced" not in label else label.replace("paced, ", "paced/"), GOODPUT
        )
        for label in labels
    ]
    first = Drawing(
        "ten-gigabit",
        "10 Gb/s interfaces before OC-192, 196 ms, jumbo frames",
        f"Mean goodput, {results.measured('ten-gigabit')}, with so much memory before the 9.584 Gb/s; paced: by the device.",
        dot_columns(labels, [("goodput", "bps", [("goodput", whole)])]),
    )
    controllers = [controller.label for controller in routed.points["today"]]
    groups = [
        (
            kind.label,
            [results.interval("routed", f"{kind.label}/{controller}", "goodput_bps[flow].sum") for controller in controllers],
        )
        for kind in routed.points["traffic"]
    ]
    second = Drawing(
        "routed",
        "A lambda of its own against a routed path",
        f"Goodput of one stream, {results.measured('routed')}, over 622.08 Mb/s and 100 ms. Lambda: alone, 0.5 MB of memory. "
        "Routed: half a bandwidth-delay product "
        "of buffer, shared with 120 Mb/s of self-similar UDP and 60 Mb/s of short transfers. " + _of_runs(routed.repetitions),
        dot_columns(controllers, [("goodput of the stream", "bps", groups)]),
    )
    return [first, _fast_nic(results), second]


def _of_runs(count: int) -> str:
    return "One run each." if count == 1 else f"Means of {count} runs with 95 % intervals."


def _fast_nic(results: Results) -> Drawing:
    """The same lambda behind interfaces of 1 and 10 Gb/s."""
    fast = results.experiment("fast-nic")
    controllers = [controller.label for controller in fast.points["controller"]]
    groups = [
        (nic.label, [results.interval("fast-nic", f"{nic.label}/{controller}", GOODPUT) for controller in controllers])
        for nic in fast.points["nic"]
    ]
    return Drawing(
        "fast-nic",
        "A faster interface before the same lambda",
        "Mean goodput of the first minute over 622.08 Mb/s and 100 ms, by the rate of the sender's interface.",
        dot_columns(controllers, [("goodput", "bps", groups)]),
    )
