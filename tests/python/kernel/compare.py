"""One TCP connection through a link, as this machine's kernel does it and as the stack `linux` does.

`python compare.py PICTURE` draws windows and round trips of both, `python compare.py table [NAME...]` prints the table of
docs/kernel.md, or the rows of some connections.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import elephan as el
import numpy as np
from elephan.report.paint import painted
from elephan.report.style import BLUE, ORANGE, new_figure
from kernel.courses import COURSES, Course

MSS = 1448
SAMPLE_S = 0.005
# BBR begins PROBE_BW with one of these phases, drawn alike (Linux bbr_reset_probe_bw_mode). Which one the kernel has drawn it does
# not say.
PHASES = (0, 2, 3, 4, 5, 6, 7)
# Of the packets so many may be late by more than three packets of 0.6 ms.
LATE_SHARE = 0.003
# Runs of a link that draws.
SEEDS = 20


class TooBusy(Exception):
    """The machine could not keep the time of a link."""


def missing() -> str:
    """Returns what this machine lacks for the link; nothing if it has all."""
    release = tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2] if part.isdigit())
    if platform.system() != "Linux" or release < (6, 16):
        return "no Linux from 6.16 on, whose defaults the stack has"
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists() or shutil.which("ip") is None:
        return "needs root, /dev/net/tun and ip"
    return ""


@dataclass
class Seen:
    """Times in seconds, windows in segments."""

    time_s: np.ndarray[Any, Any]
    cwnd: np.ndarray[Any, Any]
    srtt_s: np.ndarray[Any, Any]
    acked_bytes: float
    retransmits: int


def kernel(case: Course, folder: Path, seed: int = 0, limit_s: float = 60) -> Seen:
    sysctl: dict[str, dict[str, int]] = {"sender": {}, "receiver": {}}
    if case.mark_above is not None:
        sysctl["sender"]["net.ipv4.tcp_ecn"] = 1
    if case.fast_open:
        # What the connection that earns the cookie learns of the path stays unused.
        sysctl["sender"]["net.ipv4.tcp_no_metrics_save"] = 1
        sysctl["receiver"]["net.ipv4.tcp_fastopen"] = 3
    given = asdict(case) | {"sysctl": sysctl, "seed": seed}
    given["out"] = str(folder / "kernel.json")
    (folder / "given.json").write_text(json.dumps(given))
    for _ in range(5):
        link = Path(__file__).with_name("link.py")
        subprocess.run([sys.executable, str(link), str(folder / "given.json")], check=True, timeout=limit_s)
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


def simulated(case: Course, reals: list[Seen]) -> list[Seen]:
    """Returns what the stack `linux` does: a run for each of the kernel's, or of other draws of the link.

    Under BBR it is the run of the phase whose window is the nearest to the kernel's.
    """
    if case.drawn:
        return [_simulated(case, case.controller, seed) for seed in range(SEEDS)]
    if case.controller != "bbr":
        return [_simulated(case, case.controller)] * len(reals)
    runs = [_simulated(case, {"kind": "bbr", "phase": phase}) for phase in PHASES]
    return [min(runs, key=lambda ours: distance(case, real, ours)) for real in reals]


@dataclass
class Figure:
    """The mean of a quantity over runs, and its variance."""

    mean: float
    variance: float


def figures(case: Course, runs: list[Seen]) -> dict[str, Figure]:
    """Returns what is compared: window in segments and round trip in ms are means over the time of a connection."""
    grid = grid_of(case)
    of = {
        "window": [np.interp(grid, seen.time_s, seen.cwnd).mean() for seen in runs],
        "trip": [1e3 * np.interp(grid, seen.time_s, seen.srtt_s).mean() for seen in runs],
        "retransmits": [seen.retransmits for seen in runs],
        "acked": [seen.acked_bytes for seen in runs],
    }
    drawn = case.drawn and len(runs) > 1
    return {
        name: Figure(float(np.mean(values)), float(np.var(values, ddof=1)) / len(values) if drawn else 0.0)
        for name, values in of.items()
    }


def inside(quantity: str, real: Figure, ours: Figure) -> bool:
    """Returns whether elephan's figure is within the margin of the kernel's, and of two standard errors where the link draws."""
    share = {"window": 0.03, "trip": 0.03, "acked": 0.01, "retransmits": 0.1}[quantity]
    margin = max(share * real.mean, 2 if quantity == "retransmits" else 0)
    return abs(ours.mean - real.mean) <= margin + 2 * (real.variance + ours.variance) ** 0.5


def grid_of(case: Course) -> np.ndarray[Any, Any]:
    """Returns the times that are compared, from half a round trip after the handshake on."""
    return np.arange(max(0.1, 3 * case.delay_s), case.duration_s - 0.1, SAMPLE_S)


def distance(case: Course, real: Seen, ours: Seen) -> float:
    """Returns the median over time of how far the windows are from each other, as a share of the kernel's."""
    grid = grid_of(case)
    windows = [np.interp(grid, seen.time_s, seen.cwnd) for seen in (real, ours)]
    return float(np.median(np.abs(windows[1] / windows[0] - 1)))


def _simulated(case: Course, controller: str | dict[str, Any], seed: int = 0) -> Seen:
    queue: dict[str, Any] = {"kind": "fifo", "limit": f"{case.buffer} packets"}
    forward: dict[str, Any] = {"queue": queue, "packets": "data"}
    if case.mark_above is not None:
        queue["mark_above"] = f"{case.mark_above} packets"
    if case.lost:
        forward["loss"] = {"listed": list(case.lost)}
    if case.reorder[0]:
        forward["reorder"] = {"share": case.reorder[0], "extra": f"{case.reorder[1]} s"}
    if case.duplicate:
        forward["duplicate"] = case.duplicate
    if case.loss:
        forward["loss"] = {"bernoulli": case.loss}
    back = {"loss": {"bernoulli": case.ack_loss}} if case.ack_loss else {}
    tcp: dict[str, Any] = {"pacing": "window" if case.paced else "law"}
    tcp |= {"ecn": "classic"} if case.mark_above is not None else {}
    tcp |= {"fast_open": "both"} if case.fast_open else {}
    tcp |= {"receive_buffer": f"{case.receive_buffer} B"} if case.receive_buffer is not None else {}
    receive = {"reader": f"{case.reader_bps} bps", "interrupts_per_s": 0, "napi": True}
    # The connection of Fast Open comes second, after one that earns the cookie.
    begin_s = 1 if case.fast_open else 0
    traffic: dict[str, Any] = {"from": "sender", "to": "receiver", "kind": "bulk", "fast_open": case.fast_open}
    measured = traffic | {"name": "measured", "congestion_control": controller, "start": f"{begin_s} s"}
    if case.writes is not None:
        measured |= {"kind": "messages", "size": f"{case.writes[0]} B", "gap": f"{case.writes[1]} s"}
    if case.size is not None:
        measured |= {"size": f"{case.size} B"}
    others = [
        traffic | {"name": f"beside {number}", "congestion_control": controller, "start": f"{begin} s"}
        for number, (controller, begin) in enumerate(case.others, 1)
    ]
    earning = [traffic | {"name": "earning", "size": "1000 B"}] if case.fast_open else []
    scenario = {
        "title": "Beside a kernel",
        "duration": f"{case.duration_s + begin_s} s",
        "seed": seed,
        "stack": "linux",
        "tcp": tcp,
        "hosts": {"sender": {}, "receiver": {"receive": receive} if case.reader_bps else {}},
        "switches": {"middle": {}},
        "links": [
            {"between": ["sender", "middle"], "rate": "100 Gbps", "delay": "0 s", "framing": "none"},
            {
                "between": ["middle", "receiver"],
                "rate": f"{case.rate_bps} bps",
                "delay": f"{case.delay_s} s",
                "framing": "none",
                "forward": forward,
                "backward": back,
            },
        ],
        "change": changes(case),
        "traffic": [measured, *others, *earning],
        "record": {"every": f"{SAMPLE_S} s"},
    }
    run = el.run(scenario)
    flow = run.flows.to_pylist()[0]
    samples = run.flow_samples.to_pydict()
    own = np.array(samples["flow"]) == flow["flow"]

    def column(name: str) -> np.ndarray[Any, Any]:
        return np.array([value or np.nan for value in samples[name]], dtype=float)[own]

    time_s = column("time_ns") / 1e9 - begin_s
    return Seen(time_s, column("cwnd_bytes") / MSS, column("srtt_ns") / 1e9, flow["thru_octets_acked"], flow["segs_retrans"])


def changes(case: Course) -> list[dict[str, Any]]:
    """Returns what the link of a course changes while it runs."""
    link = "links.middle->receiver"
    found = []
    for at, lasts in case.outages:
        for time_s, share in ((at, 1.0), (at + lasts, 0.0)):
            found.append({"at": f"{time_s} s", "set": {f"{link}.forward.loss": {"bernoulli": share}}})
    if case.new_delay is not None:
        found.append({"at": f"{case.new_delay[0]} s", "set": {f"{link}.delay": f"{case.new_delay[1]} s"}})
    return found


def in_time(case: Course, seed: int) -> Seen:
    """Returns what the kernel did, asked again where the link could not keep its time."""
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder, contextlib.suppress(TooBusy):
            return kernel(case, Path(folder), seed)
    with tempfile.TemporaryDirectory() as folder:
        return kernel(case, Path(folder), seed)


def table(names: list[str]) -> None:
    """Prints a row for each connection, kernel and elephan; a star marks what is outside its margin.

    The last column is how far the windows are from each other half of the time.
    """
    print("| connection | window | round trip [ms] | acknowledged [MB] | retransmitted | windows apart |")
    print("|---|---|---|---|---|---|", flush=True)
    for name in names:
        case = COURSES[name]
        try:
            reals = [in_time(case, seed) for seed in range(case.draws)]
        except TooBusy:
            print(f"| {name} | the machine is too busy |", flush=True)
            continue
        runs = simulated(case, reals)
        both = [figures(case, seen) for seen in (reals, runs)]
        cells = []
        for quantity, unit, digits in (("window", 1, 1), ("trip", 1, 1), ("acked", 1e6, 2), ("retransmits", 1, 0)):
            real, ours = (told[quantity] for told in both)
            star = "" if inside(quantity, real, ours) else " *"
            cells.append(f"{real.mean / unit:.{digits}f}, {ours.mean / unit:.{digits}f}{star}")
        far = max(distance(case, *pair) for pair in zip(reals, runs, strict=False))
        cells.append("drawn" if case.drawn else f"{100 * far:.1f} %")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def draw(picture: Path) -> None:
    """Window and round trip over time, the kernel's and ours, of CUBIC, Reno and BBR."""
    system = "Linux " + ".".join(platform.release().split("-")[0].split(".")[:2])
    figure, axes = new_figure(2, 3, 5.4, sharex="col")
    for top, below, controller in zip(axes[:3], axes[3:], ("cubic", "reno", "bbr"), strict=True):
        with tempfile.TemporaryDirectory() as folder:
            real = kernel(COURSES[controller], Path(folder))
            both = (real, simulated(COURSES[controller], [real])[0])
        for seen, name, color, width in zip(both, (system, "elephan"), (ORANGE, BLUE), (2.6, 1.0), strict=True):
            top.plot(seen.time_s, seen.cwnd, color=color, linewidth=width, label=name)
            below.plot(seen.time_s, seen.srtt_s * 1e3, color=color, linewidth=width)
        retransmits = " and ".join(f"{seen.retransmits}" for seen in both)
        top.set_title(f"{controller}: {retransmits} retransmitted", loc="left", fontsize=9)
        below.set_xlabel("time [s]")
    axes[0].set_ylabel("congestion window [segments]")
    axes[3].set_ylabel("smoothed round trip [ms]")
    axes[0].legend(frameon=False, loc="lower right")
    painted(figure).savefig(picture, dpi=130)


if __name__ == "__main__":
    if sys.argv[1] == "table":
        table(sys.argv[2:] or list(COURSES))
    else:
        draw(Path(sys.argv[1]))
