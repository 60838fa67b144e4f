"""The data of the table of all variants of a sweep, which the page draws, sorts and filters (`variants.js`)."""

from __future__ import annotations

import math
from typing import Any

from elephan.base import stats
from elephan.base.quantity import in_base
from elephan.report.words.baseline import Baseline
from elephan.report.words.swept import Array, Axis, Estimates, Swept
from elephan.statistic import bounds, measures, titles

VALUES_MAX = 250_000  # values of single runs in a page; with more it has the differences to one baseline only
LIMIT = "so many runs leave room for one baseline: elephan report DIR --baseline chooses another"
DIGITS = 9  # of the values of runs, whose differences may be small


def data(swept: Swept, base: Baseline, asked: bool) -> dict[str, Any]:
    """Returns parameters and statistics of each variant, and what differences to a baseline need, as JSON has them.

    `asked`: whether somebody chose the baseline, which the page then shows at first.
    """
    statistics = swept.shown
    compared = len(swept.labels) > 1 and swept.repetitions > 0
    whole = swept.repetitions * len(swept.labels) * len(statistics) <= VALUES_MAX
    found: dict[str, Any] = {
        "names": swept.names,
        "texts": [" ".join(words).lower() for words in _texts(swept)],
        "axes": _axes(swept),
        "statistics": [_statistic(swept, name, base, compared and not whole) for name in statistics],
        "seeds": swept.repetitions,
        "t": _students(swept.repetitions),
        "grid": swept.roles is not None and not swept.roles.drawn,
        "base": {"words": base.words, "rows": base.rows.tolist() if compared else None, "asked": asked},
        "values": [_plain(swept.values(name).ravel(), DIGITS) for name in statistics] if compared and whole else None,
        "note": _note(swept),
        "limit": "" if whole or not compared else LIMIT,
    }
    for place, one in enumerate(found["statistics"]):
        one["place"] = place
    return found


def _note(swept: Swept) -> str:
    if swept.repetitions < 2:
        return "one run each"
    return (
        "" if swept.alike(swept.shown) else "means over the repetitions with 95 % t intervals below, cut off where a quantity ends"
    )


def _axes(swept: Swept) -> list[dict[str, Any]]:
    axes = [axis for axis in swept.axes if len(axis) > 1]
    if not axes:
        count = len(swept.labels)
        return [{"words": "variant", "texts": swept.names, "named": True, "at": [*range(count)]}]
    return [_axis(axis) for axis in axes]


def _axis(axis: Axis) -> dict[str, Any]:
    found: dict[str, Any] = {"words": axis.words, "texts": [*axis.texts], "named": axis.named, "at": axis.at.tolist()}
    return found if axis.named else found | {"numbers": axis.places.tolist(), "unit": axis.unit or "1"}


def _texts(swept: Swept) -> list[list[str]]:
    """What a search looks at: the values of each variant, with their parameters."""
    found: list[list[str]] = [[name] for name in swept.names]
    for axis in swept.axes:
        for row, place in zip(found, axis.at.tolist(), strict=True):
            row.append(f"{axis.words} {axis.texts[place]}")
    return found


def _statistic(swept: Swept, name: str, base: Baseline, difference: bool) -> dict[str, Any]:
    """A statistic with its means, and its differences to the baseline if the page cannot work them out."""
    own = _bounds(swept.estimates(name))
    unit = measures.unit_of(name)
    found: dict[str, Any] = {
        "title": titles.title(name),
        "unit": unit,
        "base": in_base(1.0, unit),  # what it is in base units, and their name
        "mean": own[0],
        "low": own[1],
        "high": own[2],
    }
    if math.isfinite(most := bounds.of_difference(name, swept.sweep.flows(*swept.labels))[1]):
        found["most"] = most  # the largest difference
    if difference:
        found["differences"] = _bounds(swept.difference(name, base.rows))
    return found


def _bounds(found: Estimates) -> list[list[float | None]]:
    return [_plain(one, 7) for one in (found.mean, found.low, found.high)]


def _plain(values: Array, digits: int) -> list[float | None]:
    return [float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in values.tolist()]


def _students(most: int) -> list[float | None]:
    """For each number of pairs how many standard errors half of an interval is."""
    return [round(stats.student(n - 1), 9) if n > 1 else None for n in range(most + 1)] if most else []
