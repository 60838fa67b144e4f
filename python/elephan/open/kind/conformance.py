"""A congestion control put through the checks of conformance."""

import math

from rich.text import Text

from elephan.base.kinds import Kind
from elephan.base.quantity import TIMES, show
from elephan.experiment.conformance.conformance import Conformance, place
from elephan.experiment.conformance.judge import FAILED, NOT_APPLICABLE, NOT_SURE, PASSED
from elephan.experiment.conformance.saved import load_conformance
from elephan.open.difference import of_runs
from elephan.open.verdicts import verdicts
from elephan.report.page.conformance_page import answer, notebook, page, title, warnings
from elephan.report.screen import Screen, bounds, grid

_STYLES = {PASSED: "green", FAILED: "bold red", NOT_SURE: "yellow", NOT_APPLICABLE: "dim"}


def tables(found: Conformance, screen: Screen) -> None:
    """Prints a row per check, and what failed with the command that shows it."""
    table = grid("check", "verdict", found.label, "expected", *found.others, words=("verdict", "expected"))
    for one in found.findings:
        if one.verdict == NOT_APPLICABLE:
            continue
        unit = one.check.unit
        score = bounds(one.score, unit) if one.score.n else "-"
        if one.check.of and one.judged.n:
            score = bounds(one.judged, TIMES)
        known = (one.beside.get(name, (math.nan, "")) for name in found.others)
        others = ("-" if math.isnan(value) else show(value, unit) for value, unit in known)
        table.add_row(one.check.id, Text(one.verdict, _STYLES[one.verdict]), score, one.check.expected, *others)
    if table.row_count:
        screen.print(table)
    for reason, names in found.not_applicable.items():
        screen.sentences([f"Not applicable: {', '.join(names)} ({reason})."])
    for one in found.findings:
        if one.verdict == FAILED:
            screen.print(f"{one.check.id}: {one.check.title}", style="red")
            screen.sentences([f"  {one.words}."])
            for line in one.message.split("\n")[1:]:
                screen.long(f"  {line}", "dim")
            if one.story:
                screen.long(f"  elephan run {place(found, one.story)}", "dim")
            elif one.no_story:
                screen.sentences([f"  {one.no_story}"])


KIND = Kind(
    holds=("conformance.json", "runs.parquet", "stories/*"),
    load=load_conformance,
    title=title,
    answer=answer,
    warnings=warnings,
    tables=tables,
    page=page,
    notebook=notebook,
    compared=of_runs,
    side_by_side=verdicts,
)
