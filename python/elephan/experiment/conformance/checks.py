"""The checks of a conformance run, read from a file: what runs, what is measured in it, and what is expected.

`checks.toml` beside this module has those of elephan; docs/conformance.md says what each key is.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError, nearest
from elephan.base.quantity import show
from elephan.experiment.conformance.expression import Expression, read_expression
from elephan.experiment.declaration import Declaration
from elephan.scenario import core
from elephan.scenario.source import Source, open_source

REFERENCES = ("reno", "cubic", "bbr")  # what runs in the same experiments
LIKE = "like"  # in `of`: the built-in control that the one under test says it implements
FILE = Path(__file__).with_name("checks.toml")
_EXPERIMENT = ("scenario", "control", "beside", "set")
_TEXTS = ("id", "area", "title", "learn", "source", "margin")
_MARGINS = ("at_least", "at_most", "within")
_RUNS = ("experiment", "control", "beside", "set", "statistic", "unit", "of", "given", "requires")
_HARNESS = ("stories", "days")
At = Callable[[str], str]  # where a key stands, as an error begins
Place = Callable[..., str]  # the file and the line of what a path leads to
_ID = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")


@dataclass(frozen=True)
class Margin:
    """What is expected of a score: from `low` to `high`, both included."""

    low: float = -math.inf
    high: float = math.inf

    def admits(self, value: float) -> bool:
        return self.low <= value <= self.high

    def text(self, unit: str) -> str:
        """`at least 50 %`, `at most 10 ms`, `from 0.5 to 2`."""
        if self.low == -math.inf:
            return f"at most {show(self.high, unit, 4)}"
        if self.high == math.inf:
            return f"at least {show(self.low, unit, 4)}"
        return f"from {show(self.low, unit, 4)} to {show(self.high, unit, 4)}"


@dataclass(frozen=True)
class Setting:
    """What runs: a scenario, the traffic entries with the congestion control under test, and what else is set."""

    name: str  # the first check that it is for
    source: Source = field(compare=False)
    control: tuple[str, ...] = ()
    set: Mapping[str, Any] = field(default_factory=dict, hash=False)
    statistics: tuple[str, ...] = ()

    def overrides(self, value: Any) -> dict[str, Any]:
        """What is set in the scenario for a congestion control."""
        return {**self.set, **{f"traffic.{name}.congestion_control": value for name in self.control}}


@dataclass(frozen=True)
class Asked:
    """What is measured in the runs of a check; those in which `given` is not above 0 do not count."""

    setting: Setting
    expression: Expression
    given: Expression | None = None

    @property
    def statistics(self) -> tuple[str, ...]:
        """The statistics that a run must be asked for."""
        return tuple(dict.fromkeys([*self.expression.statistics, *(self.given.statistics if self.given else ())]))


@dataclass(frozen=True)
class Check:
    """One check: runs with what is `asked` of them, or `stories` and `days` of the harness.

    `of`: congestion controls whose score in the same experiment is the unit of the margin; `LIKE` until `bound` says which it is.
    `requires`: another check, without which this one does not apply.
    """

    id: str
    area: str
    title: str
    learn: str
    source: str
    reason: str  # of the margin
    margin: Margin = field(default_factory=Margin)
    unit: str = "1"
    of: tuple[str, ...] = ()
    statistic: str = ""  # as it is written
    asked: Asked | None = None
    stories: int = 0
    days: bool = False
    compares: bool = False  # with the control that the one under test says it implements, and no other
    requires: str = ""

    @property
    def expected(self) -> str:
        """The margin in words."""
        if self.margin == Margin():
            return "every rule is kept"
        if not self.of:
            return self.margin.text(self.unit)
        named = ["the control it is like" if name == LIKE else name for name in self.of]
        names = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} or {named[-1]}"
        return f"{self.margin.text('1')} times that of {names}"

    def bound(self, like: str) -> Check:
        """Returns the check with the margin in units of this built-in control, if it compares; empty for none."""
        return replace(self, of=(like,)) if self.compares and like else self


def read_checks(file: Path | None = None) -> list[Check]:
    """Returns the checks of elephan, with those of a file added, or in the place of those with the same id."""
    experiments: dict[str, Mapping[str, Any]] = {}
    entries: dict[str, tuple[Mapping[str, Any], _File, dict[str, Mapping[str, Any]]]] = {}
    for path in dict.fromkeys([FILE, *([file] if file is not None else [])]):
        one = _File(path)
        experiments = experiments | one.experiments()  # those of a file are none of the checks of elephan
        for entry in one.entries():
            entries[entry["id"]] = (entry, one, experiments)
    settings: dict[str, Setting] = {}
    found = [one.check(entry, known, settings, list(entries)) for entry, one, known in entries.values()]
    return _measured_together(found)


def _measured_together(checks: Sequence[Check]) -> list[Check]:
    """The checks, each setting with the statistics of all checks that it is for."""
    needed: dict[str, dict[str, None]] = {}
    for one in checks:
        if one.asked is not None:
            needed.setdefault(one.asked.setting.name, {}).update(dict.fromkeys(one.asked.statistics))

    def whole(asked: Asked) -> Asked:
        return replace(asked, setting=replace(asked.setting, statistics=tuple(needed[asked.setting.name])))

    return [replace(one, asked=whole(one.asked)) if one.asked is not None else one for one in checks]


class _File(Declaration):
    """A file of checks; what is wrong in it is one line with file, line and key."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._known(self.table, ("experiments", "checks"), self.at)

    def _known(self, table: Mapping[str, Any], keys: Sequence[str], at: At) -> None:
        for key in table:
            if key not in keys:
                raise InputError(f'{at(key)}: unknown key "{key}"{nearest(key, list(keys), "there are")}')

    def experiments(self) -> dict[str, Mapping[str, Any]]:
        """The experiments, each with its scenario as a source under the key `source`."""
        found: dict[str, Mapping[str, Any]] = {}
        for name, table in _table(self.table.get("experiments", {}), f"{self.at('experiments')}: experiments").items():
            place = partial(self.at, "experiments", name)
            table = _table(table, f"{place()}: experiments.{name}")
            self._known(table, _EXPERIMENT, place)
            scenario = table.get("scenario")
            if not isinstance(scenario, str):
                raise InputError(f"{place('scenario')}: scenario is a file beside this one, a name or a text")
            beside = self.path.parent / scenario
            try:
                source = open_source(beside if "\n" not in scenario and beside.is_file() else scenario)
            except InputError as error:
                raise InputError(f"{place('scenario')}: {error}") from None
            found[name] = {**table, "source": source, "place": place}
        return found

    def entries(self) -> list[Mapping[str, Any]]:
        """The checks as tables, each with an id of its own."""
        entries = self.table.get("checks", [])
        if not isinstance(entries, list) or not all(isinstance(one, Mapping) for one in entries):
            raise InputError(f"{self.at('checks')}: checks are tables [[checks]]")
        self._numbers: dict[str, int] = {}
        for number, one in enumerate(entries):
            name = one.get("id")
            if not isinstance(name, str) or not _ID.fullmatch(name):
                raise InputError(
                    f"{self.at('checks', number, 'id')}: check {number + 1}: id is a word such as fair-to-reno, not {name!r}"
                )
            if name in self._numbers:
                raise InputError(f"{self.at('checks', number, 'id')}: id: two checks are called {name}")
            self._numbers[name] = number
        return entries

    def check(
        self,
        entry: Mapping[str, Any],
        experiments: Mapping[str, Mapping[str, Any]],
        settings: dict[str, Setting],
        ids: Sequence[str],
    ) -> Check:
        """Returns one check. `ids`: of all checks."""

        place = partial(self.at, "checks", self._numbers[entry["id"]])

        def at(key: str) -> str:
            return f"{place(key)}: check {entry['id']}: {key}"

        is_harness = any(key in entry for key in _HARNESS)
        self._known(entry, (*_TEXTS, *(_HARNESS if is_harness else (*_MARGINS, *_RUNS))), place)
        for key in _TEXTS:
            if not isinstance(entry.get(key), str) or not entry[key].strip():
                raise InputError(f"{at(key)} is a text that tells a reader something")
        texts = {("reason" if key == "margin" else key): entry[key] for key in _TEXTS}
        if is_harness:
            stories, days = entry.get("stories", 0), entry.get("days", False)
            if not _is_whole(stories) or not isinstance(days, bool) or not (stories or days):
                raise InputError(f"{at('stories')} is a number of stories, days true or false")
            return Check(**texts, stories=stories, days=days)
        expression, given = (self._expression(entry, key, at) for key in ("statistic", "given"))
        if expression is None:
            raise InputError(f"{at('statistic')} is missing")
        name = str(entry.get("experiment"))
        if name not in experiments:
            raise InputError(f'{at("experiment")}: no experiment "{name}"{nearest(name, list(experiments), "there are")}')
        of = tuple(_texts([entry["of"]] if isinstance(entry.get("of"), str) else entry.get("of", []), at("of")))
        for one in of:
            if one not in (*REFERENCES, LIKE):
                raise InputError(f'{at("of")}: no score of "{one}"{nearest(one, [*REFERENCES, LIKE], "there are")}')
        if LIKE in of and len(of) > 1:
            raise InputError(f'{at("of")}: "{LIKE}" stands alone')
        requires = entry.get("requires", "")
        if requires and (requires not in ids or requires == entry["id"]):
            others = [one for one in ids if one != entry["id"]]
            raise InputError(f'{at("requires")}: no other check "{requires}"{nearest(str(requires), others, "there are")}')
        unit = entry.get("unit", expression.unit)
        if unit not in ("bps", "ns", "bytes", "%", "1"):
            raise InputError(f"{at('unit')} is bps, ns, bytes, % or 1, not {unit!r}")
        asked = Asked(self._setting(entry, experiments[name], settings, place), expression, given)
        return Check(
            **texts, margin=self._margin(entry, at), unit=unit, of=of, statistic=expression.text, asked=asked,
            compares=LIKE in of, requires=requires,
        )  # fmt: skip

    def _expression(self, entry: Mapping[str, Any], key: str, at: At) -> Expression | None:
        if key not in entry:
            return None
        if not isinstance(entry[key], str):
            raise InputError(f"{at(key)} is a text such as goodput_bps[a].sum, not {entry[key]!r}")
        try:
            return read_expression(entry[key])
        except InputError as error:
            raise InputError(f"{at(key)}: {error}") from None

    def _setting(
        self, entry: Mapping[str, Any], experiment: Mapping[str, Any], settings: dict[str, Setting], place: Place
    ) -> Setting:
        def at(key: str) -> str:  # what the check does not say is said by its experiment
            return f"{(place if key in entry else experiment['place'])(key)}: check {entry['id']}: {key}"

        both = {key: entry.get(key, experiment.get(key)) for key in ("control", "beside")}
        control = tuple(_texts(both["control"] or [], at("control")))
        if not control:
            raise InputError(f"{at('control')}: names the traffic with the congestion control under test")
        beside = _table(both["beside"] or {}, at("beside"))
        if twice := [name for name in beside if name in control]:
            raise InputError(f"{at('beside')}: {twice[0]} has the congestion control under test")
        changes = {
            **_table(experiment.get("set", {}), at("set")),
            **_table(entry.get("set", {}), at("set")),
            **{f"traffic.{name}.congestion_control": value for name, value in beside.items()},
        }
        source: Source = experiment["source"]
        key = json.dumps([source.name, source.text, control, changes], default=str)
        if key not in settings:
            settings[key] = Setting(entry["id"], source, control, changes)
            if self.path != FILE:  # a test runs those of elephan
                self._resolve(settings[key], entry, experiment, place)
        return settings[key]

    def _resolve(self, setting: Setting, entry: Mapping[str, Any], experiment: Mapping[str, Any], place: Place) -> None:
        """Raises InputError with the place of what cannot be set in the scenario."""
        try:
            core.resolve(setting.source, setting.overrides("reno"), 1)
        except InputError as error:
            told = str(error)
            where = place()
            of_traffic = {key: names for key in ("control", "beside") for names in [entry.get(key, experiment.get(key)) or ()]}
            places = {f"traffic.{name}.congestion_control": (key, name) for key, names in of_traffic.items() for name in names}
            for owner, at in ((experiment, experiment["place"]), (entry, place)):
                for key in setting.overrides("reno"):
                    if not told.startswith(f"-s {key}="):
                        continue
                    if key in owner.get("set", {}):
                        where = at("set", key)
                    elif key in places and places[key][0] in owner:
                        where = at(*places[key])
            raise InputError(f"{where}: check {entry['id']}: {told.removeprefix('-s ')}") from None

    def _margin(self, entry: Mapping[str, Any], at: At) -> Margin:
        given = [key for key in _MARGINS if key in entry]
        if len(given) != 1:
            raise InputError(f"{at(given[1] if given else 'at_least')}: a check has one of {', '.join(_MARGINS)}")
        value = entry[given[0]]
        numbers = value if isinstance(value, list) else [value]
        if len(numbers) != (2 if given[0] == "within" else 1) or not all(_is_number(one) for one in numbers):
            raise InputError(f"{at(given[0])} is {'two numbers' if given[0] == 'within' else 'a number'}, not {value!r}")
        if given[0] == "within":
            if numbers[0] > numbers[1]:
                raise InputError(f"{at('within')} is the lower number, then the higher, not {value!r}")
            return Margin(*map(float, numbers))
        return Margin(low=float(value)) if given[0] == "at_least" else Margin(high=float(value))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _table(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{what} is a table, not {value!r}")
    return value


def _texts(value: Any, what: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InputError(f"{what} is a list of texts, not {value!r}")
    return value
