"""Jobs and what is measured, on their way to other processes and machines: the files of guests travel with them.

A program travels too. A machine of another kind cannot start it, and says so.
"""

from __future__ import annotations

import os
import pickle
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.experiment.each import Each
from elephan.experiment.job import Job
from elephan.experiment.told import own_modules
from elephan.scenario import core, guest
from elephan.scenario.guestsource import named_in
from elephan.scenario.reference import HANDED_OVER, NAMED, may_name


def pack(job: Job) -> Job:
    """Returns a job as it travels: with all files that its guests need.

    Raises InputError for a congestion control that has no file: a class that was typed in.
    """
    job = replace(job, source=job.source.packed())
    given = core.override_text(job.overrides)
    if not (may_name(job.source.text) or may_name(given)):
        return job
    own = job.source.agreed.pack
    assert own is not None
    if ("travels", job.source, given) not in own.known:
        for key, reference in named_in(core.toml_values(core.resolved_toml(job.source, job.overrides, job.seed))):
            if key == "python" and (reference in HANDED_OVER or reference in NAMED):
                own.session[reference] = file = _of_session(reference.rpartition(":")[0], reference)
                own.read(file)
                for beside in guest.imported_beside(file, file.parent, own):
                    own.read(beside)
                own.admitted.update(own.files)
        own.known["travels", job.source, given] = True
    return job


def without_pack(job: Job) -> Job:
    """A job on its way back: the caller has its files."""
    return replace(job, source=replace(job.source, agreed=replace(job.source.agreed, pack=None)))


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
    return Path(os.path.realpath(file))
