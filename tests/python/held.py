"""Numbers of a text, held by what they are of: an input of the scenario, or a value that a run gives.

A text is prose with numbers. Each number in it is a *name* (802.3x, RFC 9332, a year), an *input* (it stands with its unit in the
file that the text is about), or *held*: `Held` gives the words around it, the number in braces, and the value that it must have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(
    r"(?<![\w.-])(?P<number>\d{1,3}(?: \d{3})+(?!\d)|\d+(?:\.\d+)?)"
    r"(?:\s?(?P<unit>[GMkK]i?[Bb](?:ps|/s)?|B|b/s|bps|ms|us|ns|s|bdp|BDP|p|packets|segments|%)(?!\w))?"
)
_NAMES = re.compile(
    r"\b(?:RFCs? \d+(?: section [\d.]+)?|802\.\w+|Linux [\d.]+|(?:19|20)\d\d|figures? [\d, and]+|docs/\S+)|`[^`]*`|H-TCP"
)
_UNITS = {"bps": "b/s", "kbps": "kb/s", "Mbps": "Mb/s", "Gbps": "Gb/s", "KB": "kB", "BDP": "bdp", "packets": "p"}
_SHARES = {
    "half": 1 / 2,
    "a third": 1 / 3,
    "two thirds": 2 / 3,
    "a quarter": 1 / 4,
    "a fifth": 1 / 5,
    "two fifths": 2 / 5,
    "a tenth": 1 / 10,
}
_WORDS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
)
_COUNTS = {word: i for i, word in enumerate(_WORDS)}


@dataclass(frozen=True)
class Held:
    """Words of a text with numbers in braces, and the values of these numbers in the units of the text.

    A value is right if it rounds to the number as written, or lies `within` that share of it.
    """

    words: str
    values: Callable[[], Sequence[float]]
    within: float = 0.0

    @property
    def plain(self) -> str:
        return self.words.replace("{", "").replace("}", "")

    def wrong(self, text: str) -> list[str]:
        """Returns what is wrong with these words in a text: they are not there, or a number is another one than its value."""
        if self.plain not in text:
            return [f'the text does not say "{self.plain}"']
        written = re.findall(r"\{([^}]+)\}", self.words)
        values = list(self.values())
        if len(written) != len(values):
            return [f'"{self.words}" has {len(written)} numbers and {len(values)} values']
        return [
            f'"{self.plain}": {number} is written, {value:.6g} is right'
            for number, value in zip(written, values, strict=True)
            if not agrees(number, value, self.within)
        ]


def agrees(written: str, value: float, within: float = 0.0) -> bool:
    """Returns whether a value rounds to a number as it is written, or lies within a share of it; a word for a share within 15 %."""
    if written in _SHARES:
        return abs(value - _SHARES[written]) <= max(within, 0.15) * _SHARES[written]
    number = float(_COUNTS[written]) if written in _COUNTS else float(written.replace(" ", ""))
    place = len(written.partition(".")[2])
    return abs(value - number) <= max(0.5000001 * 10.0**-place, within * number)


def _unit(written: str | None) -> str:
    return _UNITS.get(written or "", written or "")


def _numbers(text: str) -> Iterator[tuple[int, float, str]]:
    """The numbers of a text that are no names: where each begins, its value and its unit."""
    for found in _NUMBER.finditer(_NAMES.sub(lambda name: "\0" * len(name[0]), text)):
        yield found.start(), float(found["number"].replace(" ", "")), _unit(found["unit"])


def free(text: str, inputs: str, held: Sequence[Held]) -> list[str]:
    """Returns the numbers of a text that neither its inputs nor a `Held` account for, each with the words around it."""
    given = {(value, unit) for _, value, unit in _numbers(inputs.replace('"', " "))}
    bare = {value for value, _ in given}
    covered: set[int] = set()
    for one in held:
        start = text.find(one.plain)
        if start < 0:
            continue
        place, shift = start, 0
        for brace in re.finditer(r"\{([^}]+)\}", one.words):
            place = start + brace.start() - shift
            covered.update(range(place, place + len(brace[1])))
            shift += 2
    return [
        f"...{text[max(0, place - 30) : place + 30]}..."
        for place, value, unit in _numbers(text)
        if place not in covered and (value, unit) not in given and not (unit == "" and value in bare)
    ]
