"""The study bbr-2017: what was read from the paper's figures, its theory, and one small run of it."""

from __future__ import annotations

import elephan as el
import pytest
from elephan.experiment.study import open_study
from elephan.studies.bbr_2017 import points, rows
from elephan.studies.bbr_2017.points import Read

# Typed again from figure 10 of the Communications of the ACM: loss in percent, goodput in Mb/s.
BBR = {0.001: 91.1, 0.01: 91.3, 0.1: 90.7, 1: 89.6, 2: 88.5, 5: 86.7, 10: 77.1, 15: 72.8, 20: 0.5, 25: 0.5}
CUBIC = {0.001: 94.1, 0.01: 32.6, 0.1: 6.6, 1: 1.2, 2: 0.8, 5: 0.5, 10: 0.3, 15: 0.2, 20: 0.1, 25: 0.1, 30: 0.1, 40: 0.1, 50: 0.0}
# Figure 12: buffer in MB, median wait in s.
WAIT = {0.3: 19, 0.75: 44, 1.5: 86, 3: 166, 6: 376, 10: 613}


def test_marks_of_the_figures() -> None:
    read = points.digitised()
    for figure, curve, marks, factor in (("10", "BBR", BBR, 100), ("10", "CUBIC", CUBIC, 100), ("12", "CUBIC", WAIT, 1)):
        assert {round(one.x * factor, 6): one.y for one in read[figure, curve]} == marks
    assert read["5", "RTT"][5] == Read(41.0, 168.0, 2.0)


def test_windows() -> None:
    """sqrt(1.5 / 0.01) = 12.25 segments; RFC 9438, table 1: 187 at 1e-4 and 1054 at 1e-5 over 100 ms; one loss in 34.5 million."""
    assert points.reno_window(0.01) == pytest.approx(12.247, abs=1e-3)
    assert points.cubic_window(1e-4, 0.1) == pytest.approx(187, abs=1)
    assert points.cubic_window(1e-5, 0.1) == pytest.approx(1054, abs=1)
    assert points.cubic_window(0.01, 0.1) == points.reno_window(0.01)
    assert points.cubic_loss(187.4, 0.1) == pytest.approx(1e-4, rel=0.01)
    # The paper's example: 10 Gb/s over 100 ms are 83 333 packets.
    assert 1 / points.cubic_loss(83333.3, 0.1) == pytest.approx(33.5e6, rel=0.02)
    assert 1 / points.inverse_square(83333.3) == pytest.approx(6.94e9, rel=0.001)


def test_rounds() -> None:
    """10 Mb/s x 40 ms are 50 kB, 32.5 frames of 1538 bytes: five doublings from one."""
    assert points.segments(10e6, 0.04) == pytest.approx(32.51, abs=0.01)
    assert points.rounds(10e6, 0.04) == pytest.approx(5.02, abs=0.01)
    assert points.goodput(100e6) == pytest.approx(94.148e6, rel=1e-4)


def test_claims_of_the_marks() -> None:
    """5 % and 0.5 Mb/s either way of 90.7; every claim names what is run."""
    found = {claim["id"]: claim for claim in rows.claims()}
    (part,) = found["bbr-2/0.1"]["parts"]
    assert (part["min"], part["max"]) == (85_665_000, 95_735_000)
    study = open_study("bbr-2017")
    variants = {(one.name, variant.label) for one in study.experiments for variant in one.variants}
    for claim in study.claims:
        assert claim.says or claim.derived, claim.id
        for part in claim.parts:
            assert (part.experiment, part.variant) in variants, claim.id
            assert not part.against or (part.experiment, part.against) in variants, claim.id


def test_a_start() -> None:
    """STARTUP fills 10 Mb/s over 40 ms in half a second, leaves two products of 50 kB waiting, and drains them."""
    study = open_study("bbr-2017")
    start = next(one for one in study.experiments if one.name == "start")
    run = el.run(study.scenario(start), set={"duration": "3 s"})
    waiting = {name: run.statistic(f"queue_bytes[during {name}].p50") for name in ("420-540 ms", "1-3 s")}
    assert 80_000 < waiting["420-540 ms"] < 130_000
    assert waiting["1-3 s"] < 10_000
