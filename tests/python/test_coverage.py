"""Intervals at 95 % cover what queueing theory says in 95 % of all replications.

A replication is what a user does: ten runs with different seeds, the mean over them, Student's interval. The true mean is that of
theory: of M/D/1 (Poisson packets of one size) `rho^2 / (2 (1 - rho))` packets wait, of M/M/1 a packet waits `rho S / (1 - rho)`.
"""

from __future__ import annotations

import elephan as el
import numpy as np
import pytest
from elephan.base import stats

RUNS = 10  # of a replication
# 1518 bytes of each frame are charged to the queue; 1538 with preamble and gap are what `rate` counts.
POISSON = """
duration = "%s"
warmup = "10 ms"
[hosts.a]
[hosts.b]
[[links]]
between = ["a", "b"]
rate = "1 Gbps"
delay = "1 us"
[[traffic]]
from = "a"
to = "b"
kind = "cbr"
rate = "%s"
packet_size = "1472 B"
gaps = "exponential"
"""


def coverage(values: list[float], truth: float) -> float:
    """The share of replications whose interval covers the truth."""
    intervals = [stats.mean_interval(some) for some in np.reshape(values, (-1, RUNS))]
    return float(np.mean([one.low <= truth <= one.high for one in intervals]))


def waiting(load: float, duration: str, replications: int) -> list[float]:
    """The mean number of packets that wait at the port, of each run."""
    text = POISSON % (duration, f"{1000 * load:g} Mbps")
    sweep = el.sweep(text, repetitions=replications * RUNS, statistics=["queue_mean_bytes.max"], store=False)
    return [value / 1518 for value in sweep.values(sweep.labels[0], "queue_mean_bytes.max")]


def test_a_few_intervals_cover_the_mean_queue_of_m_d_1() -> None:
    """Of 100 replications 95 +- 2.2 cover it; below 87 and above 99 would be one chance in a thousand."""
    found = waiting(0.5, "110 ms", 100)
    assert np.mean(found) == pytest.approx(0.25, rel=0.01)
    assert 0.87 <= coverage(found, 0.5**2 / (2 * (1 - 0.5))) <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize(("load", "duration"), [(0.5, "110 ms"), (0.8, "310 ms")])
def test_intervals_cover_the_mean_queue_of_m_d_1(load: float, duration: str) -> None:
    assert 0.93 <= coverage(waiting(load, duration, 1000), load**2 / (2 * (1 - load))) <= 0.97


def waits(load: float, packets: int, seed: int) -> float:
    """The mean wait in a FIFO of Poisson packets whose sizes are exponential with mean 1000 bytes, at a byte a microsecond."""
    random = np.random.default_rng(seed)
    arrivals = np.cumsum(random.exponential(1e-3 / load, packets))
    sizes = np.ceil(random.exponential(1000, packets)).astype(int)
    queue, free, at, found = el.queue.new("fifo", limit="100000 p"), 0.0, 0, []
    while len(found) < packets:
        while at < packets and (arrivals[at] <= free or not queue.packets):
            queue.enqueue(float(arrivals[at]), int(sizes[at]), id=at)
            free = max(free, float(arrivals[at])) if queue.packets == 1 else free
            at += 1
        packet, _ = queue.dequeue(free)
        found.append(free - arrivals[packet])
        free += sizes[packet] * 1e-6
    return float(np.mean(found[packets // 10 :]))


def test_a_few_intervals_cover_the_mean_wait_of_m_m_1() -> None:
    found = [waits(0.5, 1000, seed) for seed in range(40 * RUNS)]
    assert np.mean(found) == pytest.approx(1e-3, rel=0.03)
    assert coverage(found, 0.5 * 1e-3 / (1 - 0.5)) >= 0.8  # one of 40 in ten thousand has fewer


@pytest.mark.slow
def test_intervals_cover_the_mean_wait_of_m_m_1() -> None:
    found = [waits(0.5, 2000, seed) for seed in range(1000 * RUNS)]
    assert 0.93 <= coverage(found, 0.5 * 1e-3 / (1 - 0.5)) <= 0.97
