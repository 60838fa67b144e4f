"""What the tables of hosts say: drops on the way in, how busy the processor was, the silences of its logger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.table.rows import EMPTY, Array, column

if TYPE_CHECKING:
    from elephan.result.run import Run

_DROPS = ("drops_ring", "drops_backlog", "drops_throttle", "drops_socket")
# A gap after which the window is looked at; shorter ones are jitter of the logger.
_LONG_NS = 100e6


def drops(run: Run) -> Array:
    """Frames and datagrams dropped by each modelled host."""
    return np.asarray(sum(column(run.hosts, name) for name in _DROPS)) if run.hosts.num_rows else EMPTY


def windows_after_gaps(run: Run) -> Array:
    """Of each gap of 0.1 s or more and each flow: the first sample of the window within a second after it over the last one before.

    A gap that the end of the run cuts off has nothing after it.
    """
    gaps, samples = run.logger_gaps, run.flow_samples
    if not gaps.num_rows or not samples.num_rows:
        return EMPTY
    flow, time, cwnd = (column(samples, name) for name in ("flow", "time_ns", "cwnd_bytes"))
    found = []
    for begin, end in zip(column(gaps, "begin_ns"), column(gaps, "end_ns"), strict=True):
        if end - begin < _LONG_NS or end < run.warmup_ns:
            continue
        for one in np.unique(flow):
            before, after = (flow == one) & (time <= begin), (flow == one) & (time > end) & (time <= end + 1e9)
            if before.any() and after.any():
                found.append(float(cwnd[after][0]) / float(cwnd[before][-1]))
    return np.asarray(found)
