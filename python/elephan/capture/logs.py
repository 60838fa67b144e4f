"""Logs of real transfers as tables of a trace. A kind of log answers for itself: `KINDS` has them all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base.errors import InputError
from elephan.capture import flent, iperf3, qlog, sslog
from elephan.capture.logfile import UTF_16, LogFile
from elephan.capture.logrows import Found, Log
from elephan.scenario import core

if TYPE_CHECKING:
    import pyarrow as pa

BINARY = (b"\x0a\x0d\x0d\x0a", b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1")
KINDS: tuple[Log, ...] = (qlog.KIND, flent.KIND, iperf3.KIND, sslog.KIND)  # the first that takes a file reads it; ss takes any
ENDED = frozenset(kind.name for kind in KINDS if kind.ended)
# Columns of samples that every capture has and that the log of some kind does not know: null there.
UNKNOWN_IN_SAMPLES = frozenset(name for kind in KINDS for name in kind.unknown.get("connection_samples", ()))


def head(file: Path) -> bytes:
    """Returns the first bytes of a file, decompressed; InputError if it is empty or cannot be read."""
    return LogFile(file).head


def is_log(file: Path) -> bool:
    """Returns whether a file is text, not a capture; InputError if it cannot be read."""
    found = head(file)
    return found.startswith(UTF_16) or (not found.startswith(BINARY) and b"\0" not in found)


def is_capture(file: Path) -> bool:
    """Returns whether a file begins as captures do, compressed or not; InputError if it cannot be read."""
    return head(file).startswith(BINARY)


def read(paths: Sequence[Path], every_ns: int | None) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """Tables and summary of logs; `every_ns`: the interval of series, between the calls of `ss` where the log has no times."""
    files = [LogFile(path) for path in paths]
    kinds = [next(kind for kind in KINDS if kind.takes(file)) for file in files]
    kind = kinds[0]
    for file, other in zip(files, kinds, strict=True):
        if other is not kind:
            raise InputError(f"{file}: no log of {kind.name}, as {files[0]} is; files of one analysis are of one kind")
    if len(files) > 1 and not kind.several:
        raise InputError(f"{files[0]}: a log of {kind.name} is read alone; several files are for captures, Flent and qlog")
    found = kind.read(files, every_ns)
    try:
        return _tables(kind, found)
    except (OverflowError, TypeError, ValueError) as error:  # those of Arrow are among them
        raise InputError(f"{files[0]}: a value is not what such a log has: {str(error).partition(chr(10))[0]}") from None


def _tables(kind: Log, found: Found) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    import pyarrow as pa

    empty = {name: pa.table(table) for name, table in core.call("empty_trace").items()}
    schemas = {name: table.schema for name, table in empty.items()}
    for table, names in kind.unknown.items():
        for name in names:
            place = schemas[table].get_field_index(name)
            schemas[table] = schemas[table].set(place, schemas[table].field(name).with_nullable(True))
    rows = {"connections": found.connections, "connection_samples": found.samples, "trace_events": list(found.events)}
    tables = empty | {name: _filled(some, schemas[name]) for name, some in rows.items()}
    span = max((row["time_ns"] for row in found.samples), default=0)
    summary: dict[str, Any] = {"format": kind.name, "packets": 0, "connections": len(found.connections)}
    summary |= {"begin_ns": found.begin_ns, "span_ns": span, "notes": found.notes, "paired": kind.paired}
    return tables, {**summary, **found.more}


def _filled(rows: list[dict[str, Any]], schema: Any) -> pa.Table:
    """Rows with zeros and empty texts where a column must have something and the log has nothing; null where it may be unknown."""
    import pyarrow as pa

    nothing = {"int64": 0, "double": 0.0, "bool": False, "string": ""}
    default = {field.name: None if field.nullable else nothing[str(field.type)] for field in schema}
    return pa.Table.from_pylist([default | row for row in rows], schema=schema)
