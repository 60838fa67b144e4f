"""Where the code of congestion controls in Python and of programs came from, for a manifest."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.scenario import guest
from elephan.scenario.inputs import Inputs, modules_of
from elephan.scenario.pack import BESIDE_BYTES, BESIDE_FILES, Pack
from elephan.scenario.reference import reference_of
from elephan.scenario.trust import Trust


def _hash(key: str, reference: str, folder: str | None, agreed: Trust) -> str | None:
    """SHA-256 of the source of what `reference` names: of its file, or of the class alone when it was typed in; None if neither."""
    try:
        if file := file_of(key, reference, folder, agreed):
            return hashlib.sha256(_pack(agreed).read(file)).hexdigest()
        target = guest.named(reference, folder, agreed)
        module = sys.modules.get(getattr(target, "__module__", ""))
        path = getattr(module, "__file__", None)
        text = _pack(agreed).read(Path(path)) if path else inspect.getsource(target).encode()
        return hashlib.sha256(text).hexdigest()
    except (OSError, TypeError, InputError):
        return None


def file_of(key: str, reference: str, folder: str | None, agreed: Trust) -> Path | None:
    """The file that a reference names, by its path or by the name of a module beside the scenario; None for anything else."""
    if key == "program":
        return guest.found_file(reference, reference, folder, agreed)
    place = reference.rpartition(":")[0]
    if place.endswith(".py"):
        return guest.found_file(place, reference, folder, agreed)
    return guest.module_file(place, reference, folder, agreed)


def inputs_of(key: str, reference: str, folder: str | None, agreed: Trust) -> Inputs:
    """What a guest depends on beside its own file: files beside it, modules, and what it has read so far.

    Raises InputError for a file that may not run.
    """
    agreed = agreed.packed()
    pack, found = _pack(agreed), Inputs()
    file = file_of(key, reference, folder, agreed)
    if key == "program":
        if file is not None:
            found.digests[f"program {file}"] = pack.content(file)
            found.changed = pack.touched(file)
            if pack.files_beside(file) is None:
                found.unpinned.add(f"has more than {BESIDE_FILES} files or {BESIDE_BYTES / 1e6:g} MB beside it")
        return found
    codes, roots = [], []
    if file is None:
        roots.append(getattr(guest.named(reference, folder, agreed), "__module__", ""))
    for one in _closure(file, pack) if file is not None else ():
        loaded = pack.loaded.get(one)
        if one != file:
            found.digests[f"beside {one}"] = hashlib.sha256(pack.read(one)).hexdigest()
        if loaded is not None:
            codes.append(loaded.code)
            found.add(Inputs.of(loaded.notes))
    found.add(Inputs.of(pack.notes_of(reference)))
    known = (reference, len(codes), len(sys.modules))  # which takes longer than a short run
    found.add(pack.known.get(known) or pack.known.setdefault(known, modules_of(codes, roots)))
    return found


def _closure(file: Path, pack: Pack) -> list[Path]:
    """A file that was loaded and those beside it that it imports."""
    found: list[Path] = []
    waiting = [file]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.append(one)
            waiting += pack.loaded[one].needs if one in pack.loaded else ()
    return sorted(found)


def _pack(agreed: Trust) -> Pack:
    return agreed.pack or Pack()


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
    folder, agreed = folder_of(name), agreed.packed()
    each = dict.fromkeys(named_in(resolved))
    return [{key: reference, "source_sha256": _hash(key, reference, folder, agreed)} for key, reference in each]
