"""Links failed one by one: what each failure sets in a scenario, and which traffic it cuts off.

A failed link is down from the start (`up = false`), and routes avoid it (`reroute`). Traffic between hosts that no path joins any
more cannot run. A failure leaves it out, and its load counts as demand that nobody serves.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from elephan.base.errors import InputError, nearest
from elephan.base.quantity import bits_per_second
from elephan.scenario import core, kinds
from elephan.scenario.foreign import offered
from elephan.scenario.source import Source

AXIS = "fail"  # the parameter of a sweep
NONE = "none"  # its value without a failure
EACH = "links"  # each link between two switches
_BUSIEST = re.compile(r"busiest:([1-9]\d{0,5})")
_FRAME_BYTES = 38  # of Ethernet beside a packet, preamble and gap included
_OF_ENTRY = re.compile(r"traffic(?:\.(?:\"([^\"]+)\"|([^.\[]+))|\[(\d+)\])(?:\.|$)")


@dataclass(frozen=True)
class Failure:
    """A link that is down, and what that does to a scenario.

    `set` is what it sets. `cut` are the entries of traffic that it cuts off, and `unserved_bps` is the load of those that have one,
    in bit/s of payload.
    """

    link: str
    set: Mapping[str, Any] = field(default_factory=dict)
    cut: tuple[str, ...] = ()
    unserved_bps: float = 0.0

    def over(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        """Returns overrides with this failure. Those of traffic that it cuts off are left out."""
        kept = {}
        for key, value in overrides.items():
            entry = _OF_ENTRY.match(key)
            if entry is not None and entry[3] is not None and self.cut:
                raise InputError(f"{key}: where links fail, an entry of traffic goes by its name")
            if entry is None or (entry[1] or entry[2]) not in self.cut:
                kept[key] = value
        return {**self.set, **kept}

    def as_dict(self) -> dict[str, Any]:
        """Returns what a result keeps of it; a load that nobody knows is None."""
        unserved = None if math.isnan(self.unserved_bps) else self.unserved_bps
        return {"link": self.link, "cut": list(self.cut), "unserved_bps": unserved}


def kept_of(failed: Sequence[Failure]) -> dict[str, Any]:
    """Returns what a sweep remembers of its failures: each by its link, and that variants are compared with that without one."""
    return {"failed": {one.link: one.as_dict() for one in failed}, "baseline": f"{AXIS} == {NONE}"} if failed else {}


def failures(source: Source, overrides: Mapping[str, Any], which: Sequence[str]) -> list[Failure]:
    """Returns no failure, then one for each link that is chosen.

    `which`: `"links"` for each link between two switches, `"busiest:20"` for those that the loads of traffic use most, or names
    such as `"a->b"`, also with `*`. `overrides` has no lists.
    """
    network = Network(source, overrides)
    reroute = {} if "reroute" in network.resolved else {"reroute": "0 s"}
    found = [Failure(NONE, reroute)]
    for link in network.chosen(which):
        cut, unserved = network.cut_by(link)
        left = {"traffic": network.without(cut)} if cut else {}
        if cut and not left["traffic"]:
            raise InputError(f"{source.name}: fail: without {'->'.join(link)} no traffic is left")
        found.append(Failure("->".join(link), {**left, **reroute, f"links.{'->'.join(link)}.up": False}, cut, unserved))
    return found


class Network:
    """Which nodes links join, and which of them the traffic of a scenario needs."""

    def __init__(self, source: Source, overrides: Mapping[str, Any]) -> None:
        self.source, self.overrides = source, overrides
        self.resolved = core.toml_values(core.resolved_toml(source, overrides))
        down = {frozenset(one["between"]) for one in self.resolved.get("links", []) if not one.get("up", True)}
        ports = [tuple(one["port"].split("->")) for one in core.port_ways(source, overrides)]
        self.links = [*{frozenset(port): port for port in reversed(ports) if frozenset(port) not in down}.values()][::-1]
        self.near: dict[str, list[str]] = {}
        for a, b in self.links:
            self.near.setdefault(a, []).append(b)
            self.near.setdefault(b, []).append(a)

    def _forwards(self, node: str) -> bool:
        return node.partition("[")[0] in self.resolved.get("switches", {})

    def chosen(self, which: Sequence[str]) -> list[tuple[str, ...]]:
        """Returns the links that are named; raises InputError with the nearest name for one that there is not."""
        between = [link for link in self.links if all(map(self._forwards, link))]
        if not between:
            raise InputError(f"{self.source.name}: fail: no link joins two switches")
        found: dict[tuple[str, ...], None] = {}
        for name in which:
            if few := _BUSIEST.fullmatch(name):
                found |= dict.fromkeys(self._busiest(between)[: int(few[1])])
                continue
            pattern = name.replace("[", "[[]")  # a bracket belongs to a name
            fit = [one for one in between if name == EACH or any(fnmatchcase("->".join(x), pattern) for x in (one, one[::-1]))]
            if not fit:
                known = [EACH, *("->".join(one) for one in between)]
                raise InputError(f'{self.source.name}: fail: no link "{name}" between two switches{nearest(name, known)}')
            found |= dict.fromkeys(fit)
        return [*found]

    def _busiest(self, links: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """Returns the links in the order of what the traffic offers them over the shortest paths, as a share of their rates."""
        drawn = offered.Graph({node: self._forwards(node) for node in self.near}, [(a, b) for a, b in self.links])
        demands: dict[tuple[str, str], float] = {}
        for entry in self.resolved.get("traffic", []):
            pairs = [(x, y) for x in self._hosts(entry["from"]) for y in self._hosts(_receivers(entry)) if x != y]
            load = self._load(entry)
            if math.isnan(load):
                raise InputError(
                    f"{self.source.name}: fail: the traffic {entry['name']} has no load, so name links instead of busiest"
                )
            for pair in pairs:
                demands[pair] = demands.get(pair, 0.0) + load / len(pairs)
        amount = offered.offered(demands, offered.Routes(drawn))
        rates = {frozenset(one["between"]): bits_per_second(one["rate"]) for one in self.resolved["links"] if _is_rate(one["rate"])}

        def share(link: tuple[str, ...]) -> float:
            rate = rates.get(frozenset(link)) or rates.get(frozenset(end.partition("[")[0] for end in link), 1.0)
            return max(amount.get((link[0], link[1]), 0.0), amount.get((link[1], link[0]), 0.0)) / rate

        return sorted(links, key=lambda link: -share(link))

    def cut_by(self, link: tuple[str, ...]) -> tuple[tuple[str, ...], float]:
        """Returns the entries of traffic that have no path without a link, and their load in bit/s."""
        a, b = link
        far = self._side(a, {a, b})
        if b in far:
            return (), 0.0
        sides = {host: {other in far for other in near} for host, near in self.near.items() if not self._forwards(host)}

        def joined(x: str, y: str) -> bool:
            return y in self.near[x] or bool(sides[x] & sides[y])

        cut, unserved = [], 0.0
        for entry in self.resolved.get("traffic", []):
            pairs = {joined(x, y) for x in self._hosts(entry["from"]) for y in self._hosts(_receivers(entry)) if x != y}
            if pairs <= {True}:
                continue
            if True in pairs:
                which = f"{'->'.join(link)} cuts off only some pairs of hosts of the traffic {entry['name']}"
                raise InputError(f"{self.source.name}: fail: {which}; give each pair an entry of its own")
            cut.append(entry["name"])
            unserved += self._load(entry)
        return tuple(cut), unserved

    def _side(self, begin: str, ends: set[str]) -> set[str]:
        """Returns the switches that a switch reaches without the link between two ends."""
        found, todo = {begin}, [begin]
        while todo:
            one = todo.pop()
            for other in self.near[one]:
                if other not in found and {one, other} != ends and self._forwards(other):
                    found.add(other)
                    todo.append(other)
        return found

    def _hosts(self, text: Any) -> list[str]:
        """Returns the hosts that an end of traffic names: a host, a group, or members of one."""
        found: list[str] = []
        for name in [text] if isinstance(text, str) else text:
            group, _, members = name.rstrip("]").partition("[")
            count = self.resolved["hosts"].get(group, {}).get("count")
            if not members and count is None:
                found.append(name)
                continue
            first, _, last = members.partition("-")
            numbers = range(int(first), int(last or first) + 1) if members else range(int(count))
            found += [f"{group}[{number}]" for number in numbers]
        return found

    def _load(self, entry: Mapping[str, Any]) -> float:
        """Returns the payload that an entry offers in bit/s; NaN if it has no load."""
        own, said = kinds.traffic(entry), entry.get("load", entry.get("rate"))
        if said is None or own.get("is_burst"):
            return math.nan
        each = len(self._hosts(entry["from"])) * len(self._hosts(_receivers(entry))) * int(entry.get("connections", 1))
        if payload := own.get("payload_bytes"):  # a rate on the wire
            return bits_per_second(said) * each * float(payload) / (float(own["packet_bytes"]) + _FRAME_BYTES)
        return bits_per_second(said) * (1 if own.get("opens_its_own") else each)

    def without(self, cut: Iterable[str]) -> list[dict[str, Any]]:
        """Returns the entries of traffic, as they are written, without some; each with the name that it has."""
        text = self.source.text
        written = self.overrides.get("traffic") or (json.loads(text) if self.source.format == "json" else core.toml_values(text))
        entries = written if isinstance(written, list) else written.get("traffic", [])
        names, left = [one["name"] for one in self.resolved["traffic"]], {*cut}
        return [{**one, "name": name} for name, one in zip(names, entries, strict=True) if name not in left]


def _receivers(entry: Mapping[str, Any]) -> Any:
    """Returns the hosts that a traffic entry names as receivers; ranks receive from each other."""
    return entry.get("to", entry["from"])


def _is_rate(value: Any) -> bool:
    """Whether a link has one rate, and not a trace."""
    return isinstance(value, str)


def crossed(points: Iterable[tuple[dict[str, Any], dict[str, Any]]], failed: Sequence[Failure]) -> Iterator[Any]:
    """Gives each point of a design with each failure: what the point sets, its parameters, and the failure."""
    for given, point in points:
        for one in failed:
            for key in given if one.cut else ():
                entry = _OF_ENTRY.match(key)
                if entry is not None and isinstance(given[key], list) and (entry[1] or entry[2]) in one.cut:
                    raise InputError(f"{key}: the failure of {one.link} cuts this traffic off, so its values cannot be swept")
            yield given, {AXIS: one.link, **point}, one
        if not failed:
            yield given, point, None
