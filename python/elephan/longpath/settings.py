"""Settings of the hosts for a path: socket buffers and what goes with them, as lines for Linux."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from elephan import theory
from elephan.longpath.forms import Bounds, host_queue
from elephan.longpath.question import RING, TXQUEUELEN, Question
from elephan.quantity import show

MIB = 2**20
BURST = 64 * 1024  # of TSO
RING_S = 1e-3  # of full packets that a ring should hold: a time slice in which the host does something else (assumed)
RING_MAX = 4096  # of common devices
OVERHEAD = 2  # Linux counts about half of a socket's memory as its own (tcp_adv_win_scale = 1)
_IN_LINUX = frozenset(
    "reno cubic bbr bic cdg dctcp highspeed htcp hybla illinois lp nv scalable vegas veno westwood yeah".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Line:
    """A line to type or to put into a file, and why."""

    text: str
    why: str

    def as_dict(self) -> dict[str, str]:
        return {"line": self.text, "why": self.why}


def window_wanted(question: Question, streams: int) -> float:
    """Bytes of window for each stream: its part of the wire and of the queue, of which one BDP is enough."""
    bdp = theory.bdp(question.rate_bps, question.rtt_s)
    return (bdp + min(float(question.buffer_bytes), bdp)) / streams


def socket_memory(question: Question, streams: int) -> int:
    """Bytes of socket memory for that window, in whole MiB."""
    return math.ceil(OVERHEAD * window_wanted(question, streams) / MIB) * MIB


def settings(question: Question, limits: Bounds, streams: int, law: str | None) -> list[Line]:
    """Lines for both hosts. `streams`: how many are used; `law`: the congestion control to use, if any."""
    memory = socket_memory(question, streams)
    wanted = show(window_wanted(question, streams), "bytes")
    lines = [
        Line(f"net.core.rmem_max = {memory}", f"{OVERHEAD} x {wanted} of window a stream ({streams} in use)"),
        Line(f"net.core.wmem_max = {memory}", "the same at the sender"),
        Line(f"net.ipv4.tcp_rmem = 4096 131072 {max(memory, 131_072)}", "least, default, largest; the kernel tunes up to the last"),
        Line(f"net.ipv4.tcp_wmem = 4096 16384 {max(memory, 16_384)}", "the same at the sender"),
    ]
    if law in _IN_LINUX:
        lines.append(Line(f"net.ipv4.tcp_congestion_control = {law}", "the shortest time above"))
    if question.mtu_bytes != 1500:
        lines.append(Line(f"ip link set dev eth0 mtu {question.mtu_bytes}", "on both hosts; the whole path must carry it"))
    return lines + _pacing(question) + _queues(question, limits)


def _pacing(question: Question) -> list[Line]:
    """Pacing where the buffer cannot take what a fast host sends at once."""
    fast, rate = question.device_bps, question.rate_bps
    need = theory.memory_needed(fast, rate, question.rtt_s)
    lines = []
    if question.buffer_bytes < need:
        why = f"a window sent at {show(fast, 'bps')} needs {show(need, 'bytes')} of buffer; paced it needs next to none"
        lines.append(Line(f"tc qdisc replace dev eth0 root fq maxrate {rate / 1e6:.6g}mbit", why))
    burst = BURST * max(0.0, 1 - rate / fast)
    if question.buffer_bytes < burst:
        why = f"a burst of 64 KiB from the device needs {show(burst, 'bytes')} of buffer"
        lines.append(Line("ethtool -K eth0 tso off gso off", why))
    return lines


def _queues(question: Question, limits: Bounds) -> list[Line]:
    """Queue and rings of the hosts."""
    lines = []
    waiting = host_queue(question, limits)
    room = question.room_packets if question.has_transmit else TXQUEUELEN + RING
    slower = question.host_rate_bps <= question.rate_bps
    if waiting > room or slower:
        packets = _round_up(max(waiting - (RING if question.ring is None else question.ring), 1.0))
        share = "half a window" if slower or question.pacing_bps else "a part of the window"
        lines.append(
            Line(f"ip link set dev eth0 txqueuelen {packets}", f"{share} waits here in slow start; beyond it a send stall")
        )
    wire = (question.mtu_bytes + theory.ETHERNET_OVERHEAD_BYTES) * 8 / question.narrow_bps
    slots = min(RING_MAX, 2 ** math.ceil(math.log2(max(1.0, RING_S / wire))))
    if slots > RING:
        lines.append(
            Line(
                f"ethtool -G eth0 rx {slots} tx {slots}",
                f"{show(slots * wire, 's')} of full packets, should the host not look in time",
            )
        )
    return lines


def _round_up(packets: float) -> int:
    """To two digits, upwards."""
    step = 10 ** max(0, math.floor(math.log10(packets)) - 1)
    return int(math.ceil(packets / step) * step)


def as_text(lines: Sequence[Line]) -> list[str]:
    """The lines in one column, the reasons beside them."""
    width = max(len(line.text) for line in lines)
    return [f"{line.text:<{width}}  # {line.why}" for line in lines]
