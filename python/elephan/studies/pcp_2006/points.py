"""Offered loads and how long they run, and what queueing theory says of them."""

from __future__ import annotations

import math

from elephan.experiment.study import Point

RATE_BPS = 40e6
PACKET_BYTES = 1250
PACKETS = 200
SERVICE_S = PACKETS * PACKET_BYTES * 8 / RATE_BPS  # 50 ms: a transfer alone on the bottleneck
RTT_S = 0.025
RTT_SPAN_S = 0.020  # 15 to 35 ms
LOADS = (0.15, 0.30, 0.45, 0.60, 0.75, 0.90)
PAIRS = 100
FILLING = 3 * PAIRS  # transfers before measuring: three of each pair, so that every history is filled
MEASURED = 2200  # transfers expected in the measured time; 2000 then complete in all but one of 10^5 runs
LONG = 20_000  # the same where a mean is compared with theory: response times at high load depend on each other for long


def per_second(load: float) -> float:
    """Arrivals a second that offer this share of the bottleneck."""
    return load / SERVICE_S


def loads() -> list[Point]:
    """The loads of figure 4: a run lasts as long as its transfers need."""
    return _lasting(MEASURED)


def long_loads() -> list[Point]:
    """The same loads, for longer."""
    return _lasting(LONG)


def _lasting(transfers: int) -> list[Point]:
    found = []
    for load in LOADS:
        rate = per_second(load)
        warmup_s = FILLING / rate
        overrides = {
            "traffic.transfers.arrivals_per_s": round(rate, 9),
            "warmup": f"{warmup_s:.3f} s",
            "duration": f"{warmup_s + transfers / rate:.3f} s",
        }
        found.append(Point(f"{100 * load:.0f} %", overrides, load))
    return found


def some_loads() -> list[Point]:
    """Those at which the assumptions are varied."""
    return [point for point in loads() if point.value in (0.15, 0.45, 0.75, 0.90)]


def sharing_s(load: float) -> tuple[float, float]:
    """Mean and standard deviation of the response time, in seconds, if the bottleneck were a processor shared by all transfers.

    The mean is S / (1 - rho) whatever the distribution of the sizes; the variance for equal sizes, from Ott, The sojourn-time
    distribution in the M/G/1 queue with processor sharing, J. Appl. Prob. 21, 1984, is 2 S^2 / (1 - rho)^2 times the integral over
    u from 0 to 1 of (1 - u) (1 - (1 - rho) exp(rho u)). With 1.5 round trips, evenly spread over 20 ms, for handshake and
    propagation.
    """
    inner = 0.5 - (1 - load) * (math.exp(load) - 1 - load) / load**2
    return _with_path(SERVICE_S / (1 - load), 2 * (SERVICE_S / (1 - load)) ** 2 * inner)


def fifo_s(load: float) -> tuple[float, float]:
    """The same if the bottleneck served whole transfers in the order of their arrival: M/D/1 (Pollaczek and Khinchine)."""
    wait = SERVICE_S * load / (2 * (1 - load))
    return _with_path(SERVICE_S + wait, SERVICE_S**2 * load / (3 * (1 - load)) + wait**2)


def _with_path(mean_s: float, variance: float) -> tuple[float, float]:
    spread = 1.5 * RTT_SPAN_S
    return mean_s + 1.5 * RTT_S, math.sqrt(variance + spread**2 / 12)
