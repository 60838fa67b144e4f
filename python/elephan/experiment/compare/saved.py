"""A comparison read again from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from elephan import _renamed
from elephan.experiment.compare.experiments import STATISTICS
from elephan.experiment.compare.panel import HORIZONS, Panel
from elephan.experiment.trials import Trials
from elephan.result import folder
from elephan.result.run import read_table
from elephan.scenario.congestion import Controller
from elephan.scenario.source import read_json, read_object, read_text
from elephan.table.rows import column


def load_panel(path: Path) -> Panel:
    """A finished comparison from its folder."""
    where, manifest = folder.open_result(path)
    found = _renamed.current(read_object(where / "compare.json"))
    controllers = [Controller(one["label"], one["congestion_control"]) for one in found["controllers"]]
    trials = Trials.of_table(read_table(where / "runs.parquet"), lambda name: name in (*STATISTICS, *HORIZONS))
    facts = {key: found[key] for key in ("network", "repetitions", "seed", "quick", "experiments", "failures")}
    facts["scenarios"] = {f.stem: read_text(f) for f in sorted((where / "scenarios").glob("*.toml"))}
    facts["provenance"] = read_json(where / "provenance.json")
    facts["manifest"] = manifest
    facts |= {key: manifest[key] for key in ("incomplete",) if key in manifest}
    return Panel(controllers, trials, _series(read_table(where / "series.parquet")), facts)


def _series(table: Any) -> list[dict[str, Any]]:
    """The time series of each run, from their long form."""
    if not table.num_rows:
        return []
    keys = list(zip(*(table.column(key).to_pylist() for key in ("experiment", "variant", "seed")), strict=True))
    names = [name for name in table.column_names if name not in ("experiment", "variant", "seed")]
    values = {name: column(table, name) for name in names}
    rows: dict[tuple[str, str, int], list[int]] = {}
    for index, key in enumerate(keys):
        rows.setdefault(key, []).append(index)
    found = []
    for (experiment, variant, seed), chosen in rows.items():
        columns = {name: array[chosen] for name, array in values.items()}
        columns = {name: array for name, array in columns.items() if not np.isnan(array).all()}
        found.append({"experiment": experiment, "variant": variant, "seed": seed, "columns": columns})
    return found
