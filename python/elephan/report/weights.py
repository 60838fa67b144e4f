"""Weights of traffic that no queue looks at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from elephan.rows import texts
from elephan.runs import Run
from elephan.steps import link_of, shortest_ports

WEIGHING = ("fq", "scfq", "drr")  # kinds of queues that serve a connection by its weight


def _weighs(queue: Any) -> bool:
    """Whether a queue, or one of its classes, looks at weights."""
    if isinstance(queue, list):
        return any(map(_weighs, queue))
    return isinstance(queue, dict) and (queue.get("kind") in WEIGHING or any(map(_weighs, queue.values())))


def _queues(run: Run, node: str, peer: str) -> Iterator[Any]:
    """The queues that a port may have: its direction's or its link's, and those of single ports of these links."""
    entry, direction = link_of(run, node, peer)
    shared = "host_queue" if node.partition("[")[0] in run.resolved["hosts"] else "queue"
    yield entry.get(direction, {}).get("queue", entry.get(shared))
    yield from (port.get("queue") for port in entry.get("ports", {}).values())


def ignored_weights(run: Run) -> list[str]:
    """Names of the traffic entries whose weight no queue looks at, on no way of their flows, there or back."""
    weighty = [entry["name"] for entry in run.resolved.get("traffic", []) if entry.get("weight", 1) != 1]
    if not weighty:
        return []
    ports = zip(texts(run.ports, "node"), texts(run.ports, "peer"), strict=True)
    weighing = {port for port in ports if any(map(_weighs, _queues(run, *port)))}
    ends: dict[str, set[tuple[str, str]]] = {}
    for name, source, destination in zip(*(texts(run.flows, key) for key in ("traffic", "source", "destination")), strict=True):
        ends.setdefault(name, set()).update([(source, destination), (destination, source)])

    def ignored(name: str) -> bool:
        return not weighing or not any(weighing & shortest_ports(run, *pair) for pair in ends[name])

    return [name for name in weighty if name in ends and ignored(name)]
