"""A row of an answer: a congestion control with a number of streams, how long it takes, and how that is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elephan import _renamed
from elephan.base import stats
from elephan.experiment.path.forms import Bounds, expected_bps
from elephan.experiment.path.question import Question
from elephan.experiment.path.simulate import Result
from elephan.experiment.path.verdict import what_limits

ROUGH = 1.25  # times its shortest the longest time of a range is from which on a row is only an estimate


@_renamed.attributes(law="controller")
@dataclass(frozen=True)
class Row:
    """A congestion control with a number of streams: how long, how fast, what limits, how it is known."""

    controller: str
    streams: int
    time_s: stats.Interval  # of an estimate the range that the whole simulation lies in, else the 95 % interval
    goodput_bps: stats.Interval
    limit: str
    simulated_share: float  # of the time, in the mean
    method: str  # of the rest; empty when all was simulated
    expected_bps: float  # by closed forms alone
    drops: float  # at the bottleneck, in the part that was simulated
    lost: float  # by the path itself, likewise
    stalls: float = 0.0  # segments that the sender's host refused, likewise
    one_loss_s: float = math.nan  # the longest time if the path loses one packet more; NaN where that was not asked

    @property
    def name(self) -> str:
        """The congestion control and the streams in words."""
        return f"{self.controller} with {self.streams} stream{'' if self.streams == 1 else 's'}"

    @property
    def is_estimate(self) -> bool:
        """Whether a part of the time follows by a rule, so that the bounds are a range."""
        return bool(self.method)

    @property
    def is_rough(self) -> bool:
        """Whether the range is so wide that the time is only an estimate."""
        return self.is_estimate and not self.time_s.high <= ROUGH * self.time_s.low

    @property
    def longest_s(self) -> float:
        """Seconds that a row takes without a further loss: its time, of an estimate the longest."""
        return self.time_s.high if self.is_estimate else self.time_s.mean

    @property
    def claimed_s(self) -> float:
        """Seconds that a row is ranked by: the longest, and with one packet lost if that was asked."""
        return self.longest_s if math.isnan(self.one_loss_s) else max(self.longest_s, self.one_loss_s)

    def as_dict(self) -> dict[str, Any]:
        return {
            "controller": self.controller,
            "streams": self.streams,
            "time_s": self.time_s.as_dict(),
            "goodput_bps": self.goodput_bps.as_dict(),
            "estimate": self.is_estimate,
            "rough": self.is_rough,
            "limit": self.limit,
            "simulated_share": self.simulated_share,
            "method": self.method,
            "closed_form_goodput_bps": self.expected_bps,
            "drops": self.drops,
            "lost": self.lost,
            "stalls": self.stalls,
            "one_loss_s": None if math.isnan(self.one_loss_s) else self.one_loss_s,
        }


def row_from(found: Mapping[str, Any]) -> Row:
    """A row as `as_dict` wrote it."""
    named = {key: found[key] for key in ("controller", "streams", "limit", "simulated_share", "method", "drops", "lost", "stalls")}
    times, goodput = _interval(found["time_s"]), _interval(found["goodput_bps"])
    once = math.nan if found["one_loss_s"] is None else float(found["one_loss_s"])
    return Row(**named, time_s=times, goodput_bps=goodput, expected_bps=found["closed_form_goodput_bps"], one_loss_s=once)


def _interval(found: Mapping[str, Any]) -> stats.Interval:
    mean, low, high = (math.nan if found[key] is None else float(found[key]) for key in ("mean", "ci_low", "ci_high"))
    return stats.Interval(mean, low, high, int(found["n"]))


def rows_of(question: Question, limits: Bounds, results: Sequence[Result]) -> list[Row]:
    """A row for each congestion control and number of streams."""
    groups: dict[tuple[str, int], list[Result]] = {}
    for one in results:
        groups.setdefault((one.case.controller.label, one.case.streams), []).append(one)
    return [row_of(question, limits, members) for members in groups.values()]


def row_of(question: Question, limits: Bounds, members: Sequence[Result]) -> Row:
    """The row of one congestion control and number of streams, from its repetitions."""
    case = members[0].case
    goodputs = [question.size_bytes * 8 / one.time_s for one in members]
    verdicts = [what_limits(one.evidence, limits, case.streams, goodput) for one, goodput in zip(members, goodputs, strict=True)]
    times = _times(question, limits, members)
    counts = {name: sum(one.values[name] for one in members) / len(members) for name in ("drops", "lost", "stalls")}
    mean, high, low = (question.size_bytes * 8 / seconds for seconds in (times.mean, times.low, times.high))
    return Row(
        controller=case.controller.label,
        streams=case.streams,
        time_s=times,
        goodput_bps=replace(times, mean=mean, low=low, high=high),  # of the mean time: a mean of goodputs is another transfer's
        limit=max(dict.fromkeys(verdicts), key=verdicts.count),
        simulated_share=sum(one.simulated_s / one.time_s for one in members) / len(members),
        method="; ".join(dict.fromkeys(one.method for one in members if one.method)),
        expected_bps=expected_bps(case.controller, question, limits, case.streams),
        **counts,
    )


def _times(question: Question, limits: Bounds, members: Sequence[Result]) -> stats.Interval:
    """The mean time with the interval of its repetitions, or with the mean of their ranges if any of them is an estimate."""
    times = stats.mean_within([one.time_s for one in members], question.size_bytes * 8 / limits.wire_bps)
    if any(one.method for one in members):
        low, high = (sum(bound) / len(members) for bound in ([one.low_s for one in members], [one.high_s for one in members]))
        return replace(times, low=low, high=high, method="range")
    if question.loss and times.n > 1 and times.low == times.high:
        # Runs without a loss are all alike, and say nothing of how far one with a loss is from them.
        return replace(times, low=math.nan, high=math.nan)
    return times
