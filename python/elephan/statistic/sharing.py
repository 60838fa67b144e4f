"""How flows come to share a path, and to use what others leave: times read from goodput in windows of a second.

Definitions: the share of the last flow to start stays within 20 % of an equal one for 5 s (as in the Hamilton Institute's tests);
delta-fair convergence (Bansal and Balakrishnan 2001), delta = 0.1; and the time that flows need to take up what one
leaves. A time that does not come counts as the whole time that there was: a lower bound.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from elephan.table.rows import EMPTY, Array, column, texts, windows
from elephan.table.steps import paths

if TYPE_CHECKING:
    import pyarrow as pa

    from elephan.result.run import Run

_WINDOW_NS = 1_000_000_000
_LASTING = 5
_NEAR = 0.2
_DELTA = 0.1
_WANTS = ("kind", "transport", "load", "rate", "size")  # of a traffic entry: what its flows would take, if they could


def first_lasting(good: npt.NDArray[np.bool_], lasting: int) -> int:
    """The first index from which `lasting` values in a row are true, or the length if there is none."""
    if good.size < lasting:
        return int(good.size)
    runs = np.lib.stride_tricks.sliding_window_view(good, lasting).all(axis=1)
    found = np.flatnonzero(runs)
    return int(found[0]) if found.size else int(good.size)


def shares_after_last_start(run: Run) -> tuple[Array, int, float] | None:
    """Shares per second and flow from the last start to the first end, which flow started last, and that time in ns.

    Of flows that answer to congestion: UDP and frames are left out, which have no congestion control.
    """
    flows = _controlled(run.flows)
    start, end = column(flows, "start_ns"), column(flows, "end_ns")
    if start.size < 2:
        return None
    begin, until = float(start.max()), float(np.nanmin(np.append(end, run.duration_ns)))
    starts, bytes_, ids = windows(run, _WINDOW_NS, begin)
    last = int(column(flows, "flow")[int(start.argmax())])
    if not bytes_.size or last not in ids:  # nobody has looked at it
        return None
    bytes_ = bytes_[starts + _WINDOW_NS <= until]
    newest = ids.index(last)
    return bytes_ / np.maximum(bytes_.sum(axis=1, keepdims=True), 1.0), newest, until - begin


def _controlled(flows: pa.Table) -> pa.Table:
    """The flows that have a congestion control."""
    import pyarrow.compute as pc

    known = "congestion_control" in flows.column_names
    return flows.filter(pc.not_equal(flows.column("congestion_control"), "")) if known else flows


def compete_alike(run: Run) -> bool:
    """Whether equal shares are what to expect: several flows without an end that answer to congestion, want alike, and whose ways
    have a port in common.
    """
    flows = run.flows
    if flows.num_rows < 2 or _controlled(flows).num_rows < flows.num_rows or not np.isnan(column(flows, "size_bytes")).all():
        return False
    entries = {str(one.get("name")): one for one in run.resolved.get("traffic", [])}
    if len({json.dumps([entries.get(t, {}).get(key) for key in _WANTS]) for t in set(texts(flows, "traffic"))}) > 1:
        return False
    ends = zip(texts(flows, "source"), texts(flows, "destination"), strict=True)
    common: set[tuple[str, str]] | None = None
    for way in filter(None, paths(run, dict.fromkeys(ends))):
        common = set(way) if common is None else common & set(way)
        if not common:
            return False
    return True


def convergence(run: Run) -> Array:
    """One time in ns: the last flow's share stays within 20 % of an equal one for 5 s."""
    found = shares_after_last_start(run)
    if found is None:
        return EMPTY
    shares, newest, longest = found
    fair = 1 / shares.shape[1]
    index = first_lasting(np.abs(shares[:, newest] - fair) <= _NEAR * fair, _LASTING)
    return np.array([index * _WINDOW_NS if index < shares.shape[0] else longest])


def delta_fair(run: Run) -> Array:
    """One time in ns: every flow has (1 - delta) of an equal share, delta = 0.1, in a window of 1 s."""
    found = shares_after_last_start(run)
    if found is None:
        return EMPTY
    shares, _, longest = found
    index = first_lasting(shares.min(axis=1) >= (1 - _DELTA) / shares.shape[1], 1)
    return np.array([index * _WINDOW_NS if index < shares.shape[0] else longest])


def reclaim(run: Run) -> Array:
    """One time in ns: after the first flow has ended the others have 80 % of the goodput of the 20 s before, for 5 s."""
    end = column(_controlled(run.flows), "end_ns")
    if not (end < run.duration_ns - _WINDOW_NS).any():
        return EMPTY
    first = float(np.nanmin(end))
    rates = windows(run, _WINDOW_NS, first - 20 * _WINDOW_NS)[1].sum(axis=1)
    if rates.size < 21:
        return EMPTY
    index = first_lasting(rates[20:] >= (1 - _NEAR) * rates[:20].mean(), _LASTING)
    longest = run.duration_ns - first
    return np.array([index * _WINDOW_NS if index < rates.size - 20 else longest])
