"""Estimators of the Hurst parameter, on noise whose parameter is known exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from elephan.theory import hurst

N = 2**16


@pytest.mark.parametrize("h", [0.6, 0.7, 0.8, 0.9])
def test_the_noise_has_its_covariances(h: float) -> None:
    """Lag 1: (2^2H - 2) / 2; lag 2: (3^2H - 2 x 2^2H + 1) / 2. Means of 200 series of 512, about the known mean of 0."""
    series = [hurst.fractional_gaussian_noise(512, h, seed) for seed in range(200)]
    for lag, expected in ((0, 1.0), (1, (2 ** (2 * h) - 2) / 2), (2, (3 ** (2 * h) - 2 * 2 ** (2 * h) + 1) / 2)):
        each = [float(np.mean(x[: 512 - lag] * x[lag:])) for x in series]
        error = np.std(each, ddof=1) / math.sqrt(len(each))
        assert abs(np.mean(each) - expected) < 4 * error, lag


@pytest.mark.parametrize("h", [0.6, 0.7, 0.8, 0.9])
def test_fractional_gaussian_noise(h: float) -> None:
    """Both estimators find H in the mean of 8 series of 65 536; wavelets within the error that they state."""
    series = [hurst.fractional_gaussian_noise(N, h, seed) for seed in range(8)]
    by_variance = float(np.mean([hurst.variance_time(x).h for x in series]))
    by_wavelet = [hurst.wavelet(x) for x in series]
    assert by_variance == pytest.approx(h, abs=0.04)
    assert float(np.mean([e.h for e in by_wavelet])) == pytest.approx(h, abs=0.015)
    # 95 % intervals: at least 5 of 8 hold H (fewer happens once in 3000 times)
    assert sum(e.low <= h <= e.high for e in by_wavelet) >= 5
    assert all(0.01 < (e.high - e.low) / 2 < 0.05 for e in by_wavelet)


def test_white_noise_has_one_half() -> None:
    x = np.random.default_rng(7).poisson(50, N)
    assert hurst.variance_time(x).h == pytest.approx(0.5, abs=0.03)
    assert hurst.wavelet(x).h == pytest.approx(0.5, abs=0.03)


def test_a_trend_does_not_fool_wavelets() -> None:
    """A linear trend makes independent counts look self-similar to the variance, not to wavelets with two vanishing moments."""
    x = np.random.default_rng(3).poisson(50, N) + np.linspace(0, 20, N)
    assert hurst.variance_time(x).h > 0.7
    assert hurst.wavelet(x).h == pytest.approx(0.5, abs=0.03)


def test_the_range_is_as_asked_for() -> None:
    x = hurst.fractional_gaussian_noise(N, 0.8)
    found = hurst.variance_time(x, bin="10 ms", between=("100 ms", "5 s"))
    assert found.range_s == pytest.approx((0.1, 5.0))
    assert (found.times_s[0], found.times_s[-1]) == pytest.approx((0.1, 5.0))
    assert found.logs == pytest.approx(found.slope * np.log2(found.times_s) + found.intercept, abs=0.3)
    waves = hurst.wavelet(x, bin="10 ms", between=("80 ms", "10.24 s"))
    assert waves.range_s == pytest.approx((0.08, 10.24))  # 8 to 1024 bins
    assert waves.logs == pytest.approx(waves.slope * np.log2(waves.times_s) + waves.intercept, abs=0.5)


def test_refused() -> None:
    x = hurst.fractional_gaussian_noise(1000, 0.7)
    for bad, text in (
        (lambda: hurst.variance_time(np.zeros(1000)), "vary"),
        (lambda: hurst.variance_time(x[:10]), "64 bins"),
        (lambda: hurst.variance_time(x, bin="1 s", between=("100 ms", "10 s")), "below one bin"),
        (lambda: hurst.variance_time(x, bin="1 s", between=("10 s", "900 s")), "beyond a quarter"),
        (lambda: hurst.wavelet(x, bin="1 s", between=("20 s", "10 s")), "ends before"),
        (lambda: hurst.wavelet(x, bin="1 s", between=("9 s", "15 s")), "fewer than two octaves"),
        (lambda: hurst.fractional_gaussian_noise(100, 1.2), "between 0 and 1"),
        (lambda: hurst.of_periods(2.5), "above 1"),
    ):
        with pytest.raises(ValueError, match=text):
            bad()


def test_periods() -> None:
    """Taqqu, Willinger and Sherman 1997: shape 1.4 has 0.8, 1.2 has 0.9, 1.6 has 0.7."""
    assert [hurst.of_periods(a) for a in (1.4, 1.2, 1.6)] == pytest.approx([0.8, 0.9, 0.7])
