"""What a scenario may run and read, as its caller agrees.

Files go through one gate, which is in the core: before a file with a congestion control in Python is loaded or a program is
started, and before a trace, a distribution or the profile of a disk is read. Without a word of the caller's only files in the
folder of a scenario file are taken, and run only if they are the caller's own. Everything else is taken where the caller names it:
code by `python_from` (`--python-from`) or by handing over a class, data by `files_from` (`--files-from`), both by writing them into
`set`, `-s` or a list of congestion controls. `docs/trust.md` is the page.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from elephan.base.errors import InputError
from elephan.base.paths import as_path
from elephan.scenario.pack import Pack
from elephan.scenario.reference import KEYS

NOTHING = "none"  # as python_from or files_from: not even what is beside the scenario
_SET_BY_OTHERS = stat.S_IWOTH


@dataclass(frozen=True)
class Trust:
    """What the caller agrees to run and to read."""

    modules: tuple[str, ...] = ()  # and what is in them
    places: tuple[str, ...] = ()  # real paths of files, and of folders with all that is in them
    words: frozenset[str] = frozenset()  # references such as "controllers/slow.py:Slow" that the caller wrote
    beside: bool = True  # code in the folder of the scenario runs
    files: tuple[str, ...] = ()  # real paths of files that are read, and of folders with all that is in them
    texts: frozenset[str] = frozenset()  # all that the caller wrote, among it names of files
    reads_beside: bool = True  # files in the folder of the scenario are read
    pack: Pack | None = field(default=None, compare=False)  # through which files are read; without one each load reads anew

    def packed(self, pack: Pack | None = None) -> Trust:
        """The same with a pack, unless it has one."""
        return self if self.pack is not None else replace(self, pack=pack or Pack())

    def and_also(self, more: Trust) -> Trust:
        """What both agree to."""
        return replace(
            self,
            modules=tuple(dict.fromkeys((*self.modules, *more.modules))),
            places=tuple(dict.fromkeys((*self.places, *more.places))),
            words=self.words | more.words,
            files=tuple(dict.fromkeys((*self.files, *more.files))),
            texts=self.texts | more.texts,
        )

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


def _entries(option: str, given: Any, example: str) -> list[Any]:
    """The entries of `python_from` or `files_from`, of which one may stand alone."""
    if given is None or isinstance(given, str | os.PathLike | ModuleType):
        return [] if given is None else [given]
    if not isinstance(given, Sequence | set | frozenset) or isinstance(given, bytes):
        raise InputError(f"{option} is a name or a list of names such as {example}, not {given!r}")
    return list(given)


def _readable(given: Any) -> str:
    """The real path of an entry of `files_from`."""
    if not isinstance(given, str | os.PathLike):
        raise InputError(f"files_from: the path of a file or a folder, not {given!r}")
    path = as_path(given, "files_from")
    if not str(given) or not path.exists():
        raise InputError(f"files_from: {given}: no such file or folder")
    return os.path.realpath(path)


def trust(python_from: Any = None, *words: Any, files_from: Any = None) -> Trust:
    """What a caller agrees to: by `python_from`, by `files_from`, and by `words`, which are overrides and congestion controls."""
    named = [_one(entry) for entry in _entries("python_from", python_from, '["lab.controllers", "controllers/slow.py"]')]
    read = _entries("files_from", files_from, '["../traces", "sizes.csv"]')
    written: set[str] = set()
    texts: set[str] = set()
    for word in words:
        _collect(word, written)
        texts.update(_texts(word))
    return Trust(
        tuple(name for kind, name in named if kind == "modules"),
        tuple(name for kind, name in named if kind == "places"),
        frozenset(written),
        all(kind != NOTHING for kind, _ in named),
        tuple(_readable(one) for one in read if one != NOTHING),
        frozenset(texts),
        NOTHING not in read,
    )


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Every text in overrides: what a caller has written by himself needs no other word."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple) and depth <= 100:
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(inner, depth + 1)


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
    _code(str(path.absolute()), str(folder), (), False, True)


def check_data(path: Path, folder: Path, agreed: Trust) -> None:
    """Refuses a file that is data, unless it is really in `folder` or the caller names it: a link may lead elsewhere."""
    from elephan import _core

    _core.find_file(str(path.absolute()), str(folder), list(agreed.files), False, True, False)


def _code(name: str, folder: str | None, places: Sequence[str], own: bool, beside: bool) -> Path:
    """The file with code that a scenario in `folder` names, through the gate of the core."""
    from elephan import _core

    path, by_caller = _core.find_file(name, folder, list(places), own, beside, True)
    if not by_caller and (why := of_others(path)):
        raise InputError(f"{path}: {why}{_name_it(str(path))}")
    return Path(path)


def _name_it(what: str) -> str:
    return f"; its code runs only where the caller names it: --python-from {what} (in Python python_from)"


def find_file(place: str, reference: str, folder: str | None, agreed: Trust) -> Path:
    """The file that a reference names, if it may be run: relative to the scenario or, for what the caller wrote and named, to
    the working directory.
    """
    path = _code(place, folder, agreed.places, reference in agreed.words, agreed.beside)
    if not path.is_file():
        raise InputError(f"{path}: is not a regular file")
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
