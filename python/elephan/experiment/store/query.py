"""Questions in SQL to the kept trials of many experiments, answered by DuckDB."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base.errors import InputError
from elephan.base.paths import as_path
from elephan.base.progress import note
from elephan.experiment.store import runs
from elephan.experiment.store.row import STATISTIC
from elephan.experiment.store.store import LOOKS, Store, stores
from elephan.experiment.trials import column_kind, described, described_table, labels
from elephan.result import folder
from elephan.scenario import core
from elephan.table.classes import RUN

if TYPE_CHECKING:
    import pyarrow as pa

_TOLD = ("experiment", "variant", "seed", "flows", "error", "command", "key")


def query(sql: str, where: str | os.PathLike[str] = "results", external: bool = False) -> pa.Table:
    """Returns the answer to a question in SQL as a table. It asks the table `trials`, a row for each trial kept below `where`, and
    the tables of single runs that are kept with them: `flow_samples`, `flows` and so on, with the `key` of the trial in front. The
    table `dictionary` has the role, unit and description of each column of `trials`; columns of the answer have them as metadata.

    The columns of `trials` are `store`, `experiment`, `variant`, `seed`, each parameter and each statistic. A parameter is a number
    in base units if all its values are numbers in one unit, true or false, or text: names, also those of classes and programs.
    `NAME.text` is what was written, `NAME.number` the numbers of a parameter that has text too. A parameter that a trial does not
    set is null.

    The question reads no other file and opens no connection, unless `external` is true. Raises InputError for a question that
    DuckDB refuses, and where no store is. Needs the extra `query`.

    >>> _ = el.sweep("sawtooth", set={"duration": "3 s", "warmup": "1 s"}, repetitions=2, store="kept")
    >>> el.query('select count(*) as n, min(seed) as first from trials', "kept").to_pylist()
    [{'n': 2, 'first': 1}]
    """
    try:
        import duckdb
    except ImportError:
        raise InputError("DuckDB is not installed: pip install 'elephan[query]'") from None
    if not (places := stores(where)):
        raise InputError(f"{as_path(where, 'folder')}: no store of trials is there or below")
    for left in reversed(range(LOOKS)):
        with duckdb.connect() as connection:
            try:
                asked = duckdb.extract_statements(sql)
                if [one.type for one in asked] != [duckdb.StatementType.SELECT]:
                    raise InputError(f"{sql}: a question is one SELECT; nothing is written")
                opened = [Store.at(place) for place in places]
                about, files = _views(connection, opened, sql)
                _shut(connection, files, external)
                found = core.interruptible("elephan-query", partial(_answer, connection, sql))
                break
            except (duckdb.Error, AttributeError) as error:
                if left and isinstance(error, duckdb.IOException):  # another process has put parts together
                    continue
                why = "it gives no rows" if isinstance(error, AttributeError) else str(error).partition("\n")[0]
                raise InputError(f"{sql}: {why}") from None
    for line in (line for store in opened for line in store.notes):
        note(line)
    known = {name: about[name] for name in found.column_names if name in about}
    return described_table({name: found.column(name) for name in found.column_names}, known)


def _answer(connection: Any, sql: str, stop: core.Stop) -> pa.Table:
    """Returns the answer to a question. DuckDB makes errors of its own of what a signal handler raises, so that it gets none."""
    stop.calls.append(connection.interrupt)
    return connection.sql(sql).to_arrow_table()


def _shut(connection: Any, files: Sequence[str], external: bool) -> None:
    """Closes what a question could reach beside the stores: files, addresses, extensions, variables of this process."""
    connection.execute("set python_enable_replacements = false")
    if not external:
        connection.execute(f"set allowed_paths = [{', '.join(_quoted(file, chr(39)) for file in files)}]")
        connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _views(connection: Any, opened: Sequence[Store], sql: str) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Makes the tables that a question may ask; returns unit and description of the columns of `trials`, and the files to read.

    Nothing is read but what the question needs: with a million trials that is a tenth of the time and memory.
    """
    import duckdb

    rows: list[str] = []
    read: list[str] = []
    for number, store in enumerate(opened):
        place, (parts, tail) = store.where, store.sound()
        if parts:
            connection.read_parquet(parts, union_by_name=True).create_view(f"parts_{number}")
            rows.append(f"select {_quoted(str(place), chr(39))} as store, * from parts_{number}")
            read += parts
        if tail.num_rows or not parts:
            connection.register(f"tail_{number}", tail)
            rows.append(f"select {_quoted(str(place), chr(39))} as store, * from tail_{number}")
    connection.execute("create view every as " + " union all by name ".join(rows))
    one = "store, key, experiment, variant"
    ((twice,),) = connection.sql(f"select count(*) - count(distinct ({one})) from every").fetchall()
    if twice:
        first = f"row_number() over (partition by {one} order by error nulls first)"
        connection.execute(f"create view single as select * from every qualify {first} = 1")
    found: list[tuple[str, str, dict[str, str]]] = [*((name, name, {}) for name in _TOLD), *_parameters(connection)]
    for name in connection.table("every").columns:
        if name.startswith(STATISTIC):
            statistic = name[len(STATISTIC) :]
            found.append((statistic, _quoted(name), {"role": "statistic", **described(statistic)}))
    about = {name: words for (_, _, words), name in zip(found, _apart([name for name, _, _ in found]), strict=True)}
    told = ", ".join(f"{value} as {_quoted(name)}" for (_, value, _), name in zip(found, about, strict=True))
    connection.execute(f"create view trials as select store, {told} from {'single' if twice else 'every'}")
    about = {name: words for name, words in about.items() if words}
    connection.register("dictionary", _dictionary(about))
    for name in RUN:
        asked = re.search(rf"\b{name}\b", sql, re.IGNORECASE) is not None
        with contextlib.nullcontext() if asked else contextlib.suppress(duckdb.Error):  # what nobody asks may be damaged
            read += _view_of_runs(connection, [store.where for store in opened], name, asked)
    return about, read


def _view_of_runs(connection: Any, places: Sequence[Path], name: str, asked: bool) -> list[str]:
    """Makes one table of the tables of all kept runs; returns their files. If it is asked, a damaged file is an InputError."""
    found = [path / f"{name}.parquet" for place in places for path in runs.best(place)]
    files = [file for file in found if os.path.lexists(file)]
    for file in files if asked else ():
        folder.verify(file)
    if files:
        table = connection.read_parquet(list(map(str, files)), filename=True, union_by_name=True)
        key = "split_part(parse_filename(parse_dirpath(filename)), '-', 1)"
        table.project(f"{key} as key, * exclude (filename)").create_view(name)
    return list(map(str, files))


def _parameters(connection: Any) -> list[tuple[str, str, dict[str, str]]]:
    """Returns the columns of all parameters: name, SQL of the value, role and unit. All values decide its type."""
    each = "select store, unnest(map_entries(parameters)) as one from every"
    asked = (
        "select one.key as name, bool_and(one.value.number is not null) as numbers, "
        "list(distinct one.value.unit) filter (one.value.number is not null) as units, "
        "bool_and(one.value.text in ('true', 'false')) as booleans, "
        "bool_and(regexp_full_match(one.value.text, '[+-]?[0-9]{1,15}')) as whole, "
        "list(distinct one.value.text) filter (one.value.text[1] = '{') as tables "
        f"from ({each}) where one.value.text != '' group by 1 order by min(store), 1"
    )
    columns: list[tuple[str, str, dict[str, str]]] = []
    for name, numbers, units, booleans, whole, tables in connection.sql(asked).fetchall():
        value = f"parameters[{_quoted(name, chr(39))}]"
        text = f"nullif({value}.text, '')"
        kind, (unit, *others) = column_kind(numbers, units or (), booleans), units or [""]
        words = {"role": "parameter", **({"unit": unit} if unit and not others else {})}
        if kind == "number":
            columns.append((name, f"{value}.number::bigint" if whole and not unit else f"{value}.number", words))
        elif kind == "boolean":
            columns.append((name, f"{text}::boolean", words))
        else:
            columns.append((name, _labelled(text, tables or ()), {"role": "parameter"}))
            if len(units or ()) == 1:
                columns.append((f"{name}.number", f"{value}.number", words))
        columns.append((f"{name}.text", text, {"role": "parameter"}))
    return columns


def _labelled(text: str, tables: Sequence[str]) -> str:
    """SQL of what reports call a value: of a class, a program or a model its name, not the table that names it."""
    called = labels({one: json.loads(one) for one in sorted(tables)})
    if not called:
        return text
    pairs = ", ".join(f"{_quoted(one, chr(39))}: {_quoted(label, chr(39))}" for one, label in called.items())
    return f"coalesce(map {{{pairs}}}[{text}], {text})"


def _apart(names: Sequence[str]) -> list[str]:
    """Names of columns that SQL tells apart, for which `A` is `a`: those that are alike get a number each."""
    often, seen = Counter(name.lower() for name in names), Counter[str]()
    found = []
    for name in names:
        seen[name.lower()] += 1
        fixed = name in _TOLD and not seen[name.lower()] > 1
        found.append(name if often[name.lower()] == 1 or fixed else f"{name}#{seen[name.lower()]}")
    return found


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

    def sql(self, sql: str, external: bool = False) -> pa.Table:
        """Returns the answer to a question in SQL, as `elephan.query` does."""
        return query(sql, self.where, external)

    def __repr__(self) -> str:
        return f"<elephan.Questions {self.where}: {len(stores(self.where))} stores of trials>"
