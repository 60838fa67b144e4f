"""A link between two network namespaces, for one TCP connection of this machine's kernel through it.

`python link.py PARAMETERS.json [FOLDER]` with the keys of `courses.Course`, `sysctl` of each end, `seed` of what the link draws,
and `out`, the file that gets the result: what the sender saw (`TCP_INFO` every 5 ms) and what the link carried. The folder gets
captures of what passes the sender's device, the middle and the receiver's device (`taps.py`). The link adds nothing to an IP
packet. Needs root, /dev/net/tun and ip(8).
"""

from __future__ import annotations

import contextlib
import fcntl
import heapq
import json
import os
import random
import select
import struct
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

from taps import Taps

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
# A packet is late when it comes so long after it is due.
LATE_S = 0.002
ENDS = {"sender": ("elephan-a", "10.201.0.1", "10.201.0.2"), "receiver": ("elephan-b", "10.201.0.2", "10.201.0.1")}


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def device(role: str) -> int:
    """A TUN device in a namespace of its own: its file descriptor."""
    space, own, peer = ENDS[role]
    name = f"tun-{role}"
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    ip("netns", "add", space)
    ip("link", "set", name, "netns", space)
    ip("-n", space, "addr", "add", own, "peer", peer, "dev", name)
    ip("-n", space, "link", "set", name, "txqueuelen", "10000", "mtu", "1500", "up")
    return fd


def remove() -> None:
    for space, _, _ in ENDS.values():
        subprocess.run(["ip", "netns", "del", space], stderr=subprocess.DEVNULL, check=False)


def in_space(role: str, *words: str) -> list[str]:
    return ["ip", "netns", "exec", ENDS[role][0], *words]


class Link:
    """Towards the receiver a queue and a rate; back the delay alone."""

    def __init__(self, given: dict[str, Any], sender: int, receiver: int, taps: Taps | None) -> None:
        self.given, self.sender, self.receiver, self.taps = given, sender, receiver, taps
        self.lost, self.lost_there, self.lost_back = (set(given[name]) for name in ("lost", "lost_there", "lost_back"))
        # What a policer lets pass at once, in bytes, and when that was.
        self.tokens, self.filled_at = float("inf"), 0.0
        # Heaps of when packets are due, in the order of their coming where that is the same.
        self.there: list[tuple[float, int, bytes]] = []
        self.back: list[tuple[float, int, bytes]] = []
        self.random = random.Random(given["seed"])
        self.carried, self.marked = 0, 0
        self.starts: deque[float] = deque()
        self.free_at = 0.0
        self.segments, self.acks, self.new, self.newest, self.packets = 0, 0, 0, 0, 0
        self.isn: int | None = None
        # When the first packet came, from which the times of `given` count.
        self.began: float | None = None
        self.delivered, self.late = 0, 0
        # Bytes of IP packets that the link has carried to the receiver, by source port and second since the first packet.
        self.by_port: dict[int, dict[int, int]] = {}

    def forward(self, now: float, packet: bytes) -> None:
        self.began = now if self.began is None else self.began
        self.packets += 1
        while self.starts and self.starts[0] <= now:
            self.starts.popleft()
        first, lost = self.segments, self.is_lost(packet)
        if lost or self.packets in self.lost_there or len(self.starts) >= self.given["buffer"]:
            return
        if len(packet) > (self.given["passes"] or len(packet)) or not self.is_within_rate(now, len(packet)):
            return
        if self.given["mark_above"] is not None and len(self.starts) > self.given["mark_above"]:
            packet = self.marks(packet)
        start = max(now, self.free_at)
        if start > now:
            self.starts.append(start)
        self.free_at = start + 8 * len(packet) / self.given["rate_bps"]
        due, data = self.free_at + self.delay(now), self.segments > first
        if self.is_down(start, "outages") or (data and self.given["loss"] and self.random.random() < self.given["loss"]):
            return
        held_back, extra = self.given["reorder"]
        if data and held_back and self.random.random() < held_back:
            due += extra
        copies = 2 if data and self.given["duplicate"] and self.random.random() < self.given["duplicate"] else 1
        for _ in range(copies):
            self.put(self.there, due, packet)
        self.count(due, packet)
        self.tap("middle", due - self.delay(now) / 2, packet)

    def count(self, due: float, packet: bytes) -> None:
        (port,) = struct.unpack_from("!H", packet, 4 * (packet[0] & 15))
        assert self.began is not None
        carried, second = self.by_port.setdefault(port, {}), int(due - self.began)
        carried[second] = carried.get(second, 0) + len(packet)

    def back_from(self, now: float, packet: bytes) -> None:
        """A packet of the receiver comes."""
        self.acks += 1
        lost = self.given["ack_loss"] and self.random.random() < self.given["ack_loss"]
        if not lost and self.acks not in self.lost_back and not self.is_down(now, "ack_outages"):
            self.put(self.back, now + self.delay(now), packet)
            self.tap("middle", now + self.delay(now) / 2, packet)

    def tap(self, place: str, at: float, packet: bytes) -> None:
        if self.taps is not None:
            self.taps.see(place, at, packet)

    def is_within_rate(self, now: float, size: int) -> bool:
        """Whether a policer, which queues nothing, lets a packet pass (a token bucket)."""
        if self.given["policer"] is None:
            return True
        rate_bps, burst = self.given["policer"]
        self.tokens, self.filled_at = min(burst, self.tokens + (now - self.filled_at) * rate_bps / 8), now
        passes = self.tokens >= size
        self.tokens -= size if passes else 0
        return passes

    def delay(self, now: float) -> float:
        at, delay_s = self.given["new_delay"] or (0.0, self.given["delay_s"])
        return delay_s if self.began is not None and now >= self.began + at else self.given["delay_s"]

    def is_down(self, now: float, way: str) -> bool:
        return self.began is not None and any(at <= now - self.began < at + lasts for at, lasts in self.given[way])

    def put(self, heap: list[tuple[float, int, bytes]], due: float, packet: bytes) -> None:
        self.carried += 1
        heapq.heappush(heap, (due, self.carried, packet))

    def marks(self, packet: bytes) -> bytes:
        """Returns an ECN-capable packet with the mark (RFC 3168 section 5), its checksum corrected (RFC 1624)."""
        if packet[1] & 3 not in (1, 2):
            return packet
        self.marked += 1
        (total,) = struct.unpack_from("!H", packet, 10)
        total = (~total & 0xFFFF) + 3 - (packet[1] & 3)
        total = (total & 0xFFFF) + (total >> 16)
        return packet[:1] + bytes([packet[1] | 3]) + packet[2:10] + struct.pack("!H", ~total & 0xFFFF) + packet[12:]

    def is_lost(self, packet: bytes) -> bool:
        """Counts a segment with data; whether it is one that gets lost."""
        header = 4 * (packet[0] & 15)
        (sequence,) = struct.unpack_from("!I", packet, header + 4)
        payload = len(packet) - header - 4 * (packet[header + 12] >> 4)
        if self.isn is None:
            self.isn = sequence
        if payload == 0:
            return False
        self.segments += 1
        end = (sequence + payload - self.isn) & 0xFFFFFFFF
        if end <= self.newest:
            return False
        self.newest = end
        self.new += 1
        return self.new in self.lost

    def deliver(self, now: float) -> None:
        for queue, fd, place in ((self.there, self.receiver, "receiver"), (self.back, self.sender, "sender")):
            while queue and queue[0][0] <= now:
                due, _, packet = heapq.heappop(queue)
                self.delivered += 1
                self.late += now - due > LATE_S
                self.tap(place, time.perf_counter(), packet)
                os.write(fd, packet)

    def take(self, fd: int) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                packet = os.read(fd, 65536)
                if packet[0] >> 4 != 4 or packet[9] != 6:
                    continue  # neighbour discovery
                now = time.perf_counter()
                self.tap("sender" if fd == self.sender else "receiver", now, packet)
                (self.forward if fd == self.sender else self.back_from)(now, packet)

    def run(self, sending: subprocess.Popen[bytes]) -> None:
        end = time.perf_counter() + self.given["duration_s"] + 5
        while sending.poll() is None and (now := time.perf_counter()) < end:
            self.deliver(now)
            due = min(queue[0][0] if queue else end for queue in (self.there, self.back))
            ready, _, _ = select.select([self.sender, self.receiver], [], [], max(0.0, min(due, now + 0.1) - time.perf_counter()))
            for fd in ready:
                self.take(fd)


def main() -> None:
    given = json.loads(Path(sys.argv[1]).read_text())
    remove()
    try:
        sender, receiver = device("sender"), device("receiver")
        for role, settings in given["sysctl"].items():
            for key, value in settings.items():
                subprocess.run(in_space(role, "sysctl", "-q", "-w", f"{key}={value}"), check=True)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
        ends = str(Path(__file__).with_name("ends.py"))
        reading = subprocess.Popen(
            in_space("receiver", sys.executable, ends, "receive", ENDS["receiver"][1], sys.argv[1]), stdout=subprocess.PIPE
        )
        assert reading.stdout is not None
        reading.stdout.readline()
        samples = Path(given["out"]).with_suffix(".samples")
        words = [ENDS["receiver"][1], sys.argv[1], str(samples)]
        sending = subprocess.Popen(in_space("sender", sys.executable, ends, "send", *words))
        taps = Taps() if len(sys.argv) > 2 else None
        link = Link(given, sender, receiver, taps)
        try:
            link.run(sending)
        finally:
            sending.kill()
            reading.kill()
        seen = json.loads(samples.read_text())
        told = {"segments": link.segments, "acks": link.acks, "marked": link.marked, "late": link.late / max(1, link.delivered)}
        told["by_port"] = link.by_port
        Path(given["out"]).write_text(json.dumps(seen | told))
        if taps is not None:
            taps.write(Path(sys.argv[2]))
    finally:
        remove()


if __name__ == "__main__":
    main()
