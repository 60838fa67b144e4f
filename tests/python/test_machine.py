"""A failure of the machine is no result: the store keeps none of it, and the same command runs what it ended."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import elephan as el
import pyarrow.dataset as ds
import pytest
from elephan.base.errors import ElephanError, InputError, OutputError
from elephan.base.machine import ended_from_outside, of_machine
from elephan.experiment.store.store import Store
from elephan.scenario.pipe import ProgramError, ProgramHung

CONTROLLER = "traffic.reno.congestion_control"
SHORT = {"duration": "3 s", "warmup": "1 s", "template.rate": "2 Mbps"}
SAID = " (the machine failed, not the run; the same command runs it again)"


def _raised(make: Callable[[], Any]) -> BaseException:
    try:
        make()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def _from(cause: BaseException, how: str) -> Callable[[], Any]:
    def raises() -> None:
        try:
            raise cause
        except type(cause):
            if how == "from":
                raise ElephanError("a run failed") from cause
            if how == "within":
                raise ValueError("another")  # noqa: B904 - it came while the first one was handled
            raise ValueError("another") from None

    return raises


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(28, "No space left on device"), True),
        (BrokenPipeError(), True),
        (TimeoutError(), True),
        (MemoryError(), True),
        (ModuleNotFoundError("No module named 'mine'"), True),
        (BrokenProcessPool("a process has ended"), True),
        (subprocess.TimeoutExpired("mine", 1), True),
        (OutputError("cannot write x"), True),
        (RuntimeError("can't start new thread"), True),
        (ProgramError("cannot be started", of_machine=True), True),
        (ProgramHung("did not answer", of_machine=True), True),
        (ProgramHung("did not answer"), False),
        (ProgramError("answered nonsense"), False),
        (ElephanError("the window is negative"), False),
        (InputError("no such queue"), False),
        (ZeroDivisionError(), False),
        (RuntimeError("mine"), False),
        (_raised(_from(OSError(5, "Input/output error"), "from")), True),
        (_raised(_from(MemoryError(), "within")), True),
        (_raised(_from(OSError(), "from None")), False),
    ],
    ids=str,
)
def test_what_is_a_failure_of_the_machine(error: BaseException, expected: bool) -> None:
    assert of_machine(error) is expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [(0, False), (1, False), (3, False), (127, True), (126, True), (-9, True), (-15, True), (-11, False), (-6, False)],
)
def test_what_ends_a_program_from_outside(status: int, expected: bool) -> None:
    """Linux: 9 is SIGKILL, 15 SIGTERM, 11 SIGSEGV, 6 SIGABRT; POSIX shells end with 127 for a command that is not there."""
    assert ended_from_outside(status) is expected


# Reno in Python, as a program and as a class. `{each}` stands before the answer to each ACK.
PROGRAM = """#!{python} -SE
import json, os, signal, subprocess, sys, time
for text in sys.stdin:
    line = json.loads(text)
    n = line["n"]
    answer = dict(n=n, protocol=1, calls=["on_ack"]) if line["call"] == "hello" else dict(n=n, cwnd=line["cwnd"] + 10)
    if n == 20:
        {each}
    print(json.dumps(answer), flush=True)
"""
CLASS = """
import os, elephan as el

class Mine(el.CongestionControl):
    seen = 0
    def on_ack(self, ack):
        self.seen += 1
        self.cwnd += 10
        if self.seen == 20 and os.path.exists({mark!r}):
            {each}
"""


def _swept(place: Path, control: dict[str, Any], **more: Any) -> el.Sweep:
    return el.sweep("sawtooth", set={**SHORT, CONTROLLER: control}, repetitions=2, store=place / "s", **more)


def _program(place: Path, each: str, deadline: str = "10 s") -> dict[str, Any]:
    file = place / "mine"
    file.write_text(PROGRAM.format(python=sys.executable, each=each))
    file.chmod(0o755)
    return {"program": str(file), "deadline": deadline}


def _fails_then_goes_on(place: Path, mark: Path, control: dict[str, Any], says: str) -> None:
    """While the mark is there every run fails; the store keeps nothing, and without the mark the same sweep is whole."""
    mark.touch()
    with pytest.raises(ElephanError) as caught:
        _swept(place, control)
    assert says in str(caught.value)
    assert str(caught.value).endswith(SAID)
    assert Store.at(place / "s").rows() == []
    assert Store.at(place / "s").check() == []
    mark.unlink()
    found = _swept(place, control)
    assert (found.failures, found.table.num_rows) == ([], 2)
    assert found.table.equals(el.sweep("sawtooth", set={**SHORT, CONTROLLER: control}, repetitions=2).table)


@pytest.mark.parametrize(
    ("each", "says"),
    [
        ("raise OSError(28, 'No space left on device')", "No space left on device"),
        ("raise MemoryError", "MemoryError"),
        ("import nowhere.to_be_found", "No module named 'nowhere'"),
        ("open('/nowhere/at/all')", "No such file or directory: '/nowhere/at/all'"),
    ],
)
def test_a_class_that_the_machine_fails_is_tried_again(tmp_path: Path, each: str, says: str) -> None:
    mark = tmp_path / "mark"
    (tmp_path / "mine.py").write_text(CLASS.format(mark=str(mark), each=each))
    _fails_then_goes_on(tmp_path, mark, {"python": f"{tmp_path}/mine.py:Mine"}, says)


@pytest.mark.parametrize(
    ("each", "says"),
    [
        ("os.kill(os.getpid(), 9)", "was ended by SIGKILL"),
        ("sys.exit(127)", "ended with status 127"),
        ("time.sleep(60)", "did not answer line 20 within 0.3 s"),  # for what, nobody knows
    ],
)
def test_a_program_that_the_machine_fails_is_tried_again(tmp_path: Path, each: str, says: str) -> None:
    mark = tmp_path / "mark"
    control = _program(tmp_path, f"if os.path.exists({str(mark)!r}): {each}", "300 ms" if "within" in says else "10 s")
    _fails_then_goes_on(tmp_path, mark, control, says)


@pytest.mark.parametrize(
    ("each", "says"),
    [
        ("while True: pass", "did not answer line 20 within 0.3 s"),  # it has had the processor for 0.3 s
        ("sys.exit(3)", "ended with status 3"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "was ended by SIGSEGV"),
    ],
)
def test_a_program_that_fails_by_itself_is_a_result(tmp_path: Path, each: str, says: str) -> None:
    control = _program(tmp_path, each, "300 ms" if "within" in says else "10 s")
    for _ in range(2):  # the second one runs nothing
        with pytest.raises(ElephanError, match=says) as caught:
            _swept(tmp_path, control)
        assert SAID not in str(caught.value)
    assert [says in row.error for row in Store.at(tmp_path / "s").rows()] == [True, True]
    assert ds.dataset(tmp_path / "s" / "attempts").to_table().num_rows == 2


STOPS = """import elephan as el, sys
el.sweep("sawtooth", set={short!r} | {{{controller!r}: {control!r}}}, repetitions=2, store=sys.argv[1], workers=1)
"""


def test_a_machine_that_stands_still_is_no_missed_deadline(tmp_path: Path) -> None:
    """The program stops itself and elephan, five times as long as its deadline; a third process lets both go on."""
    mark = tmp_path / "mark"
    stop = (
        f"both = [os.getpid(), os.getppid()]; mark = {str(mark)!r}\n"
        "        if not os.path.exists(mark):\n"
        "            open(mark, 'w').close()\n"
        "            on = f'sleep 1.5; kill -CONT {both[0]} {both[1]}'\n"
        "            subprocess.Popen(['sh', '-c', on], start_new_session=True, stdin=subprocess.DEVNULL)\n"
        "            [os.kill(one, signal.SIGSTOP) for one in both[::-1]]"
    )
    text = STOPS.format(short=SHORT, controller=CONTROLLER, control=_program(tmp_path, stop, "300 ms"))
    done = subprocess.run([sys.executable, "-c", text, tmp_path / "s"], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
    assert mark.exists()
    assert [row.error for row in Store.at(tmp_path / "s").rows()] == ["", ""]


SMALL = """import elephan as el, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
done = el.sweep("sawtooth", set={short!r} | {{"template.delay": ["5 ms", "20 ms"]}}, repetitions=2, store=sys.argv[1], keep="runs")
print(len(done.failures), done.table.num_rows)
"""


def test_tables_that_the_disk_does_not_take_are_no_failed_trials(tmp_path: Path) -> None:
    """No file may be larger than 20 kB: parts are smaller, and tables of runs are larger."""
    text = SMALL.format(short=SHORT)
    command = [sys.executable, "-c", text, str(tmp_path / "s")]
    first = subprocess.run([*command, "20000"], capture_output=True, text=True)
    assert first.returncode == 1
    assert "every run failed" in first.stderr
    assert "File too large" in first.stderr
    assert SAID in first.stderr
    assert Store.at(tmp_path / "s").rows() == []
    second = subprocess.run([*command, str(resource.RLIM_INFINITY)], capture_output=True, text=True)
    assert (second.returncode, second.stdout) == (0, "0 4\n")
    assert Store.at(tmp_path / "s").check() == []
    assert len(list((tmp_path / "s" / "runs").iterdir())) == 4


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to mount a small disk")
def test_a_full_disk_under_tables_of_runs(tmp_path: Path) -> None:
    disk = tmp_path / "s" / "runs"
    Store.to(tmp_path / "s").close()
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        named: dict[str, Any] = {"set": {**SHORT, "template.delay": ["5 ms", "20 ms"]}, "repetitions": 20}
        found = el.sweep("sawtooth", **named, store=tmp_path / "s", keep="runs")
        assert 0 < found.table.num_rows < 40
        assert len(found.failures) == 40 - found.table.num_rows
        assert all("No space left on device" in line and line.endswith(SAID) for line in found.failures)
        assert [row.error for row in Store.at(tmp_path / "s").rows()] == [""] * found.table.num_rows
        subprocess.run(["mount", "-o", "remount,size=20m", disk], check=True)
        after = el.sweep("sawtooth", **named, store=tmp_path / "s", keep="runs")
        assert after.failures == []
        assert after.table.equals(el.sweep("sawtooth", **named).table)
        assert Store.at(tmp_path / "s").check() == []
    finally:
        subprocess.run(["umount", disk], check=True)
