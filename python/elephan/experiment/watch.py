"""What a person sees of many runs while they run: how many are done, kept, running and failed, how fast, the first statistic."""

from __future__ import annotations

import math
import time

from elephan.base import stats
from elephan.base.errors import shown
from elephan.base.progress import Bar, note
from elephan.base.quantity import show
from elephan.experiment.claims import interval_text
from elephan.experiment.job import Outcome
from elephan.statistic import bounds, measures

EVERY_S = 0.25  # between two looks at the statistic
PATIENCE_S = 1.0  # a shorter experiment says nothing where no terminal is


class Watch:
    """Counts outcomes, and tells of them in a bar; where there is no terminal in one line at the end."""

    def __init__(self, label: str, line: Bar, kept: int, count: int, told: bool) -> None:
        self._label, self._line, self._told = label, line, told
        self._kept, self._count = kept, count
        self._done = self._failed = 0
        self._simulated_s, self._begin, self._looked = 0.0, time.monotonic(), 0.0
        self._values: dict[tuple[str, str], list[float]] = {}
        self._flows: dict[tuple[str, str], int] = {}
        self._statistic, self._variant = "", ("", "")

    def add(self, outcome: Outcome) -> None:
        """Counts what became of a run."""
        self._done += 1
        self._failed += not outcome.done
        self._simulated_s += outcome.simulated_s
        if outcome.measured is None or not outcome.measured.values:
            return
        self._statistic = self._statistic or next(iter(outcome.measured.values))
        self._variant = (outcome.job.variant.experiment, outcome.job.variant.label)
        value = outcome.measured.values.get(self._statistic, math.nan)
        if math.isfinite(value):
            self._values.setdefault(self._variant, []).append(value)
            self._flows[self._variant] = max(self._flows.get(self._variant, 0), outcome.flows)

    def tick(self, under_way: float, workers: int) -> None:
        """Moves the bar. `under_way`: how much of the runs in progress is done, in runs."""
        done = self._kept + self._done
        now = time.monotonic()
        if now - self._looked < EVERY_S:
            self._line.set(done + under_way)
            return
        self._looked = now
        running = min(workers, self._count - done)
        counts = ((self._kept, "kept"), (running, "running"), (self._failed, "failed"))
        told = [f"{self._label} {done}/{self._count}", *(f"{count} {what}" for count, what in counts if count)]
        self._line.set(done + under_way, ", ".join([*told, *self._speed(), *self._first()]))

    def end(self) -> None:
        """Tells what was done, where nobody saw the bar."""
        took = time.monotonic() - self._begin
        if self._told and self._done and not self._line.seen and took > PATIENCE_S:
            runs = f"{self._done} run{'' if self._done == 1 else 's'} in {show(took, 's')}"
            words = [f"{count} {what}" for count, what in ((self._kept, "kept"), (self._failed, "failed")) if count]
            note(", ".join([f"{shown(self._label)}: {runs}", *words, *self._speed()]))

    def _speed(self) -> list[str]:
        took = time.monotonic() - self._begin
        return [f"{show(self._simulated_s / took, '1', 2)} simulated s a second"] if self._simulated_s and took else []

    def _first(self) -> list[str]:
        """The first statistic of the variant that ran last."""
        values = self._values.get(self._variant, [])
        if not values:
            return []
        unit = measures.unit_of(self._statistic) if measures.is_statistic(self._statistic) else "1"
        known = measures.is_statistic(self._statistic)
        interval = bounds.interval(self._statistic, values, self._flows[self._variant]) if known else stats.mean_within(values)
        of = f" of {self._variant[1]}" if self._variant[1] else ""
        return [f"{self._statistic}{of} {interval_text(interval, unit)}"]
