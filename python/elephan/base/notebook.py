"""What IPython shows of the tables of a result: rows and columns, not the schema that pyarrow prints.

pyarrow has no such view, so that elephan registers one for its own tables, which it knows by the words in their columns.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

ROWS, COLUMNS = 10, 12  # shown at most
_OWN = (b"description", b"role", b"unit")
_CELL = "padding:2px 10px 2px 0;text-align:left;white-space:nowrap"


def install() -> None:
    """Lets a running IPython show tables of elephan as tables; does nothing elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None:
        shell.display_formatter.formatters["text/html"].for_type_by_name("pyarrow.lib", "Table", table_html)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def table_html(table: pa.Table) -> str | None:
    """Returns the first and the last rows of a table of elephan as HTML; None of another's table, which is shown as ever."""
    if not any(key in (field.metadata or {}) for field in table.schema for key in _OWN):
        return None
    from html import escape

    names, count = table.column_names[:COLUMNS], table.num_rows
    chosen = table.select(names)
    head = chosen.slice(0, ROWS if count <= ROWS else ROWS // 2).to_pylist()
    tail = chosen.slice(count - ROWS // 2).to_pylist() if count > ROWS else []
    heads = []
    for name in names:
        said = (table.schema.field(name).metadata or {}).get(b"description", b"").decode()
        heads.append(f'<th style="{_CELL}" title="{escape(said, quote=True)}">{escape(name)}</th>')
    more = table.num_columns - len(names)
    parts = ["<tr>" + "".join(heads) + (f'<th style="{_CELL}">…</th>' if more else "") + "</tr>"]
    for place, row in enumerate([*head, *tail]):
        if tail and place == len(head):
            parts.append(f'<tr><td style="{_CELL}" colspan="{len(names)}">…</td></tr>')
        parts.append("<tr>" + "".join(f'<td style="{_CELL}">{escape(_text(row[name]))}</td>' for name in names) + "</tr>")
    size = f"{count} row{'' if count == 1 else 's'}, {table.num_columns} columns"
    left = f"; {more} columns are not shown: {', '.join(table.column_names[COLUMNS : COLUMNS + 4])} …" if more else ""
    return f'<div style="overflow-x:auto"><table>{"".join(parts)}</table><p>{size}{escape(left)}</p></div>'
