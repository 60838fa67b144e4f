"""Which elephan computes here, and on what machine: a fingerprint of the core and of the modules that measure."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Any

from elephan.scenario import core

_ROOMS = ("base", "experiment", "result", "scenario", "statistic", "table")  # what a value depends on


def digest(*parts: str | bytes) -> str:
    """Returns 32 hexadecimal digits of BLAKE2b over the parts, each with its length."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        found.update(len(data).to_bytes(8, "little") + data)
    return found.hexdigest()


@cache
def engine() -> str:
    """Returns the fingerprint of elephan as it is installed: of the compiled core and the modules that measure."""
    file = getattr(core.core(), "__file__", None)
    root = Path(__file__).parents[1]
    modules = sorted(path for room in _ROOMS for path in (root / room).rglob("*.py"))
    parts = [data for path in modules for data in (path.relative_to(root).as_posix().encode(), path.read_bytes())]
    return digest(core.call("version"), Path(file).read_bytes() if file else b"", *parts)


def host() -> dict[str, Any]:
    """What a result should remember about the machine: kind, not name."""
    import platform

    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
    }
