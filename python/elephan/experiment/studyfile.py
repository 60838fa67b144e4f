"""The files of a study of one's own: a folder with `study.toml`, `claims.toml` and scenarios, checked: a mistake is one line.

Such a study is data and has no modules. Whoever opens its result runs no code of it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError, nearest
from elephan.scenario.source import read_text
from elephan.statistic import measures

STUDY, CLAIMS = "study.toml", "claims.toml"
_STUDY = {"name": str, "title": str, "question": str, "source": str, "statistics": list, "axes": dict, "experiments": list}
_POINT = {"label": str, "set": dict, "value": (int, float)}
_EXPERIMENT = {"name": str, "scenario": str, "axes": list, "repetitions": int, "set": dict, "keep": bool, "quick": dict}
_QUICK = {"repetitions": int, "set": dict, "points": dict}
_WORDS = {str: "a text", list: "a list", dict: "a table", int: "a whole number", bool: "true or false", (int, float): "a number"}


def _table(where: str, table: Any, types: Mapping[str, Any], required: Sequence[str] = ()) -> None:
    """Raises InputError unless a table has these keys, each with a value of its type, and no others."""
    if not isinstance(table, dict):
        raise InputError(f"{where}: is a table, not {table!r}")
    for key, value in table.items():
        if key not in types:
            raise InputError(f'{where}: no key "{key}"{nearest(key, list(types))}')
        if not isinstance(value, types[key]) or (isinstance(value, bool) and types[key] is not bool):
            raise InputError(f"{where}: {key} is {_WORDS[types[key]]}, not {value!r}")
    if lacking := [key for key in required if table.get(key) in (None, "", [], {})]:
        raise InputError(f"{where}: has no {lacking[0]}")


def parsed(file: Path) -> dict[str, Any]:
    """Returns the tables of a TOML file; raises InputError with the line of a mistake."""
    try:
        return tomllib.loads(read_text(file))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file}: {error}") from None


def _check_axis(where: str, points: Any) -> None:
    if not isinstance(points, list) or not points:
        raise InputError(f"{where}: is a list of points, each with a label and what it sets")
    for point in points:
        _table(where, point, _POINT, ["label"])
    labels = [point["label"] for point in points]
    if twice := [label for place, label in enumerate(labels) if label in labels[:place]]:
        raise InputError(f'{where}: two points are "{twice[0]}"')


def _other_scenario(folder: Path, file: Path) -> str:
    """A hint for a scenario that is not there: one that the folder has; nothing where it has none."""
    there = [name for name in _scenarios(folder) if (folder / name).is_file()]
    return nearest(file.name, there) if there else ""


def _check_experiment(folder: Path, where: str, one: Any, axes: Mapping[str, Any]) -> None:
    _table(where, one, _EXPERIMENT, ["name", "scenario", "axes", "repetitions"])
    where = f"{where} {one['name']}"
    for axis in one["axes"]:
        if axis not in axes:
            raise InputError(f'{where}: no axis "{axis}"{nearest(str(axis), list(axes))}')
    if one["repetitions"] < 1:
        raise InputError(f"{where}: repetitions is {one['repetitions']}, at least 1")
    file = folder / one["scenario"]
    if Path(one["scenario"]).name != one["scenario"] or not file.is_file():
        raise InputError(f"{where}: no scenario {one['scenario']} beside {STUDY}{_other_scenario(folder, file)}")
    quick = one.get("quick", {})
    _table(f"{where}: quick", quick, _QUICK)
    for axis, labels in quick.get("points", {}).items():
        if axis not in one["axes"]:
            raise InputError(f'{where}: quick: no axis "{axis}"{nearest(axis, one["axes"])}')
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise InputError(f"{where}: quick: the points of {axis} are a list of labels")


def _scenarios(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.glob("*.toml") if file.name not in (STUDY, CLAIMS))


def read_study(folder: Path) -> dict[str, Any]:
    """Returns the document of a study's folder, whole and checked; raises InputError with one line."""
    file = folder / STUDY
    document = parsed(file)
    document = {"name": folder.resolve().name, "source": "", **document}
    where = str(file)
    _table(where, document, _STUDY, ["title", "question", "axes", "experiments"])
    if not re.fullmatch(r"[\w.-]+", document["name"]):
        raise InputError(f'{where}: name "{document["name"]}" has letters, digits, "-", "_" and "." only')
    for name, points in document["axes"].items():
        _check_axis(f"{where}: axis {name}", points)
        document["axes"][name] = [{"set": {}, **point} for point in points]
    for one in document["experiments"]:
        _check_experiment(folder, f"{where}: experiment", one, document["axes"])
    names = [one["name"] for one in document["experiments"]]
    if len(set(names)) < len(names):
        raise InputError(f"{where}: two experiments have the same name")
    for name in document.get("statistics", ()):
        measures.parse(name)
    return document


def check_claims(where: Path, claims: Sequence[Any], variants: Mapping[str, Sequence[str]]) -> None:
    """Raises InputError for a claim about an experiment or a variant that the study does not have."""
    for claim in claims:
        for part in claim.parts:
            at = f"{where}: claim {claim.id}"
            if part.experiment not in variants:
                raise InputError(f'{at}: no experiment "{part.experiment}"{nearest(part.experiment, list(variants))}')
            for name in filter(None, (part.variant, part.against)):
                if name not in variants[part.experiment]:
                    raise InputError(
                        f'{at}: {part.experiment} has no variant "{name}"{nearest(name, list(variants[part.experiment]))}'
                    )


def copies(folder: Path, document: Mapping[str, Any]) -> list[Path]:
    """Returns the files that a result keeps of its study, so that it can be opened when the folder is gone."""
    scenarios = dict.fromkeys(folder / one["scenario"] for one in document["experiments"])
    return [file for file in (folder / STUDY, folder / CLAIMS, *scenarios) if file.is_file()]
