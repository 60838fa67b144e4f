"""What the application wrote, as far as the packets of its connection show it.

A sender that is silent while nothing is in flight has nothing to send. So does one that has just sent a segment that is not full,
unless Nagle's algorithm holds the next one back. What it sends after that was written then: a write begins at that segment and is
as long as what follows until the next silence of this kind. What the application wrote before the network took it, nobody sees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elephan.capture.twin.packets import Packets

SOON_S = 1e-3  # a segment that follows an answer by less was let go by it


@dataclass(frozen=True)
class Writes:
    """When the application wrote, s, and how many bytes."""

    at_s: tuple[float, ...]
    size: tuple[int, ...]
    ended: bool  # all of it was acknowledged, so nothing waited to be sent

    @property
    def single(self) -> bool:
        return len(self.at_s) <= 1


def find(packets: Packets) -> Writes:
    """Returns the writes of the application of a connection."""
    new = np.flatnonzero(packets.again == 0)
    if not new.size:
        return Writes((), (), True)
    sent, begin, end = packets.sent_s[new], packets.begin[new], packets.end[new]
    segment = (end - begin).max()
    acked = np.concatenate(([0.0], np.maximum.accumulate(packets.ack) if packets.ack.size else packets.ack))
    before = np.searchsorted(packets.answer_s, sent, side="left")
    empty = acked[before] >= begin
    short = np.concatenate(([True], (end - begin)[:-1] < segment))
    last = np.concatenate(([-np.inf], packets.answer_s))[before]
    paused = np.concatenate(([True], np.diff(sent) > SOON_S))
    starts = paused & (empty | short) & (sent - last > SOON_S)
    # What follows an answer at once may have waited for the window: not if nothing is in flight and the segment before was short.
    starts |= paused & empty & short
    starts[0] = True
    places = np.flatnonzero(starts)
    edges = np.concatenate((begin[places], [end.max()]))
    ended = bool(packets.ack.size and packets.ack.max() >= end.max())
    return Writes(tuple(sent[places].tolist()), tuple(np.diff(edges).astype(int).tolist()), ended)
