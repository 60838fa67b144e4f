"""The phases of a run's flow, with what a run knows and no capture: when slow start ended, every cut of the window, what the path
carries, what is still to be sent.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.base.errors import InputError, brief
from elephan.table import phases
from elephan.table.burst import WIRE_BYTES
from elephan.table.ip import TCP_HEADER_BYTES, ip_header_bytes
from elephan.table.rows import column, texts
from elephan.table.steps import path_ports, shortest_ports, slowest_ports
from elephan.theory import closed as theory

if TYPE_CHECKING:
    from elephan.result.run import Run

BEFORE_EXIT = ("closed", "handshake", "slow_start")
_COLUMNS = [
    "flow",
    "protocol",
    "traffic",
    "source",
    "destination",
    "delivered_bytes",
    "size_bytes",
    "start_ns",
    "min_rtt_ns",
    "cur_mss",
    "time_stamps",
]


def chosen_flow(run: Run, flow: int | None = None) -> dict[str, Any]:
    """Some columns of a TCP flow, without a number of the one that delivered most; InputError if there is no such flow."""
    flows = run.flows.select(_COLUMNS).to_pylist()
    if flow is None:
        tcp = [row for row in flows if row["protocol"] == "tcp"]
        if not tcp:
            raise InputError("the run has no TCP flow, and nothing else has phases")
        return dict(max(tcp, key=lambda row: int(row["delivered_bytes"])))
    row = next((row for row in flows if row["flow"] == flow), None) if isinstance(flow, (int, np.integer)) else None
    if row is None:
        raise InputError(f"the run has no flow {brief(flow)}")
    if row["protocol"] != "tcp":
        raise InputError(f"flow {flow} is {row['protocol']}: only TCP flows have phases")
    return dict(row)


def carried_bps(run: Run, row: dict[str, Any]) -> float | None:
    """The goodput in full packets that the slowest port of a flow's way carries as the run begins; None if the flow delivered
    nothing or has no way.
    """
    slowest, rate, framing = slowest_ports(run, row["source"], row["destination"])
    if not row["delivered_bytes"] or not slowest or row["cur_mss"] is None:
        return None
    options = theory.TIMESTAMP_OPTION_BYTES if row["time_stamps"] else 0
    headers = ip_header_bytes(run, row["traffic"]) + TCP_HEADER_BYTES + options
    wire = row["cur_mss"] + headers + WIRE_BYTES[framing]
    return float(rate * row["cur_mss"] / wire)


def plateau_bps(run: Run, row: dict[str, Any]) -> float | None:
    """What the slowest port of a flow's way carries; None if it delivered nothing, if it shares that port, or if the run has
    changes.
    """
    carried = carried_bps(run, row)
    if carried is None or run.resolved.get("change"):
        return None
    slowest, _, _ = slowest_ports(run, row["source"], row["destination"])
    each = zip(*(texts(run.flows, end) for end in ("source", "destination")), column(run.flows, "delivered_bytes"), strict=True)
    active = [(source, destination) for source, destination, delivered in each if delivered > 0]
    active.remove((row["source"], row["destination"]))
    return None if any(port in slowest for ends in set(active) for port in path_ports(run, *ends)) else carried


def most_bps(run: Run, row: dict[str, Any]) -> float | None:
    """What a flow cannot get more of for long; None if it has several shortest ways, or if rates of the run change."""
    ends = row["source"], row["destination"]
    changed = any("rate" in json.dumps(change["set"]) for change in run.resolved.get("change", []))
    return None if changed or shortest_ports(run, *ends) != set(path_ports(run, *ends)) else carried_bps(run, row)


def flow_phases(run: Run, flow: int | None = None) -> phases.Phases:
    """The phases of a TCP flow of a run (the one that delivered most); InputError where it is too short to have any."""
    row = chosen_flow(run, flow)
    number, samples = row["flow"], run.flow_samples
    own = column(samples, "flow") == number if samples.num_rows else np.empty(0, dtype=bool)
    if not row["delivered_bytes"] or row["min_rtt_ns"] is None:
        raise InputError(f"flow {number} delivered nothing, so it has no phases")
    if not own.any():
        raise InputError(f'flow {number} was not sampled, so it has no phases; set "record.every"')
    time, delivered, signals = (column(samples, name)[own] for name in ("time_ns", "delivered_bytes", "cong_signals"))
    left = ~np.isin(np.asarray(texts(samples, "phase"))[own], BEFORE_EXIT)
    size, cuts = row["size_bytes"], np.repeat(time, np.diff(signals, prepend=0.0).astype(int))
    try:
        return phases.find(
            np.concatenate([[min(row["start_ns"], time[0] - 1)], time]) / 1e9,
            np.concatenate([[0.0], delivered]),
            row["min_rtt_ns"] / 1e9,
            cuts / 1e9,
            plateau_bps(run, row),
            most_bps=most_bps(run, row),
            exit_s=float(time[left.argmax()]) / 1e9 if left.any() else None,
            remaining_bytes=None if size is None else size - row["delivered_bytes"],
        )
    except ValueError as error:
        raise InputError(f"flow {number}: {error}") from None
