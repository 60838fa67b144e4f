"""What kinds of traffic, queues, congestion controls and slow starts answer about themselves, as the core says.

Nothing in Python goes by the name of a kind: it asks here, so that a new kind of the core is known everywhere.
A table that the core does not know, as of a result of another version, has no answers: all that is asked of it is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from elephan.base.errors import InputError
from elephan.scenario import core

Answers = Mapping[str, Any]


@lru_cache(maxsize=4096)
def _answers(registry: str, words: str) -> Answers:
    try:
        return dict(json.loads(core.call("answers", registry, words)))
    except InputError:
        return {}


def traffic(entry: Mapping[str, Any]) -> Answers:
    """Returns what a traffic entry answers about itself; `Answers` of crates/traffic has the names.

    >>> traffic({"kind": "onoff", "load": "1 Gbps", "packet_size": "8972 B"})["packet_bytes"]
    9000
    """
    return _answers("traffic", json.dumps(entry))


def queue(words: Mapping[str, Any]) -> Answers:
    """Returns what a queue answers about itself; `Answers` of crates/link has the names.

    >>> queue({"kind": "fq_codel"})["title"]
    'FQ-CoDel'
    """
    return _answers("queues", json.dumps(words))


def congestion_control(words: str | Mapping[str, Any]) -> Answers:
    """Returns what a congestion control answers about itself; `Traits` and `Answers` of crates/cc have the names.

    >>> congestion_control("xcp")["asks"]
    'window'
    """
    return _answers("congestion-controls", json.dumps(words))


def ends_by_delay(slow_start: str | Mapping[str, Any], controller: str | Mapping[str, Any]) -> bool | None:
    """Returns whether a slow start may end because the delay rises, under a congestion control; None where nobody knows.

    >>> ends_by_delay("linux", "cubic"), ends_by_delay("linux", "reno")
    (True, False)
    """
    return _answers("slow-starts", json.dumps({"slow_start": slow_start, "congestion_control": controller})).get("ends_by_delay")


@lru_cache(maxsize=64)
def scenario(resolved: str) -> Answers:
    """Returns what a resolved scenario (its text) answers about itself: `draws`, the places that are drawn at random, and
    `short_rooms`, where a switch that pauses has too little room for what still arrives.
    """
    try:
        return dict(json.loads(core.call("scenario_answers", resolved, "scenario")))
    except InputError:
        return {}


def queues_that(answer: Callable[[Answers], bool]) -> list[str]:
    """Returns the names of the queue disciplines whose defaults answer so, in the order of the registry."""
    return [name for name, _ in core.call("listing", "queues") if answer(queue({"kind": name}))]


def queues_of(part: Any) -> Iterator[Mapping[str, Any]]:
    """Yields all queues of a part of a resolved scenario."""
    if isinstance(part, dict):
        yield from (one for name, one in part.items() if "queue" in name and isinstance(one, dict) and "kind" in one)
        for one in part.values():
            yield from queues_of(one)
    elif isinstance(part, list):
        for one in part:
            yield from queues_of(one)
