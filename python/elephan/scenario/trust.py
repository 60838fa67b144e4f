"""What code a scenario may run: the one gate before any file or module with a congestion control in Python is loaded, and before
any program is started.

Both run code, so the caller agrees before it. Without a word of the caller's only files in the folder of a scenario file run, and
only if they are the caller's own. Everything else runs where the caller names it: by `python_from` (`--python-from`), by writing it
into `set`, `-s` or a list of congestion controls, or by handing over a class. `docs/trust.md` is the page.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from elephan.base.errors import InputError
from elephan.base.paths import as_path
from elephan.scenario.pack import Pack
from elephan.scenario.reference import KEYS

NOTHING = "none"  # as python_from: not even what is beside the scenario
_SET_BY_OTHERS = stat.S_IWOTH


@dataclass(frozen=True)
class Trust:
    """What the caller agrees to run."""

    modules: tuple[str, ...] = ()  # and what is in them
    places: tuple[str, ...] = ()  # real paths of files, and of folders with all that is in them
    words: frozenset[str] = frozenset()  # references such as "controllers/slow.py:Slow" that the caller wrote
    beside: bool = True  # files in the folder of the scenario
    pack: Pack | None = field(default=None, compare=False)  # through which files are read; without one each load reads anew

    def packed(self, pack: Pack | None = None) -> Trust:
        """The same with a pack, unless it has one."""
        return self if self.pack is not None else replace(self, pack=pack or Pack())

    def names_module(self, name: str) -> bool:
        """Whether `python_from` names a module or a package that it is in."""
        return any(name == one or name.startswith(one + ".") for one in self.modules)

    def names_file(self, path: Path) -> bool:
        """Whether `python_from` names a file or a folder that it is in."""
        real = Path(os.path.realpath(path))
        return any(real == Path(place) or Path(place) in real.parents for place in self.places)


NOBODY = Trust()


def _may_exist(name: str) -> bool:
    """Whether a module of this name can be found, as far as that is known without importing the packages that it is in."""
    if name in sys.modules:
        return True
    top, *inner = name.split(".")
    try:
        found = sys.modules[top].__spec__ if top in sys.modules else importlib.util.find_spec(top)
    except (ImportError, ValueError, AttributeError):
        return False
    known = top
    for part in inner:
        if found is None or found.submodule_search_locations is None:
            break
        known = f"{known}.{part}"
        found = importlib.machinery.PathFinder.find_spec(known, list(found.submodule_search_locations))
    return found is not None or (top in sys.modules and known == top)


def _one(given: Any) -> tuple[str, str]:
    """What an entry of `python_from` is: "modules", "places" or "nothing", and its name or real path."""
    if isinstance(given, ModuleType):
        return "modules", given.__name__
    if isinstance(given, str) and given == NOTHING:
        return NOTHING, ""
    if isinstance(given, str) and all(part.isidentifier() for part in given.partition(":")[0].split(".")) and given[-3:] != ".py":
        name = given.partition(":")[0]
        if not _may_exist(name):
            raise InputError(
                f"python_from: {given}: no such module; a file is written with .py, a folder with a slash, such as ./lab"
            )
        return "modules", name
    if not isinstance(given, str | os.PathLike):
        raise InputError(f"python_from: a module's name or a path, not {given!r}")
    path = as_path(given, "python_from")
    if str(given) and not path.exists() and ".py:" in str(given):
        path = Path(str(given).rpartition(":")[0])
    if not str(given) or not path.exists():
        raise InputError(f"python_from: {given}: no such file, folder or module; a folder is written with a slash, such as ./lab")
    return "places", os.path.realpath(path)


def trust(python_from: Any = None, *words: Any) -> Trust:
    """What a caller agrees to run by `python_from` and by what is written in `words`: overrides, congestion controls."""
    one = isinstance(python_from, str | os.PathLike | ModuleType)
    entries = [] if python_from is None else [python_from] if one else python_from
    if not isinstance(entries, Sequence | set | frozenset) or isinstance(entries, bytes):
        raise InputError(
            f'python_from is a name or a list of names such as ["lab.controllers", "controllers/slow.py"], not {python_from!r}'
        )
    named = [_one(entry) for entry in entries]
    written: set[str] = set()
    for word in words:
        _collect(word, written)
    return Trust(
        tuple(name for kind, name in named if kind == "modules"),
        tuple(name for kind, name in named if kind == "places"),
        frozenset(written),
        all(kind != NOTHING for kind, _ in named),
    )


def _collect(value: Any, into: set[str], depth: int = 0) -> None:
    """Every reference to Python or a program in overrides: under a key `python` or `program`, or at a path that ends so."""
    if depth > 100:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if str(key).rpartition(".")[2] in KEYS:
                into.update(one for one in (inner if isinstance(inner, list | tuple) else [inner]) if isinstance(one, str))
            _collect(inner, into, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            _collect(inner, into, depth + 1)


def of_others(path: Path) -> str:
    """Why a file is not the caller's own, if it is not."""
    if not hasattr(os, "geteuid"):
        return ""
    found = os.stat(path)
    if found.st_uid not in (0, os.geteuid()):
        return "it belongs to another user"
    return "everyone may write it" if found.st_mode & _SET_BY_OTHERS else ""


def check_beside(path: Path, folder: Path) -> None:
    """Refuses a file that a scenario in `folder` names, unless it is in that folder and the caller's own."""
    real, root = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    if root not in real.parents:
        raise InputError(f"{path}: is not in the folder of the scenario{_name_it(str(path))}")
    if why := of_others(path):
        raise InputError(f"{path}: {why}{_name_it(str(path))}")


def _name_it(what: str) -> str:
    return f"; its code runs only where the caller names it: --python-from {what} (in Python python_from)"


def find_file(place: str, reference: str, folder: str | None, agreed: Trust) -> Path:
    """The file that a reference names, if it may be run: relative to the scenario or, for what the caller wrote and named, to
    the working directory.
    """
    beside = None if folder is None else Path(folder) / place
    own = reference in agreed.words or agreed.names_file(Path(place))
    path = Path(place) if own and (beside is None or not beside.exists()) else beside
    if path is None or (not path.exists() and Path(place).exists()):
        raise InputError(f"{place}: is not beside the scenario{_name_it(place)}")
    if not path.exists():
        here = "" if not own or (path.is_absolute() and not folder) else f", nor is it in the working directory {Path.cwd()}"
        shown = beside if beside is not None else path
        raise InputError(f"{shown}: No such file or directory{here}")
    if not path.is_file():
        raise InputError(f"{path}: is not a regular file")
    if reference in agreed.words or agreed.names_file(path):
        return path
    if not agreed.beside or folder is None:
        raise InputError(f"{path}: no code beside the scenario is run here{_name_it(str(path))}")
    check_beside(path, Path(folder))
    return path


def module_file(name: str, reference: str, folder: str | None, agreed: Trust) -> str | None:
    """The `.py` file, relative to the scenario or to the working directory, that a module's name means there."""
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts) or parts[0] == "elephan":
        return None
    roots = [folder] if folder is not None else []
    if reference in agreed.words:
        roots.append("")
    for place in ("/".join(parts) + ".py", "/".join([*parts, "__init__.py"])):
        if any((Path(root) / place).is_file() for root in roots):
            return place
    return None


def refuse_module(name: str) -> InputError:
    """Why a module is not imported."""
    top = name.partition(".")[0]
    file = f'; a file is named by its path, such as "{name.replace(".", "/")}.py:Class"'
    try:
        known = top in sys.modules or importlib.util.find_spec(top) is not None
    except (ImportError, ValueError, AttributeError):
        known = False
    if not known:
        return InputError(f'no module "{top}"{file}')
    return InputError(f'the module "{name}" is not beside the scenario{_name_it(name)}{file}')
