"""The stack `linux` beside the kernel of this machine: one TCP connection through a link of the same rate, delay and buffer.

The expectations are what the kernel does. The link is a program (`kernel/link.py`) that keeps time to some ten microseconds, which
is little beside the 0.6 ms of a packet; what is left differs as the kernel sends pairs of segments (segmentation offload) and as
its clock counts microseconds. A run in which the link was late by more than three packets says nothing and is repeated.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import elephan as el
import numpy as np
import pytest

RATE_BPS, DELAY_S, MSS = 20e6, 0.025, 1448
SAMPLE_S = 0.005


def reason() -> str:
    release = tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2] if part.isdigit())
    if platform.system() != "Linux" or release < (6, 16):
        return "no Linux from 6.16 on, whose defaults the stack has"
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists() or shutil.which("ip") is None:
        return "needs root, /dev/net/tun and ip"
    return ""


pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(reason()), reason=reason())]


@dataclass
class Course:
    law: str
    buffer: int
    duration_s: int
    lost: tuple[int, ...] = ()


CASES = {
    "cubic": Course("cubic", 83, 15),
    "reno": Course("reno", 83, 20),
    "bbr": Course("bbr", 83, 9),
    "one loss": Course("reno", 1000, 4, (300,)),
    "ten losses in a row": Course("cubic", 1000, 4, tuple(range(300, 310))),
    "every second of twenty": Course("reno", 1000, 4, tuple(range(300, 321, 2))),
    "bbr, losses in STARTUP": Course("bbr", 1000, 6, (800, 801, 802, 850)),
}


@dataclass
class Seen:
    """Times in seconds, windows in segments."""

    time_s: np.ndarray[Any, Any]
    cwnd: np.ndarray[Any, Any]
    srtt_s: np.ndarray[Any, Any]
    acked_bytes: float
    retransmits: int


def kernel(case: Course, folder: Path) -> Seen:
    given = {"rate_bps": RATE_BPS, "delay_s": DELAY_S, "buffer_packets": case.buffer, "duration_s": case.duration_s}
    given |= {"congestion_control": case.law, "lost": case.lost, "sysctl": {}, "out": str(folder / "kernel.json")}
    (folder / "given.json").write_text(json.dumps(given))
    for _ in range(5):
        link = Path(__file__).parent / "kernel" / "link.py"
        subprocess.run([sys.executable, str(link), str(folder / "given.json")], check=True, timeout=60)
        told = json.loads((folder / "kernel.json").read_text())
        if told["worst_s"] < 3 * 8 * 1500 / RATE_BPS:
            break
    else:
        pytest.skip("this machine is too busy to keep the time of a link")
    rows = np.array(told["rows"], dtype=float)

    def column(name: str) -> np.ndarray[Any, Any]:
        return rows[:, told["columns"].index(name)]

    return Seen(
        column("time_s"), column("snd_cwnd"), column("rtt") / 1e6, column("bytes_acked")[-1], int(column("total_retrans")[-1])
    )


def simulated(case: Course) -> Seen:
    queue = {"kind": "fifo", "limit": f"{case.buffer} packets"}
    hop = {"rate": f"{RATE_BPS} bps", "delay": f"{DELAY_S} s", "queue": queue}
    if case.lost:
        hop["loss"] = {"listed": list(case.lost)}
    near = {"rate": "100 Gbps", "delay": "0 s"}
    scenario = {
        "title": "Beside a kernel",
        "duration": f"{case.duration_s} s",
        "stack": "linux",
        "template": {"kind": "path", "framing": "none", "hops": [near, hop]},
        "traffic": [{"name": "bulk", "from": "sender", "to": "receiver", "kind": "bulk", "congestion_control": case.law}],
        "record": {"every": f"{SAMPLE_S} s"},
    }
    run = el.run(scenario)
    samples, flow = run.flow_samples.to_pydict(), run.flows.to_pylist()[0]
    time_s = np.array(samples["time_ns"]) / 1e9
    cwnd = np.array([w or np.nan for w in samples["cwnd_bytes"]], dtype=float) / MSS
    srtt_s = np.array([r or np.nan for r in samples["srtt_ns"]], dtype=float) / 1e9
    return Seen(time_s, cwnd, srtt_s, flow["delivered_bytes"], flow["segs_retrans"])


@pytest.mark.parametrize("name", CASES)
def test_the_stack_linux_does_what_the_kernel_does(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    real, ours = kernel(case, tmp_path), simulated(case)
    assert ours.acked_bytes == pytest.approx(real.acked_bytes, rel=0.01)
    assert ours.retransmits == pytest.approx(real.retransmits, rel=0.1, abs=2)
    grid = np.arange(0.1, case.duration_s - 0.1, SAMPLE_S)
    windows = [np.interp(grid, seen.time_s, seen.cwnd) for seen in (real, ours)]
    assert windows[1].mean() == pytest.approx(windows[0].mean(), rel=0.03)
    trips = [np.interp(grid, seen.time_s, seen.srtt_s) for seen in (real, ours)]
    assert trips[1].mean() == pytest.approx(trips[0].mean(), rel=0.03)
    # Half of the time the windows lie within 3 % of each other.
    assert np.median(np.abs(windows[1] / windows[0] - 1)) < 0.03
