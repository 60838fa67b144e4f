"""The files of a store: parts, which never change once they are named, and tails of trials that are in no part yet.

`parts/WRITER-NUMBER-DIGEST.parquet`: rows of one writer, written aside, synced and renamed; the digest is of the whole file, so
that a damaged one is known. `tails/WRITER-NUMBER.log`: a line per trial, `CRC JSON`, appended as soon as a run is done; a line that
a kill cut short has no right sum and is left out. Nothing is locked, as locks do not hold on network file systems: every writer has
a name of its own, and rows that are there twice are alike.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
import os
import re
import secrets
import socket
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base.errors import InputError, OutputError
from elephan.result.folder import sync

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1
FORMAT = "elephan-store"
_NAME = re.compile(r"(?P<writer>[\w.-]+)-(?P<number>\d{6})-(?P<digest>[0-9a-f]{32})\.parquet")
_TAIL = re.compile(r"[\w.-]+-\d{6}\.log")
FOLDERS = ("parts", "attempts", "tails")


def new_writer() -> str:
    """Returns a name that no other writer of a store has: host, process and a few random digits.

    The host is named with its numbering of processes, of which containers have one of their own.
    """
    host = re.sub(r"[^\w.]", "_", socket.gethostname())[:40]
    with contextlib.suppress(OSError):
        host += f".{os.stat('/proc/self/ns/pid').st_ino:x}"
    return f"{host}-{os.getpid()}-{secrets.token_hex(4)}"


def is_of_dead(name: str) -> bool:
    """Whether what is named by its writer is of a process of this machine that is no more."""
    host, _, process = new_writer().rpartition("-")[0].rpartition("-")
    if not (of_here := re.match(rf"{re.escape(host)}-(\d+)-", name)) or of_here[1] == process:
        return False
    try:
        os.kill(int(of_here[1]), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


def create(where: Path) -> None:
    """Makes the folders of a store, or checks that they are of one that this version reads."""
    mark = where / "store.json"
    try:
        # What begins with a dot is of a writer that makes the store at this moment, or was killed while it did.
        if mark.exists() or (where.exists() and not all(path.name.startswith(".") for path in where.iterdir())):
            check(where)
        else:
            where.mkdir(parents=True, exist_ok=True)
            aside = where / f".{new_writer()}.json"
            aside.write_text(json.dumps({"format": FORMAT, "version": VERSION}) + "\n", encoding="utf-8")
            sync(aside)
            aside.replace(mark)
            sync(where)
        for name in FOLDERS:
            (where / name).mkdir(exist_ok=True)
        if not os.access(where / "tails", os.W_OK):
            raise OutputError(f"cannot write the store {where}: Permission denied")
    except OSError as error:
        raise OutputError(f"cannot write the store {where}: {error.strerror or error}") from None


def check(where: Path) -> None:
    """Raises InputError if a folder is no store, or one of another version."""
    mark = where / "store.json"
    if not where.is_dir():
        raise InputError(f"{where}: no such store of trials")
    try:
        found = json.loads(mark.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InputError(f"{where}: not a store of trials (no store.json)")
    if found.get("version") != VERSION:
        raise InputError(f"{where}: a store of version {found.get('version')}, this is {VERSION}")


def write_part(folder: Path, writer: str, number: int, rows: pa.Table) -> Path:
    """Writes rows to a part: aside, synced, then renamed. Returns its path."""
    import pyarrow as pa
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(rows, sink, compression="zstd")
    data = sink.getvalue()
    name = f"{writer}-{number:06d}-{hashlib.blake2b(data, digest_size=16).hexdigest()}.parquet"
    aside = folder / f".{name}"
    try:
        with aside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.rename(folder / name)
        sync(folder)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise
    return folder / name


class Damaged(Exception):
    """A file of a store that cannot be trusted; the text says why."""


def content(path: Path) -> bytes:
    """Returns the bytes of a part, or raises `Damaged`. A file that is gone meanwhile raises FileNotFoundError."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise Damaged("not written by elephan")
    data = path.read_bytes()
    if hashlib.blake2b(data, digest_size=16).hexdigest() != match["digest"]:
        raise Damaged("its content is not what was written")
    return data


def read_part(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Returns the rows of a part, or raises `Damaged`. A file that is gone meanwhile raises FileNotFoundError."""
    import pyarrow as pa
    from pyarrow import parquet

    data = content(path)
    try:
        # On this thread alone: one of Arrow's that still held `data` while Python ends would abort the process.
        return parquet.ParquetFile(pa.BufferReader(data), pre_buffer=False).read(columns and list(columns), use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise Damaged(str(error).partition("\n")[0]) from None


def parts(folder: Path) -> list[Path]:
    """The files of a folder of parts; those being written, which begin with a dot, are none."""
    return sorted(path for path in _files(folder) if not path.name.startswith("."))


def _files(folder: Path) -> list[Path]:
    """What is in a folder; nothing if it is not there, as programs that copy files leave out empty folders."""
    with contextlib.suppress(FileNotFoundError):
        return list(folder.iterdir())
    return []


class Tail:
    """A file that takes trials as they come, one line each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)

    def append(self, record: dict[str, Any]) -> None:
        """Appends a line in one write, so that a killed process leaves whole lines and at most one torn."""
        text = json.dumps(record, default=_as_text).encode()
        line = b"%08x %s\n" % (binascii.crc32(text), text)
        while line:
            line = line[os.write(self._handle, line) :]

    def sync(self) -> None:
        os.fsync(self._handle)

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _as_text(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"{type(value)} in a row")


def read_tail(path: Path) -> Iterator[dict[str, Any]]:
    """Gives the records of a tail; a line that is torn or damaged is left out."""
    for line in path.read_bytes().split(b"\n"):
        checksum, _, text = line.partition(b" ")
        if checksum == b"%08x" % binascii.crc32(text):
            yield json.loads(text, object_hook=_from_text)


def _from_text(found: dict[str, Any]) -> Any:
    return base64.b64decode(found["base64"]) if found.keys() == {"base64"} else found


def tails(folder: Path) -> list[Path]:
    """The tails of a folder."""
    return sorted(path for path in _files(folder) if _TAIL.fullmatch(path.name))


def strangers(where: Path) -> Iterable[Path]:
    """Files in a store that are none of its own."""
    known = {"store.json", "aside", "slurm", "runs", *FOLDERS}
    found = [path for path in where.iterdir() if path.name not in known and not path.name.startswith(".")]
    return [*found, *(path for path in _files(where / "tails") if not _TAIL.fullmatch(path.name))]
