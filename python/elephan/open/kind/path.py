"""The answer about one long path."""

from collections.abc import Sequence

from rich.console import Console

from elephan.base.kinds import Kind
from elephan.base.quantity import show
from elephan.base.stats import Interval
from elephan.experiment.path.answer import Answer, load_answer
from elephan.experiment.path.row import Row
from elephan.experiment.path.settings import as_text
from elephan.report.figure import path_figures
from elephan.report.page.path_page import answer_lines, how, notebook, page, path_warnings, value_text
from elephan.report.screen import Screen, beside, grid

_DIGITS, _DIGITS_ROUGH = 4, 2


def tables(answer: Answer, screen: Screen) -> None:
    """Prints the times, the closed forms, the settings."""
    print_rows(screen, [("", row) for row in answer.rows])
    screen.print("Closed forms:", style="bold")
    table = grid("", "", words=("",))
    table.show_header, table.columns[0].justify, table.columns[0].no_wrap = False, "right", True
    for form in answer.forms:
        table.add_row(value_text(form), beside(f"{form.about} ", f"({form.equation})"))
    screen.print(table)
    if answer.advice.now is not None:
        screen.print(f"Settings (stack {answer.advice.stack}, simulated):", style="bold")
        tried = [("now: ", answer.advice.now), ("after: ", answer.advice.after)]
        print_rows(screen, [(words, row) for words, row in tried if row is not None])
    for line in as_text(answer.settings):
        screen.long(line, "dim" if line.startswith("#") else "")
    for look in answer.advice.unsimulated:
        screen.long(f"not simulated, worth a look: {look.text} ({look.why})", "dim")
    if answer.question.assumed:
        screen.print(f"Assumed: {'; '.join(answer.question.assumed)}.", style="dim")


def print_rows(console: Console, rows: Sequence[tuple[str, Row]]) -> None:
    """Prints rows of a path, with what they are called before their congestion control, and below them how each is known."""
    table = grid("congestion control", "time", "range", "goodput", "limit", words=("limit",))
    for column in table.columns[1:4]:
        column.no_wrap = True
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
    """Returns the range of an estimate, or the 95 % interval of repetitions; empty if there is neither."""
    return f"{show(time_s.low, 's', _DIGITS)} to {show(time_s.high, 's', _DIGITS)}" if time_s.low < time_s.high else ""


KIND = Kind(
    holds=("path.json", "provenance.json", "scenario.toml", "settings.conf", "runs.parquet", "curves.parquet"),
    load=load_answer,
    title=lambda answer: answer.question.text,
    answer=answer_lines,
    warnings=path_warnings,
    tables=tables,
    page=page,
    notebook=notebook,
    figures=path_figures,
)
