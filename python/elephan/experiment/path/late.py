"""The rate of the rest of a transfer from the second half of its simulation, with a range.

The half is cut into `BLOCKS` parts of equal length. With the standard deviation s of their rates, and a rest that is n parts
long, the rate of the rest lies within

    WIDTH s sqrt(1 / BLOCKS + 1 / n) + |mean of the later parts - mean of the earlier parts| + SURE of the mean

of their mean. The second term stands for a trend, the third for what no part has shown. A simulation shorter than `PROBES_S` has
not seen a second cycle of the congestion controls that probe every ten seconds: its range reaches from `UNPROBED` of the mean to
the mean over it. One that ended within `START_RTTS` round trips of slow start has not forgotten it: its range reaches from
`UNSEEN` of the mean to a full wire. The constants are assumed, and held against whole simulations (docs/path.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from elephan.experiment.path.forms import Bounds, slow_start_rtts
from elephan.experiment.path.trace import Trace

BLOCKS = 8
WIDTH = 3.0  # of a standard deviation
SURE = 0.02  # of the mean
PROBES_S = 30.0  # BBR looks for a smaller round trip every 10 s
START_RTTS = 30
UNSEEN = 0.5
UNPROBED = 0.7  # two BBR over 10 Gb/s and 5 ms fall from 0.75 to 0.56 of the wire after 3.5 s


@dataclass(frozen=True)
class Rates:
    """Goodput of what follows, in bit/s."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Left:
    """Bytes that have not arrived when a simulation ends. How much waits behind holes is not known exactly."""

    mean: float
    low: float
    high: float


def left_of(size_bytes: float, mss_bytes: int, found: Trace) -> Left:
    """What is left of a transfer: at most what was not delivered, at least what has not passed the bottleneck."""
    done = (found.arrived_bytes(mss_bytes), found.passed_bytes(mss_bytes), found.delivered_bytes)
    mean, low, high = (max(0.0, size_bytes - float(bytes_[-1])) for bytes_ in done)
    return Left(mean, low, high)


def late_rates(limits: Bounds, found: Trace, left: Left, cyclic: bool) -> Rates:
    """The rate of what follows a simulation. `cyclic`: of a congestion control that may probe seldom."""
    edges = np.linspace(found.end_s / 2, found.end_s, BLOCKS + 1)
    arrived = np.interp(edges, found.time_s, found.arrived_bytes(limits.mss_bytes))
    parts = np.diff(arrived) * 8 * 2 * BLOCKS / found.end_s
    mean = min(float(parts.mean()), limits.wire_bps)
    after = max(left.mean * 8 / mean / (found.end_s / 2 / BLOCKS), 1e-9)
    drift = abs(float(parts[BLOCKS // 2 :].mean() - parts[: BLOCKS // 2].mean()))
    wide = WIDTH * float(parts.std(ddof=1)) * math.sqrt(1 / BLOCKS + 1 / after) + drift + SURE * mean
    low, high = max(mean - wide, mean / 10), min(mean + wide, limits.wire_bps)
    if found.end_s < (slow_start_rtts(limits) + START_RTTS) * limits.rtt_s:
        low, high = min(low, UNSEEN * mean), limits.wire_bps
    elif cyclic and found.end_s < PROBES_S:
        low, high = min(low, UNPROBED * mean), min(max(high, mean / UNPROBED), limits.wire_bps)
    return Rates(mean, low, high)


def unseen_rates(limits: Bounds, found: Trace, expected_bps: float) -> Rates:
    """The rate of what follows a simulation that ended within slow start or soon after it: closed forms, and hardly a range."""
    so_far = float(found.delivered_bytes[-1]) * 8 / found.end_s
    return Rates(expected_bps, min(so_far, UNSEEN * expected_bps), limits.wire_bps)
