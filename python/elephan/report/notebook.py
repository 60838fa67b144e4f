"""How results draw themselves in a notebook: the answer, a picture, a table."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from elephan import measures
from elephan.claims import interval_text
from elephan.errors import InputError
from elephan.quantity import show

if TYPE_CHECKING:
    from elephan.runs import Run
    from elephan.sweeps import Sweep

_CELL = "padding:2px 12px 2px 0;text-align:left"


def _table(heads: list[str], rows: list[list[str]]) -> str:
    head = "".join(f'<th style="{_CELL}">{escape(h)}</th>' for h in heads)
    body = "".join("<tr>" + "".join(f'<td style="{_CELL}">{escape(c)}</td>' for c in row) + "</tr>" for row in rows)
    return f'<table style="border-collapse:collapse"><tr>{head}</tr>{body}</table>'


def run_html(run: Run) -> str:
    """A run in a notebook."""
    from elephan.report.run_figures import draw
    from elephan.report.run_page import answer

    try:
        picture = draw(run, run.curated_figure).svg()
        picture = picture[picture.index("<svg") :]
    except InputError:
        picture = ""
    found = measures.usual(run)
    rows = [[name, show(value, measures.unit_of(name), 4)] for name, value in found.items()]
    parts = [f"<b>{escape(run.title)}</b> (seed {run.seed})", *(f"<p>{escape(line)}</p>" for line in answer(run))]
    background = "background:white;color:#1b1f24;padding:8px;max-width:820px"
    return f'<div style="{background}">{"".join(parts)}{picture}{_table(["statistic", "value"], rows)}</div>'


def sweep_html(sweep: Sweep) -> str:
    """A sweep in a notebook."""
    from elephan.report.sweep_figures import draw_all
    from elephan.report.sweep_page import shown

    statistics = shown(sweep)[:5]
    drawings = draw_all(sweep, statistics[:1])
    picture = drawings[0].svg() if drawings else ""
    picture = picture[picture.index("<svg") :] if picture else ""
    rows = [
        [label, *(interval_text(sweep.interval(label, s), measures.unit_of(s), 3) for s in statistics)] for label in sweep.labels
    ]
    background = "background:white;color:#1b1f24;padding:8px"
    return f'<div style="{background}"><b>{escape(sweep.name)}</b>{picture}{_table(["variant", *statistics], rows)}</div>'
