"""The study cubic-2008: the tables of RFC 9438 typed again, its equations by hand, and one entry run as the study runs it."""

from __future__ import annotations

import json
import math

import elephan as el
import pytest
from elephan.base.quantity import seconds
from elephan.experiment.study import open_study
from elephan.studies.cubic_2008 import rows, start, theory

# RFC 9438 section 5.1: loss rate, Reno, HSTCP, CUBIC with C = 0.04, 0.4, 4.
TABLE_1 = """
1e-2   12    12    12    12     12
1e-3   38    38    38    38     59
1e-4  120   263   120   187    333
1e-5  379  1795   593  1054   1874
1e-6 1200 12280  3332  5926  10538
"""
TABLE_2 = """
1e-2   12    12    12    12     12
1e-3   38    38    38    38     38
1e-4  120   263   120   120    120
1e-5  379  1795   379   379    379
1e-6 1200 12280  1200  1200   1874
"""


@pytest.mark.parametrize(("rtt", "table"), [(0.1, TABLE_1), (0.01, TABLE_2)])
def test_the_tables_are_those_of_the_rfc(rtt: float, table: str) -> None:
    typed = {name: tuple(int(value) for value in values) for name, *values in map(str.split, table.strip().splitlines())}
    assert typed == rows.PRINTED[rtt]


@pytest.mark.parametrize("rtt", [0.1, 0.01])
def test_the_tables_follow_from_the_equations(rtt: float) -> None:
    """Reno by 1.2 / sqrt(p), HSTCP by 0.12 / p^0.835, CUBIC by equation 6, to a segment where the RFC rounds otherwise."""
    for name, (reno, highspeed, *cubic) in rows.PRINTED[rtt].items():
        p = float(name)
        assert reno == pytest.approx(theory.PRINTED_RENO / math.sqrt(p), abs=1)
        assert highspeed == pytest.approx(theory.highspeed(p), abs=1)
        for c, value in zip((0.04, 0.4, 4.0), cubic, strict=True):
            assert value == pytest.approx(theory.printed(p, rtt, c), abs=1)


def test_equations() -> None:
    """alpha = 0.9 / 1.7; AIMD(1, 1/2) has sqrt(1.5 / p); equation 5 at R/p = 10^4: (0.4 x 3.7 / 1.2)^(1/4) x 1000 = 1053.8."""
    assert theory.alpha(0.7) == pytest.approx(0.529412, abs=1e-6)
    assert theory.aimd(1, 0.5, 1e-4) == pytest.approx(122.474, abs=1e-3)
    assert theory.aimd(theory.alpha(0.7), 0.7, 1e-4) == pytest.approx(122.474, abs=1e-3)
    assert theory.concave(1e-5, 0.1, 0.4) == pytest.approx(1053.83, abs=0.01)
    assert theory.peak(0.925, 0.7) == pytest.approx(1.0)


def test_the_cycle_step_by_step_has_the_mean_of_its_equation() -> None:
    """Without recovery the steps are within half a percent of the fluid, and a flow that begins on the cycle stays there."""
    steps = theory.Cycles(100_000, 0.1, recovery=0)
    top = theory.peak(theory.concave(1e-5, 0.1, 0.4), 0.7)
    assert steps.mean(top, 0, 50) == pytest.approx(1053.8, rel=0.005)
    # AIMD(0.53, 0.7) where the Reno-friendly window is the larger one
    assert theory.Cycles(1000, 0.01, recovery=0).mean(45, 20, 50) == pytest.approx(38.7, rel=0.02)


def test_settling_is_no_geometric_decay() -> None:
    """1 / x^2 grows by 2 x 0.3 x (3.7/3)^3 = 1.1256 a loss: from 0.3 it is 11.1 + 11.3 after ten, x = 0.211."""
    assert theory.settling(0.3, 10) == pytest.approx((1 / 0.09 + 11.256) ** -0.5, abs=1e-4)
    steps = theory.Cycles(100_000, 0.1, recovery=0)
    found = [mean for mean, _ in steps.means(1.1 * start.TOP, 101)]
    assert found[100] / theory.concave(1e-5, 0.1, 0.4) - 1 == pytest.approx(theory.settling(0.1, 100), rel=0.25)


def test_margins() -> None:
    by_id = {claim["id"]: claim["parts"][0] for claim in rows.claims()}
    assert len(by_id) == 50 + 11
    assert (by_id["cubic-1/C-0.4-1e-5"]["min"], by_id["cubic-1/C-0.4-1e-5"]["max"]) == (1000.8, 1107.2)
    # 100 Mb/s are 97.33 Mb/s of payload; 1.4e-5 is 1.35e-5 to 1.45e-5: 5 % and 0.835 x 3.57 %
    assert by_id["cubic-3/C-0.4-100"]["max"] == pytest.approx(97.333e6 * (1.05 + 0.835 * 0.05 / 1.4), rel=1e-4)


def test_a_run_begins_on_its_cycle() -> None:
    point = next(one for one in rows.tables() if one.label == "C 0.4, 1e-5, 100 ms")
    top = theory.concave(1e-5, 0.1, 0.4) / 0.925
    assert point.set["traffic.flow.tcp.ssthresh_initial"] == f"{round(top * 1460)} B"
    first, second, *_ = point.set["links[0].forward.loss"]["listed"]
    assert (first, second - first) == (round(2 * top), 100_000)
    cycle = 100_000 / 1053.83 * 0.1
    assert seconds(point.set["duration"]) - seconds(point.set["warmup"]) == pytest.approx(20 * cycle, rel=1e-3)


def test_claims_name_what_is_run() -> None:
    study = open_study("cubic-2008")
    variants = {(e.name, v.label) for e in study.experiments for v in e.variants}
    for claim in study.claims:
        for part in claim.parts:
            assert (part.experiment, part.variant) in variants, claim.id
            assert not part.against or (part.experiment, part.against) in variants, claim.id
    assert {"cubic-1/Reno-1e-2", "cubic-2/C-4-1e-6", "cubic-3/HSTCP-1000", "cubic-4/settling"} <= {c.id for c in study.claims}


def test_an_entry_of_the_table() -> None:
    """C = 0.4 at 1e-4 and 100 ms: 187 segments."""
    study = open_study("cubic-2008")
    tables = next(one for one in study.experiments if one.name == "tables")
    variant = next(one for one in tables.variants if one.label == "C 0.4, 1e-4, 100 ms")
    run = el.run(study.scenario(tables), set=variant.overrides)
    assert run.statistic("window_segments.mean") == pytest.approx(187, rel=0.05)


def test_every_claim_that_does_not_hold_says_why_and_is_named() -> None:
    """Of the last full run: those that fail or stay open have a reason, and the README names each."""
    study = open_study("cubic-2008")
    verdicts = json.loads((study.path / "numbers.json").read_text(encoding="utf-8"))["claims"]
    unmet = {name for name, verdict in verdicts.items() if verdict != "holds"}
    assert {claim.id for claim in study.claims if claim.reason} == unmet
    readme = (study.path / "README.md").read_text(encoding="utf-8")
    assert [name for name in unmet if f"`{name}`" not in readme] == []
