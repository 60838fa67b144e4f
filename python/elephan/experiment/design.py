"""Designs: which points of the swept parameters a sweep runs.

A grid has every combination of the values. `zip` takes the first value of each list, then the second. `lhs:N` (Latin hypercube,
McKay, Beckman, Conover, Technometrics 21, 1979) and `sobol:N` (Sobol 1967, scrambled by Owen) draw N points from ranges such as
`1 Mbps..100 Mbps` with `scipy.stats.qmc`. A list of points, or a CSV file, gives each point itself.

The draws of a design have a seed of their own, so that a design has the same points everywhere, whatever the seeds of the runs are.
The first 64 points of `sobol:128` are those of `sobol:64`.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError, brief
from elephan.base.quantity import unit_parts
from elephan.experiment.trials import Variant, as_text, labels
from elephan.scenario.settings import value
from elephan.scenario.source import read_text

GRID = "grid"
KINDS = "grid, zip, lhs:N, sobol:N, a CSV file or a list of points"
POINTS_MAX = 65_536
_SEED = 20260101  # of the draws of designs
_DRAWN = re.compile(r"(lhs|sobol):(\S+)")
_RANGE = re.compile(r"\s*(?P<low>\S.*?)\s*\.\.\s*(?P<high>\S.*?)(?P<log>\s+log)?\s*")

Point = dict[str, Any]


def points(design: Any, set: Mapping[str, Any]) -> list[tuple[Point, Point]]:
    """Returns the points of a design: what each sets, and what of it are its parameters. Of a grid there is one, with its lists.

    `set`: values, lists of values, and ranges (`"1 Mbps..100 Mbps"`, with ` log` behind it in even ratios).
    """
    if isinstance(design, str) and (drawn := _DRAWN.fullmatch(design)):
        found = _drawn(drawn[1], drawn[2], set)
    else:
        for key, one in set.items():
            if any(_range(key, part) for part in (one if isinstance(one, list) else [one])):
                raise InputError(f'{key}: a range needs a design that draws its points, as design "sobol:64" or "lhs:64"')
        if design == GRID:
            return [(dict(set), {})]
        found = _zipped(set) if design == "zip" else _listed(design, set)
    fixed = {key: one for key, one in set.items() if not isinstance(one, list) and _range(key, one) is None}
    return [({**fixed, **point}, point) for point in found]


def label(point: Point, rest: str) -> str:
    """The label of a variant: its point as the core labels variants, and what the scenario's own sweep adds."""
    short = {key: key.rpartition(".")[2] for key in point}
    names = short if len({*short.values()}) == len(short) else {key: key for key in point}
    own = ", ".join(f"{names[key]}={as_text(one)}" for key, one in point.items())
    return ", ".join(filter(None, (own, "" if rest == "base" else rest))) or rest


def spoken(variants: Sequence[Variant]) -> list[Variant]:
    """Returns the variants with labels in which a class, a program or a model has its name instead of the table that names it."""
    tables: dict[str, dict[str, Any]] = {}
    for variant in variants:
        for name, one in variant.parameters.items():
            if isinstance(one, Mapping):
                tables.setdefault(name, {})[as_text(one)] = one
    if not tables:
        return list(variants)
    called = {name: labels(values) for name, values in tables.items()}
    found = []
    for variant in variants:
        label = variant.label
        for name in tables:
            one = variant.parameters.get(name)
            if isinstance(one, Mapping):
                for written in (as_text(one), json.dumps(one, separators=(",", ":"), ensure_ascii=False)):  # here, in the core
                    label = label.replace(written, called[name][as_text(one)])
        found.append(replace(variant, label=label))
    return found if len({variant.label for variant in found}) == len(found) else list(variants)


def _zipped(set: Mapping[str, Any]) -> list[Point]:
    lists = {key: one for key, one in set.items() if isinstance(one, list)}
    if not lists:
        raise InputError("design zip: give at least one parameter several values")
    if len({len(one) for one in lists.values()}) > 1:
        lengths = ", ".join(f"{key} has {len(one)}" for key, one in lists.items())
        raise InputError(f"design zip: every parameter needs as many values as the others; {lengths}")
    return [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]


def _listed(design: Any, set: Mapping[str, Any]) -> list[Point]:
    """The points of a list, or of a CSV file whose head has the parameters."""
    if any(isinstance(one, list) for one in set.values()):
        raise InputError("a design that lists its points takes no further lists of values")
    if isinstance(design, str | Path) and Path(design).suffix == ".csv":
        return _of_csv(Path(design))
    if isinstance(design, str) or not isinstance(design, Sequence) or not all(isinstance(one, Mapping) for one in design):
        raise InputError(f"unknown design {brief(design)}; there are {KINDS}")
    if not design or not all(design):
        raise InputError("a design has at least one point, and each point at least one parameter")
    return [dict(one) for one in design]


def _of_csv(file: Path) -> list[Point]:
    rows = list(csv.reader(io.StringIO(read_text(file)), skipinitialspace=True))
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if len(rows) < 2:
        raise InputError(f"{file}: needs a line of parameters and at least one line of values")
    head = [cell.strip() for cell in rows[0]]
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(head) or not all(cell.strip() for cell in (*head, *row)):
            raise InputError(f"{file}: line {number} has not one value for each of the {len(head)} parameters of the first line")
    if len({*head}) < len(head):
        raise InputError(f"{file}: a parameter stands twice in the first line")
    return [{key: value(cell.strip()) for key, cell in zip(head, row, strict=True)} for row in rows[1:]]


def _drawn(kind: str, number: str, set: Mapping[str, Any]) -> list[Point]:
    """Points that are spread evenly over ranges and lists; two that round to the same values are one."""
    if not number.isdecimal() or not 1 <= int(number) <= POINTS_MAX:
        raise InputError(f"design {kind}:{number}: the number of points must be a whole number from 1 to {POINTS_MAX}")
    n = int(number)
    if kind == "sobol" and n & (n - 1):
        more = 1 << n.bit_length()
        raise InputError(f"design sobol:{n}: Sobol points are balanced in powers of two; take {more // 2} or {more}")
    axes: dict[str, Callable[[float], Any]] = {}
    for key, one in set.items():
        if isinstance(one, list):
            axes[key] = _of_list(one)
        elif (found := _range(key, one)) is not None:
            axes[key] = found
    if not axes:
        raise InputError(f"design {kind}:{n}: give at least one parameter a range, as 1Mbps..100Mbps, or a list of values")
    from scipy.stats import qmc

    draw = qmc.Sobol(len(axes), rng=_SEED) if kind == "sobol" else qmc.LatinHypercube(len(axes), rng=_SEED)
    chosen = [{key: at(float(u)) for (key, at), u in zip(axes.items(), row, strict=True)} for row in draw.random(n)]
    return list({as_text(point): point for point in chosen}.values())


def _of_list(values: list[Any]) -> Callable[[float], Any]:
    return lambda u: values[int(u * len(values))]


def _range(key: str, text: Any) -> Callable[[float], Any] | None:
    """The value at a share of the way through a range; None for what is no range."""
    match = _RANGE.fullmatch(text) if isinstance(text, str) else None
    ends = [unit_parts(value(match[name])) for name in ("low", "high")] if match else []
    if match is None or None in ends:
        return None
    (low, unit), (high, other) = (end for end in ends if end is not None)
    log = match["log"] is not None
    if unit != other or not low < high or (log and low <= 0):
        raise InputError(f"{key}={text}: a range goes from a smaller to a larger value of one unit" + ", from above 0" * log)
    written = match["high"].lstrip("0123456789._eE+- ")
    one = (unit_parts(f"1 {written}") or (1.0, ""))[0]
    whole = (unit in ("", "p") and all(_is_whole(match[name]) for name in ("low", "high"))) or unit == "B"

    def at(u: float) -> Any:
        least, most = (low - 0.5, high + 0.5) if whole and not log else (low, high)
        x = math.exp(math.log(least) + u * math.log(most / least)) if log else least + u * (most - least)
        if whole:
            x = min(max(round(x), low), high)
            return f"{x:.0f} {unit}" if unit else int(x)
        if unit == "bdp":  # written to a thousandth
            return f"{x:.3f} bdp"
        return f"{Decimal(f'{x / one:.6g}'):f} {written}" if written else float(f"{x:.6g}")

    return at


def _is_whole(text: str) -> bool:
    return re.match(r"\s*\d+\s*[a-zA-Z]*\s*$", text) is not None
