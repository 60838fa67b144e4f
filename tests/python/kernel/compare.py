"""One TCP connection through a link, as this machine's kernel does it and as the stack `linux` does.

`python compare.py PICTURE` draws windows and round trips of both (docs/kernel.md).
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import elephan as el
import numpy as np
from elephan.report.style import BLUE, ORANGE, new_figure

RATE_BPS, DELAY_S, MSS = 20e6, 0.025, 1448
SAMPLE_S = 0.005
# BBR begins PROBE_BW with one of these phases, drawn alike (Linux bbr_reset_probe_bw_mode). Which one the kernel has drawn it does
# not say.
PHASES = (0, 2, 3, 4, 5, 6, 7)
# Of the packets so many may be late by more than three packets of 0.6 ms.
LATE_SHARE = 0.003


class TooBusy(Exception):
    """The machine could not keep the time of a link."""


@dataclass
class Course:
    law: str
    buffer: int
    duration_s: int
    lost: tuple[int, ...] = ()
    paced: bool = False


COURSES = {
    "cubic": Course("cubic", 83, 15),
    "reno": Course("reno", 83, 20),
    "bbr": Course("bbr", 83, 9),
    "one loss": Course("reno", 1000, 4, (300,)),
    "ten losses in a row": Course("cubic", 1000, 4, tuple(range(300, 310))),
    "every second of twenty": Course("reno", 1000, 4, tuple(range(300, 321, 2))),
    "bbr, losses in STARTUP": Course("bbr", 1000, 6, (800, 801, 802, 850)),
    "reno, paced": Course("reno", 83, 20, paced=True),
    "cubic, paced": Course("cubic", 83, 15, paced=True),
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
    given |= {"congestion_control": case.law, "lost": case.lost, "paced": case.paced, "sysctl": {}}
    given["out"] = str(folder / "kernel.json")
    (folder / "given.json").write_text(json.dumps(given))
    for _ in range(5):
        link = Path(__file__).with_name("link.py")
        subprocess.run([sys.executable, str(link), str(folder / "given.json")], check=True, timeout=60)
        told = json.loads((folder / "kernel.json").read_text())
        if told["late"] < LATE_SHARE:
            break
    else:
        raise TooBusy
    rows = np.array(told["rows"], dtype=float)

    def column(name: str) -> np.ndarray[Any, Any]:
        return rows[:, told["columns"].index(name)]

    return Seen(
        column("time_s"), column("snd_cwnd"), column("rtt") / 1e6, column("bytes_acked")[-1], int(column("total_retrans")[-1])
    )


def simulated(case: Course, real: Seen) -> Seen:
    """Returns what the stack `linux` does; under BBR the run of the phase whose window is the nearest to the kernel's."""
    if case.law != "bbr":
        return _simulated(case, case.law)
    runs = [_simulated(case, {"kind": "bbr", "phase": phase}) for phase in PHASES]
    return min(runs, key=lambda ours: distance(case, real, ours))


def distance(case: Course, real: Seen, ours: Seen) -> float:
    """Returns the median over time of how far the windows are from each other, as a share of the kernel's."""
    grid = np.arange(0.1, case.duration_s - 0.1, SAMPLE_S)
    windows = [np.interp(grid, seen.time_s, seen.cwnd) for seen in (real, ours)]
    return float(np.median(np.abs(windows[1] / windows[0] - 1)))


def _simulated(case: Course, law: str | dict[str, Any]) -> Seen:
    queue = {"kind": "fifo", "limit": f"{case.buffer} packets"}
    hop = {"rate": f"{RATE_BPS} bps", "delay": f"{DELAY_S} s", "queue": queue}
    if case.lost:
        hop |= {"loss": {"listed": list(case.lost)}, "packets": "data"}
    near = {"rate": "100 Gbps", "delay": "0 s"}
    scenario = {
        "title": "Beside a kernel",
        "duration": f"{case.duration_s} s",
        "stack": "linux",
        "tcp": {"pacing": "window" if case.paced else "law"},
        "template": {"kind": "path", "framing": "none", "hops": [near, hop]},
        "traffic": [{"name": "bulk", "from": "sender", "to": "receiver", "kind": "bulk", "congestion_control": law}],
        "record": {"every": f"{SAMPLE_S} s"},
    }
    run = el.run(scenario)
    samples, flow = run.flow_samples.to_pydict(), run.flows.to_pylist()[0]
    time_s = np.array(samples["time_ns"]) / 1e9
    cwnd = np.array([w or np.nan for w in samples["cwnd_bytes"]], dtype=float) / MSS
    srtt_s = np.array([r or np.nan for r in samples["srtt_ns"]], dtype=float) / 1e9
    return Seen(time_s, cwnd, srtt_s, flow["delivered_bytes"], flow["segs_retrans"])


def draw(picture: Path) -> None:
    """Window and round trip over time, the kernel's and ours, of CUBIC, Reno and BBR."""
    system = "Linux " + ".".join(platform.release().split("-")[0].split(".")[:2])
    figure, axes = new_figure(2, 3, 5.4, sharex="col")
    for top, below, law in zip(axes[:3], axes[3:], ("cubic", "reno", "bbr"), strict=True):
        with tempfile.TemporaryDirectory() as folder:
            real = kernel(COURSES[law], Path(folder))
            both = (real, simulated(COURSES[law], real))
        for seen, name, color, width in zip(both, (system, "elephan"), (ORANGE, BLUE), (2.6, 1.0), strict=True):
            top.plot(seen.time_s, seen.cwnd, color=color, linewidth=width, label=name)
            below.plot(seen.time_s, seen.srtt_s * 1e3, color=color, linewidth=width)
        retransmits = " and ".join(f"{seen.retransmits}" for seen in both)
        top.set_title(f"{law}: {retransmits} retransmitted", loc="left", fontsize=9)
        below.set_xlabel("time [s]")
    axes[0].set_ylabel("congestion window [segments]")
    axes[3].set_ylabel("smoothed round trip [ms]")
    axes[0].legend(frameon=False, loc="lower right")
    figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
