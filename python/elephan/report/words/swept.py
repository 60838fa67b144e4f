"""A sweep as its report wants it: arrays over variants and seeds, what varies, and which part each parameter plays in a figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from elephan.base import many, stats
from elephan.base.quantity import scale_for, show, unit_parts
from elephan.experiment.sweep import Sweep
from elephan.experiment.trials import Variant, as_text, worded
from elephan.report.words import wording
from elephan.statistic import bounds

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
LINES_MAX = 8  # lines of one panel
PANELS_MAX = 12
DRAWN_FROM = 30  # numbers, which have so many digits that nobody wrote them
_OF_TABLES = {"bit/s": "bps", "B": "bytes", "s": "s"}  # units as statistics have them
SHOWN_MAX = 8  # statistics with a figure or a column; all of them are in means.parquet


class Estimates(NamedTuple):
    """Means with their 95 % t intervals, an array of each. `spread`: from the least to the largest value, over the mean."""

    mean: Array
    low: Array
    high: Array
    n: Places
    spread: Array

    def at(self, place: int) -> stats.Interval:
        """Returns one of them."""
        n = int(self.n[place])
        mean, low, high = (float(one[place]) for one in (self.mean, self.low, self.high))
        return stats.Interval(mean, low, high, n) if n else stats.NOTHING


def estimates(values: Array, least: Array | float = -math.inf, top: Array | float = math.inf) -> Estimates:
    """Returns the mean of each row with its interval, cut off as `stats.mean_within` does; NaN is left out."""
    rows = len(values)
    low, high = (np.broadcast_to(np.asarray(one, dtype=np.float64), (rows,)) for one in (least, top))
    n, mean, low, high, _, _, spread, _ = many.intervals(values, low, high).T
    return Estimates(mean, low, high, n.astype(np.intp), spread)


@dataclass(frozen=True)
class Axis:
    """A parameter that varies, or several that vary together, with its values in their order.

    `at` has the place of each variant's value among `texts`. Numbers stand at `places`, names at 0, 1, 2 ... `controls` has the
    values as labels of congestion controls, if they are such.
    """

    paths: tuple[str, ...]
    words: str
    texts: Sequence[str]
    places: Array
    at: Places
    named: bool
    logarithmic: bool = False
    controls: Sequence[str] = ()
    unit: str = ""  # of the places, as tables name it

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def scale(self) -> tuple[float, str]:
        """The factor for numbers on an axis, and the unit that they have then."""
        if self.named or self.unit not in _OF_TABLES:
            return 1.0, self.unit
        return scale_for(float(np.abs(self.places).max()), _OF_TABLES[self.unit])

    @property
    def labels(self) -> list[str]:
        """The values as they stand alone: plain numbers with the name of the parameter."""
        return [text if self.named or self.unit else f"{self.words} {text}" for text in self.texts]

    def said(self, place: int) -> str:
        """A value in words: as it was written, of drawn numbers with three digits."""
        if self.named or len(self) <= DRAWN_FROM:
            return self.texts[place]
        return show(float(self.places[place]), _OF_TABLES.get(self.unit, self.unit), 3)


@dataclass(frozen=True)
class Roles:
    """Which part each parameter plays in a figure of a statistic.

    Points are averaged over the parameters in `averaged`. `drawn`: each variant has its own values, as in a Sobol design, so that
    no line can join variants.
    """

    x: Axis
    color: Axis | None = None
    panel: Axis | None = None
    averaged: Sequence[Axis] = ()
    drawn: bool = False
    cells: Mapping[tuple[int, int, int], Places] = field(default_factory=dict)  # variants by places of panel, colour, x


class Swept:
    """A sweep with its statistics as arrays, calculated when somebody asks for them."""

    def __init__(self, sweep: Sweep) -> None:
        self.sweep = sweep
        self.labels = sweep.labels
        self.seeds = sorted(sweep.trials.seeds)
        self._values: dict[str, Array] = {}
        self._estimates: dict[str, Estimates] = {}

    @property
    def repetitions(self) -> int:
        return len(self.seeds)

    @cached_property
    def names(self) -> list[str]:
        """Each variant in words."""
        return list(wording.variants(self.sweep).values())

    @cached_property
    def _cell(self) -> tuple[Places, Places]:
        """The row and the column of each trial in an array of values."""
        row = {label: place for place, label in enumerate(self.labels)}
        column = {seed: place for place, seed in enumerate(self.seeds)}
        trials = [(row[trial.variant], column[trial.seed]) for trial in self.sweep.trials]
        found = np.array(trials, dtype=np.intp).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def values(self, statistic: str) -> Array:
        """A statistic of each variant (rows) with each seed (columns), NaN where there is none."""
        if statistic not in self._values:
            found = np.full((len(self.labels), len(self.seeds)), np.nan)
            found[self._cell] = [trial.values.get(statistic, math.nan) for trial in self.sweep.trials]
            self._values[statistic] = found
        return self._values[statistic]

    def least(self, statistic: str) -> Array:
        """The smallest value that a statistic can have in each variant."""
        flows = [self.sweep.flows(label) for label in self.labels]
        of = {count: bounds.low_of(statistic, count) for count in set(flows)}
        return np.array([of[count] for count in flows])

    def estimates(self, statistic: str) -> Estimates:
        """A statistic of each variant over its repetitions."""
        if statistic not in self._estimates:
            top = bounds.top_of(statistic)
            self._estimates[statistic] = estimates(self.values(statistic), self.least(statistic), top)
        return self._estimates[statistic]

    def averaged(self, statistic: str, groups: Sequence[Places]) -> Estimates:
        """A statistic of groups of variants: the mean of a group with each seed, over the seeds."""
        if all(group.size == 1 for group in groups):
            chosen = np.concatenate([*groups, np.empty(0, dtype=np.intp)])
            return Estimates(*(one[chosen] for one in self.estimates(statistic)))
        values, least = self.values(statistic), self.least(statistic)
        rows = [values[group] for group in groups]
        rows = [some[~np.isnan(some).all(axis=1)] for some in rows]
        means = [some.mean(axis=0) if len(some) else np.full(values.shape[1], np.nan) for some in rows]
        lowest = np.array([float(least[group].min()) for group in groups])
        return estimates(np.array(means).reshape(len(groups), -1), lowest, bounds.top_of(statistic))

    def difference(self, statistic: str, bases: Places) -> Estimates:
        """A statistic of each variant less that of its base with the same seed; nothing where a base is below 0 or the same."""
        values = self.values(statistic)
        other = np.where((bases < 0) | (bases == np.arange(len(bases))), np.nan, 1.0)[:, None]
        counts = [self.sweep.flows(label) for label in self.labels]
        flows = [bounds.most_flows(own, counts[base]) for own, base in zip(counts, bases.tolist(), strict=True)]
        known = {count: bounds.of_difference(statistic, count) for count in set(flows)}
        least, most = (np.array([known[count][end] for count in flows]) for end in (0, 1))
        return estimates(other * many.differences(values, values[bases]), least, most)

    @cached_property
    def flat(self) -> list[str]:
        """Statistics that are the same in every variant."""
        found = []
        for statistic in self.sweep.statistics:
            mean = self.estimates(statistic).mean
            mean = mean[~np.isnan(mean)]
            if len(self.labels) > 1 and (not mean.size or float(mean.min()) == float(mean.max())):
                found.append(statistic)
        return found

    @cached_property
    def shown(self) -> list[str]:
        """The statistics that a report shows: those that vary, of them those that the scenario names. All if none varies."""
        own = [name for name in self.sweep.facts.get("answering", []) if name in self.sweep.statistics]
        among = own or self.sweep.statistics
        return ([name for name in among if name not in self.flat] or among)[:SHOWN_MAX]

    def alike(self, statistics: Sequence[str]) -> bool:
        """Whether repetitions show no difference, as where nothing is random."""
        return all(float(_reach(self.values(statistic)).max(initial=0.0)) == 0 for statistic in statistics)

    @cached_property
    def axes(self) -> list[Axis]:
        """What varies. Parameters that vary together are one axis; numbers only if they also grow or fall together."""
        classes: dict[bytes, list[str]] = {}
        for path in wording.varied(self.sweep):
            classes.setdefault(_codes([as_text(v.parameters.get(path)) for v in self.sweep.variants]).tobytes(), []).append(path)
        return [axis for paths in classes.values() for axis in _axes(self.sweep.variants, paths)]

    @cached_property
    def roles(self) -> Roles | None:
        """The part of each parameter in a figure; None if nothing varies."""
        return _roles([axis for axis in self.axes if len(axis) > 1], len(self.labels))


def _reach(values: Array) -> Array:
    """The largest less the smallest value of each row; 0 of a row without values."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        found = np.where(known, values, -np.inf).max(axis=1) - np.where(known, values, np.inf).min(axis=1)
    return np.where(known.any(axis=1), found, 0.0)


def _codes(texts: Sequence[str]) -> Places:
    """A number for each text, in the order in which they come."""
    seen: dict[str, int] = {}
    return np.array([seen.setdefault(text, len(seen)) for text in texts], dtype=np.intp)


def _axes(variants: Sequence[Variant], paths: list[str]) -> list[Axis]:
    """The axes of parameters that tell the same variants apart."""
    first = {as_text(variant.parameters.get(paths[0])): variant.parameters for variant in reversed(variants)}
    given = list(reversed(first.values()))
    rank = {as_text(one.get(paths[0])): place for place, one in enumerate(given)}
    at = np.array([rank[as_text(variant.parameters.get(paths[0]))] for variant in variants], dtype=np.intp)
    read = [found for path in paths if (found := _numbers([one.get(path) for one in given])) is not None]
    numbers = [found for found, _ in read]
    if len(given) < 2 or len(numbers) < len(paths):
        return [_of_names(given, paths, at)]
    orders = [np.argsort(found, kind="stable") for found in numbers]
    if not all((order == orders[0]).all() or (order == orders[0][::-1]).all() for order in orders):
        return [_of_numbers(given, [path], *found, at) for path, found in zip(paths, read, strict=True)]
    return [_of_numbers(given, paths, *read[0], at)]


def _of_numbers(given: Sequence[Mapping[str, Any]], paths: list[str], numbers: Array, unit: str, at: Places) -> Axis:
    order = np.argsort(numbers, kind="stable")
    places = numbers[order]
    words = " and ".join(wording.parameter(path) for path in paths)
    texts = [as_text(given[old].get(paths[0])) for old in order.tolist()]
    return Axis(tuple(paths), words, texts, places, np.argsort(order)[at], False, _geometric(places), (), unit)


def _of_names(given: Sequence[Mapping[str, Any]], paths: list[str], at: Places) -> Axis:
    values = [[worded(one.get(path)) for path in paths] for one in given]
    same = all(len({*one}) == 1 for one in values)
    several = paths if len(paths) > 1 else ()
    said = [wording.setting({path: one.get(path) for path in paths}, several) for one in given]
    texts = [(row[0] if same else words) or "not set" for row, words in zip(values, said, strict=True)]
    controls = [one[0] for one in values] if same and all(path.endswith("congestion_control") for path in paths) else ()
    words = wording.parameter(paths[0]) if len(paths) == 1 else _together(paths)
    return Axis(tuple(paths), words, texts, np.arange(len(texts), dtype=np.float64), at, True, False, controls)


def _together(paths: Sequence[str]) -> str:
    """`congestion control of near and far`, or the parameters with "and" between them."""
    found = [wording.split(path) for path in paths]
    if len({what for what, _ in found}) == 1 and all(owner for _, owner in found):
        return f"{found[0][0]} of {' and '.join(owner for _, owner in found)}"
    return " and ".join(wording.parameter(path) for path in paths)


def _numbers(values: Sequence[Any]) -> tuple[Array, str] | None:
    """Values as numbers in base units, and their unit; None if some are names, or in another unit."""
    read = [unit_parts(value) for value in values]
    if any(one is None for one in read) or len({one[1] for one in read if one is not None}) != 1:
        return None
    return np.array([one[0] for one in read if one is not None], dtype=np.float64), next(one[1] for one in read if one is not None)


def _geometric(numbers: Array) -> bool:
    """Whether values are spaced by factors rather than by steps."""
    if numbers[0] <= 0 or numbers[-1] / numbers[0] < 8:
        return False
    steps, factors = np.diff(numbers), np.diff(np.log(numbers))
    return bool(factors.std() / factors.mean() < steps.std() / steps.mean())


def _roles(axes: list[Axis], variants: int) -> Roles | None:
    if not axes:
        return None
    control = next((axis for axis in axes if axis.controls and len(axis) <= LINES_MAX), None)
    numeric = [axis for axis in axes if not axis.named]
    among = numeric or [axis for axis in axes if axis is not control] or axes
    x = max(among, key=len)
    rest = [axis for axis in axes if axis is not x]
    few = sorted(
        (axis for axis in rest if len(axis) <= LINES_MAX), key=lambda axis: (axis is not control, not axis.named, len(axis))
    )
    color = few[0] if few else None
    left = [axis for axis in rest if axis is not color]
    panel = min((axis for axis in left if len(axis) <= PANELS_MAX), key=len, default=None)
    averaged = [axis for axis in left if axis is not panel]
    cells = _cells(x, color, panel)
    return Roles(x, color, panel, averaged, _is_drawn(axes, averaged, cells, variants), cells)


def _cells(x: Axis, color: Axis | None, panel: Axis | None) -> dict[tuple[int, int, int], Places]:
    zero = np.zeros(len(x.at), dtype=np.intp)
    keys = np.stack([zero if axis is None else axis.at for axis in (panel, color, x)], axis=1)
    found: dict[tuple[int, int, int], list[int]] = {}
    for variant, (p, c, place) in enumerate(keys.tolist()):
        found.setdefault((p, c, place), []).append(variant)
    return {key: np.array(members, dtype=np.intp) for key, members in found.items()}


def _is_drawn(axes: Sequence[Axis], averaged: Sequence[Axis], cells: Mapping[tuple[int, int, int], Places], variants: int) -> bool:
    """Whether variants differ in several parameters at once, so that points along one of them have nothing else in common."""
    if len(axes) == 1:
        return False
    if averaged and variants < 0.9 * math.prod(map(len, axes)):
        return True
    lengths: dict[tuple[int, int], int] = {}
    for p, c, _ in cells:
        lengths[p, c] = lengths.get((p, c), 0) + 1
    return len(lengths) > 1 and 2 * sum(length > 1 for length in lengths.values()) < len(lengths)
