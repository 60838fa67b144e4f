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
    json: Json = False,
) -> None:
    found = query(sql, store)
    rows = found.to_pylist()
    if json:
        print_json(rows)
    elif csv_out:
        writer = csv.writer(sys.stdout)
        writer.writerow(found.column_names)
        writer.writerows(row.values() for row in rows)
    else:
        table = grid(*found.column_names)
        for row in rows:
            table.add_row(
                *("" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value) for value in row.values())
            )
        Screen().print(table)
