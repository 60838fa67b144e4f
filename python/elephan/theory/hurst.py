"""Self-similarity: estimators of the Hurst parameter, and exact fractional Gaussian noise to try them on.

A stationary series of counts per bin is long-range dependent with Hurst parameter H between 1/2 and 1 when the variance
of its means over m bins falls as m^(2H - 2), slower than the 1/m of independent counts (H = 1/2). Leland, Taqqu, Willinger
and Wilson 1994 found H of about 0.8 in Ethernet traffic; superposed on/off sources with Pareto periods of shape a between
1 and 2 have H = (3 - a) / 2 (Taqqu, Willinger and Sherman 1997).

`variance_time` reads the slope of that law; `wavelet` (Abry and Veitch 1998) that of the energy of wavelet coefficients
over octaves, which trends in the mean do not disturb and which knows its own error. An estimate belongs to a range of
times: below it packets are spaced evenly, above it there are too few blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elephan.base.errors import brief, of_arguments
from elephan.base.quantity import seconds

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Hurst:
    """An estimate of H, the range of times in seconds that it belongs to, and the line behind it.

    `low` and `high`: 95 % interval; NaN where the method gives none. `times_s`, `logs`: the points that were fitted (base 2
    logarithms of variance or energy), `slope`, `intercept`: the line through them over log2 of the time.

    >>> noise = el.hurst.fractional_gaussian_noise(2**14, 0.8)
    >>> found = el.hurst.wavelet(noise, bin="1 ms")
    >>> found.range_s
    (0.008, 1.024)
    >>> round(found.slope, 1)
    0.6
    """

    h: float
    low: float
    high: float
    range_s: tuple[float, float]
    times_s: Array
    logs: Array
    slope: float
    intercept: float


def _series(counts: npt.ArrayLike) -> Array:
    x = np.asarray(counts, dtype=np.float64)
    if x.ndim != 1 or not np.isfinite(x).all():
        raise ValueError("counts are a list of finite numbers, one per bin")
    if x.size < 64 or np.ptp(x) == 0:
        raise ValueError("counts that vary are needed, in 64 bins at least")
    return x


def _range(
    bin_s: float, bins: int, between: tuple[float | str, float | str] | None, least: float, most: float
) -> tuple[float, float]:
    """The range in bins: as asked for, within what the series has."""
    if not bin_s > 0:
        raise ValueError(f"a bin is longer than 0 s, not {bin_s:g} s")
    if between is None:
        low, high = least * bin_s, bins * bin_s / most
    elif isinstance(between, (tuple, list)) and len(between) == 2:
        low, high = seconds(between[0]), seconds(between[1])
    else:
        raise ValueError(f'between is a pair of times such as ("1 ms", "1 s"), not {brief(between)}')
    low, high = low / bin_s, high / bin_s
    if not 0 < low < high:
        raise ValueError("the range of times ends before it begins")
    if low < 1 - 1e-9:
        raise ValueError(f"the range of times begins below one bin, {bin_s:g} s")
    if high > bins / 4:
        raise ValueError(f"the range of times ends beyond a quarter of the series, {bins * bin_s / 4:g} s")
    return max(low, 1.0), high


@of_arguments
def variance_time(
    counts: npt.ArrayLike, bin: float | str = 1.0, between: tuple[float | str, float | str] | None = None, points: int = 20
) -> Hurst:
    """Returns H by the variance-time plot: the variance of means over m bins falls as m^(2H - 2).

    `counts`: a number per bin of length `bin` (seconds or text). `between`: the range of block lengths in time, such as
    `("10 ms", "10 s")`; without it from 4 bins to a hundredth of the series. Least squares over `points` block lengths,
    equally spaced in the logarithm. The variance of few dependent blocks comes out too small, so that H is some 0.02 low
    when blocks are a hundredth of the series. Raises `ValueError` when the range does not fit the series.

    >>> noise = el.hurst.fractional_gaussian_noise(2**14, 0.8)
    >>> round(el.hurst.variance_time(noise, bin="1 ms").h, 2)
    0.75
    """
    x, bin_s = _series(counts), seconds(bin)
    low, high = _range(bin_s, x.size, between, 4, 100)
    sizes = np.unique(np.round(np.geomspace(low, high, max(points, 2))).astype(int))
    if sizes.size < 2:
        raise ValueError("the range of times holds only one block length")
    variances = []
    for m in sizes:
        means = x[: x.size - x.size % m].reshape(-1, m).mean(axis=1)
        variances.append(means.var(ddof=1))
    logs = np.log2(np.maximum(variances, np.finfo(float).tiny))
    slope, intercept = np.polyfit(np.log2(sizes * bin_s), logs, 1)
    h = 1 + float(slope) / 2
    return Hurst(h, math.nan, math.nan, (low * bin_s, high * bin_s), sizes * bin_s, logs, float(slope), float(intercept))


# Daubechies' scaling filter with two vanishing moments (Daubechies 1988): linear trends do not reach its coefficients.
_ROOT3 = math.sqrt(3)
_SCALING = np.array([1 + _ROOT3, 3 + _ROOT3, 3 - _ROOT3, 1 - _ROOT3]) / (4 * math.sqrt(2))
_WAVELET = _SCALING[::-1] * np.array([1, -1, 1, -1])


@of_arguments
def wavelet(counts: npt.ArrayLike, bin: float | str = 1.0, between: tuple[float | str, float | str] | None = None) -> Hurst:
    """Returns H by wavelets (Abry and Veitch 1998; Veitch and Abry 1999), with a 95 % interval.

    Octave j holds n_j coefficients of length 2^j bins; the logarithm of their mean square rises with slope 2H - 1 over j.
    Weighted least squares: for Gaussian series the variance of a point is zeta(2, n_j / 2) / ln^2 2, and its bias
    psi(n_j / 2) / ln 2 - log2(n_j / 2) is taken out. Daubechies wavelets with two vanishing moments; coefficients that
    would reach beyond the ends are left out. `between`: range of octaves in time; without it from 8 bins to as far as there
    are 8 coefficients. Arguments otherwise as for `variance_time`.

    >>> noise = el.hurst.fractional_gaussian_noise(2**14, 0.8)
    >>> found = el.hurst.wavelet(noise)
    >>> found.low < 0.8 < found.high
    True
    """
    from scipy.special import digamma, zeta

    x, bin_s = _series(counts), seconds(bin)
    low, high = _range(bin_s, x.size, between, 8, 8)
    octaves, logs, variances = [], [], []
    approximation, j = x, 0
    while approximation.size >= 2 * _SCALING.size:
        details = np.convolve(approximation, _WAVELET[::-1], "valid")[::2]
        approximation = np.convolve(approximation, _SCALING[::-1], "valid")[::2]
        j += 1
        if details.size < 8 or not low * (1 - 1e-9) <= 2.0**j <= high * (1 + 1e-9):
            continue
        half, energy = details.size / 2, float(np.mean(details**2))
        octaves.append(j)
        logs.append(math.log2(max(energy, np.finfo(float).tiny)) - (float(digamma(half)) / math.log(2) - math.log2(half)))
        variances.append(float(zeta(2, half)) / math.log(2) ** 2)
    if len(octaves) < 2:
        raise ValueError("the range of times holds fewer than two octaves with 8 coefficients")
    t, y, w = np.array(octaves, dtype=float), np.array(logs), 1 / np.array(variances)
    s0, s1, s2 = w.sum(), (w * t).sum(), (w * t * t).sum()
    spread = s0 * s2 - s1 * s1
    slope = float((w * (s0 * t - s1) * y).sum() / spread)
    intercept = float((w * (s2 - s1 * t) * y).sum() / spread)
    h, half_width = (slope + 1) / 2, 1.959964 * math.sqrt(s0 / spread) / 2
    times = 2.0**t * bin_s
    # the line over log2 of the time instead of over the octave
    span = float(times[0]), float(times[-1])
    return Hurst(h, h - half_width, h + half_width, span, times, y, slope, intercept - slope * math.log2(bin_s))


@of_arguments
def fractional_gaussian_noise(n: int, h: float, seed: int = 1) -> Array:
    """Returns `n` values of fractional Gaussian noise with Hurst parameter `h`, mean 0, variance 1; exact.

    Its autocovariance at lag k is (|k+1|^2H - 2 |k|^2H + |k-1|^2H) / 2. Circulant embedding (Davies and Harte 1987): the
    covariances, mirrored to a circle, have non-negative eigenvalues for this process (Craigmile 2003, Dietrich and Newsam 1997).

    >>> el.hurst.fractional_gaussian_noise(1000, 0.8).shape
    (1000,)
    """
    if not 0 < h < 1 or n < 2:
        raise ValueError("h lies between 0 and 1, and n is 2 at least")
    k = np.arange(n + 1, dtype=np.float64)
    covariance = (np.abs(k + 1) ** (2 * h) - 2 * k ** (2 * h) + np.abs(k - 1) ** (2 * h)) / 2
    eigenvalues = np.maximum(np.fft.fft(np.concatenate([covariance, covariance[-2:0:-1]])).real, 0.0)
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal(eigenvalues.size) + 1j * rng.standard_normal(eigenvalues.size)
    return np.asarray(np.fft.fft(np.sqrt(eigenvalues / eigenvalues.size) * noise).real[:n], dtype=np.float64)


@of_arguments
def of_periods(shape: float) -> float:
    """Returns H of many superposed on/off sources with Pareto periods of this shape: (3 - shape) / 2, for shapes from 1 to 2.

    >>> el.hurst.of_periods(1.4)
    0.8
    """
    if not 1 < shape < 2:
        raise ValueError(f"the shape must be above 1 and below 2, not {shape:g}")
    return (3 - shape) / 2
