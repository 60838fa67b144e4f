"""The study incast-2009: its parameters, the model of WREN 2009 against values computed by hand, and a small run."""

from __future__ import annotations

import elephan as el
import pytest
from elephan.experiment.study import open_study
from elephan.studies.incast_2009 import model, points


def test_points_of_the_simulations() -> None:
    """Minimum timeouts, buffers and fragments of FAST 2008; a block of 1 MB is 256 KB of each of four servers."""
    assert [point.label for point in points.minima()] == [
        *("50 us", "100 us", "200 us", "500 us", "1 ms", "5 ms", "10 ms", "50 ms", "100 ms", "200 ms")
    ]
    assert [point.label for point in points.buffers()] == [f"{kb} KB" for kb in (32, 64, 128, 256, 512, 1024)]
    assert [point.label for point in points.fragments()] == ["10 KB", "100 KB", "256 KB", "1000 KB", "8000 KB"]
    sizes = {point.label: point.set["traffic.read.size"] for point in points.block_1mb()}
    assert sizes == {"4": "256000 B", "8": "128000 B", "16": "64000 B", "32": "32000 B", "64": "16000 B"}


def test_the_model() -> None:
    """Ten senders of 25 MB with 35 timeouts of 200 ms: 7 s and 0.2 s of transmission, 250 MB in 7.2 s are 278 Mb/s."""
    assert [model.timeouts(n) for n in (1, 8, 10, 40)] == [3.5, 28, 35, 35]
    assert model.time_without(25e6, 1e9, 0) == pytest.approx(0.2)
    assert model.goodput(10, 25e6, 1e9, 0.2) == pytest.approx(2e9 / 7.2)
    # 17265 waits of 0.1 ms are 1.73 s more
    assert model.time_without(25e6, 1e9, 1e-4) == pytest.approx(0.2 + 25e6 / 1448 * 1e-4)


def test_claims_name_what_is_run() -> None:
    study = open_study("incast-2009")
    variants = {(e.name, v.label) for e in study.experiments for v in e.variants}
    for claim in study.claims:
        for part in claim.parts:
            assert (part.experiment, part.variant) in variants, (claim.id, part.variant)
            assert not part.against or (part.experiment, part.against) in variants, claim.id


def test_a_short_timer_brings_goodput_back() -> None:
    """Sixteen servers for two seconds: with 200 ms the link is idle most of the time, with 200 us it is not."""
    study = open_study("incast-2009")
    experiment = next(one for one in study.experiments if one.name == "timer")
    found = {}
    for minimum in ("200 ms", "200 us"):
        variant = next(v for v in experiment.variants if v.label == f"{minimum}/16")
        run = el.run(study.scenario(experiment), set={**experiment.set, **variant.overrides, "duration": "2500 ms"})
        found[minimum] = run.statistic("goodput_bps[read].sum")
        assert run.statistic("rounds_timed_out.mean") > 0.5
    assert found["200 ms"] < 0.3e9 < 0.7e9 < found["200 us"]
