"""The server of the page in this process: in the foreground, or in a thread beside a command that computes."""

from __future__ import annotations

import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from elephan.base.browser import private, show_beside
from elephan.base.errors import ElephanError
from elephan.base.progress import note
from elephan.experiment.job import Job
from elephan.explore import server
from elephan.explore.engine import Engine
from elephan.explore.native import Native
from elephan.explore.start import Start

_OPEN_MAX = 64  # runs that stay open
_START_S = 10.0
_FIRST_S = 15.0  # for a browser to open the page
_AGAIN_S = 3.0  # for a page that is loaded again
_END_S = 1.0


@dataclass
class Site:
    """A server that is about to answer: its address, and what answers."""

    address: str
    page: str  # the address of a file of this user that leads there: who opens it tells nobody the token
    hosts: server.Hosts
    hello: dict[str, Any]
    listening: Any
    engine: Engine | None
    native: Native | None
    token: str
    wasm: bool

    def server(self, ready: Callable[[], None] | None = None) -> server.Server:
        """The server; `ready` is called when pages can be answered."""
        return server.Server(server.application(self.engine, self.token, self.hosts, self.hello, self.wasm), ready)


@contextmanager
def site(begin: Start, wall_s: float, host: str = "127.0.0.1", port: int | None = None, wasm: bool = False) -> Iterator[Site]:
    """Listens at an address, with an engine for pages. `wall_s`: the longest time that one of their runs may compute."""
    engine = native = None
    if not wasm:
        limits: Mapping[str, Any] = {"open": _OPEN_MAX, "wall_s": wall_s}
        engine = Engine(limits, begin.place if begin.trust else None, begin.agreed)
        native = Native(engine, begin)
        native.register()
    token = secrets.token_urlsafe(24)
    try:
        with server.listen(host, port) as listening:
            number = listening.getsockname()[1]
            shown = "127.0.0.1" if host in ("0.0.0.0", "::") else server.bracketed(host)
            address = f"http://{shown}:{number}/" + ("" if wasm else f"#token={token}")
            with private(address) as page:
                yield Site(address, page, server.own_hosts(host), begin.hello(), listening, engine, native, token, wasm)
    finally:
        if engine is not None:
            engine.close()


@contextmanager
def beside(begin: Start, no_open: bool, wall_s: float, job: Job | None = None) -> Iterator[None]:
    """Serves the page while a command computes, and until its pages are closed; Ctrl-C ends both.

    `job`: the run that the page shows, by simulating it too.
    """
    with site(begin, wall_s) as found:
        if job is not None and found.native is not None:
            found.hello["start"] = {"scenario": {"name": job.source.stem, "text": found.native.text(job)}}
        running = found.server()
        thread = threading.Thread(target=running.run, args=([found.listening],), name="elephan-page", daemon=True)
        thread.start()
        try:
            _until(lambda: running.started or not thread.is_alive(), _START_S)
            if not running.started:
                raise ElephanError("the page cannot be served")
            note(f"watch it at {found.address}", True)
            opened = not no_open and show_beside(found.page)
            yield
            with suppress(KeyboardInterrupt):
                _wait(found.engine, opened)
        finally:
            running.should_exit = True
            thread.join(_END_S)


def _until(holds: Callable[[], bool], most_s: float) -> bool:
    end = time.monotonic() + most_s
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def _wait(engine: Engine | None, opened: bool) -> None:
    """Waits until no page is left: in a script not at all if nobody looks, for a while if a browser is about to open one."""
    if engine is None:
        return
    if not opened and not engine.pages and sys.stderr.isatty():
        note("the page waits for somebody to open it; Ctrl-C ends it", True)
        while not engine.pages:
            time.sleep(0.1)
    if not (engine.pages or (opened and _until(lambda: engine.pages > 0, _FIRST_S))):
        return
    note("the page stays until it is closed; Ctrl-C ends it", True)
    while engine.pages or _until(lambda: engine.pages > 0, _AGAIN_S):
        time.sleep(0.1)
