"""One run of a workload in this process: `python -m elephan.bench.worker NAME SEED [key=value ...]` prints one JSON line.

Imports nothing but the compiled core, so that the peak memory is the simulator's.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

# Classes of transfers by bytes, both above the first and up to the second.
SIZE_CLASSES = (("up to 10 kB", 0, 1e4), ("to 100 kB", 1e4, 1e5), ("to 1 MB", 1e5, 1e6), ("above", 1e6, float("inf")))


def measure(name: str, seed: int, overrides: dict[str, Any]) -> dict[str, Any]:
    """Runs a workload once and says what it cost and what it found."""
    import elephan._core as core

    text = Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8")
    before = time.process_time()
    result = core.run(text, f"{name}.toml", "toml", json.dumps(overrides), seed)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    summary = json.loads(result.summary)
    row = {
        "wall_s": result.wall_s,
        "cpu_s": time.process_time() - before,
        "packet_hops": result.packet_hops,
        "events": result.events,
        "peak_rss_bytes": peak,
        "goodput_bps": summary["goodput_bps"],
        "loss_rate": (summary.get("bottleneck") or {}).get("loss_rate", 0.0),
        "jain": summary["jain"],
        "flows": summary["flows"],
        "completed": summary["completed"],
        "seed": seed,
        "simulated_s": summary["simulated_s"],
    }
    if summary.get("fct"):
        row |= {"fct_mean_s": summary["fct"]["mean_s"], "fct_p99_s": summary["fct"]["p99_s"]}
    if name == "w5":
        row |= slowdowns(result.tables["flows"])
    return row


def slowdowns(flows: Any) -> dict[str, float]:
    """Completion times over the ideal, by the size of the transfer: median, 95th and 99th percentile of each class."""
    import numpy as np
    import pyarrow as pa

    from elephan.base.stats import quantiles

    table = pa.table(flows)
    size, slowdown = (np.array(table[column].to_pylist(), dtype=float) for column in ("size_bytes", "slowdown"))
    row: dict[str, float] = {}
    for label, low, high in SIZE_CLASSES:
        of_class = slowdown[(size > low) & (size <= high) & ~np.isnan(slowdown)]
        for percent in (50, 95, 99):
            row[f"slowdown {label} p{percent}"] = quantiles(of_class, [percent / 100])[0] if of_class.size else 0.0
    return row


def main() -> None:
    """The command line of the worker."""
    name, seed = sys.argv[1], int(sys.argv[2])
    overrides = dict(pair.partition("=")[::2] for pair in sys.argv[3:])
    print(json.dumps(measure(name, seed, overrides)))


if __name__ == "__main__":
    main()
