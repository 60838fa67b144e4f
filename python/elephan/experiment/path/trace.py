"""What a run of a path showed: what has arrived when, and what the controller of each stream lived through."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from elephan.experiment.job import Job
from elephan.experiment.store.row import Measured
from elephan.result.run import Run
from elephan.table.rows import column

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Trace:
    """What a simulation of some length showed."""

    time_s: Array
    delivered_bytes: Array  # of all streams together
    growing: Array  # share of the streams before their start, in the handshake or in slow start
    drops: Array  # at the bottleneck so far
    passed: Array  # packets that it has transmitted so far
    lost: int
    waiting: Array  # share of the streams in a timeout or in the slow start after one
    stalls: Array  # segments that the sender's host refused so far
    window_limited: float
    streams: tuple[Mapping[str, Array], ...]  # of each what `Rounds.follow` takes

    def measured(self) -> Measured:
        """As a trial keeps it."""
        series = {name: getattr(self, name) for name in _SERIES}
        for number, stream in enumerate(self.streams):
            series |= {f"{number}.{name}": values for name, values in stream.items()}
        return Measured({"lost": float(self.lost), "window_limited": self.window_limited}, series)

    @classmethod
    def of(cls, found: Measured) -> Trace:
        """The trace that a trial kept."""
        streams: dict[str, dict[str, Array]] = {}
        for key, values in found.series.items():
            number, dot, name = key.partition(".")
            if dot:
                streams.setdefault(number, {})[name] = values
        own = {name: found.series[name] for name in _SERIES}
        limited = found.values["window_limited"]
        return cls(**own, lost=int(found.values["lost"]), window_limited=limited, streams=tuple(streams.values()))

    @property
    def end_s(self) -> float:
        return float(self.time_s[-1])

    def passed_bytes(self, mss_bytes: int) -> Array:
        """Payload that had passed the bottleneck by each time, which is the most that may have arrived."""
        return np.maximum(self.passed * mss_bytes, self.delivered_bytes)

    def arrived_bytes(self, mss_bytes: int) -> Array:
        """Payload that had arrived by each time, what waits behind a hole included.

        Whatever passed the bottleneck has arrived, but for needless retransmissions. Their share is taken to be the least
        difference in the second half between what passed and what was delivered: least waits behind a hole then.
        """
        passed = self.passed_bytes(mss_bytes)
        late = self.time_s >= self.end_s / 2
        needless = float(np.min((passed - self.delivered_bytes)[late] / np.maximum(passed[late], 1.0)))
        return np.maximum(passed * (1 - needless), self.delivered_bytes)

    def until(self, size_bytes: float) -> float:
        """When that much had been delivered; NaN if it was not."""
        if self.delivered_bytes[-1] < size_bytes:
            return math.nan
        after = int(np.searchsorted(self.delivered_bytes, size_bytes))
        low, high = max(0, after - 1), after
        span = self.delivered_bytes[high] - self.delivered_bytes[low]
        part = (size_bytes - self.delivered_bytes[low]) / span if span > 0 else 0.0
        return float(self.time_s[low] + part * (self.time_s[high] - self.time_s[low]))

    @property
    def late_drops(self) -> float:
        """Packets that the bottleneck and the sender's host dropped or refused in the second half."""
        lost = self.drops + self.stalls
        return float(lost[-1] - np.interp(self.end_s / 2, self.time_s, lost))

    @property
    def longest_wait_s(self) -> float:
        """Longest time in the second half in which nothing was delivered, because all data waited behind holes."""
        steps = np.flatnonzero(np.diff(self.delivered_bytes) > 0)
        stamps = np.concatenate([self.time_s[steps + 1], [self.end_s]])
        late = stamps[stamps >= self.end_s / 2]
        return float(np.diff(late, prepend=self.end_s / 2).max())

    @property
    def late_waiting(self) -> float:
        """Share of the second half that streams spent in timeouts."""
        return float(self.waiting[self.time_s >= self.end_s / 2].mean())

    @property
    def late_cuts(self) -> int:
        """Cuts of windows in the second half."""
        return sum(int(np.count_nonzero(one["cut"][one["times"] >= self.end_s / 2])) for one in self.streams)

    def grew_since(self, when_s: float) -> bool:
        """Whether a stream has been in the handshake or in slow start since then."""
        return bool(np.any(self.growing[self.time_s >= when_s] > 0))

    def exceeds_since(self, when_s: float, window_bytes: int) -> bool:
        """Whether the congestion windows of all streams have been larger than a window of the sockets since then."""
        late = [one["cwnd"][one["times"] >= when_s] for one in self.streams]
        return all(cwnd.size > 0 and cwnd.min() >= window_bytes for cwnd in late)

    @property
    def late_bps(self) -> float:
        """Goodput in the second half."""
        return self._last_bps(1 / 2)

    @property
    def least_bps(self) -> float:
        """Goodput in the second half or in the last eighth, whichever is less."""
        return min(self.late_bps, self._last_bps(1 / 8))

    def _last_bps(self, share: float) -> float:
        """Goodput in the last part of the simulation."""
        before = float(np.interp(self.end_s * (1 - share), self.time_s, self.delivered_bytes))
        return (float(self.delivered_bytes[-1]) - before) * 8 / (self.end_s * share)


_SERIES = ("time_s", "delivered_bytes", "growing", "drops", "passed", "waiting", "stalls")


@dataclass(frozen=True)
class Traced:
    """What the trace of a run is measured by."""

    def name(self, _job: Job) -> str:
        return "path"

    def __call__(self, _job: Job, run: Run) -> Measured:
        return trace(run).measured()


def _total(run: Run, name: str, times: Array) -> Array:
    """A column of `flow_samples` summed over all flows at each sample time."""
    samples = run.flow_samples
    at = np.searchsorted(times, column(samples, "time_ns") * 1e-9 - 1e-12)
    return np.asarray(np.bincount(at, weights=np.nan_to_num(column(samples, name)), minlength=times.size), dtype=np.float64)


def _at(times: Array, when: Array, count: Array) -> Array:
    """A count of a port at the sample times of the flows, and at the start."""
    return np.concatenate([[0.0], np.interp(times, when, count) if when.size else np.zeros(times.size)])


def _stalls(run: Run, times: Array) -> Array:
    """Segments that the sender's host had refused at each sample time."""
    samples = run.transmit_samples
    if not samples.num_rows:
        return np.zeros(times.size)
    at = np.searchsorted(times, column(samples, "time_ns") * 1e-9 - 1e-12)
    found = np.bincount(at, weights=column(samples, "send_stalls"), minlength=times.size)
    return np.asarray(found[: times.size], dtype=np.float64)


def trace(run: Run) -> Trace:
    """Reduces a run to what the verdict and the figures need."""
    samples, flows = run.flow_samples, run.flows
    stamps = column(samples, "time_ns") * 1e-9
    times = np.unique(stamps)
    at = np.searchsorted(times, stamps - 1e-12)
    phases = samples.column("phase").to_numpy(zero_copy_only=False)
    late = ~np.isin(phases, ("closed", "handshake", "slow_start"))
    growing = 1 - np.bincount(at, weights=late.astype(float), minlength=times.size) / max(1, flows.num_rows)
    after = (phases == "loss") | ((phases == "slow_start") & (column(samples, "cong_signals") > 0))
    waiting = np.bincount(at, weights=after.astype(float), minlength=times.size) / max(1, flows.num_rows)
    ports = run.ports
    sent = column(ports, "tx_bytes")
    hop = int(np.argmin(np.where(sent > 0.5 * sent.max(), column(ports, "rate_bps"), np.inf)))  # the slowest with data
    mine = column(run.port_samples, "port") == column(ports, "port")[hop]
    when = column(run.port_samples, "time_ns")[mine] * 1e-9
    drops, passed = (_at(times, when, column(run.port_samples, name)[mine]) for name in ("drops", "tx_packets"))
    limited = {key: column(flows, f"snd_lim_time_{key}_ns").sum() for key in ("rwin", "cwnd", "snd")}
    whole = sum(limited.values())
    return Trace(
        time_s=np.concatenate([[0.0], times]),
        delivered_bytes=np.concatenate([[0.0], _total(run, "delivered_bytes", times)]),
        growing=np.concatenate([[1.0], growing]),
        drops=drops,
        passed=passed,
        lost=int(column(ports, "lost").sum()),
        waiting=np.concatenate([[0.0], waiting]),
        stalls=np.concatenate([[0.0], _stalls(run, times)]),
        window_limited=float(max(limited["rwin"], limited["snd"]) / whole) if whole > 0 else 0.0,
        streams=_shown(samples),
    )


def _shown(samples: pa.Table) -> tuple[dict[str, Array], ...]:
    """What the controller of each stream saw, sample by sample."""
    flow, time = column(samples, "flow"), column(samples, "time_ns") * 1e-9
    order = np.lexsort((time, flow))
    cwnd, ssthresh, delivered, signals, rtt = (
        column(samples, name)[order]
        for name in ("cwnd_bytes", "ssthresh_bytes", "delivered_bytes", "cong_signals", "sample_rtt_ns")
    )
    flow, time = flow[order], time[order]
    phases = samples.column("phase").to_numpy(zero_copy_only=False)[order]
    repairing, live = phases == "recovery", ~np.isin(phases, ("closed", "handshake"))
    first = np.diff(flow, prepend=-1.0) != 0
    found = {
        "times": time,
        "acked": np.where(first, delivered, np.diff(delivered, prepend=0.0)),
        "repairing": repairing,
        "rtt": rtt * 1e-9,
        "cut": np.where(first, signals, np.diff(signals, prepend=0.0)) > 0,
        "cwnd": np.where(repairing, ssthresh, cwnd),  # what it comes to
        "ssthresh": np.where(np.isnan(ssthresh), math.inf, ssthresh),
    }
    ends = [*np.flatnonzero(first), flow.size]
    return tuple({name: values[a:b][live[a:b]] for name, values in found.items()} for a, b in itertools.pairwise(ends))
