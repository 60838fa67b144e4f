"""`elephan run --ports`: which way packets take through each port, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from elephan import cli


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_ports_that_are_alike_share_a_line_and_nothing_runs(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.status_of(["run", "shared-switch", "--ports"]) == 0
    told, *rows = capfd.readouterr().out.splitlines()
    assert "[sweep]" in told
    lines = [line.split(maxsplit=3) for line in rows]
    assert [[word.rstrip() for word in words] for words in lines] == [
        ["port", "ports", "way", "because"],
        ["client[]->sw", "3", "ahead", "sw may pause it"],
        ["sw->client[]", "3", "ahead", "sw has a memory that its ports share"],
        ["sw->server", "1", "ahead", "sw has a memory that its ports share"],
        ["server->sw", "1", "ahead", "sw may pause it"],
    ]
    assert list(tmp_path.iterdir()) == []


def test_a_setting_changes_the_way(capfd: pytest.CaptureFixture[str]) -> None:
    ways = {}
    for words in ([], ["--set", "template.queue={ kind = 'codel' }"], ["--pcap"]):
        assert cli.status_of(["run", "sawtooth", "--ports", "--json", *words]) == 0
        found = {one["port"]: (one["way"], one["because"]) for one in json.loads(capfd.readouterr().out)}
        ways[" ".join(words[:1])] = found["left->right"], found["sender[0]->left"]
    fast, captured = ("fast", []), ("queued", ["packets are captured at it"])
    assert ways == {
        "": (fast, fast),
        "--set": (("queued", ["its queue is no FIFO: codel"]), fast),
        "--pcap": (fast, captured),
    }


def test_a_scenario_that_cannot_run_has_no_ways(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.status_of(["run", "sawtooth", "--ports", "--set", "duration=0 s"]) == 2
    assert "duration" in capfd.readouterr().err
