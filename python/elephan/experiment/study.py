"""Studies: a published experiment as a folder with scenarios, experiments, claims and figures, run and judged as a whole.

`study.toml` says what is run (experiments as products of axes), `claims.toml` what is claimed (`elephan.experiment.claims`), the
module `figures` of the folder draws (`sections(results)`) and says the answer in a sentence (`answer(results)`). An axis
whose points follow from a formula is the name of a function of the folder instead of a list: `"response:points"`.

A folder of the caller's own (`elephan.experiment.studyfile`) has no modules: its report has a table and a figure per statistic.
"""

from __future__ import annotations

import hashlib
import importlib
import math
import os
import shutil
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from elephan.base import stats
from elephan.base.errors import InputError, nearest
from elephan.base.paths import as_path
from elephan.base.quantity import seconds
from elephan.base.signals import Interrupted
from elephan.experiment import claims, claimsfile, studyfile
from elephan.experiment import readings as varied
from elephan.experiment.axes import Combination, Experiment, experiment_of
from elephan.experiment.axes import Point as Point
from elephan.experiment.decide import Decided, Until, decide
from elephan.experiment.declaration import Declaration
from elephan.experiment.job import Job, Outcomes, Statistics
from elephan.experiment.numbers import Measured, Number, fill, read_numbers
from elephan.experiment.place.threads import check_workers
from elephan.experiment.pool import How, run_jobs, store_of
from elephan.experiment.readings import Dependence, Reading, Setting, experiments_under, read_readings, settings_of
from elephan.experiment.trials import Trials
from elephan.result import folder
from elephan.result.run import Run, load_run, read_table
from elephan.scenario import core
from elephan.scenario.source import Source, open_source, read_json, read_text, studies
from elephan.scenario.trust import NOBODY, Trust, trust
from elephan.statistic import bounds, measures

# What every study measures in each run; `statistics` of its study.toml and its claims add to it.
STATISTICS = (
    *measures.DEFAULT,
    "wire_bps.sum",
    "goodput_bps.min",
    "goodput_bps.max",
    "goodput_10ms_bps.cov",
    "jain_1ms.mean",
    "jain_1ms.p5",
    "jain_10ms.mean",
    "jain_10ms.p5",
    "latency_ns.mean",
    "latency_ns.sd",
    "latency_ns.p95",
    "latency_ns.p999",
    "latency_ns.p99-p50",
    "latency_ns.range",
    "memory_bytes.p1",
    "memory_bytes.p50",
    "memory_bytes.p99",
    "memory_bytes.max",
    "utilisation.second",
    "sender_limited.max",
    "receiver_limited.mean",
    "fast_retransmits.sum",
    "paused_ns.sum",
)

_KEPT_FACTS = ("wall_s", "processor_s", "runs", "failures", "incomplete", "flows", "readings", "decided")  # in the manifest
_COPY = "study"  # of a study of the caller's own, in its result


class Study:
    """A study as its folder describes it."""

    def __init__(self, path: Path, document: Mapping[str, Any], quick: bool = False, own: Trust | None = None) -> None:
        self.path, self.quick, self.document = path, quick, document
        self.own = own is not None  # a folder of the caller, with data and no modules
        self.agreed = own or NOBODY
        self.name: str = document["name"]
        self.title: str = document["title"]
        self.question: str = document["question"]
        self.source: str = document["source"]
        axes = {name: self._points(written) for name, written in document["axes"].items()}
        self.experiments = [experiment_of(entry, axes, quick) for entry in document["experiments"]]
        self.readings = read_readings(document.get("readings", ()))
        self._statistics = tuple(document.get("statistics", ()))

    def _points(self, written: Any) -> tuple[Point, ...]:
        """The points of an axis as they are written, or as a function of the study's folder gives them."""
        if isinstance(written, str):
            module, _, function = written.partition(":")
            return tuple(getattr(self.module(module), function)())
        return tuple(Point(p["label"], p["set"], float(p.get("value", math.nan))) for p in written)

    def module(self, name: str) -> ModuleType:
        """A module of the study's folder."""
        return importlib.import_module(f"elephan.studies.{self.path.name}.{name}")

    @cached_property
    def statistics(self) -> tuple[str, ...]:
        """What is measured in each run: everything that a claim or a figure may ask for."""
        parts = [part for claim in self.claims for part in claim.parts]
        parts += [part for number in self.numbers.values() for part in number.parts]
        asked = [name for part in parts for name in (part.statistic, part.given) if name]
        return tuple(dict.fromkeys((*STATISTICS, *self._statistics, *asked)))

    @cached_property
    def claims(self) -> list[claims.Claim]:
        """The claims of `claims.toml`, and those that a function of the folder derives from a table (`claims_from`)."""
        file = self.path / studyfile.CLAIMS
        found = claimsfile.read_claims(Declaration(file)) if file.is_file() or not self.own else []
        if source := self.document.get("claims_from"):
            module, _, function = source.partition(":")
            found += claimsfile.claims_of(getattr(self.module(module), function)(), Declaration(file))
        return found

    @cached_property
    def settings(self) -> list[Setting]:
        """Each reading of what the source leaves open, and random combinations of them."""
        return settings_of(self.readings, self.name)

    @cached_property
    def varied(self) -> list[Experiment]:
        """The experiments under each of these settings."""
        return experiments_under(self.settings, self.experiments, self.claims)

    @cached_property
    def numbers(self) -> dict[str, Number]:
        """The numbers that the texts of the study name."""
        file = self.path / studyfile.CLAIMS
        return read_numbers(Declaration(file)) if file.is_file() or not self.own else {}

    @cached_property
    def planned(self) -> dict[tuple[str, str], int]:
        """Repetitions of the experiments and variants that are run, of the quick run those that it keeps."""
        return {(one.name, variant.label): one.repetitions for one in self.experiments for variant in one.variants}

    @cached_property
    def figures(self) -> ModuleType | None:
        """The module that draws, if the study has one."""
        return None if self.own else self.module("figures")

    def scenario(self, experiment: Experiment) -> Source:
        file = self.path / experiment.scenario
        if self.own:
            return replace(open_source(file), agreed=self.agreed)
        return Source(read_text(file), f"{self.name}/{experiment.scenario}", "toml", file.stem)

    def resolved(self) -> dict[str, dict[str, Any]]:
        """The scenario files beyond the first, each as its first experiment begins: `toml` and `provenance` by file name."""
        found: dict[str, dict[str, Any]] = {}
        for experiment in self.experiments:
            if experiment.scenario != self.experiments[0].scenario and experiment.scenario not in found:
                overrides = experiment.overrides(experiment.variants[0])
                found[experiment.scenario] = core.resolve(self.scenario(experiment), overrides, 1)
        return found


def open_study(name: str, quick: bool = False, agreed: Trust = NOBODY) -> Study:
    """Returns a study by its name, or by the folder of a study of one's own, whose scenarios run and read what is agreed to."""
    known = studies()
    if name in known:
        return Study(known[name], tomllib.loads(read_text(known[name] / studyfile.STUDY)), quick)
    if as_path(name, "study").is_dir():
        return _own(Path(name), quick, agreed)
    raise InputError(f'no study "{name}"{nearest(name, list(known))}, and no folder of this name')


def _own(path: Path, quick: bool, agreed: Trust = NOBODY, to_run: bool = True) -> Study:
    document = studyfile.read_study(path, agreed, to_run)
    study, whole = (Study(path, document, one, agreed) for one in (quick, False))
    variants = {one.name: [variant.label for variant in one.variants] for one in whole.experiments}
    if study.claims:
        claimsfile.check_claims(Declaration(path / studyfile.CLAIMS), study.claims, study.numbers, variants)
    return study


class Results(folder.Result):
    """What a study found: statistics of every run, the kept runs themselves, the verdicts on the claims."""

    kind = "study"

    def __init__(self, study: Study, trials: Trials, facts: dict[str, Any], place: Path) -> None:
        self.study, self.trials, self.facts = study, trials, facts
        self.place = place  # the folder of the results, with the kept runs

    @cached_property
    def verdicts(self) -> list[claims.Verdict]:
        """The verdict on each claim; the numbers of its reason are those of these runs."""
        found = [replace(one, reason=fill(one.reason, self.study.numbers, self.numbers)) for one in self.study.claims]
        return claims.judge(found, self, {**self.study.planned, **self.decided.repetitions}, self.decided.levels)

    @cached_property
    def decided(self) -> Decided:
        """What was repeated for claims that were open."""
        return Decided.of(self.facts["decided"]) if "decided" in self.facts else Decided()

    @cached_property
    def dependences(self) -> dict[str, Dependence]:
        """How each claim fares over the readings that touch it, by its id; empty if the readings were not run."""
        return varied.dependences(self.verdicts, self.study.settings, self) if self.facts.get("readings") else {}

    @cached_property
    def without_effect(self) -> list[Reading]:
        """The readings that change no number of any claim; empty if the readings were not run."""
        return varied.without_effect(self.study.readings, self.study.claims, self) if self.facts.get("readings") else []

    @cached_property
    def numbers(self) -> dict[str, Measured]:
        """What the numbers are that the texts of the study name."""
        return {name: number.measure(self) for name, number in self.study.numbers.items()}

    def by_seed(self, experiment: str, variant: str, statistic: str) -> dict[int, float]:
        """A statistic of every repetition of a variant, by seed (NaN where a run has none); empty if all failed."""
        if statistic not in self.study.statistics:
            raise InputError(
                f'the study {self.study.name} measures no "{statistic}"{nearest(statistic, list(self.study.statistics))}'
            )
        return dict(sorted(self.trials.by_seed(variant, statistic, experiment).items()))

    def values(self, experiment: str, variant: str, statistic: str) -> list[float]:
        return [value for value in self.by_seed(experiment, variant, statistic).values() if not math.isnan(value)]

    def interval(self, experiment: str, variant: str, statistic: str) -> stats.Interval:
        """Mean over the repetitions with its 95 % t interval, cut off at the bounds of the quantity."""
        return bounds.interval(statistic, self.values(experiment, variant, statistic), self.flows(experiment, variant))

    def flows(self, experiment: str, *variants: str) -> int:
        """Of how many flows runs of these variants are at most; 0 if nobody has counted them."""
        counts = self.facts.get("flows", {}).get(experiment, {})
        return bounds.most_flows(*(counts.get(variant, 0) for variant in variants))

    def experiment(self, name: str) -> Experiment:
        return next(one for one in self.study.experiments if one.name == name)

    def measured(self, experiment: str, variant: str = "") -> str:
        """From when to when a variant, or the first one, is measured: `20 to 120 s`."""
        one = self.experiment(experiment)
        chosen = next(v for v in one.variants if variant in ("", v.label))
        document = core.toml_values(core.resolved_toml(self.study.scenario(one), one.overrides(chosen), 1))
        begin, end = (seconds(document.get(key, "0 s")) for key in ("warmup", "duration"))
        return f"{begin:g} to {end:g} s"

    def runs(self, experiment: str, variant: str) -> list[Run]:
        """The kept runs of a variant, in the order of their seeds."""
        if not self.experiment(experiment).keep:
            return []
        seeds = sorted(row.seed for row in self.trials.by_variant.get((experiment, variant), []))
        return [load_run(_kept(self.place, experiment, variant, seed)) for seed in seeds]

    def job(self, experiment: str, variant: str, seed: int) -> Job:
        """Returns what does a run of the study again; its folder is that of the run if it is kept."""
        of_name = [one for one in (*self.study.experiments, *self.study.varied) if one.name == experiment]
        one, combination = next((one, found) for one in of_name for found in one.variants if found.label == variant)
        return _job(self.study.scenario(one), one, combination, seed, self.place)

    def table(self) -> Any:
        """A pyarrow Table with a row per run: experiment, variant, the points of its axes, seed, statistics."""
        return self.trials.table(self.study.statistics)

    def manifest(self) -> dict[str, Any]:
        """How the study came about."""
        return {
            **folder.manifest_head("study", self.study.name),
            "quick": self.study.quick,
            "scenario_sha256": hashlib.sha256(self.facts["scenario"].encode()).hexdigest(),
            **{key: self.facts[key] for key in _KEPT_FACTS if key in self.facts},
        }

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON."""
        depends = {name: {"readings": one.as_dict()} for name, one in self.dependences.items()}
        verdicts = [verdict.as_dict() | depends.get(verdict.claim.id, {}) for verdict in self.verdicts]
        return {"study": self.study.name, "claims": verdicts, "failures": self.failures}

    def fill(self, partial: Path) -> None:
        """Writes `claims.json`, `runs.parquet`, the scenarios and the manifest; the kept runs are there."""
        from pyarrow import parquet

        folder.write_json(partial / "claims.json", self.as_dict()["claims"])
        parquet.write_table(self.table(), partial / "runs.parquet")
        (partial / "scenario.toml").write_text(self.facts["scenario"], encoding="utf-8")
        folder.write_json(partial / "provenance.json", self.facts["provenance"])
        for name, scenario in self.study.resolved().items():
            (partial / "scenarios").mkdir(exist_ok=True)
            where = f"{Path(name).parent.name}-{Path(name).name}".lstrip("-")
            (partial / "scenarios" / where).write_text(scenario["toml"], encoding="utf-8")
        for file in studyfile.copies(self.study.path, self.study.document) if self.study.own else ():
            (partial / _COPY).mkdir(exist_ok=True)
            shutil.copy(file, partial / _COPY / file.name)
        folder.write_json(partial / "manifest.json", self.manifest())


def _kept(place: Path, experiment: str, variant: str, seed: int) -> Path:
    """The folder of a kept run."""
    return place / "runs" / experiment / f"{variant.replace('/', '_').replace(' ', '')}-{seed}"


def _jobs(study: Study, experiments: Sequence[Experiment], place: Path) -> list[Job]:
    return [
        _job(source, experiment, combination, seed, place)
        for experiment, source in ((one, study.scenario(one)) for one in experiments)
        for combination in experiment.variants
        for seed in range(1, experiment.repetitions + 1)
    ]


def _job(source: Source, experiment: Experiment, combination: Combination, seed: int, place: Path) -> Job:
    variant = experiment.variant(combination)
    kept = _kept(place, experiment.name, variant.label, seed) if experiment.keep else None
    return Job(source, experiment.overrides(combination), seed, variant, kept)


class _Runs:
    """The runs of a study as they are done: those that it plans, and further repetitions of what open claims look at."""

    def __init__(self, study: Study, experiments: Sequence[Experiment], place: Path, how: How) -> None:
        self.study, self.place, self.how = study, place, how
        self.measure = Statistics(study.statistics, strict=False)
        self.outcomes = run_jobs(_jobs(study, experiments, place), self.measure, how).checked()

    def results(self, facts: dict[str, Any]) -> Results:
        """Returns what the runs so far show."""
        found = {**self.outcomes.first(), **self.outcomes.incomplete, "failures": self.outcomes.failures, **facts}
        found["flows"] = self.outcomes.flows_of_experiments
        variants = (outcome.job.variant for outcome in self.outcomes)
        return Results(self.study, Trials(self.outcomes.trials, variants), found, self.place)

    def judged(self, decided: Decided) -> list[claims.Verdict]:
        """Returns the verdicts with the repetitions so far."""
        return self.results({"decided": decided.as_dict()}).verdicts

    def more(self, wanted: Mapping[tuple[str, str], tuple[int, int]]) -> bool:
        """Runs further repetitions, and returns whether all of them ran."""
        jobs = [
            replace(_job(self.study.scenario(one), one, combination, seed, self.place), folder=None)
            for one in self.study.experiments
            for combination in one.variants
            if (one.name, combination.label) in wanted
            for seed in range(wanted[one.name, combination.label][0], wanted[one.name, combination.label][1] + 1)
        ]
        try:
            new = run_jobs(jobs, self.measure, self.how)
        except KeyboardInterrupt:
            new = Outcomes([], len(jobs), True)
        interrupted = self.outcomes.interrupted or new.interrupted
        self.outcomes = Outcomes([*self.outcomes, *new], len(self.outcomes) + len(jobs), interrupted)
        return not new.interrupted


def run_study(
    name: str,
    *,
    quick: bool = False,
    readings: bool = False,
    until: int | None = None,
    budget: str | None = None,
    out: str | os.PathLike[str],
    workers: int | None = None,
    progress: bool = False,
    report: bool = True,
    store: str | os.PathLike[str] | bool | None = None,
    again: bool = False,
    on: str = "threads",
    why: bool = False,
    keep: str | None = None,
    python_from: Any = None,
    files_from: Any = None,
) -> Results:
    """Runs a study, judges its claims, and writes `claims.json`, `runs.parquet`, kept runs and, with `report`, `report.html`.

    `readings`: also under each reading of what the source leaves open (`elephan.experiment.readings`). `until`: repeats what open
    claims look at until they are decided, at most so many times and for `budget`, a time such as `"10 min"`
    (`elephan.experiment.decide`). `python_from` and `files_from`: as of `el.run`.
    """
    study, begin = open_study(name, quick, trust(python_from, files_from=files_from)), time.monotonic()
    goal = _until(until, budget)
    if readings and not study.readings:
        raise InputError(f"the study {study.name} has no readings")
    check_workers(workers)
    folder.check_target(out, "study")
    how = How(workers, on, store_of(store, out), again, study.name, study.name, progress, partial=True, why=why, keep=keep)
    with folder.result_folder(out, "study") as partial:
        runs = _Runs(study, [*study.experiments, *(study.varied if readings else ())], partial, how)
        facts: dict[str, Any] = {"readings": True} if readings else {}
        if goal is not None and not runs.outcomes.interrupted:
            facts["decided"] = decide(goal, study.planned, runs.judged, runs.more).as_dict()
        facts |= {"runs": len(runs.outcomes), "wall_s": time.monotonic() - begin}
        facts |= runs.outcomes.processor_of({one.name for one in study.experiments})
        results = runs.results(facts)
        results.fill(partial)
    results.place = Path(out)
    if report:
        results.add_report(Path(out), progress)
    if runs.outcomes.interrupted:
        raise Interrupted(results, out)
    return results


def _until(until: int | None, budget: str | None) -> Until | None:
    if until is None:
        if budget is not None:
            raise InputError("a budget goes with until, the most repetitions")
        return None
    return Until.read(until, budget)


def load_study(path: Path) -> Results:
    """Returns a finished study from its folder; its claims are judged again."""
    where, manifest = folder.open_result(path)
    quick = bool(manifest.get("quick"))
    study = _own(where / _COPY, quick, to_run=False) if (where / _COPY).is_dir() else open_study(manifest["name"], quick)
    study.name = manifest["name"]  # the folder of the copy has another one
    facts = {key: manifest[key] for key in ("failures", "wall_s", "runs", "command")}
    facts |= {key: manifest[key] for key in _KEPT_FACTS if key in manifest}
    facts |= {"scenario": read_text(where / "scenario.toml"), "provenance": read_json(where / "provenance.json")}
    trials = Trials.of_table(read_table(where / "runs.parquet"), lambda name: name in study.statistics)
    return Results(study, trials, facts, where)
