"""Whether two folders of results hold the same values: `python tests/python/same_values.py BEFORE AFTER`.

Compares each result folder below BEFORE with that of the same name below AFTER: all tables that both versions write, `summary.json`
and `claims.json`, after the names of `RENAMED` are put in the place of the old ones. What AFTER has beyond that is counted, not
compared. Prints a line for each difference and ends with status 1 if there is any.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

RENAMED = {"law": "controller", "laws": "controllers", "switch-law": "change-controller"}
# Of the machine and the moment, and words.
UNTOLD = {"wall_s", "command", "host", "elephan", "files", "digests", "folder", "version", "statement", "reason"}


def named(value: Any) -> Any:
    """A JSON value with new names in the place of old ones, and without what is of the moment."""
    if isinstance(value, dict):
        return {RENAMED.get(key, key): named(inner) for key, inner in value.items() if key not in UNTOLD}
    return [named(inner) for inner in value] if isinstance(value, list) else value


def differences(before: Any, after: Any, where: str) -> Iterator[str]:
    """Where two JSON values differ; keys that only `after` has are none."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            if key not in after:
                yield f"{where}.{key}: missing"
            else:
                yield from differences(value, after[key], f"{where}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{where}[{place}]")
    elif before != after and not (isinstance(before, float) and math.isnan(before)):
        yield f"{where}: {str(before)[:80]} before, {str(after)[:80]} after"


def of_tables(before: pa.Table, after: pa.Table, where: str) -> Iterator[str]:
    """Where two tables differ, by column."""
    if before.num_rows != after.num_rows:
        yield f"{where}: {before.num_rows} rows before, {after.num_rows} after"
        return
    for name in before.column_names:
        new = RENAMED.get(name, name)
        if new not in after.column_names:
            yield f"{where}: no column {new}"
        elif not _equal(before.column(name), after.column(new)):
            yield f"{where}.{name}: other values"


def _equal(one: pa.ChunkedArray, other: pa.ChunkedArray) -> bool:
    return one.equals(other) or repr(one.to_pylist()) == repr(other.to_pylist())


def compare(before: Path, after: Path) -> Iterator[str]:
    """Where two result folders differ."""
    for file in sorted(before.rglob("*")):
        new = after / file.relative_to(before)
        where = f"{before.name}/{file.relative_to(before)}"
        if file.suffix == ".parquet":
            yield from (
                of_tables(parquet.read_table(file), parquet.read_table(new), where) if new.exists() else [f"{where}: missing"]
            )
        elif file.name in ("summary.json", "claims.json"):
            old, now = (named(json.loads(one.read_text(encoding="utf-8"))) for one in (file, new))
            yield from differences(old, now, where)


def main(before: str, after: str) -> int:
    folders = [path for path in sorted(Path(before).iterdir()) if (path / "manifest.json").is_file()]
    found = []
    for folder in folders:
        name = folder.name
        for old, new in RENAMED.items():
            name = name.replace(f"run-{old}", f"run-{new}")
        found += list(compare(folder, Path(after) / name))
    print("\n".join(found[:200]) or f"{len(folders)} results: the same values")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
