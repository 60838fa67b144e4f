"""What the page says of why a flow is not faster, computed again from the rows of its samples and of the ports on its way."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from elephan.table.steps import shortest_ports
from stories import Rows

FULL, OWN, ROOM = 0.95, 0.5, 0.9
SPENT = ("snd_lim_time_rwin_ns", "snd_lim_time_cwnd_ns", "snd_lim_time_snd_ns")
STATES = ("phase", "cur_app_w_queue", "cwnd_bytes", "pipe_size", "pacing_bps", "delivered_bytes")
OF_PHASES = {"handshake": "handshake", "slow_start": "slow start", "recovery": "recovery", "loss": "timeout"}
OF_WINDOWS = {"slow start", "recovery", "pacing", "congestion window"}
OF_STAGES = {
    "read": "disk that is read",
    "send_buffer": "send buffer",
    "receive_buffer": "receive window",
    "write": "disk that is written",
}


def certain(rows: Rows, source: str, destination: str) -> list[dict[str, Any]]:
    """The ports that every shortest way has, the slowest first."""
    left = set(shortest_ports(rows.run, source, destination))
    front, found = {source}, []
    while left:
        step = {port for port in left if port[0] in front}
        if not step:
            break
        if len(step) == 1:
            found += step
        left -= step
        front = {peer for _, peer in step}
    own = [row for row in rows.ports.values() if (row["node"], row["peer"]) in found]
    return sorted(own, key=lambda row: (row["rate_bps"], row["port"]))


class Busy:
    """The utilisation of the ports on a way between two of their samples, or of the whole run where there are none."""

    def __init__(self, rows: Rows, source: str, destination: str) -> None:
        self.ports = certain(rows, source, destination)
        wanted = {row["port"] for row in self.ports}
        self.samples: dict[int, list[tuple[int, float]]] = {}
        for row in rows.run.port_samples.select(["port", "time_ns", "utilisation"]).to_pylist():
            if row["port"] in wanted:
                self.samples.setdefault(row["port"], []).append((row["time_ns"], row["utilisation"]))

    def full(self, at: float) -> dict[str, Any] | None:
        for port in self.ports:
            own = self.samples.get(port["port"])
            use = port["utilisation"] if own is None else next((use for time, use in own if time >= at), 0.0)
            if use >= FULL:
                return port
        return None


def judge(rows: Rows, flow: dict[str, Any], spans: list[dict[str, Any]], changes: bool) -> int:
    """Fails if a span of a flow has another reason than its samples; returns how many samples were looked at."""
    number = flow["flow"]
    names = ["flow", "time_ns", *SPENT, *STATES]
    samples = [row for row in rows.run.flow_samples.select(names).to_pylist() if row["flow"] == number]
    assert all(one["from_ns"] < one["to_ns"] or one is spans[0] for one in spans)
    assert all(a["to_ns"] <= b["from_ns"] for a, b in pairwise(spans))
    busy, stages = Busy(rows, flow["source"], flow["destination"]), stages_of(rows, number)
    last = dict.fromkeys(SPENT, 0) | {"time_ns": 0, "delivered_bytes": 0}
    for place, row in enumerate(samples):
        before = last if place == 0 else samples[place - 1]
        span = next((one for one in spans if one["from_ns"] < row["time_ns"] <= one["to_ns"]), None)
        spent = [row[key] - before[key] for key in SPENT]
        if span is None:  # its first sample, before it has done anything
            assert place == 0, row
            assert sum(spent) == 0, row
            continue
        allowed = own_reasons(row, samples[max(place - 1, 0)], spent, stages)
        full = busy.full(row["time_ns"])
        told = span["reason"]
        if told == "full link":
            assert full is not None, (span, row)
            assert full["port"] == span["port"], (span, row, full)
            assert allowed & (OF_WINDOWS | {"receive window", "send buffer"})
        else:
            assert told in allowed, (told, allowed, row)
            assert "port" not in span
            assert full is None or told not in OF_WINDOWS, (span, row, full)
            if full is not None and told in ("receive window", "send buffer") and not changes:
                rate = (row["delivered_bytes"] - before["delivered_bytes"]) * 8e9 / (row["time_ns"] - before["time_ns"])
                assert rate < OWN * full["rate_bps"] * (1 + 1e-9)
    return len(samples)


def own_reasons(row: dict[str, Any], before: dict[str, Any], spent: list[float], stages: list[tuple[int, str]]) -> set[str]:
    """What a sample says: of equal times each may be the reason."""
    if sum(spent) <= 0:
        return {"idle"}
    found = set()
    if spent[0] == max(spent):
        found.add("receive window")
    if spent[1] == max(spent):
        wide = row["pacing_bps"] is not None and all(one["pipe_size"] < ROOM * one["cwnd_bytes"] for one in (row, before))
        found.add(OF_PHASES.get(row["phase"], "pacing" if wide else "congestion window"))
    if spent[2] == max(spent):
        stage = next((name for until, name in stages if until >= row["time_ns"]), "network")
        empty = min(row["cur_app_w_queue"] or 0, before["cur_app_w_queue"] or 0) < 1
        found.add(OF_STAGES.get(stage) or ("application" if empty else "send buffer"))
    return found


def stages_of(rows: Rows, number: int) -> list[tuple[int, str]]:
    """Of a transfer from disk to disk that a flow is a stream of: until when which stage held it up."""
    copies = rows.run.copies.to_pylist()
    own = next((i for i, one in enumerate(copies) if one["flow"] <= number < one["flow"] + one["streams"]), None)
    if own is None:
        return []
    return [(row["time_ns"], row["limit"]) for row in rows.run.copy_samples.to_pylist() if row["copy"] == own]
