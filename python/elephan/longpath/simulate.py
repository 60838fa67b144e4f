"""Runs of a path: as much of each transfer as the budget of packets allows, the rest by a closed form that is named."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from elephan.laws import Law
from elephan.longpath.forms import Bounds, queue_bytes, response_bps, slow_start_rtts
from elephan.longpath.question import Question
from elephan.longpath.verdict import Evidence
from elephan.measures import column
from elephan.panel.network import span_text
from elephan.pool import Job, failures, run_jobs
from elephan.runs import Run

Array = npt.NDArray[np.float64]
PACKETS_MAX = 250_000  # of data in one run: a second at most
START_RTTS = 30  # beyond slow start, that a simulation should last at least ...
START_BUDGETS = 4  # ... unless that takes more than so many times its budget
SETTLED_RTTS = 15  # beyond slow start, from which on its second half counts as steady
LENGTH_MAX_S = 1.5e7
FLUID_ROUNDS = 200_000
SECOND_HALF = "as in its second half"
ROUNDS = 3  # times that a simulation which was too short is made longer
SAMPLES = 3000
CURVE_POINTS = 240
SPREAD_S = 0.1  # within which several streams start


@dataclass(frozen=True)
class Case:
    """A law with a number of streams, and a seed."""

    law: Law
    streams: int
    seed: int


@dataclass(frozen=True)
class Trace:
    """What a simulation of some length showed."""

    time_s: Array
    delivered_bytes: Array  # of all streams together
    growing: Array  # share of the streams in the handshake or in slow start
    drops: Array  # at the bottleneck so far
    lost: int
    stalls: Array  # segments that the sender's host refused so far
    window_limited: float
    window_bytes: float  # of all streams, at the end
    toml: str
    provenance: Any

    @property
    def end_s(self) -> float:
        return float(self.time_s[-1])

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
    def late_bps(self) -> float:
        """Goodput in the second half."""
        half = self.end_s / 2
        at_half = float(np.interp(half, self.time_s, self.delivered_bytes))
        return (float(self.delivered_bytes[-1]) - at_half) * 8 / half


@dataclass(frozen=True)
class Result:
    """How long the transfer takes in one case, and how that is known."""

    case: Case
    time_s: float
    simulated_s: float  # of that time
    method: str  # how the rest is known; empty if all was simulated
    evidence: Evidence
    trace: Trace


def _jobs(question: Question, cases: Sequence[Case], lengths: Sequence[float]) -> list[Job]:
    source = question.source()
    jobs = []
    for case, length in zip(cases, lengths, strict=True):
        tick = 10.0 ** math.floor(math.log10(length) - 4)  # a round number of something, so that a reader can read it
        length = math.ceil(length / tick) * tick
        every = max(min(question.rtt_s / 4, length / 200), length / SAMPLES)
        overrides: dict[str, Any] = {
            **question.set,
            "duration": span_text(length),
            "record.every": span_text(every),
            "traffic.transfer.connections": case.streams,
            "traffic.transfer.congestion_control": case.law.value,
        }
        if case.streams > 1:
            overrides["traffic.transfer.start"] = {"uniform": ["0 s", span_text(min(SPREAD_S, question.rtt_s))]}
        jobs.append(Job(source, overrides, case.seed, f"{case.law.label}, {case.streams} streams"))
    return jobs


def _total(run: Run, name: str, times: Array) -> Array:
    """A column of `flow_samples` summed over all flows at each sample time."""
    samples = run.flow_samples
    at = np.searchsorted(times, column(samples, "time_ns") * 1e-9 - 1e-12)
    return np.asarray(np.bincount(at, weights=np.nan_to_num(column(samples, name)), minlength=times.size), dtype=np.float64)


def _stalls(run: Run, times: Array) -> Array:
    """Segments that the sender's host had refused at each sample time."""
    samples = run.transmit_samples
    if not samples.num_rows:
        return np.zeros(times.size)
    at = np.searchsorted(times, column(samples, "time_ns") * 1e-9 - 1e-12)
    found = np.bincount(at, weights=column(samples, "send_stalls"), minlength=times.size)
    return np.asarray(found[: times.size], dtype=np.float64)


def trace(_job: Job, run: Run) -> Trace:
    """Reduces a run to what the verdict and the figures need."""
    samples, flows = run.flow_samples, run.flows
    stamps = column(samples, "time_ns") * 1e-9
    times = np.unique(stamps)
    at = np.searchsorted(times, stamps - 1e-12)
    phases = samples.column("phase").to_numpy(zero_copy_only=False)
    early = np.isin(phases, ("closed", "handshake", "slow_start"))
    growing = np.bincount(at, weights=early.astype(float), minlength=times.size) / max(1, flows.num_rows)
    ports = run.ports
    sent = column(ports, "tx_bytes")
    hop = int(np.argmin(np.where(sent > 0.5 * sent.max(), column(ports, "rate_bps"), np.inf)))  # the slowest with data
    mine = column(run.port_samples, "port") == column(ports, "port")[hop]
    when, drops = column(run.port_samples, "time_ns")[mine] * 1e-9, column(run.port_samples, "drops")[mine]
    limited = {key: column(flows, f"snd_lim_time_{key}_ns").sum() for key in ("rwin", "cwnd", "snd")}
    whole = sum(limited.values())
    return Trace(
        time_s=np.concatenate([[0.0], times]),
        delivered_bytes=np.concatenate([[0.0], _total(run, "delivered_bytes", times)]),
        growing=np.concatenate([[1.0], growing]),
        drops=np.concatenate([[0.0], np.interp(times, when, drops) if when.size else np.zeros(times.size)]),
        lost=int(column(ports, "lost").sum()),
        stalls=np.concatenate([[0.0], _stalls(run, times)]),
        window_limited=float(max(limited["rwin"], limited["snd"]) / whole) if whole > 0 else 0.0,
        window_bytes=float(_total(run, "cwnd_bytes", times)[-1]),
        toml=run.scenario,
        provenance=run.provenance,
    )


def expected_bps(question: Question, limits: Bounds, case: Case) -> float:
    """Goodput by the closed forms alone: the least of wire, windows and response function."""
    loss = response_bps(case.law, question, limits, case.streams)
    return min(limits.top_bps, limits.window_bps(case.streams), math.inf if math.isnan(loss) else loss)


def cases(question: Question, repetitions: int | None, seed: int) -> list[Case]:
    """Every law with every number of streams. Where nothing is random one run says it all."""
    found = []
    for law in question.laws:
        for streams in question.streams:
            random = streams > 1 or question.loss > 0
            count = (3 if random else 1) if repetitions is None else repetitions
            found += [Case(law, streams, seed + i) for i in range(count)]
    return found


def _length(question: Question, limits: Bounds, case: Case, target: float, budget: float) -> float:
    """Seconds to simulate at first."""
    rate, start = expected_bps(question, limits, case), slow_start_rtts(question, limits)
    wanted = (start + 4) * question.rtt_s + 1.15 * target * 8 / rate
    steady = min((start + START_RTTS) * question.rtt_s, START_BUDGETS * budget * 8 / rate)
    needed = (start + 4) * question.rtt_s + 1.15 * question.size_bytes * 8 / rate
    return min(max(wanted, steady), needed, LENGTH_MAX_S)


def simulate(
    question: Question,
    limits: Bounds,
    chosen: Sequence[Case],
    *,
    whole: bool,
    workers: int | None,
    progress: bool,
) -> tuple[list[Result], list[str]]:
    """Runs all cases, some of them again for longer; gives the results and a line for each run that failed."""
    budget = question.size_bytes if whole else float(PACKETS_MAX * limits.mss_bytes)
    target = min(question.size_bytes, budget)
    lengths = {case: _length(question, limits, case, target, budget) for case in chosen}
    traces: dict[Case, Trace] = {}
    broken: list[str] = []
    waiting = list(chosen)
    for _ in range(ROUNDS if not whole else 20):
        jobs = _jobs(question, waiting, [lengths[case] for case in waiting])
        outcomes = run_jobs(jobs, trace, workers=workers, label="path", progress=progress)
        broken += failures(outcomes)
        again = []
        for case, outcome in zip(waiting, outcomes, strict=True):
            if outcome.value is None:
                continue
            traces[case] = found = outcome.value
            left = target - float(found.delivered_bytes[-1])
            if left > 0:
                late = max(found.late_bps, limits.wire_bps * 0.02)
                longer = 1.05 * found.end_s + 4 * question.rtt_s + 1.2 * left * 8 / late
                lengths[case] = min(longer, 20 * found.end_s, LENGTH_MAX_S)
                again.append(case)
        waiting = again
        if not waiting:
            break
    return [_result(question, limits, case, traces[case]) for case in chosen if case in traces], broken


def _result(question: Question, limits: Bounds, case: Case, found: Trace) -> Result:
    time = found.until(question.size_bytes)
    method = ""
    simulated = time
    if math.isnan(time):
        left, method = _rest(question, limits, case, found)
        time, simulated = found.end_s + left, found.end_s
    copying = question.size_bytes * 8 / limits.disk_bps + 1.5 * question.rtt_s
    if copying > time:
        # Reading, sending and writing overlap: the slowest alone counts.
        time, simulated, method = copying, min(simulated, copying), f"{limits.disk_is} alone, which overlaps with the rest"
    return Result(case, time, simulated, method, _evidence(found, simulated), _thinned(found, simulated))


def _evidence(found: Trace, end_s: float) -> Evidence:
    ended = np.flatnonzero((found.growing < 0.5) & (found.time_s > 0))
    start_end = float(found.time_s[ended[0]]) if ended.size else end_s
    start_end = min(start_end, end_s)
    within = found.time_s <= end_s

    def at(when: float) -> float:
        return float(np.interp(when, found.time_s, found.delivered_bytes))

    overflows = int(np.count_nonzero(np.diff(found.drops[within]) > 0))
    lost = found.lost * at(end_s) / max(1.0, float(found.delivered_bytes[-1]))  # the link says only how many in all
    stalls = float(found.stalls[within][-1])
    return Evidence(end_s, at(end_s), start_end, at(start_end), found.window_limited, overflows, lost, stalls)


def _thinned(found: Trace, end_s: float) -> Trace:
    """The trace for figures: fewer points, and none after the end."""
    times = np.linspace(0.0, end_s, CURVE_POINTS + 1)
    return replace(
        found,
        time_s=times,
        delivered_bytes=np.interp(times, found.time_s, found.delivered_bytes),
        growing=np.interp(times, found.time_s, found.growing),
        drops=np.interp(times, found.time_s, found.drops),
        stalls=np.interp(times, found.time_s, found.stalls),
    )


def _rest(question: Question, limits: Bounds, case: Case, found: Trace) -> tuple[float, str]:
    """Seconds for what was not simulated, and by which rule."""
    left = question.size_bytes - float(found.delivered_bytes[-1])
    if case.law.kind == "reno" and case.law.plain and limits.window_bps(case.streams) >= limits.wire_bps:
        return reno_rest(left, found.window_bytes, question, limits, case.streams), "Reno's sawtooth as a fluid"
    window, loss = limits.window_bps(case.streams), response_bps(case.law, question, limits, case.streams)
    if window <= min(limits.wire_bps, math.inf if math.isnan(loss) else loss):
        return left * 8 / window, "window / RTT"
    if loss < limits.wire_bps:
        return left * 8 / loss, "response function"
    if found.end_s < (slow_start_rtts(question, limits) + SETTLED_RTTS) * question.rtt_s:
        return left * 8 / expected_bps(question, limits, case), "closed forms alone, too large to simulate beyond its start"
    # data behind a hole arrive at the application at once, so a stretch can show more than the wire carries
    rate = min(max(found.late_bps, limits.mss_bytes * 8 / question.rtt_s), limits.wire_bps)
    return left * 8 / rate, SECOND_HALF


def reno_rest(left_bytes: float, window_bytes: float, question: Question, limits: Bounds, streams: int) -> float:
    """Seconds that Reno needs for `left_bytes` from a window of `window_bytes` on, all streams together, as a fluid.

    The window grows by a segment a round trip and stream, half of one where delayed ACKs are counted. At BDP + buffer all streams
    halve theirs; the path's own loss takes a segment in every 1/p (periodic loss, Mathis et al. 1997), which halves the window of
    one stream. After `FLUID_ROUNDS` the mean rate so far holds.
    """
    bdp = limits.bdp_bytes
    top = bdp + queue_bytes(question) * limits.wire_bps / question.narrow_bps
    spacing = limits.mss_bytes / question.loss if question.loss else math.inf
    window, time, sent_bytes, since_loss = min(max(window_bytes, float(limits.mss_bytes)), top), 0.0, 0.0, 0.0
    for _ in range(FLUID_ROUNDS):
        round_s = max(question.rtt_s, window * 8 / limits.wire_bps)
        sent = min(window, limits.wire_bps * round_s / 8)
        if sent_bytes + sent >= left_bytes:
            return time + round_s * (left_bytes - sent_bytes) / sent
        sent_bytes, time, since_loss = sent_bytes + sent, time + round_s, since_loss + sent
        window += streams * limits.reno_step * limits.mss_bytes
        if window >= top:
            window = top / 2
        while since_loss >= spacing:
            since_loss -= spacing
            window = max(window * (1 - 0.5 / streams), float(limits.mss_bytes))
    return time * left_bytes / sent_bytes


def tcp_options(resolved_toml: str) -> dict[str, Any]:
    """The TCP options of the sender as resolved."""
    return dict(tomllib.loads(resolved_toml)["hosts"]["sender"]["tcp"])
