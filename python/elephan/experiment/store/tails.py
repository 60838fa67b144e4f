"""Tails of a store: trials that are in no part yet, `tails/WRITER-NUMBER.log`, a line `CRC JSON` each.

A line that a kill cut short has no end and is left out without a word. Any other line that is not what elephan writes is damage,
also where its sum is right: it is named, and left out.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elephan.experiment.store import attempts
from elephan.experiment.store.identity import engine
from elephan.experiment.store.parts import listed, read_bytes
from elephan.experiment.store.row import Kept, from_record, table

NAME = re.compile(r"[\w.-]+-\d{6}\.log")


class Tail:
    """A file that takes trials as they come, one line each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)

    def append(self, record: dict[str, Any]) -> None:
        """Appends a line in one write, so that a killed process leaves whole lines and at most one torn."""
        text = json.dumps(record, default=as_text).encode()
        line = b"%08x %s\n" % (binascii.crc32(text), text)
        while line:
            line = line[os.write(self._handle, line) :]

    def close(self) -> None:
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


def as_text(value: Any) -> Any:
    """What JSON has no type for: bytes."""
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"{type(value)} in a row")


def from_text(found: dict[str, Any]) -> Any:
    """The opposite of `as_text`."""
    return base64.b64decode(found["base64"]) if found.keys() == {"base64"} else found


@dataclass(frozen=True)
class Entry:
    """A trial of a tail, its key as it was written, and the attempts at it."""

    key: str
    row: Kept
    attempts: Sequence[dict[str, Any]]


def read(path: Path) -> tuple[list[Entry], str]:
    """Returns the trials of a tail, and what is wrong with the lines that are none; empty if all are.

    Raises `Damaged` for what is no regular file. A file that is gone meanwhile raises FileNotFoundError.
    """
    lines = read_bytes(path).split(b"\n")[:-1]  # behind the last end of line is what a kill cut short
    found = {number: _entry(line) for number, line in enumerate(lines, 1)}
    if not _fit([one for one in found.values() if one is not None]):  # all at once, as a table takes long to make
        found = {number: one if one is not None and _fit([one]) else None for number, one in found.items()}
    wrong = [number for number, one in found.items() if one is None]
    why = f"{len(wrong)} of {len(lines)} lines are damaged, the first is line {wrong[0]}" if wrong else ""
    return [one for one in found.values() if one is not None], why


def _entry(line: bytes) -> Entry | None:
    """The trial of a line; None if it is not what elephan writes."""
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % binascii.crc32(text):
        return None
    try:
        record = json.loads(text, object_hook=from_text)
        row, ran = from_record(record["row"]), list(record["attempts"])
        key, ours = record["row"]["key"], row.identity.engine == engine()
    except Exception:  # whatever JSON may say
        return None
    return None if ours and key != row.identity.key else Entry(key, row, ran)


def _fit(entries: Sequence[Entry]) -> bool:
    """Whether trials and attempts have the types of their columns."""
    try:
        table([one.row for one in entries])
        attempts.table([ran for one in entries for ran in one.attempts])
    except Exception:  # whatever Arrow and numpy say of nonsense
        return False
    return True


def tails(folder: Path) -> list[Path]:
    """The tails of a folder."""
    return sorted(path for path in listed(folder) if NAME.fullmatch(path.name))
