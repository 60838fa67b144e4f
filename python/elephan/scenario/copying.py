"""Copies of congestion controls in Python, for branches of a run."""

from __future__ import annotations

import copy as copies
from collections.abc import Iterable
from typing import Any, cast

from elephan.scenario import core
from elephan.scenario.controller import CongestionControl


def copy(controller: CongestionControl) -> CongestionControl:
    """Another object in the same state, but for what the core keeps; what controllers share, copies share (`core.copying`)."""
    memo = core.loading.copies if core.loading.copies is not None else {}
    if id(controller) in memo:
        return cast(CongestionControl, memo[id(controller)])
    kind = type(controller)
    if own := getattr(kind, "__deepcopy__", None):
        return cast(CongestionControl, own(controller, memo))
    other = memo[id(controller)] = kind.__new__(kind)
    for name, value in _slots(controller).items():
        setattr(other, name, copies.deepcopy(value, memo))
    other.__dict__.update(copies.deepcopy(controller.__dict__, memo))
    return other


def _slots(controller: CongestionControl) -> dict[str, Any]:
    """The values of a controller's `__slots__`."""
    names = [slot for kind in type(controller).__mro__ for slot in _listed(vars(kind).get("__slots__", ()))]
    return {
        name: getattr(controller, name) for name in names if name not in ("__dict__", "__weakref__") and hasattr(controller, name)
    }


def _listed(slots: str | Iterable[str]) -> list[str]:
    return [slots] if isinstance(slots, str) else list(slots)
