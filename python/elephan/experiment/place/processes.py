"""Runs in processes of this machine: for many short runs on many cores, as these are mostly Python, which threads share.

Each worker does chunks of about a second. A worker that dies is replaced, and the runs of its chunk run again, one by one; a run
that three workers died of has failed.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from elephan.experiment.job import Job, Measure, Outcome
from elephan.experiment.place import worker
from elephan.experiment.place.chunk import Chunk, Pace, delivered
from elephan.experiment.place.threads import default_workers
from elephan.experiment.place.travel import pack, packed
from elephan.experiment.store import identity

AHEAD = 2  # chunks that each worker has at most
TRIES = 3


class Processes:
    """As many runs at a time as there are workers."""

    name = "processes"
    under_way = 0.0

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or default_workers()

    def submit(self, work: Mapping[int, Job], measure: Measure) -> Iterator[tuple[int, Outcome] | None]:
        """Gives the outcomes as they come, each with its number, and None from time to time while none comes."""
        waiting = [(number, pack(job)) for number, job in work.items()][::-1]
        left, pace, answers = len(waiting), Pace(), queue.SimpleQueue[Any]()
        told = packed(measure)
        place = tempfile.TemporaryDirectory(prefix="elephan-", ignore_cleanup_errors=True)  # a killed worker removes nothing
        crew = [_Worker(told, answers, place.name) for _ in range(min(self.workers, left))]
        try:
            for one in crew * AHEAD:
                one.give(pace.taken(waiting))
            while left:
                try:
                    one, answer = answers.get(timeout=0.2)
                except queue.Empty:
                    yield None
                    continue
                if isinstance(answer, BaseException):
                    raise answer
                one.give(pace.taken(waiting))
                for number, outcome in answer:
                    pace.saw(outcome.wall_s)
                    left -= 1
                    yield number, delivered(outcome)
                yield None
        finally:
            for one in crew:
                one.end()
            place.cleanup()


class _Worker:
    """A process, and the thread that waits for it. What became of each chunk, or the error of it, goes to `answers`."""

    def __init__(self, measure: bytes, answers: queue.SimpleQueue[Any], place: str) -> None:
        self._measure, self._answers, self._ended = measure, answers, False
        self._environment = {**os.environ, "TMPDIR": place}
        self._chunks: queue.SimpleQueue[Chunk | None] = queue.SimpleQueue()
        self._start()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _start(self) -> None:
        command = [sys.executable, "-m", worker.__name__]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self._environment)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        worker.send(self._stdin, sys.path)

    def give(self, chunk: Chunk) -> None:
        """Takes a chunk; an empty one is none."""
        if chunk:
            self._chunks.put(chunk)

    def end(self) -> None:
        """Ends the process, whatever it does."""
        self._ended = True
        self._process.kill()
        self._chunks.put(None)
        self._thread.join(timeout=5)
        self._process.wait(timeout=5)

    def _work(self) -> None:
        for chunk in iter(self._chunks.get, None):
            self._answers.put((self, self._answer(chunk)))

    def _answer(self, chunk: Chunk) -> Any:
        for _ in range(TRIES if len(chunk) == 1 else 1):
            try:
                worker.send(self._stdin, (chunk, self._measure, identity.engine()))
                return worker.receive(self._stdout)
            except (EOFError, OSError):
                if self._ended:
                    return []
                self._process.wait()
                with contextlib.suppress(OSError):
                    self._start()
        if len(chunk) > 1:  # one of them may have killed the worker
            return [found for one in chunk for found in self._answer([one])]
        return [(number, Outcome(job, error=f"{TRIES} workers died while they ran it", lost=True)) for number, job in chunk]
