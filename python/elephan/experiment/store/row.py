"""A kept trial as a row: its identity, what it is of, what was measured, or why it failed."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.base.quantity import unit_parts
from elephan.experiment.store.identity import Identity
from elephan.experiment.trials import Trial, Variant, as_text

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

STATISTIC = "stat."  # how the column of a statistic begins


@dataclass(frozen=True)
class Measured:
    """What was measured in a run: statistics by name, series, and what else JSON can hold."""

    values: Mapping[str, float]
    series: Mapping[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Kept:
    """A row of the store."""

    identity: Identity
    experiment: str
    variant: Variant
    measured: Measured | None = None
    error: str = ""
    command: str = ""  # repeats a run that failed
    guests: Sequence[Mapping[str, Any]] = ()
    flows: int = 0
    inputs: Mapping[str, str] = field(default_factory=dict)  # what the run has read that was not known before: digests by name

    @property
    def place(self) -> tuple[str, str, str]:
        """What no other row of a store has."""
        return self.identity.key, self.experiment, self.variant.label

    @property
    def trial(self) -> Trial:
        values = self.measured.values if self.measured is not None else {}
        return Trial(self.variant.label, self.identity.seed, values, self.experiment)

    @property
    def _sources(self) -> str | None:
        if self.inputs:
            return json.dumps({"guests": list(self.guests), "inputs": dict(self.inputs)}, sort_keys=True)
        return json.dumps(list(self.guests)) if self.guests else None

    @cached_property
    def record(self) -> dict[str, Any]:
        """The row as `table` and a tail write it; statistics begin with `stat.`."""
        one = self.identity
        measured = self.measured or Measured({})
        record: dict[str, Any] = {
            "key": one.key, "experiment": self.experiment, "variant": self.variant.label, "seed": one.seed,
            "parameters": [(name, parameter(value)) for name, value in self.variant.parameters.items()],
            "scenario": one.scenario, "guests": one.guests, "engine": one.engine, "measure": one.measure,
            "names": json.dumps(list(measured.values)),
            "error": self.error or None, "command": self.command or None, "flows": self.flows,
            "sources": self._sources,
            "about": json.dumps(dict(measured.about)) if measured.about else None,
            "series": _packed(measured.series) if measured.series else None,
        }  # fmt: skip
        return record | {STATISTIC + name: float(value) for name, value in measured.values.items()}


def _of_sources(text: str | None) -> tuple[Sequence[Mapping[str, Any]], Mapping[str, str]]:
    """Guests and inputs, as `Kept` writes them."""
    found = json.loads(text or "[]")
    return (found["guests"], found["inputs"]) if isinstance(found, dict) else (found, {})


def input_names(sources: Iterable[str | None]) -> set[tuple[str, ...]]:
    """The names of inputs that trials have, each set once. `sources`: values of the column."""
    return {tuple(sorted(_of_sources(text)[1])) for text in sources if text and '"inputs"' in text}


def parameter(value: Any) -> dict[str, Any]:
    """A parameter as text and, if it is a quantity, as a number in base units with its unit."""
    if isinstance(value, str):
        return _quantity(value)
    return _told(value)


@lru_cache(4096)
def _quantity(text: str) -> dict[str, Any]:
    return _told(text)


def _told(value: Any) -> dict[str, Any]:
    number, unit = unit_parts(value) or (math.nan, "")
    return {"text": as_text(value), "number": None if math.isnan(number) else float(number), "unit": unit}


def from_record(record: Mapping[str, Any]) -> Kept:
    """The row of a record as `Kept.record` gives it."""
    sources, inputs = _of_sources(record["sources"])
    identity = Identity(*(record[name] for name in ("scenario", "seed", "guests", "engine", "measure"))).having_read(inputs)
    parameters = {name: _written(one) for name, one in record["parameters"] or ()}
    values = {name: record[STATISTIC + name] for name in json.loads(record["names"])}
    measured = None
    if record["error"] is None:
        series = _unpacked(record["series"]) if record["series"] is not None else {}
        measured = Measured(values, series, json.loads(record["about"] or "{}"))
    variant = Variant(record["variant"], parameters)
    return Kept(
        identity, record["experiment"], variant, measured, record["error"] or "", record["command"] or "", sources, record["flows"],
        inputs,
    )  # fmt: skip


def _written(one: Mapping[str, Any]) -> Any:
    """A parameter as it was given: a plain number, true or false, a table or list, or a text."""
    if one["text"][:1] in ("{", "[") or one["text"] in ("true", "false"):
        with contextlib.suppress(ValueError):
            return json.loads(one["text"])
    if one["number"] is None or one["unit"] or not _plain(one["text"]):
        return one["text"]
    return json.loads(one["text"])


def _plain(text: str) -> bool:
    try:
        return isinstance(json.loads(text), (int, float))
    except ValueError:
        return False


def _packed(series: Mapping[str, npt.NDArray[np.float64]]) -> bytes:
    """Arrays as an Arrow stream of one row, each of them a list."""
    import pyarrow as pa

    one = pa.table({name: [values] for name, values in series.items()})
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, one.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(one)
    return bytes(out.getvalue())


def _unpacked(data: bytes) -> dict[str, npt.NDArray[np.float64]]:
    import pyarrow as pa

    with pa.ipc.open_stream(data) as reader:
        one = reader.read_all()
    return {name: one.column(name).chunk(0).flatten().to_numpy(zero_copy_only=False) for name in one.column_names}


def schema(statistics: Sequence[str]) -> pa.Schema:
    """The schema of a part with these statistics (column names)."""
    import pyarrow as pa

    of_parameters = pa.map_(pa.string(), pa.struct([("text", pa.string()), ("number", pa.float64()), ("unit", pa.string())]))
    texts = ("key", "experiment", "variant")
    digests = ("scenario", "guests", "engine", "measure", "names", "error", "command")
    return pa.schema(
        [
            *((name, pa.string()) for name in texts),
            ("seed", pa.int64()),
            ("parameters", of_parameters),
            *((name, pa.string()) for name in digests),
            ("flows", pa.int64()),
            *((name, pa.string()) for name in ("sources", "about")),
            ("series", pa.binary()),
            *((name, pa.float64()) for name in statistics),
        ]
    )


def table(rows: Sequence[Kept]) -> pa.Table:
    """The rows as a table."""
    import pyarrow as pa

    records = [row.record for row in rows]
    statistics = sorted({name for record in records for name in record if name.startswith(STATISTIC)})
    return pa.Table.from_pylist(records, schema=schema(statistics))
