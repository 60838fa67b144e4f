"""Finished results of any kind: read again, drawn again, compared."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elephan import folder, measures, stats
from elephan.errors import InputError
from elephan.runs import Run, load_run
from elephan.source import read_text
from elephan.sweeps import Row, Sweep, Variant


def _json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except ValueError:
        raise InputError(f"{path}: damaged") from None


def _table(path: Path) -> list[dict[str, Any]]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return list(parquet.read_table(path).to_pylist())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except pa.ArrowInvalid:
        raise InputError(f"{path}: damaged") from None


def load_sweep(path: Path) -> Sweep:
    """A finished sweep from its folder."""
    where, manifest = folder.open_result(path)
    summary = _json(where / "summary.json")
    variants = [Variant(v["variant"], v["parameters"]) for v in summary["variants"]]
    rows = [
        Row(row["variant"], int(row["seed"]), {k: float(v) for k, v in row.items() if _is_statistic(k) and v is not None})
        for row in _table(where / "runs.parquet")
    ]
    return Sweep(manifest["name"], variants, rows, summary["facts"] | {"manifest": manifest})


def _is_statistic(name: str) -> bool:
    measure, _, take = name.partition(".")
    return measure in measures.MEASURES and take in measures.TAKES


def load(path: str | os.PathLike[str]) -> Run | Sweep:
    """A finished run or sweep from its folder; the tables of a run are read when asked for."""
    where, manifest = folder.open_result(path)
    if manifest.get("kind") == "run":
        return load_run(where)
    if manifest.get("kind") == "sweep":
        return load_sweep(where)
    raise InputError(f"{where}: holds a {manifest.get('kind')}; its single runs are in {where / 'runs'}")


def redraw(path: Path) -> Path:
    """Writes the report and the figures of a result again; gives the path of the report."""
    where, manifest = folder.open_result(path)
    target, figures = where / "report.html", where / "figures"
    if manifest["kind"] == "study":
        from elephan.report.study_page import write_study_report
        from elephan.study import load_study

        return write_study_report(*load_study(where), target, figures)
    result = load(where)
    if isinstance(result, Run):
        from elephan.report.run_page import write_run_report

        return write_run_report(result, target, figures)
    from elephan.report.sweep_page import write_sweep_report

    return write_sweep_report(result, target, figures)


@dataclass(frozen=True)
class Difference:
    """A statistic of two results, and their difference over runs with the same seed."""

    variant: str
    statistic: str
    a: stats.Interval
    b: stats.Interval
    difference: stats.Interval

    def as_dict(self) -> dict[str, Any]:
        return {
            "variant": self.variant,
            "statistic": self.statistic,
            "unit": measures.unit_of(self.statistic),
            "a": self.a.as_dict(),
            "b": self.b.as_dict(),
            "difference": self.difference.as_dict(),
        }


Found = dict[str, dict[str, dict[int, float]]]  # variant -> statistic -> seed -> value


def _values(path: Path) -> Found:
    where, manifest = folder.open_result(path)
    if manifest["kind"] == "run":
        run = load_run(where)
        return {"": {name: {run.seed: value} for name, value in measures.statistics(run).items()}}
    found: Found = {}
    for row in _table(where / "runs.parquet"):
        variant = f"{row['experiment']}: {row['variant']}" if "experiment" in row else row["variant"]
        for name, value in row.items():
            if _is_statistic(name) and value is not None:
                found.setdefault(variant, {}).setdefault(name, {})[int(row["seed"])] = float(value)
    return found


def _mean(values: Mapping[int, float]) -> stats.Interval:
    known = [value for value in values.values() if not math.isnan(value)]
    return stats.mean_interval(known) if known else stats.Interval(math.nan, math.nan, math.nan, 0)


def compare(a: Path, b: Path) -> list[Difference]:
    """Every statistic that both results have, variant by variant, paired by seed."""
    left, right = _values(a), _values(b)
    variants = [variant for variant in left if variant in right]
    if not variants:
        raise InputError(f"{a} and {b} have no variant in common")
    found = []
    for variant in variants:
        for name, values in left[variant].items():
            others = right[variant].get(name)
            seeds = [seed for seed in values if others and seed in others]
            if not others or not seeds:
                continue
            pairs = {seed: others[seed] - values[seed] for seed in seeds}
            found.append(Difference(variant, name, _mean(values), _mean(others), _mean(pairs)))
    if not found:
        raise InputError(f"{a} and {b} have no seed in common")
    return found
