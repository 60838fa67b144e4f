"""Kinds answer for themselves: nothing in Python or Rust outside a kind's own file goes by its name."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.experiment.compare import on_scenario
from elephan.report.words import unheard
from elephan.report.words.warnings import warnings
from elephan.scenario import core, kinds
from elephan.statistic import needs

ROOT = Path(__file__).parents[2]

# Two senders, PFC on one priority, large on-off packets (issue 43): no frame may be lost.
ONOFF = """
duration = "20 ms"
[hosts.a]
count = 2
[hosts.b]
[switches.s]
memory = "1 MB"
flow_control = { kind = "pfc", priorities = [3], xoff = "60 kB", xon = "40 kB" }
[[links]]
between = ["a", "s"]
rate = "10 Gbps"
delay = "1 us"
[[links]]
between = ["s", "b"]
rate = "10 Gbps"
delay = "1 us"
[[traffic]]
from = "a"
to = "b"
priority = 3
"""
LARGE = {
    "onoff": 'kind = "onoff"\nload = "9 Gbps"\nsources = 20\npacket_size = "8972 B"',
    "cbr": 'kind = "cbr"\nrate = "9 Gbps"\ngaps = "exponential"\npacket_size = "8972 B"',
    "burst": 'kind = "burst"\npackets = 2000\npacket_size = "8972 B"',
    "frames": 'kind = "frames"\nframe_size = "9018 B"\nrate = "9 Gbps"\ngaps = "exponential"',
    "messages": 'kind = "messages"\nsize = "1 MB"\nload = "9 Gbps"\ntcp = { mss = "8960 B" }',
}


@pytest.mark.parametrize("kind", LARGE)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_lossless_priority_loses_nothing_whatever_sends(kind: str, seed: int) -> None:
    run = el.run(ONOFF + LARGE[kind], seed=seed)
    assert run.statistic("drops.sum") == 0
    assert run.statistic("pauses_sent.sum") > 0
    assert not warnings(run)


@pytest.mark.parametrize(
    ("words", "answers"),
    [
        # 8 972 B of payload, 8 of UDP and 20 of IP; a frame of 9 018 B has a header of 14 and a check sequence of 4.
        ({"kind": "onoff", "load": "1 Gbps", "packet_size": "8972 B"}, {"packet_bytes": 9000, "is_random": True, "ends": False}),
        ({"kind": "cbr", "rate": "1 Gbps"}, {"packet_bytes": 1500, "is_random": False, "protocol": "UDP"}),
        ({"kind": "cbr", "rate": "1 Gbps", "gaps": "exponential"}, {"is_random": True}),
        ({"kind": "burst", "packets": 5}, {"flow_bytes": 5000, "payload_bytes": 1000, "ends": True, "is_burst": True}),
        ({"kind": "frames", "frame_size": "9018 B", "rate": "1 Gbps"}, {"packet_bytes": 9000, "protocol": "raw Ethernet"}),
        ({"kind": "bulk"}, {"ends": False, "is_stream": True, "protocol": None, "packet_bytes": None, "is_random": False}),
        ({"kind": "bulk", "size": "1 MB"}, {"ends": True, "flow_bytes": 1_000_000}),
        ({"kind": "transfers", "size": "1 MB", "load": "1 Mbps"}, {"ends": True, "opens_its_own": True}),
        ({"kind": "users", "size": "1 MB", "think": "1 s"}, {"ends": True, "opens_its_own": True, "is_random": False}),
        ({"kind": "incast", "size": "1 MB"}, {"has_rounds": True, "has_messages": True, "is_random": False}),
        ({"kind": "messages", "size": "1 MB", "load": "1 Mbps"}, {"has_messages": True, "has_rounds": False, "is_random": True}),
    ],
)
def test_traffic_answers(words: dict[str, Any], answers: dict[str, Any]) -> None:
    found = kinds.traffic({"name": "t", "from": "a", "to": "b", "priority": 3, **words})
    assert {name: found[name] for name in answers} == answers


def test_what_is_not_known_has_no_answers() -> None:
    assert kinds.traffic({"kind": "of another version"}) == {}
    assert kinds.congestion_control({"kind": "reno", "no such": 3}) == {}
    assert needs.ending({"traffic": [{"kind": "of another version"}]}) == ""


def made_up(registry: str, words: str) -> dict[str, Any]:
    """Answers of a kind of traffic, a queue and a congestion control that nobody has heard of."""
    given = json.loads(words)
    kind = given if isinstance(given, str) else given.get("kind")
    return {
        ("traffic", "drip"): {"protocol": "UDP", "ends": False, "has_messages": False, "is_burst": False},
        ("traffic", "pulse"): {"protocol": None, "ends": True, "has_rounds": True, "has_messages": True},
        ("queues", "basket"): {"tells": "window", "reads": ["weight"], "is_drop_tail": True, "is_random": False},
        ("congestion-controls", "steady"): {"asks": "window", "needs_marks": None, "transports": ["tcp"]},
        ("congestion-controls", "marked"): {"asks": None, "needs_marks": {"by": ["accurate"], "without": "it is nothing"}},
    }.get((registry, kind), {})


def test_python_knows_no_kind_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "_answers", made_up)
    resolved = {"traffic": [{"name": "d", "kind": "drip"}]}
    assert needs.ending(resolved) == "no traffic of the scenario has an end"
    assert needs.messages(resolved)
    assert needs.bursts(resolved)
    with_end = {"traffic": [*resolved["traffic"], {"name": "p", "kind": "pulse"}]}
    assert (needs.ending(with_end), needs.messages(with_end), needs.rounds(with_end)) == ("", "", "")
    scenario = 'links = [{ queue = { kind = "KIND" } }]\nhosts = { a = { tcp = { ecn = "off" } } }'
    assert unheard.unheard(["steady"], scenario.replace("KIND", "basket")) == ""
    assert "steady (no queue here tells a rate)" in unheard.unheard(["steady"], scenario.replace("KIND", "pipe"))
    assert "marked (no ECN here)" in unheard.unheard(["marked"], scenario.replace("KIND", "pipe"))
    text = '[[traffic]]\nkind = "drip"\n[[traffic]]\nkind = "pulse"\n'
    source = type("Source", (), {"name": "made up"})()
    assert on_scenario._carriers(source, {"toml": text}) == ["traffic[1].congestion_control"]


def test_a_comparison_leaves_out_what_is_not_tcp() -> None:
    """A burst and raw frames have no congestion control, as little as cbr."""
    for kind in ("burst", "frames", "onoff"):
        source = type("Source", (), {"name": kind})()
        with pytest.raises(el.InputError, match="no traffic over TCP"):
            on_scenario._carriers(source, {"toml": "[[traffic]]\n" + LARGE[kind]})


def names() -> set[str]:
    """Every name of a kind: traffic, queues, congestion controls, templates and slow starts."""
    listed = {
        name for registry in ("traffic", "queues", "congestion-controls", "templates") for name, _ in core.call("listing", registry)
    }
    schema = json.loads((ROOT / "schema/elephan.schema.json").read_text(encoding="utf-8"))
    slow_starts = schema["$defs"]["Overrides"]["properties"]["slow_start"]["anyOf"][0]["enum"]
    assert {"hystart", "hystartpp"} < set(slow_starts)
    return listed | set(slow_starts)


# Names of kinds that are also plain words of the language of tables, drawings and commands: `linux` is a stack, `classic` is ECN.
WORDS = {"none", "red", "frames", "messages", "transfers", "users", "burst", "fast", "scalable", "compound", "replay", "goal"} | {
    *("program", "path", "star", "classic", "limited", "linux")
}

# Files that name kinds, and why.
MAY_NAME = {
    "scenario/classes.py": "generated from the schema",
    "scenario/foreign/": "networks of other programs, in which tc and Mininet name queues",
    "studies/": "experiments of a publication, which names its congestion controls",
    "theory/response.py": "closed forms of single congestion controls, by their papers",
    "bench/workloads.py": "the workloads and what is expected of those that pace",
    "capture/twin/": "the scenario that is made of a capture, and what an application wrote",
    "report/palette.py": "the look of those that people compare most; any other gets one of its own",
    "capture/sslog.py": "words in the output of ss",
    "experiment/compare/panel.py": "RFC 5033 asks for a comparison with Reno",
    "experiment/conformance/checks.py": "what conformance is judged against",
    "experiment/path/": "closed forms of single congestion controls, and what hosts run unless told otherwise",
    "report/figure/panel_figures.py": "Reno is whom all are compared with",
    "report/page/compare_page.py": "Reno is whom all are compared with",
    "report/explain/loss.py": "advice names one to try",
    "report/explain/start.py": "advice names one to try",
    "report/words/warnings.py": "the default queue of a port, and in words",
    "step/ranks.py": "the program of a collective operation, and the function that makes it",
    "virtual/options.py": "what a socket of Linux says before it is connected",
}


def named() -> Iterator[tuple[str, int, str]]:
    """Where Python names a kind, in code."""
    known = names() - WORDS
    for file in sorted((ROOT / "python/elephan").rglob("*.py")):
        where = file.relative_to(ROOT / "python/elephan").as_posix()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in known:
                yield where, node.lineno, node.value


def test_python_names_kinds_only_where_a_reason_is_given() -> None:
    found = list(named())
    astray = [f"{file}:{line}: {name}" for file, line, name in found if not file.startswith(tuple(MAY_NAME))]
    assert not astray, f"a kind answers for itself (elephan.scenario.kinds): {astray}"
    unused = [reason for reason in MAY_NAME if not any(file.startswith(reason) for file, _, _ in found)]
    assert not unused, unused


# Files of the page that name kinds, and why.
PAGE_MAY_NAME = {
    "model/pairs.svelte.ts": "who meets first, until others are chosen",
    "view/Gallery.svelte": "the text of an empty scenario",
}


def test_the_page_names_kinds_only_where_a_reason_is_given() -> None:
    sources = ROOT / "explore/src"
    known = "|".join(sorted(names() - WORDS))
    # A word in quotes, or quoted within a longer text.
    pattern = re.compile(rf"""["'`](?:{known})\\?["'`]""")
    found = {
        file.relative_to(sources).as_posix(): pattern.findall(file.read_text(encoding="utf-8"))
        for ending in ("ts", "svelte")
        for file in sorted(sources.rglob(f"*.{ending}"))
        if "generated" not in file.parts
    }
    assert len(found) > 40
    naming = {file: words for file, words in found.items() if words}
    assert naming.keys() == PAGE_MAY_NAME.keys(), naming


# Files of Rust, outside those of the kinds, that name a variant of a registry, and why.
RUST_MAY_NAME = {
    "crates/cc/src/": "the registry of congestion controls",
    "crates/link/src/queue/": "the registry of queues",
    "crates/tcp/src/stacks.rs": "what stacks of operating systems have",
    "crates/scenario/src/resolve/flows.rs": "what RoCE has unless told otherwise",
    "crates/scenario/src/resolve/hosts.rs": "a host's port is a FIFO",
    "crates/sim/src/net/flow_control.rs": "a queue for each priority is an ETS of them",
    "crates/sim/src/net/ahead.rs": "what is computed ahead waits in a FIFO",
    "crates/sim/src/net/way.rs": "the fast path is arithmetic of a FIFO",
}


# The same for names in quotes.
RUST_MAY_QUOTE = {
    **RUST_MAY_NAME,
    "crates/packetdrill/src/": "words of tc and of a C structure",
    "crates/scenario/src/elsewhere.rs": "what other programs call our kinds",
    "crates/scenario/src/preset.rs": "the only queue with presets",
    "crates/scenario/src/template/mod.rs": "the registry of templates",
    "crates/sim/src/tables.rs": "reasons of drops, which queues give by themselves",
    "crates/fuzz/src/": "what the schema does not say of keys that go together",
}


def code_of_rust(but: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Files of Rust with their code, without tests, comments and those files that may name kinds."""
    for file in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        where = file.relative_to(ROOT).as_posix()
        if not where.startswith((*but, "crates/traffic/src/")) and not where.endswith("tests.rs"):
            code = file.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
            yield where, re.sub(r"(?m)^\s*//.*", "", code)


def test_rust_quotes_kinds_only_where_a_reason_is_given() -> None:
    pattern = re.compile(rf'"(?:{"|".join(sorted(names() - WORDS))})"')
    found = [(where, word[0]) for where, code in code_of_rust({}) for word in pattern.finditer(code)]
    astray = [f"{where}: {word}" for where, word in found if not where.startswith(tuple(RUST_MAY_QUOTE))]
    assert not astray, astray
    own = RUST_MAY_QUOTE.keys() - RUST_MAY_NAME.keys()
    unused = [reason for reason in own if not any(where.startswith(reason) for where, _ in found)]
    assert not unused, unused


def test_rust_names_variants_only_where_a_reason_is_given() -> None:
    listed = {
        "Kind": re.findall(r"(?m)^    \w+::(\w+), ", (ROOT / "crates/traffic/src/lib.rs").read_text()),
        "(?:QueueSpec|Queue)": re.findall(r'"\w+" => \w+: (\w+)\(', (ROOT / "crates/link/src/queue/mod.rs").read_text()),
        "(?:cc::)?Spec": re.findall(r"(?m)^    \w+: (\w+)\(\S+\) = ", (ROOT / "crates/cc/src/algorithm/mod.rs").read_text()),
    }
    assert [len(found) > 10 for found in listed.values()] == [True] * 3
    pattern = re.compile("|".join(rf"\b{enum}::(?:{'|'.join(found)})\b[({{]" for enum, found in listed.items()))
    astray = [f"{where}: {found[0]}" for where, code in code_of_rust(RUST_MAY_NAME) for found in pattern.finditer(code)]
    assert not astray, astray
