"""The runs of a sweep: every variant of a scenario, with each failure of a link and each seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from elephan.base.errors import InputError
from elephan.base.seed import seed_or_none
from elephan.experiment import design as designs
from elephan.experiment.failed import Failure, crossed, failures
from elephan.experiment.job import Job
from elephan.experiment.trials import Variant, as_text, check_repetitions
from elephan.scenario import core
from elephan.scenario.source import Source


def _check_axis(key: str, values: Sequence[Any]) -> None:
    """Refuses an axis without values or with one twice: as a variant it would be one, with the same seeds."""
    if not values:
        raise InputError(f"the sweep over {key} has no values")
    texts = [as_text(value) for value in values]
    for place, text in enumerate(texts):
        if text in texts[:place]:
            raise InputError(f"the sweep over {key} has {text} twice; write each value once")


def plan(
    source: Source,
    set: Mapping[str, Any],
    repetitions: int | None,
    seed: int | None,
    points: Any = designs.GRID,
    failed: Sequence[Failure] = (),
) -> tuple[list[Variant], list[Job]]:
    """All runs of a sweep: the scenario's `[sweep]`, with the lists in `set` over it or beside it, or the points of a design.

    With `failed` each variant is run with each of these failures of a link.
    """
    check_repetitions(repetitions)
    seed = seed_or_none(seed)
    core.check_values(set)
    for key, value in set.items():
        if isinstance(value, list):
            _check_axis(key, value)
    variants: dict[str, Variant] = {}
    jobs: dict[tuple[str, int], Job] = {}
    for given, point, failure in crossed(designs.points(points, set), failed):
        fixed = {key: value for key, value in given.items() if not isinstance(value, list)}
        for one in core.variants(source, given, repetitions, seed):
            label, parameters, its_seed = designs.label(point, one["label"]), {**point, **one["parameters"]}, int(one["seed"])
            if (label, its_seed) in jobs:
                raise InputError(f'{source.name}: sweep: two variants are "{label}"; write each value once')
            variant = variants.setdefault(label, Variant(label, parameters))
            sets = {**fixed, **one["overrides"]}
            jobs[label, its_seed] = Job(source, failure.over(sets) if failure else sets, its_seed, variant)
    called = dict(zip(variants, designs.spoken(list(variants.values())), strict=True))
    return list(called.values()), [replace(job, variant=called[job.variant.label]) for job in jobs.values()]


def fail_of(source: Source, overrides: Mapping[str, Any], fail: Sequence[str] | str) -> list[Failure]:
    """Returns no failure and then those that are asked for; nothing if none is."""
    which = [fail] if isinstance(fail, str) else list(fail)
    fixed = {key: value for key, value in overrides.items() if not isinstance(value, list)}
    return failures(source, fixed, which) if which else []
