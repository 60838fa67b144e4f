"""Models of links beside their equations: 1,000 s of each trace, with tolerances from the error of sampling.

What is expected comes from closed forms, or from a Markov chain that stands here as a matrix. The variance of a mean over a
correlated process is that of the same chain: no tolerance is chosen. A mean may be off by `SIGMAS` of its standard deviations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import elephan as el
import numpy as np
import pytest
from elephan.base.errors import InputError

Vector = np.ndarray[Any, np.dtype[np.float64]]

SECONDS = 1000
SEEDS = range(1, 11)
SIGMAS = 4.0
PACKET_BITS = 8 * 1504


def within(found: float, expected: float, deviation: float) -> None:
    """Fails where `found` is further from `expected` than chance explains."""
    assert abs(found - expected) <= SIGMAS * deviation, (found, expected, deviation)


def phi(x: Vector) -> Vector:
    """Returns the standard normal distribution function."""
    return np.array([math.erf(one) for one in x.ravel() / math.sqrt(2)]).reshape(x.shape) / 2 + 0.5


class Chain:
    """A Markov chain: `P` its matrix, `pi` its stationary law."""

    def __init__(self, P: Vector) -> None:
        self.P, count = P, len(P)
        equations = np.vstack([P.T - np.eye(count), np.ones(count)])
        self.pi = np.linalg.lstsq(equations, np.append(np.zeros(count), 1.0), rcond=None)[0]
        self.fundamental = np.linalg.inv(np.eye(count) - P + np.outer(np.ones(count), self.pi))

    def mean(self, f: Vector) -> float:
        return float(self.pi @ f)

    def after(self, f: Vector, state: int, steps: int) -> float:
        """Returns the mean of `f` over the first `steps` steps that follow a state."""
        transient = self.P[state] @ (self.fundamental @ f - self.mean(f))
        return self.mean(f) + float(transient) / steps

    def variance(self, f: Vector, own: Vector | None = None, back: Vector | None = None) -> float:
        """Returns n times the variance of a mean of n values whose means are `f` of the state.

        `own` is the second moment of a value given its state; without it the value is `f` itself. `back` is, for each state, the
        mean of what a value has to do with the state that comes after it; without it the value depends on its own state alone.
        """
        mean = self.mean(f)
        own = f**2 if own is None else own
        # The sum over all lags of the covariance: pi f P^k f, k from 1 on.
        begun = self.pi * f if back is None else back
        later = (begun @ self.P if back is None else begun) @ self.fundamental @ f
        return self.mean(own) - mean**2 + 2 * (float(later) - mean**2)


# Cellular

STEP_S, LEVELS = 0.02, 600
MEAN, TOP, SIGMA, MEMORY_S, ESCAPE = 6.0, 12.0, 2.4, 5.0, 1.0


@cache
def wandering() -> tuple[Chain, Vector, int]:
    """Returns the chain of the rate of `cellular`, its levels in packets a step, and the level where it begins.

    State 0 is an outage, the last state is the top, and those between are slices of (0, top).
    """
    width = TOP / LEVELS
    middles = (np.arange(LEVELS) + 0.5) * width
    rates = np.concatenate(([0.0], middles, [TOP]))
    edges = np.concatenate(([-np.inf], np.arange(LEVELS + 1) * width, [np.inf]))
    towards = rates + (MEAN - rates) * STEP_S / MEMORY_S
    P = np.diff(phi((edges[None, :] - towards[:, None]) / (SIGMA * math.sqrt(STEP_S))), axis=1)
    P[0] = 0.0
    P[0, 0] = 1 - ESCAPE * STEP_S
    P[0, 1 + int(SIGMA * math.sqrt(STEP_S) / width)] = ESCAPE * STEP_S
    return Chain(P), rates * 1e6 * STEP_S / PACKET_BITS, 1 + int(MEAN / width)


@cache
def cells() -> Vector:
    """Returns how many packets each step of each trace may send: a row a seed."""
    rows = []
    for seed in SEEDS:
        times = np.array(el.link_trace("cellular", SECONDS, seed=seed).split(), dtype=np.int64)
        rows.append(np.bincount((times - 1) // round(1000 * STEP_S), minlength=round(SECONDS / STEP_S)))
    return np.array(rows, dtype=float)


def test_cellular_has_the_mean_of_its_chain() -> None:
    chain, packets, begin = wandering()
    counts = cells()
    expected = chain.after(packets, begin, counts.shape[1])
    variance = chain.variance(packets, own=packets + packets**2)  # of a Poisson number given its mean
    within(counts.mean(), expected, math.sqrt(variance / counts.size))
    # The walls and outages cost: the mean is below that of the parameter.
    assert expected * PACKET_BITS / STEP_S / 1e6 < MEAN


@pytest.mark.parametrize("at_most", [0, 2, 5, 10, 15, 18, 25])
def test_cellular_has_the_quantiles_of_its_chain(at_most: int) -> None:
    chain, packets, begin = wandering()
    counts = cells()
    share = np.sum([np.exp(-packets) * packets**k / math.factorial(k) for k in range(at_most + 1)], axis=0)
    variance = chain.variance(share, own=share)
    within((counts <= at_most).mean(), chain.after(share, begin, counts.shape[1]), math.sqrt(variance / counts.size))


@pytest.mark.parametrize("steps", [5, 10, 50])
def test_cellular_has_the_outages_of_its_chain(steps: int) -> None:
    """The share of windows of 0.1, 0.2 and 1 s in which nothing can be sent."""
    chain, packets, begin = wandering()
    counts = cells()
    windows = counts.reshape(len(counts), -1, steps).sum(axis=2)
    # The weight of what leads through a window without a packet, from the state before it to the state at its end.
    through = np.linalg.matrix_power(chain.P * np.exp(-packets)[None, :], steps)
    coarse = Chain(np.linalg.matrix_power(chain.P, steps))
    empty = through.sum(axis=1)
    mean = coarse.mean(empty)
    variance = coarse.variance(empty, own=empty, back=coarse.pi @ through)
    # From the state in which a trace begins: this window, and then what the state after it says.
    first = float((coarse.fundamental @ (empty - mean))[begin]) / windows.shape[1]
    within((windows == 0).mean(), mean + first, math.sqrt(variance / windows.size))


@cache
def walked() -> Vector:
    """Returns the counts of 200 traces of the equation, walked here: they show how far the squares of 1,000 s scatter."""
    draw, count = np.random.default_rng(2026), 200
    packet = PACKET_BITS / 1e6
    rate, found = np.full(count, MEAN), []
    for _ in range(round(SECONDS / STEP_S)):
        shock = SIGMA * math.sqrt(STEP_S)
        moved = np.clip(rate + (MEAN - rate) * STEP_S / MEMORY_S + shock * draw.standard_normal(count), 0.0, TOP)
        escaped = np.where(draw.random(count) < ESCAPE * STEP_S, shock, 0.0)
        rate = np.where(rate > 0, moved, escaped)
        found.append(draw.poisson(rate * STEP_S / packet).astype(np.int16))
    return np.array(found).T.astype(float)


@pytest.mark.parametrize("lag_s", [0, 0.1, 1, 2, 5, 10])
def test_cellular_varies_and_forgets_as_its_chain_does(lag_s: float) -> None:
    """The autocovariance of the counts; at lag 0 the variance."""
    chain, packets, _ = wandering()
    lag, mean = round(lag_s / STEP_S), chain.mean(packets)
    ahead = packets - mean
    for _ in range(lag):
        ahead = chain.P @ ahead
    expected = float((chain.pi * (packets - mean)) @ ahead) + (0 if lag else mean)  # of the Poisson numbers
    ours, others = (
        ((counts[:, : counts.shape[1] - lag] - mean) * (counts[:, lag:] - mean)).mean(axis=1) for counts in (cells(), walked())
    )
    deviation = float(others.std(ddof=1))
    within(float(others.mean()), expected, deviation / math.sqrt(len(others)))
    within(float(ours.mean()), expected, deviation / math.sqrt(len(ours)))


# Markov

CHANNELS, ON_S, OFF_S = 4, 2.0, 2.0


@cache
def jumping(seed: int) -> tuple[Vector, Vector]:
    """Returns when each level begins, s, with the end, and how many channels are on."""
    rows = [line.split(",") for line in el.link_trace("markov", SECONDS, seed=seed).splitlines()[1:]]
    times, rates = np.array([[float(cell) for cell in row] for row in rows]).T
    return times, np.round(rates[:-1] * CHANNELS / TOP)


@cache
def birth_and_death() -> tuple[Vector, Vector]:
    """Returns the generator of how many channels are on, and its stationary law by the binomial."""
    p = ON_S / (ON_S + OFF_S)
    Q = np.zeros((CHANNELS + 1, CHANNELS + 1))
    for k in range(CHANNELS + 1):
        if k:
            Q[k, k - 1] = k / ON_S
        if k < CHANNELS:
            Q[k, k + 1] = (CHANNELS - k) / OFF_S
        Q[k, k] = -Q[k].sum()
    return Q, np.array([math.comb(CHANNELS, k) * p**k * (1 - p) ** (CHANNELS - k) for k in range(CHANNELS + 1)])


@pytest.mark.parametrize("level", [*range(CHANNELS + 1), None])
def test_markov_is_at_each_level_as_the_binomial_has_it(level: int | None) -> None:
    """The share of time at each level; without a level, the mean rate."""
    Q, pi = birth_and_death()
    f = np.arange(CHANNELS + 1, dtype=float) if level is None else (np.arange(CHANNELS + 1) == level).astype(float)
    mean = float(pi @ f)
    assert level is not None or mean == pytest.approx(CHANNELS * ON_S / (ON_S + OFF_S))
    # Twice the integral of the autocovariance: 2 pi f D f with D the inverse of -Q off its constants.
    deviation = np.linalg.inv(np.outer(np.ones(len(pi)), pi) - Q) @ f - mean
    variance = 2 * float((pi * (f - mean)) @ deviation)
    found = [float(np.diff(times) @ f[levels.astype(int)]) / SECONDS for times, levels in map(jumping, SEEDS)]
    within(float(np.mean(found)), mean, math.sqrt(variance / (SECONDS * len(SEEDS))))


@pytest.mark.parametrize("lag_s", [0.1, 0.5, 1, 2])
def test_markov_forgets_exponentially(lag_s: float) -> None:
    """The autocovariance is N p (1 - p) exp(-t (1 / on + 1 / off)), with an error that the ten traces show."""
    p = ON_S / (ON_S + OFF_S)
    expected = CHANNELS * p * (1 - p) * math.exp(-lag_s * (1 / ON_S + 1 / OFF_S))
    found = []
    for times, levels in map(jumping, SEEDS):
        grid = np.arange(0, SECONDS - lag_s, 0.05)
        now, then = (levels[np.searchsorted(times[:-1], grid + ahead, side="right") - 1] for ahead in (0.0, lag_s))
        found.append(float(((now - CHANNELS * p) * (then - CHANNELS * p)).mean()))
    within(float(np.mean(found)), expected, float(np.std(found, ddof=1)) / math.sqrt(len(found)))


@pytest.mark.parametrize("level", range(CHANNELS + 1))
def test_markov_stays_at_each_level_for_an_exponential_time(level: int) -> None:
    mean = 1 / (level / ON_S + (CHANNELS - level) / OFF_S)
    stays = np.concatenate([np.diff(times)[:-1][levels[:-1] == level] for times, levels in map(jumping, SEEDS)])
    within(stays.mean(), mean, mean / math.sqrt(len(stays)))
    assert kolmogorov(stays, lambda x: 1 - np.exp(-x / mean)) < BEYOND


def test_markov_changes_by_one_channel() -> None:
    for times, levels in map(jumping, SEEDS):
        assert set(np.abs(np.diff(levels))) == {1.0}
        assert times[0] == 0
        assert times[-1] == SECONDS


# Distributions

BEYOND = 1.95  # the Kolmogorov-Smirnov distance times sqrt(n) is above it once in a thousand times


def kolmogorov(values: Vector, law: Callable[[Vector], Vector]) -> float:
    """Returns the distance of values to a distribution function, times the square root of their number."""
    values, count = np.sort(values), len(values)
    steps = law(values)
    apart = max(np.max(np.arange(1, count + 1) / count - steps), np.max(steps - np.arange(count) / count))
    return float(apart) * math.sqrt(count)


# Low Earth orbit

PERIOD_S, GAP_S, LOSS = 15.0, 0.1, 0.2
RATES, DELAYS = (50.0, 250.0), (12.0, 30.0)


@cache
def orbit(seed: int) -> Vector:
    """Returns time, rate, delay and loss of each row."""
    return np.array(
        [[float(cell) for cell in line.split(",")] for line in el.link_trace("leo", SECONDS, seed=seed).splitlines()[1:]]
    )


def handovers(column: int) -> Vector:
    """Returns the values that begin at hand-overs, over all traces."""
    return np.concatenate([rows[rows[:, 3] > 0, column] for rows in map(orbit, SEEDS)])


def test_leo_hands_over_each_15_seconds_and_changes_its_rate_then_alone() -> None:
    for rows in map(orbit, SEEDS):
        begins = rows[rows[:, 3] > 0, 0]
        assert list(begins) == [PERIOD_S * k for k in range(math.ceil(SECONDS / PERIOD_S))]
        changes = rows[1:, 0][np.diff(rows[:, 1]) != 0]
        assert list(changes) == list(begins[1:])
        assert rows[-1, 0] == SECONDS


@pytest.mark.parametrize(("column", "ends"), [(1, RATES), (2, DELAYS)])
def test_leo_draws_rates_and_delays_uniformly(column: int, ends: tuple[float, float]) -> None:
    values, (low, high) = handovers(column), ends
    spread = (high - low) / math.sqrt(12)
    within(values.mean(), (low + high) / 2, spread / math.sqrt(len(values)))
    # The variance of a squared deviation of a uniform value is its fourth moment less that of the variance: (9 / 5 - 1) s^4.
    within(((values - (low + high) / 2) ** 2).mean(), spread**2, spread**2 * math.sqrt(0.8 / len(values)))
    assert kolmogorov(values, lambda x: (x - low) / (high - low)) < BEYOND
    apart = (values[:-1] - (low + high) / 2) * (values[1:] - (low + high) / 2) / spread**2
    within(apart.mean(), 0, 1 / math.sqrt(len(apart)))


def test_leo_loses_packets_for_a_time_after_each_hand_over() -> None:
    for rows in map(orbit, SEEDS):
        lasted = np.diff(rows[:, 0])
        assert float(lasted @ rows[:-1, 3]) == pytest.approx(GAP_S * LOSS * math.ceil(SECONDS / PERIOD_S))


def test_leo_changes_its_delay_evenly_between_hand_overs() -> None:
    slopes = []
    for rows in map(orbit, SEEDS):
        for k in range(int(SECONDS / PERIOD_S)):
            part = rows[(rows[:, 0] >= k * PERIOD_S) & (rows[:, 0] < (k + 1) * PERIOD_S)]
            assert len(part) == 16  # the hand-over, and a row a second from its gap on
            slope = (part[-1, 2] - part[0, 2]) / (part[-1, 0] - part[0, 0])
            assert part[:, 2] == pytest.approx(part[0, 2] + slope * (part[:, 0] - part[0, 0]), abs=2e-3)
            slopes.append(slope * PERIOD_S)
    # Begin and end are any two uniform values, so their difference has a triangular law of variance width^2 / 6.
    width = DELAYS[1] - DELAYS[0]
    found = np.array(slopes)
    within(found.mean(), 0, width / math.sqrt(6 * len(found)))
    # The fourth moment of the triangle is width^4 / 15, so the deviation of a square is width^2 sqrt(1 / 15 - 1 / 36).
    within((found**2).mean(), width**2 / 6, width**2 * math.sqrt((1 / 15 - 1 / 36) / len(found)))


# Wi-Fi

PHY_BPS, AGGREGATE, STATIONS, OVERHEAD_S = 300e6, 32, 4, 250e-6
AIR_MS = 1000 * (OVERHEAD_S + AGGREGATE * PACKET_BITS / PHY_BPS)
FEW = SEEDS[:2]  # 5 million chances each


@cache
def turns(seed: int) -> Vector:
    """Returns when each aggregate leaves, ms."""
    times, counts = np.unique(np.array(el.link_trace("wifi", SECONDS, seed=seed).split(), dtype=np.int64), return_counts=True)
    assert not np.any(counts % AGGREGATE)
    return np.repeat(times, counts // AGGREGATE).astype(float)


def test_wifi_sends_aggregates_of_one_size_at_the_rate_of_its_turns() -> None:
    """Gaps of mean S T and variance S T^2: n of them in a time have the mean t / (S T) and the variance t / (S^2 T)."""
    counts = [len(turns(seed)) for seed in FEW]
    mean = 1000 * SECONDS / (STATIONS * AIR_MS)
    variance = 1000 * SECONDS / (STATIONS**2 * AIR_MS)
    # A renewal process that begins at a renewal has (c^2 - 1) / 2 more than t / mean, with c^2 = 1 / S.
    within(float(np.mean(counts)), mean + (1 / STATIONS - 1) / 2, math.sqrt(variance / len(counts)))
    # What the page says of the defaults, to three digits.
    assert float(np.mean(counts)) * AGGREGATE * PACKET_BITS / SECONDS == pytest.approx(62.7e6, rel=0.003)


def test_wifi_has_gaps_as_the_sum_of_the_turns_of_all_stations() -> None:
    """An Erlang time of S stages, seen in whole milliseconds: both ends are rounded up."""
    gaps = np.concatenate([np.diff(turns(seed)) for seed in FEW])

    def erlang(x: Vector) -> Vector:
        return 1 - np.exp(-x / AIR_MS) * sum((x / AIR_MS) ** k / math.factorial(k) for k in range(STATIONS))

    shifts = (np.arange(200) + 0.5) / 200
    worst = 0.0
    for k in range(60):
        expected = float(erlang(k + shifts).mean())
        found = float((gaps <= k).mean())
        worst = max(worst, abs(found - expected) * math.sqrt(len(gaps)))
    assert worst < BEYOND


def test_wifi_has_independent_gaps() -> None:
    """Rounding alone joins two gaps that follow each other: by -1 / 12 of ms^2."""
    gaps = np.concatenate([np.diff(turns(seed)) for seed in FEW]) - STATIONS * AIR_MS
    spread = STATIONS * AIR_MS**2 + 1 / 6
    within(float((gaps[:-1] * gaps[1:]).mean()), -1 / 12, spread / math.sqrt(len(gaps)))
    # Of an Erlang law the kurtosis is 3 + 6 / S.
    within(float((gaps**2).mean()), spread, spread * math.sqrt((2 + 6 / STATIONS) / len(gaps)))


# What no model takes


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("markov", {"channels": 2.5}, "channels is a whole number from 1 to 1000, not 2.5"),
        ("markov", {"channels": 0}, "channels is a whole number"),
        ("markov", {"on_s": 0}, "on_s and off_s are above 0"),
        ("markov", {"on_s": 1e-9, "off_s": 1e-9}, "more than 10000000 times"),
        ("leo", {"gap_s": 0}, "gap_s is at least 0.001 s"),
        ("leo", {"gap_s": 15}, "gap_s is at least 0.001 s, and as much below period_s"),
        ("wifi", {"stations": 0}, "aggregate and stations are 1 or more"),
        ("cellular", {"mean_mbps": -1}, "mean_mbps is a number, 0 or above, not -1"),
        ("cellular", {"mean_mbps": 0, "sigma_mbps": 0}, "no chance to send"),
    ],
)
def test_what_a_model_cannot_do_is_one_line(kind: str, given: dict[str, float], words: str) -> None:
    with pytest.raises(InputError) as wrong:
        el.link_trace(kind, 10, given=given)
    assert words in str(wrong.value)
    assert "\n" not in str(wrong.value)
