"""An experiment that is running, as a page looks at it: it grows by each run that ends."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import counted
from elephan.experiment.job import Job, Outcome
from elephan.experiment.trials import Trials, Variant, known
from elephan.explore.kept import Part, part_of

_PLAN_S = 30.0  # for an experiment to say what it will run


class Growing:
    """Is told of runs in the thread of the experiment (`elephan.experiment.pool.Seen`), and asked in those of pages."""

    def __init__(self, kind: str, title: str) -> None:
        self.kind, self.title = kind, title
        self._lock = threading.Lock()
        self._begun = threading.Event()
        self._jobs: dict[tuple[str, str, int], Job] = {}
        self._outcomes: list[Outcome] = []
        self._ended = False

    def plan(self, jobs: Sequence[Job]) -> None:
        """Adds runs that are to come."""
        with self._lock:
            self._jobs |= {(job.variant.experiment, job.variant.label, job.seed): job for job in jobs}
        self._begun.set()

    def add(self, outcome: Outcome) -> None:
        """Adds what became of a run."""
        with self._lock:
            self._outcomes.append(outcome)

    def end(self) -> None:
        """The experiment is over."""
        with self._lock:
            self._ended = True
        self._begun.set()

    @property
    def names(self) -> dict[str, str]:
        """The experiments of which there are runs."""
        with self._lock:
            found = dict.fromkeys(experiment for experiment, _, _ in self._jobs)
        return {name: name for name in sorted(found, key=lambda name: name != "pair")} or {"": ""}

    @property
    def state(self) -> dict[str, Any]:
        """How far it is."""
        with self._lock:
            failed = [outcome for outcome in self._outcomes if not outcome.done]
            words = [f"{counted(len(failed), 'run')} failed; the first: {failed[0].job.label}: {failed[0].error}"] if failed else []
            return {"ended": self._ended, "done": len(self._outcomes), "planned": len(self._jobs), "notes": words}

    def head(self) -> dict[str, Any]:
        """What a page is told when it opens the experiment, which says what it will run before it does."""
        self._begun.wait(_PLAN_S)
        words = {"of": self.kind, "title": self.title, "question": "", "notes": []}
        return {**words, "parts": [{"name": name, "title": title} for name, title in self.names.items()]}

    def part(self, name: Any) -> Part:
        """The runs of one experiment so far; variants of which no run has ended are there too."""
        known(name if isinstance(name, str) else "", self.names, "experiment")
        with self._lock:
            jobs = {key: job for key, job in self._jobs.items() if key[0] == name}
            done = [outcome for outcome in self._outcomes if outcome.done and outcome.job.variant.experiment == name]
        variants: dict[str, Variant] = {job.variant.label: job.variant for job in jobs.values()}
        flows = {outcome.job.variant.label: outcome.flows for outcome in done}

        def run(label: str, seed: int) -> Job | Path:
            job = jobs.get((name, label, seed))
            if job is None:
                raise InputError(f"no run of {label} has the seed {seed}")
            return job.folder if job.folder is not None and (job.folder / "manifest.json").is_file() else job

        return part_of(Trials([outcome.trial for outcome in done], variants.values()), name, run, flows)
