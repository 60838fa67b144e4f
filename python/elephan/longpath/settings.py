"""Settings of the hosts for a path: socket buffers and what goes with them, as lines for Linux."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from elephan import theory
from elephan.longpath.forms import Bounds
from elephan.longpath.question import Question
from elephan.quantity import show

MIB = 2**20
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
    need = theory.memory_needed(question.host_rate_bps, question.rate_bps, question.rtt_s)
    if question.buffer_bytes < need:
        rate = f"{question.rate_bps / 1e6:.6g}mbit"
        fast = show(question.host_rate_bps, "bps")
        why = f"a window sent at {fast} needs {show(need, 'bytes')} of buffer; paced it needs next to none"
        lines.append(Line(f"tc qdisc replace dev eth0 root fq maxrate {rate}", why))
    if question.host_rate_bps <= question.rate_bps:
        packets = math.ceil(limits.bdp_bytes / limits.mss_bytes / 2)
        lines.append(
            Line(f"ip link set dev eth0 txqueuelen {packets}", "half a BDP waits here in slow start: the host is the bottleneck")
        )
    return lines


def as_text(lines: Sequence[Line]) -> list[str]:
    """The lines in one column, the reasons beside them."""
    width = max(len(line.text) for line in lines)
    return [f"{line.text:<{width}}  # {line.why}" for line in lines]
