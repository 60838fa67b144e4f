"""Points about one entry of the tables, 1054 segments at 1e-5 and 100 ms: where a run begins, and what else could move it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from elephan.experiment.study import Point
from elephan.studies.cubic_2008 import rows, theory

EVERY, RTT, MEAN = 100_000, 0.1, 1054
TOP = theory.peak(theory.concave(1 / EVERY, RTT, 0.4), theory.BETA)
ABOVE = 0.3  # how far above the cycle a run begins whose settling is watched
SPAN = 10  # losses of a mean
AFTER = (0, 10, 30, 90)
_FLOW = "traffic.flow"


def _window(deviation: float, after: int, segments: float = 0.0) -> dict[str, str]:
    """Returns the measured time: `SPAN` losses, so many losses after a peak that is off by `deviation`."""
    steps = theory.Cycles(EVERY, RTT)
    spans = [rounds * RTT for _, rounds in steps.means(TOP * (1 + deviation), after + SPAN)]
    begin = 1 + 20 * RTT + segments
    return {"warmup": f"{begin + sum(spans[:after]):.3f} s", "duration": f"{begin + sum(spans):.3f} s"}


def _begun(deviation: float, count: int) -> dict[str, Any]:
    """Returns a start at a peak that is off by `deviation`, with deterministic loss from there on."""
    top = TOP * (1 + deviation)
    first = round(2 * top)
    return {
        f"{_FLOW}.tcp.ssthresh_initial": f"{round(top * rows.MSS)} B",
        "links[0].forward.loss": {"listed": [first + i * EVERY for i in range(count)]},
    }


def settled(after: int) -> float:
    """Returns the mean window that the step-by-step cycle has over `SPAN` losses, so many after a start `ABOVE`."""
    return theory.Cycles(EVERY, RTT).mean(TOP * (1 + ABOVE), after, SPAN)


def settling() -> Iterator[Point]:
    """Yields a start above the cycle and one on it, each measured over ten losses after some others."""
    for deviation, name in ((0.0, "on the cycle"), (ABOVE, "30 % above")):
        for after in AFTER:
            cc = {f"{_FLOW}.congestion_control": {"kind": "cubic", "fast_convergence": False}}
            changes = {**cc, **_begun(deviation, 2 * (after + SPAN) + 10), **_window(deviation, after)}
            yield Point(f"{name}, after {after} losses", changes, after)


def others() -> Iterator[Point]:
    """Yields what else could move the mean, one at a time; 30 losses after the first 20 where nothing else is said."""
    plain = {"kind": "cubic", "fast_convergence": False}
    long = {"warmup": "190 s", "duration": "475 s"}  # a cycle takes 9.5 s
    cases: dict[str, dict[str, Any]] = {
        "none": {},
        "fast convergence": {f"{_FLOW}.congestion_control": {"kind": "cubic"}},
        "delayed ACKs": {f"{_FLOW}.tcp.delayed_ack_segments": 2},
        "cut from flight": {f"{_FLOW}.congestion_control": plain | {"reduce_from": "flight"}},
        "curves of RFC 8312": {f"{_FLOW}.congestion_control": {"kind": "cubic", "preset": "rfc8312", "fast_convergence": False}},
        "Linux": {f"{_FLOW}.congestion_control": plain | {"preset": "linux", "first_growth": 0.0}},
    }
    for name, change in cases.items():
        yield Point(name, {f"{_FLOW}.congestion_control": plain, **_begun(0.0, 100), **long, **change})
    # as it comes: slow start runs until the first of the periodic losses
    raw = {f"{_FLOW}.tcp.ssthresh_initial": "1 GB", "links[0].forward.loss": {"periodic": EVERY}}
    from_slow_start: dict[str, dict[str, Any]] = {
        "slow start": {},
        "slow start, fast convergence": {f"{_FLOW}.congestion_control": {"kind": "cubic"}},
        "slow start, HyStart++": {f"{_FLOW}.tcp.slow_start": "hystartpp"},
        "slow start, retransmissions count": {"links[0].forward.packets": "all"},
    }
    for name, change in from_slow_start.items():
        yield Point(name, {f"{_FLOW}.congestion_control": plain, **raw, **long, **change})
