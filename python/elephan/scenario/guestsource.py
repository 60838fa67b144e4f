"""Where the code of congestion controls in Python and of programs came from, for a manifest."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.scenario import guest, trust
from elephan.scenario.reference import reference_of
from elephan.scenario.trust import Trust


def _hash(key: str, reference: str, folder: str | None, agreed: Trust) -> str | None:
    """SHA-256 of the source of what `reference` names: of its file, or of the class alone when it was typed in; None if neither."""
    try:
        if file := file_of(key, reference, folder, agreed):
            return hashlib.sha256(file.read_bytes()).hexdigest()
        target = guest.find(reference, folder, agreed)
        module = sys.modules.get(getattr(target, "__module__", ""))
        path = getattr(module, "__file__", None)
        text = Path(path).read_bytes() if path else inspect.getsource(target).encode()
        return hashlib.sha256(text).hexdigest()
    except (OSError, TypeError, InputError):
        return None


def file_of(key: str, reference: str, folder: str | None, agreed: Trust) -> Path | None:
    """The file that a reference names, by its path or by the name of a module beside the scenario; None for anything else."""
    if key == "program":
        return trust.find_file(reference, reference, folder, agreed)
    place = reference.rpartition(":")[0]
    if not place.endswith(".py"):
        place = trust.module_file(place, reference, folder, agreed) or ""
    return trust.find_file(place, reference, folder, agreed) if place else None


def folder_of(name: str) -> str | None:
    """The folder of a scenario called `name`; None of a text."""
    return None if name.startswith("<") else str(Path(name).parent)


def named_in(value: Any) -> list[tuple[str, str]]:
    """Every class and program that a resolved scenario names: the key, `python` or `program`, and what stands there."""
    if isinstance(value, Mapping):
        own = reference_of(value)
        return ([own] if own else []) + [found for inner in value.values() for found in named_in(inner)]
    if isinstance(value, list):
        return [found for inner in value for found in named_in(inner)]
    return []


def provenance(resolved: Mapping[str, Any], name: str, agreed: Trust) -> list[dict[str, Any]]:
    """For a manifest: each guest of a scenario with the hash of its source. `name` is the scenario's, its path if it is a file."""
    folder = folder_of(name)
    each = dict.fromkeys(named_in(resolved))
    return [{key: reference, "source_sha256": _hash(key, reference, folder, agreed)} for key, reference in each]
