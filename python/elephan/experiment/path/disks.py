"""What disks make of a transfer: fluid queues before and behind what the network delivers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elephan.experiment.path.forms import Bounds
from elephan.experiment.path.question import Question
from elephan.experiment.path.trace import Array

POINTS = 2000  # that the time beyond what is known of the network is cut into
UNBOUND = 1000  # times the wire's goodput: the rate of a disk that was not given


@dataclass(frozen=True)
class Copied:
    """How much is on the receiver's disk when."""

    time_s: Array
    written_bytes: Array

    def until(self, size_bytes: float) -> float:
        """Seconds until so much is written."""
        high = int(np.searchsorted(self.written_bytes, size_bytes * (1 - 1e-9)))
        return float(np.interp(size_bytes, self.written_bytes[high - 1 : high + 1], self.time_s[high - 1 : high + 1]))


def copied(question: Question, limits: Bounds, streams: int, time_s: Array, delivered_bytes: Array) -> Copied:
    """What is written when, from what the network alone delivers or would deliver.

    The sender's disk fills the send buffers, the receiver's empties the receive buffers, each at its rate; beyond what is in flight
    the windows of the streams hold so much. Where a send buffer is empty or a receive buffer full the network goes at the disk's
    rate. What it could have delivered and did not is to be had for a round trip (a window's burst is only drawn out by a disk that
    takes it more slowly) and lost after that.
    """
    times, network = _longer(time_s, delivered_bytes, question.size_bytes, limits.disk_bps)
    unbound = UNBOUND * limits.wire_bps
    reading, writing = ((bps or unbound) / 8 for bps in (question.disk_read_bps, question.disk_write_bps))  # bytes/s
    ahead, behind = (max(0.0, streams * limits.window_bytes - rate * limits.rtt_s) for rate in (reading, writing))
    first = 1.5 * limits.rtt_s if question.disk_read_bps else 0.0  # what is read arrives no earlier
    read = sent = written = ready = 0.0
    curve = [0.0]
    latest = network - np.interp(times - limits.rtt_s, times, network)  # in a round trip
    for before, now, more, trip in zip(times[:-1], times[1:], np.diff(network), latest[1:], strict=True):
        filled, drained = reading * max(0.0, now - max(before, first)), writing * (now - before)
        ready += more
        taken = max(0.0, min(ready, read + filled - sent, written + drained + behind - sent, question.size_bytes - sent))
        sent, ready = sent + taken, min(ready - taken, trip)
        read, written = min(read + filled, sent + ahead), min(sent, written + drained)
        curve.append(written)
    return Copied(times, np.array(curve))


def _longer(time_s: Array, delivered_bytes: Array, size_bytes: float, disk_bps: float) -> tuple[Array, Array]:
    """A curve of the network until a disk must be through: beyond what is known at the mean rate of its second half, which is no
    faster than the disk."""
    end, done = float(time_s[-1]), float(delivered_bytes[-1])
    late = (done - float(np.interp(end / 2, time_s, delivered_bytes))) / (end / 2)
    rate = min(late or done / end, disk_bps / 8)
    beyond = np.linspace(0.0, 2 * size_bytes / rate, POINTS + 1)[1:]
    return np.concatenate([time_s, end + beyond]), np.concatenate([delivered_bytes, done + rate * beyond])
