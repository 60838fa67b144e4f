"""What a function of the caller's is: its code, the values that it uses, and the modules that these are from.

Two functions with one digest do the same. Where nobody can tell, as with what has no bytes, there is no digest.
"""

from __future__ import annotations

import contextlib
import functools
import pickle
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from elephan.scenario.inputs import Inputs, module_digest, modules_of


@dataclass
class Told:
    """A digest's parts while a value is looked at."""

    parts: list[bytes] = field(default_factory=list)
    codes: list[CodeType] = field(default_factory=list)
    modules: set[str] = field(default_factory=set)
    seen: list[Any] = field(default_factory=list)
    own: set[str] = field(default_factory=lambda: {module.__name__ for module in own_modules()})

    def value(self, value: Any) -> None:
        """Looks at a value, with the code of functions and classes in it that are not installed."""
        if isinstance(value, functools.partial):
            for one in (value.func, value.args, value.keywords):
                self.value(one)
        elif isinstance(value, MethodType):
            self.value(value.__func__)
            self.value(value.__self__)
        elif isinstance(value, ModuleType):
            self._add(value.__name__.encode())
            self.modules.add(value.__name__)
        elif isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, type):
            self._class(value)
        else:
            self._add(pickle.dumps(value))
            if type(value).__module__ != "builtins":
                self.value(type(value))

    def _add(self, part: bytes) -> None:
        self.parts.append(part)

    def _class(self, value: type) -> None:
        if value in self.seen:
            return
        self.seen.append(value)
        self._add(value.__qualname__.encode())
        self.modules.add(value.__module__)
        for base in value.__bases__:
            if base.__module__ != "builtins" and base.__module__ in self.own:
                self.value(base)
        for name, one in vars(value).items():
            one = getattr(one, "__func__", getattr(one, "fget", one))
            if isinstance(one, FunctionType):
                self._function(one)
            elif _is_plain(one) and not name.startswith("__"):
                self._add(f"{name}={one!r}".encode())

    def _function(self, function: FunctionType) -> None:
        """Looks at a function: its code, what it closes over, its defaults, and the values that it uses by name."""
        if function in self.seen:
            return
        self.seen.append(function)
        self.modules.add(function.__module__ or "")
        held = [cell.cell_contents for cell in function.__closure__ or ()]
        for one in (*held, function.__defaults__, function.__kwdefaults__):
            self.value(one)
        if function.__module__ not in self.own and hasattr(sys.modules.get(function.__module__), "__file__"):
            self._add(f"{function.__module__}.{function.__qualname__}".encode())  # installed: its module is an input
            return
        self.codes.append(function.__code__)
        codes = [function.__code__]
        while codes:
            code = codes.pop()
            plain = [value for value in code.co_consts if not isinstance(value, CodeType)]
            codes += [value for value in code.co_consts if isinstance(value, CodeType)]
            self._add(code.co_code)
            self._add(repr((plain, code.co_names, code.co_varnames)).encode())
            used = [function.__globals__[name] for name in code.co_names if name in function.__globals__]
            modules = [one for one in used if isinstance(one, ModuleType) and one.__name__ in self.own]
            used += [getattr(module, name) for module in modules for name in code.co_names if hasattr(module, name)]
            for one in used:
                self.value(one)


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str | bytes)


def told(value: Any) -> tuple[list[bytes] | None, Inputs]:
    """The parts of a digest of a function or a class, None if nobody can tell; and the modules that it depends on."""
    found = Told()
    with contextlib.suppress(Exception):  # what pickles may be anything's own code
        found.value(value)
        return found.parts, modules_of(found.codes, found.modules - {"", "__main__"})
    return None, Inputs()


def own_files() -> list[str | None]:
    """The digests of all modules that are loaded, but not installed; None for one that has changed since."""
    return [module_digest(str(module.__file__)) for module in own_modules()]


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
