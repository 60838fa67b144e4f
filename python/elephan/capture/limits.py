"""What limited a connection of a capture: shares of the time from its first data to the last ACK."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SEGMENTS_MIN = 10  # fewer of them say nothing about a rate
ROUNDS_MIN = 2.0  # nor does less time than so many round trips

# Columns of `connections` that divide the time of a direction: each instant is in one of them.
HELD = (
    "held_closed_ns",
    "held_window_ns",
    "held_application_ns",
    "held_recovery_ns",
    "held_timer_ns",
    "held_rate_ns",
    "held_path_ns",
    "held_unknown_ns",
)


@dataclass(frozen=True)
class Limits:
    """Shares of a connection's time. They are disjoint and add up to 1."""

    closed: float  # the receiver's window was closed
    window: float  # the receiver's window was full, but not closed
    idle: float  # the sender had nothing to send
    recovery: float  # losses were repaired
    timer: float  # the sender waited for its timer
    rate: float  # a queue stood: the link was full
    path: float  # the congestion window, the sender's own buffer or the path
    unknown: float  # the capture does not show why nothing came

    @property
    def loss(self) -> float:
        """The share that losses took: repairs and waiting for the timer."""
        return self.recovery + self.timer


def lasted_ns(row: dict[str, Any]) -> int:
    """Returns the time from the first data of a connection to the last ACK of new data; 0 if there is none."""
    begin, end = row["data_start_ns"], row["data_end_ns"]
    return 0 if begin is None or end is None else max(int(end) - int(begin), 0)


def limits_of(row: dict[str, Any]) -> Limits | None:
    """Returns what limited a TCP connection; None if it has too little data to say."""
    if row["protocol"] != "tcp" or row["held_path_ns"] is None or not has_rate(row):
        return None
    times = [row[name] for name in HELD]
    whole = sum(times)
    return Limits(*(time / whole for time in times)) if whole else None


def has_rate(row: dict[str, Any]) -> bool:
    """Whether there is enough data, over enough time, for a rate to mean something. A log counts no segments: it has."""
    if row["goodput_bps"] is None:
        return False
    if not row["data_segs_out"] or row["protocol"] not in ("tcp", "quic"):
        return True
    rounds = max(row["handshake_rtt_ns"] or 0, row["min_rtt_ns"] or 0)
    return bool(row["data_segs_out"] >= SEGMENTS_MIN and lasted_ns(row) >= ROUNDS_MIN * rounds)
