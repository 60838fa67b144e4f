"""Two modes: values of runs that fall into two groups, of which a mean says nothing.

A sample has two modes by one of two rules, each with at least two runs and a fifth of all runs in each group:

- *a gap*: with ten runs or more, the widest gap between neighbouring values is more than half of the whole range. Of ten values
  that are spread evenly this is so in less than 3 of 100 samples: each of the seven gaps that leave two runs on each side is
  that wide with probability 1/2 to the power of 8. Between values that count steps, the gap is more than 2 steps.
- *a point*: with six runs or more, the least or the largest value comes several times and is alone, such as no retransmission at
  all. If the values count steps, they repeat in any case. Then Poisson's distribution with the mean distance from that value must
  make so many repetitions unlikely (below 1 in 1,000).

Values count steps if they are whole multiples of a number: packets, bytes of full frames, seconds of a time that is taken each
second. The step is the greatest common divisor of the values.

Two modes are two outcomes, so two conditions go with both rules:

- The groups are apart by more than 1 % of the largest value. Closer groups are one outcome to every reader. The share is an
  assumption of elephan.
- The groups are apart in relation to their spreads: Ashman's D is above 2 (Ashman, Bird and Zepf, Astronomical Journal 108, 1994).
  D is the distance of the means over the root mean square of both standard deviations. A gap of more than half of the range always
  has it. A point at zero needs no D: what happens in the other runs may spread as it likes.

The two rules are assumptions of elephan and have no source. They add words to a mean and take a verdict from it only where the two
groups lie on different sides of a bound.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from elephan.base.quantity import counted, show

GAP_RUNS, POINT_RUNS = 10, 6  # the least runs for each rule
SHARE = 0.2  # of the runs that each group has at least
UNLIKELY = 0.001
STEPS_GAP = 2  # between values that count steps
APART = 0.01  # of the largest value: what two outcomes differ by at least
CLEAN = 2.0  # Ashman's D of two groups that a reader can tell apart


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


def modes_of(sample: Sequence[float], scale: float = 0.0) -> Modes | None:
    """Returns the two groups of a sample, or None if it has one.

    `scale`: the size of what was measured, in the unit of the sample; the largest value of the sample unless it is more. A sample
    of differences needs it: they may be small beside the values that differ.

    >>> modes_of([0, 0, 0, 0, 0, 4, 9, 22, 40, 63]).words("1")
    'two modes: 0 in 5 of 10 runs, 4 to 63 in 5'
    >>> modes_of([9.4922, 9.4923, 9.4922, 9.4925, 9.4925, 9.4925]) is None
    True
    """
    values = sorted(sample)
    if len(values) < POINT_RUNS or not all(math.isfinite(value) for value in values):
        return None
    size = max(scale, abs(values[0]), abs(values[-1]))
    return next((found for cut in (_gap(values), _point(values)) if cut and (found := _told_apart(values, cut, size))), None)


def _told_apart(values: Sequence[float], cut: int, size: float) -> Modes | None:
    """Returns the groups on both sides of a place, or None if they are one outcome."""
    low, high = values[:cut], values[cut:]
    is_zero = not any(low) or not any(high)
    is_clean = is_zero or separation(low, high) > CLEAN
    return Modes(tuple(low), tuple(high)) if high[0] - low[-1] > APART * size and is_clean else None


def separation(low: Sequence[float], high: Sequence[float]) -> float:
    """Returns Ashman's D of two groups of at least two values: infinite if neither of them spreads.

    >>> round(separation([0, 2], [9, 11]), 3)  # 9 over the root of (2 + 2) / 2
    6.364
    """
    spread = math.sqrt((statistics.variance(low) + statistics.variance(high)) / 2)
    return (statistics.fmean(high) - statistics.fmean(low)) / spread if spread else math.inf


def _least(runs: int) -> int:
    """How many runs a group has at least."""
    return max(2, math.ceil(SHARE * runs))


def _gap(values: Sequence[float]) -> int:
    """Returns where the widest gap divides the values; 0 if it is none."""
    runs = len(values)
    least, width = _least(runs), values[-1] - values[0]
    gap, cut = max((values[place] - values[place - 1], place) for place in range(1, runs))
    wide = gap > max(width / 2, STEPS_GAP * _step(values))
    return cut if runs >= GAP_RUNS and wide and least <= cut <= runs - least else 0


def _point(values: Sequence[float]) -> int:
    """Returns how many values are the least one, or lie below the largest, if either comes often and is alone; 0 if neither is."""
    runs = len(values)
    for value, cut in ((values[0], values.count(values[0])), (values[-1], runs - values.count(values[-1]))):
        there = values.count(value)
        if min(there, runs - there) >= _least(runs) and _is_alone(values, value, there):
            return cut
    return 0


def _step(values: Sequence[float]) -> int:
    """Returns the step that the values count, 0 if they are no whole numbers."""
    return math.gcd(*(int(one) for one in values)) if all(float(one).is_integer() for one in values) else 0


def _is_alone(values: Sequence[float], value: float, there: int) -> bool:
    """Whether so many repetitions of a value are more than chance gives where values count steps."""
    if not (step := _step(values)):
        return True
    runs, mean = len(values), sum(abs(one - value) for one in values) / step / len(values)
    share = math.exp(-mean)
    chance = sum(math.comb(runs, k) * share**k * (1 - share) ** (runs - k) for k in range(there, runs + 1))
    return chance < UNLIKELY
