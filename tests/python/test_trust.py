"""What code a scenario may run: files beside it, and what the caller names. docs/trust.md is the page."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan import cli

SCENARIO = """
duration = "1 s"
[template]
kind = "dumbbell"
rate = "10 Mbps"
delay = "5 ms"
[[traffic]]
name = "flow"
kind = "bulk"
from = "sender"
to = "receiver"
congestion_control = {words}
"""
CONTROLLER = "traffic.flow.congestion_control"
GUEST = """
import elephan as el

class Mine(el.CongestionControl):
    def on_ack(self, ack):
        if not ack.app_limited:
            self.cwnd += self.mss * min(ack.acked, self.cwnd) / self.cwnd
"""
MARKER = "\nimport pathlib\npathlib.Path({file!r}).write_text('ran')\n"


def scenario(folder: Path, words: str) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    file = folder / "mine.toml"
    file.write_text(SCENARIO.replace("{words}", words))
    return file


@pytest.fixture
def ran(tmp_path: Path) -> Callable[[], bool]:
    """Whether the code that `GUEST + MARKER` is has run."""
    return lambda: (tmp_path / "ran").exists()


def guest(file: Path, tmp_path: Path) -> Path:
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text(GUEST + MARKER.replace("{file!r}", repr(str(tmp_path / "ran"))))
    return file


def everything_that_runs(file: Path, **named: Any) -> list[Callable[[], Any]]:
    return [
        lambda: el.run(file, **named),
        lambda: el.sweep(file, repetitions=2, **named),
        lambda: el.compare(["reno"], scenario=file, repetitions=1, **named),
    ]


@pytest.mark.parametrize(
    "words",
    [
        '{ python = "subprocess:check_output", params = { args = ["touch", "RAN"] } }',
        '{ python = "os:system", params = { command = "touch RAN" } }',
        '{ python = "elephan.scenario.guest:load" }',
        '{ python = "elephan.scenario.core:build" }',
        '{ python = "__main__:anything" }',
        '{ python = "outside:Mine" }',
        '{ python = "../outside.py:Mine" }',
        '{ python = "ABSOLUTE/outside.py:Mine" }',
        '{ python = "link.py:Mine" }',
        '{ python = "here.py:Mine" }',
    ],
)
def test_a_scenario_runs_no_code_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran: Callable[[], bool], words: str
) -> None:
    """A module that Python could import, a path out of the folder, a link out of it, a file of the working directory."""
    outside = guest(tmp_path / "outside.py", tmp_path)
    guest(tmp_path / "here.py", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    file = scenario(tmp_path / "lab", words.replace("ABSOLUTE", str(tmp_path)).replace("RAN", str(tmp_path / "ran")))
    (tmp_path / "lab" / "link.py").symlink_to(outside)
    text = file.read_text()
    for call in (*everything_that_runs(file)[:2], lambda: el.run(text), lambda: el.run(__import__("tomllib").loads(text))):
        with pytest.raises(el.InputError) as caught:
            call()
        assert "\n" not in str(caught.value)
        assert not ran()
    assert cli.status_of(["run", str(file), "--out", "out"]) == 2
    assert not ran()
    assert "outside" not in sys.modules


def test_what_the_caller_names_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "named_by_caller.py").write_text(GUEST)
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    by_module = scenario(tmp_path / "a", '{ python = "named_by_caller:Mine" }')
    by_file = scenario(tmp_path / "b", f'{{ python = "{tmp_path}/elsewhere/named_by_caller.py:Mine" }}')
    up = scenario(tmp_path / "c", '{ python = "../elsewhere/named_by_caller.py:Mine" }')
    inside = str(tmp_path / "elsewhere" / "named_by_caller.py")
    for file, named in (
        (by_module, "named_by_caller"),
        (by_module, ["json", "named_by_caller"]),
        (by_file, inside),
        (by_file, tmp_path / "elsewhere"),
        (up, [inside]),
    ):
        for call in everything_that_runs(file, python_from=named):
            call()
        with pytest.raises(el.InputError, match="--python-from"):
            el.run(file)
        option = [word for one in ([named] if not isinstance(named, list) else named) for word in ("--python-from", str(one))]
        assert cli.status_of(["run", str(file), "--out", str(tmp_path / "out"), "--replace", *option]) == 0
    panel = el.path("10 Mbps", "10 ms", size="1 MB", congestion_control=["named_by_caller:Mine"], python_from="named_by_caller")
    assert panel.rows[0].controller == "Mine"


@pytest.mark.parametrize(
    ("named", "why"),
    [
        (3, "python_from is a name or a list of names"),
        ([3], "python_from: a module's name or a path, not 3"),
        ("no/such.py", "python_from: no/such.py: no such file"),
        ("nowhere", "python_from: nowhere: no such module"),
        (["json.nowhere"], "python_from: json.nowhere: no such module"),
        ("", "python_from: an empty text is no path"),
        (["a\0b/c.py"], "NUL"),
        (b"lab", "python_from is"),
    ],
)
def test_wrong_names_are_refused(named: Any, why: str) -> None:
    for call in (lambda: el.run("sawtooth", python_from=named), lambda: el.compare(["reno"], python_from=named)):
        with pytest.raises(el.InputError) as caught:
            call()
        assert why in str(caught.value)


def test_a_file_beside_the_scenario_runs_unless_the_caller_says_none(tmp_path: Path, ran: Callable[[], bool]) -> None:
    guest(tmp_path / "controllers" / "mine.py", tmp_path)
    for words in ('{ python = "controllers/mine.py:Mine" }', '{ python = "controllers.mine:Mine" }'):
        file = scenario(tmp_path, words)
        with pytest.raises(el.InputError, match="no code beside the scenario is run here"):
            el.run(file, python_from="none")
        assert not ran()
        assert el.run(file).flows["congestion_control"].to_pylist() == ["Mine"]
        (tmp_path / "ran").unlink(missing_ok=True)
        (tmp_path / "controllers" / "mine.py").write_text((tmp_path / "controllers" / "mine.py").read_text() + "\n")


def test_a_file_of_others_does_not_run(tmp_path: Path, ran: Callable[[], bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """One that another user owns, or that everyone may write; unless the caller names it."""
    file, controller = scenario(tmp_path, '{ python = "mine.py:Mine" }'), guest(tmp_path / "mine.py", tmp_path)
    controller.chmod(0o666)
    with pytest.raises(el.InputError, match=r"mine\.py: everyone may write it; its code runs only where the caller names it"):
        el.run(file)
    controller.chmod(0o644)
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(controller).st_uid + 4321)
    if os.stat(controller).st_uid == 0:
        if os.getuid() != 0:
            pytest.skip("only root gives files away")
        os.chown(controller, 1234, -1)
    with pytest.raises(el.InputError, match=r"mine\.py: it belongs to another user"):
        el.run(file)
    assert not ran()
    el.run(file, python_from=controller)
    assert ran()


def test_only_controllers_are_called(tmp_path: Path, ran: Callable[[], bool]) -> None:
    """Classes derived from el.CongestionControl and functions marked by el.controller_factory, whoever names them."""
    more = f"""
def unmarked(**params):
    open({str(tmp_path / "ran")!r}, "w").close()
    return Mine()

class Other:
    def __init__(self, **params):
        open({str(tmp_path / "ran")!r}, "w").close()

@el.controller_factory
def marked(step=1.0):
    return Mine()

import functools
partial = functools.partial(marked, step=2.0)
wrong = functools.partial(unmarked, step=2.0)
"""
    (tmp_path / "mine.py").write_text(GUEST + more)
    for name in ("unmarked", "wrong"):
        with pytest.raises(el.InputError, match=f"{name} is not marked by @elephan.controller_factory; nothing else is called"):
            el.run(scenario(tmp_path, f'{{ python = "mine.py:{name}" }}'), python_from=tmp_path)
    with pytest.raises(el.InputError, match="Other is not derived from elephan"):
        el.run(scenario(tmp_path, '{ python = "mine.py:Other" }'))
    for name, python_from in (("subprocess:check_output", "subprocess"), ("os:system", "os")):
        with pytest.raises(el.InputError, match="nothing else is called"):
            el.run("sawtooth", set={"traffic.reno.congestion_control": {"python": name}}, python_from=python_from)
    assert not ran()
    for name in ("marked", "partial"):
        done = el.run(scenario(tmp_path, f'{{ python = "mine.py:{name}" }}'))
        assert done.flows["congestion_control"].to_pylist() == [name]


def test_what_is_stepped_by_hand_calls_nothing_else(tmp_path: Path) -> None:
    words = {"python": "subprocess:check_output", "params": {"args": ["touch", str(tmp_path / "ran")]}}
    for call in (
        lambda: el.rounds.new(words, rate="1 Gbps", rtt="10 ms"),
        lambda: el.tcp.Endpoint(congestion_control=words),
        lambda: el.rounds.new({"python": "antigravity:x"}, rate="1 Gbps", rtt="10 ms"),
        lambda: el.compare([words]),
        lambda: el.path("1 Gbps", "10 ms", congestion_control=[words]),
    ):
        with pytest.raises(el.InputError):
            call()
    assert not (tmp_path / "ran").exists()
    assert "antigravity" not in sys.modules


def test_a_file_imports_what_lies_beside_it_and_nothing_that_only_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two scenarios with a `helper.py` each; one of that name, and `json.py`, stand before them where Python looks."""
    (tmp_path / "first").mkdir()
    for name in ("helper", "statistics"):
        (tmp_path / "first" / f"{name}.py").write_text("raise SystemExit('the wrong one')\n")
    monkeypatch.syspath_prepend(tmp_path / "first")
    imports = """
import helper
import pack.inner as inner
from pack import other
from statistics import mean
import json

Mine.__doc__ = f"{helper.value} {inner.value} {other.value} {mean} {json.dumps(1)}"

class Later(Mine):
    def on_ack(self, ack):
        import late
        self.cwnd += late.bytes

    def __init__(self, seen):
        self.seen = seen
"""
    for name, value in (("a", 1), ("b", 2)):
        file = scenario(tmp_path / name, '{ python = "mine.py:Mine" }')
        (file.parent / "mine.py").write_text(GUEST + imports)
        (file.parent / "helper.py").write_text(f"value = {value}\n")
        (file.parent / "late.py").write_text("bytes = 10\n")
        (file.parent / "statistics.py").write_text(f"mean = 'own {value}'\n")
        (file.parent / "pack").mkdir()
        (file.parent / "pack" / "inner.py").write_text("from . import other\nfrom .other import value\nimport helper\n")
        (file.parent / "pack" / "other.py").write_text(f"value = {10 * value}\n")
        el.run(file)
        (module,) = [m for m in sys.modules.values() if getattr(m, "__file__", "") == str(file.parent / "mine.py")]
        assert module.Mine.__doc__ == f"{value} {10 * value} {10 * value} own {value} 1"
        el.run(scenario(tmp_path / name, '{ python = "mine.py:Later", params = { seen = 1 } }'))
    assert "helper" not in sys.modules
    # Changed, it is read again.
    (tmp_path / "a" / "pack" / "other.py").write_text("value = 77\n")
    el.run(scenario(tmp_path / "a", '{ python = "mine.py:Mine" }'))
    (module,) = [m for m in sys.modules.values() if getattr(m, "__file__", "") == str(tmp_path / "a" / "mine.py")]
    assert module.Mine.__doc__.startswith("1 77 77 ")


def test_what_a_file_imports_is_the_callers_own_too(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import helper\n" + GUEST)
    (tmp_path / "outside.py").write_text("value = 1\n")
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "mine.py").write_text("import helper\n" + GUEST)
    (tmp_path / "lab" / "helper.py").symlink_to(tmp_path / "outside.py")
    with pytest.raises(el.InputError, match=r"helper.py: is not in the folder of the scenario"):
        el.run(scenario(tmp_path / "lab", '{ python = "mine.py:Mine" }'))


def test_a_result_is_no_place_for_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scenario of a result names a file of the folder that it was run from; a rerun names it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(GUEST)
    el.run(scenario(tmp_path, '{ python = "mine.py:Mine" }'), out="out", report=False)
    with pytest.raises(el.InputError, match=r"mine\.py: is not beside the scenario; its code runs only where the caller names it"):
        el.run("out/scenario.toml")
    assert el.run("out/scenario.toml", python_from="mine.py").flows.num_rows == 1


def test_a_class_that_is_handed_over_needs_no_word() -> None:
    class Local(el.CongestionControl):
        def on_ack(self, ack: Any) -> None:
            self.cwnd += 1

    for controller in (Local, lambda: Local()):
        assert el.run("sawtooth", set={"traffic.reno.congestion_control": controller, "duration": "11 s"}).flows.num_rows == 1


TRAFFIC = '[[traffic]]\nname = "f"\nfrom = "sender"\nto = "receiver"\n'
NETWORK = 'duration = "1 s"\n[template]\nkind = "dumbbell"\nrate = "10 Mbps"\ndelay = "5 ms"\n'
OF_FILES = {
    "trace": NETWORK + TRAFFIC + 'kind = "replay"\nfile = "./any"\n',
    "cdf": NETWORK + TRAFFIC + 'kind = "transfers"\nload = "2 Mbps"\nsize = { cdf = "./any" }\n',
    "profile": NETWORK + '[hosts.sender]\ndisk = { profile = "./any" }\n' + TRAFFIC + 'kind = "bulk"\n',
}


@pytest.mark.parametrize("scenario_of", OF_FILES)
@pytest.mark.parametrize(
    "content",
    [
        "root:$6$SECRET:19000:0:99999:7:::\nsecond:line\n",
        "SECRET\n",
        'password = "SECRET"\n',
        "SECRET = 3\n",
        "[SECRET\n",
        "SECRET = 1\nSECRET = 2\n",
        "a,SECRET\n1,2\n",
        "# a remark\nSECRET,2\n",
    ],
)
def test_an_error_repeats_nothing_of_a_file_that_a_scenario_names(tmp_path: Path, scenario_of: str, content: str) -> None:
    (tmp_path / "any").write_text(content)
    file = tmp_path / "names.toml"
    file.write_text(OF_FILES[scenario_of])
    with pytest.raises(el.InputError) as caught:
        el.run(file)
    assert "SECRET" not in str(caught.value)
    assert "/./any" in str(caught.value)
