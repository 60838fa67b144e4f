"""SIGKILL at random moments, for drivers and workers of every kind: the same command goes on, and its tables are those of a sweep
that nobody disturbed.
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask_cluster
import elephan as el
import pyarrow.dataset as ds
import pytest
from elephan.experiment.store.store import Store
from waiting import until

pytest.importorskip("distributed")

SWEEP = """
import elephan as el, sys
if __name__ == "__main__":
    place, repetitions, on = sys.argv[1:]
    set_in = {"duration": "60 s", "warmup": "5 s", "template.delay": ["5 ms", "20 ms", "40 ms"]}
    el.sweep("sawtooth", set=set_in, repetitions=int(repetitions), workers=2, on=on, out=f"{place}/r",
             store=f"{place}/s", report=False)
"""
EACH = 6  # repetitions that a round adds
LONGEST_S = 60.0


class Disturbed:
    """A sweep of which something is killed in every round. Each round wants more repetitions than the one before."""

    def __init__(self, place: Path, cluster: dask_cluster.Cluster, seed: int) -> None:
        self.place, self._cluster, self._random = place, cluster, random.Random(seed)
        self.repetitions = 0
        (place / "sweep.py").write_text(SWEEP)

    def start(self, on: str = "threads") -> subprocess.Popen[bytes]:
        command = [sys.executable, str(self.place / "sweep.py"), str(self.place), str(self.repetitions), on]
        with (self.place / "said.txt").open("ab") as said:
            return subprocess.Popen(command, stdout=said, stderr=said)

    def _moment(self, most_s: float) -> None:
        time.sleep(self._random.uniform(0, most_s))

    def _ends(self, driver: subprocess.Popen[bytes]) -> None:
        """What loses a worker goes on by itself."""
        assert driver.wait(LONGEST_S) == 0, (self.place / "said.txt").read_text()

    def driver(self) -> None:
        """The driver with its threads, anywhere from its first import to its end."""
        driver = self.start()
        self._moment(2.5)
        driver.kill()
        driver.wait()

    def shard(self) -> None:
        """One of two processes that have a share each."""
        one, other = self.start("shard 0/2"), self.start("shard 1/2")
        self._moment(2.5)
        one.kill()
        one.wait()
        assert other.wait(LONGEST_S) in (0, 1)  # 1: Python's own, of `PartDone`, which is nobody's error

    def driver_of_dask(self) -> None:
        """The driver of a cluster of its own. Its workers do not outlive it."""
        driver = self.start("dask")
        self._moment(5.0)
        workers = _children(driver.pid)
        driver.kill()
        driver.wait()
        until(lambda: not any(_runs(pid) for pid in workers), "the end of the workers")

    def worker_of_processes(self) -> None:
        """A process that runs for the driver."""
        self._worker_of("processes", b"elephan.experiment.place.worker")

    def worker_of_dask(self) -> None:
        """A worker of the driver's own cluster."""
        self._worker_of("dask", b"distributed.cli.dask_worker")

    def _worker_of(self, on: str, command: bytes) -> None:
        driver = self.start(on)
        if workers := _eventually(lambda: [pid for pid in _children(driver.pid) if command in _command(pid)], driver):
            self._moment(1.5)
            with contextlib.suppress(ProcessLookupError):  # the driver has ended
                os.kill(self._random.choice(workers), 9)
        self._ends(driver)

    def worker_of_cluster(self) -> None:
        """A worker of a cluster that is there."""
        driver = self.start(self._cluster.address)
        self._moment(2.5)
        self._cluster.kill(self._random.randrange(2))
        self._ends(driver)

    def round(self, kill: Callable[[Disturbed], None]) -> None:
        self.repetitions += EACH
        kill(self)
        assert Store.at(self.place / "s").check() == [] if (self.place / "s").exists() else True


def _children(parent: int) -> list[int]:
    """All processes that a process and its children started."""
    own: list[int] = []
    for thread in Path(f"/proc/{parent}/task").glob("*"):
        with contextlib.suppress(OSError):
            own += [int(word) for word in (thread / "children").read_text().split()]
    return own + [pid for child in own for pid in _children(child)]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _eventually(found: Callable[[], list[int]], driver: subprocess.Popen[bytes]) -> list[int]:
    """What is found while the driver runs."""
    until(lambda: found() or driver.poll() is not None, "a worker")
    return found()


def _tables(place: Path) -> tuple[Any, Any]:
    """The table of the result, and that of the store in its canonical order."""
    result = el.load(place / "r")
    assert isinstance(result, el.Sweep)
    return result.table, ds.dataset(place / "s" / "parts").to_table()


def _disturb(place: Path, seed: int, kills: list[Callable[[Disturbed], None]], cluster: dask_cluster.Cluster) -> None:
    with_seed = f"seed {seed}"
    places = [place / name for name in ("disturbed", "undisturbed")]
    for one in places:
        one.mkdir()
    disturbed = Disturbed(places[0], cluster, seed)
    for number, kill in enumerate(kills):
        try:
            disturbed.round(kill)
        except AssertionError as error:
            raise AssertionError(f"{with_seed}, kill {number} ({kill.__name__}): {error}") from error
    undisturbed = Disturbed(places[1], cluster, seed)
    undisturbed.repetitions = disturbed.repetitions
    for one in (disturbed, undisturbed):
        assert one.start().wait(300) == 0, with_seed
    for found, expected in zip(*map(_tables, places), strict=True):
        assert found.num_rows == 3 * disturbed.repetitions
        assert found.equals(expected, check_metadata=True), with_seed
    assert os.listdir(places[0] / "s" / "tails") == []


QUICK = [Disturbed.driver, Disturbed.shard, Disturbed.worker_of_cluster, Disturbed.worker_of_processes, Disturbed.driver]
KINDS = [*QUICK[:-1], Disturbed.worker_of_dask, Disturbed.driver_of_dask]


@pytest.fixture(scope="module")
def cluster() -> Iterator[dask_cluster.Cluster]:
    with dask_cluster.started() as found:
        yield found


def test_kills_of_several_kinds(tmp_path: Path, cluster: dask_cluster.Cluster) -> None:
    _disturb(tmp_path, 2026, QUICK, cluster)


@pytest.mark.slow
def test_twenty_kills_in_a_row(tmp_path: Path, cluster: dask_cluster.Cluster) -> None:
    """Other moments and another order each time; a failure says its seed."""
    seed = random.SystemRandom().randrange(10**6)
    kills = (4 * KINDS)[:20]
    random.Random(seed).shuffle(kills)
    _disturb(tmp_path, seed, kills, cluster)
