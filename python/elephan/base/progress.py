"""Progress bars on standard error: only on a terminal, only after a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from elephan.base import errors
from elephan.base.signals import of_caller

_PATIENCE_S = 1.0


class Bar:
    """A bar that appears once the work has taken a second."""

    def __init__(self, label: str, total: float, shown: bool) -> None:
        self._label, self._total, self._shown = label, total, shown
        self._begin = time.monotonic()
        self._progress: Any = None
        self._task: Any = None
        self._done = 0.0

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.table import Column

        console = Console(stderr=True)
        if not console.is_terminal:
            self._shown = False
            return
        columns = (
            BarColumn(bar_width=12),
            TextColumn("{task.percentage:>3.0f} %", table_column=Column(no_wrap=True, min_width=5)),
            TimeRemainingColumn(table_column=Column(no_wrap=True, min_width=7)),
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
        )
        self._progress = Progress(*columns, console=console, transient=True)
        self._progress.start()
        self._task = self._progress.add_task(errors.shown(self._label), total=self._total, completed=self._done)

    def set(self, done: float, label: str | None = None) -> None:
        self._done, self._label = done, label or self._label
        if not self._shown:
            return
        if self._progress is None and time.monotonic() - self._begin > _PATIENCE_S:
            self._open()
        if self._progress is not None:
            self._progress.update(self._task, completed=done, description=errors.shown(self._label))

    @property
    def seen(self) -> bool:
        """Whether there is a bar on a terminal."""
        return self._progress is not None

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
        self._shown = False


def note(text: str, shown: bool = True) -> None:
    """Says a line on standard error."""
    if shown:
        print(f"elephan: {errors.visible(text)}", file=sys.stderr)


@contextmanager
def bar(label: str, total: float, shown: bool = True) -> Iterator[Bar]:
    """A bar over `total` units of work."""
    one = Bar(label, total, shown)
    try:
        yield one
    finally:
        one.close()


@contextmanager
def run_bar(label: str, progress: bool | Callable[[float, int], None]) -> Iterator[Callable[[float, int], None] | None]:
    """The progress callback of one run: the caller's own, a bar, or none."""
    if callable(progress):
        yield of_caller(progress)
    elif not progress:
        yield None
    else:
        with bar(label, 1.0) as one:
            yield lambda share, _events: one.set(share)


@contextmanager
def status(label: str, shown: bool = True) -> Iterator[None]:
    """A line with a moving sign while something without a measure of progress is done."""
    from rich.console import Console

    console = Console(stderr=True)
    if not shown or not console.is_terminal:
        yield
        return
    with console.status(errors.shown(label)):
        yield
