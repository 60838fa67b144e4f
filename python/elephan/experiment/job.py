"""A run to do, what became of it, and what is measured in it."""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from elephan.base.errors import ElephanError, InputError
from elephan.base.machine import of_machine
from elephan.experiment.keep import Keep
from elephan.experiment.store.row import Measured
from elephan.experiment.trials import Trial, Variant, as_text
from elephan.result.folder import result_folder
from elephan.result.run import Run, Tables, experiment, finish, guests
from elephan.scenario import core
from elephan.scenario.guestsource import folder_of, inputs_of, named_in
from elephan.scenario.inputs import Inputs
from elephan.scenario.pack import Pack
from elephan.scenario.reference import may_name, reference_of
from elephan.scenario.source import Source
from elephan.scenario.watch import Notes, watching
from elephan.statistic import measures
from elephan.table.rows import NoSuchPart


@dataclass(frozen=True)
class Job:
    """One run to do: a scenario, what is changed in it, a seed, and the variant that it belongs to."""

    source: Source
    overrides: Mapping[str, Any]
    seed: int
    variant: Variant
    folder: Path | None = None  # what is kept of the run goes here
    keep: Keep = field(default_factory=Keep)

    @property
    def label(self) -> str:
        where = ": ".join(filter(None, (self.variant.experiment, self.variant.label)))
        return f"{where} seed {self.seed}".lstrip()

    @property
    def scenario(self) -> str:
        """The whole scenario of the run, with everything that it sets."""
        return str(core.resolved_toml(self.source, self.overrides, self.seed))

    def described(self) -> dict[str, Any]:
        """How the run is set: seed, scenario with its hash, and where each parameter is from."""
        found = core.resolve(self.source, self.overrides, self.seed)
        return {"seed": self.seed, "scenario": found["toml"], "provenance": found["provenance"], **experiment(found["toml"])}

    @property
    def command(self) -> str:
        """A command that does the same run; nothing where the scenario is not in a file."""
        if self.source.name.startswith("<") or not Path(self.source.name).is_file():
            return ""
        sets = [word for key, value in self.overrides.items() for word in ("-s", f"{key}={_toml(value)}")]
        return shlex.join(["elephan", "run", self.source.name, *sets, "--seed", str(self.seed)])


def _toml(value: Any) -> str:
    """A value as a command line takes it."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_quoted(inner)}' for key, inner in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_quoted, value))}]"
    return as_text(value)


def _quoted(value: Any) -> str:
    return json.dumps(value) if isinstance(value, str) else _toml(value)


class Measure(Protocol):
    """What is measured in each run. It is sent to workers, so it holds no more than it needs."""

    def name(self, job: Job, /) -> str | None:
        """Tells what is measured from anything else that is: a part of the key of a kept trial. None if nobody can tell."""

    def __call__(self, job: Job, run: Run, /) -> Measured: ...


@dataclass(frozen=True)
class Statistics:
    """Statistics by name: of a sweep those asked for, or the usual ones and those that the scenario chose."""

    asked: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    strict: bool = True  # whether a statistic that a run cannot have is an error

    def name(self, _job: Job) -> str:
        return f"statistics {','.join(self.asked)}" if self.asked else f"usual {','.join(self.chosen)}"

    def __call__(self, job: Job, run: Run) -> Measured:
        try:
            if not self.asked:
                return Measured(measures.usual(run, self.chosen))
            return Measured(measures.statistics(run, self.asked, strict=self.strict))
        except NoSuchPart as error:
            raise InputError(f"{job.source.name}: {error}") from None


LOST = " (the machine failed, not the run; the same command runs it again)"


@dataclass
class Outcome:
    """What became of a job: what was measured, or the line that says why not."""

    job: Job
    measured: Measured | None = None
    error: str | None = None
    guests: Sequence[Mapping[str, Any]] = ()  # congestion controls in Python, with the hashes of their sources
    flows: int = 0
    begun_s: float = 0.0
    wall_s: float = 0.0
    processor_s: float = 0.0  # of the thread that ran and measured; 0 of a run from the store
    simulated_s: float = 0.0
    inputs: Inputs = field(default_factory=Inputs)  # what guests, and what is measured, depend on and have read
    files: Mapping[str, bytes] | None = None  # of the folder that the run is kept in, on their way from another machine
    kept: bool = False  # done before, and taken from the store
    lost: bool = False  # the machine failed: the error says nothing about the run, and the store does not keep it

    @property
    def line(self) -> str:
        """The error of a run that failed, with its label; of a run that the machine ended, what becomes of it too."""
        return f"{self.job.label}: {self.error}{LOST if self.lost else ''}"

    @property
    def done(self) -> bool:
        return self.error is None

    @property
    def trial(self) -> Trial:
        values = self.measured.values if self.measured is not None else {}
        return Trial(self.job.variant.label, self.job.seed, values, self.job.variant.experiment)


def run_one(job: Job, measure: Measure, progress: core.Progress | None, stop: core.Stop) -> Outcome:
    """Does a job and measures its run. A run that fails leaves its line; wrong input is raised, with the job's name."""
    if stop.asked:
        return Outcome(job, error="interrupted")
    begun, clock, processor, notes = time.time(), time.monotonic(), time.thread_time(), Notes()
    reads, files = _reads(job, measure), job.source.note_files(job.overrides, notes)
    with watching(notes) if reads else nullcontext():
        try:
            done = _measured(job, measure, progress, stop)
        except ElephanError as error:
            if error.exit_status == 2 and not job.source.have_changed(files, notes):
                raise type(error)(f"{job.label}: {error}") from None
            done = Outcome(job, error=str(error), lost=stop.asked or of_machine(error))
    done.begun_s, done.wall_s, done.processor_s = begun, time.monotonic() - clock, time.thread_time() - processor
    if reads or files:
        notes.end()
        done.inputs = _inputs(job, measure, notes)
    return done


def _measured(job: Job, measure: Measure, progress: core.Progress | None, stop: core.Stop) -> Outcome:
    if job.folder is None:
        return _outcome(job, measure, None, progress, stop)
    with result_folder(job.folder, "run") as partial:
        return _outcome(job, measure, partial, progress, stop)


def _outcome(job: Job, measure: Measure, partial: Path | None, progress: core.Progress | None, stop: core.Stop) -> Outcome:
    """Simulates and measures; with `partial` what is kept of the run goes there."""
    where = partial if job.keep.within is None else None
    result = core.execute(job.source, job.overrides, job.seed, str(where) if where else None, progress, stop)
    run = finish(job.source, job.overrides, result, Tables(path=where) if where else Tables(result.tables))
    if partial is not None:
        job.keep.fill(run, partial)
    found = guests(job.source, run.resolved).get("guests", ()) if may_name(result.resolved) else ()
    return Outcome(job, measure(job, run), guests=found, flows=run.flows.num_rows, simulated_s=run.duration_ns / 1e9)


def _reads(job: Job, measure: Measure) -> bool:
    """Whether a run or its measure is code of the caller's, which may read anything."""
    return read_by(measure) is not None or may_name(job.source.text) or may_name(core.override_text(job.overrides))


def _inputs(job: Job, measure: Measure, notes: Notes) -> Inputs:
    """What a run and its measure depend on beside elephan. `notes`: what was read while it ran."""
    read, pack = Inputs.of(notes), job.source.agreed.pack or Pack()
    variant = ("guests", job.source, core.override_text(job.overrides))
    if not _reads(job, measure):
        return read
    if variant not in pack.known:
        pack.known[variant] = named_in(core.toml_values(core.resolved_toml(job.source, job.overrides, job.seed)))
    for key, reference in pack.known[variant]:
        read.add(inputs_of(key, reference, folder_of(job.source.name), job.source.agreed))
    read.add(read_by(measure) or Inputs())
    return read


def read_by(measure: Measure) -> Inputs | None:
    """What a measure depends on beside the run, None if it is of elephan alone."""
    inputs = getattr(measure, "inputs", None)
    return None if inputs is None else inputs()


class Outcomes(Sequence[Outcome]):
    """What became of the jobs of an experiment, in their order. `planned`: how many there were, if some did not end."""

    def __init__(self, found: Sequence[Outcome], planned: int | None = None, interrupted: bool = False) -> None:
        self._found = found
        self._planned = len(found) if planned is None else planned
        self.interrupted = interrupted  # by Ctrl-C

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, place: Any) -> Any:
        return self._found[place]

    @property
    def incomplete(self) -> dict[str, str]:
        """For the facts of a result of which runs are missing: how many there are."""
        return {"incomplete": f"{len(self)} of {self._planned} runs are done"} if len(self) < self._planned else {}

    def processor_of(self, planned: Collection[str]) -> dict[str, dict[str, float]]:
        """For the facts of a study: seconds of processor time, of the experiments that it plans and of those under its readings.

        Empty if a run was taken from the store or lost: the rest would understate what the whole takes.
        """
        if any(outcome.kept or outcome.lost for outcome in self):
            return {}
        took = {"study": 0.0, "readings": 0.0}
        for outcome in self:
            took["study" if outcome.job.variant.experiment in planned else "readings"] += outcome.processor_s
        return {"processor_s": took}

    @property
    def failures(self) -> list[str]:
        """A line for each run that failed."""
        return [outcome.line for outcome in self if not outcome.done]

    def checked(self) -> Outcomes:
        """Returns itself; ElephanError if every run failed."""
        if len(self.failures) == len(self) > 0:
            raise every_run_failed(self.failures)
        return self

    @property
    def guests(self) -> list[Mapping[str, Any]]:
        """The classes and programs that took part as congestion controls, by name."""
        found = {reference_of(row) or ("", ""): row for outcome in self for row in outcome.guests}
        return [found[name] for name in sorted(found)]

    @property
    def flows(self) -> dict[str, int]:
        """The most flows of a run of each variant."""
        return dict(sorted((outcome.job.variant.label, outcome.flows) for outcome in self if outcome.done))

    @property
    def flows_of_experiments(self) -> dict[str, dict[str, int]]:
        """The most flows of a run of each variant, by experiment."""
        found: dict[str, dict[str, int]] = {}
        for outcome in self:
            if outcome.done:
                own = found.setdefault(outcome.job.variant.experiment, {})
                own[outcome.job.variant.label] = max(own.get(outcome.job.variant.label, 0), outcome.flows)
        return found

    @property
    def folders(self) -> dict[str, dict[str, dict[str, str]]]:
        """For the facts of a result: where the tables of runs are kept, by variant and seed."""
        kept: dict[str, dict[str, str]] = {}
        for outcome in self:
            if outcome.done and outcome.job.folder is not None:
                kept.setdefault(outcome.job.variant.label, {})[str(outcome.job.seed)] = os.path.abspath(outcome.job.folder)
        return {"kept": kept} if kept else {}

    @property
    def trials(self) -> list[Trial]:
        """The runs that came through."""
        return [outcome.trial for outcome in self if outcome.done]

    def first(self, name: str | None = None) -> dict[str, Any]:
        """How the first run that came through is set, of one experiment or of all: as `core.resolve` describes it."""
        jobs = (outcome.job for outcome in self if outcome.done)
        return next(job for job in jobs if name in (None, job.variant.experiment)).described()


def every_run_failed(lines: Sequence[str]) -> ElephanError:
    """The error of an experiment of which no run came through."""
    return ElephanError(f"every run failed; the first: {lines[0]}")
