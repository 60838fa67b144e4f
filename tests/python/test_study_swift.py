"""The study swift-2020: the numbers of the paper, its target against values computed by hand, and a small run."""

from __future__ import annotations

import elephan as el
import pytest
from elephan.experiment.study import open_study
from elephan.studies.swift_2020 import figures, model, points


def test_the_target() -> None:
    """From 0.1 to 100 segments: alpha is 100 / (3.1623 - 0.1) = 32.655, so that one segment adds 32.655 - 3.266 = 29.39 us."""
    assert model.scaled(0.1) == pytest.approx(100.0)
    assert model.scaled(0.01) == 100.0
    assert model.scaled(100.0) == pytest.approx(0.0, abs=1e-9)
    assert model.scaled(400.0) == 0.0
    assert model.scaled(1.0) == pytest.approx(29.39, abs=0.01)
    assert model.target(0.05, 25.0) == 128.0
    assert model.target(1000.0, 25.0, hops=3) == 34.0


def test_the_fair_window() -> None:
    """50 Gb/s x 110.2 us are 688.75 kB: 137.75 packets of 5000 B, 0.02755 for each of 5000 flows."""
    assert model.fair_window(5000, 50e9, 110.2e-6, 5000) == pytest.approx(0.02755)


def test_collisions() -> None:
    """1538 B take 246.08 ns at 50 Gb/s; sqrt(pi 100 / 8) is 6.267."""
    assert model.period_ns(1000, 1538, 50e9) == pytest.approx(246_080)
    assert model.collisions(100) == pytest.approx(6.2666, abs=1e-4)


def test_points() -> None:
    """Targets from 15 to 70 us; 1000 flows of 50 Mb/s from ten machines."""
    labels = [point.label for point in points.targets()]
    assert (labels[0], labels[-1]) == ("15 us", "70 us")
    found = {point.label: point.set for point in points.flows()}
    assert found["1000"]["traffic.paced.connections"] == 100
    assert found["1000"]["traffic.paced.rate"] == "50000000 bps"
    assert found["1000"]["traffic.paced.start"] == {"uniform": ["0 s", "246080 ns"]}


def _bounds(claim: str) -> list[tuple[float, float]]:
    study = open_study("swift-2020")
    return [(part.bounds.low, part.bounds.high) for part in next(one for one in study.claims if one.id == claim).parts]


def test_margins_enclose_the_numbers_of_the_paper() -> None:
    """Typed again from the text: tables 3 and 4, section 5.5."""
    for claim, value in {
        "swift-3/throughput": 49.5e9,
        "swift-3/loss": 0.0003e-2,
        "swift-3/rtt": 110.2e3,
        "swift-3/least-throughput": 8.7e9,
        "swift-3/least-loss": 0.287,
        "swift-3/least-rtt": 2027.4e3,
        "swift-4/rate-two": 48.7e9,
        "swift-4/rtt-two": 129.2e3,
        "swift-4/tail-two": 175.1e3,
        "swift-4/rate-100": 41.6e9,
        "swift-4/rtt-150": 157.6e3,
        "swift-4/tail-200": 252.7e3,
        "swift-5/jain": 0.91,
    }.items():
        ((low, high),) = _bounds(claim)
        assert low <= value <= high, claim
    assert figures.PAPER_HOSTS["100 us"] == ("41.6 Gb/s", "118.3 us", "154.4 us")


def test_claims_name_what_is_run() -> None:
    study = open_study("swift-2020")
    variants = {(e.name, v.label) for e in study.experiments for v in e.variants}
    for claim in study.claims:
        for part in claim.parts:
            assert (part.experiment, part.variant) in variants, (claim.id, part.variant)
            assert not part.against or (part.experiment, part.against) in variants, claim.id


def test_a_target_for_each_hop_makes_two_flows_fair() -> None:
    """Two flows for 20 ms: with one target for both the long path gets less than half of what the short one does."""
    study = open_study("swift-2020")
    experiment = next(one for one in study.experiments if one.name == "paths")
    found = {}
    for variant in experiment.variants:
        overrides = {**experiment.set, **variant.overrides, "duration": "40 ms"}
        run = el.run(study.scenario(experiment), set=overrides)
        found[variant.label] = run.statistic("goodput_bps.min/max")
        assert run.statistic("goodput_bps.sum") > 48e9
    assert found["not scaled"] < 0.5 < found["scaled"]
