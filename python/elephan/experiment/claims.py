"""Claims: statements about an experiment as data, judged on repetitions with paired seeds.

A part of a claim takes one statistic (`elephan.statistic.measures`) of one variant, or compares two variants seed by seed, and says
what is expected. It holds if the whole 95 % interval satisfies the expectation (with `every`, if each single run does and none
broke off), fails if none of the interval does (with `every`, if one run does not), and is inconclusive between the two. A claim
holds if all its parts hold and fails if one fails. A part whose variants the quick run of a study leaves out is not run, and so
is a claim that such a part leaves open. What is shown of an interval ends where its quantity does; it is judged whole.
A mean decides nothing where the runs have two modes (`elephan.experiment.modes`) on different sides of a bound: such a part is
inconclusive, and both modes are told. With `need` a claim holds if that share of its parts holds. It fails if that share cannot be
reached.

Many claims: of 100 verdicts at 5 % each some are wrong by chance. So each claim also has a p value, and Holm's correction
(Scandinavian Journal of Statistics 6, 1979) says which verdicts still stand if the chance of even one wrong verdict in the whole
study is to be 5 %. The p value of a part is `2 P(T > |mean - bound| / (s / sqrt n))`, with Student's t of n - 1 degrees of freedom:
the least alpha whose interval of level 1 - alpha lies inside (or outside) the bounds. A claim that holds in all its parts has the
largest p of them (an intersection-union test, Berger, Technometrics 24, 1982). A claim that fails in one of m parts has m times the
smallest (Bonferroni). Both are cases of one rule: that k of m parts are so has m - k + 1 times the k-th smallest (Benjamini and
Heller, Biometrics 64, 2008). A part with `every` speaks of the runs and not of a mean, so it has no p value and needs none.
The plain verdict stays as it is; Holm's can only be weaker.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from elephan.base import stats
from elephan.base.quantity import in_files, show
from elephan.experiment.modes import Modes, modes_of
from elephan.statistic import bounds, measures

HOLDS, FAILS, INCONCLUSIVE, NOT_RUN = "holds", "fails", "inconclusive", "not run"
CAUSES = ("theory", "model", "source", "unknown")  # why a claim does not hold
COMPARISONS = ("difference", "ratio")
LEVEL = 0.95  # of an interval, unless told
ALPHA = 0.05  # the chance of one wrong verdict or more among all claims, under Holm's correction


class Evidence(Protocol):
    """Where a claim finds its numbers."""

    def by_seed(self, experiment: str, variant: str, statistic: str) -> Mapping[int, float]: ...

    def flows(self, experiment: str, *variants: str) -> int:
        """Returns of how many flows runs of these variants are at most; 0 if nobody has counted them."""


@dataclass(frozen=True)
class Bounds:
    """What is expected of a number."""

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False

    def admits(self, value: float) -> bool:
        above = value > self.low if self.low_open else value >= self.low
        below = value < self.high if self.high_open else value <= self.high
        return above and below

    def words(self, unit: str) -> str:
        if self.low == self.high:
            return f"= {show(self.low, unit, 4)}"
        parts = []
        if self.low > -math.inf:
            parts.append(f"{'>' if self.low_open else '≥'} {show(self.low, unit, 4)}")
        if self.high < math.inf:
            parts.append(f"{'<' if self.high_open else '≤'} {show(self.high, unit, 4)}")
        return " and ".join(parts)


@dataclass(frozen=True)
class Part:
    """One comparison of a claim."""

    experiment: str
    statistic: str
    variant: str
    bounds: Bounds
    compare: str = ""
    against: str = ""
    every: bool = False
    given: str = ""
    told_apart: bool = False  # its claim spans several experiments, so that words name this one's

    @property
    def unit(self) -> str:
        return "1" if self.compare == "ratio" else measures.unit_of(self.statistic)

    @property
    def subject(self) -> str:
        """What is looked at, in words: `latency_ns.sd, ratio of 8023x to NoFC`, where needed behind its experiment."""
        where = f"{self.experiment}: " if self.told_apart else ""
        if self.compare:
            joint = "to" if self.compare == "ratio" else "less"
            return f"{where}{self.statistic}, {self.compare} of {self.variant} {joint} {self.against}"
        return f"{where}{self.statistic}, {self.variant}"

    @property
    def expected(self) -> str:
        words = self.bounds.words(self.unit)
        if self.bounds.low == 0 and self.bounds.low_open and not self.compare and self.bounds.high == math.inf:
            words = "> 0"
        return words + (" in every run" if self.every else "") + (f" with {self.given} > 0" if self.given else "")


@dataclass(frozen=True)
class Claim:
    """A statement with its source and the parts that decide it; the first part is its headline.

    `says`: what the source states. `derived`: what elephan concludes from it, and why. `reason` and `cause`: why the claim does not
    hold in the full study, if it does not. `need`: the share of its parts that must hold.
    """

    id: str
    statement: str
    source: str
    parts: tuple[Part, ...]
    says: str = ""
    derived: str = ""
    reason: str = ""
    cause: str = ""
    need: float = 1.0

    @property
    def whose(self) -> str:
        """Whose words are judged: `source`, or `elephan` where the source does not state it itself."""
        return "source" if self.says and not self.derived else "elephan"

    @property
    def needed(self) -> int:
        """How many of its parts must hold."""
        return math.ceil(self.need * len(self.parts) - 1e-9)


@dataclass(frozen=True)
class Finding:
    """A part, what was observed, and the verdict."""

    part: Part
    observed: stats.Interval
    verdict: str
    p_inside: float = 1.0  # p value of "the mean is within the bounds"; NaN of a part that speaks of every run
    p_outside: float = 1.0  # and of "the mean is beyond them"
    modes: Modes | None = None  # both groups of its runs, if they have two

    @property
    def text(self) -> str:
        """The observation as a person writes it: `9.49 Gb/s (9.48 to 9.50)`, with both modes if there are two."""
        digits = 3 if self.part.compare == "ratio" else 4
        text = interval_text(self.observed, self.part.unit, digits)
        return f"{text}; {self.modes.words(self.part.unit, digits)}" if self.modes else text


@dataclass(frozen=True)
class Verdict:
    """A claim, judged."""

    claim: Claim
    findings: tuple[Finding, ...]
    p_holm: float = math.nan  # the p value among those of all claims; NaN where there is none

    @property
    def p(self) -> float:
        """The p value of the verdict; NaN where the parts on every run decide, or where the claim was not run."""
        tests = [finding for finding in self.run if not math.isnan(finding.p_inside)]
        every = Counter(finding.verdict for finding in self.run if finding.part.every)
        hold, fail = self.claim.needed - every[HOLDS], self._spare + 1 - every[FAILS]
        if not tests or self.verdict == NOT_RUN or min(hold, fail) <= 0:
            return math.nan
        inside, outside = (sorted(getattr(finding, name) for finding in tests) for name in ("p_inside", "p_outside"))
        return min(1.0, _of_some(inside, hold), _of_some(outside, fail))

    @property
    def _spare(self) -> int:
        """How many of its parts may fail."""
        return len(self.findings) - self.claim.needed

    @property
    def holm(self) -> str:
        """The verdict that stands beside all other claims: the plain one, or `inconclusive` if its `p_holm` is above 5 %."""
        return INCONCLUSIVE if self.p_holm > ALPHA and self.verdict in (HOLDS, FAILS) else self.verdict

    @property
    def verdict(self) -> str:
        each = [finding.verdict for finding in self.findings]
        if each.count(FAILS) > self._spare:
            return FAILS
        if each.count(HOLDS) >= self.claim.needed:
            return HOLDS
        return INCONCLUSIVE if INCONCLUSIVE in each else NOT_RUN

    @property
    def modes(self) -> bool:
        """Whether it stays open because the runs of a part have two modes, one of them beyond what is expected."""
        return self.verdict == INCONCLUSIVE and any(one.modes and one.verdict == INCONCLUSIVE for one in self.findings)

    @property
    def run(self) -> tuple[Finding, ...]:
        """The parts that were run."""
        return tuple(finding for finding in self.findings if finding.verdict != NOT_RUN)

    @property
    def word(self) -> str:
        """The verdict as people read it: `partly run` if some of it is run, `two modes` if the modes of its runs leave it open."""
        if self.modes:
            return "two modes"
        return "partly run" if self.verdict == NOT_RUN and self.run else self.verdict

    @property
    def tally(self) -> str:
        """Its parts, counted: `5 of 7 parts hold, 1 fails, 1 was not run`."""
        each = [finding.verdict for finding in self.findings]
        words = [f"{each.count(HOLDS)} of {len(self.findings)} parts hold"]
        for count, one, many in (
            (each.count(FAILS), "fails", "fail"),
            (each.count(INCONCLUSIVE), "is inconclusive", "are inconclusive"),
            (each.count(NOT_RUN), "was not run", "were not run"),
        ):
            words += [f"{count} {one if count == 1 else many}"] if count else []
        return ", ".join(words)

    @property
    def reason(self) -> str:
        """Why it does not hold in the full study; nothing where it holds or is not run."""
        return self.claim.reason if self.verdict in (FAILS, INCONCLUSIVE) else ""

    def as_dict(self) -> dict[str, Any]:
        """The entry of `claims.json`. `observed` is that of the part that decides, the first one with the claim's verdict;
        `decisive` is its place in `parts`, which have units.
        """
        place, decisive = next((i, f) for i, f in enumerate(self.findings) if f.verdict == self.verdict)
        return {
            "id": self.claim.id,
            "statement": self.claim.statement,
            "source": self.claim.source,
            "says": self.claim.says,
            "derived": self.claim.derived,
            "need": self.claim.need,
            "expected": "; ".join(f"{f.part.subject}: {f.part.expected}" for f in self.findings),
            "observed": decisive.observed.as_dict(),
            "decisive": place,
            "verdict": self.verdict,
            "p": None if math.isnan(self.p) else self.p,
            "p_holm": None if math.isnan(self.p_holm) else self.p_holm,
            "holm": self.holm,
            "reason": self.reason,
            "cause": self.claim.cause if self.reason else "",
            "parts": [_part_dict(finding) for finding in self.findings],
        }


def interval_text(interval: stats.Interval, unit: str, digits: int = 4) -> str:
    """`9.49 Gb/s (9.48 Gb/s to 9.50 Gb/s)`; the bounds only when they are known and differ."""
    mean = show(interval.mean, unit, digits)
    low, high = show(interval.low, unit, digits), show(interval.high, unit, digits)
    known = math.isfinite(interval.low) and math.isfinite(interval.high)
    return f"{mean} ({low} to {high})" if known and low != high else mean


def _part_dict(finding: Finding) -> dict[str, Any]:
    part = finding.part
    found: dict[str, Any] = {"experiment": part.experiment, "statistic": part.statistic, "variant": part.variant}
    if part.compare:
        found |= {"compare": part.compare, "against": part.against}
    found |= {"unit": in_files(part.unit), "expected": part.expected, "every_run": part.every}
    found |= {"observed": finding.observed.as_dict(), "verdict": finding.verdict}
    return found | ({"modes": [list(finding.modes.low), list(finding.modes.high)]} if finding.modes else {})


def _of_some(ascending: Sequence[float], k: int) -> float:
    """Returns the p value of "at least k of these are so"."""
    return (len(ascending) - k + 1) * ascending[k - 1] if k <= len(ascending) else 1.0


def _sample(part: Part, evidence: Evidence) -> list[float]:
    """The values that the part judges, one per seed."""
    values = dict(evidence.by_seed(part.experiment, part.variant, part.statistic))
    if part.given:
        condition = evidence.by_seed(part.experiment, part.variant, part.given)
        values = {seed: value for seed, value in values.items() if condition.get(seed, 0.0) > 0}
    if not part.compare:
        return [value for value in values.values() if not math.isnan(value)]
    other = evidence.by_seed(part.experiment, part.against, part.statistic)
    pairs = [(values[s], other[s]) for s in values if s in other and not math.isnan(values[s] + other[s])]
    if part.compare == "difference":
        return [a - b for a, b in pairs]
    return [a / b if b else math.inf for a, b in pairs]


def _size(part: Part, evidence: Evidence) -> float:
    """Returns the largest of the values whose differences a part judges; 0 of a part that judges the values themselves."""
    if part.compare != "difference":
        return 0.0
    values = (evidence.by_seed(part.experiment, one, part.statistic).values() for one in (part.variant, part.against))
    return max((abs(value) for found in values for value in found if math.isfinite(value)), default=0.0)


def _interval(part: Part, sample: Sequence[float], level: float = 0.95) -> stats.Interval:
    if part.compare == "ratio" and all(0 < value < math.inf for value in sample):
        return stats.paired_ratio(list(sample), [1.0] * len(sample), level)
    if not all(math.isfinite(value) for value in sample):
        return stats.Interval(math.nan, math.nan, math.nan, len(sample), level)
    return stats.mean_interval(list(sample), level)


def _shown(part: Part, interval: stats.Interval, evidence: Evidence) -> stats.Interval:
    """The interval cut off where its quantity ends: a share at 1, Jain's index of n flows at 1/n, a count or a ratio at 0."""
    flows = evidence.flows(part.experiment, *filter(None, (part.variant, part.against)))
    low, top = {
        "ratio": (0.0, math.inf),
        "difference": bounds.of_difference(part.statistic, flows),
    }.get(part.compare, (bounds.low_of(part.statistic, flows), bounds.top_of(part.statistic)))
    if not math.isfinite(interval.mean):
        return interval
    return stats.within(interval, min(low, interval.mean), max(top, interval.mean))


def measured(part: Part, evidence: Evidence) -> tuple[stats.Interval, list[float]]:
    """Returns the mean of what a part looks at with its interval, as it is shown, and the value of each run."""
    sample = _sample(part, evidence)
    return (_shown(part, _interval(part, sample), evidence), sample) if sample else (stats.NOTHING, [])


def _judge_part(part: Part, evidence: Evidence, planned: Mapping[tuple[str, str], int] | None, level: float) -> Finding:
    needed = [(part.experiment, variant) for variant in (part.variant, part.against) if variant]
    sample = _sample(part, evidence)
    if not sample:
        cut = planned is not None and not all(one in planned for one in needed)
        return Finding(part, stats.NOTHING, NOT_RUN if cut else INCONCLUSIVE)
    interval, modes = _interval(part, sample, level), None if part.every else modes_of(sample, _size(part, evidence))
    verdict = _verdict(part, sample, interval)
    if modes and len({part.bounds.admits(value) for value in sample}) > 1:
        verdict = INCONCLUSIVE
    if part.every and verdict == HOLDS and planned is not None:
        # What a run that broke off would have shown nobody knows.
        found = (len(evidence.by_seed(experiment, variant, part.statistic)) for experiment, variant in needed)
        if any(n < planned.get(one, 0) for n, one in zip(found, needed, strict=True)):
            verdict = INCONCLUSIVE
    p_values = (1.0, 1.0) if modes and verdict == INCONCLUSIVE else _p_values(part, sample)
    return Finding(part, _shown(part, interval, evidence), verdict, *p_values, modes)


def _p_values(part: Part, sample: Sequence[float]) -> tuple[float, float]:
    """The p values of "within the bounds" and "beyond them": 1 of a mean without a known spread, 0 of values that are all alike."""
    if part.every:
        return math.nan, math.nan
    limits = part.bounds
    if len(sample) < 2 or not all(math.isfinite(value) for value in sample):
        return 1.0, 1.0
    if part.compare == "ratio" and min(sample) > 0:  # judged as its logarithm
        sample = [math.log(value) for value in sample]
        logs = [math.log(bound) if bound > 0 else -math.inf for bound in (limits.low, limits.high)]
        limits = replace(limits, low=logs[0], high=logs[1])
    interval = stats.mean_interval(list(sample))
    if interval.low == interval.high:
        return (0.0, 1.0) if limits.admits(interval.mean) else (1.0, 0.0)
    from scipy.special import stdtr, stdtrit

    error = interval.half_width / float(stdtrit(len(sample) - 1, 0.5 + interval.level / 2))
    # How far the mean is inside of each bound, in standard errors.
    inside = min((interval.mean - limits.low) / error, (limits.high - interval.mean) / error)
    p = 2 * float(stdtr(len(sample) - 1, -abs(inside)))
    return (p, 1.0) if inside > 0 else (1.0, p)


def _verdict(part: Part, sample: Sequence[float], interval: stats.Interval) -> str:
    bounds = part.bounds
    if part.every:
        return HOLDS if all(bounds.admits(value) for value in sample) else FAILS
    if not math.isfinite(interval.low):
        return INCONCLUSIVE
    if bounds.admits(interval.low) and bounds.admits(interval.high):
        return HOLDS
    # outside: the interval lies wholly below the lower or wholly above the upper bound
    outside = interval.high < bounds.low or (bounds.low_open and interval.high == bounds.low)
    outside = outside or interval.low > bounds.high or (bounds.high_open and interval.low == bounds.high)
    return FAILS if outside else INCONCLUSIVE


def judge(
    claims: Sequence[Claim],
    evidence: Evidence,
    planned: Mapping[tuple[str, str], int] | None = None,
    levels: Mapping[str, float] | None = None,
) -> list[Verdict]:
    """Judges every claim on the evidence.

    `planned`: how often each (experiment, variant) was to be run; unless given as often as it was. `levels`: of the intervals of
    claims, by id, where it is not 95 %.
    """
    asked = levels or {}
    verdicts = [
        Verdict(claim, tuple(_judge_part(part, evidence, planned, asked.get(claim.id, LEVEL)) for part in claim.parts))
        for claim in claims
    ]
    tested = [verdict for verdict in verdicts if not math.isnan(verdict.p)]
    adjusted = dict(zip((v.claim.id for v in tested), stats.holm([v.p for v in tested]), strict=True))
    return [replace(verdict, p_holm=adjusted.get(verdict.claim.id, math.nan)) for verdict in verdicts]
