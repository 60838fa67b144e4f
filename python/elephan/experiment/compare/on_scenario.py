"""`elephan compare --scenario`: any scenario, with each law in turn on all of its TCP traffic."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.base.progress import status
from elephan.experiment.pool import Earliest, Job, failures, run_jobs
from elephan.experiment.sweep import Row, Sweep, Variant
from elephan.result import folder
from elephan.result.run import Run
from elephan.scenario import core
from elephan.scenario.congestion import Law
from elephan.scenario.source import Source, open_source
from elephan.scenario.trust import Trust
from elephan.statistic import measures

PARAMETER = "congestion_control"
_UDP = ("cbr", "onoff")


def _carriers(source: Source, resolved: Mapping[str, Any]) -> list[str]:
    """Paths of the congestion control of all TCP traffic in a scenario."""
    traffic = tomllib.loads(resolved["toml"]).get("traffic", [])
    found = [f"traffic[{i}].{PARAMETER}" for i, entry in enumerate(traffic) if entry.get("kind") not in _UDP]
    if not found:
        raise InputError(f"{source.name}: no traffic over TCP, so there is nothing to compare")
    return found


def compare_on(
    laws: Sequence[Law],
    scenario: Any,
    changes: Mapping[str, Any],
    agreed: Trust,
    repetitions: int,
    seed: int | None,
    workers: int | None,
    out: str | os.PathLike[str] | None,
    progress: bool,
) -> Sweep:
    """The statistics of a scenario for each law, with paired seeds."""
    source = replace(open_source(scenario), agreed=agreed)
    resolved = core.resolve(source, changes, seed)
    carriers, begin = _carriers(source, resolved), int(resolved["seed"])
    jobs = [
        Job(source, {**changes, **dict.fromkeys(carriers, law.value)}, begin + i, law.label, {PARAMETER: law.label})
        for law in laws
        for i in range(repetitions)
    ]
    first = Earliest(jobs)
    guests: dict[str, Any] = {}
    flows: list[tuple[str, int]] = []

    def reduce(job: Job, run: Run) -> dict[str, float]:
        guests.update({row["python"]: row for row in run.manifest.get("guests", [])})
        first.offer(job, lambda: _about(run))
        flows.append((job.variant, run.flows.num_rows))
        return measures.usual(run, source.notes.statistics)

    outcomes = run_jobs(jobs, reduce, workers=workers, label=f"compare on {source.stem}", progress=progress)
    broken = failures(outcomes)
    facts = {
        "look_for": source.notes.look_for,
        "answering": list(source.notes.statistics),
        "failures": broken,
        "flows": dict(sorted(flows)),
        **first.told,
        **({"guests": [guests[name] for name in sorted(guests)]} if guests else {}),
    }
    rows = [Row(o.job.variant, o.job.seed, o.value) for o in outcomes if o.value is not None]
    done = Sweep(f"compare-{source.stem}", [Variant(law.label, {PARAMETER: law.label}) for law in laws], rows, facts)
    if out is not None:
        with status("drawing the report", progress):
            done.save(out)
            folder.write_json(Path(out) / "compare.json", done.as_dict())
            folder.wrote(Path(out), ["compare.json"])
    return done


def _about(run: Run) -> dict[str, Any]:
    about = run.manifest | {"scenario": run.scenario, "provenance": run.provenance}
    return {
        "first": about,
        "title": run.title,
        "question": run.question,
        "scenario": run.scenario,
        "scenario_sha256": run.manifest["scenario_sha256"],
    }
