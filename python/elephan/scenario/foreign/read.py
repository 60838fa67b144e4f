"""`import_network`: a network that another program describes, as a scenario."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError, visible
from elephan.base.paths import as_path
from elephan.base.quantity import bits_per_second, counted
from elephan.scenario.foreign import write
from elephan.scenario.foreign.clab import read_clab
from elephan.scenario.foreign.graphs import read_graph, read_topohub
from elephan.scenario.foreign.matrix import TRANSPORTS, is_matrix, read_matrix, scenario_of
from elephan.scenario.foreign.mininet import read_mininet
from elephan.scenario.foreign.names import named
from elephan.scenario.foreign.network import Link, Network, Node, rate_text, wrong
from elephan.scenario.foreign.offered import (
    FLOWS,
    PAIRS_MAX,
    Demands,
    Graph,
    Routes,
    Shares,
    drawn,
    gravity,
    largest,
    masses,
    sampled,
    shares,
)
from elephan.scenario.foreign.tc import path_of_tc, place, read_tc
from elephan.scenario.foreign.traffic import BUSIEST, Load, Wanted

LARGEST_BYTES = 64 * 2**20
_FORMATS = (
    "GraphML, GML, node-link JSON, containerlab YAML, a Mininet script, lines of tc, a connection matrix of htsim, or topohub:NAME"
)
BULK = "bulk"
RATE_BPS = 1e9
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
    rate: float | str | None = None,
    demands: str | None = None,
    load: float | str | None = None,
    flows: int | None = None,
    traffic: str = "messages",
    transport: str = "tcp",
    size: str | Mapping[str, Any] | None = None,
    open_loop: float | str = 0.0,
    tc: str | os.PathLike[str] | None = None,
) -> Imported:
    """Returns the scenario of a network in a file of another program, or of `topohub:NAME`.

    `rate` is that of links whose file names none, 1 Gb/s unless given (100 Gb/s for a connection matrix of htsim, for which
    nothing else may be given but `transport`: `"tcp"`, or `"uec"` with fabric and parameters of htsim_uec).
    `demands`: `"file"` or `"gravity"`, which gives each pair of nodes a demand in proportion to the product of their masses
    (population, or number of links); without it those of the file, or a few pairs.
    `load` is the total of all demands, or in per cent what the busiest link is offered (`"30 %"`), or links on average
    (`"mean 30 %"`). `flows` is how many demands of a file are kept, the largest, or how
    many pairs are drawn by gravity (at most 2000 unless given). `traffic` is the elastic traffic, `"messages"` or
    `"transfers"`, with its `size` as a scenario has it or the name of a published distribution. `open_loop` is the share of each
    demand that Poisson datagrams are. `tc` is a file with lines of tc for the links.

    >>> from pathlib import Path
    >>> _ = Path("two.gml").write_text('graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 dist 200 bandwidth "10M" ] ]')
    >>> imported = el.import_network("two.gml", flows=1)
    >>> imported.switches, imported.hosts, 'delay = "1 ms"' in imported.text
    (2, 2, True)
    >>> el.import_network("two.gml", demands="gravity", load="mean 30 %", traffic="transfers", open_loop="20 %").flows
    2
    """
    bps = None if rate is None else bits_per_second(rate)
    if bps is not None and not 1 <= bps <= 1e14:
        raise InputError(f"a rate is from 1 bps to 100 Tbps, not {bps:g} bps")
    if (found := _matrix(file)) is not None:
        if (demands, load, flows, tc) != (None, None, None, None):
            raise InputError("a connection matrix has its own demands: only rate and transport go with it")
        if transport not in TRANSPORTS:
            raise InputError(f"transport {visible(transport)}: known are {', '.join(TRANSPORTS)}")
        matrix = read_matrix(*found)
        text, switches, hosts, links = scenario_of(matrix, bps, transport)
        return Imported(text, matrix.notes.lines(), switches, hosts, links, len(matrix.connections))
    if transport != "tcp":
        raise InputError("transport goes with a connection matrix of htsim; demands of others go over TCP")
    wanted = Wanted.read(demands, load, flows, traffic, size, open_loop)
    return _scenario(_read(file, tc), RATE_BPS if bps is None else bps, wanted)


def _matrix(file: str | os.PathLike[str]) -> tuple[str, str] | None:
    """Returns the text and the name of a file that is a connection matrix."""
    if os.fspath(file).startswith("topohub:"):
        return None
    path = as_path(file, "network")
    text = _text(path)
    return (text, str(path)) if is_matrix(text) else None


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
    network.bundle(rate_text(bps))


def _attached(network: Network) -> Network:
    """Returns the network with a host at each switch, for what the demands load; the names are those of the nodes."""
    whole = Network(network.notes, network.format, {name: Node(name, 0, True) for name in network.nodes}, list(network.links))
    for name in network.nodes:
        whole.nodes[f"{name}\0"] = Node(f"{name}\0", 0, False)
        link = Link(f"{name}\0", name, 0)
        link.both(**write.ACCESS)
        whole.links.append(link)
    return whole


def _scenario(network: Network, bps: float, wanted: Wanted) -> Imported:
    _complete(network, bps)
    ends = write.Ends(network, named(network))
    routes = Routes(Graph.of(network))
    demands, of = _demands(network, ends, routes, wanted)
    if not demands:
        raise wrong(network.notes.name, 0, "no two hosts reach each other over links and switches")
    if of == BULK:
        network.notes.assumed(0, "one bulk flow: the file says nothing of traffic")
        traffic = list(write.bulk_lines(ends, next(iter(demands))))
    else:
        unit_bps = _unit(network, ends, demands, of, wanted)
        traffic = list(wanted.lines(ends, demands, unit_bps, of))
    network.notes.assumed(0, "a queue of 1000 packets at ports of switches of which the file says none")
    if ends.attached:
        network.notes.assumed(0, "a host at each node, over 10 Gb/s without delay")
    name = network.notes.name
    short = name.removeprefix("topohub:") if name.startswith("topohub:") else Path(name).name
    title = f"{short}: {counted(len(network.nodes), 'node')}, {counted(len(network.links), 'link')}"
    links = [line for one in network.links for line in (*write.link_lines(one, ends.name, ends.hosts, network.notes.name), "")]
    text = "\n".join([*write.head(network, title), *write.node_lines(ends, network), *links, *traffic]) + "\n"
    hosts = len(ends.attached) or len(ends.hosts)
    return Imported(text, network.notes.lines(), len(ends.switches), hosts, len(network.links), len(demands))


def _demands(network: Network, ends: write.Ends, routes: Routes, wanted: Wanted) -> tuple[Demands, str]:
    """Returns the demands by pairs of nodes, and what they are: those of the file, by gravity, or one bulk flow."""
    if wanted.demands == "gravity":
        mass, what = masses(network, ends.sends, routes)
        network.notes.assumed(0, f"demands in proportion to the product of the masses of both nodes (gravity); mass: {what}")
        whole, most = gravity(mass, routes), wanted.flows or PAIRS_MAX
        if len(whole) <= most:
            return whole, "gravity"
        network.notes.assumed(0, f"demands of {most} of {len(whole)} pairs, drawn by gravity; --flows takes more")
        return sampled(whole, most), "gravity"
    if wanted.demands == "file" and not network.matrix:
        raise wrong(network.notes.name, 0, "the file has no demands; take demands gravity")
    found = {pair: amount for pair, amount in network.demands.items() if _reached(pair, network, routes)}
    if found:
        return _fewer(found, network, wanted.flows), "demand"
    asked = wanted.flows is not None or wanted.load is not None
    if network.format in _GRAPHS or asked:
        return drawn(masses(network, ends.sends, routes)[0], routes, wanted.flows or FLOWS), "gravity"
    return dict([((a, b), 1.0) for b in reversed(ends.sends) for a in ends.sends if routes.reach(a, b)][:1]), BULK


def _fewer(demands: Demands, network: Network, flows: int | None) -> Demands:
    """Returns the demands, or the largest if their number is limited."""
    if flows is None or len(demands) <= flows:
        return demands
    kept = largest(demands, flows)
    share = 1 - sum(kept.values()) / sum(demands.values())
    network.notes.left_out(0, f"{len(demands) - flows} smaller demands, by --flows: {100 * share:.2g} % of the matrix")
    return kept


def _reached(pair: tuple[str, str], network: Network, routes: Routes) -> bool:
    if {*pair} <= {*network.nodes} and routes.reach(*pair):
        return True
    network.notes.left_out(0, f"the demand from {pair[0]} to {pair[1]}: no path")
    return False


def _unit(network: Network, ends: write.Ends, demands: Demands, of: str, wanted: Wanted) -> float:
    """Returns the load in bit/s of one unit of demand, and tells what it is."""
    whole, total = network, sum(demands.values())
    pairs = demands
    if ends.attached:
        whole, pairs = _attached(network), {(f"{a}\0", f"{b}\0"): amount for (a, b), amount in demands.items()}
    most = shares(whole, pairs, Routes(Graph.of(whole)))
    unit = _of_load(wanted.load or Load("busiest", BUSIEST), most, total)
    what = "the matrix" if of == "demand" else "demands by gravity (the file has none)"
    said = "demands are " if wanted.demands == "gravity" else f"one unit of {what} is {rate_text(unit)}: "
    said += f"{rate_text(unit * total)} in all, {100 * unit * most.busiest:.3g} % of the busiest link, "
    said += f"{100 * unit * most.mean:.3g} % of links on average"
    network.notes.assumed(0, f"{said}; {wanted.words()}")
    return unit


def _of_load(load: Load, of_unit: Shares, total: float) -> float:
    """Returns the load in bit/s of one unit of demand that a load asks for."""
    if load.kind == "rate":
        return load.amount / total
    return load.amount / (of_unit.mean if load.kind == "mean" else of_unit.busiest)
