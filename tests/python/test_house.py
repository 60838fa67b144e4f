"""The rooms of the house: arrows between crates point down only."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]

# From the design, each level on those after it:
# {py, fuzz}, sim, scenario, {traffic, trace, packetdrill}, {host, record}, {tcp, roce, link}, cc, {engine, random}, units.
LEVELS = [
    {"units"},
    {"engine", "random"},
    {"cc"},
    {"tcp", "roce", "link"},
    {"host", "record"},
    {"traffic", "trace", "packetdrill"},
    {"scenario"},
    {"sim"},
    {"fuzz", "py"},
]


def level(crate: str) -> int:
    return next(i for i, names in enumerate(LEVELS) if crate.removeprefix("elephan-") in names)


def packages() -> list[dict]:
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return json.loads(output)["packages"]


def test_arrows_point_down():
    arrows = [
        (package["name"], dependency["name"])
        for package in packages()
        for dependency in package["dependencies"]
        if dependency["name"].startswith("elephan-")
    ]
    assert arrows, "no arrows found"
    upward = [(a, b) for a, b in arrows if level(b) >= level(a)]
    assert upward == []


def test_every_crate_has_a_room():
    assert {p["name"].removeprefix("elephan-") for p in packages()} <= set().union(*LEVELS)


def test_the_engine_knows_no_networking_word():
    words = ("packet", "port", "link", "host", "tcp", "queue_bytes", "segment", "switch")
    for source in (ROOT / "crates/engine/src").glob("*.rs"):
        for number, line in enumerate(source.read_text().splitlines(), 1):
            tokens = "".join(c if c.isalpha() else " " for c in line.lower()).split()
            found = [w for w in words if w in tokens]
            assert not found, f"{source.name}:{number}: {found}"
