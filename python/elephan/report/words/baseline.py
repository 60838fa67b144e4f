"""What the variants of a sweep are compared with: one variant, or for each the one that is alike but for a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elephan.base.errors import InputError, brief
from elephan.experiment.filter import parse, values_of
from elephan.experiment.trials import as_text
from elephan.report.words import wording
from elephan.report.words.swept import Places, Swept


@dataclass(frozen=True)
class Baseline:
    """In words what variants are compared with, and the row of each variant's base; -1 without one."""

    words: str
    rows: Places


def usual(swept: Swept) -> Baseline:
    """The first value of one parameter, the others alike: of the first whose values are names, else of the one along x."""
    variants = swept.sweep.variants
    roles = swept.roles
    axis = next((axis for axis in swept.axes if axis.named and len(axis) > 1), roles.x if roles else None)
    paths = axis.paths if axis else ()
    base = variants[0]
    rows = _alike(swept, [0] if axis is None else [*np.flatnonzero(axis.at == axis.at[0]).tolist()], paths)
    if not paths or (roles is not None and roles.drawn) or (rows < 0).any() or len({*rows.tolist()}) in (1, len(variants)):
        return Baseline(swept.names[0], np.zeros(len(variants), dtype=np.intp))
    return Baseline(f"{wording.setting({path: base.parameters.get(path) for path in paths})}, all else alike", rows)


def chosen(swept: Swept, text: str) -> Baseline:
    """The baseline that a condition chooses, such as `buffer == 100 packets`: a variant, or for each variant the one that is alike
    in every parameter that the condition does not name. Raises InputError if it chooses none, or several for one variant.
    """
    sweep = swept.sweep
    wanted = parse(text, values_of(sweep.variants), "--baseline")
    fits = [place for place, variant in enumerate(sweep.variants) if wanted(variant.parameters)]
    if not fits:
        raise InputError(f"--baseline {brief(text)}: no variant is such")
    if len(fits) == 1:
        return Baseline(swept.names[fits[0]], np.full(len(sweep.variants), fits[0], dtype=np.intp))
    rows = _alike(swept, fits, [*wanted.names])
    if len({_rest(swept, place, [*wanted.names]) for place in fits}) < len(fits):
        raise InputError(
            f"--baseline {brief(text)}: {len(fits)} variants are such; name one value of each parameter of the baseline"
        )
    return Baseline(f"{text}, all else alike", rows)


def _rest(swept: Swept, place: int, paths: Sequence[str]) -> str:
    """What a variant sets besides some parameters."""
    return as_text({key: value for key, value in swept.sweep.variants[place].parameters.items() if key not in paths})


def _alike(swept: Swept, among: Sequence[int], paths: Sequence[str]) -> Places:
    """For each variant the first of some that is alike in all but some parameters; -1 where there is none."""
    first: dict[str, int] = {}
    for place in among:
        first.setdefault(_rest(swept, place, paths), place)
    return np.array([first.get(_rest(swept, place, paths), -1) for place in range(len(swept.labels))], dtype=np.intp)
