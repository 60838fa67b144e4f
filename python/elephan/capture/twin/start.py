"""Where slow start ended, as a capture at the sender shows it.

In slow start the window is the initial one and all bytes acknowledged since (RFC 5681 section 3.1, RFC 3465). A sender with
enough data fills it. From the instant at which less is in flight for good, before any retransmission, slow start is over: a delay
ended it (HyStart), or a threshold that the host remembered.
"""

from __future__ import annotations

import numpy as np

from elephan.capture.twin.packets import Packets

FILLS = 0.9  # of the window that slow start would have: less in flight is no slow start
ANSWERS_MIN = 8  # of them after the end


def ended_at(packets: Packets, segment: int) -> int | None:
    """Returns the bytes in flight at which slow start ended; None where a loss ended it, or nothing is seen of it."""
    again = np.flatnonzero(packets.again)
    until = packets.sent_s[again[0]] if again.size else np.inf
    seen = np.flatnonzero((packets.bytes > 0) & (packets.answer_s < until))
    if seen.size < 2 * ANSWERS_MIN:
        return None
    times = packets.answer_s[seen]
    initial = float(packets.end[packets.sent_s < times[0]].max(initial=segment))
    acked = np.maximum.accumulate(packets.ack[seen])
    highest = np.maximum.accumulate(packets.end)
    sent = highest[np.maximum(np.searchsorted(packets.sent_s, np.append(times[1:], times[-1]), side="left") - 1, 0)]
    inflight = sent - acked
    fills = np.flatnonzero(inflight >= FILLS * (initial + acked))
    if not fills.size or seen.size - 1 - fills[-1] < ANSWERS_MIN:
        return None
    return int(inflight[: fills[-1] + 1].max())
