"""Runs of a path: as much of each transfer as the budget of packets allows, the rest by a rule that is named."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from elephan.laws import Law
from elephan.longpath.disks import copied
from elephan.longpath.forms import Bounds, expected_bps, slow_start_rtts
from elephan.longpath.question import START, Question
from elephan.longpath.rest import SOME, WAITING_MAX, Rest, goes_by_rounds, rest
from elephan.longpath.trace import Trace, trace
from elephan.longpath.verdict import Evidence
from elephan.panel.network import span_text
from elephan.pool import Job, failures, run_jobs

Array = npt.NDArray[np.float64]
PACKETS_MAX = 100_000  # of data in one run, where the law goes on by rounds ...
PACKETS_ALONE_MAX = 350_000  # ... and where it does not
START_RTTS = 30  # beyond slow start, that a simulation should last at least ...
START_BUDGETS = 2  # ... unless that takes more than so many times its budget
CALM_RTTS = 6  # without slow start, what it overflows and timeouts, before a law goes on by itself
HELD = 0.05  # of what is expected: less in a second half, or at its end, is data that wait for a hole to be filled
LENGTH_MAX_S = 1.5e7
TRIES = 5  # times that a simulation which was too short is made longer
SAMPLES = 3000
CURVE_POINTS = 240


@dataclass(frozen=True)
class Case:
    """A law with a number of streams, and a seed."""

    law: Law
    streams: int
    seed: int


@dataclass(frozen=True)
class Result:
    """How long the transfer takes in one case, and how that is known."""

    case: Case
    time_s: float
    simulated_s: float  # of that time
    method: str  # how the rest is known; empty if all was simulated
    evidence: Evidence
    curve_s: Array
    curve_bytes: Array  # delivered by then
    trace: Trace  # of what was simulated


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
        if case.streams > 1 and START not in question.set:
            overrides[START] = {"uniform": ["0 s", span_text(question.spread_s)]}
        jobs.append(Job(source, overrides, case.seed, f"{case.law.label}, {case.streams} streams"))
    return jobs


def cases(question: Question, repetitions: int | None, seed: int) -> list[Case]:
    """Every law with every number of streams. Where nothing but what a law draws is random one run says it all."""
    found = []
    for law in question.laws:
        for streams in question.streams:
            random = streams > 1 or question.loss > 0
            count = (3 if random else 1) if repetitions is None else repetitions
            found += [Case(law, streams, seed + i) for i in range(count)]
    return found


def _length(question: Question, limits: Bounds, case: Case, target: float, budget: float) -> float:
    """Seconds to simulate at first."""
    rate, start = expected_bps(case.law, question, limits, case.streams), slow_start_rtts(limits)
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
    stepped = set() if whole else {case for case in chosen if goes_by_rounds(question, limits, case.law)}
    packets = {case: PACKETS_MAX if case in stepped else PACKETS_ALONE_MAX for case in chosen}
    budgets = {case: question.size_bytes if whole else float(packets[case] * limits.mss_bytes) for case in chosen}
    targets = {case: min(question.size_bytes, budgets[case]) for case in chosen}
    network = replace(limits, disk_bps=math.inf)  # what is simulated; disks wait for nothing
    lengths = {case: _length(question, network, case, targets[case], budgets[case]) for case in chosen}
    traces: dict[Case, Trace] = {}
    broken: list[str] = []
    waiting = list(chosen)
    for _ in range(TRIES if not whole else 20):
        jobs = _jobs(question, waiting, [lengths[case] for case in waiting])
        outcomes = run_jobs(jobs, trace, workers=workers, label="path", progress=progress)
        broken += failures(outcomes)
        again = []
        for case, outcome in zip(waiting, outcomes, strict=True):
            if outcome.value is None:
                continue
            traces[case] = found = outcome.value
            done = float(found.delivered_bytes[-1])
            left = targets[case] - done
            late, expected = max(found.late_bps, limits.wire_bps * 0.02), expected_bps(case.law, question, network, case.streams)
            held = found.least_bps < HELD * expected
            if left > 0:
                longer = (2 if held else 1.05) * found.end_s + 4 * question.rtt_s + 1.2 * left * 8 / late
                lengths[case] = min(longer, 20 * found.end_s, LENGTH_MAX_S)
            elif case in stepped and done < question.size_bytes and _unsettled(question, limits, found):
                lengths[case] = 1.2 * found.end_s + 3 * CALM_RTTS * question.rtt_s
            elif case not in stepped and done < question.size_bytes and held:
                lengths[case] = 2 * found.end_s
            else:
                continue
            again.append(case)
        waiting = again
        if not waiting:
            break
    return [_result(question, limits, case, traces[case]) for case in chosen if case in traces], broken


def _unsettled(question: Question, limits: Bounds, found: Trace) -> bool:
    """Whether slow start, or the timeouts that its overflow costs, lie too late in a simulation to be carried on from it.

    A window beyond what the sockets hold grows to no effect: that slow start may last for ever.
    """
    calm = found.end_s - CALM_RTTS * question.rtt_s
    if found.grew_since(calm) and not found.exceeds_since(calm, limits.window_bytes):
        return True
    return found.late_waiting > WAITING_MAX and found.late_cuts < SOME


def _result(question: Question, limits: Bounds, case: Case, found: Trace) -> Result:
    time, after = found.until(question.size_bytes), Rest(0.0, "")
    if math.isnan(time):
        after = rest(question, limits, case.law, case.streams, case.seed, found)
        time = found.end_s + after.seconds
    # Between two samples the first byte may seem to have arrived before it can: handshake, half a round trip, the data.
    time = max(time, 1.5 * question.rtt_s + question.size_bytes * 8 / limits.wire_bps)
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
    times = np.linspace(0.0, known, CURVE_POINTS + 1)
    return Result(case, time, simulated, method, evidence, times, np.interp(times, stamps, delivered), found)


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
    return dict(tomllib.loads(resolved_toml)["hosts"]["sender"]["tcp"])
