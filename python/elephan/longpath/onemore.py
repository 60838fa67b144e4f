"""What one packet more that the path loses would cost: the same transfer, simulated with that packet missing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from elephan.longpath.forms import Bounds
from elephan.longpath.question import Question
from elephan.longpath.row import Row, row_of
from elephan.longpath.simulate import PACKETS_MAX, Ask, Result

USED_TO_IT = 3  # packets lost in the part that was simulated: a row with so many shows what losses cost


def ordinal(question: Question, limits: Bounds, packets: int) -> int:
    """The packet that is lost: half of what is simulated comes after it."""
    return max(1, round(min(question.size_bytes / limits.mss_bytes, packets) / 2))


def needs_loss(question: Question, row: Row) -> bool:
    """Whether nothing that was simulated says what a loss costs."""
    return not question.loss and row.drops + row.lost + row.stalls < USED_TO_IT


def with_one_loss(ask: Ask, packets: int = PACKETS_MAX) -> Ask:
    """The same case with that packet lost."""
    return replace(ask, question=replace(ask.question, lost_packet=ordinal(ask.question, ask.limits, packets)))


def longest(asks: Sequence[Ask], found: Sequence[Result | None]) -> float:
    """The longest time, in s, of the repetitions of one case; NaN if no run came through."""
    through = [one for one in found if one is not None]
    return row_of(asks[0].question, asks[0].limits, through).claimed_s if through else math.nan
