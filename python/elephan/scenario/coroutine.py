"""Programs that hosts run: how the coroutine function that a scenario names is loaded if the caller agrees, and checked."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Mapping
from typing import Any

from elephan.base.errors import InputError, nearest
from elephan.scenario import guest
from elephan.scenario.trust import Trust

COROUTINE = guest.Wanted("coroutine function", "function", inspect.iscoroutinefunction)


def load(reference: str, params: str, folder: str | None, agreed: Trust | None, own: bool) -> functools.partial[Any]:
    """What the core asks of a function: it with its keywords. The arguments are those of `elephan.scenario.guest.load`."""
    with guest.asked(reference, agreed, own) as agreed:
        return _bound(_find(reference, folder, agreed), json.loads(params))


def _find(reference: str, folder: str | None, agreed: Trust) -> Any:
    """The coroutine function that `module:function` or `file.py:function` names, if its code may run."""
    found = guest.named(reference, folder, agreed, COROUTINE)
    if not inspect.iscoroutinefunction(found):
        what = "a plain function" if inspect.isfunction(found) else type(found).__name__
        raise InputError(f"{reference.rpartition(':')[2]} is {what}, not a coroutine function (async def)")
    return found


def _bound(function: Any, params: Mapping[str, Any]) -> functools.partial[Any]:
    known = inspect.signature(function).parameters
    open_ended = any(one.kind is one.VAR_KEYWORD for one in known.values())
    for key in params:
        if key not in known and not open_ended:
            raise InputError(f'{function.__name__} has no parameter "{key}"{nearest(key, list(known), "it has")}')
    return functools.partial(function, **params)


def for_host(function: Any, label: str) -> Any:
    """Returns the program of a host: a function that takes an argument gets the name of the host."""
    return functools.partial(function, label) if _takes_one(function) else function


def _takes_one(function: Any) -> bool:
    """Whether a function must be called with an argument."""
    return any(
        one.default is inspect.Parameter.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        for one in inspect.signature(function).parameters.values()
    )
