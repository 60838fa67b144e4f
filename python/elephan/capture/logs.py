"""Logs of real transfers as tables of a trace: results of iperf3 (`elephan.capture.iperf3`), and `ss -tin` repeated
(`elephan.capture.sslog`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base.errors import InputError
from elephan.capture import iperf3, sslog
from elephan.scenario import core
from elephan.scenario.source import check_regular

if TYPE_CHECKING:
    import pyarrow as pa

COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
BINARY = (b"\x0a\x0d\x0d\x0a", b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1")
HEAD_BYTES = 4096
# Columns that every capture has. A log of the receiver has no retransmissions, and one with gaps no count after them: null there.
UNKNOWN_IN_LOGS = {"connections": ("segs_retrans",), "connection_samples": ("sent_bytes", "delivered_bytes")}
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # begin what PowerShell writes from `iperf3 -J > FILE`


def _compression(head: bytes) -> str | None:
    return next((kind for magic, kind in COMPRESSED.items() if head.startswith(magic)), None)


def _bytes(file: Path, most: int | None = None) -> bytes:
    """The bytes of a file, decompressed, all or the first ones; InputError if it cannot be read."""
    check_regular(file)
    try:
        with file.open("rb") as stream:
            kind = _compression(stream.read(4))
            stream.seek(0)
            if kind is None:
                return stream.read(-1 if most is None else most)
            import pyarrow as pa

            with pa.CompressedInputStream(stream, kind) as plain:
                return bytes(plain.read() if most is None else plain.read(most))
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None


def head(file: Path) -> bytes:
    """Returns the first bytes of a file, decompressed; InputError if it is empty or cannot be read."""
    found = _bytes(file, HEAD_BYTES)
    if not found:
        raise InputError(f"{file}: an empty file")
    return found


def is_log(file: Path) -> bool:
    """Returns whether a file is text, not a capture; InputError if it cannot be read."""
    found = head(file)
    return found.startswith(UTF_16) or (not found.startswith(BINARY) and b"\0" not in found)


def is_capture(file: Path) -> bool:
    """Returns whether a file begins as captures do, compressed or not; InputError if it cannot be read."""
    return head(file).startswith(BINARY)


def read(file: Path, every_s: float) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """Tables and summary of a log; `every_s`: time between the calls of `ss` where the log has no times."""
    data = _bytes(file)
    try:
        text = data.decode("utf-16" if data.startswith(UTF_16) else "utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{file}: neither a capture nor a log in UTF-8 or UTF-16") from None
    is_json = re.search(r"^\s*\{", text, re.MULTILINE) is not None
    kind, found = ("iperf3", iperf3.read(file, text)) if is_json else ("ss", sslog.read(file, text, every_s))
    try:
        return _tables(kind, *found)
    except (OverflowError, TypeError, ValueError) as error:  # those of Arrow are among them
        raise InputError(f"{file}: a value is not what such a log has: {str(error).partition(chr(10))[0]}") from None


def _tables(
    kind: str, connections: list[dict[str, Any]], samples: list[dict[str, Any]], begin_ns: int, notes: list[str]
) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    import pyarrow as pa

    empty = {name: pa.table(table) for name, table in core.call("empty_trace").items()}
    schemas = {name: table.schema for name, table in empty.items()}
    for table, names in UNKNOWN_IN_LOGS.items():
        for name in names:
            place = schemas[table].get_field_index(name)
            schemas[table] = schemas[table].set(place, schemas[table].field(name).with_nullable(True))
    tables = empty | {
        "connections": _filled(connections, schemas["connections"]),
        "connection_samples": _filled(samples, schemas["connection_samples"]),
    }
    span = max((row["time_ns"] for row in samples), default=0)
    summary = {"format": kind, "packets": 0, "connections": len(connections), "begin_ns": begin_ns, "span_ns": span, "notes": notes}
    return tables, summary


def _filled(rows: list[dict[str, Any]], schema: Any) -> pa.Table:
    """Rows with zeros and empty texts where a column must have something and the log has nothing; null where it may be unknown."""
    import pyarrow as pa

    nothing = {"int64": 0, "double": 0.0, "bool": False, "string": ""}
    default = {field.name: None if field.nullable else nothing[str(field.type)] for field in schema}
    return pa.Table.from_pylist([default | row for row in rows], schema=schema)
