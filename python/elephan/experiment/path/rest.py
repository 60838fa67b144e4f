"""How long the part of a transfer takes that was not simulated, and by which rule that is known.

The thresholds are assumptions, set where rounds begin to differ from whole simulations by more than five per cent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from elephan.experiment.path.forms import Bounds, expected_bps, queue_bytes, slow_start_rtts
from elephan.experiment.path.late import Left, Rates, late_rates, left_of, unseen_rates
from elephan.experiment.path.question import START, Question
from elephan.experiment.path.trace import Array, Trace
from elephan.scenario import kinds
from elephan.scenario.congestion import Controller
from elephan.step import rounds

ROUNDS_MAX = 200_000  # of all streams together, in the first draw ...
ROUNDS_DRAWN_MAX = 20_000  # ... and in the others
DRAWS = 24  # of what is random in rounds
DRAW_STEP = 1_000_003  # between their seeds
ROUNDS_ERROR = 0.12  # of their time ...
CALM_ERROR = 0.03  # ... where no queue overflows and no packet is lost ...
ROUGH_ERROR = 0.4  # ... and where they leave something out
CALM_RTTS = 6  # without slow start and what it overflows, before a congestion control goes on by itself
PARTS = 400  # that the rest is cut into: points of its curve
SETTLED_RTTS = 15  # beyond slow start, from which on its second half counts as steady
BY_ROUNDS, SECOND_HALF = "its congestion control by rounds", "as in its second half"
LOSING_HALF, MANY_LOSSES = f"{SECOND_HALF}, with losses", f"{SECOND_HALF}, of many losses"
WINDOW_FULL = f"{SECOND_HALF}, with full windows of the sockets"
FORMS_ALONE = "closed forms alone, too large to simulate beyond its start"
ROUGH_ROUNDS = f"{BY_ROUNDS}, which leaves something out"
WAITING_MAX = 0.02  # of the time in timeouts, that rounds may leave out
MANY, SOME = 150, 30  # cuts that make a second half a better sample than rounds, and one at all
BURST = 10  # packets of queue that bursts alone may fill
_NONE: Array = np.empty(0)


@dataclass(frozen=True)
class Rest:
    """What follows a simulation that ended early."""

    seconds: float
    method: str
    low_s: float = math.nan  # the range that the seconds lie in
    high_s: float = math.nan
    time_s: Array = field(default_factory=lambda: _NONE)  # from the simulation's end on, where the rest was stepped
    delivered_bytes: Array = field(default_factory=lambda: _NONE)  # beyond what the simulation delivered
    overflows: int = 0
    lost: int = 0


def rest(question: Question, limits: Bounds, controller: Controller, streams: int, seed: int, found: Trace) -> Rest:
    """What follows the simulation until `question.size_bytes` have arrived. The last of them may wait behind a hole, as long as any
    did in the second half."""
    after = _rest(question, limits, controller, streams, seed, found)
    return replace(after, high_s=after.high_s + found.longest_wait_s)


def _rest(question: Question, limits: Bounds, controller: Controller, streams: int, seed: int, found: Trace) -> Rest:
    left = left_of(question.size_bytes, limits.mss_bytes, found)
    if goes_by_rounds(question, limits, controller):
        waits = found.late_waiting > WAITING_MAX
        if found.late_cuts >= (SOME if waits else MANY):
            return _at(late_rates(limits, found, left, cyclic=False), left, MANY_LOSSES)
        if found.exceeds_since(found.end_s / 2, limits.window_bytes) and not found.late_drops and not question.loss:
            return _at(late_rates(limits, found, left, cyclic=False), left, WINDOW_FULL)
        ahead = _stepped(question, limits, controller, streams, seed, found, left)
        if ahead is not None:
            return ahead
    if found.end_s < (slow_start_rtts(limits) + SETTLED_RTTS) * question.rtt_s:
        return _at(unseen_rates(limits, found, expected_bps(controller, question, limits, streams)), left, FORMS_ALONE)
    rates = late_rates(limits, found, left, cyclic=True)
    return _at(rates, left, LOSING_HALF if found.late_drops else SECOND_HALF)


def starts_late(question: Question, limits: Bounds, found: Trace) -> bool:
    """Whether slow start lies too late in a simulation to be carried on from it.

    A window beyond what the sockets hold grows to no effect: that slow start may last for ever.
    """
    calm = found.end_s - CALM_RTTS * question.rtt_s
    return found.grew_since(calm) and not found.exceeds_since(calm, limits.window_bytes)


def _at(rates: Rates, left: Left, method: str) -> Rest:
    """The rest at a rate, and at the ends of its range."""
    return Rest(left.mean * 8 / rates.mean, method, left.low * 8 / rates.high, left.high * 8 / rates.low)


def _stepped(
    question: Question, limits: Bounds, controller: Controller, streams: int, seed: int, found: Trace, left: Left
) -> Rest | None:
    """The rest by rounds: the median of several draws, and a range that holds all of them and the error of rounds. None where the
    congestion control is not for rounds."""
    random = streams > 1 or question.loss > 0
    drawn = []
    for number in range(DRAWS if random else 1):
        after = by_rounds(question, limits, controller, streams, seed + number * DRAW_STEP)
        for stream, shown in enumerate(found.streams):
            after.follow(stream, **shown)
        ahead = carried(after, left.mean, streams, ROUNDS_MAX if number == 0 else ROUNDS_DRAWN_MAX)
        if not after.suits or not math.isfinite(ahead.seconds):
            return None
        drawn.append(ahead)
    drawn.sort(key=lambda one: one.seconds)
    chosen = drawn[len(drawn) // 2]
    late = starts_late(question, limits, found)
    rough = late or found.late_waiting > WAITING_MAX or _leaves_out(question, limits, controller, streams, chosen)
    calm = not any(one.overflows or one.lost for one in drawn)
    error = ROUGH_ERROR if rough else CALM_ERROR if calm else ROUNDS_ERROR
    low, high = drawn[0].seconds / (1 + error), drawn[-1].seconds * (1 + error)
    if left.mean > 0:
        low, high = low * left.low / left.mean, high * left.high / left.mean
    if late:
        high += CALM_RTTS * question.rtt_s  # what slow start has overflowed is still to be repaired
    filled = left.high - left.mean  # what waits behind holes comes as they are filled
    return replace(
        chosen,
        method=ROUGH_ROUNDS if rough else BY_ROUNDS,
        low_s=low,
        high_s=high,
        delivered_bytes=chosen.delivered_bytes + filled,
    )


def _leaves_out(question: Question, limits: Bounds, controller: Controller, streams: int, ahead: Rest) -> bool:
    """Whether overflows cost more than rounds know: where repairs are slow, for all but Reno, which loses a segment; where the
    data behind a hole fill the windows of the sockets, so that what follows the repair is a burst; where any burst is too long."""
    queue = queue_bytes(question) * limits.wire_bps / question.narrow_bps
    stopped = streams * limits.window_bytes < 2 * (limits.bdp_bytes + queue)
    slow = controller.kind != "reno" and not limits.repairs_at_once
    if question.loss and kinds.congestion_control(controller.value).get("cuts_by_rate"):
        return True
    return ahead.overflows > 0 and (stopped or slow or queue < BURST * limits.mss_bytes)


def goes_by_rounds(question: Question, limits: Bounds, controller: Controller) -> bool:
    """Whether a controller on this path can be stepped by round trips: what is set by hand may be another queue, link or host."""
    known = all(key == START or (key.startswith(("tcp.", "record.")) and key != "tcp.mss") for key in question.set)
    return known and bool(by_rounds(question, limits, controller, 1, 1).suits)


def by_rounds(question: Question, limits: Bounds, controller: Controller, streams: int, seed: int) -> Any:
    """The path and the streams of a controller on it, to be stepped by round trips (`elephan.step.rounds`)."""
    return rounds.new(
        controller.value,
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


def carried(after: Any, left_bytes: float, streams: int, rounds_max: int = ROUNDS_MAX) -> Rest:
    """Steps until so much more has arrived. After `rounds_max` round trips the mean rate of their second half holds."""
    most = max(1, rounds_max // streams)
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
    return Rest(
        times[-1], BY_ROUNDS, time_s=np.array(times[1:]), delivered_bytes=np.array(delivered[1:]), overflows=overflows, lost=lost
    )
