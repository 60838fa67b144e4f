"""Segments on the wire, and a TUN device behind which this machine's kernel stands.

The device lives in a network namespace of the calling process. What the kernel sends is read from a packet socket, so that each
packet has the time at which the kernel sent it; what is sent to the kernel has the time at which the kernel took it.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import platform
import select
import shutil
import socket
import struct
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernel.peer import checksum
from kernel.tcp_info import parsed

FIN, SYN, RST, PSH, ACK, URG, ECE, CWR, AE = (1 << bit for bit in range(9))
# packetdrill's addresses and port, from which Linux makes Fast Open cookies.
KERNEL, PEER, PORT, PEER_PORT = "192.168.0.1", "192.0.2.1", 8080, 49152
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
CLONE_NEWNET = 0x40000000
SO_TIMESTAMPNS, SO_RCVBUFFORCE = 35, 33
PACKET_OUTGOING, ETH_P_ALL = 4, 3
WORD = 0xFFFFFFFF


@dataclass
class Segment:
    """A TCP segment. `options` are pairs of kind and payload; numbers stand as on the wire."""

    flags: int
    seq: int
    length: int = 0
    ack: int = 0
    window: int = 0
    options: list[tuple[int, bytes]] = field(default_factory=list)
    ecn: int = 0
    ports: tuple[int, int] = (PEER_PORT, PORT)

    def option(self, kind: int) -> bytes | None:
        return next((payload for known, payload in self.options if known == kind), None)

    @property
    def sack(self) -> list[tuple[int, int]]:
        edges = struct.iter_unpack("!II", self.option(5) or b"")
        return [(left, right) for left, right in edges]

    @property
    def stamps(self) -> tuple[int, int] | None:
        payload = self.option(8)
        return struct.unpack("!II", payload) if payload is not None and len(payload) == 8 else None


def encoded(segment: Segment) -> bytes:
    """Returns the IPv4 packet of a segment from the peer to the kernel."""
    options = b"".join(bytes([kind]) if kind < 2 else bytes([kind, 2 + len(rest)]) + rest for kind, rest in segment.options)
    options += b"\1" * (-len(options) % 4)
    offset = (5 + len(options) // 4) << 12 | segment.flags
    ends = socket.inet_aton(PEER) + socket.inet_aton(KERNEL)
    head = struct.pack("!HHIIHHHH", *segment.ports, segment.seq & WORD, segment.ack & WORD, offset, segment.window, 0, 0)
    body = options + bytes(segment.length)
    total = checksum(ends + struct.pack("!HH", 6, len(head) + len(body)) + head + body)
    outer = struct.pack("!BBHHHBBH", 0x45, segment.ecn, 20 + len(head) + len(body), 0, 0x4000, 64, 6, 0) + ends
    outer = outer[:10] + struct.pack("!H", checksum(outer)) + outer[12:]
    return outer + head[:16] + struct.pack("!H", total) + head[18:] + body


def decoded(packet: bytes) -> Segment | None:
    """Returns the segment of an IPv4 packet, or `None` for everything else."""
    if len(packet) < 40 or packet[0] >> 4 != 4 or packet[9] != 6:
        return None
    start = 4 * (packet[0] & 15)
    source, target, seq, ack, offset, window = struct.unpack_from("!HHIIHH", packet, start)
    end = start + 4 * (offset >> 12)
    options, position = [], start + 20
    while position < end and packet[position] != 0:
        kind = packet[position]
        size = 1 if kind == 1 else max(2, packet[position + 1])
        if kind != 1:
            options.append((kind, packet[position + 2 : position + size]))
        position += size
    (total,) = struct.unpack_from("!H", packet, 2)
    return Segment(offset & 0x1FF, seq, total - end, ack, window, options, packet[1] & 3, (source, target))


def reason() -> str:
    """Returns why this machine cannot be asked, or an empty text."""
    release = tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2] if part.isdigit())
    if platform.system() != "Linux" or release < (6, 16):
        return "no Linux from 6.16 on, whose defaults the stack has"
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists() or shutil.which("ip") is None:
        return "needs root, /dev/net/tun and ip"
    return ""


def own_namespace() -> None:
    """Moves the calling thread into a new network namespace."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def sysctl(name: str, value: str) -> None:
    """Sets a sysctl of the namespace; raises OSError if the kernel has no such setting or refuses the value."""
    Path("/proc/sys", *name.split(".")).write_text(value)


def in_front() -> None:
    """Lets the calling process run before others, where that is allowed: its clock is part of the experiment."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))


class Device:
    """A TUN device in a namespace of its own. Without `offload` TCP makes each segment by itself, with it several at once."""

    def __init__(self, mtu: int = 1500, offload: bool = False) -> None:
        own_namespace()
        self.tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(self.tun, TUNSETIFF, struct.pack("16sH", b"tun0", IFF_TUN | IFF_NO_PI))
        lines = [
            "link set lo up",
            f"addr add {KERNEL}/24 dev tun0",
            # TCP builds no packet of several segments for a device that takes one (sk_setup_caps).
            f"link set tun0 txqueuelen 10000 mtu {mtu} {'' if offload else 'gso_max_segs 1'} up",
            "route add default dev tun0",
        ]
        subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)
        self.tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
        self.tap.bind(("tun0", ETH_P_ALL))
        self.tap.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
        self.tap.setblocking(False)
        # When the kernel took what was sent to it, in the order of sending.
        self.taken: list[float] = []

    def send(self, segment: Segment) -> None:
        os.write(self.tun, encoded(segment))

    def read(self) -> list[tuple[float, Segment]]:
        """Returns what the kernel has sent since the last call, with the times at which it did."""
        seen = []
        with contextlib.suppress(BlockingIOError):
            while True:
                packet, extra, _, address = self.tap.recvmsg(65536, 256)
                at = next(_clock(data) for level, kind, data in extra if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS))
                segment = decoded(packet)
                if segment is not None and address[2] == PACKET_OUTGOING:
                    seen.append((at, segment))
                elif segment is not None:
                    self.taken.append(at)
        with contextlib.suppress(BlockingIOError):
            while os.read(self.tun, 65536):
                pass
        return seen

    def wait(self, until: float) -> list[tuple[float, Segment]]:
        """Returns what the kernel sends, as soon as it sends anything, or nothing at `until`."""
        while True:
            left = until - time.time()
            select.select([self.tap], [], [], max(0.0, left))
            seen = self.read()
            if seen or left <= 0:
                return seen

    def close(self) -> None:
        self.tap.close()
        os.close(self.tun)


def _clock(data: bytes) -> float:
    seconds, nanoseconds = struct.unpack("qq", data[:16])
    return float(seconds) + 1e-9 * float(nanoseconds)


def info_of(connection: socket.socket) -> dict[str, Any]:
    """Returns `tcp_info` with the kernel's names."""
    return parsed(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 512))
