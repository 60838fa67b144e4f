"""A Dask cluster on loopback: a scheduler and worker processes, which may be killed."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path


class Cluster:
    """A scheduler and two worker processes."""

    def __init__(self, place: Path) -> None:
        self._file = place / "scheduler.json"
        self._processes = []
        self.scheduler = self._started("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        self.workers = [self.worker() for _ in range(2)]
        self.address = self._address()

    def _address(self) -> str:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, ValueError):  # not written yet, or not whole
                return str(json.loads(self._file.read_text())["address"])
            time.sleep(0.05)
        raise AssertionError("the scheduler has not begun")

    def _started(self, module: str, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", module, *words, "--scheduler-file", str(self._file)]
        found = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **environment})
        self._processes.append(found)
        return found

    def worker(self, **environment: str) -> subprocess.Popen[bytes]:
        words = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        return self._started("distributed.cli.dask_worker", *words, **environment)

    def wait_for(self, workers: int) -> None:
        """Waits until so many workers have joined."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=30)

    def kill(self, number: int) -> None:
        """Kills a worker; a new one takes its place."""
        self.workers[number].kill()
        self.workers[number].wait()
        self.workers[number] = self.worker()

    def stop(self) -> None:
        """Ends all: workers first, which would wait for a scheduler that is gone."""
        for process in reversed(self._processes):
            process.kill()
        for process in self._processes:
            process.wait()


@contextlib.contextmanager
def started() -> Iterator[Cluster]:
    """A cluster that runs within a `with`."""
    with tempfile.TemporaryDirectory(prefix="elephan-dask-") as place:
        found = Cluster(Path(place))
        try:
            yield found
        finally:
            found.stop()
