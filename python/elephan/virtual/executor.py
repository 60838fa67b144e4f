"""Functions that a program gives to an executor: they run in place, and simulated time stands still.

A function may sleep: its result then comes as much later. `executor_time` of a run is what each call takes besides.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from elephan.base.errors import InputError
from elephan.virtual.host import HOST

if TYPE_CHECKING:
    from elephan.virtual.loop import Loop


def run(loop: Loop, function: Callable[..., Any], args: tuple[Any, ...]) -> asyncio.Future[Any]:
    """Returns the future of a function's result, which comes when it would have ended."""
    future = loop.create_future()
    network, host = loop.network, HOST.get()
    outer, network.delay = network.delay, host.executor_time if host is not None else 0.0
    try:
        finish, value = future.set_result, function(*args)
    except (KeyboardInterrupt, SystemExit, InputError):
        raise
    except BaseException as error:
        finish, value = future.set_exception, error
    finally:
        delay, network.delay = network.delay or 0.0, outer
    if delay <= 0:
        finish(value)
    else:
        loop.call_later(delay, _finish, future, finish, value)
    return future


def _finish(future: asyncio.Future[Any], finish: Callable[[Any], None], value: Any) -> None:
    if not future.done():
        finish(value)
