"""Two results side by side."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elephan.base import kinds, many, stats
from elephan.base.errors import InputError
from elephan.base.kinds import Compared, SideBySide
from elephan.base.quantity import in_files
from elephan.experiment.compare.experiments import STATISTICS
from elephan.experiment.compare.panel import unit_of as panel_unit
from elephan.experiment.trials import Trials, as_text
from elephan.result import folder
from elephan.result.run import read_table
from elephan.scenario.source import read_text
from elephan.statistic import bounds, measures


@dataclass(frozen=True)
class Difference:
    """A statistic of two results, and their difference over runs with the same seed."""

    variant: str
    statistic: str
    a: stats.Interval
    b: stats.Interval
    difference: stats.Interval

    @property
    def unit(self) -> str:
        return measures.unit_of(self.statistic) if "." in self.statistic else panel_unit(self.statistic)

    def as_dict(self) -> dict[str, Any]:
        return {
            "variant": self.variant,
            "statistic": self.statistic,
            "unit": in_files(self.unit),
            "a": self.a.as_dict(),
            "b": self.b.as_dict(),
            "difference": self.difference.as_dict(),
        }


def of_runs(where: Path, flows: Mapping[str, int] | None = None) -> Compared:
    """Returns the statistics of every run in a folder."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for row in Trials.of_table(read_table(where / "runs.parquet"), lambda name: name in STATISTICS or measures.is_statistic(name)):
        variant = f"{row.experiment}: {row.variant}" if row.experiment else row.variant
        for name, value in row.values.items():
            found.setdefault(variant, {}).setdefault(name, {})[row.seed] = value
    return Compared(found, flows or {})


def _compared(path: Path) -> Compared:
    where, manifest = folder.open_result(path)
    found = kinds.find(manifest.get("kind"))
    if found is None or found.compared is None:
        raise InputError(f"{where}: a result of the kind {manifest.get('kind')} has no statistics to compare")
    with folder.damaged(where):
        return found.compared(where)


def side_by_side(a: Path, b: Path) -> SideBySide | None:
    """Returns two results compared by what only their kind has; None if they are of two kinds, or of one that has no such way."""
    of_a, of_b = (folder.open_result(path)[1].get("kind") for path in (a, b))
    kind = kinds.find(of_a) if of_a == of_b else None
    if kind is None or kind.side_by_side is None:
        return None
    with folder.damaged(a):
        one = kind.load(a)
    with folder.damaged(b):
        return kind.side_by_side(one, kind.load(b))


def _mean_of(name: str, values: Mapping[int, float], flows: int) -> stats.Interval:
    """The mean of a statistic with its interval as sweeps and panels give it, cut off where its quantity ends."""
    if name not in STATISTICS:
        return bounds.interval(name, list(values.values()), flows)
    about = STATISTICS[name]
    return stats.mean_within(list(values.values()), about.low, about.top)


def _difference_of(name: str, values: Sequence[float], less: Sequence[float], flows: int) -> stats.Interval:
    """The mean difference of a statistic, pair by pair, cut off at what is possible."""
    apart = many.differences(np.asarray(values), np.asarray(less))
    if name not in STATISTICS:
        return bounds.difference(name, stats.mean_within(apart), flows)
    about = STATISTICS[name]
    most = about.top - about.low
    return stats.mean_within(apart, -most, most)


_LISTED_MAX = 4  # differences between two scenarios that are told
_WORDS = ("title", "question", "answer")  # of a scenario, which change no run


def _name_in_list(place: int, value: Any) -> str:
    """How a path goes on to an entry of a list: `.bulk` to a table with a name, `[1]` to others."""
    name = value.get("name") if isinstance(value, dict) else None
    return f".{name}" if isinstance(name, str) and re.fullmatch(r"[\w-]+", name) else f"[{place}]"


def _differences(a: Any, b: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two resolved scenarios differ: path and both values. Tables of two kinds differ in their kind, whatever is in them."""
    if a == b:
        return
    if isinstance(a, list) and isinstance(b, list) and any(isinstance(one, dict) for one in (*a, *b)):
        a, b = ({_name_in_list(place, one): one for place, one in enumerate(side)} for side in (a, b))
    elif isinstance(a, dict) and isinstance(b, dict):
        if a.get("kind") != b.get("kind"):
            yield path, a.get("kind", a), b.get("kind", b)
            return
        a, b = ({f".{key}": value for key, value in side.items()} for side in (a, b))
    else:
        yield path, a, b
        return
    for key in dict.fromkeys((*a, *b)):
        yield from _differences(a.get(key), b.get(key), f"{path}{key}")


def scenario_changes(a: Path, b: Path) -> str:
    """One line on how the scenarios of two results differ; empty if they do not, or a result has none or several."""
    of_a, of_b = (folder.open_result(path)[1] for path in (a, b))
    if not of_a.get("scenario_sha256") or not of_b.get("scenario_sha256") or of_a["scenario_sha256"] == of_b["scenario_sha256"]:
        return ""
    found = [(path[1:], one, other) for path, one, other in _differences(_resolved(a), _resolved(b))]
    parameters = [(path, one, other) for path, one, other in found if path.partition(".")[0] not in _WORDS]
    told = [f"{path} ({_as_word(one)}, {_as_word(other)})" for path, one, other in parameters]
    more = f" and {len(told) - _LISTED_MAX} more" if len(told) > _LISTED_MAX else ""
    where = f"{', '.join(told[:_LISTED_MAX]) or 'words only'}{more}"
    if {"sweep", "study"} & {of_a.get("kind"), of_b.get("kind")}:
        where += ", in their first runs"
    names = [str(manifest.get("name") or path.name) for manifest, path in ((of_a, a), (of_b, b))]
    if names[0] == names[1]:
        return f"A and B differ in {where}"
    different = f"results of different scenarios, {names[0]} (A) and {names[1]} (B)"
    return different if more else f"{different}, which differ in {where}"  # two that have little in common


def _resolved(path: Path) -> dict[str, Any]:
    """The resolved scenario in a result folder."""
    with folder.damaged(path / "scenario.toml"):
        return tomllib.loads(read_text(path / "scenario.toml"))


def _as_word(value: Any) -> str:
    """A value of a scenario as a person would write it; a table only says that there is one."""
    if value is None:
        return "none"
    return str(value.get("kind", "given")) if isinstance(value, dict) else as_text(value)


def compare(a: Path, b: Path) -> list[Difference]:
    """Every statistic that both results have, variant by variant, paired by seed."""
    left, right = _compared(a), _compared(b)
    variants = [variant for variant in left.values if variant in right.values]
    if not variants:
        raise InputError(f"{a} and {b} have no variant in common")
    found = []
    for variant in variants:
        for name, values in left.values[variant].items():
            others = right.values[variant].get(name)
            seeds = [seed for seed in values if others and seed in others]
            if not others or not seeds:
                continue
            flows = (left.flows.get(variant, 0), right.flows.get(variant, 0))
            one, other = _mean_of(name, values, flows[0]), _mean_of(name, others, flows[1])
            pairs = [others[seed] for seed in seeds], [values[seed] for seed in seeds]
            found.append(Difference(variant, name, one, other, _difference_of(name, *pairs, bounds.most_flows(*flows))))
    if not found:
        raise InputError(f"{a} and {b} have no seed in common")
    return found
