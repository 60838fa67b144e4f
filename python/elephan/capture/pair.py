"""What two captures of one transfer say together: their clocks, what packets took between them, and where packets were lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

FILES = {None: None, True: "two-places", False: "one-capture"}


@dataclass(frozen=True)
class OneWay:
    """What the packets of one direction took, in nanoseconds, if the least delays of both directions are equal."""

    packets: int
    min_ns: int
    median_ns: int
    p95_ns: int
    max_ns: int


@dataclass(frozen=True)
class PairClock:
    """A straight line between two clocks: the far one less the near one."""

    offset_ns: float
    offset_error_ns: float  # if the least delays of both directions are equal
    offset_bound_ns: float  # whatever they are: half the least round trip
    at_ns: float  # when the offset is so, since 1970
    drift_ppm: float
    drift_error_ppm: float


@dataclass(frozen=True)
class Pair:
    """Two captures of one transfer. The near one is nearer to the sender of most data."""

    near: str
    far: str
    matched: int  # packets that both have
    clock: PairClock | None  # None without packets of both directions, or if no straight line fits
    there: OneWay | None
    back: OneWay | None
    retransmitted: int
    lost_between: int  # retransmissions whose copy before was lost so
    lost_before: int
    lost_behind: int
    needless: int
    acks_lost: int
    missed_near: int  # segments that passed a capture which dropped them
    missed_far: int
    receiver_ns: list[int] | None  # of the direction with most data, from data to its ACK: median and 95th percentile
    sender_ns: list[int] | None  # from an ACK to new data, likewise
    told: list[str] = field(repr=False)
    connections: pa.Table = field(repr=False)
    delays: pa.Table = field(repr=False)
    losses: pa.Table = field(repr=False)


def pair_of(summary: dict[str, Any], connections: pa.Table, delays: pa.Table, losses: pa.Table) -> Pair:
    """Returns what `summary` and the tables of two captures say."""
    values = dict(summary)
    clock, there, back = values.pop("clock"), values.pop("there"), values.pop("back")
    return Pair(
        **values,
        clock=PairClock(**clock) if clock else None,
        there=OneWay(**there) if there else None,
        back=OneWay(**back) if back else None,
        connections=connections,
        delays=delays,
        losses=losses,
    )
