"""Runs of a path: as much of each transfer as the budget of packets allows, the rest by a rule that is named."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from elephan.experiment.compare.network import span_text
from elephan.experiment.job import Job
from elephan.experiment.path.disks import copied
from elephan.experiment.path.forms import Bounds, expected_bps, slow_start_rtts
from elephan.experiment.path.question import START, Question
from elephan.experiment.path.rest import CALM_RTTS, SOME, WAITING_MAX, Rest, goes_by_rounds, rest, starts_late
from elephan.experiment.path.trace import Trace, Traced
from elephan.experiment.path.verdict import Evidence
from elephan.experiment.pool import How, run_jobs
from elephan.experiment.trials import Variant
from elephan.scenario import core
from elephan.scenario.congestion import Controller

Array = npt.NDArray[np.float64]
PACKETS_MAX = 1_000_000  # of data in one run
SETTLING_RTTS = 40  # beyond slow start, that a simulation should last at least where no rounds go on ...
SETTLING_TIMES = 3  # ... unless that takes so many times its packets
UNSETTLED_TIMES = 2  # times its packets that a simulation takes whose slow start, or whose timeouts, lie late
REGIME_RTTS, REGIME_S = 1000, 300.0  # of a second half, from which on slow start and timeouts are how this path goes
HELD = 0.05  # of what is expected: less in a second half, or at its end, is data that wait for a hole to be filled
LENGTH_MAX_S = 1.5e7
TRIES = 5  # times that a simulation which was too short is made longer ...
TRIES_WHOLE = 20  # ... and one that is to be whole
SAMPLES = 3000
CURVE_POINTS = 240
DISK_ERROR = 0.015  # of the time of a disk as a queue, beside programs that copy packet by packet


VALUES = ("time_s", "low_s", "high_s", "simulated_s", "drops", "lost", "stalls")  # of a trial


@dataclass(frozen=True)
class Case:
    """A controller with a number of streams, and a seed."""

    controller: Controller
    streams: int
    seed: int

    @property
    def variant(self) -> Variant:
        parameters = {"congestion_control": self.controller.label, "streams": self.streams}
        return Variant(f"{self.controller.label}, {self.streams} streams", parameters)


@dataclass(frozen=True)
class Result:
    """How long the transfer takes in one case, and how that is known."""

    case: Case
    time_s: float
    low_s: float  # the range that the time lies in; the time itself if all was simulated
    high_s: float
    simulated_s: float  # of that time
    method: str  # how the rest is known; empty if all was simulated
    evidence: Evidence
    curve_s: Array
    curve_bytes: Array  # delivered by then
    trace: Trace  # of what was simulated
    job: Job  # which simulated it

    @property
    def values(self) -> dict[str, float]:
        """What a table of trials says of it."""
        drops, stalls = (float(count[-1]) for count in (self.trace.drops, self.trace.stalls))
        found = (self.time_s, self.low_s, self.high_s, self.simulated_s, drops, float(self.trace.lost), stalls)
        return dict(zip(VALUES, found, strict=True))


def _job(question: Question, case: Case, length: float) -> Job:
    tick = 10.0 ** math.floor(math.log10(length) - 4)  # a round number of something, so that a reader can read it
    length = math.ceil(length / tick) * tick
    every = max(min(question.rtt_s / 4, length / 200), length / SAMPLES)
    overrides: dict[str, Any] = {
        **question.set,
        "duration": span_text(length),
        "record.every": span_text(every),
        "traffic.transfer.connections": 1 if question.fq_bps else case.streams,  # with `fq` each stream has its host
        "traffic.transfer.congestion_control": case.controller.value,
    }
    if case.streams > 1 and START not in question.set:
        overrides[START] = {"uniform": ["0 s", span_text(question.spread_s)]}
    return Job(question.source(), overrides, case.seed, case.variant)


def cases(question: Question, repetitions: int | None, seed: int) -> list[Case]:
    """Every controller with every number of streams. Where nothing but what a controller draws is random one run says it all."""
    found = []
    for controller in question.controllers:
        for streams in question.streams:
            random = streams > 1 or question.loss > 0
            count = (3 if random else 1) if repetitions is None else repetitions
            found += [Case(controller, streams, seed + i) for i in range(count)]
    return found


@dataclass(frozen=True)
class Ask:
    """A case of a question; several questions are simulated side by side."""

    question: Question
    limits: Bounds
    case: Case


def _length(ask: Ask, target: float) -> float:
    """Seconds to simulate at first."""
    rate, start = expected_bps(ask.case.controller, ask.question, ask.limits, ask.case.streams), slow_start_rtts(ask.limits)
    wanted, needed = ((start + 4) * ask.question.rtt_s + 1.15 * size * 8 / rate for size in (target, ask.question.size_bytes))
    return min(max(wanted, _settled(ask, target)), needed, LENGTH_MAX_S)


def _settled(ask: Ask, target: float) -> float:
    """Seconds after which a start is forgotten, as far as they are simulated; 0 where rounds go on."""
    if goes_by_rounds(ask.question, ask.limits, ask.case.controller):
        return 0.0
    rate = expected_bps(ask.case.controller, ask.question, ask.limits, ask.case.streams)
    settled = (slow_start_rtts(ask.limits) + SETTLING_RTTS) * ask.question.rtt_s
    return min(settled, SETTLING_TIMES * target * 8 / rate)


def simulate(
    question: Question,
    limits: Bounds,
    chosen: Sequence[Case],
    *,
    whole: bool,
    how: How,
) -> tuple[list[Result], list[str]]:
    """Runs all cases, some of them again for longer; gives the results and a line for each run that failed."""
    asks = [Ask(question, limits, case) for case in chosen]
    found, broken = simulate_all(asks, whole=whole, how=how)
    return [one for one in found if one is not None], broken


def simulate_all(
    asks: Sequence[Ask], *, whole: bool, how: How, packets: int = PACKETS_MAX
) -> tuple[list[Result | None], list[str]]:
    """Results in the order of `asks`, None for a run that failed, and a line for each of those. `packets`: of data in a run that is
    not `whole`; there are more where it takes more to settle."""
    targets = [ask.question.size_bytes if whole else min(ask.question.size_bytes, packets * ask.limits.mss_bytes) for ask in asks]
    # What is simulated is the network; disks wait for nothing.
    networks = [replace(ask, limits=replace(ask.limits, disk_bps=math.inf)) for ask in asks]
    lengths = [_length(network, target) for network, target in zip(networks, targets, strict=True)]
    traces: dict[int, Trace] = {}
    done: dict[int, Job] = {}
    broken: list[str] = []
    waiting = list(range(len(asks)))
    for _ in range(TRIES if not whole else TRIES_WHOLE):
        jobs = [_job(asks[i].question, asks[i].case, lengths[i]) for i in waiting]
        outcomes = run_jobs(jobs, Traced(), how)
        broken += outcomes.failures
        again = []
        for i, outcome in zip(waiting, outcomes, strict=True):
            if outcome.measured is None:
                continue
            traces[i] = found = Trace.of(outcome.measured)
            done[i] = outcome.job
            longer = _longer(networks[i], found, targets[i])
            if longer > found.end_s:
                lengths[i] = longer
                again.append(i)
        waiting = again
        if not waiting:
            break
    results = [_result(ask, traces[i], done[i]) if i in traces else None for i, ask in enumerate(asks)]
    return results, broken


def _longer(ask: Ask, found: Trace, target: float) -> float:
    """Seconds that a simulation should last instead, if it is too short to be carried on from; else 0."""
    question, done = ask.question, float(found.delivered_bytes[-1])
    held = found.least_bps < HELD * expected_bps(
        ask.case.controller, question, ask.limits, ask.case.streams
    )  # data wait for a hole
    if (left := target - done) > 0:
        late = max(found.late_bps, ask.limits.wire_bps * 0.02)
        longer = (2 if held else 1.05) * found.end_s + 4 * question.rtt_s + 1.2 * left * 8 / late
        return min(longer, 20 * found.end_s, LENGTH_MAX_S)
    if done >= question.size_bytes or done > SETTLING_TIMES * target:
        return 0.0
    if _unsettled(question, ask.limits, found) and done < UNSETTLED_TIMES * target:
        return 2 * found.end_s + 3 * CALM_RTTS * question.rtt_s
    if held:
        return 2 * found.end_s
    settled = _settled(ask, target)
    return settled if found.end_s < 0.8 * settled else 0.0


def _unsettled(question: Question, limits: Bounds, found: Trace) -> bool:
    """Whether slow start, or the timeouts that its overflow costs, lie too late in a simulation to be carried on from it.

    Slow start takes tens of round trips and a timeout a minute at most. What still happens after much more than that does not end.
    """
    if found.end_s / 2 > max(REGIME_RTTS * question.rtt_s, REGIME_S):
        return False
    if starts_late(question, limits, found):
        return True
    return found.late_waiting > WAITING_MAX and found.late_cuts < SOME


def _result(ask: Ask, found: Trace, job: Job) -> Result:
    question, limits, case = ask.question, ask.limits, ask.case
    time, after = found.until(question.size_bytes), Rest(0.0, "")
    low = high = time
    if math.isnan(time):
        after = rest(question, limits, case.controller, case.streams, case.seed, found)
        time, low, high = (found.end_s + seconds for seconds in (after.seconds, after.low_s, after.high_s))
    # Between two samples the first byte may seem to have arrived before it can: handshake, half a round trip, the data.
    least = 1.5 * question.rtt_s + question.size_bytes * 8 / limits.wire_bps
    time, low, high = (max(seconds, least) for seconds in (time, low, high))
    simulated, method = min(time, found.end_s), after.method
    known = time if after.time_s.size else simulated
    stamps, delivered = _network(found, after)
    evidence = _evidence(question, found, after, known)
    if limits.disk_is:
        if stamps[-1] < time:  # carried on by a rate
            stamps, delivered = np.append(stamps, time), np.append(delivered, question.size_bytes)
        disks = copied(question, limits, case.streams, stamps, delivered)
        stamps, delivered, slowed = disks.time_s, disks.written_bytes, disks.until(question.size_bytes)
        if slowed > time:
            time = known = slowed
            method = "; ".join(word for word in (method, f"{limits.disk_is} as a queue") if word)
            low, high = max(low, slowed / (1 + DISK_ERROR)), max(high, slowed * (1 + DISK_ERROR))
    times = np.linspace(0.0, known, CURVE_POINTS + 1)
    return Result(case, time, low, high, simulated, method, evidence, times, np.interp(times, stamps, delivered), found, job)


def _network(found: Trace, after: Rest) -> tuple[Array, Array]:
    """When the network had delivered how many bytes, in the simulation and in what follows it."""
    stamps = np.concatenate([found.time_s, found.end_s + after.time_s])
    return stamps, np.concatenate([found.delivered_bytes, found.delivered_bytes[-1] + after.delivered_bytes])


def _evidence(question: Question, found: Trace, after: Rest, end_s: float) -> Evidence:
    ended = np.flatnonzero((found.growing < 0.5) & (found.time_s > 0))
    start_end = float(found.time_s[ended[0]]) if ended.size else end_s
    start_end = min(start_end, end_s)
    within = found.time_s <= end_s
    delivered, at_start_end, at_end = np.interp([end_s, start_end, min(end_s, found.end_s)], *_network(found, after))
    # The window answers once to all that is dropped within a round trip, which may have the whole queue in it.
    trip = question.rtt_s + question.buffer_bytes * 8 / question.rate_bps
    overflows, stalls = (episodes(found.time_s[within], count[within], trip) for count in (found.drops, found.stalls))
    lost = found.lost * at_end / max(1.0, float(found.delivered_bytes[-1]))  # the link says only how many in all
    if question.device_bps > question.rate_bps:
        overflows += after.overflows
    else:
        stalls += after.overflows
    return Evidence(
        end_s, float(delivered), start_end, float(at_start_end), found.window_limited, overflows, lost + after.lost, stalls
    )


def episodes(time_s: Array, count: Array, span_s: float) -> int:
    """How often a count began to grow: what it grows by within `span_s` of a beginning belongs to that one."""
    found, until = 0, -math.inf
    for when in time_s[1:][np.diff(count) > 0]:
        if when >= until:
            found, until = found + 1, when + span_s
    return found


def tcp_options(resolved_toml: str) -> dict[str, Any]:
    """The TCP options of the sender as resolved."""
    return dict(core.toml_values(resolved_toml)["hosts"]["sender"]["tcp"])
