"""The verdict of a check: passed, failed, not sure or not applicable, from the scores of repetitions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from elephan.base import stats
from elephan.base.quantity import TIMES, in_files
from elephan.experiment.claims import interval_text
from elephan.experiment.conformance.checks import REFERENCES, Check, Margin
from elephan.experiment.trials import Trials

PASSED, FAILED, NOT_SURE, NOT_APPLICABLE = "passed", "failed", "not sure", "not applicable"


@dataclass(frozen=True)
class Finding:
    """A check, judged. `score`: of the statistic; `judged`: of what the margin is for, which is a ratio if the check has `of`."""

    check: Check
    verdict: str
    score: stats.Interval = stats.NOTHING
    judged: stats.Interval = stats.NOTHING
    references: Mapping[str, stats.Interval] = field(default_factory=dict)
    message: str = ""
    story: str = ""  # the file of the smallest failing story, in the folder of the result
    no_story: str = ""  # why a check that failed has no such file
    broken: int | None = None  # the seed of a run that broke off
    hangs: bool = False  # the program under test has not answered, in the harness
    failing: Mapping[int, float] = field(default_factory=dict)  # what is judged, by seed, where a single run is beyond the margin

    def as_dict(self) -> dict[str, Any]:
        """Returns the finding for JSON."""
        one = self.check
        return {
            "id": one.id, "area": one.area, "title": one.title, "learn": one.learn, "source": one.source,
            "statistic": one.statistic, "unit": in_files(one.unit), "shown_in": one.unit,
            "expected": one.expected, "margin": one.reason, "of": list(one.of), "verdict": self.verdict,
            "low": one.margin.low if math.isfinite(one.margin.low) else None,
            "high": one.margin.high if math.isfinite(one.margin.high) else None,
            "score": self.score.as_dict(), "judged": self.judged.as_dict(),
            "references": {name: interval.as_dict() for name, interval in self.references.items()},
            "message": self.message, "story": self.story, "no_story": self.no_story,
        }  # fmt: skip

    @property
    def words(self) -> str:
        """What was found, in a line: `score 0.62 (0.55 to 0.7), expected at least 0.8`, and the first line of its message."""
        one, parts = self.check, []
        if self.score.n:
            parts.append(f"score {interval_text(self.score, one.unit, 3)}")
        if one.of and self.judged.n:
            parts.append(f"that is {interval_text(self.judged, TIMES, 3)}")
        parts.append(f"expected {one.expected}")
        return "; ".join([", ".join(parts), *filter(None, [self.message.partition(chr(10))[0]])])

    @property
    def beside(self) -> dict[str, tuple[float, str]]:
        """The scores of the references with their unit: `TIMES` if the margin is in units of others; NaN if there is none."""
        one, found = self.check, {}
        of = [self.references[name].mean for name in one.of if name in self.references]
        unit = _lenient(one, of) if of and len(of) == len(one.of) else math.nan
        for name, score in self.references.items():
            value = score.mean if not one.of else score.mean / unit if unit else math.nan
            found[name] = (value if score.n else math.nan, TIMES if one.of else one.unit)
        return found

    def room(self, label: str = "") -> stats.Interval:
        """How far from the margin the control is, or a reference: 1 is at the margin, 2 twice as good; `NOTHING` of what has none.

        Of a margin with two ends the nearer one counts.
        """
        one = self.check
        of = [self.references[name].mean for name in one.of if name in self.references]
        found = self.references.get(label, stats.NOTHING) if label else self.judged
        unit = _lenient(one, of) if label and of else 1.0
        if not found.n or not unit > 0 or not found.mean > 0 or one.margin == Margin() or len(of) < len(one.of):
            return stats.NOTHING
        low, high = one.margin.low, one.margin.high

        def of_value(value: float) -> float:
            value = max(value / unit, 1e-9)
            return min(value / low if low > 0 else math.inf, high / value)

        values = sorted(of_value(value) for value in (found.low, found.high))
        return replace(found, mean=of_value(found.mean), low=values[0], high=values[1])


def judge(check: Check, label: str, trials: Trials, failures: Mapping[str, str], last: bool, lost: str = "") -> Finding:
    """Returns the finding of a check. `failures`: the line of a run that failed, by variant. `last`: no more repetitions come.
    `lost`: the line of a run that the machine ended.
    """
    asked = check.asked
    assert asked is not None
    where = asked.setting.name

    def scores(variant: str) -> dict[int, float]:
        rows = trials.by_variant.get((where, variant), [])
        given = {row.seed: asked.given.value(row.values) if asked.given else 1.0 for row in rows}
        return {row.seed: _value(check, row.values) for row in rows if given[row.seed] > 0}

    def interval(values: Mapping[int, float]) -> stats.Interval:
        known = [one for one in values.values() if math.isfinite(one)]
        return stats.mean_within(known, asked.expression.low, asked.expression.top)

    own = scores(label)
    score = interval(own)
    names = dict.fromkeys((*REFERENCES, *check.of))
    references = {name: score if name == label else interval(scores(name)) for name in names}
    found = Finding(check, NOT_SURE, score, references=references)
    if label in failures:
        return replace(found, verdict=FAILED, message=failures[label])
    if not own:
        ran = (where, label) in trials.by_variant
        why = f"no run has {asked.given.text} above 0" if ran and asked.given else lost or "no run is done"
        return replace(found, verdict=NOT_APPLICABLE if ran else NOT_SURE, message=why)
    measured = own
    if check.of:
        others = [scores(name) for name in check.of]
        if not all(others):
            return replace(found, message=f"{check.of[[bool(o) for o in others].index(False)]} has no score to compare with")
        units = {seed: _lenient(check, [other[seed] for other in others]) for seed in own if all(seed in other for other in others)}
        measured = {seed: _ratio(own[seed], unit) for seed, unit in units.items()}
    return _decided(found, measured, last)


def _value(check: Check, values: Mapping[str, float]) -> float:
    """The score of a run; a run that lacks it is beyond every margin."""
    assert check.asked is not None
    value = check.asked.expression.value(values)
    worst = math.inf if check.margin.low == -math.inf else -math.inf
    return worst if math.isnan(value) else value


def run_score(check: Check, own: Mapping[str, float], others: Sequence[Mapping[str, float]]) -> float:
    """Returns what is judged in a run with these statistics; NaN if the check is not about such a run.

    `others`: those of the same run with each control of `of`.
    """
    assert check.asked is not None
    if check.asked.given is not None and not check.asked.given.value(own) > 0:
        return math.nan
    value = _value(check, own)
    return _ratio(value, _lenient(check, [_value(check, other) for other in others])) if check.of else value


def _lenient(check: Check, scores: Sequence[float]) -> float:
    """The score that leaves most room: the margin is that of the most lenient control."""
    return min(scores) if check.margin.low > -math.inf else max(scores)


def _ratio(value: float, unit: float) -> float:
    if not math.isfinite(value):
        return value
    return value / unit if unit else (1.0 if value == 0 else math.inf)


def _decided(found: Finding, measured: Mapping[int, float], last: bool) -> Finding:
    """The finding with its verdict: all of the interval within the margin, none of it, or some."""
    margin, values = found.check.margin, list(measured.values())
    failing = {seed: value for seed, value in measured.items() if not margin.admits(value)}
    if not all(map(math.isfinite, values)):
        missing = sum(not math.isfinite(value) for value in values)
        verdict = FAILED if missing == len(values) else NOT_SURE
        words = f"{missing} of {len(values)} runs have no value"
        return replace(found, verdict=verdict, failing=failing, message=words)
    judged = _interval(values, bool(found.check.of))
    low, high = (judged.low, judged.high) if math.isfinite(judged.low) else (judged.mean, judged.mean)
    verdict = NOT_SURE
    if margin.low <= low and high <= margin.high:
        verdict = PASSED
    elif high < margin.low or low > margin.high:
        verdict = FAILED
    words = f"the 95 % interval of {judged.n} runs has the margin in it" if verdict == NOT_SURE and last else ""
    return replace(found, verdict=verdict, judged=_shown(found.check, judged), failing=failing, message=words)


def _interval(values: Sequence[float], ratio: bool) -> stats.Interval:
    if ratio and min(values) > 0:
        return stats.paired_ratio(list(values), [1.0] * len(values))
    return stats.mean_interval(list(values))


def _shown(check: Check, judged: stats.Interval) -> stats.Interval:
    """The interval cut off where its quantity ends; a score over another one ends where a score does below, and nowhere above."""
    assert check.asked is not None
    low, top = check.asked.expression.low, math.inf if check.of else check.asked.expression.top
    return stats.within(judged, min(low, judged.mean), max(top, judged.mean))
