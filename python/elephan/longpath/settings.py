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
MEMORY_MAX = 2**31 - 1  # of a sysctl of Linux that is an int
WINDOW_MAX = 65_535 << 14  # RFC 7323: of TCP
FQ_LIMIT, FQ_FLOW_LIMIT = 10_000, 100  # packets, of tc-fq(8)
ETHERNET_HEADER_BYTES = 14  # what a qdisc sees of the frame around a packet
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
    """Bytes of socket memory for that window, in whole MiB, at most what Linux takes."""
    return min(math.ceil(OVERHEAD * window_wanted(question, streams) / MIB) * MIB, MEMORY_MAX)


def streams_needed(question: Question, streams: int) -> int:
    """Streams whose windows together can be large enough: more than are used only where one window of TCP is too small."""
    return max(streams, math.ceil(window_wanted(question, 1) / WINDOW_MAX))


def settings(
    question: Question,
    limits: Bounds,
    streams: int,
    law: str | None,
    why: str = "the shortest time above",
    stalled: bool = False,
) -> list[Line]:
    """Lines for both hosts. `streams`: how many are used; `law`: the congestion control to use, if any, and `why`; `stalled`:
    the sender's queue limits a result."""
    memory = socket_memory(question, streams)
    wanted = show(window_wanted(question, streams), "bytes")
    size = f"{OVERHEAD} x {wanted} of window a stream ({streams} in use)"
    if (needed := streams_needed(question, streams)) > streams:
        size = f"the largest; of {wanted} a window of TCP holds 1 GiB: use {needed} streams"
    lines = [
        Line(f"net.core.rmem_max = {memory}", size),
        Line(f"net.core.wmem_max = {memory}", "the same at the sender"),
        Line(f"net.ipv4.tcp_rmem = 4096 131072 {max(memory, 131_072)}", "least, default, largest; the kernel tunes up to the last"),
        Line(f"net.ipv4.tcp_wmem = 4096 16384 {max(memory, 16_384)}", "the same at the sender"),
    ]
    if law in _IN_LINUX:
        lines.append(Line(f"net.ipv4.tcp_congestion_control = {law}", why))
    if question.mtu_bytes != 1500:
        lines.append(Line(f"ip link set dev eth0 mtu {question.mtu_bytes}", "on both hosts; the whole path must carry it"))
    paced = theory.memory_needed(question.device_bps, question.rate_bps, question.rtt_s) > question.buffer_bytes
    return lines + (_pacing(question, limits, streams) if paced else _queue(question, limits, stalled)) + _offload(question)


def _pacing(question: Question, limits: Bounds, streams: int) -> list[Line]:
    """Pacing by fq, where the buffer cannot take what a fast host sends at once. Its rate is a flow's, of frames without preamble,
    gap and checksum; as at any device no faster than the path, it must hold a window of the flow."""
    need = theory.memory_needed(question.device_bps, question.rate_bps, question.rtt_s)
    seen = (question.mtu_bytes + ETHERNET_HEADER_BYTES) / (question.mtu_bytes + theory.ETHERNET_OVERHEAD_BYTES)
    rate = math.floor(question.rate_bps * seen / streams / 1000)
    packets = _round_up(limits.bdp_bytes / limits.mss_bytes / streams)
    words = f" limit {max(streams * packets, FQ_LIMIT)} flow_limit {packets}" if packets > FQ_FLOW_LIMIT else ""
    fast = show(question.device_bps, "bps")
    why = f"a window sent at {fast} needs {show(need, 'bytes')} of buffer; paced it needs next to none"
    if streams > 1:
        why += f"; the rate of each of {streams} streams"
    return [Line(f"tc qdisc replace dev eth0 root fq maxrate {rate}kbit{words}", why)]


def _queue(question: Question, limits: Bounds, stalled: bool) -> list[Line]:
    """A longer queue in the sender, where there is less room than is needed, or where what there is stalled all the same."""
    needed = host_queue(question, limits)
    ring = RING if question.ring is None else question.ring
    room = ring + (TXQUEUELEN if question.txqueuelen is None else question.txqueuelen)
    why = f"{needed:.0f} packets wait in queue and ring in slow start; beyond their room a send stall"
    if question.device_bps <= question.rate_bps:
        why = f"slow start fills queue and ring; with room for a window, {needed:.0f} packets, half of all still fills the path"
    if stalled and needed <= room:
        needed, why = 2.0 * room, f"room for {room} packets stalled above: twice as much"
    if needed <= room:
        return []
    return [
        Line(f"ip link set dev eth0 txqueuelen {_round_up(needed - ring)}", why),
        Line(
            "tc qdisc replace dev eth0 root pfifo", "which has the length of txqueuelen; fq and fq_codel have limits of their own"
        ),
    ]


def _offload(question: Question) -> list[Line]:
    """What the devices should do."""
    lines = []
    burst = BURST * max(0.0, 1 - question.rate_bps / question.device_bps)
    if question.buffer_bytes < burst:
        why = f"a burst of 64 KiB from the device needs {show(burst, 'bytes')} of buffer"
        lines.append(Line("ethtool -K eth0 tso off gso off", why))
    wire = (question.mtu_bytes + theory.ETHERNET_OVERHEAD_BYTES) * 8 / question.narrow_bps
    slots = min(RING_MAX, 2 ** math.ceil(math.log2(max(1.0, RING_S / wire))))
    present = {"rx": RING, "tx": RING if question.ring is None else question.ring}
    longer = [f"{which} {slots}" for which, ring in present.items() if slots > ring]
    if longer:
        why = f"{show(slots * wire, 's')} of full packets, should the host not look in time"
        lines.append(Line(f"ethtool -G eth0 {' '.join(longer)}", why))
    return lines


def _round_up(packets: float) -> int:
    """To two digits, upwards."""
    step = 10 ** max(0, math.floor(math.log10(packets)) - 1)
    return int(math.ceil(packets / step) * step)


def as_text(lines: Sequence[Line]) -> list[str]:
    """The lines in one column, the reasons beside them."""
    width = max(len(line.text) for line in lines)
    return [f"{line.text:<{width}}  # {line.why}" for line in lines]
