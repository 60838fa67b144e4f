"""What figures and columns of a statistic are called."""

from __future__ import annotations

import re

from elephan.statistic.measures import MEASURES, OF_PORTS, parse

_NOUNS = {  # where the first words of the description are no name of the measure
    "delivered_bps": "goodput",
    "silence_ns": "silence",
    "stall_ns": "longest stall",
    "window_segments": "window",
    "goodput_1ms_bps": "goodput in windows of 1 ms",
    "goodput_10ms_bps": "goodput in windows of 10 ms",
    "goodput_1s_bps": "goodput in windows of 1 s",
    "jain_1ms": "Jain index in windows of 1 ms",
    "jain_10ms": "Jain index in windows of 10 ms",
    "jain_100ms": "Jain index in windows of 100 ms",
    "convergence_ns": "time to converge",
    "delta_fair_ns": "time to a fair share",
    "reclaim_ns": "time to reclaim",
    "latency_ns": "message latency",
    "fct_rto_ns": "completion time with timeouts",
    "fct_no_rto_ns": "completion time without timeouts",
    "sender_fct_ns": "completion time at the sender",
    "slowdown": "slowdown",
    "copy_bps": "rate from disk to disk",
    "copy_cached_bps": "rate from disk into the cache",
    "copy_on_disk_bps": "rate from disk onto the disk",
    "utilisation": "utilisation",
    "loss": "loss",
    "queue_bytes": "queue",
    "memory_bytes": "shared memory in use",
    "paused_ns": "time paused",
    "cpu": "load of the processor",
    "logger_gap_ns": "gap of the logger",
    "window_after_gap": "window after a gap of the logger",
    "rtt_ns": "smoothed round-trip time",
    "cwnd_bytes": "congestion window",
    "send_stalls": "segments that the host's own queue refused",
}
_TAKEN = {
    "sum": "total {}",
    "mean": "mean {}",
    "sd": "standard deviation of the {}",
    "min": "smallest {}",
    "max": "largest {}",
    "second": "second largest {}",
    "positive": "number above zero of the {}",
    "range": "range of the {}",
    "min/max": "smallest over largest {}",
    "p1": "1st percentile of the {}",
    "p5": "5th percentile of the {}",
    "p50": "median {}",
    "p95": "95th percentile of the {}",
    "p99": "99th percentile of the {}",
    "p999": "99.9th percentile of the {}",
    "p99/p50": "99th percentile over median of the {}",
    "p99-p50": "99th percentile less median of the {}",
    "jain": "Jain's index of the {}",
    "cov": "coefficient of variation of the {}",
    "count": "number of values of the {}",
}
_TAIL = re.compile(r" (?:of|at|by|into|in|over) (?:a |each )|[,:(]")


def _selected(selection: str) -> str:
    """Conditions in brackets as words: of traffic by name, as `v+n`, the others as they stand."""
    words = []
    for condition in selection.split(", "):
        traffic = " " not in condition
        words.append(f"of {' and '.join(condition.split('+'))}" if traffic else condition.replace("->", " → "))
    return " ".join(words)


def _composed(name: str) -> str:
    measure, take = parse(name)
    base, _, selection = measure.name.partition("[")
    noun = _NOUNS.get(base) or _TAIL.split(MEASURES[base].description)[0].strip()
    # One port has one value of most measures, whose sum, mean or largest says no more.
    single = selection.startswith("at ") and base in OF_PORTS - {"queue_bytes", "memory_bytes"} and take in ("sum", "mean", "max")
    words = noun if single else _TAKEN[take].format(noun)
    return f"{words} {_selected(selection.removesuffix(']'))}" if selection else words


_TITLES = {
    "goodput_bps.sum": "goodput of all flows together",
    "goodput_bps.max": "goodput of the fastest flow",
    "goodput_bps.min": "goodput of the slowest flow",
    "goodput_bps.jain": "Jain's index of the flows",
    "utilisation.max": "utilisation of the busiest port",
    "loss.max": "loss at the worst port",
    "drops.sum": "packets dropped",
    "retransmits.sum": "segments retransmitted",
    "timeouts.sum": "retransmission timeouts",
    "queue_mean_bytes.max": "mean queue of the fullest port",
    "queue_max_bytes.max": "longest queue",
    "latency_ns.p50": "median latency of messages",
    "latency_ns.p99": "99th percentile of message latency",
    "latency_ns.max": "longest message latency",
    "round_time.mean": "mean time of a round",
    "round_time.p99": "99th percentile of the time of rounds",
    "fct_ns.mean": "mean completion time",
    "fct_ns.p99": "99th percentile of completion time",
    "fct_ns.max": "time until all are complete",
    "copy_bps.sum": "rate from disk to disk",
    "pauses_sent.sum": "PAUSE frames sent",
}


def title(name: str) -> str:
    """What a figure of a statistic is called."""
    return _TITLES.get(name) or _composed(name)
