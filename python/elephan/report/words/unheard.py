"""Congestion controls that follow what routers tell or mark, where no router does: there they are Reno, and an answer says so."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from elephan.scenario import kinds

ASKED = ("window", "rate")  # what only some queues tell; what every port of a switch writes is always told


def untold(controller: str | Mapping[str, Any], links: Any) -> str:
    """Returns what a congestion control (its name, or a table) asks routers and no queue of these links tells; empty if it lacks
    nothing.
    """
    asks = kinds.congestion_control(controller).get("asks")
    told = {kinds.queue(queue).get("tells") for queue in kinds.queues_of(links)}
    return asks if asks in ASKED and asks not in told else ""


def teller(asks: str) -> str:
    """Returns the first kind of queue that tells this."""
    return kinds.queues_that(lambda queue: queue["tells"] == asks)[0]


def _speaks_ecn(part: Any) -> bool:
    """Whether some host of a part of a resolved scenario speaks ECN."""
    if isinstance(part, dict):
        return any(_speaks_ecn(value) if name != "ecn" else value != "off" for name, value in part.items())
    return isinstance(part, list) and any(map(_speaks_ecn, part))


def unheard(controllers: Iterable[str], scenario: str) -> str:
    """Which of these controllers (names of the registry) are Reno in a resolved scenario, in one sentence; empty if none is."""
    resolved = tomllib.loads(scenario)
    ecn, deaf = _speaks_ecn(resolved), {}
    for controller in dict.fromkeys(controllers):
        if untold(controller, resolved.get("links", [])):
            deaf[controller] = "no queue here tells a rate"
        elif not ecn and kinds.congestion_control(controller).get("needs_marks"):
            deaf[controller] = "no ECN here"
    found = [f"{controller} ({why})" for controller, why in deaf.items()]
    if not found:
        return ""
    them, are = ("it", "is") if len(found) == 1 else ("them", "are")
    return f"As nothing reaches {them} from the routers, {' and '.join(found)} {are} Reno in these runs."
