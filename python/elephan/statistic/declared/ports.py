"""Statistics of ports, and of the memory of switches."""

from __future__ import annotations

from elephan.statistic import needs
from elephan.statistic.measure import Scope, measure
from elephan.statistic.observed import (
    after_warmup,
    busiest_queue,
    dropped_for,
    hurst,
    loss,
    nonempty,
    port_column,
    sampled_drops,
    wire,
)

measure("wire_bps", "bps", "bits on the wire into each receiver, headers included", wire, scope=Scope.PORTS)
measure(
    "drops",
    "1",
    "packets dropped at each port",
    port_column("drops"),
    scope=Scope.PORTS,
    whole=True,
    usual={"sum": 40},
    titles={"sum": "packets dropped"},
)
measure(
    "queue_full_drops", "1", "packets that found the queue of their port full", dropped_for("queue_full"), scope=Scope.ALL_PORTS
)
measure(
    "memory_full_drops",
    "1",
    "packets for which the memory of their switch had no room",
    dropped_for("memory_full"),
    scope=Scope.ALL_PORTS,
)
measure("mtu_drops", "1", "packets that were larger than the MTU of their link", dropped_for("mtu_exceeded"), scope=Scope.ALL_PORTS)
measure(
    "sampled_drops",
    "1",
    "packets dropped at each port from its first to its last sample",
    sampled_drops,
    scope=Scope.PORTS,
    needs=(needs.samples,),
)
measure(
    "hurst_variance_time",
    "1",
    "Hurst parameter of the bytes sent by each port between samples, by variance-time plot",
    hurst("variance_time"),
    scope=Scope.PORTS,
    scales=True,
    signed=True,
    needs=(needs.samples,),
)
measure(
    "hurst_wavelet",
    "1",
    "Hurst parameter of the bytes sent by each port between samples, by wavelets",
    hurst("wavelet"),
    scope=Scope.PORTS,
    scales=True,
    signed=True,
    needs=(needs.samples,),
)
measure(
    "notifications",
    "1",
    "notifications of congestion sent by each port",
    port_column("notifications_sent"),
    scope=Scope.PORTS,
    whole=True,
)
measure("marks", "1", "packets marked at each port", port_column("marks"), scope=Scope.PORTS, whole=True)
measure("trims", "1", "packets that lost their payload at each port", port_column("trims"), scope=Scope.PORTS, whole=True)
measure(
    "loss",
    "%",
    "packets dropped at a port over packets offered to it",
    loss,
    noun="loss",
    scope=Scope.PORTS,
    whole=True,
    usual={"max": 30},
    titles={"max": "loss at the worst port"},
)
measure(
    "utilisation",
    "%",
    "busy time of each port",
    port_column("utilisation"),
    noun="utilisation",
    scope=Scope.PORTS,
    whole=True,
    warmup=False,
    usual={"max": 20},
    titles={"max": "utilisation of the busiest port"},
)
measure(
    "queue_mean_bytes",
    "bytes",
    "mean queue of each port",
    port_column("queue_mean_bytes"),
    scope=Scope.PORTS,
    whole=True,
    warmup=False,
    usual={"max": 70},
    titles={"max": "mean queue of the fullest port"},
)
measure(
    "queue_max_bytes",
    "bytes",
    "longest queue of each port",
    port_column("queue_max_bytes"),
    scope=Scope.PORTS,
    whole=True,
    titles={"max": "longest queue"},
)
measure(
    "queue_bytes",
    "bytes",
    "samples of the longest queue",
    busiest_queue,
    noun="queue",
    scope=Scope.PORTS,
    sampled=True,
    needs=(needs.samples,),
)
measure(
    "nonempty_ns",
    "ns",
    "stretches in which samples of the longest queue show something waiting",
    nonempty,
    noun="time without an empty queue",
    scope=Scope.PORTS,
    sampled=True,
    needs=(needs.samples,),
)
measure(
    "memory_bytes",
    "bytes",
    "samples of a switch's shared memory in use",
    after_warmup("switch_samples", "memory_bytes"),
    noun="shared memory in use",
    scope=Scope.PORTS,
    sampled=True,
    needs=(needs.samples,),
)
measure(
    "pauses_sent",
    "1",
    "PAUSE frames sent by each port",
    port_column("pauses_sent"),
    scope=Scope.PORTS,
    whole=True,
    usual={"sum": 150},
    titles={"sum": "PAUSE frames sent"},
)
measure(
    "paused_ns", "ns", "time that each port was paused", port_column("paused_ns"), noun="time paused", scope=Scope.PORTS, whole=True
)
