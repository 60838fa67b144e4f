"""A packetdrill script played to this machine's kernel: does the kernel do what the script says?"""

from __future__ import annotations

import errno
import math
import re
import shlex
import shutil
import struct
import subprocess
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from kernel.referee.calls import Sockets, Wrong
from kernel.referee.diag import info_by_port
from kernel.referee.script import SACK, STAMPS, Call, Event, NotInLanguage, Packet, read
from kernel.referee.wire import ACK, PORT, PSH, SYN, WORD, Device, Segment, info_of, sysctl

TOLERANCE_S, TOLERANCE_SHARE = 0.004, 0.01
# What the referee itself may be late with; a script that differs after more is played again.
LATE_S = 0.002
TRIES = 4
# The kernel's jiffy (CONFIG_HZ 250), and how far apart timers are that run longer (kernel/time/timer.c: levels of 64 slots).
JIFFY_S = 0.004
# Where a shell sends what a command says.
REDIRECTED = re.compile(r"\s*\d?>\s*(?:/dev/null|&\d)")
STATES = ("ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT", "CLOSE", "CLOSE_WAIT", "LAST_ACK", "LISTEN")
CONSTANTS = {
    **{f"TCP_{name}": number for number, name in enumerate((*STATES, "CLOSING"), 1)},
    **{f"TCP_CA_{name}": number for number, name in enumerate(("Open", "Disorder", "CWR", "Recovery", "Loss"))},
    **{f"TCPI_OPT_{name}": 1 << bit for bit, name in enumerate(("TIMESTAMPS", "SACK", "WSCALE", "ECN", "ECN_SEEN", "SYN_DATA"))},
}


def timer_grain(seconds: float) -> float:
    """Returns by how much a timer of the kernel may ring late that was set for so long."""
    grain = JIFFY_S
    while seconds >= 63 * grain:
        grain *= 8
    return grain + JIFFY_S


@dataclass
class Verdict:
    """What came of a script: `agrees`, `differs`, `late` (the machine was too busy) or `cannot run`."""

    verdict: str
    line: int = 0
    expected: str = ""
    got: str = ""
    late_s: float = 0.0
    offload: bool = False

    def __str__(self) -> str:
        if self.verdict == "agrees":
            return "kernel agrees" + (" (with segmentation offload)" if self.offload else "")
        if self.verdict == "differs":
            return f"kernel differs: line {self.line}: the script says {self.expected}; the kernel: {self.got}"
        return f"{self.verdict}: {self.got}"


class Near(int):
    """A time in microseconds by the kernel's clock, which equals a script's if it is as near as a jiffy and 1 %."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int | float) and abs(int(self) - other) <= 1e6 * JIFFY_S + TOLERANCE_SHARE * abs(other)

    __hash__ = int.__hash__


# Fields of `tcp_info` that are measured times in microseconds, and the rate that follows from one.
CLOCKED = ("rto", "ato", "rtt", "rttvar", "rcv_rtt", "min_rtt", "busy_time", "rwnd_limited", "sndbuf_limited", "delivery_rate")


class Differs(Exception):
    def __init__(self, expected: str, got: str) -> None:
        super().__init__(got)
        self.expected, self.got = expected, got


@dataclass
class Connection:
    """Where the numbers of a connection begin: in the script, and on the wire."""

    ports: tuple[int, int]
    own: int = 0
    own_script: int = 0
    peer: int = 0
    stamps: dict[int, int] = field(default_factory=dict)
    # SYNs have come both ways.
    opened: bool = False


@dataclass
class Blocked:
    """A call that runs in its own thread."""

    event: Event
    thread: threading.Thread
    result: list[tuple[int, str | None] | Exception]
    ended: list[float]
    window: tuple[float, float]


def play(path: Path) -> Verdict:
    """Returns the kernel's verdict on a script: without segmentation offload and, where that differs, with it.

    Scripts about send buffers were written for hosts that segment late, where a packet of several segments is charged once.
    """
    text = path.read_text()
    alone = played(text, path.parent)
    if alone.verdict != "differs":
        return alone
    several = played(text, path.parent, offload=True)
    several.offload = True
    return several if several.verdict == "agrees" else alone


def played(text: str, folder: Path, offload: bool = False) -> Verdict:
    """Returns the kernel's verdict; repeats what the machine may have spoilt."""
    try:
        script = read(text)
    except NotInLanguage as error:
        return Verdict("cannot run", got=str(error))
    verdict = Verdict("cannot run", got="never played")
    for _ in range(TRIES):
        player = Player(folder, script.settings, offload)
        try:
            verdict = player.run(script.commands, script.events)
        finally:
            player.end()
        if verdict.verdict != "differs" or verdict.late_s < LATE_S:
            return verdict
    return Verdict("late", got=f"the referee was {1e3 * verdict.late_s:.1f} ms late in each of {TRIES} plays")


def calculated(line: str) -> str:
    """Returns a line of a shell with products of numbers in `$((...))` worked out."""
    return re.sub(r"\$\(\(([\d*\s]+)\)\)", lambda found: str(math.prod(int(part) for part in found[1].split("*"))), line)


class Player:
    def __init__(self, folder: Path, settings: dict[str, str], offload: bool = False) -> None:
        self.folder, self.settings = folder, settings
        self.device = Device(int(settings.get("mtu", 1500)), offload)
        self.sockets = Sockets()
        self.seen: deque[tuple[float, Segment]] = deque()
        self.connection = Connection((PORT, PORT))
        self.by_ports: dict[tuple[int, int], Connection] = {}
        self.blocked: Blocked | None = None
        self.start = self.last = 0.0
        self.late = 0.0
        self.tolerance = float(settings.get("tolerance_usecs", 1e6 * TOLERANCE_S)) / 1e6

    def end(self) -> None:
        self.sockets.close()
        self.device.close()

    def run(self, commands: list[str], events: list[Event]) -> Verdict:
        event = events[0]
        try:
            if self.settings.get("ip_version", "ipv4") != "ipv4":
                raise NotInLanguage("IPv6")
            for command in commands:
                self.command(command)
            self.start = self.last = time.time()
            for event in events:
                self.step(event)
            self.finish_blocked()
        except NotInLanguage as error:
            return Verdict("cannot run", event.line, got=str(error))
        except (Differs, Wrong) as error:
            return Verdict("differs", event.line, error.expected, error.got, self.late)
        return Verdict("agrees", late_s=self.late)

    def command(self, text: str) -> None:
        for line in text.replace("\\\n", " ").splitlines():
            words = shlex.split(calculated(REDIRECTED.sub("", line)), comments=True)
            if not words:
                continue
            if words[0].endswith(".sh") and (self.folder / words[0]).is_file():
                self.command((self.folder / words[0]).read_text())
            elif words[0] == "sysctl":
                self.sysctls([word for word in words[1:] if word != "-q"], quiet="-q" in words)
            elif words[0].endswith("set_sysctls.py"):
                self.sysctls(words[1:])
            elif words[0].startswith("/tmp/sysctl_restore_"):
                # Settings end with the namespace.
                continue
            elif words[:2] == ["tc", "qdisc"] and words[-2:] == ["root", "pfifo"]:
                # What the device has is one.
                continue
            elif (words[:2] == ["tc", "qdisc"] and "fq" in words and shutil.which("tc")) or words[:2] == ["ip", "tcp_metrics"]:
                subprocess.run(words, check=False, capture_output=True)
            else:
                raise NotInLanguage(f"the command {' '.join(words)!r}")

    def sysctls(self, words: list[str], quiet: bool = False) -> None:
        """Sets sysctls; `quiet` ones only where this kernel has them."""
        for word in (word for word in words if not word.startswith("-")):
            name, _, value = word.partition("=")
            name = name.removeprefix("/proc/sys/").replace("/", ".")
            if not name.startswith("net.ipv4.tcp_"):
                raise NotInLanguage(f"the sysctl {name}")
            if name == "net.ipv4.tcp_congestion_control":
                # A namespace may only choose what every user may; root chooses by socket.
                self.sockets.controller = value
                continue
            try:
                sysctl(name, value)
            except OSError as error:
                if quiet and error.errno == errno.ENOENT:
                    continue
                raise NotInLanguage(f"sysctl {word}: {error.strerror}") from None

    def step(self, event: Event) -> None:
        base = self.last if event.relative else self.start
        if event.kind == "packet" and isinstance(event.what, Packet) and not event.what.inbound:
            self.expect(event, event.what, base)
            return
        if event.at is not None:
            self.sleep(base + event.at)
            self.late = max(self.late, time.time() - (base + event.at))
        now = self.last = time.time()
        if isinstance(event.what, Packet):
            self.send(event.what)
        elif isinstance(event.what, Call):
            self.call(event, event.what, base, now)
        elif event.kind == "command":
            self.command(event.what)
        else:
            self.code(event.what)

    def sleep(self, until: float) -> None:
        while time.time() < until:
            self.seen.extend(self.device.wait(until))
        self.seen.extend(self.device.read())

    # Packets to the kernel.

    def send(self, packet: Packet) -> None:
        syn = packet.flags & SYN != 0
        stays = self.connection.opened and not self.sockets.listens()
        if syn and not packet.flags & ACK and not stays and (self.connection.opened or self.connection.ports == (PORT, PORT)):
            self.open(Connection((49152, PORT)))
        mine = self.connection
        if syn and not stays:
            mine.peer = packet.seq
            mine.opened |= mine.own != 0
        seq = packet.seq if syn else packet.seq + mine.peer
        ack = 0 if packet.ack is None else packet.ack + mine.own - (mine.own_script if syn else 0)
        if packet.options is None:
            raise NotInLanguage("arriving packets with any options")
        options = [(kind, self.arriving(kind, rest, packet.flags, syn)) for kind, rest in packet.options]
        window = packet.window or 0
        self.device.send(Segment(packet.flags, seq, packet.length, ack, window, options, packet.ecn or 0, mine.ports))

    def open(self, connection: Connection) -> None:
        self.connection = self.by_ports[connection.ports] = connection

    def arriving(self, kind: int, rest: bytes, flags: int, syn: bool) -> bytes:
        mine = self.connection
        if kind == STAMPS and flags & ACK:
            value, echo = struct.unpack("!II", rest)
            if echo not in mine.stamps and mine.stamps:
                first = min(mine.stamps)
                echo = mine.stamps[first] + echo - first
            return struct.pack("!II", value, mine.stamps.get(echo, echo) & WORD)
        if kind == SACK:
            shift = mine.own - (mine.own_script if syn else 0)
            edges = [(edge[0] + shift) & WORD for edge in struct.iter_unpack("!I", rest)]
            return struct.pack(f"!{len(edges)}I", *edges)
        return rest

    # Packets from the kernel.

    def expect(self, event: Event, packet: Packet, base: float) -> None:
        low = base + event.at if event.at is not None else None
        high = base + (event.to if event.to is not None else event.at) if event.at is not None else time.time() + 10
        waited = high - (base if event.relative else self.last)
        tolerance = max(self.tolerance, TOLERANCE_SHARE * max(0.0, waited))
        latest = high + tolerance + timer_grain(max(0.0, waited))
        if not self.seen:
            self.seen.extend(self.device.wait(latest + 0.01))
        if not self.seen:
            raise Differs(event.text, "nothing was sent")
        at, segment = self.seen.popleft()
        segment = self.joined(packet, segment, latest)
        self.learn(packet, segment)
        self.compare(event, packet, segment)
        self.last = at
        if low is not None and not low - tolerance <= at <= latest:
            raise Differs(event.text, f"it was sent {1e3 * (at - low):+.1f} ms from that time")

    def joined(self, packet: Packet, segment: Segment, latest: float) -> Segment:
        """Returns several segments in order as the one that the script says."""
        while 0 < segment.length < packet.length and "strict_segments" not in self.settings:
            if not self.seen:
                self.seen.extend(self.device.wait(latest))
            if not self.seen or (self.seen[0][1].seq - segment.seq) & WORD != segment.length:
                break
            _, more = self.seen.popleft()
            segment.length += more.length
            segment.flags |= more.flags
        return segment

    def learn(self, packet: Packet, segment: Segment) -> None:
        there = (segment.ports[1], segment.ports[0])
        known = self.by_ports.get(there)
        if known is None:
            known = Connection(there)
            self.open(known)
        if segment.flags & SYN:
            known.own, known.own_script = segment.seq, packet.seq
            known.opened |= segment.flags & ACK != 0
        if segment.stamps is not None and packet.options is not None:
            for kind, rest in packet.options:
                if kind == STAMPS:
                    known.stamps[struct.unpack("!II", rest)[0]] = segment.stamps[0]

    def compare(self, event: Event, packet: Packet, segment: Segment) -> None:
        mine = self.by_ports[segment.ports[1], segment.ports[0]]
        syn = segment.flags & SYN != 0
        seq = (segment.seq - mine.own) & WORD
        seq = packet.seq if syn else seq
        ack = (segment.ack - mine.peer) & WORD if segment.flags & ACK else None
        ack = segment.ack if syn and ack is not None else ack
        told = self.told(segment, seq, ack)
        # Where a segment ends follows from the device; PSH is left free if a packet of the script is cut.
        mask = ~PSH if packet.length else ~0
        expected_flags, flags = packet.flags & mask, segment.flags & mask
        want = (expected_flags, packet.seq, packet.length, packet.ack)
        if want != (flags, seq, segment.length, ack):
            raise Differs(event.text, told)
        if packet.window is not None and packet.window != segment.window:
            raise Differs(event.text, told)
        if packet.ecn is not None and packet.ecn != segment.ecn:
            raise Differs(event.text, f"{told} with the codepoint {segment.ecn}")
        if packet.options is not None and self.plain(packet.options) != self.plain(self.relative(segment, mine)):
            raise Differs(event.text, told)

    def relative(self, segment: Segment, mine: Connection) -> list[tuple[int, bytes]]:
        """Returns the options of a segment in the numbers of the script."""
        options = []
        for kind, rest in segment.options:
            if kind == SACK:
                edges = [(edge[0] - mine.peer) & WORD for edge in struct.iter_unpack("!I", rest)]
                rest = struct.pack(f"!{len(edges)}I", *edges)
            options.append((kind, rest))
        return options

    def plain(self, options: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        """Returns options without padding; of timestamps the echo alone, as in elephan's runner without a tick."""
        return [(kind, rest[4:] if kind == STAMPS else rest) for kind, rest in options if kind > 1]

    def told(self, segment: Segment, seq: int, ack: int | None) -> str:
        letters = {SYN: "S", 1: "F", 4: "R", PSH: "P", 64: "E", 128: "W", 256: "A", ACK: "."}
        flags = "".join(letter for bit, letter in letters.items() if segment.flags & bit)
        mine = self.by_ports[segment.ports[1], segment.ports[0]]
        options = [f"{kind} {rest.hex()}".strip() for kind, rest in self.relative(segment, mine) if kind > 1]
        said = f"> {flags} {seq}:{seq + segment.length}({segment.length})" + ("" if ack is None else f" ack {ack}")
        return f"{said} win {segment.window} <{', '.join(options)}>"

    # Calls and code.

    def call(self, event: Event, call: Call, base: float, now: float) -> None:
        self.finish_blocked()
        result: list[tuple[int, str | None] | Exception] = []
        ended: list[float] = []

        def body() -> None:
            try:
                result.append(self.sockets.run(call))
            except (Wrong, NotInLanguage) as error:
                result.append(error)
            ended.append(time.time())

        thread = threading.Thread(target=body, daemon=True)
        thread.start()
        end = event.end if event.end is not None else (event.at or 0.0)
        window = (base + end - self.tolerance, base + end + max(self.tolerance, TOLERANCE_SHARE * end))
        self.blocked = Blocked(event, thread, result, ended, window)
        if event.end is None:
            self.finish_blocked()
            self.last = now

    def finish_blocked(self) -> None:
        """Waits for the call that runs, and compares its result."""
        blocked, self.blocked = self.blocked, None
        if blocked is None:
            return
        call = blocked.event.what
        assert isinstance(call, Call)
        blocked.thread.join(max(0.05, blocked.window[1] + timer_grain(1.0) - time.time()))
        if not blocked.result:
            raise Differs(blocked.event.text, "the call still waits")
        if isinstance(blocked.result[0], Exception):
            raise blocked.result[0]
        value, error = blocked.result[0]
        if (value, error) != (call.result, call.error):
            raise Differs(blocked.event.text, f"{value} {error or ''}".strip())
        if blocked.event.end is not None and not blocked.window[0] <= blocked.ended[0] <= blocked.window[1] + timer_grain(1.0):
            raise Differs(blocked.event.text, f"the call ended {1e3 * (blocked.ended[0] - blocked.window[1]):+.1f} ms from that")

    def code(self, text: str) -> None:
        latest = self.sockets.latest
        if latest is None and not self.by_ports:
            # No packet has come: the newest socket, a listener or a closed one.
            latest = next(reversed(self.sockets.known.values()), None)
        names: dict[str, object] = dict(CONSTANTS)
        if "tcpi_" in text:
            if latest is None:
                raise NotInLanguage("tcp_info without a connection")
            there, own = self.connection.ports
            told = info_of(latest) if latest.fileno() >= 0 else info_by_port(own, there)
            for name, value in told.items():
                names[f"tcpi_{name}"] = Near(value) if name in CLOCKED else value
        try:
            exec(text, {"min": min, "max": max, "abs": abs, "int": int, "round": round}, names)
        except AssertionError as error:
            raise Differs(re.sub(r"\s+", " ", text), f"assertion failed: {error}") from None
        except NameError as error:
            raise NotInLanguage(str(error)) from None
