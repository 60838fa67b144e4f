"""How long the part of a transfer takes that was not simulated, and by which rule that is known.

The thresholds are assumptions, set where rounds begin to differ from whole simulations by more than five per cent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from elephan import rounds
from elephan.laws import Law
from elephan.longpath.forms import Bounds, expected_bps, queue_bytes, slow_start_rtts
from elephan.longpath.question import START, Question
from elephan.longpath.trace import Array, Trace

ROUNDS_MAX = 200_000  # of all streams together
PARTS = 400  # that the rest is cut into: points of its curve
SETTLED_RTTS = 15  # beyond slow start, from which on its second half counts as steady
BY_ROUNDS, SECOND_HALF = "its law by rounds", "as in its second half"
LOSING_HALF, MANY_LOSSES = f"{SECOND_HALF}, with losses", f"{SECOND_HALF}, of many losses"
FORMS_ALONE = "closed forms alone, too large to simulate beyond its start"
ROUGH_ROUNDS = f"{BY_ROUNDS}, which leaves something out"
WAITING_MAX = 0.02  # of the time in timeouts, that rounds may leave out
MANY, SOME = 150, 30  # cuts that make a second half a better sample than rounds, and one at all
RATE_READERS = ("westwood",)  # laws whose cut goes by a rate that they measure, which loss makes uneven
BURST = 10  # packets of queue that bursts alone may fill
_NONE: Array = np.empty(0)


@dataclass(frozen=True)
class Rest:
    """What follows a simulation that ended early."""

    seconds: float
    method: str
    time_s: Array = field(default_factory=lambda: _NONE)  # from the simulation's end on, where the rest was stepped
    delivered_bytes: Array = field(default_factory=lambda: _NONE)  # beyond what the simulation delivered
    overflows: int = 0
    lost: int = 0


def rest(question: Question, limits: Bounds, law: Law, streams: int, seed: int, found: Trace) -> Rest:
    """What follows the simulation until `question.size_bytes` have arrived."""
    left = question.size_bytes - float(found.delivered_bytes[-1])
    # data behind a hole arrive at the application at once, so a stretch can show more than the wire carries
    held = found.late_bps < limits.mss_bytes * 8 / question.rtt_s  # less than a segment a round trip: they wait for a hole
    rate = min(float(found.delivered_bytes[-1]) * 8 / found.end_s if held else found.late_bps, limits.wire_bps)
    if goes_by_rounds(question, limits, law):
        waits = found.late_waiting > WAITING_MAX
        if found.late_cuts >= (SOME if waits else MANY):
            return Rest(left * 8 / rate, MANY_LOSSES)
        after = by_rounds(question, limits, law, streams, seed)
        for number, shown in enumerate(found.streams):
            after.follow(number, **shown)
        ahead = carried(after, left, streams)
        if after.suits and math.isfinite(ahead.seconds):
            rough = waits or _leaves_out(question, limits, law, streams, ahead)
            return replace(ahead, method=ROUGH_ROUNDS) if rough else ahead
    if found.end_s < (slow_start_rtts(limits) + SETTLED_RTTS) * question.rtt_s:
        rate = expected_bps(law, question, limits, streams)
        return Rest(left * 8 / rate, FORMS_ALONE)
    return Rest(left * 8 / rate, LOSING_HALF if found.late_drops else SECOND_HALF)


def _leaves_out(question: Question, limits: Bounds, law: Law, streams: int, ahead: Rest) -> bool:
    """Whether overflows cost more than rounds know: where repairs are slow, for all but Reno, which loses a segment; where the
    data behind a hole fill the windows of the sockets, so that what follows the repair is a burst; where any burst is too long."""
    queue = queue_bytes(question) * limits.wire_bps / question.narrow_bps
    stopped = streams * limits.window_bytes < 2 * (limits.bdp_bytes + queue)
    slow = law.kind != "reno" and not limits.repairs_at_once
    if question.loss and law.kind in RATE_READERS:
        return True
    return ahead.overflows > 0 and (stopped or slow or queue < BURST * limits.mss_bytes)


def goes_by_rounds(question: Question, limits: Bounds, law: Law) -> bool:
    """Whether a law on this path can be stepped by round trips: what is set by hand may be another queue, link or host."""
    known = all(key == START or (key.startswith(("tcp.", "record.")) and key != "tcp.mss") for key in question.set)
    return known and bool(by_rounds(question, limits, law, 1, 1).suits)


def by_rounds(question: Question, limits: Bounds, law: Law, streams: int, seed: int) -> Any:
    """The path and the streams of a law on it, to be stepped by round trips (`elephan.rounds`)."""
    return rounds.new(
        law.value,
        streams,
        rate=limits.wire_bps,
        rtt=question.rtt_s,
        queue=queue_bytes(question) * limits.wire_bps / question.narrow_bps,
        loss=question.loss,
        window=float(limits.window_bytes),
        counted=limits.reno_step,
        mss=limits.mss_bytes,
        seed=seed,
    )


def carried(after: Any, left_bytes: float, streams: int) -> Rest:
    """Steps until so much more has arrived. After `ROUNDS_MAX` round trips the mean rate of their second half holds."""
    most = max(1, ROUNDS_MAX // streams)
    times, delivered, counts = [0.0], [0.0], [0]
    while left_bytes - delivered[-1] > 1.0 and counts[-1] < most:
        part = min(left_bytes / PARTS, left_bytes - delivered[-1])
        taken, more, count = after.run(part, -(-most // PARTS))
        times, delivered, counts = [*times, times[-1] + taken], [*delivered, delivered[-1] + more], [*counts, counts[-1] + count]
    scale = 1.0
    if left_bytes - delivered[-1] > 1.0:
        half = int(np.searchsorted(counts, most / 2))
        rate = (delivered[-1] - delivered[half]) / (times[-1] - times[half])
        if rate <= 0:
            return Rest(math.inf, BY_ROUNDS)
        scale = left_bytes / delivered[-1]
        times.append(times[-1] + (left_bytes - delivered[-1]) / rate)
        delivered.append(left_bytes)
    overflows, lost = round(after.overflows * scale), round(after.taken * scale)
    return Rest(times[-1], BY_ROUNDS, np.array(times[1:]), np.array(delivered[1:]), overflows, lost)
