"""How a scenario names code: congestion controls that are not built in, `{ python = "module:Class" }` or `{ program = "./path" }`,
and the programs of hosts, `{ python = "file.py:function" }`.
"""

from __future__ import annotations

import functools
import inspect
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from elephan.base.errors import InputError
from elephan.scenario.controller import CongestionControl

ControllerFactory = Callable[..., CongestionControl]
"""A congestion control of one's own: a class, or a function that gives a new object for each connection."""

# The keys by which a table names one.
KEYS = ("python", "program")


def reference_of(table: Any) -> tuple[str, str] | None:
    """Returns the key by which a table names a class or a program, and what stands there; None for anything else.

    A table with a `kind` is one of elephan's own: the `program` of traffic `disk-copy` is no file.
    """
    if not isinstance(table, Mapping) or "kind" in table:
        return None
    return next(((key, table[key]) for key in KEYS if isinstance(table.get(key), str)), None)


def short(key: str, reference: str) -> str:
    """Returns what figures and texts call a class (by its name alone) or a program (by its file's)."""
    if key == "program":
        return PurePath(reference).stem or reference
    return reference.rpartition(":")[2].rpartition(".")[2]


def may_name(text: str) -> bool:
    """Returns whether a scenario may name a class or a program; its text says so more quickly than its values."""
    return any(key in text for key in KEYS)


# Classes and functions that the caller handed over: those that no name finds again by the name that scenarios of this process
# give them, and the names of the others.
HANDED_OVER: dict[str, ControllerFactory] = {}
NAMED: set[str] = set()


def words(given: ControllerFactory) -> dict[str, Any]:
    """How a scenario names a class or a factory: by module and name, where that finds it again.

    A `functools.partial` of a class with keywords becomes the class with `params`.
    """
    params: dict[str, Any] = {}
    if isinstance(given, functools.partial) and not given.args:
        try:
            params = json.loads(json.dumps(given.keywords, allow_nan=False))
            given = given.func
        except (TypeError, ValueError):
            params = {}
    if inspect.isclass(given) and not issubclass(given, CongestionControl):
        raise InputError(f"{given.__name__} is not an elephan.CongestionControl")
    if isinstance(given, CongestionControl):
        raise InputError(f"give the class {type(given).__name__} and not an object of it: each connection has its own")
    name = getattr(given, "__qualname__", type(given).__qualname__)
    reference = f"{getattr(given, '__module__', None) or '__main__'}:{name}"
    return {"python": _reference(reference, given), **({"params": params} if params else {})}


def present(reference: str) -> Any:
    """What a reference names in a module that is imported already; nothing is run."""
    place, _, name = reference.rpartition(":")
    found: Any = sys.modules.get(place)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _reference(reference: str, given: ControllerFactory) -> str:
    candidate, number = reference, 1
    while True:
        found = HANDED_OVER.get(candidate) or present(candidate) or HANDED_OVER.setdefault(candidate, given)
        if found is given:
            if candidate not in HANDED_OVER:
                NAMED.add(candidate)
            return candidate
        number += 1
        candidate = f"{reference}#{number}"
