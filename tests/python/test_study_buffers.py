"""The study buffers-2004: the paper's table and formulas by hand, and one short flow count run as the study runs it."""

from __future__ import annotations

import json
import math

import elephan as el
import pytest
from elephan.experiment.study import open_study
from elephan.studies.buffers_2004 import points, rows, theory

# Figure 15, typed from the paper: flows, packets, model, ns-2, router.
FIGURE_15 = """
100  64  96.9  94.7  94.9
100 129  99.9  99.3  98.1
100 258 100.0  99.9  99.8
100 387 100.0  99.8  99.7
200  46  98.8  97.0  98.6
200  91  99.9  99.2  99.7
200 182 100.0  99.8  99.8
200 273 100.0 100.0  99.8
300  37  99.5  98.6  99.6
300  74 100.0  99.3  99.8
300 148 100.0  99.9  99.8
300 222 100.0 100.0 100.0
400  32  99.7  99.2  99.5
400  64 100.0  99.8 100.0
400 128 100.0 100.0 100.0
400 192 100.0 100.0  99.9
"""


def test_the_table_is_that_of_the_paper() -> None:
    typed = [tuple(float(word) for word in line.split()) for line in FIGURE_15.strip().splitlines()]
    assert [(row.flows, row.packets, row.model, row.simulated, row.router) for row in rows.TABLE] == typed
    assert math.floor(155e6 * 0.1 / 8 / 1500) == rows.PATH
    for row in rows.TABLE:
        times = row.packets / theory.square_root_rule(row.flows, rows.PATH)
        assert min(abs(times - k) for k in (0.5, 1, 2, 3)) < 0.03


def test_a_row_is_judged_by_ns_2_or_the_router() -> None:
    """100 flows, 129 packets: 99.3 % in ns-2 and 98.1 % on the router, so 96.6 % at least and no upper bound."""
    (part,) = rows.claims()[1]["parts"]
    assert (part["variant"], part["min"]) == ("Reno/100 flows, 129 p", 0.966)
    assert "max" not in part
    (part,) = rows.claims()[0]["parts"]
    assert (part["min"], part["max"]) == (0.932, 0.964)


def test_equation_6() -> None:
    """10 000 flows: 98.99 % at the rule and 99.99997 % at twice it, as printed; 99.988 % at 1.5 times it, not 99.99988 %."""
    path = 10_000
    assert theory.utilisation(10_000, 100, path) == pytest.approx(0.9899, abs=5e-5)
    assert theory.utilisation(10_000, 200, path) == pytest.approx(0.9999997, abs=6e-8)
    assert theory.utilisation(10_000, 150, path) == pytest.approx(0.99988, abs=5e-6)
    # erf(3 sqrt(3) / (2 sqrt(2)) x 64 x 10 / 1355) = erf(0.8677) = 0.7802: not the 96.9 % of the table
    assert theory.utilisation(100, 64, rows.PATH) == pytest.approx(0.7802, abs=1e-4)


def test_deviation_of_independent_flows() -> None:
    """(1291 + 1291) / (3 sqrt(3) sqrt(100)) = 2582 / 51.96 = 49.69."""
    assert theory.deviation(100, 1291, 1291) == pytest.approx(49.69, abs=0.01)


def test_the_sawtooth() -> None:
    """Without a buffer three quarters; at half the path (0.25 x 0.875 + 0.625) / 0.875 = 0.9643; period 1.5 x 142^2 / 1000."""
    assert theory.sawtooth(0) == 0.75
    assert theory.sawtooth(0.5) == pytest.approx(0.84375 / 0.875)
    assert theory.sawtooth(1) == theory.sawtooth(2) == 1
    assert theory.period_s(142, 142, 1000) == pytest.approx(30.246)


def test_bursts_of_short_flows() -> None:
    """14 packets: E[X] = 14/3, E[X^2] = 28, so 0.8 / 0.4 x 6 - 0.8 x 14/6 = 10.13, and ln(40) x 12 = 44.27 packets of buffer."""
    assert theory.bursts(14) == [2, 4, 8]
    assert theory.bursts(16) == [2, 4, 8, 2]
    assert theory.mean_queue(0.8, [2, 4, 8]) == pytest.approx(12 - 5.6 / 3)
    assert theory.buffer_for(0.8, [2, 4, 8], 0.025) == pytest.approx(44.27, abs=0.01)
    assert [points.model_buffer(n) for n in points.LENGTHS] == [44, 84, 162]
    assert theory.tail(0.8, [2, 4, 8], 12) == pytest.approx(math.exp(-1))


def test_the_queue_itself_beside_its_approximations() -> None:
    """M/D/1 at 0.8 waits 2 packets in the mean, bursts of 2, 4, 8 wait 12 (Pollaczek and Khinchine)."""
    for sizes, mean in (([1], 2.0), ([2, 4, 8], 12.0)):
        tail = theory.exact_tail(0.8, sizes, 200)
        assert 0.4 + sum(tail) == pytest.approx(mean, rel=0.03)
    tail = theory.exact_tail(0.8, [2, 4, 8], 44)
    assert theory.third_order_tail(0.8, [2, 4, 8], 44) == pytest.approx(tail[-1], rel=0.05)
    assert theory.tail(0.8, [2, 4, 8], 44) < 0.7 * tail[-1]


def test_offered_load_counts_the_packets_without_data() -> None:
    """14 packets of 1500 B and three of 40 B are 21 120 B for 20 440 B of payload."""
    assert points.offered(14, 80e6) == pytest.approx(64e6 * 20_440 / 21_120)


def test_claims_name_what_is_run() -> None:
    study = open_study("buffers-2004")
    variants = {(e.name, v.label) for e in study.experiments for v in e.variants}
    for claim in study.claims:
        for part in claim.parts:
            assert (part.experiment, part.variant) in variants, claim.id
            assert not part.against or (part.experiment, part.against) in variants, claim.id
    assert {"buffers-1/400-192", "buffers-2", "buffers-32"} <= {claim.id for claim in study.claims}


def test_one_flow_behind_half_its_path() -> None:
    """The link idles as the sawtooth says: 96.4 %."""
    study = open_study("buffers-2004")
    single = next(one for one in study.experiments if one.name == "single")
    changes = {"template.queue.limit": "71 p", "duration": "150 s", "warmup": "50 s", "record.every": "1 s"}
    run = el.run(study.scenario(single), set=changes)
    assert run.statistic("utilisation.max") == pytest.approx(theory.sawtooth(0.5), abs=0.02)


def test_every_claim_that_does_not_hold_says_why_and_is_named() -> None:
    """Of the last full run: those that fail or stay open have a reason, and the README names each."""
    study = open_study("buffers-2004")
    verdicts = json.loads((study.path / "numbers.json").read_text(encoding="utf-8"))["claims"]
    unmet = {name for name, verdict in verdicts.items() if verdict != "holds"}
    assert {claim.id for claim in study.claims if claim.reason} == unmet
    readme = (study.path / "README.md").read_text(encoding="utf-8")
    assert [name for name in unmet if f"`{name}`" not in readme] == []
