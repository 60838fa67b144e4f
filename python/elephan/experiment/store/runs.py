"""The tables of single runs in a store: `runs/KEY-WRITER`, a result folder of its own for each, which `el.load` reads.

Each writer has folders of its own, so that two that run the same trial do not meet; what is there twice is alike.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection
from pathlib import Path

from elephan.base.errors import InputError
from elephan.experiment.store import parts
from elephan.result import folder

FOLDER = "runs"


def new(store: Path, key: str, writer: str) -> Path:
    """The folder for the run of a trial."""
    return store / FOLDER / f"{key}-{writer}"


def of(store: Path) -> dict[str, list[Path]]:
    """The folders that are whole, by the key of their trial."""
    found: dict[str, list[Path]] = {}
    for path in _all(store):
        if not path.name.endswith(".partial"):
            found.setdefault(_key(path), []).append(path)
    return found


def best(store: Path) -> list[Path]:
    """The folder of each trial that has most: the whole run, else the samples that are thinned least."""

    def width(path: Path) -> float:
        kept = (folder.read_manifest(path) or {}).get("kept")
        return float(kept["within"]) if kept else -1.0

    return [min(paths, key=width) if len(paths) > 1 else paths[0] for paths in of(store).values()]


def _all(store: Path) -> list[Path]:
    with contextlib.suppress(FileNotFoundError):
        return sorted((store / FOLDER).iterdir())
    return []


def check(store: Path) -> list[str]:
    """A line for each run whose files are not what was written."""
    return [why for paths in of(store).values() for path in paths if (why := _damage(path))]


def _damage(path: Path) -> str:
    """Why a run cannot be trusted; empty if it can."""
    try:
        if not path.is_dir():
            return f"{path}: not written by elephan"
        where, manifest = folder.open_result(path)
        for name in manifest.get("digests", {}):
            if not os.path.lexists(where / name):
                return f"{where / name}: damaged: it is missing"
            folder.verify(where / name)
    except (InputError, OSError) as error:
        return str(error)
    return ""


def collect(store: Path, keys: Collection[str], removed: Collection[str] = ()) -> int:
    """Removes runs of `removed` trials and, of dead writers, what is half written, there twice, or of no trial among `keys`; and
    what is damaged.

    A live writer, or one of another machine, may still be about to put the trial into the store. Returns how many it removed.
    """
    kept = {path for path in best(store) if _key(path) in keys}
    dead = [path for path in _all(store) if parts.is_of_dead(path.name.partition("-")[2]) and path not in kept]
    gone = {*dead, *(path for path in _all(store) if _key(path) in removed)}
    gone |= {path for path in kept - gone if _damage(path)}  # its trial runs again where its tables are wanted
    for path in gone:
        shutil.rmtree(path, ignore_errors=True)
    return len(gone)


def _key(path: Path) -> str:
    return path.name.partition("-")[0]
