"""Declarations that are found by themselves: every file of a package whose files declare things as they are read."""

from __future__ import annotations

import importlib
import pkgutil


def read_all(package: str) -> None:
    """Reads every file of a package, in the order of their names."""
    for found in sorted(pkgutil.iter_modules(importlib.import_module(package).__path__), key=lambda one: one.name):
        importlib.import_module(f"{package}.{found.name}")
