"""Asks kept runs in SQL: elephan query 'select variant, avg("goodput_bps.sum") from trials group by all'."""

import csv
import sys
from pathlib import Path
from typing import Annotated

from elephan.cli.options import Json
from elephan.cli.parser import Argument, Option
from elephan.cli.show import print_json
from elephan.experiment.store.query import query
from elephan.report.screen import Screen, grid


def command(
    sql: Annotated[str, Argument(metavar="SQL", help="The table trials has a row for each kept run.")],
    store: Annotated[Path, Option("--store", metavar="DIR", help="A store, or a folder with stores below it.")] = Path("results"),
    csv_out: Annotated[bool, Option("--csv", help="Print CSV.")] = False,
    external: Annotated[bool, Option("--external", help="Let the question read other files and addresses.")] = False,
    json: Json = False,
) -> None:
    found = query(sql, store, external)
    rows = found.to_pylist()
    if json:
        print_json(rows)
    elif csv_out:
        writer = csv.writer(sys.stdout)
        writer.writerow(found.column_names)
        writer.writerows([_word(value) if isinstance(value, bool) else value for value in row.values()] for row in rows)
    else:
        table = grid(*found.column_names)
        for row in rows:
            table.add_row(*map(_word, row.values()))
        Screen().print(table)


def _word(value: object) -> str:
    """A value in a cell: nothing for null, `true` as scenarios write it."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else f"{value:.6g}" if isinstance(value, float) else str(value)
