"""`elephan import` and `el.import_network`: what becomes of networks of other programs, and what is said of the rest."""

from __future__ import annotations

import builtins
import importlib.util
import math
import re
import time
import tomllib
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan import cli
from elephan.base.errors import InputError
from elephan.base.quantity import bits_per_second
from elephan.scenario import core
from elephan.scenario.foreign import network as net
from elephan.scenario.foreign.read import format_of
from elephan.scenario.foreign.tcunits import tc_rate, tc_share, tc_size, tc_time
from elephan.scenario.source import open_source

GRAPHS = pytest.mark.skipif(importlib.util.find_spec("networkx") is None, reason="needs networkx")
YAML = pytest.mark.skipif(importlib.util.find_spec("yaml") is None, reason="needs pyyaml")
TOPOHUB = pytest.mark.skipif(importlib.util.find_spec("topohub") is None, reason="needs topohub")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def imported(name: str, text: str, **given: Any) -> tuple[dict[str, Any], list[str]]:
    """Returns the scenario of a text as a table, and the notes; the core has resolved it."""
    Path(name).write_text(text)
    made = el.import_network(name, **given)
    core.resolved_toml(open_source(made), {})
    return tomllib.loads(made.text), made.notes


def between(scenario: dict[str, Any], a: str, b: str) -> dict[str, Any]:
    """Returns the link from `a` to `b`."""
    (found,) = (link for link in scenario["links"] if link["between"] == [a, b])
    return found


def refused(name: str, text: str, **given: Any) -> str:
    Path(name).write_text(text)
    with pytest.raises(el.InputError) as error:
        el.import_network(name, **given)
    assert "\n" not in str(error.value)
    return str(error.value)


# Lengths, times, rates


@pytest.mark.parametrize(
    ("km", "delay"), [(200, "1 ms"), (0, "0 s"), (1, "5 us"), (273.93, "1.36965 ms"), (20_000, "100 ms"), (0.2, "1 us")]
)
def test_200_km_take_a_millisecond(km: float, delay: str) -> None:
    assert net.delay_of_km(km) == delay


def test_the_great_circle() -> None:
    quarter = math.pi / 2 * net.EARTH_KM
    assert net.great_circle_km((0, 0), (90, 0)) == pytest.approx(quarter)
    assert net.great_circle_km((12, 0), (77, 90)) == pytest.approx(quarter)  # to the pole, from any meridian
    assert net.great_circle_km((5, 5), (5, 5)) == 0
    assert net.great_circle_km((0, 0), (180, 0)) == pytest.approx(2 * quarter)


@pytest.mark.parametrize(
    ("text", "bps"),
    [("10 Gbps", 1e10), ("10 Gbit/s", 1e10), ("10G", 1e10), ("2.5Mb/s", 2.5e6), (1e9, 1e9), ("1000000000", 1e9), ("64 kbps", 64e3)],
)
def test_rates_of_attributes(text: Any, bps: float) -> None:
    assert net.rate_of(text) == bps


@pytest.mark.parametrize("text", ["fast", "10 parsecs", "-1", "0", True, "nan", "1e300", None, ""])
def test_what_is_no_rate(text: Any) -> None:
    assert net.rate_of(text) is None


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (tc_rate, "10mbit", 10e6),
        (tc_rate, "1mbps", 8e6),  # bytes: tc(8)
        (tc_rate, "1kibit", 1024),
        (tc_rate, "500", 500),
        (tc_time, "20ms", 0.02),
        (tc_time, "1s", 1),
        (tc_time, "1500", 0.0015),  # microseconds: tc(8)
        (tc_time, "30usecs", 3e-5),
        (tc_size, "32kb", 32768),
        (tc_size, "1600", 1600),
        (tc_size, "15kbit", 1920),
        (tc_share, "0.5%", 0.005),
        (tc_share, "1", 0.01),
    ],
)
def test_units_of_tc(read: Any, text: str, value: float) -> None:
    assert read(text) == pytest.approx(value, rel=1e-12)


# Graphs

GRAPHML = """<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="edge" attr.name="{key}" attr.type="string"/>
<key id="d1" for="node" attr.name="label" attr.type="string"/>
<graph edgedefault="undirected">
<node id="0"><data key="d1">left</data></node>
<node id="1"><data key="d1">right</data></node>
<edge source="0" target="1"><data key="d0">{value}</data></edge>
</graph></graphml>
"""
PAIR = 'graph [\n node [ id 1 label "a" {node} ]\n node [ id 2 label "b" ]\n edge [ source 1 target 2 {edge} ]\n]\n'


@GRAPHS
@pytest.mark.parametrize(
    ("key", "value", "rate", "delay"),
    [
        ("LinkSpeedRaw", "1e9", "1 Gbps", "0 s"),
        ("bandwidth", "40 Gbit/s", "40 Gbps", "0 s"),
        ("capacity", "155000000", "155 Mbps", "0 s"),
        ("dist", "400", "1 Gbps", "2 ms"),
        ("length", "500 m", "1 Gbps", "2.5 us"),
        ("km", "100", "1 Gbps", "500 us"),
        ("latency", "7 ms", "1 Gbps", "7 ms"),
        ("delay", "3", "1 Gbps", "3 ms"),
    ],
)
def test_attributes_of_graphml(key: str, value: str, rate: str, delay: str) -> None:
    scenario, _ = imported("g.graphml", GRAPHML.format(key=key, value=value))
    link = between(scenario, "left", "right")
    assert (link["rate"], link["delay"]) == (rate, delay)
    assert sorted(scenario["hosts"]) == ["left-host", "right-host"]
    assert between(scenario, "left-host", "left")["rate"] == "10 Gbps"


@GRAPHS
@pytest.mark.parametrize(
    ("node", "edge", "expected"),
    [
        ("", "dist 200 packet_loss 0.01", {"delay": "1 ms", "loss": {"bernoulli": 0.01}}),
        ("", 'latency "50 ms" bandwidth "10 Mbit"', {"delay": "50 ms", "rate": "10 Mbps"}),
        ("", "dist 200 latency 9", {"delay": "9 ms"}),
        ("", "LinkSpeed 2.5 LinkSpeedUnits G", {"rate": "2.5 Gbps"}),
        ("lon 0 lat 0", "", {"delay": "0 s"}),  # the other end has no place
        ("", "weight 7", {"rate": "1 Gbps"}),
    ],
)
def test_attributes_of_gml(node: str, edge: str, expected: dict[str, Any]) -> None:
    quoted = re.sub(r"Units G", 'Units "G"', edge)
    scenario, _ = imported("g.gml", PAIR.format(node=node, edge=quoted))
    link = between(scenario, "a", "b")
    assert {key: link[key] for key in expected} == expected


@GRAPHS
def test_what_a_graph_says_beyond_is_told_with_its_line() -> None:
    text = PAIR.format(node="population 7", edge="weight 3\ncolour 5").replace("]\n]", "]\n edge [ source 2 target 1 ]\n]")
    _, notes = imported("g.gml", text)
    assert "g.gml:2: not taken over: population of nodes" in notes
    assert "g.gml:4: not taken over: weight of links" in notes
    assert any(note.startswith("g.gml:6: assumed: the 2 links between a and b are one with their rates together") for note in notes)


@GRAPHS
@pytest.mark.parametrize(
    ("head", "edges", "there", "back"),
    [
        ("", "1 2 {10M} 1 2 {20M}", 30, 30),
        ("", "1 2 {10M} 2 1 {20M} 1 2 {5M}", 35, 35),
        ("", "1 2 {10M} 1 2 {}", 1010, 1010),  # the second has the rate of --rate, 1 Gb/s
        ("directed 1", "1 2 {10M} 2 1 {20M} 1 2 {5M} 2 1 {7M}", 15, 27),
    ],
)
def test_links_side_by_side_are_one_with_their_rates_together(head: str, edges: str, there: int, back: int) -> None:
    said = re.findall(r"(\d) (\d) {(\w*)}", edges)
    lines = [f"edge [ source {a} target {b} " + (f'bandwidth "{rate}" ]' if rate else "]") for a, b, rate in said]
    scenario, _ = imported("g.gml", "\n".join([f"graph [ {head}", "node [ id 1 ] node [ id 2 ]", *lines, "]"]))
    link = between(scenario, "1", "2")
    found = [(link | link.get(way, {}))["rate"] for way in ("forward", "backward")]
    assert [bits_per_second(rate) / 1e6 for rate in found] == [there, back]


@GRAPHS
def test_coordinates_give_the_length() -> None:
    ends = "".join(
        f'node [ id {one} label "{name}" Longitude {east} Latitude 0 ] ' for one, name, east in ((1, "x", 0), (2, "y", 90))
    )
    text = f"graph [ {ends} edge [ source 1 target 2 ] ]"
    scenario, _ = imported("g.gml", text)
    assert between(scenario, "x", "y")["delay"] == "50.037717 ms"  # a quarter of 2 pi 6371 km at 200 km a ms


@GRAPHS
def test_directions_of_a_directed_graph_are_one_link() -> None:
    edges = "edge [ source 1 target 2 dist 200 ] edge [ source 2 target 1 dist 400 ]"
    text = f'graph [ directed 1 node [ id 1 label "a" ] node [ id 2 label "b" ] {edges} ]'
    scenario, _ = imported("g.gml", text)
    link = between(scenario, "a", "b")
    assert (link["delay"], link["backward"]) == ("1 ms", {"delay": "2 ms"})


@GRAPHS
def test_hosts_of_a_graph_stay_hosts_and_names_are_mended() -> None:
    text = """{"nodes": [{"id": "Zürich HB", "role": "router"}, {"id": 1, "role": "host"}, {"id": 2, "role": "server"}, {"id": 9}],
"links": [
{"source": "Zürich HB", "target": 1},
{"source": "Zürich HB", "target": 2}]}"""
    scenario, notes = imported("net.json", text)
    assert (sorted(scenario["hosts"]), sorted(scenario["switches"])) == (["1", "2"], ["Zurich-HB"])
    assert 'net.json:1: assumed: the name "Zürich HB" becomes Zurich-HB' in notes
    assert "net.json:1: not taken over: 9: no link reaches it" in notes
    assert [link["between"] for link in scenario["links"]] == [["Zurich-HB", "1"], ["Zurich-HB", "2"]]


@GRAPHS
@pytest.mark.parametrize(
    ("name", "text", "line", "words"),
    [
        ("g.gml", PAIR.format(node="", edge='bandwidth "much"'), 4, "bandwidth of the link a - b: 'much' cannot be read"),
        ("g.gml", PAIR.format(node="", edge="dist -5"), 4, "dist of the link"),
        ("g.gml", "graph [\n node [ id 1\n  ? ]\n]", 3, "no GML"),
        ("g.graphml", "<graphml>\n<graph>\n</graphml>", 3, "no GraphML"),
        ("g.graphml", '<!DOCTYPE x [\n<!ENTITY a "b">]>\n<graphml/>', 2, "entities"),
        ("g.json", '{"nodes": [],\n "edges": [}', 2, "no JSON"),
        ("g.json", '{"nodes": [{"id": 1}]}', 1, "it needs nodes and edges"),
        ("g.json", '{"nodes": [{"id": 1}],\n"edges": [\n{"source": 1, "target": 2}]}', 3, "names 2, which is no node"),
        ("g.json", '{"nodes": [{"name": 1}], "edges": []}', 1, "a node without id"),
        ("g.gml", "graph [ node [ id 1 ] node [ id 2 ] ]", 0, "no link between two nodes"),
        ("g.gml", "graph [ node [ id 1 ]\n edge [ source 1 target 1 ] ]", 0, "no link between two nodes"),
    ],
)
def test_wrong_graphs_name_their_line(name: str, text: str, line: int, words: str) -> None:
    told = refused(name, text)
    assert told.startswith(f"{name}:{line}: " if line else f"{name}: ")
    assert words in told


# containerlab

LAB = """name: lab
topology:
  nodes:
    a: {{ kind: linux, image: alpine }}
    b: {{ kind: linux{b} }}
    r: {{ kind: {kind} }}
  links:
    - endpoints: ["a:eth1", "r:e1"]
    - endpoints: ["r:e2", "b:eth1"]{more}
"""


def lab(kind: str = "nokia_srlinux", b: str = "", more: str = "") -> str:
    return LAB.format(kind=kind, b=b, more=more)


@YAML
@pytest.mark.parametrize("kind", ["nokia_srlinux", "linux", "ceos", "bridge"])
def test_roles_of_a_lab(kind: str) -> None:
    scenario, notes = imported("x.clab.yml", lab(kind))
    assert (sorted(scenario["hosts"]), sorted(scenario["switches"])) == (["a", "b"], ["r"])
    assert ("x.clab.yml:6: assumed: r has several links, so it forwards" in notes) == (kind == "linux")
    assert "x.clab.yml:4: not taken over: image of nodes" in notes


@YAML
@pytest.mark.parametrize(
    "line",
    [
        "docker exec clab-lab-b tc qdisc add dev eth1 root netem delay 20ms",
        "sudo ip netns exec clab-lab-b tc qdisc add dev eth1 root netem delay 20ms",
        "ip netns exec b tc qdisc replace dev eth1 root netem latency 20000",
        "tc qdisc add dev b-eth1 root netem delay 20msec",
        "containerlab tools netem set -n clab-lab-b -i eth1 --delay 20ms",
        "containerlab tools netem set --node b --interface=eth1 --delay=20ms",
        "tc qdisc add dev b:eth1 root \\\n  netem delay 20ms",
    ],
)
def test_lines_of_tc_beside_a_lab(line: str) -> None:
    Path("lab.tc").write_text(f"#!/bin/sh\n\n{line}\n")
    scenario, _ = imported("x.clab.yml", lab(), tc="lab.tc")
    link = between(scenario, "r", "b")
    assert (link["delay"], link["backward"]["delay"]) == ("0 s", "20 ms")
    assert between(scenario, "a", "r")["delay"] == "0 s"


@YAML
def test_exec_of_a_node_and_what_leaves_the_lab() -> None:
    b = ', exec: ["tc qdisc add dev eth1 root netem loss 2%", "ip route add default via 10.0.0.1"], mgmt-ipv4: 1.2.3.4'
    more = '\n    - endpoints: ["r:e3", "host:eth7"]\n    - { type: dummy }'
    scenario, notes = imported("x.clab.yml", lab(b=b, more=more))
    assert between(scenario, "r", "b")["backward"]["loss"] == {"bernoulli": 0.02}
    for line, words in (
        (5, "ip route add default via 10.0.0.1: no command of tc"),
        (5, "mgmt-ipv4 of nodes"),
        (10, "leaves the lab"),
        (11, "type dummy"),
    ):
        assert any(note.startswith(f"x.clab.yml:{line}: not taken over: ") and words in note for note in notes), notes


@YAML
def test_a_line_of_tc_for_no_link_is_told() -> None:
    Path("lab.tc").write_text("tc qdisc add dev eth9 root netem delay 1ms\ntc qdisc add dev eth1 root netem delay 1ms\n")
    _, notes = imported("x.clab.yml", lab(), tc="lab.tc")
    assert "lab.tc:1: not taken over: tc of the device eth9: no link has it" in notes
    assert any(note.startswith("lab.tc:2: not taken over: tc of the device eth1: several links have it") for note in notes)


@YAML
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("topology:\n  nodes:\n  - [", 3, "no YAML"),
        ("name: x\n", 1, "no topology.nodes"),
        ("topology: 5\n", 1, "no table of names"),
        ("topology:\n  nodes:\n    a: {}\n", 3, "the node a has no kind"),
        (lab(more='\n    - endpoints: ["a:eth2"]'), 10, "two endpoints"),
        (lab(more='\n    - endpoints: ["a", "b"]'), 10, "two endpoints"),
        (lab(more='\n    - endpoints: ["a:eth2", "ghost:eth1"]'), 10, "ghost, which is no node"),
        (lab(b=', exec: ["tc qdisc add dev eth1 root netem delay soon"]'), 5, '"soon" is no time'),
        ("topology:\n  nodes:\n    a: { kind: linux }\n  links: 7\n", 4, "links is no list"),
        ("topology:\n  nodes:\n    a: { kind: linux }\n    b: { kind: linux }\n", 0, "no link between two nodes"),
    ],
)
def test_wrong_labs_name_their_line(text: str, line: int, words: str) -> None:
    told = refused("x.yml", text)
    assert told.startswith(f"x.yml:{line}: " if line else "x.yml: "), told
    assert words in told


# Mininet


@pytest.mark.parametrize(
    ("body", "hosts"),
    [
        ("a = net.addHost('h1'); b = net.addHost('h2'); net.addLink(a, b)", 2),
        ("for i in range(3):\n    net.addLink(net.addHost('h%d' % i), s)", 3),
        ("for i in range(1, 4):\n    h = net.addHost(f'h{i}')\n    net.addLink(h, s)", 3),
        ("for i in irange(1, 4):\n    net.addLink(net.addHost('h{}'.format(i)), s)", 4),
        ("hosts = [net.addHost('h' + str(i)) for i in range(5)]\nfor h in hosts:\n    net.addLink(h, s)", 5),
        ("a, b = net.addHost('h1'), net.addHost('h2')\nnet.addLink(a, s)\nnet.addLink(b, s)", 2),
        ("hosts = []\nfor i in [1, 2]:\n    hosts.append(net.addHost('h%s' % i))\nnet.addLink(hosts[0], hosts[1])", 2),
        ("net.addHost('h1'); net.addHost('h2')\nfor x, y in (('h1', 's'), ('h2', 's')):\n    net.addLink(x, y)", 2),
        ("n = 2 * 3\nfor i in range(n):\n    if i % 2 == 0:\n        net.addLink(net.addHost('h%d' % i), s)", 3),
        ("def make(k):\n    for i in range(k):\n        net.addLink(net.addHost('h%d' % i), 's')\nmake(2)", 2),
    ],
)
def test_scripts_are_read_by_their_syntax(body: str, hosts: int) -> None:
    scenario, notes = imported("t.py", f"net = Mininet()\ns = net.addSwitch('s')\n{body}\n")
    assert len(scenario["hosts"]) == hosts
    assert not [note for note in notes if "only a run could tell" in note]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("bw=10", {"rate": "10 Mbps"}),
        ("delay='5ms'", {"delay": "5 ms"}),
        ("delay=250", {"delay": "250 us"}),
        ("loss=1", {"loss": {"bernoulli": 0.01}}),
        ("bw=1.5, max_queue_size=100", {"rate": "1.5 Mbps", "queue": {"kind": "fifo", "limit": "100 p"}}),
        ("delay='5ms', jitter='1ms'", {"delay": "4 ms", "jitter": {"extra": {"uniform": ["0 s", "2 ms"]}, "order": "free"}}),
        ("**dict(bw=20, delay='1ms')", {"rate": "20 Mbps", "delay": "1 ms"}),
        ("params1=dict(delay='3ms')", {"delay": "3 ms", "backward": {"delay": "0 s"}}),
        ("cls=TCLink, use_htb=True, bw=5", {"rate": "5 Mbps"}),
        ("bw=LATER", {"rate": "7 Mbps"}),
    ],
)
def test_words_of_add_link(words: str, expected: dict[str, Any]) -> None:
    scenario, _ = imported("t.py", f"LATER = 7\nnet.addHost('a'); net.addHost('b')\nnet.addLink('a', 'b', {words})\n")
    link = between(scenario, "a", "b")
    assert {key: link[key] for key in expected} == expected


def test_a_class_has_the_values_of_its_call_and_is_not_run() -> None:
    text = """import os
os.remove("t.py")
class Tree(Topo):
    def build(self, n=2, bw=1):
        self.s = self.addSwitch("s1")
        for i in range(n):
            self.addLink(self.addHost("h%d" % i, ip="10.0.0.1"), self.s, bw=bw)
        for host in open("hosts"):
            self.addLink(host, self.s)
topos = {"tree": (lambda: Tree())}
net = Mininet(topo=Tree(4, bw=9))
net.get("h0").cmd("tc qdisc add dev h0-eth0 root netem delay 8ms")
"""
    scenario, notes = imported("t.py", text)
    assert Path("t.py").exists()
    assert sorted(scenario["hosts"]) == ["h0", "h1", "h2", "h3"]
    assert (between(scenario, "h0", "s1")["rate"], between(scenario, "h0", "s1")["delay"]) == ("9 Mbps", "8 ms")
    assert "t.py:7: not taken over: ip of addHost (4 times)" in notes
    assert "t.py:8: not taken over: for host in open('hosts'): only a run could tell" in notes
    assert "t.py:10: not taken over: Tree(): the network is that of Tree(4, bw=9)" in notes


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("def f(:\n  addLink(", 1, "no Python"),
        ("x = 1\n", 0, "no addHost or addSwitch"),
        ("net.addHost('a')\nnet.addLink('a', 'b')", 2, "addLink names b"),
        ("net.addHost('a'); net.addHost('b')\nnet.addLink('a', 'b', bw='fast')", 2, "addLink: "),
        ("net.addHost('a'); net.addHost('b')\nnet.addLink('a', 'b', delay='soon')", 2, '"soon" is no time'),
        ("net.addHost('a'); net.addHost('b')\n\nnet.addLink('a', 'b', loss=101)", 3, "no percentage"),
        ("net.addHost('a'); net.addHost('b')\nnet.addLink('a', 'b', bw=-1)", 2, "no bandwidth"),
        ("net.addHost('a'); net.addHost('b')", 0, "no link between two nodes"),
        ("for i in range(100000):\n    for j in range(100000):\n        x = net.addHost('a')", 3, "more than 200000 statements"),
        ("net.addHost('a'); net.addSwitch('b')\nnet.addLink('a', 'b')", 0, "no two hosts reach each other"),
    ],
)
def test_wrong_scripts_name_their_line(text: str, line: int, words: str) -> None:
    told = refused("t.py", text)
    assert told.startswith(f"t.py:{line}: " if line else "t.py: "), told
    assert words in told


# tc


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("netem delay 20ms", {"delay": "20 ms"}),
        ("netem delay 20ms 5ms", {"delay": "15 ms", "jitter": {"extra": {"uniform": ["0 s", "10 ms"]}, "order": "free"}}),
        (
            "netem delay 20ms 5ms rate 1mbit",
            {"rate": "1 Mbps", "jitter": {"extra": {"uniform": ["0 s", "10 ms"]}, "order": "keep"}},
        ),
        ("netem loss 1%", {"loss": {"bernoulli": 0.01}}),
        ("netem loss random 0.5% 25%", {"loss": {"bernoulli": 0.005}}),
        (
            "netem loss gemodel 1% 10% 70% 0.1%",
            {"loss": {"gilbert_elliott": {"to_bad": 0.01, "to_good": 0.1, "loss_bad": 0.7, "loss_good": 0.001}}},
        ),
        (
            "netem loss gemodel 2%",
            {"loss": {"gilbert_elliott": {"to_bad": 0.02, "to_good": 0.98, "loss_bad": 1.0, "loss_good": 0.0}}},
        ),
        ("netem duplicate 2%", {"duplicate": 0.02}),
        ("netem delay 10ms reorder 25% 50%", {"delay": "0 s", "reorder": {"share": 0.75, "extra": "10 ms"}}),
        ("netem loss 10% corrupt 10%", {"loss": {"bernoulli": 0.19}}),
        ("netem rate 10mbit limit 50", {"rate": "10 Mbps", "queue": {"kind": "fifo", "limit": "50 p"}}),
        ("netem delay 1ms", {"queue": {"kind": "fifo", "limit": "1000 p"}}),
        (
            "tbf rate 5mbit burst 32kbit latency 400ms",
            {"queue": {"kind": "tbf", "rate": "5 Mbps", "burst": "4096 B", "latency": "400 ms"}},
        ),
        (
            "tbf rate 5mbit burst 1k limit 10000",
            {"queue": {"kind": "tbf", "rate": "5 Mbps", "burst": "1518 B", "limit": "10000 B"}},
        ),
        ("fq_codel limit 300 target 3ms noecn", {"queue": {"kind": "fq_codel", "limit": "300 p", "target": "3 ms", "ecn": False}}),
        ("codel ecn interval 50ms", {"queue": {"kind": "codel", "ecn": True, "interval": "50 ms"}}),
        ("cake bandwidth 20mbit metro nat", {"queue": {"kind": "cake", "bandwidth": "20 Mbps", "rtt": "10 ms"}}),
        ("pfifo limit 7", {"queue": {"kind": "fifo", "limit": "7 p"}}),
        ("bfifo limit 30k", {"queue": {"kind": "fifo", "limit": "30720 B"}}),
    ],
)
def test_qdiscs_are_keys(line: str, expected: dict[str, Any]) -> None:
    scenario, _ = imported("q.sh", f"tc qdisc add dev eth0 root {line}\n")
    link = between(scenario, "router", "receiver")
    link |= link.get("forward", {})
    assert {key: link[key] for key in expected} == expected


def test_disciplines_of_one_device_add_up_and_htb_has_a_rate() -> None:
    text = """tc qdisc add dev eth0 root netem delay 9s
tc qdisc del dev eth0 root
tc qdisc add dev eth0 root handle 1: htb default 12
tc class add dev eth0 parent 1: classid 1:11 htb rate 1mbit
tc class add dev eth0 parent 1: classid 1:12 htb rate 8mbit ceil 8mbit
tc qdisc add dev eth0 parent 1:12 handle 12: netem delay 10ms limit 77
tc qdisc add dev eth1 root fq_codel
tc qdisc add dev eth2 root codel
"""
    scenario, notes = imported("q.sh", text)
    link = between(scenario, "router", "receiver")
    assert (link["rate"], link["delay"]) == ("8 Mbps", "10 ms")
    assert link["forward"]["queue"] == {"kind": "fifo", "limit": "77 p"}
    assert link["backward"] == {"queue": {"kind": "fq_codel"}, "rate": "1 Gbps", "delay": "0 s"}
    assert "q.sh:3: not taken over: classes of htb on eth0 but for 12: a link has one rate" in notes
    assert "q.sh:8: not taken over: tc of the device eth2: a path has two directions" in notes


def test_normal_jitter_has_the_quantiles_of_a_normal_distribution() -> None:
    scenario, _ = imported("q.sh", "tc qdisc add dev eth0 root netem delay 100ms 10ms distribution normal\n")
    link = between(scenario, "router", "receiver")
    points = dict((link | link.get("forward", {}))["jitter"]["extra"]["cdf"])
    assert link["delay"] == "60 ms"
    assert (points["30 ms"], points["40 ms"], points["50 ms"]) == (0.158655, 0.5, 0.841345)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("tc qdisc add dev eth0 root netem delay 1ms slot 3ms", "netem slot 3ms"),
        ("tc qdisc add dev eth0 root netem delay 1ms 1ms 25%", "netem delay correlation 25%"),
        ("tc qdisc add dev eth0 root netem delay 9ms 1ms distribution pareto", "netem distribution pareto: it is uniform here"),
        ("tc qdisc add dev eth0 root cake bandwidth 1mbit diffserv4", "cake diffserv4"),
        ("tc qdisc add dev eth0 root choke limit 3", "the qdisc choke"),
        ("tc filter add dev eth0 u32", "tc filter add"),
        ("tc qdisc add dev eth0 ingress", "tc qdisc ingress"),
        ("ethtool -K eth0 tso off", "ethtool -K eth0 tso off: no command of tc"),
        (
            "tc qdisc add dev eth0 root tbf rate 1mbit burst 10 latency 9ms",
            "tbf burst 10 B: it is 1518 B here, which holds one frame",
        ),
        ("tc qdisc show dev eth0", "tc qdisc show"),
    ],
)
def test_what_a_link_cannot_do_is_told_with_its_line(line: str, words: str) -> None:
    _, notes = imported("q.sh", f"tc qdisc add dev eth0 root netem delay 1ms\n\n{line}\n")
    assert f"q.sh:3: not taken over: {words}" in notes


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("tc qdisc add dev eth0 root netem delay", "delay has no value"),
        ("tc qdisc add dev eth0 root netem delay 5parsec", '"5parsec" is no time'),
        ("tc qdisc add dev eth0 root netem loss 200%", '"200%" is no percentage'),
        ("tc qdisc add dev eth0 root netem loss gemodel", "loss gemodel has no value"),
        ("tc qdisc add dev eth0 root netem limit many", '"many" is no whole number'),
        ("tc qdisc add dev eth0 root tbf rate fast", '"fast" is no rate'),
        ("tc qdisc add dev eth0 root tbf rate 1mbit burst lots", '"lots" is no size'),
        ("tc qdisc add root netem delay 1ms", "no dev"),
        ("tc class add dev eth0 parent 1: classid 1:1 htb", "a class of htb has no rate"),
        ("tc qdisc add dev eth0 root netem delay '1ms", "No closing quotation"),
    ],
)
def test_wrong_lines_of_tc_name_their_line(line: str, words: str) -> None:
    told = refused("q.sh", f"tc qdisc add dev eth0 root netem delay 1ms\n{line}\n")
    assert told.startswith("q.sh:2: ")
    assert words in told


# Traffic

MATRIX = """{"graph": {"demands": {"1": {"2": 30, "3": 10}, "3": {"1": 60}}}, "nodes": [{"id": 1}, {"id": 2}, {"id": 3}],
"edges": [{"source": 1, "target": 2, "dist": 200}, {"source": 2, "target": 3, "dist": 200}]}"""


def loads(scenario: dict[str, Any]) -> dict[str, str]:
    return {f"{one['from']} {one['to']}": one["load"] for one in scenario["traffic"]}


@GRAPHS
@pytest.mark.parametrize(
    ("load", "expected"),
    [
        ("100 Mbps", ("30 Mbps", "10 Mbps", "60 Mbps")),  # one unit is 1 Mb/s
        ("1 Gbps", ("300 Mbps", "100 Mbps", "600 Mbps")),
        ("30 %", ("150 Mbps", "50 Mbps", "300 Mbps")),  # 60 from 3 to 1 is the most on a link: 300 Mb/s of 1 Gb/s
        (None, ("250 Mbps", "83.333333 Mbps", "500 Mbps")),  # 50 %
    ],
)
def test_loads_are_those_of_the_matrix(load: str | None, expected: tuple[str, ...]) -> None:
    scenario, _ = imported("m.json", MATRIX, load=load)
    assert loads(scenario) == dict(zip(("1-host 2-host", "1-host 3-host", "3-host 1-host"), expected, strict=True))


@GRAPHS
def test_the_largest_demands_are_kept() -> None:
    scenario, notes = imported("m.json", MATRIX, flows=2, load="90 Mbps")
    assert loads(scenario) == {"1-host 2-host": "30 Mbps", "3-host 1-host": "60 Mbps"}
    assert "m.json: not taken over: 1 smaller demands, by --flows: 10 % of the matrix" in notes


@GRAPHS
def test_gravity_draws_the_same_pairs_again() -> None:
    one, _ = imported("m.json", MATRIX.replace("demands", "nothing"), flows=3)
    two, _ = imported("m.json", MATRIX.replace("demands", "nothing"), flows=3)
    assert one == two
    assert len({tuple(flow["from"] + flow["to"]) for flow in one["traffic"]}) == 3


@GRAPHS
def test_a_run_carries_the_demands() -> None:
    scenario, _ = imported("m.json", MATRIX, load="100 Mbps")
    run = el.run(scenario, set={"duration": "6 s", "warmup": "1 s"})
    assert run.statistic("goodput_bps.sum") == pytest.approx(100e6, rel=0.15)


# The command, and what is installed


@pytest.mark.parametrize(
    ("name", "text", "format"),
    [
        ("x", "<?xml version='1.0'?><graphml/>", "GraphML"),
        ("x.xml", "<graphml/>", "GraphML"),
        ("x", 'Creator "me"\ngraph [\n]', "GML"),
        ("x", '{"nodes": []}', "JSON"),
        ("x", "topology:\n  nodes: {}\n", "containerlab"),
        ("x.txt", "from mininet.net import Mininet\nnet.addHost('a')\n", "Mininet"),
        ("x.py", "", "Mininet"),
        ("x", "sudo tc qdisc add dev eth0 root netem\n", "tc"),
        ("x.yaml", "", "containerlab"),
        ("x.graphml", "", "GraphML"),
    ],
)
def test_formats_are_told_apart(name: str, text: str, format: str) -> None:
    assert format_of(text, name) == format


def test_the_command_writes_a_scenario_and_tells_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    Path("q.sh").write_text("tc qdisc add dev eth0 root netem delay 20ms slot 1ms\n")
    assert cli.status_of(["import", "q.sh", "--out", "q.toml", "--rate", "20 Mbps"]) == 0
    told = capsys.readouterr()
    assert told.out == "q.toml: 1 switch, 2 hosts, 2 links, 1 flow\nelephan run q.toml\n"
    assert "q.sh:1: not taken over: netem slot 1ms" in told.err.splitlines()
    text = Path("q.toml").read_text()
    assert "# q.sh:1: not taken over: netem slot 1ms" in text
    assert "# q.sh: assumed: rate = 20 Mbps for links of which the file says none" in text
    assert cli.status_of(["import", "q.sh"]) == 0
    assert 'delay = "20 ms"' in capsys.readouterr().out
    assert cli.status_of(["run", "q.toml", "-s", "duration=2 s", "--no-report", "--out", "result"]) == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["missing.gml"], "missing.gml: No such file or directory"),
        (["."], ".: Is a directory"),
        (["plain.txt"], "plain.txt:1: no network that elephan reads: GraphML, GML"),
        (["latin.gml"], "latin.gml:2: not UTF-8"),
        (["q.sh", "--rate", "fast"], '"fast" is not a rate'),
        (["q.sh", "--load", "0 %"], "a load in per cent is above 0"),
        (["q.sh", "--flows", "0"], "0 is not a whole number from 1"),
        (["q.sh", "--tc", "q.sh"], "tc goes with containerlab and Mininet"),
        (["q.sh", "--out", "q.sh"], "it is the file to read"),
        (["q.sh", "--out", "no/where.toml"], "No such file or directory"),
    ],
)
def test_wrong_commands_are_one_line(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("q.sh").write_text("tc qdisc add dev eth0 root netem delay 20ms\n")
    Path("plain.txt").write_text("Dear reader\n")
    Path("latin.gml").write_bytes(b"graph [\n label \xfc ]")
    assert cli.status_of(["import", *words]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert told in lines[-1]


@pytest.mark.parametrize(
    ("package", "name", "text", "words"),
    [
        ("networkx", "g.gml", PAIR, "NetworkX"),
        ("yaml", "g.yml", "topology:", "PyYAML"),
        ("topohub", "topohub:sndlib/polska", "", "topohub"),
    ],
)
def test_a_missing_package_is_one_line(package: str, name: str, text: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(wanted: str, *rest: Any) -> Any:
        if wanted == package:
            raise ImportError
        return real(wanted, *rest)

    if text:
        Path(name).write_text(text)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(el.InputError, match=re.escape(f"{words} is not installed: pip install 'elephan[topologies]'")):
        el.import_network(name)


# topohub


@GRAPHS
@TOPOHUB
def test_a_topology_of_topohub() -> None:
    made = el.import_network("topohub:sndlib/polska", load="9943 Mbps")  # the sum of its matrix
    scenario = tomllib.loads(made.text)
    assert (made.switches, made.hosts, made.links, made.flows) == (12, 12, 18, 66)
    assert between(scenario, "Gdansk", "Warsaw")["delay"] == "1.36965 ms"  # 273.93 km
    assert loads(scenario)["Gdansk-host Bydgoszcz-host"] == "195 Mbps"
    core.resolved_toml(open_source(made), {})


@TOPOHUB
def test_an_unknown_topology_is_one_line() -> None:
    with pytest.raises(el.InputError, match="topohub has no such topology"):
        el.import_network("topohub:sndlib/atlantis")


@pytest.mark.slow
@GRAPHS
@TOPOHUB
def test_all_topologies_of_topohub() -> None:
    import topohub

    folder = Path(topohub.__file__).parent / "data"
    names = sorted(file.relative_to(folder).with_suffix("").as_posix() for file in folder.rglob("*.json"))
    assert len(names) > 700
    for name in names:
        made = el.import_network(f"topohub:{name}")
        core.resolved_toml(open_source(made), {})
        assert made.flows > 0


@pytest.mark.slow
@GRAPHS
@TOPOHUB
def test_the_largest_topology_is_set_up_fast() -> None:
    begin = time.process_time()
    made = el.import_network("topohub:backbone/world")
    assert time.process_time() - begin < 5
    assert (made.switches, made.links) == (3815, 5189)


CONNECTIONS = """Nodes 16
Connections 3
Triggers 1
0->5 id 1 start 0 size 2000000 send_done_trigger 1
0->9 id 2 trigger 1 size 1000000
3->9 id 3 start 4000000 size 4000
trigger id 1 oneshot
"""


def test_a_matrix_of_htsim_is_a_fat_tree_with_its_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Starts are picoseconds: 2 MB at 100 Gb/s from 0, 4 KB after 4 us."""
    monkeypatch.chdir(tmp_path)
    Path("two.cm").write_text("Nodes 16\nConnections 2\n0->5 start 0 size 2000000\n3->9 start 4000000 size 4000\n")
    made = el.import_network("two.cm")
    assert (made.hosts, made.switches, made.links, made.flows) == (16, 20, 48, 2)
    flows = el.run(made).flows.to_pylist()
    found = [(row["source"], row["destination"], row["size_bytes"], row["start_ns"], row["completed"]) for row in flows]
    assert found == [("host[0]", "host[5]", 2_000_000, 0, True), ("host[3]", "host[9]", 4000, 4000, True)]


def test_triggers_of_a_matrix_become_what_requires_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chain.cm").write_text(CONNECTIONS)
    made = el.import_network("chain.cm", rate="10 Gbps")
    run = el.run(made, set={"record.operations": True})
    sends = {row["bytes"]: row for row in run.operations.to_pylist() if row["kind"] == "send"}
    assert sends[1_000_000]["begin_ns"] > sends[2_000_000]["end_ns"] > 2e6 * 8 / 10
    assert sends[4000]["begin_ns"] == 4000
    # From 0->5 at its receiver to 3->9 at its sender: another node, so that a message carries it.
    Path("across.cm").write_text(CONNECTIONS.replace("send_done", "recv_done").replace("0->9", "3->9"))
    across = el.import_network("across.cm", rate="10 Gbps")
    assert any("a message of 1 B carries a trigger from one node to another" in note for note in across.notes)
    sends = {
        row["bytes"]: row for row in el.run(across, set={"record.operations": True}).operations.to_pylist() if row["kind"] == "send"
    }
    assert sends[2_000_000]["end_ns"] <= sends[1]["begin_ns"] < sends[1]["end_ns"] <= sends[1_000_000]["begin_ns"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("Connections 3", "Connections 4"), "Connections 4, and 3 lines with A->B"),
        (("0->5", "0->16"), ":4: node 16: there are 16, from 0 on"),
        (("3->9", "9->9"), ":6: node 9 sends to itself"),
        (("size 4000", "size \u00b2"), ":6: size \u00b2: a whole number is to stand there"),
        (("start 4000000 size", "trigger 2 size"), ":6: trigger 2 is nowhere described"),
        (("size 4000", "size x"), ":6: size x: a whole number is to stand there"),
        (("start 4000000", "start soon"), ":6: start soon: a time in picoseconds is to stand there"),
        (("size 4000", "sizes 4000"), ":6: sizes: known are id, start, size"),
        (("oneshot", "multishot"), ":7: multishot: a connection that starts several times is not read"),
        (("oneshot", "barrier count 2"), ":7: barrier of 2, which 1 connection fire: all must be waited for"),
        (("send_done_trigger 1", ""), ":5: nothing fires trigger 1"),
        (("start 4000000", "start 0 trigger 1"), ":6: a connection has a start or a trigger"),
        (("trigger id 1 oneshot", ""), ":4: trigger 1 is nowhere described"),
        (("Triggers 1", "Trigers 1"), ":3: Trigers: Nodes, Connections, A->B, trigger and failure begin a line"),
    ],
)
def test_what_is_wrong_in_a_matrix_has_its_line(
    change: tuple[str, str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong.cm").write_text(CONNECTIONS.replace(*change))
    with pytest.raises(InputError) as refusal:
        el.import_network("wrong.cm")
    assert told in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_triggers_in_a_circle_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("circle.cm").write_text(
        "Nodes 2\nConnections 2\nTriggers 2\n0->1 id 1 trigger 2 size 3 send_done_trigger 1\n"
        "1->0 id 2 trigger 1 size 3 send_done_trigger 2\ntrigger id 1 oneshot\ntrigger id 2 oneshot\n"
    )
    with pytest.raises(InputError, match=r"circle\.cm: connections wait for triggers of each other in a circle"):
        el.import_network("circle.cm")
