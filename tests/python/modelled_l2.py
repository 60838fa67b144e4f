"""What the pages of switches, congestion management and RDMA say that a run gives: the runs, and the values that they have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import elephan as el
import numpy as np
from elephan.scenario.source import studies
from modelled import summary

_STAR = """
duration = "{end}"
warmup   = "{warmup}"
[template]
kind = "star"
clients = {clients}
rate = "10 Gbps"
delay = "{delay}"
server_delay = "{delay}"
queue = {{ kind = "fifo"{limit} }}
"""
_SENDERS = '[[traffic]]\nname = "bulk"\nfrom = "client"\nto = "server"\n'
_SLOW_PORT = '[[change]]\nat = "{at}"\nset = {{ "links.sw->server.rate" = "{rate}" }}\n'


def star(clients: int, end: str, warmup: str = "0 s", delay: str = "500 ns", limit: str = ', limit = "150 KB"') -> str:
    return _STAR.format(clients=clients, end=end, warmup=warmup, delay=delay, limit=limit)


def limited_jain(fair: str) -> list[float]:
    """Jain's index of four pairs of 6 Gb/s in 2 Gb/s under QCN, between 100 and 200 ms: the least and the most of six seeds."""
    text = star(4, "200 ms", "100 ms") + _SENDERS + 'kind = "cbr"\nrate = "6 Gbps"\npacket_size = "1472 B"\n'
    text += _SLOW_PORT.format(at="10 ms", rate="2 Gbps")
    management = {"kind": "qcn", "preset": "seed-2007", "fair": fair}
    found = [summary(text, seed, congestion_management=management)["jain"] for seed in range(1, 7)]
    return [min(found), max(found)]


def regained(span: str) -> float:
    """Milliseconds until a port of 10 Gb/s that was at 0.5 for 300 ms is 95 % used by ten sources of 1.2 Gb/s under QCN."""
    text = star(10, "1 s") + _SENDERS + 'kind = "cbr"\nrate = "1.2 Gbps"\npacket_size = "1472 B"\n'
    text += _SLOW_PORT.format(at="100 ms", rate="500 Mbps") + _SLOW_PORT.format(at="400 ms", rate="10 Gbps")
    management = {"kind": "qcn", "preset": "seed-2007", "hyper_active_span": span}
    run = el.run(text, set={"congestion_management": management, "record.every": "1 ms"}, seed=1)
    (port,) = [row["port"] for row in run.ports.to_pylist() if row["name"] == "sw->server"]
    rows = [row for row in run.port_samples.to_pylist() if row["port"] == port and row["time_ns"] > 400e6]
    return float(next(row["time_ns"] for row in rows if row["utilisation"] >= 0.95) / 1e6 - 400)


_INTEL = re.sub(
    r"\[\[change\]\]\n.*\n.*\n",
    "",
    (studies()["intel-2007"] / "star.toml").read_text(encoding="utf-8").replace("count = 5", "count = 10"),
)
_PAUSE = {"kind": "pause", "per": "egress", "xoff": "130 KB", "xon": "110 KB"}


def hosts_at_85(management: str, pause: bool, **settings: Any) -> dict[str, Any]:
    """Ten hosts of the study intel-2007 without its hotspot, from 40 ms on; to 70 ms with PAUSE, to 100 ms without."""
    more = {"gi_unit": "q6"} if management == "q6" else {"preset": "seed-2007"} if management == "qcn" else {}
    kind = "ecm" if management == "q6" else management
    settings = {"congestion_management": {"kind": kind, **more}, "warmup": "40 ms", **settings}
    settings["duration"] = "70 ms" if pause else "100 ms"
    if pause:
        settings["switches__CS1__flow_control"] = _PAUSE
    return summary(_INTEL, **settings)


def gbps(management: str, pause: bool, **settings: Any) -> float:
    return float(hosts_at_85(management, pause, **settings)["goodput_bps"] / 1e9)


def paused(management: str) -> list[float]:
    found = hosts_at_85(management, True)
    return [found["goodput_bps"] / 1e9, found["pauses_sent"]]


def xcp_star(queue_time_min: str | None) -> list[float]:
    """Gb/s of 1, 2 and 4 hosts that send to one of the star of intel-2007 by XCP: least and most of three seeds each."""
    queue = 'queue = { kind = "xcp", limit = "150 KB"' + (f', queue_time_min = "{queue_time_min}"' if queue_time_min else "") + " }"
    network = re.sub(r"queue +=.*", queue, _INTEL.partition("[[traffic]]")[0])
    found = []
    for senders in (1, 2, 4):
        text = network + f'[[traffic]]\nfrom = "C[1-{senders}]"\nto = "C[0]"\nkind = "bulk"\ncongestion_control = "xcp"\n'
        text += 'start = { uniform = ["0 s", "5 ms"] }\n'
        changes = {"duration": "100 ms", "warmup": "20 ms"}
        found += [summary(text, seed, **changes)["goodput_bps"] / 1e9 for seed in (1, 2, 3)]
    return [min(found), max(found)]


_CROSS = """
duration = "10 ms"
warmup   = "1 ms"
[hosts]
a = {}
b = {}
hot = {}
idle = {}
[switches.sw]
memory = "1 MB"
"""


def bystander(control: dict[str, Any]) -> float:
    """Gb/s on the wire of 2 Gb/s of priority 0 that pass a switch beside two streams of priority 3 to one port."""
    text = _CROSS + "".join(
        f'[[links]]\nbetween = ["{host}", "sw"]\nrate = "10 Gbps"\ndelay = "1 us"\n' for host in ("a", "b", "hot", "idle")
    )
    for name, ends, rate, priority in (("a3", ("a", "hot"), 7.9, 3), ("b3", ("b", "hot"), 7.9, 3), ("a0", ("a", "idle"), 2, 0)):
        text += f'[[traffic]]\nname = "{name}"\nfrom = "{ends[0]}"\nto = "{ends[1]}"\nkind = "cbr"\nrate = "{rate} Gbps"\n'
        text += f'packet_size = "1472 B"\npriority = {priority}\n'
    run = el.run(text, set={"switches.sw.flow_control": control}, seed=1)
    return float(run.statistic("goodput_bps[a0].sum") / 1e9 * 1538 / 1472)


PFC = {"kind": "pfc", "priorities": [3], "xoff": "60 KB"}
PORT_PAUSE = {"kind": "pause", "per": "ingress", "xoff": "60 KB", "xon": "56964 B"}

# RDMA and delay


def swift(over_min: bool) -> list[float]:
    """Gb/s of three flows that start at 0, 5 and 10 ms, from 30 to 60 ms."""
    text = star(3, "60 ms", "30 ms", "1 us", "")
    for i in range(3):
        text += f'[[traffic]]\nname = "f{i}"\nfrom = "client[{i}]"\nto = "server"\nkind = "bulk"\nstart = "{5 * i} ms"\n'
        text += f'congestion_control = {{ kind = "swift", over_min = {str(over_min).lower()} }}\n'
    return [bps / 1e9 for bps in el.run(text, seed=1).flows["goodput_bps"].to_pylist()]


def timely() -> list[float]:
    """The least and the most of utilisation, and of Jain's index, of 4, 10, 20 and 40 flows."""
    traffic = _SENDERS + 'kind = "bulk"\ntransport = "roce"\ncongestion_control = "timely"\n'
    found = [summary(star(flows, "600 ms", "300 ms", "5 us", "") + traffic) for flows in (4, 10, 20, 40)]
    used, jain = [one["bottleneck"]["utilisation"] for one in found], [one["jain"] for one in found]
    return [min(used), max(used), min(jain), max(jain)]


def timely_start() -> list[float]:
    """Of four flows that begin together: the least Mb/s of one in 1 ms, and the ms after which they first have 90 % of the link."""
    traffic = _SENDERS + 'kind = "bulk"\ntransport = "roce"\ncongestion_control = "timely"\n'
    run = el.run(star(4, "300 ms", "0 s", "5 us", "") + traffic, set={"record.every": "1 ms"}, seed=1)
    rows = run.flow_samples.to_pydict()
    flow, sent = np.array(rows["flow"]), np.array(rows["delivered_bytes"], dtype=float)
    rates = np.array([np.diff(sent[flow == one]) * 8 / 1e-3 for one in np.unique(flow)])
    late = int(np.argmin(rates.sum(0)[2:])) + 2
    full = late + int(np.argmax(rates.sum(0)[late:] > 0.9 * rates.sum(0).max()))
    return [float(rates.min(0)[late] / 1e6), float(full)]


def burst_lost(room: Sequence[tuple[str, Any]]) -> float:
    """Frames of 5000 back to back at 1 Gb/s that a server of 15 us a frame loses."""
    side = el.host.Receive(packet=15e-6, **{"interrupts_per_s": 0, **dict(room)})
    for i in range(5000):
        side.frame(i * 12.304e-6)
    side.advance(1.0)
    return float(len(side.dropped()))
