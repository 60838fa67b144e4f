"""Settings of the hosts for a path: socket buffers and what goes with them, as lines for Linux.

A `Tuning` is what is set. The same object writes the lines and the question that is simulated before the lines are advised.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from elephan.base.errors import InputError, OutputError
from elephan.base.quantity import show
from elephan.experiment.path.forms import Bounds, host_queue
from elephan.experiment.path.question import FQ_LIMIT, RING, TXQUEUELEN, Question
from elephan.scenario.congestion import Controller
from elephan.scenario.source import read_text
from elephan.theory import closed as theory

MIB = 2**20
BURST = 64 * 1024  # of TSO
RING_S = 1e-3  # of full packets that a ring should hold: a time slice in which the host does something else (assumed)
RING_MAX = 4096  # of common devices
MEMORY_MAX = 2**31 - 1  # of a sysctl of Linux that is an int
WINDOW_MAX = 65_535 << 14  # RFC 7323: of TCP
FQ_FLOW_LIMIT = 100  # packets, of tc-fq(8)
ETHERNET_HEADER_BYTES = 14  # what a qdisc sees of the frame around a packet
OURS = "# Settings of a long path, by elephan path."  # the first line of a file
OVERHEAD = 2  # Linux counts about half of a socket's memory as its own (tcp_adv_win_scale = 1)
IN_LINUX = frozenset(
    "reno cubic bbr bic cdg dctcp highspeed htcp hybla illinois lp nv scalable vegas veno westwood yeah".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Line:
    """A line to type or to put into a file, and why."""

    text: str
    why: str

    @property
    def is_sysctl(self) -> bool:
        """Whether the line belongs into a file of sysctl; else it is a command."""
        return self.text.startswith("net.")

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


@dataclass(frozen=True)
class Tuning:
    """What is set in the hosts for a number of streams of a congestion control."""

    controller: Controller
    streams: int
    window: bool = True  # socket buffers that hold a window
    fq: bool = False  # pacing by `fq maxrate`
    txqueuelen: int | None = None  # packets

    def question(self, question: Question) -> Question:
        """The question whose hosts have these settings."""
        window = min(socket_memory(question, self.streams) // OVERHEAD, WINDOW_MAX)
        return replace(
            question,
            controllers=(self.controller,),
            streams=(self.streams,),
            window_bytes=window if self.window else question.window_bytes,
            window_grows=self.window,
            fq_bps=fq_rate(question, self.streams) * 1000 / _seen(question) if self.fq else None,
            txqueuelen=self.txqueuelen or question.txqueuelen,
        )

    def lines(self, question: Question, limits: Bounds, why: str) -> list[Line]:
        """Lines for both hosts. `why` the congestion control is this one."""
        lines = _buffers(question, self.streams) if self.window else []
        if self.controller.kind in IN_LINUX:
            lines.append(Line(f"net.ipv4.tcp_congestion_control = {self.controller.kind}", why))
        if question.mtu_bytes != 1500:
            lines.append(Line(f"ip link set dev eth0 mtu {question.mtu_bytes}", "on both hosts; the whole path must carry it"))
        if self.fq:
            lines += [_pacing(question, limits, self.streams)]
        if self.txqueuelen:
            lines += _longer_queue(self.txqueuelen, limits)
        return lines


def overflows(question: Question) -> bool:
    """Whether the buffer cannot take what a fast host sends of a window at once."""
    return theory.memory_needed(question.device_bps, question.rate_bps, question.rtt_s) > question.buffer_bytes


def _buffers(question: Question, streams: int) -> list[Line]:
    """The sysctl lines of the sockets."""
    memory = socket_memory(question, streams)
    wanted = show(window_wanted(question, streams), "bytes")
    size = f"{OVERHEAD} x {wanted} of window a stream ({streams} in use)"
    if (needed := streams_needed(question, streams)) > streams:
        size = f"the largest; of {wanted} a window of TCP holds 1 GiB: use {needed} streams"
    return [
        Line(f"net.core.rmem_max = {memory}", size),
        Line(f"net.core.wmem_max = {memory}", "the same at the sender"),
        Line(f"net.ipv4.tcp_rmem = 4096 131072 {max(memory, 131_072)}", "least, default, largest; the kernel tunes up to the last"),
        Line(f"net.ipv4.tcp_wmem = 4096 16384 {max(memory, 16_384)}", "the same at the sender"),
    ]


def _seen(question: Question) -> float:
    """The share of a frame on the wire that a qdisc sees: no preamble, gap and checksum."""
    return (question.mtu_bytes + ETHERNET_HEADER_BYTES) / (question.mtu_bytes + theory.ETHERNET_OVERHEAD_BYTES)


def fq_rate(question: Question, streams: int) -> int:
    """kbit/s of `fq maxrate` for each stream, of frames as a qdisc sees them: together they just fill the path."""
    return math.floor(question.rate_bps * _seen(question) / streams / 1000)


def _pacing(question: Question, limits: Bounds, streams: int) -> Line:
    """Pacing by fq. As at any device no faster than the path, it must hold a window of the flow."""
    need = theory.memory_needed(question.device_bps, question.rate_bps, question.rtt_s)
    packets = _round_up(limits.bdp_bytes / limits.mss_bytes / streams)
    words = f" limit {max(streams * packets, FQ_LIMIT)} flow_limit {packets}" if packets > FQ_FLOW_LIMIT else ""
    fast = show(question.device_bps, "bps")
    why = f"a window sent at {fast} needs {show(need, 'bytes')} of buffer; paced it needs next to none"
    if streams > 1:
        why += f"; the rate of each of {streams} streams"
    return Line(f"tc qdisc replace dev eth0 root fq maxrate {fq_rate(question, streams)}kbit{words}", why)


def queue_wanted(question: Question, limits: Bounds, stalled: bool) -> int | None:
    """Packets of txqueuelen where the sender's queue has less room than is needed, or where what there is stalled all the same;
    None where nothing bounds the queue, where it suffices, and where the device is paced, whose qdisc must stay."""
    if not question.has_transmit or question.pacing_bps:
        return None
    ring = RING if question.ring is None else question.ring
    room = ring + (TXQUEUELEN if question.txqueuelen is None else question.txqueuelen)
    needed = host_queue(question, limits)
    if needed <= room and not stalled:
        return None
    return _round_up((needed if needed > room else 2.0 * room) - ring)


def _longer_queue(packets: int, limits: Bounds) -> list[Line]:
    """A longer queue in the sender."""
    why = f"room for what waits in the sender; a window that fills the path has {limits.bdp_bytes / limits.mss_bytes:.0f} packets"
    pfifo = "which has the length of txqueuelen; fq and fq_codel have limits of their own"
    return [Line(f"ip link set dev eth0 txqueuelen {packets}", why), Line("tc qdisc replace dev eth0 root pfifo", pfifo)]


def worth_a_look(question: Question, paced: bool) -> list[Line]:
    """What arithmetic says of the devices. `elephan path` does not simulate it, so these lines are no advice."""
    lines = []
    burst = BURST * max(0.0, 1 - question.rate_bps / question.device_bps)
    if question.buffer_bytes < burst and not paced:
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
    """The lines to paste, each below a comment with its reason. First those for a file of sysctl, then the commands."""
    sysctl = [line for line in lines if line.is_sysctl]
    commands = [line for line in lines if not line.is_sysctl]
    found = [text for line in sysctl for text in (f"# {line.why}", line.text)]
    if commands:
        found += ["# commands, as root"] + [text for line in commands for text in (f"# {line.why}", line.text)]
    return found


def as_file(heading: Sequence[str], lines: Sequence[Line]) -> str:
    """A file for /etc/sysctl.d: the sysctl lines, and the commands as comments, since sysctl cannot run them."""
    found = [OURS, *(f"# {words}" for words in heading)]
    for line in lines:
        if line.is_sysctl:
            found += ["", f"# {line.why}", line.text]
    commands = [line for line in lines if not line.is_sysctl]
    if commands:
        found += ["", "# To run as root, beside this file:"]
    for line in commands:
        found += [f"#   {line.text}", f"#     ({line.why})"]
    return "\n".join(found) + "\n"


def check_file(path: Path) -> None:
    """Raises InputError where no file of settings can be written: no folder, or a file that is not one of these."""
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"settings: {path} is not a place for a file")
    if path.exists() and not (path.is_file() and read_text(path).startswith(OURS)):
        raise InputError(f"settings: {path} exists and is not a file of settings that elephan wrote")


def write_file(path: Path, text: str) -> None:
    """Writes a file of settings whole or not at all."""
    check_file(path)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise OutputError(f"settings: {path} cannot be written: {error.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)
