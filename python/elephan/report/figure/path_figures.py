"""Figures of a path: times to transfer, goodput over time, response functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import scale_for, show
from elephan.base.stats import NOTHING
from elephan.experiment.path.forms import Bounds, responses_bps
from elephan.experiment.path.question import Question
from elephan.report.figure import draw as d
from elephan.report.figure.dots import mark, reach, row_height, rows_of, small_heading
from elephan.report.palette import look, looks
from elephan.report.style import MUTED, Drawing, color, new_figure
from elephan.theory import closed as theory

if TYPE_CHECKING:
    from elephan.experiment.path.answer import Answer

# The slowest takes so many times as long as the fastest: on a linear axis the fast ones lie on one line.
LOG_FROM = 20


def times(answer: Answer) -> Drawing:
    """Time to transfer for each congestion control and number of streams."""
    rows = answer.rows
    names = [f"{row.controller}, {row.streams} stream{'s' if row.streams > 1 else ''}" for row in rows]
    rough = [row.time_s if row.is_estimate else NOTHING for row in rows]
    sure = [NOTHING if row.is_estimate else row.time_s for row in rows]
    intervals = [one if one.n else other for one, other in zip(sure, rough, strict=True)]
    wire = next(form.value for form in answer.forms if form.name == "time_wire")
    top = max(reach([intervals]), wire)
    factor, unit = scale_for(top, "s")
    figure, (axes,) = new_figure(height=row_height(len(rows)))
    rows_of(axes, names)
    axes.axvline(wire * factor, color=MUTED, linewidth=0.9, dashes=(4, 3))
    least = min(wire, *(row.time_s.mean for row in rows))
    if top > LOG_FROM * least:
        # Room for the words beside the last point.
        d.log_axis(axes, "x", 0.8 * least * factor, top * factor * (top / least) ** 0.25)
        axes.grid(axis="x")
    else:
        axes.set_xlim(0, top * factor * 1.25)
    paints = [look(row.controller).color for row in rows]
    mark(axes, sure, factor, paints)
    mark(axes, rough, factor, paints, hollow=True)
    for index, (row, interval) in enumerate(zip(rows, intervals, strict=True)):
        place = interval.high if math.isfinite(interval.high) else interval.mean
        axes.annotate(
            row.limit,
            (min(max(place, wire), 1.02 * top) * factor, index),
            xytext=(9, 0),
            textcoords="offset points",
            ha="left",
            va="center",
            fontsize=8.5,
            color=MUTED,
        )
    small_heading(axes, f"time for {show(answer.question.size_bytes, 'bytes')}", unit)
    caption = (
        "Beside each point what limits it. Dashed: the wire full all the time. Lines are 95 % intervals where something is random."
    )
    if any(one.n for one in rough):
        caption += " Hollow: a part is estimated, and the line is the range of the estimate."
    return Drawing("times", "Time to transfer", caption, figure)


def progress(answer: Answer) -> Drawing:
    """What has arrived when, simulated and carried on, a small picture for each number of streams."""
    counts = list(answer.question.streams)
    controllers = [controller.label for controller in answer.question.controllers]
    columns = min(len(counts), 3)
    rows = -(-len(counts) // columns)
    figure, axes = new_figure(rows, columns, 0.6 + 2.0 * rows, sharey=True)
    for axis in axes[len(counts) :]:
        axis.set_visible(False)
    end = max(float(one["time_s"][-1]) for one in answer.curves)
    top = max(float(one["delivered_bytes"][-1]) for one in answer.curves)
    factor, unit = scale_for(top, "bytes")
    for axis, count in zip(axes, counts, strict=False):
        wire = np.array([0.0, top * 1.1 * 8 / answer.limits.wire_bps])
        axis.plot(wire, wire * answer.limits.wire_bps / 8 * factor, color=MUTED, linewidth=0.8, dashes=(4, 3))
        for controller, (paint, stroke) in looks(controllers).items():
            one = next((c for c in answer.curves if (c["controller"], c["streams"]) == (controller, count)), None)
            if one is not None:
                delivered = np.asarray(one["delivered_bytes"], dtype=float)
                axis.plot(one["time_s"], delivered * factor, color=paint, linewidth=1.4, linestyle=stroke, label=controller)
                last = int(np.count_nonzero(one["simulated"])) - 1
                if last + 1 < delivered.size:
                    axis.plot(one["time_s"][last], delivered[last] * factor, "o", color=paint, markersize=4)
        axis.set_xlim(0, end)
        axis.set_ylim(0, top * factor * 1.08)
        axis.set_xlabel("time, s")
        small_heading(axis, f"arrived with {count} stream{'s' if count > 1 else ''}", unit)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(6, len(labels)), frameon=False, fontsize=8.5)
    caption = (
        "All streams together, of the first repetition: simulated up to the dot, then carried on by rounds; a line that ends early "
        "was carried on by its mean rate. Dashed: a wire that is always full."
    )
    return Drawing("progress", "What has arrived", caption, figure)


def responses(question: Question, limits: Bounds) -> Drawing | None:
    """Goodput of one stream against the loss of the path, by the response functions; None without any."""
    loss = np.geomspace(1e-10, 1e-2, 160)
    found = {controller.label: responses_bps(controller, loss, limits) for controller in question.controllers}
    lines = {name: np.minimum(rates, limits.wire_bps) for name, rates in found.items() if rates is not None}
    if not lines:
        return None
    figure, (axes,) = new_figure(height=2.9)
    factor, unit = scale_for(limits.wire_bps, "bps")
    for name, (paint, stroke) in looks(lines).items():
        axes.plot(loss, lines[name] * factor, color=paint, linestyle=stroke, label=name)
    axes.set_xscale("log")
    axes.set_xlim(loss[0], loss[-1])
    d.log_axis(axes, "y", min(float(rates.min()) for rates in lines.values()) * factor / 1.3, limits.wire_bps * factor * 1.3)
    if question.loss >= loss[0]:
        axes.axvline(question.loss, color=MUTED, linewidth=0.9, dashes=(4, 3))
    axes.set_xlabel("share of the packets that the path loses")
    small_heading(axes, "goodput of one stream", unit)
    d.legend(axes, loc="lower left")
    caption = "Closed form: response functions, cut off at the wire. Dashed: the loss that was given." if question.loss else (
        "Closed form: response functions, cut off at the wire. How little loss it takes."
    )  # fmt: skip
    return Drawing("responses", "What loss leaves", caption, figure)


def forbidden(question: Question, _limits: Bounds) -> Drawing | None:
    """Buffer needed against the rate of the path, and the rates that the buffer forbids; None if the sender is no faster."""
    fast, rtt, buffer = question.device_bps, question.rtt_s, float(question.buffer_bytes)
    if fast <= question.rate_bps:
        return None
    rates = np.linspace(0.0, fast, 201)[1:]
    whole = (fast - rates) / fast * rates * rtt / 8  # bytes
    clocked = np.maximum(0.0, 1 - rates / np.minimum(fast, 2 * rates)) * rates * rtt / 8
    top = max(float(whole.max()), min(buffer, 2 * float(whole.max())))
    (x, x_unit), (y, y_unit) = scale_for(fast, "bps"), scale_for(top, "bytes")
    figure, (axes,) = new_figure(height=2.9)
    area = theory.forbidden_area(fast, buffer, rtt)
    if area is not None:
        axes.axvspan(area[0] * x, area[1] * x, color=color(1), alpha=0.12, linewidth=0)
    axes.plot(rates * x, whole * y, color=color(0), label="a window at once")
    axes.plot(rates * x, clocked * y, color=color(0), linewidth=1.0, dashes=(4, 3), label="clocked by ACKs in slow start")
    axes.plot(question.rate_bps * x, theory.memory_needed(fast, question.rate_bps, rtt) * y, "o", color=color(0), markersize=6)
    axes.set_xlim(0, fast * x)
    axes.set_ylim(0, top * y * 1.15)
    if buffer <= top:
        d.reference(axes, buffer * y, f"buffer {show(buffer, 'bytes')}", "right")
    axes.set_xlabel(f"rate of the path, {x_unit}")
    small_heading(axes, "buffer for no loss", y_unit)
    d.legend(axes, loc="upper left")
    said = "Shaded: the forbidden area, rates at which this buffer loses part of a full window. " if area else ""
    form = f"Closed form: (f - s) / f s RTT for a sender at f = {show(fast, 'bps')}."
    caption = f"{said}{form} The dot is this path; paced at its rate it needs next to nothing."
    return Drawing("forbidden", "The forbidden area", caption, figure)


def closed(answer: Answer) -> list[Drawing]:
    """Draws the closed forms that there are."""
    found = [draw(answer.question, answer.limits) for draw in (forbidden, responses)]
    return [drawing for drawing in found if drawing is not None]
