"""Questions in SQL to the kept trials of many experiments, answered by DuckDB."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base.errors import InputError
from elephan.base.paths import as_path
from elephan.experiment.store import runs
from elephan.experiment.store.row import STATISTIC
from elephan.experiment.store.store import Store, stores
from elephan.experiment.trials import described, described_table
from elephan.table.classes import RUN

if TYPE_CHECKING:
    import pyarrow as pa

_TOLD = ("experiment", "variant", "seed", "flows", "error", "command", "key")


def query(sql: str, where: str | os.PathLike[str] = "results") -> pa.Table:
    """Returns the answer to a question in SQL as a table. It asks the table `trials`, a row for each trial kept below `where`, and
    the tables of single runs that are kept with them: `flow_samples`, `flows` and so on, with the `key` of the trial in front.

    The columns of `trials` are `store`, `experiment`, `variant`, `seed`, each parameter as a number in base units (its text is
    `NAME.text`) and each statistic. Raises InputError for a question that DuckDB refuses, and where no store is. Needs the extra
    `query`.

    >>> _ = el.sweep("sawtooth", set={"duration": "3 s", "warmup": "1 s"}, repetitions=2, store="kept")
    >>> el.query('select count(*) as n, min(seed) as first from trials', "kept").to_pylist()
    [{'n': 2, 'first': 1}]
    """
    try:
        import duckdb
    except ImportError:
        raise InputError("DuckDB is not installed: pip install 'elephan[query]'") from None
    folder = as_path(where, "folder")
    if not (places := stores(folder)):
        raise InputError(f"{folder}: no store of trials is there or below")
    with duckdb.connect() as connection:
        connection.register("trials", _trials([(str(place), Store.at(place)) for place in places]))
        for name in RUN:
            if files := [str(file) for place in places for file in (place / runs.FOLDER).glob(f"[!.]*-*[!l]/{name}.parquet")]:
                rows = connection.read_parquet(files, filename=True, union_by_name=True)
                key = "split_part(parse_filename(parse_dirpath(filename)), '-', 1)"
                rows.project(f"{key} as key, * exclude (filename)").create_view(name)
        try:
            return connection.sql(sql).to_arrow_table()
        except (duckdb.Error, AttributeError) as error:
            why = "it gives no rows" if isinstance(error, AttributeError) else str(error).partition("\n")[0]
            raise InputError(f"{sql}: {why}") from None


class Questions:
    """The trials kept below a folder, to be asked in SQL; `el.load` gives it for a store and for a folder of results.

    >>> _ = el.sweep("sawtooth", set={"duration": "3 s", "warmup": "1 s"}, repetitions=2, store="kept")
    >>> el.load("kept").sql("select count(*) as n from trials").to_pylist()
    [{'n': 2}]
    """

    def __init__(self, where: Path) -> None:
        self.where = where

    def sql(self, sql: str) -> pa.Table:
        """Returns the answer to a question in SQL, as `elephan.query` does."""
        return query(sql, self.where)

    def __repr__(self) -> str:
        return f"<elephan.Questions {self.where}: {len(stores(self.where))} stores of trials>"


def _trials(opened: list[tuple[str, Store]]) -> pa.Table:
    """All trials with their parameters and statistics as columns."""
    import pyarrow as pa

    tables = []
    for name, store in opened:
        for rows in store.tables():
            columns: dict[str, Any] = {"store": [name] * rows.num_rows} | {told: rows.column(told) for told in _TOLD}
            columns |= _parameters(rows.column("parameters").to_pylist())
            columns |= {one[len(STATISTIC) :]: rows.column(one) for one in rows.column_names if one.startswith(STATISTIC)}
            tables.append(pa.table(columns))
    found = pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({"store": pa.array([], pa.string())})
    return described_table(
        {name: found.column(name) for name in found.column_names}, {one: described(one) for one in found.column_names}
    )


def _parameters(rows: list[Any]) -> dict[str, Any]:
    """A column of numbers for each parameter that has any, and one of its text."""
    import pyarrow as pa

    given = [dict(row or ()) for row in rows]
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for row in given for name in row):
        ones = [row.get(name) for row in given]
        numbers = [one and one["number"] for one in ones]
        columns[name] = pa.array(numbers, pa.float64())
        columns[f"{name}.text"] = pa.array([one and one["text"] for one in ones], pa.string())
    return columns
