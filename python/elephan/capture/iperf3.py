"""Results of iperf3 as tables of a trace: `iperf3 -J`, or `iperf3 --json-stream` (`elephan.capture.iperf3text`).

iperf3 writes for each stream and interval bytes, retransmissions, congestion window and round-trip time (the last three at
the sender under Linux). At the sender the bytes of an interval are those written to the socket; what the receiver got stands at the
end of the result, a number for each stream. So does what the sender retransmitted, where the result is of the receiver (`-R`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import counted, show
from elephan.capture.fields import PORTS, TIME_S, Fields, record, records
from elephan.capture.iperf3text import results
from elephan.capture.logfile import LogFile
from elephan.capture.logrows import Found, Log, closed

_OF_SENDER = ("retransmits", "snd_cwnd", "rtt")  # what only the sender of an interval has
_OF_RECEIVER = ("jitter_ms", "lost_packets")
_GAP = 0.05  # of an interval: what begins later than this after the one before has time between them of which nothing is known
_SOCKETS = 1 << 31  # a descriptor of the system, which is an int
_RTT_US = 1 << 40  # no round-trip time is as long

Object = Mapping[str, Any]


def _takes(file: LogFile) -> bool:
    return re.search(r"^\s*\{", file.text, re.MULTILINE) is not None


def read(files: Sequence[LogFile], every_ns: int | None) -> Found:
    """Returns the streams of all results in a file as rows; InputError for what is none."""
    file = files[0].path
    found, notes = results(file, files[0].text)
    rows: list[dict[str, Any]] = []
    samples: list[dict[str, Any]] = []
    first: float | None = None
    fields = Fields()
    errors = [str(one["error"]) for one in found if one.get("error")]
    for result in found:
        if result.get("error") and not result.get("intervals"):
            continue
        if not isinstance(result.get("intervals"), list) or not record(result.get("start")):
            raise InputError(f"{file}: not a result of iperf3 -J (no intervals)")
        begin = fields.number(record(record(result["start"]).get("timestamp")), "timesecs", 10 * TIME_S)
        if begin is None:
            notes.append("a result does not say when it began")
            begin = first or 0.0
        first = begin if first is None else first
        streams, said = _streams(result, len(rows), round((begin - first) * 1e9), fields)
        notes += [note for note in said if note not in notes]
        rows += [one.closed() for one in streams]
        samples += [sample for one in streams for sample in one.samples]
    if not rows or first is None:
        raise InputError(
            f"{file}: iperf3 reports an error: {errors[0]}" if errors else f"{file}: not a result of iperf3 -J (no intervals)"
        )
    if len(found) > 1:
        notes.insert(0, f"the file has {counted(len(found), 'result')} of iperf3, one after another")
    notes[:0] = [f"iperf3 reports an error: {error}" for error in dict.fromkeys(errors)]
    samples.sort(key=lambda s: (s["time_ns"], s["connection"]))
    return Found(rows, samples, round(first * 1e9), notes + fields.notes())


def _streams(result: Object, number: int, offset_ns: int, fields: Fields) -> tuple[list[_Stream], list[str]]:
    """Returns the streams of a result, numbered from `number` on, and sentences about them."""
    start, end = record(result["start"]), record(result.get("end"))
    protocol = fields.text(record(start.get("test_start")), "protocol", "udp" if "packets" in record(end.get("sum")) else "tcp")
    ends = {_socket(one, place): one for place, one in enumerate(records(start.get("connected")))}
    intervals = [(interval, records(interval.get("streams"))) for interval in records(result["intervals"])]
    # A record without a socket is of the stream that stands there in other intervals.
    usual = {
        place: one for _, those in intervals for place, stream in enumerate(those) if isinstance(one := _socket(stream, place), int)
    }
    streams: dict[Any, _Stream] = {}
    notes: list[str] = []
    for interval, those in intervals:
        for place, stream in enumerate(those):
            socket = _socket(stream, place)
            socket = usual.get(place, socket) if isinstance(socket, str) else socket
            if isinstance(socket, str) and not notes:
                notes.append("streams without a socket: those at the same place of each interval are taken for one")
            if not stream.get("omitted"):
                if socket not in streams:
                    streams[socket] = _Stream(number + len(streams), protocol.lower(), offset_ns, fields)
                streams[socket].add(stream, _by_place(place, start, interval))
    reports = _reports(streams, end)
    streams = {socket: one for socket, one in streams.items() if one.samples}
    for socket, one in streams.items():
        one.close(reports[socket], ends.get(socket, {}))
    assumed = sum(one.assumed for one in streams.values())
    if assumed:
        notes.append(f"the result does not say who sent on {counted(assumed, 'stream')}: the client is taken for the sender")
    notes += _gaps(list(streams.values()))
    notes += _receive(streams, reports, end, fields)
    return list(streams.values()), notes + _retransmitted(streams, reports, end, protocol.lower())


def _socket(stream: Object, place: int) -> Any:
    """The number by which records of one stream are known, a text for those without: their place."""
    found = stream.get("socket")
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < _SOCKETS else f"stream {place}"


def _by_place(place: int, start: Object, interval: Object) -> tuple[bool, bool]:
    """Whether the host that wrote a result sends on a stream as the options have it, and whether they say so.

    The client sends, with -R the server, with --bidir the client on the first half. Only a server accepts a connection.
    """
    test = record(start.get("test_start"))
    of_client, told = not test.get("reverse"), test.get("reverse") is not None
    if "sum_bidir_reverse" in interval:
        of_client, told = place < len(records(interval.get("streams"))) / 2, True
    return of_client != ("accepted_connection" in start), told


def _gaps(streams: Sequence[_Stream]) -> list[str]:
    """A sentence about time of which no interval says how much was sent."""
    gaps = [gap for one in streams for gap in one.gaps]
    if not gaps:
        return []
    where = ", ".join(f"{show(begin, 's', 3)} to {show(end, 's', 3)}" for begin, end in gaps[:3])
    more = f" and {len(gaps) - 3} more" if len(gaps) > 3 else ""
    least = " What is called delivered is what the known intervals have, so at least." if any(one.short for one in streams) else ""
    return [f"what was sent is unknown in {counted(len(gaps), 'stretch', 'stretches')} of time: {where}{more}.{least}".rstrip(".")]


class _Stream:
    """A stream's row of `connections` and its rows of `connection_samples`."""

    def __init__(self, number: int, protocol: str, offset_ns: int, fields: Fields) -> None:
        self._number, self._protocol, self._offset_ns, self.fields = number, protocol, offset_ns, fields
        self._records: list[Object] = []
        self._options = (True, False)  # whether this host sends by the options, and whether they say so
        self._ends: list[tuple[float, float]] = []  # begin and end of each known interval, s
        self.sends = self.assumed = self.short = False
        self.row: dict[str, Any] = {}
        self.written = 0  # bytes of the known intervals
        self.retransmits: int | None = None  # over all intervals; None: they have no counts
        self.samples: list[dict[str, Any]] = []
        self.gaps: list[tuple[float, float]] = []  # s, of which nothing is known

    def add(self, stream: Object, options: tuple[bool, bool]) -> None:
        """Takes an interval. One whose bytes or times are unknown leaves a gap."""
        self._records.append(stream)
        self._options = options
        fields = self.fields
        count, end = fields.count(stream, "bytes"), fields.number(stream, "end")
        begin, seconds = fields.number(stream, "start"), fields.number(stream, "seconds")
        if stream.get("retransmits") is not None and (again := fields.difference(stream, "retransmits")) is not None:
            # A count is the difference to the one before. So the sum is right, though a part of it may be negative.
            self.retransmits = (self.retransmits or 0) + again
        if end is not None and not seconds and begin is not None and begin <= end:
            seconds = end - begin
        before = self._ends[-1][1] if self._ends else 0.0
        if count is None or end is None or seconds is None or end < before:
            return
        begin = max(end - seconds, before)  # the first one after -O counts the time before too
        if begin - before > _GAP * max(end - begin, 0.0):
            self.gaps.append((before, begin))
        else:
            begin = before
        self._ends.append((begin, end))
        rtt, window = fields.count(stream, "rtt", _RTT_US), fields.count(stream, "snd_cwnd")
        self.written += count
        self.samples.append(
            {
                "time_ns": self._offset_ns + round(end * 1e9),
                "span_ns": round((end - begin) * 1e9),
                "connection": self._number,
                "sent_bytes": self.written,
                "delivered_bytes": self.written,
                "data_octets_out": count,
                "rtt_min_ns": rtt * 1000 if rtt else None,
                "rtt_mean_ns": rtt * 1000 if rtt else None,
                "cwnd_bytes": window or None,
                "pacing_bps": None,
            }
        )

    def close(self, report: Object, known: Object) -> None:
        """Takes what the end says of the stream, and its ends."""
        fields = self.fields
        sent, received = (record(report.get(side)) for side in ("sender", "receiver"))
        totals = fields.count(sent, "bytes"), fields.count(received, "bytes")
        self._direct(report, totals)
        self._account(totals[0 if self.sends else 1], fields.number(sent, "end"))
        local = fields.text(known, "local_host", "local"), fields.count(known, "local_port", PORTS) or 0
        remote = fields.text(known, "remote_host", "remote"), fields.count(known, "remote_port", PORTS) or 0
        source, destination = (local, remote) if self.sends else (remote, local)
        self.row = {
            "connection": self._number,
            "protocol": self._protocol,
            "source": source[0],
            "source_port": source[1],
            "destination": destination[0],
            "destination_port": destination[1],
            "vantage": "sender" if self.sends else "receiver",
            "delivered_bytes": self.written,
        }

    def _direct(self, report: Object, totals: tuple[int | None, int | None]) -> None:
        """Finds whether the host that wrote the result sends. Before version 3.7 no field says so, but others show it."""
        sides = [*self._records, *(record(report.get(side)) for side in ("udp", "receiver", "sender"))]
        said = [one["sender"] for one in sides if isinstance(one.get("sender"), bool)]
        by_options, told = self._options
        if said:
            self.sends = said[0]
        elif any(name in one for one in self._records for name in _OF_SENDER):
            self.sends = True
        elif any(name in one for one in self._records for name in _OF_RECEIVER):
            self.sends = False
        elif told or totals[0] == totals[1] or self.written not in totals:
            self.sends, self.assumed = by_options, not told
        else:
            self.sends = self.written == totals[0]  # the intervals are those of this host, and so is their sum

    def _account(self, total: int | None, lasted: float | None) -> None:
        """Counts what was sent up to the end of each interval, as far as gaps let it be known."""
        inner = [gap for gap in self.gaps if gap[0] > 0.0]
        last = self._ends[-1]
        if lasted is not None and lasted - last[1] > _GAP * (last[1] - last[0]):
            self.gaps.append((last[1], lasted))
        missing = None if total is None or total < self.written else total - self.written
        self.short = bool(self.gaps) and missing is None
        if inner:
            # Up to the first gap it is the sum so far; after the last one it is the total without what follows, if nothing else is
            # missing. A gap at the begin is where the series begins.
            known_after = missing if self.gaps == inner else None
            for sample, (begin, _) in zip(self.samples, self._ends, strict=True):
                if begin >= inner[0][1]:
                    after = known_after if begin >= inner[-1][1] else None
                    count = None if after is None else sample["sent_bytes"] + after
                    sample["sent_bytes"] = sample["delivered_bytes"] = count
        self.written = total if self.gaps and total is not None and missing is not None else self.written

    @property
    def _known_s(self) -> float:
        return sum(end - begin for begin, end in self._ends)

    def receive(self, received: int, seconds: float | None) -> None:
        """Says what the receiver got, and in what time."""
        self.row["delivered_bytes"] = received
        self.short = False
        for sample in self.samples:
            if sample["delivered_bytes"] is not None:
                sample["delivered_bytes"] = min(sample["delivered_bytes"], received)
        whole = seconds or self._ends[-1][1]
        self.row["goodput_bps"] = received * 8 / whole if whole else None

    def closed(self) -> dict[str, Any]:
        """Returns the row of `connections`."""
        rtts = [s["rtt_mean_ns"] for s in self.samples if s["rtt_mean_ns"]]
        known: dict[str, Any] = {"min_rtt_ns": min(rtts, default=None), "max_rtt_ns": max(rtts, default=None)}
        # The rate is that of the time which is known.
        octets = sum(s["data_octets_out"] for s in self.samples)
        known["goodput_bps"] = octets * 8 / self._known_s if self._known_s else None
        return closed(self.samples) | known | self.row


def _reports(streams: Mapping[Any, _Stream], end: Object) -> dict[Any, Object]:
    """What the end of a result says of each stream: by its socket, or by its place where it has none."""
    listed = records(end.get("streams"))
    by_socket = {}
    for place, one in enumerate(listed):
        known = [_socket(record(one.get(side)), place) for side in ("udp", "receiver", "sender")]
        by_socket[next((socket for socket in known if isinstance(socket, int)), known[0])] = one
    if all(isinstance(socket, str) for socket in streams):
        return {socket: listed[place] if place < len(listed) else {} for place, socket in enumerate(streams)}
    return {socket: by_socket.get(socket, by_socket.get(f"stream {place}", {})) for place, socket in enumerate(streams)}


def _receive(streams: Mapping[Any, _Stream], reports: Mapping[Any, Object], end: Object, fields: Fields) -> list[str]:
    """Puts what the receivers report at the end into the streams that send; sentences about it."""
    sending = {socket: one for socket, one in streams.items() if one.sends}
    lost = packets = 0
    told = False
    for socket, stream in streams.items():
        received, udp = record(reports[socket].get("receiver")), record(reports[socket].get("udp"))
        count, gone = fields.count(udp, "packets") or 0, max(fields.difference(udp, "lost_packets") or 0, 0)
        lost, packets = lost + gone, packets + count
        if not stream.sends:
            continue
        if count:
            stream.receive(round(stream.written * max(1 - gone / count, 0)), fields.number(udp, "seconds"))
            told = True
        elif arrived := fields.count(received, "bytes"):
            stream.receive(arrived, _lasted(received, fields))
            told = True
    total = record(end.get("sum_received"))
    written = sum(one.written for one in sending.values())
    if not told and written and (arrived := fields.count(total, "bytes")):
        for stream in sending.values():
            stream.receive(round(arrived * stream.written / written), _lasted(total, fields))
        told = True
    return _said(sending, written, told, lost, packets)


def _retransmitted(streams: Mapping[Any, _Stream], reports: Mapping[Any, Object], end: Object, protocol: str) -> list[str]:
    """Puts into each stream what its sender retransmitted: what the end says, else the sum of the intervals; sentences about it.

    A result of the receiver has it at its end alone.
    """
    if protocol != "tcp":
        for stream in streams.values():
            stream.row["segs_retrans"] = 0  # UDP retransmits nothing
        return []
    unknown = []
    for socket, stream in streams.items():
        fields = stream.fields
        count = fields.difference(record(reports[socket].get("sender")), "retransmits")
        alike = [one for one in streams.values() if one.sends == stream.sends]
        if count is None and len(alike) == 1:
            back = len(streams) > 1 and not stream.sends
            count = fields.difference(record(end.get("sum_sent_bidir_reverse" if back else "sum_sent")), "retransmits")
        of_intervals = None if stream.gaps else stream.retransmits
        known = [one for one in (count, of_intervals) if one is not None and one >= 0]
        if known:
            stream.row["segs_retrans"] = known[0]
        else:
            unknown.append(stream)
    return _unknown(unknown, len(streams))


def _unknown(unknown: Sequence[_Stream], of: int) -> list[str]:
    if not unknown:
        return []
    wrong = [str(one.retransmits) for one in unknown if one.retransmits is not None and one.retransmits < 0]
    which = "the sender" if of == 1 else "the senders" if len(unknown) == of else f"the senders of {len(unknown)} of {of} streams"
    why = f" (its counts come to {', '.join(wrong)})" if wrong else ""
    return [f"the result does not say how many segments {which} retransmitted{why}"]


def _lasted(report: Object, fields: Fields) -> float | None:
    """The time that a report is about, s: until the last byte came, which is after the sender has ended."""
    begin, end = fields.number(report, "start"), fields.number(report, "end")
    if begin is not None and end is not None and begin < end:
        return end - begin
    return fields.number(report, "seconds")


def _said(sending: dict[Any, _Stream], written: int, told: bool, lost: int, packets: int) -> list[str]:
    if sending and not told:
        return ["the result does not say what the receiver got: what is called delivered is what was written to the sockets"]
    if packets:
        return [f"the receiver reports {lost} of {packets} datagrams lost ({show(lost / packets, '%', 2)})"]
    received = sum(one.row["delivered_bytes"] for one in sending.values())
    if not sending or received == written:
        return []
    both = f"{show(written, 'bytes')} were written to the sockets and {show(received, 'bytes')} received"
    return [f"{both}: intervals show what was written"]


KIND = Log(
    "iperf3",
    _takes,
    read,
    {"connections": ("segs_retrans",), "connection_samples": ("sent_bytes", "delivered_bytes")},
    ended=True,
)
