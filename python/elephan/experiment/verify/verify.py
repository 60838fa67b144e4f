"""Whether this installation computes what was published: digests of the tables of 200 scenarios, which come with the package.

Each scenario is run, and its tables are digested: names of columns, types, and each value to the last bit. The digests are the same
for every build of one version, on every machine; a difference is a fault of the build, of the compiler or of the machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base.errors import ElephanError, InputError
from elephan.result.run import run
from elephan.scenario import core

if TYPE_CHECKING:
    import pyarrow as pa

DATA = Path(__file__).with_name("published.json")
NAMED_MAX = 8  # names in a line
FAILED = "failed"  # the digest of a scenario that does not come through


@dataclass(frozen=True)
class Case:
    """A scenario with its digest. `base`: a name of the library, or a text; `set`: what is changed in it."""

    name: str
    base: str
    set: Mapping[str, Any] = field(hash=False)
    seed: int
    digest: str = ""


@dataclass(frozen=True)
class Published:
    """The digests that come with a version."""

    version: str
    cases: Sequence[Case]


def published() -> Published:
    """Returns the digests that come with the package; InputError if the file is damaged."""
    try:
        found = json.loads(DATA.read_text(encoding="utf-8"))
        bases = found["bases"]
        cases = [
            Case(one["name"], bases.get(one["base"], one["base"]), one["set"], one["seed"], one["digest"]) for one in found["cases"]
        ]
        return Published(found["version"], cases)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{DATA}: damaged: {error}") from None


def digest_of(case: Case) -> str:
    """Returns the digest of the tables of a scenario's run, 32 hexadecimal digits; `failed` if the run does not come through."""
    try:
        return tables_digest(run(case.base, set=case.set, seed=case.seed, report=False).tables)
    except ElephanError:
        return FAILED


def tables_digest(tables: Mapping[str, pa.Table]) -> str:
    """Returns a digest of tables: their names and columns in order, types, and each value to the bit."""
    found = hashlib.blake2b(digest_size=16)
    for name in sorted(tables):
        table = tables[name]
        found.update(f"{name} {table.num_rows}\n".encode())
        for column in table.column_names:
            found.update(f"{column} {table.schema.field(column).type}\n".encode())
            found.update(_values(table.column(column)))
    return found.hexdigest()


def _values(column: pa.ChunkedArray) -> bytes:
    """The values of a column as bytes that depend on nothing else: neither on chunks nor on what Arrow has where nothing is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    nothing = pc.is_null(column).to_numpy().tobytes() if column.null_count else b""
    kind = column.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = column.fill_null(pa.scalar(0, kind) if not pa.types.is_boolean(kind) else False).to_numpy()
        return nothing + bytes(values.astype(values.dtype.newbyteorder("<")).tobytes())
    return nothing + json.dumps(column.to_pylist()).encode()


def differing(cases: Sequence[Case], workers: int, done: Callable[[int], Any] = lambda count: None) -> list[str]:
    """Returns the names of the scenarios whose tables have another digest; `done` is called with the number of runs that ended."""
    pool = ThreadPoolExecutor(workers)
    try:
        differ = []
        for count, (case, digest) in enumerate(zip(cases, pool.map(digest_of, cases), strict=True), 1):
            done(count)
            if digest != case.digest:
                differ.append(case.name)
        return differ
    finally:
        pool.shutdown(cancel_futures=True)  # Ctrl-C ends it with the runs that have begun


def said(given: Published, differ: Sequence[str]) -> str:
    """Returns the answer of `elephan verify` in one line."""
    of = len(given.cases)
    if not differ:
        return f"all {of} scenarios give the tables that were published with elephan {given.version}"
    more = f" and {len(differ) - NAMED_MAX} more" if len(differ) > NAMED_MAX else ""
    names = ", ".join(f'"{name}"' for name in differ[:NAMED_MAX])
    return f"{len(differ)} of {of} scenarios differ from what was published with elephan {given.version}: {names}{more}"


def check_version(given: Published) -> None:
    """Raises InputError if the digests are those of another version."""
    version = core.call("version")
    if given.version != version:
        raise InputError(f"{DATA}: the digests of elephan {given.version}, this is {version}")
