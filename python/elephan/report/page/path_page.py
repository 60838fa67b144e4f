"""The report of a path: the answer, the times, what is closed form and what simulated, the settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from elephan.base.quantity import counted, show
from elephan.base.stats import Interval
from elephan.experiment.claims import interval_text
from elephan.experiment.path.advice import Advice
from elephan.experiment.path.answer import NEAR, Answer
from elephan.experiment.path.forms import Form
from elephan.experiment.path.row import Row
from elephan.experiment.path.settings import as_text, streams_needed
from elephan.experiment.path.verdict import MEANINGS, WIRE
from elephan.report.figure import path_figures as figures
from elephan.report.page.notebook import answered
from elephan.report.page.page import Cell, Column, Page, Section, Table, interval_cell, number_cell, of_failures, parameter_groups
from elephan.report.page.run_page import facts
from elephan.report.words.unheard import unheard
from elephan.theory import closed as theory

FRAGILE = 1.1  # times its time a row takes with one packet more lost from which on the answer says so


def value_text(form: Form) -> str:
    """A closed form as a person writes it."""
    if form.unit in ("segments", "packets"):
        return counted(round(form.value), form.unit.removesuffix("s"))
    return show(form.value, form.unit, 2 if form.unit == "1" else 4)


def how(row: Row) -> str:
    """Whether a row is simulated, and how it is carried on."""
    runs = counted(row.time_s.n, "run")
    if row.time_s.n > 1 and not row.is_estimate and math.isnan(row.time_s.low):
        runs += ", none of which lost a packet"
    if not row.method:
        return f"simulated, {runs}"
    return f"{show(row.simulated_share, '%', 2)} simulated, {runs}; then {row.method}"


def time_text(row: Row, digits: int = 3) -> str:
    """How long a row takes, with its interval or the range of an estimate."""
    return _bounds_text(row, row.time_s, "s", digits)


def goodput_text(row: Row, digits: int = 3) -> str:
    """How fast a row is, likewise."""
    return _bounds_text(row, row.goodput_bps, "bps", digits)


def _bounds_text(row: Row, value: Interval, unit: str, digits: int) -> str:
    if not row.is_estimate:
        return interval_text(value, unit, digits)
    mean = f"about {show(value.mean, unit, 2)}" if row.is_rough else show(value.mean, unit, digits)
    low, high = (show(bound, unit, digits) for bound in (value.low, value.high))
    return mean if low == high else f"{mean} ({low} to {high})"


def answer_lines(answer: Answer) -> list[str]:
    """The answer in a few sentences."""
    best, rows = answer.best, answer.known
    wire = next(form for form in answer.forms if form.name == "time_wire")
    rate = show(best.goodput_bps.mean, "bps", 2 if best.is_rough else 3)
    who = f"{best.controller} and {counted(best.streams, 'stream')}"
    lines = [
        f"{show(answer.question.size_bytes, 'bytes')} take {time_text(best)} with {who}, {rate}; "
        f"a wire that is always full would need {show(wire.value, 's')}."
    ]
    worst = max(rows, key=lambda row: row.time_s.mean)
    if worst.time_s.mean > NEAR * best.time_s.mean:
        lines.append(f"The slowest, {worst.name}, takes {time_text(worst)}: {MEANINGS[worst.limit]} (limit: {worst.limit}).")
    lines += [_fragile(row) for row in answer.rows if row.one_loss_s > FRAGILE * row.longest_s]
    if best.limit != WIRE:
        lines.append(f"What limits the best: {best.limit}; {MEANINGS[best.limit]}.")
    if area := _forbidden(answer):
        lines.append(area)
    lines += answer.advice.words
    wanted = next(form for form in answer.forms if form.name == "bdp")
    streams = answer.advice.after.streams if answer.advice.after else best.streams
    needed = streams_needed(answer.question, streams)
    limit = "" if needed == streams else f"; a window of TCP ends at 1 GiB, so that takes {counted(needed, 'stream')}"
    lines.append(f"To fill the path {value_text(wanted)} must be in flight{limit}.")
    return lines


def _fragile(row: Row) -> str:
    return f"If the path loses one packet more, {row.name} takes up to {show(row.one_loss_s, 's')}."


def _forbidden(answer: Answer) -> str:
    """Whether the path lies in the forbidden area."""
    question = answer.question
    area = theory.forbidden_area(question.device_bps, question.buffer_bytes, question.rtt_s)
    if area is None or not area[0] < question.rate_bps < area[1]:
        return ""
    need = theory.memory_needed(question.device_bps, question.rate_bps, question.rtt_s)
    where = f"{show(area[0], 'bps')} to {show(area[1], 'bps')}"
    return (
        f"The path lies in the forbidden area ({where}): of a window sent at {show(question.device_bps, 'bps')} "
        f"{show(need, 'bytes')} would have to wait, and there is room for {show(question.buffer_bytes, 'bytes')}."
    )


def _cell(row: Row, value: Interval, unit: str) -> Cell:
    """A mean and its bounds, of a rough estimate to two digits."""
    cell = interval_cell(value, unit, 4)
    return replace(cell, text=f"about {show(value.mean, unit, 2)}") if row.is_rough else cell


def results_table(rows: Sequence[Row]) -> Table:
    """A row for each congestion control and number of streams."""
    lines = [
        [
            Cell(row.controller),
            number_cell(row.streams),
            *(_cell(row, value, unit) for value, unit in ((row.time_s, "s"), (row.goodput_bps, "bps"))),
            Cell(row.limit),
            Cell(how(row)),
        ]
        for row in rows
    ]
    heads = ("congestion control", "streams", "time", "goodput", "limit", "how it is known")
    note = "Below a mean is its 95 % t interval where all was simulated, else the range that the whole simulation lies in: the "
    note += "rest follows by the rule that is named. Where nothing is random one run says it all. --whole simulates everything."
    return Table([Column(head, head in ("streams", "time", "goodput")) for head in heads], lines, note, "results")


def forms_table(answer: Answer) -> Table:
    """What needs no simulation."""
    values = [number_cell(form.value, form.unit, text=value_text(form)) for form in answer.forms]
    rows = [[Cell(form.about), value, Cell(form.equation)] for form, value in zip(answer.forms, values, strict=True)]
    return Table([Column("closed form"), Column("value", True), Column("equation")], rows)


def limits_table(answer: Answer) -> Table:
    """The limits that occur, in words."""
    found = dict.fromkeys(row.limit for row in answer.rows)
    return Table([Column("limit"), Column("meaning")], [[Cell(limit), Cell(MEANINGS[limit])] for limit in found], title="limits")


def settings_section(advice: Advice) -> Section:
    """What to set, what was simulated of it, and what was not."""
    tables = []
    if advice.now is not None:
        tried = [("Linux as it is now", advice.now), ("after the settings", advice.after)]
        named = [(words, row) for words, row in tried if row is not None]
        heads = [Column(""), *results_table([]).columns]
        rows = [[Cell(words), *results_table([row]).rows[0]] for words, row in named]
        tables.append(Table(heads, rows, title="tried settings"))
    if advice.unsimulated:
        lines = [[Cell(line.text), Cell(line.why)] for line in advice.unsimulated]
        tables.append(Table([Column("not simulated, worth a look"), Column("why")], lines, title="settings not simulated"))
    return Section("Settings of Linux hosts", tables=tables, listing="\n".join(as_text(advice.lines)))


def path_warnings(answer: Answer) -> list[str]:
    """What a reader of the answer must know before he uses it."""
    deaf = unheard([controller.kind for controller in answer.question.controllers], answer.facts["scenario"])
    return [*of_failures(answer.failures, answer.facts), *([deaf] if deaf else [])]


def page(answer: Answer) -> Page:
    """The page of a path."""
    manifest, question = answer.manifest(), answer.question
    look = "how far the points are from the dashed line, and whether more streams or another congestion control bring them nearer."
    sections = [
        Section("", look, [figures.times(answer)], look=True),
        Section("Results", tables=[results_table(answer.rows), limits_table(answer)]),
        Section("Over time", drawings=[figures.progress(answer)]),
        settings_section(answer.advice),
        Section("Closed forms", tables=[forms_table(answer)], drawings=figures.closed(answer)),
    ]
    assumed = f"Assumed: {'; '.join(question.assumed)}." if question.assumed else ""
    return Page(
        kicker="elephan · path",
        title=f"{show(question.rate_bps, 'bps')} over {show(question.rtt_s, 's')}",
        question=question.text,
        answer=answer_lines(answer),
        fine=f"{counted(len(answer.curves), 'run')}, the same seeds for every congestion control. {assumed}",
        warnings=path_warnings(answer),
        version=str(manifest["elephan"]),
        command=str(manifest["command"]),
        sections=sections,
        parameters=parameter_groups(answer.facts["provenance"]),
        facts=facts(manifest),
    )


def notebook(answer: Answer) -> str:
    """The answer about a path in a notebook."""
    drawings, tables = [figures.times(answer)], [results_table(answer.rows)]
    return answered(answer.question.text, answer_lines(answer), path_warnings(answer), drawings, tables)
