"""A log of a real path as a trace that a link follows: rates of iperf3 and ss, delays and losses of ping.

A transfer carries at most what the link can, so its goodput is a lower bound of the capacity. No log says how far below it is. A
round trip is both ways, and which share of it one way takes is an assumption. The round trips of a transfer have its own queue in
them, and a simulation would add that queue again. So the smallest one of iperf3 and ss counts, unless the caller asks for each. A
lost probe says nothing of its time, so the lost share is over windows.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import counted, show
from elephan.capture import iperf3, logs, pinglog, sslog
from elephan.capture.logfile import LogFile
from elephan.capture.logrows import Found, Row

WINDOW_S = 10.0
DELAYS = ("least", "each", "none")
_TICK_NS = 1000  # rows are in whole microseconds
_LEAST_PROBES = 20  # of a window whose lost share means something


@dataclass(frozen=True)
class Asked:
    """What the caller assumes or chooses.

    `share`: which share of a round trip the delay of one way is. `delay`: of a transfer's round trips the `least` or `each`, or
    `none`; empty is `least`. `window_s`: over how long the lost share of probes is taken, s. `every_s`: the time between two
    probes, or two calls of ss, where the log has no times, s. `received`: take what the host of the log received, where data went
    both ways.
    """

    share: float = 0.5
    delay: str = ""
    window_s: float = WINDOW_S
    every_s: float | None = None
    received: bool = False


@dataclass(frozen=True)
class PathTrace:
    """A trace of a path: rows with a time in s and the values of `columns`, in their units, and sentences about it."""

    kind: str
    columns: tuple[str, ...]
    rows: list[tuple[float, ...]]
    end_s: float
    notes: list[str] = field(default_factory=list)

    def text(self, lines: Sequence[str] = ()) -> str:
        """Returns the trace as CSV, with lines of comment before it."""
        head = [f"# {line}" for line in (*lines, *self.notes)]
        body = [",".join((f"{time:.6f}", *(f"{value:.6g}" for value in values))) for time, *values in self.rows]
        last = ",".join((f"{self.end_s:.6f}", *(f"{value:.6g}" for value in self.rows[-1][1:])))
        return "\n".join([*head, ",".join(("time_s", *self.columns)), *body, last]) + "\n"

    def mean(self, column: str) -> float:
        """Returns the mean of a column over time."""
        place = self.columns.index(column) + 1
        ends = [*(row[0] for row in self.rows[1:]), self.end_s]
        return sum(row[place] * (end - row[0]) for row, end in zip(self.rows, ends, strict=True)) / self.end_s

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON."""
        means = {f"mean_{column}": self.mean(column) for column in self.columns}
        return {"kind": self.kind, "rows": len(self.rows), "duration_s": self.end_s, **means, "notes": self.notes}


def path_trace(path: Path, asked: Asked = Asked()) -> PathTrace:
    """Returns the trace that a log of iperf3, ss or ping gives; InputError with the file, and the line if one is wrong."""
    file = LogFile(path)
    if not logs.is_log(path):
        raise InputError(f"{path}: no text: a log of iperf3 -J, ss -tin or ping is")
    text = file.text
    if not text.strip():
        raise InputError(f"{path}: an empty log")
    if pinglog.takes(text):
        return _of_ping(pinglog.read(path, text, asked.every_s), path, asked)
    kind = next(kind for kind in logs.KINDS if kind.takes(file))
    if kind not in (iperf3.KIND, sslog.KIND):
        raise InputError(f"{path}: a log of {kind.name} gives no trace of a path; there are iperf3 -J, ss -tin and ping")
    try:
        found = kind.read([file], None if asked.every_s is None else round(asked.every_s * 1e9))
    except InputError as error:
        unknown = "neither a capture, nor a qlog" in str(error)
        raise InputError(f"{path}: no log of iperf3 -J, ss -tin or ping") if unknown else error from None
    return _of_transfer(found, kind.name, path, asked)


def _of_ping(probes: pinglog.Probes, path: Path, asked: Asked) -> PathTrace:
    """A row for each reply and each window of lost shares."""
    if len(probes.sent_s) < 2:
        raise InputError(f"{path}: one probe gives no trace: at least two are needed")
    every = probes.sent_s[-1] / (len(probes.sent_s) - 1)
    end = probes.sent_s[-1] + max(every, 2e-6)
    window = max(asked.window_s, every)
    begins = [window * number for number in range(max(round(end / window), 1))]
    places = [max(bisect.bisect_right(begins, time) - 1, 0) for time in probes.sent_s]
    sent, lost = [0] * len(begins), [0] * len(begins)
    for place, rtt in zip(places, probes.rtt_s, strict=True):
        sent[place] += 1
        lost[place] += rtt is None
    shares = [gone / count if count else 0.0 for gone, count in zip(lost, sent, strict=True)]
    delays = {
        _tick(time): 1e3 * asked.share * rtt for time, rtt in zip(probes.sent_s, probes.rtt_s, strict=True) if rtt is not None
    }
    delay = next(iter(delays.values()))
    rows: list[tuple[float, ...]] = []
    for time in sorted({*delays, *map(_tick, begins)}):
        delay = delays.get(time, delay)
        share = shares[max(bisect.bisect_right(begins, time / 1e6) - 1, 0)]
        if not rows or rows[-1][1:] != (delay, share):
            rows.append((time / 1e6, delay, share))
    notes = [f"the delay of one way is taken to be {asked.share:g} of each round trip"]
    notes.append(
        f"{probes.lost} of {counted(len(probes.rtt_s), 'probe')} have no reply; the share is over windows of {show(window, 's', 3)}"
    )
    if probes.lost and min(sent) < _LEAST_PROBES:
        notes.append(f"a window has {counted(min(sent), 'probe')}: its lost share is coarse (--window makes windows longer)")
    return PathTrace("ping", ("delay_ms", "loss"), rows, max(end, rows[-1][0] + 1e-6), [*probes.notes, *notes])


def _tick(seconds: float) -> int:
    """Whole microseconds."""
    return round(1e6 * seconds)


def _of_transfer(found: Found, kind: str, path: Path, asked: Asked) -> PathTrace:
    """The rate in each interval of the transfer, over all its connections."""
    rows = _one_way(found.connections, path, asked)
    if kind == iperf3.KIND.name and rows[0]["protocol"] == "udp" and rows[0]["vantage"] == "sender":
        raise InputError(f"{path}: the sender of UDP counts what it sent, not what arrived: take the JSON of the server, or use -R")
    numbers = {row["connection"] for row in rows}
    samples = [sample for sample in found.samples if sample["connection"] in numbers]
    curves = [_curve([one for one in samples if one["connection"] == number], kind) for number in sorted(numbers)]
    curves = [curve for curve in curves if len(curve) > 1]
    if not curves:
        raise InputError(f"{path}: no two times between which bytes were delivered: the log gives no rate")
    edges = _edges(curves)
    total = [sum(_at(curve, edge) for curve in curves) for edge in edges]
    rates = [
        8e3 * (after - before) / (end - begin)
        for (begin, end), (before, after) in zip(pairwise(edges), pairwise(total), strict=True)
    ]
    begin, times = edges[0], edges[:-1]
    known = _known(samples, kind)
    kept = [place for place, (one, end) in enumerate(pairwise(edges)) if known(one, end)]
    if not kept or not any(rates[place] for place in kept):
        raise InputError(f"{path}: nothing was delivered: the log gives no rate")
    notes = _notes(found, rows, path, kind)
    if missing := len(rates) - len(kept):
        are = "is" if missing == 1 else "are"
        notes.append(f"{counted(missing, 'interval')} of the log {are} missing: the rate before stays")
    columns, delays = _delays(rows, samples, [times[place] for place in kept], asked, notes)
    trace = [((times[place] - begin) / 1e9, rates[place], *delay) for place, delay in zip(kept, delays, strict=True)]
    trace[0] = (0.0, *trace[0][1:])
    return PathTrace(kind, ("rate_mbps", *columns), trace, (edges[-1] - begin) / 1e9, notes)


def _one_way(rows: Sequence[Row], path: Path, asked: Asked) -> list[Row]:
    """The connections of one direction between two hosts: those of the largest one, and all others alike."""
    ways = {row["vantage"] for row in rows}
    if len(ways) > 1:
        rows = [row for row in rows if row["vantage"] == ("receiver" if asked.received else "sender")]
    elif asked.received and ways == {"sender"}:
        raise InputError(f"{path}: the host of the log received no data: leave --received out")
    largest = max(rows, key=lambda row: row.get("delivered_bytes") or 0)
    return [row for row in rows if (row["source"], row["destination"]) == (largest["source"], largest["destination"])]


def _curve(samples: Sequence[Row], kind: str) -> list[tuple[int, float]]:
    """When, in ns, how many bytes a connection has delivered since it was first seen."""
    if kind == sslog.KIND.name:
        zero = samples[0]["delivered_bytes"] or 0
        found = {one["time_ns"]: float((one["delivered_bytes"] or 0) - zero) for one in samples}
    else:
        found, total = {}, 0.0
        for one in samples:
            found.setdefault(one["time_ns"] - one["span_ns"], total)
            total += one["data_octets_out"]
            found[one["time_ns"]] = total
    return sorted(found.items())


def _edges(curves: Sequence[Sequence[tuple[int, float]]]) -> list[int]:
    """The times of the connection with the most of them, from where the first one begins to where the last one ends."""
    longest = max(curves, key=len)
    begin, end = min(curve[0][0] for curve in curves), max(curve[-1][0] for curve in curves)
    inner = [time for time, _ in longest]
    found = [begin]
    for time in [*inner, end]:
        if time - found[-1] >= _TICK_NS:
            found.append(time)
    return found


def _at(curve: Sequence[tuple[int, float]], time: int) -> float:
    """The bytes of a connection at a time, evenly between two known ones."""
    place = bisect.bisect_right(curve, time, key=lambda one: one[0])
    if place == 0 or place == len(curve):
        return curve[min(place, len(curve) - 1)][1] if place else 0.0
    (begin, before), (end, after) = curve[place - 1], curve[place]
    return before + (after - before) * (time - begin) / (end - begin)


def _known(samples: Sequence[Row], kind: str) -> Callable[[int, int], bool]:
    """Returns whether any connection says what it delivered in an interval."""
    if kind == sslog.KIND.name:
        return lambda begin, end: True  # a count covers all time since the one before
    spans = sorted((one["time_ns"] - one["span_ns"], one["time_ns"]) for one in samples)
    covered: list[list[int]] = []
    for begin, end in spans:
        if covered and begin <= covered[-1][1] + _TICK_NS:
            covered[-1][1] = max(covered[-1][1], end)
        else:
            covered.append([begin, end])

    def known(begin: int, end: int) -> bool:
        place = bisect.bisect_right(covered, (begin + end) / 2, key=lambda one: one[0]) - 1
        return place >= 0 and covered[place][1] >= (begin + end) / 2

    return known


def _delays(
    rows: Sequence[Row], samples: Sequence[Row], times: Sequence[int], asked: Asked, notes: list[str]
) -> tuple[tuple[str, ...], list[tuple[float, ...]]]:
    """The column of delays, ms, with its values at the times of the rows; no column where the log has no round trip."""
    seen = sorted((one["time_ns"], one["rtt_mean_ns"]) for one in samples if one.get("rtt_mean_ns"))
    least = min((row["min_rtt_ns"] for row in rows if row.get("min_rtt_ns")), default=min((rtt for _, rtt in seen), default=0))
    if asked.delay == "none":
        return (), [()] * len(times)
    if not (seen if asked.delay == "each" else least):
        if asked.delay:
            notes.append("the log has no such round-trip times, and so the trace no delay")
        return (), [()] * len(times)
    if asked.delay == "each":
        notes.append(
            f"the delay of one way is taken to be {asked.share:g} of each round trip, which has the transfer's own queue in it"
        )
        at = [max(bisect.bisect_right(seen, (time, float("inf"))) - 1, 0) for time in times]
        return ("delay_ms",), [(asked.share * seen[place][1] / 1e6,) for place in at]
    notes.append(f"the delay of one way is taken to be {asked.share:g} of the smallest round trip, {show(least / 1e9, 's', 3)}")
    return ("delay_ms",), [(asked.share * least / 1e6,)] * len(times)


def _notes(found: Found, rows: Sequence[Row], path: Path, kind: str) -> list[str]:
    """What the reader says of the log, and what a rate of a transfer is."""
    ends = f"{rows[0]['source']} to {rows[0]['destination']}"
    notes = [
        f"the rate is what {counted(len(rows), 'connection')} from {ends} delivered: a lower bound of what the link could carry"
    ]
    if kind == iperf3.KIND.name and rows[0]["vantage"] == "sender":
        notes.append(
            "the sender counts what it wrote to its socket, whose buffer the first interval fills: the receiver's JSON is exact"
        )
    if len(rows) < len(found.connections):
        left = len(found.connections) - len(rows)
        notes.append(f"{counted(left, 'connection')} of other hosts or the other direction {'is' if left == 1 else 'are'} left out")
    return [*notes, *found.notes]


def scenario_line(file: Path, trace: PathTrace) -> str:
    """Returns the words of a scenario that follow a trace."""
    names: Mapping[str, str] = {"rate_mbps": "rate", "delay_ms": "delay", "loss": "loss"}
    return ", ".join(f'{names[column]} = {{ trace = "{file}" }}' for column in trace.columns)
