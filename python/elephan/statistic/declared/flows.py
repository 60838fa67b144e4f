"""Statistics of flows."""

from __future__ import annotations

from elephan.statistic import needs
from elephan.statistic.measure import measure
from elephan.statistic.observed import (
    after_warmup,
    completed,
    delivered,
    delivered_together,
    flow_column,
    jain_together,
    limited,
    silence,
    timeouts,
    window_segments,
)

measure(
    "goodput_bps",
    "bps",
    "goodput of each flow in the measured time",
    flow_column("goodput_bps"),
    takes={"jain": jain_together},
    whole=True,
    warmup=False,
    usual={"sum": 0, "jain": 10},
    titles={
        "sum": "goodput of all flows together",
        "max": "goodput of the fastest flow",
        "min": "goodput of the slowest flow",
        "jain": "Jain's index of the flows",
    },
)
measure(
    "delivered_bps",
    "bps",
    "goodput of each flow over the part of the measured time in which it ran",
    delivered,
    takes={"sum": delivered_together, "jain": jain_together},
    noun="goodput",
)
measure(
    "silence_ns",
    "ns",
    "longest time between samples that show something delivered, of each flow",
    silence,
    noun="silence",
    needs=(needs.samples,),
)
measure(
    "stall_ns",
    "ns",
    "longest time in which nothing of each flow was newly acknowledged while data was outstanding",
    flow_column("stall_max_ns"),
    noun="longest stall",
    whole=True,
)
measure("window_segments", "1", "mean window of each flow: goodput times smallest RTT, in segments", window_segments, noun="window")
measure(
    "fct_ns",
    "ns",
    "completion time of each finite flow",
    completed("fct_ns"),
    usual={"mean": 130, "p99": 140},
    titles={"mean": "mean completion time", "p99": "99th percentile of completion time", "max": "time until all are complete"},
    needs=(needs.ending,),
)
measure(
    "fct_rto_ns",
    "ns",
    "completion time of each finite flow with a retransmission timeout",
    completed("fct_ns", True),
    noun="completion time with timeouts",
    needs=(needs.ending,),
)
measure(
    "fct_no_rto_ns",
    "ns",
    "completion time of each finite flow without one",
    completed("fct_ns", False),
    noun="completion time without timeouts",
    needs=(needs.ending,),
)
measure(
    "sender_fct_ns",
    "ns",
    "the same until the sender has its last byte acknowledged",
    completed("sender_fct_ns"),
    noun="completion time at the sender",
    needs=(needs.ending,),
)
measure(
    "slowdown",
    "1",
    "completion time of each finite flow over that of the flow alone",
    completed("slowdown"),
    noun="slowdown",
    needs=(needs.ending,),
)
measure(
    "timeouts",
    "1",
    "retransmission timeouts of each flow, those of a back-off included",
    timeouts,
    whole=True,
    usual={"sum": 60},
    titles={"sum": "retransmission timeouts"},
)
measure("tail_loss_probes", "1", "tail loss probes of each flow", flow_column("tail_loss_probes"), whole=True)
measure(
    "retransmits",
    "1",
    "segments retransmitted by each flow",
    flow_column("segs_retrans"),
    whole=True,
    usual={"sum": 50},
    titles={"sum": "segments retransmitted"},
)
measure("fast_retransmits", "1", "fast retransmits of each flow", flow_column("fast_retran"), whole=True)
measure(
    "rtt_ns",
    "ns",
    "samples of the smoothed round-trip time",
    after_warmup("flow_samples", "srtt_ns"),
    noun="smoothed round-trip time",
    needs=(needs.samples,),
)
measure(
    "last_rtt_ns",
    "ns",
    "samples of the last round-trip time",
    after_warmup("flow_samples", "sample_rtt_ns"),
    noun="last round-trip time",
    needs=(needs.samples,),
)
measure(
    "cwnd_bytes",
    "bytes",
    "samples of the congestion window",
    after_warmup("flow_samples", "cwnd_bytes"),
    noun="congestion window",
    needs=(needs.samples,),
)
measure(
    "send_stalls",
    "1",
    "segments of each flow that its host's own queue refused",
    flow_column("send_stall"),
    noun="segments that the host's own queue refused",
    whole=True,
)
measure("sender_limited", "%", "share of time that the sender had nothing to send (RFC 4898)", limited("snd"), warmup=True)
measure("receiver_limited", "%", "share of time limited by the receive window (RFC 4898)", limited("rwin"), warmup=True)
measure("congestion_limited", "%", "share of time limited by the congestion window (RFC 4898)", limited("cwnd"), warmup=True)
