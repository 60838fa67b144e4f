"""Two conformance results side by side: the checks whose verdict or score differs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from elephan.base import stats
from elephan.base.quantity import TIMES, in_files
from elephan.experiment.conformance.conformance import Conformance
from elephan.experiment.conformance.judge import Finding
from elephan.report.screen import Screen, bounds, grid

_MISSING, _VERDICT, _SCORE, _WITHIN, _SAME = "missing", "verdict", "score", "within the intervals", "same"


@dataclass(frozen=True)
class Change:
    """A check in two results; None where a result does not have it."""

    id: str
    a: Finding | None
    b: Finding | None

    @property
    def kind(self) -> str:
        """What differs: the verdict, the score beyond both intervals, the score within them, or nothing; or a side lacks it."""
        if self.a is None or self.b is None:
            return _MISSING
        if self.a.verdict != self.b.verdict:
            return _VERDICT
        one, other = _score(self.a), _score(self.b)
        if one == other or not one.n or not other.n:
            return _SAME if one.n == other.n else _SCORE
        low, high = (max(_end(one, -1), _end(other, -1)), min(_end(one, 1), _end(other, 1)))
        return _SCORE if low > high else _SAME if one.mean == other.mean else _WITHIN

    @property
    def unit(self) -> str:
        """The unit of the scores: times where the margin is in units of another control."""
        of = self.a or self.b
        return TIMES if of is None or of.check.of else of.check.unit

    def as_dict(self) -> dict[str, Any]:
        """Returns the check for JSON."""
        sides = {name: None if one is None else _score(one).as_dict() for name, one in (("a", self.a), ("b", self.b))}
        verdicts = {f"verdict_{name}": None if one is None else one.verdict for name, one in (("a", self.a), ("b", self.b))}
        unit = "1" if self.unit == TIMES else in_files(self.unit)
        return {"check": self.id, "differs": self.kind, "unit": unit, **verdicts, **sides}


@dataclass(frozen=True)
class Verdicts:
    """The checks of two conformance results."""

    a: str  # what the control is called
    b: str
    changes: Sequence[Change]

    def as_dict(self) -> list[dict[str, Any]]:
        """Returns a row for each check for JSON."""
        return [one.as_dict() for one in self.changes]

    def tables(self, screen: Screen) -> None:
        """Prints the checks whose verdict or score differs, verdicts first, and how many others there are."""
        table = grid("check", f"A: {self.a}", f"B: {self.b}", "A", "B", words=(f"A: {self.a}", f"B: {self.b}"))
        listed = [one for kind in (_VERDICT, _SCORE) for one in self.changes if one.kind == kind]
        for one in listed:
            verdicts = ["-" if side is None else side.verdict for side in (one.a, one.b)]
            styles = ["bold" if verdicts[0] != verdicts[1] else "dim"] * 2
            table.add_row(one.id, *map(Text, verdicts, styles), *(_text(side, one.unit) for side in (one.a, one.b)))
        if listed:
            screen.print(table)
        else:
            screen.print("No check has another verdict, or a score beyond the intervals.")
        for side, name in (("A", "a"), ("B", "b")):
            alone = [one.id for one in self.changes if one.kind == _MISSING and getattr(one, name) is not None]
            if alone:
                screen.sentences([f"Only {side} has {', '.join(alone)}."])
        others = {kind: sum(one.kind == kind for one in self.changes) for kind in (_WITHIN, _SAME)}
        screen.print(
            f"Of the other checks {others[_WITHIN]} have another score within the 95 % intervals, {others[_SAME]} the same.",
            style="dim",
        )


def verdicts(a: Conformance, b: Conformance) -> Verdicts:
    """Returns the checks of two results side by side, in the order of A, then those that B alone has."""
    left, right = ({one.check.id: one for one in result.findings} for result in (a, b))
    return Verdicts(a.label, b.label, [Change(id, left.get(id), right.get(id)) for id in dict.fromkeys((*left, *right))])


def _score(finding: Finding) -> stats.Interval:
    """What is judged."""
    return finding.judged if finding.check.of else finding.score


def _end(interval: stats.Interval, side: int) -> float:
    """The lower or the upper end of an interval; of one without ends its mean."""
    end = interval.low if side < 0 else interval.high
    return end if math.isfinite(end) else interval.mean


def _text(finding: Finding | None, unit: str) -> str:
    if finding is None or not _score(finding).n:
        return "-"
    return bounds(_score(finding), unit)
