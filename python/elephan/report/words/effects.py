"""Main effects: how far a statistic goes when one parameter goes over its values, on average over the other parameters.

A parameter of names, or of a grid, has a mean for each of its values. Its effect is the difference of the two that are furthest
apart, seed by seed, with the t interval over the seeds. A parameter whose values were drawn has the difference that a straight line
gives between its ends, on a logarithmic scale if its values are spaced so; the interval is that of the line's slope over variants.
All means and lines of a statistic are fitted together by least squares, which in a full grid are the plain means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from elephan.base import stats
from elephan.report.words.swept import Array, Axis, Swept
from elephan.statistic import bounds

LEVELS_MAX = 12  # of numbers that have a mean each


class Effect(NamedTuple):
    """What a parameter does to a statistic between two of its values, and the interval of it."""

    axis: Axis
    interval: stats.Interval
    frm: str
    to: str


def effects(swept: Swept, statistic: str) -> list[Effect]:
    """Returns the effect of each parameter, the largest first; nothing where variants cannot tell parameters apart."""
    axes = [axis for axis in swept.axes if len(axis) > 1]
    drawn = swept.roles is not None and swept.roles.drawn
    values = swept.values(statistic)
    whole = ~np.isnan(values).any(axis=1)
    if len(axes) < 2 or whole.sum() < 2:
        return []
    columns = [_columns(axis, drawn) for axis in axes]
    matrix = np.concatenate([np.ones((len(values), 1)), *columns], axis=1)[whole]
    if np.linalg.matrix_rank(matrix) < matrix.shape[1]:
        return []
    found, begin, ends = [], 1, bounds.of_difference(statistic, swept.sweep.flows(*swept.labels))
    fit = np.linalg.lstsq(matrix, values[whole], rcond=None)[0]  # a row for each column of the matrix, a column for each seed
    for axis, own in zip(axes, columns, strict=True):
        of = slice(begin, begin + own.shape[1])
        begin += own.shape[1]
        own_effect = _effect(axis, matrix, values[whole], fit, of, drawn)
        found.append(own_effect._replace(interval=stats.within(own_effect.interval, *ends)))
    return sorted(found, key=lambda one: -abs(one.interval.mean))


def _is_line(axis: Axis, drawn: bool) -> bool:
    return not axis.named and (drawn or len(axis) > LEVELS_MAX)


def _columns(axis: Axis, drawn: bool) -> Array:
    """The columns of a parameter: its share of the way from the lowest to the highest value, or a column for each value but one."""
    if not _is_line(axis, drawn):
        return np.equal.outer(axis.at, np.arange(1, len(axis))).astype(np.float64)
    places = np.log(axis.places) if axis.logarithmic else axis.places
    share: Array = (places - places[0]) / (places[-1] - places[0])
    return share[axis.at][:, None]


def _effect(axis: Axis, matrix: Array, values: Array, fit: Array, of: slice, drawn: bool) -> Effect:
    """The largest difference of two values of a parameter, from the lower to the higher one, of names from the smaller mean."""
    if _is_line(axis, drawn):
        first, last, contrast = 0, len(axis) - 1, np.array([1.0])
    else:
        means = np.concatenate([[0.0], fit[of].mean(axis=1)])
        first, last = int(means.argmin()), int(means.argmax())
        if not axis.named:
            first, last = min(first, last), max(first, last)
        contrast = (np.arange(1, len(axis)) == last).astype(float) - (np.arange(1, len(axis)) == first)
    each = contrast @ fit[of]
    interval = _over_variants(matrix, values, fit, of, contrast) if drawn else stats.mean_interval(each)
    return Effect(axis, interval, axis.said(first), axis.said(last))


def _over_variants(matrix: Array, values: Array, fit: Array, of: slice, contrast: Array) -> stats.Interval:
    """The interval of a contrast of a fit by what the variants' means leave unexplained."""
    mean = float((contrast @ fit[of]).mean())
    n, freedom = len(matrix), len(matrix) - matrix.shape[1]
    if freedom < 1:
        return stats.Interval(mean, math.nan, math.nan, 1)
    left = values.mean(axis=1) - matrix @ fit.mean(axis=1)
    whole = np.zeros(matrix.shape[1])
    whole[of] = contrast
    spread = float(whole @ np.linalg.solve(matrix.T @ matrix, whole)) * float(left @ left) / freedom
    half = stats.student(freedom) * math.sqrt(spread)
    return stats.Interval(mean, mean - half, mean + half, n)


def by_statistic(swept: Swept, statistics: Sequence[str]) -> dict[str, list[Effect]]:
    """Returns the effects on each statistic that has any."""
    found = {statistic: effects(swept, statistic) for statistic in statistics}
    return {statistic: own for statistic, own in found.items() if own}
