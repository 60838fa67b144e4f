"""The rows of `connections` by what they delivered. A row is made only when somebody looks at it: a capture may have millions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from elephan.capture.limits import HELD
from elephan.capture.logrows import PROBE
from elephan.result.run import read_table
from elephan.table.rows import among, column

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet

Places = npt.NDArray[np.int64]
Row = dict[str, Any]

# Tables and columns that folders of earlier versions do not have.
LATER_TABLES = ("connection_stretches", "connection_findings", "pair_connections", "pair_delays", "pair_losses")
LATER = (
    "setup_ns",
    "syn_retrans",
    "segs_retrans_fast",
    "segs_retrans_timeout",
    "segs_retrans_probe",
    "segs_retrans_needless",
    "window_probes",
    "rwin_closed_ns",
    *HELD,
    "to_sender_ns",
    "to_receiver_ns",
    "turns",
    "turn_median_ns",
    "turn_p90_ns",
    "turn_max_ns",
    "turn_max_at_ns",
    "turn_max_frame",
    "first_frame",
    "acc_ecn",
    "ace_marks",
    "cong_signals_marked",
    "refused_syn_bytes",
)
PIECE = 1 << 16  # rows that are read at a time when all are asked for
KEPT_MAX = 256  # rows that are kept once they were made
PORTS = 1 << 16


@dataclass(frozen=True)
class Total:
    """What all connections delivered together, from the first data to the last."""

    connections: int
    delivered_bytes: int
    begin_ns: int
    end_ns: int

    @property
    def goodput_bps(self) -> float | None:
        """The mean rate over that time; None where it is none."""
        span = self.end_ns - self.begin_ns
        return self.delivered_bytes * 8e9 / span if span > 0 else None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return vars(self) | {"goodput_bps": self.goodput_bps}


class Large:
    """A table of a trace in memory or, if it is large, in its file, of which only what is asked for is read."""

    def __init__(self, table: pa.Table | Path) -> None:
        self._table = table

    @cached_property
    def shape(self) -> tuple[int, frozenset[str]]:
        """Rows, and names of the columns."""
        if not isinstance(self._table, Path):
            return self._table.num_rows, frozenset(self._table.column_names)
        found: list[tuple[int, frozenset[str]]] = []

        def look(file: parquet.ParquetFile) -> pa.Table:
            found.append((file.metadata.num_rows, frozenset(file.schema_arrow.names)))
            return file.schema_arrow.empty_table()

        read_table(self._table, pick=look)
        return found[0]

    def _held(self) -> pa.Table | Path:
        """The table, or the file to read from; a small table is brought into memory."""
        if isinstance(self._table, Path) and self.shape[0] <= PIECE:
            self._table = read_table(self._table)
        return self._table

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Returns columns of all rows."""
        held = self._held()
        return read_table(held, list(names)) if isinstance(held, Path) else held.select(list(names))

    def rows(self, places: Places) -> pa.Table:
        """Returns the rows at these places, in their order."""
        held = self._held()
        if not isinstance(held, Path):
            return held.take(places)
        ascending, back = np.unique(places, return_inverse=True)
        return read_table(held, pick=lambda file: _at_places(file, ascending)).take(back)

    def of(self, number: int) -> pa.Table:
        """Returns the rows of one connection."""
        import pyarrow.compute as pc

        chosen = pc.equal(pc.field("connection"), number)
        held = self._held()
        if not isinstance(held, Path):
            return held.filter(chosen)
        return read_table(held, pick=lambda file: _of_connection(file, number, chosen))


def _at_places(file: parquet.ParquetFile, places: Places) -> pa.Table:
    """The rows at places that ascend; a row group without any of them is not read."""
    import pyarrow as pa

    sizes = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
    begins = np.concatenate([[0], np.cumsum(sizes)])
    parts = [file.schema_arrow.empty_table()]
    for group, (begin, end) in enumerate(itertools.pairwise(begins)):
        first, last = np.searchsorted(places, [begin, end])
        if last > first:
            parts.append(file.read_row_group(group, use_threads=False).take(places[first:last] - begin))
    return pa.concat_tables(parts)


def _of_connection(file: parquet.ParquetFile, number: int, chosen: Any) -> pa.Table:
    """The rows of one connection; a row group whose statistics leave it out is not read."""
    import pyarrow as pa

    at = file.schema_arrow.get_field_index("connection")
    parts = [file.schema_arrow.empty_table()]
    for group in range(file.metadata.num_row_groups):
        told = file.metadata.row_group(group).column(at).statistics
        if told is None or not told.has_min_max or told.min <= number <= told.max:
            parts.append(file.read_row_group(group, use_threads=False).filter(chosen))
    return pa.concat_tables(parts)


class Ranked(Sequence[Row]):
    """Rows of the table `connections`, those that delivered most first; of equal ones the lower number."""

    def __init__(self, table: Large) -> None:
        self._table = table
        self._kept: dict[int, Row] = {}

    def columns(self, *names: str) -> pa.Table:
        """Returns columns of all rows in the order of the table; those that an earlier version did not write are null."""
        import pyarrow as pa

        table = self._table.columns([name for name in names if name not in self._missing])
        for name in (name for name in names if name in self._missing):
            table = table.append_column(name, pa.nulls(table.num_rows, pa.float64()))
        return table

    @cached_property
    def _missing(self) -> list[str]:
        return [name for name in LATER if not self.has(name)]

    def has(self, name: str) -> bool:
        """Returns whether the table has a column."""
        return name in self._table.shape[1]

    def __len__(self) -> int:
        return self._table.shape[0]

    @cached_property
    def _numbers_and_order(self) -> tuple[Places, Places]:
        numbers = np.asarray(self.columns("connection").column("connection").to_numpy(), dtype=np.int64)
        # What is not known, as of a probe, comes behind what is.
        delivered = np.nan_to_num(self.numeric("delivered_bytes")[0], nan=-1.0)
        return numbers, np.lexsort((numbers, -delivered))

    @property
    def numbers(self) -> Places:
        """Numbers of the connections in the order of the table."""
        return self._numbers_and_order[0]

    @property
    def order(self) -> Places:
        """Places in the table, by rank."""
        return self._numbers_and_order[1]

    def place(self, number: int) -> int | None:
        """Returns the place in the table of a connection; None if there is no such connection."""
        found = np.flatnonzero(self.numbers == number)
        return int(found[0]) if found.size else None

    def at(self, place: int) -> Row:
        """Returns the row at a place in the table."""
        return self._rows([place])[0]

    @overload
    def __getitem__(self, rank: int) -> Row: ...
    @overload
    def __getitem__(self, rank: slice) -> list[Row]: ...
    def __getitem__(self, rank: int | slice) -> Row | list[Row]:
        return self._rows(self.order[rank].tolist()) if isinstance(rank, slice) else self.at(int(self.order[rank]))

    def __iter__(self) -> Iterator[Row]:
        nothing = dict.fromkeys(self._missing)
        for first in range(0, len(self), PIECE):
            table = self._table.rows(self.order[first : first + PIECE])
            for begin in range(0, table.num_rows, KEPT_MAX):
                yield from (nothing | row for row in table.slice(begin, KEPT_MAX).to_pylist())

    def _rows(self, places: list[int]) -> list[Row]:
        nothing = dict.fromkeys(self._missing)
        lacking = [place for place in places if place not in self._kept]
        if lacking:
            if len(self._kept) + len(lacking) > KEPT_MAX:
                self._kept, lacking = {}, places
            rows = self._table.rows(np.array(lacking, dtype=np.int64)).to_pylist()
            self._kept |= {place: nothing | row for place, row in zip(lacking, rows, strict=True)}
        return [self._kept[place] for place in places]

    @cached_property
    def probes(self) -> npt.NDArray[np.bool_]:
        """Which rows have round-trip times alone, in the order of the table."""
        return among(self.columns("protocol"), "protocol", [PROBE])

    @cached_property
    def ends(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Source and destination of each row as numbers: equal where the hosts are."""
        import pyarrow as pa
        import pyarrow.compute as pc

        table = self.columns("source", "destination")
        texts = [table.column(name).cast(pa.string()) for name in table.column_names]
        hosts = pc.unique(pa.chunked_array([*texts[0].chunks, *texts[1].chunks], pa.string()))
        source, destination = (np.asarray(pc.index_in(text, value_set=hosts), dtype=np.int32) for text in texts)
        return source, destination

    def both_ways(self, chosen: npt.NDArray[np.bool_] | None = None) -> int:
        """Returns how many connections there are of which rows are directions: both have the same ends and the same start."""
        ports = self.columns("source_port", "destination_port", "start_ns")
        keys = [host.astype(np.int64) * PORTS + np.asarray(ports.column(at)) for at, host in enumerate(self.ends)]
        rows = [np.minimum(*keys), np.maximum(*keys), np.asarray(ports.column("start_ns"))]
        low, high, start = rows if chosen is None else (row[chosen] for row in rows)
        order = np.lexsort((start, high, low))
        steps = [np.diff(row[order]) != 0 for row in (low, high, start)]
        return int((steps[0] | steps[1] | steps[2]).sum()) + bool(order.size)

    def numeric(self, *names: str) -> list[npt.NDArray[np.float64]]:
        """Returns columns of numbers in the order of the table, null as NaN."""
        table = self.columns(*names)
        return [column(table, name) for name in names]
