"""The study dctcp-2010: the numbers of the paper, its analysis against values computed by hand, and a small run."""

from __future__ import annotations

import elephan as el
import pytest
from elephan.experiment.study import open_study
from elephan.studies.dctcp_2010 import analysis, points


def test_critical_window_and_alpha() -> None:
    """10 Gb/s x 100 us are 83.3 packets of 1500 B; with K = 40 and two flows W* is 61.67 and alpha^2 (1 - alpha / 4) 0.0317."""
    pipe = analysis.pipe_packets(10e9, 100e-6)
    assert pipe == pytest.approx(83.333, abs=0.001)
    two = analysis.steady(pipe, 40, 2)
    assert two.w_star == pytest.approx(61.667, abs=0.001)
    wanted = (2 * 61.6667 + 1) / 62.6667**2
    assert wanted == pytest.approx(0.031661, abs=1e-6)
    assert two.alpha**2 * (1 - two.alpha / 4) == pytest.approx(wanted, rel=1e-5)
    assert two.alpha == pytest.approx(0.1821, abs=1e-4)


@pytest.mark.parametrize(
    ("flows", "alpha", "amplitude", "q_max", "q_min"), [(2, 0.1821, 11.41, 42, 30.59), (10, 0.4006, 26.70, 50, 23.30)]
)
def test_sawtooth(flows: int, alpha: float, amplitude: float, q_max: float, q_min: float) -> None:
    """Q_max is K + N, A is N (W* + 1) alpha / 2, the period in round trips is A / N."""
    one = analysis.steady(1000 / 12, 40, flows)
    assert one.alpha == pytest.approx(alpha, abs=1e-4)
    assert (one.amplitude, one.q_max, one.q_min) == pytest.approx((amplitude, q_max, q_min), abs=0.01)
    assert one.swing == pytest.approx(amplitude / flows, abs=0.01)


def test_alpha_for_large_windows_is_the_root_of_two_over_w() -> None:
    """The approximation of equation 6; and windows so small that every packet is marked."""
    assert analysis.alpha_of(20_000) == pytest.approx((2 / 20_000) ** 0.5, rel=0.01)
    assert analysis.alpha_of(1.0) == 1.0


def test_guidelines() -> None:
    """K > C x RTT / 7 keeps the queue from running empty for every N; g < 1.386 / sqrt(2 (C RTT + K)) is 0.088 here."""
    pipe = 140.0
    assert analysis.least_threshold(pipe) == 20
    assert min(analysis.least_queue(pipe, 20.5, n) for n in range(1, 60)) > 0
    assert min(analysis.least_queue(pipe, 19.5, n) for n in range(1, 60)) < 0
    assert analysis.largest_gain(1000 / 12, 40) == pytest.approx(0.0882, abs=1e-4)
    assert analysis.largest_gain(1000 / 12, 40) > 1 / 16


def test_points_of_incast() -> None:
    """1 MB over n servers: 25 kB of each of 40."""
    found = {point.label: point.set for point in points.servers()}
    assert found["40"] == {"hosts.server.count": 40, "traffic.query.size": "25000 B"}
    assert found["1"]["traffic.query.size"] == "1000000 B"
    assert {"10", "12", "30", "35"} < set(found)


def _bounds(claim: str) -> list[tuple[float, float]]:
    study = open_study("dctcp-2010")
    return [(part.bounds.low, part.bounds.high) for part in next(one for one in study.claims if one.id == claim).parts]


def test_margins_enclose_the_numbers_of_the_paper() -> None:
    """Typed again from the text: section 4.1, table 2, section 4.2."""
    for claim, values in {
        "dctcp-1/throughput": [0.95e9, 0.95e9],
        "dctcp-1/queue": [22 * 1518],
        "dctcp-1/share": [700e3],
        "dctcp-3/default": [7.8e9],
        "dctcp-3/raised": [9.2e9],
        "dctcp-5/rates": [46e6 * 1460 / 1538, 54e6 * 1460 / 1538, 475e6 * 1460 / 1538],
        "dctcp-9/tcp": [19e6],
        "dctcp-10/tcp-alone": [9.87e6],
        "dctcp-10/dctcp-alone": [9.17e6],
        "dctcp-10/tcp-beside": [46.94e6],
        "dctcp-10/dctcp-beside": [9.09e6],
        "dctcp-10/tcp-timeouts": [0.07],
        "dctcp-10/dctcp-timeouts": [0.0008],
    }.items():
        assert len(values) == len(_bounds(claim)), claim
        for value, (low, high) in zip(values, _bounds(claim), strict=True):
            assert low < value < high, claim


def test_claims_name_what_is_run() -> None:
    study = open_study("dctcp-2010")
    variants = {(e.name, v.label) for e in study.experiments for v in e.variants}
    for claim in study.claims:
        for part in claim.parts:
            assert (part.experiment, part.variant) in variants, (claim.id, part.variant)
            assert not part.against or (part.experiment, part.against) in variants, claim.id
    assert {int(claim.id.split("-")[1].split("/")[0]) for claim in study.claims} == set(range(1, 13))


def test_a_short_queue_at_full_throughput() -> None:
    """Two flows for two seconds: 0.949 Gb/s are 1460 of 1538 bytes at 1 Gb/s, and DCTCP's queue is that of the analysis."""
    study = open_study("dctcp-2010")
    experiment = next(one for one in study.experiments if one.name == "queue")
    runs = {}
    for scheme in ("TCP", "DCTCP"):
        variant = next(v for v in experiment.variants if v.label == scheme)
        short = {**experiment.set, **variant.overrides, "duration": "2 s", "warmup": "1 s"}
        runs[scheme] = el.run(study.scenario(experiment), set=short)
        assert runs[scheme].statistic("goodput_bps.sum") == pytest.approx(1e9 * 1460 / 1538, rel=0.001)
    median = runs["DCTCP"].statistic("queue_bytes[at sw->receiver].p50") / 1518
    assert 17 <= median <= 25
    assert runs["TCP"].statistic("queue_bytes[at sw->receiver].p50") / 1518 > 5 * median
