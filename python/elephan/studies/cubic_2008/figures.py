"""What the study shows: its answer, the tables measured, and who is right about one entry."""

from __future__ import annotations

from collections.abc import Sequence

from elephan.experiment.study import Results
from elephan.report.page.page import Cell, Column, Section, Table, interval_cell
from elephan.studies.cubic_2008 import curves, rows, start

ENTRY = "C 0.4, 1e-5, 100 ms"


def answer(results: Results) -> list[str]:
    """Returns the answer, with its numbers."""
    near, count = 0, 0
    for rtt, printed in rows.PRINTED.items():
        for name, row in printed.items():
            for column, value in zip(rows.COLUMNS, row, strict=True):
                found = results.interval("tables", f"{column}, {name}, {1e3 * rtt:g} ms", curves.WINDOW)
                count += bool(found.n)
                near += bool(found.n) and abs(found.mean - value) <= rows.MARGIN * value + 0.5
    sentences = [f"{near} of {count} entries of tables 1 and 2 that were run are within 5 % and half a segment of the printed one."]
    begun = results.interval("settling", "on the cycle, after 90 losses", curves.WINDOW)
    above = results.interval("settling", "30 % above, after 10 losses", curves.WINDOW)
    if begun.n and above.n:
        sentences.append(
            f"At 1e-5 and 100 ms the table has {start.MEAN} segments. A flow that begins on its cycle keeps {begun.mean:.0f}. "
            f"One that begins 30 % above still has {above.mean:.0f} after 10 to 20 losses: the cubic is flat where it is cut."
        )
    return sentences


def _tables(results: Results) -> list[Table]:
    found = []
    for number, (rtt, printed) in enumerate(rows.PRINTED.items(), 1):
        columns = [Column("loss rate"), *(Column(column.replace("C ", "CUBIC, C = "), True) for column in rows.COLUMNS)]
        body = []
        for name, row in printed.items():
            cells = [Cell(name)]
            for column, value in zip(rows.COLUMNS, row, strict=True):
                one = results.interval("tables", f"{column}, {name}, {1e3 * rtt:g} ms", curves.WINDOW)
                text = f"{one.mean:.1f}" if one.n else "-"
                cells.append(Cell(text, more=f"printed {value}"))
            body.append(cells)
        found.append(Table(columns, body, f"Table {number} of RFC 9438, {1e3 * rtt:g} ms: mean window in segments."))
    return found


def _others(results: Results) -> Table:
    columns = [Column("p = 1e-5, 100 ms, C = 0.4"), Column("mean window", True)]
    labels = [point.label for point in results.experiment("others").points["other"]]
    body = [[Cell(label), interval_cell(results.interval("others", label, curves.WINDOW), "1", 4)] for label in labels]
    return Table(columns, body, "One thing at a time; the rows from slow start on begin without a threshold.")


def sections(results: Results) -> Sequence[Section]:
    """Returns the body of the report."""
    return [
        Section("The tables", "Section 5 of RFC 9438.", [curves.tables(results), curves.off(results)], _tables(results)),
        Section("1054 or 1246", "One entry, and what could move it.", [curves.settling(results)], [_others(results)]),
        Section("Sharing", "Section 5.6 of RFC 9438.", [curves.shares(results)]),
    ]
