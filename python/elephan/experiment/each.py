"""A function of the caller that reduces each run where it runs: its numbers stand beside the statistics as `each.NAME`.

A trial is kept under what the function is: its code and what it closes over, the values that it uses by name, in functions that it
calls too, and the files of all modules that are loaded but not installed. So a change that does not matter may run trials anew, and
one that matters does. Where nobody can tell (it uses what has no bytes), trials run anew each time.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from elephan.base.errors import InputError
from elephan.base.signals import from_outside
from elephan.experiment.job import Job, Statistics
from elephan.experiment.store.identity import digest
from elephan.experiment.store.row import Measured
from elephan.experiment.told import own_files, told
from elephan.result.run import Run
from elephan.scenario.inputs import Inputs
from elephan.statistic.measures import EACH

Function = Callable[[Run], Mapping[str, float]]


@dataclass(frozen=True)
class Each:
    """Statistics, and beside them what a function gives for a run."""

    function: Function
    statistics: Statistics

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"each is a function of a run that returns numbers by name, not {self.function!r}")

    @cached_property
    def _told(self) -> tuple[list[bytes] | None, Inputs]:
        return told(self.function)

    @cached_property
    def _digest(self) -> str | None:
        parts, read = self._told
        files = own_files()
        if parts is None or None in files or read.unpinned:
            return None
        return digest(*parts, *map(str, files), json.dumps(sorted(read.digests.items())))

    def inputs(self) -> Inputs:
        """What the function depends on beside the run, as far as that is known before it is called."""
        return self._told[1]

    def name(self, job: Job) -> str | None:
        return self._digest and f"{self.statistics.name(job)} each {self._digest}"

    def __call__(self, job: Job, run: Run) -> Measured:
        measured = self.statistics(job, run)
        try:
            given = self.function(run)
        except (Exception, SystemExit) as error:
            if from_outside(error):
                raise
            raise InputError(f"each: {type(error).__name__}: {error} ({_line(error)})") from error
        if not isinstance(given, Mapping):
            raise InputError(f"each returns numbers by name, such as {{'overshoot': 1.2}}, not {given!r}")
        return Measured({**measured.values, **{f"{EACH}.{name}": _number(name, value) for name, value in given.items()}})


def _number(name: Any, value: Any) -> float:
    if not isinstance(name, str) or not name or not isinstance(value, Real | np.bool_):
        raise InputError(f"each: {name!r} is {value!r}; it returns numbers by name")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"each: {name!r} is a number of {len(str(value))} digits, more than a float holds") from None


def _line(error: BaseException) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    if frame.filename.startswith("<"):  # typed at a prompt, or sent to a worker
        return f"line {frame.lineno}, in {frame.name}"
    return f"{Path(frame.filename).name}:{frame.lineno}"
