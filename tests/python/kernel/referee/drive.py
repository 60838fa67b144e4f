"""The link program: a scripted peer and its path around one stack, the same for the kernel and for elephan."""

from __future__ import annotations

import heapq
import math
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from kernel.referee.play import timer_grain
from kernel.referee.script import MSS as MSS_OPTION
from kernel.referee.script import SACK, SACK_OK, STAMPS
from kernel.referee.script import SCALE as SCALE_OPTION
from kernel.referee.stacks import Elephan, Kernel
from kernel.referee.stimulus import MSS, SCALE, Receiving, Sending
from kernel.referee.wire import ACK, CWR, ECE, SYN, Segment

DELAYED_S = 0.04
LONGEST_S = 8.0
# RACK passes over a retransmission whose round trip is below the shortest one. A real clock would decide where both are equal.
AGAIN_S = 0.001
CE = 3
# Where elephan sends a segment within this time of the kernel, the answer comes at the very moment at which the kernel got it.
SAME_S = 0.005
# BBR's pacing, which has a clock of its own, spaces segments by less than that.
PACED_S = 0.01
Stack = Kernel | Elephan


@dataclass
class Record:
    """What a stack did: segments with their times, and `tcp_info` after each segment that it got."""

    sent: list[tuple[float, Segment]] = field(default_factory=list)
    given: list[tuple[float, Segment]] = field(default_factory=list)
    infos: list[dict[str, Any]] = field(default_factory=list)
    # When the case begins, after the handshake.
    begin_s: float = 0.0
    # The time stamp of the SYN-ACK.
    stamp: int = 0
    # When the application really wrote, or was to read, from then on.
    calls: list[float] = field(default_factory=list)
    # When each transmission of each segment left, and when the peer really got it, from then on.
    arrived: dict[tuple[int, int], tuple[float, float]] = field(default_factory=dict)
    # When it really took the segments and read, from then on.
    taken: list[float] = field(default_factory=list)
    read_at: list[float] = field(default_factory=list)
    # The worst lateness of the referee itself.
    late_s: float = 0.0

    def left(self, payload: int) -> Iterator[tuple[tuple[int, int], float]]:
        """Yields each transmission of each segment, and when it left, from the beginning of the case."""
        times: Counter[int] = Counter()
        for at, segment in self.sent:
            index = (segment.seq - 1) // payload
            times[index] += 1
            yield (index, times[index]), at - self.begin_s


class Clock:
    """Things that are to happen, in the order of their times."""

    def __init__(self) -> None:
        self.heap: list[tuple[float, int, Callable[[float], None]]] = []
        self.count = 0

    def at(self, due: float, action: Callable[[float], None]) -> None:
        self.count += 1
        heapq.heappush(self.heap, (due, self.count, action))


def opened(stack: Stack, rtt_s: float, options: list[tuple[int, bytes]], ecn: bool, window: int, record: Record) -> int:
    """Opens the connection at a round trip; returns the stack's time stamp."""
    stack.inject(0.0, Segment(SYN | (ECE | CWR if ecn else 0), 0, window=65535, options=options))
    answers: list[tuple[float, Segment]] = []
    while not answers:
        answers = stack.wait(0.5)
        if not answers and stack.now() >= 0.5:
            raise RuntimeError("no SYN-ACK")
    record.sent += answers
    at, answer = answers[0]
    while stack.now() < at + rtt_s:
        stack.wait(at + rtt_s)
    stamps = answer.stamps
    own = [] if stamps is None else [(STAMPS, struct.pack("!II", _tick(at + rtt_s), stamps[0]))]
    stack.inject(at + rtt_s, Segment(ACK, 1, ack=1, window=window >> SCALE, options=own))
    stack.wait(at + rtt_s + 0.001)
    stack.established()
    return 0 if stamps is None else stamps[0]


def _tick(now: float) -> int:
    return 1000 + int(1000 * now)


def options_of(sack: bool, timestamps: bool) -> list[tuple[int, bytes]]:
    options = [(MSS_OPTION, struct.pack("!H", MSS)), (SCALE_OPTION, bytes([SCALE]))]
    options += [(SACK_OK, b"")] if sack else []
    return options + ([(STAMPS, struct.pack("!II", _tick(0), 0))] if timestamps else [])


class Peer:
    """A receiver of RFC 9293, 2018, 2883 and 7323 with a window that stays."""

    def __init__(self, case: Sending, clock: Clock, answer: Callable[[float, Segment], None]) -> None:
        self.case, self.clock, self.answer = case, clock, answer
        self.next = 1
        # What came beyond a hole, newest first.
        self.blocks: list[tuple[int, int]] = []
        self.waiting, self.delay = 0, 0
        self.recent, self.acknowledged = 0, 1
        self.echo = False

    def arrive(self, now: float, segment: Segment) -> None:
        start, end = segment.seq, segment.seq + segment.length
        stamps = segment.stamps
        if stamps is not None and start <= self.acknowledged:
            self.recent = stamps[0]
        if segment.flags & CWR:
            self.echo = False
        if segment.ecn == CE:
            self.echo = True
        twice = None
        at_once = bool(self.blocks) or segment.ecn == CE
        if end <= self.next:
            twice, at_once = (start, end), True
        elif start > self.next:
            at_once = True
            known = next((block for block in self.blocks if block[0] <= start and end <= block[1]), None)
            twice = (start, end) if known else None
            self.take(start, end)
        else:
            self.next = end
            for left, right in sorted(self.blocks):
                if left <= self.next:
                    self.next = max(self.next, right)
            self.blocks = [block for block in self.blocks if block[0] > self.next]
        self.waiting += 1
        if at_once or self.waiting >= self.case.every:
            self.acknowledge(now, twice)
        elif self.waiting == 1:
            turn = self.delay
            self.clock.at(now + DELAYED_S, lambda due: self.acknowledge(due, None) if turn == self.delay else None)

    def take(self, start: int, end: int) -> None:
        touching = [block for block in self.blocks if block[0] <= end and start <= block[1]]
        for block in touching:
            start, end = min(start, block[0]), max(end, block[1])
        self.blocks = [(start, end), *(block for block in self.blocks if block not in touching)]

    def acknowledge(self, now: float, twice: tuple[int, int] | None) -> None:
        self.waiting, self.delay = 0, self.delay + 1
        self.acknowledged = self.next
        options: list[tuple[int, bytes]] = []
        if self.case.timestamps:
            options.append((STAMPS, struct.pack("!II", _tick(now), self.recent)))
        blocks = ([twice] if twice else []) + self.blocks
        if self.case.sack and blocks:
            blocks = blocks[: 3 if self.case.timestamps else 4]
            options.append((SACK, b"".join(struct.pack("!II", *block) for block in blocks)))
        flags = ACK | (ECE if self.echo else 0)
        self.answer(now, Segment(flags, 1, ack=self.next, window=self.case.window >> SCALE, options=options))


def sent_by(stack: Stack, case: Sending, heard: Record | None = None) -> Record:
    """Returns what the sender does among its peer and path.

    `heard` is what another stack did. Where that one sent the same segment, it tells how long the path really took:
    its clock is real, and the order of segments that arrive at nearly the same time is its own.
    """
    record, clock = Record(), Clock()
    sent_times: Counter[int] = Counter()
    lost, marked, ack_lost, late = set(case.lost), set(case.marked), set(case.ack_lost), dict(case.late)
    free, acks, done = 0.0, 0, 0
    record.stamp = opened(stack, case.rtt_s, options_of(case.sack, case.timestamps), case.ecn, case.window, record)

    def answer(now: float, segment: Segment) -> None:
        nonlocal acks, done
        acks += 1
        if acks in ack_lost:
            return
        record.given.append((stack.now(), segment))
        stack.inject(now, segment)
        record.infos.append(stack.info())
        done = segment.ack - 1

    peer = Peer(case, clock, answer)
    record.sent.clear()

    def leave(at: float, segment: Segment) -> None:
        nonlocal free
        if segment.length == 0:
            return
        record.sent.append((at, segment))
        index = (segment.seq - 1) // case.payload
        sent_times[index] += 1
        turn = (index, sent_times[index])
        if turn in lost:
            return
        free = max(free, at) + (segment.length / case.rate if case.rate else 0.0)
        extra = late.get(index, 0.0) if sent_times[index] == 1 else AGAIN_S
        if index in marked and sent_times[index] == 1 and segment.ecn in (1, 2):
            segment.ecn = CE
        clock.at(arrival(at, turn, free + case.rtt_s + extra), lambda due: arrive(due, at, turn, segment))

    def arrival(at: float, turn: tuple[int, int], due: float) -> float:
        if heard is None or turn not in heard.arrived:
            return due
        left, got = heard.arrived[turn]
        return begin + got if abs(at - begin - left) <= SAME_S else at + got - left

    def arrive(due: float, at: float, turn: tuple[int, int], segment: Segment) -> None:
        record.arrived[turn] = (at - begin, stack.now() - begin)
        peer.arrive(due, segment)

    def rings(due: float, since: float) -> float:
        """Returns when a timer rings that was set at `since`.

        That is when the other stack sent what is to be sent next, if its clock may have been so late.
        """
        assert heard is not None
        late_s = SAME_S if due - since < PACED_S else timer_grain(due - since)
        expected = (
            left for turn, left in heard.left(case.payload) if sent_times[turn[0]] < turn[1] and begin + left > due - SAME_S
        )
        left = begin + next(expected, math.inf)
        return left if due <= left <= due + late_s else due

    def write(due: float, size: int) -> None:
        record.calls.append(stack.now() - begin)
        stack.write(due, size)

    begin = record.begin_s = stack.now() + 0.02
    if heard is not None and isinstance(stack, Elephan):
        stack.rings = rings
    for n, (at, size) in enumerate(case.writes):
        really = heard.calls[n] if heard is not None and n < len(heard.calls) else at
        clock.at(begin + really, partial(write, size=size))
    while done < case.total and stack.now() < LONGEST_S:
        due = clock.heap[0][0] if clock.heap else LONGEST_S
        for at, segment in stack.wait(due):
            leave(at, segment)
        while clock.heap and clock.heap[0][0] <= stack.now():
            due, _, action = heapq.heappop(clock.heap)
            action(due)
            if isinstance(stack, Elephan):
                break
    # What the last segment made it send.
    for at, segment in stack.wait(stack.now()):
        leave(at, segment)
    record.late_s = stack.late
    return record


def received_by(stack: Stack, case: Receiving) -> Record:
    """Returns what the receiver answers to segments that come at given times."""
    record, clock = Record(), Clock()
    echo = opened(stack, case.rtt_s, options_of(case.sack, case.timestamps), False, 1 << 20, record)
    record.sent.clear()
    begin = record.begin_s = stack.now() + 0.02
    record.calls = [at for at, _ in case.reads]
    latest = begin + max(at for at, _ in case.arrivals) + 0.3

    def arrive(due: float, index: int) -> None:
        options = [(STAMPS, struct.pack("!II", _tick(due), echo))] if case.timestamps else []
        seq = 1 + index * case.payload
        segment = Segment(ACK, seq, case.payload, 1, (1 << 20) >> SCALE, options)
        stack.inject(due, segment)
        record.given.append((due, segment))
        if not case.reads:
            stack.info()
            stack.read(1 << 20)
        record.infos.append(stack.info())

    def read(size: int) -> None:
        record.read_at.append(stack.now() - begin)
        stack.read(size)

    for at, index in case.arrivals:
        clock.at(begin + at, lambda due, index=index: arrive(due, index))  # type: ignore[misc]
    for at, size in case.reads:
        clock.at(begin + at, lambda _, size=size: read(size))  # type: ignore[misc]
    while clock.heap or stack.now() < latest:
        due = clock.heap[0][0] if clock.heap else latest
        record.sent += stack.wait(due)
        while clock.heap and clock.heap[0][0] <= stack.now():
            due, _, action = heapq.heappop(clock.heap)
            action(due)
            if isinstance(stack, Elephan):
                break
    record.taken = [at - begin for at in stack.taken()[-len(case.arrivals) :]]
    record.late_s = stack.late
    return record
