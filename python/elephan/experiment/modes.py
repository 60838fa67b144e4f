"""Two modes: values of runs that fall into two groups, of which a mean says nothing.

A sample has two modes by one of two rules, each with at least two runs and a fifth of all runs in each group:

- *a gap*: with ten runs or more, the widest gap between neighbouring values is more than half of the whole range. Of ten values
  that are spread evenly this is so in less than 3 of 100 samples: each of the seven gaps that leave two runs on each side is
  that wide with probability 1/2 to the power of 8. Between whole numbers, which small counts are, the gap is more than 2.
- *a point*: with six runs or more, the least or the largest value comes several times and is alone, such as no retransmission at
  all. For whole numbers, which repeat in any case, Poisson's distribution with the mean distance from that value must make so
  many repetitions unlikely (below 1 in 1,000).

Both rules are assumptions of elephan and have no source. They add words to a mean and take a verdict from it only where the two
groups lie on different sides of a bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from elephan.base.quantity import counted, show

GAP_RUNS, POINT_RUNS = 10, 6  # the least runs for each rule
SHARE = 0.2  # of the runs that each group has at least
UNLIKELY = 0.001
COUNTS_GAP = 2.0


@dataclass(frozen=True)
class Modes:
    """The two groups of a sample, each in increasing order; both have two values or more."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    def words(self, unit: str, digits: int = 4) -> str:
        """Returns both groups: `two modes: 0 in 5 of 10 runs, 4 to 63 in 5`."""
        runs = len(self.low) + len(self.high)
        first, second = (_range(group, unit, digits) for group in (self.low, self.high))
        return f"two modes: {first} in {len(self.low)} of {counted(runs, 'run')}, {second} in {len(self.high)}"


def _range(group: Sequence[float], unit: str, digits: int) -> str:
    ends = dict.fromkeys(show(value, unit, digits) for value in (group[0], group[-1]))
    return " to ".join(ends)


def modes_of(sample: Sequence[float]) -> Modes | None:
    """Returns the two groups of a sample, or None if it has one.

    >>> modes_of([0, 0, 0, 0, 0, 4, 9, 22, 40, 63]).words("1")
    'two modes: 0 in 5 of 10 runs, 4 to 63 in 5'
    """
    values = sorted(sample)
    if len(values) < POINT_RUNS or not all(math.isfinite(value) for value in values):
        return None
    cut = _gap(values) or _point(values)
    return Modes(tuple(values[:cut]), tuple(values[cut:])) if cut else None


def _least(runs: int) -> int:
    """How many runs a group has at least."""
    return max(2, math.ceil(SHARE * runs))


def _gap(values: Sequence[float]) -> int:
    """Returns where the widest gap divides the values; 0 if it is none."""
    runs = len(values)
    least, width = _least(runs), values[-1] - values[0]
    gap, cut = max((values[place] - values[place - 1], place) for place in range(1, runs))
    wide = gap > (max(width / 2, COUNTS_GAP) if _are_whole(values) else width / 2)
    return cut if runs >= GAP_RUNS and wide and least <= cut <= runs - least else 0


def _point(values: Sequence[float]) -> int:
    """Returns how many values are the least one, or lie below the largest, if either comes often and is alone; 0 if neither is."""
    runs = len(values)
    for value, cut in ((values[0], values.count(values[0])), (values[-1], runs - values.count(values[-1]))):
        there = values.count(value)
        if min(there, runs - there) >= _least(runs) and _is_alone(values, value, there):
            return cut
    return 0


def _are_whole(values: Sequence[float]) -> bool:
    return all(float(one).is_integer() for one in values)


def _is_alone(values: Sequence[float], value: float, there: int) -> bool:
    """Whether so many repetitions of a value are more than chance gives where values are whole numbers."""
    if not _are_whole(values):
        return True
    runs, mean = len(values), sum(abs(one - value) for one in values) / len(values)
    share = math.exp(-mean)
    chance = sum(math.comb(runs, k) * share**k * (1 - share) ** (runs - k) for k in range(there, runs + 1))
    return chance < UNLIKELY
