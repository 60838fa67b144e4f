"""L4S: Prague beside CUBIC at DualPI2, in two queues and below a segment a round trip."""

from __future__ import annotations

import re
from pathlib import Path
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


@pytest.mark.parametrize(("rtt_ms", "measured"), [(10, 2.67), (20, 2.11), (80, 1.69)])
def test_the_ratio_is_that_of_measurements(rtt_ms: int, measured: float) -> None:
    """github.com/heistp/l4s-tests, s1_table.md: DualPI2 at 50 Mb/s, means of two; Prague of 2020 had no target of round trips."""
    run = el.run(
        "l4s",
        set={
            "template.rate": "50 Mbps",
            "template.delay": f"{rtt_ms / 2} ms",
            "template.queue": {"kind": "dualpi2"},
            "traffic.prague.congestion_control": {"kind": "prague", "rtt_target": "0 s"},
            "record.every": "1 s",
        },
    )
    prague, cubic = (run.statistic(f"goodput_bps[{name}].sum") for name in ("prague", "cubic"))
    assert prague / cubic == pytest.approx(measured, rel=0.2)


def _beside_cubic(controller: Any, queue: dict[str, Any]) -> el.Run:
    changes = {
        "traffic.prague.congestion_control": controller,
        "template.queue": queue,
        "record.every": "10 ms",
        "duration": "60 s",
    }
    return el.run("l4s", set=changes)


def test_bbr3_with_l4s_keeps_the_queue_of_low_latency_short() -> None:
    """Its packets wait about as long as marks begin (0.8 ms), where those of plain BBR 3 wait with CUBIC's for 15 ms."""
    delays = _delays_ms(_beside_cubic({"kind": "bbr3", "l4s": True}, {"kind": "dualpi2", "preset": "rfc9332"}), 20)["bbr3"]
    assert np.median(delays) < 2
    assert np.median(_delays_ms(_beside_cubic("bbr3", {"kind": "dualpi2", "preset": "rfc9332"}), 20)["bbr3"]) > 5


def test_bbr3_says_that_l4s_needs_accurate_ecn() -> None:
    from elephan.report.words.warnings import warnings

    changes = {"traffic.prague.congestion_control": {"kind": "bbr3", "l4s": True}, "duration": "30 s", "warmup": "10 s"}
    said = '1 flow of bbr3 has no Accurate ECN, and without it l4s does nothing: say tcp = { ecn = "accurate" }.'
    assert not any("l4s" in line for line in warnings(el.run("l4s", set=changes)))
    assert any(said in line for line in warnings(el.run("l4s", set=changes | {"traffic.prague.tcp": {"ecn": "classic"}})))


def test_a_threshold_for_ect1_alone() -> None:
    """FQ-CoDel gives each flow half of the line. The threshold is for Prague; CUBIC waits for CoDel (5 ms, RFC 8290)."""
    queue = {"kind": "fq_codel", "ce_threshold": "1 ms"}
    waits = {}
    for selector in ("0x1/0x3", "0x0/0x0"):
        run = _beside_cubic("prague", queue | {"ce_threshold_selector": selector})
        waits[selector] = {name: float(np.median(delays)) for name, delays in _delays_ms(run, 20).items()}
        if selector == "0x1/0x3":
            assert run.statistic("goodput_bps.jain") > 0.99
    assert waits["0x1/0x3"]["prague"] < 2 < waits["0x1/0x3"]["cubic"]
    assert waits["0x0/0x0"]["cubic"] < 2  # everything is marked early


@pytest.mark.parametrize(
    ("queue", "said"),
    [
        ({"ce_threshold": "1 ms", "ce_threshold_selector": "ect1"}, '"ect1" is no selector VALUE/MASK'),
        ({"ce_threshold": "1 ms", "ce_threshold_selector": "0x2/0x1"}, "the value has bits outside the mask"),
        ({"ce_threshold_selector": "0x1/0x3"}, "give ce_threshold too"),
    ],
)
def test_wrong_selectors(queue: dict[str, str], said: str) -> None:
    with pytest.raises(el.ScenarioError, match=said):
        el.run("l4s", set={"template.queue": {"kind": "fq_codel", **queue}})


@pytest.mark.parametrize("ecn", ["off", "classic"])
def test_without_accurate_ecn_it_is_reno_and_says_so(ecn: str) -> None:
    from elephan.report.words.warnings import warnings

    run = el.run("l4s", set={"traffic.prague.tcp": {"ecn": ecn}, "duration": "30 s", "warmup": "10 s"})
    assert any(
        '1 flow of prague has no Accurate ECN, and without marks prague is Reno: say tcp = { ecn = "accurate" }.' in line
        for line in warnings(run)
    )
    assert run.flows["ecn_signals"].to_pylist()[0] == 0


def test_jitter_costs_prague_what_its_page_says() -> None:
    """Each row of the table in docs/models/prague.md, and the numbers below it, from the scenario that the page shows."""
    page = (Path(__file__).parents[2] / "docs/models/prague.md").read_text(encoding="utf-8")
    scenario = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[0]
    part = page.partition("**Behind jitter.**")[2].partition("**BBR version 3.**")[0]
    rows = re.findall(r"^\| (none|\d ms) \| ([\d.]+) \| ([\d.]+) \|$", part, re.MULTILINE)

    def goodput(control: str, jitter: str, order: str = "keep") -> float:
        change: dict[str, Any] = {"duration": "30 s", "warmup": "10 s", "traffic.bulk.congestion_control": control}
        if jitter != "none":
            change["links.sender->left.jitter"] = {"extra": {"exponential": jitter}, "order": order}
        return float(el.run(scenario, seed=1, set=change).statistic("goodput_bps.sum")) / 1e6

    assert [row[0] for row in rows] == ["none", "1 ms", "2 ms", "4 ms"]
    told = {jitter: (float(prague), float(cubic)) for jitter, prague, cubic in rows}
    found = {jitter: (round(goodput("prague", jitter), 1), round(goodput("cubic", jitter), 1)) for jitter in told}
    assert told == found
    lost = {
        jitter: [round(100 * (1 - one / before)) for one, before in zip(found[jitter], found["none"], strict=True)]
        for jitter in found
    }
    said = re.search(r"Prague loses (\d+) to (\d+) % of its goodput, CUBIC (\d+) to (\d+) %", " ".join(part.split()))
    assert said is not None
    assert [int(number) for number in said.groups()] == [lost["1 ms"][0], lost["4 ms"][0], lost["1 ms"][1], lost["4 ms"][1]]
    free = re.search(r"keeps ([\d.]+), ([\d.]+) and ([\d.]+) Mb/s", " ".join(part.split()))
    assert free is not None
    assert [float(number) for number in free.groups()] == [
        round(goodput("prague", jitter, "free"), 1) for jitter in ("1 ms", "2 ms", "4 ms")
    ]
