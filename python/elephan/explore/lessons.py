"""The lessons that the page plays: files of steps, each with words, changes of a scenario, and where to look."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError, nearest

FOLDER = Path(__file__).parent / "lessons"


@cache
def lessons() -> dict[str, dict[str, Any]]:
    """Returns the lessons by name, in the order in which they are best read."""
    files = sorted(FOLDER.glob("*.toml"))
    return {file.stem.partition("-")[2]: tomllib.loads(file.read_text(encoding="utf-8")) for file in files}


def known(name: str) -> str:
    """Returns the name of a lesson; InputError if there is none of this name."""
    if name not in lessons():
        raise InputError(f'no lesson "{name}"{nearest(name, list(lessons()))}')
    return name
