"""The command line that makes a result, and what of it the result depends on."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

# Options that say where and how runs are done, and what is printed: they change no result.
_PLACES = ("--on", "--slurm", "--elements", "--store", "--workers", "--out", "--shard")
_MANNERS = ("--wait", "--why", "--again", "--no-report", "--json", "--live", "--no-open")


def command_line() -> str:
    """Returns the exact command, as one would type it again."""
    program, *words = sys.argv
    name = Path(program).name
    return shlex.join(["elephan" if name == "__main__.py" else name, *words])


def words_without(words: Iterable[str], with_value: Collection[str], flags: Collection[str]) -> list[str]:
    """Returns the words of a command line without some options."""
    found: list[str] = []
    left = iter(words)
    for word in left:
        if word in with_value:
            next(left, None)
        elif word not in flags and word.partition("=")[0] not in with_value:
            found.append(word)
    return found


def asked(value: Any) -> Any:
    """Returns what a command asks for, wherever it runs; any other value as it is."""
    if not isinstance(value, str) or not value.startswith("elephan "):
        return value
    try:
        return shlex.join(words_without(shlex.split(value), _PLACES, _MANNERS))
    except ValueError:  # a manifest that somebody edited
        return value
