"""Where the code of congestion controls in Python came from, for a manifest."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.scenario import guest, trust
from elephan.scenario.trust import Trust


def _hash(reference: str, folder: str | None, agreed: Trust) -> str | None:
    """SHA-256 of the source of what `reference` names: of its file, or of the class alone when it was typed in; None if neither."""
    try:
        if file := file_of(reference, folder, agreed):
            return hashlib.sha256(file.read_bytes()).hexdigest()
        target = guest.find(reference, folder, agreed)
        module = sys.modules.get(getattr(target, "__module__", ""))
        file = getattr(module, "__file__", None)
        text = Path(file).read_bytes() if file else inspect.getsource(target).encode()
        return hashlib.sha256(text).hexdigest()
    except (OSError, TypeError, InputError):
        return None


def file_of(reference: str, folder: str | None, agreed: Trust) -> Path | None:
    """The file that a reference names, by its path or by the name of a module beside the scenario; None for anything else."""
    place = reference.rpartition(":")[0]
    if not place.endswith(".py"):
        place = trust.module_file(place, reference, folder, agreed) or ""
    return trust.find_file(place, reference, folder, agreed) if place else None


def folder_of(name: str) -> str | None:
    """The folder of a scenario called `name`; None of a text."""
    return None if name.startswith("<") else str(Path(name).parent)


def named_in(value: Any) -> list[dict[str, Any]]:
    """Every guest that a resolved scenario names."""
    if isinstance(value, Mapping):
        own = [dict(value)] if isinstance(value.get("python"), str) else []
        return own + [found for inner in value.values() for found in named_in(inner)]
    if isinstance(value, list):
        return [found for inner in value for found in named_in(inner)]
    return []


def provenance(resolved: Mapping[str, Any], name: str, agreed: Trust) -> list[dict[str, Any]]:
    """For a manifest: each guest of a scenario with the hash of its source. `name` is the scenario's, its path if it is a file."""
    folder = folder_of(name)
    rows: dict[str, dict[str, Any]] = {}
    for one in named_in(resolved):
        reference = one["python"]
        rows.setdefault(reference, {"python": reference, "source_sha256": _hash(reference, folder, agreed)})
    return list(rows.values())
