"""The study l4s-2020: its rows are those of the source, its bounds follow from them, and a row comes out as it must."""

from __future__ import annotations

from collections import Counter

import elephan as el
import pytest
from elephan.experiment.study import open_study
from elephan.scenario import core
from elephan.statistic import measures
from elephan.studies.l4s_2020 import rows

# Typed again from s1_table.md and s6_steady_state.md: the flows, their round trips in ms and their rates in Mb/s.
TYPED = [
    ("dualpi2-50", "prague-cubic/20 and 20 ms", 31.85, 15.51),
    ("dualpi2-50", "prague-prague/160 and 10 ms", 1.56, 45.46),
    ("dualpi2-50", "prague-cubic/80 and 20 ms", 22.43, 24.89),
    ("pfifo-50", "cubic-prague/20 and 20 ms", 35.44, 12.24),
    ("pfifo-50", "prague-prague/160 and 10 ms", 10.35, 37.36),
    ("fq_codel-50", "cubic-cubic/160 and 10 ms", 21.32, 25.36),
    ("dualpi2-10", "cubic-prague/10 and 10 ms", 2.93, 6.22),
    ("dualpi2-10", "prague-prague/160 and 10 ms", 0.20, 8.66),
    ("pfifo-10", "cubic-cubic/80 and 20 ms", 5.78, 3.65),
    ("fq_codel-10", "prague-cubic/80 and 80 ms", 5.28, 3.95),
    ("classic", "pie/reno-ecn", 46.94, 0.78),
    ("classic", "fq_codel(1q,1ms/20ms)/cubic-noecn", 45.76, 1.83),
    ("classic", "red(400000b)/reno-noecn", 45.74, 1.87),
]


def test_rows_are_those_of_the_source() -> None:
    found = {(row.experiment, row.variant): row.measured_mbps for row in rows.rows()}
    assert len(found) == len(rows.rows()) == 144 + 24
    assert Counter(row.experiment for row in rows.rows()) == dict.fromkeys(rows.EXPERIMENTS, 24)
    for experiment, variant, first, second in TYPED:
        assert found[experiment, variant] == (first, second)


def test_each_row_is_run_and_each_variant_has_its_row() -> None:
    run = {(one.name, variant.label) for one in open_study("l4s-2020").experiments for variant in one.variants}
    assert {(row.experiment, row.variant) for row in rows.rows()} == {one for one in run if one[0] != "bucket"}


@pytest.mark.parametrize(
    ("variant", "winner", "near"),
    [
        # 31.85 / 15.51 = 2.053514: 1.642811 to 2.566892
        ("prague-cubic/20 and 20 ms", {"above": 1.0}, {"min": 1.642811, "max": 2.566892}),
        # 24.80 / 22.67 = 1.094, below 1.1: a tie
        ("cubic-cubic/20 and 20 ms", {"min": 0.8, "max": 1.25}, {"min": 0.8, "max": 1.25}),
        # 22.43 / 24.89 = 0.901165, whose inverse is 1.109675: no tie
        ("prague-cubic/80 and 20 ms", {"below": 1.0}, {"min": 0.720932, "max": 1.126456}),
    ],
)
def test_bounds_of_a_row(variant: str, winner: dict[str, float], near: dict[str, float]) -> None:
    (row,) = [row for row in rows.of("dualpi2-50") if row.variant == variant]
    assert (row.winner, row.near) == (winner, near)


def test_the_bucket_of_the_shaper_lengthens_what_queues_look_at() -> None:
    """1 600 B take 0.256 ms at 50 Mb/s and 1.28 ms at 10 Mb/s."""
    study = open_study("l4s-2020")
    said = {one.name: one.set["template.queue"] for one in study.experiments if "template.queue" in one.set}
    for rate, bucket_ms in ((50, 0.256), (10, 1.28)):
        assert bucket_ms == pytest.approx(1600 * 8 / (rate * 1e3))
        assert said[f"dualpi2-{rate}"]["step_thresh"] == f"{1 + bucket_ms:g} ms"
        assert said[f"dualpi2-{rate}"]["target"] == f"{15 + bucket_ms:g} ms"
        assert said[f"fq_codel-{rate}"]["target"] == f"{5 + bucket_ms:g} ms"


def test_round_trips_are_those_of_the_rows() -> None:
    """Twice both access links; the bottleneck has no delay of its own."""
    study = open_study("l4s-2020")
    one = next(one for one in study.experiments if one.name == "pfifo-10")
    for point in one.points["rtts"]:
        first, second = (float(word) for word in point.label.removesuffix(" ms").split(" and "))
        resolved = core.toml_values(core.resolved_toml(study.scenario(one), {**one.set, **point.set}, 1))
        delays = resolved.get("template", {}).get("access_delay") or point.set.get("template.access_delay")
        low, high = (float(delay.removesuffix(" ms")) for delay in delays["linear"]) if delays else (5.0, 5.0)
        assert (4 * low, 4 * high) == (first, second)


def test_the_first_over_the_last() -> None:
    run = el.run("l4s", set={"duration": "3 s", "warmup": "1 s"})
    first, last = run.flows["goodput_bps"].to_pylist()
    assert run.statistic("goodput_bps.first/last") == pytest.approx(first / last)
    assert measures.unit_of("goodput_bps.first/last") == "1"


def test_a_row_of_the_study() -> None:
    """Scenario 6, pie with ECN: Prague takes nearly all of the line from Reno, here in 15 s."""
    study = open_study("l4s-2020")
    one = next(one for one in study.experiments if one.name == "classic")
    variant = next(variant for variant in one.variants if variant.label == "pie/reno-ecn")
    short = {"duration": "15 s", "warmup": "8 s"}
    run = el.run(study.scenario(one), seed=1, set={**one.set, **variant.overrides, **short})
    assert run.statistic("goodput_bps.first/last") > 5
    assert run.statistic("utilisation.max") > 0.95
