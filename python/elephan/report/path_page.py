"""The report of a path: the answer, the times, what is closed form and what simulated, the settings."""

from __future__ import annotations

import math
from pathlib import Path

from elephan import theory
from elephan.claims import interval_text
from elephan.longpath.forms import Form
from elephan.longpath.path import MARGIN, NEAR, Answer, Row
from elephan.longpath.settings import streams_needed
from elephan.longpath.verdict import MEANINGS, WIRE
from elephan.quantity import show
from elephan.report import path_figures as figures
from elephan.report.page import Cell, Column, Page, Section, Table, interval_cell, of_failures, parameter_groups, write_page
from elephan.report.run_page import facts
from elephan.report.unheard import unheard


def _streams(count: int) -> str:
    return "1 stream" if count == 1 else f"{count} streams"


def value_text(form: Form) -> str:
    """A closed form as a person writes it."""
    if form.unit in ("segments", "packets"):
        return f"{form.value:,.0f} {form.unit}".replace(",", "\u202f")
    if form.unit == "1":
        return f"{form.value:.2g}"
    return show(form.value, form.unit, 4)


def how(answer: Answer, row: Row) -> str:
    """Whether a row is simulated, and how it is carried on."""
    runs = "1 run" if row.time_s.n == 1 else f"{row.time_s.n} runs"
    if row.time_s.n > 1 and math.isnan(row.time_s.low):
        runs += ", none of which lost a packet"
    if not row.method:
        return f"simulated, {runs}"
    rough = " (estimate)" if answer.is_rough(row) else ""
    return f"{show(row.simulated_share, '%', 2)} simulated, {runs}; then {row.method}{rough}"


def _estimated(answer: Answer) -> str:
    """Which rows are no more than an estimate."""
    rough = [row.name for row in answer.rows if answer.is_rough(row)]
    if not rough:
        return ""
    listed = " and ".join([*([", ".join(rough[:-1])] if rough[:-1] else []), rough[-1]])
    compared = "" if answer.known is answer.rows else f", and compared at {MARGIN:g} times their time"
    return f"Only estimated{compared}: {listed}; --whole simulates them."


def _time(answer: Answer, row: Row) -> str:
    """How long a row takes; an estimate has no interval."""
    return f"about {show(row.time_s.mean, 's', 2)}" if answer.is_rough(row) else interval_text(row.time_s, "s", 3)


def answer_lines(answer: Answer) -> list[str]:
    """The answer in a few sentences."""
    best, rows = answer.best, answer.known
    wire = next(form for form in answer.forms if form.name == "time_wire")
    estimate = " (estimated)" if answer.is_rough(best) else ""
    lines = [
        f"{show(answer.question.size_bytes, 'bytes')} take {_time(answer, best)}{estimate} with {best.law} and "
        f"{_streams(best.streams)}, {show(best.goodput_bps.mean, 'bps', 2 if estimate else 3)}; a wire that is always full would "
        f"need {show(wire.value, 's')}."
    ]
    worst = max(rows, key=lambda row: row.time_s.mean)
    if worst.time_s.mean > NEAR * best.time_s.mean:
        lines.append(f"The slowest, {worst.name}, takes {_time(answer, worst)}: {MEANINGS[worst.limit]} (limit: {worst.limit}).")
    near = NEAR * answer.claimed_s(best)
    fragile = next((row for row in answer.rows if answer.is_fragile(row) and answer.claimed_s(row) <= near), None)
    if fragile is not None:
        back = next(form.value for form in answer.forms if form.name == "reno_recovery")
        also = fragile.name if fragile is best else f"{fragile.name}, no slower here,"
        lines.append(f"One loss more and {also} would need up to {show(back / fragile.streams, 's')} to come back.")
    if best.limit != WIRE:
        lines.append(f"What limits the best: {best.limit}; {MEANINGS[best.limit]}.")
    if estimated := _estimated(answer):
        lines.append(estimated)
    if area := _forbidden(answer):
        lines.append(area)
    wanted = next(form for form in answer.forms if form.name == "bdp")
    needed = streams_needed(answer.question, best.streams)
    allow = (
        "the settings below allow it"
        if needed == best.streams
        else f"a window of TCP ends at 1 GiB, so that takes {needed} streams"
    )
    lines.append(f"To fill the path {value_text(wanted)} must be in flight; {allow}.")
    if deaf := unheard([law.kind for law in answer.question.laws], answer.facts["scenario"]):
        lines.append(deaf)
    return lines


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


def results_table(answer: Answer) -> Table:
    """A row for each law and number of streams."""
    rows = [
        [
            Cell(row.law),
            Cell(str(row.streams)),
            *(
                Cell(f"about {show(value.mean, unit, 2)}") if answer.is_rough(row) else interval_cell(value, unit, 4)
                for value, unit in ((row.time_s, "s"), (row.goodput_bps, "bps"))
            ),
            Cell(row.limit),
            Cell(how(answer, row)),
        ]
        for row in answer.rows
    ]
    heads = ("law", "streams", "time", "goodput", "limit", "how it is known")
    note = "Means with 95 % t intervals below. Where nothing is random one run says it all, and there is no interval. "
    note += "What was not simulated follows by the rule that is named. A row is an estimate where rounds leave something out "
    note += "(timeouts, slow repairs, data behind a hole) and the wire is not full, or where less than half was simulated and the "
    note += "second half of that lost packets or did not fill the wire. --whole simulates everything."
    return Table([Column(head, head in ("streams", "time", "goodput")) for head in heads], rows, note)


def forms_table(answer: Answer) -> Table:
    """What needs no simulation."""
    rows = [[Cell(form.about), Cell(value_text(form)), Cell(form.equation)] for form in answer.forms]
    return Table([Column("closed form"), Column("value", True), Column("equation")], rows)


def limits_table(answer: Answer) -> Table:
    """The limits that occur, in words."""
    found = dict.fromkeys(row.limit for row in answer.rows)
    return Table([Column("limit"), Column("meaning")], [[Cell(limit), Cell(MEANINGS[limit])] for limit in found])


def path_page(answer: Answer) -> Page:
    """The page of a path."""
    manifest, question = answer.manifest(), answer.question
    lines = [[Cell(line.text), Cell(line.why)] for line in answer.settings]
    sysctl = Table([Column("line"), Column("why")], lines, "net.* lines belong into /etc/sysctl.d/; the others are commands.")
    look = "how far the points are from the dashed line, and whether more streams or another law bring them nearer."
    sections = [
        Section("", look, [figures.times(answer)], look=True),
        Section("Results", tables=[results_table(answer), limits_table(answer)]),
        Section("Over time", drawings=[figures.progress(answer)]),
        Section("Settings of the hosts", tables=[sysctl]),
        Section("Closed forms", tables=[forms_table(answer)], drawings=figures.closed(answer)),
    ]
    assumed = f"Assumed: {'; '.join(question.assumed)}." if question.assumed else ""
    return Page(
        kicker="elephan · path",
        title=f"{show(question.rate_bps, 'bps')} over {show(question.rtt_s, 's')}",
        question=question.text,
        answer=answer_lines(answer),
        fine=f"{len(answer.curves)} runs, the same seeds for every law. {assumed}",
        warnings=of_failures(answer.failures),
        version=str(manifest["elephan"]),
        command=str(manifest["command"]),
        sections=sections,
        parameters=parameter_groups(answer.facts["provenance"]),
        facts=facts(manifest),
    )


def write_path_report(answer: Answer, path: Path, folder: Path | None = None) -> Path:
    """Writes the report of a path, and its figures into `folder`."""
    return write_page(path_page(answer), path, folder)
