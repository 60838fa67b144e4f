"""Conversations of two small TCP ends over a path that loses, delays and duplicates, as captures at the sender or at the receiver.

The ends are as simple as RFC 5681 and 2018 allow: a fixed window, an ACK for every segment with up to three SACK blocks, a D-SACK
block for what came before, three duplicate ACKs or 300 ms of silence before a retransmission, probes of a closed window.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from segments import ACK, CLIENT, FIN, SERVER, SYN, Capture, sack, timestamps

RTO, GAP = 0.3, 0.0001


@dataclass
class Path:
    """What happens to packets: shares that are lost, that come twice, that come late; one way takes `delay`."""

    loss: float = 0.0
    twice: float = 0.0
    late: float = 0.0
    delay: float = 0.01


@dataclass
class Conversation:
    """One connection: `count` segments of `size` bytes from the client."""

    path: Path
    at: int = CLIENT  # where it is captured
    count: int = 200
    size: int = 1000
    first: int = 1001
    window: int = 12  # segments
    stalls: tuple[int, ...] = ()  # segments after which the receiver's application stops reading for 3 s
    with_stamps: bool = True
    with_sack: bool = True
    port: int = 40_000
    seed: int = 1
    begin: float = 1.0
    capture: Capture = field(default_factory=Capture)

    def run(self) -> Conversation:
        """Makes the packets of the connection."""
        self.random = random.Random(self.seed)
        self.events: list[tuple[float, int, Callable[[float], None]]] = []
        self.order = self.idents = 0
        self.free = 0.0  # when the sender's line is
        self.una = self.nxt = self.recover = 0
        self.dup_acks, self.timer, self.sacked = 0, 0, set[int]()
        self.received, self.reached = set[int](), 0  # segments by number
        self.closed_until, self.stalled, self.closed = 0.0, set[int](), False
        self.server_ends = 5001
        self._handshake()
        start = self.begin + 2 * self.path.delay + 0.001
        self._at(start, self._send)
        while self.events:
            time, _, what = heapq.heappop(self.events)
            what(time)
        return self

    def _at(self, time: float, what: Callable[[float], None]) -> None:
        self.order += 1
        heapq.heappush(self.events, (time, self.order, what))

    def _seen(self, time: float, by: int, *what: int, options: bytes = b"", window: int = 65_535) -> None:
        """A packet passes the end `by`; `what`: sequence and acknowledgement number, flags, length."""
        self.idents = self.idents % 65_535 + 1
        seq, ack, flags, length = what
        packet = self.capture.ip(seq, ack, flags, length, by, window, options, self.idents, port=self.port)
        delay = 0.0 if by == self.at else self.path.delay
        self.capture.put(time + delay, packet)

    def _options(self, blocks: list[tuple[int, int]]) -> bytes:
        stamps = timestamps(1, 1) if self.with_stamps else b""
        edges = [(begin % 2**32, end % 2**32) for begin, end in blocks[:3]]
        return stamps + (sack(*edges) if edges and self.with_sack else b"")

    def _handshake(self) -> None:
        self._seen(self.begin, CLIENT, self.first - 1, 0, SYN, 0, options=b"\2\4\x05\xb4" + (b"\4\2" if self.with_sack else b""))
        self._seen(self.begin + self.path.delay, SERVER, 5000, self.first, SYN | ACK, 0, options=b"\4\2" if self.with_sack else b"")
        self._seen(self.begin + 2 * self.path.delay, CLIENT, self.first, 5001, ACK, 0)

    # The sender.

    def _send(self, time: float) -> None:
        while self.nxt < self.count and self.nxt - self.una < self.window and not self.closed:
            self._data(time, self.nxt)
            self.nxt += 1
        self._arm(time)

    def _arm(self, time: float) -> None:
        self.timer += 1
        armed = self.timer
        if self.una < self.nxt or self.closed:
            self._at(time + RTO, lambda now: self._timeout(now) if armed == self.timer else None)

    def _data(self, time: float, number: int, probe: bool = False) -> None:
        seq, length = self.first + number * self.size, 1 if probe else self.size
        time = max(time, self.free)
        self.free = time + GAP
        # At the receiver only what arrives is seen, when it does.
        arrivals = [] if self.random.random() < self.path.loss else [self._arrival(time)]
        if arrivals and self.random.random() < self.path.twice:
            arrivals.append(arrivals[0] + 0.0002)
        if self.at == CLIENT:
            self._seen(time, CLIENT, seq, 5001, ACK, length, options=self._options([]))
        for arrival in arrivals:
            self._at(arrival, lambda now: self._receive(now, number, probe))

    def _arrival(self, time: float) -> float:
        return time + self.path.delay + (0.0015 if self.random.random() < self.path.late else 0.0)

    def _timeout(self, time: float) -> None:
        if self.closed:
            self._data(time, self.una, probe=True)
        elif self.una < self.nxt:
            self.sacked, self.recover, self.dup_acks = set(), self.nxt, 0
            self._data(time, self.una)
        self._arm(time)

    def _acked(self, time: float, number: int, sacked: set[int], window: int) -> None:
        before, self.closed = self.closed, window == 0
        self.sacked |= sacked
        if number > self.una:
            self.una, self.dup_acks = number, 0
            self.sacked = {one for one in self.sacked if one >= number}
            if number < self.recover:
                self._data(time, number)
            self._send(time)
        elif before and not self.closed:
            self._send(time)
        elif self.una < self.nxt and not self.closed:
            self.dup_acks += 1
            if self.dup_acks == 3 and self.una >= self.recover:
                self.recover = self.nxt
                self._data(time, self.una)
                self._arm(time)
        if self.una == self.count and self.nxt == self.count and self.recover != -1:
            self.recover = -1
            self._close(time)

    def _close(self, time: float) -> None:
        end = self.first + self.count * self.size
        self.timer += 1
        self._seen(time + 0.05, CLIENT, end, 5001, FIN | ACK, 0, options=self._options([]))
        self._seen(time + 0.05 + self.path.delay, SERVER, 5001, end + 1, FIN | ACK, 0, options=self._options([]))
        self._seen(time + 0.05 + 2 * self.path.delay, CLIENT, end + 1, 5002, ACK, 0, options=self._options([]))

    # The receiver.

    def _receive(self, time: float, number: int, probe: bool) -> None:
        seq = self.first + number * self.size
        if self.at == SERVER:
            self._seen(time - self.path.delay, CLIENT, seq, 5001, ACK, 1 if probe else self.size, options=self._options([]))
        if probe:
            self._acknowledge(time, [])
            return
        had = number in self.received
        self.received.add(number)
        while self.reached in self.received:
            self.reached += 1
        if self.reached in self.stalls and self.reached not in self.stalled:
            self.stalled.add(self.reached)
            self.closed_until = time + 3.0
            self._at(self.closed_until, lambda now: self._acknowledge(now, []))
        self._acknowledge(time, self._blocks(number, had))

    def _blocks(self, newest: int, had: bool) -> list[tuple[int, int]]:
        """D-SACK first, then the block of the newest segment, then the others."""
        above = sorted(one for one in self.received if one >= self.reached)
        runs: list[list[int]] = []
        for one in above:
            if runs and runs[-1][1] == one:
                runs[-1][1] = one + 1
            else:
                runs.append([one, one + 1])
        runs.sort(key=lambda run: not run[0] <= newest < run[1])
        blocks = ([[newest, newest + 1]] if had else []) + runs
        return [(self.first + a * self.size, self.first + b * self.size) for a, b in blocks]

    def _acknowledge(self, time: float, blocks: list[tuple[int, int]]) -> None:
        window = 0 if time < self.closed_until else 65_535
        reached = self.reached
        ack = self.first + reached * self.size
        self._seen(time, SERVER, 5001, ack, ACK, 0, options=self._options(blocks), window=window)
        known = {one for one in self.received if one >= reached}
        self._at(time + self.path.delay, lambda now: self._acked(now, reached, known, window))


def captured(*conversations: Conversation) -> Capture:
    """The packets of some conversations in the order of their times, as one capture."""
    for one in conversations:
        one.run()
    frames = sorted((frame for one in conversations for frame in one.capture.frames), key=lambda frame: frame[0])
    return Capture(frames=frames, snap=conversations[0].capture.snap)
