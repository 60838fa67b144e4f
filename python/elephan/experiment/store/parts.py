"""The files of a store: parts, which never change once they are named, and tails of trials that are in no part yet (`tails.py`).

`parts/WRITER-NUMBER-DIGEST.parquet`: rows of one writer, written aside, synced and renamed; the digest is of the whole file, so
that a damaged one is known. Nothing is locked, as locks do not hold on network file systems: every writer has a name of its
own, and rows that are there twice are alike. What is no regular file, such as a pipe, is never opened, since reading
it may never end.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import socket
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elephan.base.errors import ElephanError, InputError, OutputError
from elephan.base.signals import from_outside
from elephan.experiment.store import attempts
from elephan.experiment.store.row import STATISTIC, schema
from elephan.result.folder import sync

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1
FORMAT = "elephan-store"
_NAME = re.compile(r"(?P<writer>[\w.-]+)-(?P<number>\d{6})-(?P<digest>[0-9a-f]{32})\.parquet")
FOLDERS = ("parts", "attempts", "tails")
_MARK = json.dumps({"format": FORMAT, "version": VERSION})
_NO_MARK = "not the mark of a store of trials"
_MARKED = f"a store of this version is marked by {_MARK}"


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
            aside.write_text(f"{_MARK}\n", encoding="utf-8")
            sync(aside)
            aside.replace(mark)
            sync(where)
        for name in FOLDERS:
            (where / name).mkdir(exist_ok=True)
        if not os.access(where / "tails", os.W_OK):
            raise OutputError(f"cannot write the store {where}: Permission denied")
    except OSError as error:
        if from_outside(error):
            raise
        raise OutputError(f"cannot write the store {where}: {error.strerror or error}") from None


def check(where: Path) -> None:
    """Raises InputError if a folder is no store, or one of another version."""
    mark = where / "store.json"
    if not where.is_dir():
        raise InputError(f"{where}: no such store of trials")
    try:
        found = json.loads(read_bytes(mark))
    except FileNotFoundError:
        raise InputError(f"{where}: not a store of trials (no store.json)") from None
    except (Damaged, ValueError, RecursionError) as why:
        raise InputError(f"{mark}: {_NO_MARK} ({str(why) if isinstance(why, Damaged) else 'it is no JSON'}); {_MARKED}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InputError(f"{mark}: {_NO_MARK}; {_MARKED}")
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


def read_bytes(path: Path) -> bytes:
    """Returns the bytes of a file. Raises `Damaged` for what is no regular file, and ElephanError for one that the system does not
    give. A file that is gone meanwhile raises FileNotFoundError.
    """
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise Damaged("it is a folder" if stat.S_ISDIR(mode) else "it is no regular file")
        return path.read_bytes()
    except FileNotFoundError:
        if path.is_symlink():
            raise Damaged("it is a link that leads nowhere") from None
        raise
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise Damaged("it is a link that leads nowhere") from None
        raise ElephanError(f"{path}: cannot be read: {error.strerror or error}") from None


def content(path: Path) -> bytes:
    """Returns the bytes of a part; raises what `read_bytes` does, and `Damaged` for bytes that are not what was written."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise Damaged("not written by elephan")
    data = read_bytes(path)
    if hashlib.blake2b(data, digest_size=16).hexdigest() != match["digest"]:
        raise Damaged("its content is not what was written")
    return data


def read_part(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Returns the rows of a part; raises what `content` does, and `Damaged` for what is no table of the folder that it is in."""
    import pyarrow as pa
    from pyarrow import parquet

    data = content(path)
    try:
        # On this thread alone: one of Arrow's that still held `data` while Python ends would abort the process.
        opened = parquet.ParquetFile(pa.BufferReader(data), pre_buffer=False)
        _check_columns(opened.schema_arrow, attempts.schema() if path.parent.name == "attempts" else schema([]))
        return opened.read(columns and list(columns), use_threads=False)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Damaged(str(error).partition("\n")[0]) from None


def _check_columns(found: pa.Schema, wanted: pa.Schema) -> None:
    """Raises ValueError where a column is missing or has another type."""
    for field in wanted:
        place = found.get_field_index(field.name)
        if place < 0 or found.field(place).type != field.type:
            raise ValueError(f"it has no column {field.name} of {field.type}")
    for name in found.names:
        if name.startswith(STATISTIC) and str(found.field(name).type) != "double":
            raise ValueError(f"its column {name} is no number")


def parts(folder: Path) -> list[Path]:
    """The files of a folder of parts; those being written, which begin with a dot, are none."""
    return sorted(path for path in listed(folder) if not path.name.startswith("."))


def listed(folder: Path) -> list[Path]:
    """What is in a folder; nothing if it is not there, as programs that copy files leave out empty folders."""
    try:
        return list(folder.iterdir())
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        raise ElephanError(f"{folder}: is no folder; what it held runs again once it is moved away") from None
    except OSError as error:
        raise ElephanError(f"{folder}: cannot be read: {error.strerror or error}") from None


def strangers(where: Path) -> Iterable[Path]:
    """Files in a store that are none of its own."""
    known = {"store.json", "aside", "slurm", "runs", "origins", *FOLDERS}
    return [path for path in listed(where) if path.name not in known and not path.name.startswith(".")]
