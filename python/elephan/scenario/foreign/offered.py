"""Traffic for a foreign network: its matrix of demands, or flows by gravity, and what they load each link with."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator

from elephan.scenario.foreign.network import Network, rate_bps

FLOWS = 4  # flows of a network that has no demands
SEED = 1  # of the draw of pairs by gravity
Pair = tuple[str, str]


class Routes:
    """Shortest paths by the number of links; hosts do not forward."""

    def __init__(self, network: Network) -> None:
        self.near = network.neighbours()
        self.hosts = {name for name, node in network.nodes.items() if node.forwards is False}
        self._before: dict[str, dict[str, str]] = {}

    def before(self, source: str) -> dict[str, str]:
        """Returns, for each node that a source reaches, the node before it."""
        if source not in self._before:
            found, todo = {source: source}, deque([source])
            while todo:
                one = todo.popleft()
                for other in self.near[one] if one == source or one not in self.hosts else ():
                    if other not in found:
                        found[other] = one
                        todo.append(other)
            self._before[source] = found
        return self._before[source]

    def hops(self, source: str, target: str) -> Iterator[Pair]:
        before = self.before(source)
        while target != source:
            yield before[target], target
            target = before[target]


def gravity(network: Network, ends: list[str], routes: Routes, flows: int) -> dict[Pair, float]:
    """Returns demands between some pairs of nodes: drawn, and sized, by the product of the numbers of their links."""
    mass = {name: float(max(1, len(routes.near[name]))) for name in ends}
    draw = random.Random(SEED)
    found: dict[Pair, float] = {}
    weights = list(mass.values())
    for _ in range(20 * flows):
        if len(found) >= flows:
            break
        a, b = draw.choices(ends, weights, k=2)
        if a != b and (a, b) not in found and b in routes.before(a):
            found[(a, b)] = mass[a] * mass[b]
    for a in ends if not found else ():
        for b in ends:
            if a != b and b in routes.before(a):
                return {(a, b): 1.0}
    return found


def busiest(network: Network, demands: dict[Pair, float], routes: Routes) -> float:
    """Returns the largest share of its rate that a link is offered for each unit of demand, on one shortest path a pair."""
    offered: dict[Pair, float] = {}
    for (a, b), amount in demands.items():
        for hop in routes.hops(a, b):
            offered[hop] = offered.get(hop, 0.0) + amount
    rates = {}
    for link in network.links:
        rates[(link.a, link.b)], rates[(link.b, link.a)] = (rate_bps(way) for way in link.ways)
    return max(amount / rates[hop] for hop, amount in offered.items())


def largest(demands: dict[Pair, float], count: int) -> dict[Pair, float]:
    """Returns the largest demands, in their own order."""
    kept = set(sorted(demands, key=lambda pair: -demands[pair])[:count])
    return {pair: amount for pair, amount in demands.items() if pair in kept}
