"""Graphs that NetworkX reads, GraphML, GML and node-link JSON, and the topologies of topohub."""

from __future__ import annotations

import io
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from elephan.base.errors import InputError
from elephan.scenario.foreign import network as net
from elephan.scenario.foreign.clab import missing
from elephan.scenario.foreign.network import Link, Network, Node, Notes, wrong
from elephan.scenario.places import Place

LENGTHS = ("dist", "length", "km", "distance", "dist_km", "length_km", "distance_km")
DELAYS = ("delay", "latency", "delay_ms", "latency_ms")
RATES = ("bandwidth", "LinkSpeedRaw", "capacity", "rate", "bw", "speed", "bandwidth_bps", "capacity_bps")
LOSSES = ("packet_loss", "loss")
PEOPLE = ("population", "Population", "pop")
HOSTS = ("host", "server", "client", "endhost", "terminal", "end-host")
_ROLES = ("role", "type", "kind", "node_type")
_PLACES = (("Longitude", "Latitude"), ("longitude", "latitude"), ("lon", "lat"), ("lng", "lat"))
_NAMES = ("name", "label", "id", "source", "target", "key", "pos", "ecmp_fwd", "ecmp_bwd")
_EDGES = {"GraphML": re.compile(r"<edge\b"), "GML": re.compile(r"^\s*edge\b", re.MULTILINE), "JSON": re.compile(r'"source"\s*:')}
_OPENS = {"GraphML": re.compile(r"<node\b"), "GML": re.compile(r"^\s*node\b", re.MULTILINE)}


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise missing("NetworkX") from None
    return networkx


def _begins(pattern: re.Pattern[str] | None, text: str) -> list[int]:
    """Returns the lines in which something begins."""
    found, line, before = [], 1, 0
    for one in pattern.finditer(text) if pattern else ():
        begin = one.start() + len(one[0]) - len(one[0].lstrip())
        line += text.count("\n", before, begin)
        before = begin
        found.append(line)
    return found


def read_graph(text: str, name: str, format: str) -> Network:
    """Returns the network of a graph in GraphML, GML or node-link JSON."""
    nx = _networkx()
    try:
        if format == "GraphML":
            graph = nx.read_graphml(io.BytesIO(text.encode()), force_multigraph=True)
        elif format == "GML":
            graph = nx.parse_gml(_with_parallels(text), label="id")
        else:
            return _of_json(json.loads(text), text, name)
    except json.JSONDecodeError as error:
        raise wrong(name, error.lineno, f"no JSON: {error.msg}") from None
    except InputError:
        raise
    except Exception as error:  # NetworkX raises what its parsers do
        raise wrong(name, _line_of(error), f"no {format}: {str(error) or type(error).__name__}") from None
    nodes = [(one, dict(words)) for one, words in graph.nodes(data=True)]
    edges = [(a, b, dict(words)) for a, b, words in graph.edges(data=True)]
    return _network(nodes, edges, graph.is_directed(), Graph(text, name, format))


def _with_parallels(text: str) -> str:
    """Returns GML that says that two nodes may have several edges: without it NetworkX refuses a second one."""
    return text if re.search(r"\bmultigraph\b", text) else re.sub(r"\bgraph\s*\[", "graph [ multigraph 1 ", text, count=1)


def _line_of(error: Exception) -> int:
    place = getattr(error, "position", None)
    if isinstance(place, tuple):
        return int(place[0])
    found = re.search(r"at \((\d+), \d+\)|line (\d+)", str(error))
    return int(found[1] or found[2]) if found else 0


class Graph:
    """The text of a graph, for the lines of its nodes and edges."""

    def __init__(self, text: str, name: str, format: str) -> None:
        self.name, self.format = name, format
        self.edges = _begins(_EDGES.get(format), text)
        self.nodes = _begins(_OPENS.get(format), text)
        self.by_ends: dict[frozenset[str], list[int]] = defaultdict(list)
        if format in ("GraphML", "GML"):
            self._find(text)

    def _find(self, text: str) -> None:
        parts = _EDGES[self.format].split(text)[1:]
        ends = r'source\s*=?\s*"?([^"\s>]+)"?[\s\S]*?target\s*=?\s*"?([^"\s>]+)"?'
        for line, part in zip(self.edges, parts, strict=True):
            if found := re.search(ends, part[:2000]):
                self.by_ends[frozenset((found[1], found[2]))].append(line)

    def line(self, a: Any, b: Any, number: int, count: int) -> int:
        """Returns the line of an edge: by its ends, or by its place where all are in one list; else 0."""
        if found := self.by_ends.get(frozenset((str(a), str(b)))):
            return found.pop(0) if len(found) > 1 else found[0]
        return self.edges[number] if len(self.edges) == count else 0


def _of_json(value: Any, text: str, name: str) -> Network:
    edges = value.get("edges", value.get("links")) if isinstance(value, dict) else None
    nodes = value.get("nodes") if isinstance(value, dict) else None
    if not isinstance(edges, list) or not isinstance(nodes, list):
        raise wrong(name, 1, "no node-link JSON: it needs nodes and edges (or links)")
    where = Graph(text, name, "JSON")
    found, joined = [], []
    for one in nodes:
        if not isinstance(one, dict) or "id" not in one:
            raise wrong(name, 1, f"a node without id: {json.dumps(one)[:60]}")
        found.append((one["id"], one))
    known = {key if not isinstance(key, list) else str(key) for key, _ in found}
    for number, one in enumerate(edges):
        line = where.line("", "", number, len(edges)) or 1
        if not isinstance(one, dict) or "source" not in one or "target" not in one:
            raise wrong(name, line, f"an edge without source and target: {json.dumps(one)[:60]}")
        for end in (one["source"], one["target"]):
            if isinstance(end, list | dict) or end not in known:
                raise wrong(name, line, f"an edge names {json.dumps(end)}, which is no node")
        joined.append((one["source"], one["target"], one))
    made = _network(found, joined, bool(value.get("directed")), where)
    graph = value.get("graph")
    _demands(made, graph.get("demands", {}) if isinstance(graph, dict) else {})
    return made


def _demands(made: Network, demands: Any) -> None:
    """Takes over the matrix of a topology: offered load by source and destination, in a unit that the file does not say."""
    for source, row in demands.items() if isinstance(demands, dict) else ():
        for target, value in row.items() if isinstance(row, dict) else ():
            a, b = made.by_id.get(str(source)), made.by_id.get(str(target))
            amount = net.number_and_unit(value)
            if a is None or b is None or a == b or amount is None or amount[0] <= 0 or amount[1]:
                made.notes.left_out(1, "a demand that is no positive number between two nodes")
                continue
            made.demands[(a, b)] = made.demands.get((a, b), 0.0) + amount[0]
            made.matrix = True


def _network(
    nodes: list[tuple[Any, dict[str, Any]]], edges: list[tuple[Any, Any, dict[str, Any]]], directed: bool, text: Graph
) -> Network:
    made = Network(Notes(text.name), text.format)
    lines = text.nodes if len(text.nodes) == len(nodes) else [1 if text.format == "JSON" else 0] * len(nodes)
    where: dict[str, tuple[float, float]] = {}
    placed = _places(nodes)
    people = next((key for key in PEOPLE if all(_people(words, key) for _, words in nodes)), "")
    for (key, words), line, place in zip(nodes, lines, placed, strict=True):
        name = next((str(words[one]) for one in ("name", "label") if words.get(one) not in (None, "")), str(key))
        if name in made.nodes:
            name = f"{name}-{key}"
        made.by_id[str(key)] = name
        made.nodes[name] = Node(name, line, _forwards(words), place, _people(words, people))
        if place is not None and place.degrees is not None:
            where[name] = place.degrees
        for other in words:
            if other not in (people, *_NAMES, *_ROLES, *(one for pair in _PLACES for one in pair)):
                made.notes.left_out(line, f"{other} of nodes")
    paired: list[Link] = []
    for number, (source, target, words) in enumerate(edges):
        line = text.line(source, target, number, len(edges)) or (1 if text.format == "JSON" else 0)
        link = Link(made.by_id[str(source)], made.by_id[str(target)], line)
        _say(link, words, where, made)
        back = made.between(link.a, link.b) if directed else None
        if back is not None and (back.a, back.b) == (link.b, link.a) and not any(back is one for one in paired):
            paired.append(back)
            back.ways[1].clear()
            back.ways[1].update(link.ways[0])
        else:
            made.join(link, not directed)
    return made


def _forwards(words: Mapping[str, Any]) -> bool | None:
    found = [str(words[key]).lower() for key in _ROLES if key in words]
    return False if any(one in HOSTS for one in found) else True if found else None


def _people(words: Mapping[str, Any], key: str) -> float | None:
    """Returns the population of a node by the attribute that has it, or None."""
    found = net.number_and_unit(words.get(key))
    return found[0] if found and found[0] > 0 and not found[1] else None


def _places(nodes: Sequence[tuple[Any, Mapping[str, Any]]]) -> list[Place | None]:
    """Returns where nodes are. If one cannot be a longitude and a latitude, all of `pos` are x and y on a plane."""
    found: list[Place | None] = []
    of_plane: list[Place | None] = []
    for _, words in nodes:
        pos = words.get("pos")
        own = pos if isinstance(pos, list | tuple) and len(pos) == 2 else (None, None)
        pairs = [(words.get(east), words.get(north)) for east, north in _PLACES]
        degrees = [place for east, north in (*pairs, own) if (place := _numbers(east, north))]
        found.append(Place(*degrees[0]) if degrees else None)
        flat = _numbers(*own)
        of_plane.append(Place(*flat, plane=True) if flat else None)
    earth = all(one is None or (abs(one.x) <= 360 and abs(one.y) <= 90) for one in found)
    return found if earth else of_plane


def _numbers(east: Any, north: Any) -> tuple[float, float] | None:
    a, b = net.number_and_unit(east), net.number_and_unit(north)
    return (a[0], b[0]) if a and b else None


def _say(link: Link, words: Mapping[str, Any], where: Mapping[str, tuple[float, float]], made: Network) -> None:
    """Gives a link what its attributes say: a delay, or a length, or the distance of its ends; rate; loss."""
    used = set[str]()

    def first(keys: tuple[str, ...], read: Any) -> tuple[str, Any] | None:
        for key in (key for key in keys if words.get(key) not in (None, "")):
            used.add(key)
            if (value := read(words[key])) is not None:
                return key, value
            raise made.fail(link.line, f"{key} of the link {link.a} - {link.b}: {str(words[key])[:40]!r} cannot be read")
        return None

    if found := first(DELAYS, lambda value: net.time_of(value, 1e-3)):
        link.both(delay=net.time_text(found[1]))
        link.why.append(f"delay: {found[0]}")
        if not (net.number_and_unit(words[found[0]]) or (0.0, ""))[1]:
            made.notes.assumed(link.line, f"{found[0]} without a unit is ms")
    elif found := first(LENGTHS, net.km_of):
        link.both(delay=net.delay_of_km(found[1]))
        link.why.append(f"delay: {found[0]} = {found[1]:g} km at 200 km a ms")
    elif link.a in where and link.b in where:
        km = net.great_circle_km(where[link.a], where[link.b])
        link.both(delay=net.delay_of_km(km))
        link.why.append(f"delay: great circle of {km:.1f} km at 200 km a ms")
    if found := first(RATES, net.rate_of) or _zoo(words, used):
        link.both(rate=net.rate_text(found[1]))
        link.why.append(f"rate: {found[0]}")
    if found := first(LOSSES, net.share_of):
        link.both(loss={"bernoulli": found[1]})
    for key in words:
        if key not in used and key not in _NAMES:
            made.notes.left_out(link.line, f"{key} of links")


def _zoo(words: Mapping[str, Any], used: set[str]) -> tuple[str, float] | None:
    """Returns the rate that the Topology Zoo says in two attributes."""
    rate = net.rate_of(f"{words.get('LinkSpeed', '')} {words.get('LinkSpeedUnits', '')}b/s")
    used |= {"LinkSpeed", "LinkSpeedUnits"} if rate else set()
    return ("LinkSpeed", rate) if rate else None


def read_topohub(name: str) -> Network:
    """Returns a topology of the package topohub by its name, such as `sndlib/polska`."""
    try:
        import topohub
    except ImportError:
        raise missing("topohub") from None
    try:
        value = topohub.get(name)
    except (KeyError, ValueError, RuntimeError):
        raise wrong(f"topohub:{name}", 0, "topohub has no such topology; names are like sndlib/polska, topozoo/Abilene") from None
    return _of_json(json.loads(json.dumps(value)), "", f"topohub:{name}")
