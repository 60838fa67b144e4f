"""docs/reference/summary.md names every key of `summary.json` and no other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import elephan as el
import pytest

DATA = Path(__file__).parent / "data"
PAGE = Path(__file__).parents[2] / "docs/reference/summary.md"
UNITS = {"s": "s", "ns": "ns", "bps": "bit/s", "bytes": "B"}
SPREADS = ("message_latency", "round_time", "iteration_time", "fct", "sender_fct", "slowdown")
REASONS = "drops_by_reason"
PAIR = 'duration = "1 s"\n[hosts.a]\n[hosts.b]\n[[links]]\nbetween = ["a", "b"]\nrate = "1 Gbps"\ndelay = "1 ms"\n'


async def ready() -> dict[str, int]:
    return {"ready": 1}


def section(title: str) -> dict[str, str]:
    """The keys of a table of the page, with their units."""
    text = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (table,) = [part for part in text if part.startswith(title + "\n")]
    rows = re.findall(r"^\| `([^`]+)` \| (.*?) ?\| (.+) \|$", table, flags=re.MULTILINE)
    assert len({key for key, *_ in rows}) == len(rows) > 5
    return {key: unit.strip("`") for key, unit, _ in rows}


def paths(value: dict[str, Any], shut: Iterable[str] = (), above: str = "") -> set[str]:
    """Keys of an object and of objects in it, but for those of `shut`, with dots."""
    found = set()
    for key, one in value.items():
        path = above + key
        found.add(path)
        if path not in shut:
            inner = one if isinstance(one, list) else [one]
            found |= {name for each in inner if isinstance(each, dict) for name in paths(each, shut, f"{path}.")}
    return found


def ring() -> str:
    """Five switches in a ring, each with flows over two links of it: their buffers wait for each other."""
    parts = ['duration = "5 ms"']
    for i in range(5):
        parts += [
            f"[hosts.h{i}]",
            f'[switches.n{i}]\nmemory = "1 MB"\nflow_control = {{ kind = "pause", xoff = "60 KB", xon = "40 KB" }}',
        ]
        parts += [f'[[traffic]]\nname = "t{i}"\nfrom = "h{i}"\nto = "h{(i + 2) % 5}"\nkind = "cbr"\nrate = "9 Gbps"']
        for pair in (f'"h{i}", "n{i}"', f'"n{i}", "n{(i + 1) % 5}"'):
            parts += [f'[[links]]\nbetween = [{pair}]\nrate = "10 Gbps"\ndelay = "500 ns"']
    return "\n".join(parts)


@pytest.fixture(scope="module")
def runs() -> list[dict[str, Any]]:
    """Summaries of runs in which, together, nothing is null."""
    logger = {"duration": "1 s", "hosts.receiver.cpu.logger": "10 ms"}
    short = {"duration": "500 ms", "warmup": "0 s"}
    kind = {"traffic[0].kind": "incast", "traffic[0].size": "10 KB", "traffic[0].every": "50 ms", "traffic[0].start": "0 s"}
    named = {
        "all-reduce": {"traffic.train.iterations": 2},
        "slow-receiver": logger,
        "disk-to-disk": {},
        "incast": short | kind,
        "shared-switch": short,
        "short-flows": {"duration": "10 s"},
    }
    programs = el.virtual.run(PAIR, {"a": ready, "b": ready})
    return [el.run(name, set=more).summary for name, more in named.items()] + [el.run(ring()).summary, programs.summary]


def test_keys_of_runs(runs: list[dict[str, Any]]) -> None:
    found = {path for summary in runs for path in paths(summary, (*SPREADS, REASONS, "returned"))}
    of_run = section("Of a run")
    assert found == set(of_run)
    assert all(sum(summary[REASONS].values()) == summary["drops"] for summary in runs)
    assert {reason for summary in runs for reason in summary[REASONS]} >= {"queue_full", "rx_throttle"}
    spread = section("Spreads")
    spreads = {name: {key for summary in runs for key in summary[name] or {}} for name in SPREADS}
    assert all(spreads[name] == set(spread) for name in SPREADS if name != "slowdown")
    assert spreads["slowdown"] == {key.removesuffix("_s") for key in spread}


def test_keys_of_traces(tmp_path: Path) -> None:
    run = el.run("sawtooth", set={"duration": "1 s", "warmup": "0 s"}, out=tmp_path / "r", report=False, pcap=True)
    keys = section("Of a capture or log")
    assert list(el.analyze(run.captures[0]).summary) == list(keys)
    besides = section("Of a log besides")
    assert set(el.analyze(DATA / "ss.log").summary) == {*keys, "paired"} - {
        "tcp_segments",
        "udp_datagrams",
        "fragments",
        "other",
        "skipped",
        "tunnels",
        "told",
        "ranks",
        "pair",
    }
    logs = [el.analyze(DATA / "rrul.flent"), el.analyze([DATA / "client.qlog", DATA / "server.qlog"])]
    found = {path for log in logs for path in paths(log.summary, ("names", "told"))}
    assert found - set(keys) == set(besides)


def test_keys_of_sweeps(tmp_path: Path, fake_core: None) -> None:
    el.sweep(
        'title = "t"\n', set={"switches.sw.flow_control.kind": ["none", "pause"]}, repetitions=2, workers=1, out=tmp_path / "s"
    )
    summary = json.loads((tmp_path / "s" / "summary.json").read_text(encoding="utf-8"))
    for variant in summary["variants"]:
        variant["statistics"] = list(variant["statistics"].values())
    found = paths(summary, ("variants.parameters", "facts.first", "facts.flows", "facts.source", "facts.set"))
    assert found == set(section("Of a sweep")) - {"facts.guests", "facts.incomplete"}


def test_units_are_the_last_word_of_a_name() -> None:
    for title in ("Of a run", "Spreads", "Of a capture or log"):
        for key, unit in section(title).items():
            assert unit == UNITS.get(key.rpartition("_")[2] if "_" in key else "", ""), key
