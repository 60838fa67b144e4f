"""Many runs on the local cores: threads, because the core releases the GIL while a run runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from elephan.base.errors import ElephanError, InputError
from elephan.base.progress import bar
from elephan.experiment.trials import Trial, Variant
from elephan.result.run import Run, Tables, finish, guests, write_folder
from elephan.result.run import experiment as experiment_of
from elephan.scenario import core
from elephan.scenario.source import Source

T = TypeVar("T")


@dataclass(frozen=True)
class Job:
    """One run to do: a scenario, what is changed in it, a seed, and the variant that it belongs to."""

    source: Source
    overrides: Mapping[str, Any]
    seed: int
    variant: Variant
    folder: Path | None = None  # keep the tables here

    @property
    def label(self) -> str:
        where = ": ".join(filter(None, (self.variant.experiment, self.variant.label)))
        return f"{where} seed {self.seed}".lstrip()


@dataclass
class Outcome(Generic[T]):
    """What became of a job: what was measured, or the line that says why not."""

    job: Job
    value: T | None = None
    error: str | None = None
    guests: Sequence[Mapping[str, Any]] = ()  # congestion controls in Python, with the hashes of their sources
    flows: int = 0

    @property
    def done(self) -> bool:
        return self.error is None


class Outcomes(Sequence[Outcome[T]]):
    """What became of all jobs, in their order."""

    def __init__(self, found: Sequence[Outcome[T]]) -> None:
        self._found = found

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, place: Any) -> Any:
        return self._found[place]

    @property
    def failures(self) -> list[str]:
        """A line for each run that failed."""
        return [f"{outcome.job.label}: {outcome.error}" for outcome in self if not outcome.done]

    def checked(self) -> Outcomes[T]:
        """Returns itself; ElephanError if every run failed."""
        if len(self.failures) == len(self) > 0:
            raise every_run_failed(self.failures)
        return self

    @property
    def guests(self) -> list[Mapping[str, Any]]:
        """The congestion controls in Python that took part, by name."""
        found = {row["python"]: row for outcome in self for row in outcome.guests}
        return [found[name] for name in sorted(found)]

    @property
    def flows(self) -> dict[str, int]:
        """The most flows of a run of each variant."""
        return dict(sorted((outcome.job.variant.label, outcome.flows) for outcome in self if outcome.done))

    def trials(self: Outcomes[dict[str, float]]) -> list[Trial]:
        """The runs that came through, where what was measured are statistics."""
        return [trial(outcome.job, outcome.value) for outcome in self if outcome.value is not None]

    def first(self, experiment: str | None = None) -> dict[str, Any]:
        """How the first run that came through is set, of one experiment or of all: as `core.resolve` describes it."""
        jobs = (outcome.job for outcome in self if outcome.done)
        job = next(job for job in jobs if experiment in (None, job.variant.experiment))
        found = core.resolve(job.source, job.overrides, job.seed)
        return {"seed": job.seed, "scenario": found["toml"], "provenance": found["provenance"], **experiment_of(found["toml"])}


def every_run_failed(lines: Sequence[str]) -> ElephanError:
    """The error of an experiment of which no run came through."""
    return ElephanError(f"every run failed; the first: {lines[0]}")


def trial(job: Job, values: Mapping[str, float]) -> Trial:
    """The trial that a job was, with what was measured."""
    return Trial(job.variant.label, job.seed, values, job.variant.experiment)


def default_workers() -> int:
    """As many as there are cores for this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_workers(workers: Any) -> None:
    """Refuses what is no number of workers."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers must be a whole number from 1, not {workers!r}")


def _one(job: Job, measure: Callable[[Job, Run], T], progress: core.Progress | None, stop: core.Stop) -> Outcome[T]:
    if stop.asked:
        return Outcome(job, error="interrupted")
    if job.folder is not None:
        job.folder.mkdir(parents=True, exist_ok=True)
    where = str(job.folder) if job.folder is not None else None
    result = core.execute(job.source, job.overrides, job.seed, where, progress, stop)
    tables = Tables(path=job.folder) if job.folder is not None else Tables(result.tables)
    run = finish(job.source, job.overrides, result, tables)
    if job.folder is not None:
        write_folder(run, job.folder)
    return Outcome(job, measure(job, run), guests=guests(job.source, run.resolved).get("guests", ()), flows=run.flows.num_rows)


def run_jobs(
    jobs: Sequence[Job],
    measure: Callable[[Job, Run], T],
    *,
    workers: int | None = None,
    label: str = "",
    progress: bool = False,
) -> Outcomes[T]:
    """Does all jobs and measures each run as soon as it is done, so that memory holds only `workers` runs.

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
            threads.submit(_one, job, measure, watch(i), stop): i for i, job in enumerate(jobs)
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
    return Outcomes([outcomes[i] for i in range(len(jobs))])


def _outcome(job: Job, future: Future[Outcome[T]]) -> Outcome[T]:
    try:
        return future.result()
    except ElephanError as error:
        if error.exit_status == 2:
            raise type(error)(f"{job.label}: {error}") from None
        return Outcome(job, error=str(error))
