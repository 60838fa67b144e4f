"""Runs on Dask workers: of a cluster of this machine (`dask`) or of one that is there (`tcp://host:8786`).

Trials travel in chunks of about a second, so that the scheduler has little to do. A chunk of a worker that is lost runs on
another. Workers must have the same elephan, to the byte of its core; what measures differently is refused by name.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from elephan.base.errors import ElephanError, InputError
from elephan.experiment.job import Job, Measure, Outcome
from elephan.experiment.place.chunk import Chunk, Pace, delivered, other_version, run_chunk
from elephan.experiment.place.local import LocalCluster
from elephan.experiment.place.threads import default_workers
from elephan.experiment.place.travel import pack, packed
from elephan.experiment.store import identity
from elephan.scenario import core

AHEAD = 2  # chunks that each worker has waiting
ASK_S = 1.0  # between looks at the scheduler
CONNECT_S = 10.0  # for a scheduler that is not there
PATIENCE_S = 20.0  # for one that does not answer any more, and for workers


class Dask:
    """Workers of a Dask cluster; `address` empty for one of this machine."""

    name = "dask"
    under_way = 0.0

    def __init__(self, address: str = "", workers: int | None = None) -> None:
        self._address, self.workers = address, workers or default_workers()

    def submit(self, work: Mapping[int, Job], measure: Measure) -> Iterator[tuple[int, Outcome] | None]:
        """Gives the outcomes as they come, each with its number, and None from time to time while none comes."""
        if not work:
            return
        waiting, told = [(number, pack(job)) for number, job in work.items()], packed(measure)
        with self._client() as (client, tend):
            self._check(client, tend)
            yield from self._collected(client, tend, waiting, told)

    @contextlib.contextmanager
    def _client(self) -> Iterator[tuple[Any, Callable[[], None]]]:
        """A client of the cluster, and what is to be called from time to time while it is waited for."""
        try:
            from distributed import Client
        except ImportError:
            raise InputError("Dask is not installed: pip install 'elephan[dask]'") from None
        _quieten()
        with contextlib.ExitStack() as opened:
            where, tend = self._address, _nothing
            if not where:
                cluster = LocalCluster(self.workers)
                opened.callback(cluster.end)
                where, tend = cluster.address, cluster.tend
            try:
                client = Client(where, timeout=CONNECT_S, set_as_default=False)
            except (OSError, TimeoutError, ValueError) as error:
                why = str(error).partition("\n")[0]
                raise InputError(f"--on {self._address}: no Dask scheduler answers there ({why})") from None
            opened.callback(_close, client)
            yield client, tend

    def _workers_of(self, client: Any) -> int:
        """How many workers there are; ElephanError if the scheduler does not answer."""
        count = -1
        with contextlib.suppress(OSError, TimeoutError):
            if client.status == "running":
                count = len(client.sync(client.scheduler.ncores, callback_timeout=PATIENCE_S))
        if count < 0:
            where = self._address or "of this machine"
            raise ElephanError(f"the Dask scheduler {where} does not answer any more; {_GOES_ON}")
        return count

    def _check(self, client: Any, tend: Callable[[], None]) -> None:
        """Refuses workers whose elephan is another one, and a cluster without workers."""
        deadline = time.monotonic() + PATIENCE_S
        while not self._workers_of(client):
            tend()
            if time.monotonic() > deadline:
                raise ElephanError(f"the Dask cluster {self._address} has no workers")
            time.sleep(0.1)
        self.workers = self._workers_of(client)
        ours = identity.engine()
        for worker, theirs in client.run(_build, on_error="return").items():
            if isinstance(theirs, OSError):
                continue  # it has died; those that run for it are asked again by their chunks
            if isinstance(theirs, BaseException):
                raise InputError(f"{worker}: has no elephan that can be imported ({theirs})")
            if theirs[1] != ours:
                raise InputError(f"{worker}: {other_version(theirs[0], theirs[1], ours)}")

    def _collected(
        self, client: Any, tend: Callable[[], None], waiting: list[tuple[int, Job]], measure: bytes
    ) -> Iterator[tuple[int, Outcome] | None]:
        engine, pace = identity.engine(), Pace()
        running: dict[Any, Chunk] = {}
        again: list[Chunk] = []  # jobs whose workers died, of them or of others that waited there: each runs alone at the end
        waiting.reverse()
        suspect: Chunk | None = None  # which runs alone
        workers, asked = self.workers, time.monotonic()
        alone = asked  # since when no worker is there
        while waiting or running or again:
            tend()
            if client.status != "running" or time.monotonic() - asked > ASK_S:
                workers, asked = self._workers_of(client), time.monotonic()
            if workers:
                alone = asked
            elif self._address and asked - alone > PATIENCE_S:  # those of this machine are replaced
                raise ElephanError(f"the Dask cluster {self._address} has lost all its workers; {_GOES_ON}")
            while (waiting and len(running) < AHEAD * max(1, workers)) or (again and not running):
                suspect = None if waiting else again.pop()
                batch = suspect or pace.taken(waiting)
                running[client.submit(_chunk, batch, measure, engine, pure=False, retries=3)] = batch
            for future in [one for one in running if one.done()]:
                chunk = running.pop(future)
                found = self._result(client, future, chunk, alone=chunk is suspect)
                if found is None:
                    again += [[one] for one in chunk]
                for number, outcome in found or ():
                    pace.saw(outcome.wall_s)
                    yield number, delivered(outcome)
                future.release()
            yield None
            time.sleep(0.02)

    def _result(self, client: Any, future: Any, chunk: Chunk, alone: bool) -> list[tuple[int, Outcome]] | None:
        """The outcomes of a chunk; None if workers died and nobody knows of which job, as the chunk did not run alone."""
        from distributed import CancelledError, KilledWorker

        try:
            found: list[tuple[int, Outcome]] = future.result(timeout=PATIENCE_S)
        except KilledWorker as error:
            if not alone:
                return None
            why = f"workers died while they ran it ({str(error).partition(chr(10))[0]})"
            return [(number, Outcome(job, error=why, lost=True)) for number, job in chunk]
        except (CancelledError, OSError, TimeoutError) as error:  # of a client whose scheduler is lost, or stands still
            self._workers_of(client)
            if alone and isinstance(error, OSError):  # the run's own
                raise
            return None
        return found


_GOES_ON = "what is done is kept, and the same command goes on"


def _nothing() -> None:
    """There is nothing to tend of a cluster that others started."""


def _quieten() -> None:
    """Leaves out what distributed logs, such as the traceback of a connection that a worker loses."""
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if name.partition(".")[0] == "distributed" and isinstance(logger, logging.Logger):
            logger.setLevel(logging.CRITICAL)


def _close(client: Any) -> None:
    """Ends a client, whose runs the scheduler then drops, without waiting for a scheduler that may have died."""
    with contextlib.suppress(Exception):
        client.close(timeout=0.5)


def _chunk(chunk: Chunk, measure: bytes, engine: str) -> list[tuple[int, Outcome]]:
    """Does a chunk in a worker; a worker that came later and has another elephan is named."""
    if identity.engine() != engine:
        from distributed import get_worker

        raise InputError(f"{get_worker().address}: {other_version(core.call('version'), identity.engine(), engine)}")
    return run_chunk(chunk, measure, engine)


def _build() -> tuple[str, str]:
    """Version and fingerprint of a worker's elephan."""
    return core.call("version"), identity.engine()
