"""Runs on the local cores: threads, because the core releases the GIL while a run runs."""

from __future__ import annotations

import contextlib
import os
import queue
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from elephan.base.errors import InputError
from elephan.experiment.job import Job, Measure, Outcome, run_one
from elephan.scenario import core


def default_workers() -> int:
    """As many as there are cores for this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_workers(workers: Any) -> None:
    """Refuses what is no number of workers."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers must be a whole number from 1, not {workers!r}")


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
        threads = ThreadPoolExecutor(self.workers)
        waiting: dict[Future[Outcome], int] = {}
        ended: queue.SimpleQueue[Future[Outcome]] = queue.SimpleQueue()
        left: set[Future[Outcome]] = set()
        try:
            for number, job in work.items():
                waiting[threads.submit(run_one, job, measure, self._watch(number), stop)] = number
            for future in list(waiting):
                future.add_done_callback(ended.put)
            while waiting:
                with contextlib.suppress(queue.Empty):
                    future = ended.get(timeout=0.2)
                    number = waiting.pop(future)
                    self._shares.pop(number, None)
                    yield number, future.result()
                yield None
        except BaseException:
            stop.ask()
            for future in waiting:
                future.cancel()
            # Not longer: a congestion control of the user may never return.
            left = wait(waiting, timeout=core.STOPS_WITHIN_S).not_done
            raise
        finally:
            threads.shutdown(wait=not left)

    def _watch(self, number: int) -> core.Progress:
        def tick(share: float, _events: int) -> None:
            self._shares[number] = share

        return tick
