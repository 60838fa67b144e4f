"""The study uva-2003: its points follow from the formula, its claims name what is run, and its parts come out as they must."""

from __future__ import annotations

import math
from pathlib import Path

import elephan as el
import numpy as np
import pytest
from elephan.experiment.study import open_study, run_study
from elephan.studies.uva_2003 import area
from elephan.studies.uva_2003.gaps import gaps
from elephan.table import phases
from elephan.table.rows import column
from elephan.theory import closed as theory


def scenario(name: str) -> object:
    study = open_study("uva-2003")
    return study.scenario(next(one for one in study.experiments if one.scenario == name))


def test_points_of_the_area() -> None:
    """OC-3 over 50 ms is 632 segments of 1538 B (50 ms within half of one); it needs 810 kB of 0.5 MB, in frames."""
    points = {point.label: point for point in area.area()}
    one = points["OC-3 50 ms"].set
    assert one["tcp.initial_window"] == 632
    assert one["tcp.receive_window"] == f"{632 * 1460} B"
    assert area.needed_bytes(3, 632) == pytest.approx(632 * 1518 * 0.84448)
    assert area.loses(3, 50, clocked=False)
    assert not area.loses(3, 25, clocked=False)
    # 155.52 Mb/s x 50 ms / 2 = 486 kB of wire: slow start passes where a window at once does not
    assert not area.loses(3, 50, clocked=True)
    assert len(points) == 45
    assert {p.set["links[1].forward.queue.limit"] for p in points.values()} == {"500000 B"}


def test_windows_of_slow_start_end_at_a_doubling() -> None:
    for point in area.slow_start():
        first = int(point.set["tcp.initial_window"])
        segments = int(str(point.set["tcp.receive_window"]).removesuffix(" B")) // area.MSS
        assert math.log2(segments / first) == int(math.log2(segments / first))
        assert first <= 24


def test_claims_name_what_is_run() -> None:
    study = open_study("uva-2003")
    variants = {(e.name, v.label) for e in study.experiments for v in e.variants}
    for claim in study.claims:
        for part in claim.parts:
            assert (part.experiment, part.variant) in variants, (claim.id, part.variant)
            assert not part.against or (part.experiment, part.against) in variants, claim.id
    ids = [claim.id for claim in study.claims]
    assert {f"C004-{i}" for i in range(1, 8)} <= set(ids)
    assert len(ids) == len(set(ids))


def test_claims_of_the_area_say_what_the_formula_says() -> None:
    claim = next(c for c in open_study("uva-2003").claims if c.id == "C004-1/area")
    for part in claim.parts:
        level, rtt, _ = part.variant.split()
        lost = area.loses(int(level[3:]), float(rtt), clocked=part.experiment == "area-slow-start")
        assert part.bounds.admits(1) == lost, part.variant
        assert part.bounds.admits(0) != lost, part.variant


def test_delays_of_the_modifications() -> None:
    """The gap that makes 600 of 1000 Mb/s: 1538 B x 8 x (1 / 600 - 1 / 1000) us; a packet of 1538 B every 14 us is 878.9 Mb/s."""
    point = next(
        p
        for e in open_study("uva-2003").experiments
        if e.name == "modifications"
        for p in e.points["modification"]
        if "gap" in str(p.set)
    )
    assert point.set["hosts.sender.transmit.gap"] == "8.2 us"
    assert pytest.approx(8.2, abs=0.01) == 1538 * 8 * (1 / 600 - 1 / 1000)
    assert pytest.approx(878.9, abs=0.1) == 1538 * 8 / 14


def test_self_clocking(tmp_path: Path) -> None:
    """14 us apart from the host in the first round trip; 20 us behind 600 Mb/s, in the ACKs, and in all that follows."""
    found = gaps(el.run(scenario("clock.toml"), out=tmp_path / "r", report=False))
    sent, received = found["data, from the sender"], found["data, to the receiver"]
    assert np.allclose(sent.during(0, 0.0345) * 1e6, 14, atol=0.002)
    assert np.allclose(received.during(0, 0.0345) * 1e6, 20, atol=0.002)
    for one in found.values():
        assert one.during(0.06, 0.2).size > 6000
        assert np.allclose(one.during(0.06, 0.2) * 1e6, 20, atol=0.002)


def test_a_stall_is_no_loss() -> None:
    """Slide 9: with txqueuelen 100 slow start ends in the sender's queue; nothing is dropped, nothing sent twice."""
    run = el.run(scenario("path.toml"), set={"links[1].rate": "1.2 Gbps", "duration": "5 s"})
    flow = run.flows.to_pylist()[0]
    assert flow["send_stall"] >= 1
    assert flow["segs_retrans"] == 0
    assert sum(run.ports["drops"].to_pylist()) == 0
    # it has left slow start far below the 8127 segments of 1448 + 90 B that fill 1 Gb/s x 100 ms
    assert flow["max_ss_cwnd"] < 0.5 * 8127 * 1448
    found = run.phases()
    assert [stretch.name for stretch in found.stretches] == ["startup", "congestion avoidance"]
    assert found.cuts >= 1
    # 3 segments grow to the 1138 of a window of 356 + 782 packets or less in 15 round trips of 1.5 times each
    assert 1.0 < found.startup_s < 1.7


@pytest.mark.parametrize(("packets", "rate", "lost"), [(500, "1 Gbps", False), (5000, "1 Gbps", True), (5000, "700 Mbps", False)])
def test_a_receiver_that_cannot_cope(packets: int, rate: str, lost: bool) -> None:
    """15 us a packet are 66 667 a second, 820 Mb/s of packets of 1538 B."""
    run = el.run(scenario("receiver.toml"), set={"traffic.burst.packets": packets, "traffic.burst.rate": rate})
    assert (el.read_burst(run).lost > 0) == lost
    assert column(run.flows, "data_segs_out")[0] == packets
    assert sum(run.ports["drops"].to_pylist()) == 0


def test_the_memory_of_the_slides() -> None:
    """f = 1 Gb/s, M = 0.5 MB: at 158 ms (Amsterdam to Vancouver) all of OC-1 to OC-12 are forbidden, below 16 ms none."""
    low, high = theory.forbidden_area(area.FAST_BPS, area.MEMORY_BYTES, 0.158) or (0, 0)
    assert low < area.OC_BPS < 12 * area.OC_BPS < high
    assert theory.forbidden_area(area.FAST_BPS, area.MEMORY_BYTES, 0.0159) is None


def test_streams_need_not_start_at_once() -> None:
    """16 streams over 1.2 Gb/s that open in one burst stall at once in their host's queue; spread over a round trip they do not."""
    experiment = next(e for e in open_study("uva-2003").experiments if e.name == "starts")
    starts = {v.points[1].label: v.overrides for v in experiment.variants if v.points[0].label == "Lambda (1.2G)"}
    burst, spread = (
        column(el.run(scenario("path.toml"), set={**starts[label], "duration": "20 s"}).flows, "goodput_bps").sum()
        for label in ("within 10 ms", "within 100 ms")
    )
    assert spread > 1.3 * burst


@pytest.mark.slow
def test_the_quick_cut(tmp_path: Path) -> None:
    results = run_study("uva-2003", quick=True, out=tmp_path / "r")
    verdicts = results.verdicts
    assert not results.facts["failures"]
    found = {verdict.claim.id: verdict.verdict for verdict in verdicts}
    assert found["C004-2"] == found["slide-9"] == "holds"
    for figure in ("bursts", "clock", "forbidden", "early", "receiver", "modifications", "long", "txqueuelen", "jumbo", "routed"):
        assert f'id="figure-{figure}"' in (tmp_path / "r" / "report.html").read_text(encoding="utf-8")


def test_a_stream_far_below_its_path_is_in_no_steady_state() -> None:
    """A slow rise after a cut is steady as far as the series itself tells, not if the path carries ten times as much."""
    time = np.arange(0, 60, 0.1)
    rate = np.where(time < 1, 200e6, 100e6 + 1e6 * time)
    delivered = np.cumsum(rate * 0.1) / 8
    alone, known = (phases.find(time, delivered, 0.1, [1.0], plateau) for plateau in (None, 1e9))
    assert known.share("steady rate") < 0.02  # the second before the cut, in which nothing doubles
    assert known.share("congestion avoidance") > 0.95
    assert alone.plateau_bps < 0.2e9
    assert known.plateau_bps == 1e9
    # a line of 1 Mb/s a second from 160 Mb/s needs 790 s to 950 Mb/s
    assert known.recovery_s == pytest.approx(790, rel=0.02)
