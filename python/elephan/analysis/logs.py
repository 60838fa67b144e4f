"""Logs of real transfers as tables of a trace: `iperf3 -J`, and `ss -tin` repeated.

iperf3 writes for each stream and interval bytes, retransmissions, congestion window and round-trip time (the last three at
the sender under Linux). `ss -tin` writes the state of each connection at the moment of the call; a log is many calls, each after a
line with its time (`date +%s.%N`, or ISO 8601), or at equal intervals if there are no such lines. Each connection has one line
(`ss -O`) or two. Counters that fall begin a new connection on the same ports:

    while sleep 0.1; do date +%s.%N; ss -tin dst 192.0.2.1; done > ss.log
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan import core
from elephan.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

BINARY = (b"\x0a\x0d\x0d\x0a", b"\x1f\x8b", b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1")
HEAD_BYTES = 4096
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # begin what PowerShell writes from `iperf3 -J > FILE`


def is_log(file: Path) -> bool:
    """Whether a file is text, not a capture; InputError if it cannot be read."""
    try:
        with file.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
    if not head:
        raise InputError(f"{file}: an empty file")
    return head.startswith(UTF_16) or (not head.startswith(BINARY) and b"\0" not in head)


def read(file: Path, every_s: float) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """Tables and summary of a log; `every_s`: time between the calls of `ss` where the log has no times."""
    try:
        data = file.read_bytes()
        text = data.decode("utf-16" if data.startswith(UTF_16) else "utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{file}: neither a capture nor a log in UTF-8 or UTF-16") from None
    kind, found = ("iperf3", _iperf3(file, text)) if text.lstrip().startswith("{") else ("ss", _ss(file, text, every_s))
    try:
        return _tables(kind, *found)
    except (OverflowError, TypeError, ValueError) as error:  # those of Arrow are among them
        raise InputError(f"{file}: a value is not what such a log has: {str(error).partition(chr(10))[0]}") from None


Found = tuple[list[dict[str, Any]], list[dict[str, Any]], int, list[str]]


def _tables(
    kind: str, connections: list[dict[str, Any]], samples: list[dict[str, Any]], begin_ns: int, notes: list[str]
) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    import pyarrow as pa

    empty = {name: pa.table(table) for name, table in core.call("empty_trace").items()}
    tables = {
        "connections": _filled(connections, empty["connections"].schema),
        "connection_samples": _filled(samples, empty["connection_samples"].schema),
        "trace_events": empty["trace_events"],
    }
    span = max((row["time_ns"] for row in samples), default=0)
    summary = {"format": kind, "packets": 0, "connections": len(connections), "begin_ns": begin_ns, "span_ns": span, "notes": notes}
    return tables, summary


def _filled(rows: list[dict[str, Any]], schema: Any) -> pa.Table:
    """Rows with zeros and empty texts where a column must have something and the log has nothing."""
    import pyarrow as pa

    nothing = {"int64": 0, "double": 0.0, "bool": False, "string": ""}
    default = {field.name: None if field.nullable else nothing[str(field.type)] for field in schema}
    return pa.Table.from_pylist([default | row for row in rows], schema=schema)


def _iperf3(file: Path, text: str) -> Found:
    try:
        result = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"{file}: damaged JSON") from None
    if isinstance(result, dict) and result.get("error") and not result.get("intervals"):
        raise InputError(f"{file}: iperf3 reports an error: {result['error']}")
    try:
        intervals = list(result["intervals"])
        begin = float(result["start"]["timestamp"]["timesecs"])
        round(begin * 1e9)  # no time is infinite
        protocol = str(result["start"]["test_start"]["protocol"]).lower()
        ends = {one["socket"]: one for one in result["start"].get("connected", []) if "socket" in one}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise InputError(f"{file}: not a result of iperf3 -J (no intervals)") from None
    connections: dict[Any, dict[str, Any]] = {}
    samples = []
    nameless = False
    try:
        for interval in intervals:
            for place, stream in enumerate(interval.get("streams", [])):
                nameless |= "socket" not in stream
                if not stream.get("omitted"):
                    samples.append(_iperf3_sample(stream, stream.get("socket", f"stream {place}"), protocol, ends, connections))
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
        raise InputError(f"{file}: not a result of iperf3 -J (an interval is damaged)") from None
    if not samples:
        raise InputError(f"{file}: not a result of iperf3 -J (no intervals)")
    notes = [f"iperf3 reports an error: {result['error']}"] if result.get("error") else []
    if nameless:
        notes.append("streams without a socket: those at the same place of each interval are taken for one")
    for row in connections.values():
        own = [s for s in samples if s["connection"] == row["connection"]]
        rtts = [s["rtt_mean_ns"] for s in own if s["rtt_mean_ns"]]
        row |= _closed(own) | {"min_rtt_ns": min(rtts, default=None), "max_rtt_ns": max(rtts, default=None)}
    return list(connections.values()), samples, round(begin * 1e9), notes


def _iperf3_sample(
    stream: dict[str, Any], socket: Any, protocol: str, ends: dict[int, dict[str, Any]], connections: dict[Any, dict[str, Any]]
) -> dict[str, Any]:
    """A stream's interval as a row of `connection_samples`; a stream that is new gets its row of `connections`."""
    if int(stream["bytes"]) < 0 or not stream["end"] >= 0 or not stream["seconds"] >= 0:
        raise ValueError("bytes and times of an interval are not negative")
    known = ends.get(socket, {})
    sends = stream.get("sender", True)
    local, remote = (
        (known.get("local_host", "local"), known.get("local_port", 0)),
        (known.get("remote_host", "remote"), known.get("remote_port", 0)),
    )
    source, destination = (local, remote) if sends else (remote, local)
    row = connections.setdefault(
        socket,
        {
            "connection": len(connections),
            "protocol": protocol,
            "source": source[0],
            "source_port": source[1],
            "destination": destination[0],
            "destination_port": destination[1],
            "vantage": "sender" if sends else "receiver",
            "delivered_bytes": 0,
            "segs_retrans": 0,
        },
    )
    row["delivered_bytes"] += int(stream["bytes"])
    row["segs_retrans"] += int(stream.get("retransmits", 0))
    rtt = int(stream["rtt"]) * 1000 if stream.get("rtt") else None
    window = int(stream["snd_cwnd"]) if stream.get("snd_cwnd") else None
    return {
        "time_ns": round(stream["end"] * 1e9),
        "span_ns": round(stream["seconds"] * 1e9),
        "connection": row["connection"],
        "sent_bytes": row["delivered_bytes"],
        "delivered_bytes": row["delivered_bytes"],
        "data_octets_out": int(stream["bytes"]),
        "rtt_min_ns": rtt,
        "rtt_mean_ns": rtt,
        "cwnd_bytes": window,
        "pacing_bps": None,
    }


def _closed(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """What the columns of a connection say about its time, from its samples."""
    begin, end = min(s["time_ns"] - s["span_ns"] for s in samples), max(s["time_ns"] for s in samples)
    moved = samples[-1]["delivered_bytes"] - samples[0]["delivered_bytes"] + samples[0]["data_octets_out"]
    return {
        "start_ns": begin,
        "end_ns": end,
        "data_start_ns": begin,
        "data_end_ns": end,
        "goodput_bps": moved * 8e9 / (end - begin) if end > begin else None,
    }


_EPOCH = re.compile(r"^\s*(\d{9,19}(?:\.\d+)?)\s*$")
_ISO = re.compile(r"^\s*(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)\s*$")
_HEAD = re.compile(
    r"^(?:tcp\s+)?(?:ESTAB|SYN-SENT|FIN-WAIT-[12]|CLOSE-WAIT|LAST-ACK|CLOSING)\s+\d+\s+\d+\s+(\S+):(\d+)\s+(\S+):(\d+)"
)
_EPOCH_LEAST_S = 1e8
_TOO_LARGE = re.compile(r"\d{19}")  # of no counter, time or rate
_UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def _time(line: str) -> float | None:
    if epoch := _EPOCH.match(line):
        digits = len(epoch[1].partition(".")[0])
        # Seconds, or what `date +%s%3N`, `%s%6N` and `%s%N` write.
        return float(epoch[1]) / next(unit for most, unit in ((11, 1), (14, 1e3), (17, 1e6), (19, 1e9)) if digits <= most)
    if iso := _ISO.match(line):
        try:
            when = datetime.fromisoformat(iso[1].replace(",", "."))
        except ValueError:
            raise InputError(f'no time: "{line.strip()}"') from None
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    return None


def _timed(file: Path, text: str) -> list[tuple[str, float | None]]:
    """The lines of a log, with the time where a line is one."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            lines.append((line, _time(line)))
        except InputError as error:
            raise InputError(f"{file}:{number}: {error}") from None
    return lines


def _calls(lines: list[tuple[str, float | None]], every_s: float) -> Iterator[tuple[int, float, tuple[str, ...], str]]:
    """Number of the line, time, ends and details of each connection in each call of `ss`."""
    now: float | None = None
    seen: set[tuple[str, ...]] = set()
    ends: tuple[str, ...] | None = None
    counted = 0.0
    for number, (line, stamp) in enumerate(lines, 1):
        if stamp is not None:
            now, ends = stamp, None
            continue
        head = _HEAD.match(line)
        if head:
            ends = head.groups()
            if now is None and ends in seen:
                counted, seen = counted + every_s, set()
            seen.add(ends)
        # The details follow in a line of their own, or under `ss -O` in the same one.
        if ends is not None and "cwnd:" in line:
            yield number, (counted if now is None else now), ends, line
            ends = None


def _rate(line: str, name: str) -> float | None:
    found = re.search(rf"\b{name} (\d+(?:\.\d+)?)([KMGT]?)bps", line)
    return float(found[1]) * _UNITS[found[2]] if found else None


def _number(line: str, name: str) -> int | None:
    found = re.search(rf"\b{name}:(\d+)", line)
    return int(found[1]) if found else None


def _ss(file: Path, text: str, every_s: float) -> Found:
    connections: dict[tuple[tuple[str, ...], int], dict[str, Any]] = {}
    samples: list[dict[str, Any]] = []
    last: dict[int, dict[str, Any]] = {}
    lives: dict[tuple[str, ...], int] = {}  # connections that had these ends before
    begin: float | None = None
    lines = _timed(file, text)
    timed = any(stamp is not None for _, stamp in lines)
    for place, time, ends, line in _calls(lines, every_s):
        if large := next(filter(None, map(_TOO_LARGE.search, (line, ends[1], ends[3]))), None):
            raise InputError(f"{file}:{place}: no counter of ss is as large as {large[0]}...")
        if timed and time < _EPOCH_LEAST_S:
            continue  # a look before the first time
        begin = time if begin is None else begin
        life = lives.setdefault(ends, 0)
        if (before := connections.get((ends, life))) is not None and _started_anew(line, before):
            life = lives[ends] = life + 1
        row = connections.setdefault(
            (ends, life),
            {
                "connection": len(connections),
                "protocol": "tcp",
                "source": ends[0].strip("[]"),
                "source_port": int(ends[1]),
                "destination": ends[2].strip("[]"),
                "destination_port": int(ends[3]),
                "vantage": "sender",
            },
        )
        number = row["connection"]
        sample = _ss_sample(line, number, round((time - begin) * 1e9), last.get(number))
        last[number] = sample
        samples.append(sample)
        retransmitted = re.search(r"\bretrans:\d+/(\d+)", line)
        least = re.search(r"\bminrtt:(\d+(?:\.\d+)?)", line)
        row |= {
            "delivered_bytes": sample["delivered_bytes"],
            "segs_out": _number(line, "segs_out") or 0,
            "segs_in": _number(line, "segs_in") or 0,
            "data_segs_out": _number(line, "data_segs_out") or 0,
            "data_octets_out": _number(line, "bytes_sent") or 0,
            "octets_retrans": _number(line, "bytes_retrans") or 0,
            "segs_retrans": int(retransmitted[1]) if retransmitted else 0,
            "mss_sent": _number(line, "mss"),
            "min_rtt_ns": round(float(least[1]) * 1e6) if least else row.get("min_rtt_ns"),
        }
    if not samples or begin is None:
        raise InputError(f"{file}: neither a capture, nor a result of iperf3 -J, nor a log of ss -tin")
    for row in connections.values():
        row |= _closed([s for s in samples if s["connection"] == row["connection"]])
    notes = [] if timed else [f"the log has no times: the calls of ss are taken to be {every_s:g} s apart"]
    if reused := sum(life > 0 for life in lives.values()):
        notes.append(f"{reused} pair{'' if reused == 1 else 's'} of ends had more than one connection in turn: counters began anew")
    return list(connections.values()), samples, round(begin * 1e9), notes


def _started_anew(line: str, before: dict[str, Any]) -> bool:
    """Whether counters that never fall have fallen: the ports belong to another connection now."""
    counters = (("bytes_acked", "delivered_bytes"), ("segs_out", "segs_out"), ("segs_in", "segs_in"))
    return any((now := _number(line, name)) is not None and now < before.get(key, 0) for name, key in counters)


def _ss_sample(line: str, number: int, time_ns: int, before: dict[str, Any] | None) -> dict[str, Any]:
    segment = _number(line, "mss") or 0
    rtt = re.search(r"\brtt:(\d+(?:\.\d+)?)/", line)
    acked, sent = _number(line, "bytes_acked") or 0, _number(line, "bytes_sent") or 0
    again = _number(line, "bytes_retrans") or 0
    threshold = _number(line, "ssthresh")
    return {
        "time_ns": time_ns,
        "span_ns": time_ns - before["time_ns"] if before else 0,
        "connection": number,
        "sent_bytes": max(sent - again, acked),
        "delivered_bytes": acked,
        "data_octets_out": (sent or acked) - before["_sent"] if before else 0,
        "octets_retrans": again - before["_again"] if before else 0,
        "_again": again,
        "_sent": sent or acked,
        "inflight_bytes": (_number(line, "unacked") or 0) * segment,
        "inflight_max_bytes": (_number(line, "unacked") or 0) * segment,
        "cur_rwin_rcvd": _number(line, "snd_wnd") or 0,
        "rtt_min_ns": None,
        "rtt_mean_ns": round(float(rtt[1]) * 1e6) if rtt else None,
        "cwnd_bytes": (_number(line, "cwnd") or 0) * segment or None,
        "ssthresh_bytes": threshold * segment if threshold else None,
        "pacing_bps": _rate(line, "pacing_rate"),
    }
