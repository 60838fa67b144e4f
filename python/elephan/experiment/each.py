"""A function of the caller that reduces each run where it runs: its numbers stand beside the statistics as `each.NAME`.

A trial is kept under what the function is: its code and what it closes over, the values that it uses by name, in functions that it
calls too, and the files of all modules that are loaded but not installed. So a change that does not matter may run trials anew, and
one that matters does. Where nobody can tell (it uses what has no bytes), trials run anew each time.
"""

from __future__ import annotations

import contextlib
import functools
import pickle
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

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


def _told(function: Any) -> str | None:
    """A digest of what a function is, or None if nobody can tell."""
    with contextlib.suppress(Exception):  # what pickles may be anything's own code
        files = [Path(str(module.__file__)).read_bytes() for module in own_modules()]
        return digest(*_value(function, []), *files)
    return None


def own_modules() -> list[ModuleType]:
    """The loaded modules that are neither installed nor of elephan or Python, in the order of their files."""
    places = [*sysconfig.get_paths().values(), str(Path(__file__).parents[1])]
    others = {Path(place).resolve() for place in places}
    found: dict[str, ModuleType] = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and others.isdisjoint(Path(file).resolve().parents):
            found[file] = module
    return [found[file] for file in sorted(found) if Path(file).is_file()]


def _value(value: Any, seen: list[Any]) -> list[bytes]:
    """What a value is, with the code of functions and classes in it that are not installed."""
    if isinstance(value, functools.partial):
        return [part for one in (value.func, value.args, value.keywords) for part in _value(one, seen)]
    if isinstance(value, MethodType):
        return [*_value(value.__func__, seen), *_value(value.__self__, seen)]
    if isinstance(value, ModuleType):
        return [value.__name__.encode()]
    if isinstance(value, FunctionType):
        return _function(value, seen)
    if isinstance(value, type):
        own = [one for one in vars(value).values() if isinstance(one, FunctionType)]
        return [value.__qualname__.encode(), *(part for one in own for part in _function(one, seen))]
    kind = [] if type(value).__module__ == "builtins" else _value(type(value), seen)
    return [pickle.dumps(value), *kind]


def _function(function: FunctionType, seen: list[Any]) -> list[bytes]:
    """What a function is: its code, what it closes over, its defaults, and the values that it uses by name."""
    if function in seen:
        return []
    seen.append(function)
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    found = [part for one in (*held, function.__defaults__, function.__kwdefaults__) for part in _value(one, seen)]
    if function.__module__ not in {module.__name__ for module in own_modules()} and hasattr(
        sys.modules.get(function.__module__), "__file__"
    ):
        return [f"{function.__module__}.{function.__qualname__}".encode(), *found]  # installed: its version is not looked at
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        plain = [value for value in code.co_consts if not isinstance(value, CodeType)]
        codes += [value for value in code.co_consts if isinstance(value, CodeType)]
        found += [code.co_code, repr((plain, code.co_names, code.co_varnames)).encode()]
        used = [function.__globals__[name] for name in code.co_names if name in function.__globals__]
        modules = [one for one in used if isinstance(one, ModuleType) and one in own_modules()]
        used += [getattr(module, name) for module in modules for name in code.co_names if hasattr(module, name)]
        found += [part for one in used for part in _value(one, seen)]
    return found
