"""The options of commands whose runs can be watched in the browser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elephan.base.errors import InputError
from elephan.cli.parser import Option

if TYPE_CHECKING:
    from elephan.experiment.job import Job
    from elephan.explore.growing import Growing

_LONGEST_S = 7 * 86_400  # that a run of the page may compute


@dataclass(frozen=True)
class Live:
    """Whether a page shows what is computed."""

    live: Annotated[
        bool, Option("--live", help="Show it in the browser while it runs; the command ends when the page is closed, or at Ctrl-C.")
    ] = False
    no_open: Annotated[bool, Option("--no-open", help="With --live: print the address of the page and open no browser.")] = False

    @contextmanager
    def run(self, job: Job) -> Iterator[None]:
        """A page with a run, which its engine simulates too, from the same scenario and seed."""
        if not self.live:
            yield
            return
        from elephan.explore import serve
        from elephan.explore.start import Start

        # The command line has agreed to what this scenario loads; the page's engine loads the same.
        begin = Start(place=job.source.name, agreed=job.source.agreed, trust=True)
        with serve.beside(begin, self.no_open, _LONGEST_S, job):
            yield

    @contextmanager
    def experiment(self, kind: str, title: str, folder: Path, on: str) -> Iterator[Growing | None]:
        """A page with the trials of an experiment, which is to be told of them; None if nobody wants to watch."""
        if not self.live:
            yield None
            return
        if on == "slurm":
            raise InputError("--live shows runs that end in this process; with --on slurm none does")
        from elephan.explore import serve
        from elephan.explore.growing import Growing
        from elephan.explore.start import Start

        growing = Growing(kind, title)
        begin = Start(load=os.path.relpath(folder), growing=growing)
        with serve.beside(begin, self.no_open, _LONGEST_S):
            try:
                yield growing
            finally:
                growing.end()
