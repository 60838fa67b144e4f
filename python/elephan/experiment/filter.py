"""Conditions on parameters and seeds, as a person types them: `limit >= 50 kB and queue == red and not seed in (1, 2)`.

A condition compares a parameter with a value by `==`, `!=`, `<`, `<=`, `>` or `>=`, or names its values with `in (..., ...)`.
Conditions are joined by `and`, `or`, `not` and parentheses; `and` binds more closely than `or`. A parameter is named by its path or
by any end of it that no other parameter has; `queue.kind` is also `queue`. Values have units as in scenarios. A value in quotes may
have any signs. Nothing is evaluated as Python.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from elephan.base.errors import InputError, brief, nearest
from elephan.base.quantity import unit_parts
from elephan.experiment.trials import Trial, Variant, as_text, worded
from elephan.scenario import settings
from elephan.scenario.reference import reference_of, short

DEPTH_MAX = 50  # of parentheses
VALUES_TOLD = 5  # in an error
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
_SPACE = re.compile(r"\s*")
_OPERATOR = re.compile("|".join(map(re.escape, _COMPARE)))
_WORD = re.compile(r"[^\s=!<>(),\"']+")
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")
# A value ends before what can follow it. Braces and brackets belong to it, as in `{ kind = "cubic" }`.
_BARE = re.compile(r"(?:\{(?:[^{}]|\{[^{}]*\})*\}|\[[^\[\]]*\]|(?!\s+(?:and|or)\b)[^=!<>(),{}\[\]])+")

Predicate = Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Filter:
    """A condition that was read. `names` are the parameters that it asks about."""

    text: str
    names: frozenset[str]
    holds: Predicate

    def __call__(self, parameters: Mapping[str, Any]) -> bool:
        """Returns whether the condition holds for a variant's parameters, and its seed if the condition asks for that."""
        return self.holds(parameters)


def parse(text: str, known: Mapping[str, Collection[Any] | None], what: str = "filter") -> Filter:
    """Returns the condition that `text` says about the parameters in `known`.

    `known` has the values that each parameter takes; None where they are not known before, as of a seed. `what` begins each error.
    Raises InputError for a parameter or value that there is not, for a unit that does not fit, and for what cannot be read. A
    parameter that a variant does not set differs from every value.

    >>> from elephan.experiment.filter import parse
    >>> wanted = parse("buffer >= 50 kB and seed <= 2", {"buffer": ["10 kB", "50 kB"], "seed": None})
    >>> wanted({"buffer": "50 kB", "seed": 2}), wanted({"buffer": "10 kB", "seed": 2})
    (True, False)
    """
    if not isinstance(text, str) or not text.strip():
        raise InputError(f'{what}: write a condition such as "buffer >= 50 kB"')
    reader = _Reader(text, known, what)
    holds = reader.either(0)
    if reader.place < len(text):
        raise reader.wrong(f'"and" or "or" was expected before "{text[reader.place :]}"')
    return Filter(text, frozenset(reader.asked), holds)


def values_of(variants: Iterable[Variant]) -> dict[str, list[Any] | None]:
    """Returns the values of each parameter, as `parse` wants them, and a seed."""
    found: dict[str, dict[str, Any]] = {}
    for variant in variants:
        for name, value in variant.parameters.items():
            found.setdefault(name, {}).setdefault(as_text(value), value)
    return {"seed": None, **{name: [*values.values()] for name, values in found.items()}}


def chosen(
    variants: Sequence[Variant], rows: Sequence[Trial], condition: str, what: str = "--filter"
) -> tuple[list[Variant], list[Trial], dict[str, Any]]:
    """Returns the variants and the runs for which a condition holds, and what a report says of it; InputError if no run is left."""
    holds = parse(condition, values_of(variants), what)
    settings = {variant.label: variant.parameters for variant in variants}
    if "seed" in holds.names:
        found = [row for row in rows if holds({**settings[row.variant], "seed": row.seed})]
        labels = {row.variant for row in found}
    else:
        labels = {label for label, parameters in settings.items() if holds(parameters)}
        found = [row for row in rows if row.variant in labels]
    if not found:
        raise InputError(f"{what} {brief(condition)}: no run is such; there are {len(rows)} runs of {len(variants)} variants")
    return [one for one in variants if one.label in labels], found, {"condition": condition, "of": len(variants)}


def failures_of(lines: Iterable[str], variants: Iterable[Variant]) -> list[str]:
    """Returns the lines of failed runs that are of some variants."""
    begins = tuple(f"{variant.label} seed " for variant in variants)
    return [line for line in lines if line.startswith(begins)]


def spellings(names: Collection[str]) -> dict[str, list[str]]:
    """Returns each end of each path, with the paths that end so: `queue.limit` and `limit` for `template.queue.limit`."""
    found: dict[str, list[str]] = {}
    for name in names:
        short = name.removesuffix(".kind")
        for path in dict.fromkeys((name, short)):
            parts = re.split(r"\.(?![^\[\"]*[\]\"])", path)
            for first in range(len(parts)):
                found.setdefault(".".join(parts[first:]), []).append(name)
    return found | {name: [name] for name in names}


class _Reader:
    """Reads a condition from left to right; `place` is where it is."""

    def __init__(self, text: str, known: Mapping[str, Collection[Any] | None], what: str) -> None:
        self.text, self.known, self.what = text, known, what
        self.place = 0
        self.asked: set[str] = set()
        self.spelled = spellings(known)

    def wrong(self, why: str) -> InputError:
        return InputError(f"{self.what} {brief(self.text)}: {why}")

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Takes what matches here, and the space behind it."""
        match = pattern.match(self.text, self.place)
        if match is not None:
            behind = _SPACE.match(self.text, match.end())
            self.place = behind.end() if behind else match.end()
        return match

    def word(self, *words: str) -> bool:
        """Takes one of some words or signs if it is here."""
        ended = (re.escape(word) + (r"(?![\w.])" if word.isalpha() else "") for word in words)
        return self.take(re.compile("|".join(ended))) is not None

    def either(self, depth: int) -> Predicate:
        parts = [self.both(depth)]
        while self.word("or"):
            parts.append(self.both(depth))
        return parts[0] if len(parts) == 1 else lambda given: any(part(given) for part in parts)

    def both(self, depth: int) -> Predicate:
        parts = [self.single(depth)]
        while self.word("and"):
            parts.append(self.single(depth))
        return parts[0] if len(parts) == 1 else lambda given: all(part(given) for part in parts)

    def single(self, depth: int) -> Predicate:
        self.take(re.compile(""))  # the space before
        negated = False
        while self.word("not"):
            negated = not negated
        if self.word("("):
            if depth >= DEPTH_MAX:
                raise self.wrong(f"parentheses are nested more than {DEPTH_MAX} deep")
            holds = self.either(depth + 1)
            if not self.word(")"):
                raise self.wrong('a ")" is missing')
        else:
            holds = self.comparison()
        return (lambda given: not holds(given)) if negated else holds

    def comparison(self) -> Predicate:
        name = self.name()
        self.asked.add(name)
        if self.word("in"):
            if not self.word("("):
                raise self.wrong(f'write the values after "in" in parentheses, as {name} in (1, 2)')
            parts = [self.value(name, "==")]
            while self.word(","):
                parts.append(self.value(name, "=="))
            if not self.word(")"):
                raise self.wrong('a ")" is missing')
            return lambda given: any(part(given) for part in parts)
        sign = self.take(_OPERATOR)
        if sign is None:
            raise self.wrong(f'after "{name}" one of == != < <= > >= in was expected')
        return self.value(name, sign[0])

    def name(self) -> str:
        """Takes the name of a parameter: of those that there are the longest that stands here."""
        if quoted := self.take(_QUOTED):
            return self.resolved(quoted[1] or quoted[2] or "")
        here = [one for one in self.spelled if self.text.startswith(one, self.place)]
        for one in sorted(here, key=len, reverse=True):
            if self.take(re.compile(re.escape(one) + r"(?=[\s=!<>)]|$)")):
                return self.resolved(one)
        word = self.take(_WORD)
        if word is None:
            raise self.wrong("it ends before a parameter" if self.place >= len(self.text) else "a parameter was expected")
        return self.resolved(word[0])

    def resolved(self, spelled: str) -> str:
        """Returns the parameter that a name means."""
        meant = self.spelled.get(spelled, [])
        if len(meant) > 1:
            raise self.wrong(f'"{spelled}" may be {" or ".join(meant)}; write more of it')
        if not meant:
            raise self.wrong(f'no parameter "{spelled}"{_near(spelled, [*self.spelled], [*self.known])}')
        return meant[0]

    def value(self, name: str, sign: str) -> Predicate:
        """Takes a value; returns the comparison with it."""
        quoted = self.take(_QUOTED)
        if quoted:
            text = quoted[1] or quoted[2] or ""
        else:
            bare = self.take(_BARE)
            text = bare[0].strip() if bare else ""
            if not text:
                raise self.wrong(f"a value of {name} was expected")
        values = self.known[name]
        wanted = _number(text)
        if values is None:
            if wanted is None or wanted[1]:
                raise self.wrong(f'{name} is a number, not "{text}"')
            return _by_number(name, sign, wanted)
        units = {found[1] for found in map(_number, values) if found is not None}
        if wanted is not None and wanted[1] in units:
            if sign in ("==", "=", "!=") and all(_number(one) != wanted for one in values):
                raise self.wrong(f"{name} is never {text}; {_closest(values, wanted)}")
            return _by_number(name, sign, wanted)
        names = {one for given in values if _number(given) is None for one in _names(given)}
        word = as_text(settings.value(text)) if text.startswith("{") else text
        if word in names and sign in ("==", "=", "!="):
            differs = sign == "!="
            return lambda given: (word in _names(given.get(name))) != differs
        if not units and sign not in ("==", "=", "!="):
            raise self.wrong(f"{name} has names, {_some(sorted(names))}, which have no order; compare them with == or !=")
        if units and (wanted is not None or sign not in ("==", "=", "!=") or not names):
            example = next(one for one in values if _number(one) is not None)
            raise self.wrong(f'"{text}" is no value of {name}; write it like {as_text(example)}')
        raise self.wrong(f'{name} is never "{text}"{_near(text, sorted(names), sorted(names))}')


def _names(value: Any) -> tuple[str, ...]:
    """How a value that is a name may be written: as text, and a table also by its name, alone or as reports write it."""
    key, name = reference_of(value) or ("kind", value.get("kind") if isinstance(value, Mapping) else None)
    if not isinstance(name, str):
        return (as_text(value),)
    return as_text(value), name if key == "kind" else short(key, name), worded(value)


def _near(name: str, spelled: list[str], told: list[str]) -> str:
    """The hint for an unknown name: what is nearest of all that may be written, or those that there are."""
    hint = nearest(name, spelled)
    return hint if hint.startswith(";") else f"; there {'are' if len(told) != 1 else 'is'} {_some(told) or 'none'}"


_PLAIN = {"packets": ("p", 1.0), "BDP": ("bdp", 1.0), "%": ("", 0.01)}  # units that are written in two ways


def _number(value: Any) -> tuple[float, str] | None:
    """A value as a number with its unit in tables; None for a name."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    return _of_text(value) if isinstance(value, str) else (float(value), "")


@lru_cache(4096)
def _of_text(text: str) -> tuple[float, str] | None:
    sign, text = (-1, text.strip()[1:]) if text.strip().startswith("-") else (1, text)
    if (found := unit_parts(text)) is None:
        return None
    unit, factor = _PLAIN.get(found[1], (found[1], 1.0))
    return float(f"{sign * found[0] * factor:.12g}"), unit


def _by_number(name: str, sign: str, wanted: tuple[float, str]) -> Predicate:
    compare, differs = _COMPARE[sign], sign == "!="

    def holds(given: Mapping[str, Any]) -> bool:
        found = _number(given.get(name))
        return compare(found[0], wanted[0]) if found is not None and found[1] == wanted[1] else differs

    return holds


def _closest(values: Collection[Any], wanted: tuple[float, str]) -> str:
    """The values in the same unit, or of many the nearest two."""
    found = sorted((one[0], as_text(value)) for value in values if (one := _number(value)) is not None and one[1] == wanted[1])
    head = "it is "
    if len(found) > VALUES_TOLD:
        head = "the nearest are "
        found = sorted(sorted(found, key=lambda one: abs(one[0] - wanted[0]))[:2])
    return head + ", ".join(dict.fromkeys(text for _, text in found))


def _some(names: list[str]) -> str:
    return ", ".join(names[:VALUES_TOLD]) + (f" and {len(names) - VALUES_TOLD} more" if len(names) > VALUES_TOLD else "")
