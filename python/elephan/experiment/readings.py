"""Readings: what a source leaves open, as a study varies it, and which claims depend on it.

Where a source does not say what a study needs, the study takes a value and says so. A table `[[readings]]` of `study.toml` gives
such an assumed parameter the other values that the source can be read as, each with a reason:

    [[readings]]
    name        = "switch latency"
    default     = "1 us"
    why         = "no slide gives it"
    experiments = ["pause"]
    points      = [{ label = "0 s", set = { "network.latency" = "0 s" }, why = "the least there can be" }]

`elephan study run NAME --readings` runs every variant that a claim looks at under each reading, with the same seeds: one reading
at a time, then random combinations of all. Each claim is judged again on each of these runs. A reading that changes no number of
any claim is reported as without effect.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from elephan.experiment.axes import Experiment
from elephan.experiment.claims import FAILS, HOLDS, INCONCLUSIVE, NOT_RUN, Claim, Evidence, Part, Verdict, judge

TOGETHER = 8  # random combinations of all readings


@dataclass(frozen=True)
class ReadingPoint:
    """A value that the source can be read as: its label, what it sets, and why it may be meant."""

    label: str
    set: Mapping[str, Any]
    why: str


@dataclass(frozen=True)
class Reading:
    """An assumed parameter: what the study takes for it and why, and its other values. `variants`: patterns of what it is about."""

    name: str
    default: str
    why: str
    experiments: tuple[str, ...]
    points: tuple[ReadingPoint, ...]
    variants: tuple[str, ...] = ("*",)

    def touches(self, experiment: str, variant: str) -> bool:
        """Returns whether the parameter plays a part in a variant."""
        return experiment in self.experiments and any(fnmatchcase(variant, pattern) for pattern in self.variants)


def read_readings(entries: Iterable[Mapping[str, Any]]) -> tuple[Reading, ...]:
    """Returns the readings of a `study.toml` that has been checked."""
    return tuple(
        Reading(
            one["name"],
            one["default"],
            one.get("why", ""),
            tuple(one["experiments"]),
            tuple(ReadingPoint(point["label"], point["set"], point.get("why", "")) for point in one["points"]),
            tuple(one.get("variants", ("*",))),
        )
        for one in entries
    )


@dataclass(frozen=True)
class Setting:
    """Some readings with a point each; readings that it does not name are as the study takes them."""

    label: str
    chosen: tuple[tuple[Reading, ReadingPoint], ...]
    together: bool = False

    @classmethod
    def alone(cls, reading: Reading, point: ReadingPoint) -> Setting:
        """Returns the setting that changes one reading."""
        return cls(f"{reading.name}: {point.label}", ((reading, point),))

    def name(self, experiment: str) -> str:
        """Returns what an experiment under this setting is called."""
        return f"{experiment} | {self.label}"

    def overrides(self, experiment: str, variant: str) -> dict[str, Any]:
        """Returns what the setting sets in a variant; nothing if it does not touch it."""
        touched = (point.set for reading, point in self.chosen if reading.touches(experiment, variant))
        return {key: value for one in touched for key, value in one.items()}


def settings_of(readings: Sequence[Reading], name: str) -> list[Setting]:
    """Returns each reading by itself, then random combinations of all, the same for the same name of a study."""
    one = [Setting.alone(reading, point) for reading in readings for point in reading.points]
    if len(readings) < 2:
        return one
    draw, several = random.Random(name), []
    for number in range(1, TOGETHER + 1):
        drawn = ((reading, draw.choice((None, *reading.points))) for reading in readings)
        chosen = tuple((reading, point) for reading, point in drawn if point is not None)
        several.append(Setting(f"together {number}", chosen, together=True))
    return [*one, *several]


def experiments_under(settings: Sequence[Setting], experiments: Sequence[Experiment], claims: Sequence[Claim]) -> list[Experiment]:
    """Returns the experiments under each setting, with the variants that claims look at and that the setting touches."""
    looked: dict[str, set[str]] = {}
    for part in (part for claim in claims for part in claim.parts):
        looked.setdefault(part.experiment, set()).update(filter(None, (part.variant, part.against)))
    found: list[Experiment] = []
    for setting in settings:
        for experiment in experiments:
            by_last: dict[str, tuple[dict[str, Any], list[str]]] = {}
            for label in (one.label for one in experiment.variants if one.label in looked.get(experiment.name, ())):
                last = setting.overrides(experiment.name, label)
                if last:
                    by_last.setdefault(repr(last), (last, []))[1].append(label)
            found += [
                replace(experiment, name=setting.name(experiment.name), last=last, only=frozenset(labels), keep=False)
                for last, labels in by_last.values()
            ]
    return found


class Under:
    """Evidence under a setting: the variants that it touches as they ran under it, all others as they ran in the study."""

    def __init__(self, evidence: Evidence, setting: Setting) -> None:
        self._evidence, self._setting = evidence, setting

    def _place(self, experiment: str, variant: str) -> str:
        touched = self._setting.overrides(experiment, variant)
        return self._setting.name(experiment) if touched else experiment

    def by_seed(self, experiment: str, variant: str, statistic: str) -> Mapping[int, float]:
        return self._evidence.by_seed(self._place(experiment, variant), variant, statistic)

    def flows(self, experiment: str, *variants: str) -> int:
        return self._evidence.flows(experiment, *variants)


@dataclass(frozen=True)
class Dependence:
    """How a claim fares over the readings that touch it. `base`: its verdict as the study takes everything."""

    claim: Claim
    base: str
    each: tuple[tuple[Setting, str], ...]

    @property
    def word(self) -> str:
        """`holds in all 7 readings`, `fails in all ...`, `depends on switch latency`, or that it stays open."""
        alone = [verdict for setting, verdict in self.each if not setting.together]
        verdicts = {self.base, *alone}
        if verdicts <= {HOLDS} or verdicts <= {FAILS}:
            return f"{self.base} in all {len(alone) + 1} readings"
        movers = [name for name, found in self.of_readings.items() if len({self.base, *found.values()} & {HOLDS, FAILS}) > 1]
        if not movers and {HOLDS, FAILS} <= verdicts:  # open as it is taken, decided both ways by others
            movers = [name for name, found in self.of_readings.items() if {HOLDS, FAILS} & set(found.values())]
        if movers:
            return f"depends on {', '.join(movers)}"
        if HOLDS in verdicts or FAILS in verdicts:
            return f"{HOLDS if HOLDS in verdicts else FAILS} or stays open"
        return "stays open in all readings"

    @property
    def of_readings(self) -> dict[str, dict[str, str]]:
        """The verdict with each point of each reading that was varied alone."""
        found: dict[str, dict[str, str]] = {}
        for setting, verdict in self.each:
            if not setting.together:
                ((reading, point),) = setting.chosen
                found.setdefault(reading.name, {})[point.label] = verdict
        return found

    @property
    def turns(self) -> list[str]:
        """Where it turns: `switch latency: fails with 1 us (as taken), holds with 0 s`."""
        lines = []
        defaults = {reading.name: reading.default for setting, _ in self.each for reading, _ in setting.chosen}
        for name, found in self.of_readings.items():
            if set(found.values()) != {self.base}:
                by_verdict: dict[str, list[str]] = {self.base: [f"{defaults[name]} (as taken)"]}
                for label, verdict in found.items():
                    by_verdict.setdefault(verdict, []).append(label)
                lines.append(
                    f"{name}: " + "; ".join(f"{_verb(one)} with {', '.join(labels)}" for one, labels in by_verdict.items())
                )
        return lines

    @property
    def together(self) -> str:
        """How it fares in random combinations: `holds in 6 of 8`; nothing if there are none."""
        counts = Counter(_verb(verdict) for setting, verdict in self.each if setting.together)
        return ", ".join(f"{verb} in {count} of {counts.total()}" for verb, count in counts.most_common())

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON: the word, and the verdict in each setting by its label."""
        return {
            "word": self.word,
            "turns": self.turns,
            "together": self.together,
            "verdicts": {setting.label: verdict for setting, verdict in self.each},
        }


def _verb(verdict: str) -> str:
    return "stays open" if verdict in (INCONCLUSIVE, NOT_RUN) else verdict


def dependences(verdicts: Sequence[Verdict], settings: Sequence[Setting], evidence: Evidence) -> dict[str, Dependence]:
    """Returns how each claim that a setting touches fares under all settings that touch it, by its id."""
    found: dict[str, list[tuple[Setting, str]]] = {}
    for setting in settings:
        touched = [one.claim for one in verdicts if any(_touches(setting, part) for part in one.claim.parts)]
        for verdict in judge(touched, Under(evidence, setting)):
            if verdict.run:
                found.setdefault(verdict.claim.id, []).append((setting, verdict.verdict))
    base = {verdict.claim.id: verdict for verdict in verdicts}
    return {name: Dependence(base[name].claim, base[name].verdict, tuple(each)) for name, each in found.items()}


def without_effect(readings: Sequence[Reading], claims: Sequence[Claim], evidence: Evidence) -> list[Reading]:
    """Returns the readings that change no number of any claim: every run that a claim looks at measures the same with each point.

    A reading that touches no claim is none of them, nor is one with a point that did not run: nothing shows what it does.
    """
    parts = [part for claim in claims for part in claim.parts]
    return [reading for reading in readings if _is_without_effect(reading, parts, evidence)]


def _is_without_effect(reading: Reading, parts: Sequence[Part], evidence: Evidence) -> bool:
    places = {
        (part.experiment, variant, statistic)
        for part in parts
        for variant in (part.variant, part.against)
        for statistic in (part.statistic, part.given)
        if variant and statistic and reading.touches(part.experiment, variant)
    }
    settings = [Under(evidence, Setting.alone(reading, point)) for point in reading.points]
    return bool(places) and all(_alike(under.by_seed(*place), evidence.by_seed(*place)) for under in settings for place in places)


def _alike(one: Mapping[int, float], other: Mapping[int, float]) -> bool:
    """Whether the same seeds have the same values, of which there are some; NaN, which no run has, is one value."""
    return bool(one) and one.keys() == other.keys() and all(a == other[seed] or a != a != other[seed] for seed, a in one.items())


def _touches(setting: Setting, part: Part) -> bool:
    return any(setting.overrides(part.experiment, variant) for variant in (part.variant, part.against) if variant)
