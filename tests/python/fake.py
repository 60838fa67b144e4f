"""A made-up core with the interface of `elephan._core`: quick synthetic tables to test the Python side alone."""

from __future__ import annotations

import json
import tomllib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
from elephan import _core

# What TCP is set to at both ends of a path that closed forms are asked about.
PATH_TCP: dict[str, Any] = {
    "timestamps": True,
    "window_scaling": True,
    "receive_window": "1 GiB",
    "send_buffer": "1 GiB",
    "initial_window": 10,
    "abc": True,
    "abc_limit": 2,
    "delayed_ack_segments": 2,
    "sack": True,
    "reduction": "immediate",
}


# What kinds answer about themselves is known without a run.
answers, scenario_answers = _core.answers, _core.scenario_answers
quantity, amount, TomlText = _core.quantity, _core.amount, _core.TomlText


class ScenarioError(ValueError):
    pass


class RunError(Exception):
    pass


class Cancelled(RunError):
    pass


class Cancel:
    def __init__(self) -> None:
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


SCENARIO = """title = "Made up"
question = "What does a made-up network do?"
duration = "1 s"
warmup = "100 ms"
seed = {seed}

[switches.sw]
memory = "48 KiB"
"""

COUNTERS = """
    segs_out segs_in data_segs_out data_segs_in data_octets_out data_octets_in octets_retrans
    subsequent_timeouts cong_signals spurious_fr_detected spurious_rto_detected dsack_dups tail_loss_probes
    dup_acks_in sacks_rcvd sack_blocks_rcvd slow_start cong_avoid
    snd_lim_trans_rwin snd_lim_trans_cwnd snd_lim_trans_snd cur_rwin_rcvd max_rwin_rcvd zero_rwin_rcvd send_stall
""".split()  # noqa: SIM905


def model_known_as(word: str) -> str | None:
    return {"hstcp": "highspeed"}.get(word)


def tables(seed: int = 1, lossy: bool = True, flows: int = 3) -> dict[str, pa.Table]:
    """Three clients into one server: sawteeth, a swinging queue, messages, drops, pauses."""
    rng = np.random.default_rng(seed)
    time = np.arange(0, 1_000_000_001, 1_000_000, dtype=np.int64)
    n = time.size
    share = rng.dirichlet([4.0 if lossy else 400.0] * flows, size=n) * 9.3e9 / 8 * 1e-3
    delivered = np.cumsum(share, axis=0).astype(np.int64)
    saw = 1460 * (22 + 22 * ((np.arange(n)[:, None] / (60 + 17 * np.arange(flows)) + rng.random(flows)) % 1))
    rows = n * flows
    flow_samples = pa.table(
        {
            "time_ns": np.repeat(time, flows),
            "flow": np.tile(np.arange(flows), n),
            "cwnd_bytes": saw.reshape(rows),
            "ssthresh_bytes": pa.array([None] * flows * 50 + [32120.0] * (rows - flows * 50), pa.float64()),
            "inflight_bytes": saw.reshape(rows).astype(np.int64),
            "srtt_ns": rng.normal(40_000, 4000, rows).astype(np.int64),
            "pacing_bps": pa.nulls(rows, pa.float64()),
            "delivered_bytes": delivered.reshape(rows),
            "phase": ["congestion_avoidance"] * rows,
        }
    )
    queue = np.clip(24e3 + 16e3 * np.sin(np.arange(n) / 7) + rng.normal(0, 4e3, n), 0, 49152).astype(np.int64)
    drops = np.cumsum(rng.poisson(0.6 if lossy else 0.0, n)).astype(np.int64)
    port_samples = pa.table(
        {
            "time_ns": time,
            "port": np.full(n, 1, np.int64),
            "queue_bytes": queue,
            "queue_packets": queue // 1518,
            "tx_packets": (delivered.sum(axis=1) // 1460).astype(np.int64),
            "tx_bytes": (delivered.sum(axis=1) * 1538 // 1460).astype(np.int64),
            "drops": drops,
            "marks": np.zeros(n, np.int64),
            "paused_ns": np.zeros(n, np.int64),
            "utilisation": np.full(n, 0.98),
        }
    )
    switch_samples = pa.table(
        {"time_ns": time, "switch": ["sw"] * n, "memory_bytes": queue, "pausing": (queue > 21504) & (not lossy)}
    )
    count = 5000
    enter = np.sort(rng.integers(0, 990_000_000, count))
    latency = rng.gamma(4, 40_000, count)
    if lossy:
        latency[rng.random(count) < 0.01] += 10_000_000
    messages = pa.table(
        {
            "flow": rng.integers(0, flows, count),
            "enter_ns": enter,
            "exit_ns": pa.array([int(e + x) for e, x in zip(enter, latency, strict=True)][:-5] + [None] * 5, pa.int64()),
            "size_bytes": rng.exponential(8000, count).astype(np.int64) + 1,
            "latency_ns": pa.array([int(x) for x in latency][:-5] + [None] * 5, pa.int64()),
        }
    )
    return {
        "flows": _flows(delivered, lossy, flows),
        "messages": messages,
        "flow_samples": flow_samples,
        "ports": _ports(int(drops[-1]), int(delivered[-1].sum()), lossy),
        "port_samples": port_samples,
        "switch_samples": switch_samples,
        "events": _events(time, drops, lossy),
    } | {name: pa.table({key: pa.array([], pa.int64()) for key in keys.split()}) for name, keys in EMPTY.items()}


# Tables that the made-up network has no rows for, with the columns that are read.
EMPTY = {
    "datagrams": "time_ns flow seq payload_bytes",
    "copies": "copy traffic received_ns",
    "copy_samples": "time_ns copy cache_bytes",
    "queue_delays": "port name",
    "iterations": "traffic group iteration begin_ns end_ns straggler straggler_to straggler_ns straggling_link",
    "ranks": "traffic group iteration rank host",
    "operations": "traffic group iteration rank kind",
    "hosts": "host cpu frames",
    "host_samples": "time_ns host cpu logger_silent_ns",
    "logger_gaps": "host begin_ns",
    "transmit_samples": "time_ns host port qdisc_packets",
}


def _flows(delivered: Any, lossy: bool, flows: int) -> pa.Table:
    measured = delivered[-1] - delivered[100]
    ones = np.ones(flows, np.int64)
    columns: dict[str, Any] = {
        "flow": np.arange(flows),
        "traffic": ["upload"] * flows,
        "source": [f"client[{i}]" for i in range(flows)],
        "destination": ["server"] * flows,
        "protocol": ["tcp"] * flows,
        "congestion_control": ["reno"] * flows,
        "stack": ["winxp"] * flows,
        "start_ns": 0 * ones,
        "established_ns": 10_000 * ones,
        "end_ns": pa.nulls(flows, pa.int64()),
        "completed": [False] * flows,
        "size_bytes": pa.nulls(flows, pa.int64()),
        "delivered_bytes": delivered[-1],
        "measured_bytes": measured,
        "goodput_bps": measured * 8 / 0.9,
        "fct_ns": pa.nulls(flows, pa.int64()),
        "sender_fct_ns": pa.nulls(flows, pa.int64()),
        "segs_retrans": 200 * ones * lossy,
        "fast_retran": 50 * ones * lossy,
        "timeouts": 12 * ones * lossy,
        "min_rtt_ns": 6000 * ones,
        "smoothed_rtt_ns": 40_000 * ones,
        "snd_lim_time_rwin_ns": 700_000_000 * ones,
        "snd_lim_time_cwnd_ns": 290_000_000 * ones,
        "snd_lim_time_snd_ns": 10_000_000 * ones,
    }
    return pa.table(columns | dict.fromkeys(COUNTERS, 7 * ones))


def _ports(drops: int, delivered: int, lossy: bool) -> pa.Table:
    return pa.table(
        {
            "port": [0, 1],
            "name": ["client[0]->sw", "sw->server"],
            "node": ["client[0]", "sw"],
            "peer": ["sw", "server"],
            "rate_bps": [10e9, 10e9],
            "tx_packets": [250_000, delivered // 1460],
            "tx_bytes": [390_000_000, delivered * 1538 // 1460],
            "drops": [0, drops],
            "marks": [0, 0],
            "queue_max_bytes": [60_000, 49_152],
            "queue_max_packets": [40, 32],
            "queue_mean_bytes": [20_000.0, 24_000.0],
            "paused_ns": [0 if lossy else 200_000_000, 0],
            "pauses_sent": [0, 0 if lossy else 9000],
            "pauses_received": [0 if lossy else 9000, 0],
            "utilisation": [0.33, 0.98],
        }
    )


def _events(time: Any, drops: Any, lossy: bool) -> pa.Table:
    at = [int(t) for t, d in zip(time, np.diff(drops, prepend=0), strict=True) for _ in range(int(d))]
    kinds = ["drop"] * len(at)
    if not lossy:
        at = [int(t) + k * 400_000 for t in time[:-1:10] for k in (0, 1)]
        kinds = ["pause", "resume"] * (len(at) // 2)
    return pa.table(
        {
            "time_ns": pa.array(at, pa.int64()),
            "kind": pa.array(kinds, pa.string()),
            "node": pa.array(["sw"] * len(at), pa.string()),
            "port": pa.array([1] * len(at), pa.int64()),
            "peer": pa.array(["server" if lossy else "client[0]"] * len(at), pa.string()),
            "flow": pa.array([0] * len(at), pa.int64()),
            "packet_bytes": pa.array([1518] * len(at), pa.int64()),
            "value": pa.nulls(len(at), pa.float64()),
            "reason": pa.array(["memory"] * len(at), pa.string()),
        }
    )


PROVENANCE = {"parameters": [{"path": "switches.sw.memory", "value": "48 KiB", "from": "given"}], "dropped": []}


def run(
    text: str, name: str, format: str, overrides: str, seed: Any, folder: Any, progress: Any, cancel: Any, agreed: Any = None
) -> Any:
    if "broken" in text:
        raise ScenarioError(f"{name}:1:1: broken")
    chosen = json.loads(overrides)
    if cancel is not None and cancel.cancelled:
        raise Cancelled("stopped")
    if chosen.get("fail") == "yes":
        raise RunError("conservation: 1 byte lost")
    lossy = chosen.get("switches.sw.flow_control.kind") == "none"
    found = tables(seed or 1, lossy)
    if folder is not None:
        from pyarrow import parquet

        for key, table in found.items():
            parquet.write_table(table, f"{folder}/{key}.parquet")
        found = {}
    if progress is not None:
        progress(1.0, 1000)
    summary = {"goodput_bps": 9.3e9}
    return SimpleNamespace(
        tables=found,
        summary=json.dumps(summary),
        resolved_toml=SCENARIO.format(seed=seed or 1),
        resolved=toml_values(SCENARIO.format(seed=seed or 1)),
        provenance=json.dumps(PROVENANCE),
        wall_s=0.01,
        events=1000,
        packet_hops=2000,
        shared_s=0.0,
        captures=[],
    )


def variants(text: str, name: str, format: str, overrides: str, repetitions: Any, seed: Any = None, **_: Any) -> str:
    axes = dict(tomllib.loads(text).get("sweep", {}))
    count = repetitions or axes.pop("repetitions", 1)
    axes.pop("repetitions", None)
    rows = [
        {"label": f"{key}={value}", "overrides": {key: value}, "seed": 1 + i, "parameters": {key: value}}
        for key, values in axes.items()
        for value in values
        for i in range(count)
    ]
    if not rows:
        rows = [{"label": "", "overrides": {}, "seed": 1 + i, "parameters": {}} for i in range(count)]
    return json.dumps(rows)


def resolve(text: str, name: str, format: str, overrides: str, seed: Any, **_: Any) -> str:
    traffic = 'traffic = [{ kind = "bulk", size = "1 MB" }]\n'
    return json.dumps({"seed": seed or 1, "toml": traffic + SCENARIO.format(seed=seed or 1), "provenance": PROVENANCE})


def version() -> str:
    return "0.0.0-fake"


def resolved_toml(*given: Any, **_: Any) -> str:
    return str(json.loads(resolve(*given))["toml"])


def toml_values(text: str) -> str:
    return json.dumps(tomllib.loads(text))
