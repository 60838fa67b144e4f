"""A capture or a log of real (or simulated) transfers: its connections, their series, and its folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from elephan.base.errors import InputError, shown
from elephan.base.paths import as_path
from elephan.base.quantity import counted
from elephan.capture import asked, logs, packets, sources
from elephan.capture.activity import Activity, enough, known_stretches
from elephan.capture.oneway import one_way_notes
from elephan.capture.pair import FILES, Pair, pair_of
from elephan.capture.plateau import SHARE_MIN, plateau_of
from elephan.capture.ranked import Large, Ranked, Total
from elephan.capture.seriesnotes import beyond_path, widened
from elephan.capture.twin import kept
from elephan.result import folder
from elephan.result.run import Run, load_run, read_table
from elephan.scenario.source import read_object
from elephan.table import phases
from elephan.table.classes import TRACE
from elephan.table.rows import among, column

if TYPE_CHECKING:
    import pyarrow as pa

VANTAGES = ("sender", "receiver", "between")
ENDS = ("sender", "receiver")  # where a round-trip time is one of the whole way
CONTROLLED = ("tcp", "quic")  # protocols with congestion control, whose connections have phases

FEW = 32  # tables of one connection that are kept: those of the figures

Array = npt.NDArray[np.float64]


class Trace(folder.Result):
    """What a capture or a log says. Tables are pyarrow Tables, as the data dictionary has them.

    >>> run = el.run("sawtooth", set={"duration": "30 s"}, out="traced", pcap=True)
    >>> trace = el.analyze(run.captures[0])
    >>> trace.focus, trace.label(0), trace.row(0)["fin"]
    (0, 'sender[0] → receiver[0]', False)
    >>> time_ns, window_bytes = trace.series(0, "cwnd_bytes")
    >>> time_ns, place_bytes = trace.times(0, "retransmission")
    >>> len(place_bytes), trace.beside_share(trace.row(0))
    (172, 0.0)
    >>> round(trace.rtt_ns(trace.row(0)) / 1e6)
    77
    >>> trace.sample_columns("cwnd_bytes").column_names, trace.data_span(1) is not None, "connections" in trace.streamed()
    (['cwnd_bytes'], True, True)
    >>> sorted(trace.as_dict())[:2]
    ['connections', 'phases']
    >>> trace.phases().recovers is None, trace.activity(0).whole_s > 0
    (True, True)
    >>> trace.apart, len(trace.known_stretches(0))
    ([], 1)
    >>> trace.told(0)[0]
    'Its set-up took 50.1 ms.'
    """

    kind = "trace"

    def __init__(
        self, tables: Mapping[str, Any], summary: dict[str, Any], manifest: dict[str, Any], beside: Run | None = None
    ) -> None:
        self._tables = dict(tables)
        self._large: dict[str, Large] = {}
        self._few: dict[tuple[str, int], pa.Table] = {}
        self.summary = summary
        self.manifest = manifest
        self.beside = beside  # the run that it is compared with
        self.twin: kept.Kept | None = None  # of the connection `focus`, where one was asked for

    def _table(self, name: str) -> pa.Table:
        import pyarrow as pa

        table = self._tables[name]
        if isinstance(table, Path):
            table = read_table(table)
        elif not isinstance(table, pa.Table):
            table = pa.table(table)
        self._tables[name] = table
        return table

    def _part(self, name: str) -> Large:
        """A table of which only parts are wanted."""
        if name not in self._large:
            table = self._tables[name]
            self._large[name] = Large(table if isinstance(table, Path) else self._table(name))
        return self._large[name]

    @property
    def connections(self) -> pa.Table:
        """A row per direction of a connection."""
        return self._table("connections")

    @property
    def samples(self) -> pa.Table:
        """What each direction did in intervals of time."""
        return self._table("connection_samples")

    @property
    def events(self) -> pa.Table:
        """Retransmissions and other rare things."""
        return self._table("trace_events")

    @property
    def stretches(self) -> pa.Table:
        """What held each direction back from when to when."""
        return self._table("connection_stretches")

    @property
    def findings(self) -> pa.Table:
        """Causes and troubles of connections: the rows of which sentences are made."""
        return self._table("connection_findings")

    @cached_property
    def pair(self) -> Pair | None:
        """What two captures of one transfer say together; None of a single capture or a log."""
        found = self.summary.get("pair")
        return pair_of(found, *(self._table(f"pair_{name}") for name in ("connections", "delays", "losses"))) if found else None

    @property
    def name(self) -> str:
        return str(self.manifest["name"])

    @property
    def notes(self) -> list[str]:
        """Sentences about what is damaged, cut off or odd."""
        return list(self.summary["notes"])

    def told(self, number: int) -> list[str]:
        """Returns sentences about a connection: those that delivered most, and the one that was asked for, have some."""
        return list(self.summary.get("told", {}).get(str(number), []))

    @property
    def span_ns(self) -> int:
        return int(self.summary["span_ns"])

    @cached_property
    def ranked(self) -> Ranked:
        """The rows of `connections`, those that delivered most first. Each is made when it is looked at."""
        return Ranked(self._part("connections"))

    def row(self, number: int) -> dict[str, Any]:
        """Returns the row of `connections` of a connection. Raises InputError if there is none."""
        return self.ranked.at(self._place(number))

    def _place(self, number: int) -> int:
        place = self.ranked.place(number)
        if place is None:
            numbers = self.ranked.numbers
            if not numbers.size:
                raise InputError("no connection")
            there = f"they are {numbers.min()} to {numbers.max()}" if numbers.size > 1 else f"there is only {numbers[0]}"
            raise InputError(f"no connection {number}: {there}")
        return place

    @property
    def focus(self) -> int:
        """The connection that figures of one connection show: the one that was asked for, else the one that delivered most."""
        asked = self.manifest.get("connection")
        return int(self.ranked[0]["connection"] if asked is None else asked)

    def label(self, number: int) -> str:
        """Returns a connection as a reader would call it: as its log does, else by its hosts, with ports where these are shared."""
        if name := self.summary.get("names", {}).get(str(number)):
            return str(name)
        row, (source, destination) = self.ranked.at(place := self._place(number)), self.ranked.ends
        alike = int(((source == source[place]) & (destination == destination[place])).sum())
        ports = (f":{row['source_port']}", f":{row['destination_port']}") if alike > 1 else ("", "")
        return f"{row['source']}{ports[0]} → {row['destination']}{ports[1]}"

    def _of(self, name: str, number: int) -> pa.Table:
        """Rows of one connection, of which the figures ask for several columns."""
        if (name, number) not in self._few:
            if len(self._few) >= FEW:
                self._few.pop(next(iter(self._few)))
            self._few[name, number] = self._part(name).of(number)
        return self._few[name, number]

    def series(self, number: int, name: str) -> tuple[Array, Array]:
        """Returns a column of `connection_samples` of one connection: ends of the intervals in ns, and as many values.

        Counts that a log does not know, as after an interval that is damaged, are left out.
        """
        samples = self._of("connection_samples", number)
        time, value = column(samples, "time_ns"), column(samples, name)
        known = ~np.isnan(value) if name in logs.UNKNOWN_IN_SAMPLES else slice(None)
        return time[known], value[known]

    def known_stretches(self, number: int) -> list[tuple[Array, Array]]:
        """Returns the stretches of time of which a connection's intervals are known: times, and what was delivered by then."""
        return known_stretches(self._of("connection_samples", number))

    def sample_columns(self, *names: str) -> pa.Table:
        """Returns columns of `connection_samples`, of all connections."""
        return self._part("connection_samples").columns(names)

    def activity(self, number: int) -> Activity:
        """Returns when a connection did something."""
        return Activity(self._of("connection_samples", number), number)

    def times(self, number: int, *kinds: str) -> tuple[Array, Array]:
        """Returns times in ns, ascending, and places in the stream, in bytes, of events of some kinds."""
        events = self._of("trace_events", number)
        chosen = among(events, "kind", kinds)
        order = np.argsort(column(events, "time_ns")[chosen], kind="stable")
        return column(events, "time_ns")[chosen][order], column(events, "seq_bytes")[chosen][order]

    @property
    def knows_cuts(self) -> bool:
        """Whether it says when windows were cut: few logs do, nor a folder that was written when nobody looked for them."""
        return bool(self.summary.get("cuts", self.summary["packets"])) and self.ranked.has("cong_signals")

    @cached_property
    def carrying(self) -> int:
        """How many connections carry a share of what was delivered: the first of `ranked`."""
        delivered = np.nan_to_num(self.ranked.numeric("delivered_bytes")[0])
        return int((delivered > SHARE_MIN * delivered.max(initial=0.0)).sum())

    def data_span(self, most: int) -> tuple[float, float] | None:
        """Returns when the first `most` of `ranked` began and ended to deliver, ns; None if none did."""
        begin, end = (times[self.ranked.order[:most]] for times in self.ranked.numeric("data_start_ns", "data_end_ns"))
        timed = ~np.isnan(begin + end)
        return (float(begin[timed].min()), float(end[timed].max())) if timed.any() else None

    @cached_property
    def count(self) -> int:
        """How many connections there are, of which each may have a row for either direction; probes are none."""
        return self._connections(~self.ranked.probes)

    def _connections(self, chosen: npt.NDArray[np.bool_]) -> int:
        """How many connections some rows are."""
        return self.ranked.both_ways(chosen) if self.summary.get("paired", True) else int(chosen.sum())

    @property
    def apart(self) -> list[int]:
        """The first connection of each file, where the files were not recorded at one time; else nothing."""
        return list(self.summary.get("apart", []))

    @cached_property
    def total(self) -> Total | None:
        """All connections together; None where nothing was delivered, or not at one time."""
        begin, end, delivered = self.ranked.numeric("data_start_ns", "data_end_ns", "delivered_bytes")
        chosen = ~np.isnan(begin + end) & (delivered > 0)
        if not chosen.any() or self.apart:
            return None
        times = int(begin[chosen].min()), int(end[chosen].max())
        return Total(self._connections(chosen), int(delivered[chosen].sum()), *times)

    def beside_share(self, row: dict[str, Any]) -> float:
        """Returns what other connections of the same direction delivered meanwhile, over what this connection delivered."""
        begin, end = row["data_start_ns"], row["data_end_ns"]
        if not row["delivered_bytes"] or begin is None or end is None:
            return 0.0
        begins, ends, delivered = self.ranked.numeric("data_start_ns", "data_end_ns", "delivered_bytes")
        place, (source, destination) = self._place(row["connection"]), self.ranked.ends
        others = (source != destination[place]) & (destination != source[place]) & ~np.isnan(begins + ends)
        others[place] = False
        if self.apart:
            of_file = np.searchsorted(self.apart, self.ranked.numbers, "right")
            others &= of_file == of_file[place]
        together = np.maximum(np.minimum(end, ends) - np.maximum(begin, begins), 0.0)
        meanwhile = np.nan_to_num(delivered[others]) * together[others] / np.maximum(ends - begins, 1.0)[others]
        return float(meanwhile.sum()) / float(row["delivered_bytes"])

    def rtt_ns(self, row: dict[str, Any]) -> float | None:
        """Returns the usual round-trip time in ns of a connection over the whole path; None if it is not known."""
        own = [row["median_rtt_ns"] or row["min_rtt_ns"], row["handshake_rtt_ns"]]
        return next((one for one in (own if row["vantage"] in ENDS else own[::-1]) if one), None)

    @cached_property
    def found_phases(self) -> phases.Phases | None:
        """The phases of the connection that delivered most; None if it has none."""
        try:
            return self.phases()
        except InputError:
            return None

    def phases(self, number: int | None = None) -> phases.Phases:
        """Returns the phases of a connection (`focus`). Raises InputError where it is too short to have any."""
        if not self.ranked:
            raise InputError("no connection")
        row = self.row(self.focus if number is None else number)
        if row["protocol"] not in CONTROLLED:
            raise InputError(f"connection {row['connection']} is {row['protocol']}: only TCP and QUIC have phases")
        rtt = self.rtt_ns(row)
        if not rtt:
            raise InputError(f"connection {row['connection']}: no round-trip time is known, so it has no phases")
        time, delivered = self.series(row["connection"], "delivered_bytes")
        if self.summary["packets"]:
            enough(row)
            time, delivered = self.activity(row["connection"]).busiest(rtt)
        cuts = self.times(row["connection"], "cut")[0] / 1e9 if self.knows_cuts else None
        finished = 0.0 if row["fin"] or self.summary["format"] in logs.ENDED else None
        remaining = self.manifest.get("remaining_bytes", finished)
        try:
            return phases.find(time / 1e9, delivered, rtt / 1e9, cuts, plateau_of(self, row), remaining_bytes=remaining)
        except ValueError as error:
            raise InputError(f"connection {row['connection']}: {error}") from None

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON."""
        return {**self.streamed(), "connections": list(self.ranked)}

    def streamed(self) -> dict[str, Any]:
        """Returns the values of `as_dict`; rows of connections are made while they are written."""
        found, total = self.found_phases, self.total
        return {
            "summary": self.summary,
            "connections": self.ranked,
            "total": total.as_dict() if total else None,
            "phases": found.as_dict() if found else None,
        }

    def fill(self, partial: Path) -> None:
        """Writes the tables that are not there yet, the summary and the manifest."""
        from pyarrow import parquet

        for name, file in ((name, partial / f"{name}.parquet") for name in TRACE):
            if not file.exists():
                parquet.write_table(self._table(name), file)
        if self.twin is not None:
            self.twin.fill(partial)
        folder.write_json(partial / "summary.json", self.summary)
        folder.write_json(partial / "manifest.json", self.manifest)

    def __repr__(self) -> str:
        packets = counted(self.summary["packets"], "packet")
        return shown(f"<elephan.Trace {self.name}: {packets}, {counted(len(self.ranked), 'connection')}>")


def analyze(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    out: str | os.PathLike[str] | None = None,
    every: float | str | None = None,
    burst_gap: float | str | None = None,
    at: str | None = None,
    compare: str | os.PathLike[str] | None = None,
    rate: float | str | None = None,
    remaining: float | str | None = None,
    connection: int | None = None,
    host: str | Sequence[str] = (),
    port: int | Sequence[int] = (),
    since: float | str | None = None,
    until: float | str | None = None,
    twin: bool = False,
    what_if: Mapping[str, Any] | None = None,
    two_places: bool | None = None,
    progress: bool = False,
    report: bool = True,
) -> Trace:
    """Reads a capture (pcap, pcapng) or a log: an iperf3 result (`iperf3 -J`), `ss -tin`, results of Flent, qlogs of QUIC.

    Files may be compressed by gzip or zstd. `path`: a file, `"-"` for standard input, several files of one capture, as of a ring
    buffer, or several results of Flent or qlogs. Two files with the same packets are two places of one transfer (`Trace.pair`),
    unless `two_places` is False. `host`, `port`, `since`, `until`: only packets with one of these addresses (or names of the
    capture), one of these ports, in this time after the first. `every`: interval of the series, s; without it about 2000 intervals
    a connection (of a log without times: 1 s). `burst_gap`: data segments closer than this are one burst, s; 15 us. `at`: where the
    capture was made, `"sender"`, `"receiver"` or `"between"`, if its handshakes do not tell. `compare`: the folder of a run to draw
    beside it. `rate`: of the path's slowest link, on the wire (Ethernet): the plateau of phases is its goodput; without it that of
    the run of `compare`, else the highest rate seen, as it is where that is above what the path is said to carry (a note says so).
    `remaining`: bytes still to send after the capture or log. `twin`: fits a path to the connection and runs its twin
    (`Trace.twin`). `what_if`: what changes in the twin, such as `{"congestion_control": "bbr"}`. `connection`: the number of the
    one to show in phases and figures of one connection, instead of the one that delivered most. `out`: a folder for tables and,
    with `report`, the report.
    InputError: a file that is none of these, in one line.

    >>> run = el.run("sawtooth", set={"duration": "12 s"}, out="captured", pcap=True)
    >>> el.analyze(run.captures[0], since="1 s").connections.num_rows
    1
    """
    if not isinstance(path, str | os.PathLike | Iterable):
        raise InputError(f"capture or log: {path!r} is not a path; give a text or a pathlib.Path")
    files = [as_path(one, "capture or log") for one in ([path] if isinstance(path, str | os.PathLike) else path)]
    if not files:
        raise InputError("no file is given")
    if at is not None and at not in VANTAGES:
        raise InputError(f'a capture is made at {", ".join(VANTAGES)}, not "{at}"')
    given = asked.path_and_transfer(rate, remaining) | ({} if connection is None else {"connection": connection})
    beside = load_run(compare) if compare is not None else None
    options: dict[str, Any] = {
        "vantage": at,
        "filter": asked.chosen(host, port, since, until),
        "focus": connection,
        "files": FILES[two_places],
        "burst_gap_ns": asked.nanoseconds(burst_gap, "burst gap"),
        "every_ns": asked.nanoseconds(every, "every"),
    }
    if out is None:
        return _trace(files, None, options, given, beside, (twin, what_if), progress)
    with folder.result_folder(out, "trace") as partial:
        trace = _trace(files, partial, options, given, beside, (twin, what_if), progress)
        if beside is not None and compare is not None:
            trace.manifest["compared_with"] = str(Path(compare).resolve())
        trace.fill(partial)
    done = load_trace(out)
    if report:
        done.add_report(Path(out), progress)
    return done


def _trace(
    files: list[Path],
    where: Path | None,
    options: dict[str, Any],
    given: Mapping[str, float],
    beside: Run | None,
    wanted: tuple[bool, Mapping[str, Any] | None],
    progress: bool,
) -> Trace:
    manifest = folder.manifest_head("trace", sources.stem(files[0])) | {"file": ", ".join(map(str, files)), **given}
    with sources.regular(files) as paths:
        if is_log := logs.is_log(paths[0]):
            if options["filter"] is not None or options["files"] is not None:
                raise InputError(f"{files[0]}: a log is read whole; a filter and two places are for captures")
            tables, summary = logs.read(paths, options["every_ns"])
        else:
            tables, summary = packets.read(paths, where, options, progress)
        trace = Trace(tables, summary, manifest, beside)
        if wanted != (False, None):
            trace.twin = kept.make(kept.at_sender(paths, trace.pair, is_log), trace.row(trace.focus), wanted[1], progress)
            summary["twin"] = trace.twin.told
    note = widened(trace, options["every_ns"]) if options["every_ns"] is not None and not is_log else ""
    if "connection" in given:
        trace.row(trace.focus)
    summary["notes"] += [note for note in (note, beyond_path(trace), *one_way_notes(trace)) if note]
    return trace


def load_trace(path: str | os.PathLike[str]) -> Trace:
    """A finished analysis from its folder; tables are read when asked for."""
    where, manifest = folder.open_result(path)
    if manifest.get("kind") != "trace":
        raise InputError(f"{where}: holds a {manifest.get('kind')}, not the analysis of a capture")
    summary = read_object(where / "summary.json")
    beside = load_run(other) if (other := manifest.get("compared_with")) and Path(other).is_dir() else None
    trace = Trace({name: where / f"{name}.parquet" for name in TRACE}, summary, manifest, beside)
    trace.twin = kept.load(where, summary.get("twin"))
    return trace
