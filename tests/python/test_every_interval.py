"""Every statistic says what values it can have: those of runs lie within, and no interval of any command reaches beyond."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import elephan as el
import numpy as np
import pytest
from drawn import scenario
from elephan.experiment.compare.experiments import STATISTICS
from elephan.experiment.sweep import Sweep
from elephan.experiment.trials import Trial, Variant
from elephan.report.words.effects import effects
from elephan.report.words.swept import Swept
from elephan.scenario.source import library
from elephan.statistic import bounds, measures
from elephan.statistic.measure import MEASURES, TAKES, Measure
from elephan.statistic.observed import flow_column

ALL = tuple(f"{name}.{take}" for name, one in MEASURES.items() for take in TAKES if not isinstance(one.takes.get(take), str))
FAST = {"sawtooth", "incast", "disk-to-disk", "udp-burst", "slow-receiver", "pause-head-of-line", "short-and-fat", "load-latency"}
RANDOM = 4  # of the fast suite
# What kinds of numbers can be; Jain's index of n flows is 1/n at least (Jain, Chiu, Hawe 1984).
ENDS = {
    "share": lambda flows: (0.0, 1.0),
    "index": lambda flows: (1 / flows if flows else 0.0, 1.0),
    "amount": lambda flows: (0.0, math.inf),
    "multiple": lambda flows: (1.0, math.inf),
    "number": lambda flows: (-math.inf, math.inf),
}


def beyond(run: Any) -> Iterator[str]:
    """Statistics of a run that say of themselves what is not so."""
    found = measures.statistics(run, ALL, strict=False)
    for name, value in found.items():
        low, top = ENDS[bounds.kind_of(name)](run.flows.num_rows)
        if not math.isnan(value) and not low - 1e-9 <= value <= top + 1e-9:
            yield f"{name} = {value}, said to be from {low} to {top}"


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(one, marks=() if one in FAST else pytest.mark.slow) for one in sorted(library())),
        # The flow of 188 that starts last has no samples.
        *(pytest.param(one, marks=pytest.mark.slow if one >= RANDOM and one != 188 else ()) for one in range(200)),
    ],
)
def test_every_statistic_of_a_run_is_what_it_is_said_to_be(name: str | int) -> None:
    run = el.run(name) if isinstance(name, str) else el.run(json.dumps(scenario(name)), seed=name)
    assert list(beyond(run)) == []


@pytest.mark.parametrize(
    ("unit", "more", "what"),
    [("%", {}, "share"), ("1", {"index": True}, "index"), ("1", {}, "amount")],
)
def test_a_new_statistic_with_wrong_bounds_is_noticed(
    unit: str, more: dict[str, bool], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = el.run("sawtooth", set={"duration": "3 s", "warmup": "1 s"})
    goodput = flow_column("goodput_bps")
    monkeypatch.setattr("elephan.statistic.measure.MEASURES", {**MEASURES})
    monkeypatch.setattr("elephan.statistic.measures.MEASURES", {**MEASURES})
    wrong = (lambda run: -goodput(run)) if what == "amount" else goodput
    made = Measure("made", unit, "made up", wrong, **more)
    measures.MEASURES["made"] = made
    monkeypatch.setattr(f"{__name__}.ALL", ("made.max", "made.mean"))
    assert len(list(beyond(run))) == 2


def made(name: str, values: list[float], less: list[float], flows: int) -> Sweep:
    """A sweep over two values of two parameters whose first half has some values and whose second half has others."""
    variants, rows = [], []
    for p in (1, 2):
        for q in (1, 2):
            label = f"p={p} q={q}"
            variants.append(Variant(label, {"p": p, "q": q}))
            rows += [Trial(label, seed, {name: one}) for seed, one in enumerate(values if p == 1 else less)]
    return Sweep("made up", variants, rows, {"flows": {one.label: flows for one in variants}})


def extremes(low: float, top: float) -> tuple[list[float], list[float]]:
    """Values at the ends of what is possible, whose t interval reaches beyond."""
    low, top = max(low, -10.0), min(top, 10.0)
    return [low, low, low + 0.6 * (top - low)], [top, top, top - 0.6 * (top - low)]


@pytest.mark.parametrize("flows", [2, 5])
def test_no_interval_of_a_statistic_reaches_beyond_it(flows: int) -> None:
    """Means, differences and effects, of commands and of reports: those of all registered statistics."""
    seen = 0
    for name in ALL:
        ends = (bounds.low_of(name, flows), bounds.top_of(name))
        assert ends == ENDS[bounds.kind_of(name)](flows)
    # One of each kind and take: intervals know no more of a statistic.
    several = {(bounds.kind_of(name), name.rpartition(".")[2]): name for name in ALL}
    for name in several.values():
        low, top = ENDS[bounds.kind_of(name)](flows)
        apart = (low - top, top - low)
        values, less = extremes(low, top)
        sweep = made(name, values, less, flows)
        first, last = sweep.labels[0], sweep.labels[-1]
        swept = Swept(sweep)
        means = [sweep.interval(first, name), sweep.interval(last, name), swept.estimates(name).at(0), swept.estimates(name).at(3)]
        differences = [sweep.difference(a, b, name) for a, b in ((first, last), (last, first))]
        differences += [swept.difference(name, np.array([3, 3, 3, 3])).at(0)]
        differences += [one.interval for one in effects(swept, name)]
        for one in means:
            assert low <= one.low <= one.mean <= one.high <= top, (name, one)
        for one in differences:
            assert apart[0] - 1e-12 <= one.low <= one.mean <= one.high <= apart[1] + 1e-12, (name, one)
        seen += len(means) + len(differences)
    assert seen >= 8 * len(several) > 300


@pytest.mark.parametrize("values", [[0.7], [0.7, 0.7, 0.7], [0.3, 0.1 + 0.2]])
def test_one_run_or_equal_runs_have_no_interval(values: list[float]) -> None:
    for name in {bounds.kind_of(name): name for name in ALL}.values():
        sweep = made(name, values, values, 2)
        for one in (sweep.interval(sweep.labels[0], name), sweep.difference(*sweep.labels[:2], name)):
            assert one.n == len(values)
            assert math.isnan(one.low) if len(values) == 1 else one.low == one.high == one.mean


def test_every_number_of_a_comparison_has_bounds() -> None:
    for name, about in STATISTICS.items():
        assert about.low < about.top, name
        assert (about.top == 1.0) == (name == "jain" or (about.unit == "%" and name != "drop_goodput_share")), name
