"""Logs of QUIC (qlog) as tables of a trace: one object of JSON, a JSON text sequence, or a record a line; also several files.

Each endpoint logs what it sent and what it received. A connection that both ends logged, by its group or its original destination
connection ID, has each direction as its sender logged it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import counted
from elephan.capture.fields import Fields, record
from elephan.capture.logfile import LogFile
from elephan.capture.logrows import UNSEEN, Found, Log, Part, joined
from elephan.capture.qlogtext import items, takes
from elephan.capture.quic import CLOCK_MS, Endpoint

_TIME_MAX_MS = 1e14
_LEAP_MS = 86_400_000.0  # a time that is later than the one before by more is damaged
_DELTA = ("delta", "relative_to_previous_event")
_RELATIVE = ("relative", "relative_to_epoch")

Object = Mapping[str, Any]


class _Trace:
    """What a trace says of itself, and the clock of its events."""

    def __init__(self, said: Object, fields: Fields) -> None:
        common = record(said.get("common_fields"))
        self._format = common.get("time_format")
        self._fields = fields
        point = record(said.get("vantage_point"))
        self.group = _group(common)
        self.point = str(point.get("type", "")).lower()
        self.flow = str(point.get("flow", "")).lower()
        self.is_old = "event_fields" in said
        self._zero, self.wall_ms = _reference(common.get("reference_time"))
        self._last: float | None = None

    def time_ms(self, event: Object) -> float | None:
        """Returns the time of an event, ms since 1970 or since a begin that nobody knows; None where it is no time."""
        time = self._fields.value(event.get("time"), "time", _TIME_MAX_MS)
        if time is None:
            return None
        how = event.get("time_format", self._format)
        if how in _DELTA:
            before = self._zero if self._last is None else self._last
        else:
            is_whole = how not in _RELATIVE and time >= CLOCK_MS
            before = 0.0 if is_whole or how == "absolute" else self._zero
        if self._last is not None and before + time > self._last + _LEAP_MS:
            self._fields.value(-1, "time")  # one that is far behind all others
            return None
        self._last = before + time
        return self._last


def _group(of: Object) -> str:
    """The connection that an event is of; empty where nothing says so."""
    found = next((of[key] for key in ("group_id", "ODCID", "odcid") if of.get(key) not in (None, "")), "")
    return str(found)[:200]


def _reference(told: Any) -> tuple[float, float | None]:
    """The time from which others count, ms, and when the log began by the clock on the wall."""
    if isinstance(told, str) and told.replace(".", "", 1).isdecimal():
        told = float(told[:30])
    if isinstance(told, int | float) and not isinstance(told, bool):
        return (float(told) if 0 <= told < _TIME_MAX_MS else 0.0), None
    times = [_moment(record(told).get(key)) for key in ("epoch", "wall_clock_time")] if told else [0.0, None]
    return times[0] or 0.0, times[1]


def _moment(told: Any) -> float | None:
    try:
        return datetime.fromisoformat(told).timestamp() * 1e3
    except (TypeError, ValueError, OverflowError):
        return None


def read(files: Sequence[LogFile], every_ns: int | None) -> Found:
    """Returns the connections of logs as rows; InputError for a file without any event of QUIC."""
    fields, notes = Fields(), list[str]()
    ends: list[Endpoint] = []
    for place, file in enumerate(files):
        found = _endpoints(place, file, every_ns, fields, notes)
        if not found:
            raise InputError(f"{file}: a qlog without an event of QUIC that says what was sent, received, lost or measured")
        ends += found
    both = _seen_at_both_ends(ends)
    for end, peer in both.items():
        end.meets(peer)
    names = [file.path.name for file in files]
    names = [name if names.count(name) == 1 else str(file) for name, file in zip(names, files, strict=True)]
    several = len({end.group or id(end) for end in ends}) > 1
    parts = [Part(end.file, end.begin_ns, end.lines(several, end in both)) for end in ends]
    if both:
        notes.append(f"{counted(len(both) // 2, 'connection')} logged at both ends: each direction is as its sender logged it")
    for end in ends:
        notes += [note for note in end.notes() if note not in notes]
    cuts = all(end.knows_states for end in ends)
    return joined(parts, names, notes + fields.notes(), {"cuts": cuts})


def _endpoints(place: int, file: LogFile, every_ns: int | None, fields: Fields, notes: list[str]) -> list[Endpoint]:
    """The connections of a file, each as one endpoint saw it."""
    trace, number = _Trace({}, fields), 0
    ends: dict[tuple[int, str], Endpoint] = {}
    for kind, one in items(file, notes):
        if kind == "trace":
            trace, number = _Trace(one, fields), number + 1
            if trace.is_old:
                raise InputError(f"{file}: a qlog of a draft before 0.3, whose events are lists; convert it to 0.3 or later")
            if told := one.get("error_description"):
                notes.append(f"{file}: a trace is missing: {str(told)[:200]}")
            continue
        time = trace.time_ms(one)
        if time is None:
            continue
        key = (number, _group(one) or trace.group)
        if key not in ends:
            ends[key] = Endpoint(place, key[1], trace.point, trace.flow, every_ns, fields)
        ends[key].take(time, str(one.get("name", "")), record(one.get("data")))
        if time < CLOCK_MS and trace.wall_ms is not None:
            ends[key].wall_ms = trace.wall_ms
    return [end for end in ends.values() if end.has_rows]


def _seen_at_both_ends(ends: Sequence[Endpoint]) -> dict[Endpoint, Endpoint]:
    """The two endpoints of each connection of which there is a log of the client and one of the server, with what they sent."""
    groups: dict[str, list[Endpoint]] = {}
    for end in ends:
        if end.group and end.sent_any:
            groups.setdefault(end.group, []).append(end)
    pairs = [group for group in groups.values() if sorted(end.point for end in group) == ["client", "server"]]
    return {end: peer for pair in pairs for end, peer in (pair, pair[::-1])}


KIND = Log(
    "qlog",
    takes,
    read,
    UNSEEN,
    several=True,
    paired=True,
)
