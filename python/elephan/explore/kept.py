"""Kept experiments as a page looks at them: parts with variants and trials, whatever kind of result they are of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from elephan.base import stats
from elephan.base.errors import InputError
from elephan.base.quantity import counted, unit_parts
from elephan.base.stats import Interval
from elephan.experiment import filter as conditions
from elephan.experiment.compare import experiments
from elephan.experiment.compare.panel import HORIZONS, Panel
from elephan.experiment.job import Job
from elephan.experiment.pool import store_beside
from elephan.experiment.store import runs
from elephan.experiment.store.store import Store
from elephan.experiment.study import Results
from elephan.experiment.sweep import Sweep
from elephan.experiment.trials import Trial, Trials, Variant, as_text, known
from elephan.statistic import bounds, measures, titles

MOST = 100_000  # trials of a part of a store that are read
_VARIANTS_MAX, _SEEDS_MAX = 5000, 200  # that one answer lists
_UNITS = {"bps": "b/s", "bytes": "B", "1": ""}  # as the page writes them
_IN_CONDITIONS = {"b/s": "bps", "B": "B", "ns": "ns", "s": "s"}  # a share and a number have none there


@dataclass(frozen=True)
class Part:
    """The trials of one experiment, and what a page may ask of them."""

    trials: Trials
    run: Callable[[str, int], Job | Path]  # what does the run of a variant and seed again, or where it is kept
    within: Callable[[str, str, Sequence[float]], Interval]  # mean and interval of a variant's statistic
    about: Callable[[str], tuple[str, str]]  # title and unit of a statistic
    first: str = ""  # the statistic that is shown first
    titles: Mapping[str, str] = field(default_factory=dict)  # of parameters, where the end of a path says too little

    @property
    def statistics(self) -> list[str]:
        """The statistics that the page offers, the first one first."""
        names = [name for name in self.trials.statistics if name not in HORIZONS]
        return sorted(names, key=lambda name: name != self.first)

    def head(self) -> dict[str, Any]:
        """Parameters with their values, and statistics."""
        values = conditions.values_of(self.trials.variants)
        told = [{"name": name, "title": self.about(name)[0], "unit": self.about(name)[1]} for name in self.statistics]
        del values["seed"]
        ends = conditions.spellings(values)
        short = {name: min((end for end, of in ends.items() if of == [name]), key=len) for name in values}
        shown = [_parameter(name, self.titles.get(name, short[name]), found or []) for name, found in values.items()]
        return {"parameters": shown, "statistics": told}

    def chosen(self, condition: str) -> Trials:
        """Returns the trials for which a condition holds: on parameters, the seed, and the means of variants."""
        if not condition.strip():
            return self.trials
        means: dict[str, dict[str, Any]] = {variant.label: {} for variant in self.trials.variants}
        for name in self.statistics:
            unit = _IN_CONDITIONS.get(self.about(name)[1], "")
            for label, values in self._values(self.trials, name).items():
                mean = float(self.within(label, name, values).mean)
                if math.isfinite(mean):
                    means[label][name] = f"{mean!r} {unit}" if unit else mean
        asked = {name: [one[name] for one in means.values() if name in one] for name in self.statistics}
        names = {**{name: found for name, found in asked.items() if found}, **conditions.values_of(self.trials.variants)}
        holds = conditions.parse(condition, names)
        given = {one.label: {**means[one.label], **one.parameters} for one in self.trials.variants}
        rows = [row for row in self.trials if holds({**given[row.variant], "seed": row.seed})]
        labels = {row.variant for row in rows}
        return Trials(rows, [one for one in self.trials.variants if one.label in labels])

    def answer(self, statistic: str, condition: str) -> dict[str, Any]:
        """The variants that a condition chooses, each with the interval of a statistic and its runs."""
        known(statistic, self.statistics, "statistic")
        trials = self.chosen(condition)
        values = self._values(trials, statistic)
        found = []
        for variant in trials.variants[:_VARIANTS_MAX]:
            own = values.get(variant.label, [])
            interval = self.within(variant.label, statistic, own)
            rows = trials.by_variant.get((variant.experiment, variant.label), [])[:_SEEDS_MAX]
            found.append(
                {
                    "label": variant.label,
                    "parameters": {name: as_text(value) for name, value in variant.parameters.items()},
                    "numbers": {name: parts[0] for name, value in variant.parameters.items() if (parts := unit_parts(value))},
                    "mean": _finite(interval.mean),
                    "low": _finite(interval.low),
                    "high": _finite(interval.high),
                    "count": len(own),
                    "runs": [[row.seed, _finite(row.values.get(statistic, math.nan))] for row in rows],
                }
            )
        return {"variants": found, "of": len(self.trials.variants), "left_off": len(trials.variants) - len(found)}

    @staticmethod
    def _values(trials: Trials, statistic: str) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        for row in trials:
            found.setdefault(row.variant, []).append(row.values.get(statistic, math.nan))
        return found


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _parameter(name: str, title: str, values: Sequence[Any]) -> dict[str, Any]:
    """A parameter with its values; in their order, and `numeric` with its unit, where all are quantities of one unit."""
    parts = [unit_parts(value) for value in values]
    units = {one[1] for one in parts if one is not None}
    numeric = None not in parts and len(units) == 1
    if numeric:
        values = [value for _, value in sorted(zip(parts, values, strict=True), key=lambda one: one[0] or (0.0, ""))]
    unit = units.pop() if numeric else ""
    return {"name": name, "title": title, "values": list(map(as_text, values)), "numeric": numeric, "unit": unit}


@dataclass(frozen=True)
class Book:
    """A kept experiment: its parts by name, each with its title, and what is said of it."""

    kind: str
    title: str
    question: str
    names: Mapping[str, str]
    make: Callable[[str], Part]
    notes: Sequence[str] = ()
    made: dict[str, Part] = field(default_factory=dict)

    def part(self, name: Any) -> Part:
        """A part by its name, read when it is asked for first."""
        known(name if isinstance(name, str) else "", self.names, "experiment")
        if name not in self.made:
            self.made[name] = self.make(name)
        return self.made[name]

    def head(self) -> dict[str, Any]:
        """What a page is told when it opens the experiment."""
        words = {"of": self.kind, "title": self.title, "question": self.question, "notes": list(self.notes)}
        return {**words, "parts": [{"name": name, "title": title} for name, title in self.names.items()]}

    @property
    def state(self) -> dict[str, Any]:
        """How far it is: a finished one does not grow."""
        return {"ended": True}


def of_statistic(name: str) -> tuple[str, str]:
    """Title and unit of a statistic of runs; of what an experiment of another kind measured its name."""
    if not measures.is_statistic(name):
        return name, ""
    unit = measures.unit_of(name)
    return titles.title(name), _UNITS.get(unit, unit)


def within_bounds(name: str, values: Sequence[float], flows: int = 0) -> Interval:
    """Mean and interval of a statistic of runs."""
    return bounds.interval(name, values, flows) if measures.is_statistic(name) else stats.mean_within(values)


def opened(result: Any) -> Book:
    """Returns a loaded result as a page looks at it; InputError for a kind without trials."""
    if isinstance(result, Sweep):
        return _of_sweep(result)
    if isinstance(result, Panel):
        return _of_panel(result)
    if isinstance(result, Results):
        return _of_study(result)
    raise InputError(f"a result of the kind {result.kind} has no trials to look at; elephan report draws it")


def _noted(result: Any) -> list[str]:
    lines = [result.facts["incomplete"]] if "incomplete" in result.facts else []
    failures = result.failures
    return [*lines, *([f"{counted(len(failures), 'run')} failed; the first: {failures[0]}"] if failures else [])]


def _of_sweep(sweep: Sweep) -> Book:
    flows = sweep.facts.get("flows", {})
    part = Part(
        sweep.trials,
        lambda label, seed: sweep.kept(label, seed) or sweep.job(label, seed),
        lambda label, name, values: within_bounds(name, values, flows.get(label, 0)),
        of_statistic,
        next(iter(sweep.facts.get("answering", [])), ""),
    )
    title, question = str(sweep.facts.get("title") or sweep.name), str(sweep.facts.get("question", ""))
    return Book("sweep", title, question, {"": ""}, lambda _: part, _noted(sweep))


def of_panel(name: str) -> tuple[str, str]:
    """Title and unit of a number of `elephan compare`."""
    about = experiments.STATISTICS[name]
    return about.about, _UNITS.get(about.unit, about.unit)


def within_panel(_: str, name: str, values: Sequence[float]) -> Interval:
    """Mean and interval of a number of `elephan compare`."""
    about = experiments.STATISTICS[name]
    return stats.mean_within(values, about.low, about.top)


def _of_panel(panel: Panel) -> Book:
    names = {one["name"]: str(one["title"]) for one in panel.facts["experiments"]}
    ordered = dict(sorted(names.items(), key=lambda one: one[0] != experiments.PAIR.name))  # the matrix first

    def make(name: str) -> Part:
        rows = [row for row in panel.trials if row.experiment == name]
        variants = {(one.experiment, one.label): one for one in panel.trials.variants}
        return of_pairs(Trials(rows, [one for (of, _), one in variants.items() if of == name]), name, partial_job(name))

    def partial_job(name: str) -> Callable[[str, int], Job | Path]:
        return lambda label, seed: panel.job(name, label, seed)

    title = f"Congestion controls compared: {', '.join(panel.labels)}"
    return Book("compare", title, "", ordered, make, _noted(panel))


_FIRST, _SECOND = "congestion_control.a", "congestion_control.b"


def of_pairs(trials: Trials, experiment: str, run: Callable[[str, int], Job | Path]) -> Part:
    """A part of a comparison. Of two flows each pair ran once; the page sees it from both sides, so that its matrix is whole."""
    if experiment != experiments.PAIR.name:
        return Part(trials, run, within_panel, of_panel, titles={_FIRST: "congestion control"})
    variants, rows, origin = list(trials.variants), list(trials), {}
    there = {one.label for one in variants}
    for one in trials.variants:
        a, b = str(one.parameters[_FIRST]), str(one.parameters[_SECOND])
        if (label := f"{b} + {a}") not in there:
            origin[label] = one.label
            variants.append(Variant(label, {_FIRST: b, _SECOND: a}, one.experiment))
            rows += [
                replace(row, variant=label, values=_turned(row)) for row in trials.by_variant.get((one.experiment, one.label), [])
            ]
    both = {_FIRST: "first flow", _SECOND: "second flow"}
    every = Trials(rows, variants)
    return Part(every, lambda label, seed: run(origin.get(label, label), seed), within_panel, of_panel, "share_a", both)


def part_of(trials: Trials, experiment: str, run: Callable[[str, int], Job | Path], flows: Mapping[str, int]) -> Part:
    """A part of trials that say themselves what they are of: of `elephan compare`, or statistics of runs."""
    if experiment and all(name in experiments.STATISTICS or name in HORIZONS for name in trials.statistics):
        return of_pairs(trials, experiment, run)
    return Part(trials, run, lambda label, name, values: within_bounds(name, values, flows.get(label, 0)), of_statistic)


def _turned(row: Trial) -> dict[str, float]:
    """What was measured, with the second flow as the first one."""
    values = dict(row.values)
    if "share_a" in values:
        values["share_a"] = 1 - values["share_a"]
    for name, other in (("goodput_a_bps", "goodput_b_bps"), ("goodput_b_bps", "goodput_a_bps")):
        if other in row.values:
            values[name] = row.values[other]
    return values


def _of_study(results: Results) -> Book:
    study = results.study

    def make(name: str) -> Part:
        rows = [row for row in results.trials if row.experiment == name]
        variants = [results.experiment(name).variant(one) for one in results.experiment(name).variants]

        def run(label: str, seed: int) -> Job | Path:
            job = results.job(name, label, seed)
            return job.folder if job.folder is not None and job.folder.is_dir() else job

        return Part(Trials(rows, variants), run, lambda _, one, values: within_bounds(one, values), of_statistic)

    names = {one.name: f"{one.name}: {one.scenario}" for one in study.experiments}
    return Book("study", study.title, study.question, names, make, _noted(results))


class StoreBook:
    """Opens a store of trials: a part for each experiment that it has."""

    def __init__(self, where: Path, beside: Callable[[Path], Any]) -> None:
        self.store, self.beside = Store.at(where), beside

    @cached_property
    def result(self) -> Book | None:
        """The result beside the store, whose runs it keeps; None if there is none."""
        place = self.store.where
        found = place.with_name(place.name.removesuffix(".trials"))
        if store_beside(found).name != place.name or not (found / "manifest.json").is_file():
            return None
        return opened(self.beside(found))

    def book(self) -> Book:
        """The store as a page looks at it."""
        summary = self.store.summary()
        names = {
            name: f"{name}: {counted(one['variants'], 'variant')}, {counted(one['trials'], 'trial')}"
            for name, one in summary.experiments.items()
        }
        if not names:
            raise InputError(f"{self.store.where}: the store has no trials yet")
        large = [f"Of each experiment {MOST} trials are shown; elephan query asks all."] if summary.trials > MOST else []
        failed = sum(int(one["failed"]) for one in summary.experiments.values())
        notes = [*large, *([f"{counted(failed, 'trial')} failed"] if failed else []), *self.store.notes]
        return Book("store", f"{self.store.where.name}: {summary.words}", "", names, self.make, notes)

    def make(self, name: str) -> Part:
        """The trials of an experiment."""
        trials, keys = self.store.trials(name, MOST)
        folders = runs.of(self.store.where)
        inner = name.partition("/")[2]

        def run(label: str, seed: int) -> Job | Path:
            for folder in folders.get(keys[label, seed], ()):
                return folder
            if self.result is not None and inner in self.result.names:
                return self.result.part(inner).run(label, seed)
            raise InputError(
                f"{self.store.where}: the tables of this run are not kept, and no result is beside the store; "
                "run the experiment with --keep runs, or open its result"
            )

        return part_of(trials, inner, run, {})
