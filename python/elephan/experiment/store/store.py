"""A store of trials: every finished run, kept as soon as it is done, for one experiment or many.

A trial goes to the writer's tail at once and to a part about once a second; a kill loses the runs in progress, a power cut at most
what the last second finished. At the end small parts become one. Files that are damaged or not elephan's are named and set aside.
A store that cannot be written can be read.
"""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base.errors import OutputError
from elephan.base.paths import as_path
from elephan.experiment.store import attempts, parts, runs, tails
from elephan.experiment.store.check import AGAIN, damage, why_torn
from elephan.experiment.store.identity import Identity, engine
from elephan.experiment.store.row import Kept, from_record, input_names, parameter, schema, table
from elephan.experiment.store.summary import Summary, summed_up
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
        self.refusal: OutputError | None = None  # why a store that is opened to write can only be read
        self.notes: list[str] = []  # on files that were set aside
        self._writer, self._number = parts.new_writer(), 0
        self._rows: list[Kept] = []
        self._attempts: list[dict[str, Any]] = []
        self._tail: tails.Tail | None = None
        self._flushed = time.monotonic()

    @classmethod
    def at(cls, where: str | os.PathLike[str]) -> Store:
        """A store to read; InputError if the folder is none."""
        path = as_path(where, "store")
        parts.check(path)
        return cls(path, writes=False)

    @classmethod
    def to(cls, where: str | os.PathLike[str]) -> Store:
        """A store to write, made if it is not there. What dead writers of this machine left in tails becomes a part.

        One that is there and that the system does not let write can be read; it has a `refusal`.
        """
        path = as_path(where, "store")
        try:
            parts.create(path)
        except OutputError as error:
            if not path.is_dir():
                raise
            parts.check(path)
            found = cls(path, writes=False)
            found.refusal = error
            return found
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
        for key, row in self._read(pa.array(list(keys), pa.string())):
            if row.identity != keys[key]:
                raise OutputError(f"{self.where}: two different trials have the key {key}; use another store")
            if row.error == "" or key not in found:
                found[key] = row
        return found

    def input_names(self) -> list[list[str]]:
        """The names of what runs have read that was not known before them, each set of names once."""
        found = {tuple(sorted(one.row.inputs)) for one in self._entries()}
        for path, rows in self._tables("parts", ["sources"]):
            texts = [one.as_py() for one in rows.column("sources").unique()]
            try:
                found |= input_names(texts)
            except (ValueError, TypeError, KeyError):
                self._set_aside(path, "its rows are not what elephan writes")
        return [list(names) for names in sorted(found) if names]

    def rows(self) -> list[Kept]:
        """Every trial, in the order of experiment, variant and seed; one that several writers kept once."""
        found = {row.place: row for _, row in self._read(None)}
        return sorted(found.values(), key=lambda row: (row.experiment, row.variant.label, row.identity.seed, row.identity.key))

    def made(self) -> list[tuple[str, str, str]]:
        """Returns build, digest of the scenario and label of the variant of every trial; one that several writers kept once."""
        columns = ["key", "experiment", "variant", "engine", "scenario"]
        rows = [self._tail_table().select(columns), *(rows for _, rows in self._tables("parts", columns))]
        found = {tuple(one[name] for name in columns[:3]): one for some in rows for one in some.to_pylist()}
        return [(one["engine"], one["scenario"], one["variant"]) for one in found.values()]

    def trials(self, experiment: str, most: int) -> tuple[Trials, dict[tuple[str, int], str]]:
        """Returns the trials of an experiment that came through, at most so many, and their keys by variant and seed.

        Series are not read, so that a large store can be looked at.
        """
        import pyarrow.compute as pc

        found: dict[tuple[str, int], Kept] = {}
        for path, rows in [(None, self._tail_table()), *self._tables("parts")]:
            chosen = rows.filter(pc.and_(pc.equal(rows.column("experiment"), experiment), pc.is_null(rows.column("error"))))
            for record in chosen.drop_columns(["series"]).slice(0, most - len(found)).to_pylist():
                for row in self._rows_of(path, [{**record, "series": None}]):
                    found.setdefault((row.variant.label, row.identity.seed), row)
        kept = list(found.values())
        kept.sort(key=lambda row: (_in_order(row), row.variant.label, row.identity.seed))
        variants = {row.variant.label: replace(row.variant, experiment=experiment) for row in kept}
        keys = {(row.variant.label, row.identity.seed): row.identity.key for row in kept}
        return Trials([row.trial for row in kept], variants.values()), keys

    def _read(self, keys: pa.Array | None) -> Iterator[tuple[str, Kept]]:
        """Gives trials with the key that each is kept under."""
        import pyarrow.compute as pc

        tail = self._entries()  # before the parts: a row that leaves a tail meanwhile is in a part by then
        for path, rows in self._tables("parts") if keys is None or self._has(keys) else ():
            chosen = rows if keys is None else rows.filter(pc.is_in(rows.column("key"), value_set=keys))
            records = chosen.to_pylist()
            yield from zip((record["key"] for record in records), self._rows_of(path, records), strict=False)
        known = None if keys is None else set(keys.to_pylist())
        yield from ((one.key, one.row) for one in tail if known is None or one.key in known)

    def _rows_of(self, path: Path | None, records: Sequence[Mapping[str, Any]]) -> list[Kept]:
        """The rows of records of a part; none of a part whose text is not what elephan writes."""
        try:
            return [from_record(record) for record in records]
        except Exception as error:  # whatever JSON and Arrow say of nonsense
            if path is None or isinstance(error, MemoryError):
                raise
            self._set_aside(path, "its rows are not what elephan writes")
            return []

    def _has(self, keys: pa.Array) -> bool:
        """Whether a part has one of these keys, for which one column is read."""
        import pyarrow.compute as pc

        return any(pc.any(pc.is_in(rows.column("key"), value_set=keys)).as_py() for _, rows in self._tables("parts", ["key"]))

    def sound(self) -> tuple[list[str], pa.Table]:
        """The paths of all parts that are what was written, and a table of what is in no part yet."""
        tail = self._tail_table()
        return [str(path) for path, _ in self._tables("parts", ["key"])], tail

    def _tail_table(self) -> pa.Table:
        return table([one.row for one in self._entries()])

    def _tables(self, folder: str, columns: Sequence[str] | None = None) -> list[tuple[Path, pa.Table]]:
        """All parts with their tables, or some columns of these; what is damaged is set aside."""
        for _ in range(LOOKS):
            try:
                found = [(path, self._sound(path, columns)) for path in parts.parts(self.where / folder)]
                return [(path, rows) for path, rows in found if rows is not None]
            except FileNotFoundError:
                continue
        raise OutputError(f"{self.where}: other processes put its parts together again and again")

    def _sound(self, path: Path, columns: Sequence[str] | None = None) -> pa.Table | None:
        """The rows of a part, None of one that is damaged."""
        try:
            return parts.read_part(path, columns)
        except parts.Damaged as why:
            self._set_aside(path, str(why))
        return None

    def _entries(self, among: Iterable[Path] | None = None) -> list[tails.Entry]:
        """The trials of all tails, or of some; lines that are damaged are named and left out."""
        found: list[tails.Entry] = []
        for path in tails.tails(self.where / "tails") if among is None else among:
            with contextlib.suppress(FileNotFoundError):  # its writer has made a part of it
                try:
                    entries, why = tails.read(path)
                except parts.Damaged as damage:
                    self._set_aside(path, str(damage))
                    continue
                found += entries
                if why:
                    self._note(f"{path}: {why}; left out, and {AGAIN}")
        return found

    def _note(self, line: str) -> None:
        if line not in self.notes:
            self.notes.append(line)

    def _set_aside(self, path: Path, why: str) -> None:
        note = f"{path}: {why}; left out, and {AGAIN}"
        with contextlib.suppress(OSError):
            (self.where / "aside").mkdir(exist_ok=True)
            path.rename(self.where / "aside" / path.name)
            note = f"{path}: {why}; moved to {self.where / 'aside'}, and {AGAIN}"
        self._note(note)

    def check_writes(self) -> None:
        """Raises why a store that is to be written can only be read."""
        if self.refusal is not None:
            raise self.refusal

    def new_run(self, key: str) -> Path:
        """The folder for the tables of a trial's run."""
        return runs.new(self.where, key, self._writer)

    def put(self, row: Kept, attempt: Mapping[str, Any] | None) -> None:
        """Keeps a trial. `attempt`: when and how long it ran, and where; None of one that did not run for it."""
        self.check_writes()
        with _as_output(self.where):
            if self._tail is None:
                self._tail = tails.Tail(self.where / "tails" / f"{self._writer}-{self._number:06d}.log")
            where = {"host": socket.gethostname(), "process": os.getpid()}
            ran = [{"key": row.identity.key, **attempt, **where}] if attempt is not None else []
            self._tail.append({"row": row.record, "attempts": ran})
            self._rows.append(row)
            self._attempts += ran
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
                self._write("attempts", attempts.table(self._attempts))
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
        columns = ["key", "experiment", "variant", "error", "engine"]
        tail = self._entries()
        rows = [table([one.row for one in tail]).select(columns), *(rows for _, rows in self._tables("parts", columns))]
        of_tails = attempts.table([ran for one in tail for ran in one.attempts]).select(["key", "wall_s"])
        ran = [of_tails, *(rows for _, rows in self._tables("attempts", ["key", "wall_s"]))]
        return summed_up(rows, ran, self.where)

    def check(self) -> list[str]:
        """A line for each file that is damaged, torn or not elephan's; nothing is moved."""
        return damage(self.where)

    def collect(self, other_builds: bool) -> str:
        """Puts all parts together, removes what was set aside and, if asked, trials of other builds; says what it did."""
        self.check_writes()
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
                rows = self._sound(path)
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
        dead = [path for path in tails.tails(self.where / "tails") if parts.is_of_dead(path.name)]
        entries = self._entries(dead)
        self._rows = [one.row for one in entries]
        self._attempts = [ran for one in entries for ran in one.attempts]
        self.flush()
        for path in dead:
            if why := why_torn(path):
                self._set_aside(path, why)
            else:
                path.unlink(missing_ok=True)
        for folder in ("parts", "attempts"):
            for path in (self.where / folder).glob(".*.parquet"):
                if parts.is_of_dead(path.name[1:]):
                    path.unlink(missing_ok=True)


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


@contextlib.contextmanager
def _as_output(where: Path) -> Iterator[None]:
    """What the system refuses, as one line."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write the store {where}: {error.strerror or error}; what it has stays") from None
