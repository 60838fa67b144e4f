"""Results of iperf3 as tables of a trace: `iperf3 -J`, or `iperf3 --json-stream` (`elephan.capture.iperf3text`).

iperf3 writes for each stream and interval bytes, retransmissions, congestion window and round-trip time (the last three at
the sender under Linux). At the sender the bytes of an interval are those written to the socket; what the receiver got stands at the
end of the result, a number for each stream. So does what the sender retransmitted, where the result is of the receiver (`-R`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import counted, show
from elephan.capture.iperf3text import results
from elephan.capture.logrows import Found, closed

_OF_SENDER = ("retransmits", "snd_cwnd", "rtt")  # what only the sender of an interval has
_OF_RECEIVER = ("jitter_ms", "lost_packets")


def read(file: Path, text: str) -> Found:
    """Returns the streams of all results in a text as rows; InputError for what is none."""
    found, notes = results(file, text)
    rows: list[dict[str, Any]] = []
    samples: list[dict[str, Any]] = []
    first: float | None = None
    errors = [str(one["error"]) for one in found if one.get("error")]
    for result in found:
        if result.get("error") and not result.get("intervals"):
            continue
        begin = _begin(file, result)
        first = begin if first is None else first
        try:
            streams, said = _streams(result, len(rows), round((begin - first) * 1e9))
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
            raise InputError(f"{file}: not a result of iperf3 -J (an interval is damaged)") from None
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
    return rows, samples, round(first * 1e9), notes


def _begin(file: Path, result: dict[str, Any]) -> float:
    """When a test began, s since 1970."""
    try:
        list(result["intervals"])
        str(result["start"]["test_start"]["protocol"])
        begin = float(result["start"]["timestamp"]["timesecs"])
        round(begin * 1e9)  # no time is infinite
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise InputError(f"{file}: not a result of iperf3 -J (no intervals)") from None
    return begin


def _streams(result: dict[str, Any], number: int, offset_ns: int) -> tuple[list[_Stream], list[str]]:
    """Returns the streams of a result, numbered from `number` on, and sentences about them."""
    start, end = result["start"], result.get("end") or {}
    protocol = str(start["test_start"]["protocol"]).lower()
    ends = {one["socket"]: one for one in start.get("connected", []) if "socket" in one}
    streams: dict[Any, _Stream] = {}
    notes: list[str] = []
    for interval in result["intervals"]:
        for place, stream in enumerate(interval.get("streams", [])):
            if "socket" not in stream and not notes:
                notes.append("streams without a socket: those at the same place of each interval are taken for one")
            if not stream.get("omitted"):
                socket = stream.get("socket", f"stream {place}")
                if socket not in streams:
                    sends = _sends(stream, start, interval, place)
                    streams[socket] = _Stream(number + len(streams), sends, protocol, ends.get(socket, {}), offset_ns)
                streams[socket].add(stream)
    reports = _reports(streams, end)
    notes += _receive(streams, reports, end)
    return list(streams.values()), notes + _retransmitted(streams, reports, end, protocol)


def _sends(stream: dict[str, Any], start: dict[str, Any], interval: dict[str, Any], place: int) -> bool:
    """Whether the host that wrote a result sends on a stream. Before version 3.7 no field says so, but others show it."""
    if isinstance(stream.get("sender"), bool):
        return bool(stream["sender"])
    if any(name in stream for name in _OF_SENDER):
        return True
    if any(name in stream for name in _OF_RECEIVER):
        return False
    # The client sends, with -R the server, with --bidir the client on the first half. Only a server accepts a connection.
    of_client = not start["test_start"].get("reverse")
    if "sum_bidir_reverse" in interval:
        of_client = place < len(interval["streams"]) / 2
    return of_client != ("accepted_connection" in start)


def signed(value: Any) -> int:
    """Returns a count of iperf3 as it was before a 32-bit or 64-bit counter without sign took it: 4294967294 is -2."""
    count = int(value)
    for bits in (32, 64):
        if 1 << (bits - 1) <= count < 1 << bits:
            return count - (1 << bits)
    return count


class _Stream:
    """A stream's row of `connections` and its rows of `connection_samples`."""

    def __init__(self, number: int, sends: bool, protocol: str, known: dict[str, Any], offset_ns: int) -> None:
        self.sends = sends
        self._offset_ns = offset_ns  # from the first test of the file to this one
        local = known.get("local_host", "local"), known.get("local_port", 0)
        remote = known.get("remote_host", "remote"), known.get("remote_port", 0)
        source, destination = (local, remote) if self.sends else (remote, local)
        self.row: dict[str, Any] = {
            "connection": number,
            "protocol": protocol,
            "source": source[0],
            "source_port": source[1],
            "destination": destination[0],
            "destination_port": destination[1],
            "vantage": "sender" if self.sends else "receiver",
            "delivered_bytes": 0,
        }
        self.written = 0
        self.retransmits: int | None = None  # over all intervals; None: they have no counts
        self.samples: list[dict[str, Any]] = []

    def add(self, stream: dict[str, Any]) -> None:
        """Takes an interval."""
        count = int(stream["bytes"])
        if count < 0 or not stream["end"] >= 0 or not stream["seconds"] >= 0:
            raise ValueError("bytes and times of an interval are not negative")
        self.written += count
        self.row["delivered_bytes"] = self.written
        if stream.get("retransmits") is not None:
            # A count is the difference to the one before. So the sum is right, though a part of it may be negative.
            self.retransmits = (self.retransmits or 0) + signed(stream["retransmits"])
        rtt = int(stream["rtt"]) * 1000 if stream.get("rtt") else None
        self.samples.append(
            {
                "time_ns": self._offset_ns + round(stream["end"] * 1e9),
                "span_ns": round(min(stream["seconds"], stream["end"]) * 1e9),  # the first one after -O counts the time before too
                "connection": self.row["connection"],
                "sent_bytes": self.written,
                "delivered_bytes": self.written,
                "data_octets_out": count,
                "rtt_min_ns": rtt,
                "rtt_mean_ns": rtt,
                "cwnd_bytes": int(stream["snd_cwnd"]) if stream.get("snd_cwnd") else None,
                "pacing_bps": None,
            }
        )

    def receive(self, received: int, seconds: float | None) -> None:
        """Says what the receiver got, and in what time."""
        self.row["delivered_bytes"] = received
        for sample in self.samples:
            sample["delivered_bytes"] = min(sample["delivered_bytes"], received)
        if seconds:
            self.row["goodput_bps"] = received * 8 / seconds

    def closed(self) -> dict[str, Any]:
        """Returns the row of `connections`."""
        rtts = [s["rtt_mean_ns"] for s in self.samples if s["rtt_mean_ns"]]
        known = {"min_rtt_ns": min(rtts, default=None), "max_rtt_ns": max(rtts, default=None)}
        return closed(self.samples) | known | self.row


def _reports(streams: dict[Any, _Stream], end: dict[str, Any]) -> dict[Any, dict[str, Any]]:
    """What the end of a result says of each stream: by its socket, or by its place where it has none."""
    listed = [one for one in end.get("streams") or [] if isinstance(one, dict)]
    by_socket = {}
    for one in listed:
        whole = one.get("udp") or one.get("receiver") or one.get("sender") or {}
        by_socket[whole.get("socket")] = one
    found = {}
    for place, socket in enumerate(streams):
        there = listed[place] if None in by_socket and place < len(listed) else {}
        found[socket] = by_socket.get(socket, there)
    return found


def _receive(streams: dict[Any, _Stream], reports: dict[Any, dict[str, Any]], end: dict[str, Any]) -> list[str]:
    """Puts what the receivers report at the end into the streams that send; sentences about it."""
    sending = {socket: one for socket, one in streams.items() if one.sends}
    lost = packets = 0
    told = False
    for socket, stream in streams.items():
        received = reports[socket].get("receiver") or {}
        udp = reports[socket].get("udp") or {}
        count, gone = int(udp.get("packets") or 0), max(signed(udp.get("lost_packets") or 0), 0)
        lost, packets = lost + gone, packets + count
        if not stream.sends:
            continue
        if count:
            stream.receive(round(stream.written * max(1 - gone / count, 0)), udp.get("seconds"))
            told = True
        elif int(received.get("bytes") or 0) > 0:
            stream.receive(int(received["bytes"]), _lasted(received))
            told = True
    total = end.get("sum_received") or {}
    written = sum(one.written for one in sending.values())
    if not told and written and int(total.get("bytes") or 0) > 0:
        for stream in sending.values():
            stream.receive(round(int(total["bytes"]) * stream.written / written), _lasted(total))
        told = True
    return _said(sending, written, told, lost, packets)


def _retransmitted(
    streams: dict[Any, _Stream], reports: dict[Any, dict[str, Any]], end: dict[str, Any], protocol: str
) -> list[str]:
    """Puts into each stream what its sender retransmitted: what the end says, else the sum of the intervals; sentences about it.

    A result of the receiver has it at its end alone.
    """
    if protocol != "tcp":
        for stream in streams.values():
            stream.row["segs_retrans"] = 0  # UDP retransmits nothing
        return []
    unknown = []
    for socket, stream in streams.items():
        count = (reports[socket].get("sender") or {}).get("retransmits")
        alike = [one for one in streams.values() if one.sends == stream.sends]
        if count is None and len(alike) == 1:
            back = len(streams) > 1 and not stream.sends
            count = (end.get("sum_sent_bidir_reverse" if back else "sum_sent") or {}).get("retransmits")
        known = [one for one in (None if count is None else signed(count), stream.retransmits) if one is not None and one >= 0]
        if known:
            stream.row["segs_retrans"] = known[0]
        else:
            unknown.append(stream)
    return _unknown(unknown, len(streams))


def _unknown(unknown: Sequence[_Stream], of: int) -> list[str]:
    if not unknown:
        return []
    wrong = [str(one.retransmits) for one in unknown if one.retransmits is not None]
    which = "the sender" if of == 1 else "the senders" if len(unknown) == of else f"the senders of {len(unknown)} of {of} streams"
    why = f" (its counts come to {', '.join(wrong)})" if wrong else ""
    return [f"the result does not say how many segments {which} retransmitted{why}"]


def _lasted(report: dict[str, Any]) -> float | None:
    """The time that a report is about, s: until the last byte came, which is after the sender has ended."""
    return report["end"] - report["start"] if "end" in report and "start" in report else report.get("seconds")


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
