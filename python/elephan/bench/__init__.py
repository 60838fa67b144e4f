"""The standard workloads: how fast elephan is, alone and beside ns-3.

Each run is a fresh process, so that its peak memory is its own. Wall time is that of the run alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any


def run_bench(names: Sequence[str], repetitions: int | None, against: Path | None) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows of results and, with `against`, of ns-3; lines about limits that were exceeded."""
    from elephan.base.progress import bar
    from elephan.bench import peers, workloads
    from elephan.bench.workloads import cpu_per_hop

    chosen = workloads.select(names)
    rows: list[dict[str, Any]] = []
    broken: list[str] = []
    place: Any = peers.built(against) if against is not None else nullcontext()
    with place as programs, bar("bench", len(chosen)) as progress:
        for done, workload in enumerate(chosen):
            progress.set(done, f"bench {workload.name}")
            row = workloads.bench(workload, repetitions)
            rows.append(row)
            broken += workloads.broken_limits(workload, row)
            if programs is not None and workload.program:
                progress.set(done + 0.5, f"bench {workload.name}, ns-3")
                peer = peers.ns3(programs, workload)
                slower = {
                    "times_slower": peer["wall_s"] / row["wall_s"],
                    "times_slower_per_packet_hop": peer["ns_per_packet_hop"] / row["ns_per_packet_hop"],
                    "times_slower_cpu_per_packet_hop": cpu_per_hop(peer) / cpu_per_hop(row),
                }
                rows.append(peer | slower)
    return rows, broken
