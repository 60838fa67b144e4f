"""The options of commands that do many runs: where they run, and where they are kept."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from elephan.base.errors import InputError
from elephan.base.progress import note, status
from elephan.base.signals import Interrupted
from elephan.cli.options import whole
from elephan.cli.parser import Option
from elephan.experiment.place.slurm import ELEMENTS
from elephan.experiment.pool import Elsewhere, store_beside
from elephan.result.command import words_without

_WITH_VALUE = ("--on", "--slurm", "--elements", "--store", "--workers", "--out")
_FLAGS = ("--wait", "--why")


def _interruptible(experiment: Callable[..., Any], draw: bool, **named: Any) -> Any:
    """Does an experiment. After Ctrl-C its report is of what is done, unless none is wanted; a second Ctrl-C ends the drawing."""
    try:
        return experiment(**named)
    except Interrupted as end:
        if end.folder is None:
            raise
        if draw:
            end.result.add_report(Path(end.folder), progress=True)
        made = "the report, marked as incomplete, too" if draw else f"elephan report {end.folder} draws its report"
        note(f"what is done is in {end.folder}; {made}")
        raise


@dataclass(frozen=True)
class Kept:
    """Where runs are kept, and on which machines they run."""

    store: Annotated[
        Path | None, Option("--store", metavar="DIR", help="Keep runs in this folder; default: that of the result, with .trials.")
    ] = None
    again: Annotated[bool, Option("--again", help="Run what is kept once more.")] = False
    why: Annotated[bool, Option("--why", help="Say why runs are not taken from the store.")] = False
    keep: Annotated[
        str | None,
        Option(
            "--keep",
            metavar="WHAT",
            help='Keep tables of single runs in the store: runs, or samples (thinned "within 2 %", or "whole"), of all or some: '
            '"samples if seed == 1"; "seed == 1" keeps whole runs.',
        ),
    ] = None
    on: Annotated[
        str,
        Option(
            "--on",
            metavar="PLACE",
            help="Where runs run: threads; processes, for many short runs; dask, a cluster of this machine; tcp://HOST:8786, a "
            "Dask scheduler; slurm, an array; kept, nothing runs and the result is of what is kept.",
        ),
    ] = "threads"

    @property
    def place(self) -> str:
        return self.on

    def named(self, result: Path) -> dict[str, Any]:
        """The arguments of a function that does many runs, whose result goes to a folder unless another one is taken."""
        store = self.store or store_beside(result)
        return {"store": store, "again": self.again, "why": self.why, "on": self.place, "keep": self.keep}


@dataclass(frozen=True)
class Shared(Kept):
    """Where runs are kept that can be shared out, to a SLURM array or by hand."""

    shard: Annotated[str, Option("--shard", metavar="I/N", help="Do only share I of N (from 0), for other schedulers.")] = ""
    slurm: Annotated[
        list[str] | None,
        Option(
            "--slurm",
            metavar="KEY=VALUE",
            help="For the jobs of --on slurm: any long option of sbatch, such as time=30:00, gres=gpu:1 or requeue; array=%10 lets "
            "10 elements run at a time. May be repeated.",
        ),
    ] = None
    elements: Annotated[int, Option("--elements", parser=whole(1), metavar="N", help="Elements of the array of --on slurm.")] = (
        ELEMENTS
    )
    wait: Annotated[bool, Option("--wait", help="With --on slurm: wait for the report.")] = False

    @property
    def place(self) -> str:
        if self.shard and self.on != "threads":
            raise InputError("--shard runs a share of the trials here; it goes without --on")
        return f"shard {self.shard}" if self.shard else self.on

    def run(self, experiment: Callable[..., Any], out: Path, result: Path, draw: bool) -> Any:
        """Returns the result of an experiment, or the exit status of this command if a SLURM array makes the result.

        `draw`: at Ctrl-C the report of what is done is drawn.
        """
        experiment = partial(_interruptible, experiment, draw)
        if self.on != "slurm":
            if self.slurm or self.wait:
                raise InputError("--slurm and --wait go with --on slurm")
            return experiment(**self.named(result))
        from elephan.experiment.place import slurm as jobs

        options, named = jobs.check(self.slurm or []), self.named(result)
        try:
            return experiment(**named)  # nothing is missing
        except Elsewhere as missing:
            command = [*words_without(sys.argv[1:], _WITH_VALUE, _FLAGS), "--out", str(out.absolute())]
            array = jobs.write(command, named["store"].absolute(), options, min(options.elements or self.elements, missing.trials))
            trials = f"{missing.trials} of {missing.planned} trials are to run"
        if not jobs.can_submit():
            print(f"{trials}; no sbatch here, so where there is one:\n{array.by_hand}")
            return 0
        jobs_of = array.submit()
        print(f"{trials}: submitted {jobs_of.words}; the same command goes on with what is missing", flush=True)
        if not self.wait:
            return 0
        try:
            with status(f"waiting for {jobs_of.words}"):
                text, ended = jobs_of.wait()
        except KeyboardInterrupt:
            note(f"the jobs go on; to end them: scancel {' '.join([*jobs_of.arrays, jobs_of.report])}")
            raise
        print(text, end="")
        return ended
