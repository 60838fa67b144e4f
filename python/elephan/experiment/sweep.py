"""Sweeps: one scenario with many parameters and seeds; parameters beside results, intervals, paired comparisons."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base import stats
from elephan.base.errors import InputError, nearest, shown
from elephan.base.quantity import counted, in_files
from elephan.base.signals import Interrupted
from elephan.experiment import design as designs
from elephan.experiment.each import Each, Function
from elephan.experiment.failed import kept_of
from elephan.experiment.filter import chosen, failures_of, parse, values_of
from elephan.experiment.harm import harm_table, harms
from elephan.experiment.job import Job, Measure, Outcomes, Statistics
from elephan.experiment.keep import SAMPLES, Keep
from elephan.experiment.place.threads import check_workers
from elephan.experiment.plan import fail_of, plan
from elephan.experiment.pool import How, Seen, run_jobs, store_of
from elephan.experiment.trials import (
    Trial,
    Trials,
    Variant,
    described,
    described_table,
    known,
    parameter_columns,
)
from elephan.experiment.until import Goal, run_until
from elephan.result import folder
from elephan.result.run import Run, check_answer, load_run, read_table, run
from elephan.scenario import core
from elephan.scenario.source import Source, open_source
from elephan.statistic import bounds, measures

if TYPE_CHECKING:
    import pyarrow as pa


class Sweep(folder.Result):
    """The results of a sweep. `table` has a row per run, `means` a row per variant with 95 % intervals.

    >>> sweep = el.sweep("sawtooth", set={"duration": "12 s", "template.rate": ["10 Mbps", "20 Mbps"]}, repetitions=2)
    >>> sweep
    <elephan.Sweep sawtooth: 2 variants, 4 runs>
    >>> low, high = sweep.labels
    >>> sorted(sweep.by_seed(low, "goodput_bps.sum")), len(sweep.values(low, "goodput_bps.sum"))
    ([1, 2], 2)
    >>> sweep.interval(low, "utilisation.max").n, sweep.flows(low)
    (2, 1)
    >>> sweep.difference(high, low, "goodput_bps.sum").mean > 0, sweep.ratio(high, low, "goodput_bps.sum").mean > 1
    (True, True)
    >>> sweep.run(low, 2).flows.num_rows, sweep.job(low, 2).overrides["template.rate"]
    (1, '10 Mbps')
    >>> kept = el.sweep("sawtooth", set={"duration": "3 s", "warmup": "1 s"}, repetitions=2, keep="samples", store="trials")
    >>> sorted(set(kept.samples("port_samples")["seed"].to_pylist())), kept.kept(kept.labels[0], 1).parent.name
    ([1, 2], 'runs')
    >>> sweep.table.num_rows, sweep.means.num_rows
    (4, 2)
    >>> sweep.where("rate >= 15 Mbps and seed == 1").size, sweep.against("rate == 10 Mbps").facts["baseline"]
    ('1 variant, 1 run', 'rate == 10 Mbps')
    >>> sorted(sweep.as_dict()), sweep.manifest()["runs"]
    (['failures', 'missing', 'name', 'variants'], 4)
    >>> sweep.save("swept")
    PosixPath('swept')
    """

    kind = "sweep"

    def __init__(self, name: str, variants: Sequence[Variant], rows: Sequence[Trial], facts: Mapping[str, Any]) -> None:
        self.name = name
        self.variants = list(variants)
        self.trials = Trials(rows, variants)
        self.facts = dict(facts)  # title, question, resolved scenario and provenance of the first run, failures ...

    @property
    def labels(self) -> list[str]:
        return [variant.label for variant in self.variants]

    @property
    def statistics(self) -> list[str]:
        """Names of all statistics found in any run, in the order of the request."""
        return self.trials.statistics

    @property
    def missing(self) -> list[str]:
        """Statistics that were asked for by name and that no run has."""
        return [name for name in self.facts.get("asked", []) if name not in self.statistics]

    @property
    def size(self) -> str:
        """`2 variants, 10 runs`."""
        return f"{counted(len(self.variants), 'variant')}, {counted(len(self.trials), 'run')}"

    def by_seed(self, label: str, statistic: str) -> dict[int, float]:
        """Returns a statistic of each repetition of a variant, by seed."""
        if statistic not in self.statistics:
            raise InputError(f'the sweep has no statistic "{statistic}"{nearest(statistic, self.statistics)}')
        return self.trials.by_seed(known(label, self.labels, "variant"), statistic)

    def values(self, label: str, statistic: str) -> list[float]:
        """Returns a statistic of each repetition of a variant, NaN where a run has none."""
        return list(self.by_seed(label, statistic).values())

    def interval(self, label: str, statistic: str) -> stats.Interval:
        """Returns the mean over the repetitions with its 95 % t interval, cut off at the bounds of the quantity."""
        return bounds.interval(statistic, self.values(label, statistic), self.flows(label))

    def flows(self, *labels: str) -> int:
        """Returns of how many flows runs of these variants are at most; 0 if nobody has counted them."""
        return bounds.most_flows(*(self.facts.get("flows", {}).get(label, 0) for label in labels))

    def _paired(self, a: str, b: str, statistic: str) -> tuple[list[float], list[float]]:
        for label in (a, b):
            self.by_seed(label, statistic)
        return self.trials.paired(a, b, statistic)

    def difference(self, a: str, b: str, statistic: str, method: str = "t") -> stats.Interval:
        """Returns the mean of a - b over runs with the same seed, its interval cut off at what is possible."""
        return bounds.difference(
            statistic, stats.paired_difference(*self._paired(a, b, statistic), method=method), self.flows(a, b)
        )

    def ratio(self, a: str, b: str, statistic: str, method: str = "t") -> stats.Interval:
        """Returns the ratio of a to b over runs with the same seed."""
        return stats.paired_ratio(*self._paired(a, b, statistic), method=method)

    def run(self, label: str, seed: int) -> Run:
        """Returns the run of a variant with a seed: the one that the store keeps, or it is simulated again."""
        if seed not in (seeds := self.by_seed(known(label, self.labels, "variant"), self.statistics[0])):
            raise InputError(f"no run of {label} has the seed {seed}; there are {', '.join(map(str, seeds))}")
        where = self.kept(label, seed)
        if where is not None and Keep().is_in(where):
            return load_run(where)
        job = self.job(label, seed)
        return run(job.source, set=job.overrides, seed=seed)

    def job(self, label: str, seed: int) -> Job:
        """Returns what runs a variant with a seed again."""
        if "source" not in self.facts:
            raise InputError("this sweep was written before sweeps kept their scenario; run it again")
        variant = next(one for one in self.variants if one.label == known(label, self.labels, "variant"))
        return Job(Source(**self.facts["source"]), self.facts["set"][label], seed, variant)

    def kept(self, label: str, seed: int) -> Path | None:
        """Returns the folder of a run of which tables are kept."""
        where = Path(self.facts.get("kept", {}).get(label, {}).get(str(seed), "/"))
        return where if (where / "manifest.json").is_file() else None

    def samples(self, table: str = "flow_samples") -> pa.Table:
        """Returns `flow_samples` or `port_samples` of all runs whose samples are kept, with columns `variant` and `seed` in front.

        Raises InputError where no samples are kept (`keep="samples"`).
        """
        import pyarrow as pa

        known(table, SAMPLES, "table of samples")
        found = []
        for row in self.trials:
            if (where := self.kept(row.variant, row.seed)) is not None:
                rows = read_table(where / f"{table}.parquet")
                rows = rows.add_column(0, "seed", pa.array([row.seed] * len(rows), pa.int64()))
                found.append(rows.add_column(0, "variant", pa.array([row.variant] * len(rows), pa.string())))
        if not found:
            raise InputError('no samples of this sweep are kept; run it with keep="samples"')
        return pa.concat_tables(found)

    @property
    def parameters(self) -> list[str]:
        return list(dict.fromkeys(key for variant in self.variants for key in variant.parameters))

    def where(self, condition: str) -> Sweep:
        """Returns the variants and runs for which a condition on parameters and the seed holds; InputError if there are none."""
        variants, rows, facts = chosen(self.variants, self.trials, condition)
        failures = failures_of(self.failures, variants)
        return Sweep(self.name, variants, rows, {**self.facts, "failures": failures, "filter": facts})

    def against(self, condition: str) -> Sweep:
        """Returns the sweep with a baseline for its report: the variant that a condition on parameters chooses.

        Of several each variant is compared with the one that is alike in all parameters that the condition does not name.
        """
        parse(condition, values_of(self.variants), "--baseline")
        return Sweep(self.name, self.variants, self.trials, {**self.facts, "baseline": condition})

    @property
    def table(self) -> pa.Table:
        """A row per run: variant, parameters (numbers in base units where they have any), seed, statistics."""
        return self.trials.table(self.statistics)

    @property
    def means(self) -> pa.Table:
        """A row per variant: parameters, then each statistic with `_low` and `_high` (null: unknown) and `_n`, how many runs."""
        import pyarrow as pa

        columns, about = parameter_columns(self.variants, [variant.parameters for variant in self.variants])
        columns = {"variant": self.labels, **columns}
        for name in self.statistics:
            intervals = [self.interval(label, name).as_dict() for label in self.labels]
            for suffix, (key, words) in _OF_INTERVAL.items():
                kind = pa.int64() if key == "n" else pa.float64()
                columns[name + suffix] = pa.array([interval[key] for interval in intervals], kind)
                about[name + suffix] = described(name, words, key != "n")
        return described_table(columns, about)

    @property
    def harm(self) -> pa.Table:
        """A row for each failed link (`fail`), the worst first: goodput lost, demand unserved, busiest port, 99th percentile."""
        return harm_table(harms(self))

    def fill(self, partial: Path) -> None:
        """Writes `runs.parquet`, `means.parquet`, summary, scenario and manifest."""
        from pyarrow import parquet

        parquet.write_table(self.table, partial / "runs.parquet")
        parquet.write_table(self.means, partial / "means.parquet")
        folder.write_json(partial / "summary.json", self.as_dict() | {"facts": self.facts})
        (partial / "scenario.toml").write_text(str(self.facts["scenario"]), encoding="utf-8")
        folder.write_json(partial / "manifest.json", self.manifest())

    def manifest(self) -> dict[str, Any]:
        """How the sweep came about; of a loaded one, how it did then."""
        if "manifest" in self.facts:
            return dict(self.facts["manifest"])
        return {
            **folder.manifest_head("sweep", self.name),
            "scenario_sha256": self.facts["scenario_sha256"],
            "runs": len(self.trials),
            "failures": self.failures,
            **({"guests": self.facts["guests"]} if "guests" in self.facts else {}),
        }

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: for each variant its parameters and every statistic with its interval."""
        return {
            "name": self.name,
            "variants": [
                {
                    "variant": variant.label,
                    "parameters": dict(variant.parameters),
                    "statistics": {
                        name: self.interval(variant.label, name).as_dict() | {"unit": in_files(measures.unit_of(name))}
                        for name in self.statistics
                    },
                }
                for variant in self.variants
            ],
            "failures": self.failures,
            "missing": self.missing,
            **({"until": self.facts["until"]} if "until" in self.facts else {}),
        }

    def __repr__(self) -> str:
        return shown(f"<elephan.Sweep {self.name}: {self.size}>")


_OF_INTERVAL = {
    "": ("mean", "mean"),
    "_low": ("ci_low", "lower end of the 95 % interval"),
    "_high": ("ci_high", "upper end of the 95 % interval"),
    "_n": ("n", "number of runs"),
}


def sweep(
    scenario: Any,
    *,
    set: Mapping[str, Any] | None = None,
    repetitions: int | None = None,
    seed: int | None = None,
    design: Any = designs.GRID,
    until: str | None = None,
    statistics: Sequence[str] = (),
    workers: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    report: bool = True,
    python_from: Any = None,
    files_from: Any = None,
    store: str | os.PathLike[str] | bool | None = None,
    again: bool = False,
    on: str = "threads",
    why: bool = False,
    keep: str | None = None,
    each: Function | None = None,
    seen: Seen | None = None,
    fail: Sequence[str] | str = (),
) -> Sweep:
    """Runs every variant of a scenario's `[sweep]`, with `set` over it, each with the same seeds.

    A list or range in `set` is swept: `{"switches.sw.memory": ["48 KiB", "96 KiB"]}`. `design`: every combination (`"grid"`),
    lists side by side (`"zip"`), points drawn from lists and from ranges such as `"1 Mbps..100 Mbps log"` (`"sobol:64"`,
    `"lhs:64"`), a list of points (`[{"template.rate": "10 Mbps"}, ...]`) or a CSV file. `until`: adds repetitions until the
    interval of a statistic is narrow (`"goodput_bps.sum within 2 %"`, at most 100 unless `", at most 200"` follows).

    `statistics`: names such as `"latency_ns.p99"`; without them the usual ones. `out`: a folder for the tables and, with `report`,
    the report. Raises when nothing varies and nothing is repeated, when every run failed, and when no run can have a statistic or
    none has any; single failures are in `.failures`, statistics that no run has in `.missing`. `python_from` and `files_from`: as
    of `el.run`.

    Each run is kept in `store` as soon as it is done (`out` with `.trials` behind it unless given; none with False), and what is
    there is not run again, unless `again`. Ctrl-C writes the result of what is there before it is raised. `keep`: tables of single
    runs that stay in the store: `"runs"`, `"samples"` (thinned: a line between rows misses no number by more than 2 % of its
    column's range), `"samples within 0.5 % if seed == 1"`, `"seed == 1"` (whole runs). `each`: a function of a `Run` that returns
    numbers by name, called where the run runs; they stand beside the statistics as `each.NAME`. `seen`: has methods `plan(jobs)`
    and `add(outcome)`, which are called as runs are planned and end. `fail`: runs each variant also with each of some links down
    from the start: `"links"` (each link between two switches), `"busiest:20"`, or names such as `["a->b", "c->*"]`. Traffic that a
    failure cuts off is left out, and its load is told (`elephan.experiment.harm`).

    >>> sweep = el.sweep("sawtooth", set={"duration": "12 s", "template.rate": ["10 Mbps", "20 Mbps"]}, repetitions=2)
    >>> sweep.size
    '2 variants, 4 runs'
    >>> def largest(run):
    ...     return {"window": max(run.flow_samples["cwnd_bytes"].to_pylist())}
    ...
    >>> sweep = el.sweep("sawtooth", set={"duration": "12 s"}, repetitions=2, each=largest)
    >>> sweep.interval(sweep.labels[0], "each.window").mean > 14480
    True
    """
    overrides = core.as_overrides(set)
    source = open_source(scenario).with_trust(python_from, overrides, design, files_from=files_from)
    check_workers(workers)
    check_answer(source, {})
    asked, statistics = _requested(statistics, source)
    if out is not None:
        folder.check_target(out, "sweep")
    goal = Goal.read(until) if until is not None else None
    if goal is not None and (on == "kept" or on.startswith("shard")):
        raise InputError(f"until looks at all runs and asks for more, which on {on} cannot do")
    failed = fail_of(source, overrides, fail)
    planned = partial(plan, source, overrides, seed=seed, points=design, failed=failed)
    variants, jobs = planned(repetitions)
    _check_varies(source, jobs, goal)
    wanted = [goal.statistic] if goal is not None else []
    _check_possible([*asked, *wanted], jobs)

    asked = list(dict.fromkeys((*asked, *wanted))) if asked else []
    usual = Statistics(tuple(asked), tuple(dict.fromkeys((*source.notes.statistics, *wanted))))
    measure: Measure = usual if each is None else Each(each, usual)
    how = How(
        workers, on, store_of(store, out), again, source.stem, source.stem, progress, partial=True, why=why, keep=keep, seen=seen
    )
    facts: dict[str, Any] = {"answering": asked or list(source.notes.statistics), "asked": asked, **kept_of(failed)}
    if goal is None:
        outcomes = run_jobs(jobs, measure, how).checked()
    else:
        begin, labels = repetitions or len(jobs) // len(variants), [variant.label for variant in variants]
        outcomes, look = run_until(goal, labels, lambda n: planned(n)[1], begin, lambda some: run_jobs(some, measure, how))
        outcomes.checked()
        facts["until"] = look.as_dict()
    result = Sweep(source.stem, variants, outcomes.trials, facts_of(source, outcomes) | facts)
    if not result.statistics:  # a folder with an older result stays as it was
        raise InputError(f"{source.name}: no run has a value of {_described(statistics)}")
    if out is not None:
        result.save(out, progress, report)
    if outcomes.interrupted:
        raise Interrupted(result, out)
    return result


def _requested(statistics: Any, source: Source) -> tuple[list[str], Sequence[str]]:
    """The statistics that are asked for by name, and those that are looked for: the same, or the scenario's and the usual ones."""
    if isinstance(statistics, str) or not isinstance(statistics, Sequence):
        raise InputError(f"statistics are a list of names, not {statistics!r}")
    asked = list(statistics)
    wanted = asked or list(dict.fromkeys((*source.notes.statistics, *measures.DEFAULT)))
    for name in wanted:
        measures.parse(name)
    return asked, wanted


def _check_varies(source: Source, jobs: Sequence[Job], goal: Goal | None) -> None:
    """Refuses a sweep that is one run."""
    if len(jobs) == 1 and not jobs[0].variant.parameters and goal is None:
        why = "no [sweep], no list of values in -s key=v1,v2, no more than 1 repetition"
        raise InputError(f"{source.name}: nothing to sweep: {why}")


def _check_possible(statistics: Sequence[str], jobs: Sequence[Job]) -> None:
    """Refuses a statistic that no variant can have."""
    one_of = {job.variant.label: job for job in jobs}
    resolved = cache(lambda label: core.toml_values(one_of[label].scenario))
    for name in statistics:
        if all((why := measures.absent(name, resolved(label))) for label in one_of):
            raise InputError(f"no run has {name}: {why}")


def _described(statistics: Sequence[str]) -> str:
    """The statistics with what they are of, which says why runs may have none."""
    return ", ".join(f"{name} ({measures.parse(name)[0].description})" for name in statistics)


def facts_of(source: Source, outcomes: Outcomes) -> dict[str, Any]:
    """What a sweep remembers beside its trials: its scenario as the first run that came through had it, failures, flows."""
    first = outcomes.first()
    resolved = core.toml_values(first["scenario"])
    guests = outcomes.guests
    return {
        "look_for": source.notes.look_for,
        "answering": list(source.notes.statistics),
        "title": resolved.get("title") or source.stem,
        "question": resolved.get("question", ""),
        "first": first,
        "source": {"text": source.text, "name": source.name, "format": source.format, "stem": source.stem},
        "set": {outcome.job.variant.label: dict(outcome.job.overrides) for outcome in outcomes},
        "scenario": first["scenario"],
        "scenario_sha256": first["scenario_sha256"],
        "failures": outcomes.failures,
        **outcomes.incomplete,
        "flows": outcomes.flows,
        **outcomes.folders,
        **({"guests": guests} if guests else {}),
    }
