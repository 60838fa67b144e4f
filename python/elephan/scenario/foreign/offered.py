"""Traffic for a foreign network: demands by gravity, and what demands offer to each link over the shortest paths.

The simple gravity model (Zhang, Roughan, Duffield, Greenberg, SIGMETRICS 2003; Roughan, Computer Communication Review 35(5), 2005)
makes the demand from i to j proportional to the masses of both: demand_ij = total * m_i * m_j / sum over k != l of m_k * m_l. The
mass of a node is its population if the file has one for each node, else the number of its links.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from elephan.scenario.foreign.network import Network, rate_bps

FLOWS = 4  # flows of a network that has no demands
PAIRS_MAX = 2000  # pairs of a network that has demands between all, unless told otherwise
SEED = 1  # of the draw of pairs by gravity
Pair = tuple[str, str]
Demands = dict[Pair, float]


@dataclass(frozen=True)
class Graph:
    """Nodes, with whether each forwards, and the links between them."""

    forwards: Mapping[str, bool]
    links: Sequence[Pair]

    @classmethod
    def of(cls, network: Network) -> Graph:
        nodes = {name: node.forwards is not False for name, node in network.nodes.items()}
        return cls(nodes, [(link.a, link.b) for link in network.links])


class Routes:
    """Shortest paths by the number of links; hosts do not forward."""

    def __init__(self, graph: Graph) -> None:
        self.near: dict[str, list[str]] = {name: [] for name in graph.forwards}
        for a, b in graph.links:
            self.near[a].append(b)
            self.near[b].append(a)
        self.hosts = {name for name, forwards in graph.forwards.items() if not forwards}
        self._far: dict[str, dict[str, int]] = {}

    def far(self, target: str) -> dict[str, int]:
        """Returns, for each node from which a path leads to the target, how many links it has."""
        if target not in self._far:
            found, todo = {target: 0}, deque([target])
            while todo:
                one = todo.popleft()
                for other in self.near[one] if one == target or one not in self.hosts else ():
                    if other not in found:
                        found[other] = found[one] + 1
                        todo.append(other)
            self._far[target] = found
        return self._far[target]

    def reach(self, source: str, target: str) -> bool:
        return source != target and source in self.far(target)


def masses(network: Network, ends: list[str], routes: Routes) -> tuple[dict[str, float], str]:
    """Returns the mass of each node that sends and receives, and what it is."""
    people = {name: network.nodes[name].people for name in ends}
    known = {name: count for name, count in people.items() if count is not None}
    if len(known) == len(ends):
        return known, "population"
    return {name: float(max(1, len(routes.near[name]))) for name in ends}, "number of links"


def gravity(mass: dict[str, float], routes: Routes) -> Demands:
    """Returns the demands between all pairs of nodes that reach each other; they sum to 1."""
    found = {(a, b): mass[a] * mass[b] for a in mass for b in mass if routes.reach(a, b)}
    total = sum(found.values())
    return {pair: amount / total for pair, amount in found.items()}


def sampled(demands: Demands, count: int) -> Demands:
    """Returns demands of some pairs, drawn with the probability of their demands, in proportion to how often each was drawn.

    So each node sends and receives on average what it does in the whole matrix. The largest demands would all be between hubs.
    """
    draw, pairs, weights = random.Random(SEED), list(demands), list(accumulate(demands.values()))
    found: Demands = {}
    for _ in range(100):
        for pair in draw.choices(pairs, cum_weights=weights, k=count):
            if pair in found or len(found) < count:
                found[pair] = found.get(pair, 0.0) + 1.0
        if len(found) == count:
            break
    return found


def drawn(mass: dict[str, float], routes: Routes, flows: int) -> Demands:
    """Returns demands between some pairs of nodes: drawn, and sized, by the product of the masses."""
    draw, ends, weights = random.Random(SEED), list(mass), list(mass.values())
    found: Demands = {}
    for _ in range(20 * flows):
        if len(found) >= flows:
            break
        a, b = draw.choices(ends, weights, k=2)
        if (a, b) not in found and routes.reach(a, b):
            found[(a, b)] = mass[a] * mass[b]
    return found or dict([((a, b), 1.0) for a in ends for b in ends if routes.reach(a, b)][:1])


def offered(demands: Demands, routes: Routes) -> dict[Pair, float]:
    """Returns what demands offer to each direction of a link, in their unit.

    A demand takes the shortest paths. At each node it is split evenly over the links that lead on, as ECMP does on average.
    """
    found: dict[Pair, float] = {}
    to: dict[str, dict[str, float]] = {}
    for (a, b), amount in demands.items():
        to.setdefault(b, {})[a] = amount
    for target, here in to.items():
        far = routes.far(target)
        levels: list[dict[str, float]] = [{} for _ in range(1 + max(far[one] for one in here))]
        for one, amount in here.items():
            levels[far[one]][one] = amount
        for level in range(len(levels) - 1, 0, -1):
            for one, amount in levels[level].items():
                on = [x for x in routes.near[one] if far.get(x) == level - 1 and (x == target or x not in routes.hosts)]
                for other in on:
                    found[(one, other)] = found.get((one, other), 0.0) + amount / len(on)
                    levels[level - 1][other] = levels[level - 1].get(other, 0.0) + amount / len(on)
    return found


@dataclass(frozen=True)
class Shares:
    """What a unit of demand offers to links as a share of their rates: the busiest direction, and the mean of all of switches."""

    busiest: float
    mean: float


def shares(network: Network, demands: Demands, routes: Routes) -> Shares:
    """Returns what links are offered for each unit of demand. The links of hosts count for the busiest alone."""
    amount = offered(demands, routes)
    each, between = [], []
    for link in network.links:
        for pair, way in zip(((link.a, link.b), (link.b, link.a)), link.ways, strict=True):
            each.append(amount.get(pair, 0.0) / rate_bps(way))
            if not {link.a, link.b} & routes.hosts:
                between.append(each[-1])
    return Shares(max(each), sum(between or each) / len(between or each))


def largest(demands: Demands, count: int) -> Demands:
    """Returns the largest demands, in their own order."""
    kept = set(sorted(demands, key=lambda pair: -demands[pair])[:count])
    return {pair: amount for pair, amount in demands.items() if pair in kept}
