"""`import_network`: a network that another program describes, as a scenario."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from elephan.base.errors import InputError
from elephan.base.paths import as_path
from elephan.base.quantity import bits_per_second, counted
from elephan.scenario.foreign import write
from elephan.scenario.foreign.clab import read_clab
from elephan.scenario.foreign.graphs import read_graph, read_topohub
from elephan.scenario.foreign.mininet import read_mininet
from elephan.scenario.foreign.names import named
from elephan.scenario.foreign.network import Link, Network, Node, number_and_unit, rate_text, wrong
from elephan.scenario.foreign.offered import FLOWS, Routes, busiest, gravity, largest
from elephan.scenario.foreign.tc import path_of_tc, place, read_tc

BUSIEST = 0.5  # what the busiest link is offered of its rate, unless told otherwise
LARGEST_BYTES = 64 * 2**20
_FORMATS = "GraphML, GML, node-link JSON, containerlab YAML, a Mininet script, lines of tc, or topohub:NAME"
_GRAPHS = ("GraphML", "GML", "JSON")


@dataclass(frozen=True)
class Imported:
    """A scenario made of a foreign network. `el.run` takes it as it is."""

    text: str  # TOML
    notes: list[str]  # what was not taken over, and what was assumed, one line each
    switches: int
    hosts: int
    links: int
    flows: int

    def to_toml(self) -> str:
        return self.text


def import_network(
    file: str | os.PathLike[str],
    *,
    rate: float | str = "1 Gbps",
    load: float | str | None = None,
    flows: int | None = None,
    tc: str | os.PathLike[str] | None = None,
) -> Imported:
    """Returns the scenario of a network in a file of another program, or of `topohub:NAME`.

    `rate` is that of links whose file names none. `load` is the total of all demands, or in per cent ("30 %") what the
    busiest link is offered. `flows` is how many demands are kept or drawn. `tc` is a file with lines of tc for the links.

    >>> from pathlib import Path
    >>> _ = Path("two.gml").write_text('graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 dist 200 bandwidth "10M" ] ]')
    >>> imported = el.import_network("two.gml", flows=1)
    >>> imported.switches, imported.hosts, 'delay = "1 ms"' in imported.text
    (2, 2, True)
    """
    bps = bits_per_second(rate)
    if not 1 <= bps <= 1e14:
        raise InputError(f"a rate is from 1 bps to 100 Tbps, not {bps:g} bps")
    if flows is not None and flows < 1:
        raise InputError(f"flows is at least 1, not {flows}")
    network = _read(file, tc)
    return _scenario(network, bps, _share_or_rate(load), flows)


def _share_or_rate(load: float | str | None) -> tuple[str, float] | None:
    """Returns ("share", 0.3) of "30 %", ("rate", bit/s) of a rate, or None."""
    if load is None:
        return None
    percent = number_and_unit(load) if isinstance(load, str) else None
    if percent is not None and percent[1] == "%":
        if not 0 < percent[0] <= 1000:
            raise InputError(f"a load in per cent is above 0 and at most 1000 %, not {load}")
        return "share", percent[0] / 100
    bps = bits_per_second(load)
    if not bps >= 1:
        raise InputError(f"a load is at least 1 bps, not {load}")
    return "rate", bps


def _text(path: Path) -> str:
    try:
        if path.is_file() and path.stat().st_size > LARGEST_BYTES:
            raise InputError(f"{path}: more than 64 MiB are no description of a network")
        data = path.read_bytes() if path.is_file() or not path.exists() or path.is_dir() else b""
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise wrong(str(path), data.count(b"\n", 0, error.start) + 1, "not UTF-8") from None


def format_of(text: str, name: str) -> str:
    """Returns the format of a text, by what it says and how its file is called."""
    ending = Path(name).suffix.lower()
    begin = text.lstrip()[:400]
    if ending == ".graphml" or (begin.startswith("<") and "<graphml" in text):
        return "GraphML"
    if ending == ".py":
        return "Mininet"
    if ending in (".yml", ".yaml"):
        return "containerlab"
    if ending == ".json" or begin.startswith("{"):
        return "JSON"
    if ending == ".gml" or re.search(r"^\s*graph\s*\[", text, re.MULTILINE):
        return "GML"
    if re.search(r"^[^#\n]*\b(tc\s+(qdisc|class)\b|tools netem set\b)", text, re.MULTILINE) and "addLink(" not in text:
        return "tc"
    if re.search(r"^topology:", text, re.MULTILINE):
        return "containerlab"
    if re.search(r"\badd(Link|Host|Switch)\(", text):
        return "Mininet"
    raise wrong(name, 1, f"no network that elephan reads: {_FORMATS}")


def _read(file: str | os.PathLike[str], tc: str | os.PathLike[str] | None) -> Network:
    said = os.fspath(file)
    if said.startswith("topohub:"):
        if tc is not None:
            raise InputError("tc goes with containerlab and Mininet: its lines name devices")
        return read_topohub(said.removeprefix("topohub:"))
    path = as_path(file, "network")
    text, name = _text(path), str(path)
    format = format_of(text, name)
    if tc is not None and format not in ("containerlab", "Mininet"):
        raise InputError("tc goes with containerlab and Mininet: its lines name devices")
    beside = (_text(as_path(tc, "tc")), str(as_path(tc, "tc"))) if tc is not None else None
    if format == "containerlab":
        return read_clab(text, name, beside)
    if format == "tc":
        return path_of_tc(text, name)
    if format == "Mininet":
        network = read_mininet(text, name)
        if beside is not None:
            place(network, read_tc(*beside, network.notes), beside[1])
        return network
    if (entity := text.find("<!ENTITY")) >= 0 and format == "GraphML":
        raise wrong(name, text.count("\n", 0, entity) + 1, "an XML file with entities of its own is not read")
    return read_graph(text, name, format)


def _complete(network: Network, bps: float) -> None:
    """Drops nodes without a link, and gives links without a rate or delay the assumed ones; both are told."""
    near = network.neighbours()
    for name, node in list(network.nodes.items()):
        if not near[name]:
            network.notes.left_out(node.line, f"{name}: no link reaches it")
            del network.nodes[name]
    if not network.links:
        raise wrong(network.notes.name, 0, "no link between two nodes")
    for link in network.links:
        for key, text in (("rate", rate_text(bps)), ("delay", "0 s")):
            if not all(key in way for way in link.ways):
                whose = "links of which the file says none"
                network.notes.assumed(link.line, f"{key} = {text} for {whose}")
                link.why.append(f"{key} assumed")
                for way in link.ways:
                    way.setdefault(key, text)


def _attached(network: Network) -> Network:
    """Returns the network with a host at each switch, for what the demands load; the names are those of the nodes."""
    whole = Network(network.notes, network.format, {name: Node(name, 0, True) for name in network.nodes}, list(network.links))
    for name in network.nodes:
        whole.nodes[f"{name}\0"] = Node(f"{name}\0", 0, False)
        link = Link(f"{name}\0", name, 0)
        link.both(**write.ACCESS)
        whole.links.append(link)
    return whole


def _scenario(network: Network, bps: float, load: tuple[str, float] | None, flows: int | None) -> Imported:
    _complete(network, bps)
    ends = write.Ends(network, named(network))
    routes = Routes(network)
    demands = {pair: amount for pair, amount in network.demands.items() if _reached(pair, network, routes)}
    if network.matrix and flows is not None and len(demands) > flows:
        network.notes.left_out(0, f"{len(demands) - flows} smaller demands, by --flows")
        demands = largest(demands, flows)
    bulk = not demands and flows is None and load is None and network.format not in _GRAPHS
    demands = demands or gravity(network, ends.sends, routes, 1 if bulk else flows or FLOWS)
    if bulk:
        demands = next(({(a, b): 1.0} for b in reversed(ends.sends) for a in ends.sends if a != b and b in routes.before(a)), {})
    if not demands:
        raise wrong(network.notes.name, 0, "no two hosts reach each other over links and switches")
    unit_bps = 1.0 if bulk else _unit(network, ends, demands, load)
    if bulk:
        network.notes.assumed(0, "one bulk flow: the file says nothing of traffic")
        traffic = list(write.bulk_lines(ends, next(iter(demands))))
    else:
        traffic = list(write.traffic_lines(ends, demands, unit_bps, "demand" if network.matrix else "gravity"))
    network.notes.assumed(0, "a queue of 1000 packets at ports of switches of which the file says none")
    if ends.attached:
        network.notes.assumed(0, "a host at each node, over 10 Gb/s without delay")
    title = f"{Path(network.notes.name).name}: {counted(len(network.nodes), 'node')}, {counted(len(network.links), 'link')}"
    links = [line for one in network.links for line in (*write.link_lines(one, ends.name, ends.hosts, network.notes.name), "")]
    text = "\n".join([*write.head(network, title), *write.node_lines(ends), *links, *traffic]) + "\n"
    hosts = len(ends.attached) or len(ends.hosts)
    return Imported(text, network.notes.lines(), len(ends.switches), hosts, len(network.links), len(demands))


def _reached(pair: tuple[str, str], network: Network, routes: Routes) -> bool:
    if pair[0] in network.nodes and pair[1] in routes.before(pair[0]):
        return True
    network.notes.left_out(0, f"the demand from {pair[0]} to {pair[1]}: no path")
    return False


def _unit(network: Network, ends: write.Ends, demands: dict[tuple[str, str], float], load: tuple[str, float] | None) -> float:
    """Returns the load in bit/s of one unit of demand, and tells what it is."""
    whole, total = network, sum(demands.values())
    pairs = demands
    if ends.attached:
        whole, pairs = _attached(network), {(f"{a}\0", f"{b}\0"): amount for (a, b), amount in demands.items()}
    most = busiest(whole, pairs, Routes(whole))
    unit = load[1] / total if load is not None and load[0] == "rate" else (load[1] if load is not None else BUSIEST) / most
    what = "the matrix" if network.matrix else "demands by gravity (the file has none)"
    said = (
        f"one unit of {what} is {rate_text(unit)}: {rate_text(unit * total)} in all, {100 * unit * most:.3g} % of the busiest link"
    )
    network.notes.assumed(0, f"{said}; messages of {write.SIZE} in the mean")
    return unit
