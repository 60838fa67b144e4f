"""Texts for terminals: something legible where the output's encoding lacks a character."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import Any, TextIO

_INSTEAD = {
    "→": "->",
    "±": "+-",
    "µ": "u",
    "∞": "inf",
    "\u00d7": "x",
    "≤": "<=",
    "≥": ">=",
    "…": "...",
    "\u2212": "-",
    "\u2013": "-",
    "\u202f": " ",
}


def _instead(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_INSTEAD.get(letter, "?") for letter in lacking), error.end


class _Pipe(io.FileIO):
    """A pipe whose reader may leave, as `head` does: what is written after that is lost, and nothing fails."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return len(memoryview(data).cast("B"))


def _lasting(stream: TextIO) -> TextIO:
    """The stream over a pipe whose reader may leave, if it is a plain one."""
    below = getattr(stream, "buffer", None)
    if not isinstance(stream, io.TextIOWrapper) or type(getattr(below, "raw", below)) is not io.FileIO:
        return stream
    stream.flush()
    pipe = _Pipe(stream.fileno(), "w", closefd=False)
    buffer: Any = pipe if below is getattr(below, "raw", below) else io.BufferedWriter(pipe)  # as python -u wants it
    return io.TextIOWrapper(
        buffer, stream.encoding, "elephan", line_buffering=stream.line_buffering, write_through=stream.write_through
    )


def write_whatever() -> None:
    """Lets standard output and error write every text, whatever their encoding, and whether anybody reads it."""
    codecs.register_error("elephan", _instead)
    sys.stdout, sys.stderr = _lasting(sys.stdout), _lasting(sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="elephan")
