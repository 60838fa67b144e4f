"""The two that are asked: this machine's kernel in real time, and elephan's endpoint in virtual time. Both speak `wire.Segment`.

Their numbers count from the initial sequence numbers of both ends, times from the peer's SYN.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import elephan as el
from kernel.referee.script import MSS, SACK, SACK_OK, SCALE, STAMPS
from kernel.referee.wire import ACK, AE, CWR, ECE, FIN, KERNEL, PORT, PSH, RST, SYN, WORD, Device, Segment, info_of, sysctl

SO_SNDBUFFORCE = 32
BUFFER = 8 << 20
NAMES = {FIN: "FIN", SYN: "SYN", RST: "RST", PSH: "PSH", ACK: "ACK", ECE: "ECE", CWR: "CWR", AE: "AE"}
FLAGS = {name: bit for bit, name in NAMES.items()}


class Kernel:
    """A socket of this machine's kernel."""

    def __init__(self, controller: str, ecn: bool = False) -> None:
        # BBR's pacing sends pairs of segments, here and where the kernel may segment late.
        self.device = Device(offload=controller == "bbr")
        # 2, the default, answers a peer that asks for ECN.
        sysctl("net.ipv4.tcp_ecn", "1" if ecn else "0")
        self.server = socket.create_server((KERNEL, PORT))
        self.server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, controller.encode())
        self.server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.server.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, BUFFER)
        self.connection: socket.socket | None = None
        self.isn = 0
        self.start = time.time()
        self.late = 0.0
        self.injected = 0

    def now(self) -> float:
        return time.time() - self.start

    def wait(self, until: float) -> list[tuple[float, Segment]]:
        return [(at - self.start, self.counted(segment)) for at, segment in self.device.wait(self.start + until)]

    def counted(self, segment: Segment) -> Segment:
        if segment.flags & SYN:
            self.isn = segment.seq
        return replace(segment, seq=(segment.seq - self.isn) & WORD)

    def inject(self, due: float, segment: Segment) -> None:
        options = [
            (kind, b"".join(struct.pack("!I", (edge[0] + self.isn) & WORD) for edge in struct.iter_unpack("!I", rest)))
            if kind == SACK
            else (kind, rest)
            for kind, rest in segment.options
        ]
        self.late = max(self.late, self.now() - due)
        self.device.send(replace(segment, ack=segment.ack + self.isn, options=options))
        self.injected += 1

    def established(self) -> None:
        self.server.settimeout(0.1)
        self.connection, _ = self.server.accept()
        self.connection.setblocking(False)

    def write(self, due: float, count: int) -> None:
        assert self.connection is not None
        self.late = max(self.late, self.now() - due)
        if self.connection.send(bytes(count)) != count:
            raise RuntimeError("the send buffer is too small for the case")

    def read(self, count: int) -> None:
        assert self.connection is not None
        with contextlib.suppress(BlockingIOError):
            self.connection.recv(count)

    def taken(self) -> list[float]:
        """Returns when the kernel took what was injected."""
        return [at - self.start for at in self.device.taken]

    def info(self) -> dict[str, Any]:
        """Returns `tcp_info` once the kernel has taken what was injected."""
        assert self.connection is not None
        for _ in range(40):
            told = info_of(self.connection)
            if told["segs_in"] >= self.injected:
                break
            time.sleep(5e-5)
        return told

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
        self.server.close()
        self.device.close()


class Elephan:
    """An endpoint of the stack `linux`."""

    def __init__(self, controller: str | dict[str, Any], ecn: bool = False) -> None:
        self.endpoint = el.tcp.Endpoint(
            "linux", congestion_control=controller, send_buffer=f"{BUFFER} B", mss="1460 B", ecn="classic" if ecn else "off"
        )
        self.endpoint.listen(0.0)
        self.at = 0.0
        # When it got segments.
        self.times: list[float] = []
        self.late = 0.0
        # Sent, and not yet returned by `wait`.
        self.sent: list[tuple[float, Segment]] = []
        # When a timer rings that is due at a time and was set at another: the kernel's wheel turns in jiffies.
        self.rings: Callable[[float, float], float] = lambda due, _: due
        self.due: float | None = None
        self.set_at = 0.0

    def now(self) -> float:
        return self.at

    def wait(self, until: float) -> list[tuple[float, Segment]]:
        while True:
            self.poll()
            if self.sent:
                sent, self.sent = self.sent, []
                return sent
            due = self.endpoint.next_timer()
            if due != self.due:
                self.due, self.set_at = due, self.at
            due = None if due is None else self.rings(due, self.set_at)
            if due is None or due > until:
                self.at = max(self.at, until)
                return []
            self.at = max(self.at, due)
            self.endpoint.on_timer(self.at)

    def poll(self) -> None:
        """Lets the endpoint send what it may, as the kernel does within each call."""
        self.sent += [(self.at, from_dict(one)) for one in self.endpoint.poll_transmit(self.at)]

    def taken(self) -> list[float]:
        return self.times

    def inject(self, due: float, segment: Segment) -> None:
        self.at = max(self.at, due)
        self.times.append(self.at)
        self.endpoint.on_segment(self.at, to_dict(segment))
        self.poll()

    def established(self) -> None:
        assert self.endpoint.state == "established"

    def write(self, due: float, count: int) -> None:
        self.at = max(self.at, due)
        if self.endpoint.write(self.at, count) != count:
            raise RuntimeError("the send buffer is too small for the case")
        self.poll()

    def read(self, count: int) -> None:
        self.endpoint.read(count)
        self.poll()

    def info(self) -> dict[str, Any]:
        return dict(self.endpoint.info())

    def close(self) -> None:
        pass


def to_dict(segment: Segment) -> dict[str, Any]:
    told: dict[str, Any] = {"seq": segment.seq, "ack": segment.ack, "len": segment.length, "window": segment.window}
    told["flags"] = [name for bit, name in NAMES.items() if segment.flags & bit]
    told["ecn"] = segment.ecn
    told["sack"] = segment.sack
    if segment.stamps is not None:
        told["ts"] = segment.stamps
    if segment.flags & SYN:
        for kind, rest in segment.options:
            if kind == MSS:
                (told["mss"],) = struct.unpack("!H", rest)
            elif kind == SCALE:
                told["wscale"] = rest[0]
            elif kind == SACK_OK:
                told["sack_permitted"] = True
    return told


def from_dict(told: dict[str, Any]) -> Segment:
    flags = sum(FLAGS.get(name, 0) for name in told["flags"].split("|") if name)
    options: list[tuple[int, bytes]] = []
    if told.get("wscale") is not None:
        options.append((SCALE, bytes([told["wscale"]])))
    if told["ts"] is not None:
        options.append((STAMPS, struct.pack("!II", *told["ts"])))
    if told["sack"]:
        options.append((SACK, b"".join(struct.pack("!II", *block) for block in told["sack"])))
    return Segment(flags, told["seq"], told["len"], told["ack"], told["window"], options, told["ecn"])
