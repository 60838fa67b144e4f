"""Intervals of a series that is read event by event. Their width doubles when there are too many, as in a capture."""

from __future__ import annotations

from typing import Any

INTERVALS = 2048
INTERVALS_MAX = 1 << 17  # where their width was asked for
_WIDTH_NS = 1_000_000


class Interval:
    """What happened in an interval, and what was last known in it; None is unknown."""

    __slots__ = (
        *("again", "arrived", "cwnd", "delivered", "flying", "index", "most", "new", "octets", "pacing"),
        *("rtt_count", "rtt_min", "rtt_sum", "sizes", "ssthresh"),
    )

    def __init__(self, index: int) -> None:
        self.index = index
        self.octets = self.again = self.new = self.delivered = 0  # payload; of it sent before, and the first time; acknowledged
        self.sizes = self.arrived = 0  # bytes of whole packets, and of those that were acknowledged
        self.rtt_sum, self.rtt_count = 0, 0
        self.rtt_min: int | None = None
        self.most: int | None = None  # bytes in flight
        self.flying: int | None = None
        self.cwnd: int | None = None
        self.ssthresh: int | None = None
        self.pacing: float | None = None

    def merge(self, later: Interval) -> None:
        """Takes what happened in the interval after it."""
        for name in ("octets", "again", "new", "delivered", "sizes", "arrived", "rtt_sum", "rtt_count"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        for name, pick in (("rtt_min", min), ("most", max)):
            both = [one for one in (getattr(self, name), getattr(later, name)) if one is not None]
            setattr(self, name, pick(both) if both else None)
        for name in ("flying", "cwnd", "ssthresh", "pacing"):
            last = getattr(later, name)
            setattr(self, name, getattr(self, name) if last is None else last)


class Intervals:
    """The intervals of one direction in which something happened. Times never fall."""

    def __init__(self, every_ns: int | None) -> None:
        self.width_ns = every_ns or _WIDTH_NS
        self._most = INTERVALS_MAX if every_ns else INTERVALS
        self._all: list[Interval] = []
        self.last_ns = 0  # the last time that something happened

    def at(self, time_ns: int) -> Interval:
        """Returns the interval of a time."""
        self.last_ns = time_ns
        index = time_ns // self.width_ns
        if self._all and self._all[-1].index == index:
            return self._all[-1]
        self._all.append(Interval(index))
        while len(self._all) > self._most:
            self._widen()
        return self._all[-1]

    def _widen(self) -> None:
        self.width_ns *= 2
        kept: list[Interval] = []
        for one in self._all:
            one.index //= 2
            if kept and kept[-1].index == one.index:
                kept[-1].merge(one)
            else:
                kept.append(one)
        self._all = kept

    def rows(self, basis: str, acknowledged: bool) -> list[dict[str, Any]]:
        """Returns rows of `connection_samples`. A silence is one interval.

        `basis`: what is counted, `payload` or `packets`; nothing if it is empty. `acknowledged`: whether acknowledgements are
        known; else what was sent counts as delivered.
        """
        rows: list[dict[str, Any]] = []
        end = self._all[0].index * self.width_ns if self._all else 0
        sent = delivered = 0
        held: dict[str, Any] = {"inflight_bytes": None, "cwnd_bytes": None, "ssthresh_bytes": None, "pacing_bps": None}
        for one in self._all:
            begin = one.index * self.width_ns
            if begin > end:
                rows.append(_row(begin, end, (0, 0, sent, delivered), basis, held))
                end = begin
            new, arrived = (one.new, one.delivered) if basis == "payload" else (one.sizes, one.arrived)
            sent, delivered = sent + new, delivered + (arrived if acknowledged else new)
            told = (one.flying, one.cwnd, one.ssthresh, one.pacing)
            held |= {name: value for name, value in zip(held, told, strict=True) if value is not None}
            until = begin + self.width_ns
            if one is self._all[-1]:
                until = max(min(until, self.last_ns), end + 1)
            octets = one.octets if basis == "payload" else one.sizes
            row = _row(until, end, (octets, one.again, sent, delivered), basis, held)
            if one.most is not None:
                row["inflight_max_bytes"] = one.most
            if one.rtt_count:
                row |= {"rtt_min_ns": one.rtt_min, "rtt_mean_ns": round(one.rtt_sum / one.rtt_count)}
            rows.append(row)
            end = until
        return rows


def _row(until: int, begin: int, counts: tuple[int, ...], basis: str, held: dict[str, Any]) -> dict[str, Any]:
    names = ("data_octets_out", "octets_retrans", "sent_bytes", "delivered_bytes")
    known = dict(zip(names, counts, strict=True)) if basis else {}
    if basis == "packets":
        del known["octets_retrans"]  # what packets carry again, only frames tell
    return {"time_ns": until, "span_ns": until - begin} | known | held | {"inflight_max_bytes": held["inflight_bytes"]}
