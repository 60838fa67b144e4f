"""Queue disciplines without a network: offer packets by hand and see what becomes of them.

    q = el.queue.new("drr", limit="100 p", quantum="1500 B")
    q.enqueue(now, 1500, flow=1)            # "accepted", "marked" or "dropped"
    q.dequeue(now)                          # (id, marked) or None
    q.stats()["drops"]                      # [{"id": ..., "reason": ..., "at": ...}, ...]

Times are seconds and never go back, sizes bytes, rates bit/s.
"""

from __future__ import annotations

import json
from typing import Any

from elephan.scenario import core
from elephan.scenario.model import plain

__all__ = ["names", "new", "parameters"]


def __dir__() -> list[str]:
    """What tab completion offers, without what is imported."""
    return __all__


def new(kind: str, *, link_rate: float = 1e9, bdp: float = 0, seed: int = 1, **params: Any) -> Any:
    """Returns an empty queue of a kind, with `params` as a scenario gives them.

    A number for a time is seconds, for a size bytes and for a rate bit/s. `link_rate`: rate in bit/s of the link that it feeds, for
    disciplines that need it. `bdp`: bytes of one "bdp" of a limit. `seed`: of the draws of disciplines that draw.

    `enqueue(now, size, flow=0, ect=0, id=None, priority=0, weight=1)` returns "accepted", "marked" (accepted, with Congestion
    Experienced) or "dropped"; `ect` is the ECN codepoint 0 to 3, `priority` that of IEEE 802.1Q, 7 the most urgent; a packet
    without `id` is called by its number, from 0. `dequeue(now)` returns `(id, marked)`, or None if nothing waits or a shaper
    holds it back until `ready_at()`. `stats()`: packets `offered`, `enqueued`, `dequeued`, `marked`, `dropped`, waiting `bytes`
    and `packets`, and `drops`, those at dequeue and of other packets than the offered one included. `debug()`: the inner state
    as text. Properties: `kind`, `bytes`, `packets`. Raises InputError.

    >>> q = el.queue.new("drr", limit="100 p", quantum="1500 B")
    >>> q.enqueue(0.0, 1500, flow=1)
    'accepted'
    >>> q.dequeue(0.001)
    (0, False)
    >>> q.stats()["dropped"]
    0
    """
    return core.build("Queue", kind, link_rate, bdp, seed, **plain(params))


def names() -> list[str]:
    """Returns the names of the queue disciplines.

    >>> el.queue.names()[:3]
    ['fifo', 'codel', 'pie']
    """
    return [name for name, _ in core.call("listing", "queues")]


def parameters(queue: Any) -> dict[str, Any]:
    """Returns the parameters of a queue, defaults included, as a scenario writes them.

    >>> el.queue.parameters(el.queue.new("codel"))["target"]
    '5 ms'
    """
    return dict(json.loads(queue.parameters()))
