"""Logs of `ss -tin` as tables of a trace.

`ss -tin` writes the state of each connection at the moment of the call; a log is many calls, each after a line with its time
(`date`, `date +%s.%N`, or ISO 8601), or at equal intervals if there are no such lines. Each connection has one line (`ss -O`),
two, or more where a terminal has wrapped them; without `-n` ports have names. Counters that fall begin a new connection on the
same ports. Each line counts what this host sent and what it received; a connection has the direction of most of its data:

    while sleep 0.1; do date +%s.%N; ss -tin dst 192.0.2.1; done > ss.log
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import counted, show
from elephan.capture.logfile import LogFile
from elephan.capture.logrows import Found, Log, closed

_EPOCH = re.compile(r"^\s*(\d{9,19}(?:\.\d+)?)\s*$")
_ISO = re.compile(r"^\s*(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)\s*$")
_STATES = "ESTAB|SYN-SENT|SYN-RECV|FIN-WAIT-[12]|CLOSE-WAIT|LAST-ACK|CLOSING|TIME-WAIT|UNCONN|LISTEN"
_STATE = re.compile(rf"^\s*(?:tcp\s+)?(?:{_STATES})\s+\d+\s+\d+\b")
_HEAD = re.compile(rf"^\s*(?:tcp\s+)?(?:{_STATES})\s+\d+\s+\d+\s+(\S+):([\w*-]+)\s+(\S+):([\w*-]+)(?:\s|$)")
_TITLE = re.compile(r"^\s*(?:Netid\s+)?State\s+Recv-Q\s+Send-Q\b")
# `date` in the C locale, and as en_US and en_GB write it; `date -R`.
_DATES = (
    re.compile(
        r"^\s*[A-Z][a-z]{2} +(?P<month>[A-Z][a-z]{2}) +(?P<day>\d{1,2}) +(?P<time>\d\d:\d\d:\d\d)(?P<half> [AP]M)?"
        r"(?: +(?P<zone>[A-Z]{1,5}|[+-]\d{2,4}))? +(?P<year>\d{4})\s*$"
    ),
    re.compile(
        r"^\s*[A-Z][a-z]{2},? +(?P<day>\d{1,2}) +(?P<month>[A-Z][a-z]{2}) +(?P<year>\d{4}),? +(?P<time>\d{1,2}:\d\d:\d\d)"
        r"(?P<half> [AP]M)?(?: +(?P<zone>[A-Z]{1,5}|[+-]\d{2,4}))?\s*$"
    ),
)
_EPOCH_LEAST_S = 1e8
_EVERY_NS = 1_000_000_000
BOTH_WAYS = 0.1  # a connection that carries more than this share of its larger direction the other way is one of both
_TOO_LARGE = re.compile(r"\d{17}")  # of no counter, time or rate
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
    if date := next(filter(None, (pattern.match(line) for pattern in _DATES)), None):
        return _date(line, date)
    return None


def _date(line: str, date: re.Match[str]) -> float:
    """Seconds since 1970 of what `date` writes. Zones whose name nobody knows are UTC: only differences matter."""
    clock = date["time"]
    if date["half"]:
        hour, rest = clock.split(":", 1)
        clock = f"{int(hour) % 12 + (12 if date['half'] == ' PM' else 0):02}:{rest}"
    try:
        when = parsedate_to_datetime(f"{date['day']} {date['month']} {date['year']} {clock} {date['zone'] or 'UTC'}")
    except ValueError:
        raise InputError(f'no time: "{line.strip()}"') from None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _timed(file: Path, text: str) -> list[tuple[str, float | None]]:
    """The lines of a log, with the time where a line is one."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            lines.append((line, _time(line)))
        except InputError as error:
            raise InputError(f"{file}:{number}: {error}") from None
    return lines


def _records(lines: list[tuple[str, float | None]]) -> Iterator[tuple[int, float | None, str]]:
    """Number of the line with its window, time and text of each connection in each call, its lines joined; a time alone has no
    text.
    """
    number, parts = 0, list[str]()
    for place, (line, stamp) in enumerate(lines, 1):
        begins = _STATE.match(line) is not None
        if stamp is None and not begins and not _TITLE.match(line):
            if parts and line.strip():
                parts.append(line)
                number = place if "cwnd:" in line else number
            continue
        if parts:
            yield number, None, _joined(parts)
        number, parts = place, [line] if begins else []
        if stamp is not None:
            yield place, stamp, ""
    if parts:
        yield number, None, _joined(parts)


def _joined(parts: list[str]) -> str:
    """One line out of those that a terminal made of it. It breaks lines in the middle of a word too."""
    text = parts[0]
    for part in parts[1:]:
        # A new field, or a word of its own, begins a line; the rest of a word goes on with it.
        last = text.rstrip().rpartition(" ")[2]
        apart = part[:1].isspace() or text[-1:].isspace() or _HEAD.match(text) is None
        ended = ":" in last or last in _WORDS
        starts = re.match(r"[a-z_]+:|(?:send|pacing_rate|delivery_rate|app_limited|cubic|bbr|reno)\b", part)
        text = f"{text} {part}" if apart or (ended and starts) else text + part
    return text


_WORDS = ("send", "pacing_rate", "delivery_rate", "app_limited", "ts", "sack", "ecn", "cubic", "bbr", "reno")


def _calls(lines: list[tuple[str, float | None]], every_s: float) -> Iterator[tuple[int, float, tuple[str, ...], str]]:
    """Number of the line, time, ends and details of each connection in each call of `ss`."""
    now: float | None = None
    seen: set[tuple[str, ...]] = set()
    counted = 0.0
    for number, stamp, text in _records(lines):
        if stamp is not None:
            now = stamp
            continue
        head = _HEAD.match(text)
        if head is None or "cwnd:" not in text:
            continue
        ends = head.groups()
        if now is None and ends in seen:
            counted, seen = counted + every_s, set()
        seen.add(ends)
        yield number, (counted if now is None else now), ends, text


def _port(name: str) -> int:
    """The number of a port; 0 of a name that nobody knows."""
    if name.isdigit():
        return int(name)
    try:
        return socket.getservbyname(name, "tcp")
    except OSError:
        return _SERVICES.get(name, 0)


# Where the system has no list of services.
_SERVICES = {
    "ssh": 22,
    "domain": 53,
    "http": 80,
    "https": 443,
    "rsync": 873,
    "iscsi-target": 3260,
    "mysql": 3306,
    "postgresql": 5432,
}


def _rate(line: str, name: str) -> float | None:
    found = re.search(rf"\b{name} (\d+(?:\.\d+)?)([KMGT]?)bps", line)
    return float(found[1]) * _UNITS[found[2]] if found else None


def _number(line: str, name: str) -> int | None:
    found = re.search(rf"\b{name}:(\d+)(?![\w.])", line)
    return int(found[1]) if found else None


# What never falls in a connection, and is written from the first byte or segment on.
_COUNTERS = ("bytes_sent", "bytes_acked", "bytes_received", "bytes_retrans", "segs_out", "segs_in", "data_segs_out", "data_segs_in")
_COUNTER = re.compile(rf"(?<!\w)({'|'.join(_COUNTERS)}):(\S*)")


def _is_damaged(line: str) -> bool:
    """Whether a counter in a line is no count, or a number is larger than any of `ss`."""
    return _TOO_LARGE.search(line) is not None or any(not value.isdecimal() for _, value in _COUNTER.findall(line))


def read(files: Sequence[LogFile], every_ns: int | None) -> Found:
    """Returns the connections of a log as rows; `every_ns`: time between calls where the log has no times."""
    file, text, every_s = files[0].path, files[0].text, (every_ns or _EVERY_NS) / 1e9
    connections: dict[tuple[tuple[str, ...], int], _Connection] = {}
    lives: dict[tuple[str, ...], int] = {}  # connections that had these ends before
    begin: float | None = None
    damaged: list[int] = []  # lines
    lines = _timed(file, text)
    timed = any(stamp is not None for _, stamp in lines)
    for place, time, ends, line in _calls(lines, every_s):
        if timed and time < _EPOCH_LEAST_S:
            continue  # a look before the first time
        if _is_damaged(line):
            damaged.append(place)
            continue
        begin = time if begin is None else begin
        life = lives.setdefault(ends, 0)
        if (before := connections.get((ends, life))) is not None and before.is_over(line):
            life = lives[ends] = life + 1
        elif before is not None and (before.lacks(line) or time < before.last_s):
            damaged.append(place)
            continue
        one = connections.setdefault((ends, life), _Connection(ends))
        one.last_s = time
        one.look(line, round((time - begin) * 1e9))
    if begin is None and damaged:
        raise InputError(f"{file}:{damaged[0]}: a counter that is no count")
    if begin is None:
        raise InputError(f"{file}: neither a capture, nor a qlog, nor a result of Flent or iperf3 -J, nor a log of ss -tin")
    rows, samples = [], []
    for number, one in enumerate(connections.values()):
        rows.append({"connection": number, **one.row()})
        samples += [{"connection": number, **sample} for sample in one.samples]
    samples.sort(key=lambda sample: sample["time_ns"])
    notes = [] if timed else [f"the log has no times: the calls of ss are taken to be {every_s:g} s apart"]
    if damaged:
        are, first = ("is", "") if len(damaged) == 1 else ("are", "first ")
        notes.append(
            f"{counted(len(damaged), 'look')} of ss with a damaged counter or time {are} left out ({first}line {damaged[0]})"
        )
    if reused := sum(life > 0 for life in lives.values()):
        notes.append(f"{reused} pair{'' if reused == 1 else 's'} of ends had more than one connection in turn: counters began anew")
    return Found(rows, samples, round(begin * 1e9), notes + _ways(list(connections.values())))


def _ways(connections: list[_Connection]) -> list[str]:
    """Sentences about connections that mostly received, and about those that carried much both ways."""
    notes = []
    if received := sum(one.receives for one in connections):
        are = "connection was" if received == 1 else "connections were"
        notes.append(f"{received} {are} seen at the receiver of the data: ss does not know there what the sender retransmitted")
    both = [one for one in connections if min(one.acked, one.received) > BOTH_WAYS * max(one.acked, one.received)]
    if both:
        back = sum(min(one.acked, one.received) for one in both)
        have = "connection has" if len(both) == 1 else "connections have"
        notes.append(
            f"{len(both)} {have} data both ways: the tables have the larger part, and {show(back, 'bytes')} are not in them"
        )
    return notes


class _Connection:
    """What the calls of `ss` say of a connection. Each says what this host sent and what it received."""

    def __init__(self, ends: tuple[str, ...]) -> None:
        self._ends = ends
        self._line = ""
        self.last_s = 0.0  # when it was looked at last
        self._min_rtt_ns: int | None = None
        self._sent: list[dict[str, Any]] = []
        self._received: list[dict[str, Any]] = []

    @property
    def acked(self) -> int:
        """Bytes of this host that the other one has acknowledged."""
        return _number(self._line, "bytes_acked") or 0

    @property
    def received(self) -> int:
        """Bytes that this host has received in order."""
        return _number(self._line, "bytes_received") or 0

    @property
    def receives(self) -> bool:
        """Whether this host is the receiver of most of the data."""
        return self.received > max(self.acked, _number(self._line, "bytes_sent") or 0)

    @property
    def samples(self) -> list[dict[str, Any]]:
        """The rows of `connection_samples`, of the direction in which most data went."""
        return self._received if self.receives else self._sent

    def is_over(self, line: str) -> bool:
        """Returns whether counters that never fall have fallen: the ports belong to another connection now."""
        both = (
            (_number(line, name), _number(self._line, name)) for name in ("bytes_acked", "bytes_received", "segs_out", "segs_in")
        )
        return any(now is not None and now < (before or 0) for now, before in both)

    def lacks(self, line: str) -> bool:
        """Returns whether a line is without a counter that the line before has: it would seem to have fallen to 0."""
        return any(_number(self._line, name) and _number(line, name) is None for name in _COUNTERS)

    def look(self, line: str, time_ns: int) -> None:
        """Takes what a call of `ss` says."""
        self._line = line
        least = re.search(r"\bminrtt:(\d+(?:\.\d+)?)", line)
        self._min_rtt_ns = round(float(least[1]) * 1e6) if least else self._min_rtt_ns
        self._sent.append(_sent(line, time_ns, self._sent[-1] if self._sent else None))
        self._received.append(_received(line, time_ns, self._received[-1] if self._received else None))

    def row(self) -> dict[str, Any]:
        """Returns the row of `connections`, without its number."""
        line, local, remote = self._line, self._ends[:2], self._ends[2:]
        source, destination = (remote, local) if self.receives else (local, remote)
        times = closed(self.samples)
        lasted = times["end_ns"] - times["start_ns"]
        moved = self.samples[-1]["delivered_bytes"] - self.samples[0]["delivered_bytes"]
        row: dict[str, Any] = {
            "protocol": "tcp",
            "source": source[0].strip("[]"),
            "source_port": _port(source[1]),
            "destination": destination[0].strip("[]"),
            "destination_port": _port(destination[1]),
            "min_rtt_ns": self._min_rtt_ns,
            **times,
            "goodput_bps": moved * 8e9 / lasted if lasted else None,
        }
        if self.receives:
            return row | {
                "vantage": "receiver",
                "delivered_bytes": self.received,
                "segs_out": _number(line, "segs_in") or 0,
                "segs_in": _number(line, "segs_out") or 0,
                "data_segs_out": _number(line, "data_segs_in") or 0,
                "data_octets_out": self.received,
                "mss_rcvd": _number(line, "rcvmss"),
            }
        retransmitted = re.search(r"\bretrans:\d+/(\d+)", line)
        return row | {
            "vantage": "sender",
            "delivered_bytes": self.acked,
            "segs_out": _number(line, "segs_out") or 0,
            "segs_in": _number(line, "segs_in") or 0,
            "data_segs_out": _number(line, "data_segs_out") or 0,
            "data_octets_out": _number(line, "bytes_sent") or 0,
            "octets_retrans": _number(line, "bytes_retrans") or 0,
            "segs_retrans": int(retransmitted[1]) if retransmitted else 0,  # ss writes no count of 0
            "mss_sent": _number(line, "mss"),
        }


def _received(line: str, time_ns: int, before: dict[str, Any] | None) -> dict[str, Any]:
    """What this host has received. Window, round-trip time and pace in the line are those of what it sends."""
    received = _number(line, "bytes_received") or 0
    return {
        "time_ns": time_ns,
        "span_ns": time_ns - before["time_ns"] if before else 0,
        "sent_bytes": received,
        "delivered_bytes": received,
        "data_octets_out": received - before["delivered_bytes"] if before else 0,
    }


def _sent(line: str, time_ns: int, before: dict[str, Any] | None) -> dict[str, Any]:
    """What this host has sent."""
    segment = _number(line, "mss") or 0
    rtt = re.search(r"\brtt:(\d+(?:\.\d+)?)/", line)
    acked, sent = _number(line, "bytes_acked") or 0, _number(line, "bytes_sent") or 0
    again = _number(line, "bytes_retrans") or 0
    threshold = _number(line, "ssthresh")
    return {
        "time_ns": time_ns,
        "span_ns": time_ns - before["time_ns"] if before else 0,
        "sent_bytes": max(sent - again, acked),
        "delivered_bytes": acked,
        "data_octets_out": (sent or acked) - before["_sent"] if before else 0,
        "octets_retrans": again - before["_again"] if before else 0,
        "_again": again,
        "_sent": sent or acked,
        "inflight_bytes": (_number(line, "unacked") or 0) * segment,
        "inflight_max_bytes": (_number(line, "unacked") or 0) * segment,
        "cur_rwin_rcvd": _number(line, "snd_wnd"),
        "rtt_min_ns": None,
        "rtt_mean_ns": round(float(rtt[1]) * 1e6) if rtt else None,
        "cwnd_bytes": (_number(line, "cwnd") or 0) * segment or None,
        "ssthresh_bytes": threshold * segment if threshold else None,
        "pacing_bps": _rate(line, "pacing_rate"),
    }


KIND = Log("ss", lambda _: True, read, {"connections": ("segs_retrans",)})
