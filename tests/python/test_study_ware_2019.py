"""The study ware-2019: the model by hand, what was read of others, and one small run of it."""

from __future__ import annotations

import elephan as el
import pytest
from elephan.experiment.study import open_study
from elephan.studies.ware_2019 import grid, model, rows

SLOW = model.Path(10e6, 0.04)  # 833.3 packets a second, 33.3 in the pipe


def test_shares_by_hand() -> None:
    """At X = 4, N = 1: 1/2 - 1/8 - 4/133.3 = 0.345; PROBE_RTT takes (0.16 + 0.2 + 0.04) / 10 = 4 % of the time."""
    assert SLOW.product == pytest.approx(33.333, abs=1e-3)
    assert model.loss_based_share(SLOW, 4, 1) == pytest.approx(0.345)
    assert model.probe_share(SLOW, 4) == pytest.approx(0.04)
    assert model.bbr_share(SLOW, 4, 1) == pytest.approx(0.655 * 0.96)
    # One product and one flow: 1/2 - 1/2 - 0.12 is below 0, and BBR has all but 2.8 % of the time.
    assert model.bbr_share(SLOW, 1, 1) == pytest.approx(0.972)
    # 16 flows in 64 products: 1/2 - 1/128 - 64/2133 = 0.462; 2.56 + 0.24 s of 10.
    assert model.bbr_share(SLOW, 64, 16) == pytest.approx(0.5378 * 0.72, abs=1e-4)


def test_careful_share() -> None:
    """At X = 4, N = 1 BBR is stopped at p = 0.444: 0.556 x (166.7 x 0.112 - 8) = 6; without loss-based packets at 32 flows."""
    share = model.careful_share(SLOW, 4, 1) / 0.96
    assert share == pytest.approx(0.556, abs=0.002)
    assert share * (166.667 * (2 * share - 1) - 8) == pytest.approx(6, abs=1e-3)
    assert model.careful_share(SLOW, 4, 32) == pytest.approx(0.96)


def test_round_trips_by_hand() -> None:
    """16 flows keep 64 packets in flight, 76.8 ms; up to 8 see the empty path. Two such products less the pipe wait."""
    assert model.rtt_estimate_s(SLOW, 8) == 0.04
    assert model.rtt_estimate_s(SLOW, 16) == pytest.approx(0.0768)
    assert model.standing_queue(SLOW, 8) == pytest.approx(33.33, abs=0.01)
    assert model.standing_queue(SLOW, 16) == pytest.approx(128 - 33.33, abs=0.01)


def test_the_rerun() -> None:
    """Shares of one BBR flow, typed again from the plots of the re-run."""
    found = grid.rerun()
    assert [found["cubic", 1, queue] for queue in grid.QUEUES] == [0.74, 0.45, 0.35, 0.40, 0.38, 0.26, 0.04]
    assert [found["reno", 1, queue] for queue in grid.QUEUES] == [0.80, 0.37, 0.43, 0.40, 0.39, 0.34, 0.20]
    assert [found["fast", 1, queue] for queue in (1, 2, 4, 8, 16)] == [0.57, 0.33, 0.35, 0.35, 0.39]


def test_claims() -> None:
    """A cell is within 5 points of 9.653 Mb/s; a median needs half of the cells; every claim names what is run."""
    found = {claim["id"]: claim for claim in rows.claims()}
    (part,) = found["ware-4/cubic-4"]["parts"]
    assert part["min"] == pytest.approx((0.6288 - 0.05) * 9.65333e6, abs=2)
    assert len(found["ware-1/points"]["parts"]) == 42
    assert found["ware-1/points"]["need"] == 0.5
    study = open_study("ware-2019")
    variants = {(one.name, variant.label) for one in study.experiments for variant in one.variants}
    for claim in study.claims:
        assert claim.says or claim.derived, claim.id
        for part in claim.parts:
            assert (part.experiment, part.variant) in variants, claim.id
            assert not part.against or (part.experiment, part.against) in variants, claim.id


def test_a_shallow_queue_is_bbrs() -> None:
    """In one product CUBIC has little beside BBR, and both fill the link."""
    study = open_study("ware-2019")
    changes = {"template.queue.limit": "1 bdp", "duration": "30 s", "warmup": "10 s"}
    run = el.run(study.scenario(study.experiments[0]), set=changes)
    bbr, other = (run.statistic(f"goodput_bps[{name}].sum") for name in ("bbr", "other"))
    assert bbr > 2 * other
    assert bbr + other > 0.9 * grid.capacity(SLOW)
