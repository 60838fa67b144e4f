"""The kernel's `struct tcp_info` (linux/tcp.h) by name."""

from __future__ import annotations

import struct

BYTES = ("state", "ca_state", "retransmits", "probes", "backoff", "options")
# Groups of fields in the order of the structure, each with the letter of its type.
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "I",
        (
            *("rto", "ato", "snd_mss", "rcv_mss", "unacked", "sacked", "lost", "retrans", "fackets", "last_data_sent"),
            *("last_ack_sent", "last_data_recv", "last_ack_recv", "pmtu", "rcv_ssthresh", "rtt", "rttvar", "snd_ssthresh"),
            *("snd_cwnd", "advmss", "reordering", "rcv_rtt", "rcv_space", "total_retrans"),
        ),
    ),
    ("Q", ("pacing_rate", "max_pacing_rate", "bytes_acked", "bytes_received")),
    ("I", ("segs_out", "segs_in", "notsent_bytes", "min_rtt", "data_segs_in", "data_segs_out")),
    ("Q", ("delivery_rate", "busy_time", "rwnd_limited", "sndbuf_limited")),
    ("I", ("delivered", "delivered_ce")),
    ("Q", ("bytes_sent", "bytes_retrans")),
    ("I", ("dsack_dups", "reord_seen", "rcv_ooopack", "snd_wnd", "rcv_wnd", "rehash")),
    ("H", ("total_rto", "total_rto_recoveries")),
    ("I", ("total_rto_time", "received_ce", "delivered_e1_bytes", "delivered_e0_bytes", "delivered_ce_bytes")),
    ("I", ("received_e1_bytes", "received_e0_bytes", "received_ce_bytes")),
    ("H", ("accecn_fail_mode", "accecn_opt_seen")),
)
NAMES = (
    *BYTES,
    "snd_wscale",
    "rcv_wscale",
    "delivery_rate_app_limited",
    "fastopen_client_fail",
    *(name for _, names in GROUPS for name in names),
)


def parsed(data: bytes) -> dict[str, int]:
    """Returns the fields that this kernel has told, by the kernel's names without `tcpi_`."""
    info: dict[str, int] = dict(zip(BYTES, data, strict=False))
    info["snd_wscale"], info["rcv_wscale"] = data[6] & 15, data[6] >> 4
    info["delivery_rate_app_limited"], info["fastopen_client_fail"] = data[7] & 1, data[7] >> 1 & 3
    position = 8
    for kind, names in GROUPS:
        for name in names:
            if position + struct.calcsize(kind) > len(data):
                return info
            (info[name],) = struct.unpack_from(f"<{kind}", data, position)
            position += struct.calcsize(kind)
    return info
