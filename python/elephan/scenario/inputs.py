"""What guests depend on beside their own files: modules from elsewhere, files that they open, variables of the environment.

Each input has a name, such as `module /home/me/lab/helper.py`, and a digest. The key of a kept trial covers all inputs that are
known before the runs; what a run reads beyond them is compared before its trial is kept. `state` says what an input is now.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import functools
import importlib.machinery
import os
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType

from elephan.base.executed import CODES
from elephan.scenario import watch
from elephan.scenario.pack import Pack
from elephan.scenario.watch import Notes

_BEGUN_S = time.time()  # when this module was imported, where the system does not say when the process began


@dataclass
class Inputs:
    """What something depends on: digests by name, and why it cannot be pinned, if it cannot."""

    digests: dict[str, str] = field(default_factory=dict)
    unpinned: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)  # what was not the same all the time

    def add(self, other: Inputs) -> None:
        """Takes the inputs of another; one that has two digests has changed in between."""
        for name, digest in other.digests.items():
            if self.digests.setdefault(name, digest) != digest:
                self.changed.add(name.partition(" ")[2])
        self.unpinned |= other.unpinned
        self.changed |= other.changed

    @classmethod
    def of(cls, notes: Notes) -> Inputs:
        """What was read."""
        found = cls(dict(notes.read), set(notes.unpinned), set(notes.changed))
        for file, code in notes.modules.items():
            if not watch.is_needed(file):
                found.digests[f"module {file}"] = watch.code_digest(code)
        return found


def state(name: str) -> str | None:
    """The digest of an input as it is now; None if nobody can tell."""
    kind, _, what = name.partition(" ")
    if kind == "module":
        return module_digest(what)
    if kind == "program":
        with contextlib.suppress(OSError):
            return Pack().content(Path(what))
        return watch.ABSENT
    found = {
        "file": watch.file_digest,
        "beside": watch.file_digest,
        "folder": watch.folder_digest,
        "variable": watch.variable_digest,
    }
    return found[kind](what) if kind in found else None


def module_digest(file: str) -> str | None:
    """A digest of a module's code as this process has loaded it, else as it would; None if the file has changed since."""
    code = CODES.get(file)
    if code is not None:
        return watch.code_digest(code)
    found = watch.signature(file)
    if found and file in _files_loaded() and found[4] > 1e9 * _process_begun_s():
        return None
    return _source_digest(file, found)


@functools.lru_cache(maxsize=4096)
def _source_digest(file: str, found: tuple[int, ...]) -> str:
    if file.endswith(".py") and found:
        try:
            return watch.code_digest(compile(Path(file).read_bytes(), file, "exec", dont_inherit=True))
        except (OSError, SyntaxError, ValueError):
            pass
    return watch.file_digest(file)


def _files_loaded() -> set[str]:
    return {file for module in list(sys.modules.values()) if isinstance(file := getattr(module, "__file__", None), str)}


@functools.cache
def _process_begun_s() -> float:
    """When this process began, in seconds since 1970; up to 10 ms too early, as the system counts."""
    try:
        ticks = float(Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19])
        return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):  # another system than Linux
        return _BEGUN_S


def modules_of(codes: Iterable[CodeType], roots: Iterable[str] = ()) -> Inputs:
    """The modules from outside that code imports, and those that these import: as they are loaded, or would be.

    Of a package that is imported every module counts that is loaded. `roots`: names of modules to begin with.
    """
    found, tops, seen, waiting = Inputs(), set[str](), set[str](), list(codes)
    names = list(roots)
    while waiting or names:
        while waiting:
            names += _imported(waiting.pop())
        if not names:
            break
        name = names.pop()
        top = name.partition(".")[0]
        for file in {*_not_loaded(name), *(_loaded_below(top) if top not in tops else ())}:
            if file in seen or not watch.is_outside(file) or watch.is_needed(file):
                continue
            seen.add(file)
            digest = module_digest(file)
            if digest is None:
                found.unpinned.add(f"{file} has changed since Python loaded it")
            else:
                found.digests[f"module {file}"] = digest
            waiting += [code] if (code := _code(file)) is not None else []
        tops.add(top)
    return found


def imports_of(source: bytes) -> list[tuple[str, list[str], int]]:
    """What import statements in Python's text name, also inside functions: the module, names from it, and the level of `..`."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, list[str](), 0) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.module or "", [alias.name for alias in node.names], node.level))
    return found


def _imported(code: CodeType) -> list[str]:
    """The modules that code imports by statements, also inside functions, or names beside a call of `import_module`."""
    found: list[str] = []
    waiting = [code]
    while waiting:
        one = waiting.pop()
        waiting += [value for value in one.co_consts if isinstance(value, CodeType)]
        found += [str(step.argval) for step in dis.get_instructions(one) if step.opname == "IMPORT_NAME"]
        if {"import_module", "__import__"} & set(one.co_names):
            found += [value for value in one.co_consts if isinstance(value, str)]
    return [name for name in found if name and all(part.isidentifier() for part in name.split("."))]


def _loaded_below(top: str) -> list[str]:
    """The files of a package's modules that are loaded."""
    found = [module for name, module in list(sys.modules.items()) if name == top or name.startswith(top + ".")]
    return [file for module in found if isinstance(file := getattr(module, "__file__", None), str)]


def _not_loaded(name: str) -> list[str]:
    """The files of a module and of the packages that it is in, which are not loaded; nothing is imported to find them."""
    files: list[str] = []
    where: list[str] | None = None
    known = ""
    for part in name.split("."):
        known = f"{known}.{part}".lstrip(".")
        if isinstance(module := sys.modules.get(known), ModuleType):
            where = list(getattr(module, "__path__", ()))
            continue
        try:
            spec = importlib.machinery.PathFinder.find_spec(known, where)
        except (ImportError, ValueError, AttributeError):
            return files
        if spec is None:
            return files
        files += [spec.origin] if spec.has_location and spec.origin else []
        where = list(spec.submodule_search_locations or ())
    return files


def _code(file: str) -> CodeType | None:
    code = CODES.get(file)
    if code is None and file.endswith(".py"):
        try:
            return compile(Path(file).read_bytes(), file, "exec", dont_inherit=True)
        except (OSError, SyntaxError, ValueError):
            return None
    return code
