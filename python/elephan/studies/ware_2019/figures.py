"""What the study shows: its answer, the figures, and how far the model is from the simulations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elephan.experiment.study import Results
from elephan.report.page.page import Cell, Column, Section, Table, number_cell
from elephan.studies.ware_2019 import curves, grid, model, rows


def _errors(results: Results, network: str, flows: int | None = None) -> list[float]:
    """Returns how far the simulated shares are from the model's, in points of the link."""
    found = [
        curves.share(results, network, *cell) - model.bbr_share(grid.NETWORKS[network], cell[1], cell[0])
        for cell in grid.cells(network)
        if flows in (None, cell[0])
    ]
    return [one for one in found if not np.isnan(one)]


def _again(network: str, flows: int | None = None) -> list[float]:
    """Returns the same of the re-run with Linux hosts."""
    return [
        value - model.bbr_share(grid.NETWORKS[network], queue, number)
        for (name, number, queue), value in grid.rerun().items()
        if name == network and flows in (None, number)
    ]


def answer(results: Results) -> list[str]:
    """The answer, with its numbers."""
    found = []
    for network, name in rows.NAMES.items():
        if errors := _errors(results, network):
            share = f"{100 * float(np.median(np.abs(errors))):.0f}"
            found.append(f"{share} points ({name})")
    words = [f"The model's median error is {', '.join(found)}."] if found else []
    one = [curves.share(results, "cubic", 1, queue) for queue in (4, 16)]
    if not np.isnan(one).any():
        said = [model.bbr_share(grid.NETWORKS["cubic"], queue, 1) for queue in (4, 16)]
        words.append(
            f"One BBR flow has {100 * one[0]:.0f} % of 10 Mb/s beside one CUBIC flow in a queue of 4 bandwidth-delay products and "
            f"{100 * one[1]:.0f} % in one of 16; the model says {100 * said[0]:.0f} and {100 * said[1]:.0f} %."
        )
    return words


def _table(results: Results) -> Table:
    """Median errors by network and number of BBR flows."""
    columns = [Column("BBR flows"), *(Column(name, True) for name in rows.NAMES.values())]
    lines = []
    for flows in (None, *grid.FLOWS):
        cells = [Cell("all" if flows is None else str(flows))]
        for network in rows.NAMES:
            errors, again = _errors(results, network, flows), _again(network, flows)
            more = f"re-run with Linux: {100 * float(np.median(np.abs(again))):.1f}" if again else ""
            value = 100 * float(np.median(np.abs(errors))) if errors else float("nan")
            cells.append(number_cell(value, "1", text=f"{value:.1f}" if errors else "n/a", more=more))
        lines.append(cells)
    note = "Median distance between the model's share and the simulated one, in points of the link; below it that of the re-run."
    return Table(columns, lines, note)


def sections(results: Results) -> Sequence[Section]:
    """The body of the report."""
    return [
        Section("One BBR flow", "Figure 8 of the paper, with the equations as dashed lines.", [curves.one(results)]),
        Section("Several BBR flows", "", [curves.more(results)], [_table(results)]),
        Section("Over time", "Figure 1 of the paper.", [curves.time(results)]),
        Section("The number of loss-based flows", "The model has no place for it.", [curves.others(results)]),
        Section("BBR flows alone", "Section 4.2 of the paper.", [curves.alone(results)]),
    ]
