"""Small expressions of statistics, such as `goodput_bps[b].sum / goodput_bps[a+b].sum`.

Words are separated by spaces outside brackets: statistics (`elephan.statistic.measures`), numbers, `+`, `-`, `*`, `/`, `(`, `)`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from elephan.base.errors import InputError
from elephan.statistic import bounds, measures

_WORD = re.compile(r"\S*?\[[^\]]*\]\S*|\S+")
_SIGNS = ("+", "-", "*", "/", "(", ")")
Values = Mapping[str, float]


@dataclass(frozen=True)
class Expression:
    """An expression that has been read. `statistics`: what it needs of a run."""

    text: str
    statistics: tuple[str, ...]
    _value: Callable[[Values], float]

    def value(self, values: Values) -> float:
        """Returns the value in a run with these statistics; NaN where one is missing, or over zero."""
        return self._value(values)

    @property
    def unit(self) -> str:
        """The unit of a single statistic, or of a statistic over a number; else none."""
        return measures.unit_of(self.text) if self.text in self.statistics else "1"

    @property
    def low(self) -> float:
        """The smallest value that it can have: statistics have none below 0."""
        return -math.inf if "-" in self.text.split() else 0.0

    @property
    def top(self) -> float:
        """The largest value that a single statistic can have."""
        return bounds.top_of(self.text) if self.text in self.statistics else math.inf


def read_expression(text: str) -> Expression:
    """Returns an expression that is read; InputError for a statistic that there is not, and for what is no expression.

    Of two statistics in an expression each is looked up by its whole name.
    """
    words = _WORD.findall(text)
    reader = _Reader(text, words)
    value = reader.sum()
    if reader.rest:
        raise InputError(f'"{text}": {reader.rest[0]} is not expected there')
    return Expression(text, tuple(dict.fromkeys(reader.statistics)), value)


class _Reader:
    """Reads the words from the left."""

    def __init__(self, text: str, words: list[str]) -> None:
        self.text, self.rest = text, words
        self.statistics: list[str] = []

    def _take(self, *signs: str) -> str:
        return self.rest.pop(0) if self.rest and self.rest[0] in signs else ""

    def sum(self) -> Callable[[Values], float]:
        found = self._product()
        while sign := self._take("+", "-"):
            found = _joined(found, self._product(), sign)
        return found

    def _product(self) -> Callable[[Values], float]:
        found = self._term()
        while sign := self._take("*", "/"):
            found = _joined(found, self._term(), sign)
        return found

    def _term(self) -> Callable[[Values], float]:
        if self._take("("):
            found = self.sum()
            if not self._take(")"):
                raise InputError(f'"{self.text}": a ")" is missing')
            return found
        if not self.rest or self.rest[0] in _SIGNS:
            raise InputError(f'"{self.text}": a statistic or a number is missing')
        word = self.rest.pop(0)
        try:
            number = float(word)
        except ValueError:
            measures.parse(word)
            self.statistics.append(word)
            return lambda values: values.get(word, math.nan)
        return lambda _values: number


def _joined(a: Callable[[Values], float], b: Callable[[Values], float], sign: str) -> Callable[[Values], float]:
    def value(values: Values) -> float:
        left, right = a(values), b(values)
        if sign == "/":
            return left / right if right else math.nan
        return left + right if sign == "+" else left - right if sign == "-" else left * right

    return value
