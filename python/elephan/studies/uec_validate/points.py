"""Points of the experiments: who sends to whom, and how packets are spread."""

from __future__ import annotations

from typing import Any

from elephan.experiment.study import Point

PERMUTATION = {"traffic.data.from": "host", "traffic.data.to": "host", "traffic.data.pairing": "permutation"}
# Queues of 500 packets of 4150 B, and the timeout that follows: 15 us and six of them.
LARGE_QUEUES = {"template.queue.limit": "2075000 B", "traffic.data.uec.timeout": "1011 us"}


def small() -> list[Point]:
    """Returns what 16 hosts do."""
    ends = ["host[0]", "host[13]"]
    return [
        Point("one flow", {}),
        Point("both ways", {"traffic.data.from": ends, "traffic.data.to": ends[::-1]}),
        Point("15 to 1", {"traffic.data.from": "host[0-14]", "traffic.data.to": "host[15]"}),
        Point("permutation", PERMUTATION | {"traffic.data.uec.entropies": 128}),
        Point("permutation, one path", PERMUTATION | {"traffic.data.uec.entropies": 1}),
    ]


def incasts() -> list[Point]:
    """Returns incasts of more hosts; in `outcast` two of three senders to a host send to nine others each."""
    out: list[tuple[int, int]] = [(1, 0), (2, 0), *((2, n) for n in range(4, 13)), (3, 0), *((3, n) for n in range(13, 22))]
    return [
        Point("127 to 1", {"template.k": 8, "traffic.data.from": ["host[0-32]", "host[34-127]"], "traffic.data.to": "host[33]"}),
        Point(
            "outcast",
            {
                "template.k": 8,
                "traffic.data.from": [f"host[{a}]" for a, _ in out],
                "traffic.data.to": [f"host[{b}]" for _, b in out],
            },
        ),
        Point(
            "1023 to 1",
            {"template.k": 16, "traffic.data.from": "host[1-1023]", "traffic.data.to": "host[0]", "traffic.data.size": "100 KB"},
        ),
    ]


def oversubscribed() -> list[Point]:
    """Returns schemes and oversubscriptions. Where receivers alone steer, grants follow the fabric down to 0.9 over the ratio."""
    points = []
    for ratio in (4, 8):
        base: dict[str, Any] = {"template.spines": 32 // ratio}
        credits = base | {"traffic.data.uec.credits": True, "template.host_queue": {"kind": "trim", "limit": "1 bdp"}}
        alone = {"traffic.data.congestion_control": "none", "traffic.data.uec.grant_least": 0.9 / ratio}
        points += [
            Point(f"sender {ratio}:1", base),
            Point(f"receiver {ratio}:1", credits | alone),
            Point(f"both {ratio}:1", credits),
        ]
    return points


def _spray(kind: str, more: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"traffic.data.uec.spray": kind, **(more or {})}


EACH = {"traffic.data.uec.ack_every": 1}


def sprays() -> list[Point]:
    """Returns how packets are spread; by default each fourth packet is acknowledged, in `each` all are."""
    return [
        Point("oblivious", _spray("oblivious")),
        Point("oblivious, large queues", _spray("oblivious", LARGE_QUEUES)),
        Point("bitmap, large queues", _spray("bitmap", LARGE_QUEUES)),
        Point("REPS, each", _spray("reps", EACH)),
        Point("REPS", _spray("reps")),
        Point("mixed, each", _spray("mixed", EACH)),
        Point("mixed", _spray("mixed")),
    ]


def slow_sprays() -> list[Point]:
    """Returns the same for the fabric with slow links."""
    return [
        Point("oblivious", _spray("oblivious")),
        Point("bitmap", _spray("bitmap")),
        Point("bitmap, large queues", _spray("bitmap", LARGE_QUEUES)),
        Point("REPS, each, large queues", _spray("reps", EACH | LARGE_QUEUES)),
        Point("REPS", _spray("reps")),
        Point("mixed", _spray("mixed")),
    ]
