"""The report of a study."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from elephan.base.quantity import counted, show
from elephan.experiment.claims import NOT_RUN, Verdict
from elephan.experiment.study import Results
from elephan.experiment.sweep import Sweep
from elephan.report.figure.readings_figure import readings_figure
from elephan.report.page.notebook import answered
from elephan.report.page.page import Cell, Column, Group, Page, Section, Table, of_failures, parameter_groups
from elephan.report.page.run_page import facts
from elephan.report.page.sweep_page import sections
from elephan.report.words.few import few
from elephan.report.words.swept import Swept
from elephan.result import build
from elephan.result.command import command_line
from elephan.scenario import core

_NOTE = (
    "Margins were fixed before the first run, unless a claim says otherwise. "
    "A claim holds if the whole 95 % interval over the repetitions satisfies it "
    "(where it says so, every single run), fails if none of it does, and is inconclusive otherwise. Variants are compared "
    "run by run with the same seeds. "
)


def of_holm(verdicts: Sequence[Verdict]) -> str:
    """What Holm's correction leaves: `Of 9 verdicts on means 8 stand after Holm's correction for 12 claims; not X-3.`"""
    decided = [verdict for verdict in verdicts if verdict.verdict in ("holds", "fails") and not math.isnan(verdict.p_holm)]
    if not decided:
        return ""
    family = sum(not math.isnan(verdict.p_holm) for verdict in verdicts)
    weaker = [verdict.claim.id for verdict in decided if verdict.holm != verdict.verdict]
    stands = len(decided) - len(weaker)
    return (
        f"Of {counted(len(decided), 'verdict')} on means {stands} stand{'s' if stands == 1 else ''} after Holm's correction for "
        f"{counted(family, 'claim')} (5 % for one wrong verdict or more among all){'; not ' + ', '.join(weaker) if weaker else ''}."
    )


def tally(verdicts: Sequence[Verdict]) -> str:
    """`12 claims: 7 hold, 1 fail, 1 inconclusive; the quick run covers 2 in part and leaves 1 out`."""
    counts = Counter(v.verdict for v in verdicts)
    each = (("holds", "holds", "hold"), ("fails", "fails", "fail"), ("inconclusive", "inconclusive", "inconclusive"))
    words = [f"{counts[name]} {one if counts[name] == 1 else many}" for name, one, many in each]
    text = f"{counted(len(verdicts), 'claim')}: {', '.join(words)}"
    if not counts[NOT_RUN]:
        return text
    out = sum(not verdict.run for verdict in verdicts)
    return f"{text}; the quick run covers {counts[NOT_RUN] - out} in part and leaves {out} out"


def _left_out(verdicts: Sequence[Verdict]) -> str:
    """The claims that nothing was run for."""
    names = [verdict.claim.id for verdict in verdicts if not verdict.run]
    return f" Not run in the quick run, and not listed: {', '.join(names)}." if names else ""


def _own(results: Results) -> Any:
    """Returns the words and figures that the study has of its own; None if it has none, or if runs that they need are missing."""
    whole = "incomplete" not in results.facts and not results.failures
    return results.study.figures if whole else None


def answer(results: Results) -> list[str]:
    """Returns what the study says, or of one without words of its own the verdict on each claim."""
    if own := _own(results):
        return list(own.answer(results))
    decided = [verdict for verdict in results.verdicts if verdict.run]
    said = [f"{one.claim.id} {one.word}: {one.claim.statement.rstrip('.')}. Observed: {one.run[0].text}." for one in decided]
    return said or [f"{counted(len(results.trials), 'run')}; the study has no claims."]


def _sections_of(results: Results) -> list[Section]:
    """Returns the figures and tables of a study: its own, or those that a sweep over each experiment would have."""
    study = results.study
    if own := _own(results):
        return list(own.sections(results))
    found: list[Section] = []
    asked = [*study.document.get("statistics", ()), *(part.statistic for one in study.claims for part in one.parts)]
    for experiment in study.experiments:
        rows = [replace(row, experiment="") for row in results.trials if row.experiment == experiment.name]
        variants = [replace(experiment.variant(one), experiment="") for one in experiment.variants]
        swept = Swept(Sweep(experiment.name, variants, rows, {"answering": list(dict.fromkeys(asked)), "failures": []}))
        if swept.shown:
            found.append(Section(f"Experiment {experiment.name}"))
            found += sections(swept)
    return found


def page(results: Results) -> Page:
    """The page of a study: its answer, its claims, its figures."""
    study, verdicts = results.study, results.verdicts
    runs = len(results.trials)
    warnings = of_failures(results.failures, results.facts)
    quick = " The quick run: fewer repetitions and points, wider intervals." if study.quick else ""
    quick += f" {few(min((one.repetitions for one in study.experiments), default=0))}".rstrip()
    version = core.call("version")
    scenario = str(results.facts.get("scenario", ""))
    sha256 = hashlib.sha256(scenario.encode()).hexdigest() if scenario else ""  # as in manifest.json
    about = {"elephan": version, "scenario_sha256": sha256, "runs": runs, "wall_s": results.facts["wall_s"], "host": build.host()}
    return Page(
        kicker=f"elephan · study {study.name}" + (" · quick" if study.quick else ""),
        title=study.title,
        question=study.question,
        answer=answer(results),
        fine=f"{tally(verdicts)}. {counted(runs, 'run')} in {show(results.facts['wall_s'], 's')}.{quick}",
        warnings=warnings,
        verdicts=[verdict for verdict in verdicts if verdict.run],
        verdict_note=_NOTE + of_holm(verdicts) + _left_out(verdicts),
        version=version,
        command=str(results.facts.get("command") or command_line()),
        sections=[*_sections_of(results), *_readings(results)],
        parameters=_parameters(results),
        facts=[*([("source", study.source)] if study.source else []), *facts(about)],
    )


def _readings(results: Results) -> list[Section]:
    """Returns what claims depend on, of a study that was run under its readings."""
    found = results.dependences
    if not found:
        return []
    drawn = readings_figure(found)
    readings = [
        [Cell(one.name), Cell(one.default, more=one.why), Cell("; ".join(_point(point.label, point.why) for point in one.points))]
        for one in results.study.readings
    ]
    claims = [[Cell(name), Cell(one.word), Cell("; ".join(one.turns)), Cell(one.together)] for name, one in found.items()]
    words = (
        "What the source does not say, the study takes as one reading of it. Here every claim is judged again with the other "
        "readings, one at a time and in random combinations."
    )
    words = " ".join([words, *idle(results)])
    tables = [
        Table([Column("assumed"), Column("taken"), Column("other readings")], readings, title="Readings"),
        Table([Column("claim"), Column("over the readings"), Column("where it turns"), Column("at random together")], claims),
    ]
    return [Section("What depends on what is assumed", words, [drawn] if drawn else [], tables)]


def idle(results: Results) -> list[str]:
    """Returns a sentence for each reading that changes no number of any claim.

    `The reading Fb-hat is without effect in this study: with off every claim has the same numbers.`
    """
    found = [(one.name, " or ".join(point.label for point in one.points)) for one in results.without_effect]
    rest = "every claim has the same numbers"
    return [f"The reading {name} is without effect in this study: with {labels} {rest}." for name, labels in found]


def _point(label: str, why: str) -> str:
    return f"{label} ({why})" if why else label


def _parameters(results: Results) -> list[Group]:
    """Parameters of the first run, and of the first run of every further scenario file under the file's name."""
    groups = parameter_groups(results.facts["provenance"])
    others = results.study.resolved()
    if not others:
        return groups
    named = [(results.study.experiments[0].scenario, groups)]
    named += [(name, parameter_groups(scenario["provenance"])) for name, scenario in others.items()]
    return [Group(f"{name}: {group.title}", group.rows) for name, groups in named for group in groups]


def notebook(results: Results) -> str:
    """Returns the answer of a study and its verdicts for a notebook."""
    lines = [*answer(results), f"{tally(results.verdicts)}."]
    return answered(results.study.question, lines, of_failures(results.failures, results.facts), [], [])
