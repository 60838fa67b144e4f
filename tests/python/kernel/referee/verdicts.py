"""Scripts of `tests/packetdrill` with which this machine's kernel (Linux 6.18) does not agree, each with the reason."""

from __future__ import annotations

ACCECN = "Linux 6.18 has no AccECN (tcp_ecn goes to 2)"

DIFFERS = {
    "closing/fin-out-of-order.pkt": "the kernel reports a FIN beyond a hole with its data in a SACK block",
    "delayed_ack/no-ack-bit.pkt": "the kernel counts data of a segment without ACK in data_segs_in before it drops it",
    "ecn/reflected-syn.pkt": "the kernel answers a reflected SYN-ACK with CWR set",
    "fast_open/server-queue.pkt": "the kernel takes data in a SYN after a reset of the one handshake that may be under way",
    "giving_up/data-retries.pkt": "timers of seconds ring up to 256 ms late (timer wheel), so the kernel gives up later",
    "giving_up/fin-wait-2.pkt": "timers of a minute ring seconds late (timer wheel)",
    "giving_up/linger2.pkt": "timers of seconds ring up to 256 ms late (timer wheel)",
    "giving_up/syn-count.pkt": "timers of seconds ring up to 256 ms late (timer wheel), so the kernel gives up later",
    "giving_up/user-timeout.pkt": "timers of seconds ring up to 256 ms late (timer wheel)",
    "giving_up/user-timeout-of-a-window.pkt": "timers of seconds ring up to 256 ms late (timer wheel)",
    "handshake/simultaneous-open.pkt": "the kernel's SYN-ACK of a simultaneous open repeats the options of its SYN",
    "rack_tlp/tail-repaired.pkt": "RACK passes over a probe whose round trip is a microsecond below the shortest, as here",
}

# Folders of which this kernel can be asked nothing.
CANNOT_RUN = {"accecn": ACCECN}
