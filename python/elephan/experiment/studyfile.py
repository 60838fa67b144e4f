"""The files of a study of one's own: a folder with `study.toml`, `claims.toml` and scenarios, checked: a mistake is one line.

Such a study is data and has no modules. Whoever opens its result runs no code of it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError, brief, nearest
from elephan.experiment.declaration import Declaration
from elephan.experiment.trials import REPETITIONS_MAX
from elephan.scenario import core
from elephan.scenario.source import Source, open_source, read_text
from elephan.scenario.trust import NOBODY, Trust, check_data
from elephan.statistic import measures

STUDY, CLAIMS, NUMBERS = "study.toml", "claims.toml", "numbers.json"
RESERVED = ("experiment", "variant", "seed")  # columns of the table of runs, which no axis may be
_STUDY = {
    **dict.fromkeys(("name", "title", "question", "source"), str),
    **dict.fromkeys(("statistics", "experiments", "readings"), list),
    "axes": dict,
}
_POINT = {"label": str, "set": dict, "value": (int, float)}
_EXPERIMENT = {"name": str, "scenario": str, "axes": list, "repetitions": int, "set": dict, "keep": bool, "quick": dict}
_READING = {
    **dict.fromkeys(("name", "default", "why"), str),
    **dict.fromkeys(("experiments", "points", "variants"), list),
}
_READING_POINT = {"label": str, "set": dict, "why": str}
_QUICK = {"repetitions": int, "set": dict, "points": dict}


class _Study:
    """Reads `study.toml`."""

    def __init__(self, folder: Path, agreed: Trust, to_run: bool) -> None:
        self.folder, self.agreed, self.to_run = folder, agreed, to_run
        self.file = Declaration(folder / STUDY)
        self.wrong = self.file.wrong

    def _table(self, table: Any, types: Mapping[str, Any], where: Sequence[str | int], what: str, required: Sequence[str]) -> None:
        self.file.known(table, types, where, what)
        if lacking := [key for key in required if table.get(key) in (None, "", [], {})]:
            raise self.wrong((*where, lacking[0]), f"{what or 'the study'} has no {lacking[0]}")

    def _texts(self, values: Any, where: Sequence[str | int], what: str) -> list[str]:
        if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
            raise self.wrong(where, f"{what} is a list of texts, not {brief(values)}")
        if twice := [one for place, one in enumerate(values) if one in values[:place]]:
            raise self.wrong(where, f'{what}: "{twice[0]}" stands there twice')
        return values

    def read(self) -> dict[str, Any]:
        """Returns the whole document."""
        found = {"name": self.folder.resolve().name, "source": "", **self.file.table}
        self._table(found, _STUDY, (), "", ["title", "question", "axes", "experiments"])
        if not re.fullmatch(r"[\w.-]+", found["name"]):
            raise self.wrong(("name",), f'name "{found["name"]}" has letters, digits, "-", "_" and "." only')
        for place, name in enumerate(self._texts(found.get("statistics", []), ("statistics",), "statistics")):
            try:
                measures.parse(name)
            except InputError as error:
                raise self.wrong(("statistics", place), f"statistics: {error}") from None
        for name in found["axes"]:
            if name in RESERVED:
                raise self.wrong(("axes", name), f'axis "{name}": a column of the table of runs has this name; choose another')
        axes = {name: self._axis(name, points) for name, points in found["axes"].items()}
        names: list[str] = []
        for place, one in enumerate(found["experiments"]):
            self._experiment(("experiments", place), one, axes)
            if one["name"] in names:
                raise self.wrong(("experiments", place, "name"), f'two experiments are called "{one["name"]}"')
            names.append(one["name"])
        self._readings(found.get("readings", []), {one["name"]: one for one in found["experiments"]}, axes)
        return {**found, "axes": axes}

    def _readings(self, readings: Any, experiments: Mapping[str, Any], axes: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        names: list[str] = []
        for place, one in enumerate(readings):
            where = ("readings", place)
            self._table(one, _READING, where, "reading", ["name", "default", "experiments", "points"])
            what = f"reading {one['name']}"
            if one["name"] in names:
                raise self.wrong((*where, "name"), f'two readings are called "{one["name"]}"')
            names.append(one["name"])
            self._texts(one.get("variants", []), (*where, "variants"), f"{what}: variants")
            for number, name in enumerate(self._texts(one["experiments"], (*where, "experiments"), f"{what}: experiments")):
                if name not in experiments:
                    hint = nearest(name, list(experiments), "there are")
                    raise self.wrong((*where, "experiments", number), f'{what}: no experiment "{name}"{hint}')
            labels: list[str] = []
            for number, point in enumerate(one["points"]):
                at = (*where, "points", number)
                self._table(point, _READING_POINT, at, f"{what}: point {number + 1}", ["label", "set"])
                if point["label"] in labels:
                    raise self.wrong((*at, "label"), f'{what}: two points are "{point["label"]}"')
                labels.append(point["label"])
                if self.to_run:
                    self._reading_sets((*at, "set"), f'{what} "{point["label"]}"', one, point["set"], experiments, axes)

    def _reading_sets(
        self,
        where: tuple[str | int, ...],
        what: str,
        reading: Mapping[str, Any],
        values: Mapping[str, Any],
        experiments: Mapping[str, Any],
        axes: Mapping[str, Sequence[Mapping[str, Any]]],
    ) -> None:
        """Sets what a reading sets, after the first point of each axis of each of its experiments."""
        for one in (experiments[name] for name in reading["experiments"]):
            first = {key: value for axis in one["axes"] for key, value in axes[axis][0]["set"].items()}
            source = replace(open_source(self.folder / one["scenario"]), agreed=self.agreed)
            self._set(where, what, source, {**one.get("set", {}), **first}, values)

    def _axis(self, name: str, points: Any) -> list[dict[str, Any]]:
        what, where = f"axis {name}", ("axes", name)
        if not isinstance(points, list) or not points:
            raise self.wrong(where, f"{what} is a list of points, each with a label and what it sets, not {brief(points)}")
        labels: list[str] = []
        for place, point in enumerate(points):
            at = (*where, place)
            self._table(point, _POINT, at, f"{what}: point {place + 1}", ["label"])
            if point["label"] in labels:
                raise self.wrong((*at, "label"), f'{what}: two points are "{point["label"]}"')
            labels.append(point["label"])
        return [{"set": {}, **point} for point in points]

    def _experiment(self, where: tuple[str | int, ...], one: Any, axes: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        named = f" {one['name']}" if isinstance(one, dict) and isinstance(one.get("name"), str) else ""
        what = f"experiment{named}"
        self._table(one, _EXPERIMENT, where, what, ["name", "scenario", "axes"])
        for place, axis in enumerate(self._texts(one["axes"], (*where, "axes"), f"{what}: axes")):
            if axis not in axes:
                raise self.wrong((*where, "axes", place), f'{what}: no axis "{axis}"{nearest(axis, list(axes), "there are")}')
        if "repetitions" not in one:
            raise self.wrong(where, f"{what} has no repetitions")
        quick = one.get("quick", {})
        self.file.known(quick, _QUICK, (*where, "quick"), f"{what}: quick")
        for given, at in ((one, where), (quick, (*where, "quick"))):
            if not 1 <= given.get("repetitions", 1) <= REPETITIONS_MAX:
                number = given["repetitions"]
                raise self.wrong((*at, "repetitions"), f"{what}: repetitions is {number}, not a number from 1 to {REPETITIONS_MAX}")
        for axis, chosen in quick.get("points", {}).items():
            self._quick_points((*where, "quick", "points", axis), f"{what}: quick", axis, chosen, one["axes"], axes)
        file = self._scenario(where, what, one["scenario"])
        if self.to_run:
            source = replace(open_source(file), agreed=self.agreed)
            core.resolve(source, {}, 1)  # what is wrong in the scenario alone is told with its own line
            self._sets(where, what, one, source, [(axis, axes[axis]) for axis in one["axes"]])

    def _quick_points(
        self,
        where: Sequence[str | int],
        what: str,
        axis: str,
        chosen: Any,
        own: Sequence[str],
        axes: Mapping[str, Sequence[Mapping[str, Any]]],
    ) -> None:
        if axis not in own:
            raise self.wrong(where, f'{what}: no axis "{axis}"{nearest(axis, list(own), "there are")}')
        labels = [point["label"] for point in axes[axis]]
        for one in self._texts(chosen, where, f"{what}: points of {axis}"):
            if not any(fnmatchcase(label, one) for label in labels):
                raise self.wrong(where, f'{what}: axis {axis} has no point "{one}"{nearest(one, labels, "there are")}')
        if not chosen:
            raise self.wrong(where, f"{what}: no point of {axis} is left")

    def _scenario(self, where: tuple[str | int, ...], what: str, name: str) -> Path:
        file = self.folder / name
        if Path(name).name != name or not file.is_file():
            there = sorted(path.name for path in self.folder.glob("*.toml") if path.name not in (STUDY, CLAIMS))
            hint = nearest(file.name, there) if there else ""
            raise self.wrong((*where, "scenario"), f"{what}: no scenario {name} beside {STUDY}{hint}")
        check_data(file, self.folder, self.agreed)
        return file

    def _sets(
        self,
        where: tuple[str | int, ...],
        what: str,
        one: Mapping[str, Any],
        source: Source,
        axes: Sequence[tuple[str, Sequence[Mapping[str, Any]]]],
    ) -> None:
        """Sets what the experiment sets, then each point of each axis beside the first points of the others."""
        first = {key: value for _, points in axes for key, value in points[0]["set"].items()}
        own = one.get("set", {})
        self._set((*where, "set"), what, source, {}, own)
        for axis, points in axes:
            for place, point in enumerate(points):
                self._set(("axes", axis, place, "set"), f'{what}: {axis} "{point["label"]}"', source, own | first, point["set"])
        quick = one.get("quick", {}).get("set", {})
        self._set((*where, "quick", "set"), f"{what}: quick", source, own, quick)

    def _set(
        self, where: tuple[str | int, ...], what: str, source: Source, before: Mapping[str, Any], values: Mapping[str, Any]
    ) -> None:
        try:
            if values:
                core.resolve(source, {**before, **values}, 1)
        except InputError as error:
            raise self.wrong(*_placed(where, what, str(error), values)) from None


def _placed(where: tuple[str | int, ...], what: str, told: str, values: Mapping[str, Any]) -> tuple[tuple[str | int, ...], str]:
    """Where a key stands that an error of the core names as `-s key=value`, and the error without that."""
    for key in values:
        lead = f"-s {key}="
        if told.startswith(lead):
            return (*where, key), f"{what}: {told.removeprefix('-s ')}"
    return where, f"{what}: {told}"


def read_study(folder: Path, agreed: Trust = NOBODY, to_run: bool = True) -> dict[str, Any]:
    """Returns the document of a study's folder, whole and checked; raises InputError with one line.

    `to_run`: scenarios are read too, each with everything that is set in it, and may name what is agreed to. No file of the folder
    is a link to another place: a result keeps copies of them.
    """
    for name in (STUDY, CLAIMS):
        if os.path.lexists(folder / name):
            check_data(folder / name, folder, agreed)
    return _Study(folder, agreed, to_run).read()


def kept_verdicts(folder: Path) -> dict[str, str]:
    """Returns the verdicts of the last full run that a study's folder keeps, by claim; nothing if it keeps none."""
    file = folder / NUMBERS
    return dict(json.loads(read_text(file))["claims"]) if file.is_file() else {}


def copies(folder: Path, document: Mapping[str, Any]) -> list[Path]:
    """Returns the files that a result keeps of its study, so that it can be opened when the folder is gone."""
    scenarios = dict.fromkeys(folder / one["scenario"] for one in document["experiments"])
    return [file for file in (folder / STUDY, folder / CLAIMS, *scenarios) if file.is_file()]
