"""L4S: Prague beside CUBIC at DualPI2, in two queues and below a segment a round trip."""

from __future__ import annotations

from typing import Any

import elephan as el
import numpy as np
import pytest


def _delays_ms(run: el.Run, base_ms: float) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """Queueing delays of each controller's flows after the warm-up."""
    names = dict(zip(run.flows["flow"].to_pylist(), run.flows["congestion_control"].to_pylist(), strict=True))
    samples = run.flow_samples.to_pylist()
    return {
        name: np.array(
            [
                row["sample_rtt_ns"] / 1e6 - base_ms
                for row in samples
                if names[row["flow"]] == name and row["time_ns"] > run.warmup_ns and row["sample_rtt_ns"] is not None
            ]
        )
        for name in names.values()
    }


@pytest.mark.parametrize("rate", ["40 Mbps", "120 Mbps"])
def test_each_kind_of_packet_waits_in_its_own_queue(rate: str) -> None:
    run = el.run("l4s", set={"template.rate": rate, "record.every": "10 ms", "duration": "60 s"})
    delays = _delays_ms(run, 20)
    assert np.percentile(delays["prague"], 99) < 2  # what L4S promises (RFC 9330 section 1); marks begin at 0.8 ms
    assert 10 < np.mean(delays["cubic"]) < 20  # the target of the classic queue is 15 ms (RFC 9332 appendix A.1)
    assert run.statistic("utilisation.max") > 0.98


@pytest.mark.parametrize(
    ("rate", "delay"), [("12 Mbps", "5 ms"), ("40 Mbps", "2.5 ms"), ("40 Mbps", "50 ms"), ("200 Mbps", "5 ms")]
)
def test_the_two_share_the_line_within_two_to_one(rate: str, delay: str) -> None:
    run = el.run("l4s", set={"template.rate": rate, "template.delay": delay})
    prague, cubic = (run.statistic(f"goodput_bps[{name}].sum") for name in ("prague", "cubic"))
    assert 0.5 < prague / cubic < 2


def test_short_and_long_round_trips_of_prague_get_the_same_rate() -> None:
    """Draft section 2.4.4: below the target of 25 ms the rate does not depend on the round trip; DCTCP's goes as its inverse."""
    text = """
duration = "60 s"
warmup = "20 s"
[template]
kind = "dumbbell"
pairs = 2
rate = "100 Mbps"
delay = "1 ms"
access_delay = { linear = ["0.5 ms", "5.5 ms"] }
queue = { kind = "fifo", limit = "1 MB", mark_above = "30 p" }
"""
    each = """
[[traffic]]
name = "NAME"
from = "sender[NUMBER]"
to = "receiver[NUMBER]"
kind = "bulk"
congestion_control = CONTROLLER
tcp = { ecn = "accurate" }
"""
    ratios = {}
    for target in ("25 ms", "0 s"):
        controller = f'{{ kind = "prague", rtt_target = "{target}" }}'
        flows = [each.replace("NUMBER", str(n)).replace("NAME", f"f{n}").replace("CONTROLLER", controller) for n in (0, 1)]
        run = el.run(text + "".join(flows))
        short, long = run.flows["goodput_bps"].to_pylist()
        ratios[target] = short / long
    assert ratios["25 ms"] < 1.5
    assert ratios["0 s"] > 3


def test_below_a_segment_a_round_trip_packets_are_paced() -> None:
    """Ten flows at 2 Mb/s and 10 ms have 0.17 segments a round trip each; two in flight would be 120 ms of queue."""
    text = """
duration = "60 s"
warmup = "20 s"
[template]
kind = "dumbbell"
pairs = 10
rate = "2 Mbps"
delay = "5 ms"
queue = { kind = "dualpi2", preset = "rfc9332", step_thresh = "12 ms" }
[record]
every = "100 ms"
[[traffic]]
name = "prague"
from = "sender[0-9]"
to = "receiver[0-9]"
kind = "bulk"
congestion_control = "prague"
tcp = { ecn = "accurate" }
"""
    run = el.run(text)
    assert run.statistic("utilisation.max") > 0.9
    assert run.statistic("goodput_bps.jain") > 0.9
    assert np.median(_delays_ms(run, 10)["prague"]) < 60
    late = [row for row in run.events.to_pylist() if row["kind"] == "rto" and row["time_ns"] > run.warmup_ns]
    assert len(late) <= 3  # of ten flows in 40 s; the first windows of ten segments overflow


@pytest.mark.parametrize("ecn", ["off", "classic"])
def test_without_accurate_ecn_it_is_reno_and_says_so(ecn: str) -> None:
    from elephan.report.words.warnings import warnings

    run = el.run("l4s", set={"traffic.prague.tcp": {"ecn": ecn}, "duration": "30 s", "warmup": "10 s"})
    assert any(
        '1 flow of prague has no Accurate ECN, and without marks prague is Reno: say tcp = { ecn = "accurate" }.' in line
        for line in warnings(run)
    )
    assert run.flows["ecn_signals"].to_pylist()[0] == 0
