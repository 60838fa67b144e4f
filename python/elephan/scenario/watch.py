"""What code of the caller reads while it is loaded and while it runs, as far as Python tells: files, folders, variables of the
environment, modules.

`watching` notes it for the code that this thread runs. An audit hook hears of files that are opened and of modules that are
executed; variables are heard through the object `os.environ`. What elephan itself reads is left out. Files that a C library opens,
clocks, random numbers, and threads that a guest starts stay unheard: docs/trust.md says so.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import re
import stat
import sys
import sysconfig
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from elephan.base import executed

ABSENT = "absent"  # in place of a digest
ALL_VARIABLES = "variables"
_HEARD = "_elephan_hears"
# Events of what cannot be read again later, in words.
_UNPINNED = {
    "socket.connect": "connects to a network",
    "socket.bind": "listens to a network",
    "socket.getaddrinfo": "asks for a network address",
    "subprocess.Popen": "starts a process",
    "os.system": "starts a process",
    "os.exec": "starts a process",
    "os.posix_spawn": "starts a process",
    "os.fork": "starts a process",
    "os.forkpty": "starts a process",
}
_HEARD_EVENTS = {"open", "os.listdir", "os.scandir", "sqlite3.connect", "ctypes.dlopen", *_UNPINNED}
_OF_PLACES = ("TMPDIR", "PYTHONPATH", "DASK_")  # how variables begin that elephan sets for its workers
_OWN = str(Path(__file__).parents[1]) + os.sep
_MANY_BYTES = 1 << 20


class _Here(threading.local):
    notes: tuple[Notes, ...] = ()  # of what this thread runs, the innermost last
    quiet: bool = False  # in the hook itself


_here = _Here()
_lock = threading.Lock()


@dataclass
class Notes:
    """What was read, by name, with its digest: `file /home/me/gains.csv`, `folder ...`, `variable GAIN`."""

    read: dict[str, str] = field(default_factory=dict)
    modules: dict[str, CodeType] = field(default_factory=dict)  # those that Python has executed meanwhile, by file
    signatures: dict[str, tuple[int, ...]] = field(default_factory=dict)  # of the files when they were read
    unpinned: set[str] = field(default_factory=set)  # what it did that nobody can compare later
    changed: set[str] = field(default_factory=set)  # files that were not the same all the time

    def file(self, path: str) -> None:
        """Notes a file that is being opened. One that has changed since it was noted is read twice, which cannot be pinned."""
        found = signature(path)
        if self.signatures.setdefault(path, found) != found:
            self.changed.add(path)
        elif f"file {path}" not in self.read:
            self.read[f"file {path}"] = file_digest(path)

    def end(self) -> None:
        """Looks whether the files are still as they were when they were noted."""
        self.changed |= {path for path, found in self.signatures.items() if signature(path) != found}


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """What is done meanwhile is the watching itself. Answering opens files too, perhaps by code of the caller's packages."""
    outer, _here.quiet = _here.quiet, True
    try:
        yield
    finally:
        _here.quiet = outer


@contextlib.contextmanager
def watching(notes: Notes) -> Iterator[Notes]:
    """Notes what this thread reads meanwhile. Inside another `watching` both note it."""
    _hear_variables()
    outer = _here.notes
    _here.notes = (*outer, notes)
    try:
        yield notes
    finally:
        _here.notes = outer
        notes.end()


def signature(path: str) -> tuple[int, ...]:
    """What changes whenever a file does; nobody sets its change time back. Empty where there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_mode)


def file_digest(path: str) -> str:
    """SHA-256 of a regular file, `absent` where there is none."""
    found = signature(path)
    if not found or not stat.S_ISREG(found[-1]):
        return ABSENT
    return _file_digest(path, found)


@lru_cache(maxsize=1024)
def _file_digest(path: str, _: tuple[int, ...]) -> str:
    digest = hashlib.sha256()
    try:
        with _quiet(), open(path, "rb") as file:
            while piece := file.read(_MANY_BYTES):
                digest.update(piece)
    except OSError:
        return ABSENT
    return digest.hexdigest()


def folder_digest(path: str) -> str:
    """SHA-256 of the names in a folder, `absent` where there is none."""
    try:
        with _quiet():
            return _hash("\0".join(sorted(os.listdir(path))))
    except OSError:
        return ABSENT


def variable_digest(name: str) -> str:
    """SHA-256 of a variable of the environment, `absent` where it is not set: a store shows no secrets."""
    with _quiet():
        if name == ALL_VARIABLES:
            return _hash("\0".join(sorted(one for one in os.environ if not one.startswith(_OF_PLACES))))
        return ABSENT if name not in os.environ else _hash(os.environ[name])


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def code_digest(code: CodeType) -> str:
    """SHA-256 of what code does: the same for a module from its source and from a cached file, wherever it lies."""
    digest = hashlib.sha256()
    waiting = [code]
    while waiting:
        one = waiting.pop()
        inner = [value for value in one.co_consts if isinstance(value, CodeType)]
        plain = [_shown(value) for value in one.co_consts if not isinstance(value, CodeType)]
        waiting += inner
        about = (one.co_name, one.co_flags, one.co_argcount, one.co_posonlyargcount, one.co_kwonlyargcount, len(inner))
        digest.update(one.co_code)
        digest.update(
            repr((about, plain, one.co_names, one.co_varnames, one.co_freevars, one.co_cellvars)).encode(errors="replace")
        )
    return digest.hexdigest()


def _shown(value: Any) -> str:
    """A constant as text; sets are written in another order by each process."""
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_shown, value)))}}}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    return repr(value)


def is_outside(file: str) -> bool:
    """Whether a file belongs neither to Python's standard library nor to elephan."""
    return not file.startswith("<") and not _is_standard(file) and not file.startswith(_OWN)


@cache
def _standard() -> tuple[tuple[str, ...], tuple[str, ...]]:
    paths = sysconfig.get_paths()
    library = {os.path.realpath(paths[name]) + os.sep for name in ("stdlib", "platstdlib")}
    library |= {paths[name] + os.sep for name in ("stdlib", "platstdlib")}
    installed = {paths[name] + os.sep for name in ("purelib", "platlib")}
    installed |= {f"{place}{name}{os.sep}" for place in library for name in ("site-packages", "dist-packages")}
    return tuple(library), tuple(installed)


@lru_cache(maxsize=8192)
def _is_standard(file: str) -> bool:
    library, installed = _standard()
    return file.startswith(library) and not file.startswith(installed)


@lru_cache(maxsize=8192)
def is_needed(file: str) -> bool:
    """Whether a file belongs to a package that elephan itself needs, such as numpy."""
    return any(file.startswith(place) for place in _needed())


@cache
def _needed() -> tuple[str, ...]:
    """Where the packages lie that elephan needs, and those that these need."""
    found: set[str] = set()
    names, waiting = set[str](), ["elephan"]
    while waiting:
        name = waiting.pop()
        if name in names:
            continue
        names.add(name)
        try:
            package = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        waiting += [re.split(r"[^\w.-]", text)[0] for text in package.requires or ()]
        tops = {path.parts[0] for path in package.files or () if path.suffix == ".py" and path.parts[0] not in ("..", "bin")}
        found |= {str(package.locate_file(top)) + ("" if top.endswith(".py") else os.sep) for top in tops}
    return tuple(found)


def _hear_variables() -> None:
    """Begins to hear of variables, with the first code of the caller's that is watched."""
    with _lock:
        for environment in (os.environ, getattr(os, "environb", os.environ)):
            if not hasattr(environment, _HEARD):
                environment.__class__ = _telling(type(environment))


def _telling(kind: Any) -> Any:
    """The class of `os.environ`, whose objects tell who reads them."""

    def get(self: Any, key: Any) -> Any:
        if isinstance(key, str | bytes):
            _variable(os.fsdecode(key))
        return kind.__getitem__(self, key)

    def each(self: Any) -> Any:
        _variable(ALL_VARIABLES)
        return kind.__iter__(self)

    return type(kind.__name__, (kind,), {"__slots__": (), "__getitem__": get, "__iter__": each, _HEARD: True})


def _variable(name: str) -> None:
    if not _here.notes or _here.quiet or name.startswith(_OF_PLACES):
        return
    with _quiet():
        if _who(sys._getframe(2)):
            for notes in _here.notes:
                notes.read.setdefault(f"variable {name}", variable_digest(name))


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    """Called for every event of the process: all but a few are over after the first lines."""
    if not _here.notes or _here.quiet:
        return
    if event == "exec":
        code = arguments[0]
        if isinstance(code, CodeType) and code.co_name == "<module>" and is_outside(code.co_filename):
            for notes in _here.notes:
                notes.modules[code.co_filename] = code
    elif event in _HEARD_EVENTS:
        with _quiet():
            _heard(event, arguments)


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    frame = sys._getframe(3)
    if event == "open":
        _opened(frame, *arguments)
    elif event in ("os.listdir", "os.scandir"):
        _listed(frame, arguments[0])
    elif event in ("sqlite3.connect", "ctypes.dlopen"):
        _opened(frame, arguments[0], "r", os.O_RDONLY)
    elif _who(frame):
        for notes in _here.notes:
            notes.unpinned.add(_UNPINNED[event])


def _who(frame: FrameType | None) -> bool:
    """Whether the caller's code does what is heard: not elephan, and not the import of a module."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith("<frozen importlib"):
            return False
        if file.startswith(_OWN):
            return False
        if not file.startswith("<frozen") and not _is_standard(file) and not is_needed(file):
            return True
        frame = frame.f_back
    return False


def _opened(frame: FrameType, path: Any, mode: Any, flags: Any) -> None:
    if not isinstance(path, str | bytes | os.PathLike):  # a number of what is open already
        return
    if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR) == os.O_WRONLY:
        return
    name = os.path.abspath(os.fsdecode(path))
    if name.startswith(_OWN):
        return
    if not _who(frame) and not (_is_import(frame) and not name.endswith((".py", ".pyc", ".so", ".pyd"))):
        return
    found = signature(name)
    for notes in _here.notes:
        if not found or stat.S_ISREG(found[-1]):
            notes.file(name)
        elif name != os.devnull:
            notes.unpinned.add(f"reads {name}")


def _is_import(frame: FrameType | None) -> bool:
    return frame is not None and frame.f_code.co_filename.startswith("<frozen importlib")


def _listed(frame: FrameType, path: Any) -> None:
    if (path is None or isinstance(path, str | bytes | os.PathLike)) and _who(frame):
        name = os.path.abspath(os.fsdecode(path or "."))
        for notes in _here.notes:
            notes.read.setdefault(f"folder {name}", folder_digest(name))


executed.LISTENERS.append(_hook)
