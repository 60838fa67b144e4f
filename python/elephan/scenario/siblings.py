"""Imports of a file with congestion controls: what lies beside it comes first, found by its place and by nothing else.

A module of the same name that Python has imported, or would find elsewhere, is not taken instead; and what lies beside the file
stands in the way of nobody else's imports.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from elephan.scenario.pack import Pack

Load = Callable[[Path], ModuleType]


class Siblings:
    """The `__import__` of one file: first its own folder, then the folder of its scenario, then what Python does."""

    def __init__(self, file: Path, root: Path, pack: Pack, load: Load) -> None:
        self._folder, self._root, self._pack, self._load = file.parent, root, pack, load
        self._packages: dict[Path, ModuleType] = {}

    def builtins(self) -> dict[str, Any]:
        """What the file has as `__builtins__`."""
        return {**vars(builtins), "__import__": self._import}

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        found = self._chain(name, level)
        if not found:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        if not fromlist:
            return found[0][1]
        place, module = found[-1]
        for wanted in fromlist:
            if self._pack.has_modules(place) and not hasattr(module, wanted):
                inner = self._module(place / wanted)
                if inner is not None:
                    setattr(module, wanted, inner)
        return module

    def _chain(self, name: str, level: int) -> list[tuple[Path, ModuleType]]:
        """The modules of a dotted name with their places; nothing if its first part lies beside neither file nor scenario."""
        bases = self._bases(level)
        parts = [part for part in name.split(".") if part]
        if not parts:
            return [(bases[0], self._package(bases[0]))]
        if parts[0] == "elephan" and not level:
            return []
        for base in bases:
            found: list[tuple[Path, ModuleType]] = []
            place = base
            for part in parts:
                place /= part
                module = self._module(place)
                if module is None:
                    break
                if found:
                    setattr(found[-1][1], part, module)
                found.append((place, module))
            if len(found) == len(parts):
                return found
            if found:
                raise ModuleNotFoundError(f"No module named {name!r} beside the scenario", name=name)
        if level:
            raise ModuleNotFoundError(f"No module named {name!r} beside the file", name=name)
        return []

    def _bases(self, level: int) -> list[Path]:
        """The folders that an import looks in."""
        if not level:
            return [self._folder, self._root]
        base = [self._folder, *self._folder.parents][level - 1]
        if base != self._root and self._root not in base.parents:
            raise ImportError("attempted relative import beyond the folder of the scenario")
        return [base]

    def files(self, name: str, fromlist: Sequence[str], level: int) -> list[Path]:
        """The files that an import would run, without running any."""
        try:
            bases = self._bases(level)
        except (ImportError, IndexError):
            return []
        parts = [part for part in name.split(".") if part]
        if parts[:1] == ["elephan"] and not level:
            return []
        for base in bases:
            places = [base.joinpath(*parts[:count]) for count in range(0 if level else 1, len(parts) + 1)]
            if parts and self._file(places[-len(parts)]) is None and not self._pack.has_modules(places[-len(parts)]):
                continue
            places += [places[-1] / wanted for wanted in fromlist]
            return [file for place in places if (file := self._file(place)) is not None]
        return []

    def _file(self, place: Path) -> Path | None:
        """The file of a module or a package, None if it has none."""
        for file in (place / "__init__.py", place.with_name(f"{place.name}.py")):
            if self._pack.find(file) is not None:
                return file
        return None

    def _module(self, place: Path) -> ModuleType | None:
        file = self._file(place)
        if file is not None and file.name != "__init__.py":
            return self._load(file)
        return self._package(place) if file is not None or self._pack.has_modules(place) else None

    def _package(self, folder: Path) -> ModuleType:
        if self._pack.find(folder / "__init__.py") is not None:
            return self._load(folder / "__init__.py")
        return self._packages.setdefault(folder, ModuleType(f"elephan_guests_{folder.name}"))
