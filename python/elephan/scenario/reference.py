"""How a scenario names a class or a factory of congestion controls that a caller hands over."""

from __future__ import annotations

import functools
import inspect
import json
import sys
from collections.abc import Callable
from typing import Any

from elephan.base.errors import InputError
from elephan.scenario.controller import CongestionControl

ControllerFactory = Callable[..., CongestionControl]
"""A congestion control of one's own: a class, or a function that gives a new object for each connection."""

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
