"""Trials: what each run of an experiment measured, and the questions that every kind of experiment asks of them.

A trial is one finished run of a variant with a seed. A sweep, a study, a comparison and an answer about a path are views of
trials. As a table they have a row per trial: experiment, variant, parameters, seed, and a column per statistic.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from elephan.base.errors import InputError, nearest
from elephan.base.quantity import unit_parts
from elephan.scenario.reference import reference_of, short
from elephan.statistic import measures, titles

if TYPE_CHECKING:
    import pyarrow as pa

REPETITIONS_MAX = 100_000


@dataclass(frozen=True)
class Variant:
    """One setting of an experiment; each has the same seeds. `parameters`: what is set, by name."""

    label: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    experiment: str = ""


@dataclass(frozen=True)
class Trial:
    """One finished run: its variant, its seed, and its statistics by name."""

    variant: str
    seed: int
    values: Mapping[str, float]
    experiment: str = ""


class Trials(Sequence[Trial]):
    """The finished runs of an experiment, in their order. `variants`: what they set, where that is known."""

    def __init__(self, rows: Iterable[Trial], variants: Iterable[Variant] = ()) -> None:
        self._rows = list(rows)
        self.variants = list(variants)

    @classmethod
    def of_table(cls, table: pa.Table, is_statistic: Callable[[str], bool], variants: Iterable[Variant] | None = None) -> Trials:
        """The trials of a table that `table` gave; `variants` if they are known better than by their columns."""
        names = [name for name in table.column_names if is_statistic(name)]
        set_in = [name for name in table.column_names if (table.field(name).metadata or {}).get(b"role") == b"parameter"]
        rows, found = [], {}
        for row in table.to_pylist():
            values = {name: float(row[name]) for name in names if row[name] is not None}
            rows.append(Trial(row["variant"], int(row["seed"]), values, row.get("experiment", "")))
            parameters = {name: row[name] for name in set_in if row[name] not in (None, "")}
            found[rows[-1].experiment, rows[-1].variant] = Variant(rows[-1].variant, parameters, rows[-1].experiment)
        return cls(rows, found.values() if variants is None else variants)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: Any) -> Any:
        return self._rows[place]

    @cached_property
    def by_variant(self) -> dict[tuple[str, str], list[Trial]]:
        """The trials of each experiment and variant."""
        found: dict[tuple[str, str], list[Trial]] = {}
        for row in self._rows:
            found.setdefault((row.experiment, row.variant), []).append(row)
        return found

    @cached_property
    def statistics(self) -> list[str]:
        """Names of all statistics that any run has, in the order in which they were asked for."""
        return list(dict.fromkeys(name for row in self._rows for name in row.values))

    @property
    def seeds(self) -> set[int]:
        return {row.seed for row in self._rows}

    def by_seed(self, variant: str, statistic: str, experiment: str = "") -> dict[int, float]:
        """A statistic of each repetition of a variant, by seed; NaN where a run has none, nothing where every run failed."""
        rows = self.by_variant.get((experiment, variant), [])
        return {row.seed: row.values.get(statistic, math.nan) for row in rows}

    def paired(self, a: str, b: str, statistic: str, experiment: str = "") -> tuple[list[float], list[float]]:
        """A statistic of two variants over the seeds that both have."""
        left, right = (self.by_seed(variant, statistic, experiment) for variant in (a, b))
        seeds = [seed for seed in left if seed in right]
        return [left[seed] for seed in seeds], [right[seed] for seed in seeds]

    def table(self, statistics: Sequence[str]) -> pa.Table:
        """A row per trial: experiment if there are several, variant, parameters, seed, and these statistics."""
        import pyarrow as pa

        settings = {(variant.experiment, variant.label): variant.parameters for variant in self.variants}
        columns: dict[str, Any] = {"experiment": [row.experiment for row in self._rows]}
        if not any(columns["experiment"]):
            del columns["experiment"]
        columns["variant"] = [row.variant for row in self._rows]
        set_in_rows = [settings.get((row.experiment, row.variant), {}) for row in self._rows]
        typed, units = parameter_columns(self.variants, set_in_rows)
        columns |= {**typed, "seed": [row.seed for row in self._rows]}
        for name in statistics:
            columns[name] = pa.array([row.values.get(name) for row in self._rows], pa.float64())
        return described_table(columns, {**units, **{name: described(name) for name in statistics}})


def parameter_columns(
    variants: Sequence[Variant], rows: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """Returns columns of the parameters in `rows`, and the metadata of each.

    Where every value is a number, or a quantity in one unit, the column has numbers in base units, with the unit in its metadata;
    where every value is true or false, it has booleans. Other columns have text, with the names of classes and programs. Where
    that is not what was written, `NAME.text` beside it has what was.
    """
    import pyarrow as pa

    columns: dict[str, Any] = {}
    about: dict[str, dict[str, str]] = {}
    for name in dict.fromkeys(key for variant in variants for key in variant.parameters):
        given = {as_text(value): value for variant in variants if (value := variant.parameters.get(name)) is not None}
        texts = [as_text(row.get(name)) for row in rows]
        read = {text: unit_parts(value) for text, value in given.items()}
        units = {found[1] for found in read.values() if found is not None}
        kind = column_kind(None not in read.values(), units, all(isinstance(value, bool) for value in given.values()))
        about[name] = {"role": "parameter"}
        if kind == "number":
            numbers = {text: found[0] for text, found in read.items() if found is not None}
            columns[name] = pa.array([numbers.get(text) for text in texts])
        elif kind == "boolean":
            columns[name] = pa.array([given.get(text) for text in texts], pa.bool_())
        else:
            shown = labels(given)
            columns[name] = [shown.get(text, text) for text in texts]
        if (unit := next(iter(units), "") if kind == "number" else "") or (kind == "text" and columns[name] != texts):
            about[name] |= {"unit": unit} if unit else {}
            columns[f"{name}.text"], about[f"{name}.text"] = texts, {"role": "parameter"}
    return columns, about


def column_kind(all_numbers: bool, units: Collection[str], all_booleans: bool) -> str:
    """Returns what a column of a parameter holds: `number` if all values are numbers in one unit, `boolean`, or `text`."""
    if all_booleans:
        return "boolean"
    return "number" if all_numbers and len(units) == 1 else "text"


def labels(values: Mapping[str, Any]) -> dict[str, str]:
    """Returns what reports call each value of a parameter, by its text. Where two would have one label, they say more."""
    found: dict[str, str] = {}
    for say in (worded, partial(worded, whole=True), as_text):
        said = {text: say(value) for text, value in values.items() if text not in found}
        often = Counter([*said.values(), *found.values()])
        found |= {text: label for text, label in said.items() if often[label] == 1}
    return {text: found.get(text, text) for text in values}


def worded(value: Any, whole: bool = False) -> str:
    """Returns a value of a parameter in words: a class, a program or a model by its name, with its parameters.

    `whole`: a class with its module, a program with its path.

    >>> from elephan.experiment.trials import worded
    >>> worded({"python": "mine.py:Mine", "params": {"share": 0.1}})
    'Mine share 0.1'
    """
    key, name = reference_of(value) or ("kind", value.get("kind") if isinstance(value, Mapping) else None)
    if not isinstance(name, str):
        return as_text(value)
    params = value.get("params", {})
    rest = {part: one for part, one in value.items() if part not in (key, "params", "deadline")} | dict(params)
    called = name if whole or key == "kind" else short(key, name)
    return " ".join([called, *(f"{part} {as_text(one)}" for part, one in rest.items())])


# As the tables of runs write them; a share, a count or an index has none.
_UNITS = {"bps": "bit/s", "bytes": "B", "ns": "ns"}


def described(statistic: str, words: str = "", with_unit: bool = True) -> dict[str, str]:
    """Unit and description of a column, as the fields of a run's tables have them; nothing of what is no statistic of runs."""
    if not measures.is_statistic(statistic):
        return {}
    unit = _UNITS.get(measures.unit_of(statistic)) if with_unit else None
    about = {"description": f"{titles.title(statistic)}{words and ': '}{words}"}
    return {"unit": unit, **about} if unit else about


def described_table(columns: Mapping[str, Any], about: Mapping[str, Mapping[str, str]]) -> pa.Table:
    """A table; `about` has the metadata of some columns."""
    import pyarrow as pa

    table = pa.table(columns)
    return table.cast(pa.schema([field.with_metadata(about.get(field.name)) for field in table.schema]))


def as_text(value: Any) -> str:
    """A parameter as a person would write it."""
    import json

    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def check_repetitions(given: Any, most: int = REPETITIONS_MAX) -> None:
    """Raises InputError for what is no number of repetitions; None, which leaves it to others, is one."""
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= most):
        raise InputError(f"repetitions must be a whole number from 1 to {most}, not {given!r}")


def known(name: str, among: Iterable[str], what: str) -> str:
    """Returns `name`, or raises InputError with the nearest of those that there are. `what` it is: `variant`."""
    names = list(among)
    if name not in names:
        raise InputError(f'no {what} "{name}"{nearest(name, names)}')
    return name
