"""Results of iperf3 as tables of a trace: `iperf3 -J`, or `iperf3 --json-stream`.

iperf3 writes for each stream and interval bytes, retransmissions, congestion window and round-trip time (the last three at
the sender under Linux). At the sender the bytes of an interval are those written to the socket; what the receiver got stands at the
end of the result, a number for each stream. Text around the result, as of warnings, is skipped.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import show
from elephan.capture.logrows import Found, closed


def read(file: Path, text: str) -> Found:
    """Returns the streams of a result as rows; InputError for what is none."""
    result = _result(file, text)
    if result.get("error") and not result.get("intervals"):
        raise InputError(f"{file}: iperf3 reports an error: {result['error']}")
    try:
        intervals = list(result["intervals"])
        begin = float(result["start"]["timestamp"]["timesecs"])
        round(begin * 1e9)  # no time is infinite
        protocol = str(result["start"]["test_start"]["protocol"]).lower()
        ends = {one["socket"]: one for one in result["start"].get("connected", []) if "socket" in one}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise InputError(f"{file}: not a result of iperf3 -J (no intervals)") from None
    streams: dict[Any, _Stream] = {}
    nameless = False
    try:
        for interval in intervals:
            for place, stream in enumerate(interval.get("streams", [])):
                nameless |= "socket" not in stream
                if not stream.get("omitted"):
                    socket = stream.get("socket", f"stream {place}")
                    if socket not in streams:
                        streams[socket] = _Stream(len(streams), stream, protocol, ends.get(socket, {}))
                    streams[socket].add(stream)
        notes = [f"iperf3 reports an error: {result['error']}"] if result.get("error") else []
        if nameless:
            notes.append("streams without a socket: those at the same place of each interval are taken for one")
        notes += _receive(streams, result.get("end") or {}, protocol)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
        raise InputError(f"{file}: not a result of iperf3 -J (an interval is damaged)") from None
    if not streams:
        raise InputError(f"{file}: not a result of iperf3 -J (no intervals)")
    samples = sorted((s for one in streams.values() for s in one.samples), key=lambda s: (s["time_ns"], s["connection"]))
    return [one.closed() for one in streams.values()], samples, round(begin * 1e9), notes


def _result(file: Path, text: str) -> dict[str, Any]:
    """The result in a text: one object, or the events of `--json-stream`, each in a line of its own."""
    begin = re.search(r"^\s*\{", text, re.MULTILINE)
    try:
        found, _ = json.JSONDecoder().raw_decode(text, begin.end() - 1 if begin else 0)
    except (ValueError, RecursionError):
        raise InputError(f"{file}: damaged JSON") from None
    if not isinstance(found, dict):
        raise InputError(f"{file}: not a result of iperf3 -J (no intervals)")
    return found if "event" not in found else _streamed(file, text)


def _streamed(file: Path, text: str) -> dict[str, Any]:
    result: dict[str, Any] = {"intervals": []}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith("{"):
            continue
        try:
            event = json.loads(line)
            name, data = event["event"], event["data"]
        except (ValueError, RecursionError, KeyError, TypeError):
            raise InputError(f"{file}:{number}: damaged JSON") from None
        if name == "interval":
            result["intervals"].append(data)
        elif name in ("start", "end", "error"):
            result[name] = data
    return result


class _Stream:
    """A stream's row of `connections` and its rows of `connection_samples`."""

    def __init__(self, number: int, stream: dict[str, Any], protocol: str, known: dict[str, Any]) -> None:
        self.sends = bool(stream.get("sender", True))
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
            "segs_retrans": 0,
        }
        self.written = 0
        self.samples: list[dict[str, Any]] = []

    def add(self, stream: dict[str, Any]) -> None:
        """Takes an interval."""
        count = int(stream["bytes"])
        if count < 0 or not stream["end"] >= 0 or not stream["seconds"] >= 0:
            raise ValueError("bytes and times of an interval are not negative")
        self.written += count
        self.row["delivered_bytes"] = self.written
        self.row["segs_retrans"] += int(stream.get("retransmits", 0))
        rtt = int(stream["rtt"]) * 1000 if stream.get("rtt") else None
        self.samples.append(
            {
                "time_ns": round(stream["end"] * 1e9),
                "span_ns": round(stream["seconds"] * 1e9),
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


def _receive(streams: dict[Any, _Stream], end: dict[str, Any], protocol: str) -> list[str]:
    """Puts what the receivers report at the end into the streams that send; sentences about it."""
    sending = {socket: one for socket, one in streams.items() if one.sends}
    reports = {}
    for place, report in enumerate(end.get("streams", [])):
        whole = report.get("udp") or report.get("receiver") or {}
        reports[whole.get("socket", f"stream {place}")] = report
    lost = packets = 0
    told = False
    for socket, stream in sending.items():
        report = reports.get(socket, {})
        received = report.get("receiver") or {}
        udp = report.get("udp")
        if udp and udp.get("packets"):
            lost, packets = lost + int(udp.get("lost_packets", 0)), packets + int(udp["packets"])
            share = 1 - int(udp.get("lost_packets", 0)) / int(udp["packets"])
            stream.receive(round(stream.written * share), udp.get("seconds"))
            told = True
        elif int(received.get("bytes", 0)) > 0:
            stream.receive(int(received["bytes"]), _lasted(received))
            told = True
    total = end.get("sum_received") or {}
    written = sum(one.written for one in sending.values())
    if not told and written and int(total.get("bytes", 0)) > 0:
        for stream in sending.values():
            stream.receive(round(int(total["bytes"]) * stream.written / written), _lasted(total))
        told = True
    return _said(sending, written, told, lost, packets)


def _lasted(report: dict[str, Any]) -> float | None:
    """The time that a report is about, s: until the last byte came, which is after the sender has ended."""
    return report["end"] - report["start"] if "end" in report and "start" in report else report.get("seconds")


def _said(sending: dict[Any, _Stream], written: int, told: bool, lost: int, packets: int) -> list[str]:
    if not sending:
        return []
    if not told:
        return ["the result does not say what the receiver got: what is called delivered is what was written to the sockets"]
    if packets:
        return [f"the receiver reports {lost} of {packets} datagrams lost ({show(lost / packets, '%', 2)})"]
    received = sum(one.row["delivered_bytes"] for one in sending.values())
    if received == written:
        return []
    both = f"{show(written, 'bytes')} were written to the sockets and {show(received, 'bytes')} received"
    return [f"{both}: intervals show what was written"]
