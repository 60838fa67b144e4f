"""Congestion spreading in words: a line for each root, and the table of victims."""

from __future__ import annotations

import math

from elephan.base.quantity import counted, show
from elephan.report.page.page import Cell, Column, Table, number_cell
from elephan.report.words.view import arrow
from elephan.result.run import Run
from elephan.table.spreading import Tree, Victim, spreading

ROOTS_MAX = 3
VICTIMS_NAMED_MAX = 3
ROWS_MAX = 20


def spread_lines(run: Run) -> list[str]:
    """A line for each root, those with the most paused time first."""
    trees = spreading(run)
    lines = [_line(tree) for tree in trees[:ROOTS_MAX]]
    if len(trees) > ROOTS_MAX:
        rest = sum(tree.paused_ns for tree in trees[ROOTS_MAX:])
        lines.append(f"{counted(len(trees) - ROOTS_MAX, 'more root')} of congestion paused ports for {show(rest, 'ns')} in all.")
    return lines


def _line(tree: Tree) -> str:
    ports = counted(len(tree.ports), "port")
    deep = "" if tree.depth < 2 else f", up to {tree.depth} in a row"
    times = "" if tree.episodes == 1 else f" in {tree.episodes} episodes"
    text = f"Congestion at the root {arrow(tree.root)} paused {ports} for {show(tree.paused_ns, 'ns')} in all{times}{deep}."
    return f"{text} {_victims(tree.victims)}"


def _victims(victims: tuple[Victim, ...]) -> str:
    if not victims:
        return "It held only flows that go there: no victims."
    named = [f"{v.name} (held {show(v.held_ns / v.packets, 'ns')} a packet{_rates(v)})" for v in victims[:VICTIMS_NAMED_MAX]]
    rest = len(victims) - len(named)
    return f"It held flows that do not go there, the victims: {', '.join(named)}{f' and {rest} more' if rest else ''}."


def _rates(victim: Victim) -> str:
    paused, otherwise = victim.goodput_paused_bps, victim.goodput_otherwise_bps
    if math.isnan(paused) or math.isnan(otherwise):
        return ""
    # What else happened in the run may weigh more than the pauses.
    words = "instead of" if paused < otherwise else "while held, otherwise"
    return f", {show(paused, 'bps')} {words} {show(otherwise, 'bps')}"


def victim_table(run: Run) -> Table | None:
    """Who was held without going to the root; None if nobody was."""
    found = [(tree.root, victim) for tree in spreading(run) for victim in tree.victims]
    if not found:
        return None
    heads = ("victim", "path", "root", "held by", "packets", "held each", "longest", "goodput while paused", "otherwise")
    rows = []
    for root, v in found[:ROWS_MAX]:
        who = [v.name, f"{v.source} → {v.destination}", arrow(root), ", ".join(arrow(port) for port in v.ports)]
        cells = [number_cell(v.packets, "1", 9), number_cell(v.held_ns / v.packets, "ns"), number_cell(v.longest_ns, "ns")]
        cells += [number_cell(rate, "bps") for rate in (v.goodput_paused_bps, v.goodput_otherwise_bps)]
        rows.append([*map(Cell, who), *cells])
    note = "Flows whose packets waited at ports that the root's congestion had paused, though none of them went through the root."
    if len(found) > ROWS_MAX:
        note += f" The first {ROWS_MAX} of {len(found)}."
    return Table([Column(head, i >= 4) for i, head in enumerate(heads)], rows, note, "victims")
