"""Columns of a run's tables as arrays: what measures and figures read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from elephan import _core
from elephan.base.errors import InputError, nearest
from elephan.base.quantity import seconds, size_bytes

if TYPE_CHECKING:
    import pyarrow as pa

    from elephan.result.run import Run

Array = npt.NDArray[np.float64]
EMPTY: Array = np.empty(0)


def column(table: pa.Table, name: str) -> Array:
    """A numeric column as float64, null as NaN. Times in ns stay exact up to 2^53 ns = 104 days."""
    return np.asarray(table.column(name).to_numpy(), dtype=np.float64)


def texts(table: pa.Table, name: str) -> list[str]:
    """A text column as a list."""
    return [str(value) for value in table.column(name).to_pylist()]


def among(table: pa.Table, name: str, values: Iterable[str]) -> npt.NDArray[np.bool_]:
    """Returns which rows of a text column have one of some values, without an object for each row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return np.asarray(pc.is_in(table.column(name), value_set=pa.array(values, pa.string())), dtype=bool)


def flow_names(run: Run) -> dict[int, str]:
    """What a reader would call each flow: its traffic if it is the only one of it, else its source or its destination where that
    tells all flows apart, else where it goes, with its place among the flows of its traffic where others go the same way.

    Traffic that is named after a congestion control which it no longer has is called after the one that it has.
    """
    flows = run.flows
    numbers = [int(number) for number in column(flows, "flow")]
    traffic, source, destination = (texts(flows, key) for key in ("traffic", "source", "destination"))
    control = texts(flows, "congestion_control") if "congestion_control" in flows.column_names else [""] * len(numbers)
    return dict(zip(numbers, _core.flow_names(traffic, source, destination, control), strict=True))


def adaptive(samples: pa.Table) -> pa.Table:
    """The rows of `flow_samples` of flows that have a window: not UDP and raw frames, which answer to nothing."""
    if "cwnd_bytes" not in samples.column_names or not samples.column("cwnd_bytes").null_count:
        return samples
    import pyarrow.compute as pc

    return samples.filter(pc.is_valid(samples.column("cwnd_bytes")))


Curve = tuple[Array, Array]


def delivered_curves(run: Run, datagrams: bool = True) -> dict[int, Curve]:
    """Times in ns and bytes delivered until then of each flow: 0 at its start, its samples, all that it has delivered at its end.

    The end is its last byte, the end of a flow that was given up, or that of the run. `datagrams`: with UDP and raw frames, and
    with flows that lived between two samples.
    """
    flows, samples = run.flows, run.flow_samples if datagrams else adaptive(run.flow_samples)
    flow, time, delivered = (column(samples, name) for name in ("flow", "time_ns", "delivered_bytes"))
    order = np.lexsort((time, flow))
    flow, time, delivered = flow[order], time[order], delivered[order]
    numbers, start, total = (column(flows, name) for name in ("flow", "start_ns", "delivered_bytes"))
    last_byte = start + column(flows, "fct_ns")
    over = np.where(np.isnan(last_byte), column(flows, "end_ns"), last_byte)
    over = np.where(np.isnan(over), run.duration_ns, over)
    begins, ends = np.searchsorted(flow, numbers), np.searchsorted(flow, numbers, side="right")
    found: dict[int, Curve] = {}
    for number, begin, end, first, last, whole in zip(numbers, begins, ends, start, over, total, strict=True):
        if begin == end and not datagrams:
            continue
        t, y = time[begin:end], delivered[begin:end]
        if begin == end or first < t[0]:
            t, y = np.append(first, t), np.append(0.0, y)
        if last > t[-1]:
            t, y = np.append(t, last), np.append(y, whole)
        found[int(number)] = (t, y)
    return found


def windows(run: Run, window_ns: int, begin_ns: float | None = None, datagrams: bool = False) -> tuple[Array, Array, list[int]]:
    """Bytes delivered per window and flow after the warm-up: `(window starts in ns, windows x flows, flow ids)`.

    `begin_ns`: where the first window starts, instead of at the end of the warm-up. `datagrams`: with UDP and raw frames,
    which take no part in sharing a link. Between samples delivery is taken to be even; empty when the samples are coarser than
    the window.
    """
    whole = run.of_all_times() if isinstance(run, Part) else run
    nothing: tuple[Array, Array, list[int]] = (EMPTY, np.empty((0, 0)), [])
    steps = np.diff(np.unique(column(whole.flow_samples, "time_ns")))
    begin_ns = run.warmup_ns if begin_ns is None else begin_ns
    edges = np.arange(begin_ns, run.duration_ns + 1, window_ns, dtype=np.float64)
    if edges.size < 2 or not steps.size or float(np.median(steps)) > window_ns * 1.001:
        return nothing
    curves = delivered_curves(whole, datagrams)
    if not curves:
        return nothing
    shares = [np.diff(np.interp(edges, time, total, left=0.0)) for time, total in curves.values()]
    return edges[:-1], np.stack(shares, axis=1), list(curves)


class NoSuchPart(InputError):
    """A traffic entry, host or port that the run does not have."""


class Part:
    """The part of a run that a statistic names in brackets, as measures see a run: conditions with commas between.

    `web` or `web+bulk`: flows of these traffic entries. `to NAME`, `from NAME`: flows between hosts. `with timeouts`, `without
    timeouts`: flows whose retransmission timer has expired, or never. `size < 100 KB` (or `<=`, `>`, `>=`): transfers and messages
    of such a size. `at sw->server`: one port. `during 100-400 ms`: samples and messages between these times, both included.
    `between 10 ms-1 s`: range of times that a Hurst parameter belongs to. What is the name of a traffic entry of the run is always
    that entry, whatever words and signs are in it. Raises NoSuchPart.
    """

    def __init__(self, run: Run, selection: str) -> None:
        self._run = run
        self._flow_conditions: list[tuple[str, list[str]]] = []
        self._timeouts: bool | None = None
        self._sizes: list[tuple[str, float]] = []
        self._port = ""
        self._span: tuple[int, int] | None = None
        # Range of times in seconds that an estimate belongs to, if the statistic says one.
        self.scales: tuple[float, float] | None = None
        entries = _traffic_names(run)
        rest = selection
        while rest:
            names, after = _leading_names(rest, entries)
            if names:
                self._flow_conditions.append(("traffic", names))
                rest = after
                continue
            condition, _, rest = rest.partition(", ")
            self._add(condition, entries)

    def _add(self, condition: str, entries: list[str]) -> None:
        """A condition that is not the name of a traffic entry."""
        word, _, rest = condition.partition(" ")
        if word in _ENDS and rest:
            self._flow_conditions.append((_ENDS[word], [_host(self._run, condition, rest, entries)]))
        elif condition in ("with timeouts", "without timeouts"):
            self._timeouts = word == "with"
        elif word == "size" and (limit := _SIZE.fullmatch(rest)):
            self._sizes.append((_COMPARISONS[limit[1]], size_bytes(limit[2])))
        elif word == "at" and rest:
            self._port = _port(self._run, rest)
        elif word == "during" and rest:
            self._span = _span_ns(rest)
            if self._span[1] > self._run.duration_ns:
                raise NoSuchPart(f'"{condition}": the run ends at {self._run.duration_ns / 1e9:g} s')
        elif word == "between" and rest:
            self.scales = _scales_s(rest)
        else:
            raise NoSuchPart(f'"{condition}": the run has no such traffic{nearest(condition, entries, "it has")}')

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

    def of_all_times(self) -> Run:
        """The same flows and ports, from the beginning to the end of the run."""
        whole = Part(self._run, "")
        whole._flow_conditions, whole._timeouts, whole._port = self._flow_conditions, self._timeouts, self._port
        whole._sizes = self._sizes
        return cast("Run", whole)

    @property
    def warmup_ns(self) -> int:
        return self._run.warmup_ns if self._span is None else self._span[0]

    @property
    def duration_ns(self) -> int:
        return self._run.duration_ns if self._span is None else self._span[1]

    @cached_property
    def flows(self) -> pa.Table:
        import pyarrow as pa
        import pyarrow.compute as pc

        found = self._run.flows
        for name, values in self._flow_conditions:
            found = found.filter(pc.is_in(found.column(name), value_set=pa.array(values)))
        if self._timeouts is not None:
            expired = pc.greater(found.column("timeouts"), 0)
            found = found.filter(expired if self._timeouts else pc.invert(expired))
        if self._sizes:
            # Of a flow without an end its messages have sizes.
            carries = pc.is_in(found.column("flow"), value_set=self._sized(self._run.messages).column("flow").combine_chunks())
            endless = pc.is_null(found.column("size_bytes"))
            found = found.filter(pc.if_else(endless, carries, self._fits(found)))
        return found

    def _fits(self, table: pa.Table) -> Any:
        """Whether the size in each row is asked for; no where it has none."""
        import pyarrow.compute as pc

        size = table.column("size_bytes")
        fits = pc.is_valid(size)
        for comparison, limit in self._sizes:
            fits = pc.and_(fits, pc.fill_null(getattr(pc, comparison)(size, limit), False))
        return fits

    def _sized(self, table: pa.Table) -> pa.Table:
        return table.filter(self._fits(table)) if self._sizes else table

    @cached_property
    def ports(self) -> pa.Table:
        import pyarrow.compute as pc

        found = self._run.ports
        return found.filter(pc.equal(found.column("name"), self._port)) if self._port else found

    def _of_flows(self, table: pa.Table) -> pa.Table:
        import pyarrow.compute as pc

        if not self._flow_conditions and self._timeouts is None and not self._sizes:
            return table
        return table.filter(pc.is_in(table.column("flow"), value_set=self.flows.column("flow").combine_chunks()))

    def _in_time(self, table: pa.Table, name: str = "time_ns") -> pa.Table:
        import pyarrow.compute as pc

        if self._span is None:
            return table
        time, (begin, end) = table.column(name), self._span
        return table.filter(pc.and_(pc.greater_equal(time, begin), pc.less_equal(time, end)))

    @cached_property
    def messages(self) -> pa.Table:
        return self._in_time(self._sized(self._of_flows(self._run.messages)), "enter_ns")

    @cached_property
    def flow_samples(self) -> pa.Table:
        return self._in_time(self._of_flows(self._run.flow_samples))

    @cached_property
    def port_samples(self) -> pa.Table:
        import pyarrow.compute as pc

        found = self._in_time(self._run.port_samples)
        if self._port:
            found = found.filter(pc.is_in(found.column("port"), value_set=self.ports.column("port").combine_chunks()))
        return found

    @cached_property
    def copies(self) -> pa.Table:
        import pyarrow as pa
        import pyarrow.compute as pc

        found = self._run.copies
        for name, values in self._flow_conditions:
            found = found.filter(pc.is_in(found.column(name), value_set=pa.array(values)))
        return found

    @cached_property
    def datagrams(self) -> pa.Table:
        return self._in_time(self._of_flows(self._run.datagrams))

    def _of_entries(self, table: pa.Table) -> pa.Table:
        """Rows of these traffic entries, of a table that knows no flows."""
        import pyarrow as pa
        import pyarrow.compute as pc

        for name, values in self._flow_conditions:
            if name != "traffic":
                raise NoSuchPart(f"ranks are of a traffic entry, not of a {name}")
            table = table.filter(pc.is_in(table.column(name), value_set=pa.array(values)))
        return table

    @cached_property
    def iterations(self) -> pa.Table:
        return self._in_time(self._of_entries(self._run.iterations), "begin_ns")

    @cached_property
    def ranks(self) -> pa.Table:
        return self._of_entries(self._run.ranks)

    @cached_property
    def switch_samples(self) -> pa.Table:
        return self._in_time(self._run.switch_samples)


_ENDS = {"to": "destination", "from": "source"}
_COMPARISONS = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}
_SIZE = re.compile(r"(<=?|>=?) ?(.+)")
_NUMBER = r"([0-9]*\.?[0-9]+)"


def _traffic_names(run: Run) -> list[str]:
    """Names of the traffic entries of a run, those without a flow too, longest first."""
    entries = run.resolved.get("traffic", [])
    names = {str(entry["name"]) for entry in entries if "name" in entry} | set(texts(run.flows, "traffic"))
    return sorted(names, key=lambda name: (-len(name), name))


def _leading_names(text: str, entries: list[str]) -> tuple[list[str], str]:
    """The traffic entries that a text begins with, `+` between them, and what follows the next comma; none if it does not."""
    names: list[str] = []
    rest = text
    while name := next((name for name in entries if rest == name or rest.startswith((f"{name}, ", f"{name}+"))), None):
        names.append(name)
        rest = rest[len(name) :]
        if not rest.startswith("+"):
            return names, rest.removeprefix(", ")
        rest = rest[1:]
    return [], text


def _host(run: Run, condition: str, name: str, entries: list[str]) -> str:
    """A host that a condition names: one with a count of 1 is called without a number, the others with theirs."""
    ends = {*texts(run.flows, "source"), *texts(run.flows, "destination")}
    if name in ends:
        return name
    group, _, number = name.partition("[")
    count = run.resolved.get("hosts", {}).get(group, {}).get("count")
    if group in run.resolved.get("hosts", {}) and _numbered(number, count):
        return name  # a host without traffic
    hint = nearest(condition, [*(f"{word} {end}" for word in _ENDS for end in sorted(ends)), *entries])
    raise NoSuchPart(f'"{condition}": the run has neither a host "{name}" nor such traffic{hint}')


def _numbered(number: str, count: Any) -> bool:
    """Whether `2]` is the number of one of `count` hosts, or there is no number and no count."""
    if count is None:
        return not number
    return number.endswith("]") and number[:-1].isdecimal() and int(number[:-1]) < int(count)


def _port(run: Run, name: str) -> str:
    """The name of a port, which must be one of the run's."""
    names = texts(run.ports, "name")
    if name not in names:
        raise NoSuchPart(f'"at {name}": the run has no such port{nearest(name, names)}')
    return name


def _span_ns(text: str) -> tuple[int, int]:
    """`100-400 ms` in ns."""
    match = re.fullmatch(rf"{_NUMBER}-{_NUMBER} (s|ms|us)", text)
    if match is None:
        raise InputError(f'"during {text}" is not a time like "during 100-400 ms"')
    begin, end = (seconds(f"{number} {match[3]}") for number in match.groups()[:2])
    return round(begin * 1e9), round(end * 1e9)


def _scales_s(text: str) -> tuple[float, float]:
    """`10 ms-1 s`, or `10-100 ms`, in seconds."""
    match = re.fullmatch(rf"{_NUMBER}(?: (s|ms|us))?-{_NUMBER} (s|ms|us)", text)
    if match is None:
        raise InputError(f'"between {text}" is not a range like "between 10 ms-1 s"')
    low, high = seconds(f"{match[1]} {match[2] or match[4]}"), seconds(f"{match[3]} {match[4]}")
    if not 0 < low < high:
        raise InputError(f'"between {text}": the range ends before it begins')
    return low, high


def part_of(run: Run, selection: str) -> Run:
    """The part of a run that a statistic would name in brackets, for whatever reads a run's tables and times."""
    return cast("Run", Part(run, selection))
