"""Who waits for what: the line about a run in which nothing can happen any more."""

from __future__ import annotations

import asyncio
import os
import types
from collections.abc import Iterable
from typing import Any

from elephan.virtual.host import Host, is_own_code

# How a library's coroutine is told, where its name says less than these words.
_WORDS = {
    "sleep": "sleeps",
    "Event.wait": "waits for an Event",
    "Queue.get": "waits for a Queue",
    "Queue.put": "waits for room in a Queue",
    "Semaphore.acquire": "waits for a Semaphore",
    "Lock.acquire": "waits for a Lock",
    "Condition.wait": "waits for a Condition",
    "Server.serve_forever": "serves",
    "StreamWriter.drain": "waits for room to write",
    "StreamWriter.wait_closed": "waits for a connection to close",
    "gather": "waits for other tasks",
}
_READS = ("StreamReader.",)


def _chain(task: asyncio.Task[Any]) -> list[tuple[str, str, int]]:
    """The coroutines in which a task waits, outermost first: qualified name, file, line."""
    found: list[tuple[str, str, int]] = []
    inner: Any = task.get_coro()
    while inner is not None:
        frame = getattr(inner, "cr_frame", None) or getattr(inner, "gi_frame", None) or getattr(inner, "ag_frame", None)
        if frame is not None:
            found.append((frame.f_code.co_qualname, frame.f_code.co_filename, frame.f_lineno))
        inner = getattr(inner, "cr_await", None) or getattr(inner, "gi_yieldfrom", None) or getattr(inner, "ag_await", None)
        if not isinstance(inner, types.CoroutineType | types.GeneratorType | types.AsyncGeneratorType):
            break
    return found


def told(host: Host, task: asyncio.Task[Any]) -> str:
    """Returns where a host's program waits, and for what: `client waits for an Event (app.py:12)`."""
    chain = _chain(task)
    own = [one for one in chain if is_own_code(one[1])]
    at = own[-1] if own else chain[-1] if chain else None
    where = f" ({os.path.basename(at[1])}:{at[2]})" if at else ""
    called = chain[chain.index(at) + 1][0] if at is not None and at is not chain[-1] else ""
    words = _WORDS.get(called, f"waits in {called}" if called else "waits")
    if called.startswith(_READS):
        words = "waits for data"
    return f"{host.name} {words}{where}"


def all_told(waiting: Iterable[tuple[Host, asyncio.Task[Any]]]) -> str:
    """Returns the words about all programs that wait, three at most."""
    words = [told(host, task) for host, task in waiting]
    more = f", and {len(words) - 3} more wait" if len(words) > 3 else ""
    return ", ".join(words[:3]) + more
