"""What links that follow a trace could have carried, beside what they carried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.scenario import core
from elephan.table.rows import Array, column, texts

if TYPE_CHECKING:
    from elephan.result.run import Run


def capacities(run: Run, times_ns: Array) -> dict[str, tuple[Array, float]]:
    """Returns, for each port whose rate follows a trace, the bits that it can carry from the start of the run to each time.

    Beside them stands by how many bytes a packet counts more than on the wire: chances of Mahimahi's format carry IP packets.
    """
    if "trace" not in run.scenario:
        return {}
    found = core.capacities(run.scenario, [round(float(time)) for time in times_ns])
    return {name: (np.array(bits), float(more)) for name, (bits, more) in found.items()}


def capacity_used(run: Run) -> Array:
    """Returns which share of what its trace let it carry each port has sent; NaN for a port that follows none."""
    traced = capacities(run, np.array([run.duration_ns]))
    sent, packets = column(run.ports, "tx_bytes"), column(run.ports, "tx_packets")
    used = np.full(len(sent), np.nan)
    for place, name in enumerate(texts(run.ports, "name")):
        if name in traced:
            (bits,), more = traced[name]
            used[place] = 8 * (sent[place] + more * packets[place]) / bits if bits > 0 else np.nan
    return used
