"""Congestion controls in Python on their way to another machine: the files travel with the job, or the job is refused.

A program does not travel, since another machine may not be able to run it: the worker needs the same file at the same path.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.experiment.each import Each, own_modules
from elephan.experiment.job import Job
from elephan.experiment.store.identity import digest
from elephan.scenario import core, guest
from elephan.scenario.guestsource import file_of, folder_of, named_in
from elephan.scenario.reference import HANDED_OVER, NAMED, may_name
from elephan.scenario.trust import Trust


@dataclass(frozen=True)
class Luggage:
    """Files by the path below their common folder, and for each place that a reference names the path of its file. Programs by
    their reference: absolute path and SHA-256.
    """

    files: Mapping[str, bytes]
    places: Mapping[str, str]
    programs: Mapping[str, tuple[str, str]]

    def unpack(self) -> Path:
        """Writes the files to a folder that is named by their content; returns it."""
        name = digest(*(part for path, data in sorted(self.files.items()) for part in (path, data)))
        root = Path(tempfile.gettempdir()) / f"elephan-{os.getuid() if hasattr(os, 'getuid') else 0}-{name}"
        for path, data in self.files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not file.exists() or file.read_bytes() != data:
                aside = file.with_name(f".{os.getpid()}-{file.name}")
                aside.write_bytes(data)
                aside.replace(file)
        return root


def pack(job: Job) -> Luggage | None:
    """Returns the files that a job needs on another machine, None if it needs none.

    Raises InputError for a congestion control that has no file: a class that was typed in.
    """
    toml = core.resolved_toml(job.source, job.overrides, job.seed)
    if not may_name(toml):
        return None
    folder, agreed = folder_of(job.source.name), job.source.agreed
    found: dict[str, list[Path]] = {}
    programs: dict[str, tuple[str, str]] = {}
    for key, reference in named_in(core.toml_values(toml)):
        place = reference.rpartition(":")[0]
        file = file_of(key, reference, folder, agreed)
        if file is None and (reference in HANDED_OVER or reference in NAMED):
            file = _of_session(place, reference)
        if file is None:
            continue
        real = Path(os.path.realpath(file))
        if key == "program":
            programs[reference] = (str(real), _digest(real))
        else:
            found[place] = [real, *guest.files_of(real)]
    if not found and not programs:
        return None
    every = {path for files in found.values() for path in files}
    root = Path(os.path.commonpath([path.parent for path in every] or [Path("/")]))
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(every)}
    return Luggage(files, {place: own.relative_to(root).as_posix() for place, (own, *_) in found.items()}, programs)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _check(programs: Mapping[str, tuple[str, str]]) -> None:
    """Refuses a program that is not here as it is where the job comes from."""
    for path, expected in programs.values():
        if not Path(path).is_file():
            raise InputError(f"{path}: programs do not travel, and this one is not on {platform.node()}; put it at this path there")
        if _digest(Path(path)) != expected:
            raise InputError(f"{path}: programs do not travel, and the file on {platform.node()} differs from the one here")


def packed(measure: Any) -> bytes:
    """Returns what is measured as a worker unpickles it: the caller's function, and what it uses of modules that are not installed,
    as they are, not as names to import."""
    if not isinstance(measure, Each):
        return pickle.dumps(measure)
    try:
        import cloudpickle
    except ImportError:
        raise InputError("cloudpickle is not installed, with which a function travels: pip install cloudpickle") from None
    modules = [module for module in own_modules() if module.__name__ in sys.modules and module.__name__ != "__main__"]
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        return bytes(cloudpickle.dumps(measure))
    except Exception as error:
        raise InputError(f"each cannot travel to a worker: {str(error).partition(chr(10))[0]}") from error
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def _of_session(place: str, reference: str) -> Path:
    """The file of a class that the caller handed over."""
    file = getattr(sys.modules.get(place), "__file__", None)
    if reference in HANDED_OVER or file is None or not file.endswith(".py"):
        raise InputError(f"{reference} is of this session alone, so that workers cannot load it; write it to a file")
    return Path(file)


def arrived(job: Job, luggage: Luggage | None) -> Job:
    """The job as it runs where the luggage has arrived: its references name the files there."""
    if luggage is None:
        return job
    _check(luggage.programs)
    root = luggage.unpack()
    places = {place: str(root / path) for place, path in luggage.places.items()}
    programs = {reference: path for reference, (path, _) in luggage.programs.items()}
    text = job.source.text
    for place, path in places.items():
        text = text.replace(f'"{place}:', f'"{path}:')
    for reference, path in programs.items():
        text = text.replace(f'"{reference}"', f'"{path}"')
    agreed = Trust(job.source.agreed.modules, (str(root), *programs.values()), job.source.agreed.words)
    overrides = {key: _moved(value, places, programs) for key, value in job.overrides.items()}
    return replace(job, source=replace(job.source, text=text, agreed=agreed), overrides=overrides)


def _moved(value: Any, places: Mapping[str, str], programs: Mapping[str, str]) -> Any:
    """A value of an override with its references moved."""
    if isinstance(value, Mapping):
        return {key: _moved(inner, places, programs) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_moved(inner, places, programs) for inner in value]
    if not isinstance(value, str):
        return value
    place, _, name = value.rpartition(":")
    return f"{places[place]}:{name}" if place in places else programs.get(value, value)
