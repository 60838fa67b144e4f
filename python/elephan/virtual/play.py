"""One run of programs: a task for each host, until those that return have returned and only servers wait."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc
import inspect
import threading
from asyncio import events
from collections.abc import Iterator, Mapping
from typing import Any

from elephan.base.errors import ElephanError, InputError, nearest
from elephan.base.quantity import show
from elephan.virtual import waits
from elephan.virtual.host import HOST, Host
from elephan.virtual.loop import Loop
from elephan.virtual.network import PS_PER_S, Network
from elephan.virtual.patch import patched
from elephan.virtual.selector import Over

# How long nothing happens at any socket, in simulated seconds, until servers that are left are taken to wait for nobody.
QUIET_S = 5.0
QUIET_CONNECTED_S = 60.0  # the same while a connection of theirs is open
CLEANING_S = 120.0  # how long programs that are cancelled may take to end


class Play:
    """The programs of a run while they run."""

    def __init__(self, network: Network, loop: Loop) -> None:
        self.network, self.loop = network, loop
        self.pending: dict[Host, asyncio.Task[Any]] = {}
        self.returned: dict[Host, Any] = {}
        self.failure: tuple[Host, BaseException] | None = None
        self._cleaned_by: float | None = None
        loop.selector.may_end = self._may_end

    def start(self, host: Host, program: Any) -> None:
        """Gives a host its program: a coroutine, or a function that returns one."""
        context = contextvars.copy_context()
        context.run(HOST.set, host)
        task = context.run(self._task, host, program)
        self.pending[host] = task
        task.add_done_callback(lambda task: self._done(host, task), context=contextvars.copy_context())

    def _task(self, host: Host, program: Any) -> asyncio.Task[Any]:
        coroutine = program() if callable(program) else program
        if not inspect.iscoroutine(coroutine):
            raise InputError(f"the program of {host.name} is a coroutine or a function that returns one, not {coroutine!r}")
        task = self.loop.create_task(coroutine)
        task.set_name(host.label)
        return task

    def _done(self, host: Host, task: asyncio.Task[Any]) -> None:
        del self.pending[host]
        self.network.last = self.network.seconds
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is None:
            self.returned[host] = task.result()
        elif self.failure is None and self._cleaned_by is None:
            self.failure = (host, error)
        if self._cleaned_by is None and (not self.pending or self.failure is not None):
            self.loop.stop()

    def play(self) -> None:
        """Runs the programs to their end. Raises what one of them raised, or a line about why there is no end."""
        try:
            if self.pending:
                self.loop.run_forever()
        except Over as over:
            line = self._end(over.why)
            self.clean()
            if line:
                raise ElephanError(line) from None
        except SystemExit as leaving:
            self.abandon()
            raise ElephanError(f"a program called sys.exit({leaving.code}) at {show(self.network.seconds, 's')}") from None
        except BaseException:
            self.abandon()
            raise
        else:
            self.clean()
        if self.network.refusal is not None:
            raise self.network.refusal
        if self.failure is not None:
            host, raised = self.failure
            raised.add_note(f"the program of {host.name} raised this at {show(self.network.seconds, 's')}")
            raise raised

    def _may_end(self, idle: bool) -> float | None:
        """The time when the run ends unless something happens before, None for none. Raises Over if that has come."""
        if self._cleaned_by is not None:
            last = self._cleaned_by
        elif not self.returned or not self.pending or not all(host.listening for host in self.pending):
            return None
        elif idle:
            raise Over("done")
        else:
            connected = any(host.streams for host in self.pending)
            last = self.network.last + (QUIET_CONNECTED_S if connected else QUIET_S)
        if self.network.seconds >= last:
            raise Over("done")
        return last

    def _end(self, why: str) -> str:
        """The line about programs that have not returned; nothing if only servers are left."""
        clients = [(host, task) for host, task in self.pending.items() if not host.listening]
        if why == "done" or (why == "end" and not clients):
            return ""
        servers = [(host, task) for host, task in self.pending.items() if host.listening]
        told = waits.all_told(clients + servers)
        now = show(self.network.seconds, "s")
        if why == "end":
            return f"the scenario ended at {now} before every program returned: {told}; end the program, or set a longer duration"
        return f"at {now} nothing can happen any more: {told}"

    def clean(self) -> None:
        """Cancels what is left and lets it end."""
        selector, loop = self.loop.selector, self.loop
        selector.after_end = loop.is_ending = True
        self._cleaned_by = self.network.seconds + CLEANING_S
        with contextlib.suppress(Over):
            tasks = self._tasks()
            for task in tasks:
                task.cancel()
            if tasks:
                loop.run_until_complete(_all_done(tasks))
            loop.run_until_complete(loop.shutdown_asyncgens())
        self.abandon()

    def abandon(self) -> None:
        """Drops what has not ended without a word."""
        self.loop.is_quiet = True
        for task in self._tasks():
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            with contextlib.suppress(BaseException):
                task.get_coro().close()

    def _tasks(self) -> list[asyncio.Task[Any]]:
        return sorted(asyncio.all_tasks(self.loop), key=hash)


async def _all_done(tasks: list[asyncio.Task[Any]]) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.contextmanager
def _no_other_loop() -> Iterator[None]:
    """While programs run no other loop does: one that called us, as a notebook's, waits."""
    outer = events._get_running_loop()
    events._set_running_loop(None)
    collects = gc.isenabled()
    gc.disable()  # the loop collects, after so many turns: a socket that nobody closed is closed at the same instant in every run
    try:
        yield
    finally:
        if collects:
            gc.enable()
        events._set_running_loop(outer)


def hosts_of(network: Network, programs: Mapping[str, Any]) -> dict[Host, str]:
    """Returns the hosts of the programs, with the names that were given."""
    found: dict[Host, str] = {}
    for name in programs:
        host = network.by_name.get(name.lower()) if isinstance(name, str) else None
        if host is None:
            hint = nearest(str(name), [one.label for one in network.hosts], "it has")
            raise InputError(f'the scenario has no host "{name}"{hint}')
        if host in found:
            raise InputError(f'two programs are for host {host.name}: "{found[host]}" and "{name}"')
        found[host] = name
    return found


_one_at_a_time = threading.Lock()  # what is replaced is replaced for the whole process


def play(network: Network, programs: Mapping[Host, Any], seed: int) -> dict[Host, Any]:
    """Runs programs, each a coroutine or a function that returns one, on their hosts; returns what they returned."""
    with _one_at_a_time, _no_other_loop(), patched(seed):
        loop = Loop(network)
        playing = Play(network, loop)
        try:
            try:
                for host in sorted(programs, key=lambda host: host.number):
                    playing.start(host, programs[host])
            except BaseException:
                playing.abandon()
                raise
            playing.play()
        finally:
            loop.close()
            network.open.clear()
    settle(network.core)
    return playing.returned


def settle(core: Any) -> None:
    """Lets what is under way arrive, for a second at most: the last ACKs of connections that programs have closed."""
    if not core.is_idle():
        core.wait(min(core.end, core.now + PS_PER_S))
