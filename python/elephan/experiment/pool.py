"""All runs of an experiment: those that the store has are taken from it, the others run somewhere and are kept as they end."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from elephan.base.errors import InputError
from elephan.base.progress import Bar, bar
from elephan.experiment.job import Job, Measure, Outcome, Outcomes
from elephan.experiment.place.threads import Threads, check_workers
from elephan.experiment.store.identity import Identities, Identity
from elephan.experiment.store.row import Kept
from elephan.experiment.store.store import Store
from elephan.scenario import core

PLACES = ("threads", "dask", "tcp://HOST:8786", "slurm")


class Place(Protocol):
    """Where runs run."""

    name: str

    @property
    def under_way(self) -> float:
        """How much of the runs in progress is done, in runs."""

    def submit(self, work: Mapping[int, Job], measure: Measure) -> Iterator[tuple[int, Outcome] | None]:
        """Gives the outcomes as they come, each with its number, and None from time to time while none comes."""


@dataclass(frozen=True)
class How:
    """How the runs of an experiment are done. `store`: the folder of kept trials, if any; `name`: of the experiment in it."""

    workers: int | None = None
    on: str = "threads"
    store: Path | None = None
    again: bool = False  # run what is kept once more
    name: str = ""
    label: str = ""
    progress: bool = False
    partial: bool = False  # what to do on Ctrl-C: give what is done, or raise it
    say: Callable[[str], None] | None = None  # what to do with a line on what is kept

    def experiment(self, job: Job) -> str:
        """What the store calls the experiment that a job is of."""
        return "/".join(filter(None, (self.name, job.variant.experiment)))

    def place(self) -> Place:
        """Where the runs run, as `on` says."""
        check_workers(self.workers)
        if self.on == "threads":
            return Threads(self.workers)
        if self.on == "dask" or re.match(r"(tcp|tls|ws|wss)://", self.on):
            from elephan.experiment.place.dask import Dask

            return Dask("" if self.on == "dask" else self.on, self.workers)
        raise InputError(f'on: "{self.on}" is no place; there are {", ".join(PLACES)}')


def store_of(store: str | os.PathLike[str] | bool | None, out: str | os.PathLike[str] | None) -> Path | None:
    """The store that an experiment uses: the one that is given, else beside its result, none with False or without a result."""
    if store is False or (store in (None, True) and out is None):
        return None
    if store is None or store is True:
        folder = Path(os.path.abspath(os.fspath(out or "")))
        return folder.with_name(f"{folder.name}.trials")
    return Path(store)


def run_jobs(jobs: Sequence[Job], measure: Measure, how: How | None = None) -> Outcomes:
    """Does all jobs and measures each run as soon as it is done, so that memory holds only `workers` runs.

    A run that fails leaves its line in its outcome and the others go on. Wrong input ends everything. Ctrl-C stops the runs and is
    raised again, unless the caller takes what is done (`how.partial`) and there is any.
    """
    how = how or How()
    core.not_while_loading()
    with ExitStack() as opened:
        identities = _identities(jobs, measure) if how.store is not None else [None] * len(jobs)
        store = opened.enter_context(Store.to(how.store)) if how.store is not None else None
        outcomes: dict[int, Outcome] = {} if store is None or how.again else _kept(store, jobs, identities, how)
        line = opened.enter_context(bar(how.label, len(jobs), how.progress))
        try:
            _run_rest(jobs, measure, how, store, identities, outcomes, line)
        except KeyboardInterrupt:
            if not how.partial or not any(outcome.done for outcome in outcomes.values()):
                raise
    return Outcomes([outcomes[i] for i in sorted(outcomes)], len(jobs))


def _run_rest(
    jobs: Sequence[Job],
    measure: Measure,
    how: How,
    store: Store | None,
    identities: Sequence[Identity | None],
    outcomes: dict[int, Outcome],
    line: Bar,
) -> None:
    """Runs what has no outcome yet, and keeps it."""
    place, kept, failed = how.place(), len(outcomes), 0
    work = {number: job for number, job in enumerate(jobs) if number not in outcomes}
    for found in place.submit(work, measure):
        if found is not None:
            number, outcome = found
            outcomes[number] = outcome
            failed += not outcome.done
            identity = identities[number]
            if store is not None and identity is not None:
                _keep(store, how, place, identity, outcome)
        words = [f"{how.label} {len(outcomes)}/{len(jobs)}"]
        words += [f"{count} {what}" for count, what in ((kept, "kept"), (failed, "failed")) if count]
        line.set(len(outcomes) + place.under_way, ", ".join(words))


def _identities(jobs: Sequence[Job], measure: Measure) -> list[Identity | None]:
    found: dict[str, Identities] = {}
    names = [measure.name(job) for job in jobs]
    return [
        found.setdefault(name, Identities(name)).of(job.source, job.overrides, job.seed)
        for name, job in zip(names, jobs, strict=True)
    ]


def _kept(store: Store, jobs: Sequence[Job], identities: Sequence[Identity | None], how: How) -> dict[int, Outcome]:
    """The outcomes that the store has."""
    found = store.kept([one for one in identities if one is not None])
    outcomes = {}
    for number, (job, identity) in enumerate(zip(jobs, identities, strict=True)):
        row = found.get(identity.key) if identity is not None else None
        if row is None or (job.folder is not None and row.error == ""):  # the tables of a run are not in the store
            continue
        outcomes[number] = outcome = Outcome(job, row.measured, row.error or None, row.guests, row.flows, kept=True)
        if (row.experiment, row.variant.label) != (how.experiment(job), job.variant.label):
            _keep(store, how, None, row.identity, outcome)
    if outcomes and how.say is not None:
        how.say(f"{len(outcomes)} of {len(jobs)} kept in {store.where}")
    return outcomes


def _keep(store: Store, how: How, place: Place | None, identity: Identity, outcome: Outcome) -> None:
    """Keeps an outcome; without a place it is that of another experiment, which is a trial of this one too."""
    job = outcome.job
    if outcome.error == "interrupted":
        return
    command = "" if outcome.done else job.command
    error = outcome.error or ""
    row = Kept(identity, how.experiment(job), job.variant, outcome.measured, error, command, outcome.guests, outcome.flows)
    attempt = {"begun_s": outcome.begun_s, "wall_s": outcome.wall_s, "error": outcome.error}
    store.put(row, None if place is None else {"on": place.name, **attempt})
