"""Names that scripts may still use: modules, members, keywords and keys of saved results. Each works, with a note."""

from __future__ import annotations

import functools
import importlib
import sys
import warnings
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, TypeVar, cast

_Any = TypeVar("_Any", bound=Callable[..., Any])

KEYS = {"law": "controller", "laws": "controllers"}  # of JSON files and tables
SCENARIOS = {"switch-law": "change-controller"}  # of the library
NAMES = {
    "elephan.burst": "elephan.table.burst",
    "elephan.cc": "elephan.step.cc",
    "elephan.controller": "elephan.scenario.controller",
    "elephan.disk": "elephan.step.disk",
    "elephan.errors": "elephan.base.errors",
    "elephan.host": "elephan.step.host",
    "elephan.hurst": "elephan.theory.hurst",
    "elephan.l2": "elephan.step.l2",
    "elephan.measures": "elephan.statistic.measures",
    "elephan.packetdrill": "elephan.step.packetdrill",
    "elephan.prr": "elephan.step.prr",
    "elephan.queue": "elephan.step.queue",
    "elephan.results": "elephan.open",
    "elephan.rounds": "elephan.step.rounds",
    "elephan.rtt": "elephan.step.rtt",
    "elephan.runs": "elephan.result.run",
    "elephan.stats": "elephan.base.stats",
    "elephan.sweeps": "elephan.experiment.sweep",
    "elephan.tcp": "elephan.step.tcp",
}


class Renamed(DeprecationWarning):
    """Somebody used an older name. It works; the warning gives the present one."""


def note(old: str, new: str, level: int = 3) -> None:
    """Warns the caller of the caller that a name has changed."""
    warnings.warn(f"{old} is {new} now", Renamed, stacklevel=level)


def members(module: str, **names: str) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a module whose members had other names: `Old="New"`."""

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        note(f"{module}.{name}", names[name])
        return getattr(sys.modules[module], names[name])

    return find


def keywords(**names: str) -> Callable[[_Any], _Any]:
    """Decorates a function whose keywords had other names: `old="new"`."""

    def decorate(function: _Any) -> _Any:
        @functools.wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            for old in names.keys() & named.keys():
                note(f"{function.__name__}({old}=)", f"{names[old]}=")
                named[names[old]] = named.pop(old)
            return function(*given, **named)

        return call  # type: ignore[return-value]

    return decorate


def attributes(**names: str) -> Callable[[_Any], _Any]:
    """Decorates a class whose attributes had other names: `old="new"`."""

    def decorate(owner: _Any) -> _Any:
        for old, new in names.items():

            def get(self: Any, old: str = old, new: str = new) -> Any:
                note(f"{type(self).__name__}.{old}", new)
                return getattr(self, new)

            setattr(owner, old, property(get))
        return owner

    return decorate


def current(found: Any) -> Any:
    """Returns what a JSON file holds, with the present names of its keys."""
    if isinstance(found, Mapping):
        return {KEYS.get(key, key): current(value) for key, value in found.items()}
    return [current(one) for one in found] if isinstance(found, list) else found


class _Renamed:
    """A finder and loader; their base classes would bring in a dozen modules at each start."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, cast(Any, self)) if name in NAMES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        note(spec.name, NAMES[spec.name])
        return importlib.import_module(NAMES[spec.name])

    def exec_module(self, module: ModuleType) -> None:
        """The module has been executed under its own name."""


def install() -> None:
    """Makes the older names importable."""
    if not any(isinstance(finder, _Renamed) for finder in sys.meta_path):
        sys.meta_path.append(_Renamed())
