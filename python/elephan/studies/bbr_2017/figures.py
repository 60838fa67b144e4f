"""What the study shows: its answer, and the paper's figures again."""

from __future__ import annotations

import math
from collections.abc import Sequence

from elephan.base.quantity import show
from elephan.experiment.study import Results
from elephan.report.page.page import Cell, Column, Section, Table, interval_cell
from elephan.studies.bbr_2017 import curves, points


def _said(results: Results, experiment: str, variant: str, statistic: str, unit: str) -> str:
    found = results.interval(experiment, variant, statistic)
    return "" if not found.n or math.isnan(found.mean) else show(found.mean, unit, 3)


def answer(results: Results) -> list[str]:
    """The answer, with its numbers."""
    sentences = []
    marks = [f"{control}/{loss}" for control in ("BBR", "CUBIC") for loss in ("0.1 %", "5 %")]
    found = [_said(results, "loss", mark, "goodput_bps.sum", "bps") for mark in marks]
    if all(found):
        sentences.append(
            f"Of 100 Mb/s over 100 ms BBR keeps {found[0]} at 0.1 % random loss and {found[1]} at 5 %; CUBIC keeps {found[2]} and "
            f"{found[3]}."
        )
    waits = [_said(results, "steady", one, "queue_bytes.p50", "bytes") for one in ("BBR", "CUBIC")]
    if all(waits):
        sentences.append(f"Alone on 10 Mb/s and 40 ms BBR leaves {waits[0]} in the queue, half of the time, and CUBIC {waits[1]}.")
    equal = _said(results, "flows", results.experiment("flows").variants[0].label, "goodput_bps.jain", "1")
    if equal:
        sentences.append(f"Five BBR flows that begin 2 s apart have equal shares after 40 s: Jain's index is {equal}.")
    return sentences


_ROWS = (
    ("a window of 8 MB over 200 ms", "window", "8 MB, BBR", "goodput_bps.sum", "bps"),
    ("BBR at the loss that leaves CUBIC 15 Mb/s", "window", "raised, BBR", "goodput_bps.sum", "bps"),
    ("CUBIC there", "window", "raised, CUBIC", "goodput_bps.sum", "bps"),
    ("behind a policer, with detection", "policer", "detects", "goodput_bps.sum", "bps"),
    ("lost there", "policer", "detects", "loss.max", "%"),
    ("behind a policer, without detection", "policer", "does not", "goodput_bps.sum", "bps"),
    ("lost there", "policer", "does not", "loss.max", "%"),
    ("ACKs a round trip late, window gain 1", "acks", "gain 1", "goodput_bps.sum", "bps"),
    ("ACKs a round trip late, window gain 2", "acks", "gain 2", "goodput_bps.sum", "bps"),
)


def _others(results: Results) -> Table:
    """What has no figure in the paper."""
    rows = [
        [Cell(title), interval_cell(results.interval(experiment, variant, statistic), unit, 3)]
        for title, experiment, variant, statistic, unit in _ROWS
        if variant in [one.label for one in results.experiment(experiment).variants]
    ]
    return Table([Column("what"), Column("result", True)], rows)


def _windows() -> Table:
    """Loss rates at which CUBIC fills 100 ms, and what the paper names for it."""
    rows = []
    for label, bps in (("100 Mb/s", 100e6), ("1 Gb/s", 1e9), ("10 Gb/s", 10e9)):
        window = bps * 0.1 / 8 / 1500
        square, growth = 1 / points.inverse_square(window), 1 / points.cubic_loss(window, 0.1)
        rows.append([Cell(label), Cell(f"{square:.3g}"), Cell(f"{growth:.3g}")])
    columns = [Column("rate over 100 ms"), Column("packets a loss: square of the product", True), Column("by CUBIC's growth", True)]
    note = "The paper names one loss in 30 million packets for 10 Gb/s: that is CUBIC's own growth, not the square of the product."
    return Table(columns, rows, note)


def sections(results: Results) -> Sequence[Section]:
    """The body of the report."""
    step, start, flows, loss, mobile = curves.drawings(results)
    return [
        Section("A path that changes", "Figure 5 of the paper.", [step]),
        Section("The start", "Figures 6 and 7.", [start]),
        Section("Several flows", "Figure 8.", [flows]),
        Section("Random loss", "Figure 10.", [loss], [_windows()]),
        Section("Large buffers", "Figure 12.", [mobile]),
        Section("What the text says besides", "Means over the repetitions with 95 % intervals.", tables=[_others(results)]),
    ]
