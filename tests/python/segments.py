"""A builder of small captures for tests: packets of one or more connections, as bytes of a pcap or pcapng file.

Times in seconds. The client is 10.0.0.1, the server 10.0.0.2 (or fd00::1 and fd00::2). Checksums are right, so that other tools
take the packets for good.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import elephan as el

FIN, SYN, RST, PSH, ACK, ECE, CWR = 1, 2, 4, 8, 16, 64, 128
MSS_1460 = b"\2\4\x05\xb4"
CLIENT, SERVER = 0, 1
ETHERNET = b"\2\0\0\0\0\2\2\0\0\0\0\1"


def timestamps(value: int, echo: int) -> bytes:
    return b"\1\1\x08\x0a" + struct.pack(">II", value, echo)


def scale(shift: int) -> bytes:
    return b"\1\3\3" + bytes([shift])


def sack(*blocks: tuple[int, int]) -> bytes:
    edges = b"".join(struct.pack(">II", begin, end) for begin, end in blocks)
    return b"\1\1\5" + bytes([2 + len(edges)]) + edges


def checksum(data: bytes) -> int:
    words = struct.unpack(f">{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2))
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(
    payload: bytes, ends: tuple[str, str], ident: int = 0, protocol: int = 6, total: int | None = None, place: int = 0x4000
) -> bytes:
    """An IPv4 packet; `total` is its length field, `place` flags and fragment offset."""
    length = 20 + len(payload) if total is None else total
    head = struct.pack(">BBHHHBBH", 0x45, 0, length, ident, place, 64, protocol, 0) + b"".join(map(socket.inet_aton, ends))
    return head[:10] + struct.pack(">H", checksum(head)) + head[12:] + payload


def ipv6(payload: bytes, ends: tuple[str, str], protocol: int = 6, total: int | None = None) -> bytes:
    length = len(payload) if total is None else total
    addresses = b"".join(socket.inet_pton(socket.AF_INET6, end) for end in ends)
    return struct.pack(">IHBB", 0x60000000, length, protocol, 64) + addresses + payload


@dataclass
class Capture:
    """Packets, and the file that they make."""

    version: int = 4
    snap: int = 262_144
    ports: tuple[int, int] = (40_000, 5001)
    hosts: tuple[str, str] = ("10.0.0.1", "10.0.0.2")
    link_type: int = 1
    wrap: Callable[[bytes], bytes] | None = None  # makes a frame of an IP packet; an Ethernet header if there is none
    frames: list[tuple[float, bytes, int]] = field(default_factory=list)  # time, bytes, length on the link

    def frame(self, packet: bytes) -> bytes:
        if self.wrap is not None:
            return self.wrap(packet)
        return ETHERNET + (b"\x08\0" if packet[0] >> 4 == 4 else b"\x86\xdd") + packet

    def ip(
        self,
        seq: int,
        ack: int = 0,
        flags: int = ACK,
        length: int = 0,
        by: int = CLIENT,
        window: int = 65_535,
        options: bytes = b"",
        ident: int = 0,
        total: int | None = None,
        port: int | None = None,
    ) -> bytes:
        """An IP packet with a segment."""
        ports = (self.ports[0] if port is None else port, self.ports[1])
        hosts = self.hosts if self.version == 4 else ("fd00::1", "fd00::2")
        (source, destination), ends = (ports, hosts) if by == CLIENT else (ports[::-1], hosts[::-1])
        options += b"\1" * (-len(options) % 4)
        words = (5 + len(options) // 4) << 4 | flags >> 8  # the ninth flag is AE (RFC 9768)
        tcp = struct.pack(">HHIIBBHHH", source, destination, seq % 2**32, ack % 2**32, words, flags & 255, window, 0, 0)
        tcp += options + b"x" * length
        kind = socket.AF_INET if self.version == 4 else socket.AF_INET6
        pseudo = b"".join(socket.inet_pton(kind, end) for end in ends) + struct.pack(">II", len(tcp), 6)
        tcp = tcp[:16] + struct.pack(">H", checksum(pseudo + tcp)) + tcp[18:]
        return ipv4(tcp, ends, ident, total=total) if self.version == 4 else ipv6(tcp, ends, total=total)

    def put(self, time: float, packet: bytes) -> None:
        """Adds an IP packet."""
        frame = self.frame(packet)
        self.frames.append((time, frame[: self.snap], len(frame)))

    def segment(self, time: float, seq: int, ack: int = 0, flags: int = ACK, length: int = 0, **more: object) -> None:
        """Adds a segment; see `ip`."""
        self.put(time, self.ip(seq, ack, flags, length, **more))  # type: ignore[arg-type]

    def handshake(self, time: float = 1.0, seq: int = 1000, peer: int = 5000, rtt: float = 0.01, **more: object) -> None:
        """SYN, SYN-ACK and ACK, seen at the client: its data begins at `seq` + 1, the server's at `peer` + 1."""
        self.segment(time, seq, 0, SYN, **more)
        self.segment(time + rtt, peer, seq + 1, SYN | ACK, by=SERVER, **more)
        self.segment(time + rtt + 1e-4, seq + 1, peer + 1)

    def exchange(
        self, time: float, seq: int, count: int, size: int = 1000, gap: float = 0.02, rtt: float = 0.01, peer: int = 5001
    ) -> int:
        """Segments of data, each acknowledged a round trip later; answers the sequence number after them."""
        for i in range(count):
            self.segment(time + i * gap, seq + size * i, peer, length=size)
            self.segment(time + i * gap + rtt, peer, seq + size * (i + 1), by=SERVER)
        return seq + size * count

    def write(self, path: Path) -> Path:
        """A pcap file with times in nanoseconds."""
        parts = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, self.snap, self.link_type)]
        for time, frame, length in self.frames:
            ticks = round(time * 1e9)
            parts += [struct.pack("<IIII", ticks // 10**9, ticks % 10**9, len(frame), length), frame]
        path.write_bytes(b"".join(parts))
        return path


def block(kind: int, body: bytes) -> bytes:
    """A block of a pcapng file."""
    body += b"\0" * (-len(body) % 4)
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


SECTION = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
INTERFACE = block(1, struct.pack("<HHI", 1, 0, 0))


def enhanced(time: float, frame: bytes, interface: int = 0) -> bytes:
    ticks = round(time * 1e6)
    return block(6, struct.pack("<IIIII", interface, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame)) + frame)


def simple(frame: bytes) -> bytes:
    return block(3, struct.pack("<I", len(frame)) + frame)


def obsolete(time: float, frame: bytes) -> bytes:
    ticks = round(time * 1e6)
    return block(2, struct.pack("<HHIIII", 0, 0, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame)) + frame)


def rows(capture: Capture, where: Path, **options: Any) -> list[dict[str, Any]]:
    """The rows of `connections` of a capture, by the port of the client and the direction."""
    return el.analyze(capture.write(where / "c.pcap"), **options).connections.to_pylist()


def trace(capture: Capture, where: Path, **options: Any) -> el.Trace:
    return el.analyze(capture.write(where / "c.pcap"), **options)
