"""Tables of single runs that an experiment keeps beside its trials: all of them, or samples of flows and ports.

`runs` keeps every table of a run. `samples` keeps its flows, ports and their samples: `whole`, or thinned so that a line between
the rows that stay misses no number by more than a share of its column's range (`elephan.table.thin`). `if` and a condition on
parameters and `seed` say of which runs; a condition alone keeps `runs`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base.errors import InputError, brief
from elephan.base.quantity import show
from elephan.experiment import filter as conditions
from elephan.result import folder
from elephan.result.run import Run, fill_words
from elephan.table.thin import thinned

if TYPE_CHECKING:
    from elephan.experiment.job import Job

SAMPLES = {"flow_samples": "flow", "port_samples": "port"}  # tables, and the column that tells what is sampled
WITHIN = 0.02  # of `samples`, unless said
_WHAT = re.compile(r"(?P<what>runs|samples)(?:\s+(?:(?P<whole>whole)|within\s+(?P<width>[\d.]+)\s*%))?(?:\s+if\s+(?P<filter>.+))?")
_BEGUN = re.compile(r"(runs?|samples?|all|none|whole|tables?)\b(?!\s*(?:[=!<>]|in\b))", re.IGNORECASE)


@dataclass(frozen=True)
class Keep:
    """What is kept of a run: everything, or with `within` samples that tell the rest to this share of a range (0: whole)."""

    within: float | None = None
    condition: str = field(default="", compare=False)

    @classmethod
    def read(cls, text: Any) -> Keep:
        """Returns what a text says; anything else is an InputError."""
        if not isinstance(text, str) or not text.strip():
            raise InputError(f'keep {brief(text)}: write "runs", "samples within 2 %", "samples whole if seed == 1" or "seed == 1"')
        match = _WHAT.fullmatch(text.strip())
        if match is None:
            if _BEGUN.match(text.strip()):
                raise InputError(
                    f'keep {brief(text)}: write "runs", "samples", "samples whole" or "samples within 2 %", and " if ..."'
                )
            return cls(None, text)
        condition = match["filter"] or ""
        if match["what"] == "runs":
            if match["width"]:
                raise InputError(f"keep {brief(text)}: runs are kept whole; samples can be thinned")
            return cls(None, condition)
        try:
            width = 0.0 if match["whole"] else float(match["width"] or 100 * WITHIN) / 100
        except ValueError:
            width = 1.0
        if not 0 <= width < 1:
            raise InputError(f"keep {brief(text)}: the width is from 0 to below 100 %")
        return cls(width, condition)

    @property
    def words(self) -> str:
        """`samples within 2 %`."""
        if self.within is None:
            return "runs"
        return f"samples within {show(self.within, '%')}" if self.within else "samples whole"

    def chosen(self, jobs: Sequence[Job]) -> Callable[[Job], bool]:
        """Returns what tells whether a job's run is kept; InputError for a condition on what these jobs do not set."""
        if not self.condition:
            return lambda job: True
        known: dict[str, Any] = {}
        for job in jobs:
            for name, value in job.variant.parameters.items():
                known.setdefault(name, []).append(value)
        known |= {"seed": None}
        holds = conditions.parse(self.condition, known, "keep")
        return lambda job: holds({**job.variant.parameters, "seed": job.seed})

    def is_in(self, where: Path) -> bool:
        """Whether a kept run has as much as this."""
        kept = (folder.read_manifest(where) or {"kept": {"within": 1.0}}).get("kept")
        return kept is None or (self.within is not None and kept["within"] <= self.within)

    def fill(self, run: Run, partial: Path) -> None:
        """Writes the folder of a kept run."""
        if self.within is None:
            run.fill(partial)
            return
        from pyarrow import parquet

        for name in ("flows", "ports"):
            parquet.write_table(run.tables[name], partial / f"{name}.parquet")
        for name, by in SAMPLES.items():
            table = run.tables[name]
            parquet.write_table(thinned(table, by, self.within) if self.within else table, partial / f"{name}.parquet")
        fill_words(run, partial, {"kept": {"what": self.words, "within": self.within}})
