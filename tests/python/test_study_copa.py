"""The study copa-2018: its theory by hand, its claims name what is run and have the bounds of the rules, and a queue comes out."""

from __future__ import annotations

import elephan as el
import numpy as np
import pytest
from elephan.experiment.study import open_study
from elephan.statistic import measures
from elephan.studies.copa_2018 import theory


def test_the_swing_of_the_queue() -> None:
    """Section 3: 2.5 / delta packets; flows together have delta = 1 / (sum of 1 / delta)."""
    assert theory.longest_queue_packets(0.5) == 5
    assert theory.longest_queue_packets(0.1) == 25
    assert theory.longest_queue_packets(*[0.5] * 8) == 40


def test_what_an_error_leaves() -> None:
    """Alone 2 / 1 ms = 2 000 packets of 1 448 B a second. Two at 120 Mb/s have 9 752.9 packets of 1 538 B a second together."""
    assert theory.alone_bps(1e-3) == pytest.approx(23.168e6)
    victim, other = theory.shares(120e6, 1e-3)
    assert victim + other == pytest.approx(9752.9, abs=0.1)
    # 2 / victim is longer than 2 / other by the error
    assert 2 / victim - 2 / other == pytest.approx(1e-3)
    assert victim / other == pytest.approx(0.1971, abs=1e-4)
    assert np.divide(*theory.shares(480e6, 1e-3)) == pytest.approx(0.0511, abs=1e-4)


def test_bounds_of_claims_are_those_of_the_rules() -> None:
    claims = {claim.id: claim for claim in open_study("copa-2018").claims}
    for claim in ("copa-1", "copa-1/short"):
        for part in claims[claim].parts:
            delta = float(part.variant.partition("/")[0])
            assert part.bounds.high == round((2.5 / delta + 1) * theory.QUEUED_BYTES)
    for part in claims["copa-3"].parts:
        assert part.bounds.high == round((theory.longest_queue_packets(*[0.5] * int(part.variant)) + 1) * 1518)
    for part in claims["copa-13"].parts:
        error_s = float(part.variant.split("/")[-1].removesuffix(" ms")) * 1e-3
        assert part.bounds.low == pytest.approx(0.75 * theory.alone_bps(error_s), rel=1e-6)
        assert part.bounds.high == pytest.approx(1.25 * theory.alone_bps(error_s), rel=1e-6)
    for part in claims["copa-15"].parts:
        error_s = float(part.variant.split("/")[-1].removesuffix(" ms")) * 1e-3
        ratio = float(np.divide(*theory.shares(120e6, error_s)))
        assert (part.bounds.low, part.bounds.high) == pytest.approx((ratio / 1.5, ratio * 1.5), rel=2e-3)


def test_claims_name_what_is_run() -> None:
    study = open_study("copa-2018")
    run = {(one.name, variant.label) for one in study.experiments for variant in one.variants}
    asked = {(p.experiment, v) for claim in study.claims for p in claim.parts for v in (p.variant, p.against) if v}
    assert asked <= run
    assert len({claim.id for claim in study.claims}) == len(study.claims) >= 20


def test_the_slow_packets_of_the_victim_take_as_long_as_those_of_the_other() -> None:
    """60 ms there and back: twice the access link and 15 ms, and the error once."""
    axis = next(one for one in open_study("copa-2018").experiments if one.name == "jitter").points["error"]
    for point in axis:
        delay = float(str(point.set.get("links[0].delay", "14.5 ms")).removesuffix(" ms"))
        assert 2 * (delay + 14.99 + 0.01) + point.value == pytest.approx(60)


def test_a_stretch_without_an_empty_queue() -> None:
    run = el.run("sawtooth", set={"duration": "6 s", "warmup": "1 s"})
    found = measures.statistics(run, ("nonempty_ns.max", "nonempty_ns.count"))
    assert 0 < found["nonempty_ns.max"] <= 5e9


def test_copa_alone_keeps_few_packets() -> None:
    study = open_study("copa-2018")
    one = next(one for one in study.experiments if one.name == "queue")
    variant = next(variant for variant in one.variants if variant.label == "0.5/10 Mb/s, 20 ms")
    run = el.run(study.scenario(one), seed=1, set={**one.set, **variant.overrides})
    assert run.statistic("queue_bytes.p99") <= 6 * theory.QUEUED_BYTES
    assert run.statistic("utilisation.max") > 0.9
