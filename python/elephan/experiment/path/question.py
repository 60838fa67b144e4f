"""What is asked: a path, a transfer, the controllers and numbers of streams to try."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from elephan import _renamed
from elephan.base.errors import InputError, brief, nearest
from elephan.base.quantity import bits_per_second, seconds, show, size_bytes
from elephan.experiment.compare.network import positive, rate_text, read_buffer, span_text
from elephan.scenario import congestion, core
from elephan.scenario.congestion import Controller, read_controllers
from elephan.scenario.source import Source
from elephan.scenario.trust import NOBODY, Trust, trust
from elephan.theory import closed as theory

USUAL_CONTROLLERS = ("reno", "cubic", "bbr")  # what hosts run unless told otherwise; those that the core has
STREAMS = (1, 4)
SIZE = "10 GB"
START = "traffic.transfer.start"
SPREAD_S = 0.1  # within which several streams start, or within a round trip if that is shorter (assumed)
STORED_OVERHEAD_BYTES = 18  # of a frame in memory beside its packet: header and checksum
BUFFER_PACKETS = 10  # that a buffer which was not given holds at least (assumed): below them any burst overflows it
TXQUEUELEN, RING = 1000, 256  # of Linux since 2.6, and of an e1000: what is not given of a transmit side
PACKETS_MAX = 10_000_000
FQ_LIMIT, SMALL_QUEUES = 10_000, "4 MiB"  # of tc-fq(8); tcp_limit_output_bytes of Linux since 6.16
MTU_MIN, MTU_MAX = 128, 65_535
# What the command sets in each run, and the option that it follows from.
RESERVED = {
    "duration": "size",
    "record.every": "size",
    "traffic.transfer.connections": "streams",
    "traffic.transfer.congestion_control": "congestion_control",
}
# The highest rate of a scenario, and the longest round trip that is asked about: to Mars and back it is 45 minutes at most.
RATE_MAX_BPS = 100e12
RTT_MAX_S = 3600.0
_ETHERNET_BPS = (1e7, 1e8, 1e9, 1e10, 2.5e10, 4e10, 1e11, 2e11, 4e11, 8e11)


@_renamed.attributes(laws="controllers")
@dataclass(frozen=True)
class Question:
    """A path and a transfer, in base units."""

    rate_bps: float
    rtt_s: float
    buffer_bytes: int
    loss: float
    mtu_bytes: int
    host_rate_bps: float
    size_bytes: float
    streams: tuple[int, ...]
    controllers: tuple[Controller, ...]
    stack: str
    window_bytes: int | None  # None: the stack's
    assumed: tuple[str, ...] = ()  # what was not given
    window_grows: bool = False  # towards window_bytes, as with the maxima of sysctls, from Linux's first 64 KiB
    txqueuelen: int | None = None  # packets; None with ring and pacing: a sender whose queue is without bound
    ring: int | None = None
    pacing_bps: float | None = None  # by the sender's device, on the wire
    disk_read_bps: float | None = None  # payload at the sender, None: as fast as the network
    disk_write_bps: float | None = None
    set: Mapping[str, Any] = field(default_factory=dict)
    fq_bps: float | None = None  # of each stream on the wire, by `fq maxrate` at a sender of its own
    lost_packet: int | None = None  # ordinal of a packet of data that the path loses, beside `loss`
    agreed: Trust = NOBODY  # what code the caller lets run, and which files he lets it read

    @property
    def device_bps(self) -> float:
        """What the sender's device puts on the wire: the rate of its link, or its pace."""
        paces = (self.pacing_bps, self.fq_bps and self.fq_bps * max(self.streams))
        return min([self.host_rate_bps, *(pace for pace in paces if pace)])

    @property
    def narrow_bps(self) -> float:
        """The slower of path and device."""
        return min(self.rate_bps, self.device_bps)

    @property
    def has_transmit(self) -> bool:
        """Whether the sender's queue is bounded or its device paced."""
        return not (self.txqueuelen is None and self.ring is None and self.pacing_bps is None)

    @property
    def spread_s(self) -> float:
        """Within which several streams start, unless that is set."""
        return min(SPREAD_S, self.rtt_s)

    @property
    def room_packets(self) -> float:
        """Packets that qdisc and ring of the sender hold."""
        if self.fq_bps or not self.has_transmit:
            return math.inf  # a socket keeps little of its own data in `fq`: TCP small queues
        return (TXQUEUELEN if self.txqueuelen is None else self.txqueuelen) + (RING if self.ring is None else self.ring)

    def _transmit(self) -> str:
        """The sender's transmit side as a table of the scenario."""
        if self.fq_bps:
            fq = f'pacing = "{rate_text(self.fq_bps)}", txqueuelen = "{FQ_LIMIT} p", small_queues = "{SMALL_QUEUES}"'
            return f"[hosts.sender]\ntransmit = {{ {fq} }}\n\n"
        if not self.has_transmit:
            return ""
        words = [] if self.txqueuelen is None else [f'txqueuelen = "{self.txqueuelen} p"']
        words += [] if self.ring is None else [f'ring = "{self.ring} p"']
        words += [] if self.pacing_bps is None else [f'pacing = "{rate_text(self.pacing_bps)}"']
        return f"[hosts.sender]\ntransmit = {{ {', '.join(words)} }}\n\n"

    @property
    def text(self) -> str:
        """The question in words."""
        loss = f", {show(self.loss, '%')} of the packets lost" if self.loss else ""
        path = f"{show(self.rate_bps, 'bps')} and {show(self.rtt_s, 's')} of round trip"
        buffer = f"{show(self.buffer_bytes, 'bytes')} of buffer at the bottleneck, MTU {self.mtu_bytes}{loss}"
        return f"How long do {show(self.size_bytes, 'bytes')} take over {path}, with {buffer}?"

    def _network(self) -> str:
        """The template of the scenario: hosts joined by a path, or with `fq` a pair of hosts for each stream."""
        loss = '"none"'
        if self.loss:
            loss = f"{{ bernoulli = {self.loss:.12g} }}"
        elif self.lost_packet:
            loss = f"{{ listed = [{self.lost_packet}] }}"
        fast, rate, delay = rate_text(self.host_rate_bps), rate_text(self.rate_bps), span_text(self.rtt_s / 2)
        path = f'loss = {loss}, packets = "data"'
        queue = f'queue = {{ kind = "fifo", limit = "{self.buffer_bytes} B" }}'
        if self.fq_bps:
            lines = [
                "[template]",
                'kind = "dumbbell"',
                f"pairs = {max(self.streams)}",
                f'rate = "{rate}"',
                f'delay = "{delay}"',
                f'access_rate = "{fast}"',
                'access_delay = "0 s"',
                f"loss = {loss}",
                'packets = "data"',
                queue,
            ]
            return "\n".join(lines) + "\n"
        return f"""[template]
kind = "path"
hops = [
    {{ rate = "{fast}", delay = "0 s" }},
    {{ rate = "{rate}", delay = "{delay}", {path},
      {queue} }},
]
"""

    def scenario(self) -> str:
        """The path as a scenario; what varies from run to run is set over it."""
        window = f', receive_window = "{self.window_bytes} B", send_buffer = "{self.window_bytes} B"' if self.window_bytes else ""
        if self.window_grows:
            window += ', receive_window_initial = "64 KiB"'
        return f"""title    = "One long path"
question = "{self.text}"
duration = "1 s"
stack    = "{self.stack}"
tcp      = {{ mss = "{self.mtu_bytes - theory.TCP_IP_HEADER_BYTES} B"{window} }}

{self._network()}
{self._transmit()}[[traffic]]
name = "transfer"
from = "sender"
to   = "receiver"
kind = "bulk"
connections = 1

[record]
every    = "1 s"
messages = false
events   = false
"""

    def source(self) -> Source:
        return Source(self.scenario(), "path", "toml", "path", self.agreed)

    def as_dict(self) -> dict[str, Any]:
        return {
            "rate_bps": self.rate_bps,
            "rtt_s": self.rtt_s,
            "buffer_bytes": self.buffer_bytes,
            "loss": self.loss,
            "mtu_bytes": self.mtu_bytes,
            "host_rate_bps": self.host_rate_bps,
            "size_bytes": self.size_bytes,
            "streams": list(self.streams),
            "controllers": [{"label": controller.label, "congestion_control": controller.value} for controller in self.controllers],
            "stack": self.stack,
            "window_bytes": self.window_bytes,
            "window_grows": self.window_grows,
            "assumed": list(self.assumed),
            "txqueuelen": self.txqueuelen,
            "ring": self.ring,
            "pacing_bps": self.pacing_bps,
            "disk_read_bps": self.disk_read_bps,
            "disk_write_bps": self.disk_write_bps,
            "fq_bps": self.fq_bps,
            "set": dict(self.set),
        }


def from_dict(found: Mapping[str, Any]) -> Question:
    """A question as `as_dict` wrote it."""
    controllers = tuple(Controller(one["label"], one["congestion_control"]) for one in found["controllers"])
    return Question(**{**found, "controllers": controllers, "streams": tuple(found["streams"]), "assumed": tuple(found["assumed"])})


def _streams(given: str | int | Sequence[int] | None) -> tuple[int, ...]:
    if given is None:
        return STREAMS
    listed: Any = given.split(",") if isinstance(given, str) else given if isinstance(given, Iterable) else [given]
    if isinstance(given, bytes):
        raise InputError(f"streams: a list of different numbers such as 1,4, not {given!r}")
    found = []
    for one in listed:
        try:
            number = int(str(one).strip())
        except ValueError:
            raise InputError(f'streams: "{one}" is not a whole number') from None
        if not 1 <= number <= 1000:
            raise InputError(f"streams: {number} is not between 1 and 1000")
        found.append(number)
    if not found or len(set(found)) != len(found):
        raise InputError(f"streams: a list of different numbers such as 1,4, not {given}")
    return tuple(found)


def _loss(given: float | str) -> float:
    try:
        number = float(given)
    except (TypeError, ValueError):
        raise InputError(f'loss: "{given}" is not a probability such as 1e-6') from None
    if not 0 <= number < 1:
        raise InputError(f"loss: {given} is not a probability from 0 to below 1")
    return number


def _mtu(given: Any) -> int:
    try:
        number = int(given)
    except (TypeError, ValueError, OverflowError):
        shown = given if isinstance(given, str) else brief(given)
        raise InputError(f'mtu: "{shown}" is not a number of bytes') from None
    if not MTU_MIN <= number <= MTU_MAX:
        raise InputError(f"mtu: {brief(number)} is not between {MTU_MIN} and {MTU_MAX}")
    return number


def _packets(name: str, given: int | str | None, least: int) -> int | None:
    """A number of packets, as 1000 or "1000 p"."""
    if given is None:
        return None
    text = str(given).strip()
    try:
        number = int(text.removesuffix("packets").removesuffix("p").strip())
    except ValueError:
        raise InputError(f'{name}: "{given}" is not a number of packets such as 1000') from None
    if not least <= number <= PACKETS_MAX:
        raise InputError(f"{name}: {number} is not between {least} and {PACKETS_MAX}")
    return number


def _rate(name: str, given: float | str | None) -> float | None:
    return None if given is None else positive(name, given, bits_per_second)


def _buffer(given: float | str | None, rate_bps: float, rtt_s: float, mtu_bytes: int) -> tuple[int, str]:
    """Bytes of the buffer, and what is assumed of it."""
    packet = mtu_bytes + STORED_OVERHEAD_BYTES
    if given is None:
        bdp, least = read_buffer("1 bdp", rate_bps, rtt_s), BUFFER_PACKETS * packet
        if bdp >= least:
            return bdp, "the buffer: one bandwidth-delay product"
        return least, f"the buffer: {BUFFER_PACKETS} packets, which are more than a bandwidth-delay product"
    found = read_buffer(given, rate_bps, rtt_s)
    if found < packet:
        raise InputError(f"buffer: {given} cannot hold one packet, {packet} B with the header of its frame")
    return found, ""


def _window(given: float | str | None, mtu_bytes: int) -> int | None:
    """Bytes of the sockets' buffers, a segment at least."""
    if given is None:
        return None
    found, segment = round(positive("window", given, size_bytes)), mtu_bytes - theory.TCP_IP_HEADER_BYTES
    if found < segment:
        raise InputError(f"window: {given} cannot hold one segment, {segment} B")
    return found


def _faster(rate_bps: float) -> float:
    """The next rate of Ethernet above the path's, within the rates that there are: a host's link is faster than a long path."""
    return next((rate for rate in _ETHERNET_BPS if rate > rate_bps * 1.001), min(10 * rate_bps, max(rate_bps, RATE_MAX_BPS)))


def default_stack() -> str:
    """The stack of hosts that name none, as the scenario language has it."""
    return str(json.loads(core.call("schema"))["properties"]["stack"]["default"])


def read_question(
    rate: float | str,
    rtt: float | str,
    *,
    buffer: float | str | None = None,
    loss: float | str = 0.0,
    mtu: int | str = 1500,
    streams: str | int | Sequence[int] | None = None,
    size: float | str = SIZE,
    controllers: str | Sequence[Any] | None = None,
    stack: str | None = None,
    window: float | str | None = None,
    host_rate: float | str | None = None,
    txqueuelen: int | str | None = None,
    ring: int | str | None = None,
    pacing: float | str | None = None,
    disk_read: float | str | None = None,
    disk_write: float | str | None = None,
    set: Mapping[str, Any] | None = None,
    python_from: Any = None,
    files_from: Any = None,
) -> Question:
    """A question from what a user gave; every wrong value is one line."""
    rate_bps, rtt_s = positive("rate", rate, bits_per_second), positive("rtt", rtt, seconds)
    if rtt_s > RTT_MAX_S:
        raise InputError(f"rtt: {rtt} is beyond {show(RTT_MAX_S, 's')}")
    for key in core.as_overrides(set):
        if key in RESERVED:
            raise InputError(f"set: {key} follows from {RESERVED[key]} here, and cannot be set")
    known = [name for name, _ in core.call("listing", "stacks")]
    stack_is = f"the stack of the hosts: {default_stack()}" if stack is None else ""
    stack = default_stack() if stack is None else stack
    if not isinstance(stack, str) or stack not in known:
        raise InputError(f'no stack "{stack}"{nearest(str(stack), known)}')
    queue, slots = _packets("txqueuelen", txqueuelen, 0), _packets("ring", ring, 0)
    if queue == 0 and slots == 0:
        raise InputError("txqueuelen: 0 with a ring of 0: no packet could wait while another is sent")
    pace = _rate("pacing", pacing)
    transmit = not (queue is None and slots is None and pace is None)
    usual = [name for name in USUAL_CONTROLLERS if name in congestion.names()]
    mtu_bytes, numbers, own = _mtu(mtu), _streams(streams), core.as_overrides(set)
    memory, memory_is = _buffer(buffer, rate_bps, rtt_s, mtu_bytes)
    spread = show(min(SPREAD_S, rtt_s), "s")
    chosen = read_controllers(usual if controllers is None else controllers, python_from)
    assumed = [
        *([stack_is] if stack_is else []),
        *([memory_is] if memory_is else []),
        *([] if host_rate is not None else [f"the hosts' links: {show(_faster(rate_bps), 'bps')}, the next rate of Ethernet"]),
        *([f"txqueuelen: {TXQUEUELEN}, as Linux"] if transmit and queue is None else []),
        *([f"the ring of the driver: {RING}"] if transmit and slots is None else []),
        *([f"several streams start within {spread}"] if max(numbers) > 1 and START not in own else []),
        *([] if controllers is not None else [f"the congestion controls: {', '.join(usual)}"]),
    ]
    return Question(
        rate_bps=rate_bps,
        rtt_s=rtt_s,
        buffer_bytes=memory,
        loss=_loss(loss),
        mtu_bytes=mtu_bytes,
        host_rate_bps=_faster(rate_bps) if host_rate is None else positive("host-rate", host_rate, bits_per_second),
        size_bytes=positive("size", size, size_bytes),
        streams=numbers,
        controllers=tuple(chosen),
        stack=stack,
        window_bytes=_window(window, mtu_bytes),
        assumed=tuple(assumed),
        txqueuelen=queue,
        ring=slots,
        pacing_bps=pace,
        disk_read_bps=_rate("disk-read", disk_read),
        disk_write_bps=_rate("disk-write", disk_write),
        set=own,
        agreed=trust(python_from, own, [controller.value for controller in chosen], files_from=files_from),
    )
