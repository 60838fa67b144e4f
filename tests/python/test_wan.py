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
from elephan.experiment.failed import failures
from elephan.report.figure.layout import laid_out
from elephan.report.figure.run_figures import draw, of_report
from elephan.report.page.failed_links import sections
from elephan.report.words.view import View
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


# Where nodes are, and the map


def ring(**given: Any) -> Any:
    """Returns the ring with demands by gravity, as a scenario of 3 s."""
    made = el.import_network(graph(), demands="gravity", load="50 %", traffic="transfers", size="20 kB", **given)
    text = made.text.replace('duration = "10 s"', 'duration = "3 s"')
    Path("ring.toml").write_text(text)
    return made


def test_coordinates_stand_beside_the_nodes_and_reach_the_result() -> None:
    ring()
    assert "[switches.e]  # longitude -1.5 latitude 51.25" in Path("ring.toml").read_text()
    run = el.run("ring.toml", out="ring", report=False)
    places = el.load("ring").manifest["places"]
    assert places == run.manifest["places"]
    shrink = math.cos(math.radians((50 + 50 + 51 + 51 + 51.25) / 5))
    assert places["e"] == pytest.approx([-1.5 * shrink, 51.25])
    assert {*places} == {*NODES}


def test_positions_that_are_no_degrees_are_those_of_a_plane() -> None:
    nodes = [{"id": "a", "pos": [0, 0]}, {"id": "b", "pos": [300, 400]}]
    Path("plane.json").write_text(json.dumps({"nodes": nodes, "edges": [{"source": "a", "target": "b", "dist": 500}]}))
    made = el.import_network("plane.json")
    assert places_of(made.text) == {"a": (0, 0), "b": (300, 400)}
    assert 'delay = "2.5 ms"' in made.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[hosts.x] # longitude 1 latitude 0", {"x": (1, 0)}),
        ('[switches."a b"]  # longitude -1.5, latitude 0', {"a b": (-1.5, 0)}),
        ("[switches.x]  # x 3 y -4.25", {"x": (3, -4.25)}),
        ("[switches.x]  # longitude east", {}),
        ("# [switches.x]  # longitude 1 latitude 2", {}),
        ("[links.x]  # longitude 1 latitude 2", {}),
        ("", {}),
    ],
)
def test_comments_that_say_where_nodes_are(text: str, expected: dict[str, Any]) -> None:
    assert places_of(text) == expected


def test_the_map_shows_each_direction_by_its_utilisation() -> None:
    ring()
    run = el.run("ring.toml")
    drawing = draw(run, "map")
    busy = {one["name"]: one["utilisation"] for one in run.ports.to_pylist() if "-host" not in one["name"]}
    assert len(busy) == 2 * len(LINKS)
    lines = [call for call in drawing.drawn.axes[0].calls if call.name == "plot" and call.options.get("label")]
    halves = {call.options["label"]: (len(call.arguments[0]) + 1) // 3 for call in lines}
    classes = ((0.2, "0 to 20 %"), (0.4, "20 to 40 %"), (0.6, "40 to 60 %"), (0.8, "60 to 80 %"), (9.0, "above 80 %"))
    expected = Counter(next(label for top, label in classes if value <= top) for value in busy.values())
    assert halves == dict(expected)
    most = max(busy, key=lambda name: busy[name])
    assert f"The busiest is {most.replace('->', ' → ')}" in drawing.caption
    # Each half begins at the place of its sender.
    begins = {(round(x, 6), round(y, 6)) for call in lines for x, y in zip(*(one[::3] for one in call.arguments[:2]), strict=True)}
    assert begins == {(round(x, 6), round(y, 6)) for x, y in run.manifest["places"].values()}


def test_a_map_without_coordinates_keeps_the_order_of_a_chain() -> None:
    places = laid_out([("a", "b"), ("b", "c"), ("c", "d")], {})
    along = [places[name][0] for name in "abcd"]
    assert along == sorted(along) or along == sorted(along, reverse=True)
    assert [abs(b - a) for a, b in pairwise(along)] == pytest.approx([1, 1, 1])  # one link is a distance of 1
    assert laid_out([("a", "b"), ("b", "c"), ("c", "d")], {"a": (0, 0), "d": (9, 9)})["b"] == (0, 0)


def test_only_a_network_of_switches_has_a_map() -> None:
    run = el.run("sawtooth", set={"duration": "2 s", "warmup": "0 s"})
    with pytest.raises(el.InputError, match="fewer than 3 links between switches"):
        run.figure("map")
    assert of_report(View(el.run("parking-lot", set={"duration": "2 s", "warmup": "0 s"})))[0].name != "map"


def test_a_run_prints_its_busiest_links(capsys: pytest.CaptureFixture[str]) -> None:
    links = [f"n{i}" for i in range(9)]
    edges = [{"source": a, "target": b} for a, b in pairwise(links)]
    Path("chain.json").write_text(json.dumps({"nodes": [{"id": name} for name in links], "edges": edges}))
    Path("chain.toml").write_text(el.import_network("chain.json", demands="gravity", rate="10 Mbps").text)
    assert cli.status_of(["run", "chain.toml", "-s", "duration=2 s", "--no-report", "--out", "chain"]) == 0
    printed = capsys.readouterr().out.splitlines()
    (head,) = (i for i, line in enumerate(printed) if line.startswith("busiest links"))
    rows = el.load("chain").ports.to_pylist()
    best = sorted((one for one in rows if "-host" not in one["name"]), key=lambda one: -one["utilisation"])[:5]
    assert [line.split("  ")[0] for line in printed[head + 1 : head + 6]] == [one["name"].replace("->", " → ") for one in best]


# Links failed one by one


def test_each_link_fails_from_the_start_and_routes_avoid_it() -> None:
    ring()
    sweep = el.sweep("ring.toml", fail="links", store=False)
    assert [one.parameters["fail"] for one in sweep.variants] == ["none", "a->b", "b->c", "c->d", "d->a", "d->e"]
    for variant in sweep.variants[1:]:
        a, b = variant.parameters["fail"].split("->")
        run = sweep.run(variant.label, 1)
        sent = {one["name"]: one["tx_packets"] for one in run.ports.to_pylist()}
        assert sent[f"{a}->{b}"] == sent[f"{b}->{a}"] == 0
        others = {
            name: count for name, count in sent.items() if "-host" not in name and {*name.split("->")} not in ({a, b}, {*"de"})
        }
        assert all(others.values()), others  # the rest of the ring carries everything


@pytest.mark.parametrize("open_loop", ["0 %", "40 %"])
def test_traffic_that_a_failure_cuts_off_is_left_out_and_told(open_loop: str) -> None:
    made = ring(open_loop=open_loop)
    sweep = el.sweep("ring.toml", fail="links", store=False)
    (cut,) = (one for one in sweep.harm.to_pylist() if one["cut"])
    wanted = sum(amount for pair, amount in offered(made).items() if "e" in pair)
    assert cut["link"] == "d->e"
    assert cut["cut"] == (8 if open_loop == "0 %" else 16)
    assert cut["unserved_bps"] == pytest.approx(wanted, rel=1e-5)
    assert sweep.harm["link"][0].as_py() == "d->e"  # half of the demands: 2 x 5 x 10 of 170
    usual, without = (sweep.interval(f"fail={link}", "goodput_bps.sum").mean for link in ("none", "d->e"))
    assert cut["lost_bps"] == pytest.approx(usual - without)
    assert cut["lost_share"] == pytest.approx((usual - without) / usual)
    assert cut["lost_share"] == pytest.approx(wanted / sum(offered(made).values()), rel=0.2)


def test_without_a_failure_the_network_is_as_it_was() -> None:
    ring()
    sweep = el.sweep("ring.toml", fail="a->b", store=False)
    run = el.run("ring.toml")
    assert sweep.values("fail=none", "goodput_bps.sum") == [run.statistic("goodput_bps.sum")]


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ("a->b", ["a->b"]),
        ("b->a", ["a->b"]),
        ("d->*", ["c->d", "d->a", "d->e"]),
        (["d->e", "a->b", "a->*"], ["d->e", "a->b", "d->a"]),
        ("busiest:1", ["d->e"]),
    ],
)
def test_links_are_chosen_by_name_or_load(which: Any, expected: list[str]) -> None:
    ring()
    found = failures(open_source("ring.toml"), {}, [which] if isinstance(which, str) else which)
    assert [one.link for one in found] == ["none", *expected]


def test_the_busiest_links_are_those_of_the_shortest_paths() -> None:
    made = ring()
    most: Counter[frozenset[str]] = Counter()
    for pair, amount in on_links(made).items():
        if "-host" not in "".join(pair):
            most[frozenset(pair)] = max(most[frozenset(pair)], amount)
    found = failures(open_source("ring.toml"), {}, ["busiest:5"])[1:]
    loads = [most[frozenset(one.link.split("->"))] for one in found]
    assert loads == sorted(loads, reverse=True)


def test_failures_cross_other_axes_and_have_their_baselines() -> None:
    ring()
    sweep = el.sweep("ring.toml", set={"warmup": ["0 s", "1 s"]}, fail=["a->b"], store=False)
    assert len(sweep.variants) == 4
    assert {one["variant"] for one in sweep.harm.to_pylist()} == {"fail=a->b, warmup=0 s", "fail=a->b, warmup=1 s"}
    assert sweep.where("fail == none").size == "2 variants, 2 runs"


def test_a_sweep_over_failures_is_resumed_shown_and_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    ring()
    words = ["sweep", "ring.toml", "--fail", "links", "--out", "failed", "--workers", "2"]
    assert cli.status_of([*words, "--no-report"]) == 0
    first = capsys.readouterr().out
    assert cli.status_of([*words, "--no-report"]) == 0
    again = capsys.readouterr()
    assert again.out == first
    assert "d → e hurts most" in first
    assert "1 failure of 5 cut traffic off" in first
    rows = first.splitlines()
    (head,) = (i for i, line in enumerate(rows) if line.startswith("link "))
    assert rows[head + 1].startswith("no failure")
    assert rows[head + 2].startswith("d → e ")
    loaded = el.load("failed")
    assert loaded.harm.to_pylist() == el.sweep("ring.toml", fail="links", store=False).harm.to_pylist()
    assert [one.name for section in sections(loaded) for one in section.drawings] == ["failures", "failures-map"]
    assert cli.status_of(["report", "failed"]) == 0
    assert "Which link hurts most" in Path("failed/report.html").read_text()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"fail": "a->z"}, 'ring.toml: fail: no link "a->z" between two switches; did you mean "a->b"'),
        ({"fail": ["d->e"], "set": {"traffic.a-to-e.load": ["1 Mbps", "2 Mbps"]}}, "traffic.a-to-e.load: the failure of d->e cuts"),
        ({"fail": ["d->e"], "set": {"traffic[1].load": "1 Mbps"}}, "traffic[1].load: where links fail, an entry"),
    ],
)
def test_wrong_failures_are_one_line(given: dict[str, Any], told: str) -> None:
    ring()
    with pytest.raises(el.InputError) as error:
        el.sweep("ring.toml", **given)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_what_has_no_links_between_switches_or_cuts_some_pairs_is_told() -> None:
    with pytest.raises(el.InputError, match="no link joins two switches"):
        el.sweep("incast", fail="links")
    scenario = tomllib.loads(ring().text)
    scenario["hosts"] = {**scenario["hosts"], "x": {"count": 2}}
    scenario["links"] += [{"between": [f"x[{i}]", to], "rate": "1 Gbps", "delay": "0 s"} for i, to in enumerate("ae")]
    scenario["traffic"] = [{"name": "both", "kind": "bulk", "from": "x", "to": "a-host"}]
    with pytest.raises(el.InputError, match="d->e cuts off only some pairs of hosts of the traffic both"):
        el.sweep(scenario, fail="links")


def test_a_failure_that_leaves_no_traffic_is_told() -> None:
    with pytest.raises(el.InputError, match="fail: without left->right no traffic is left"):
        el.sweep("sawtooth", fail="links")
