"""The same workloads in ns-3: programs built with `make` in a folder, each printing one line of JSON."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elephan.base.errors import ElephanError, InputError
from elephan.bench.workloads import Workload


@contextmanager
def built(folder: Path) -> Iterator[Path]:
    """A copy of the folder with its programs built; what the folder has built already is taken over."""
    if not (folder / "Makefile").is_file():
        raise InputError(f"{folder}: no Makefile; --against needs a folder of ns-3 programs")
    with tempfile.TemporaryDirectory(prefix="elephan-ns3-") as copy:
        place = Path(copy) / "ns3"
        shutil.copytree(folder, place)
        for one in (place, *place.rglob("*")):
            one.chmod(0o755)
        made = subprocess.run(["make", "-s", "-C", str(place)], capture_output=True, text=True, check=False)
        if made.returncode:
            why = (made.stderr.strip().splitlines() or ["no message"])[0]
            raise ElephanError(f"{folder}: the ns-3 programs do not build: {why}")
        yield place


def ns3(place: Path, workload: Workload) -> dict[str, Any]:
    """One run of ns-3, in elephan's words."""
    command = [str(place / "build" / workload.program), *workload.arguments, "--sched=heap"]
    before = _cpu_of_children()
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ElephanError(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        raise ElephanError(f"{workload.program} ended with status {done.returncode}")
    cpu_s = _cpu_of_children() - before
    found = json.loads(done.stdout.strip().splitlines()[-1])
    row = {
        "workload": workload.name,
        "simulator": "ns-3",
        "wall_s": found["wall_run_s"],
        "cpu_s": cpu_s,
        "packet_hops": found["pkt_hops"],
        "events": found["events"],
        "peak_rss_bytes": found["rss_mb"] * 2**20,
        "goodput_bps": found["goodput_mbps"] * 1e6,
        "loss_rate": found.get("loss_rate", found["drops"] / max(1, found["drops"] + found["pkt_hops"])),
        "jain": found.get("jain"),
    }
    row["ns_per_packet_hop"] = row["wall_s"] * 1e9 / max(1, row["packet_hops"])
    if "fct_mean_ms" in found:
        row |= {"fct_mean_s": found["fct_mean_ms"] / 1e3, "fct_p99_s": found["fct_p99_ms"] / 1e3}
    return row


def _cpu_of_children() -> float:
    """Processor time of the processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
