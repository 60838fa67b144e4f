"""Runs on the local cores: threads, because the core releases the GIL while a run runs."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from elephan.base.errors import ElephanError, InputError
from elephan.experiment.job import Job, Measure, Outcome, run_one
from elephan.scenario import core


def default_workers() -> int:
    """As many as there are cores for this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_workers(workers: Any) -> None:
    """Refuses what is no number of workers."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers must be a whole number from 1, not {workers!r}")


def _start(threads: Sequence[threading.Thread]) -> None:
    """Starts threads, as many as the system gives. As daemons, a program that has left them behind can end without them."""
    try:
        for thread in threads:
            thread.start()
    except RuntimeError:
        if all(thread.ident is None for thread in threads):
            raise ElephanError("no thread can be started: not enough memory, or too many threads") from None


class Threads:
    """As many runs at a time as there are workers."""

    name = "threads"

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or default_workers()
        self._shares: dict[int, float] = {}

    @property
    def under_way(self) -> float:
        """How much of the runs in progress is done, in runs."""
        return sum(list(self._shares.values()))

    def submit(self, work: Mapping[int, Job], measure: Measure) -> Iterator[tuple[int, Outcome] | None]:
        """Gives the outcomes as they come, each with its number, and None from time to time while none comes."""
        stop = core.Stop()
        left: queue.SimpleQueue[tuple[int, Job]] = queue.SimpleQueue()
        ended: queue.SimpleQueue[tuple[int, Outcome | BaseException]] = queue.SimpleQueue()
        for item in work.items():
            left.put(item)

        def do() -> None:
            while not stop.asked:
                try:
                    number, job = left.get_nowait()
                except queue.Empty:
                    return
                try:
                    ended.put((number, run_one(job, measure, self._watch(number), stop)))
                except BaseException as error:
                    ended.put((number, error))

        threads = [threading.Thread(target=do, name="elephan-run", daemon=True) for _ in range(min(self.workers, len(work)))]
        waiting = len(work)
        try:
            _start(threads)
            while waiting:
                try:
                    number, outcome = ended.get(timeout=0.2)
                except queue.Empty:
                    yield None
                    continue
                waiting -= 1
                self._shares.pop(number, None)
                if isinstance(outcome, BaseException):
                    raise outcome
                yield number, outcome
                yield None
        finally:
            stop.ask()
            # Not longer: a congestion control of the user may never return.
            end = time.monotonic() + core.STOPS_WITHIN_S
            for thread in (one for one in threads if one.ident is not None):
                thread.join(max(0.0, end - time.monotonic()))

    def _watch(self, number: int) -> core.Progress:
        def tick(share: float, _events: int) -> None:
            self._shares[number] = share

        return tick
