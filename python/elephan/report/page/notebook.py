"""How results draw themselves in a notebook: the answer, a picture, a table."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from elephan.report.page.page import Table

if TYPE_CHECKING:
    from elephan.report.style import Drawing

_CELL = "padding:2px 12px 2px 0;text-align:left"
_WARNING = "border-left:3px solid #b45f06;padding:2px 0 2px 8px;color:#7a4000"
PAPER = "background:white;color:#1b1f24;padding:8px;max-width:820px"


def small_table(heads: list[str], rows: list[list[str]]) -> str:
    """Returns a table of texts."""
    head = "".join(f'<th style="{_CELL}">{escape(h)}</th>' for h in heads)
    body = "".join("<tr>" + "".join(f'<td style="{_CELL}">{escape(c)}</td>' for c in row) + "</tr>" for row in rows)
    return f'<table style="border-collapse:collapse"><tr>{head}</tr>{body}</table>'


def inline(drawing: Drawing) -> str:
    """The SVG of a drawing without the head of a file."""
    picture = drawing.svg()
    return picture[picture.index("<svg") :]


def said(title: str, lines: Sequence[str], warnings: Sequence[str]) -> str:
    """A title, the answer in sentences, and apart from it, marked, what a reader must know before he uses it."""
    answer = [f"<b>{escape(title)}</b>", *(f"<p>{escape(line)}</p>" for line in lines)]
    return "".join([*answer, *(f'<p style="{_WARNING}"><b>Warning:</b> {escape(line)}</p>' for line in warnings)])


def answered(
    title: str, lines: Sequence[str], warnings: Sequence[str], drawings: Sequence[Drawing], tables: Sequence[Table]
) -> str:
    """A title, the answer, the warnings, the first picture and table of a report."""
    parts = [said(title, lines, warnings), *map(inline, drawings[:1])]
    for table in tables[:1]:
        parts.append(small_table([column.title for column in table.columns], [[cell.text for cell in row] for row in table.rows]))
    return f'<div style="{PAPER}">{"".join(parts)}</div>'
