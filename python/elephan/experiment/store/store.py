"""A store of trials: every finished run, kept as soon as it is done, for one experiment or many.

A trial goes to the writer's tail at once and to a part about once a second; a kill loses the runs in progress, a power cut at most
what the last second finished. At the end small parts become one. Files that are damaged or not elephan's are named and set aside.
"""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base.errors import OutputError
from elephan.base.paths import as_path
from elephan.base.quantity import show
from elephan.experiment.store import parts, runs
from elephan.experiment.store.identity import Identity, engine
from elephan.experiment.store.row import Kept, from_record, parameter, schema, table
from elephan.experiment.trials import Trials

if TYPE_CHECKING:
    import pyarrow as pa

EVERY_S = 1.0  # between parts of a writer
SMALL_ROWS = 100_000  # parts with fewer rows are put together
MANY_PARTS = 64  # of one writer, which it then puts together
LOOKS = 10  # times that a list of files is read again because another process has put parts together


class Store:
    """A folder of trials. Open one to write with `Store.to(path)`, to read with `Store.at(path)`."""

    def __init__(self, where: Path, writes: bool) -> None:
        self.where, self._writes = where, writes
        self.notes: list[str] = []  # on files that were set aside
        self._writer, self._number = parts.new_writer(), 0
        self._rows: list[Kept] = []
        self._attempts: list[dict[str, Any]] = []
        self._tail: parts.Tail | None = None
        self._flushed = time.monotonic()

    @classmethod
    def at(cls, where: str | os.PathLike[str]) -> Store:
        """A store to read; InputError if the folder is none."""
        path = as_path(where, "store")
        parts.check(path)
        return cls(path, writes=False)

    @classmethod
    def to(cls, where: str | os.PathLike[str]) -> Store:
        """A store to write, made if it is not there. What dead writers of this machine left in tails becomes a part."""
        path = as_path(where, "store")
        parts.create(path)
        found = cls(path, writes=True)
        with _as_output(path):
            found._recover()
        return found

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def kept(self, wanted: Iterable[Identity]) -> dict[str, Kept]:
        """The trials of the store that have these identities, by key."""
        import pyarrow as pa

        keys = {one.key: one for one in wanted}
        found: dict[str, Kept] = {}
        for row in self._read(pa.array(list(keys), pa.string())):
            one = keys[row.identity.key]
            if row.identity != one:
                raise OutputError(f"{self.where}: two different trials have the key {one.key}; use another store")
            if row.error == "" or one.key not in found:
                found[one.key] = row
        return found

    def rows(self) -> list[Kept]:
        """Every trial, in the order of experiment, variant and seed; one that several writers kept once."""
        found = {row.place: row for row in self._read(None)}
        return sorted(found.values(), key=lambda row: (row.experiment, row.variant.label, row.identity.seed, row.identity.key))

    def trials(self, experiment: str, most: int) -> tuple[Trials, dict[tuple[str, int], str]]:
        """Returns the trials of an experiment that came through, at most so many, and their keys by variant and seed.

        Series are not read, so that a large store can be looked at.
        """
        import pyarrow.compute as pc

        found: dict[tuple[str, int], dict[str, Any]] = {}
        for rows in [self._tail_table(), *self._tables("parts")]:
            chosen = rows.filter(pc.and_(pc.equal(rows.column("experiment"), experiment), pc.is_null(rows.column("error"))))
            for record in chosen.drop_columns(["series"]).slice(0, most - len(found)).to_pylist():
                found.setdefault((record["variant"], record["seed"]), record)
        kept = [from_record({**record, "series": None}) for record in found.values()]
        kept.sort(key=lambda row: (_in_order(row), row.variant.label, row.identity.seed))
        variants = {row.variant.label: replace(row.variant, experiment=experiment) for row in kept}
        keys = {(row.variant.label, row.identity.seed): row.identity.key for row in kept}
        return Trials([row.trial for row in kept], variants.values()), keys

    def _read(self, keys: pa.Array | None) -> Iterator[Kept]:
        import pyarrow.compute as pc

        tail = self._tail_records()  # before the parts: a row that leaves a tail meanwhile is in a part by then
        for rows in self._tables("parts") if keys is None or self._has(keys) else ():
            chosen = rows if keys is None else rows.filter(pc.is_in(rows.column("key"), value_set=keys))
            yield from map(from_record, chosen.to_pylist())
        known = None if keys is None else set(keys.to_pylist())
        for record in tail:
            if known is None or record["row"]["key"] in known:
                yield from_record(record["row"])

    def _has(self, keys: pa.Array) -> bool:
        """Whether a part has one of these keys, for which one column is read."""
        import pyarrow.compute as pc

        return any(pc.any(pc.is_in(rows.column("key"), value_set=keys)).as_py() for rows in self._tables("parts", ["key"]))

    def sound(self) -> tuple[list[str], pa.Table]:
        """The paths of all parts that are what was written, and a table of what is in no part yet."""
        tail = self._tail_table()
        return [str(path) for path in parts.parts(self.where / "parts") if self._sound(path, parts.content) is not None], tail

    def _tail_table(self) -> pa.Table:
        return table([from_record(record["row"]) for record in self._tail_records()])

    def _tables(self, folder: str, columns: Sequence[str] | None = None) -> list[pa.Table]:
        """The tables of all parts, or some of their columns; what is damaged is set aside."""
        for _ in range(LOOKS):
            try:
                found = (self._sound(path, partial(parts.read_part, columns=columns)) for path in parts.parts(self.where / folder))
                return [rows for rows in found if rows is not None]
            except FileNotFoundError:
                continue
        raise OutputError(f"{self.where}: other processes put its parts together again and again")

    def _sound(self, path: Path, read: Callable[[Path], Any]) -> Any:
        """What a part holds, None of one that is damaged."""
        try:
            return read(path)
        except parts.Damaged as why:
            self._set_aside(path, str(why))
        return None

    def _tail_records(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for path in parts.tails(self.where / "tails"):
            with contextlib.suppress(FileNotFoundError):  # its writer has made a part of it
                found += parts.read_tail(path)
        return found

    def _set_aside(self, path: Path, why: str) -> None:
        note = f"{path}: {why}; left out"
        with contextlib.suppress(OSError):
            (self.where / "aside").mkdir(exist_ok=True)
            path.rename(self.where / "aside" / path.name)
            note = f"{path}: {why}; moved to {self.where / 'aside'}"
        self.notes.append(note)

    def new_run(self, key: str) -> Path:
        """The folder for the tables of a trial's run."""
        return runs.new(self.where, key, self._writer)

    def put(self, row: Kept, attempt: Mapping[str, Any] | None) -> None:
        """Keeps a trial. `attempt`: when and how long it ran, and where; None of one that did not run for it."""
        with _as_output(self.where):
            if self._tail is None:
                self._tail = parts.Tail(self.where / "tails" / f"{self._writer}-{self._number:06d}.log")
            where = {"host": socket.gethostname(), "process": os.getpid()}
            attempts = [{"key": row.identity.key, **attempt, **where}] if attempt is not None else []
            self._tail.append({"row": row.record, "attempts": attempts})
            self._rows.append(row)
            self._attempts += attempts
        self.tick()

    def tick(self) -> None:
        """Makes a part if the last one is older than a second. To be called again and again, also while no trial comes."""
        if self._rows and time.monotonic() - self._flushed > EVERY_S:
            self.flush()

    def flush(self) -> None:
        """Makes a part of what has come since the last one."""
        if not self._rows:
            return
        with _as_output(self.where):
            self._write("parts", table(self._rows))
            if self._attempts:
                self._write("attempts", _attempt_table(self._attempts))
            self._rows, self._attempts, self._number = [], [], self._number + 1
            if self._tail is not None:
                self._tail.close()
                self._tail.path.unlink(missing_ok=True)
                self._tail = None
            self._flushed = time.monotonic()
        if self._number % MANY_PARTS == 0:
            self.compact(own=True)

    def _write(self, folder: str, rows: pa.Table) -> Path:
        return parts.write_part(self.where / folder, self._writer, self._number, rows)

    def close(self) -> None:
        """Writes the last part and puts small parts together."""
        try:
            if self._writes:
                self.flush()
                self.compact()
        finally:
            if self._tail is not None:
                self._tail.close()

    def summary(self) -> Summary:
        """What the store has, by experiment."""
        import pyarrow as pa
        import pyarrow.compute as pc

        columns = ["key", "experiment", "variant", "error", "engine"]
        tail = self._tail_table().select(columns)
        rows = pa.concat_tables([*self._tables("parts", columns), tail])
        rows = rows.append_column("failed", pc.is_valid(rows.column("error")))
        if rows.group_by("key").aggregate([]).num_rows < rows.num_rows:  # else there is nothing to put together, which takes long
            single = rows.group_by(["key", "experiment", "variant"]).aggregate([("failed", "min"), ("engine", "min")])
            rows = single.rename_columns(["key", "experiment", "variant", "failed", "engine"])
        ran = [one for record in self._tail_records() for one in record["attempts"]]
        attempts = pa.concat_tables([*self._tables("attempts", ["key", "wall_s"]), _attempt_table(ran).select(["key", "wall_s"])])
        took = attempts.group_by("key").aggregate([("wall_s", "sum")])
        places = pc.index_in(rows.column("key"), value_set=took.column("key"))
        rows = rows.append_column("wall_s", pc.take(took.column("wall_s_sum"), places))
        sums = rows.group_by("experiment").aggregate([("key", "count"), ("failed", "sum"), ("wall_s", "sum")])
        variants = rows.group_by(["experiment", "variant"]).aggregate([]).group_by("experiment").aggregate([("variant", "count")])
        experiments = {
            row["experiment"]: {
                "variants": row["variant_count"],
                "trials": row["key_count"],
                "failed": row["failed_sum"],
                "wall_s": row["wall_s_sum"] or 0.0,
            }
            for row in sums.join(variants, "experiment").sort_by("experiment").to_pylist()
        }
        size = sum(path.stat().st_size for path in self.where.rglob("*") if path.is_file())
        return Summary(experiments, rows.num_rows, size, len(rows.column("engine").unique()))

    def check(self) -> list[str]:
        """A line for each file that is damaged, torn or not elephan's; nothing is moved."""
        found = [f"{path}: not written by elephan" for path in parts.strangers(self.where)]
        for folder in ("parts", "attempts"):
            for path in parts.parts(self.where / folder):
                try:
                    parts.read_part(path)
                except parts.Damaged as why:
                    found.append(f"{path}: {why}")
        for path in parts.tails(self.where / "tails"):
            lines = path.read_bytes().count(b"\n")
            if torn := lines - sum(1 for _ in parts.read_tail(path)):
                found.append(f"{path}: {torn} of {lines} lines are damaged")
        return found + runs.check(self.where)

    def collect(self, other_builds: bool) -> str:
        """Puts all parts together, removes what was set aside and, if asked, trials of other builds; says what it did."""
        own = engine()
        # Only parts that have been read are replaced: another process may write one at this moment. Its tail stays.
        old = [path for path in parts.parts(self.where / "parts") if other_builds]
        kept = self.rows()
        gone = [row for row in kept if other_builds and row.identity.engine != own]
        with _as_output(self.where):
            shutil.rmtree(self.where / "aside", ignore_errors=True)
            if gone:
                self._number += 1
                self._write("parts", table([row for row in kept if row.identity.engine == own]))
                for path in old:
                    path.unlink(missing_ok=True)
            removed = {row.identity.key for row in gone}
            tidied = runs.collect(self.where, {row.identity.key for row in kept} - removed, removed)
        folders = f", and {tidied} folders of runs" if tidied else ""
        return f"{len(kept) - len(gone)} trials stay, {len(gone)} of other builds are removed{folders}"

    def compact(self, own: bool = False) -> None:
        """Puts small parts together: those of this writer, or all."""
        with _as_output(self.where):
            for folder in ("parts", "attempts"):
                self._compact(folder, own)

    def _compact(self, folder: str, own: bool) -> None:

        small: list[Path] = []
        tables: list[pa.Table] = []
        for path in parts.parts(self.where / folder):
            if own and not path.name.startswith(self._writer):
                continue
            with contextlib.suppress(FileNotFoundError):
                rows = self._sound(path, parts.read_part)
                if rows is not None and rows.num_rows < SMALL_ROWS:
                    small.append(path)
                    tables.append(rows)
        if len(small) < 2:
            return
        self._number += 1
        merged = _merged(tables)
        new = self._write(folder, merged)
        for path in small:
            if path != new:
                path.unlink(missing_ok=True)

    def _recover(self) -> None:
        """Makes a part of tails whose writers are dead processes of this machine."""
        dead = [path for path in parts.tails(self.where / "tails") if parts.is_of_dead(path.name)]
        records = [record for path in dead for record in parts.read_tail(path)]
        self._rows = [from_record(record["row"]) for record in records]
        self._attempts = [one for record in records for one in record["attempts"]]
        self.flush()
        for path in dead:
            path.unlink(missing_ok=True)
        for folder in ("parts", "attempts"):
            for path in (self.where / folder).glob(".*.parquet"):
                if parts.is_of_dead(path.name[1:]):
                    path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Summary:
    """What a store has: by experiment variants, trials, failed ones and wall time in s; all trials, bytes, builds of elephan."""

    experiments: Mapping[str, Mapping[str, Any]]
    trials: int
    size_bytes: int
    builds: int

    @property
    def words(self) -> str:
        many = f", of {self.builds} builds of elephan" if self.builds > 1 else ""
        return f"{self.trials} trial{'' if self.trials == 1 else 's'}, {show(self.size_bytes, 'bytes')}{many}"

    def as_dict(self) -> dict[str, Any]:
        experiments = {name: dict(one) for name, one in self.experiments.items()}
        return {"experiments": experiments, "trials": self.trials, "size_bytes": self.size_bytes, "builds": self.builds}


def stores(folder: str | os.PathLike[str]) -> list[Path]:
    """The stores in a folder and below it, or the folder itself if it is one."""
    return sorted(path.parent for path in as_path(folder, "folder").rglob("store.json"))


def _merged(tables: list[pa.Table]) -> pa.Table:
    """Tables of parts in one, each row once, in the order of experiment, variant and seed."""
    import pyarrow as pa

    found = pa.concat_tables(tables, promote_options="default")
    if "variant" not in found.column_names:
        return found
    statistics = sorted(name for name in found.column_names if name not in schema([]).names)
    found = found.select([*schema([]).names, *statistics])
    indices = pa.array(range(found.num_rows))
    places = ["key", "experiment", "variant"]
    first = found.append_column("row", indices).group_by(places).aggregate([("row", "min")]).column("row_min")
    return found.take(first).sort_by([(name, "ascending") for name in ("experiment", "variant", "seed", "key")])


def _in_order(row: Kept) -> list[tuple[float, str]]:
    """Numbers before names, both by their size."""
    found = [parameter(value) for value in row.variant.parameters.values()]
    return [(math.inf if one["number"] is None else one["number"], one["text"]) for one in found]


def _attempt_table(rows: list[dict[str, Any]]) -> pa.Table:
    import pyarrow as pa

    texts = ("key", "host", "on", "error")
    fields = [(name, pa.string()) for name in texts]
    fields += [("process", pa.int64()), ("begun_s", pa.float64()), ("wall_s", pa.float64())]
    return pa.Table.from_pylist(rows, schema=pa.schema(fields))


@contextlib.contextmanager
def _as_output(where: Path) -> Iterator[None]:
    """What the system refuses, as one line."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write the store {where}: {error.strerror or error}; what it has stays") from None
