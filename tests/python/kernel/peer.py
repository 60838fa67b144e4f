"""This machine's kernel beside a peer that is a script: segments are read from and written to a TUN device.

`python peer.py CASE`, in a network namespace of its own (`ip netns exec`), prints as JSON what the kernel did in one of `CASES`.
Needs root and /dev/net/tun. Numbers of bytes count from the initial sequence numbers.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
SYN, ACK = 2, 16
OWN, PEER, PORT = "10.203.0.1", "10.203.0.2", 5001
# Of the peer; a kernel that takes timestamps of its own echoes these.
ISN = 1000
SO_MAX_PACING_RATE, FASTEST = 47, 1_250_000_000
# struct tcp_info of linux/tcp.h: snd_ssthresh and snd_cwnd.
THRESHOLD_AND_WINDOW = 8 + 4 * 17


@dataclass
class Seen:
    at: float
    seq: int
    length: int
    ack: int
    blocks: list[tuple[int, int]]
    tsval: int


def checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data if len(data) % 2 == 0 else data[:-1]))
    total += data[-1] << 8 if len(data) % 2 else 0
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


class Peer:
    """A peer with segments of 1000 bytes that has connected to a socket of the kernel at a round trip of `rtt` seconds."""

    def __init__(self, rtt: float, controller: str, timestamps: bool = False, paced: bool = False) -> None:
        self.fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.fd, TUNSETIFF, struct.pack("16sH", b"tun-peer", IFF_TUN | IFF_NO_PI))
        subprocess.run(["ip", "addr", "add", OWN, "peer", PEER, "dev", "tun-peer"], check=True)
        subprocess.run(["ip", "link", "set", "tun-peer", "mtu", "1500", "up"], check=True)
        server = socket.create_server((OWN, PORT))
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, controller.encode())
        if paced:
            server.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, FASTEST)
        self.timestamps, self.isn, self.tsval = timestamps, 0, 0
        self.send(SYN, 0, options=struct.pack("!BBHBBBBBB", 2, 4, 1000, 4, 2, 1, 3, 3, 10))
        answer = self.read(time.perf_counter() + rtt)[-1]
        self.isn, self.tsval = answer.seq, answer.tsval
        self.send(ACK, 1, ack=1)
        self.socket, _ = server.accept()
        self.socket.setblocking(False)

    def send(self, flags: int, seq: int, ack: int = 0, data: bytes = b"", options: bytes = b"") -> None:
        if self.timestamps:
            options += struct.pack("!BBBBII", 1, 1, 8, 10, int(time.perf_counter() * 1e3) & 0xFFFFFFFF, self.tsval)
        options += bytes([1]) * (-len(options) % 4)
        number = (self.isn + ack) & 0xFFFFFFFF if flags & ACK else 0
        offset = (5 + len(options) // 4) << 4
        segment = struct.pack("!HHIIBBHHH", 40000, PORT, ISN + seq, number, offset, flags, 514, 0, 0) + options + data
        ends = socket.inet_aton(PEER) + socket.inet_aton(OWN)
        segment = segment[:16] + struct.pack("!H", checksum(ends + struct.pack("!HH", 6, len(segment)) + segment)) + segment[18:]
        header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(segment), 0, 0x4000, 64, 6, 0) + ends
        os.write(self.fd, header[:10] + struct.pack("!H", checksum(header)) + header[12:] + segment)

    def read(self, until: float) -> list[Seen]:
        """Returns what the kernel sends until then."""
        seen = []
        while select.select([self.fd], [], [], max(0.0, until - time.perf_counter()))[0]:
            packet, at = os.read(self.fd, 65536), time.perf_counter()
            if packet[0] >> 4 == 4 and packet[9] == 6:
                seen.append(self.parse(at, packet[4 * (packet[0] & 15) :]))
        return seen

    def parse(self, at: float, segment: bytes) -> Seen:
        _, _, seq, ack, offset = struct.unpack_from("!HHIIB", segment)
        end, position, blocks, tsval = 4 * (offset >> 4), 20, [], 0
        while position < end and segment[position] != 0:
            kind, length = segment[position], segment[position + 1] if segment[position] != 1 else 1
            if kind == 5:
                edges = struct.unpack_from(f"!{(length - 2) // 4}I", segment, position + 2)
                blocks = [(left - ISN, right - ISN) for left, right in zip(edges[::2], edges[1::2], strict=True)]
            elif kind == 8:
                (tsval,) = struct.unpack_from("!I", segment, position + 2)
            position += length
        return Seen(at, (seq - self.isn) & 0xFFFFFFFF, len(segment) - end, (ack - ISN) & 0xFFFFFFFF, blocks, tsval)

    def write(self, count: int) -> None:
        with contextlib.suppress(BlockingIOError):
            self.socket.send(bytes(count))


def slow_start(paced: bool) -> list[tuple[int, int]]:
    """Ten segments, two acknowledged every 100 ms (packetdrill `cubic-bulk-166k`): window and threshold after each ACK."""
    peer = Peer(0.1, "cubic", paced=paced)
    peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 400_000)
    peer.write(400_000)
    next_at, told = time.perf_counter(), []
    for n in range(1, 29):
        next_at += 0.1
        peer.read(next_at)
        peer.send(ACK, 1, ack=1 + 2000 * n)
        time.sleep(0.002)
        info = peer.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        threshold, window = struct.unpack_from("<2I", info, THRESHOLD_AND_WINDOW)
        told.append((window, threshold))
        peer.write(2000)
    return told


def at_once() -> int:
    """How many of a hundred segments leave in the first 30 ms of a paced connection with a round trip of 50 ms."""
    peer = Peer(0.05, "reno", paced=True)
    peer.send(ACK, 1, ack=1)
    time.sleep(0.01)
    peer.write(100_000)
    return sum(seen.length > 0 for seen in peer.read(time.perf_counter() + 0.03))


def compressed() -> list[float]:
    """When, in ms, ACKs leave for segments 0.1 ms apart beyond a hole, at a round trip of 100 ms."""
    peer, sent = Peer(0.1, "cubic", timestamps=True), 0
    for _ in range(8):
        for _ in range(6):
            peer.send(ACK, 1 + 1000 * sent, ack=1, data=bytes(1000))
            sent += 1
        peer.tsval = peer.read(time.perf_counter() + 0.1)[-1].tsval
        with contextlib.suppress(BlockingIOError):
            peer.socket.recv(1 << 20)
    start, seen = time.perf_counter(), []
    for n in range(50):
        while time.perf_counter() < start + n * 1e-4:
            pass
        peer.send(ACK, 1 + 1000 * (sent + 1 + n), ack=1, data=bytes(1000))
        seen += peer.read(0.0)
    return [1e3 * (one.at - start) for one in seen]


CASES: dict[str, Any] = {
    "slow start": lambda: slow_start(False),
    "slow start, paced": lambda: slow_start(True),
    "at once": at_once,
    "compressed": compressed,
}

if __name__ == "__main__":
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    print(json.dumps(CASES[sys.argv[1]]()))
