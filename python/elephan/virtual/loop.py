"""The loop of asyncio over the simulated network: CPython's own, with another selector, another clock and no threads.

Transports, streams, TLS, servers and `sock_*` are those of CPython, unchanged.
"""

from __future__ import annotations

import asyncio
import gc
import io
import math
import os
import signal
from asyncio.selector_events import BaseSelectorEventLoop
from collections.abc import Callable, Coroutine, Generator
from typing import Any

from elephan.virtual import executor, names
from elephan.virtual.host import HOST, Host, refuse
from elephan.virtual.network import Network
from elephan.virtual.selector import Selector

_TURNS_YOUNG, _TURNS_ALL = 2_000, 200_000  # turns of the loop between two collections of garbage
_FILE_BLOCK = 1 << 18  # bytes of a file that are read at a time


class NumberedFuture(asyncio.Future[Any]):
    """A future whose hash is its number, so that sets of futures have the same order in every process."""

    def __init__(self, *, loop: Loop) -> None:
        super().__init__(loop=loop)
        self._number = loop.next_number()

    def __hash__(self) -> int:
        return self._number

    __eq__ = object.__eq__


class NumberedTask(asyncio.Task[Any]):
    """A task whose hash is its number, so that sets of tasks have the same order in every process."""

    def __init__(self, coro: Any, *, loop: Loop, number: int, context: Any = None) -> None:
        self._number = number
        super().__init__(coro, loop=loop, name=f"Task-{number}", context=context)

    def __hash__(self) -> int:
        return self._number

    __eq__ = object.__eq__


class Loop(BaseSelectorEventLoop):
    """An event loop whose time is simulated."""

    _selector: Selector
    _clock_resolution: float
    _scheduled: list[asyncio.TimerHandle]

    def __init__(self, network: Network) -> None:
        self.network = network
        self._numbers = 0
        self._turns = 0
        super().__init__(Selector(network))
        self._selector.next_timer = self._next_timer
        self._clock_resolution = math.ulp(0.0)
        self.is_quiet = False
        self.is_ending = False  # the programs are over
        self.set_task_factory(self._make_task)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Logs what nobody handles, unless the run has failed for another reason that its caller learns.

        Nor does it log that what was left at the end was cancelled, as CPython 3.11 does for handlers of streams.
        """
        over = self.is_ending and isinstance(context.get("exception"), asyncio.CancelledError)
        if self.network.refusal is None and not self.is_quiet and not over:
            super().call_exception_handler(context)

    @property
    def selector(self) -> Selector:
        return self._selector

    def next_number(self) -> int:
        self._numbers += 1
        return self._numbers

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any] | Generator[Any, None, Any], **more: Any
    ) -> NumberedTask:
        return NumberedTask(coro, loop=self, number=self.next_number(), context=more.get("context"))

    def create_future(self) -> asyncio.Future[Any]:
        return NumberedFuture(loop=self)

    # The clock.

    def time(self) -> float:
        return self.network.seconds

    def _next_timer(self) -> float | None:
        return self._scheduled[0].when() if self._scheduled else None

    def _run_once(self) -> None:
        # A timer that is due at the clock's very value rings, none before its time.
        self._clock_resolution = math.ulp(self.network.seconds)
        self._turns += 1
        if self._turns % _TURNS_YOUNG == 0:
            gc.collect(2 if self._turns % _TURNS_ALL == 0 else 1)
        super()._run_once()  # type: ignore[misc]

    # Nothing wakes the loop from outside.

    def _make_self_pipe(self) -> None:
        """There is no other thread that would write to it."""

    def _close_self_pipe(self) -> None:
        """There is none."""

    def _write_to_self(self) -> None:
        """The loop sees by itself what was added."""

    # What would take a thread.

    def run_in_executor(self, executor_: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        self._check_closed()  # type: ignore[attr-defined]
        return executor.run(self, func, args)

    def set_default_executor(self, executor_: Any) -> None:
        """Accepted: functions run in place whichever executor is asked for."""

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """There is none."""

    async def getaddrinfo(self, host: Any, port: Any, *, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0) -> Any:
        await asyncio.sleep(0)
        return names.getaddrinfo(self._host(), host, port, family, type, proto, flags)

    async def getnameinfo(self, sockaddr: Any, flags: int = 0) -> tuple[str, str]:
        await asyncio.sleep(0)
        return names.getnameinfo(self._host(), sockaddr, flags)

    def _host(self) -> Host:
        host = HOST.get()
        return host if host is not None else self.network.hosts[0]

    # What a system call would do.

    async def _sock_sendfile_native(self, sock: Any, file: Any, offset: int, count: int | None) -> int:
        """Sends a file from `offset` on, wherever its position is; afterwards it stands behind what was sent."""
        try:
            number = file.fileno()
        except (AttributeError, io.UnsupportedOperation):
            raise asyncio.SendfileNotAvailableError("not a regular file") from None
        at = offset
        try:
            while block := os.pread(number, _FILE_BLOCK if count is None else min(_FILE_BLOCK, offset + count - at), at):
                await self.sock_sendall(sock, block)
                at += len(block)
        finally:
            file.seek(at)
        return at - offset

    # Signals do not come to a simulated host.

    def add_signal_handler(self, sig: int, callback: Callable[..., Any], *args: Any) -> None:  # type: ignore[override]
        _check_signal(sig, callback)
        self._host().signals[sig] = (callback, args)

    def remove_signal_handler(self, sig: int) -> bool:
        _check_signal(sig)
        return self._host().signals.pop(sig, None) is not None

    # What simulated hosts do not have.

    async def subprocess_exec(self, *args: Any, **more: Any) -> Any:
        refuse("a subprocess", "a simulated host has one process")

    async def subprocess_shell(self, *args: Any, **more: Any) -> Any:
        refuse("a subprocess", "a simulated host has one process")

    async def create_unix_connection(self, *args: Any, **more: Any) -> Any:
        refuse("a Unix socket", "simulated hosts have AF_INET and AF_INET6")

    async def create_unix_server(self, *args: Any, **more: Any) -> Any:
        refuse("a Unix socket", "simulated hosts have AF_INET and AF_INET6")

    async def connect_read_pipe(self, *args: Any, **more: Any) -> Any:
        refuse("a pipe", "the loop watches sockets of the simulated network only")

    async def connect_write_pipe(self, *args: Any, **more: Any) -> Any:
        refuse("a pipe", "the loop watches sockets of the simulated network only")


def _check_signal(sig: int, callback: Callable[..., Any] | None = None) -> None:
    """Raises what the loop of Unix raises for what is no signal, or one that nobody can catch."""
    if asyncio.iscoroutine(callback) or asyncio.iscoroutinefunction(callback):
        raise TypeError("coroutines cannot be used with add_signal_handler()")
    if not isinstance(sig, int):
        raise TypeError(f"sig must be an int, not {sig!r}")
    if sig not in signal.valid_signals():
        raise ValueError(f"invalid signal number {sig}")
    if callback is not None and sig in (signal.SIGKILL, signal.SIGSTOP):
        raise RuntimeError(f"sig {sig} cannot be caught")
