"""What a reader must know about intervals of two or three runs."""

from __future__ import annotations

import math

from elephan.base import stats
from elephan.base.quantity import show

ENOUGH = 5  # runs that the words compare with
FEW_MAX = 3
_NAMES = {2: "Two", 3: "Three"}


def few(runs: int) -> str:
    """Returns a sentence on the width of t intervals of so few runs; nothing if there are more, or one.

    The width grows as t / sqrt(n), with Student's t of n - 1 degrees of freedom: of two runs 7.2 times that of five.
    """
    if not 1 < runs <= FEW_MAX:
        return ""
    width, enough = (stats.student(n - 1) / math.sqrt(n) for n in (runs, ENOUGH))
    return (
        f"{_NAMES[runs]} runs: the intervals are wide, about {show(width / enough, '1', 1)} times as wide as those of "
        "five runs would be, and may reach beyond what a link carries."
    )
