"""The file of claims, `claims.toml`, read and checked: a mistake is one line with its place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from elephan.base.errors import InputError, nearest
from elephan.experiment.claims import CAUSES, COMPARISONS, Bounds, Claim, Part
from elephan.experiment.declaration import Declaration
from elephan.experiment.numbers import Number, check_places, read_numbers
from elephan.statistic import measures

_NUMBER = (int, float)
_CLAIM: Mapping[str, Any] = {
    **dict.fromkeys(("id", "statement", "source", "says", "derived", "reason", "cause"), str),
    "need": _NUMBER,
    "parts": list,
}
_BOUNDS = ("min", "above", "max", "below")
_PART = {
    **dict.fromkeys(("experiment", "statistic", "variant", "compare", "against", "given"), str),
    **dict.fromkeys(_BOUNDS, _NUMBER),
    "every": bool,
}


class _Claims:
    """Reads the claims of a file."""

    def __init__(self, file: Declaration) -> None:
        self.file, self.wrong = file, file.wrong

    def read(self) -> list[Claim]:
        written = self.file.known(self.file.table, {"claims": list, "numbers": dict}, ())
        numbers = read_numbers(self.file)
        claims: list[Claim] = []
        for place, entry in enumerate(written.get("claims", [])):
            claim = self.claim(("claims", place), entry)
            if claim.id in [other.id for other in claims]:
                raise self.wrong(("claims", place, "id"), f'two claims have the same id "{claim.id}"')
            try:
                check_places(claim.reason, numbers)
            except InputError as error:
                raise self.wrong(("claims", place, "reason"), f"claim {claim.id}: reason: {error}") from None
            claims.append(claim)
        return claims

    def claim(self, where: tuple[str | int, ...], entry: Any) -> Claim:
        """Returns a claim; raises InputError for what is wrong in its entry."""
        name = entry.get("id") if isinstance(entry, Mapping) else None
        what = f"claim {name}" if isinstance(name, str) and name else "claim ?"
        self.file.known(entry, _CLAIM, where, what)
        if lacking := [key for key in ("id", "statement", "source", "parts") if not entry.get(key)]:
            raise self.wrong((*where, lacking[0]), f"{what}: has no {lacking[0]}")
        cause = entry.get("cause", "")
        if cause and not entry.get("reason"):
            raise self.wrong((*where, "cause"), f"{what}: a cause goes with a reason")
        if cause and cause not in CAUSES:
            raise self.wrong(
                (*where, "cause"), f'{what}: cause is one of {", ".join(CAUSES)}, not "{cause}"{nearest(cause, list(CAUSES))}'
            )
        need = float(entry.get("need", 1.0))
        if not 0 < need <= 1:
            raise self.wrong((*where, "need"), f"{what}: need is a share above 0 and at most 1, not {entry['need']}")
        parts = tuple(self._part((*where, "parts", place), what, part) for place, part in enumerate(entry["parts"]))
        if len({part.experiment for part in parts}) > 1:
            parts = tuple(replace(part, told_apart=True) for part in parts)
        texts = {key: entry.get(key, "") for key in ("says", "derived", "reason", "cause")}
        return Claim(entry["id"], entry["statement"], entry["source"], parts, need=need, **texts)

    def _part(self, where: tuple[str | int, ...], what: str, entry: Any) -> Part:
        self.file.known(entry, _PART, where, what)
        for key in ("experiment", "statistic", "variant"):
            if not entry.get(key):
                raise self.wrong((*where, key), f"{what}: a part has no {key}")
        compare = entry.get("compare", "")
        if compare and compare not in COMPARISONS:
            hint = nearest(compare, list(COMPARISONS))
            raise self.wrong((*where, "compare"), f'{what}: compare is "difference" or "ratio", not "{compare}"{hint}')
        if bool(compare) != bool(entry.get("against")):
            raise self.wrong((*where, "compare" if compare else "against"), f"{what}: compare and against go together")
        for key in ("statistic", "given"):
            if entry.get(key):
                try:
                    measures.parse(entry[key])
                except InputError as error:
                    raise self.wrong((*where, key), f"{what}: {key}: {error}") from None
        own = {key: value for key, value in entry.items() if key not in _BOUNDS}
        return Part(bounds=self._bounds(where, what, entry), **own)

    def _bounds(self, where: tuple[str | int, ...], what: str, entry: Mapping[str, Any]) -> Bounds:
        given = {key: float(entry[key]) for key in _BOUNDS if key in entry}
        for pair in (("min", "above"), ("max", "below")):
            if all(key in given for key in pair):
                raise self.wrong((*where, pair[1]), f"{what}: a part has one of {pair[0]}, {pair[1]}")
        if not given:
            raise self.wrong(where, f"{what}: needs one of min, above or one of max, below")
        low = given.get("min", given.get("above", -math.inf))
        high = given.get("max", given.get("below", math.inf))
        found = Bounds(low, high, low_open="above" in given, high_open="below" in given)
        if low > high or (low == high and (found.low_open or found.high_open)):
            words = " and ".join(f"{key} = {entry[key]}" for key in given)
            raise self.wrong((*where, [*given][-1]), f"{what}: no value satisfies {words}")
        return found


def read_claims(file: Declaration) -> list[Claim]:
    """Returns the claims of a `claims.toml`; anything unknown or incomplete is an error with its line and the claim's id."""
    return _Claims(file).read()


def claims_of(entries: Sequence[Mapping[str, Any]], file: Declaration) -> list[Claim]:
    """Returns the claims that a function of a study's folder gives, as those of its `claims.toml` would be."""
    reader = _Claims(file)
    return [reader.claim(("claims", place), entry) for place, entry in enumerate(entries)]


def check_claims(
    file: Declaration, claims: Sequence[Claim], numbers: Mapping[str, Number], variants: Mapping[str, Sequence[str]]
) -> None:
    """Raises InputError for a claim or a number about an experiment or a variant that the study does not have."""
    parts: list[tuple[tuple[str | int, ...], str, Part]] = [
        (("claims", number, "parts", place), f"claim {claim.id}", part)
        for number, claim in enumerate(claims)
        for place, part in enumerate(claim.parts)
    ]
    parts += [(("numbers", name), f"number {name}", part) for name, number in numbers.items() for part in number.parts]
    for at, what, part in parts:
        if part.experiment not in variants:
            hint = nearest(part.experiment, list(variants), "there are")
            raise file.wrong((*at, "experiment"), f'{what}: no experiment "{part.experiment}"{hint}')
        for key, name in (("variant", part.variant), ("against", part.against)):
            if name and name not in variants[part.experiment]:
                hint = nearest(name, list(variants[part.experiment]), "there are")
                raise file.wrong((*at, key), f'{what}: {part.experiment} has no variant "{name}"{hint}')
