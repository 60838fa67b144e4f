"""Where runs run: the values are the same to the bit everywhere."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import elephan as el
import pytest
from elephan.base.errors import InputError
from elephan.experiment.store.store import Store

pytest.importorskip("distributed")

SHORT = {"duration": "5 s", "warmup": "1 s", "template.delay": ["5 ms", "20 ms"]}
GUEST = """import elephan
from helper import SHARE

class Mine(elephan.CongestionControl):
    def on_round(self, round):
        self.cwnd += SHARE * self.mss
"""


class Cluster:
    """A scheduler and two worker processes on loopback."""

    def __init__(self, place: Path) -> None:
        self._file = place / "scheduler.json"
        self._processes = [self._started("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")]
        self.workers = [self.worker() for _ in range(2)]
        deadline = time.monotonic() + 30
        while not self._file.exists():
            assert time.monotonic() < deadline, "the scheduler has not begun"
            time.sleep(0.05)
        import json

        self.address = json.loads(self._file.read_text())["address"]

    def _started(self, module: str, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", module, *words, "--scheduler-file", str(self._file)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def worker(self) -> subprocess.Popen[bytes]:
        found = self._started(
            "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"
        )
        self._processes.append(found)
        return found

    def stop(self) -> None:
        for process in reversed(self._processes):  # workers before the scheduler
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    yield found
    found.stop()


def test_dask_gives_the_same(cluster: Cluster, tmp_path: Path) -> None:
    here = el.sweep("sawtooth", set=SHORT, repetitions=3)
    there = el.sweep("sawtooth", set=SHORT, repetitions=3, on=cluster.address, store=tmp_path / "s")
    assert there.table.equals(here.table, check_metadata=True)
    assert len(Store.at(tmp_path / "s").rows()) == 6


def test_a_guest_travels_with_what_it_imports(cluster: Cluster, tmp_path: Path) -> None:
    for folder, share in (("a", "0.5"), ("b", "1.5")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(GUEST)
        (tmp_path / folder / "helper.py").write_text(f"SHARE = {share}\n")
        set_in = {
            "duration": "5 s",
            "warmup": "1 s",
            "traffic.reno.congestion_control": {"python": f"{tmp_path / folder}/mine.py:Mine"},
        }
        here = el.sweep("sawtooth", set=set_in, repetitions=2)
        there = el.sweep("sawtooth", set=set_in, repetitions=2, on=cluster.address)
        assert there.table.equals(here.table)


def test_a_class_of_the_session_stays_at_home(cluster: Cluster) -> None:
    class Typed(el.CongestionControl):
        def on_round(self, round: object) -> None:
            self.cwnd += self.mss

    with pytest.raises(InputError, match=r"Typed is of this session alone, .* write it to a file"):
        el.sweep("sawtooth", set={**SHORT, "traffic.reno.congestion_control": Typed}, repetitions=1, on=cluster.address)


def test_what_fails_in_a_worker_fails_as_here(cluster: Cluster) -> None:
    with pytest.raises(InputError, match=r"the run has no such traffic"):
        el.sweep("sawtooth", set=SHORT, repetitions=1, statistics=["goodput_bps[web].sum"], on=cluster.address)


def test_nobody_answers() -> None:
    with pytest.raises(InputError, match=r"--on tcp://127.0.0.1:9: no Dask scheduler answers there"):
        el.sweep("sawtooth", set=SHORT, repetitions=1, on="tcp://127.0.0.1:9")
    with pytest.raises(InputError, match=r'on: "dusk" is no place'):
        el.sweep("sawtooth", set=SHORT, repetitions=1, on="dusk")


def test_workers_of_another_version_are_refused(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    from elephan.experiment.store import identity

    monkeypatch.setattr(identity, "engine", lambda: "0" * 32)
    with pytest.raises(
        InputError, match=r"^tcp://127.0.0.1:\d+: a worker has another elephan: version .*, build \w{8}; here it is build 00000000"
    ):
        el.sweep("sawtooth", set=SHORT, repetitions=1, on=cluster.address)


def test_a_lost_worker_loses_nothing(cluster: Cluster) -> None:
    """SIGKILL for one of two workers in the middle; a new one takes its place."""
    more = {"duration": "60 s", "warmup": "5 s", "template.delay": ["5 ms", "20 ms", "40 ms"]}

    def kill() -> None:
        time.sleep(1.0)
        cluster.workers[0].send_signal(signal.SIGKILL)
        cluster.workers[0].wait()
        cluster.workers[0] = cluster.worker()

    thread = threading.Thread(target=kill)
    thread.start()
    there = el.sweep("sawtooth", set=more, repetitions=30, on=cluster.address)
    thread.join()
    assert there.table.equals(el.sweep("sawtooth", set=more, repetitions=30).table)
