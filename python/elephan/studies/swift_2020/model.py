"""Swift's target, and the queue of flows that collide by chance."""

from __future__ import annotations

import math


def scaled(window: float, fs_range: float = 100.0, fs_min: float = 0.1, fs_max: float = 100.0) -> float:
    """Returns what a window of so many segments adds to the target, in the unit of `fs_range` (section 3.5)."""
    alpha = fs_range / (1 / math.sqrt(fs_min) - 1 / math.sqrt(fs_max))
    return max(0.0, min(alpha / math.sqrt(window) - alpha / math.sqrt(fs_max), fs_range))


def target(window: float, base: float, per_hop: float = 3.0, hops: int = 1, fs_range: float = 100.0) -> float:
    """Returns the target of a window of so many segments, all times in one unit."""
    return base + hops * per_hop + scaled(window, fs_range)


def fair_window(flows: int, rate_bps: float, rtt: float, packet_bytes: float) -> float:
    """Returns the window in packets at which so many flows share a port, of packets of so many bytes on the wire."""
    return rate_bps * rtt / 8 / packet_bytes / flows


def period_ns(flows: int, packet_bytes: float, rate_bps: float) -> float:
    """Returns how far apart the packets of a flow are that has its fair share."""
    return flows * packet_bytes * 8e9 / rate_bps


def collisions(flows: int) -> float:
    """Returns the mean queue in packets of so many periodic flows that fill a port.

    The number of arrivals in a part of the period less what is served is a Brownian bridge of variance `flows`. Its highest
    point is above x with probability exp(-2 x^2 / flows), so its mean is sqrt(pi flows / 8).
    """
    return math.sqrt(math.pi * flows / 8)
