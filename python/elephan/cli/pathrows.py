"""The rows of a path on a terminal of 80 columns: figures in a table, how each row is known in lines below it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from elephan.base.quantity import show
from elephan.base.stats import Interval
from elephan.experiment.path.row import Row
from elephan.report.page.path_page import how

_DIGITS, _DIGITS_ROUGH = 4, 2


def print_rows(console: Console, rows: Sequence[tuple[str, Row]]) -> None:
    """Prints rows of a path, with what they are called before their congestion control."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("congestion control", overflow="fold")
    for head in ("time", "range", "goodput"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("limit", overflow="fold")
    known: dict[str, list[str]] = {}
    for words, row in rows:
        name = f"{words}{row.controller}, {row.streams} stream{'' if row.streams == 1 else 's'}"
        about = "about " if row.is_rough else ""
        table.add_row(
            name, about + _mean(row, row.time_s, "s"), _between(row.time_s), _mean(row, row.goodput_bps, "bps"), row.limit
        )
        known.setdefault(how(row), []).append(name)
    console.print(table)
    for method, names in known.items():
        whose = "all" if len(known) == 1 and len(rows) > 1 else "; ".join(names)
        console.print(f"How it is known ({whose}): {method}.", style="dim")


def _mean(row: Row, value: Interval, unit: str) -> str:
    return show(value.mean, unit, _DIGITS_ROUGH if row.is_rough else _DIGITS)


def _between(time_s: Interval) -> str:
    """The range of an estimate, or the 95 % interval of repetitions; empty if there is neither."""
    return f"{show(time_s.low, 's', _DIGITS)} to {show(time_s.high, 's', _DIGITS)}" if time_s.low < time_s.high else ""
