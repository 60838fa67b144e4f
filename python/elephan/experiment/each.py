"""A function of the caller that reduces each run where it runs: its numbers stand beside the statistics as `each.NAME`.

A trial is kept under what the function is: the file that it stands in with those beside it that it imports, its name, defaults
and what it closes over; of one that was typed in, its code and what it uses by name. Where nobody can tell that (it uses what has
no bytes), its trials run anew each time.
"""

from __future__ import annotations

import contextlib
import inspect
import pickle
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from elephan.base.errors import InputError
from elephan.base.signals import from_outside
from elephan.experiment.job import Job, Statistics
from elephan.experiment.store.identity import digest
from elephan.experiment.store.row import Measured
from elephan.result.run import Run
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
    def _digest(self) -> str | None:
        return _told(self.function)

    def name(self, job: Job) -> str | None:
        return self._digest and f"{self.statistics.name(job)} each {self._digest}"

    def __call__(self, job: Job, run: Run) -> Measured:
        measured = self.statistics(job, run)
        try:
            given = self.function(run)
        except Exception as error:
            if from_outside(error):
                raise
            raise InputError(f"each: {type(error).__name__}: {error} ({_line(error)})") from error
        if not isinstance(given, Mapping):
            raise InputError(f"each returns numbers by name, such as {{'overshoot': 1.2}}, not {given!r}")
        return Measured({**measured.values, **{f"{EACH}.{name}": _number(name, value) for name, value in given.items()}})


def _number(name: Any, value: Any) -> float:
    if not isinstance(name, str) or not name or not isinstance(value, Real):
        raise InputError(f"each: {name!r} is {value!r}; it returns numbers by name")
    return float(value)


def _line(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno}"


def _told(function: Any) -> str | None:
    """A digest of what a function is, or None if nobody can tell."""
    with contextlib.suppress(OSError, TypeError, pickle.PicklingError, AttributeError):
        inner = _inner(function)
        held = [cell.cell_contents for cell in inner.__closure__ or ()]
        bound = [getattr(function, "args", ()), getattr(function, "keywords", {}), inner.__defaults__, inner.__kwdefaults__, held]
        files = [Path(str(module.__file__)).read_bytes() for module in beside(function)]
        return digest(inner.__qualname__, pickle.dumps(bound), *(files or _typed_in(inner, [])))
    return None


def _typed_in(function: Any, seen: list[Any]) -> list[bytes]:
    """What a function without a file is: its code, and the values that it uses by name."""
    seen.append(function)
    found: list[bytes] = []
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        plain = [value for value in code.co_consts if not isinstance(value, CodeType)]
        codes += [value for value in code.co_consts if isinstance(value, CodeType)]
        found += [code.co_code, repr((plain, code.co_names, code.co_varnames)).encode()]
        for name in code.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, FunctionType) and not beside(value):
                found += _typed_in(value, seen) if value not in seen else []
            else:
                found.append(value.__name__.encode() if isinstance(value, ModuleType) else pickle.dumps(value))
    return found


def _inner(function: Any) -> Any:
    return inspect.unwrap(getattr(function, "func", function))


def beside(function: Any) -> list[ModuleType]:
    """The module of a function, and those of its folder or below it that it uses, in the order of their files."""
    found: dict[str, ModuleType] = {}
    waiting = [sys.modules.get(_inner(function).__module__)]
    root = None
    while waiting:
        one = waiting.pop()
        file = str(getattr(one, "__file__", None) or "")
        if one is None or not file.endswith(".py") or file in found:
            continue
        root = root or Path(file).parent
        if Path(file).is_relative_to(root):
            found[file] = one
            owners = (getattr(value, "__module__", None) for value in vars(one).values() if not isinstance(value, ModuleType))
            waiting += [value for value in vars(one).values() if isinstance(value, ModuleType)]
            waiting += [sys.modules.get(owner) for owner in owners if isinstance(owner, str)]
    return [found[file] for file in sorted(found)]
