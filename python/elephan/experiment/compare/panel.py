"""`elephan compare`: every congestion control in the same experiments with the same seeds, and what came out of it."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan import _renamed
from elephan.base import stats
from elephan.base.errors import InputError, nearest, shown
from elephan.base.quantity import counted, in_files
from elephan.base.seed import seed_or_none
from elephan.base.signals import Interrupted
from elephan.experiment.compare.experiments import (
    ALONE,
    PAIR,
    STATISTICS,
    Experiment,
    check_rtt,
    controller_overrides,
    experiments,
)
from elephan.experiment.compare.network import Network, read_network
from elephan.experiment.job import Job
from elephan.experiment.place.threads import check_workers
from elephan.experiment.pool import How, Seen, run_jobs, store_of
from elephan.experiment.store.row import Measured
from elephan.experiment.trials import Trials, Variant, check_repetitions, known
from elephan.result import folder
from elephan.result.run import Run
from elephan.scenario import core
from elephan.scenario.congestion import Controller, read_controllers
from elephan.scenario.trust import NOBODY, Trust, trust

if TYPE_CHECKING:
    import pyarrow as pa

RENO = Controller("reno", "reno")  # whom every controller meets: RFC 5033 asks for it
HORIZONS = ("horizon_ns", "rise_horizon_ns")  # how long a run was watched for what may not happen, beside the statistics
REPETITIONS, QUICK_REPETITIONS = 5, 3
RATE, RTT, BUFFER = "50 Mbps", "40 ms", "1 bdp"


def unit_of(statistic: str) -> str:
    """The unit of a statistic of the panel."""
    return STATISTICS[statistic].unit if statistic in STATISTICS else "1"


@_renamed.attributes(laws="controllers")
class Panel(folder.Result):
    """The results of a comparison. `table` has a row per run, `means` a row per experiment, variant and statistic.

    >>> panel = el.compare(["reno", "vegas"], quick=True, repetitions=2, rate="2 Mbps")
    >>> panel.labels, panel.experiments[:2]
    (['reno', 'vegas'], ['alone', 'pair'])
    >>> round(panel.share("vegas", "reno").mean + panel.share("reno", "vegas").mean, 6)
    1.0
    >>> panel.jain("reno", "reno").n, panel.together("reno", "vegas").mean < 2e6
    (2, True)
    >>> panel.friendliness("reno").mean
    1.0
    >>> panel.interval("alone", "reno", "goodput_bps").mean <= panel.most_bps
    True
    >>> list(panel.by_seed("alone", "reno", "goodput_bps")), panel.job("pair", "reno + vegas", 2).seed
    ([1, 2], 2)
    >>> time, never = panel.until("join", "reno", "delta_fair_ns", "horizon_ns")
    >>> sorted(panel.as_dict())[:3], panel.manifest()["kind"]
    (['controllers', 'experiments', 'failures'], 'compare')
    >>> panel.save("compared")
    PosixPath('compared')
    >>> el.load("compared").labels
    ['reno', 'vegas']
    """

    kind = "compare"

    def __init__(
        self, controllers: Sequence[Controller], trials: Trials, series: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]
    ) -> None:
        self.controllers = list(controllers)
        self.trials = trials
        self.series = list(series)  # one per run with time series: experiment, variant, seed, and columns
        self.facts = dict(facts)

    @property
    def labels(self) -> list[str]:
        return [controller.label for controller in self.controllers]

    @property
    def experiments(self) -> list[str]:
        """Names of the experiments that were run."""
        return list(dict.fromkeys(row.experiment for row in self.trials))

    @property
    def repetitions(self) -> int:
        return int(self.facts["repetitions"])

    def by_seed(self, experiment: str, variant: str, statistic: str) -> dict[int, float]:
        """Returns a statistic of each repetition, by seed; NaN where a run has none. Raises InputError for unknown names."""
        self._check_variant(experiment, variant)
        if statistic not in (*STATISTICS, *HORIZONS):
            raise InputError(f'no statistic "{statistic}" in this comparison{nearest(statistic, list(STATISTICS))}')
        return self.trials.by_seed(variant, statistic, experiment)

    def interval(self, experiment: str, variant: str, statistic: str) -> stats.Interval:
        """Returns the mean over the repetitions with its 95 % t interval, cut off at the bounds of the quantity.

        Runs without a value are left out. Raises InputError for unknown names.
        """
        values = list(self.by_seed(experiment, variant, statistic).values())
        about = STATISTICS.get(statistic)
        return stats.mean_within(values, about.low, about.top) if about else stats.mean_within(values, 0.0)

    def _check_variant(self, experiment: str, variant: str) -> None:
        """Refuses an experiment or a variant that this comparison does not have; one of which every run failed is no error."""
        if (experiment, variant) in self.trials.by_variant:
            return
        names = list(dict.fromkeys([*self.experiments, *(one.name for one in experiments())]))
        if experiment not in names:
            raise InputError(f'no experiment "{experiment}" in this comparison{nearest(experiment, names, "it has")}')
        labels = self.labels
        if experiment == PAIR.name:  # in the order in which they ran
            ran = [name for of, name in self.trials.by_variant if of == experiment]
            both = product(dict.fromkeys([*labels, RENO.label]), repeat=2)
            labels = [f"{a} + {b}" for a, b in both if f"{b} + {a}" not in ran or f"{a} + {b}" in ran]
        if variant not in labels:
            raise InputError(f'no variant "{variant}" in the experiment {experiment}{nearest(variant, labels, "it has")}')

    def job(self, experiment: str, variant: str, seed: int) -> Job:
        """Returns what does a run of the comparison again. Raises InputError for unknown names."""
        self._check_variant(experiment, variant)
        network = Network(**{key: self.facts["network"][key] for key in ("rate_bps", "rtt_s", "buffer_bytes", "set")})
        chosen = [one for one in experiments() if one.name == experiment]
        jobs = _jobs(settings(self.controllers, chosen), network, NOBODY, self.facts["quick"], [seed])
        return next(job for job in jobs if job.variant.label == variant)

    def _controller(self, label: str) -> str:
        return label if label == RENO.label else known(label, self.labels, "congestion control")

    def _pair(self, a: str, b: str) -> tuple[str, bool]:
        """The variant with these two controllers, and whether `a` is its second flow."""
        straight, turned = f"{self._controller(a)} + {self._controller(b)}", f"{b} + {a}"
        return (straight, False) if (PAIR.name, straight) in self.trials.by_variant else (turned, True)

    def jain(self, a: str, b: str) -> stats.Interval:
        """Returns Jain's index of a flow of controller `a` beside one of controller `b`."""
        return self.interval(PAIR.name, self._pair(a, b)[0], "jain")

    def share(self, a: str, b: str) -> stats.Interval:
        """Returns the share of controller `a` in what it and controller `b` get together."""
        variant, turned = self._pair(a, b)
        found = self.by_seed(PAIR.name, variant, "share_a").values()
        return stats.mean_within([1 - v if turned else v for v in found], 0.0, 1.0)

    def together(self, a: str, b: str) -> stats.Interval:
        """Returns the goodput of a flow of controller `a` and one of controller `b` together, bit/s."""
        variant = self._pair(a, b)[0]
        one, two = (self.by_seed(PAIR.name, variant, f"goodput_{flow}_bps") for flow in "ab")
        return stats.mean_within([one[seed] + two[seed] for seed in one], 0.0)

    @cached_property
    def most_bps(self) -> float:
        """The most goodput that a flow alone or a pair of the controllers has, what the bottleneck can carry: bit/s, or NaN."""
        found = [self.interval("alone", controller, "goodput_bps").mean for controller in self.labels]
        found += [self.together(a, b).mean for a, b in combinations_with_replacement(self.labels, 2)]
        return max((bps for bps in found if bps > 0), default=math.nan)

    def friendliness(self, label: str) -> stats.Interval:
        """Goodput of a Reno flow beside this controller over that of a Reno flow beside another: 1 is as friendly as Reno.

        Runs with the same seed are compared; of the two Reno flows their mean counts.
        """
        if label == RENO.label:
            return stats.Interval(1.0, 1.0, 1.0, self.repetitions)
        variant, turned = self._pair(RENO.label, label)
        beside = self.by_seed(PAIR.name, variant, "goodput_b_bps" if turned else "goodput_a_bps")
        base = f"{RENO.label} + {RENO.label}"
        one, two = (self.by_seed(PAIR.name, base, f"goodput_{flow}_bps") for flow in "ab")
        ratios = [beside[seed] / ((one[seed] + two[seed]) / 2) for seed in beside if one.get(seed, 0) + two.get(seed, 0) > 0]
        return stats.mean_within(ratios, 0.0)

    def until(self, experiment: str, label: str, statistic: str, horizon: str) -> tuple[stats.Interval, int]:
        """A time until something, and in how many runs it did not happen; those count with the time that was watched."""
        times, limits = self.by_seed(experiment, label, statistic), self.by_seed(experiment, label, horizon)
        late = [seed for seed, time in times.items() if math.isnan(time)]
        values = [limits[seed] if seed in late else time for seed, time in times.items()]
        return stats.mean_within(values, 0.0, max(limits.values(), default=math.inf)), len(late)

    @property
    def table(self) -> pa.Table:
        """A row per run: experiment, variant, seed, and what was measured."""
        return self.trials.table(self.trials.statistics)

    @property
    def means(self) -> pa.Table:
        """A row per experiment, variant and statistic: unit, mean, 95 % interval, n."""
        import pyarrow as pa

        found = []
        for (experiment, variant), rows in self.trials.by_variant.items():
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
        """JSON-ready: the controllers, the network, every figure with its interval."""

        def known(interval: stats.Interval, unit: str) -> dict[str, Any]:
            return interval.as_dict() | {"unit": in_files(unit)}

        labels = self.labels
        return {
            "controllers": [{"label": controller.label, "congestion_control": controller.value} for controller in self.controllers],
            "network": self.facts["network"],
            "repetitions": self.repetitions,
            "seed": self.facts["seed"],
            "quick": self.facts["quick"],
            "experiments": self.facts["experiments"],
            "results": self.means.to_pylist(),
            "pairs": [
                {
                    "controller": a,
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
            "runs": len(self.trials),
            "failures": self.failures,
            **{key: self.facts[key] for key in ("incomplete",) if key in self.facts},
            **({"guests": self.facts["guests"]} if self.facts.get("guests") else {}),
        }

    def fill(self, partial: Path) -> None:
        """Writes `compare.json`, `runs.parquet`, `means.parquet`, `series.parquet`, scenarios and manifest."""
        from pyarrow import parquet

        folder.write_json(partial / "compare.json", self.as_dict())
        folder.write_json(partial / "provenance.json", self.facts["provenance"])
        for name, table in {"runs": self.table, "means": self.means, "series": self.series_table}.items():
            parquet.write_table(table, partial / f"{name}.parquet")
        (partial / "scenarios").mkdir()
        for name, text in self.facts["scenarios"].items():
            (partial / "scenarios" / f"{name}.toml").write_text(text, encoding="utf-8")
        folder.write_json(partial / "manifest.json", self.manifest())

    def __repr__(self) -> str:
        return shown(f"<elephan.Panel {', '.join(self.labels)}: {counted(len(self.trials), 'run')}>")


Setting = tuple[Experiment, Mapping[str, Controller]]  # an experiment with the congestion control of each of its flows


def settings(controllers: Sequence[Controller], chosen: Sequence[Experiment]) -> list[Setting]:
    """All settings of all experiments: each congestion control alone and with itself, each pair once, each beside Reno."""
    found: list[Setting] = []
    for experiment in chosen:
        if experiment is not PAIR:
            found += [(experiment, dict.fromkeys(experiment.flows, controller)) for controller in controllers]
            continue
        with_reno = list(controllers) if RENO in controllers else [*controllers, RENO]
        found += [(experiment, {"a": a, "b": b}) for a, b in combinations_with_replacement(with_reno, 2)]
    return found


def variant_of(experiment: Experiment, controllers: Mapping[str, Controller]) -> Variant:
    """The variant of an experiment with these congestion controls: `reno`, `reno + cubic`."""
    names = {flow: controllers[flow].label for flow in experiment.flows}
    alike = len({*names.values()}) == 1 and experiment is not PAIR
    label = next(iter(names.values())) if alike else " + ".join(names.values())
    return Variant(label, {f"congestion_control.{flow}": name for flow, name in names.items()}, experiment.name)


def _jobs(found: Sequence[Setting], network: Network, agreed: Trust, quick: bool, seeds: Sequence[int]) -> list[Job]:
    jobs = []
    for experiment, controllers in found:
        times = experiment.times(quick)
        overrides = {**times.overrides(), **experiment.overrides(network, times), **controller_overrides(experiment, controllers)}
        source = replace(experiment.source(network, times), agreed=agreed)
        jobs += [Job(source, overrides, seed, variant_of(experiment, controllers)) for seed in seeds]
    return jobs


@_renamed.keywords(laws="controllers")
def compare(
    controllers: str | Sequence[Any],
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
    report: bool = True,
    python_from: Any = None,
    files_from: Any = None,
    store: str | os.PathLike[str] | bool | None = None,
    again: bool = False,
    on: str = "threads",
    why: bool = False,
    keep: str | None = None,
    seen: Seen | None = None,
) -> Any:
    """Compares congestion controls: each alone, with each other, with another round trip, joining, after a change.

    `controllers`: names, texts such as `"cubic:preset=linux"` or `"mine.py:Mine"`, dicts such as `{"kind": "cubic", "beta": 0.8}`,
    classes (`Mine`, `functools.partial(Mine, share=0.1)`, `{"kind": Mine, "share": 0.1}`). `rate`, `rtt`
    and `buffer` (`"250 KB"` or `"1 bdp"`) are the bottleneck's; `set` changes the network in all experiments
    (`{"template.queue.kind": "codel"}`). Repetition i has the seed `seed + i` in every variant, `seed` being 1 by default.
    `seen`: has methods `plan(jobs)` and `add(outcome)`, which are called as runs are planned and end.
    With `scenario` all TCP traffic of that scenario gets each controller in turn, and a `Sweep` comes back. `python_from`
    and `files_from`: as of `el.run`; a file that `controllers` or `set` names needs no other word.

    >>> panel = el.compare(["reno", "vegas"], quick=True, repetitions=2, rate="2 Mbps")
    >>> panel.labels
    ['reno', 'vegas']
    """
    read = read_controllers(controllers, python_from)
    check_repetitions(repetitions)
    count = repetitions or (QUICK_REPETITIONS if quick else REPETITIONS)
    check_workers(workers)
    seed = seed_or_none(seed)
    changes = core.as_overrides(set)
    agreed = trust(python_from, changes, [controller.value for controller in read], files_from=files_from)
    if out is not None:
        folder.check_target(out, "compare" if scenario is None else "sweep")
    how = How(workers, on, store_of(store, out), again, "compare", "compare", progress, partial=True, why=why, keep=keep, seen=seen)
    if scenario is not None:
        from elephan.experiment.compare.on_scenario import compare_on

        return compare_on(read, scenario, changes, agreed, count, seed, out, how, report)
    network = read_network(rate, rtt, buffer, changes)
    check_rtt(network, quick)
    begin = 1 if seed is None else seed
    panel, interrupted = _run(read, network, agreed, quick, range(begin, begin + count), how)
    if out is not None:
        panel.save(out, progress, report)
    if interrupted:
        raise Interrupted(panel, out)
    return panel


@dataclass(frozen=True)
class Metrics:
    """What each experiment measures in its runs. Series of one flow alone are those of the first seed."""

    network: Network
    quick: bool
    first_seed: int

    def name(self, job: Job) -> str:
        series = job.variant.experiment != ALONE.name or job.seed == self.first_seed
        return f"compare {job.variant.experiment} {json.dumps(self.network.as_dict())} {self.quick} {series}"

    def __call__(self, job: Job, run: Run) -> Measured:
        experiment = next(one for one in experiments() if one.name == job.variant.experiment)
        values, series = experiment.measure(run, self.network, experiment.times(self.quick))
        kept = series if experiment is not ALONE or job.seed == self.first_seed else {}
        return Measured({name: value for name, value in values.items() if not math.isnan(value)}, kept)


def _run(controllers: list[Controller], network: Network, agreed: Trust, quick: bool, seeds: range, how: How) -> tuple[Panel, bool]:
    """The comparison, and whether Ctrl-C ended it early."""
    chosen = experiments()
    jobs = _jobs(settings(controllers, chosen), network, agreed, quick, seeds)
    outcomes = run_jobs(jobs, Metrics(network, quick, seeds[0]), how).checked()
    rows, series = outcomes.trials, []
    for outcome in outcomes:
        if outcome.measured is not None and outcome.measured.series:
            one = outcome.trial
            where = {"experiment": one.experiment, "variant": one.variant, "seed": one.seed}
            series.append({**where, "columns": outcome.measured.series})
    first = {name: outcomes.first(name) for name in dict.fromkeys(row.experiment for row in rows)}
    facts = {
        "network": network.as_dict(),
        "repetitions": len(seeds),
        "seed": seeds[0],
        "quick": quick,
        "experiments": [_described(one, quick) for one in chosen],
        "scenarios": {name: one["scenario"] for name, one in first.items()},
        "provenance": {name: one["provenance"] for name, one in first.items()},
        "failures": outcomes.failures,
        **outcomes.incomplete,
        "guests": outcomes.guests,
    }
    variants = list({(job.variant.experiment, job.variant.label): job.variant for job in jobs}.values())
    return Panel(controllers, Trials(rows, variants), series, facts), outcomes.interrupted


def _described(experiment: Experiment, quick: bool) -> dict[str, Any]:
    times = experiment.times(quick)
    return {
        "name": experiment.name,
        "title": experiment.title,
        "duration_s": times.duration_s,
        "warmup_s": times.warmup_s,
        "event_s": list(times.event_s),
    }
