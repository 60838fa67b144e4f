"""Mean windows under random loss: each segment is lost with probability p, independently of all others.

Between two losses there are E segments, exponential with mean 1/p where losses are rare. The windows X at successive losses are
a Markov chain: a controller that begins at `(1 - b) X` and grows has sent E segments after N(X, E) round trips and
stands at `top(X, E)`. With X from the stationary distribution the time mean of the window is the segments over the round trips
of a gap,

    mean = (1 / p) / E[N(X, E)]

(Ott, Kemperman and Mathis 1996 for Reno; Altman, Avrachenkov and Barakat, SIGCOMM 2000; Poojary and Sharma, arXiv 1510.08496,
for CUBIC). The chain is solved on a grid of logarithms of the window, the mean over E by Gauss-Laguerre quadrature. Left out:
timeouts, several losses in a window, the round trip of recovery.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Epoch = Callable[[Array, Array], tuple[Array, Array]]
"""From windows at a loss (n, 1) and segments until the next (m,) to windows then and round trips, (n, m) each."""

_POINTS, _NODES = 500, 48
_BELOW, _ABOVE = 1e-3, 30.0  # the grid, as shares of the window under periodic loss


def chain_mean(epoch: Epoch, p: float, typical: float) -> float:
    """Time mean of the window in segments at loss probability `p`; `typical` is its order of magnitude."""
    nodes, weights = np.polynomial.laguerre.laggauss(_NODES)
    grid = np.linspace(math.log(_BELOW * typical), math.log(_ABOVE * typical), _POINTS)
    top, rounds = epoch(np.exp(grid)[:, None], nodes / p)
    place = np.clip((np.log(top) - grid[0]) / (grid[1] - grid[0]), 0, _POINTS - 1.000001)
    low, above = place.astype(int), place % 1
    moves = np.zeros((_POINTS, _POINTS))
    rows = np.arange(_POINTS)[:, None]
    np.add.at(moves, (rows, low), weights * (1 - above))
    np.add.at(moves, (rows, low + 1), weights * above)
    # stationary: share = share @ moves, and all shares are 1 together
    system = moves.T - np.eye(_POINTS)
    system[-1] = 1.0
    share = np.linalg.solve(system, np.eye(_POINTS)[-1])
    return float(1 / p / (share @ (rounds @ weights)))


def _sum_of_steps(sent: Callable[[Array], Array], segments: Array, most: Array) -> Array:
    """The time, at most `most`, after which `sent`, which grows with it, has reached `segments`."""
    low, high = np.zeros_like(most), most
    for _ in range(60):
        middle = (low + high) / 2
        early = sent(middle) < segments
        low, high = np.where(early, middle, low), np.where(early, high, middle)
    return high


@cache
def aimd_constant(a: float, b: float) -> float:
    """Of AIMD(a, b): mean window times sqrt(p); 1.31 for Reno (Mathis et al. 1997)."""

    def epoch(x: Array, segments: Array) -> tuple[Array, Array]:
        begin = (1 - b) * x
        top = np.sqrt(begin**2 + 2 * a * segments)
        return top, (top - begin) / a

    p = 1e-6
    return chain_mean(epoch, p, math.sqrt(a * (2 - b) / (2 * b * p))) * math.sqrt(p)


@cache
def cubic_constant(beta: float) -> float:
    """Of CUBIC outside its Reno-friendly region, without fast convergence: mean window over `c^0.25 (R / p)^0.75`."""

    def epoch(x: Array, segments: Array) -> tuple[Array, Array]:
        plateau = np.cbrt((1 - beta) * x)  # with c and R of 1
        most = np.minimum(segments / (beta * x), plateau + (4 * segments) ** 0.25)
        took = _sum_of_steps(lambda t: ((t - plateau) ** 4 - plateau**4) / 4 + x * t, segments, most)
        return x + (took - plateau) ** 3, took

    p = 1e-4
    return chain_mean(epoch, p, float((3 + beta) / (4 * (1 - beta))) ** 0.25 * p**-0.75) * math.pow(p, 0.75)


def highspeed(p: float, typical: float) -> float:
    """HighSpeed TCP by RFC 3649 section 5, `a(w) = 2 w^2 p(w) b(w) / (2 - b(w))`, Reno up to 38 segments."""
    ln = np.linspace(math.log(_BELOW * typical * 0.5), math.log(_ABOVE * typical), 4000)
    w = np.exp(ln)
    reno = w <= 38
    b = np.where(reno, 0.5, 0.5 - 0.4 * (ln - math.log(38)) / math.log(83_000 / 38))
    b = np.maximum(b, 0.1)
    a = np.where(reno, 1.0, np.maximum(2 * w**2 * 0.078 / w**1.2 * b / (2 - b), 1.0))

    def integral(of: Array) -> Array:
        """Over dw = w dln, from the first window on."""
        return np.concatenate([[0.0], np.cumsum((of[1:] * w[1:] + of[:-1] * w[:-1]) / 2 * (ln[1] - ln[0]))])

    rounds, segments = integral(1 / a), integral(w / a)

    def epoch(x: Array, gap: Array) -> tuple[Array, Array]:
        begin = np.log(x * (1 - np.interp(np.log(x), ln, b)))
        top = np.interp(np.interp(begin, ln, segments) + gap, segments, ln)
        return np.exp(top), np.interp(top, ln, rounds) - np.interp(begin, ln, rounds)

    return chain_mean(epoch, p, typical)


def by_the_clock(
    left: float, grown: Callable[[Array], Array], area: Callable[[Array], Array], p: float, rtt: float, typical: float
) -> float:
    """A controller that leaves the share `left` and grows by `grown(t)` segments in t seconds, with the integral `area(t)`."""

    def epoch(x: Array, segments: Array) -> tuple[Array, Array]:
        most = segments * rtt / (left * x)
        took = _sum_of_steps(lambda t: (left * x * t + area(t)) / rtt, segments, most)
        return left * x + grown(took), took / rtt

    return chain_mean(epoch, p, typical)
