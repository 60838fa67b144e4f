"""What values a statistic can have, and its intervals cut off there."""

from __future__ import annotations

from collections.abc import Sequence

from elephan import _core
from elephan.base import stats
from elephan.statistic.measures import EACH, parse

_OF_SHARES = {"jain", "min/max"}  # takes that are between 0 and 1 whatever they are of
_BEYOND = {"sum", "count", "positive", "cov", "first/last"}  # takes of shares that may be above 1
# Takes that are not between the smallest and the largest value.
_SPREADS = {"sd", "range", "p99-p50", "cov", "jain", "min/max", "first/last"}
_NEVER_NEGATIVE = {"count", "positive", "sd", "range", "p99-p50"}  # takes that are 0 or more whatever they are of


def kind_of(name: str) -> str:
    """What values a statistic can have, as the core names it: `share`, `index`, `amount`, `multiple`, or `number` of what may be
    below 0 and of a caller's function.
    """
    measure, take = parse(name)
    if measure.name == EACH:
        return "number"
    if take == "p99/p50":
        return "multiple"
    if take not in _BEYOND | _SPREADS if measure.index else take == "jain" and measure.base in ("goodput_bps", "delivered_bps"):
        return "index"
    if measure.signed and take != "jain":
        return "amount" if take in _NEVER_NEGATIVE else "number"
    return "share" if take in _OF_SHARES or (measure.is_share and take not in _BEYOND) else "amount"


def _bounds(name: str, flows: int = 0, difference: bool = False) -> tuple[float, float]:
    low, top = _core.bounds(kind_of(name), flows, difference)
    return low, top


def top_of(name: str) -> float:
    """The largest value that a statistic can have: 1 of shares, else infinite."""
    return _bounds(name)[1]


def low_of(name: str, flows: int) -> float:
    """The smallest value of a statistic of at most so many flows (0: nobody knows): 1/n of Jain's index, 1 of a multiple, else 0.
    What may be below 0, and what a caller's function gives, is without bounds.
    """
    return _bounds(name, flows)[0]


def of_difference(name: str, flows: int = 0) -> tuple[float, float]:
    """The smallest and the largest difference of two values of a statistic of at most so many flows (0: nobody knows)."""
    return _bounds(name, flows, difference=True)


def difference(name: str, found: stats.Interval, flows: int = 0) -> stats.Interval:
    """The difference of two values of a statistic, cut off at what is possible: shares differ by 100 percentage points at most,
    Jain's index of n flows by 1 - 1/n.
    """
    return stats.within(found, *of_difference(name, flows))


def most_flows(*counts: int) -> int:
    """Of how many flows two or more variants are at most; 0 if nobody knows it of one of them.

    >>> most_flows(2, 3), most_flows(2, 0)
    (3, 0)
    """
    return max(counts) if all(counts) else 0


def interval(name: str, values: Sequence[float], flows: int = 0) -> stats.Interval:
    """Mean of a statistic over repetitions with its 95 % t interval, cut off at the bounds of the quantity; NaN is left out.
    `flows`: of how many flows it is at most.
    """
    return stats.mean_within(values, *_bounds(name, flows))
