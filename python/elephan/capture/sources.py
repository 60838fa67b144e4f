"""The files of a capture: several of a ring buffer, standard input, a pipe."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from elephan.base.errors import InputError

STDIN = "-"
_PACKED = (".gz", ".zst", ".zstd")


def stem(path: Path) -> str:
    """Returns the name of a file without folders, endings of compression, and its own ending."""
    if str(path) == STDIN:
        return "stdin"
    return Path(path.stem).stem if path.suffix in _PACKED else path.stem


@contextmanager
def regular(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Yields files that can be read twice: what comes from standard input or a pipe is put into a temporary file first."""
    if not any(_is_pipe(path) for path in paths):
        yield list(paths)
        return
    with tempfile.TemporaryDirectory(prefix="elephan-") as folder:
        read = [_kept(path, Path(folder) / f"{place}-{stem(path)}") if _is_pipe(path) else path for place, path in enumerate(paths)]
        try:
            yield read
        except InputError as error:
            # A person knows the pipe, not the file that it was put into.
            said = str(error)
            for path, kept in zip(paths, read, strict=True):
                said = said.replace(str(kept), "standard input" if str(path) == STDIN else str(path))
            raise InputError(said) from None


def _is_pipe(path: Path) -> bool:
    return str(path) == STDIN or path.is_fifo() or path.is_socket()


def _kept(path: Path, where: Path) -> Path:
    try:
        with where.open("wb") as out:
            if str(path) == STDIN:
                shutil.copyfileobj(sys.stdin.buffer, out)
            else:
                with path.open("rb") as pipe:
                    shutil.copyfileobj(pipe, out)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    return where
