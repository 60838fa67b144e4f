"""Programs from a file: for each host the coroutine function that is named as the host, or as its group, or `main`."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from elephan.base.errors import ElephanError, InputError
from elephan.base.signals import from_outside
from elephan.scenario.coroutine import for_host
from elephan.scenario.source import read_text
from elephan.virtual.host import is_own_code


def load(file: str | os.PathLike[str]) -> ModuleType:
    """Returns the module that a file is. Raises InputError with file and line for one that cannot be loaded."""
    path = Path(file)
    read_text(path)  # says why it cannot be read
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: no file of Python; its name ends with .py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        if from_outside(error) or isinstance(error, ElephanError):
            raise
        raise InputError(told(error, str(path))) from error
    return module


def told(error: BaseException, file: str = "") -> str:
    """Returns one line about what a program raised: where, what, and what is noted with it."""
    if isinstance(error, SyntaxError):
        return f"{error.filename or file}:{error.lineno}: {error.msg}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_own_code(frame.filename)]
    place = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else f"{file}: " if file else ""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return "; ".join([f"{place}{what}", *getattr(error, "__notes__", ())])


def labels(groups: Mapping[str, int]) -> list[tuple[str, str]]:
    """Returns the hosts of groups with so many members, each with its group: `worker` of two has `worker-0` and `worker-1`."""
    return [
        (group if count == 1 else f"{group}-{number}", group) for group, count in groups.items() for number in range(max(count, 1))
    ]


def programs(module: ModuleType, groups: Mapping[str, int], file: str = "") -> dict[str, Callable[[], Any]]:
    """Returns the programs of a module by host. A function that takes an argument gets the name of its host."""
    found: dict[str, Callable[[], Any]] = {}
    for host, group in labels(groups):
        names = [name.replace("-", "_") for name in (host, group)]
        function = next((one for name in [*names, "main"] if inspect.iscoroutinefunction(one := getattr(module, name, None))), None)
        if function is not None:
            found[host] = for_host(function, host)
    if not found:
        what = _listed([host for host, _ in labels(groups)])
        raise InputError(f"{file or module.__name__}: no coroutine function `main`, nor one named as a host: {what}")
    return found


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (" ..." if len(names) > 8 else "")
