"""Finished results of any kind: read again, drawn again, compared."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elephan.base import stats
from elephan.base.drawn import write_report
from elephan.base.errors import ElephanError, InputError
from elephan.base.quantity import in_files
from elephan.capture.trace import Trace, load_trace
from elephan.experiment.compare.experiments import STATISTICS
from elephan.experiment.compare.panel import Panel
from elephan.experiment.compare.panel import unit_of as panel_unit
from elephan.experiment.compare.saved import load_panel
from elephan.experiment.path.answer import Answer, load_answer
from elephan.experiment.study import load_study
from elephan.experiment.sweep import Sweep
from elephan.experiment.trials import Trials, Variant, as_text
from elephan.result import folder
from elephan.result.run import Run, load_run, read_table
from elephan.scenario.source import read_object, read_text
from elephan.statistic import bounds, measures


def _lacking(path: Path, error: KeyError) -> InputError:
    return InputError(f"{path}: a damaged result: no {error.args[0] if error.args else 'such entry'}")


@contextmanager
def _as_damaged(path: Path) -> Iterator[None]:
    """What a result lacks, as one line."""
    try:
        yield
    except ElephanError:
        raise
    except KeyError as error:
        raise _lacking(path, error) from error
    except (TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: a damaged result: {str(error).partition(chr(10))[0]}") from error


def load_sweep(path: Path) -> Sweep:
    """A finished sweep from its folder."""
    where, manifest = folder.open_result(path)
    summary = read_object(where / "summary.json")
    with _as_damaged(where / "summary.json"):
        variants = [Variant(v["variant"], v["parameters"]) for v in summary["variants"]]
        facts = summary["facts"] | {"manifest": manifest}
    with _as_damaged(where / "runs.parquet"):
        trials = Trials.of_table(read_table(where / "runs.parquet"), measures.is_statistic, variants)
    with _as_damaged(where / "manifest.json"):
        return Sweep(manifest["name"], variants, trials, facts)


def load(path: str | os.PathLike[str]) -> Run | Sweep | Panel | Answer | Trace:
    """Returns a finished result of any kind but a study from its folder; tables of a run or trace are read when asked for.

    >>> saved = el.run("sawtooth", set={"duration": "12 s"}, out="saved")
    >>> el.load("saved").flows.num_rows
    1
    """
    where, manifest = folder.open_result(path)
    if manifest.get("kind") == "run":
        return load_run(where)
    if manifest.get("kind") == "sweep":
        return load_sweep(where)
    if manifest.get("kind") == "compare":
        with _as_damaged(where):
            return load_panel(where)
    if manifest.get("kind") == "path":
        with _as_damaged(where):
            return load_answer(where)
    if manifest.get("kind") == "trace":
        return load_trace(where)
    if manifest.get("kind") != "study":
        raise InputError(f'{where / "manifest.json"}: damaged: no kind of result "{manifest.get("kind")}"')
    raise InputError(f"{where}: holds a study; its single runs are in {where / 'runs'}")


def redraw(path: Path) -> Path:
    """Writes the report and the figures of a result again; gives the path of the report."""
    where, manifest = folder.open_result(path)
    before = set(folder.files(where))
    try:
        return _redraw(where, manifest.get("kind"))
    except KeyError as error:  # a column, or an entry of a JSON file
        raise _lacking(where, error) from error
    finally:
        new = [name for name in folder.files(where) if name not in before]
        if new and isinstance(manifest.get("files"), list):
            folder.wrote(where, new)


def _redraw(where: Path, kind: Any) -> Path:
    target, figures = where / "report.html", where / "figures"
    if kind != "study":
        result = load(where)
        return write_report(result.kind, result, target, figures)
    with _as_damaged(where):
        found = load_study(where)
    return write_report(kind, found, target, figures)


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


Found = dict[str, dict[str, dict[int, float]]]  # variant -> statistic -> seed -> value


def _values(path: Path) -> Found:
    where, manifest = folder.open_result(path)
    if manifest["kind"] == "run":
        run = load_run(where)
        return {"": {name: {run.seed: value} for name, value in measures.usual(run).items()}}
    if manifest["kind"] == "path":
        raise InputError(f"{where}: an answer about a path has no statistics to compare")
    if manifest["kind"] == "trace":
        raise InputError(f"{where}: the analysis of a capture; elephan analyze FILE --compare RUN lays a run over it")
    found: Found = {}
    for row in Trials.of_table(read_table(where / "runs.parquet"), lambda name: name in STATISTICS or measures.is_statistic(name)):
        variant = f"{row.experiment}: {row.variant}" if row.experiment else row.variant
        for name, value in row.values.items():
            found.setdefault(variant, {}).setdefault(name, {})[row.seed] = value
    return found


def _flows(path: Path) -> dict[str, int]:
    """The most flows of a run of each variant of a sweep; nothing of other results."""
    where, manifest = folder.open_result(path)
    facts = read_object(where / "summary.json")["facts"] if manifest["kind"] == "sweep" else {}
    return dict(facts.get("flows", {}))


def _mean_of(name: str, values: Mapping[int, float], flows: int) -> stats.Interval:
    """The mean of a statistic with its interval as sweeps and panels give it, cut off where its quantity ends."""
    if name not in STATISTICS:
        return bounds.interval(name, list(values.values()), flows)
    about = STATISTICS[name]
    return stats.mean_within(list(values.values()), about.low, about.top)


def _difference_of(name: str, pairs: Mapping[int, float]) -> stats.Interval:
    """The mean difference of a statistic, cut off at what is possible."""
    if name not in STATISTICS:
        return bounds.difference(name, stats.mean_within(list(pairs.values())))
    about = STATISTICS[name]
    most = about.top - about.low
    return stats.mean_within(list(pairs.values()), -most, most)


_LISTED_MAX = 4  # differences between two scenarios that are told


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
    told = [f"{path} ({_as_word(one)}, {_as_word(other)})" for path, one, other in found if path not in ("title", "question")]
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
    with _as_damaged(path / "scenario.toml"):
        return tomllib.loads(read_text(path / "scenario.toml"))


def _as_word(value: Any) -> str:
    """A value of a scenario as a person would write it; a table only says that there is one."""
    if value is None:
        return "none"
    return str(value.get("kind", "given")) if isinstance(value, dict) else as_text(value)


def compare(a: Path, b: Path) -> list[Difference]:
    """Every statistic that both results have, variant by variant, paired by seed."""
    with _as_damaged(a):
        left, left_flows = _values(a), _flows(a)
    with _as_damaged(b):
        right, right_flows = _values(b), _flows(b)
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
            one, other = _mean_of(name, values, left_flows.get(variant, 0)), _mean_of(name, others, right_flows.get(variant, 0))
            found.append(Difference(variant, name, one, other, _difference_of(name, pairs)))
    if not found:
        raise InputError(f"{a} and {b} have no seed in common")
    return found
