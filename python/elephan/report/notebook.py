"""How results draw themselves in a notebook: the answer, a picture, a table."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from elephan import measures
from elephan.claims import interval_text
from elephan.errors import InputError
from elephan.quantity import show
from elephan.report.page import Table

if TYPE_CHECKING:
    from elephan.analysis.trace import Trace
    from elephan.longpath.path import Answer
    from elephan.report.style import Drawing
    from elephan.runs import Run
    from elephan.sweeps import Sweep

_CELL = "padding:2px 12px 2px 0;text-align:left"
_WARNING = "border-left:3px solid #b45f06;padding:2px 0 2px 8px;color:#7a4000"
_PAPER = "background:white;color:#1b1f24;padding:8px;max-width:820px"


def _table(heads: list[str], rows: list[list[str]]) -> str:
    head = "".join(f'<th style="{_CELL}">{escape(h)}</th>' for h in heads)
    body = "".join("<tr>" + "".join(f'<td style="{_CELL}">{escape(c)}</td>' for c in row) + "</tr>" for row in rows)
    return f'<table style="border-collapse:collapse"><tr>{head}</tr>{body}</table>'


def _inline(drawing: Drawing) -> str:
    """The SVG of a drawing without the head of a file."""
    picture = drawing.svg()
    return picture[picture.index("<svg") :]


def said(title: str, lines: Sequence[str], warnings: Sequence[str]) -> str:
    """A title, the answer in sentences, and apart from it, marked, what a reader must know before he uses it."""
    answer = [f"<b>{escape(title)}</b>", *(f"<p>{escape(line)}</p>" for line in lines)]
    return "".join([*answer, *(f'<p style="{_WARNING}"><b>Warning:</b> {escape(line)}</p>' for line in warnings)])


def _answered(
    title: str, lines: Sequence[str], warnings: Sequence[str], drawings: Sequence[Drawing], tables: Sequence[Table]
) -> str:
    """A title, the answer, the warnings, the first picture and table of a report."""
    parts = [said(title, lines, warnings), *map(_inline, drawings[:1])]
    for table in tables[:1]:
        parts.append(_table([column.title for column in table.columns], [[cell.text for cell in row] for row in table.rows]))
    return f'<div style="{_PAPER}">{"".join(parts)}</div>'


def path_html(answer: Answer) -> str:
    """The answer about a path in a notebook."""
    from elephan.report import path_figures
    from elephan.report.path_page import answer_lines, path_warnings, results_table

    drawings, tables = [path_figures.times(answer)], [results_table(answer.rows)]
    return _answered(answer.question.text, answer_lines(answer), path_warnings(answer), drawings, tables)


def trace_html(trace: Trace) -> str:
    """What a capture or a log says in a notebook."""
    from elephan.report.trace_page import trace_page

    page = trace_page(trace)
    drawings = [drawing for section in page.sections for drawing in section.drawings]
    tables = [table for section in page.sections for table in section.tables]
    return _answered(trace.name, page.answer, page.warnings, drawings, tables)


def run_html(run: Run) -> str:
    """A run in a notebook."""
    from elephan.report.run_figures import draw
    from elephan.report.run_page import answer
    from elephan.report.warnings import warnings

    try:
        picture = _inline(draw(run, run.curated_figure))
    except InputError:
        picture = ""
    found = measures.usual(run)
    rows = [
        [name, show(value, measures.unit_of(name), 4), measures.place_of(run, name), measures.time_of(run, name)]
        for name, value in found.items()
    ]
    words = said(f"{run.title} (seed {run.seed})", answer(run), warnings(run))
    return f'<div style="{_PAPER}">{words}{picture}{_table(["statistic", "value", "port", "time"], rows)}</div>'


def sweep_html(sweep: Sweep) -> str:
    """A sweep in a notebook."""
    from elephan.report.sweep_figures import draw_all
    from elephan.report.sweep_page import shown, sweep_warnings

    statistics = shown(sweep)[:5]
    drawings = draw_all(sweep, statistics[:1])
    picture = _inline(drawings[0]) if drawings else ""
    rows = [
        [label, *(interval_text(sweep.interval(label, s), measures.unit_of(s), 3) for s in statistics)] for label in sweep.labels
    ]
    background = "background:white;color:#1b1f24;padding:8px"
    words = said(sweep.name, [], sweep_warnings(sweep))
    return f'<div style="{background}">{words}{picture}{_table(["variant", *statistics], rows)}</div>'
