"""`elephan compare --scenario`: any scenario, with each controller in turn on all of its TCP traffic."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.base.signals import Interrupted
from elephan.experiment.job import Job, Statistics
from elephan.experiment.pool import How, run_jobs
from elephan.experiment.sweep import Sweep, facts_of
from elephan.experiment.trials import Variant
from elephan.result import folder
from elephan.scenario import core, kinds
from elephan.scenario.congestion import Controller
from elephan.scenario.source import Source, open_source
from elephan.scenario.trust import Trust

PARAMETER = "congestion_control"
TCP = "tcp"  # the transport of an entry that says none


def _carriers(source: Source, resolved: Mapping[str, Any]) -> list[str]:
    """Paths of the congestion control of all TCP traffic in a scenario."""
    traffic = core.toml_values(resolved["toml"]).get("traffic", [])
    over_tcp = [not kinds.traffic(entry).get("protocol") and entry.get("transport", TCP) == TCP for entry in traffic]
    found = [f"traffic[{i}].{PARAMETER}" for i, is_tcp in enumerate(over_tcp) if is_tcp]
    if not found:
        raise InputError(f"{source.name}: no traffic over TCP, so there is nothing to compare")
    return found


def compare_on(
    controllers: Sequence[Controller],
    scenario: Any,
    changes: Mapping[str, Any],
    agreed: Trust,
    repetitions: int,
    seed: int | None,
    out: str | os.PathLike[str] | None,
    how: How,
    report: bool,
) -> Sweep:
    """The statistics of a scenario for each controller, with paired seeds."""
    source = replace(open_source(scenario), agreed=agreed)
    resolved = core.resolve(source, changes, seed)
    carriers, begin = _carriers(source, resolved), int(resolved["seed"])
    variants = {controller: Variant(controller.label, {PARAMETER: controller.label}) for controller in controllers}
    jobs = [
        Job(source, {**changes, **dict.fromkeys(carriers, controller.value)}, begin + i, variant)
        for controller, variant in variants.items()
        for i in range(repetitions)
    ]

    measure = Statistics(chosen=tuple(source.notes.statistics))
    outcomes = run_jobs(jobs, measure, replace(how, name=f"compare-{source.stem}", label=f"compare on {source.stem}")).checked()
    done = Sweep(f"compare-{source.stem}", list(variants.values()), outcomes.trials, facts_of(source, outcomes))
    if out is not None:
        done.save(out, how.progress, report)
        folder.write_json(Path(out) / "compare.json", done.as_dict())
        folder.wrote(Path(out), ["compare.json"])
    if outcomes.interrupted:
        raise Interrupted(done, out)
    return done
