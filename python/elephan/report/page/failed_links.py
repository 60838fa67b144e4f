"""The part of a sweep's report that says which link hurts most."""

from __future__ import annotations

import math
from collections.abc import Sequence

from elephan.base.quantity import counted, show
from elephan.experiment.harm import Harm, harms
from elephan.experiment.sweep import Sweep
from elephan.report.figure import failed_figures
from elephan.report.page.page import Cell, Column, Section, Table, number_cell
from elephan.report.words.view import arrow

HEADS = ("link", "goodput lost", "share", "demand unserved", "busiest port", "99th percentile")


def usual(found: Sequence[Harm]) -> list[tuple[str, list[tuple[float, str]]]]:
    """Returns the rows of the variants without a failure: a name, and the numbers with their units."""
    rows = {one.rest: (one.usual_busiest, one.usual_ns) for one in found}
    nothing = [(math.nan, "")] * 3
    return [
        (", ".join(filter(None, ("no failure", rest))), [*nothing, (busiest, "%"), (slowest, "ns")])
        for rest, (busiest, slowest) in rows.items()
    ]


def cells(one: Harm) -> list[tuple[float, str]]:
    """Returns the numbers of a row with their units, in the order of `HEADS`."""
    return [
        (one.lost_bps, "bps"),
        (one.lost_share, "%"),
        (one.unserved_bps, "bps"),
        (one.busiest, "%"),
        (one.slowest_ns, "ns"),
    ]


def text(value: float, unit: str) -> str:
    """Returns a number as people read it; nothing of what is not known."""
    return "" if math.isnan(value) else show(value, unit, 3)


def answer(sweep: Sweep) -> list[str]:
    """Returns which link hurts most, and which links cut nodes off."""
    found = harms(sweep)
    if not found:
        return []
    worst = found[0]
    said = []
    if worst.lost_share > 0:
        lost = f"{show(worst.lost_share, '%', 3)} of the goodput ({show(worst.lost_bps, 'bps', 3)})"
        said.append(f"{failed_figures.name_of(worst)} hurts most: without it {lost} is lost.")
    top = max(found, key=lambda one: -math.inf if math.isnan(one.busiest) else one.busiest)
    if not math.isnan(top.busiest):
        which = "with the same failure" if top is worst else f"without {failed_figures.name_of(top)}"
        said.append(f"The busiest port is {show(top.busiest, '%', 3)} busy at most, {which}.")
    if cut := {one.link: one for one in found if one.cut}:
        most = max(cut.values(), key=lambda one: one.cut)
        whose = f"{counted(most.cut, 'entry', 'entries')} of traffic without {arrow(most.link)}"
        said.append(f"{counted(len(cut), 'failure')} of {len({one.link for one in found})} cut traffic off: up to {whose}.")
    return said


def sections(sweep: Sweep) -> list[Section]:
    """Returns the figures and the table of failures."""
    found = harms(sweep)
    if not found:
        return []
    links = [tuple(link.split("->")) for link in sweep.facts["failed"] if "->" in link]
    place = failed_figures.where(found, str(sweep.facts.get("source", {}).get("text", "")), [(a, b) for a, b in links])
    drawings = [failed_figures.rows(found), *([place] if place else [])]
    named = [*usual(found), *((failed_figures.name_of(one), cells(one)) for one in found)]
    rows = [[Cell(name), *(_cell(*value) for value in values)] for name, values in named]
    table = Table([Column(head, i > 0) for i, head in enumerate(HEADS)], rows, NOTE, "failures")
    look = str(sweep.facts.get("look_for", ""))
    return [Section("", look, drawings[:1], look=bool(look)), Section("Failures", drawings=drawings[1:], tables=[table])]


NOTE = (
    "The worst first: by the share of goodput that is lost, in steps of 0.5 %, then by the busiest port. "
    "Demand unserved is the load of the traffic that no path carries any more."
)


def _cell(value: float, unit: str) -> Cell:
    return Cell("") if math.isnan(value) else number_cell(value, unit)


def table_rows(found: Sequence[Harm], most: int) -> list[list[str]]:
    """Returns the rows of a table for a terminal: those without a failure, then the worst."""
    named = [*usual(found), *((failed_figures.name_of(one), cells(one)) for one in found[:most])]
    return [[name, *(text(*value) for value in values)] for name, values in named]
