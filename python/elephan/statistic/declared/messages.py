"""Statistics of messages and of rounds of incast."""

from __future__ import annotations

from elephan.statistic import needs
from elephan.statistic.measure import measure
from elephan.statistic.observed import latency, round_time, rounds_timed_out

measure(
    "latency_ns",
    "ns",
    "latency of each message, from entry into TCP to its last byte out, transfers left out",
    latency,
    noun="message latency",
    usual={"p50": 80, "p99": 90, "max": 100},
    titles={"p50": "median latency of messages", "p99": "99th percentile of message latency", "max": "longest message latency"},
    needs=(
        needs.messages,
        needs.recorded_messages,
    ),
)
measure(
    "round_time",
    "ns",
    "time of each round of incast, until its last answer is in",
    round_time,
    whole=True,
    warmup=False,
    usual={"mean": 110, "p99": 120},
    titles={"mean": "mean time of a round", "p99": "99th percentile of the time of rounds"},
    needs=(
        needs.rounds,
        needs.recorded_messages,
    ),
)
measure(
    "rounds_timed_out",
    "%",
    "share of the rounds of incast in which a retransmission timer expired",
    rounds_timed_out,
    noun="rounds with a timeout",
    whole=True,
    warmup=False,
    titles={"mean": "share of rounds with a timeout"},
    needs=(
        needs.rounds,
        needs.recorded_messages,
        needs.recorded_events,
    ),
)
