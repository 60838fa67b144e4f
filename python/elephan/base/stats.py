"""Statistics of repeated runs: intervals, paired comparisons, fairness.

Repetitions are independent runs with different seeds; the same seeds are used for every variant, so comparisons are
paired by seed. Sources: Student's t interval (any textbook); BCa bootstrap, Efron 1987 (`scipy.stats.bootstrap`); Jain,
Chiu, Hawe, DEC-TR-301 (1984) for the fairness index; Holm, Scandinavian Journal of Statistics 6 (1979) for many tests;
Thompson, Annals of Mathematical Statistics 7 (1936) for intervals of quantiles between order statistics; Cohen, Statistical
Power Analysis (1988), for power; White, Simulation 69 (1997), and White, Cobb, Spratt, Winter Simulation Conference (2000),
for the warm-up by MSER-5.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from elephan import _core
from elephan.base import many
from elephan.base.errors import of_arguments

__all__ = [
    "NOTHING",
    "Interval",
    "Values",
    "batch_interval",
    "coefficient_of_variation",
    "detectable_difference",
    "holm",
    "jain",
    "jain_per_window",
    "mean_interval",
    "mean_within",
    "mser5",
    "paired_difference",
    "paired_ratio",
    "quantile_interval",
    "quantiles",
    "student",
    "within",
]


def __dir__() -> list[str]:
    """What tab completion offers, without what is imported."""
    return __all__


Values = Sequence[float] | npt.NDArray[np.floating] | npt.NDArray[np.integer]

# Resampling is itself random; a fixed seed makes a report reproducible.
_BOOTSTRAP_SEED = 20260101
_BOOTSTRAP_RESAMPLES = 9999


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval. With one value the bounds are NaN: no spread is known.

    `mean` is the estimate, `low` and `high` are the bounds at `level`, and `n` counts the values.

    >>> found = el.stats.mean_interval([4, 5, 6])
    >>> round(found.half_width, 3)
    2.484
    >>> found.as_dict()["n"]
    3
    """

    mean: float
    low: float
    high: float
    n: int
    level: float = 0.95
    method: str = "t"

    @property
    def half_width(self) -> float:
        """Half of the width of the interval."""
        return (self.high - self.low) / 2

    def as_dict(self) -> dict[str, float | int | None]:
        """Returns the interval ready for JSON; a bound that is not known is null."""

        def known(x: float) -> float | None:
            return x if math.isfinite(x) else None

        return {"mean": known(self.mean), "ci_low": known(self.low), "ci_high": known(self.high), "n": self.n}


NOTHING = Interval(math.nan, math.nan, math.nan, 0)  # of no values


def _array(values: Values, what: str = "values") -> npt.NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{what} must be a list of numbers, not an array of shape {array.shape}")
    return array


def _clean(values: Values) -> npt.NDArray[np.float64]:
    array = _array(values)
    array = array[~np.isnan(array)]
    if array.size == 0:
        raise ValueError("no values: a mean needs at least one")
    return array


@of_arguments
def within(interval: Interval, low: float, top: float) -> Interval:
    """Returns an interval cut off where its quantity ends: a share is at most 1, a time at least 0.

    >>> wide = el.stats.mean_interval([0.9, 1.0])
    >>> round(wide.high, 2), el.stats.within(wide, 0.0, 1.0).high
    (1.59, 1.0)
    """
    return replace(interval, low=max(interval.low, low), high=min(interval.high, top)) if interval.n > 1 else interval


@of_arguments
def student(freedom: int, level: float = 0.95) -> float:
    """Returns how many standard errors half of a t interval is, with so many degrees of freedom; ValueError below 1.

    >>> round(el.stats.student(9), 3)
    2.262
    """
    if not freedom >= 1 or not 0 < level < 1:
        raise ValueError("an interval needs at least 1 degree of freedom, and a level between 0 and 1")
    return float(_core.student(freedom, level))


@of_arguments
def mean_interval(values: Values, level: float = 0.95) -> Interval:
    """Returns the mean of independent values with Student's t interval at `level`. NaN values are left out.

    Here the standard error is 0.57735, t(0.975, 2) is 4.30265, and their product is 2.484. Raises ValueError without a value.

    >>> found = el.stats.mean_interval([4, 5, 6])
    >>> found.mean, round(found.low, 3), round(found.high, 3)
    (5.0, 2.516, 7.484)
    """
    return _interval(_clean(values), -math.inf, math.inf, level)


def _interval(array: npt.NDArray[np.float64], low: float, top: float, level: float) -> Interval:
    n, mean, least, most, *_ = many.intervals(array[None, :], np.array([low]), np.array([top]), level)[0].tolist()
    return Interval(mean, least, most, int(n), level)


@of_arguments
def mean_within(values: Values, low: float = -math.inf, top: float = math.inf) -> Interval:
    """Returns `mean_interval` of the values that are not NaN, cut off where their quantity ends; `NOTHING` of no value.

    Example: 0.58, 1 and 1 of a share: 0.86, from 0.258 to 1.

    >>> el.stats.mean_within([0.9, 1.0], 0.0, 1.0).high
    1.0
    """
    known = _array(values)
    known = known[~np.isnan(known)]
    if known.size == 0:
        return NOTHING
    return _interval(known, low, top, 0.95)


@of_arguments
def quantiles(values: Values, qs: Sequence[float]) -> list[float]:
    """Returns sample quantiles, NaN for an empty sample: of n values the smallest that at least `q n` of them do not exceed.

    A value that was seen (Hyndman-Fan type 1), as in `summary.json`.

    >>> el.stats.quantiles([10, 20, 30, 40], [0.5, 0.9])
    [20.0, 40.0]
    """
    array = _array(values)
    if array.size == 0:
        return [math.nan for _ in qs]
    return [float(x) for x in np.quantile(array, list(qs), method="inverted_cdf")]


def _pairs(a: Values, b: Values) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    x, y = _array(a, "a"), _array(b, "b")
    if x.size != y.size:
        raise ValueError(f"a paired comparison needs the same seeds on both sides: {x.size} and {y.size} values")
    both = ~(np.isnan(x) | np.isnan(y))
    if not both.any():
        raise ValueError("no pair of values to compare")
    return x[both], y[both]


def _bca(statistic: str, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], level: float) -> Interval:
    from scipy import stats as scipy_stats

    def difference(p: npt.NDArray[np.float64], q: npt.NDArray[np.float64], axis: int = -1) -> npt.NDArray[np.float64]:
        return np.asarray(np.mean(p, axis=axis) - np.mean(q, axis=axis))

    def ratio(p: npt.NDArray[np.float64], q: npt.NDArray[np.float64], axis: int = -1) -> npt.NDArray[np.float64]:
        return np.asarray(np.sum(p, axis=axis) / np.sum(q, axis=axis))

    function = difference if statistic == "difference" else ratio
    n = int(x.size)
    with np.errstate(all="ignore"):
        estimate = float(function(x, y))
        spread = x - y if statistic == "difference" else x / np.where(y == 0, np.nan, y)
    if n == 1 or not math.isfinite(estimate):
        return Interval(estimate, math.nan, math.nan, n, level, "bca")
    if np.ptp(spread) == 0:
        return Interval(estimate, estimate, estimate, n, level, "bca")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = scipy_stats.bootstrap(
            (x, y),
            function,
            paired=True,
            vectorized=True,
            confidence_level=level,
            n_resamples=_BOOTSTRAP_RESAMPLES,
            method="BCa",
            rng=np.random.default_rng(_BOOTSTRAP_SEED),
        )
    interval = result.confidence_interval
    return Interval(estimate, float(interval.low), float(interval.high), n, level, "bca")


@of_arguments
def paired_difference(a: Values, b: Values, level: float = 0.95, method: str = "t") -> Interval:
    """Returns the mean of `a[i] - b[i]`, of runs with the same seed. `method`: `t` or `bca` (bootstrap).

    >>> found = el.stats.paired_difference([10, 12, 11], [8, 9, 9])
    >>> round(found.mean, 3), round(found.low, 3)
    (2.333, 0.899)
    """
    x, y = _pairs(a, b)
    if method == "bca":
        return _bca("difference", x, y, level)
    if method != "t":
        raise ValueError(f'unknown method "{method}": t or bca')
    return mean_interval(many.differences(x, y), level)


@of_arguments
def paired_ratio(a: Values, b: Values, level: float = 0.95, method: str = "t") -> Interval:
    """Returns the ratio of `a` to `b` over runs with the same seed.

    `t`: geometric mean of `a[i] / b[i]`, with the t interval of its logarithm (all values must be positive).
    `bca`: `sum(a) / sum(b)` with a bootstrap interval over the pairs (for ratios of values that may be zero). Over a sum of zero
    it is infinite, NaN if both are zero; its bounds are NaN then, and where resamples have such a ratio.

    >>> round(el.stats.paired_ratio([10, 12, 11], [5, 6, 5.5]).mean, 6)
    2.0
    """
    x, y = _pairs(a, b)
    if method == "bca":
        return _bca("ratio", x, y, level)
    if method != "t":
        raise ValueError(f'unknown method "{method}": t or bca')
    if (x <= 0).any() or (y <= 0).any():
        raise ValueError("a ratio with a t interval needs positive values on both sides; use method bca")
    logs = mean_interval(np.log(x) - np.log(y), level)
    with np.errstate(over="ignore"):  # an upper bound beyond all numbers is infinite
        mean, low, high = (float(one) for one in np.exp([logs.mean, logs.low, logs.high]))
    return Interval(mean, low, high, logs.n, level)


def _without_overflow(array: npt.NDArray[np.float64], axis: int | None = None) -> npt.NDArray[np.float64]:
    """The values over a power of two, which leaves all digits: the largest is below 1, and squares neither overflow nor vanish."""
    exponent = np.frexp(np.max(np.abs(array), axis=axis, keepdims=True))[1]
    return np.asarray(np.ldexp(array, -exponent), dtype=np.float64)


@of_arguments
def jain(values: Values) -> float:
    """Returns Jain's fairness index `(sum x)^2 / (n sum x^2)`: 1 when all are equal, 1/n when one has all, NaN without any.

    NaN too if a value is infinite or none.

    >>> el.stats.jain([10, 10, 10]), el.stats.jain([10, 0])
    (1.0, 0.5)
    """
    array = _array(values)
    if not array.any() or not np.isfinite(array).all():
        return math.nan
    array = _without_overflow(array)
    return float(np.sum(array)) ** 2 / (array.size * float(np.sum(array * array)))


@of_arguments
def jain_per_window(shares: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Returns Jain's index of each row of `shares` (windows x flows); NaN where nobody got anything.

    >>> el.stats.jain_per_window([[5, 5], [10, 0]])
    array([1. , 0.5])
    """
    array = np.asarray(shares, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"shares must be windows x flows, not an array of shape {array.shape}")
    if array.size:
        array = _without_overflow(array, axis=1)
    total, square = array.sum(axis=1), (array * array).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(square > 0, total * total / (array.shape[1] * square), np.nan), dtype=np.float64)


@of_arguments
def coefficient_of_variation(values: Values) -> float:
    """Returns the standard deviation (n - 1) over the mean; NaN for fewer than two values or a mean of zero.

    >>> round(el.stats.coefficient_of_variation([4, 5, 6]), 3)
    0.2
    """
    array = _array(values)
    if array.size < 2 or not array.any() or not np.isfinite(array).all():
        return math.nan
    array = _without_overflow(array)
    if float(np.mean(array)) == 0:
        return math.nan
    return float(np.std(array, ddof=1) / np.mean(array))


@of_arguments
def batch_interval(series: Values, batches: int = 10, level: float = 0.95) -> Interval:
    """Returns the mean of a time series with an interval by batch means (Law and Kelton), for one long run.

    >>> import numpy as np
    >>> found = el.stats.batch_interval(np.arange(100) % 10)
    >>> found.mean, found.n
    (4.5, 10)
    """
    array = _clean(series)
    if array.size < 2 * batches:
        return Interval(float(np.mean(array)), math.nan, math.nan, int(array.size), level, "batch")
    whole = array[: array.size - array.size % batches].reshape(batches, -1).mean(axis=1)
    inner = mean_interval(whole, level)
    return Interval(inner.mean, inner.low, inner.high, batches, level, "batch")


@of_arguments
def holm(p_values: Values) -> list[float]:
    """Returns Holm's adjusted p values of a family of tests, in the order of `p_values`.

    The k-th smallest of m values is multiplied by m - k + 1, and is at least the one before it. A test whose adjusted value is at
    most 5 % may be believed: the chance of even one false belief in the family is at most 5 %, however the tests depend on one
    another.

    >>> [round(p, 3) for p in el.stats.holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    array = _array(p_values, "p_values")
    if not ((array >= 0) & (array <= 1)).all():
        raise ValueError("a p value is a number from 0 to 1")
    order = np.argsort(array, kind="stable")
    adjusted = np.empty_like(array)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, np.arange(array.size, 0, -1) * array[order]))
    return [float(p) for p in adjusted]


@of_arguments
def detectable_difference(differences: Values, power: float = 0.8, level: float = 0.95) -> float:
    """Returns the smallest mean difference that a paired t test of as many pairs as these finds with probability `power`.

    The differences give the standard deviation s. The answer is `delta` with `P(|T| > t(level)) = power`. T has the noncentral t
    distribution of n - 1 degrees of freedom and noncentrality `delta sqrt(n) / s`. NaN for fewer than two pairs.

    >>> round(el.stats.detectable_difference([4, 5, 6, 5, 4]), 2)
    1.41
    """
    array = _array(differences, "differences")
    array = array[~np.isnan(array)]
    if not 0.05 < power < 1 or not 0 < level < 1:
        raise ValueError("power must be between 0.05 and 1, level between 0 and 1")
    return float(_core.detectable_difference(array.tobytes(), power, level))


@of_arguments
def quantile_interval(values: Values, q: float = 0.5, level: float = 0.95) -> Interval:
    """Returns a quantile of independent values with the interval between two order statistics, which needs no distribution.

    The bounds are the values of rank l and u with `P(B < l) <= (1 - level) / 2` and `P(B >= u) <= (1 - level) / 2`. B is binomial
    with n and q. A bound is NaN where the sample is too small for it: a median needs six values. Repetitions are independent;
    the packets of one run are not.

    >>> found = el.stats.quantile_interval([7, 3, 9, 1, 5, 8, 2, 10, 4, 6])
    >>> found.mean, found.low, found.high
    (5.0, 2.0, 9.0)
    """
    array = np.sort(_clean(values))
    if not 0 < q < 1 or not 0 < level < 1:
        raise ValueError("q and level must be between 0 and 1")
    from scipy.stats import binom

    n, tail = int(array.size), (1 - level) / 2
    low, high = int(binom.ppf(tail, n, q)), int(binom.ppf(1 - tail, n, q)) + 1
    bounds = [float(array[rank - 1]) if 1 <= rank <= n else math.nan for rank in (low, high)]
    return Interval(quantiles(array, [q])[0], bounds[0], bounds[1], n, level, "order statistics")


@of_arguments
def mser5(series: Values) -> int | None:
    """Returns how many values at the beginning of a series are warm-up, by MSER-5; None if the series has not settled.

    Means of five values each, y(1) to y(n), are cut at the d with the least `sum over i > d of (y(i) - mean)^2 / (n - d)^2`. A cut
    in the second half says that the series is too short. Fewer than 50 values are too few to say anything.

    >>> el.stats.mser5([100.0] * 20 + [1.0, 2.0] * 90)
    20
    """
    array = _clean(series)
    n = array.size // 5
    if n < 10:
        return None
    means = array[: 5 * n].reshape(n, 5).mean(axis=1)
    means = means - means[-1]  # sums of squares keep their digits
    left = np.arange(n, 0, -1)
    total, square = (np.cumsum(one[::-1])[::-1] for one in (means, means * means))
    errors = np.maximum(square - total * total / left, 0.0) / left**2
    cut = int(np.argmin(errors[: n - 5]))  # the last five means show no spread
    return 5 * cut if cut <= n // 2 else None
