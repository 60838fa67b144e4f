"""Where a run's path goes from a fast link to a slower one with limited memory before it: what the forbidden area is about."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elephan.base.quantity import bits_per_second, seconds, size_bytes
from elephan.table.rows import column, texts

if TYPE_CHECKING:
    from elephan.result.run import Run


@dataclass(frozen=True)
class Step:
    """A fast link and the slower one after it. `rtt_s`: twice the propagation of the whole path."""

    port: str
    fast_bps: float
    slow_bps: float
    memory_bytes: float
    rtt_s: float


def names_node(pattern: str, name: str) -> bool:
    """Whether a node is one of those that a link's entry names: itself, its group, or some of it as in `client[0-3]`."""
    group, _, place = name.partition("[")
    if pattern in (name, group):
        return True
    named, _, places = pattern.partition("[")
    low, _, high = places.rstrip("]").partition("-")
    return named == group and bool(low and place) and int(low) <= int(place.rstrip("]")) <= int(high or low)


class Network:
    """The ports of a run: who is joined to whom, and what a scenario says of each. It remembers what it was asked."""

    def __init__(self, run: Run) -> None:
        self.entries: list[dict[str, Any]] = run.resolved.get("links", [])
        pairs = zip(texts(run.ports, "node"), texts(run.ports, "peer"), strict=True)
        self.place = {pair: place for place, pair in reversed(list(enumerate(pairs)))}
        self.after: dict[str, list[str]] = {}
        for node, peer in sorted(self.place, key=lambda pair: self.place[pair]):
            self.after.setdefault(node, []).append(peer)
        self._hops: dict[str, dict[str, int]] = {}
        self._links: dict[tuple[str, str], tuple[dict[str, Any], str]] = {}

    def link(self, node: str, peer: str) -> tuple[dict[str, Any], str]:
        """The `[[links]]` entry of a port, and the key of its direction."""
        if (node, peer) not in self._links:
            self._links[node, peer] = self._link(node, peer)
        return self._links[node, peer]

    def _link(self, node: str, peer: str) -> tuple[dict[str, Any], str]:
        there, back = self.place.get((node, peer)), self.place.get((peer, node))
        if there is None or back is None:
            return {}, ""
        first, second = (node, peer) if there < back else (peer, node)
        for entry in self.entries:
            a, b = entry["between"]
            if names_node(a, first) and names_node(b, second):
                return entry, "forward" if there < back else "backward"
        return {}, ""

    def hops(self, origin: str) -> dict[str, int]:
        """Links from each node that is reached to `origin`, on a shortest way. Links go both ways."""
        if origin not in self._hops:
            found, front = {origin: 0}, [origin]
            for node in front:
                new = [peer for peer in self.after.get(node, []) if peer not in found]
                found |= dict.fromkeys(new, found[node] + 1)
                front += new
            self._hops[origin] = found
        return self._hops[origin]

    def ways(self, source: str, destination: str) -> set[tuple[str, str]]:
        """The ports of all shortest ways, as (node, peer). Hosts behind one switch share its distances."""
        peers = self.after.get(destination, [])
        last = peers[0] if len(peers) == 1 else destination
        left, more = self.hops(last), int(last != destination)

        def away(node: str) -> int | None:
            return 0 if node == destination else left[node] + more if node in left else None

        ports: set[tuple[str, str]] = set()
        front = {source}
        while front and destination not in front:
            found = {
                (node, peer)
                for node in front
                if (here := away(node)) is not None
                for peer in self.after.get(node, [])
                if away(peer) == here - 1
            }
            ports |= found
            front = {peer for _, peer in found}
        return ports


_networks: weakref.WeakKeyDictionary[Run, Network] = weakref.WeakKeyDictionary()


def network_of(run: Run) -> Network:
    """The network of a run, which is read once."""
    if run not in _networks:
        _networks[run] = Network(run)
    return _networks[run]


def link_of(run: Run, node: str, peer: str) -> tuple[dict[str, Any], str]:
    """The `[[links]]` entry of a port, and the key of its direction: of the two ports of a link the first is its forward one.

    Nothing where the table lacks one of both.
    """
    return network_of(run).link(node, peer)


def _value(entry: dict[str, Any], direction: str, key: str) -> Any:
    return entry.get(direction, {}).get(key, entry.get(key))


def path_ports(run: Run, source: str, destination: str) -> list[tuple[str, str]]:
    """The ports of a shortest way, as (node, peer); empty if there is none."""
    return next(paths(run, [(source, destination)]))


def paths(run: Run, ends: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """`path_ports` between each two of many."""
    after = network_of(run).after
    return (_path(after, *pair) for pair in ends)


def _path(after: dict[str, list[str]], source: str, destination: str) -> list[tuple[str, str]]:
    if source == destination:
        return []
    came_from, front = {source: ""}, [source]
    neighbours = set(after.get(destination, ()))  # links go both ways: who of them is reached has the last link
    while front and destination not in came_from:
        if last := next((node for node in front if node in neighbours), None):
            came_from[destination] = last
            break
        reached = [(peer, node) for node in front for peer in after.get(node, [])]
        front = [peer for peer, node in reached if came_from.setdefault(peer, node) == node]
    if destination not in came_from:
        return []
    nodes = [destination]
    while nodes[-1] != source:
        nodes.append(came_from[nodes[-1]])
    return list(itertools.pairwise(reversed(nodes)))


def shortest_ports(run: Run, source: str, destination: str) -> set[tuple[str, str]]:
    """The ports of all shortest ways, as (node, peer)."""
    return network_of(run).ways(source, destination)


def _memory(run: Run, node: str, entry: dict[str, Any], direction: str) -> float | None:
    """The limit in bytes of the queue before a link, or of its switch's memory where that is smaller; None if there is neither."""
    queue = _value(entry, direction, "queue") or {}
    limits = [size_bytes(text) for text in (str(queue.get("limit", "")),) if text.endswith("B")]
    switch = run.resolved.get("switches", {}).get(node.partition("[")[0], {})
    limits += [size_bytes(str(switch["memory"]))] if "memory" in switch else []
    return min(limits) if limits else None


def find_step(run: Run) -> Step | None:
    """The first such step on the path of a run's first flow; None if it has none, or if the memory is not given in bytes."""
    if not run.flows.num_rows:
        return None
    path = path_ports(run, texts(run.flows, "source")[0], texts(run.flows, "destination")[0])
    rates = dict(zip(texts(run.ports, "name"), column(run.ports, "rate_bps"), strict=True))
    delay, found = 0.0, None
    for (before, node), (_, peer) in itertools.pairwise(path):
        fast, slow = float(rates[f"{before}->{node}"]), float(rates[f"{node}->{peer}"])
        entry, direction = link_of(run, node, peer)
        memory = _memory(run, node, entry, direction) if slow < fast else None
        if found is None and memory is not None:
            found = (f"{node}->{peer}", fast, slow, memory)
    for node, peer in path:
        entry, direction = link_of(run, node, peer)
        delay += seconds(_value(entry, direction, "delay") or 0)
    return Step(*found, rtt_s=2 * delay) if found else None


def slowest_ports(run: Run, source: str, destination: str) -> tuple[list[tuple[str, str]], float, str]:
    """Those of `path_ports` that are as slow as the slowest, its rate in bit/s and its framing; none if there is no way."""
    path = path_ports(run, source, destination)
    ends = zip(texts(run.ports, "node"), texts(run.ports, "peer"), strict=True)
    rates = dict(zip(ends, column(run.ports, "rate_bps"), strict=True))
    if not path:
        return [], 0.0, ""
    least = min(path, key=lambda port: rates[port])
    return [port for port in path if rates[port] == rates[least]], float(rates[least]), str(link_of(run, *least)[0]["framing"])


def line_rate(run: Run, source: str) -> tuple[float, str]:
    """Rate in bit/s and framing of the link of a host (of the fastest, if it has several)."""
    best, framing = 0.0, "ethernet"
    for node, peer in zip(texts(run.ports, "node"), texts(run.ports, "peer"), strict=True):
        if node == source:
            entry, direction = link_of(run, node, peer)
            rate = bits_per_second(_value(entry, direction, "rate"))
            if rate > best:
                best, framing = rate, str(entry["framing"])
    return best, framing
