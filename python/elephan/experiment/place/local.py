"""A Dask cluster of this machine: a scheduler and workers, as processes that end with the one that started them.

Distributed's own `LocalCluster` asks of a script that it protects its first lines, answers Ctrl-C with a traceback per worker,
takes seconds to close, and gives up if a worker dies while it starts.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from elephan.base.errors import ElephanError
from elephan.experiment.place import tied

PATIENCE_S = 60.0  # for a scheduler that begins
DEATHS = 20  # of workers, for each that there is


class LocalCluster:
    """The processes. `address`: of the scheduler."""

    def __init__(self, workers: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="elephan-dask-", ignore_cleanup_errors=True)
        self._place = Path(self._folder.name)
        self._deaths = DEATHS * workers
        self._scheduler = self._started("scheduler", "--port", "0")
        self._workers = [self._worker() for _ in range(workers)]
        try:
            self.address = self._address()
        except BaseException:
            self.end()
            raise

    def _started(self, kind: str, *words: str) -> subprocess.Popen[bytes]:
        module = f"distributed.cli.dask_{kind}"
        quiet = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0")
        where = ("--host", "127.0.0.1", "--scheduler-file", str(self._place / "scheduler.json"))
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "3",
            "TMPDIR": str(self._place),  # a killed worker removes nothing
        }
        with (self._place / f"{kind}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-P", "-m", tied.__name__, module, *where, *quiet, *words],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,  # Ctrl-C is for the one that they work for
            )

    def _worker(self) -> subprocess.Popen[bytes]:
        words = ("--nthreads", "1", "--no-nanny", "--memory-limit", "0", "--local-directory", str(self._place))
        return self._started("worker", *words)

    def _address(self) -> str:
        """The address of the scheduler, once it has begun."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and self._scheduler.poll() is None:
            with contextlib.suppress(OSError, ValueError):  # not written yet, or not whole
                return str(json.loads((self._place / "scheduler.json").read_text(encoding="utf-8"))["address"])
            time.sleep(0.02)
        raise ElephanError(f"a Dask scheduler cannot be started here: {self._last('scheduler')}")

    def _last(self, kind: str) -> str:
        """The last line that such a process said."""
        lines = (self._place / f"{kind}.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else "it says nothing"

    def tend(self) -> None:
        """Replaces workers that have died; ElephanError if the scheduler has, or if workers die again and again."""
        if self._scheduler.poll() is not None:
            raise ElephanError("the Dask scheduler of this machine has died; what is done is kept, and the same command goes on")
        for place, worker in enumerate(self._workers):
            if worker.poll() is None:
                continue
            self._deaths -= 1
            if self._deaths < 0:
                raise ElephanError(f"Dask workers die again and again: {self._last('worker')}")
            self._workers[place] = self._worker()

    def end(self) -> None:
        """Ends all processes."""
        for process in (*self._workers, self._scheduler):
            process.kill()
        for process in (*self._workers, self._scheduler):
            process.wait()
            if process.stdin is not None:
                process.stdin.close()
        self._folder.cleanup()
