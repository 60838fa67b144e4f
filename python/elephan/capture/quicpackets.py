"""Packets of QUIC in one direction: the payload that they carry, what of it was retransmitted, and what was acknowledged.

Payload is what STREAM and DATAGRAM frames carry. A log without frames has lengths of packets instead.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping
from typing import Any

from elephan.capture.fields import record, records
from elephan.capture.intervals import Intervals
from elephan.capture.logrows import Row
from elephan.capture.ranges import Ranges

OUTSTANDING_MAX = 1 << 17  # packets that wait for an acknowledgement; an older one counts as not delivered
_LENGTH_MAX = 1 << 62  # of a variable-length integer (RFC 9000 section 16)
_FRAME_MAX = 1 << 24
_SPACES = {"initial": 0, "handshake": 1}  # packet number spaces (RFC 9000 section 12.3); all others share one

Object = Mapping[str, Any]
Piece = tuple[int, int, int]  # number of the stream, begin and end; of a datagram the stream is -1


def _integer(value: Any, most: int = _LENGTH_MAX) -> int | None:
    """A number from 0 to below `most`; early versions of qlog wrote texts of them."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < most and value == int(value):
        return int(value)
    return None


def _pieces(data: Object) -> Iterator[Piece]:
    """The payload of a packet."""
    for frame in records(data.get("frames")):
        kind = frame.get("frame_type")
        if kind not in ("stream", "datagram"):
            continue
        length = _integer(frame.get("length"), _FRAME_MAX)
        raw = record(frame.get("raw"))
        if length is None:
            length = _integer(raw.get("payload_length", raw.get("length")), _FRAME_MAX)
        if not length:
            continue
        if kind == "datagram":
            yield -1, 0, length
            continue
        stream, offset = _integer(frame.get("stream_id", 0)), _integer(frame.get("offset", 0))
        if stream is not None and offset is not None:
            yield stream, offset, offset + length


def _size(data: Object) -> int:
    """The length of a packet; 0 where nobody says it."""
    raw, header = record(data.get("raw")), record(data.get("header"))
    told = (raw.get("length"), header.get("packet_size"), header.get("length"), raw.get("payload_length"))
    return next((size for one in told if (size := _integer(one, _FRAME_MAX))), 0)


def _number(header: Object) -> tuple[int, int] | None:
    """The space and the number of a packet."""
    number = _integer(header.get("packet_number"))
    return None if number is None else (_SPACES.get(str(header.get("packet_type")).lower(), 2), number)


class Way:
    """A direction: counts of packets, and payload of streams that counts once."""

    def __init__(self, intervals: Intervals) -> None:
        self.intervals = intervals
        self.packets = self.highest = self.lengths = 0  # packets; bytes of payload that counted once; bytes of packets
        self.acknowledged = 0  # how often packets were acknowledged
        self.framed = False  # whether any packet says what it carries
        self._streams: dict[int, Ranges] = {}
        self._carrying = self._octets = self._again = self._with_again = 0
        self._delivered = self._delivered_lengths = 0
        self._first_ns: int | None = None  # the first payload
        self._last_ns = 0  # the last of it that was delivered

    def _add(self, now_ns: int, data: Object) -> tuple[tuple[Piece, ...], int, int]:
        """Counts a packet; returns its payload, how much of it is new, and its length."""
        self.packets += 1
        self.framed |= bool(data.get("frames"))
        pieces, size = tuple(_pieces(data)), _size(data)
        octets = new = 0
        for stream, begin, end in pieces:
            octets += end - begin
            new += end - begin if stream < 0 else self._streams.setdefault(stream, Ranges()).add(begin, end)
        if octets or size:
            one = self.intervals.at(now_ns)
            one.octets, one.new, one.again = one.octets + octets, one.new + new, one.again + octets - new
            one.sizes += size
        if octets or (size and not self.framed):
            self._first_ns = now_ns if self._first_ns is None else self._first_ns
        self._carrying += octets > 0
        self._octets, self._again, self.highest = self._octets + octets, self._again + octets - new, self.highest + new
        self._with_again += octets > new
        self.lengths += size
        return pieces, new, size

    def _arrived(self, now_ns: int, new: int, lengths: int) -> None:
        """Counts what came to the other end."""
        self._delivered, self._delivered_lengths = self._delivered + new, self._delivered_lengths + lengths
        one = self.intervals.at(now_ns)
        one.delivered, one.arrived = one.delivered + new, one.arrived + lengths
        if new or not self.framed:
            self._last_ns = now_ns

    def _basis(self, framed: bool) -> str:
        return "" if not self.packets else "payload" if framed else "packets" if self.lengths else ""

    def samples(self, framed: bool) -> list[Row]:
        """Returns the rows of `connection_samples`. `framed`: whether the log says what packets carry."""
        return self.intervals.rows(self._basis(framed), self.acknowledged > 0)

    def row(self, framed: bool) -> Row:
        """Returns what columns of a connection say of it."""
        basis = self._basis(framed)
        if not basis:
            return {"segs_out": self.packets or None, "delivered_bytes": None}
        sent, arrived = (self.highest, self._delivered) if framed else (self.lengths, self._delivered_lengths)
        total = arrived if self.acknowledged else sent
        end = self._last_ns if self.acknowledged else self.intervals.last_ns
        lasted = end - (self._first_ns or 0)
        of_frames = {"data_segs_out": self._carrying, "segs_retrans": self._with_again, "octets_retrans": self._again}
        return {
            "segs_out": self.packets,
            "delivered_bytes": total,
            "data_octets_out": self._octets if framed else self.lengths,
            "goodput_bps": total * 8e9 / lasted if lasted > 0 and total else None,
            "data_start_ns": self._first_ns if total else None,
            "data_end_ns": end if total else None,
        } | (of_frames if framed else {})


class Received(Way):
    """What an endpoint received: it is delivered when it comes."""

    def take(self, now_ns: int, data: Object) -> None:
        """Takes a packet."""
        _, new, size = self._add(now_ns, data)
        self.acknowledged += 1
        if new or size:
            self._arrived(now_ns, new, size)


class Sent(Way):
    """What an endpoint sent."""

    def __init__(self, intervals: Intervals) -> None:
        super().__init__(intervals)
        self.lost = 0  # packets
        self.events: list[Row] = []
        self._outstanding: dict[tuple[int, int], tuple[tuple[Piece, ...], int]] = {}
        self._numbers: tuple[list[int], list[int], list[int]] = ([], [], [])  # of them, ascending, by space
        self._there: dict[int, Ranges] = {}  # what was acknowledged of each stream

    def take(self, now_ns: int, data: Object) -> None:
        """Takes a packet."""
        pieces, new, size = self._add(now_ns, data)
        octets = sum(end - begin for _, begin, end in pieces)
        if octets > new:
            self._event(now_ns, "retransmission", octets - new)
        place = _number(record(data.get("header")))
        if place is None or not (pieces or size) or place in self._outstanding:
            return
        self._outstanding[place] = pieces, size
        numbers = self._numbers[place[0]]
        if numbers and numbers[-1] > place[1]:
            insort(numbers, place[1])
        else:
            numbers.append(place[1])
        if len(self._outstanding) > OUTSTANDING_MAX:
            oldest = next(iter(self._outstanding))
            del self._outstanding[oldest]
            self._numbers[oldest[0]].remove(oldest[1])

    def lose(self, now_ns: int, data: Object) -> None:
        """Takes a loss that the sender declares. A packet that is acknowledged later was delivered all the same."""
        self.lost += 1
        place = _number(record(data.get("header"))) or (-1, -1)
        pieces, size = self._outstanding.get(place, ((), 0))
        self._event(now_ns, "lost", sum(end - begin for _, begin, end in pieces) or size)

    def _event(self, now_ns: int, kind: str, size: int) -> None:
        self.events.append({"time_ns": now_ns, "kind": kind, "seq_bytes": self.highest, "size_bytes": size})

    def acknowledge(self, now_ns: int, frame: Object, header: Object) -> None:
        """Takes an ACK frame of a packet that was received."""
        self.acknowledged += 1
        space = _SPACES.get(str(header.get("packet_type")).lower(), 2)
        listed = frame.get("acked_ranges")
        for pair in listed if isinstance(listed, list) else ():
            if isinstance(pair, list) and pair and len(pair) <= 2:
                low, high = _integer(pair[0]), _integer(pair[-1])
                if low is not None and high is not None:
                    self._take_off(now_ns, space, low, high)

    def acknowledge_listed(self, now_ns: int, data: Object) -> None:
        """Takes the event that lists packets which were acknowledged."""
        self.acknowledged += 1
        space = _SPACES.get(str(data.get("packet_number_space")).lower(), 2)
        listed = data.get("packet_numbers")
        for one in listed if isinstance(listed, list) else ():
            if (number := _integer(one)) is not None:
                self._take_off(now_ns, space, number, number)

    def _take_off(self, now_ns: int, space: int, low: int, high: int) -> None:
        numbers = self._numbers[space]
        first, last = bisect_left(numbers, low), bisect_right(numbers, high)
        if first >= last:
            return
        new = lengths = 0
        for number in numbers[first:last]:
            pieces, size = self._outstanding.pop((space, number))
            lengths += size
            for stream, begin, end in pieces:
                new += end - begin if stream < 0 else self._there.setdefault(stream, Ranges()).add(begin, end)
        del numbers[first:last]
        if new or lengths:
            self._arrived(now_ns, new, lengths)
