"""Connections of which a capture has one direction only, and what it cannot tell of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elephan.base.quantity import counted

if TYPE_CHECKING:
    from elephan.capture.trace import Trace


@dataclass(frozen=True)
class Way:
    """What is there of such connections, what is not known for it, and which columns of `connections` say nothing."""

    there: str
    unknown: str
    columns: tuple[str, ...]


_IN_FLIGHT = ("goodput_bps", "min_rtt_ns", "p99_rtt_ns", "max_inflight_bytes", "rwin_limited_ns", "idle_ns", "missed_bytes")
_OF_SENDER = (*_IN_FLIGHT, "data_segs_out", "segs_retrans", "burst_max_segs")
_OF_RECEIVER = ("dup_acks_in", "max_rwin_rcvd", "zero_rwin_rcvd")
_WITHOUT_DATA = "mean goodput, retransmissions, round-trip times, what was in flight, bursts and phases"

DATA = Way(
    "data",
    "what was delivered, goodput, round-trip times, windows, what was in flight and phases",
    ("delivered_bytes", *_IN_FLIGHT, *_OF_RECEIVER),
)
ACKS = Way("ACKs", _WITHOUT_DATA, _OF_SENDER)
# Without a SYN-ACK nothing says that the other end is the one that sent data.
BARE_ACKS = Way("ACKs", f"what was delivered, {_WITHOUT_DATA}", ("delivered_bytes", *_OF_SENDER, *_OF_RECEIVER))


def way_of(trace: Trace, row: dict[str, Any]) -> Way | None:
    """Which direction alone there is of a connection; None if there are both, or if nothing was carried."""
    if row["protocol"] != "tcp" or not trace.summary["packets"]:
        return None
    if row["data_segs_out"]:
        return None if row["segs_in"] else DATA
    if not row["segs_out"]:
        return ACKS if row["delivered_bytes"] else None
    # A SYN that nobody answers, and what a reset is told, are no half of a connection.
    bare = row["segs_out"] > 1 and not (row["segs_in"] or row["syn"] or row["reset"])
    return BARE_ACKS if bare else None


def one_way_notes(trace: Trace) -> list[str]:
    """A sentence for each kind of direction that is alone in the capture."""
    rows: dict[Way, list[dict[str, Any]]] = {}
    for row in trace.ranked:
        if (way := way_of(trace, row)) is not None:
            rows.setdefault(way, []).append(row)
    return [f"{_who(trace, found)}: {_why(way)}" for way, found in rows.items()]


def _who(trace: Trace, rows: list[dict[str, Any]]) -> str:
    if len(rows) == 1:
        return trace.label(rows[0]["connection"])
    return ("" if len(rows) < len(trace.ranked) else "all ") + counted(len(rows), "connection")


def _why(way: Way) -> str:
    return f"the capture has {way.there} only, no packet of the other direction, so {way.unknown} are not known"
