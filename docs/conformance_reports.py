"""Writes docs/conformance-reports.md: the conformance of every built-in congestion control for TCP.

`make conformance` runs it; `--check` says whether the page is what it would write.
"""

import math
import sys
from pathlib import Path

import elephan as el
from elephan.base.quantity import TIMES, show
from elephan.experiment.claims import interval_text
from elephan.experiment.conformance.conformance import Conformance
from elephan.experiment.conformance.judge import FAILED, NOT_APPLICABLE, NOT_SURE, PASSED, REFERENCES, Finding
from elephan.scenario.congestion import names, read_controllers

# Built-in ones that are L4S by a parameter.
WITH_PARAMETERS = ("bbr3:l4s=true",)
HERE = Path(__file__).parent
PAGE = HERE / "conformance-reports.md"
STORE = HERE.parent / "results" / "conformance-reports.trials"
HEAD = """# Conformance of the built-in congestion controls

For readers who choose a congestion control, and for authors who compare theirs. Written by
`make conformance` from [the checks](conformance.md); do not edit. No margin was chosen for what a
built-in congestion control does, and a failure is no bug: each control's page says what its
authors wanted. `reno`, `cubic` and `bbr` are beside each score.

The columns of areas say how many of the checks that apply are passed.
"""


def controls() -> list[str]:
    """Returns the built-in congestion controls for TCP, as texts that name them."""
    found = []
    for name in names():
        try:
            found += [one.label for one in read_controllers([name])]
        except el.InputError:
            continue
        found += [one for one in WITH_PARAMETERS if one.startswith(f"{name}:")]
    return found


def overview(reports: list[Conformance]) -> list[str]:
    """Returns a row for each control, with the checks passed in each area."""
    applicable = {one.check.area for report in reports for one in report.findings if one.verdict != NOT_APPLICABLE}
    areas = [area for area in dict.fromkeys(one.check.area for one in reports[0].findings) if area in applicable]
    lines = [f"| control | passed | failed | not sure | {' | '.join(areas)} |", "|---|" + "---|" * (3 + len(areas))]
    for report in reports:
        cells = []
        for area in areas:
            mine = [one for one in report.findings if one.check.area == area and one.verdict != NOT_APPLICABLE]
            cells.append(f"{sum(one.verdict == PASSED for one in mine)}/{len(mine)}" if mine else "")
        counts = report.counts
        row = [
            f"[{report.label}](#{anchor(report.label)})",
            *(str(counts[v]) for v in (PASSED, FAILED, NOT_SURE)),
            *cells,
        ]
        lines.append(f"| {' | '.join(row)} |")
    return lines


def anchor(label: str) -> str:
    """Returns where the section of a control is on the page."""
    return label.lower().replace("_", "-").replace(" ", "-")


def row(finding: Finding) -> str:
    """Returns the row of a check that is not passed."""
    one = finding.check
    unit = TIMES if one.of else one.unit
    score = finding.judged if one.of else finding.score
    text = interval_text(score, unit, 3) if score.n else finding.message or "-"
    known = (finding.beside.get(name, (math.nan, "")) for name in REFERENCES)
    others = ["-" if math.isnan(value) else show(value, of, 3) for value, of in known]
    return f"| {one.id} | {finding.verdict} | {text} | {one.expected} | {' | '.join(others)} |"


def section(report: Conformance) -> list[str]:
    """Returns the checks that a control does not pass."""
    missed = [one for one in report.findings if one.verdict in (FAILED, NOT_SURE)]
    page = f"models/{anchor(report.controller.kind)}.md"
    model = f"[What it is]({page}). " if (HERE / page).exists() else ""
    lines = ["", f"## {report.label}", ""]
    if not missed:
        return [*lines, f"{model}It passes every check that applies."]
    lines += [f"{model}It passes all other checks that apply.", ""]
    lines += [f"| check | verdict | score | expected | {' | '.join(REFERENCES)} |", "|---|" + "---|" * (3 + len(REFERENCES))]
    return [*lines, *map(row, missed)]


def text() -> str:
    """Returns the page."""
    reports = []
    for name in controls():
        print(name, file=sys.stderr, flush=True)
        reports.append(el.conformance(name, stories=False, store=STORE))
    lines = [HEAD, *overview(reports), *(line for report in reports for line in section(report))]
    return "\n".join(lines) + "\n"


def main(words: list[str]) -> int:
    """Writes the page, or says whether it is current."""
    found = text()
    if "--check" not in words:
        PAGE.write_text(found, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") != found:
        print(f"{PAGE} is not current: make conformance", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
