"""What a store has, in numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base.quantity import show

if TYPE_CHECKING:
    import pyarrow as pa


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


def summed_up(trials: Sequence[pa.Table], attempts: Sequence[pa.Table], where: Path) -> Summary:
    """Returns what the tables of a store have in all; a trial that is there twice counts once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = pa.concat_tables(trials)
    rows = rows.append_column("failed", pc.is_valid(rows.column("error")))
    if rows.group_by("key").aggregate([]).num_rows < rows.num_rows:  # else there is nothing to put together, which takes long
        single = rows.group_by(["key", "experiment", "variant"]).aggregate([("failed", "min"), ("engine", "min")])
        rows = single.rename_columns(["key", "experiment", "variant", "failed", "engine"])
    took = pa.concat_tables(attempts).group_by("key").aggregate([("wall_s", "sum")])
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
    size = sum(_size(path) for path in where.rglob("*"))
    return Summary(experiments, rows.num_rows, size, len(rows.column("engine").unique()))


def _size(path: Path) -> int:
    """The bytes of a file; 0 of what is none, or goes meanwhile."""
    with contextlib.suppress(OSError):
        return path.stat().st_size if path.is_file() else 0
    return 0
