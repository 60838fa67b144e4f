"""What both get: a random peer and its path for a sender, random segments for a receiver. All times are seconds."""

from __future__ import annotations

import random
from dataclasses import dataclass

MSS = 1000
# Payload beside time stamps.
STAMPED = MSS - 12
SCALE = 7
CONTROLLERS = ("reno", "cubic", "bbr")


@dataclass(frozen=True)
class Sending:
    """A sender's surroundings. Segments count from 0 in the order of their bytes, transmissions and ACKs from 1."""

    controller: str = "reno"
    rtt_s: float = 0.1
    sack: bool = True
    timestamps: bool = False
    ecn: bool = False
    # The peer's receive window, bytes.
    window: int = 1 << 20
    # The peer acknowledges so many segments at once, or one after 40 ms.
    every: int = 1
    # When the application writes, and how many bytes.
    writes: tuple[tuple[float, int], ...] = ((0.0, 20 * MSS),)
    lost: tuple[tuple[int, int], ...] = ()
    # First transmissions that come so much later.
    late: tuple[tuple[int, float], ...] = ()
    ack_lost: tuple[int, ...] = ()
    marked: tuple[int, ...] = ()
    # Bytes a second of the path; 0 for a path that takes all at once.
    rate: float = 0.0

    @property
    def payload(self) -> int:
        return STAMPED if self.timestamps else MSS

    @property
    def total(self) -> int:
        return sum(size for _, size in self.writes)


@dataclass(frozen=True)
class Receiving:
    """A receiver's surroundings: which segments come when, and when its application reads how much (all at once if never)."""

    rtt_s: float = 0.05
    sack: bool = True
    timestamps: bool = False
    arrivals: tuple[tuple[float, int], ...] = ((0.0, 0),)
    reads: tuple[tuple[float, int], ...] = ()

    @property
    def payload(self) -> int:
        return STAMPED if self.timestamps else MSS


def sending(seed: int, controller: str | None = None) -> Sending:
    """Returns the random sender of a seed."""
    draw = random.Random(seed)
    controller = controller or draw.choice(CONTROLLERS)
    timestamps, ecn = draw.random() < 0.5, draw.random() < 0.2
    payload = STAMPED if timestamps else MSS
    rtt_s = draw.choice((0.03, 0.06, 0.1, 0.15))
    count = draw.randint(10, 90)
    writes = [(0.0, count * payload)]
    if draw.random() < 0.35:
        parts = draw.randint(2, 6)
        gap = draw.choice((0.3, 1.0, 3.0)) * rtt_s
        writes = [(n * gap, draw.randint(1, 20) * payload + draw.choice((0, 0, 300))) for n in range(parts)]
    segments = -(-sum(size for _, size in writes) // payload)
    lost = {(draw.randrange(segments), 1) for _ in range(draw.choice((0, 1, 1, 2, 3, 6)))}
    if draw.random() < 0.3:
        first = draw.randrange(segments)
        lost |= {(n, 1) for n in range(first, min(segments, first + draw.randint(2, 8)))}
    lost |= {(segment, 2) for segment, _ in sorted(lost) if draw.random() < 0.15}
    late = {draw.randrange(segments): draw.choice((0.2, 0.5, 1.0)) * rtt_s for _ in range(draw.choice((0, 0, 0, 1, 2)))}
    acks = {draw.randint(1, segments) for _ in range(draw.choice((0, 0, 1, 4)))}
    marked = {draw.randrange(segments) for _ in range(draw.randint(1, 3))} if ecn else set()
    return Sending(
        controller,
        rtt_s,
        draw.random() < 0.8,
        timestamps,
        ecn,
        draw.choice((1 << 20, 1 << 20, 1 << 20, 40_000, 12_000)) >> SCALE << SCALE,
        draw.choice((1, 2)),
        tuple(writes),
        tuple(sorted(lost)),
        tuple(sorted(late.items())),
        tuple(sorted(acks)),
        tuple(sorted(marked)),
        draw.choice((0.0, 0.0, 400_000.0)),
    )


def receiving(seed: int) -> Receiving:
    """Returns the random receiver of a seed: bursts of segments, some lost and sent again, some twice, some out of order."""
    draw = random.Random(seed)
    rtt_s = draw.choice((0.03, 0.1))
    timestamps = draw.random() < 0.5
    arrivals: list[tuple[float, int]] = []
    now, following = 0.0, 0
    for _ in range(draw.randint(3, 10)):
        burst = draw.randint(1, 12)
        gap = draw.choice((0.0, 0.001, 0.01))
        for n in range(burst):
            at, fate = now + n * gap, draw.random()
            if fate < 0.08:
                at += draw.choice((0.5, 1.0)) * rtt_s
            arrivals.append((at, following))
            if fate > 0.95:
                arrivals.append((at + draw.choice((0.002, 1.0 * rtt_s)), following))
            following += 1
        now += max(burst * gap, rtt_s * draw.choice((1.0, 1.0, 3.0)))
    reads: tuple[tuple[float, int], ...] = ()
    if draw.random() < 0.3:
        reads = tuple((draw.uniform(0, now), draw.randint(1, 20) * MSS) for _ in range(draw.randint(1, 4)))
    ordered = tuple((round(at, 6), segment) for at, segment in sorted(arrivals, key=lambda one: one[0]))
    return Receiving(rtt_s, draw.random() < 0.85, timestamps, ordered, tuple(sorted((round(at, 6), size) for at, size in reads)))
