"""Texts for terminals: without control characters, and with something legible where the output's encoding lacks a character."""

from __future__ import annotations

import codecs
import io
import sys
import unicodedata

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


def printable(text: str) -> str:
    """The text without what would command a terminal."""
    return "".join(letter for letter in text if letter in "\n\t" or unicodedata.category(letter) != "Cc")


def _instead(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_INSTEAD.get(letter, "?") for letter in lacking), error.end


def write_whatever() -> None:
    """Lets standard output and error write every text, whatever their encoding."""
    codecs.register_error("elephan", _instead)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="elephan")
