"""The phases of a flow, in any series of its rate: bandwidth discovery, steady state, congestion avoidance.

With x(t) the rate over intervals of a round-trip time R or longer (the median of five, since a hole that is filled
acknowledges the data of several round trips at once), its plateau P the 98th percentile, and the times of the window's cuts
(losses; where none are given, a fall of x below 0.75 of the interval before is taken for one):

- discovery: from the first data to the first cut or to x >= 0.95 P; log2 x grows by `slope` per round trip, fitted;
- congestion avoidance: from a cut to x >= 0.95 P or to the next cut;
- steady state: neither, and the coefficient of variation of x over ten round trips below 0.05;
- unsettled: neither of the three.

The three names and what they mean are those of a study of TCP over long fat networks (2003); the thresholds are assumptions.
A flow "will not recover before it finishes" if the line through its last stretch of congestion avoidance comes to 0.95 P later
than its data last.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import ndimage

DISCOVERY, AVOIDANCE, STEADY, UNSETTLED = "bandwidth discovery", "congestion avoidance", "steady state", "unsettled"
PHASES = (DISCOVERY, AVOIDANCE, STEADY, UNSETTLED)
FULL = 0.95  # of the plateau
PLATEAU = 98  # percentile
VARIATION_MAX = 0.05
WINDOW_RTTS = 10
FALL = 0.75
SMOOTHED = 5

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Phase:
    """A stretch of time in one phase; times in seconds."""

    name: str
    begin_s: float
    end_s: float


@dataclass(frozen=True)
class Phases:
    """What `find` found."""

    stretches: tuple[Phase, ...]
    plateau_bps: float
    discovery_s: float
    discovery_end_bps: float
    slope_per_rtt: float  # of log2 x in discovery; nan with fewer than three points
    cuts: int
    recovery_s: float  # from the end of the series until the plateau is regained; 0 if it is there, inf if never, nan if not known

    def share(self, name: str) -> float:
        """Share of the time in a phase."""
        total = sum(p.end_s - p.begin_s for p in self.stretches)
        return sum(p.end_s - p.begin_s for p in self.stretches if p.name == name) / total if total else math.nan

    def recovers_within(self, seconds: float) -> bool:
        """Whether it is back at its plateau before so much more time has passed."""
        return self.recovery_s <= seconds

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        known = {key: value for key, value in vars(self).items() if key != "stretches"}
        return known | {
            "stretches": [vars(p) for p in self.stretches],
            "shares": {name: self.share(name) for name in PHASES},
        }


def _regular(time_s: Array, bytes_: Array, step: float) -> tuple[Array, Array]:
    """Ends of intervals of `step` and the rate in each, from a cumulative count."""
    count = max(int(float(time_s[-1] - time_s[0]) / step + 1e-9), 1)  # only whole intervals
    edges = np.linspace(time_s[0], time_s[0] + count * step, count + 1)
    at = np.interp(edges, time_s, bytes_)
    return edges[1:], np.diff(at) * 8 / step


def _falls(ends: Array, rate: Array) -> Array:
    return ends[1:][rate[1:] < FALL * rate[:-1]]


def _steady(rate: Array, begin: int, end: int, window: int) -> npt.NDArray[np.bool_]:
    """Which intervals of a stretch lie in some window of ten round trips with little variation."""
    flags = np.zeros(rate.size, dtype=bool)
    size = min(window, end - begin)
    if size < 3:
        return flags
    for first in range(begin, end - size + 1):
        part = rate[first : first + size]
        if part.mean() > 0 and part.std() / part.mean() < VARIATION_MAX:
            flags[first : first + size] = True
    return flags


def _slope(ends: Array, rate: Array, rtt_s: float) -> float:
    known = rate > 0
    if known.sum() < 3:
        return math.nan
    return float(np.polyfit(ends[known] / rtt_s, np.log2(rate[known]), 1)[0])


def _recovery(ends: Array, rate: Array, last_cut: float, plateau: float) -> float:
    """Seconds after the end until a line through what follows the last cut comes to the plateau."""
    if rate.size < 3 or rate[-3:].mean() >= FULL * plateau:
        return 0.0
    # The median of five still sees the rate before the cut for two intervals.
    after = ends > last_cut + (SMOOTHED // 2 + 1) * (ends[1] - ends[0])
    if after.sum() < 3:
        return math.nan
    slope, level = np.polyfit(ends[after] - ends[-1], rate[after], 1)
    return (FULL * plateau - level) / slope if slope > 0 else math.inf


def find(
    time_s: npt.ArrayLike,
    delivered_bytes: npt.ArrayLike,
    rtt_s: float,
    cuts_s: npt.ArrayLike | None = None,
    plateau_bps: float | None = None,
) -> Phases:
    """The phases of a series.

    `time_s`, `delivered_bytes`: n times in seconds, ascending, and the bytes delivered (or acknowledged) by then. `rtt_s`: the
    round-trip time. `cuts_s`: times at which the window was cut, if they are known. `plateau_bps`: what the path carries, if it is
    known; a series that has never come there shows only its own highest rate. Errors: ValueError for fewer than two points
    or nothing delivered.
    """
    time, total = np.asarray(time_s, dtype=float), np.asarray(delivered_bytes, dtype=float)
    moving = np.flatnonzero(np.diff(total) > 0)
    if time.size < 2 or not moving.size or rtt_s <= 0:
        raise ValueError("phases need a round-trip time and at least two points between which data was delivered")
    time, total = time[moving[0] : moving[-1] + 2], total[moving[0] : moving[-1] + 2]
    step = max(rtt_s, float(np.median(np.diff(time))), (time[-1] - time[0]) / 4000)
    ends, rate = _regular(time, total, step)
    rate = ndimage.median_filter(rate, size=SMOOTHED, mode="nearest")
    plateau = float(np.percentile(rate, PLATEAU)) if plateau_bps is None else plateau_bps
    cuts = np.sort(np.asarray(cuts_s, dtype=float)) if cuts_s is not None else _falls(ends, rate)
    cuts = cuts[(cuts > time[0]) & (cuts <= ends[-1])]
    names = [UNSETTLED] * rate.size
    full = rate >= FULL * plateau
    first_cut = int(np.searchsorted(ends, cuts[0])) if cuts.size else rate.size
    first_full = int(np.argmax(full)) if full.any() else rate.size
    found = min(first_cut, first_full, rate.size - 1)
    names[: found + 1] = [DISCOVERY] * (found + 1)
    starts = np.unique(np.searchsorted(ends, cuts))
    for k, start in enumerate(starts):
        stop = int(starts[k + 1]) if k + 1 < starts.size else rate.size
        regained = np.flatnonzero(full[start + 1 : stop])
        until = int(start) + 1 + int(regained[0]) if regained.size else stop
        for i in range(max(int(start), found + 1), until):
            names[i] = AVOIDANCE
    window = max(round(WINDOW_RTTS * rtt_s / step), 3)
    edges: list[int] = [0, *(int(start) for start in starts), rate.size]
    for first, last in itertools.pairwise(edges):
        for place in np.flatnonzero(_steady(rate, first, last, window)):
            if names[place] == UNSETTLED:
                names[place] = STEADY
    stretches: list[Phase] = []
    for name, end in zip(names, ends, strict=True):
        begin = float(end) - step
        if stretches and stretches[-1].name == name:
            stretches[-1] = Phase(name, stretches[-1].begin_s, float(end))
        else:
            stretches.append(Phase(name, begin, float(end)))
    last_cut = float(cuts[-1]) if cuts.size else float(time[0])
    return Phases(
        stretches=tuple(stretches),
        plateau_bps=plateau,
        discovery_s=float(ends[found] - time[0]),
        discovery_end_bps=float(rate[found]),
        slope_per_rtt=_slope(ends[: found + 1], rate[: found + 1], rtt_s),
        cuts=int(cuts.size),
        recovery_s=_recovery(ends, rate, last_cut, plateau),
    )
