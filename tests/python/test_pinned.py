"""A trial is kept under what its run has read, and under nothing else: whoever edits files while an experiment runs."""

from __future__ import annotations

import importlib.metadata
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.experiment.place import threads
from elephan.experiment.store.store import Store
from elephan.scenario import watch

SHORT = {"duration": "300 ms", "warmup": "0 s"}
CONTROLLER = "traffic.reno.congestion_control"

GUEST = """
import elephan
{top}
class Mine(elephan.CongestionControl):
    slow_start = False

    def on_round(self, round):
        {late}
        self.cwnd = {gain} * self.mss
"""
PROGRAM = """#!{python} -SE
import json, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from helper import GAIN
for text in sys.stdin:
    line = json.loads(text)
    answer = {{"n": line["n"]}}
    if line["call"] == "hello":
        answer |= {{"protocol": 1, "calls": ["on_round"], "slow_start": False}}
    else:
        answer["cwnd"] = GAIN * line["mss"]
    print(json.dumps(answer), flush=True)
"""
SWEEP = """
import json, sys
import elephan as el
words = json.loads(sys.argv[1])
function = None
if words.pop("own", None):
    import own
    function = own.each
try:
    done = el.sweep("sawtooth", each=function, **words)
    print(json.dumps([done.values(label, name) for label in done.labels for name in done.statistics]))
except el.ElephanError as error:
    print(error, file=sys.stderr)
    sys.exit(1)
"""


def swept(place: Path, controller: dict[str, str], on: str = "threads", **words: Any) -> subprocess.Popen[str]:
    """A sweep in a process of its own, in a folder where nothing of it lies."""
    (place / "cwd").mkdir(exist_ok=True)
    environment = {**os.environ, **words.pop("environment", {})}
    asked = {"set": {**SHORT, CONTROLLER: controller} if controller else SHORT, "repetitions": 6, "on": on, "workers": 2, **words}
    asked |= {"statistics": ["cwnd_bytes.max"]} if "own" not in words else {}
    command = [sys.executable, "-c", SWEEP, json.dumps({"store": str(place / "kept"), "why": True, "progress": False, **asked})]
    return subprocess.Popen(command, cwd=place / "cwd", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def value(place: Path, controller: dict[str, str], on: str = "threads", **words: Any) -> float:
    """The largest window, or the number of `own.each`, of all trials, which have the same."""
    process = swept(place, controller, on, **words)
    out, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    column = -1 if "own" in words else 0
    (found,) = set(json.loads(out)[column])
    return float(found)


def guest(place: Path, top: str = "", late: str = "pass", gain: str = "GAIN") -> dict[str, str]:
    (place / "lab").mkdir(exist_ok=True)
    (place / "lab" / "mine.py").write_text(GUEST.format(top=top, late=late, gain=gain))
    return {"python": f"{place}/lab/mine.py:Mine"}


def program(place: Path) -> dict[str, str]:
    (place / "lab").mkdir(exist_ok=True)
    file = place / "lab" / "mine"
    file.write_text(PROGRAM.format(python=sys.executable))
    file.chmod(0o755)
    return {"program": str(file)}


# What a guest reads: the top of its file, what stands in its method, the gain there, and the file that has the gain.
READS = {
    "beside": ("from helper import GAIN", "pass", "GAIN", "lab/helper.py"),
    "beside, late": ("", "from helper import GAIN", "GAIN", "lab/helper.py"),
    "importlib": ("import importlib", "helper = importlib.import_module('hel' + 'per')", "helper.GAIN", "other/helper.py"),
    "PYTHONPATH": ("import helper", "pass", "helper.GAIN", "other/helper.py"),
    "PYTHONPATH, late": ("", "import helper", "helper.GAIN", "other/helper.py"),
    "data": ("GAIN = int(open('{place}/gain.txt').read())", "pass", "GAIN", "gain.txt"),
    "data, late": ("", "GAIN = int(open('{place}/gain.txt').read())", "GAIN", "gain.txt"),
    "data by pathlib": ("import pathlib", "GAIN = int(pathlib.Path('{place}/gain.txt').read_text())", "GAIN", "gain.txt"),
    "data by os": ("import os", "GAIN = int(os.read(os.open('{place}/gain.txt', 0), 9))", "GAIN", "gain.txt"),
    "variable": ("import os\nGAIN = int(os.environ['LAB_GAIN'])", "pass", "GAIN", ""),
    "variable, late": ("import os", "GAIN = int(os.getenv('LAB_GAIN'))", "GAIN", ""),
}


@pytest.mark.parametrize("kind", READS)
def test_what_a_guest_reads_is_a_part_of_the_key(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same is taken from the store, another gain runs anew, and what was kept before is found again."""
    top, late, gain, file = (part.replace("{place}", str(tmp_path)) for part in READS[kind])
    named = guest(tmp_path, top, late, gain)
    (tmp_path / "other").mkdir()
    environment = {"PYTHONPATH": str(tmp_path / "other"), "PYTHONDONTWRITEBYTECODE": "1"}

    def found(number: int) -> float:
        if file:
            (tmp_path / file).write_text(f"{number}\n" if file.endswith(".txt") else f"GAIN = {number}\n")
        if "other" in file:  # a module that Python loads once in a process
            return value(tmp_path, named, environment=environment)
        monkeypatch.setenv("LAB_GAIN", str(number))
        words = {"set": {**SHORT, CONTROLLER: named}, "store": tmp_path / "kept", "statistics": ["cwnd_bytes.max"]}
        return el.sweep("sawtooth", repetitions=6, **words).values("base", "cwnd_bytes.max")[0]

    assert [found(30), found(40), found(40), found(30)] == [30 * 1448, 40 * 1448, 40 * 1448, 30 * 1448]
    assert len(Store.at(tmp_path / "kept").rows()) == 12


def test_a_helper_in_a_package_that_the_caller_names(tmp_path: Path) -> None:
    package = tmp_path / "installed" / "laboratory"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "controllers.py").write_text(GUEST.format(top="from . import helper", late="pass", gain="helper.GAIN"))
    named = {"python": "laboratory.controllers:Mine"}
    found = []
    for number in (30, 40, 40, 30):
        (package / "helper.py").write_text(f"GAIN = {number}\n")
        environment = {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
        found.append(value(tmp_path, named, environment=environment, python_from="laboratory") / 1448)
    assert found == [30, 40, 40, 30]
    assert len(Store.at(tmp_path / "kept").rows()) == 12


class Finder(importlib.metadata.DistributionFinder):
    """Opens a file for each package that it is asked for, as code that reads zipped packages does."""

    def find_spec(self, *_: Any) -> None:
        return None

    def find_distributions(self, *_: Any) -> list[Any]:
        Path(__file__).open().close()
        return []


def test_whoever_finds_packages_opens_files_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """elephan asks for its packages when the first file is opened, and is not asked again by that."""
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    watch.is_needed.cache_clear()
    watch._needed.cache_clear()
    with watch.watching(watch.Notes()) as notes:
        (tmp_path / "gain.txt").write_text("30")
        (tmp_path / "gain.txt").read_text()
    assert list(notes.read) == [f"file {tmp_path}/gain.txt"]


def test_a_module_that_was_edited_after_its_import_counts_as_it_was_loaded(tmp_path: Path, monkeypatch: Any) -> None:
    """Python does not load it again, so that the trials of this process are those of the old text."""
    package = tmp_path / "loaded_before"
    package.mkdir()
    (package / "__init__.py").write_text("GAIN = 30\n")
    (package / "controllers.py").write_text(GUEST.format(top="import loaded_before", late="pass", gain="loaded_before.GAIN"))
    monkeypatch.syspath_prepend(tmp_path)
    named = {"set": {**SHORT, CONTROLLER: {"python": "loaded_before.controllers:Mine"}}, "python_from": "loaded_before"}
    named |= {"repetitions": 2, "store": tmp_path / "kept", "statistics": ["cwnd_bytes.max"]}
    first = el.sweep("sawtooth", **named)
    (package / "__init__.py").write_text("GAIN = 4000\n")
    assert el.sweep("sawtooth", **named).table.equals(first.table)
    assert len(Store.at(tmp_path / "kept").rows()) == 2
    fresh = value(tmp_path, {"python": "loaded_before.controllers:Mine"}, environment={"PYTHONPATH": str(tmp_path)},
                  python_from="loaded_before", repetitions=2)  # fmt: skip
    assert fresh == 4000 * 1448
    assert len(Store.at(tmp_path / "kept").rows()) == 4


def test_a_class_made_in_a_function_is_also_what_it_closes_over(tmp_path: Path) -> None:
    """Two processes give it the same name."""
    text = f"""
import sys, elephan as el
def made(gain):
    class Mine(el.CongestionControl):
        slow_start = False
        def on_round(self, round):
            self.cwnd = gain * self.mss
    return Mine
chosen = {{"{CONTROLLER}": made(int(sys.argv[1])), "duration": "300 ms", "warmup": "0 s"}}
done = el.sweep("sawtooth", set=chosen, repetitions=2, store="kept", statistics=["cwnd_bytes.max"])
print(done.values("base", "cwnd_bytes.max")[0])
"""
    (tmp_path / "own.py").write_text(text)
    time.sleep(0.05)  # the system counts the begin of processes in hundredths of a second
    found = []
    for gain in ("30", "40", "30"):
        done = subprocess.run([sys.executable, "own.py", gain], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        found.append(float(done.stdout) / 1448)
    assert found == [30, 40, 30]
    assert len(Store.at(tmp_path / "kept").rows()) == 4


def test_the_files_beside_a_program_are_a_part_of_the_key(tmp_path: Path) -> None:
    named, found = program(tmp_path), []
    for number in (30, 40, 40, 30):
        (tmp_path / "lab" / "helper.py").write_text(f"GAIN = {number}\n")
        found.append(value(tmp_path, named) / 1448)
    assert found == [30, 40, 40, 30]
    assert len(Store.at(tmp_path / "kept").rows()) == 12


@pytest.mark.parametrize("on", ["threads", "processes"])
def test_what_each_reads_is_a_part_of_the_key(tmp_path: Path, on: str) -> None:
    """A file that the function opens, and a module that it imports when it is called."""
    (tmp_path / "other").mkdir()
    text = f"def each(run):\n    from late import PLUS\n    return {{'x': PLUS + int(open('{tmp_path}/gain.txt').read())}}\n"
    (tmp_path / "other" / "own.py").write_text(text)
    found = []
    for number, plus in ((30, 1), (40, 1), (40, 2), (40, 2), (30, 1)):
        (tmp_path / "gain.txt").write_text(str(number))
        (tmp_path / "other" / "late.py").write_text(f"PLUS = {plus}\n")
        environment = {"PYTHONPATH": str(tmp_path / "other"), "PYTHONDONTWRITEBYTECODE": "1"}
        found.append(value(tmp_path, {}, on, own=True, environment=environment))
    assert found == [31, 41, 42, 42, 31]
    assert len(Store.at(tmp_path / "kept").rows()) == 18


@pytest.mark.parametrize(
    ("late", "why"),
    [
        ("import subprocess; subprocess.run(['true'])", "starts a process"),
        ("import socket; socket.socket().connect_ex(('127.0.0.1', 9))", "connects to a network"),
        ("open('/dev/zero').close()", "reads /dev/zero"),
    ],
)
def test_what_nobody_can_compare_is_not_kept(tmp_path: Path, late: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = {"set": {**SHORT, CONTROLLER: guest(tmp_path, late=late, gain="30")}, "store": tmp_path / "kept"}
    el.sweep("sawtooth", repetitions=6, progress=True, **words)
    assert f"6 trials are not kept: {why}" in capsys.readouterr().err
    assert Store.at(tmp_path / "kept").rows() == []


TRACE = """
duration = "4 s"
[template]
kind = "dumbbell"
rate = "10 Mbps"
delay = "5 ms"
[[traffic]]
name = "flow"
kind = "replay"
file = "trace.csv"
from = "sender"
to = "receiver"
"""


def trace(place: Path, size: int) -> None:
    (place / "lab" / "trace.csv").write_text(f"start_s,size_bytes\n0.1,{size}\n")


def test_a_trace_that_changes_while_its_runs_run_is_kept_under_no_other_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs read another one, the next an empty one, and the others the first one again."""
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "a.toml").write_text(TRACE)
    trace(tmp_path, 10_000)
    words = {"workers": 1, "statistics": ["goodput_bps.sum"]}
    alone = el.sweep(tmp_path / "lab" / "a.toml", repetitions=2, **words)
    edits = {3: lambda: trace(tmp_path, 20_000), 5: lambda: (tmp_path / "lab" / "trace.csv").write_text("")}
    edits[6] = lambda: trace(tmp_path, 10_000)
    real = threads.run_one

    def edited(job: Any, *rest: Any) -> Any:
        edits.get(job.seed, lambda: None)()
        return real(job, *rest)

    monkeypatch.setattr(threads, "run_one", edited)
    done = el.sweep(tmp_path / "lab" / "a.toml", repetitions=8, store=tmp_path / "kept", **words)
    monkeypatch.undo()
    line = f"{tmp_path}/lab/trace.csv changed while the experiment ran; the same command runs this again"
    assert done.failures == [f"base seed {seed}: {line}" for seed in (3, 4, 5)]
    assert sorted(row.identity.seed for row in Store.at(tmp_path / "kept").rows()) == [1, 2, 6, 7, 8]
    again = el.sweep(tmp_path / "lab" / "a.toml", repetitions=8, store=tmp_path / "kept", **words)
    assert again.values("base", "goodput_bps.sum") == alone.values("base", "goodput_bps.sum")[:1] * 8


def test_nobody_plants_a_module_where_workers_unpack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of guests come with the job; whatever lies in the temporary folder is not imported, and nothing is left there."""
    shared = tmp_path / "shared"
    shared.mkdir()
    ran = tmp_path / "ran"
    evil = f"import pathlib\npathlib.Path({str(ran)!r}).write_text('x')\nGAIN = 1\n"
    monkeypatch.setenv("TMPDIR", str(shared))
    named = guest(tmp_path, top="import colorsys\nfrom helper import GAIN")
    (tmp_path / "lab" / "helper.py").write_text("GAIN = 30\n")
    (shared / "colorsys.py").write_text(evil)
    (shared / "helper.py").write_text(evil)
    assert value(tmp_path, named, "processes") == 30 * 1448
    assert not ran.exists()
    assert sorted(path.name for path in shared.iterdir()) == ["colorsys.py", "helper.py"]


@pytest.mark.parametrize("on", ["threads", "processes"])
def test_a_program_is_started_from_a_private_folder_that_is_removed(tmp_path: Path, on: str) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    named = program(tmp_path)
    (tmp_path / "lab" / "helper.py").write_text(
        f"import os, pathlib\nGAIN = 30\nhere = pathlib.Path(__file__).parents[1]\n"
        f"pathlib.Path({str(tmp_path / 'seen')!r}).write_text(oct(here.stat().st_mode)[-3:] + ' ' + str(here))\n"
    )
    assert value(tmp_path, named, on, environment={"TMPDIR": str(shared)}) == 30 * 1448
    mode, here = (tmp_path / "seen").read_text().split()
    assert mode == "700"
    assert here.startswith(f"{shared}/elephan-")
    assert list(shared.iterdir()) == []


PLACES = ["threads", "processes", "dask", "shard 0/1"]


@pytest.mark.slow
@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize("kind", ["guest", "helper", "late helper", "program", "data"])
def test_edits_while_a_sweep_runs(tmp_path: Path, kind: str, on: str) -> None:
    """20 edits at random moments; the old text again; the same command gives what a fresh store gives."""
    if on == "dask":
        pytest.importorskip("distributed")
    draws = random.Random(f"{kind} {on}")
    file = tmp_path / {"guest": "lab/mine.py", "data": "gain.txt"}.get(kind, "lab/helper.py")
    named = program(tmp_path) if kind == "program" else guest(tmp_path, gain="30")
    texts = [f"GAIN = {number}\n" for number in (30, 40)]
    if kind == "guest":
        texts = [GUEST.format(top="", late="pass", gain=str(number)) for number in (30, 40)]
    elif kind == "helper":
        named = guest(tmp_path, top="from helper import GAIN")
    elif kind == "late helper":
        named = guest(tmp_path, late="from helper import GAIN")
    elif kind == "data":
        named, texts = guest(tmp_path, late=f"GAIN = int(open('{file}').read())"), ["30\n", "40\n"]
    file.write_text(texts[0])
    words: dict[str, Any] = {"repetitions": 60, "set": {**SHORT, "duration": "2 s", CONTROLLER: named}}
    process = swept(tmp_path, named, on, **words)
    edits = 0
    while process.poll() is None and edits < 20:
        time.sleep(draws.uniform(0.0, 0.3))
        edits += 1
        file.write_text(texts[edits % 2])
    process.communicate(timeout=300)
    file.write_text(texts[0])
    again = swept(tmp_path, named, **words)
    out, said = again.communicate(timeout=300)
    assert again.returncode == 0, said
    fresh, _ = swept(tmp_path, named, **{**words, "store": str(tmp_path / "fresh")}).communicate(timeout=300)
    assert out == fresh
