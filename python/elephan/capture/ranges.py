"""Which bytes of a stream there are."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Ranges:
    """Ranges of bytes that do not touch one another."""

    __slots__ = ("_begins", "_ends")

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []

    def add(self, begin: int, end: int) -> int:
        """Adds a range; returns how many bytes of it are new."""
        begins, ends = self._begins, self._ends
        if not ends or begin > ends[-1]:
            begins.append(begin)
            ends.append(end)
            return end - begin
        if begin >= begins[-1]:  # it goes on where the last one ends, as nearly always
            new = max(end - ends[-1], 0)
            ends[-1] += new
            return new
        first, last = bisect_left(ends, begin), bisect_right(begins, end)
        had = sum(min(ends[at], end) - max(begins[at], begin) for at in range(first, last))
        if first < last:
            low, high = min(begin, begins[first]), max(end, ends[last - 1])
        else:
            low, high = begin, end
        begins[first:last], ends[first:last] = [low], [high]
        return end - begin - had
