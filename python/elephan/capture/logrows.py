"""What logs of all kinds have: rows, and what a kind of log says of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elephan.base.quantity import counted

if TYPE_CHECKING:
    from elephan.capture.logfile import LogFile

PROBE = "probe"  # the protocol of a row that has round-trip times alone, as those of ping
# Columns that every capture has, and that only packets tell: null where a log has none.
UNSEEN: Mapping[str, tuple[str, ...]] = {
    "connections": (
        *("delivered_bytes", "segs_out", "segs_in", "data_segs_out", "data_octets_out", "segs_retrans", "octets_retrans"),
        *("segs_retrans_fast", "segs_retrans_timeout", "segs_retrans_probe", "segs_retrans_needless", "syn_retrans"),
        *("out_of_order", "missed_bytes", "dup_acks_in", "zero_rwin_rcvd", "window_probes", "rwin_closed_ns"),
        *("ce_out", "ece_in", "cong_signals", "max_inflight_bytes", "bursts", "burst_max_segs", "burst_max_bytes"),
    ),
    "connection_samples": (
        *("sent_bytes", "delivered_bytes", "data_octets_out", "octets_retrans"),
        *("inflight_bytes", "inflight_max_bytes", "dup_acks_in", "burst_max_segs"),
    ),
}
_SAME_TIME_NS = 1_000_000_000  # files with less than this between them were recorded at one time

Row = dict[str, Any]


class Found(NamedTuple):
    """What is in logs: rows of tables, when the first began, notes, and what else `summary.json` has of them."""

    connections: list[Row]
    samples: list[Row]
    begin_ns: int
    notes: list[str]
    events: Sequence[Row] = ()
    more: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Log:
    """A kind of log: how it is known, how it is read, and what its logs do not say."""

    name: str
    takes: Callable[[LogFile], bool]
    read: Callable[[Sequence[LogFile], int | None], Found]  # of files and the interval that was asked for, ns
    unknown: Mapping[str, tuple[str, ...]]  # columns that every capture has and that are null here, by table
    several: bool = False  # whether files of it can be read together
    paired: bool = False  # whether a connection may have a row for either direction, as one of a capture has
    ended: bool = False  # whether nothing is left to send behind its end


@dataclass
class Line:
    """A row of `connections` without its number, its series, its events, and how readers call it."""

    row: Row
    samples: list[Row]
    name: str
    events: list[Row] = field(default_factory=list)
    told: list[str] = field(default_factory=list)


@dataclass
class Part:
    """Rows whose times begin together."""

    file: int  # place of their file among the files
    begin_ns: int | None  # since 1970; None if nobody knows
    lines: list[Line]

    @property
    def end_ns(self) -> int:
        """When the last row ends, from the begin of the part."""
        return max((line.row["end_ns"] for line in self.lines), default=0)


def closed(samples: list[Row]) -> Row:
    """Returns what the columns of a connection say about its time, from its samples."""
    begin, end = min(s["time_ns"] - s["span_ns"] for s in samples), max(s["time_ns"] for s in samples)
    return {"start_ns": begin, "end_ns": end, "data_start_ns": begin, "data_end_ns": end}


def round_trips(times_ns: Sequence[float]) -> Row:
    """Returns the columns of a connection about its round-trip times."""
    if not len(times_ns):
        return {"count_rtt": 0}
    values = np.asarray(times_ns, dtype=float)
    low, middle, high, top = (round(float(one)) for one in np.percentile(values, (0, 50, 99, 100)))
    return {
        "count_rtt": len(values),
        "min_rtt_ns": low,
        "median_rtt_ns": middle,
        "p99_rtt_ns": high,
        "max_rtt_ns": top,
        "sum_rtt_ns": round(float(values.sum())),
    }


def joined(parts: Sequence[Part], files: Sequence[str], notes: list[str], more: Mapping[str, Any]) -> Found:
    """Returns the rows of all parts on one axis of time.

    Files that were not recorded at one time each begin at 0: an axis of days would show nothing of tests that take a minute.
    """
    parts = [part for part in parts if part.lines]
    known = [part.begin_ns for part in parts if part.begin_ns is not None]
    apart = len({part.file for part in parts}) > 1 and not (len(known) == len(parts) and _overlap(parts))
    zero: dict[int | None, int] = {None: min(known, default=0)}
    if apart:
        why = "the files were not recorded at one time" if len(known) == len(parts) else "a file does not say when it began"
        notes = [f"{why}: the times of each file begin at 0", *notes]
        for part in parts:
            begins = [one.begin_ns for one in parts if one.file == part.file and one.begin_ns is not None]
            zero[part.file] = min(begins, default=0)
    rows: list[Row] = []
    samples: list[Row] = []
    events: list[Row] = []
    names, told, first = {}, {}, dict[int, int]()
    for part in sorted(parts, key=lambda part: part.file):
        start = zero.get(part.file if apart else None, 0)
        shift = 0 if part.begin_ns is None else part.begin_ns - start
        for line in part.lines:
            number = len(rows)
            first.setdefault(part.file, number)
            names_of_times = ("start_ns", "end_ns", "data_start_ns", "data_end_ns")
            times = {name: line.row[name] + shift for name in names_of_times if line.row[name] is not None}
            rows.append(line.row | times | {"connection": number})
            samples += [one | {"connection": number, "time_ns": one["time_ns"] + shift} for one in line.samples]
            events += [one | {"connection": number, "time_ns": one["time_ns"] + shift} for one in line.events]
            names[str(number)] = line.name if len(first) == 1 and len(files) == 1 else f"{files[part.file]}: {line.name}"
            if line.told:
                told[str(number)] = line.told
    samples.sort(key=lambda one: (one["time_ns"], one["connection"]))
    events.sort(key=lambda one: (one["time_ns"], one["connection"]))
    said: dict[str, Any] = {"names": names, "told": told, **more}
    if len(files) > 1:
        notes = [*notes, f"{counted(len(files), 'file')} are read as one analysis: {', '.join(files)}"]
        said["apart"] = list(first.values()) if apart else []
    return Found(rows, samples, min(known, default=0), notes, events, said)


def _overlap(parts: Sequence[Part]) -> bool:
    """Whether there is no time between the files in which none of them was recorded."""
    spans = sorted((part.begin_ns or 0, (part.begin_ns or 0) + part.end_ns) for part in parts)
    latest = spans[0][1]
    for begin, end in spans[1:]:
        if begin > latest + _SAME_TIME_NS:
            return False
        latest = max(latest, end)
    return True
