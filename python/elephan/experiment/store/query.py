"""Questions in SQL to the kept trials of many experiments, answered by DuckDB."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base.errors import InputError
from elephan.base.paths import as_path
from elephan.experiment.store import runs
from elephan.experiment.store.row import STATISTIC
from elephan.experiment.store.store import LOOKS, Store, stores
from elephan.experiment.trials import described, described_table
from elephan.table.classes import RUN

if TYPE_CHECKING:
    import pyarrow as pa

_OF_PARAMETER = (("number", ""), ("text", ".text"))
_TOLD = ("experiment", "variant", "seed", "flows", "error", "command", "key")


def query(sql: str, where: str | os.PathLike[str] = "results") -> pa.Table:
    """Returns the answer to a question in SQL as a table. It asks the table `trials`, a row for each trial kept below `where`, and
    the tables of single runs that are kept with them: `flow_samples`, `flows` and so on, with the `key` of the trial in front. The
    table `dictionary` has the role, unit and description of each column of `trials`; columns of the answer have them as metadata.

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
    for left in reversed(range(LOOKS)):
        with duckdb.connect() as connection:
            try:
                asked = duckdb.extract_statements(sql)
                if [one.type for one in asked] != [duckdb.StatementType.SELECT]:
                    raise InputError(f"{sql}: a question is one SELECT; nothing is written")
                about = _views(connection, places)
                found = connection.sql(sql).to_arrow_table()
                break
            except (duckdb.Error, AttributeError) as error:
                if left and isinstance(error, duckdb.IOException):  # another process has put parts together
                    continue
                why = "it gives no rows" if isinstance(error, AttributeError) else str(error).partition("\n")[0]
                raise InputError(f"{sql}: {why}") from None
    known = {name: about[name] for name in found.column_names if name in about}
    return described_table({name: found.column(name) for name in found.column_names}, known)


def _views(connection: Any, places: Sequence[Path]) -> dict[str, dict[str, str]]:
    """Makes the tables that a question may ask; returns unit and description of the columns of `trials`.

    Nothing is read but what the question needs: with a million trials that is a tenth of the time and memory.
    """
    rows = []
    for number, place in enumerate(places):
        store = Store.at(place)
        parts, tail = store.sound()
        if parts:
            connection.read_parquet(parts, union_by_name=True).create_view(f"parts_{number}")
            rows.append(f"select {_quoted(str(place), chr(39))} as store, * from parts_{number}")
        if tail.num_rows or not parts:
            connection.register(f"tail_{number}", tail)
            rows.append(f"select {_quoted(str(place), chr(39))} as store, * from tail_{number}")
    connection.execute("create view every as " + " union all by name ".join(rows))
    one = "store, key, experiment, variant"
    ((twice,),) = connection.sql(f"select count(*) - count(distinct ({one})) from every").fetchall()
    if twice:
        first = f"row_number() over (partition by {one} order by error nulls first)"
        connection.execute(f"create view single as select * from every qualify {first} = 1")
    each = "select store, unnest(map_entries(parameters)) as one from every"
    named = f"select one.key as name, max(one.value.unit) as unit from ({each}) group by 1 order by min(store), 1"
    columns, about = [*_TOLD], {}
    for name, unit in connection.sql(named).fetchall():
        columns += [f"parameters[{_quoted(name, chr(39))}].{what} as {_quoted(name + end)}" for what, end in _OF_PARAMETER]
        about[name] = {"role": "parameter", **({"unit": unit} if unit else {})}
        about[f"{name}.text"] = {"role": "parameter"}
    for name in connection.table("every").columns:
        if name.startswith(STATISTIC):
            columns.append(f"{_quoted(name)} as {_quoted(name[len(STATISTIC) :])}")
            about[name[len(STATISTIC) :]] = {"role": "statistic", **described(name[len(STATISTIC) :])}
    told = ", ".join(columns)
    connection.execute(f"create view trials as select store, {told} from {'single' if twice else 'every'}")
    connection.register("dictionary", _dictionary(about))
    for name in RUN:
        if files := [str(file) for place in places for path in runs.best(place) if (file := path / f"{name}.parquet").exists()]:
            found = connection.read_parquet(files, filename=True, union_by_name=True)
            key = "split_part(parse_filename(parse_dirpath(filename)), '-', 1)"
            found.project(f"{key} as key, * exclude (filename)").create_view(name)
    return about


def _quoted(text: str, by: str = '"') -> str:
    """A name as SQL quotes it, or with an apostrophe a text."""
    return f"{by}{text.replace(by, by + by)}{by}"


def _dictionary(about: Mapping[str, Mapping[str, str]]) -> pa.Table:
    """A row for each column of `trials`: its name, role, unit and description."""
    import pyarrow as pa

    texts = ("name", "role", "unit", "description")
    rows = [{"name": name, **one} for name, one in about.items()]
    return pa.Table.from_pylist(rows, schema=pa.schema([(text, pa.string()) for text in texts]))


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
