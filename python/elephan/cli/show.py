"""What the commands print: results and lists for people, JSON for machines."""

from __future__ import annotations

import json as json_module
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base import kinds
from elephan.base.errors import escaped_json

if TYPE_CHECKING:
    from elephan.result.folder import Result

_FAILURES_MAX = 5  # that are told one by one


def _plain(value: Any) -> Any:
    """Returns JSON without NaN and infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def print_json(value: Any) -> None:
    """Prints JSON on standard output. Rows that a value of an object makes one by one are printed one by one."""
    escaped = not (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")

    def text(one: Any, level: int = 0) -> str:
        told = json_module.dumps(_plain(one), indent=1, ensure_ascii=escaped)
        return escaped_json(told.replace("\n", "\n" + " " * level))

    if not isinstance(value, dict) or not any(_is_made(one) for one in value.values()):
        print(text(value))
        return
    between = "{"
    for key, one in value.items():
        print(f"{between}\n {text(key)}: ", end="")
        if _is_made(one):
            edge = "["
            for row in one:
                print(f"{edge}\n  {text(row, 2)}", end="")
                edge = ","
            print("\n ]" if edge == "," else "[]", end="")
        else:
            print(text(one, 1), end="")
        between = ","
    print("\n}")


def _is_made(value: Any) -> bool:
    """Whether rows are made while they are read."""
    return isinstance(value, Sequence) and not isinstance(value, (str, list, tuple))


def show(result: Result, folder: Path, json: bool, draw: bool = False) -> None:
    """Prints a result of any kind, which is in a folder; with `draw` its report is drawn then, though not for machines."""
    kind = kinds.of(result)
    if json:
        print_json({"folder": str(folder), **result.streamed(), "warnings": kind.warnings(result)})
        return
    from elephan.report.screen import Screen

    screen = Screen()
    screen.print(kind.title(result), style="bold")
    screen.sentences(kind.answer(result))
    screen.warn(kind.warnings(result))
    kind.tables(result, screen)
    for line in result.failures[:_FAILURES_MAX]:
        screen.print(f"failed: {line}", style="red")
    if draw:
        result.add_report(folder, progress=True)
    name = "report.html" if (folder / "report.html").exists() else ""
    screen.print(f"{'report' if name else 'result'}: {folder / name}", style="bold", soft_wrap=True)


def listing(rows: Sequence[tuple[str, str]], json: bool) -> None:
    """Prints names with a line each."""
    if json:
        print_json([{"name": name, "about": about} for name, about in rows])
        return
    from elephan.report.screen import Screen, grid

    table = grid("", "", words=("",))
    table.show_header, table.columns[0].no_wrap, table.columns[0].style = False, True, "bold"
    for name, about in rows:
        table.add_row(name, about)
    Screen().print(table)
