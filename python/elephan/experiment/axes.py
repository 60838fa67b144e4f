"""Axes of a study: points of an axis, combinations of them, and the experiments that run every combination."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import product
from typing import Any

from elephan.base.quantity import unit_parts
from elephan.experiment.trials import Variant


@dataclass(frozen=True)
class Point:
    """A point of an axis: its label, its value in figures, and what it sets in the scenario."""

    label: str
    set: Mapping[str, Any]
    value: float = math.nan

    @property
    def parameter(self) -> str | float:
        """What a table of trials says of it: its label, or its value in figures where the label is no quantity."""
        return self.label if math.isnan(self.value) or unit_parts(self.label) else self.value


@dataclass(frozen=True)
class Combination:
    """A point of each axis."""

    points: tuple[Point, ...]

    @property
    def label(self) -> str:
        return "/".join(point.label for point in self.points)

    @property
    def overrides(self) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for point in self.points:
            merged.update(point.set)
        return merged


@dataclass(frozen=True)
class Experiment:
    """A scenario run in every variant, each with the same seeds.

    `set` is what all variants set before their points, `last` what they set after them. `only`: the labels of the variants that are
    run, unless all are.
    """

    name: str
    scenario: str
    axes: tuple[str, ...]
    points: Mapping[str, tuple[Point, ...]]
    repetitions: int
    keep: bool = False
    set: Mapping[str, Any] = field(default_factory=dict)
    last: Mapping[str, Any] = field(default_factory=dict)
    only: frozenset[str] | None = None

    @property
    def variants(self) -> list[Combination]:
        found = (Combination(points) for points in product(*(self.points[axis] for axis in self.axes)))
        return [one for one in found if self.only is None or one.label in self.only]

    def overrides(self, of: Combination) -> dict[str, Any]:
        """Returns everything that a variant sets in the scenario."""
        return {**self.set, **of.overrides, **self.last}

    def variant(self, of: Combination) -> Variant:
        """The variant that a combination is, with its points as parameters: a label, or its value in figures if it has one."""
        parameters = {axis: point.parameter for axis, point in zip(self.axes, of.points, strict=True)}
        return Variant(of.label, parameters, self.name)


def experiment_of(entry: Mapping[str, Any], axes: Mapping[str, Sequence[Point]], quick: bool) -> Experiment:
    """Returns an experiment as `study.toml` has it, or its quick run."""
    shorter = entry.get("quick", {}) if quick else {}
    chosen: dict[str, tuple[Point, ...]] = {}
    for axis in entry["axes"]:
        only = shorter.get("points", {}).get(axis)
        chosen[axis] = tuple(p for p in axes[axis] if only is None or any(fnmatchcase(p.label, pattern) for pattern in only))
    repetitions = int(shorter.get("repetitions", entry["repetitions"]))
    overrides = {**entry.get("set", {}), **shorter.get("set", {})}
    keep = bool(entry.get("keep", False))
    return Experiment(entry["name"], entry["scenario"], tuple(entry["axes"]), chosen, repetitions, keep, overrides)
