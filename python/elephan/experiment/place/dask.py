"""Runs on Dask workers: of a cluster of this machine (`dask`) or of one that is there (`tcp://host:8786`).

Trials travel in chunks of about a second, so that the scheduler has little to do. A chunk of a worker that is lost runs on
another. Workers must have the same elephan, to the byte of its core; what measures differently is refused by name.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from typing import Any

from elephan.base.errors import ElephanError, InputError
from elephan.experiment.job import Job, Measure, Outcome
from elephan.experiment.place.chunk import Chunk, Pace, delivered, other_version, run_chunk
from elephan.experiment.place.threads import default_workers
from elephan.experiment.place.travel import Luggage, by_value, pack
from elephan.experiment.store import identity
from elephan.scenario import core

AHEAD = 2  # chunks that each worker has waiting
PATIENCE_S = 20.0  # for a scheduler that does not answer


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
        packed = [(number, job, pack(job)) for number, job in work.items()]
        with self._client() as client, by_value(measure):
            self._check(client)
            yield from self._collected(client, packed, measure)

    @contextlib.contextmanager
    def _client(self) -> Iterator[Any]:
        try:
            import dask
            from distributed import Client, LocalCluster
        except ImportError:
            raise InputError("Dask is not installed: pip install 'elephan[dask]'") from None
        import logging

        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        with contextlib.ExitStack() as opened, dask.config.set({"distributed.scheduler.allowed-failures": 10}):
            where = self._address
            if not where:
                where = opened.enter_context(
                    LocalCluster(
                        n_workers=self.workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
                    )
                )
            try:
                client = opened.enter_context(Client(where, timeout=PATIENCE_S, set_as_default=False))
            except (OSError, TimeoutError, ValueError) as error:
                why = str(error).partition("\n")[0]
                raise InputError(f"--on {self._address}: no Dask scheduler answers there ({why})") from None
            yield client

    def _check(self, client: Any) -> None:
        """Refuses workers whose elephan is another one, and a cluster without workers."""
        deadline = time.monotonic() + PATIENCE_S
        while not client.scheduler_info(n_workers=-1)["workers"]:
            if time.monotonic() > deadline:
                raise ElephanError(f"the Dask cluster {self._address} has no workers")
            time.sleep(0.1)
        self.workers = len(client.scheduler_info(n_workers=-1)["workers"])
        ours = identity.engine()
        for worker, theirs in client.run(_build, on_error="return").items():
            if isinstance(theirs, BaseException):
                raise InputError(f"{worker}: has no elephan that can be imported ({theirs})")
            if theirs[1] != ours:
                raise InputError(f"{worker}: {other_version(theirs[0], theirs[1], ours)}")

    def _collected(
        self, client: Any, waiting: list[tuple[int, Job, Luggage | None]], measure: Measure
    ) -> Iterator[tuple[int, Outcome] | None]:
        engine, pace = identity.engine(), Pace()
        running: dict[Any, Chunk] = {}
        waiting.reverse()
        try:
            while waiting or running:
                room = AHEAD * max(1, len(client.scheduler_info(n_workers=-1)["workers"])) - len(running)
                while waiting and room > 0:
                    batch = pace.taken(waiting)
                    running[client.submit(run_chunk, batch, measure, engine, pure=False, retries=3)] = batch
                    room -= 1
                for future in [one for one in running if one.done()]:
                    chunk = running.pop(future)
                    for number, outcome in _result(future, chunk):
                        pace.saw(outcome.wall_s)
                        yield number, delivered(outcome)
                    future.release()
                yield None
                time.sleep(0.02)
        finally:
            client.cancel(list(running), force=True)


def _build() -> tuple[str, str]:
    """Version and fingerprint of a worker's elephan."""
    return core.call("version"), identity.engine()


def _result(future: Any, chunk: Chunk) -> list[tuple[int, Outcome]]:
    """The outcomes of a chunk; one that ten workers died of is a failure of its jobs."""
    from distributed import KilledWorker

    try:
        found: list[tuple[int, Outcome]] = future.result()
    except KilledWorker as error:
        why = f"workers died while they ran it ({str(error).partition(chr(10))[0]})"
        return [(number, Outcome(job, error=why)) for number, job, _ in chunk]
    return found
