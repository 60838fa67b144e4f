"""What limited a connection of a capture: shares of the time from its first data to the last ACK."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SEGMENTS_MIN = 10  # fewer of them say nothing about a rate
ROUNDS_MIN = 2.0  # nor does less time than so many round trips


@dataclass(frozen=True)
class Limits:
    """Shares of a connection's time; what is left over is the congestion window's or the path's. None: not known."""

    idle: float | None  # the sender had nothing in flight
    closed: float  # the receiver's window was closed
    window: float | None  # the receiver's window was full, but not closed
    loss: float  # losses were repaired

    @property
    def path(self) -> float:
        """The share that nothing else explains."""
        return max(1.0 - (self.idle or 0.0) - self.closed - (self.window or 0.0) - self.loss, 0.0)


def lasted_ns(row: dict[str, Any]) -> int:
    """Returns the time from the first data of a connection to the last ACK of new data; 0 if there is none."""
    begin, end = row["data_start_ns"], row["data_end_ns"]
    return 0 if begin is None or end is None else max(int(end) - int(begin), 0)


def limits_of(row: dict[str, Any]) -> Limits | None:
    """Returns what limited a TCP connection; None if it has too little data to say."""
    if row["protocol"] != "tcp" or row["rwin_closed_ns"] is None or not has_rate(row):
        return None
    span = lasted_ns(row)
    at_receiver = row["vantage"] == "receiver"
    closed, full = min(row["rwin_closed_ns"] / span, 1.0), row["rwin_limited_ns"]
    idle = None if at_receiver else min(row["idle_ns"] / span, 1.0)
    window = None if at_receiver or full is None else max(full / span - closed, 0.0)
    return Limits(idle, closed, window, min(row["recovery_ns"] / span, 1.0))


def has_rate(row: dict[str, Any]) -> bool:
    """Whether there is enough data, over enough time, for a rate to mean something. A log counts no segments: it has."""
    if row["goodput_bps"] is None:
        return False
    if not row["data_segs_out"] or row["protocol"] != "tcp":
        return True
    rounds = max(row["handshake_rtt_ns"] or 0, row["min_rtt_ns"] or 0)
    return bool(row["data_segs_out"] >= SEGMENTS_MIN and lasted_ns(row) >= ROUNDS_MIN * rounds)
