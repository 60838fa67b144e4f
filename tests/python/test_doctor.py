"""`elephan doctor`: the register of mended faults, conditions on scenarios, and what is said of results and stores."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.cli import status_of
from elephan.experiment.doctor.condition import holds
from elephan.experiment.doctor.doctor import NEXT, REGISTER, Fault, examine, register
from elephan.result.seal import seal

ROOT = Path(__file__).parents[2]
SHORT = {"duration": "2 s", "warmup": "1 s"}
RENO = "traffic.reno.congestion_control"

ONOFF = """
duration = "2 ms"
[hosts.a]
[hosts.b]
[switches.sw]
memory = "2 MB"
flow_control = { kind = "pfc", priorities = [0], alpha = 1.0 }
[[links]]
between = ["a", "sw"]
rate = "10 Gbps"
delay = "1 us"
[[links]]
between = ["sw", "b"]
rate = "10 Gbps"
delay = "1 us"
[[traffic]]
name = "background"
from = "a"
to = "b"
kind = "onoff"
load = "1 Gbps"
packet_size = "8972 B"
"""


def made_by(result: Path, version: str, engine: str | None = "another") -> None:
    """Makes a result one of another version or build, as its manifest says it."""
    manifest = json.loads((result / "manifest.json").read_text())
    manifest |= {"elephan": version, "engine": engine}
    if engine is None:
        del manifest["engine"]
    manifest["seal"] = seal(manifest)
    (result / "manifest.json").write_text(json.dumps(manifest))


def found(result: Path, faults: list[Fault] | None = None) -> dict[str, tuple[int, int]]:
    """How many scenarios each fault touched, and how many it may have."""
    return {one.fault.name: (one.touched, one.unsure) for one in examine(result, faults)[0]}


def test_each_entry_is_in_the_change_log() -> None:
    log = re.sub(r"\s+", " ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    newest = re.search(r"## (\S+)", log)
    for fault in register():
        if fault.mended == NEXT and newest is not None and newest[1] == el.__version__:
            continue  # the change log has no section of the next version yet
        assert f"- {fault.changelog}" in log, fault.name
    names = [fault.name for fault in register()]
    assert len(names) == len(set(names)) >= 30
    assert all(fault.what.endswith(".") and fault.effect.endswith(".") for fault in register())


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ('name = "x"', "missing"),
        ('name = "x"\nmended = "soon"\nwhat = "a."\neffect = "b."\nwhen = []', '"soon" is no version'),
        (
            'name = "x"\nmended = "1.0.0"\nwhat = "a."\neffect = "b."\nwhen = [{ "trafic[].kind" = "cbr" }]',
            'did you mean "traffic"',
        ),
        ('name = "x"\nmended = "1.0.0"\nwhat = "a."\neffect = "b."\nwhen = 5', "when"),
        ('nme = "x"', "a fault"),
    ],
)
def test_a_wrong_register_is_one_line(entry: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "faults.toml").write_text(f"[[fault]]\n{entry}\n")
    with pytest.raises(el.InputError, match=why) as caught:
        register(tmp_path / "faults.toml")
    assert "\n" not in str(caught.value)


VALUES = {
    "warmup": "1 s",
    "ecmp": "flow",
    "hosts": {"a": {"stack": "linux", "tcp": {"ecn": "off", "abc": True}}, "b": {"stack": "rfc"}},
    "links": [
        {"rate": "10 Gbps", "loss": "none", "queue": {"kind": "fifo"}},
        {"rate": "20 Mbps", "loss": {"bernoulli": 0.1}, "forward": {"queue": {"kind": "red"}, "duplicate": 0.01}},
    ],
    "traffic": [
        {"kind": "bulk", "congestion_control": {"kind": "cubic"}, "transport": "tcp"},
        {"kind": "onoff", "packet_size": "9 KB", "transport": "udp", "stop": "2 s"},
    ],
}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"warmup": {"above": "0 s"}}, True),
        ({"warmup": {"above": "1000 ms"}}, False),
        ({"warmup": {"below": "1001 ms"}}, True),
        ({"warmup": "1000 ms"}, True),
        ({"ecmp": ["packet", "flow"]}, True),
        ({"ecmp": {"not": "flow"}}, False),
        ({"change": {"given": True}}, False),
        ({"change": {"given": False}}, True),
        ({"hosts[].stack": "rfc"}, True),
        ({"hosts[].stack": "freebsd"}, False),
        ({"hosts[]": {"stack": "linux", "tcp.abc": True}}, True),
        ({"hosts[]": {"stack": "rfc", "tcp.abc": True}}, False),
        ({"hosts[].tcp.abc": 1}, False),
        ({"traffic[].congestion_control": "cubic"}, True),
        ({"traffic[].congestion_control": ["bic", "reno"]}, False),
        ({"traffic[]": {"kind": "onoff", "packet_size": {"above": "1500 B"}}}, True),
        ({"traffic[]": {"kind": "bulk", "packet_size": {"above": "1500 B"}}}, False),
        ({"traffic[].kind": "bulk", "traffic[].stop": {"given": True}}, True),
        ({"links[].loss": {"not": "none"}}, True),
        ({"links[]": {"rate": {"below": "1 Gbps"}, "loss": "none"}}, False),
        ({"links[].**.queue": "red"}, True),
        ({"links[].queue": "red"}, False),
        ({"links[].**.duplicate": {"above": 0}}, True),
        ({"links[].**.jitter": {"given": True}}, False),
        ({"trace.format": "ss"}, False),
        ({"warmup.x.y": 1}, False),
    ],
    ids=str,
)
def test_conditions(condition: Mapping[str, Any], expected: bool) -> None:
    assert holds([condition], VALUES) is expected
    assert holds([], VALUES)
    assert holds([{"ecmp": "packet"}, condition], VALUES) is expected


FAULTS = [
    Fault("cubic", "1.0.0", "a.", "b.", [{"traffic[].congestion_control": "cubic"}]),
    Fault("later", NEXT, "a.", "b.", [{"traffic[].congestion_control": ["reno", "cubic"]}]),
    Fault("between", "1.0.0", "a.", "b.", [], since="0.5.0"),
    Fault("unpublished", "0.9.0", "a.", "b.", [], unpublished=("0.1.0",)),
    Fault("logs", "1.0.0", "a.", "b.", [{"trace.format": "ss"}]),
]


@pytest.mark.parametrize(
    ("version", "engine", "expected"),
    [
        # reno and cubic; the register's order of versions is 0.1.0, 0.5.0, 0.9.0, 1.0.0, next.
        ("0.0.9", "another", {"cubic": (1, 0), "later": (2, 0), "unpublished": (2, 0)}),
        ("0.1.0", "another", {"cubic": (1, 0), "later": (2, 0), "unpublished": (0, 2)}),
        ("0.5.0", "another", {"cubic": (1, 0), "later": (0, 2), "between": (2, 0), "unpublished": (2, 0)}),
        ("0.10.0", "another", {"cubic": (1, 0), "later": (0, 2), "between": (2, 0)}),
        ("1.0.0", "another", {"later": (0, 2)}),
        ("1.0.0", None, {"later": (0, 2)}),
        ("nightly", "another", {"cubic": (0, 1), "later": (0, 2), "between": (0, 2), "unpublished": (0, 2)}),
    ],
    ids=str,
)
def test_versions_and_builds(version: str, engine: str | None, expected: dict[str, tuple[int, int]], tmp_path: Path) -> None:
    el.sweep("sawtooth", set={**SHORT, RENO: ["reno", "cubic"]}, repetitions=2, out=tmp_path / "r", report=False, store=False)
    assert found(tmp_path / "r", FAULTS) == {}  # this build has none of them
    made_by(tmp_path / "r", version, engine)
    old = [Fault(**{**vars(fault), "since": "0.0.1"}) if fault.since == "0.1.0" else fault for fault in FAULTS]
    assert found(tmp_path / "r", old) == expected


def test_a_mended_fault_is_told_of_a_kept_result(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The fault of issue 43: 28 bytes of `onoff`, and headroom computed from them."""
    el.run(ONOFF, out=tmp_path / "r", report=False)
    assert status_of(["doctor", str(tmp_path / "r")]) == 0
    assert re.fullmatch(r"\S+ \(elephan \S+\): none of \d+ mended faults touches it\n", capfd.readouterr().out)
    made_by(tmp_path / "r", "0.0.1")
    assert status_of(["doctor", str(tmp_path / "r")]) == 0  # older than any that the register knows
    capfd.readouterr()
    made_by(tmp_path / "r", el.__version__)
    assert status_of(["doctor", str(tmp_path / "r")]) == 1
    said = capfd.readouterr().out.splitlines()
    assert [line for line in said if line.startswith("pfc-headroom")] == [line for line in said if "164, 218 and 390" in line] != []
    assert status_of(["doctor", str(tmp_path / "r"), "--json"]) == 1
    told = json.loads(capfd.readouterr().out)
    assert "pfc-headroom" in [one["name"] for one in told["found"]]
    assert (told["faults"], told["scenarios"]) == (len(register()), 1)
    small = ONOFF.replace("8972 B", "1000 B")
    el.run(small, out=tmp_path / "s", report=False)
    made_by(tmp_path / "s", el.__version__)
    assert "pfc-headroom" not in found(tmp_path / "s")


def test_every_kind_of_result(tmp_path: Path) -> None:
    """Comparisons, sweeps with classes, studies' runs and logs have their scenarios in places of their own."""
    el.compare(["reno", "cubic"], quick=True, repetitions=1, rate="2 Mbps", out=tmp_path / "c", report=False)
    made_by(tmp_path / "c", "0.2.0")
    assert found(tmp_path / "c", FAULTS[:1])["cubic"][0] > 0
    data = ROOT / "tests" / "python" / "data"
    el.analyze(data / "ss.log", out=tmp_path / "t", report=False)
    made_by(tmp_path / "t", "0.2.0")
    assert found(tmp_path / "t", FAULTS)["logs"] == (1, 0)
    el.analyze(data / "iperf3.json", out=tmp_path / "u", report=False)
    made_by(tmp_path / "u", "0.2.0")
    assert "logs" not in found(tmp_path / "u", FAULTS)


def test_a_store_says_what_its_trials_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from elephan.experiment.store import identity, origins
    from elephan.result import build

    with monkeypatch.context() as other:
        other.setattr(identity, "engine", lambda: "0" * 32)  # as another build would
        el.sweep("sawtooth", set={**SHORT, RENO: ["reno", "cubic"]}, repetitions=2, store=tmp_path / "s")
    el.sweep("sawtooth", set={**SHORT, RENO: ["cubic", "bic"]}, repetitions=1, store=tmp_path / "s")
    assert {one.engine for one in origins.read(tmp_path / "s")} == {"0" * 32, build.engine()}
    faults = [
        Fault("cubic", NEXT, "a.", "b.", FAULTS[0].when),
        Fault("reno", NEXT, "a.", "b.", [{"traffic[].congestion_control": "reno"}]),
    ]
    assert found(tmp_path / "s", faults) == {"cubic": (0, 1), "reno": (0, 1)}
    assert status_of(["store", "check", str(tmp_path / "s")]) == 0
    assert sum(1 for _ in (tmp_path / "s" / "origins").iterdir()) == 2
    # The same command writes the same file again.
    el.sweep("sawtooth", set={**SHORT, RENO: ["cubic", "bic"]}, repetitions=1, store=tmp_path / "s", again=True)
    assert sum(1 for _ in (tmp_path / "s" / "origins").iterdir()) == 2
    (damaged := next((tmp_path / "s" / "origins").iterdir())).write_bytes(b"x")
    assert status_of(["doctor", str(tmp_path / "s")]) == 2
    assert damaged.name in capfd.readouterr().err
    damaged.unlink()
    os.mkfifo(damaged)  # which would hang whoever opens it
    for command in (["doctor"], ["store", "check"]):
        assert status_of([*command, str(tmp_path / "s")]) != 0
        said = "".join(capfd.readouterr())
        assert f"{damaged.name}: " in said
        assert "no regular file" in said


def test_a_store_of_which_nothing_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As earlier builds wrote it: neither version nor scenario. One line says so, and no log is meant."""
    el.sweep("sawtooth", set={**SHORT, RENO: ["reno", "cubic"]}, repetitions=1, store=tmp_path / "s")
    shutil.rmtree(tmp_path / "s" / "origins")
    assert found(tmp_path / "s") == {}  # of this build, which has no mended fault
    monkeypatch.setattr("elephan.result.build.engine", lambda: "1" * 32)
    assert set(found(tmp_path / "s", FAULTS)) == {"cubic", "later", "between", "unpublished"}
    capfd.readouterr()
    assert status_of(["doctor", str(tmp_path)]) == 1
    first, _ = capfd.readouterr().out.splitlines()
    assert re.fullmatch(r"\d+ mended faults may have touched it, as the version that made it is not known", first)


def test_what_is_neither_result_nor_store_is_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    for place in (tmp_path, tmp_path / "nothing"):
        assert status_of(["doctor", str(place)]) == 2
        assert capfd.readouterr().err.count("\n") == 1
    assert REGISTER.is_file()
