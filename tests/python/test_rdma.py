"""RDMA over Ethernet through the Python front: controllers stepped by hand, and a run."""

from __future__ import annotations

from pathlib import Path

import elephan as el
import pytest
from elephan.base.errors import InputError
from elephan.report.figure.run_figures import draw
from elephan.report.figure.terminal import picture
from elephan.report.page import run_page


def test_dcqcn_by_hand() -> None:
    """Zhu et al. 2015: alpha is 1 at first, so that a notification halves; the timer of 55 us brings back half of the gap."""
    c = el.cc.new("dcqcn")
    assert c.pacing_rate == 40e9
    c.nic(rate=10e9, base_rtt=1e-5)
    c.on_cnp(0.0)
    assert c.pacing_rate == 5e9
    assert c.next_timer() == pytest.approx(55e-6)
    c.on_timer(55e-6)
    assert c.pacing_rate == 7.5e9
    assert c.state["target"] == 10e9


def test_hpcc_by_hand() -> None:
    """A full link for one round trip, nothing waiting: U = 1, and the window is 0.95 of 100 000 bytes and W_AI = 50."""
    c = el.cc.new("hpcc")
    c.nic(rate=100e9, base_rtt=8e-6)
    assert c.cwnd == 100_000
    c.on_telemetry([(0, 0, 0.0, 100e9)], acked=1000, sent=100_000)
    c.on_telemetry([(100_000, 0, 8e-6, 100e9)], acked=2000, sent=100_000)
    assert c.cwnd == pytest.approx(95_050)


def test_presets_and_wrong_values() -> None:
    assert el.cc.new("dcqcn", preset="mellanox-cx4").pacing_rate == 40e9
    with pytest.raises(InputError, match="no preset"):
        el.cc.new("dcqcn", preset="cx9")
    with pytest.raises(InputError, match="rate must be above 0"):
        el.cc.new("hpcc").nic(rate=0.0, base_rtt=1e-5)


def test_a_run(tmp_path: Path) -> None:
    """1 MB over an empty path of 10 Gb/s: 1000 packets of 1082 bytes, the last over a second link, and two delays."""
    file = tmp_path / "one.toml"
    file.write_text(
        """
title = "one"
duration = "5 ms"
[hosts.a]
[hosts.b]
[switches.s]
[[links]]
between = ["a", "s"]
rate = "10 Gbps"
delay = "1 us"
[[links]]
between = ["s", "b"]
rate = "10 Gbps"
delay = "1 us"
[[traffic]]
from = "a"
to = "b"
kind = "bulk"
size = "1 MB"
transport = "roce"
""",
        encoding="utf-8",
    )
    (row,) = el.run(file).flows.to_pylist()
    assert (row["protocol"], row["congestion_control"], row["delivered_bytes"]) == ("roce", "dcqcn", 1_000_000)
    assert row["fct_ns"] == pytest.approx(1001 * 865.6 + 2000, abs=2)
    assert row["slowdown"] == pytest.approx(1.0, abs=1e-4)


def test_an_idle_flow_is_drawn_by_what_it_delivers() -> None:
    """20 KB are through within 20 us, then nothing for half a millisecond; what the controller allows stays at 10 Gb/s."""
    run = el.run(
        """
duration = "2 ms"
[hosts.a]
[hosts.b]
[[links]]
between = ["a", "b"]
rate = "10 Gbps"
delay = "1 us"
[[traffic]]
from = "a"
to = "b"
kind = "messages"
size = "20 KB"
gap = "500 us"
transport = "roce"
[record]
every = "10 us"
"""
    )
    headings = [line.split(",")[0] for line in picture(run, 60) if not line.startswith("  ")]
    assert headings[0].startswith("goodput of messages in windows of 1")  # a round trip or more
    assert headings[1] == "allowed rate of messages"
    assert draw(run).title == "Goodput and allowed rate"
    shown = [drawing.name for section in run_page.page(run).sections for drawing in section.drawings]
    assert shown[0] == "goodput-window"
    assert not {"goodput", "windows", "sawtooth"} & {*shown}
