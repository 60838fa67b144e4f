"""`elephan bench controllers`: which controllers are compared, and with what. Times themselves are not tested."""

from __future__ import annotations

import json
import subprocess
import sys

from elephan.bench import workloads
from elephan.step import cc


def test_every_controller_of_tcp_is_beside_reno() -> None:
    """A new controller is in by itself; one that is not for W1 as it stands must be named."""
    chosen = {workload.name: workload for workload in workloads.select(["controllers"])}
    assert set(chosen) == {"controllers"} | {
        f"controllers-{controller}"
        for controller in cc.names()
        if controller not in {"reno", "xcp", "explicit_rate", "dcqcn", "timely", "hpcc", "nscc", "none"}
    }
    limits = {name: workload.limits.get("times_beside_per_packet_hop") for name, workload in chosen.items()}
    assert (limits["controllers"], limits["controllers-bic"], limits["controllers-bbr"]) == (None, 1.25, 1.6)
    assert [workload.name for workload in workloads.select(["controllers-bbr"])] == ["controllers-bbr"]


def test_one_controller_is_run_in_turns_with_reno() -> None:
    """Status 1 where the limit is exceeded, which a busy machine may do."""
    command = [sys.executable, "-m", "elephan", "bench", "controllers-vegas", "-n", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    (row,) = json.loads(done.stdout)
    assert done.returncode == int(row["times_beside_per_packet_hop"] > 1.25)
    assert (row["workload"], row["beside"], row["simulated_s"]) == ("controllers-vegas", "controllers", 5.0)
    assert row["packet_hops"] > 1_000_000
