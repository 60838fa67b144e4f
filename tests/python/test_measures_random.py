"""Rules that hold for all measures, over random small scenarios: no rate above its line, and no figure that samples decide."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import elephan as el
import pytest
from elephan.base.errors import ElephanError
from elephan.statistic import measures, needs

SLACK = 1 + 1e-9
TAKES = ("mean", "sum", "max", "min", "count", "p95", "jain")
# What only samples know: `wire_bps` is finer with them, the others say how a share goes over time.
SAMPLED = {one.name for one in measures.MEASURES.values() if needs.samples in one.needs}
OF_SAMPLES = SAMPLED | {"wire_bps", "convergence_ns", "delta_fair_ns", "reclaim_ns", "window_after_gap"}


def scenario(seed: int) -> tuple[dict[str, Any], float]:
    """A dumbbell of two to four pairs with random traffic, and the rate of its bottleneck."""
    draw = random.Random(seed)
    rate = draw.choice([2, 10, 50]) * 1e6
    duration = draw.choice([1.0, 2.0])
    pairs = draw.randint(2, 4)
    traffic = []
    for i in range(pairs):
        kind = draw.choice(["bulk", "bulk", "transfers", "cbr", "messages"])
        one: dict[str, Any] = {"name": f"t{i}", "from": f"sender[{i}]", "to": f"receiver[{i}]", "kind": kind}
        one["start"] = f"{draw.choice([0, 0, draw.randint(0, 800)])} ms"
        if kind == "bulk":
            one["congestion_control"] = draw.choice(["reno", "cubic", "bbr", "vegas"])
            if draw.random() < 0.4:
                one["size"] = f"{draw.randint(2, 300)} KB"
        elif kind == "cbr":
            one["rate"] = f"{draw.uniform(0.1, 1.5) * rate:.0f} bps"
        else:
            one["size"] = {"exponential": f"{draw.randint(2, 60)} KB"}
            one["load"] = f"{draw.uniform(0.1, 0.9) * rate:.0f} bps"
        traffic.append(one)
    found = {
        "duration": f"{duration} s",
        "warmup": f"{draw.choice([0, 100, 500])} ms",
        "stack": draw.choice(["rfc", "linux", "windows"]),
        "template": {
            "kind": "dumbbell",
            "pairs": pairs,
            "rate": f"{rate:.0f} bps",
            "delay": f"{draw.choice([1, 10, 40])} ms",
            "access_rate": f"{rate * draw.choice([1, 10]):.0f} bps",
            "queue": {"kind": draw.choice(["fifo", "codel", "fq_codel"]), "limit": f"{draw.choice([10, 100, 400])} p"},
            "loss": draw.choice(["none", "none", {"bernoulli": 0.01}]),
        },
        "traffic": traffic,
    }
    return found, rate


def figure(run: Any, name: str) -> float | str:
    try:
        return float(measures.statistic(run, name))
    except ElephanError as error:
        return str(error)


def same(a: float | str, b: float | str) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return a == b or (math.isnan(a) and math.isnan(b))


@pytest.mark.parametrize("seed", range(12))
def test_rules_for_all_measures(seed: int) -> None:
    words, rate = scenario(seed)
    fine, coarse, none = (
        el.run(json.dumps(words), seed=seed, set={"record.every": every}) for every in ("5 ms", "130 ms", words["duration"])
    )
    for run in (fine, coarse, none):
        # No port sends more than its line carries, and no sum of goodputs is above the bottleneck.
        assert figure(run, "utilisation.max") <= SLACK
        for name in ("goodput_bps.sum", "delivered_bps.sum", "wire_bps.max"):
            found = figure(run, name)
            access = 10 if name == "wire_bps.max" else 1  # the last hop may be faster than the bottleneck
            assert isinstance(found, str) or found <= access * rate * SLACK, (name, found)
        for one in range(len(words["traffic"])):
            found = figure(run, f"goodput_bps[t{one}].sum")
            assert isinstance(found, str) or found <= rate * SLACK
    for name in measures.MEASURES:
        for take in TAKES:
            if name in OF_SAMPLES or isinstance(measures.MEASURES[name].takes.get(take), str):
                continue
            if f"{name}.{take}" in ("goodput_bps.jain", "delivered_bps.jain"):
                continue  # of the time that flows share, which samples tell
            found = [figure(run, f"{name}.{take}") for run in (fine, coarse, none)]
            assert same(found[0], found[1]), (name, take, found)
            assert same(found[0], found[2]), (name, take, found)


@pytest.mark.parametrize("seed", range(0, 12, 4))
def test_each_number_says_of_which_time_it_is(seed: int) -> None:
    """Terminal, notebook and summary table name the time of every statistic where there is a warm-up."""
    words, _ = scenario(seed)
    run = el.run(json.dumps(words), seed=seed, set={"warmup": "200 ms"})
    for name in measures.usual(run):
        assert measures.time_of(run, name) in ("whole run", "after the warm-up")
    html = run._repr_html_()
    assert "after the warm-up" in html
    if "drops.sum" in measures.usual(run):
        assert "whole run" in html
