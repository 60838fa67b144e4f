"""Labs of containerlab: YAML with `topology.nodes` and `topology.links`."""

from __future__ import annotations

from typing import Any

from elephan.base.errors import InputError
from elephan.scenario.foreign.network import Link, Network, Node, Notes, wrong
from elephan.scenario.foreign.tc import Devices, place, read_tc, settle, take_line

HOSTS = ("linux", "k8s-kind", "ext-container", "generic_vm", "vr-generic")
LARGEST = 200_000  # values of a YAML file
Lines = dict[tuple[Any, ...], int]
_OUTSIDE = ("host", "mgmt-net", "macvlan", "dummy", "vxlan", "vxlan-stitch")


def missing(package: str) -> InputError:
    """Returns the error of a package that is not installed."""
    return InputError(f"{package} is not installed: pip install 'elephan[topologies]'")


def read_yaml(text: str, name: str) -> tuple[Any, Lines]:
    """Returns what a YAML file says, and the line of each value by its path."""
    try:
        import yaml
    except ImportError:
        raise missing("PyYAML") from None
    lines: Lines = {}
    seen = 0
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        value = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise wrong(name, mark.line + 1 if mark else 1, f"no YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise wrong(name, 1, f"no YAML: {error}") from None
    todo: list[tuple[tuple[Any, ...], Any]] = [((), root)] if root is not None else []
    while todo:
        path, node = todo.pop()
        lines.setdefault(path, node.start_mark.line + 1)
        seen += 1
        if len(path) > 20 or seen > LARGEST:
            raise wrong(name, lines[path], "values within values without end")
        if node.id == "mapping":
            for key, inner in node.value:
                lines[(*path, str(key.value))] = key.start_mark.line + 1
                todo.append(((*path, str(key.value)), inner))
        elif node.id == "sequence":
            todo += [((*path, n), inner) for n, inner in enumerate(node.value)]
    return value, lines


class _Lab:
    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.value, self.lines = read_yaml(text, name)
        self.network = Network(Notes(name), "containerlab")
        self.devices: Devices = {}

    def line(self, *path: Any) -> int:
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def table(self, value: Any, *path: Any) -> dict[str, Any]:
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise wrong(self.name, self.line(*path), f"{path[-1]} is no table of names")
        return {str(key): inner for key, inner in value.items()}

    def nodes(self, topology: dict[str, Any]) -> None:
        defaults = self.table(topology.get("defaults"), "topology", "defaults")
        for name, node in self.table(topology.get("nodes"), "topology", "nodes").items():
            path = ("topology", "nodes", name)
            words = self.table(node, *path)
            kind = str(words.get("kind", defaults.get("kind", "")))
            if not kind:
                raise wrong(self.name, self.line(*path), f"the node {name} has no kind")
            self.network.nodes[name] = Node(name, self.line(*path), None if kind in HOSTS else True)
            for key, value in words.items():
                if key == "exec":
                    self.run(name, value, path)
                elif key not in ("kind", "group", "labels"):
                    self.network.notes.left_out(self.line(*path, key), f"{key} of nodes")

    def run(self, node: str, value: Any, path: tuple[Any, ...]) -> None:
        """Reads the commands that run in a node: those of tc say how its devices send."""
        for number, one in enumerate(value if isinstance(value, list) else []):
            take_line(str(one), self.line(*path, "exec", number), self.name, self.network.notes, self.devices, node)

    def ends(self, link: Any, number: int) -> list[tuple[str, str]] | None:
        path = ("topology", "links", number)
        words = self.table(link, *path)
        if (kind := words.get("type", "veth")) != "veth":
            self.network.notes.left_out(self.line(*path), f"a link of type {kind}")
            return None
        for key in words:
            if key not in ("endpoints", "type", "labels", "vars"):
                self.network.notes.left_out(self.line(*path, key), f"{key} of links")
        found = []
        given = words.get("endpoints")
        for one in given if isinstance(given, list) else []:
            if isinstance(one, dict):
                found.append((str(one.get("node", "")), str(one.get("interface", ""))))
            else:
                node, colon, port = str(one).partition(":")
                found.append((node, port if colon else ""))
        if len(found) != 2 or not all(node and port for node, port in found):
            raise wrong(self.name, self.line(*path), 'a link has two endpoints, like ["a:eth1", "b:eth1"]')
        return found

    def links(self, topology: dict[str, Any]) -> None:
        given = topology.get("links") or []
        if not isinstance(given, list):
            raise wrong(self.name, self.line("topology", "links"), "links is no list")
        for number, one in enumerate(given):
            line = self.line("topology", "links", number)
            if (found := self.ends(one, number)) is None:
                continue
            (a, port_a), (b, port_b) = found
            if {a, b} & set(_OUTSIDE) - set(self.network.nodes):
                self.network.notes.left_out(line, f"the link {a}:{port_a} - {b}:{port_b}, which leaves the lab")
                continue
            for node in (a, b):
                if node not in self.network.nodes:
                    raise wrong(self.name, line, f"a link names {node}, which is no node")
            self.network.join(Link(a, b, line, ports=(port_a, port_b)))


def read_clab(text: str, name: str, tc: tuple[str, str] | None = None) -> Network:
    """Returns the network of a lab; `tc` is the text and the name of a file of lines of tc.

    A node of kind `linux` with one link is a host; with several links it forwards.
    """
    lab = _Lab(text, name)
    whole = lab.table(lab.value, "the file")
    topology = lab.table(whole.get("topology"), "topology")
    if "nodes" not in topology:
        raise wrong(name, lab.line("topology"), "no topology.nodes: this is no lab of containerlab")
    for key in whole:
        if key not in ("name", "topology", "prefix"):
            lab.network.notes.left_out(lab.line(key), f"{key} of the lab")
    for key in topology:
        if key not in ("nodes", "links", "defaults"):
            lab.network.notes.left_out(lab.line("topology", key), f"{key} of the topology")
    lab.nodes(topology)
    lab.links(topology)
    _roles(lab.network)
    place(lab.network, settle(lab.devices, name, lab.network.notes), name, str(whole.get("name", "")))
    if tc is not None:
        place(lab.network, read_tc(*tc, lab.network.notes), tc[1], str(whole.get("name", "")))
    return lab.network


def _roles(network: Network) -> None:
    near = network.neighbours()
    for name, node in network.nodes.items():
        if node.forwards is None:
            node.forwards = len(near[name]) > 1
            if node.forwards:
                network.notes.assumed(node.line, f"{name} has several links, so it forwards")
