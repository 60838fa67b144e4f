"""What limits a transfer: from where its missing bytes went missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from elephan.experiment.path.forms import Bounds

WIRE, RECEIVE_WINDOW, SEND_BUFFER = "wire", "receive window", "send buffer"
SLOW_START, LOSS, BUFFER, CONTROL = "slow start", "loss", "buffer", "congestion control"
NIC, PACING, READING, WRITING, STALL = "NIC", "pacing", "disk (reading)", "disk (writing)", "send queue"
MEANINGS: Mapping[str, str] = {
    WIRE: "the wire is full for at least nine tenths of the time",
    NIC: "the sender's link, slower than the path, is full for at least nine tenths of the time",
    PACING: "the pace of the sender's device is used for at least nine tenths of the time",
    READING: "the sender's disk reads at its rate for at least nine tenths of the time",
    WRITING: "the receiver's disk writes at its rate for at least nine tenths of the time",
    STALL: "the sender's own queue (txqueuelen and ring) refuses segments, which TCP takes for congestion",
    RECEIVE_WINDOW: "the receiver's socket buffer is smaller than what must be in flight",
    SEND_BUFFER: "the sender's socket buffer is smaller than what must be in flight",
    SLOW_START: "most of what is missing goes missing before slow start ends",
    LOSS: "packets lost on the path cut the window more often than full queues do",
    BUFFER: "the queue at the bottleneck overflows, and the congestion control takes long to recover",
    CONTROL: "nothing is lost and no window is full: the congestion control itself holds back",
}
FULL = 0.9  # of the wire that counts as full


@dataclass(frozen=True)
class Evidence:
    """What a run showed until the transfer was over, or until the simulation ended."""

    end_s: float
    delivered_bytes: float
    slow_start_end_s: float  # when half of the streams had left slow start
    slow_start_bytes: float  # delivered until then
    window_limited: float  # share of the simulated time, RFC 4898
    overflows: int  # round trips in which the queue dropped something
    lost: float  # packets that the link took
    stalls: int = 0  # round trips in which the sender's host refused segments


def what_limits(evidence: Evidence, limits: Bounds, streams: int, goodput_bps: float) -> str:
    """The name of the limit. `goodput_bps`: of the whole transfer, the part that was not simulated included."""
    if limits.disk_bps < limits.wire_bps and goodput_bps >= FULL * limits.disk_bps:
        return limits.disk_is
    if goodput_bps >= FULL * limits.wire_bps:
        return limits.wire_is
    missing = limits.wire_bps * evidence.end_s / 8 - evidence.delivered_bytes
    # What the windows allow may be far above what the rest of the transfer, which was not simulated, gets.
    allowed = limits.window_bps(streams)
    if allowed < limits.wire_bps and evidence.window_limited > 0.5 and goodput_bps >= allowed / 2:
        return limits.window_is
    early = limits.wire_bps * min(evidence.slow_start_end_s, evidence.end_s) / 8 - evidence.slow_start_bytes
    if early >= missing / 2:
        return SLOW_START
    if evidence.stalls > max(evidence.lost, evidence.overflows):
        return STALL
    if evidence.lost > evidence.overflows:
        return LOSS
    return BUFFER if evidence.overflows else CONTROL
