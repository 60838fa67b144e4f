"""Streams of one congestion control over one bottleneck, a round trip at a time: quick where packets are too many.

    r = el.rounds.new("cubic", 4, rate="1 Gbps", rtt="50 ms", queue="100 KB")
    seconds, delivered, rounds = r.run(bytes=10e9, rounds=100_000)
    r.cwnd

The controller is the one that the simulator runs, stepped; the model of the path around it, and what it leaves out, are in
docs/models/rounds.md. Times are seconds, sizes bytes and rates bit/s, all of payload.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import bits_per_second, number, seconds, size_bytes
from elephan.scenario import core


def new(
    kind: Any,
    streams: int = 1,
    *,
    rate: float | str,
    rtt: float | str,
    queue: float | str = 0.0,
    loss: float = 0.0,
    window: float | str = math.inf,
    counted: float = 1.0,
    mss: int = 1448,
    initial_window: float = 10,
    seed: int = 1,
    **params: Any,
) -> Any:
    """Returns streams of a controller (a name, a table as a scenario writes it, or a class of one's own) over one bottleneck.

    `rate`: goodput of a full wire; `queue`: payload that may wait; `loss`: probability that the path takes a packet;
    `window`: what a stream may have in flight beside its congestion window; `counted`: share of the acknowledged bytes that
    a controller sees which goes by ACKs (0.5 where delayed ACKs are counted).
    `run(bytes, rounds)` goes on until so much more is delivered and returns seconds, bytes delivered and round trips; `follow`
    lets a controller live through samples of a simulation first; `suits` is whether rounds describe it. Errors: InputError.

    >>> r = el.rounds.new("cubic", 4, rate="949 Mbps", rtt="50 ms", queue="100 KB")
    >>> seconds, delivered, rounds = r.run(bytes=1e9, rounds=100_000)
    >>> round(seconds, 1), len(r.cwnd)
    (9.5, 4)
    """
    for name, value in (("streams", streams), ("mss", mss), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, int) or value < (name != "seed"):
            raise InputError(f"{name} is a whole number from {int(name != 'seed')}, not {value!r}")
    controller = kind if isinstance(kind, (str, Mapping)) else core.guest_words(kind, params)
    wire, span, room = bits_per_second(rate), seconds(rtt), size_bytes(queue)
    chance = number(loss, "a probability", "1e-4")
    flight = math.inf if window == math.inf else size_bytes(window)
    more = params if isinstance(kind, str) else {}
    return core.build("Rounds", controller, streams, mss, wire, span, room, chance, flight, counted, initial_window, seed, **more)
