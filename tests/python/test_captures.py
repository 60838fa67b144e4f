"""Captures from outside: where they are, what is in them, what is refused."""

from __future__ import annotations

import itertools
import json
import struct
from dataclasses import dataclass
from pathlib import Path

import elephan as el
import pytest
from elephan import cli
from elephan.base.errors import InputError
from elephan.open import load

SCENARIO = """
title    = "Two clients, a lossy link"
duration = "300 ms"

[hosts.client]
count = 2
[hosts.server]
[hosts.idle]
[switches.sw]

[[links]]
between = ["client", "sw"]
rate    = "1 Gbps"
delay   = "1 us"

[[links]]
between = ["idle", "sw"]
rate    = "1 Gbps"
delay   = "1 us"

[[links]]
between = ["sw", "server"]
rate    = "20 Mbps"
delay   = "5 ms"
forward = { loss = { periodic = 50 }, packets = "data" }

[[traffic]]
name = "bulk"
from = "client"
to   = "server"
kind = "bulk"
"""


@dataclass
class Block:
    """An enhanced packet block: interface, time, data, original length, flags (1 received, 2 sent)."""

    interface: int
    time_ns: int
    data: bytes
    length: int
    flags: int


def read(path: Path) -> tuple[list[tuple[int, str]], list[Block]]:
    """Interfaces (link type, name) and packets of a little-endian pcapng file of one section."""
    blob, at, interfaces, packets = path.read_bytes(), 0, [], []
    while at < len(blob):
        kind, total = struct.unpack_from("<II", blob, at)
        assert total % 4 == 0
        assert struct.unpack_from("<I", blob, at + total - 4) == (total,)
        body = blob[at + 8 : at + total - 4]
        if kind == 1:
            code, length = struct.unpack_from("<HH", body, 8)
            assert code == 2, "the name comes first"
            interfaces.append((struct.unpack_from("<H", body)[0], body[12 : 12 + length].decode()))
        elif kind == 6:
            interface, high, low, kept, length = struct.unpack_from("<IIIII", body)
            after = 20 + (kept + 3) // 4 * 4
            flags = struct.unpack_from("<I", body, after + 4)[0] if len(body) > after else 0
            packets.append(Block(interface, high << 32 | low, body[20 : 20 + kept], length, flags))
        at += total
    return interfaces, packets


def names(run: el.Run) -> list[str]:
    return [path.name for path in run.captures]


def test_a_host_sees_what_it_sends_and_receives(tmp_path: Path) -> None:
    run = el.run(SCENARIO, out=tmp_path / "r", pcap=True, report=False)
    assert names(run) == ["client[0].pcapng", "client[1].pcapng", "server.pcapng"]
    assert all(path.is_file() for path in run.captures)
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text())
    assert manifest["captures"][0] == "captures/client[0].pcapng"
    flow = run.flows.to_pylist()[0]
    interfaces, packets = read(run.captures[0])
    assert interfaces == [(1, "client[0]->sw")]
    sent, received = ([p for p in packets if p.flags == way] for way in (2, 1))
    assert (len(sent), len(received)) == (flow["segs_out"], flow["segs_in"])
    assert all(a.time_ns <= b.time_ns for a, b in itertools.pairwise(packets))
    # headers only: Ethernet 14, IP 20, TCP 20 and 12 of timestamps; the length is that of the whole frame
    assert {len(p.data) for p in sent[1:]} == {66}
    assert {p.length for p in sent[1:]} == {1514}
    # 10.0.0.1 sends from port 38000 to 10.0.0.3 (hosts in the order of the scenario), port 10601
    syn = sent[0].data
    assert syn[:14].hex() == "020000000003" + "020000000001" + "0800"
    assert syn[26:34] == bytes([10, 0, 0, 1, 10, 0, 0, 3])
    assert struct.unpack(">HH", syn[34:38]) == (38000, 10601)
    assert load(tmp_path / "r").captures == run.captures
    assert "captures/client[0].pcapng" in run.report(tmp_path / "report.html").read_text()


def test_the_scenario_says_where(tmp_path: Path) -> None:
    text = SCENARIO + '[record]\ncaptures = ["client[1]", "sw->server"]\nsnap = "100 B"\n'
    run = el.run(text, out=tmp_path / "r", pcap=True, report=False)
    assert names(run) == ["client[1].pcapng", "sw.to.server.pcapng"]
    interfaces, packets = read(run.captures[1])
    assert interfaces == [(1, "sw->server")]
    ports = {row["name"]: row for row in run.ports.to_pylist()}
    assert len(packets) == ports["sw->server"]["tx_packets"]
    assert {len(p.data) for p in packets if p.length == 1514} == {100}
    assert set(packets[-1].data[66:]) == {0}
    same = el.run(text, report=False)
    assert same.captures == []
    assert same.summary["goodput_bps"] == run.summary["goodput_bps"]


def test_without_a_word_nothing_is_captured(tmp_path: Path) -> None:
    run = el.run(SCENARIO, out=tmp_path / "r", report=False)
    assert run.captures == []
    assert not (tmp_path / "r" / "captures").exists()


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    runs = [el.run(SCENARIO, out=tmp_path / name, pcap=True, report=False) for name in "ab"]
    for a, b in zip(runs[0].captures, runs[1].captures, strict=True):
        assert a.read_bytes() == b.read_bytes()


def test_wrong_words_are_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="say with out"):
        el.run(SCENARIO, pcap=True)
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SCENARIO)
    assert cli.status_of(["run", "s.toml", "--pcap", "-s", 'record.captures=["cleint[0]"]']) == 2
    err = capfd.readouterr().err.strip()
    assert err.count("\n") == 0
    assert 'did you mean "client"?' in err
    assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]


def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SCENARIO)
    assert cli.status_of(["run", "s.toml", "--pcap", "--out", "r"]) == 0
    assert "captures: 3 files in r/captures" in capfd.readouterr().out
    assert sorted(path.name for path in Path("r/captures").iterdir()) == ["client[0].pcapng", "client[1].pcapng", "server.pcapng"]
