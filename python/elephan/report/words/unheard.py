"""Congestion controls that follow what routers tell or mark, where no router does: there they are Reno, and an answer says so."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Any

# Congestion controls that follow what queues of a kind tell them.
TOLD_BY = {"xcp": "xcp", "explicit_rate": "fq"}


def queue_kinds(part: Any) -> set[str]:
    """The kinds of all queues of a part of a resolved scenario."""
    if isinstance(part, dict):
        own = {queue["kind"] for name, queue in part.items() if "queue" in name and isinstance(queue, dict) and "kind" in queue}
        return own.union(*map(queue_kinds, part.values()))
    return set[str]().union(*map(queue_kinds, part)) if isinstance(part, list) else set()


def _speaks_ecn(part: Any) -> bool:
    """Whether some host of a part of a resolved scenario speaks ECN."""
    if isinstance(part, dict):
        return any(_speaks_ecn(value) if name != "ecn" else value != "off" for name, value in part.items())
    return isinstance(part, list) and any(map(_speaks_ecn, part))


def unheard(kinds: Iterable[str], scenario: str) -> str:
    """Which of these controllers (names of the registry) are Reno in a resolved scenario, in one sentence; empty if none is."""
    resolved = tomllib.loads(scenario)
    queues, ecn = queue_kinds(resolved.get("links", [])), _speaks_ecn(resolved)
    deaf = {controller: "no queue here tells a rate" for controller, kind in TOLD_BY.items() if kind not in queues}
    if not ecn:
        deaf |= dict.fromkeys(("dctcp", "prague"), "no ECN here")
    found = [f"{controller} ({deaf[controller]})" for controller in dict.fromkeys(kinds) if controller in deaf]
    if not found:
        return ""
    them, are = ("it", "is") if len(found) == 1 else ("them", "are")
    return f"As nothing reaches {them} from the routers, {' and '.join(found)} {are} Reno in these runs."
