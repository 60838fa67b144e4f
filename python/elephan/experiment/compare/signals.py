"""Time series of one run of the panel: goodput of its flows, queueing delay and loss at the bottleneck."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elephan.result.run import Run
from elephan.table.rows import column, texts

Array = npt.NDArray[np.float64]
BOTTLENECK = "left->right"
DELTA = 0.1  # of delta-fair convergence, Bansal et al. 2001
_GAP_BYTES = {"ethernet": 20}  # preamble and gap: on the wire, not in the queue


@dataclass(frozen=True)
class Queue:
    """The bottleneck's samples: times in s, queueing delay in s, wire bytes sent, drops so far."""

    time_s: Array
    delay_s: Array
    tx_bytes: Array
    drops: Array
    packet_bytes: float  # mean on the wire; 0 where nothing was sent


def rate_at(time_s: Array, steps: list[tuple[float, float]]) -> Array:
    """The bottleneck's rate in bit/s at each time, from `(from time, rate)` steps in order."""
    starts, rates = np.array([s for s, _ in steps]), np.array([r for _, r in steps])
    return np.asarray(rates[np.maximum(np.searchsorted(starts, time_s, side="right") - 1, 0)])


def bottleneck(run: Run, steps: list[tuple[float, float]]) -> Queue:
    """The samples of the port that sends into the bottleneck."""
    ports = run.ports
    row = texts(ports, "name").index(BOTTLENECK)
    number = column(ports, "port")[row]
    samples = run.port_samples
    mine = column(samples, "port") == number
    time, held, packets, sent, drops = (
        column(samples, name)[mine] for name in ("time_ns", "queue_bytes", "queue_packets", "tx_bytes", "drops")
    )
    framing = next(link["framing"] for link in run.resolved["links"] if link["between"] == ["left", "right"])
    wire = held + packets * _GAP_BYTES.get(str(framing), 0)
    time = time * 1e-9
    mean = column(ports, "tx_bytes")[row] / max(1.0, column(ports, "tx_packets")[row])
    return Queue(time, wire * 8 / rate_at(time, steps), sent, drops, float(mean))


def loss(queue: Queue, begin_s: float, end_s: float = math.inf) -> float:
    """Packets dropped over packets offered between two times."""
    chosen = (queue.time_s >= begin_s) & (queue.time_s <= end_s)
    if np.count_nonzero(chosen) < 2:
        return math.nan
    drops = float(np.ptp(queue.drops[chosen]))
    offered = float(np.ptp(queue.tx_bytes[chosen])) / (queue.packet_bytes or 1.0) + drops
    return drops / offered if offered > 0 else math.nan


def window_goodput(run: Run, traffic: str, begin_s: float, window_s: float) -> tuple[Array, Array]:
    """`(window starts in s, goodput in bit/s)` of all flows of a traffic entry, in whole windows from `begin_s` on."""
    flows = run.flows
    ids = {int(f) for f, t in zip(column(flows, "flow"), texts(flows, "traffic"), strict=True) if t == traffic}
    samples = run.flow_samples
    flow, time, delivered = (column(samples, name) for name in ("flow", "time_ns", "delivered_bytes"))
    edges = np.arange(begin_s, run.duration_ns * 1e-9 + 1e-9, window_s)
    total = np.zeros(edges.size)
    for one in sorted(ids):
        mine = flow == one
        if mine.any():
            total += np.interp(edges, time[mine] * 1e-9, delivered[mine], left=0.0)
    return edges[:-1], np.diff(total) * 8 / window_s


def start_s(run: Run, traffic: str) -> float:
    """When the first flow of a traffic entry began."""
    flows = run.flows
    begins = [s for s, t in zip(column(flows, "start_ns"), texts(flows, "traffic"), strict=True) if t == traffic]
    return float(min(begins)) * 1e-9


def goodput(run: Run, traffic: str) -> float:
    """Goodput in bit/s of all flows of a traffic entry after the warm-up."""
    flows = run.flows
    return float(sum(g for g, t in zip(column(flows, "goodput_bps"), texts(flows, "traffic"), strict=True) if t == traffic))


def delta_fair_s(a: Array, b: Array, window_s: float, delta: float = DELTA) -> float:
    """Time until both flows have at least (1 - delta) / 2 of what both get in a window; NaN if never.

    `a`, `b`: goodput in windows from the start of the second flow on. Bansal, Balakrishnan, Floyd and Shenker 2001.
    """
    total = a + b
    with np.errstate(invalid="ignore", divide="ignore"):
        least = np.minimum(a, b) / total
    fair = np.flatnonzero(least >= (1 - delta) / 2)
    return float((fair[0] + 1) * window_s) if fair.size else math.nan


def settled_s(a: Array, b: Array, window_s: float, hold_s: float = 5.0, tolerance: float = 0.2) -> float:
    """Time until both flows are within `tolerance` of half of what both get, and stay so for `hold_s`; NaN if never."""
    total = a + b
    with np.errstate(invalid="ignore", divide="ignore"):
        near = np.abs(2 * a / total - 1) <= tolerance
    need = max(1, round(hold_s / window_s))
    run = 0
    for index, one in enumerate(near):
        run = run + 1 if one else 0
        if run == need:
            return float((index + 1 - need) * window_s)
    return math.nan
