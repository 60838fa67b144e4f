"""What the pages of models say that a run gives: the runs, and the values that they have, by the name of the page.

A scenario here is what the page says in words. Numbers are those of seed 1 unless the page says more.
"""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import elephan as el
import numpy as np
from elephan.scenario.source import studies

W1 = (Path(el.__file__).parent / "bench" / "w1.toml").read_text(encoding="utf-8")

_DUMBBELL = """
stack    = "{stack}"
duration = "{end}"
warmup   = "{warmup}"
tcp      = {{ {tcp} }}
[template]
kind  = "dumbbell"
{template}
[[traffic]]
name = "bulk"
from = "sender"
to   = "receiver"
kind = "bulk"
congestion_control = {{ kind = "{control}" }}
"""
_DEEP = 'receive_window = "16 MiB", send_buffer = "16 MiB"'


def dumbbell(control: str, template: str, end: str, warmup: str = "0 s", tcp: str = _DEEP, stack: str = "rfc") -> str:
    return _DUMBBELL.format(control=control, template=template, end=end, warmup=warmup, tcp=tcp, stack=stack)


@cache
def _summary(scenario: str, settings: str, seed: int) -> dict[str, Any]:
    return el.run(scenario, set=json.loads(settings), seed=seed).summary


def summary(scenario: str, seed: int = 1, **settings: Any) -> dict[str, Any]:
    """The summary of a run; `__` stands for a dot in the names of settings."""
    return _summary(scenario, json.dumps({key.replace("__", "."): value for key, value in settings.items()}), seed)


# Active queue management

_TEN_RENO = dumbbell(
    "reno",
    'pairs = 10\nrate = "50 Mbps"\ndelay = "10 ms"\naccess_delay = { linear = ["2.5 ms", "7 ms"] }\nqueue = { kind = "codel" }',
    "30 s",
    "10 s",
    'receive_window = "8 MiB", send_buffer = "8 MiB"',
    "linux",
)


def aqm(kind: str) -> list[float]:
    """Mean wait in ms (what waits over what leaves: Little's law; 1518 B wait, 1538 B leave) and percent of the link."""
    port = summary(_TEN_RENO, template__queue__kind=kind)["bottleneck"]
    return [port["queue_mean_bytes"] / 1518 * 1538 * 8 / 50e6 * 1e3, 100 * port["utilisation"]]


# BBR

_POLICER = """
stack    = "rfc"
duration = "30 s"
tcp      = { receive_window = "4 MiB", send_buffer = "4 MiB" }
[template]
kind = "path"
hops = [
    { rate = "100 Mbps", delay = "20 ms" },
    { rate = "100 Mbps", delay = "10 us", queue = { kind = "tbf", rate = "10 Mbps", limit = "1 p", burst = "BURST" } },
]
[[traffic]]
name = "bulk"
from = "sender"
to   = "receiver"
kind = "bulk"
congestion_control = { kind = "bbr" }
"""


def policed(burst: str, policer: bool = True) -> float:
    """Percent of the packets that BBR loses behind a token bucket."""
    control = {"kind": "bbr", "policer": policer}
    return float(100 * summary(_POLICER.replace("BURST", burst), traffic__bulk__congestion_control=control)["loss_rate"])


def shallow() -> list[float]:
    lost = [policed(burst, policer) for burst in ("20 KB", "30 KB", "50 KB") for policer in (True, False)]
    return [min(lost), max(lost)]


def w1(control: Any, **settings: Any) -> dict[str, Any]:
    return summary(W1, traffic__bulk__congestion_control=control, **settings)


def w1_row(control: Any, **settings: Any) -> list[float]:
    found = w1(control, **settings)
    return [found["goodput_bps"] / 1e6, found["jain"]]


EACH = {"tcp__delayed_ack_segments": 1}
ROUND_TRIP = {"kind": "lp", "delay": "round-trip"}


def w1_bbr() -> list[float]:
    found, without = w1("bbr"), w1({"kind": "bbr", "policer": False})
    return [100 * found["loss_rate"], 100 * without["loss_rate"], found["jain"], without["jain"]]


def at_one_segment() -> float:
    """Flows of TCP-LP on W1 that have a segment in 52 ms, which is 0.22 Mb/s, from the fifth second on."""
    run = el.run(W1, set={"traffic.bulk.congestion_control": "lp", "record.every": "5 s"}, seed=1)
    rows = [row for row in run.flow_samples.to_pylist() if row["time_ns"] in (5 * 10**9, 10 * 10**9)]
    sent = np.array([row["delivered_bytes"] for row in sorted(rows, key=lambda row: (row["flow"], row["time_ns"]))])
    return float(sum(np.diff(sent)[::2] * 8 / 5 < 0.3e6))


_LONE_LP = dumbbell(
    "lp", 'rate = "20 Mbps"\ndelay = "50 ms"\nqueue = { kind = "fifo", limit = "1 bdp" }', "60 s", tcp="delayed_ack_segments = 1"
)


def lone_lp(tick: str) -> float:
    return float(summary(_LONE_LP, tcp__timestamp_granularity=tick)["goodput_bps"] / 1e6)


# Copa

_TEN_COPA = dumbbell("copa", 'pairs = 10\nrate = "100 Mbps"\ndelay = "1 ms"\naccess_delay = "1 us"', "20 s")


def copa(rate: str, delay: str, seconds: float = 20.0, window: float = 5.0) -> list[float]:
    """The least and the most of ten flows of Copa in Mb/s, window by window."""
    changes = {"traffic.bulk.congestion_control": {"kind": "copa", "competitive": False}, "record.every": "100 ms"}
    changes |= {"template.rate": rate, "template.delay": delay, "duration": f"{seconds} s"}
    rows = el.run(_TEN_COPA, set=changes, seed=1).flow_samples.to_pydict()
    time, flow, bytes_ = (np.array(rows[name], dtype=float) for name in ("time_ns", "flow", "delivered_bytes"))
    ends = np.arange(0, seconds + window / 2, window) * 1e9
    each = [np.diff(np.interp(ends, time[flow == one], bytes_[flow == one])) * 8 / window / 1e6 for one in np.unique(flow)]
    return [float(value) for least, most in zip(np.min(each, 0), np.max(each, 0), strict=True) for value in (least, most)]


# PCP

_PCP = dumbbell(
    "pcp",
    'rate = "40 Mbps"\ndelay = "0 s"\nframing = "none"\naccess_rate = "100 Gbps"\naccess_delay = "6.25 ms"\n'
    'queue = { kind = "fifo", limit = "125 KB" }',
    "80 s",
    "20 s",
    f'mss = "1210 B", timestamps = false, {_DEEP}',
)
_RENO_BESIDE = """
[[traffic]]
name = "reno"
from = "sender[{0}-{1}]"
to   = "receiver[{0}-{1}]"
kind = "bulk"
congestion_control = "reno"
"""


def pcp(flows: int) -> list[float]:
    """Jain's index, utilisation, mean queue in kB, drops and the longest queue in kB; round trips spread from 15 to 35 ms."""
    spread = {"linear": ["3.75 ms", f"{(15 + 20 * (flows - 1) / flows) / 4} ms"]} if flows > 1 else "3.75 ms"
    found = summary(_PCP, template__pairs=flows, template__access_delay=spread)
    port = found["bottleneck"]
    queue = [port["queue_mean_bytes"] / 1e3, port["queue_max_bytes"] / 1e3]
    return [found["jain"], port["utilisation"], queue[0], found["drops"], queue[1]]


def pcp_beside_reno(probing: int, reno: int) -> list[float]:
    """Mb/s of a flow of PCP and of a flow of Reno."""
    changes = {"template.pairs": probing + reno, "duration": "120 s"}
    changes |= {f"traffic.bulk.{end}": f"{host}[0-{probing - 1}]" for end, host in (("from", "sender"), ("to", "receiver"))}
    run = el.run(_PCP + _RENO_BESIDE.format(probing, probing + reno - 1), set=changes, seed=1)
    return [run.statistic(f"goodput_bps[{name}].mean") / 1e6 for name in ("bulk", "reno")]


# Fair queueing with rates that are told

_TRANSFERS = (studies()["pcp-2006"] / "dumbbell.toml").read_text(encoding="utf-8")
LOADS = (15, 30, 45, 60, 75, 90)


def told(load: int, queue_rtts: float = 1, limit: str | None = None) -> list[float]:
    """Of transfers with explicit rates: mean time in ms, mean and longest queue in kB, drops, and percent of packets lost."""
    queue = {"kind": "fq"} | ({"limit": limit} if limit else {})
    run = el.run(
        _TRANSFERS,
        seed=1,
        set={
            "duration": "400 s",
            "warmup": "10 s",
            "record.flows": True,
            "template.queue": queue,
            "traffic.transfers.congestion_control": {"kind": "explicit_rate", "queue_rtts": queue_rtts},
            "traffic.transfers.arrivals_per_s": load / 5,  # a transfer is 200 x 1250 B, so 20 a second are all of 40 Mb/s
            "tcp.delayed_ack_segments": 1,
            "tcp.scaled_syn_ack_window": True,
        },
    )
    port = run.summary["bottleneck"]
    queues = [port["queue_mean_bytes"] / 1e3, port["queue_max_bytes"] / 1e3]
    return [run.statistic("fct_ns.mean") / 1e6, *queues, run.summary["drops"], 100 * run.summary["loss_rate"]]


def shared(load: int) -> float:
    """Processor sharing: S / (1 - load) + 1.5 RTT in ms."""
    return 50 / (1 - load / 100) + 1.5 * 25


def rounded_exponential(mean: float) -> float:
    """The mean of exponential sizes in whole bytes, one at least: the sum of the chances that a size is k bytes or more."""
    return 1 + math.exp(-1.5 / mean) / (1 - math.exp(-1 / mean))


def limited_transfers() -> list[float]:
    """Of explicit rates with a limit of 125 kB: least and most percent dropped, and of the mean above processor sharing."""
    found = {load: told(load, 1, "125 KB") for load in LOADS}
    lost = [row[4] for row in found.values()]
    above = [100 * (row[0] / shared(load) - 1) for load, row in found.items()]
    return [min(lost), max(lost), min(above), max(above)]


def xcp_used() -> list[float]:
    """Percent of 100 Mb/s that ten flows of 40 ms use, and percent of a bandwidth-delay product that waits."""
    text = dumbbell(
        "xcp", 'pairs = 10\nrate = "100 Mbps"\ndelay = "18 ms"\naccess_delay = "1 ms"\nqueue = { kind = "xcp" }', "30 s", "10 s"
    )
    found = summary(text)
    assert found["drops"] == 0
    return [100 * found["bottleneck"]["utilisation"], 100 * found["bottleneck"]["queue_mean_bytes"] / (100e6 * 0.04 / 8)]


def memory_of_burst() -> list[float]:
    return [el.memory_from_burst(el.run("udp-burst"))]


def read_burst() -> list[float]:
    burst = el.read_burst(el.run("udp-burst"))
    return [burst.first_lost, burst.lost, burst.spacing_s * 1e6]


def mutants() -> list[float]:
    """Mutants of the shipped examples, those that do what their class does, the others, and those of them that are noticed."""
    from test_mutants import CLASSES, KNOWN, planted

    every, alike, escaped = sum(len(planted(name)) for name in CLASSES), len(KNOWN["equivalent"]), len(KNOWN["unnoticed"])
    return [every, alike, every - alike, every - alike - escaped]
