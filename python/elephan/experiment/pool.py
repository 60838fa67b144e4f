"""Many runs on the local cores: threads, because the core releases the GIL while a run runs."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from elephan.base.errors import ElephanError, InputError
from elephan.base.progress import bar
from elephan.result.run import Run, Tables, _finish, write_folder
from elephan.scenario import core
from elephan.scenario.source import Source

T = TypeVar("T")


@dataclass(frozen=True)
class Job:
    """One run to do: a scenario, what is changed in it, a seed, and the variant that it belongs to."""

    source: Source
    overrides: Mapping[str, Any]
    seed: int
    variant: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None  # keep the tables here

    @property
    def label(self) -> str:
        return f"{self.variant} seed {self.seed}" if self.variant else f"seed {self.seed}"


@dataclass
class Outcome(Generic[T]):
    """What became of a job: a value, or the line that says why not."""

    job: Job
    value: T | None = None
    error: str | None = None


class Earliest:
    """What the first job in order that came through has to tell, whichever worker finishes first."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._ranks = {id(job): rank for rank, job in enumerate(jobs)}
        self._rank = len(jobs)
        self._lock = threading.Lock()
        self.told: dict[str, Any] = {}

    def offer(self, job: Job, tell: Callable[[], dict[str, Any]]) -> None:
        """Keeps what `tell` gives if no earlier job has been offered."""
        with self._lock:
            rank = self._ranks[id(job)]
            if rank < self._rank:
                self._rank, self.told = rank, tell()


def default_workers() -> int:
    """As many as there are cores for this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_workers(workers: Any) -> None:
    """Refuses what is no number of workers."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers must be a whole number from 1, not {workers!r}")


def _one(job: Job, reduce: Callable[[Job, Run], T], progress: core.Progress | None, stop: core.Stop) -> Outcome[T]:
    if stop.asked:
        return Outcome(job, error="interrupted")
    if job.folder is not None:
        job.folder.mkdir(parents=True, exist_ok=True)
    where = str(job.folder) if job.folder is not None else None
    result = core.execute(job.source, job.overrides, job.seed, where, progress, stop)
    tables = Tables(path=job.folder) if job.folder is not None else Tables(result.tables)
    run = _finish(job.source, job.overrides, result, tables)
    if job.folder is not None:
        write_folder(run, job.folder)
    return Outcome(job, value=reduce(job, run))


def run_jobs(
    jobs: Sequence[Job],
    reduce: Callable[[Job, Run], T],
    *,
    workers: int | None = None,
    label: str = "",
    progress: bool = False,
) -> list[Outcome[T]]:
    """Does all jobs and reduces each run as soon as it is done, so that memory holds only `workers` runs.

    A run that fails leaves its line in its outcome and the others go on. Wrong input ends everything; so does Ctrl-C,
    which stops the runs and is raised again.
    """
    core.not_while_loading()
    stop, outcomes = core.Stop(), {}
    shares = [0.0] * len(jobs)

    def watch(index: int) -> core.Progress:
        def tick(share: float, _events: int) -> None:
            shares[index] = share

        return tick

    with bar(label, len(jobs), progress) as line, ThreadPoolExecutor(workers or default_workers()) as threads:
        waiting: dict[Future[Outcome[T]], int] = {
            threads.submit(_one, job, reduce, watch(i), stop): i for i, job in enumerate(jobs)
        }
        try:
            while waiting:
                done, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    index = waiting.pop(future)
                    outcomes[index], shares[index] = _outcome(jobs[index], future), 1.0
                line.set(sum(shares), f"{label} {len(outcomes)}/{len(jobs)}")
        except BaseException:
            stop.ask()
            for future in waiting:
                future.cancel()
            raise
    return [outcomes[i] for i in range(len(jobs))]


def _outcome(job: Job, future: Future[Outcome[T]]) -> Outcome[T]:
    try:
        return future.result()
    except ElephanError as error:
        if error.exit_status == 2:
            raise type(error)(f"{job.label}: {error}") from None
        return Outcome(job, error=str(error))


def failures(outcomes: Sequence[Outcome[Any]], may_be_all: bool = False) -> list[str]:
    """A line for each run that failed; an error if every run did, unless others are to come."""
    lines = [f"{outcome.job.label}: {outcome.error}" for outcome in outcomes if outcome.error is not None]
    if lines and len(lines) == len(outcomes) and not may_be_all:
        raise ElephanError(f"every run failed; the first: {lines[0]}")
    return lines
