"""Running the workloads, several times each, and taking the median."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from elephan import _renamed
from elephan.base.errors import ElephanError, InputError, nearest
from elephan.scenario import kinds


@dataclass(frozen=True)
class Workload:
    """A workload: its file, what is changed in it, the ns-3 program that does the same."""

    name: str
    file: str
    about: str
    overrides: tuple[str, ...] = ()
    program: str = ""
    arguments: tuple[str, ...] = ()
    drain_s: float = 0.0  # at the end, without arrivals: does not count for goodput (nor does it in ns-3's programs)
    repetitions: int = 5
    in_default: bool = True
    limits: dict[str, float] = field(default_factory=dict)
    beside: str = ""  # the workload with the same packets that each run follows


_RENO = ("duration=5 s", "traffic.bulk.congestion_control=reno")
# What a packet-hop with a controller may cost, in those of Reno: one whose packets leave one by one, and any other.
_PACED, _OTHER = 1.6, 1.25
_PACING = ("bbr", "bbr3", "copa", "pcp")

_ALL = (
    Workload("W1", "w1", "100 CUBIC flows, 1 Gb/s, 12 ms", (), "w1_dumbbell", ("--cca=cubic",)),
    Workload("W2", "w2", "fat-tree of 128 hosts, a permutation of NewReno flows", (), "w2_fattree", ("--cca=newreno",)),
    Workload("W3", "w3", "one CUBIC flow, 1 Gb/s, 196 ms, 60 s"),
    Workload("W3-10s", "w3", "the same, 10 s", ("duration=10 s",), "w3_lfn", ("--mtu=1500", "--cca=cubic", "--time=10")),
    Workload("W4", "w4", "250 KB transfers, Poisson, 40 Mb/s, 60 % load", (), "w4_short", ("--cca=cubic",), 5),
    Workload("W5", "w5", "leaf-spine of 128 hosts, 100 Gb/s, DCQCN over PFC", repetitions=1, in_default=False),
    Workload(
        "general",
        "w1",
        "W1 with every port on the general path: switches that could pause, and never do",
        tuple(
            f"switches.{name}.{key}"
            for name in ("left", "right")
            for key in ("memory=1 GiB", "flow_control.kind=pause", "flow_control.xoff=512 MiB", "flow_control.xon=256 MiB")
        ),
        in_default=False,
        beside="W1",
    ),
    Workload(
        "connections",
        "connections",
        "100,000 idle connections",
        repetitions=1,
        in_default=False,
        limits={"peak_rss_bytes": 512 * 2**20},
    ),
    Workload(
        "controllers",
        "w1",
        "W1 with Reno, 5 s, and then with every other congestion control",
        _RENO,
        repetitions=3,
        in_default=False,
    ),
)
WORKLOADS = {workload.name.lower(): workload for workload in _ALL}
DEFAULT = tuple(workload.name for workload in _ALL if workload.in_default)


def find(name: str, known: Sequence[Workload] = _ALL) -> Workload:
    """A workload by name."""
    for workload in known:
        if workload.name.lower() == name.lower():
            return workload
    raise InputError(f'no workload "{name}"{nearest(name, [w.name for w in known])}')


def _suits_w1(controller: str) -> bool:
    """Whether a congestion control is for TCP and asks nothing of routers."""
    answers = kinds.congestion_control(controller)
    return "tcp" in answers["transports"] and answers["asks"] is None


def controllers() -> list[Workload]:
    """W1 with each congestion control of TCP but Reno, beside Reno."""
    from elephan.step import cc

    return [
        Workload(
            f"controllers-{controller}",
            "w1",
            f"W1 with {controller}",
            (*_RENO[:1], f"traffic.bulk.congestion_control={controller}"),
            repetitions=3,
            in_default=False,
            limits={"times_beside_per_packet_hop": _PACED if controller in _PACING else _OTHER},
            beside="controllers",
        )
        for controller in cc.names()
        if controller != "reno" and _suits_w1(controller)
    ]


def once(workload: Workload, seed: int) -> dict[str, Any]:
    """One run in a fresh process."""
    command = [sys.executable, "-m", "elephan.bench.worker", workload.file, str(seed), *workload.overrides]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise ElephanError(f"{workload.name}: {lines[-1]}")
    return dict(json.loads(done.stdout))


def bench(workload: Workload, repetitions: int | None = None) -> dict[str, Any]:
    """Several runs, with the seeds 1, 2, ...: the median of each figure (and all wall times), the largest peak of memory.

    A workload beside another is run in turns with it: the median of the ratios of their processor time per packet-hop.
    """
    seeds = range(1, 1 + (repetitions or workload.repetitions))
    pairs = [(once(find(workload.beside), seed) if workload.beside else None, once(workload, seed)) for seed in seeds]
    rows = [own for _, own in pairs]
    row: dict[str, Any] = {"workload": workload.name}
    for key in (key for key in rows[0] if key != "seed"):
        row[key] = statistics.median_low(run[key] for run in rows)
    row |= {"seeds": [run["seed"] for run in rows], "wall_runs_s": [run["wall_s"] for run in rows]}
    row["peak_rss_bytes"] = max(run["peak_rss_bytes"] for run in rows)
    row["goodput_bps"] *= row["simulated_s"] / (row["simulated_s"] - workload.drain_s)
    row["ns_per_packet_hop"] = statistics.median(run["wall_s"] * 1e9 / max(1, run["packet_hops"]) for run in rows)
    if workload.beside:
        row["beside"] = workload.beside
        row["times_beside_per_packet_hop"] = statistics.median(
            cpu_per_hop(own) / cpu_per_hop(other) for other, own in pairs if other
        )
    order = ("workload", "wall_s", "cpu_s", "packet_hops", "events", "peak_rss_bytes", "goodput_bps", "loss_rate", "jain")
    return {key: row[key] for key in order} | {key: value for key, value in row.items() if key not in order}


def cpu_per_hop(row: dict[str, Any]) -> float:
    """Processor time per packet-hop."""
    cpu_s: float = row["cpu_s"]
    return cpu_s / float(max(1, row["packet_hops"]))


def broken_limits(workload: Workload, row: dict[str, Any]) -> list[str]:
    """Lines about what a workload must not exceed and did."""
    return [
        f"{workload.name}: {key} is {round(row[key], 2):.10g}, above {limit:.10g}"
        for key, limit in workload.limits.items()
        if row[key] > limit
    ]


def select(names: Sequence[str]) -> list[Workload]:
    """The workloads by name, with their variants ("W3" is also "W3-10s"); without names the standard ones."""
    for old in (name for name in names if name.lower().partition("-")[0] == "laws"):
        _renamed.note(f"the workload {old}", f"controllers{old[4:]}")
    names = [f"controllers{name[4:]}" if name.lower().partition("-")[0] == "laws" else name for name in names]
    variants = controllers() if any(name.lower().startswith("controllers") for name in names) else []
    known = [*_ALL, *variants]
    chosen = [find(name, known).name for name in names or DEFAULT]
    return [w for w in known if w.name in chosen or w.name.partition("-")[0] in chosen]
