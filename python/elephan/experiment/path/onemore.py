"""What one packet more that the path loses would cost: the same transfer, simulated with that packet missing.

Where the windows of the sockets limit a transfer too large to simulate whole, the cost needs no simulation. With W segments in
such a window, a stream loses the segments that its congestion window cannot send until it is back at W. Its rate is W a round
trip, so the segments it loses, divided by W, are the round trips that a loss costs, beside one round trip for the repair. At worst
the congestion window was W and not larger:

    Reno    (RFC 5681 section 3.1): from W / 2 by a segments a round trip: (W / 2)^2 / (2 a) segments, W / (8 a) round trips
    CUBIC   (RFC 9438 section 4.2): C (K - t)^3 below W for K = cbrt(W (1 - beta) / C) seconds: (1 - beta) K / 4 seconds
    CUBIC, Reno-friendly (section 4.3): from beta W by alpha = 3 (1 - beta) / (1 + beta): W (1 - beta)^2 / (2 alpha) round trips

CUBIC takes the larger of its two windows, so it costs at most the smaller figure. One of n streams is hit: all together lose an
n-th of that time. A window without bound would not come back to a limit, and its share would grow with the transfer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from elephan.experiment.path.forms import Bounds
from elephan.experiment.path.question import Question
from elephan.experiment.path.rest import WINDOW_FULL
from elephan.experiment.path.row import Row, row_of
from elephan.experiment.path.simulate import PACKETS_MAX, Ask, Result
from elephan.scenario.congestion import Controller

USED_TO_IT = 3  # packets lost in the part that was simulated: a row with so many shows what losses cost
CUBIC_BETA, CUBIC_C = 0.7, 0.4  # RFC 9438 section 5


def ordinal(question: Question, limits: Bounds, packets: int) -> int:
    """The packet that is lost: half of what is simulated comes after it."""
    return max(1, round(min(question.size_bytes / limits.mss_bytes, packets) / 2))


def needs_loss(question: Question, row: Row) -> bool:
    """Whether nothing that was simulated says what a loss costs."""
    return not question.loss and row.drops + row.lost + row.stalls < USED_TO_IT


def with_one_loss(ask: Ask, packets: int = PACKETS_MAX) -> Ask:
    """The same case with that packet lost."""
    return replace(ask, question=replace(ask.question, lost_packet=ordinal(ask.question, ask.limits, packets)))


def longest(asks: Sequence[Ask], found: Sequence[Result | None]) -> float:
    """The longest time, in s, of the repetitions of one case; NaN if no run came through."""
    through = [one for one in found if one is not None]
    return row_of(asks[0].question, asks[0].limits, through).claimed_s if through else math.nan


def at_full_windows(limits: Bounds, controller: Controller, row: Row) -> float:
    """Returns the longest time of a row, in s, with one packet more lost, where the windows of the sockets are the limit and the
    congestion control has a closed form; NaN elsewhere."""
    if row.method != WINDOW_FULL or limits.window_bps(row.streams) >= limits.wire_bps:
        return math.nan
    return row.time_s.high + window_cost(limits, controller) / row.streams


def window_cost(limits: Bounds, controller: Controller) -> float:
    """Returns the seconds at full rate that a loss costs a stream whose socket's window is the limit; NaN without a closed form."""
    if not controller.plain:
        return math.nan
    window = limits.window_bytes / limits.mss_bytes
    reno = window / (8 * limits.reno_step)
    if controller.kind == "reno":
        return (reno + 1) * limits.rtt_s
    if controller.kind == "cubic":
        cut = 1 - CUBIC_BETA
        back_s = math.cbrt(window * cut / CUBIC_C)
        friendly = window * cut**2 / (2 * 3 * cut / (1 + CUBIC_BETA))
        return min(cut * back_s / 4, friendly * limits.rtt_s) + limits.rtt_s
    return math.nan
