"""Runs on Dask workers: of a cluster of this machine (`dask`) or of one that is there (`tcp://host:8786`).

Trials travel in chunks of about a second, so that the scheduler has little to do. A chunk of a worker that is lost runs on
another. Workers must have the same elephan, to the byte of its core; what measures differently is refused by name.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elephan.base.errors import ElephanError, InputError
from elephan.experiment.job import Job, Measure, Outcome, run_one
from elephan.experiment.place.threads import default_workers
from elephan.experiment.place.travel import Luggage, arrived, by_value, pack
from elephan.experiment.store import identity
from elephan.result import folder
from elephan.scenario import core

CHUNK_S = 1.0
CHUNK_MAX = 1000
AHEAD = 2  # chunks that each worker has waiting
PATIENCE_S = 20.0  # for a scheduler that does not answer

Chunk = Sequence[tuple[int, Job, Luggage | None]]


def run_chunk(chunk: Chunk, measure: Measure, engine: str) -> list[tuple[int, Outcome]]:
    """Does the jobs of a chunk, in a worker. Wrong input is the outcome of its job, as an error of the driver's own."""
    if identity.engine() != engine:
        raise InputError(_other_version(core.call("version"), identity.engine(), engine))
    stop, found = core.Stop(), []
    for number, job, luggage in chunk:
        outcome = _carried(arrived(job, luggage), measure, stop)
        outcome.job = job
        found.append((number, outcome))
    return found


def _carried(job: Job, measure: Measure, stop: core.Stop) -> Outcome:
    """Does a job; the folder that it keeps comes back as files, as the driver's disk may be another one."""
    if job.folder is None:
        return run_one(job, measure, None, stop)
    with tempfile.TemporaryDirectory() as place:
        there = Path(place) / "run"
        outcome = run_one(replace(job, folder=there), measure, None, stop)
        if outcome.done:
            outcome.files = {name: (there / name).read_bytes() for name in folder.files(there)}
    return outcome


def _delivered(outcome: Outcome) -> Outcome:
    """Writes the folder that came back as files."""
    if outcome.job.folder is not None and outcome.files is not None:
        with folder.result_folder(outcome.job.folder, "run") as partial:
            for name, data in outcome.files.items():
                (partial / name).parent.mkdir(parents=True, exist_ok=True)
                (partial / name).write_bytes(data)
        outcome.files = None
    return outcome


def _other_version(version: str, theirs: str, ours: str) -> str:
    return (
        f"a worker has another elephan: version {version}, build {theirs[:8]}; here it is build {ours[:8]}. Install the same wheel"
    )


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
                raise InputError(f"{worker}: {_other_version(theirs[0], theirs[1], ours)}")

    def _collected(
        self, client: Any, waiting: list[tuple[int, Job, Luggage | None]], measure: Measure
    ) -> Iterator[tuple[int, Outcome] | None]:
        engine, each_s = identity.engine(), CHUNK_S
        running: dict[Any, Chunk] = {}
        waiting.reverse()
        try:
            while waiting or running:
                room = AHEAD * max(1, len(client.scheduler_info(n_workers=-1)["workers"])) - len(running)
                while waiting and room > 0:
                    size = max(1, min(CHUNK_MAX, round(CHUNK_S / max(each_s, 1e-4))))
                    batch = [waiting.pop() for _ in range(min(size, len(waiting)))]
                    running[client.submit(run_chunk, batch, measure, engine, pure=False, retries=3)] = batch
                    room -= 1
                for future in [one for one in running if one.done()]:
                    chunk = running.pop(future)
                    for number, outcome in _result(future, chunk):
                        each_s = 0.9 * each_s + 0.1 * outcome.wall_s
                        yield number, _delivered(outcome)
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
