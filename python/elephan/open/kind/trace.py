"""The analysis of a capture or a log."""

from pathlib import Path

from elephan.base.errors import InputError
from elephan.base.kinds import Compared, Kind
from elephan.capture.ranked import LATER_TABLES
from elephan.capture.trace import Trace, load_trace
from elephan.report.page.trace_page import answer, notebook, page, shown
from elephan.report.screen import Screen, grid
from elephan.table.classes import TRACE

_CONNECTIONS_MAX = 12  # rows on a terminal
_COLUMNS = {
    "delivered": ("delivered_bytes", "bytes"),
    "goodput": ("goodput_bps", "bps"),
    "retransmitted": ("segs_retrans", "1"),
    "least RTT": ("min_rtt_ns", "ns"),
    "p99 RTT": ("p99_rtt_ns", "ns"),
    "burst": ("burst_max_segs", "1"),
}


def tables(trace: Trace, screen: Screen) -> None:
    """Prints a row for each of the largest connections."""
    table = grid("connection", "number", *_COLUMNS)
    for row in trace.ranked[:_CONNECTIONS_MAX]:
        cells = [shown(trace, row, key, unit, 9 if unit == "1" else 3).text for key, unit in _COLUMNS.values()]
        table.add_row(trace.label(row["connection"]), str(row["connection"]), *cells)
    screen.print(table)
    if (more := len(trace.ranked) - _CONNECTIONS_MAX) > 0:
        screen.long(f"and {more} more in connections.parquet", "dim")


def compared(where: Path) -> Compared:
    """Says with what a capture is compared."""
    raise InputError(f"{where}: the analysis of a capture; elephan analyze FILE --compare RUN lays a run over it")


KIND = Kind(
    holds=("summary.json", *(f"{name}.parquet" for name in TRACE if name not in LATER_TABLES)),
    load=load_trace,
    title=lambda trace: f"{trace.name}  ({trace.summary['format']})",
    answer=answer,
    warnings=lambda trace: trace.notes,
    tables=tables,
    page=page,
    notebook=notebook,
    compared=compared,
)
