"""Columns of a run's tables as arrays: what measures and figures read."""

from __future__ import annotations

import math
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from elephan.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from elephan.runs import Run

Array = npt.NDArray[np.float64]
EMPTY: Array = np.empty(0)


def column(table: pa.Table, name: str) -> Array:
    """A numeric column as float64, null as NaN. Times in ns stay exact up to 2^53 ns = 104 days."""
    data = table.column(name)
    if data.null_count:
        import pyarrow as pa
        import pyarrow.compute as pc

        data = pc.fill_null(data.cast(pa.float64()), math.nan)
    return np.asarray(data.to_numpy(), dtype=np.float64)


def texts(table: pa.Table, name: str) -> list[str]:
    """A text column as a list."""
    return [str(value) for value in table.column(name).to_pylist()]


def windows(run: Run, window_ns: int, begin_ns: float | None = None) -> tuple[Array, Array, list[int]]:
    """Bytes delivered per window and flow after the warm-up: `(window starts in ns, windows x flows, flow ids)`.

    `begin_ns`: where the first window starts, instead of at the end of the warm-up. From
    the cumulative `delivered_bytes` of `flow_samples`; empty when the samples are coarser than the window.
    """
    samples = run.flow_samples
    nothing: tuple[Array, Array, list[int]] = (EMPTY, np.empty((0, 0)), [])
    if not samples.num_rows:
        return nothing
    time, flow, delivered = (column(samples, name) for name in ("time_ns", "flow", "delivered_bytes"))
    order = np.lexsort((time, flow))
    time, flow, delivered = time[order], flow[order], delivered[order]
    begin_ns = run.warmup_ns if begin_ns is None else begin_ns
    edges = np.arange(begin_ns, run.duration_ns + 1, window_ns, dtype=np.float64)
    ids, begins = np.unique(flow, return_index=True)
    ends = np.append(begins[1:], flow.size)
    steps = np.diff(time[begins[0] : ends[0]])
    if edges.size < 2 or not steps.size or float(np.median(steps)) > window_ns * 1.001:
        return nothing
    shares = []
    for begin, end in zip(begins, ends, strict=True):
        at = np.searchsorted(time[begin:end], edges, side="right") - 1
        total = np.where(at >= 0, delivered[begin:end][np.maximum(at, 0)], 0.0)
        shares.append(np.diff(total))
    return edges[:-1], np.stack(shares, axis=1), [int(i) for i in ids]


class Part:
    """The part of a run that a statistic names in brackets, as measures see a run: conditions with commas between.

    `web` or `web+bulk`: flows of these traffic entries. `to NAME`, `from NAME`: flows between hosts. `with timeouts`, `without
    timeouts`: flows whose retransmission timer has expired, or never. `at sw->server`: one port. `during 100-400 ms`: samples and
    messages between these times, both included.
    """

    def __init__(self, run: Run, selection: str) -> None:
        self._run = run
        self._flow_conditions: list[tuple[str, list[str]]] = []
        self._timeouts: bool | None = None
        self._port = ""
        self._span: tuple[int, int] | None = None
        for condition in selection.split(", "):
            word, _, rest = condition.partition(" ")
            if word in _ENDS and rest:
                self._flow_conditions.append((_ENDS[word], [rest]))
            elif condition in ("with timeouts", "without timeouts"):
                self._timeouts = word == "with"
            elif word == "at" and rest:
                self._port = rest
            elif word == "during" and rest:
                self._span = _span_ns(rest)
            else:
                self._flow_conditions.append(("traffic", condition.split("+")))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

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
        return found

    @cached_property
    def ports(self) -> pa.Table:
        import pyarrow.compute as pc

        found = self._run.ports
        return found.filter(pc.equal(found.column("name"), self._port)) if self._port else found

    def _of_flows(self, table: pa.Table) -> pa.Table:
        import pyarrow.compute as pc

        if not self._flow_conditions and self._timeouts is None:
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
        return self._in_time(self._of_flows(self._run.messages), "enter_ns")

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
    def switch_samples(self) -> pa.Table:
        return self._in_time(self._run.switch_samples)


_ENDS = {"to": "destination", "from": "source"}
_UNITS_NS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000}


def _span_ns(text: str) -> tuple[int, int]:
    """`100-400 ms` in ns."""
    match = re.fullmatch(r"([0-9.]+)-([0-9.]+) (s|ms|us)", text)
    if match is None:
        raise InputError(f'"during {text}" is not a time like "during 100-400 ms"')
    return round(float(match[1]) * _UNITS_NS[match[3]]), round(float(match[2]) * _UNITS_NS[match[3]])


def part_of(run: Run, selection: str) -> Run:
    """The part of a run that a statistic would name in brackets, for whatever reads a run's tables and times."""
    return cast("Run", Part(run, selection))
