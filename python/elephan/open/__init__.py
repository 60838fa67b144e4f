"""Finished results of any kind: read again, drawn again, compared."""

import importlib
import os
from pathlib import Path
from typing import Any

from elephan.base import kinds
from elephan.base.errors import InputError
from elephan.base.paths import as_path
from elephan.experiment.store.query import Questions
from elephan.experiment.store.store import stores
from elephan.result import folder

_DIFFERENCE = ("Difference", "compare", "scenario_changes")


def __getattr__(name: str) -> Any:
    """Finds what compares results; it brings in every kind of experiment, which a single run need not wait for."""
    if name not in _DIFFERENCE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("elephan.open.difference"), name)


def load(path: str | os.PathLike[str]) -> Any:
    """Returns a finished result of any kind from its folder; the tables of a run or trace are read when asked for.

    Of a store of trials, or a folder below which there are stores, it returns what answers questions in SQL (`Questions.sql`).

    >>> saved = el.run("sawtooth", set={"duration": "12 s"}, out="saved")
    >>> el.load("saved").flows.num_rows
    1
    """
    place = as_path(path, "result folder")
    if place.is_dir() and not (place / "manifest.json").exists() and stores(place):
        return Questions(place)
    where, manifest = folder.open_result(path)
    found = kinds.find(manifest.get("kind"))
    if found is None:
        raise InputError(f'{where / "manifest.json"}: damaged: no kind of result "{manifest.get("kind")}"')
    with folder.damaged(where):
        return found.load(where)


def narrowed(result: Any, filter: str | None, baseline: str | None) -> Any:
    """Returns a sweep with the variants that a condition chooses, and with a baseline; any other result if neither is asked for."""
    if filter is None and baseline is None:
        return result
    if result.kind != "sweep":
        raise InputError(f"--filter and --baseline choose variants of a sweep; this result is of the kind {result.kind}")
    result = result if filter is None else result.where(filter)
    return result if baseline is None else result.against(baseline)


def redraw(path: Path, figures: bool = False, filter: str | None = None, baseline: str | None = None) -> Path:
    """Writes the report of a result again, with `figures` each figure as SVG and PNG too; returns the path of the report.

    `filter` and `baseline`: conditions on the parameters of a sweep (`Sweep.where`, `Sweep.against`).
    """
    where, _ = folder.open_result(path)
    with folder.damaged(where):
        return Path(narrowed(load(where), filter, baseline).draw(where, figures))
