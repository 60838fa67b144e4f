"""All runs of an experiment: those that the store has are taken from it, the others run somewhere and are kept as they end."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from elephan.base.errors import InputError, PartDone
from elephan.base.progress import bar, note
from elephan.experiment.job import Job, Measure, Outcome, Outcomes
from elephan.experiment.keep import Keep
from elephan.experiment.pinned import Found, Judge, known, packed
from elephan.experiment.pinned import wanted as asked
from elephan.experiment.place.threads import Threads, check_workers
from elephan.experiment.store import origins, runs
from elephan.experiment.store.identity import Identity, Known
from elephan.experiment.store.row import Kept
from elephan.experiment.store.store import Store
from elephan.experiment.watch import Watch
from elephan.scenario import core

PLACES = ("threads", "processes", "dask", "tcp://HOST:8786", "slurm")


class Elsewhere(InputError):
    """Trials are missing, and this process is not the one to run them. `trials`: how many of `planned` there are to run."""

    def __init__(self, trials: int, planned: int) -> None:
        super().__init__('on: "slurm" goes with the commands elephan sweep, compare and study run')
        self.trials, self.planned = trials, planned


class Place(Protocol):
    """Where runs run."""

    name: str
    workers: int  # as many run at a time

    @property
    def under_way(self) -> float:
        """How much of the runs in progress is done, in runs."""

    def submit(self, work: Mapping[int, Job], measure: Measure) -> Iterator[tuple[int, Outcome] | None]:
        """Gives the outcomes as they come, each with its number, and None from time to time while none comes."""


class Seen(Protocol):
    """Is told of the runs of an experiment while they come."""

    def plan(self, jobs: Sequence[Job], /) -> None:
        """Called with the runs that are to come, those that the store has among them."""

    def add(self, outcome: Outcome, /) -> None:
        """Called with what became of a run."""


@dataclass(frozen=True)
class How:
    """How the runs of an experiment are done. `store`: the folder of kept trials, if any; `name`: of the experiment in it.

    `on`: `threads`, `processes`, `dask`, the address of a Dask scheduler, `shard i/n` (the i-th of n shares of the trials), `kept`
    (nothing runs: the result is of what the store has), or `slurm` (nothing runs here: trials that are missing raise `Elsewhere`).
    """

    workers: int | None = None
    on: str = "threads"
    store: Path | None = None
    again: bool = False  # run what is kept once more
    name: str = ""
    label: str = ""
    progress: bool = False
    partial: bool = False  # what to do on Ctrl-C: give what is done, or raise it
    why: bool = False  # say why trials are not taken from the store
    keep: str | None = None  # which tables of single runs the store keeps, as `Keep.read` reads it
    seen: Seen | None = None

    def experiment(self, job: Job) -> str:
        """What the store calls the experiment that a job is of."""
        return "/".join(filter(None, (self.name, job.variant.experiment)))

    @property
    def shard(self) -> tuple[int, int] | None:
        """The share of the trials that is run, of how many; None of all."""
        word, _, share = self.on.partition(" ")
        return shard_of(share) if word == "shard" else None

    def place(self) -> Place:
        """Where the runs run."""
        check_workers(self.workers)
        if self.on in ("threads", "kept", "slurm") or self.shard is not None:
            if self.on != "threads" and self.store is None:
                raise InputError(f'on: "{self.on}" needs a store')
            return Threads(self.workers)
        if self.on == "processes":
            from elephan.experiment.place.processes import Processes

            return Processes(self.workers)
        if self.on == "dask" or re.match(r"(tcp|tls|ws|wss)://", self.on):
            from elephan.experiment.place.dask import Dask

            return Dask("" if self.on == "dask" else self.on, self.workers)
        raise InputError(f'on: "{self.on}" is no place; there are {", ".join(PLACES)}')


def shard_of(text: str) -> tuple[int, int]:
    """A share `i/n`, with i from 0."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or int(match[1]) >= int(match[2]):
        raise InputError(f"shard {text}: write i/n with i from 0 to n - 1, such as 0/8")
    return int(match[1]), int(match[2])


def store_of(store: str | os.PathLike[str] | bool | None, out: str | os.PathLike[str] | None) -> Path | None:
    """The store that an experiment uses: the one that is given, else beside its result, none with False or without a result."""
    if store is False or (store in (None, True) and out is None):
        return None
    return store_beside(Path(os.path.abspath(os.fspath(out or "")))) if store is None or store is True else Path(store)


def store_beside(folder: Path) -> Path:
    """The store of a result: its folder, with `.trials` behind the name."""
    return folder.parent / f"{folder.name}.trials"


def run_jobs(jobs: Sequence[Job], measure: Measure, how: How | None = None) -> Outcomes:
    """Does all jobs and measures each run as soon as it is done, so that memory holds only `workers` runs.

    A run that fails leaves its line in its outcome and the others go on. Wrong input ends everything. Ctrl-C stops the runs and is
    raised again, unless the caller takes what is done (`how.partial`) and there is any.
    """
    how = how or How()
    core.not_while_loading()
    place = how.place()
    jobs, judge, found = packed(jobs), Judge(), Found.none()
    with ExitStack() as opened:
        some = known(jobs, measure) if how.store is not None else [Known(None, {}, "")] * len(jobs)
        identities = [one.identity for one in some]
        wanted = _wanted(jobs, identities, how) if how.keep is not None and how.on != "kept" else None
        store = opened.enter_context((Store.at if how.on == "kept" else Store.to)(how.store)) if how.store is not None else None
        again = how.again and how.on != "kept"
        if how.shard is not None or how.on == "slurm":  # the tables of a result, which another process makes, are not wanted here
            jobs = [replace(job, folder=None) for job in jobs]
        if store is not None and not again:
            looked, more = asked(some, store.input_names())
            found = Found(store.kept(looked), more)
        if wanted is not None and store is not None:
            jobs = _keeping(jobs, store, identities, found, *wanted, again)
        outcomes: dict[int, Outcome] = {} if store is None or again else _kept(store, found, jobs, some, how)
        missing = [number for number in range(len(jobs)) if number not in outcomes and _is_mine(some[number], found, how)]
        if how.on == "slurm" and missing:
            raise Elsewhere(len(missing), len(jobs))
        if store is not None and missing:
            store.check_writes()
            origins.write(store.where, jobs, identities)
        # The first seed of all variants, then the second: if the runs end early, every variant has some.
        work = {number: jobs[number] for number in sorted(missing, key=lambda number: jobs[number].seed)}
        interrupted = False
        if how.seen is not None:
            how.seen.plan(jobs)
            for outcome in outcomes.values():
                how.seen.add(outcome)
        count = len(outcomes) + len(work)
        line = opened.enter_context(bar(how.label, count, how.progress))
        watch = Watch(how.label, line, len(outcomes), count, how.progress)
        try:
            _run(place, work, measure, how, store, some, judge, outcomes, watch)
            watch.end()
        except KeyboardInterrupt:
            if not how.partial or not any(outcome.done for outcome in outcomes.values()):
                raise
            interrupted = True
            if store is not None and how.shard is None:
                text = f"{len(outcomes)} of {count} runs are done and kept in {store.where}; the same command goes on"
                opened.callback(note, text, how.progress)
        for text in judge.lines if store is not None else ():
            opened.callback(note, text, how.progress)
    if how.shard is not None:
        if interrupted:
            done = sum(number in outcomes for number in work)
            note(f"{how.on}: {done} of its {len(work)} trials run, kept in {how.store}; the same command goes on", how.progress)
            raise KeyboardInterrupt
        raise PartDone(f"{how.on}: {len(work)} of {len(jobs)} trials run, kept in {how.store}")
    if how.on == "kept" and not outcomes:
        raise InputError(f"{how.store}: keeps none of the {len(jobs)} trials")
    return Outcomes([outcomes[i] for i in sorted(outcomes)], len(jobs), interrupted)


def _wanted(jobs: Sequence[Job], identities: Sequence[Identity | None], how: How) -> tuple[Keep, Callable[[Job], bool]]:
    """What tables are kept, and of which jobs."""
    keep = Keep.read(how.keep)
    if how.store is None:
        raise InputError(f"keep {how.keep}: tables of runs are kept in a store; give out or store")
    if jobs and not any(identities):
        raise InputError(f"keep {how.keep}: no run can be kept, as a congestion control or each uses what has no source")
    return keep, keep.chosen(jobs)


def _keeping(
    jobs: Sequence[Job],
    store: Store,
    identities: Sequence[Identity | None],
    found: Found,
    keep: Keep,
    chosen: Callable[[Job], bool],
    again: bool,
) -> list[Job]:
    """The jobs, with the folder in the store that the tables of each chosen one go to, or are in."""
    there = {} if again else runs.of(store.where)
    folders = []
    for job, identity in zip(jobs, identities, strict=True):
        if identity is not None and job.folder is None and chosen(job):
            row = found.of(identity)
            key = identity.key if row is None else row.identity.key
            had = next((path for path in there.get(key, ()) if keep.is_in(path)), None)
            job = replace(job, folder=had or store.new_run(key), keep=keep)
        folders.append(job)
    return folders


def _is_mine(one: Known, found: Found, how: How) -> bool:
    """Whether a trial that is not taken from the store is to be run here: of what is kept, if its tables are wanted too."""
    if how.on == "kept":
        return one.identity is not None and found.of(one.identity) is not None
    if how.shard is None and how.on != "slurm":
        return True
    if one.identity is None:
        raise InputError(f"{one.why}: its trials cannot be kept, so its runs cannot be shared out")
    number, count = how.shard or (0, 1)
    return int(one.identity.key, 16) % count == number


def _run(
    place: Place,
    work: Mapping[int, Job],
    measure: Measure,
    how: How,
    store: Store | None,
    some: Sequence[Known],
    judge: Judge,
    outcomes: dict[int, Outcome],
    watch: Watch,
) -> None:
    """Runs what has no outcome yet, and keeps it."""
    for found in place.submit(work, measure):
        if found is not None:
            number, outcome = found
            outcome.job = work[number]
            identity, more = judge.judged(some[number], outcome) if store is not None else (None, {})
            if store is not None:
                _settle(store, some[number].identity, identity, outcome)
            outcomes[number] = outcome
            watch.add(outcome)
            if how.seen is not None:
                how.seen.add(outcome)
            if store is not None and identity is not None:
                _keep(store, how, place, identity, outcome, more)
        if store is not None:
            store.tick()
        watch.tick(place.under_way, place.workers)


def _settle(store: Store, before: Identity | None, identity: Identity | None, outcome: Outcome) -> None:
    """Gives the tables of a run in the store the name of its trial, which the run may have changed, or removes them."""
    folder = outcome.job.folder
    if folder is None or before is None or folder.parent != store.where / runs.FOLDER or not folder.exists():
        return
    if identity is None:
        shutil.rmtree(folder, ignore_errors=True)
    elif identity != before and folder.name.startswith(before.key):
        folder = folder.rename(folder.with_name(folder.name.replace(before.key, identity.key, 1)))
        outcome.job = replace(outcome.job, folder=folder)


def _kept(store: Store, found: Found, jobs: Sequence[Job], some: Sequence[Known], how: How) -> dict[int, Outcome]:
    """The outcomes of the trials that the store has."""
    outcomes = {}
    for number, (job, one) in enumerate(zip(jobs, some, strict=True)):
        row = found.of(one.identity) if one.identity is not None else None
        if row is None or (job.folder is not None and row.error == "" and not job.folder.exists()):  # its tables are wanted too
            continue
        outcomes[number] = outcome = Outcome(job, row.measured, row.error or None, row.guests, row.flows, kept=True)
        if (row.experiment, row.variant.label) != (how.experiment(job), job.variant.label):
            _keep(store, how, None, row.identity, outcome, row.inputs)
    lines = [
        *store.notes,
        *([f"{len(outcomes)} of {len(jobs)} trials are kept in {store.where}"] if outcomes and how.partial else []),
    ]
    if how.why:
        lines += _reasons(store, jobs, some, outcomes, how)
    for text in lines:
        note(text, how.progress)
    return outcomes


def _reasons(store: Store, jobs: Sequence[Job], some: Sequence[Known], outcomes: Mapping[int, Outcome], how: How) -> list[str]:
    """Why trials are not taken from the store: what differs from the one of the same experiment, variant and seed."""
    alike = {(row.experiment, row.variant.label, row.identity.seed): row.identity for row in store.rows()}
    counts: Counter[str] = Counter()
    for number, job in enumerate(jobs):
        identity = some[number].identity
        if number in outcomes:
            continue
        other = alike.get((how.experiment(job), job.variant.label, job.seed))
        if identity is None:
            counts[some[number].why] += 1
        elif other is None:
            counts["not in the store"] += 1
        elif what := identity.differs_from(other):
            counts[" and ".join(what) + " changed"] += 1
        else:
            counts["their tables are wanted, which the store does not have"] += 1
    return [f"{count} of {len(jobs)} trials run: {why}" for why, count in counts.most_common()]


def _keep(store: Store, how: How, place: Place | None, identity: Identity, outcome: Outcome, more: Mapping[str, str]) -> None:
    """Keeps an outcome; without a place it is that of another experiment, which is a trial of this one too."""
    job = outcome.job
    if outcome.lost or outcome.error == "interrupted" or how.on == "kept":  # such a store is only read
        return
    if place is None and store.refusal is not None:  # what it has is used all the same
        return
    command = "" if outcome.done else job.command
    error = outcome.error or ""
    row = Kept(identity, how.experiment(job), job.variant, outcome.measured, error, command, outcome.guests, outcome.flows, more)
    attempt = {"begun_s": outcome.begun_s, "wall_s": outcome.wall_s, "error": outcome.error}
    store.put(row, None if place is None else {"on": place.name, **attempt})
