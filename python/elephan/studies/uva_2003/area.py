"""The points of the forbidden area: rates, round trips and memories, and whether the formula says that a window loses.

A window of N segments, each `WIRE` bytes on the wire and `FRAME` of the memory, is s R: so the round trip of a point follows
from N, a whole number, and is within half a segment of the one that it is called by.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from elephan.experiment.study import Point
from elephan.theory import closed as theory

FAST_BPS = 1e9
OC_BPS = 51.84e6
MEMORY_BYTES = 500_000
MSS, FRAME, WIRE = 1460, 1518, 1538

LEVELS = (1, 3, 6, 9, 12)
RTTS_MS = (10, 14, 18, 25, 35, 50, 70, 100, 158)
BORDER_RTTS_MS = (20, 50, 100, 158)


def needed_bytes(level: int, segments: int, clocked: bool = False) -> float:
    """Memory that a window of so many segments needs, in frames."""
    slow = level * OC_BPS
    return theory.memory_needed(FAST_BPS, slow, segments * WIRE * 8 / slow, clocked) * FRAME / WIRE


def segments_of(level: int, rtt_s: float) -> int:
    """The window s R in segments."""
    return round(level * OC_BPS * rtt_s / 8 / WIRE)


def _changes(level: int, segments: int, memory_bytes: float, first: int) -> dict[str, Any]:
    slow = level * OC_BPS
    rtt_s = segments * WIRE * 8 / slow
    rounds = 3 + math.log2(segments / first)
    return {
        "links[1].rate": f"{slow:.0f} bps",
        "links[1].delay": f"{rtt_s * 5e8:.3f} ns",
        "links[1].forward.queue.limit": f"{round(memory_bytes)} B",
        "tcp.initial_window": first,
        "tcp.receive_window": f"{segments * MSS} B",
        "duration": f"{(rounds + 0.5) * rtt_s * 1e3 + 10:.3f} ms",
    }


def _at_once(level: int, rtt_ms: float) -> int:
    return segments_of(level, rtt_ms * 1e-3)


def _by_doubling(level: int, rtt_ms: float) -> tuple[int, int]:
    """First window and last one, some power of two times as large, near s R."""
    segments = _at_once(level, rtt_ms)
    doublings = max(1, int(math.log2(segments / 8)))
    first = round(segments / 2**doublings)
    return first, first * 2**doublings


def area() -> Iterator[Point]:
    """Slide 6: 0.5 MB, each rate and round trip."""
    for level in LEVELS:
        for rtt_ms in RTTS_MS:
            segments = _at_once(level, rtt_ms)
            yield Point(f"OC-{level} {rtt_ms} ms", _changes(level, segments, MEMORY_BYTES, segments), rtt_ms * 1e-3)


def slow_start() -> Iterator[Point]:
    """The same where slow start brings the window, an ACK letting out two segments."""
    for level in LEVELS:
        for rtt_ms in RTTS_MS:
            first, segments = _by_doubling(level, rtt_ms)
            yield Point(f"OC-{level} {rtt_ms} ms", _changes(level, segments, MEMORY_BYTES, first), rtt_ms * 1e-3)


def loses(level: int, rtt_ms: float, clocked: bool) -> bool:
    """What the formula says of a point of `area` or `slow_start`."""
    segments = _by_doubling(level, rtt_ms)[1] if clocked else _at_once(level, rtt_ms)
    return needed_bytes(level, segments, clocked) > MEMORY_BYTES


def border() -> Iterator[Point]:
    """A window at once with 3 % less and 3 % more memory than the formula says."""
    for level in LEVELS:
        for rtt_ms in BORDER_RTTS_MS:
            for share in (0.97, 1.03):
                segments = _at_once(level, rtt_ms)
                memory = needed_bytes(level, segments) * share
                yield Point(f"OC-{level} {rtt_ms} ms {share:.2f}", _changes(level, segments, memory, segments), share)


def clocked_border() -> Iterator[Point]:
    """Slow start with 5 % less and 5 % more memory than the formula says."""
    for level in LEVELS:
        for rtt_ms in BORDER_RTTS_MS:
            for share in (0.95, 1.05):
                first, segments = _by_doubling(level, rtt_ms)
                memory = needed_bytes(level, segments, clocked=True) * share
                yield Point(f"OC-{level} {rtt_ms} ms {share:.2f}", _changes(level, segments, memory, first), share)


def paced() -> Iterator[Point]:
    """A window at once from a device that paces at the rate of the slow link, before a memory of two packets."""
    for level in LEVELS:
        for rtt_ms in BORDER_RTTS_MS:
            segments = _at_once(level, rtt_ms)
            changes = _changes(level, segments, 2 * FRAME, segments)
            pacing = {"txqueuelen": f"{segments} p", "pacing": f"{level * OC_BPS:.0f} bps"}
            yield Point(f"OC-{level} {rtt_ms} ms", changes | {"hosts.sender.transmit": pacing}, rtt_ms * 1e-3)
