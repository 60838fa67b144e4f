"""The steady state of DCTCP as section 3.3 of the paper has it: N flows in phase, windows in packets."""

from __future__ import annotations

import math
from dataclasses import dataclass

PACKET_BYTES = 1500  # of IP: what the paper counts as a packet
FRAME_BYTES = 1518  # the same packet as a queue counts it


@dataclass(frozen=True)
class Steady:
    """The sawtooth of window and queue, in packets and round trips."""

    w_star: float  # window of one flow at which the queue reaches K
    alpha: float  # share of marked packets
    swing: float  # D: how far the window of one flow falls; also the period in round trips
    amplitude: float  # A: how far the queue falls
    q_max: float
    q_min: float


def pipe_packets(rate_bps: float, rtt_s: float, packet_bytes: float = PACKET_BYTES) -> float:
    """Returns C x RTT in packets."""
    return rate_bps * rtt_s / (8 * packet_bytes)


def alpha_of(w_star: float) -> float:
    """Returns the root of `alpha^2 (1 - alpha / 4) = (2 W* + 1) / (W* + 1)^2` between 0 and 1 (equation 6), at most 1."""
    wanted = (2 * w_star + 1) / (w_star + 1) ** 2
    low, high = 0.0, 1.0
    if wanted >= 0.75:
        return 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle**2 * (1 - middle / 4) < wanted else (low, middle)
    return (low + high) / 2


def steady(pipe: float, threshold: float, flows: int) -> Steady:
    """Returns the sawtooth of so many flows over a pipe of C x RTT packets with marks above a threshold (equations 5 to 12)."""
    w_star = (pipe + threshold) / flows
    alpha = alpha_of(w_star)
    swing = (w_star + 1) * alpha / 2
    q_max = threshold + flows
    return Steady(w_star, alpha, swing, flows * swing, q_max, q_max - flows * swing)


def least_queue(pipe: float, threshold: float, flows: int) -> float:
    """Returns the least queue for large windows, `K + N - sqrt(2 N (C RTT + K)) / 2` (equation 12)."""
    return threshold + flows - math.sqrt(2 * flows * (pipe + threshold)) / 2


def least_threshold(pipe: float) -> float:
    """Returns the threshold above which the queue never runs empty, for any number of flows: C x RTT / 7 (equation 13)."""
    return pipe / 7


def largest_gain(pipe: float, threshold: float) -> float:
    """Returns the gain g below which alpha spans a period of the sawtooth of one flow (equation 15)."""
    return 1.386 / math.sqrt(2 * (pipe + threshold))
