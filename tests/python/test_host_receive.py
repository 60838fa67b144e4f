"""The receive side of hosts from Python: stepping by hand, measures and figures of a run."""

from __future__ import annotations

import elephan as el
import pytest
from elephan.statistic import measures


def burst(**words: object) -> tuple[int, int]:
    """Frames served and dropped of 5000 back to back at 1 Gb/s."""
    side = el.host.Receive(packet=15e-6, interrupts_per_s=0, **words)
    for i in range(5000):
        side.frame(i * 12.304e-6)
    side.advance(1.0)
    return len(side.served()), len(side.dropped())


def test_a_burst_loses_its_excess() -> None:
    # 5000 (1 - 12.304/15) = 898.7 less the room: ring and backlog, backlog, ring
    for words, lost in [({"backlog_full": "hold"}, 342.7), ({"backlog_full": "drop"}, 598.7), ({"napi": True}, 642.7)]:
        served, dropped = burst(**words)
        assert dropped == pytest.approx(lost, abs=2)
        assert served + dropped == 5000


def test_parameters_and_errors() -> None:
    side = el.host.Receive(ring=100)
    assert el.host.parameters(side)["ring"] == "100 p"
    with pytest.raises(el.InputError, match="unknown key"):
        el.host.Receive(rign=100)
    side.frame(1.0)
    with pytest.raises(el.InputError, match="must not go back"):
        side.frame(0.5)
    with pytest.raises(el.InputError):
        el.host.SackWalk("quick")


def test_the_walk() -> None:
    walk = el.host.SackWalk("fastpath")
    assert walk.walk([(5000, 6000)], 1000, 500_000, 1000) == 500
    assert walk.walk([(5000, 7000)], 1000, 500_000, 1000) == 1
    full = el.host.SackWalk("full")
    # 40 ns a segment, three blocks, 100 segments: 12 us
    assert 40e-9 * full.walk([(9, 10), (5, 6), (3, 4)], 1, 144_800) == pytest.approx(12e-6)


def test_measures_and_figure_of_a_run() -> None:
    run = el.run("slow-receiver", set={"duration": "1 s", "hosts.receiver.cpu.logger": "10 ms"})
    assert measures.statistic(run, "host_drops.sum") == run.summary["hosts"]["drops"] > 0
    assert 0.4 < measures.statistic(run, "cpu.max") < 0.8
    assert measures.statistic(run, "logger_gap_ns.max") == pytest.approx(run.summary["hosts"]["logger_gap_max_s"] * 1e9, rel=1e-6)
    from elephan.report.figure.run_figures import draw

    assert "receiver" in draw(run, "host").caption
