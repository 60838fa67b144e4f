"""The report of a conformance run: what failed, then every check beside reno, cubic and bbr."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from elephan.base.quantity import TIMES, counted, show
from elephan.experiment.claims import interval_text
from elephan.experiment.conformance.conformance import Conformance, place
from elephan.experiment.conformance.judge import FAILED, NOT_APPLICABLE, NOT_SURE, PASSED, Finding
from elephan.report.figure.conformance_figures import room
from elephan.report.page.notebook import answered
from elephan.report.page.page import Cell, Column, Page, Section, Table, interval_cell, number_cell, of_failures
from elephan.report.page.run_page import facts
from elephan.result import build
from elephan.result.command import command_line
from elephan.scenario import core

_MARKS = {PASSED: "holds", FAILED: "fails", NOT_SURE: "inconclusive", NOT_APPLICABLE: "not-run"}
_NOTE = (
    "A check passes if the whole 95 % interval of its repetitions is within the margin, fails if none of it is, and is not sure "
    "otherwise. reno, cubic and bbr ran in the same experiments with the same seeds."
)


def title(found: Conformance) -> str:
    """What was put through the checks."""
    return f"Conformance of {found.label}"


def answer(found: Conformance) -> list[str]:
    """What came out, in sentences."""
    counts = found.counts
    applicable = len(found.findings) - counts[NOT_APPLICABLE]
    sentences = [f"{found.label} passes {counts[PASSED]} of {counted(applicable, 'check')}."]
    for verdict, words in ((FAILED, "Failed"), (NOT_SURE, "Not sure")):
        names = [one.check.id for one in found.findings if one.verdict == verdict]
        sentences += [f"{words}: {', '.join(names)}."] if names else []
    return sentences


def warnings(found: Conformance) -> list[str]:
    """What a reader must know before he uses the answer."""
    return of_failures(found.failures, found.facts)


def _row(finding: Finding, others: Sequence[str]) -> list[Cell]:
    one = finding.check
    found = {name: finding.beside.get(name, (math.nan, "")) for name in others}
    references = [Cell("-") if math.isnan(value) else number_cell(value, unit) for value, unit in found.values()]
    judged = finding.judged if one.of and finding.judged.n else None
    score = interval_cell(finding.score, one.unit, 3) if finding.score.n else Cell("-")
    if judged:
        ratio = {f"ratio {name} (1)": getattr(judged, name) for name in ("mean", "low", "high")}
        score = replace(score, range="", more=interval_text(judged, TIMES, 3), numbers={**score.numbers, **ratio})
    mark = Cell(finding.verdict, mark=_MARKS[finding.verdict])
    return [Cell(one.title, more=one.id), mark, score, Cell(one.expected), *references]


def _failed(found: Conformance, finding: Finding) -> Section:
    one = finding.check
    intro = f"{one.learn} {finding.words[0].upper()}{finding.words[1:]}. The margin: {one.reason} Source: {one.source}."
    intro += f" {finding.no_story}" if finding.no_story else ""
    lines = [f"elephan {word} {place(found, finding.story)}" for word in ("run", "explore")] if finding.story else []
    message = finding.message if "\n" in finding.message else ""
    return Section(f"Failed: {one.title}", intro, listing="\n".join([*([message] if message else []), *lines]))


def _cost(found: Conformance) -> str:
    """What a program took; empty for a control that is none."""
    answers, seconds = found.facts["answers"], found.facts["answers_s"]
    if not answers:
        return ""
    return f" The program answered {counted(answers, 'line')} in {show(seconds, 's')}, {show(seconds / answers, 's', 2)} each."


def page(found: Conformance) -> Page:
    """Returns the page of a conformance run."""
    manifest = found.manifest()
    heads = [Column("check"), Column("verdict"), Column(found.label, True), Column("expected")]
    heads += [Column(name, True) for name in found.others]
    sections = [_failed(found, one) for one in found.findings if one.verdict == FAILED]
    drawing = room(found)
    sections += [Section("How far from the margins", drawings=[drawing])] if drawing is not None else []
    applicable = [one for one in found.findings if one.verdict != NOT_APPLICABLE]
    for area in dict.fromkeys(one.check.area for one in applicable):
        rows = [_row(one, found.others) for one in applicable if one.check.area == area]
        sections.append(Section(area.upper() if area in ("aqm", "l4s") else area.capitalize(), tables=[Table(heads, rows)]))
    if found.not_applicable:
        rows = [[Cell(", ".join(names)), Cell(reason)] for reason, names in found.not_applicable.items()]
        sections.append(Section("Not applicable", tables=[Table([Column("checks"), Column("because")], rows)]))
    rows = [[Cell(one.check.id), Cell(one.check.learn), Cell(one.check.reason), Cell(one.check.source)] for one in applicable]
    columns = [Column("check"), Column("what it tells"), Column("margin"), Column("source")]
    sections.append(Section("What each check asks", _NOTE, tables=[Table(columns, rows)]))
    about: Mapping[str, object] = {
        "elephan": manifest.get("elephan", core.call("version")), "runs": len(found.trials), "wall_s": found.facts["wall_s"],
        "host": manifest.get("host", build.host()),
    }  # fmt: skip
    return Page(
        kicker="elephan · conformance" + (" · quick" if found.facts["quick"] else ""),
        title=title(found),
        question="Does this congestion control do what RFC 9743 and common sense ask of it?",
        answer=answer(found),
        fine=f"{counted(len(found.trials), 'run')} in {show(found.facts['wall_s'], 's')}.{_cost(found)}",
        warnings=warnings(found),
        version=str(about["elephan"]),
        command=str(manifest.get("command") or command_line()),
        sections=sections,
        facts=facts(dict(about)),
    )


def notebook(found: Conformance) -> str:
    """Returns the answer and the checks for a notebook."""
    heads = [Column(head) for head in ("check", "verdict", found.label, "expected", *found.others)]
    return answered(
        title(found), answer(found), warnings(found), [], [Table(heads, [_row(one, found.others) for one in found.findings])]
    )
