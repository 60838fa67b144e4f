"""Numbers that texts of a study name: declared in `claims.toml`, computed from the runs, written into sentences.

A table `[numbers]` gives each a name and says what it is of, as a part of a claim does:

    [numbers]
    timeouts = { experiment = "main", statistic = "timeouts.sum", variant = "NoFC" }
    window   = { experiment = "loss", statistic = "window_segments.mean", variant = "1e-3", over = 38.73 }
    gain     = { experiment = "main", statistic = "goodput_bps.sum", variant = "8023x", against = "NoFC", compare = "difference" }
    spread   = { experiment = "loss", statistic = "window_segments.mean", variants = ["1e-3", "1e-4"], over = [38.73, 122.5] }

A text names it in braces. `{gain}` is the mean with its interval; of several variants it is the smallest and the largest mean.
`{gain:mean}`, `{gain:low}`, `{gain:high}` and `{gain:range}` are parts of that. `{gain:runs}` is the value of each run, and
`{gain:n}` how many there are. A sentence with a number that was not measured (a quick run leaves variants out) is left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elephan.base import stats
from elephan.base.errors import InputError, brief, nearest
from elephan.base.quantity import show
from elephan.experiment.claims import COMPARISONS, Bounds, Evidence, Part, interval_text, measured
from elephan.experiment.declaration import Declaration
from elephan.statistic import measures

COUNTS = ("claims", "holds", "fails", "inconclusive")  # names that every study has: how many claims there are, by verdict
FORMS = ("mean", "low", "high", "range", "runs", "n")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_PLACE = re.compile(r"\{(" + _NAME.pattern + r")(?::(\w+))?\}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`{])")
_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(("experiment", "statistic", "variant", "compare", "against", "given", "unit"), str),
    "variants": list,
    "over": (int, float, list),
    "digits": int,
}


@dataclass(frozen=True)
class Number:
    """What a number is of; `over` divides the value of each variant, `unit` replaces that of the statistic."""

    parts: tuple[Part, ...]
    over: tuple[float, ...]
    unit: str
    digits: int

    def measure(self, evidence: Evidence) -> list[tuple[stats.Interval, list[float]]]:
        """Returns the mean and the value of each run for every variant; nothing for one that was not run."""
        found = ((part, over, *measured(part, evidence)) for part, over in zip(self.parts, self.over, strict=True))
        return [
            (stats.Interval(one.mean / over, one.low / over, one.high / over, one.n), [run / over for run in runs])
            for _, over, one, runs in found
            if runs
        ]


def read_numbers(file: Declaration) -> dict[str, Number]:
    """Returns the numbers that a `claims.toml` declares; raises InputError with the line of what is wrong."""
    found = {}
    for name, entry in file.table.get("numbers", {}).items():
        where: tuple[str | int, ...] = ("numbers", name)
        if not _NAME.fullmatch(name) or name in COUNTS:
            raise file.wrong(
                where, f"a number's name has small letters, digits and hyphens, and is none of {', '.join(COUNTS)}: {name}"
            )
        found[name] = _number(file, where, name, file.known(entry, _TYPES, where, f"number {name}"))
    return found


def _number(file: Declaration, where: tuple[str | int, ...], name: str, entry: Mapping[str, Any]) -> Number:
    what = f"number {name}"
    for key in ("experiment", "statistic"):
        if not entry.get(key):
            raise file.wrong(where, f"{what}: has no {key}")
    if ("variant" in entry) == ("variants" in entry):
        raise file.wrong(where, f"{what}: has one of variant and variants")
    variants = entry.get("variants", [entry.get("variant")])
    over = entry.get("over", 1)
    divisors = over if isinstance(over, list) else [over] * len(variants)
    if len(divisors) != len(variants):
        raise file.wrong((*where, "over"), f"{what}: over is a number, or one for each of {len(variants)} variants")
    if wrong := [one for one in divisors if isinstance(one, bool) or not isinstance(one, int | float) or not one > 0]:
        raise file.wrong((*where, "over"), f"{what}: over is above 0, not {brief(wrong[0])}")
    compare = entry.get("compare", "")
    if compare and compare not in COMPARISONS:
        raise file.wrong((*where, "compare"), f'{what}: compare is "difference" or "ratio", not "{compare}"')
    if bool(compare) != bool(entry.get("against")):
        raise file.wrong(where, f"{what}: compare and against go together")
    try:
        measures.parse(entry["statistic"])
    except InputError as error:
        raise file.wrong((*where, "statistic"), f"{what}: {error}") from None
    own = {key: entry[key] for key in ("experiment", "statistic", "compare", "against", "given") if key in entry}
    parts = tuple(Part(variant=variant, bounds=Bounds(), **own) for variant in variants)
    unit = entry.get("unit", "1" if "over" in entry else parts[0].unit)
    return Number(parts, tuple(float(one) for one in divisors), unit, entry.get("digits", 3))


def check_places(text: str, numbers: Mapping[str, Number]) -> None:
    """Raises InputError if a text names a number that is not declared, or a form that there is not."""
    for name, form in _PLACE.findall(text):
        if name not in numbers and name not in COUNTS:
            raise InputError(f"no number {{{name}}} is declared{nearest(name, [*numbers, *COUNTS], 'there are')}")
        if form and form not in FORMS:
            raise InputError(f"{{{name}:{form}}}: no form {form}{nearest(form, list(FORMS), 'there are')}")


Measured = Sequence[tuple[stats.Interval, Sequence[float]]]


def written(number: Number, found: Measured, form: str) -> str:
    """Returns a number as a text has it; nothing if it was not measured."""
    if not found:
        return ""
    unit, digits = number.unit, number.digits
    if len(number.parts) > 1:
        low, high = min(one.mean for one, _ in found), max(one.mean for one, _ in found)
        ends = {"low": low, "high": high, "mean": (low + high) / 2}
        if form in ends:
            return show(ends[form], unit, digits)
        return _range(show(low, unit, digits), show(high, unit, digits))
    ((interval, runs),) = found
    if form == "runs":
        return _listed([show(run, unit, digits) for run in runs])
    if form == "n":
        return str(len(runs))
    if form == "range":
        return _range(show(interval.low, unit, digits), show(interval.high, unit, digits))
    if form:
        value = {"mean": interval.mean, "low": interval.low, "high": interval.high}[form]
        return "" if math.isnan(value) else show(value, unit, digits)
    return interval_text(interval, unit, digits)


def _unit(text: str) -> str:
    return text.rpartition(" ")[2] if " " in text else ""


def _range(low: str, high: str) -> str:
    if low == high:
        return low
    same = _unit(low) and _unit(low) == _unit(high)
    return f"{low.rpartition(' ')[0] if same else low} to {high}"


def _listed(each: Sequence[str]) -> str:
    """`22, 39 and 22 s`."""
    units = {_unit(one) for one in each}
    if len(units) == 1 and units != {""}:
        *head, last = each
        each = [*(one.rpartition(" ")[0] for one in head), last]
    return each[0] if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}"


def fill(text: str, numbers: Mapping[str, Number], found: Mapping[str, Measured], counts: Mapping[str, int] | None = None) -> str:
    """Returns a text with its numbers; a sentence with one that was not measured is left out."""
    if not _PLACE.search(text):
        return text
    counts = counts or {}

    def place(match: re.Match[str]) -> str:
        name, form = match[1], match[2] or ""
        said = str(counts[name]) if name in counts else written(numbers[name], found.get(name, ()), form)
        return said or "\0"

    sentences = (_PLACE.sub(place, sentence) for sentence in _SENTENCE.split(text))
    return " ".join(sentence for sentence in sentences if "\0" not in sentence)
