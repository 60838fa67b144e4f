"""Repetitions until claims are decided: what an open claim looks at runs again with further seeds, up to a number of repetitions.

`elephan study run NAME --until 40` doubles the repetitions of the variants that open claims look at, until each claim holds or
fails, 40 repetitions are reached, or the budget of time is spent. Each look is a chance to be wrong. So the claims that are open
after the study's own repetitions are judged by wider intervals from then on: with k further looks planned, by those of level
1 - 5 %/k (Bonferroni), which keeps the chance of a wrong verdict in all further looks at 5 %. A claim whose runs have two modes is
not repeated: more runs do not decide it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import seconds
from elephan.experiment.claims import ALPHA, INCONCLUSIVE, Verdict
from elephan.experiment.trials import REPETITIONS_MAX

Place = tuple[str, str]  # an experiment and a variant


@dataclass(frozen=True)
class Until:
    """At most how many repetitions there are of what an open claim looks at, and how long may be spent on them, in seconds."""

    most: int
    budget_s: float = math.inf

    @classmethod
    def read(cls, most: int, budget: str | None = None) -> Until:
        """Returns what a caller asks for; raises InputError for numbers and times that make no sense."""
        if isinstance(most, bool) or not isinstance(most, int) or not 2 <= most <= REPETITIONS_MAX:
            raise InputError(f"until {most}: the most repetitions are a number from 2 to {REPETITIONS_MAX}")
        spent = math.inf if budget is None else seconds(budget)
        if not spent > 0:
            raise InputError(f"budget {budget}: a time above 0")
        return cls(most, spent)

    def looks(self, repetitions: int) -> int:
        """Returns how many further looks there can be from so many repetitions on: they double each time."""
        return math.ceil(math.log2(self.most / repetitions)) if self.most > repetitions else 0


@dataclass
class Decided:
    """What further repetitions were run: the repetitions of each place, and the level of each claim that was open before."""

    repetitions: dict[Place, int] = field(default_factory=dict)
    levels: dict[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values, for the manifest."""
        repetitions = [[*place, count] for place, count in self.repetitions.items()]
        return {"repetitions": repetitions, "levels": self.levels}

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Decided:
        """Returns what a manifest says."""
        return cls({(one[0], one[1]): one[2] for one in written["repetitions"]}, dict(written["levels"]))


def _places(verdict: Verdict) -> set[Place]:
    """What the open parts of a claim look at."""
    parts = (finding.part for finding in verdict.run if finding.verdict == INCONCLUSIVE and not finding.part.every)
    return {(part.experiment, variant) for part in parts for variant in (part.variant, part.against) if variant}


def _open(verdicts: Sequence[Verdict]) -> list[Verdict]:
    return [one for one in verdicts if one.verdict == INCONCLUSIVE and not one.modes and _places(one)]


def decide(
    until: Until,
    planned: Mapping[Place, int],
    judged: Callable[[Decided], Sequence[Verdict]],
    run: Callable[[Mapping[Place, tuple[int, int]]], bool],
) -> Decided:
    """Runs further repetitions until claims are decided.

    `judged` gives the verdicts with what has been run; `run` runs the seeds from the first to the second number at each place, both
    included, and returns whether all of them ran.
    """
    begin, found = time.monotonic(), Decided()
    first = _open(judged(found))
    if not first:
        return found
    looks = max(until.looks(planned[place]) for one in first for place in _places(one))
    found.levels = {one.claim.id: 1 - ALPHA / max(1, looks) for one in first}
    names = set(found.levels)
    while time.monotonic() - begin < until.budget_s:
        wanted: dict[Place, tuple[int, int]] = {}
        for place in sorted({place for one in _open(judged(found)) if one.claim.id in names for place in _places(one)}):
            had = found.repetitions.get(place, planned[place])
            if had < until.most:
                wanted[place] = (had + 1, min(2 * had, until.most))
        if not wanted or not run(wanted):
            return found
        found.repetitions |= {place: last for place, (_, last) in wanted.items()}
    return found
