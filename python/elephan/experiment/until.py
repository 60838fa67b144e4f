"""Repetitions until an interval is narrow enough: `goodput_bps.sum within 2 %`, or until a bound is reached.

All variants get the same repetitions, so that they stay paired: the widest interval decides. If the widest half-width after n
repetitions is h of its mean and the goal is g, about n (h/g)^2 are needed. So many are run, but at most 2 n. This is a sequential
rule (Chow and Robbins, Annals of Mathematical Statistics 36, 1965): it tends to stop where the spread looks smaller than it is, so
that its intervals cover a little less than 95 %. `docs/statistics.md` says how much.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elephan.base import stats
from elephan.base.errors import InputError, brief
from elephan.base.quantity import show
from elephan.experiment.job import Job, Outcomes
from elephan.experiment.trials import REPETITIONS_MAX, Trials
from elephan.statistic import measures

LEAST = 10  # repetitions before the first look, since the spread of fewer says little
MOST = 100  # repetitions, unless the goal says otherwise
_GOAL = re.compile(r"\s*(?P<statistic>\S.*?)\s+within\s+(?P<width>[\d.]+)\s*%(?:,?\s+at\s+most\s+(?P<most>\d+))?\s*")


@dataclass(frozen=True)
class Goal:
    """How narrow the 95 % interval of a statistic is to be: `width` is its half-width over its mean."""

    text: str
    statistic: str
    width: float
    most: int

    @classmethod
    def read(cls, text: Any) -> Goal:
        """Returns the goal that a text says; anything else is an InputError."""
        match = _GOAL.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise InputError(f'until {brief(text)}: write it like "goodput_bps.sum within 2 %" or "... within 2 %, at most 200"')
        measures.parse(match["statistic"])
        most = int(match["most"] or MOST)
        try:
            width = float(match["width"]) / 100
        except ValueError:
            width = 0.0
        if not 0 < width < 1:
            raise InputError(f"until {brief(text)}: the width is between 0 and 100 %")
        if not 2 <= most <= REPETITIONS_MAX:
            raise InputError(f"until {brief(text)}: the most repetitions are from 2 to {REPETITIONS_MAX}")
        return cls(f"{match['statistic']} within {show(width, '%')}", match["statistic"], width, most)

    def first(self, repetitions: int) -> int:
        """How many repetitions come before the first look."""
        return min(max(repetitions, LEAST), self.most)

    def look(self, trials: Trials, labels: Sequence[str], repetitions: int) -> Look:
        """Returns how wide the intervals are after so many repetitions."""
        values = {label: [v for v in trials.by_seed(label, self.statistic).values() if math.isfinite(v)] for label in labels}
        width, label = max((_relative(found), label) for label, found in values.items())
        return Look(self, repetitions, width, label, all(values.values()))


def _relative(values: list[float]) -> float:
    """The half-width of the interval of a mean over the mean; infinite where nobody knows."""
    interval = stats.mean_within(values)
    if interval.low == interval.high:
        return 0.0
    known = math.isfinite(interval.half_width) and interval.mean != 0
    return interval.half_width / abs(interval.mean) if known else math.inf


@dataclass(frozen=True)
class Look:
    """The widest interval after some repetitions, over its mean, and the variant that has it."""

    goal: Goal
    repetitions: int
    width: float
    label: str
    known: bool = True  # whether every variant has a value

    @property
    def reached(self) -> bool:
        return self.width <= self.goal.width

    @property
    def more(self) -> int:
        """How many repetitions come next in all; none where the goal or its bound is reached."""
        if self.reached or self.repetitions >= self.goal.most:
            return 0
        needed = self.repetitions * (self.width / self.goal.width) ** 2
        least, most = self.repetitions + 1, min(2 * self.repetitions, self.goal.most)
        return max(least, math.ceil(min(needed, most)))

    @property
    def words(self) -> str:
        """`goodput_bps.sum is within 2 % after 24 repetitions: at most 1.9 %, of rate=10 Mbps.`"""
        widest = f"{show(self.width, '%')}, of {self.label}" if math.isfinite(self.width) else f"{self.label} has no interval"
        head = f"{self.goal.statistic} is {'' if self.reached else 'not '}within {show(self.goal.width, '%')} after"
        if self.reached:
            return f"{head} {self.repetitions} repetitions: at most {widest}."
        if not self.known:
            return f"{head} {self.repetitions} repetitions: no run of {self.label} has a value."
        more = f"{self.goal.text}, at most {4 * self.goal.most}"
        return f'{head} {self.repetitions} repetitions, the most there may be: {widest}. For more, say until = "{more}".'

    def as_dict(self) -> Mapping[str, Any]:
        """What a sweep remembers of it."""
        width = self.width if math.isfinite(self.width) else None
        return {
            "goal": self.goal.text,
            "reached": self.reached,
            "repetitions": self.repetitions,
            "width": width,
            "words": self.words,
        }


def run_until(
    goal: Goal, labels: Sequence[str], jobs_of: Callable[[int], list[Job]], begin: int, run: Callable[[list[Job]], Outcomes]
) -> tuple[Outcomes, Look]:
    """Runs the jobs of ever more repetitions; `run` does what it is given, `jobs_of` tells all jobs of some repetitions."""
    repetitions, done = goal.first(begin), Outcomes([])
    while True:
        jobs = jobs_of(repetitions)
        had, interrupted = {outcome.job.label: outcome for outcome in done}, False
        try:
            new = run([job for job in jobs if job.label not in had])
        except KeyboardInterrupt:
            if not had:
                raise
            new, interrupted = Outcomes([]), True
        had |= {outcome.job.label: outcome for outcome in new}
        done = Outcomes([had[job.label] for job in jobs if job.label in had], len(jobs), interrupted or new.interrupted)
        look = goal.look(Trials(done.trials), labels, repetitions)
        if done.interrupted or not look.more or not look.known:
            return done, look
        repetitions = look.more
