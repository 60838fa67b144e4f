"""What comes from outside a run: signals, functions of the caller, a reader that leaves, memory that is short."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from waiting import PATIENCE_S, until

pytestmark = pytest.mark.alone  # how soon something answers is measured

LONG = {"duration": "5000 s"}
START = "import sys; sys.argv[0] = 'elephan'; from elephan.cli import main; main()"


class Late(Exception):
    """Raised by a handler of the tests."""


@pytest.fixture(scope="module")
def _imported(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Everything is imported: what interrupts an import of scipy leaves it half done for the tests that follow."""
    el.run("sawtooth", set={"duration": "11 s"}, out=tmp_path_factory.mktemp("first") / "run")
    el.path("10 Mbps", "10 ms", size="1 MB", out=tmp_path_factory.mktemp("first") / "path")


@pytest.fixture(params=[Late, TimeoutError, SystemExit, OSError, BrokenPipeError])
def raised(request: pytest.FixtureRequest, _imported: None) -> Iterator[type[BaseException]]:
    """What a signal handler raises."""

    def handler(_signal: int, _frame: Any) -> None:
        raise request.param("from the handler")

    before = signal.signal(signal.SIGALRM, handler)
    yield request.param
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def works(folder: Path) -> dict[str, Callable[[], Any]]:
    class Reno(el.CongestionControl):
        def on_ack(self, ack: Any) -> None:
            if not ack.app_limited:
                self.cwnd += self.mss * min(ack.acked, self.cwnd) / self.cwnd

    return {
        "run": lambda: el.run("long-fat", set=LONG),
        "run to a folder": lambda: el.run("long-fat", set=LONG, out=folder / "out"),
        "sweep": lambda: el.sweep("long-fat", set=LONG, repetitions=3, out=folder / "out"),
        "compare": lambda: el.compare(["reno", "cubic"], scenario="long-fat", set=LONG, out=folder / "out"),
        "path": lambda: el.path("10 Gbps", "200 ms", size="100 TB", whole=True, out=folder / "out"),
        "check": lambda: el.testing.check_congestion_control(Reno, cases=10**9),
    }


@pytest.mark.parametrize("name", ["run", "run to a folder", "sweep", "compare", "path", "check"])
def test_what_a_signal_handler_raises_stops_everything_and_goes_on(name: str, tmp_path: Path, raised: type[BaseException]) -> None:
    begin, threads = time.process_time(), threading.active_count()
    work = works(tmp_path)[name]
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    with pytest.raises(raised, match="from the handler"):
        work()
    assert time.process_time() - begin < 15
    until(lambda: threading.active_count() <= threads, "the end of the threads")
    assert {path.name for path in tmp_path.iterdir()} <= {"out.trials"}, "nothing half-written beside the runs that are done"


@pytest.mark.parametrize("error", [OSError(28, "of the caller"), BrokenPipeError("of the caller"), Late("of the caller")])
@pytest.mark.parametrize("to_folder", [False, True])
def test_what_progress_raises_is_raised(tmp_path: Path, error: Exception, to_folder: bool) -> None:
    def progress(_share: float, _events: int) -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        el.run("long-fat", set=LONG, progress=progress, out=tmp_path / "out" if to_folder else None)
    assert caught.value is error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ("list", "scenarios"),
        ("run", "sawtooth", "-s", "duration=1 s", "-s", "warmup=0 s"),
        ("run", "sawtooth", "-s", "duration=1 s", "-s", "warmup=0 s", "--json"),
        ("schema",),
        ("--help",),
        ("run", "--help"),
    ],
)
@pytest.mark.parametrize("reader", ["head -1", "true"])
def test_a_reader_that_leaves(tmp_path: Path, words: tuple[str, ...], reader: str) -> None:
    """`elephan run X | head -1` ends as `elephan list | head` does: with its own status and without a word."""
    pipe = f'"$0" -c "$1" "${{@:2}}" | {reader}; exit "${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", pipe, sys.executable, START, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_of_errors_that_leaves(tmp_path: Path) -> None:
    pipe = '"$0" -c "$1" run nosuch 2>&1 | true; exit "${PIPESTATUS[0]}"'
    done = subprocess.run(
        ["bash", "-c", pipe, sys.executable, START], cwd=tmp_path, capture_output=True, check=False, timeout=PATIENCE_S
    )
    assert (done.returncode, done.stderr) == (2, b"")


def test_little_memory_is_a_line_and_no_wait(tmp_path: Path) -> None:
    """pyarrow, told to use threads, waits for ever for those that it cannot start; so tables are read without."""
    el.run("sawtooth", set={"duration": "11 s"}, out=tmp_path / "out", report=False)
    code = f"""
import resource, sys
import pyarrow.parquet, elephan as el
from elephan import open as results
from elephan.table.classes import RUN
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 6_000_000, held + 6_000_000))
try:
    run = el.load({str(tmp_path / "out")!r})
    for name in RUN:
        run.tables[name]
except (el.ElephanError, MemoryError) as error:
    print(type(error).__name__)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE_S, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) <= 1


LIMITED: dict[str, list[str]] = {
    "run": ["run", "sawtooth", "-s", "duration=12 s"],
    "sweep": ["sweep", "sawtooth", "-s", "duration=12 s", "-n", "2"],
    "path": ["path", "--rate", "10 Mbps", "--rtt", "10 ms", "--size", "1 MB"],
    "analyze": ["analyze", "capture"],
}


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = el.run("sawtooth", set={"duration": "11 s"}, out=tmp_path_factory.mktemp("captured") / "run", pcap=True, report=False)
    return run.captures[0]


@pytest.mark.parametrize(
    ("name", "megabytes"),
    [
        *[("run", megabytes) for megabytes in (100, 200, 300, 350, 400, 475, 500, 519, 600, 700, 900)],
        *[(name, megabytes) for name in ("sweep", "path", "analyze") for megabytes in (300, 400, 519, 700)],
    ],
)
def test_a_command_under_a_limit_ends_with_a_line_or_works(name: str, megabytes: int, tmp_path: Path, capture: Path) -> None:
    """`ulimit -v`: allocations of Rust aborted with a core dump before (350 MB), and pyarrow crashed as it ended (475, 519 MB)."""
    resource = pytest.importorskip("resource")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 1_000_000,) * 2)

    words = [str(capture) if word == "capture" else word for word in LIMITED[name]]
    command = [sys.executable, "-c", START, *words, "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S, preexec_fn=limit)
    lines = done.stderr.splitlines()
    assert (done.returncode, len(lines)) in [(0, 0), (1, 1)], done.stderr
    assert all("not enough memory" in line for line in lines)
    # What is left of a process that could not go on is marked as partial, and the next run takes it away.
    assert done.returncode == 0 or not (tmp_path / "out").exists() or "the tables are written" in done.stderr


def test_a_run_that_takes_all_memory_is_a_memory_error_and_python_goes_on() -> None:
    code = """
import resource
import elephan as el
el.run("sawtooth", set={"duration": "11 s"})
before = resource.getrlimit(resource.RLIMIT_AS)
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 100_000_000, before[1]))
try:
    el.run("long-fat", set={"duration": "5000 s", "record.every": "500 us"})
except MemoryError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_AS, before)
el.run("sawtooth", set={"duration": "11 s"})
print("alive")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert (done.stdout, done.stderr) == ("not enough memory\nalive\n", "")


def test_want_of_memory_is_one_line(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    from elephan import cli
    from elephan.cli.command import run as command

    for error in (
        MemoryError(),
        ImportError("libscipy_openblas.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
    ):

        def fails(*_: Any, error: Exception = error) -> Any:
            raise error

        monkeypatch.setattr(command, "open_source", fails)
        assert cli.status_of(["run", "sawtooth"]) == 1
        assert capfd.readouterr().err == "elephan: not enough memory\n"
