"""Paths as a user gives them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError, brief

PATH_MAX, NAME_MAX = 4000, 255  # of paths, and of a name in them, that systems take


def as_path(given: Any, what: str) -> Path:
    """A path from what a user gave, or one line about why it is none."""
    try:
        path = Path(given)
        str(path).encode()
    except TypeError:
        raise InputError(f"{what}: {given!r} is not a path; give a text or a pathlib.Path") from None
    except UnicodeEncodeError:
        raise InputError(f"{what}: {str(given)!r} is not a path in UTF-8") from None
    if os.fspath(given) == "":  # which would be the current folder
        raise InputError(f"{what}: an empty text is no path")
    if "\0" in str(path):
        raise InputError(f"{what}: {str(given)!r} is not a path: it has a NUL character")
    if len(str(path)) > PATH_MAX or any(len(os.fsencode(part)) > NAME_MAX for part in path.parts):
        raise InputError(f"{what}: {brief(str(given))} is too long for a path")
    return path
