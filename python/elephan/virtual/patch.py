"""What of Python's library is replaced while programs run, and put back afterwards, also after an exception.

A replacement asks whether a program runs in its context. If none does, as in another thread, it calls what it stands for.
"""

from __future__ import annotations

import _thread
import asyncio
import contextlib
import functools
import importlib
import itertools
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from elephan.virtual import chance, clock, names, sockets
from elephan.virtual.host import HOST, put, refuse

# Modules that wait for threads by the real clock.
_REAL = (
    "threading",
    "queue",
    "concurrent",
    "_thread",
    "multiprocessing",
    "subprocess",
    "elephan",
    "importlib",
    "faulthandler",
    "datetime",
)
_ONE_THREAD = "a simulated host has one thread; use asyncio"


def _on_host(real: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a host where a program runs, and the real one elsewhere."""

    @functools.wraps(real)
    def call(*args: Any, **named: Any) -> Any:
        host = HOST.get()
        return real(*args, **named) if host is None else ours(host, *args, **named)

    return call


def _refused(real: Callable[..., Any], what: str, instead: str) -> Callable[..., Any]:
    """A function that is refused where a program runs."""

    @functools.wraps(real)
    def call(*args: Any, **named: Any) -> Any:
        return real(*args, **named) if HOST.get() is None else refuse(what, instead)

    return call


def _select(host: Any, read: Any, write: Any, other: Any, timeout: float | None = None) -> Any:
    """`select.select` for simulated sockets: what is ready now."""
    bits = [_ready(host, one) for one in (*read, *write)]
    found_read = [one for one, ready in zip(read, bits, strict=False) if ready & 1]
    found_write = [one for one, ready in zip(write, bits[len(read) :], strict=True) if ready & 2]
    if not found_read and not found_write and timeout != 0:
        refuse("select.select waits", "use asyncio")
    return found_read, found_write, []


def _ready(host: Any, one: Any) -> int:
    number = one if isinstance(one, int) else one.fileno()
    found = host.network.open.get(number)
    if found is None:
        refuse(f"select.select of descriptor {number}", "programs have only sockets of the simulated network")
    return int(host.network.core.poll(found.descriptor))


class _Poll:
    """`select.poll()` for simulated sockets."""

    def __init__(self, host: Any) -> None:
        self._host = host
        self._events: dict[int, int] = {}

    def register(self, fd: Any, events: int = 7) -> None:
        self._events[fd if isinstance(fd, int) else fd.fileno()] = events

    modify = register

    def unregister(self, fd: Any) -> None:
        del self._events[fd if isinstance(fd, int) else fd.fileno()]

    def poll(self, timeout: float | None = None) -> list[tuple[int, int]]:
        found = []
        for fd, events in self._events.items():
            if fd not in self._host.network.open:
                found.append((fd, select.POLLNVAL))
                continue
            ready = _ready(self._host, fd)
            bits = (select.POLLIN if ready & 1 else 0) | (select.POLLOUT if ready & 2 else 0)
            if bits & events:
                found.append((fd, bits & events))
        if not found and timeout != 0:
            refuse("select.poll waits", "use asyncio")
        return found


def _set_signal(host: Any, number: int, handler: Any) -> Any:
    """`signal.signal`: remembered for the host, to which no signal comes."""
    before = host.signals.get(number, signal.SIG_DFL)
    host.signals[number] = handler
    return before


def _start_thread(self: threading.Thread) -> None:
    if HOST.get() is not None:
        refuse(f"the thread {self.name} is started", _ONE_THREAD)
    _thread_start(self)


_thread_start = threading.Thread.start
_popen_init = subprocess.Popen.__init__


def _open_process(self: Any, args: Any = "", *more: Any, **named: Any) -> None:
    if HOST.get() is not None:
        first = args if isinstance(args, str | bytes) else next(iter(args), "")
        self._child_created = False
        refuse(f"the subprocess {os.fsdecode(first)} is started", "a simulated host has one process")
    _popen_init(self, args, *more, **named)


def _functions() -> dict[Any, Any]:
    """What stands for what, wherever a module has it."""
    table: dict[Any, Any] = dict(clock.CLOCKS)
    table[os.urandom] = chance.urandom
    for name, function in chance.functions().items():
        table[function] = _on_host(function, chance.drawing(name))
    for name in ("getaddrinfo", "getnameinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr"):
        table[getattr(socket, name)] = _on_host(getattr(socket, name), getattr(names, name))
    table[socket.gethostname] = _on_host(socket.gethostname, lambda host: host.label)
    table[socket.socketpair] = _on_host(socket.socketpair, sockets.pair)
    table[select.select] = _on_host(select.select, _select)
    if hasattr(select, "poll"):
        table[select.poll] = _on_host(select.poll, _Poll)
    table[signal.signal] = _on_host(signal.signal, _set_signal)
    for name in ("fork", "forkpty", "posix_spawn", "posix_spawnp", "system", "popen", "execv", "execve"):
        if hasattr(os, name):
            table[getattr(os, name)] = _refused(getattr(os, name), f"os.{name}", "a simulated host has one process")
    table[_thread.start_new_thread] = _refused(_thread.start_new_thread, "a thread is started", _ONE_THREAD)
    return table


_PAIRS = list(_functions().items())
_OURS = {id(real): (real, ours) for real, ours in _PAIRS}
_THEIRS = {id(ours): (ours, real) for real, ours in _PAIRS}


def _swap(table: Mapping[int, tuple[Any, Any]]) -> None:
    """Replaces by identity what loaded modules have: many have imported a clock by its name."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in _REAL or not isinstance(module, ModuleType):
            continue
        own = vars(module)
        for key, value in list(own.items()):
            found = table.get(id(value))
            if found is not None and found[0] is value:
                own[key] = found[1]


async def _in_place(cls: Any, func: Callable[..., Any], args: tuple[Any, ...], *more: Any, **named: Any) -> Any:
    """Runs a function that anyio would give to a thread."""
    if HOST.get() is None:
        return await _anyio_run[-1](func, args, *more, **named)
    return await asyncio.get_running_loop().run_in_executor(None, functools.partial(func, *args))


_anyio_run: list[Any] = []


@contextlib.contextmanager
def _anyio() -> Iterator[None]:
    """Lets functions that anyio gives to its own threads run in place."""
    if "anyio" not in sys.modules:
        yield
        return
    backend = importlib.import_module("anyio._backends._asyncio").AsyncIOBackend
    before = vars(backend)["run_sync_in_worker_thread"]
    _anyio_run.append(backend.run_sync_in_worker_thread)
    backend.run_sync_in_worker_thread = classmethod(_in_place)
    try:
        yield
    finally:
        backend.run_sync_in_worker_thread = before
        _anyio_run.pop()


@contextlib.contextmanager
def _numbered(*classes: type) -> Iterator[None]:
    """Lets objects of these classes be ordered in sets by when they were first put into one, not by their address."""
    numbers = itertools.count(1)

    def number(self: Any) -> int:
        found = vars(self).get("_elephan_number")
        if found is None:
            found = vars(self)["_elephan_number"] = next(numbers)
        return int(found)

    with contextlib.ExitStack() as ends:
        for one in classes:
            ends.callback(put, one, "__hash__", one.__hash__)
            put(one, "__hash__", number)
        yield


@contextlib.contextmanager
def patched(seed: int) -> Iterator[None]:
    """While programs run."""
    with contextlib.ExitStack() as ends:
        ends.enter_context(chance.seeded(seed))
        ends.callback(os.chdir, os.getcwd())
        ends.enter_context(_numbered(asyncio.StreamWriter, asyncio.StreamReader))
        ends.enter_context(_anyio())
        ends.callback(_swap, _THEIRS)
        _swap(_OURS)
        ends.callback(delattr, socket.socket, "__new__")
        put(socket.socket, "__new__", sockets.make)
        ends.callback(put, threading.Thread, "start", _thread_start)
        put(threading.Thread, "start", _start_thread)
        ends.callback(put, subprocess.Popen, "__init__", _popen_init)
        put(subprocess.Popen, "__init__", _open_process)
        yield
