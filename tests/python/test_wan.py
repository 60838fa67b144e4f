"""Networks at the size of a WAN: demands by gravity, where nodes are, the map of utilisation, links failed one by one."""

from __future__ import annotations

import importlib.util
import json
import math
import tomllib
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan import cli
from elephan.base.quantity import bits_per_second
from elephan.scenario import core
from elephan.scenario.places import places_of
from elephan.scenario.source import open_source

pytestmark = pytest.mark.skipif(importlib.util.find_spec("networkx") is None, reason="needs networkx")

# A ring of four with a tail: a-b-c-d-a, d-e. The links of a have 100 km, the others 200.
NODES = {"a": (0.0, 50.0, 4), "b": (1.0, 50.0, 3), "c": (1.0, 51.0, 2), "d": (0.0, 51.0, 1), "e": (-1.5, 51.25, 5)}
LINKS = ("ab", "bc", "cd", "da", "de")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def graph(people: bool = True, links: tuple[str, ...] = LINKS, **more: Any) -> str:
    """Writes the ring as node-link JSON; returns the name of its file."""
    nodes = [
        {"id": name, "lon": east, "lat": north, **({"population": count} if people else {})}
        for name, (east, north, count) in NODES.items()
    ]
    edges = [{"source": a, "target": b, "dist": 100 if "a" in (a, b) else 200, "rate": "10 Mbps"} for a, b in links]
    Path("ring.json").write_text(json.dumps({"nodes": nodes, "edges": edges, **more}))
    return "ring.json"


def traffic(made: Any) -> list[dict[str, Any]]:
    core.resolved_toml(open_source(made), {})
    return list(tomllib.loads(made.text)["traffic"])


def offered(made: Any) -> dict[tuple[str, str], float]:
    """Returns the payload in bit/s that each pair of hosts is offered: of datagrams 1472 of 1538 bytes on the wire are payload."""
    found: Counter[tuple[str, str]] = Counter()
    for one in traffic(made):
        own = bits_per_second(one["load"]) if one["kind"] != "cbr" else bits_per_second(one["rate"]) * 1472 / 1538
        found[one["from"].removesuffix("-host"), one["to"].removesuffix("-host")] += own
    return dict(found)


def on_links(made: Any) -> dict[tuple[str, str], float]:
    """Returns what each direction of a link is offered, by networkx: each pair spread over its shortest paths, hop by hop."""
    import networkx as nx

    scenario = tomllib.loads(made.text)
    whole = nx.Graph(one["between"] for one in scenario["links"])
    found: Counter[tuple[str, str]] = Counter()
    for (a, b), amount in offered(made).items():
        paths = list(nx.all_shortest_paths(whole, a, b))
        after = {hop for path in paths for hop in pairwise(path)}
        for path in paths:
            chance = 1.0
            for one in path[:-1]:
                chance /= sum(begin == one for begin, _ in after)
            for hop in pairwise(path):
                found[hop] += amount * chance
    return dict(found)


# Demands by gravity


@pytest.mark.parametrize("open_loop", ["0 %", "30 %", "100 %"])
@pytest.mark.parametrize("people", [True, False])
def test_demands_are_proportional_to_the_product_of_the_masses(people: bool, open_loop: str) -> None:
    made = el.import_network(graph(people), demands="gravity", load="40 Mbps", open_loop=open_loop)
    degree = Counter("".join(LINKS))
    mass = {name: float(count) if people else float(degree[name]) for name, (_, _, count) in NODES.items()}
    whole = sum(mass[a] * mass[b] for a in mass for b in mass if a != b)
    expected = {(a, b): 40e6 * mass[a] * mass[b] / whole for a in mass for b in mass if a != b}
    assert offered(made) == pytest.approx(expected, rel=1e-5)  # loads are whole bit/s
    assert made.flows == 20


@pytest.mark.parametrize(("load", "of"), [("60 %", max), ("mean 20 %", lambda shares: sum(shares) / 10), (None, max)])
def test_a_load_in_per_cent_is_that_of_the_links_over_their_shortest_paths(load: str | None, of: Any) -> None:
    made = el.import_network(graph(), demands="gravity", load=load, open_loop=0.2)
    shares = [amount / 10e6 for pair, amount in on_links(made).items()]
    wanted = {"60 %": 0.6, "mean 20 %": 0.2, None: 0.5}[load]
    assert of(shares) == pytest.approx(wanted, rel=0.01)


def test_a_demand_is_split_over_equal_paths() -> None:
    made = el.import_network(graph(), demands="gravity", load="10 Mbps")
    with_networkx = on_links(made)
    sizes = offered(made)
    halves = sizes["c", "a"] + sizes["b", "d"] + sizes["b", "e"]  # each over two paths of two or three links
    assert with_networkx["b", "a"] == pytest.approx(sizes["b", "a"] + halves / 2)


def test_a_sample_of_pairs_has_the_marginals_of_the_matrix() -> None:
    """Of 380 pairs 300 are drawn. Nodes with the masses 1 and 3 send on average as the model says."""
    nodes = [{"id": f"n{i}", "population": 1 + 2 * (i % 2)} for i in range(20)]
    edges = [{"source": "n0", "target": f"n{i}"} for i in range(1, 20)]
    Path("star.json").write_text(json.dumps({"nodes": nodes, "edges": edges}))
    made = el.import_network("star.json", demands="gravity", flows=300, load="1 Gbps")
    assert made.flows == 300
    assert any("demands of 300 of 380 pairs, drawn by gravity" in note for note in made.notes)
    sent: Counter[int] = Counter()
    for (a, _), amount in offered(made).items():
        sent[int(a[1:]) % 2] += amount
    # Ten nodes of 1 and ten of 3: a light node sends to 9 light and 10 heavy ones, a heavy one to 10 light and 9 heavy ones.
    light, heavy = 1 * (9 + 30), 3 * (10 + 27)
    assert sent[1] / sent[0] == pytest.approx(heavy / light, rel=0.1)


def test_gravity_goes_before_the_demands_of_a_file() -> None:
    file = graph(graph={"demands": {"a": {"b": 1}}})
    assert len(offered(el.import_network(file))) == len(offered(el.import_network(file, demands="file"))) == 1
    assert len(offered(el.import_network(file, demands="gravity"))) == 20


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (None, {"pareto": {"shape": 1.2, "mean": "100 kB"}}),
        ("web-search", {"cdf": "web-search"}),
        ("30 kB", "30 kB"),
        ('{ lognormal = { median = "10 KB", sigma = 1.0 } }', {"lognormal": {"median": "10 KB", "sigma": 1.0}}),
    ],
)
def test_transfers_have_the_sizes_that_are_asked_for(size: str | None, expected: Any) -> None:
    found = traffic(el.import_network(graph(), demands="gravity", traffic="transfers", size=size))
    assert {one["kind"] for one in found} == {"transfers"}
    assert all(one["size"] == expected for one in found)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"demands": "gravitation"}, 'demands is file or gravity, not "gravitation"'),
        ({"demands": "file"}, "ring.json: the file has no demands"),
        ({"traffic": "transfer"}, 'traffic is messages or transfers, not "transfer"'),
        ({"load": "mean 3 Mbps"}, 'a mean load is in per cent, such as "mean 30 %"'),
        ({"load": "mean 0 %"}, "a load in per cent is above 0"),
        ({"open_loop": "120 %"}, "the open-loop share is from 0 % to 100 %, not 120 %"),
        ({"open_loop": "much"}, "the open-loop share is from 0 % to 100 %, not much"),
        ({"size": "web-serch"}, "web-serch"),
        ({"size": "{ pareto = "}, "is no table of TOML"),
        ({"flows": 0}, "flows is at least 1, not 0"),
    ],
)
def test_wrong_traffic_is_one_line(given: dict[str, Any], words: str) -> None:
    with pytest.raises(el.InputError) as error:
        el.import_network(graph(), **given)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_run_of_datagrams_carries_what_the_matrix_offers() -> None:
    chain = graph(links=("ab", "bc", "cd", "de"))  # one path for each pair
    made = el.import_network(chain, demands="gravity", load="mean 40 %", open_loop="100 %")
    run = el.run(made, set={"duration": "41 s", "warmup": "1 s"})
    wanted = sum(offered(made).values())
    # 40 s are about 55 000 datagrams, whose number varies by 0.4 %.
    assert run.statistic("goodput_bps.sum") == pytest.approx(wanted, rel=0.01)
    busy = dict(zip(run.ports["name"].to_pylist(), run.ports["utilisation"].to_pylist(), strict=True))
    for (a, b), amount in on_links(made).items():
        if "-host" not in a + b:
            assert busy[f"{a}->{b}"] == pytest.approx(amount * 1538 / 1472 / 10e6, rel=0.03)
