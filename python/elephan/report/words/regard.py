"""Settings without effect: weights and priorities that nothing on the way looks at, and parameters that no model reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from elephan.result.run import Run
from elephan.scenario import kinds
from elephan.table.rows import texts
from elephan.table.steps import link_of, shortest_ports


@dataclass(frozen=True)
class Trait:
    """What a traffic entry may say, its value when it says nothing, and who looks at it."""

    key: str
    nothing: int
    flow_control: str = ""

    @property
    def queues(self) -> list[str]:
        """Kinds of queues that look at it."""
        return kinds.queues_that(lambda queue: self.key in queue["reads"])


# Parameters of publications that the models show and do not read: what they mean was not found (docs/models/qcn.md).
UNREAD = ("congestion_management.fbhat", "congestion_management.efr_max")
TRAITS = (Trait("weight", 1), Trait("priority", 0, "pfc"))


def _regards(trait: Trait, queue: Any) -> bool:
    """Whether a queue, or one of its classes, looks at it."""
    return isinstance(queue, dict) and trait.key in kinds.queue(queue).get("reads", ())


def port_queues(run: Run, node: str, peer: str) -> Iterator[Any]:
    """The queues that a port may have: its direction's or its link's, and those of single ports of these links."""
    entry, direction = link_of(run, node, peer)
    shared = "host_queue" if node.partition("[")[0] in run.resolved.get("hosts", {}) else "queue"
    yield entry.get(direction, {}).get("queue", entry.get(shared))
    yield from (port.get("queue") for port in entry.get("ports", {}).values())


def _controlled(run: Run, trait: Trait, *nodes: str) -> bool:
    """Whether the flow control of a switch among the nodes looks at it."""
    switches = run.resolved.get("switches", {})
    entries = (switches.get(node, switches.get(node.partition("[")[0], {})) for node in nodes)
    return trait.flow_control != "" and any(
        (entry.get("flow_control") or {}).get("kind") == trait.flow_control for entry in entries
    )


def ignored(run: Run, trait: Trait) -> list[str]:
    """Names of the traffic entries of which nobody regards the trait, on no way of their flows, there or back."""
    named = [entry["name"] for entry in run.resolved.get("traffic", []) if entry.get(trait.key, trait.nothing) != trait.nothing]
    if not named:
        return []
    ports = zip(texts(run.ports, "node"), texts(run.ports, "peer"), strict=True)
    regarding = {
        port for port in ports if any(_regards(trait, queue) for queue in port_queues(run, *port)) or _controlled(run, trait, *port)
    }
    ends: dict[str, set[tuple[str, str]]] = {}
    for name, source, destination in zip(*(texts(run.flows, key) for key in ("traffic", "source", "destination")), strict=True):
        ends.setdefault(name, set()).update([(source, destination), (destination, source)])

    def is_ignored(name: str) -> bool:
        return not regarding or not any(regarding & shortest_ports(run, *pair) for pair in ends[name])

    return [name for name in named if name in ends and is_ignored(name)]


def remarks(run: Run) -> list[str]:
    """Returns a sentence for each setting that is without effect."""
    return [*(_remark(trait, names) for trait in TRAITS if (names := ignored(run, trait))), *map(_unread, unread(run))]


def unread(run: Run) -> list[str]:
    """Returns the parameters that the scenario gives and that no model reads. What a preset fills in is none of them."""
    given = {row["path"] for row in run.provenance["parameters"] if row["from"] == "given"}
    return [path for path in UNREAD if path in given]


def _unread(path: str) -> str:
    return f"{path} is without effect: what it means was not found, so the model does not read it."


def _remark(trait: Trait, names: list[str]) -> str:
    of = "has" if len(names) == 1 else "have"
    kinds = f"{', '.join(trait.queues[:-1])} and {trait.queues[-1]}"
    queues = f"only those of kind {kinds} do" + (f", and {trait.flow_control.upper()}" if trait.flow_control else "")
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{listed} {of} a {trait.key}, but no queue on the way looks at it: {queues}."
