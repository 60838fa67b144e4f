"""What values a statistic can have, and its intervals cut off there."""

from __future__ import annotations

import math
from collections.abc import Sequence

from elephan.base import stats
from elephan.statistic.measures import EACH, parse

_OF_SHARES = {"jain", "min/max"}  # takes that are between 0 and 1 whatever they are of
_BEYOND = {"sum", "count", "positive", "cov", "p99/p50"}  # takes of shares that may be above 1
_SPREADS = {"sd", "range", "p99-p50", "cov", "jain", "min/max"}  # takes that are not between the smallest and the largest value


def top_of(name: str) -> float:
    """The largest value that a statistic can have: 1 of shares, else infinite."""
    measure, take = parse(name)
    if measure.name == EACH:
        return math.inf
    return 1.0 if take in _OF_SHARES or (measure.is_share and take not in _BEYOND) else math.inf


def low_of(name: str, flows: int) -> float:
    """The smallest value of a statistic of at most so many flows (0: nobody knows): 1/n of Jain's index, else 0.
    What a caller's function gives is without bounds.
    """
    measure, take = parse(name)
    if measure.name == EACH:
        return -math.inf
    index = take not in _BEYOND | _SPREADS if measure.index else take == "jain" and measure.base in ("goodput_bps", "delivered_bps")
    return 1 / flows if index and flows else 0.0


def difference(name: str, found: stats.Interval) -> stats.Interval:
    """The difference of two values of a statistic, cut off at what is possible: shares differ by 100 percentage points at most."""
    return stats.within(found, -top_of(name), top_of(name))


def interval(name: str, values: Sequence[float], flows: int = 0) -> stats.Interval:
    """Mean of a statistic over repetitions with its 95 % t interval, cut off at the bounds of the quantity; NaN is left out.
    `flows`: of how many flows it is at most.
    """
    return stats.mean_within(values, low_of(name, flows), top_of(name))
