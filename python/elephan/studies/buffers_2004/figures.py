"""What the study shows: its answer, the table of the paper beside this one, and what was assumed."""

from __future__ import annotations

from collections.abc import Sequence

from elephan.experiment.study import Results
from elephan.report.page.page import Cell, Column, Section, Table, interval_cell
from elephan.studies.buffers_2004 import curves, rows, theory


def answer(results: Results) -> list[str]:
    """Returns the answer, with its numbers."""
    sentences = []
    for row in rows.TABLE:
        found = results.interval("table", f"Reno/{row.label}", "utilisation.max")
        if found.n and row.packets == round(theory.square_root_rule(row.flows, rows.PATH)):
            sentences.append(
                f"{row.flows} flows behind {row.packets} packets use {100 * found.mean:.1f} % of the link "
                f"(ns-2 {row.simulated:g} %, router {row.router:g} %)."
            )
    last = f"The path holds {rows.PATH} packets; means of {results.experiment('table').repetitions} runs."
    return [*sentences, last]


def _table(results: Results) -> Table:
    titles = ("flows", "buffer, packets", "Reno", "Linux 2.4", "ns-2, %", "router, %", "Model, %", "equation 6, %")
    columns = [Column(title, True) for title in titles]
    found = []
    for row in rows.TABLE:
        bound = 100 * theory.utilisation(row.flows, row.packets, rows.PATH)
        here = [interval_cell(results.interval("table", f"{hosts}/{row.label}", "utilisation.max"), "%", 4) for hosts in rows.HOSTS]
        texts = (row.simulated, row.router, row.model)
        found.append(
            [Cell(str(row.flows)), Cell(str(row.packets)), *here, *(Cell(f"{one:.1f}") for one in texts), Cell(f"{bound:.1f}")]
        )
    return Table(columns, found, "Utilisation of the link; ns-2, router and Model as printed in figure 15.")


_ASSUMED = (("utilisation", "utilisation.max", "%"), ("packets lost", "loss.max", "%"), ("timeouts", "timeouts.sum", "1"))


def _assumed(results: Results) -> Table:
    one = results.experiment("assumed")
    variants = [(first.label, second.label) for first in one.points["assumed"] for second in one.points["assumed_row"]]
    columns = [Column("assumed"), Column("row"), *(Column(title, True) for title, _, _ in _ASSUMED)]
    body = [
        [
            Cell(first),
            Cell(second),
            *(interval_cell(results.interval("assumed", f"{first}/{second}", name), unit, 3) for _, name, unit in _ASSUMED),
        ]
        for first, second in variants
    ]
    return Table(columns, body, "One assumption at a time, at the two rows of the table with the least buffer.")


def sections(results: Results) -> Sequence[Section]:
    """Returns the body of the report."""
    return [
        Section("Long flows", "Figure 15 of the paper.", [curves.table(results)], [_table(results)]),
        Section("In step or not", "Sections 2 and 3 of the paper.", [curves.single(results), curves.step(results)]),
        Section("Short flows", "Sections 4 and 5.1 of the paper.", [curves.short(results), curves.mix(results)]),
        Section("How far this depends on what was assumed", "The paper does not say how ns-2 was set.", [], [_assumed(results)]),
    ]
