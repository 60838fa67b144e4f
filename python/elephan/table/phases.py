"""The phases of a flow, in any series of its rate: startup, steady rate, congestion avoidance.

With x(t) the rate over intervals of a round-trip time R or longer (the median of five, since a hole that is filled
acknowledges the data of several round trips at once), its plateau P the 98th percentile, and the times of the window's cuts
(losses; where none are given, a fall of x below 0.75 of the interval before is taken for one):

- startup: from the first data to the first cut, to x >= 0.95 P or to where slow start ends. If nobody says when that
  is, it is where the doubling ends: in the middle of the last window of four round trips (three intervals at least) in which
  log2 x grows by 0.25 a round trip or more, fitted, and x comes to twice what it ever was before. A cut (or the plateau)
  within such a window after it is what ended it. Slow start with an ACK for every second segment grows by 0.58, Reno from ten
  segments by 0.14. `slope`: the same fit over all of startup up to the middle of that window, since what follows may stand
  still behind a hole, and a whole window at least;
- congestion avoidance: from a cut, or from the end of slow start if x then still grows, to x >= 0.95 P or to the next cut;
- steady rate: neither, and the coefficient of variation of x over ten round trips below 0.05;
- unsettled: neither of the three;
- unknown: a startup or a stretch of congestion avoidance that fills less than three intervals, if these are longer than two round
  trips. The samples are too far apart to tell how long it took. It may have been a small part of that time. So is what may
  be steady or unsettled, if samples are more than ten round trips apart.

The three names and what they mean are those of a study of TCP over long fat networks (2003); the thresholds are assumptions.
A flow "will not recover before it finishes" if the line through its last stretch of congestion avoidance comes to 0.95 P only
after more bytes than it has still to send. A P that is given and that x exceeds by a tenth over ten round trips is not the
path's, unless it is known for certain: then P is found in the series.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from elephan import _renamed

STARTUP, AVOIDANCE, STEADY, UNSETTLED, UNKNOWN = "startup", "congestion avoidance", "steady rate", "unsettled", "unknown"
PHASES = (STARTUP, AVOIDANCE, STEADY, UNSETTLED, UNKNOWN)
FULL = 0.95  # of the plateau
PLATEAU = 98  # percentile
VARIATION_MAX = 0.05
WINDOW_RTTS = 10
EXCESS = 1.1
FALL = 0.75
SMOOTHED = 5
DOUBLING_MIN = 0.25  # of log2 x a round trip, half of what slow start with delayed ACKs does at least
DOUBLING_RTTS = 4
COARSE = 2.0  # round trips in an interval from which on doubling is not seen
SEEN = 3  # intervals of such a series that a phase must fill, or else nobody knows how long it took
GAIN_MIN, CONFIDENCE = 0.001, 2.5758293035489  # a line grows if it gains that share of its mean, with 99 %: so many deviations
LINE_POINTS = 500  # at most: the line looks at every pair of them

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Phase:
    """A stretch of time in one phase; times in seconds."""

    name: str
    begin_s: float
    end_s: float


@_renamed.attributes(discovery_s="startup_s", discovery_end_bps="startup_end_bps")
@dataclass(frozen=True)
class Phases:
    """What `find` found: stretches of `PHASES` in the series of a flow, the plateau that they are of, and whether it comes back.

    `plateau_bps` is what the path carries if `path_known`, else the highest rate of the series itself (its 98th percentile), or
    what the path carries at most if that is less. Times in seconds, counted within the series.
    """

    stretches: tuple[Phase, ...]
    interval_s: float  # of the rate
    coarse: bool  # an interval is longer than two round trips, so a phase may end anywhere within it
    plateau_bps: float
    path_known: bool  # the plateau is what the path carries, not the highest rate of the series itself
    startup_s: float  # nan if it filled too few intervals of a coarse series
    startup_end_bps: float  # nan like `startup_s`
    slope_per_rtt: float  # of log2 x in startup; nan with fewer than three points or in intervals much longer than a round trip
    cuts: int
    # From the last cut until the plateau was regained; nan without a cut, if it was not, or if it took too few coarse intervals.
    recovered_s: float
    recovery_s: float  # from the end of the series until it is at the plateau; 0 if it was, inf if never, nan if not known
    recovery_bytes: float  # what is delivered in that time
    remaining_bytes: float  # to deliver after the series; 0 if it has finished, nan if nobody knows

    def share(self, name: str) -> float:
        """Share of the time in a phase."""
        total = sum(p.end_s - p.begin_s for p in self.stretches)
        return sum(p.end_s - p.begin_s for p in self.stretches if p.name == name) / total if total else math.nan

    @property
    def recovers(self) -> bool | None:
        """Whether it is back at its plateau before it finishes; None if that is not known, as of a path that nobody describes."""
        if not self.path_known:
            return None  # to its own best rate every flow that grows comes back
        if self.recovery_s == 0:
            return True
        # What was never cut and does not grow has nothing to recover from.
        if math.isnan(self.recovery_s) or (math.isinf(self.recovery_s) and not self.cuts):
            return None
        if math.isinf(self.recovery_s) or self.remaining_bytes == 0:
            return False
        return None if math.isnan(self.remaining_bytes) else self.recovery_bytes <= self.remaining_bytes

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        known = {key: value for key, value in vars(self).items() if key != "stretches"}
        return known | {
            "recovers": self.recovers,
            "stretches": [vars(p) for p in self.stretches],
            "shares": {name: self.share(name) for name in PHASES},
        }


def _regular(time_s: Array, bytes_: Array, step: float) -> tuple[Array, Array]:
    """Ends of intervals of `step` and the rate in each, from a cumulative count."""
    count = max(int(float(time_s[-1] - time_s[0]) / step + 1e-9), 1)  # only whole intervals
    edges = np.linspace(time_s[0], time_s[0] + count * step, count + 1)
    at = np.interp(edges, time_s, bytes_)
    return edges[1:], np.diff(at) * 8 / step


def _around(values: Array, size: int) -> Array:
    """Returns for each value the row of those around it; beyond the ends stands the last value there."""
    padded = np.pad(values, (size // 2, size - 1 - size // 2), mode="edge")
    return np.lib.stride_tricks.sliding_window_view(padded, size)


def _falls(ends: Array, rate: Array) -> Array:
    return ends[1:][rate[1:] < FALL * rate[:-1]]


def _plateau(rate: Array, mean: float, given: float | None, most: float | None, window: int) -> tuple[float, bool]:
    """The plateau, and whether it is what was given. Of a path that is known, x above it shows holes that were filled.

    The median of a flow that comes in bursts is that of its silences: the best that it reached is not below its mean.
    """
    if given is not None:
        lasting = _around(rate, min(window, rate.size)).mean(axis=1)
        if most is not None or float(np.percentile(lasting, PLATEAU)) <= EXCESS * given:
            return given, True
    return min(max(float(np.percentile(rate, PLATEAU)), mean), math.inf if most is None else most), False


def _doubling_size(step_rtts: float) -> int:
    return max(round(DOUBLING_RTTS / step_rtts) + 1, 3)


def _doubling_middle(rate: Array, step_rtts: float) -> int | None:
    """The middle of the last window in which it doubles; None if there is none."""
    size = _doubling_size(step_rtts)
    if rate.size < size or not (rate > 0).any():
        return None
    height = np.log2(np.maximum(rate, rate[rate > 0].min()))
    windows = np.lib.stride_tricks.sliding_window_view(height, size)
    place = np.arange(size) - (size - 1) / 2
    slope = windows @ place / (place @ place) / step_rtts
    before = np.concatenate([[-np.inf], np.maximum.accumulate(height)[: len(windows) - 1]])
    doubling = np.flatnonzero((slope >= DOUBLING_MIN) & (windows.max(axis=1) >= before + 1))
    return int(doubling[-1]) + size // 2 if doubling.size else None


def _doubling_end(rate: Array, step_rtts: float, ended: bool) -> int:
    """The interval in which the doubling ends; the last one if it goes on till there. `ended`: by a cut or the plateau there."""
    size = _doubling_size(step_rtts)
    if rate.size < size or not (rate > 0).any():
        return rate.size - 1
    stops = _doubling_middle(rate, step_rtts)
    if stops is None:
        return 0
    lasts = stops + size >= rate.size if ended else stops == rate.size - size + size // 2
    return rate.size - 1 if lasts else stops


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


def _slope(ends: Array, rate: Array, step: float, rtt_s: float) -> float:
    """The growth of log2 x a round trip over startup, as long as it doubles; nan if it does not."""
    size = _doubling_size(step / rtt_s)
    if rate.size >= size:
        middle = _doubling_middle(rate, step / rtt_s)
        until = 0 if middle is None else max(middle + 1, size)
        ends, rate = ends[:until], rate[:until]
    known = rate > 0
    if known.sum() < 3:
        return math.nan
    return float(np.polyfit(ends[known] / rtt_s, np.log2(rate[known]), 1)[0])


def _line(time: Array, rate: Array) -> tuple[float, float, bool]:
    """Slope and end of the line through a stretch (Theil and Sen's, which what recoveries do to a few points does not turn), and
    whether it grows.
    """
    # A window leaves in a burst, and intervals that hold now one of them and now two go up and down.
    around = _around(rate, 3)
    rate = around[:, 1] * 0.5 + (around[:, 0] + around[:, 2]) * 0.25
    # Neighbours share values through the median of five: from ten points on only every fifth counts.
    every = max(-(-time.size // LINE_POINTS), min(SMOOTHED, time.size // 10), 1)
    slope, level, least = _theil_sen(time[::every] - time[-1], rate[::every])
    grows = least > 0 and slope * (time[-1] - time[0]) > GAIN_MIN * rate.mean()
    return slope, level, bool(grows)


def _theil_sen(x: Array, y: Array) -> tuple[float, float, float]:
    """Returns Theil and Sen's slope and intercept of points, and the least slope that `CONFIDENCE` allows (Sen 1968), as
    `scipy.stats.theilslopes`, whose import takes longer than a run.
    """
    later = x[:, None] > x
    slopes = np.sort((y[:, None] - y)[later] / (x[:, None] - x)[later])
    slope = float(np.median(slopes))
    repeats = np.concatenate([np.unique(values, return_counts=True)[1] for values in (x, y)])
    spread = math.sqrt((_pairs(y.size) - sum(_pairs(int(k)) for k in repeats)) / 18)
    rank = round((slopes.size - CONFIDENCE * spread) / 2) - 1
    return slope, float(np.median(y) - slope * np.median(x)), float(slopes[max(rank, 0)])


def _pairs(count: int) -> int:
    return count * (count - 1) * (2 * count + 5)


def _recovery(ends: Array, rate: Array, left: float, plateau: float, window: int) -> tuple[float, float]:
    """Seconds after the end until a line through what follows the time `left` comes to the plateau, and bytes until then."""
    # The median of five still sees the rate before the cut for two intervals.
    step = (ends[-1] - ends[0]) / max(ends.size - 1, 1)
    after = ends > left + (SMOOTHED // 2 + 1) * step
    if after.sum() < SMOOTHED:
        return math.nan, math.nan
    time, rate = ends[after], rate[after]
    slope, level, grows = _line(time, rate)
    if not grows:
        return (math.inf, math.inf) if rate.size >= window else (math.nan, math.nan)
    if level >= FULL * plateau:
        # It grew faster than it does now, so the line is where the rate is not: the latter half says how fast it still grows.
        slope, _, grows = _line(time[rate.size // 2 :], rate[rate.size // 2 :])
        level = float(rate[-3:].mean())
        if not grows:
            return math.nan, math.nan
    seconds = float(max((FULL * plateau - level) / slope, step))
    return seconds, seconds * (min(level, FULL * plateau) + FULL * plateau) / 2 / 8


@dataclass(frozen=True)
class _Stretch:
    """Intervals from a cut (or the end of slow start) to the plateau or the next cut."""

    begin: int
    end: int
    regained: bool


def _avoiding(ends: Array, rate: Array, full: npt.NDArray[np.bool_], cuts: list[int], stops: int | None) -> list[_Stretch]:
    """The stretches of congestion avoidance. `stops`: the interval in which slow start ends without a cut below the plateau."""
    begins = [*([] if stops is None else [stops]), *cuts]
    found = []
    for begin, end in itertools.pairwise([*begins, rate.size]):
        regained = np.flatnonzero(full[begin + 1 : end])
        until = begin + 1 + int(regained[0]) if regained.size else end
        # A window that something else bounds does not grow; with fewer than three intervals that cannot be told.
        if begin != stops or until - begin < 4 or _line(ends[begin + 1 : until], rate[begin + 1 : until])[2]:
            found.append(_Stretch(begin, until, bool(regained.size)))
    return found


def _names(rate: Array, found: int, avoiding: list[_Stretch], cuts: list[int], window: int, least: int) -> list[str]:
    """The phase of each interval; `found`: the last one of startup; `least`: intervals that a phase must fill to be known."""
    names = [UNSETTLED] * rate.size
    for one in avoiding:
        names[one.begin : one.end] = [AVOIDANCE if one.end - one.begin >= least else UNKNOWN] * (one.end - one.begin)
    names[: found + 1] = [STARTUP if found + 1 >= least else UNKNOWN] * (found + 1)
    for begin, end in itertools.pairwise([0, *cuts, rate.size]):
        for place in np.flatnonzero(_steady(rate, begin, end, window)):
            if names[place] == UNSETTLED:
                names[place] = STEADY
    return names


def _named(names: list[str], ends: Array, step: float) -> tuple[Phase, ...]:
    found: list[Phase] = []
    for name, end in zip(names, ends, strict=True):
        if found and found[-1].name == name:
            found[-1] = Phase(name, found[-1].begin_s, float(end))
        else:
            found.append(Phase(name, float(end) - step, float(end)))
    return tuple(found)


def find(
    time_s: npt.ArrayLike,
    delivered_bytes: npt.ArrayLike,
    rtt_s: float,
    cuts_s: npt.ArrayLike | None = None,
    plateau_bps: float | None = None,
    *,
    most_bps: float | None = None,
    exit_s: float | None = None,
    remaining_bytes: float | None = None,
) -> Phases:
    """The phases of a series.

    `time_s`, `delivered_bytes`: n times in seconds, ascending, and the bytes delivered (or acknowledged) by then. `rtt_s`: the
    round-trip time. What follows is found in the series if it is not given: `cuts_s`, times at which the window was cut;
    `plateau_bps`, what the path carries (a series that has never come there shows only its own highest rate); `most_bps`, what it
    carries at most where that is certain, as in a simulation: the plateau is no higher, and a given one is the path's; `exit_s`,
    when slow start ended. `remaining_bytes`: still to deliver after the series, 0 if it has finished. Errors: ValueError for fewer
    than two points or nothing delivered.
    """
    time, total = np.asarray(time_s, dtype=float), np.asarray(delivered_bytes, dtype=float)
    moving = np.flatnonzero(np.diff(total) > 0)
    if time.size < 2 or not moving.size or rtt_s <= 0:
        raise ValueError("phases need a round-trip time and at least two points between which data was delivered")
    time, total = time[moving[0] : moving[-1] + 2], total[moving[0] : moving[-1] + 2]
    step = max(rtt_s, float(np.median(np.diff(time))), (time[-1] - time[0]) / 4000)
    ends, rate = _regular(time, total, step)
    rate = np.median(_around(rate, SMOOTHED), axis=1)
    window = max(round(WINDOW_RTTS * rtt_s / step), 3)
    mean = float(total[-1] - total[0]) * 8 / float(time[-1] - time[0])
    plateau, path_known = _plateau(rate, mean, plateau_bps, most_bps, window)
    if plateau <= 0:
        raise ValueError("too little was delivered for phases")
    every = np.sort(np.asarray(cuts_s, dtype=float)) if cuts_s is not None else _falls(ends, rate)
    every = every[every > time[0]]
    cuts = every[every <= ends[-1]]
    cut_off = every.size > cuts.size  # cut again after the last data that came, so nothing is seen of what followed
    full = rate >= FULL * plateau
    starts = [int(start) for start in np.unique(np.searchsorted(ends, cuts))]
    limit = min([rate.size - 1, *starts[:1], *np.flatnonzero(full)[:1].tolist()])
    ended = bool(starts or full.any())
    stops = _doubling_end(rate[: limit + 1], step / rtt_s, ended) if exit_s is None else int(np.searchsorted(ends, exit_s))
    found = min(limit, stops)
    avoiding = _avoiding(ends, rate, full, starts, found if found < limit else None)
    coarse = step > COARSE * rtt_s
    least = SEEN if coarse else 1
    names = _names(rate, found, avoiding, starts, window, least)
    if float(np.median(np.diff(time))) > WINDOW_RTTS * rtt_s:  # nobody saw how the rate varied within ten round trips
        names = [UNKNOWN if name in (STEADY, UNSETTLED) else name for name in names]
    left = float(cuts[-1]) if cuts.size else float(ends[found])
    regained = avoiding[-1].regained if avoiding else bool(full[found:].any())
    discovers = found == rate.size - 1 and not cuts.size
    seen = bool(avoiding) and avoiding[-1].end - avoiding[-1].begin >= least
    ahead = (
        (math.nan, math.nan)
        if cut_off
        else (0.0, 0.0)
        if regained
        else _recovery(ends, rate, ends[-1] if discovers else left, plateau, window)
    )
    return Phases(
        stretches=_named(names, ends, step),
        interval_s=step,
        coarse=coarse,
        plateau_bps=plateau,
        path_known=path_known,
        startup_s=float(ends[found] - time[0]) if found + 1 >= least else math.nan,
        startup_end_bps=float(rate[found]) if found + 1 >= least else math.nan,
        slope_per_rtt=math.nan if coarse else _slope(ends[: found + 1], rate[: found + 1], step, rtt_s),
        cuts=int(every.size),
        recovered_s=float(ends[avoiding[-1].end]) - left if cuts.size and regained and seen and not cut_off else math.nan,
        recovery_s=ahead[0],
        recovery_bytes=ahead[1],
        remaining_bytes=math.nan if remaining_bytes is None else float(remaining_bytes),
    )
