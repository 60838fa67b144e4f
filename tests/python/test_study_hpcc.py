"""The study hpcc-2019: the numbers of its sources typed again, its schemes, and a small run."""

from __future__ import annotations

import elephan as el
import pytest
from elephan.experiment.study import open_study
from elephan.studies.hpcc_2019 import points, rerun

LABELS = ["HPCC", "HPCC 99 %", "DCTCP", "TIMELY+w", "DCQCN+w", "DCQCN", "TIMELY"]


def test_schemes() -> None:
    """A window is the rate times T; DCTCP marks from 30 KB for each 10 Gb/s on."""
    found = {point.label: point.set for point in points.fabric()}
    assert list(found) == LABELS
    assert found["DCTCP"]["links[0].queue"]["min"] == "300000 B"
    assert found["DCTCP"]["links[1].queue"]["min"] == "1200000 B"
    assert found["DCTCP"]["traffic.flows.transport"] == "tcp"
    for scheme in ("DCQCN", "TIMELY"):
        bare, bounded = (found[name]["traffic.flows.congestion_control"] for name in (scheme, f"{scheme}+w"))
        assert bounded == bare | {"in_flight": "rate", "base_rtt": "13 us"}
    assert [point.label for point in points.beside_incast()] == [label for label in LABELS if label != "HPCC 99 %"]


def test_the_table_of_the_rerun() -> None:
    """Hadoop at 50 % (1 KB, 120 KB) and at 30 % with an incast (1 KB)."""
    assert rerun.AT_1_KB == {"HPCC": 1.71, "DCTCP": 3.53, "TIMELY+w": 4.16, "DCQCN+w": 4.35, "DCQCN": 8.60, "TIMELY": 10.25}
    assert rerun.AT_120_KB == {"HPCC": 3.32, "DCTCP": 3.79, "TIMELY+w": 4.12, "DCQCN+w": 4.22, "DCQCN": 6.75, "TIMELY": 7.77}
    assert rerun.BESIDE_INCAST == {"HPCC": 1.69, "DCTCP": 3.29, "DCQCN+w": 5.16, "TIMELY+w": 9.56, "DCQCN": 192, "TIMELY": 223}


@pytest.mark.parametrize(
    ("tables", "names"),
    [("AT_1_KB", "hpcc-3/1k-"), ("AT_120_KB", "hpcc-3/120k-"), ("BESIDE_INCAST", "hpcc-3/incast-")],
)
def test_claims_are_a_factor_of_two(tables: str, names: str) -> None:
    claims = {claim.id: claim for claim in open_study("hpcc-2019").claims}
    for scheme, value in getattr(rerun, tables).items():
        claim = claims[names + scheme.lower().replace("+", "-")]
        assert "re-run, not of the paper" in claim.source
        assert (claim.parts[0].bounds.low, claim.parts[0].bounds.high) == pytest.approx((value / 2, value * 2), abs=6e-4)


def test_claims_name_what_is_run() -> None:
    study = open_study("hpcc-2019")
    variants = {(e.name, v.label) for e in study.experiments for v in e.variants}
    for claim in study.claims:
        for part in claim.parts:
            assert (part.experiment, part.variant) in variants, (claim.id, part.variant)
            assert not part.against or (part.experiment, part.against) in variants, claim.id


def test_a_long_flow_is_back() -> None:
    """After a short flow has left, HPCC has 90 % of 25 Gb/s x 0.95 x 1000 / 1124."""
    study = open_study("hpcc-2019")
    experiment = next(one for one in study.experiments if one.name == "long-short")
    variant = next(one for one in experiment.variants if one.label == "HPCC")
    run = el.run(study.scenario(experiment), set={**experiment.set, **variant.overrides})
    assert 19.0e9 < run.statistic("goodput_bps[long].sum") < 21.3e9
