"""Modules that scripts may import by an older name: they are found where they are now, with a note."""

from __future__ import annotations

import importlib
import sys
import warnings
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

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


class _Renamed(MetaPathFinder, Loader):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in NAMES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        warnings.warn(f"{spec.name} is {NAMES[spec.name]} now", DeprecationWarning, stacklevel=2)
        return importlib.import_module(NAMES[spec.name])

    def exec_module(self, module: ModuleType) -> None:
        """The module has been executed under its own name."""


def install() -> None:
    """Makes the older names importable."""
    if not any(isinstance(finder, _Renamed) for finder in sys.meta_path):
        sys.meta_path.append(_Renamed())
