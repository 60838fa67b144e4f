"""Columns of a run's tables as arrays: what measures and figures read."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

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
    """The part of a run that belongs to one traffic entry or to several (`a+b`), as measures of flows see a run."""

    def __init__(self, run: Run, traffic: str) -> None:
        self._run, self._traffic = run, traffic

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

    @cached_property
    def flows(self) -> pa.Table:
        import pyarrow as pa
        import pyarrow.compute as pc

        names = pa.array(self._traffic.split("+"))
        return self._run.flows.filter(pc.is_in(self._run.flows.column("traffic"), value_set=names))

    def _of_flows(self, table: pa.Table) -> pa.Table:
        import pyarrow.compute as pc

        return table.filter(pc.is_in(table.column("flow"), value_set=self.flows.column("flow").combine_chunks()))

    @cached_property
    def messages(self) -> pa.Table:
        return self._of_flows(self._run.messages)

    @cached_property
    def flow_samples(self) -> pa.Table:
        return self._of_flows(self._run.flow_samples)
