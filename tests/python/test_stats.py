"""Statistics against textbook numbers."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from elephan.base import stats
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit


def test_t_interval_of_three_values() -> None:
    # mean 5, s = 1, s/sqrt(3) = 0.577350, t(0.975, 2) = 4.302653
    interval = stats.mean_interval([4, 5, 6])
    assert interval.mean == 5
    assert interval.half_width == pytest.approx(4.302653 * 0.5773503, abs=1e-6)
    assert (interval.low, interval.high) == pytest.approx((2.515863, 7.484137), abs=1e-6)
    assert interval.n == 3


def test_t_interval_of_ten_values() -> None:
    # 1..10: mean 5.5, s = 3.027650, t(0.975, 9) = 2.262157
    interval = stats.mean_interval(list(range(1, 11)))
    assert interval.half_width == pytest.approx(2.262157 * 3.0276504 / math.sqrt(10), rel=1e-6)


def test_one_value_says_nothing_about_spread() -> None:
    interval = stats.mean_interval([7.0])
    assert interval.mean == 7.0
    assert math.isnan(interval.low)
    assert interval.as_dict() == {"mean": 7.0, "ci_low": None, "ci_high": None, "n": 1}


def test_equal_values_have_a_point_interval() -> None:
    interval = stats.mean_interval([0.1] * 10)
    assert (interval.mean, interval.low, interval.high) == (0.1, 0.1, 0.1)


def test_no_values_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one"):
        stats.mean_interval([])


def test_quantiles() -> None:
    assert stats.quantiles([1, 2, 3, 4, 5], [0, 0.5, 1]) == [1, 3, 5]
    # Hyndman and Fan 1996, definition 1: x of rank ceil(q n).
    assert stats.quantiles([0, 10], [0.25, 0.5, 0.51]) == [0, 0, 10]
    assert stats.quantiles(range(1, 101), [0.01, 0.5, 0.99, 0.999]) == [1, 50, 99, 100]
    assert math.isnan(stats.quantiles([], [0.5])[0])


def test_paired_difference_uses_the_pairing() -> None:
    # differences 1, 1, 1, 1: no spread, although a and b vary widely
    interval = stats.paired_difference([11, 21, 31, 41], [10, 20, 30, 40])
    assert (interval.mean, interval.low, interval.high) == (1, 1, 1)


def test_paired_difference_against_the_textbook() -> None:
    # Student's sleep data (1908): differences, mean 1.58, s 1.229995, t(0.975, 9) = 2.262157 -> 0.7001 .. 2.4599
    drug = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    placebo = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    interval = stats.paired_difference(drug, placebo)
    assert interval.mean == pytest.approx(1.58)
    assert (interval.low, interval.high) == pytest.approx((0.7001, 2.4599), abs=1e-4)
    bca = stats.paired_difference(drug, placebo, method="bca")
    assert bca.mean == pytest.approx(1.58)
    assert 0.7 < bca.low < 1.3
    assert 2.0 < bca.high < 2.9


def test_paired_ratio() -> None:
    assert stats.paired_ratio([2, 4, 6], [1, 2, 3]).mean == pytest.approx(2)
    interval = stats.paired_ratio([1, 4], [1, 1])  # geometric mean of 1 and 4
    assert interval.mean == pytest.approx(2)
    assert stats.paired_ratio([0, 4], [1, 1], method="bca").mean == 2  # sum over sum
    with pytest.raises(ValueError, match="positive"):
        stats.paired_ratio([0, 4], [1, 1])


@pytest.mark.parametrize(
    ("a", "b", "ratio"),
    [
        ([1, 2, 3], [0, 0, 0], math.inf),
        ([0, 0], [0, 0], math.nan),
        ([math.inf, 2], [1, 2], math.inf),
        ([1, 2], [0, 1], 3.0),  # one resample in four is over nothing
    ],
)
def test_a_ratio_over_nothing_has_no_bounds(a: list[float], b: list[float], ratio: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        interval = stats.paired_ratio(a, b, method="bca")
    assert interval.mean == pytest.approx(ratio, nan_ok=True)
    assert (math.isnan(interval.low), math.isnan(interval.high), interval.n) == (True, True, len(a))


def test_a_ratio_whose_bound_is_beyond_all_numbers() -> None:
    interval = stats.paired_ratio([1e200, 2], [1, 2])  # geometric mean of 1e200 and 1
    assert interval.mean == pytest.approx(1e100)
    assert (interval.low, interval.high) == (0, math.inf)


def test_pairs_must_match() -> None:
    with pytest.raises(ValueError, match="same seeds"):
        stats.paired_difference([1, 2], [1])
    with pytest.raises(ValueError, match="t or bca"):
        stats.paired_difference([1, 2], [1, 2], method="normal")


def test_jain() -> None:
    # Jain, Chiu, Hawe 1984: equal shares 1; k of n served equally k/n
    assert stats.jain([5, 5, 5]) == 1
    assert stats.jain([1, 0, 0, 0]) == 0.25
    assert stats.jain([1, 1, 0, 0]) == 0.5
    assert stats.jain([1, 2, 3]) == pytest.approx(36 / 42)
    assert math.isnan(stats.jain([0, 0]))


def test_jain_per_window() -> None:
    index = stats.jain_per_window([[1, 1], [1, 0], [0, 0]])
    assert index[0] == 1
    assert index[1] == 0.5
    assert np.isnan(index[2])
    with pytest.raises(ValueError, match="windows x flows"):
        stats.jain_per_window([1.0, 2.0])


@pytest.mark.parametrize("unit", [5e-324, 1e-200, 1e200, 1.7e308])
def test_shares_of_any_size(unit: float) -> None:
    """Jain's index has no unit, so values whose squares are no numbers have that of 1, 1 and 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert stats.jain([unit, unit]) == 1.0
        assert stats.jain([unit, unit, 0]) == pytest.approx(2 / 3)
        assert stats.jain_per_window([[unit, unit], [unit, 0], [1, 1]]).tolist() == [1.0, 0.5, 1.0]
        # mean 1/2, standard deviation 1/sqrt(2)
        assert stats.coefficient_of_variation([unit, 0]) == pytest.approx(math.sqrt(2))
    assert math.isnan(stats.jain([math.inf, unit]))


def test_coefficient_of_variation() -> None:
    assert stats.coefficient_of_variation([4, 5, 6]) == pytest.approx(0.2)
    assert math.isnan(stats.coefficient_of_variation([1, -1]))
    assert math.isnan(stats.coefficient_of_variation([3]))


def test_batch_means() -> None:
    interval = stats.batch_interval([1.0, 3.0] * 50)
    assert (interval.mean, interval.low, interval.high) == (2, 2, 2)
    assert math.isnan(stats.batch_interval([1.0, 2.0]).low)


def test_holm() -> None:
    # The example of Wikipedia's article on the method: 0.005 and 0.01 are rejected at 5 %, 0.03 and 0.04 are not.
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # R's p.adjust(c(0.01, 0.02, 0.03, 0.04), "holm")
    assert stats.holm([0.01, 0.02, 0.03, 0.04]) == pytest.approx([0.04, 0.06, 0.06, 0.06])
    assert stats.holm([]) == []
    assert stats.holm([0.9, 0.8]) == [1.0, 1.0]
    for wrong in ([1.1], [-0.1], [math.nan]):
        with pytest.raises(ValueError, match="p value"):
            stats.holm(wrong)


def _spread(n: int) -> list[float]:
    """n values with a standard deviation of 1."""
    values = np.array([1.0, -1.0] * n)[:n]
    return list(values / np.std(values, ddof=1))


def test_the_difference_that_a_test_finds() -> None:
    # R: power.t.test(delta = 0.5, sd = 1, power = 0.8, type = "paired") asks for n = 33.36713 pairs.
    assert stats.detectable_difference(_spread(34)) < 0.5 < stats.detectable_difference(_spread(33))
    # With delta = 1 it asks for n = 9.93785.
    assert stats.detectable_difference(_spread(10)) < 1 < stats.detectable_difference(_spread(9))
    assert stats.detectable_difference([3.0, 3.0, 3.0]) == 0
    assert math.isnan(stats.detectable_difference([3.0]))
    assert math.isnan(stats.detectable_difference([3.0, math.nan]))
    with pytest.raises(ValueError, match="power"):
        stats.detectable_difference([1, 2], power=1)


def test_the_test_finds_that_difference_as_often_as_it_says() -> None:
    random = np.random.default_rng(7)
    delta = stats.detectable_difference(_spread(10))
    draws = random.normal(delta, 1.0, (4000, 10))
    t = np.abs(draws.mean(axis=1)) / (draws.std(axis=1, ddof=1) / math.sqrt(10))
    assert np.mean(t > 2.262157) == pytest.approx(0.8, abs=0.02)  # three standard errors of a share are 0.019


def test_intervals_of_quantiles() -> None:
    # Tables of the sign test: the median of 10 is between the 2nd and the 9th with 97.85 %, of 20 between the 6th and 15th.
    median = stats.quantile_interval(range(10, 0, -1))
    assert (median.mean, median.low, median.high, median.n) == (5, 2, 9, 10)
    assert stats.quantile_interval(range(1, 21)).low == 6
    assert stats.quantile_interval(range(1, 21)).high == 15
    six, five = stats.quantile_interval(range(6)), stats.quantile_interval(range(5))
    assert (six.low, six.high) == (0, 5)
    assert math.isnan(five.low)
    assert math.isnan(five.high)
    assert math.isnan(stats.quantile_interval(range(50), 0.99).high)
    with pytest.raises(ValueError, match="between 0 and 1"):
        stats.quantile_interval([1, 2], 1)


def test_an_interval_of_a_quantile_covers_it() -> None:
    random = np.random.default_rng(3)
    found = [stats.quantile_interval(random.exponential(size=40), 0.8) for _ in range(1000)]
    covered = np.mean([one.low <= math.log(5) <= one.high for one in found])  # the 80 % quantile of an exponential of mean 1
    assert 0.94 < covered < 0.99


def test_mser5_finds_where_a_warm_up_ends() -> None:
    random = np.random.default_rng(5)
    settled = random.normal(10, 1, 900)
    warm = 50 * np.exp(-np.arange(900) / 20)
    # The bias is below the noise after about 20 ln(50) = 78 values.
    assert 50 <= stats.mser5(settled + warm) <= 150
    assert stats.mser5(settled) <= 300
    assert stats.mser5([100.0] * 20 + [1.0, 2.0] * 90) == 20
    assert stats.mser5(np.arange(200)) is None  # a ramp never settles
    assert stats.mser5([1.0] * 49) is None
    assert stats.mser5([1.0] * 50) == 0


@given(st.lists(st.floats(min_value=1e-3, max_value=1e6), min_size=1, max_size=50))
def test_jain_is_between_one_over_n_and_one(values: list[float]) -> None:
    index = stats.jain(values)
    assert 1 / len(values) - 1e-9 <= index <= 1 + 1e-9


@given(st.lists(st.floats(min_value=-1e6, max_value=1e6), min_size=2, max_size=30))
def test_the_mean_is_inside_its_interval(values: list[float]) -> None:
    interval = stats.mean_interval(values)
    assert interval.low <= interval.mean <= interval.high


def test_students_t_is_that_of_scipy() -> None:
    assert [stats.student(freedom, 0.95) for freedom in range(1, 40)] == [float(stdtrit(n, 0.975)) for n in range(1, 40)]
    assert stats.student(3, 0.9) == float(stdtrit(3, 0.95))
