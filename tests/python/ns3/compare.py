"""A bottleneck in ns-3 and in elephan: the same rate, delay, framing, queue and load; counts and means of both.

From tests/python, `python -m ns3.compare [NAME ...]` prints the table of docs/ns3.md, `python -m ns3.compare --picture FILE` draws
its picture.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import elephan as el
import numpy as np
from elephan.report.paint import painted
from elephan.report.style import BLUE, ORANGE, new_figure
from ns3.courses import COURSES, Course

MSS, WIRE = 1448, 1502


@dataclass
class Seen:
    """What one side has seen in the measured time; windows in segments, the queue in packets."""

    goodput_bps: float
    dropped: float
    marked: float
    sent: float
    queue: float
    cwnd: float
    events: float
    timeouts: float
    jain: float
    time_s: np.ndarray[Any, Any]
    window: np.ndarray[Any, Any]
    waiting: np.ndarray[Any, Any]

    @property
    def share(self) -> float:
        """Of the packets that came, those dropped or marked."""
        return (self.dropped + self.marked) / max(1.0, self.dropped + self.sent)


def available() -> bool:
    """Whether the program of ns-3 can be built here."""
    return bool(shutil.which("make") and shutil.which("g++")) and Path("/usr/include/ns3/tcp-bbr.h").exists()


@cache
def program() -> Path:
    """The program of ns-3, built once for this process."""
    folder = Path(tempfile.mkdtemp(prefix="elephan-ns3-"))
    subprocess.run(["make", "-s", "-C", str(Path(__file__).parent), f"BUILD={folder}"], check=True)
    return folder / "bottleneck"


def jain(rates: list[float]) -> float:
    return sum(rates) ** 2 / (len(rates) * sum(rate**2 for rate in rates)) if any(rates) else float("nan")


def peer(course: Course, seed: int = 1) -> Seen:
    """The course in ns-3."""
    settings = {"TcpL4Protocol::SocketType": f"ns3::{course.peer_controller}", "TcpSocket::DelAckCount": 1} | course.settings
    options = {
        "rate": course.rate_bps,
        "delay": course.delay_s,
        "duration": course.duration_s,
        "warmup": course.warmup_s,
        "flows": 0 if course.udp_bps else course.flows,
        "udp": course.udp_bps,
        "poisson": int(course.poisson),
        "queue": f"ns3::{course.disc}QueueDisc",
        "set": ",".join(f"ns3::{key}={value}" for key, value in settings.items()),
        "every": course.every_s,
        "seed": seed,
    }
    command = [str(program()), *(f"--{key}={value}" for key, value in options.items())]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    rows = np.array(told["samples"], dtype=float)
    return Seen(
        goodput_bps=sum(told["goodput_bps"]),
        dropped=told["dropped"],
        marked=told["marked"],
        sent=told["arrived"] - told["dropped"],
        queue=told["queue_packets"],
        cwnd=float(np.mean(told["cwnd_bytes"])) / MSS if told["cwnd_bytes"] else 0.0,
        events=told["events"],
        timeouts=told["timeouts"],
        jain=jain(told["goodput_bps"]),
        time_s=rows[:, 0],
        window=rows[:, 1] / MSS,
        waiting=rows[:, 3],
    )


def scenario(course: Course, seed: int) -> dict[str, Any]:
    near = {"rate": "1 Gbps", "delay": "0 s"}
    hop = {"rate": f"{course.rate_bps} bps", "delay": f"{course.delay_s} s", "queue": course.queue}
    ends = {"from": "sender", "to": "receiver"}
    if course.udp_bps:
        gaps = "exponential" if course.poisson else "fixed"
        traffic = [{"name": "load", "kind": "cbr", "rate": f"{course.udp_bps} bps", "gaps": gaps, **ends}]
    else:
        bulk = {"kind": "bulk", "congestion_control": course.controller, **ends}
        traffic = [{"name": f"bulk{flow}", "start": f"{flow * 100} ms", **bulk} for flow in range(course.flows)]
    return {
        "title": "Beside ns-3",
        "duration": f"{course.duration_s} s",
        "warmup": f"{course.warmup_s} s",
        "seed": seed,
        "stack": "rfc",
        "tcp": {"reduction": "prr-rfc6937", "abc_limit": 0, "delayed_ack_segments": 1} | course.tcp,
        "template": {"kind": "path", "framing": "ppp", "hops": [near, hop]},
        "traffic": traffic,
        "record": {"every": f"{course.every_s} s"},
    }


def ours(course: Course, seed: int = 1) -> Seen:
    """The course in elephan."""
    run = el.run(scenario(course, seed))
    port = next(row for row in run.ports.to_pylist() if row["node"] not in ("sender", "receiver") and row["peer"] == "receiver")
    samples = {key: np.array(value) for key, value in run.port_samples.to_pydict().items()}
    here = samples["port"] == port["port"]
    time_s = samples["time_ns"][here] / 1e9
    start = int(np.searchsorted(time_s, course.warmup_s - 1e-9))

    def counted(column: str) -> float:
        values = samples[column][here]
        return float(values[-1] - values[start])

    flows = run.flows.to_pylist()
    seen = Seen(
        goodput_bps=sum(flow["goodput_bps"] for flow in flows),
        dropped=counted("drops"),
        marked=counted("marks"),
        sent=counted("tx_packets"),
        queue=port["queue_mean_bytes"] / WIRE,
        cwnd=0.0,
        events=0.0,
        timeouts=0.0,
        jain=jain([flow["goodput_bps"] for flow in flows]),
        time_s=time_s,
        window=np.zeros(len(time_s)),
        waiting=samples["queue_packets"][here],
    )
    if course.udp_bps:
        return seen
    states = {key: np.array(value, dtype=float) for key, value in run.flow_samples.to_pydict().items() if key != "phase"}
    after = states["time_ns"] >= course.warmup_s * 1e9 - 1
    first = states["flow"] == 0
    seen.window = states["cwnd_bytes"][first] / MSS
    seen.cwnd = float(np.nanmean(states["cwnd_bytes"][after])) / MSS
    signals = states["cong_signals"][first & after]
    seen.events, seen.timeouts = float(signals[-1] - signals[0]), float(flows[0]["timeouts"])
    return seen


def mean(side: Callable[[Course, int], Seen], course: Course) -> Seen:
    """The first seed's course over time with the means of all seeds."""
    runs = [side(course, seed) for seed in range(1, course.seeds + 1)]
    for one in fields(Seen):
        if one.type == "float":
            setattr(runs[0], one.name, sum(getattr(run, one.name) for run in runs) / len(runs))
    return runs[0]


def table(names: list[str]) -> None:
    """ns-3 and elephan, a row a course, in Markdown."""
    print("| course | goodput, Mb/s | dropped or marked, % | queue, packets | window, segments | events |")
    print("|---|---|---|---|---|---|")
    for name in names:
        a, b = mean(peer, COURSES[name]), mean(ours, COURSES[name])
        goodput = f"{a.goodput_bps / 1e6:.2f}, {b.goodput_bps / 1e6:.2f}"
        row = f"| {name} | {goodput} | {100 * a.share:.3f}, {100 * b.share:.3f} | {a.queue:.2f}, {b.queue:.2f} |"
        tcp = "" if COURSES[name].udp_bps else f"{a.cwnd:.1f}, {b.cwnd:.1f} | {a.events:.0f}, {b.events:.0f}"
        print(row, (tcp or " | ") + " |", flush=True)


def draw(picture: Path) -> None:
    """Windows of controllers over time, ns-3's and ours."""
    shown = ("cubic", "scalable", "bic", "htcp", "illinois", "veno")
    figure, axes = new_figure(2, 3, 5.4)
    for axis, name in zip(axes, shown, strict=True):
        for side, label, color, width in ((peer, "ns-3", ORANGE, 2.6), (ours, "elephan", BLUE, 1.0)):
            seen = side(COURSES[name], 1)
            axis.plot(seen.time_s, seen.window, color=color, linewidth=width, label=label)
        axis.set_title(name, loc="left", fontsize=9)
        axis.set_xlim(0, 120)
        axis.set_ylim(0, 400)
    for axis in axes[3:]:
        axis.set_xlabel("time [s]")
    for axis in (axes[0], axes[3]):
        axis.set_ylabel("window [segments]")
    axes[0].legend(frameon=False, loc="lower right")
    painted(figure).savefig(picture, dpi=130)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--picture"]:
        draw(Path(sys.argv[2]))
    else:
        table(sys.argv[1:] or list(COURSES))
