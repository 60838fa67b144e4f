"""Congestion controls as a user names them."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan import cli
from elephan.base.errors import InputError
from elephan.scenario.congestion import read_controllers
from elephan.scenario.settings import axes, settings
from elephan.step import cc


class Steady(el.CongestionControl):
    """So many segments more at each ACK."""

    def __init__(self, gain: float = 0.1) -> None:
        self.gain = gain

    def on_ack(self, ack: Any) -> None:
        self.cwnd += self.gain * self.mss


def test_names_parameters_and_tables() -> None:
    plain, preset, several, table = read_controllers(
        'reno,cubic:preset=linux,hybla:rtt0=50ms:reduce_from=flight,{ kind = "bic", beta = 0.8 }'
    )
    assert (plain.label, plain.value, plain.kind, plain.plain) == ("reno", "reno", "reno", True)
    assert (preset.label, preset.value) == ("cubic preset linux", {"kind": "cubic", "preset": "linux"})
    assert several.value == {"kind": "hybla", "rtt0": "50ms", "reduce_from": "flight"}
    assert table.value == {"kind": "bic", "beta": 0.8}
    assert table.label == "bic beta 0.8"


OF_ROCE = ["dcqcn", "timely", "hpcc", "none"]
OF_UEC = ["nscc"]


def test_every_controller_of_the_registry_is_known() -> None:
    names = [name for name in cc.names() if name not in [*OF_ROCE, *OF_UEC]]
    assert [controller.label for controller in read_controllers(names)] == names


@pytest.mark.parametrize("name", OF_ROCE)
def test_controllers_of_roce_are_not_for_tcp(name: str) -> None:
    with pytest.raises(InputError, match=r"is for RoCE$"):
        read_controllers([name])


@pytest.mark.parametrize("name", OF_UEC)
def test_controllers_of_ultra_ethernet_are_not_for_tcp(name: str) -> None:
    with pytest.raises(InputError, match=r"is for Ultra Ethernet$"):
        read_controllers([name])


def test_no_controller_of_roce_is_suggested() -> None:
    with pytest.raises(InputError, match='no congestion control "non"; there are: ') as caught:
        read_controllers(["non"])
    assert "hpcc" not in str(caught.value)


def test_a_list_of_names_and_dicts() -> None:
    assert [controller.label for controller in read_controllers(["reno", {"kind": "cubic", "beta": 0.8}])] == [
        "reno",
        "cubic beta 0.8",
    ]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("cubicc", 'no congestion control "cubicc"; did you mean "cubic"'),
        ("cubic:presett=linux", 'cubic presett linux: unknown key "presett"; did you mean "preset"'),
        ("cubic:preset=linx", 'did you mean "linux"'),
        ("cubic:beta=7", "must be at most 1"),
        ("cubic:beta", "key=value"),
        ("cubic:=1", "key=value"),
        ("reno,,cubic", "an empty name"),
        ("", "an empty name"),
        ("reno,reno", "given twice"),
        ([], "are a list"),
        ([3], "a name, a dict or a class"),
        ([{"preset": "linux"}], 'a table with "kind"'),
        ("{ kind = ", "not a table"),
    ],
)
def test_bad_controllers_are_one_line(given: object, why: str) -> None:
    with pytest.raises(InputError) as error:
        read_controllers(given)
    assert why in str(error.value)
    assert "\n" not in str(error.value)


MINE = f"{__name__}:Steady"


@pytest.mark.parametrize(
    ("given", "label", "params"),
    [
        (Steady, "Steady", {}),
        ({"kind": Steady}, "Steady", {}),
        ({"kind": Steady, "gain": 0.5}, "Steady gain 0.5", {"gain": 0.5}),
        (functools.partial(Steady, gain=0.5), "Steady gain 0.5", {"gain": 0.5}),
        (MINE, "Steady", {}),
        (f"{MINE}:gain=0.5", "Steady gain 0.5", {"gain": 0.5}),
        (f'{{ python = "{MINE}", params = {{ gain = 0.5 }} }}', "Steady gain 0.5", {"gain": 0.5}),
    ],
)
def test_a_controller_of_ones_own(given: Any, label: str, params: dict[str, float]) -> None:
    _, controller = read_controllers(["reno", given])
    assert (controller.label, controller.plain) == (label, False)
    assert controller.value == {"python": MINE, **({"params": params} if params else {})}


OWN = """import elephan as el

class Mine(el.CongestionControl):
    def on_ack(self, ack):
        self.cwnd += {gain} * self.mss
"""


def test_classes_of_the_same_name_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, gain in (("slow", 0.1), ("fast", 0.2)):
        (tmp_path / f"{name}.py").write_text(OWN.format(gain=gain))
    assert [controller.label for controller in read_controllers("slow.py:Mine,fast.py:Mine")] == ["Mine", "fast.py:Mine"]
    with pytest.raises(InputError, match="Mine is given twice"):
        read_controllers("slow.py:Mine,slow.py:Mine")


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ([Steady()], "give the class Steady and not an object of it: each connection has its own"),
        ([int], "int is not an elephan.CongestionControl"),
        ([{"kind": Steady, "gian": 1}], f'"{MINE}": Steady has no parameter "gian"; did you mean "gain"?'),
        (f"{MINE}:gain", f"{MINE}:gain: write parameters as {MINE}:key=value"),
        (f"{__name__}:Stedy", f'"{__name__}:Stedy": {__name__} has no "Stedy"; did you mean "Steady"?'),
        ("mine.py:Mine", f'"mine.py:Mine": mine.py: No such file or directory, nor is it in the working directory {Path.cwd()}'),
        (
            "mine.py",
            'mine.py: which class of this file? Write it as mine.py:Class; a program is written as { program = "mine.py" }',
        ),
    ],
)
def test_a_wrong_controller_of_ones_own_is_one_line(given: Any, line: str) -> None:
    with pytest.raises(InputError) as error:
        read_controllers(given)
    assert str(error.value) == line


SCENARIO = """
duration = "1 s"
[template]
kind = "path"
hops = [{ rate = "10 Gbps", delay = "0 s" }, { rate = "50 Mbps", delay = "5 ms", queue = { kind = "fifo", limit = "60 KB" } }]
[[traffic]]
name = "flow"
from = "sender"
to   = "receiver"
kind = "bulk"
"""
CONTROLLER = "traffic.flow.congestion_control"


def test_settings_name_a_controller_as_compare_does() -> None:
    assert settings([f"{CONTROLLER}=cubic:preset=linux"]) == {CONTROLLER: {"kind": "cubic", "preset": "linux"}}
    assert settings([f"{CONTROLLER}=mine.py:Mine:gain=0.1"]) == {CONTROLLER: {"python": "mine.py:Mine", "params": {"gain": 0.1}}}
    assert settings([f"{CONTROLLER}=reno", f'{CONTROLLER.replace("flow", "b")}={{ kind = "bic" }}', "a.b=c:d"]) == {
        CONTROLLER: "reno",
        CONTROLLER.replace("flow", "b"): {"kind": "bic"},
        "a.b": "c:d",
    }
    assert axes([f"{CONTROLLER}=reno,mine.py:Mine"]) == {CONTROLLER: ["reno", {"python": "mine.py:Mine"}]}


@pytest.mark.parametrize("beside", [True, False])
def test_a_controller_of_ones_own_in_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], beside: bool
) -> None:
    """A file of the working directory, named on the command line as in `compare`, wherever the scenario lies."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN.format(gain=0.1))
    file = tmp_path / ("s.toml" if beside else "far/s.toml")
    file.parent.mkdir(exist_ok=True)
    file.write_text(SCENARIO)
    words = ["run", str(file), "-s", f"{CONTROLLER}=mine.py:Mine", "--json", "--out", str(tmp_path / "o")]
    assert cli.status_of(words) == 0, capfd.readouterr().err
    (flow,) = el.load(tmp_path / "o").flows.to_pylist()
    assert flow["congestion_control"] == "Mine"
    assert flow["delivered_bytes"] > 0
    capfd.readouterr()
    words = [
        "sweep",
        str(file),
        "-s",
        f"{CONTROLLER}=reno,mine.py:Mine",
        "--repetitions",
        "1",
        "--json",
        "--out",
        str(tmp_path / "p"),
    ]
    assert cli.status_of(words) == 0, capfd.readouterr().err
    assert cli.status_of(["run", str(file), "-s", f"{CONTROLLER}=none.py:Mine", "--out", str(tmp_path / "q")]) == 2
    assert len(capfd.readouterr().err.strip().splitlines()) == 1
