"""Statistics of one run by name: what sweeps tabulate and claims judge.

A statistic is `MEASURE.TAKE`, for example `latency_ns.p99` or `goodput_bps.jain`: a measure is a list of values found
in the tables of a run (a value per flow, message, port, window ...), a take reduces it to one number. Both sets are
fixed. Measures count from the end of the warm-up where a value has a time. `goodput_bps[web].mean` is that of one traffic
entry: a measure may name in brackets what of the run it takes (`elephan.table.rows.Part`), as in
`delivered_bps[to client[0], during 100-400 ms].sum` or `queue_bytes[at sw->client[0]].p95`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.base import stats
from elephan.base.errors import InputError, nearest
from elephan.statistic import sharing
from elephan.statistic.observed import (
    after_warmup,
    burst,
    busiest_queue,
    completed,
    copies_together,
    copy_column,
    copy_share,
    delivered,
    delivered_together,
    dropped_for,
    flow_column,
    goodput_windows,
    hurst,
    jain_together,
    jain_windows,
    latency,
    limited,
    loss,
    port_column,
    round_time,
    sampled_drops,
    silence,
    timeouts,
    window_segments,
    wire,
)
from elephan.table import hostrows
from elephan.table.rows import EMPTY, Array, NoSuchPart, column, part_of, texts

if TYPE_CHECKING:
    from elephan.result.run import Run


@dataclass(frozen=True)
class Measure:
    """A named list of values of a run."""

    name: str
    unit: str  # bps, ns, bytes, % (a fraction) or 1
    description: str
    values: Callable[[Run], Array]
    # Takes that need more than the values, since each has a time of its own; a text says why there is none.
    takes: Mapping[str, Callable[[Run], float] | str] = field(default_factory=dict)

    def take(self, name: str, run: Run, values: Array) -> float:
        """Returns the take called `name` of the values that this measure has found in a run."""
        own = self.takes.get(name)
        return own(run) if callable(own) else TAKES[name](values)

    @property
    def of_whole_run(self) -> bool:
        """Whether the warm-up counts too."""
        return self.name.partition("[")[0] in _COUNTS_WARMUP

    @property
    def is_share(self) -> bool:
        """Whether no value of it is above 1; a window after a gap can be larger than before it."""
        name = self.name.partition("[")[0]
        return name.startswith("jain_") or (self.unit == "%" and name != "window_after_gap")

    def of(self, selection: str) -> Measure:
        """The same measure of a part of a run: of a traffic entry, a host, a port, a time (`elephan.table.rows.Part`)."""
        name = f"{self.name}[{selection}]"
        conditions = [condition.partition(" ")[0] for condition in selection.split(", ")]
        if self.name in _OF_ALL_PORTS:
            raise InputError(f'statistic "{name}": {self.name} is of all ports and the whole run')
        scales = {"between"} if self.name.startswith("hurst_") else set()
        if self.name in OF_PORTS and not set(conditions) <= {"at", "during"} | scales:
            raise InputError(f'statistic "{name}": {self.name} is about ports, not about flows')
        if "between" in conditions and not scales:
            raise InputError(f'statistic "{name}": a range of times between bins is of hurst_variance_time and hurst_wavelet')
        if self.name in _OF_WHOLE_RUNS and "during" in conditions:
            raise InputError(f'statistic "{name}": {self.name} is of the whole run; sampled ones have times')
        words = f"{self.description}; {selection if len(conditions) > 1 or ' ' in selection else f'traffic {selection}'}"
        # A part answers to what measures ask of a run, by handing the rest on to it.
        takes = {take: _of_part(own, selection) if callable(own) else own for take, own in self.takes.items()}
        return Measure(name, self.unit, words, lambda run: self.values(part_of(run, selection)), takes)


def _of_part(value: Callable[[Run], float], selection: str) -> Callable[[Run], float]:
    return lambda run: value(part_of(run, selection))


_WINDOWS = {"sum": "rates of different times are not added; take mean, or goodput_bps.sum"}


def _of_copies(name: str, description: str) -> Measure:
    """A rate of transfers from disk to disk; together it is over the time in which any of them ran."""
    column = name.removeprefix("copy_") if name != "copy_bps" else "rate_bps"
    return Measure(name, "bps", description, copy_column(column), {"sum": copies_together(column)})


_ALL = [
    Measure("goodput_bps", "bps", "goodput of each flow in the measured time", flow_column("goodput_bps"), {"jain": jain_together}),
    Measure(
        "delivered_bps",
        "bps",
        "goodput of each flow over the part of the measured time in which it ran",
        delivered,
        {"sum": delivered_together, "jain": jain_together},
    ),
    Measure("silence_ns", "ns", "longest time between samples that show something delivered, of each flow", silence),
    Measure(
        "stall_ns",
        "ns",
        "longest time in which nothing of each flow was newly acknowledged while data was outstanding",
        flow_column("stall_max_ns"),
    ),
    Measure("window_segments", "1", "mean window of each flow: goodput times smallest RTT, in segments", window_segments),
    Measure("wire_bps", "bps", "bits on the wire into each receiver, headers included", wire),
    Measure("goodput_1ms_bps", "bps", "goodput of all flows together, in windows of 1 ms", goodput_windows(1_000_000), _WINDOWS),
    Measure("goodput_10ms_bps", "bps", "goodput of all flows together, in windows of 10 ms", goodput_windows(10_000_000), _WINDOWS),
    Measure("goodput_1s_bps", "bps", "goodput of all flows together, in windows of 1 s", goodput_windows(1_000_000_000), _WINDOWS),
    Measure("jain_1ms", "1", "Jain index of the flows in each window of 1 ms, UDP and frames left out", jain_windows(1_000_000)),
    Measure(
        "jain_10ms",
        "1",
        "Jain index of the flows in each window of 10 ms, UDP and frames left out",
        jain_windows(10_000_000),
    ),
    Measure(
        "jain_100ms",
        "1",
        "Jain index of the flows in each window of 100 ms, UDP and frames left out",
        jain_windows(100_000_000),
    ),
    Measure("convergence_ns", "ns", "from the last start until its share lasts within 20 % of equal", sharing.convergence),
    Measure("delta_fair_ns", "ns", "from the last start until all flows have 90 % of an equal share", sharing.delta_fair),
    Measure("reclaim_ns", "ns", "from the first end until the others have 80 % of the goodput before it", sharing.reclaim),
    Measure("latency_ns", "ns", "latency of each message, from entry into TCP to its last byte out, transfers left out", latency),
    Measure("round_time", "ns", "time of each round of incast, until its last answer is in", round_time),
    Measure("fct_ns", "ns", "completion time of each finite flow", completed("fct_ns")),
    Measure("fct_rto_ns", "ns", "completion time of each finite flow with a retransmission timeout", completed("fct_ns", True)),
    Measure("fct_no_rto_ns", "ns", "completion time of each finite flow without one", completed("fct_ns", False)),
    Measure("sender_fct_ns", "ns", "the same until the sender has its last byte acknowledged", completed("sender_fct_ns")),
    Measure("slowdown", "1", "completion time of each finite flow over that of the flow alone", completed("slowdown")),
    Measure(
        "copy_bps",
        "bps",
        "rate of each transfer from disk to disk, to where it is complete",
        copy_column("rate_bps"),
        {"sum": copies_together("rate_bps")},
    ),
    Measure(
        "copy_cached_bps",
        "bps",
        "rate of each transfer from disk to disk into the cache",
        copy_column("cached_bps"),
        {"sum": copies_together("cached_bps")},
    ),
    Measure(
        "copy_on_disk_bps",
        "bps",
        "rate of each transfer from disk to disk onto the disk",
        copy_column("on_disk_bps"),
        {"sum": copies_together("on_disk_bps")},
    ),
    Measure("copy_read_limited", "%", "share of time that transfers waited for the disk that is read", copy_share("read")),
    Measure("copy_network_limited", "%", "share of time that transfers waited for the network", copy_share("network")),
    Measure("copy_send_buffer_limited", "%", "share of time that transfers waited for send buffers", copy_share("send_buffer")),
    Measure(
        "copy_receive_buffer_limited",
        "%",
        "share of time that transfers waited for receive buffers",
        copy_share("receive_buffer"),
    ),
    Measure("copy_write_limited", "%", "share of time that transfers waited for the disk that is written", copy_share("write")),
    Measure("drops", "1", "packets dropped at each port", port_column("drops")),
    Measure("queue_full_drops", "1", "packets that found the queue of their port full", dropped_for("queue_full")),
    Measure("memory_full_drops", "1", "packets that found the memory of their switch full", dropped_for("memory_full")),
    Measure("sampled_drops", "1", "packets dropped at each port from its first to its last sample", sampled_drops),
    Measure(
        "hurst_variance_time",
        "1",
        "Hurst parameter of the bytes sent by each port between samples, by variance-time plot",
        hurst("variance_time"),
    ),
    Measure(
        "hurst_wavelet",
        "1",
        "Hurst parameter of the bytes sent by each port between samples, by wavelets",
        hurst("wavelet"),
    ),
    Measure("notifications", "1", "notifications of congestion sent by each port", port_column("notifications_sent")),
    Measure("marks", "1", "packets marked at each port", port_column("marks")),
    Measure("loss", "%", "packets dropped at a port over packets offered to it", loss),
    Measure("utilisation", "%", "busy time of each port", port_column("utilisation")),
    Measure("queue_mean_bytes", "bytes", "mean queue of each port", port_column("queue_mean_bytes")),
    Measure("queue_max_bytes", "bytes", "longest queue of each port", port_column("queue_max_bytes")),
    Measure("queue_bytes", "bytes", "samples of the longest queue", busiest_queue),
    Measure(
        "memory_bytes",
        "bytes",
        "samples of a switch's shared memory in use",
        after_warmup("switch_samples", "memory_bytes"),
    ),
    Measure("pauses_sent", "1", "PAUSE frames sent by each port", port_column("pauses_sent")),
    Measure("paused_ns", "ns", "time that each port was paused", port_column("paused_ns")),
    Measure("host_drops", "1", "packets dropped on their way in by each modelled host", hostrows.drops),
    Measure("cpu", "%", "busy time of each modelled host's processor", lambda run: column(run.hosts, "cpu")),
    Measure(
        "logger_gap_ns",
        "ns",
        "longest time between two lines of each host's logger",
        lambda run: column(run.hosts, "logger_gap_max_ns"),
    ),
    Measure(
        "window_after_gap",
        "%",
        "congestion window in the first sample after each logger gap of 0.1 s or more over that before it",
        hostrows.windows_after_gaps,
    ),
    Measure("timeouts", "1", "retransmission timeouts of each flow, those of a back-off included", timeouts),
    Measure("tail_loss_probes", "1", "tail loss probes of each flow", flow_column("tail_loss_probes")),
    Measure("retransmits", "1", "segments retransmitted by each flow", flow_column("segs_retrans")),
    Measure("fast_retransmits", "1", "fast retransmits of each flow", flow_column("fast_retran")),
    Measure("rtt_ns", "ns", "samples of the smoothed round-trip time", after_warmup("flow_samples", "srtt_ns")),
    Measure("cwnd_bytes", "bytes", "samples of the congestion window", after_warmup("flow_samples", "cwnd_bytes")),
    Measure("send_stalls", "1", "segments of each flow that its host's own queue refused", flow_column("send_stall")),
    Measure("burst_first_lost", "1", "number of the first packet that a burst lost", burst("first_lost")),
    Measure("burst_lost", "1", "packets that a burst lost", burst("lost")),
    Measure("burst_memory_bytes", "bytes", "memory before the slow link as a burst measures it", burst("memory_bytes")),
    Measure("sender_limited", "%", "share of time that the sender had nothing to send (RFC 4898)", limited("snd")),
    Measure("receiver_limited", "%", "share of time limited by the receive window (RFC 4898)", limited("rwin")),
    Measure("congestion_limited", "%", "share of time limited by the congestion window (RFC 4898)", limited("cwnd")),
]
MEASURES: dict[str, Measure] = {measure.name: measure for measure in _ALL}
_OF_WHOLE_RUNS = {"goodput_bps", "drops", "marks", "loss", "utilisation", "queue_mean_bytes", "queue_max_bytes", "pauses_sent"}
_OF_WHOLE_RUNS |= {"paused_ns", "notifications", "timeouts", "tail_loss_probes", "retransmits", "fast_retransmits", "send_stalls"}
_OF_WHOLE_RUNS |= {"burst_first_lost", "burst_lost", "burst_memory_bytes", "round_time"}
OF_PORTS = {"wire_bps", "drops", "marks", "loss", "utilisation", "queue_mean_bytes", "queue_max_bytes", "queue_bytes"}
_OF_WHOLE_RUNS |= {"host_drops", "cpu", "logger_gap_ns", "stall_ns"}
_OF_ALL_PORTS = {"queue_full_drops", "memory_full_drops"}
# Counted from the beginning of the run, the warm-up included.
_COUNTS_WARMUP = _OF_WHOLE_RUNS | _OF_ALL_PORTS
_COUNTS_WARMUP -= {"goodput_bps", "utilisation", "queue_mean_bytes", "cpu", "round_time"}
_COUNTS_WARMUP -= {"burst_first_lost", "burst_lost", "burst_memory_bytes"}
# Shares of the time of a flow or a transfer, and rates of transfers, are over its own time, wherever the warm-up ends.
_COUNTS_WARMUP |= {"sender_limited", "receiver_limited", "congestion_limited"}
OF_PORTS |= {"hurst_variance_time", "hurst_wavelet", "memory_bytes", "pauses_sent", "paused_ns", "notifications", "sampled_drops"}


def _quantile(q: float) -> Callable[[Array], float]:
    return lambda x: stats.quantiles(x, [q])[0]


def _second(x: Array) -> float:
    return float(np.sort(x)[-2]) if x.size > 1 else math.nan


TAKES: dict[str, Callable[[Array], float]] = {
    "sum": lambda x: float(x.sum()),
    "mean": lambda x: float(x.mean()),
    "sd": lambda x: float(x.std(ddof=1)) if x.size > 1 else math.nan,
    "min": lambda x: float(x.min()),
    "max": lambda x: float(x.max()),
    "second": _second,
    "positive": lambda x: float((x > 0).sum()),
    "range": lambda x: float(np.ptp(x)),
    "min/max": lambda x: float(x.min() / x.max()) if x.max() > 0 else math.nan,
    "p1": _quantile(0.01),
    "p5": _quantile(0.05),
    "p50": _quantile(0.5),
    "p95": _quantile(0.95),
    "p99": _quantile(0.99),
    "p999": _quantile(0.999),
    "p99/p50": lambda x: _quantile(0.99)(x) / _quantile(0.5)(x),
    "p99-p50": lambda x: _quantile(0.99)(x) - _quantile(0.5)(x),
    "jain": lambda x: stats.jain(x),
    "cov": lambda x: stats.coefficient_of_variation(x),
    "count": lambda x: float(x.size),
}
_PURE = {"jain", "cov", "count", "positive", "min/max", "p99/p50"}  # takes that have no unit

_JAIN, _PAUSES = "goodput_bps.jain", "pauses_sent.sum"
# What a sweep tabulates unless told otherwise; those without values in a run are left out.
DEFAULT = (
    "goodput_bps.sum",
    _JAIN,
    "utilisation.max",
    "loss.max",
    "drops.sum",
    "retransmits.sum",
    "timeouts.sum",
    "queue_mean_bytes.max",
    "latency_ns.p50",
    "latency_ns.p99",
    "latency_ns.max",
    "round_time.mean",
    "round_time.p99",
    "fct_ns.mean",
    "fct_ns.p99",
    _PAUSES,
)


# What other tools and texts call measures and takes.
_CALLED = {
    "throughput": "goodput_bps",
    "bandwidth": "goodput_bps",
    "rate": "goodput_bps",
    "delay": "latency_ns",
    "completion": "fct_ns",
    "losses": "loss",
    "utilization": "utilisation",
    "queue": "queue_bytes",
    "window": "cwnd_bytes",
    "fairness": "jain_1ms",
}
_TAKEN = {
    "avg": "mean",
    "average": "mean",
    "median": "p50",
    "std": "sd",
    "stdev": "sd",
    "stddev": "sd",
    "total": "sum",
    "p90": "p95",
}


_NAME = re.compile(r"([^.\[]*)(?:\[(.+)\])?\.?(.*)", re.DOTALL)


def parse(name: str) -> tuple[Measure, str]:
    """`latency_ns.p99` as its measure and take, or one line about what is wrong with it."""
    if not isinstance(name, str):
        raise InputError(f"a statistic is named by a text such as goodput_bps.sum, not {name!r}")
    match = _NAME.fullmatch(name)
    measure, traffic, take = match.groups() if match else (name, None, "")
    if measure not in MEASURES:
        raise InputError(f'no measure "{measure}"{nearest(_CALLED.get(measure, measure), list(MEASURES))}')
    if take not in TAKES:
        if name.count("[") > name.count("]"):
            raise InputError(f'statistic "{name}": a "]" is missing')
        raise InputError(f'statistic "{name}": no take "{take}"{nearest(_TAKEN.get(take, take), list(TAKES))}')
    if isinstance(why := MEASURES[measure].takes.get(take), str):
        raise InputError(f'statistic "{name}": {why}')
    return MEASURES[measure] if traffic is None else MEASURES[measure].of(traffic), take


def unit_of(name: str) -> str:
    """The unit of a statistic: `bps`, `ns`, `bytes`, `%` or `1`."""
    measure, take = parse(name)
    return "1" if take in _PURE else measure.unit


def describe(name: str) -> str:
    """A statistic in words: `99th percentile of latency ...`."""
    measure, take = parse(name)
    words = {
        "sum": "total",
        "p50": "median",
        "sd": "standard deviation",
        "jain": "Jain index",
        "second": "second largest",
        "positive": "number above zero",
        "min/max": "smallest over largest",
    }
    words |= {"p1": "1st percentile", "p5": "5th percentile", "p95": "95th percentile", "p99": "99th percentile"}
    words |= {"p999": "99.9th percentile", "p99-p50": "99th percentile less median", "p99/p50": "99th percentile over median"}
    words |= {"cov": "coefficient of variation"}
    return f"{words.get(take, take)}: {measure.description}"


# Traffic whose flows have no end that could be timed; so has bulk without a size.
_ENDLESS = {"messages", "cbr", "frames", "onoff", "incast"}
_COMPLETIONS = {"fct_ns", "fct_rto_ns", "fct_no_rto_ns", "sender_fct_ns", "slowdown"}
_SAMPLED = {"silence_ns", "goodput_1ms_bps", "goodput_10ms_bps", "goodput_1s_bps", "jain_1ms", "jain_10ms"}
_SAMPLED |= {
    "hurst_variance_time",
    "hurst_wavelet",
    "jain_100ms",
    "sampled_drops",
    "queue_bytes",
    "memory_bytes",
    "rtt_ns",
    "cwnd_bytes",
}


def absent(name: str, resolved: Mapping[str, Any]) -> str:
    """Why no run of a resolved scenario can have a statistic; empty if one may."""
    measure = parse(name)[0].name.partition("[")[0]
    traffic = resolved.get("traffic", [])
    kinds = {entry["kind"] for entry in traffic}
    if measure in _COMPLETIONS and all(t["kind"] in _ENDLESS or (t["kind"] == "bulk" and "size" not in t) for t in traffic):
        return "no traffic of the scenario has an end"
    if measure == "latency_ns" and not kinds & {"messages", "incast"}:
        return "no traffic of the scenario has messages (fct_ns is of transfers)"
    if measure == "round_time" and "incast" not in kinds:
        return "no traffic of the scenario is incast"
    if measure in ("latency_ns", "round_time") and not resolved.get("record", {}).get("messages", True):
        return "it is of messages: set record.messages"
    if measure.startswith("copy_") and "disk-copy" not in kinds:
        return "no traffic of the scenario is disk-copy"
    if measure.startswith("burst_") and "burst" not in kinds:
        return "no traffic of the scenario is burst"
    hosts = list(resolved.get("hosts", {}).values())
    if measure in ("host_drops", "cpu") and not any("receive" in host or "cpu" in host for host in hosts):
        return "no host of the scenario has receive or cpu"
    if measure in ("logger_gap_ns", "window_after_gap") and not any("logger" in host.get("cpu", {}) for host in hosts):
        return "no host of the scenario has a logger (cpu.logger)"
    if measure in _SAMPLED and "every" not in resolved.get("record", {}):
        return "it is of samples: set record.every"
    return ""


def _named(name: str, error: NoSuchPart) -> NoSuchPart:
    """What is wrong with the brackets of a statistic, with its name."""
    return NoSuchPart(f'statistic "{name}": {error}')


def statistic(run: Run, name: str) -> float:
    """One number of a run; NaN where it needs more values than there are.

    Raises InputError for what is no statistic, for a part in brackets that the run does not have, and where there is no value:
    only counts and, of what the scenario can have, sums are 0 then.
    """
    measure, take = parse(name)
    try:
        values = measure.values(run)
    except NoSuchPart as error:
        raise _named(name, error) from None
    values = values[~np.isnan(values)]
    if values.size == 0:
        why = absent(name, run.resolved)
        if take in ("count", "positive") or (take == "sum" and not why):
            return 0.0
        reason = why or f'no value of "{measure.description}"'
        raise InputError(f"the run has no {name}: {reason}")
    try:
        return measure.take(take, run, values)
    except InputError as error:
        raise InputError(f"the run has no {name}: {error}") from None


def statistics(run: Run, names: tuple[str, ...] = DEFAULT, strict: bool = True) -> dict[str, float]:
    """Several statistics of a run by name; of measures without any value all but counts and sums, which are 0, are left out.

    A part in brackets that the run does not have is an InputError, or with `strict=False` has no values: one list of statistics
    serves runs of several scenarios.
    """
    cache: dict[str, Array] = {}
    missing: set[str] = set()
    found: dict[str, float] = {}
    for name in names:
        measure, take = parse(name)
        if measure.name not in cache:
            try:
                values = measure.values(run)
            except NoSuchPart as error:
                if strict:
                    raise _named(name, error) from None
                values = EMPTY
                missing.add(measure.name)
            cache[measure.name] = values[~np.isnan(values)]
        values = cache[measure.name]
        if values.size > (1 if take == "jain" else 0):
            with suppress(InputError):
                found[name] = measure.take(take, run, values)
        elif take in ("count", "positive") or (take == "sum" and measure.name not in missing and not absent(name, run.resolved)):
            found[name] = 0.0
    return found


def usual(run: Run, asked: Sequence[str] = ()) -> dict[str, float]:
    """The statistics asked for and the usual ones; of these Jain's index only where equal shares are what to expect, and pauses
    only where a port can be paused."""
    found = statistics(run, tuple(dict.fromkeys((*asked, *DEFAULT))))
    if _JAIN in found and _JAIN not in asked and not sharing.compete_alike(run):
        del found[_JAIN]
    if _PAUSES in found and _PAUSES not in asked and not _can_pause(run.resolved):
        del found[_PAUSES]
    return found


def _can_pause(resolved: Mapping[str, Any]) -> bool:
    """Whether a host or a switch of a scenario has a flow control."""
    nodes = [*resolved.get("switches", {}).values(), *resolved.get("hosts", {}).values()]
    return any(node.get("flow_control", {}).get("kind", "none") != "none" for node in nodes)


def time_of(run: Run, name: str) -> str:
    """Which part of a run a statistic is of, where its warm-up makes a difference: `after the warm-up` or `whole run`."""
    if not run.warmup_ns:
        return ""
    return "whole run" if parse(name)[0].of_whole_run else "after the warm-up"


def place_of(run: Run, name: str) -> str:
    """The port whose number a statistic is, as `loss.max` is of one port; empty if it is of several or of none."""
    measure, take = parse(name)
    if take not in ("max", "min") or measure.name not in OF_PORTS or not run.ports.num_rows:
        return ""
    values = measure.values(run)
    names = texts(run.ports, "name")
    if values.size != len(names) or np.isnan(values).all():
        return ""
    best = values == (np.nanmax(values) if take == "max" else np.nanmin(values))
    return names[int(best.argmax())] if best.sum() == 1 else ""
