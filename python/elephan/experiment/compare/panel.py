"""`elephan compare`: every law in the same experiments with the same seeds, and what came out of it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base import stats
from elephan.base.drawn import Drawn, write_report
from elephan.base.errors import InputError, nearest, shown
from elephan.base.progress import status
from elephan.base.quantity import in_files
from elephan.base.seed import seed_or_none
from elephan.experiment.compare.experiments import PAIR, STATISTICS, Experiment, Measured, check_rtt, experiments, law_overrides
from elephan.experiment.compare.network import Network, read_network
from elephan.experiment.pool import Job, check_workers, failures, run_jobs
from elephan.experiment.sweep import REPETITIONS_MAX
from elephan.result import folder
from elephan.result.run import Run
from elephan.scenario import core
from elephan.scenario.congestion import Law, read_laws
from elephan.scenario.trust import Trust, trust

if TYPE_CHECKING:
    import pyarrow as pa

RENO = Law("reno", "reno")  # whom every law meets: RFC 5033 asks for it
HORIZONS = ("horizon_ns", "rise_horizon_ns")  # how long a run was watched for what may not happen, beside the statistics
REPETITIONS, QUICK_REPETITIONS = 5, 3
RATE, RTT, BUFFER = "50 Mbps", "40 ms", "1 bdp"


@dataclass(frozen=True)
class Variant:
    """The laws of the flows in one experiment."""

    experiment: Experiment
    laws: Mapping[str, Law]

    @property
    def label(self) -> str:
        names = [self.laws[flow].label for flow in self.experiment.flows]
        return names[0] if len(set(names)) == 1 and self.experiment is not PAIR else " + ".join(names)


@dataclass(frozen=True)
class Row:
    """What one run measured."""

    experiment: str
    variant: str
    seed: int
    values: Mapping[str, float]


def unit_of(statistic: str) -> str:
    """The unit of a statistic of the panel."""
    return STATISTICS[statistic].unit if statistic in STATISTICS else "1"


class Panel(Drawn):
    """The results of a comparison. `table` has a row per run, `means` a row per experiment, variant and statistic."""

    kind = "compare"

    def __init__(
        self, laws: Sequence[Law], rows: Sequence[Row], series: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]
    ) -> None:
        self.laws = list(laws)
        self.rows = list(rows)
        self.series = list(series)  # one per run with time series: experiment, variant, seed, and columns
        self.facts = dict(facts)
        self._by_key: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            self._by_key.setdefault((row.experiment, row.variant), []).append(row)

    @property
    def labels(self) -> list[str]:
        return [law.label for law in self.laws]

    @property
    def experiments(self) -> list[str]:
        """Names of the experiments that were run."""
        return list(dict.fromkeys(row.experiment for row in self.rows))

    @property
    def failures(self) -> list[str]:
        return list(self.facts.get("failures", []))

    @property
    def repetitions(self) -> int:
        return int(self.facts["repetitions"])

    def by_seed(self, experiment: str, variant: str, statistic: str) -> dict[int, float]:
        """A statistic of each repetition, by seed; NaN where a run has none. Names that there are not are an InputError."""
        self._check_variant(experiment, variant)
        if statistic not in (*STATISTICS, *HORIZONS):
            raise InputError(f'no statistic "{statistic}" in this comparison{nearest(statistic, list(STATISTICS))}')
        rows = self._by_key.get((experiment, variant), [])
        return {row.seed: row.values.get(statistic, math.nan) for row in rows}

    def interval(self, experiment: str, variant: str, statistic: str) -> stats.Interval:
        """Mean over the repetitions with its 95 % t interval, cut off at the bounds of the quantity; runs without a value
        are left out. Names that there are not are an InputError.
        """
        values = [v for v in self.by_seed(experiment, variant, statistic).values() if not math.isnan(v)]
        low, top = (STATISTICS[statistic].low, STATISTICS[statistic].top) if statistic in STATISTICS else (0.0, math.inf)
        return stats.within(stats.mean_interval(values), low, top) if values else stats.NOTHING

    def _check_variant(self, experiment: str, variant: str) -> None:
        """Refuses an experiment or a variant that this comparison does not have; one of which every run failed is no error."""
        if (experiment, variant) in self._by_key:
            return
        known = list(dict.fromkeys([*self.experiments, *(one.name for one in experiments())]))
        if experiment not in known:
            raise InputError(f'no experiment "{experiment}" in this comparison{nearest(experiment, known, "it has")}')
        labels = self.labels
        if experiment == PAIR.name:  # in the order in which they ran
            ran = [name for of, name in self._by_key if of == experiment]
            both = product(dict.fromkeys([*labels, RENO.label]), repeat=2)
            labels = [f"{a} + {b}" for a, b in both if f"{b} + {a}" not in ran or f"{a} + {b}" in ran]
        if variant not in labels:
            raise InputError(f'no variant "{variant}" in the experiment {experiment}{nearest(variant, labels, "it has")}')

    def _law(self, label: str) -> str:
        if label not in self.labels and label != RENO.label:
            raise InputError(f'no law "{label}" in this comparison{nearest(label, self.labels)}')
        return label

    def _pair(self, a: str, b: str) -> tuple[str, bool]:
        """The variant with these two laws, and whether `a` is its second flow."""
        straight, turned = f"{self._law(a)} + {self._law(b)}", f"{b} + {a}"
        return (straight, False) if (PAIR.name, straight) in self._by_key else (turned, True)

    def jain(self, a: str, b: str) -> stats.Interval:
        """Jain's index of a flow of law `a` beside one of law `b`."""
        return self.interval(PAIR.name, self._pair(a, b)[0], "jain")

    def share(self, a: str, b: str) -> stats.Interval:
        """The share of law `a` in what it and law `b` get together."""
        variant, turned = self._pair(a, b)
        found = [v for v in self.by_seed(PAIR.name, variant, "share_a").values() if not math.isnan(v)]
        return stats.within(stats.mean_interval([1 - v if turned else v for v in found]), 0.0, 1.0) if found else stats.NOTHING

    def together(self, a: str, b: str) -> stats.Interval:
        """Goodput of a flow of law `a` and one of law `b` together, bit/s."""
        variant = self._pair(a, b)[0]
        one, two = (self.by_seed(PAIR.name, variant, f"goodput_{flow}_bps") for flow in "ab")
        sums = [one[seed] + two[seed] for seed in one if not math.isnan(one[seed] + two[seed])]
        return stats.within(stats.mean_interval(sums), 0.0, math.inf) if sums else stats.NOTHING

    @cached_property
    def most_bps(self) -> float:
        """The most goodput that a flow alone or a pair of the laws has, what the bottleneck can carry: bit/s, or NaN."""
        found = [self.interval("alone", law, "goodput_bps").mean for law in self.labels]
        found += [self.together(a, b).mean for a, b in combinations_with_replacement(self.labels, 2)]
        return max((bps for bps in found if bps > 0), default=math.nan)

    def friendliness(self, label: str) -> stats.Interval:
        """Goodput of a Reno flow beside this law over that of a Reno flow beside another: 1 is as friendly as Reno.

        Runs with the same seed are compared; of the two Reno flows their mean counts.
        """
        if label == RENO.label:
            return stats.Interval(1.0, 1.0, 1.0, self.repetitions)
        variant, turned = self._pair(RENO.label, label)
        beside = self.by_seed(PAIR.name, variant, "goodput_b_bps" if turned else "goodput_a_bps")
        base = f"{RENO.label} + {RENO.label}"
        one, two = (self.by_seed(PAIR.name, base, f"goodput_{flow}_bps") for flow in "ab")
        ratios = [beside[seed] / ((one[seed] + two[seed]) / 2) for seed in beside if one.get(seed, 0) + two.get(seed, 0) > 0]
        return stats.within(stats.mean_interval(ratios), 0.0, math.inf) if ratios else stats.NOTHING

    def until(self, experiment: str, label: str, statistic: str, horizon: str) -> tuple[stats.Interval, int]:
        """A time until something, and in how many runs it did not happen; those count with the time that was watched."""
        times, limits = self.by_seed(experiment, label, statistic), self.by_seed(experiment, label, horizon)
        late = [seed for seed, time in times.items() if math.isnan(time)]
        values = [limits[seed] if seed in late else time for seed, time in times.items()]
        return (stats.within(stats.mean_interval(values), 0.0, math.inf) if values else stats.NOTHING), len(late)

    @property
    def table(self) -> pa.Table:
        """A row per run: experiment, variant, seed, and what was measured."""
        import pyarrow as pa

        names = list(dict.fromkeys(name for row in self.rows for name in row.values))
        columns: dict[str, Any] = {
            "experiment": [row.experiment for row in self.rows],
            "variant": [row.variant for row in self.rows],
            "seed": [row.seed for row in self.rows],
        }
        for name in names:
            found = [row.values.get(name) for row in self.rows]
            columns[name] = pa.array([None if v is None or math.isnan(v) else v for v in found], pa.float64())
        return pa.table(columns)

    @property
    def means(self) -> pa.Table:
        """A row per experiment, variant and statistic: unit, mean, 95 % interval, n."""
        import pyarrow as pa

        found = []
        for (experiment, variant), rows in self._by_key.items():
            for name in (name for name in STATISTICS if any(name in row.values for row in rows)):
                interval = self.interval(experiment, variant, name).as_dict()
                found.append(
                    {"experiment": experiment, "variant": variant, "statistic": name, "unit": in_files(unit_of(name)), **interval}
                )
        texts = [(name, pa.string()) for name in ("experiment", "variant", "statistic", "unit")]
        numbers = [(name, pa.float64()) for name in ("mean", "ci_low", "ci_high")]
        return pa.Table.from_pylist(found, schema=pa.schema([*texts, *numbers, ("n", pa.int64())]))

    @property
    def series_table(self) -> pa.Table:
        """Time series in long form: experiment, variant, seed, `time_s` and columns with their unit in the name."""
        import pyarrow as pa

        parts = []
        for one in self.series:
            rows = len(one["columns"]["time_s"])
            columns = {key: [one[key]] * rows for key in ("experiment", "variant", "seed")}
            parts.append(pa.table({**columns, **{name: list(values) for name, values in one["columns"].items()}}))
        return pa.concat_tables(parts, promote_options="default") if parts else pa.table({})

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: the laws, the network, every figure with its interval."""

        def known(interval: stats.Interval, unit: str) -> dict[str, Any]:
            return interval.as_dict() | {"unit": in_files(unit)}

        labels = self.labels
        return {
            "laws": [{"label": law.label, "congestion_control": law.value} for law in self.laws],
            "network": self.facts["network"],
            "repetitions": self.repetitions,
            "seed": self.facts["seed"],
            "quick": self.facts["quick"],
            "experiments": self.facts["experiments"],
            "results": self.means.to_pylist(),
            "pairs": [
                {
                    "law": a,
                    "beside": b,
                    "jain": known(self.jain(a, b), "1"),
                    "share": known(self.share(a, b), "%"),
                    "together": known(self.together(a, b), "bps"),
                }
                for a in labels
                for b in labels
            ],
            "friendliness": {label: known(self.friendliness(label), "1") for label in labels},
            "failures": self.failures,
        }

    def manifest(self) -> dict[str, Any]:
        """How the comparison came about; of a loaded one, how it did then."""
        if "manifest" in self.facts:
            return dict(self.facts["manifest"])
        return {
            **folder.manifest_head("compare", "compare"),
            "runs": len(self.rows),
            "failures": self.failures,
            **({"guests": self.facts["guests"]} if self.facts.get("guests") else {}),
        }

    def save(self, out: str | os.PathLike[str]) -> Path:
        """Writes a result folder: `compare.json`, `runs.parquet`, `means.parquet`, `series.parquet`, scenarios, report."""
        from pyarrow import parquet

        with folder.result_folder(out, "compare") as partial:
            folder.write_json(partial / "compare.json", self.as_dict())
            folder.write_json(partial / "provenance.json", self.facts["provenance"])
            for name in ("table", "means", "series_table"):
                file = {"table": "runs", "series_table": "series"}.get(name, name)
                parquet.write_table(getattr(self, name), partial / f"{file}.parquet")
            (partial / "scenarios").mkdir()
            for name, text in self.facts["scenarios"].items():
                (partial / "scenarios" / f"{name}.toml").write_text(text, encoding="utf-8")
            folder.write_json(partial / "manifest.json", self.manifest())
            with folder.drawing():
                write_report(self.kind, self, partial / "report.html", partial / "figures")
        return Path(out)

    def __repr__(self) -> str:
        return shown(f"<elephan.Panel {', '.join(self.labels)}: {len(self.rows)} runs>")


def variants(laws: Sequence[Law], chosen: Sequence[Experiment]) -> list[Variant]:
    """All variants of all experiments: each law alone and with itself, each pair once, each law beside Reno."""
    found = []
    for experiment in chosen:
        if experiment is not PAIR:
            found += [Variant(experiment, dict.fromkeys(experiment.flows, law)) for law in laws]
            continue
        with_reno = list(laws) if RENO in laws else [*laws, RENO]
        for a, b in combinations_with_replacement(with_reno, 2):
            found.append(Variant(experiment, {"a": a, "b": b}))
    return found


def _check_repetitions(given: Any, quick: bool) -> int:
    if given is None:
        return QUICK_REPETITIONS if quick else REPETITIONS
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= REPETITIONS_MAX:
        raise InputError(f"repetitions must be a whole number from 1 to {REPETITIONS_MAX}, not {given!r}")
    return given


def _jobs(
    found: Sequence[Variant], network: Network, agreed: Trust, quick: bool, seeds: Sequence[int]
) -> list[tuple[Variant, Job]]:
    jobs = []
    for variant in found:
        experiment = variant.experiment
        times = experiment.times(quick)
        overrides = {
            **times.overrides(),
            **experiment.overrides(network, times),
            **law_overrides(experiment, variant.laws),
        }
        source = replace(experiment.source(network, times), agreed=agreed)
        jobs += [(variant, Job(source, overrides, seed, f"{experiment.name}: {variant.label}")) for seed in seeds]
    return jobs


def compare(
    laws: str | Sequence[Any],
    *,
    scenario: Any = None,
    repetitions: int | None = None,
    quick: bool = False,
    rate: float | str = RATE,
    rtt: float | str = RTT,
    buffer: float | str = BUFFER,
    set: Mapping[str, Any] | None = None,
    seed: int | None = None,
    workers: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    python_from: Any = None,
) -> Any:
    """Compares congestion controls: each alone, with each other, with another round trip, joining, after a change.

    `laws`: names, texts such as `"cubic:preset=linux"` or `"mine.py:Mine"`, dicts such as `{"kind": "cubic", "beta": 0.8}`, classes
    (`Mine`, `functools.partial(Mine, share=0.1)`, `{"kind": Mine, "share": 0.1}`). `rate`, `rtt`
    and `buffer` (`"250 KB"` or `"1 bdp"`) are the bottleneck's; `set` changes the network in all experiments
    (`{"template.queue.kind": "codel"}`). Repetition i has the seed `seed + i` in every variant, `seed` being 1 by default.
    With `scenario` all TCP traffic of that scenario gets each law in turn instead, and a `Sweep` comes back. `python_from`: as of
    `el.run`; a file that `laws` or `set` names needs no other word.
    """
    read = read_laws(laws, python_from)
    count = _check_repetitions(repetitions, quick)
    check_workers(workers)
    seed = seed_or_none(seed)
    changes = core.as_overrides(set)
    agreed = trust(python_from, changes, [law.value for law in read])
    if out is not None:
        folder.check_target(out, "compare" if scenario is None else "sweep")
    if scenario is not None:
        from elephan.experiment.compare.on_scenario import compare_on

        return compare_on(read, scenario, changes, agreed, count, seed, workers, out, progress)
    network = read_network(rate, rtt, buffer, changes)
    check_rtt(network, quick)
    begin = 1 if seed is None else seed
    panel = _run(read, network, agreed, quick, range(begin, begin + count), workers, progress)
    if out is not None:
        with status("drawing the report", progress):
            panel.save(out)
    return panel


def _run(laws: list[Law], network: Network, agreed: Trust, quick: bool, seeds: range, workers: int | None, progress: bool) -> Panel:
    chosen = experiments()
    work = _jobs(variants(laws, chosen), network, agreed, quick, seeds)
    by_job = {id(job): variant for variant, job in work}
    first = {id(job) for variant, job in work if job.seed == seeds[0]}
    told: dict[str, dict[str, Any]] = {}  # of the first variant of each experiment
    leading: dict[str, int] = {}
    guests: dict[str, Any] = {}
    for variant, job in work:
        leading.setdefault(variant.experiment.name, id(job))

    def reduce(job: Job, run: Run) -> Measured:
        experiment = by_job[id(job)].experiment
        guests.update({row["python"]: row for row in run.manifest.get("guests", [])})
        if leading[experiment.name] == id(job):
            told[experiment.name] = {"scenario": run.scenario, "provenance": run.provenance}
        values, series = experiment.measure(run, network, experiment.times(quick))
        return values, (series if experiment.name != "alone" or id(job) in first else {})

    outcomes = run_jobs([job for _, job in work], reduce, workers=workers, label="compare", progress=progress)
    broken = failures(outcomes)
    rows, series = [], []
    for (variant, job), outcome in zip(work, outcomes, strict=True):
        if outcome.value is None:
            continue
        measured, columns = outcome.value
        values = {name: value for name, value in measured.items() if not math.isnan(value)}
        rows.append(Row(variant.experiment.name, variant.label, job.seed, values))
        if columns:
            series.append({"experiment": variant.experiment.name, "variant": variant.label, "seed": job.seed, "columns": columns})
    facts = {
        "network": network.as_dict(),
        "repetitions": len(seeds),
        "seed": seeds[0],
        "quick": quick,
        "experiments": [_described(one, quick) for one in chosen],
        "scenarios": {name: one["scenario"] for name, one in told.items()},
        "provenance": {name: one["provenance"] for name, one in told.items()},
        "failures": broken,
        "guests": [guests[name] for name in sorted(guests)],
    }
    return Panel(laws, rows, series, facts)


def _described(experiment: Experiment, quick: bool) -> dict[str, Any]:
    times = experiment.times(quick)
    return {
        "name": experiment.name,
        "title": experiment.title,
        "duration_s": times.duration_s,
        "warmup_s": times.warmup_s,
        "event_s": list(times.event_s),
    }
