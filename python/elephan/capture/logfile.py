"""A file of a log: its first bytes, its text, its records one after another."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from elephan.base.errors import InputError
from elephan.scenario.source import check_regular

if TYPE_CHECKING:
    import pyarrow as pa

HEAD_BYTES = 1 << 16
MAGIC_BYTES = 16
_PIECE_BYTES = 1 << 20
COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # begin what PowerShell writes from `iperf3 -J > FILE`


class LogFile:
    """A file, decompressed while it is read. InputError if it cannot be read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes] | pa.NativeFile]:
        check_regular(self.path)
        try:
            with self.path.open("rb") as stream:
                begin = stream.read(4)
                kind = next((kind for magic, kind in COMPRESSED.items() if begin.startswith(magic)), None)
                stream.seek(0)
                if kind is None:
                    yield stream
                    return
                import pyarrow as pa

                with pa.CompressedInputStream(stream, kind) as plain:
                    yield plain
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}") from None

    def _first(self, count: int) -> bytes:
        with self._opened() as stream:
            return bytes(stream.read(count))

    @cached_property
    def head(self) -> bytes:
        """The first bytes; InputError if there are none."""
        try:
            found = self._first(HEAD_BYTES)
        except InputError:
            # What lies behind compressed data spoils the reading of many bytes; few tell what the file is.
            found = self._first(MAGIC_BYTES)
        if not found:
            raise InputError(f"{self.path}: an empty file")
        return found

    @cached_property
    def begin(self) -> str:
        """The first characters, those that are none replaced."""
        if self.head.startswith(UTF_16):
            return self.head.decode("utf-16", "replace")
        return self.head.decode("utf-8-sig", "replace")

    @cached_property
    def text(self) -> str:
        """The whole text. A character that the end of the file cuts is left out."""
        with self._opened() as stream:
            data = bytes(stream.read())
        decoder: Any = codecs.getincrementaldecoder("utf-16" if data.startswith(UTF_16) else "utf-8-sig")()
        try:
            return str(decoder.decode(data))
        except UnicodeDecodeError:
            raise InputError(f"{self.path}: neither a capture nor a log in UTF-8 or UTF-16") from None

    def records(self, mark: bytes) -> Iterator[bytes]:
        """Gives what stands between marks, one after another: never more than a record and a piece is in memory.

        InputError where compressed data end too early, behind the records that are there.
        """
        pending: list[bytes] = []
        with self._opened() as stream:
            while piece := bytes(stream.read(_PIECE_BYTES)):
                first, *others = piece.split(mark)
                pending.append(first)
                for other in others:
                    yield b"".join(pending)
                    pending = [other]
        yield b"".join(pending)
