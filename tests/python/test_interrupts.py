"""A signal at any moment ends any command: with status 130 and one line, without a traceback or a long wait."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.base.signals import Interrupted
from elephan.cli.app import commands
from waiting import ANSWER_S, end, processor_s, until

SHORT = ("-s", "duration=12 s", "-s", "warmup=1 s")
# Every command with arguments for which it works, and the processor time in seconds in which it is interrupted; or why it is not
# called here.
COMMANDS: dict[str, tuple[tuple[str, ...], float] | str] = {
    "analyze": (("capture.pcapng", "--out", "analyzed"), 1.5),
    "bench": (("W1",), 2.0),
    "branch": (("sawtooth", "--at", "50 s", "-s", "links.left->right.rate=5 Mbps", "--out", "branched"), 1.5),
    "compare": (("reno,cubic", "--quick", "--rate", "2Mbps", "--out", "compared"), 4.0),
    "completion": (("bash",), 0.4),
    "conformance": (("reno", "--quick", "--out", "conforms"), 3.0),
    "diff": (("one", "two"), 0.6),
    "docs": (("dctcp",), 0.4),
    "doctor": (("kept",), 0.6),
    "explain": (("one",), 0.8),
    "explore": (("--no-open",), 0.3),
    "goal make": (("all-reduce", "ring", "--ranks", "64", "--size", "1 MB", "--out", "made.goal"), 0.6),
    "goal show": (("ring.goal",), 0.6),
    "import": (("net.gml",), 0.8),
    "list": (("scenarios",), 0.4),
    "measure path": "reads one log: test_measure_path.py has its errors",
    "measure disk": "fio is not there on every machine: test_disk.py has its signals",
    "packetdrill": (("script.pkt",), 0.6),
    "path": (("10Mbps", "20ms", "--size", "1MB", "--out", "path"), 3.0),
    "query": (("select count(*) from trials a, trials b, trials c, range(100000000)", "--store", "kept"), 2.0),
    "report": (("one",), 1.5),
    "run": (("sawtooth", *SHORT, "--out", "run"), 1.5),
    "schema": ((), 0.4),
    "show": (("one",), 0.6),
    "store check": (("kept",), 0.6),
    "store gc": (("kept",), 0.6),
    "store list": (("kept",), 0.6),
    "store show": (("kept",), 0.6),
    "study list": ((), 0.4),
    "study run": (("intel-2004", "--quick", "--out", "study"), 4.0),
    "sweep": (("sawtooth", *SHORT, "-s", "template.delay=5ms,20ms", "-n", "3", "--out", "swept"), 3.0),
    "sweep processes": (("sawtooth", *SHORT, "-n", "4", "--on", "processes", "--out", "swept-elsewhere"), 3.0),
    "trace make": (("cellular", "--out", "made.trace"), 0.8),
    "trace show": (("cell.trace",), 0.8),
    "verify": ((), 2.0),
    "virtual": (("app.py", "--scenario", "pair.toml", "--out", "played"), 2.0),
}
CALLED = [name for name, one in COMMANDS.items() if not isinstance(one, str)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the commands read."""
    place = tmp_path_factory.mktemp("interrupted")
    short = {"duration": "12 s", "warmup": "1 s"}
    run = el.run("sawtooth", set=short, out=place / "one", pcap=True)
    el.run("sawtooth", set=short, seed=2, out=place / "two")
    shutil.copy(run.captures[0], place / "capture.pcapng")
    el.sweep("sawtooth", set=short | {"template.delay": ["5 ms", "20 ms"]}, repetitions=3, store=place / "kept")
    (place / "net.gml").write_text("graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 dist 200 ] ]")
    (place / "cell.trace").write_text("1\n2\n")
    (place / "ring.goal").write_text("num_ranks 2 rank 0 { send 9b to 1 } rank 1 { recv 9b from 0 }")
    (place / "app.py").write_text(
        "import asyncio\n\n\nasync def main():\n    for _ in range(10**6):\n        await asyncio.sleep(1e-6)\n"
    )
    (place / "pair.toml").write_text(
        'duration = "9 s"\ntemplate = { kind = "dumbbell", pairs = 1, rate = "1 Mbps", delay = "1 ms" }\n'
    )
    (place / "script.pkt").write_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 `sleep 0`\n")
    return place


def handles_signals(pid: int) -> bool:
    """Whether the command has begun: Python's own start, in which Ctrl-C is a traceback, does not handle SIGTERM."""
    masks = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigCgt")]
    return bool(masks) and bool(int(masks[0].split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def interrupt(place: Path, name: str, after_s: float, how: signal.Signals) -> None:
    """Interrupts a command when it has used some processor time since its begin, and judges what it says."""
    arguments, _ = COMMANDS[name]
    words = name.removesuffix(" processes").split()
    command = [sys.executable, "-m", "elephan", *words, *arguments]
    environment = os.environ | {"BROWSER": "true"}
    process = subprocess.Popen(command, cwd=place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until(lambda: process.poll() is not None or handles_signals(process.pid), "the begin of the command")
    begin = processor_s(process.pid) if process.poll() is None else 0.0
    until(lambda: process.poll() is not None or processor_s(process.pid) >= begin + after_s, f"{after_s} s of processor time")
    over = process.poll() is not None
    _, told, used_s = end(process, how)
    what = f"{name} after {after_s:.3f} s by {how.name}: {process.returncode} {told}"
    # Done before the signal, or just then: in the very end of the interpreter a signal ends it without a word.
    allowed = (0, 1, 2) if over else (130, 0, 1, -how) if name != "explore" else (130, 0)
    assert process.returncode in allowed, what
    for word in ("Traceback", "report it", "Exception ignored", "internal error"):
        assert word not in told, what
    if process.returncode == 130:
        assert told.splitlines()[-1] == "elephan: interrupted", what
        assert used_s < ANSWER_S + DRAWS.get(name, 0.0), what


# A report of what is done is drawn after the signal.
DRAWS = {"compare": 4.0, "sweep": 4.0, "sweep processes": 4.0, "study run": 6.0, "conformance": 4.0}


def test_every_command_is_interrupted_here() -> None:
    there = {path.removeprefix("elephan ") for path, _ in commands()}
    assert there == {name for name in COMMANDS if name != "sweep processes"}


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", CALLED)
def test_a_signal_ends_any_command(place: Path, name: str, how: signal.Signals) -> None:
    draw = random.Random(f"{name} {how.name}")
    interrupt(place, name, draw.uniform(0, COMMANDS[name][1]), how)  # type: ignore[arg-type]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_command_is_loaded(place: Path, how: signal.Signals) -> None:
    for n in range(12):
        interrupt(place, "list", 0.02 * n, how)


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLED)
def test_a_signal_ends_any_command_at_any_moment(place: Path, name: str) -> None:
    draw = random.Random()
    for _ in range(25):
        interrupt(place, name, draw.uniform(0, COMMANDS[name][1]), draw.choice([signal.SIGINT, signal.SIGTERM]))  # type: ignore[arg-type]


class Ends:
    """Interrupts an experiment after some runs."""

    def __init__(self, runs: int) -> None:
        self.left = runs

    def plan(self, _jobs: Any) -> None:
        """The runs to come do not matter."""

    def add(self, _outcome: Any) -> None:
        """Called with each run that is done."""
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


@pytest.mark.parametrize("scenario", [None, "sawtooth"])
@pytest.mark.parametrize("runs", [1, 2, 3, 5])
def test_what_is_done_of_a_comparison_is_drawn(tmp_path: Path, scenario: str | None, runs: int) -> None:
    """After one run nothing of the pairs is there; the report had no largest value of them, and asked to be reported."""
    given: dict[str, Any] = (
        {"quick": True, "rate": "2 Mbps"} if scenario is None else {"scenario": scenario, "set": {"duration": "11 s"}}
    )
    with pytest.raises(Interrupted) as ended:
        el.compare(["reno", "cubic"], repetitions=4, workers=1, seen=Ends(runs), out=tmp_path / "out", report=False, **given)
    ended.value.result.add_report(tmp_path / "out")
    assert (tmp_path / "out" / "report.html").exists()
    loaded = el.load(tmp_path / "out")
    assert len(loaded.trials) == runs
    assert str(loaded.facts["incomplete"]).startswith(f"{runs} of ")
