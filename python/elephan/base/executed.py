"""Which code of each module this process has run: nobody tells later, since a file may have changed since it was imported.

Imported with elephan itself, so that it hears of what is imported after that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

CODES: dict[str, CodeType] = {}  # of modules, by file: of one that was loaded again the last
LISTENERS: list[Callable[[str, tuple[Any, ...]], object]] = []  # are told of all events

_begun: list[bool] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    """Python calls this for every event of the process."""
    if event == "exec":
        code = arguments[0]
        if isinstance(code, CodeType) and code.co_name == "<module>" and not code.co_filename.startswith("<"):
            CODES[code.co_filename] = code
    for listener in LISTENERS:
        listener(event, arguments)


def listen() -> None:
    """Begins to hear of modules. A hook cannot be taken back."""
    if not _begun:
        _begun.append(True)
        sys.addaudithook(_hook)
