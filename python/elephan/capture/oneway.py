"""Connections of which a capture has one direction only, and what it cannot tell of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from elephan.base.quantity import counted
from elephan.capture.limits import HELD
from elephan.table.rows import among

if TYPE_CHECKING:
    import pyarrow as pa

    from elephan.capture.trace import Trace

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Way:
    """What is there of such connections, what is not known for it, and which columns of `connections` say nothing."""

    there: str
    unknown: str
    columns: tuple[str, ...]


_IN_FLIGHT = ("goodput_bps", "min_rtt_ns", "p99_rtt_ns", "max_inflight_bytes", *HELD, "missed_bytes")
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


WAYS = (DATA, ACKS, BARE_ACKS)
_TOLD_BY = ("protocol", "data_segs_out", "segs_in", "segs_out", "delivered_bytes", "syn", "reset")


def way_of(trace: Trace, row: dict[str, Any]) -> Way | None:
    """Which direction alone there is of a connection; None if there are both, or if nothing was carried."""
    if not trace.summary["packets"]:
        return None
    found = _ways(row["protocol"] == "tcp", *(np.asarray(row[name] or 0) for name in _TOLD_BY[1:]))
    return next((way for way, there in zip(WAYS, found, strict=True) if there), None)


def _ways(tcp: Any, data_out: Array, segs_in: Array, segs_out: Array, delivered: Array, syn: Array, reset: Array) -> list[Any]:
    """Of each of `WAYS` whether a connection has it; all arguments are columns, or values of one row."""
    # A SYN that nobody answers, and what a reset is told, are no half of a connection.
    bare = (segs_out > 1) & (segs_in == 0) & (syn == 0) & (reset == 0)
    acks = tcp & (data_out == 0)
    return [tcp & (data_out != 0) & (segs_in == 0), acks & (segs_out == 0) & (delivered != 0), acks & (segs_out != 0) & bare]


def one_way_notes(trace: Trace) -> list[str]:
    """A sentence for each kind of direction that is alone in the capture."""
    rows = trace.ranked
    if not trace.summary["packets"] or not len(rows):
        return []
    table = rows.columns(*_TOLD_BY)
    found = _ways(among(table, "protocol", ["tcp"]), *(np.nan_to_num(_number(table, name)) for name in _TOLD_BY[1:]))
    # Which comes first in the order of what was delivered.
    ranks = {way: np.flatnonzero(chosen[rows.order]) for way, chosen in zip(WAYS, found, strict=True)}
    told = sorted(((own[0], way) for way, own in ranks.items() if own.size), key=lambda one: one[0])
    return [f"{_who(trace, ranks[way])}: {_why(way)}" for _, way in told]


def _number(table: pa.Table, name: str) -> Array:
    """A column of numbers, or of yes and no as 1 and 0."""
    import pyarrow as pa

    held = table.column(name)
    return np.asarray((held.cast(pa.int8()) if pa.types.is_boolean(held.type) else held).to_numpy(), dtype=np.float64)


def _who(trace: Trace, ranks: npt.NDArray[np.int64]) -> str:
    if len(ranks) == 1:
        return trace.label(trace.ranked[int(ranks[0])]["connection"])
    return ("" if len(ranks) < len(trace.ranked) else "all ") + counted(len(ranks), "connection")


def _why(way: Way) -> str:
    return f"the capture has {way.there} only, no packet of the other direction, so {way.unknown} are not known"
