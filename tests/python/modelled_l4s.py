"""What the page of Prague says that runs of the scenario l4s give, and DCTCP across two bottlenecks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import elephan as el
import numpy as np

DELAYS = ("2.5 ms", "5 ms", "10 ms", "25 ms", "50 ms")  # half of the round trips of the tables
LINUX_STEP = {"template.queue": {"kind": "dualpi2"}}
NO_TARGET = {"traffic.prague.congestion_control": {"kind": "prague", "rtt_target": "0 s"}}


def over_cubic(rate: str, delay: str, seeds: int = 1, settings: Mapping[str, Any] | None = None) -> float:
    """The mean over seeds of the goodput of the flow `prague` over that of the flow `cubic`."""

    def one(seed: int) -> float:
        run = el.run("l4s", seed=seed, set={"template.rate": rate, "template.delay": delay, **(settings or {})})
        return float(run.statistic("goodput_bps[prague].sum") / run.statistic("goodput_bps[cubic].sum"))

    return float(np.mean([one(seed) for seed in range(1, seeds + 1)]))


def row(rate: str) -> list[float]:
    return [over_cubic(rate, delay, 3) for delay in DELAYS]


def without_target() -> list[float]:
    found = [over_cubic(rate, "10 ms", 3, NO_TARGET) for rate in ("40 Mbps", "120 Mbps", "200 Mbps")]
    return [min(found), max(found)]


def beside_reno() -> list[float]:
    """The least and the most from 40 Mb/s and 20 ms on, but for 200 Mb/s and 100 ms, which is the last."""
    reno = {"traffic.cubic.congestion_control": "reno"}
    found = [over_cubic(rate, delay, 3, reno) for rate in ("40 Mbps", "120 Mbps", "200 Mbps") for delay in DELAYS[2:]]
    return [min(found[:-1]), max(found[:-1]), found[-1]]


def linux_steps() -> list[float]:
    """The least and the most at 4 and at 12 Mb/s with the defaults of Linux."""
    found = [[over_cubic(rate, delay, 3, LINUX_STEP) for delay in DELAYS] for rate in ("4 Mbps", "12 Mbps")]
    return [end(values) for values in found for end in (min, max)]


def measured_steps() -> list[float]:
    """The least and the most at 10 Mb/s where packets were measured, with the target and without."""
    found = [over_cubic("10 Mbps", delay, 3, LINUX_STEP | more) for delay in ("5 ms", "10 ms", "40 ms") for more in ({}, NO_TARGET)]
    return [min(found), max(found)]


@cache
def waits(kind: str, rate: str, delay: str) -> dict[str, list[float]]:
    """Median, 99th percentile and longest wait in ms of each flow's packets, and the ratio of goodputs."""
    control = {"kind": kind, "l4s": True} if kind == "bbr3" else {"kind": kind}
    changes = {"template.rate": rate, "template.delay": delay, "duration": "60 s", "warmup": "20 s", "record.every": "10 ms"}
    run = el.run("l4s", seed=1, set=changes | {"traffic.prague.congestion_control": control})
    name = dict(zip(run.flows["flow"].to_pylist(), run.flows["traffic"].to_pylist(), strict=True))
    columns = [run.flow_samples[column].to_pylist() for column in ("flow", "time_ns", "sample_rtt_ns")]
    found: dict[str, list[float]] = {"prague": [], "cubic": []}
    for flow, time_ns, rtt_ns in zip(*columns, strict=True):
        if time_ns > run.warmup_ns and rtt_ns is not None:
            found[name[flow]].append(rtt_ns / 1e6 - 2 * float(delay.split()[0]))
    ratio = run.statistic("goodput_bps[prague].sum") / run.statistic("goodput_bps[cubic].sum")
    told = {one: [float(np.median(each)), float(np.percentile(each, 99)), max(each)] for one, each in found.items()}
    return told | {"ratio": [float(ratio)]}


def waits_of_prague() -> list[float]:
    return [max(waits("prague", rate, delay)["prague"][1] for delay in _THREE) for rate in ("40 Mbps", "100 Mbps", "200 Mbps")]


_THREE = ("2.5 ms", "10 ms", "50 ms")


def waits_of_cubic() -> list[float]:
    """The median at 20 ms and 200 Mb/s, where CUBIC fills the line, and the longest of all."""
    most = max(waits("prague", rate, delay)["cubic"][2] for rate in ("40 Mbps", "100 Mbps", "200 Mbps") for delay in _THREE)
    return [waits("prague", "200 Mbps", "10 ms")["cubic"][0], most]


def median_waits() -> list[float]:
    return [waits("prague", rate, "10 ms")["prague"][0] for rate in ("200 Mbps", "40 Mbps")]


def bbr3_row(rate: str, delay: str) -> list[float]:
    """Ratio and 99th percentile of BBR 3, then of Prague."""
    return [
        value
        for kind in ("bbr3", "prague")
        for value in (waits(kind, rate, delay)["ratio"][0], waits(kind, rate, delay)["prague"][1])
    ]


def one_queue_for_all() -> list[float]:
    """Mb/s of Prague and of CUBIC behind FQ-CoDel with a threshold for ECT(1)."""
    queue = {"kind": "fq_codel", "ce_threshold": "1 ms", "ce_threshold_selector": "0x1/0x3"}
    run = el.run("l4s", seed=1, set={"template.rate": "50 Mbps", "template.queue": queue})
    return [run.statistic(f"goodput_bps[{name}].sum") / 1e6 for name in ("prague", "cubic")]


@cache
def scores(control: str) -> dict[str, float]:
    """Scores of the checks of L4S, by their names."""
    checks = ("use", "queue", "signals", "signals-fast", "round-trips", "beside-cubic-5", "beside-cubic-20", "beside-cubic-100")
    found = el.conformance(
        control, only=[*(f"l4s-{check}" for check in checks), "l4s-at-classic-marks"], stories=False, progress=False
    )
    return {one.check.id.removeprefix("l4s-"): one.score.mean for one in found.findings}


def score_row(check: str, unit: float = 1.0) -> list[float]:
    """What the table of the page has of a check: with the defaults, with no target, and with the fallback."""
    return [scores(control)[check] / unit for control in ("prague", "prague:rtt_target=0s", "prague:classic_fallback=true")]


def two_bottlenecks() -> list[float]:
    """Mb/s on the wire, and of goodput, of a sender of each group of figure 17 of DCTCP's paper."""
    from test_datacentre import two_bottlenecks as run

    flows = run(1).flows.to_pylist()
    goodput = [
        float(np.mean([row["goodput_bps"] for row in flows if row["traffic"] == group])) / 1e6 for group in ("s1", "s2", "s3")
    ]
    return [*(one * 1538 / 1448 for one in goodput), *goodput]
