"""Notes about the series of a trace: intervals wider than asked for, a path that carried more than it is said to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.base.errors import InputError
from elephan.base.quantity import counted, show
from elephan.capture.plateau import plateau_of
from elephan.table.rows import column

if TYPE_CHECKING:
    from elephan.capture.trace import Trace

INTERVALS_MAX = 1 << 20  # of a series whose interval was asked for; more double its width


def beyond_path(trace: Trace) -> str:
    """Returns a note about a path that is said to carry less than it did."""
    try:
        found = trace.phases()
    except (InputError, IndexError):
        return ""
    row = trace.row(trace.focus)
    carried = plateau_of(trace, row)
    if carried is None or found.path_known:
        return ""
    rate = trace.manifest.get("rate_bps")
    path = f"a path of {show(rate, 'bps')}" if rate is not None else "the path of the run beside it"
    return (
        f"{trace.label(row['connection'])} showed {show(found.plateau_bps, 'bps')}, more than the {show(carried, 'bps')} that "
        f"{path} carries: its phases are found with the highest rate it showed"
    )


def widened(trace: Trace, every_ns: int) -> str:
    """Returns a note about series whose intervals had to become wider than was asked for."""
    samples = trace.sample_columns("connection", "span_ns")
    if not samples.num_rows:
        return ""
    # A long silence is one interval: the shortest says how wide they are.
    spans, numbers = column(samples, "span_ns"), column(samples, "connection")
    order = np.argsort(numbers, kind="stable")
    begins = np.unique(numbers[order], return_index=True)[1]
    widths = np.minimum.reduceat(spans[order], begins)
    count = int((widths > 1.5 * every_ns).sum())
    if not count:
        return ""
    widest = show(float(widths.max()), "ns")
    series = f"{counted(count, 'connection')} {'has' if count == 1 else 'have'}"
    return f"{series} intervals of up to {widest}, not {show(every_ns, 'ns')}: a series has at most {INTERVALS_MAX} of them"
