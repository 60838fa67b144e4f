"""Whether a kept result has numbers that a mended fault made wrong.

`faults.toml` lists the mended faults that changed numbers: the version whose build mended each, on what scenarios it acted, and how
much it changed. A result says which version and which build made it; its scenario says whether a fault could act.

Versions decide what they can. A build between two releases has the version of the release before it, so that of a fault that no
release has mended yet only the same build as this one is known to be free.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.base.paths import as_path
from elephan.base.quantity import counted
from elephan.experiment.doctor import condition
from elephan.experiment.store import origins
from elephan.experiment.store.store import Store, stores
from elephan.result import build, folder
from elephan.result.run import read_table
from elephan.scenario import core
from elephan.scenario.source import Source, read_object

REGISTER = Path(__file__).with_name("faults.toml")
NEXT = "next"  # what mends a fault that no release has mended yet
# The first words of paths: of a resolved scenario, and `trace` of an analysed capture or log.
NAMES = (
    *("duration", "warmup", "stack", "ecmp", "reroute", "hosts", "switches", "links", "traffic", "change", "record"),
    *("congestion_management", "trace"),
)


@dataclass(frozen=True)
class Fault:
    """A mended fault. `when`: on what scenarios it acted; `changelog`: how its entry in the change log begins."""

    name: str
    mended: str
    what: str
    effect: str
    when: Sequence[Mapping[str, Any]]
    since: str = "0.1.0"
    changelog: str = ""
    unpublished: Sequence[str] = ()  # versions whose builds are of any time


@dataclass(frozen=True)
class Subject:
    """A scenario of a result, or of a variant of a store's trials, with what made it. `values`: None where nobody can tell."""

    label: str
    version: str
    engine: str
    values: Mapping[str, Any] | None


@dataclass(frozen=True)
class Finding:
    """What a fault did to a result: how many of its scenarios it touched, and how many it may have touched."""

    fault: Fault
    touched: int
    unsure: int
    why: str
    of: int  # scenarios that were looked at

    @property
    def line(self) -> str:
        """One line about it."""
        fault, count = self.fault, self.touched + self.unsure
        mended = "since" if fault.mended == NEXT else f"in {fault.mended}"
        of = f"{counted(self.of, 'scenario')}" if self.of > 1 else "it"
        which = of if count == self.of else f"{count} of {of}"
        word = f"{which} touched" if self.touched else f"{which} may be touched, as {self.why}"
        return f"{fault.name}, mended {mended}: {word}. {fault.what} {fault.effect}"

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        about = {key: value for key, value in vars(self.fault).items() if key not in ("when", "unpublished")}
        return {**about, "touched": self.touched, "unsure": self.unsure, "why": self.why}


def register(file: Path = REGISTER) -> list[Fault]:
    """Returns the mended faults that changed numbers; InputError, with the entry's name, for a register that is none."""
    try:
        text = tomllib.loads(file.read_text(encoding="utf-8"))
        entries, unpublished = text["fault"], tuple(text.get("unpublished", ()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{file}: {error}") from None
    found = []
    for entry in entries:
        try:
            fault = Fault(**entry, unpublished=unpublished)
            condition.check(fault.when, NAMES)
            if fault.mended != NEXT:
                _order(fault.mended)
        except (TypeError, InputError) as error:
            raise InputError(f"{file}: {entry.get('name', 'a fault')}: {error}") from None
        found.append(fault)
    return found


def examine(where: str | os.PathLike[str], faults: Sequence[Fault] | None = None) -> tuple[list[Finding], list[Subject]]:
    """Returns what mended faults did to a result, a store, or the stores below a folder, and what was looked at.

    Raises InputError for a folder that holds neither.

    >>> from elephan.experiment.doctor.doctor import examine
    >>> _ = el.run("sawtooth", set={"duration": "3 s", "warmup": "1 s"}, out="fresh")
    >>> examine("fresh")[0]
    []
    """
    path = as_path(where, "result or store")
    if (path / "manifest.json").is_file():
        subjects = list(_of_result(path))
    elif places := stores(path):
        subjects = [subject for place in places for subject in _of_store(place)]
    else:
        raise InputError(f"{path}: neither a result nor a store of trials")
    found = [_finding(fault, subjects) for fault in (register() if faults is None else faults)]
    return [one for one in found if one is not None], subjects


def _finding(fault: Fault, subjects: Sequence[Subject]) -> Finding | None:
    touched = unsure = 0
    whys: list[str] = []
    for one in subjects:
        state, why = _state(fault, one)
        if state == "free" or not _could_act(fault, one):
            continue
        if state == "touched" and one.values is not None:
            touched += 1
        else:
            unsure += 1
            whys.append(why or "its scenario is not known")
    return Finding(fault, touched, unsure, whys[0] if whys else "", len(subjects)) if touched or unsure else None


def _could_act(fault: Fault, one: Subject) -> bool:
    if one.values is None:
        return condition.could_hold(fault.when, "trace")
    return condition.holds(fault.when, one.values)


def _order(version: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in version.split("."))
    except ValueError:
        raise InputError(f'"{version}" is no version such as 0.2.0') from None


def _state(fault: Fault, one: Subject) -> tuple[str, str]:
    """Whether the build that made a result had a fault: `touched`, `free` or `unsure`, and why nobody can tell."""
    ours = core.call("version")
    if one.engine and one.engine == build.engine():
        return "free", ""  # every fault of the register is mended in this build
    try:
        version = _order(one.version)
    except InputError:
        return "unsure", "the version that made it is not known"
    if version < _order(fault.since):
        return "free", ""
    if fault.mended != NEXT and version >= _order(fault.mended):
        return "free", ""
    if one.version in fault.unpublished or (fault.mended == NEXT and version >= _order(ours)):
        return "unsure", f"another build of {one.version} made it, before or after the fault was mended"
    return "touched", ""


def _of_result(path: Path) -> Iterator[Subject]:
    """The scenarios of a result folder: those of its variants, and those of the runs in it."""
    where, manifest = folder.open_result(path)
    version, engine = str(manifest.get("elephan", "")), str(manifest.get("engine", ""))
    if manifest.get("kind") == "trace":
        summary = read_object(where / "summary.json")
        yield Subject(where.name, version, engine, {"trace": {"format": summary.get("format")}})
        return
    facts = read_object(where / "summary.json").get("facts", {}) if manifest.get("kind") == "sweep" else {}
    if facts.get("source") and facts.get("set"):
        source = Source(**facts["source"])
        for label, changed in facts["set"].items():
            yield Subject(label, version, engine, _values(source, changed))
        return
    files = [*where.glob("scenario.toml"), *where.glob("scenarios/**/*.toml"), *where.glob("runs/*/*/scenario.toml")]
    controllers = _controllers(where / "runs.parquet")
    for file in sorted(files):
        label, values = file.relative_to(where).as_posix(), core.toml_values(file.read_text(encoding="utf-8"))
        yield Subject(label, version, engine, values)
        for one in controllers:
            entries = [{**entry, "congestion_control": one} for entry in values.get("traffic", [])]
            yield Subject(label, version, engine, {**values, "traffic": entries})
    if not files:
        yield Subject(where.name, version, engine, None)


def _controllers(runs: Path) -> list[Any]:
    """The congestion controls that a table of runs names: a comparison has them in the place of those of its scenarios."""
    if not runs.is_file():
        return []
    table = read_table(runs)
    names = [name for name in table.column_names if "congestion_control" in name.split(".")]
    texts = {text for name in names for text in table.column(name).unique().to_pylist() if isinstance(text, str) and text}
    return [json.loads(text) if text.startswith("{") else text for text in sorted(texts)]


def _of_store(place: Path) -> Iterator[Subject]:
    """The scenarios of a store's trials, those of one variant together."""
    known = {(one.engine, digest): (one, changed) for one in origins.read(place) for digest, changed in one.changed.items()}
    for engine, scenario, label in dict.fromkeys(Store.at(place).made()):
        one, changed = known.get((engine, scenario), (None, {}))
        values = _values(one.source, changed) if one is not None else None
        yield Subject(label, one.elephan if one is not None else "", engine, values)


def _values(source: Source, changed: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The values of a resolved scenario; None of one that this version does not read. Code that it names is not run here."""
    for given in (changed, {}):
        try:
            found = dict(core.toml_values(core.resolved_toml(source, json.loads(json.dumps(given)), 1)))
        except InputError:
            continue
        return found if given is changed else _laid_over(found, changed)
    return None


def _laid_over(values: Mapping[str, Any], changed: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The values of a scenario with what a variant changes in its traffic; None if it changes what other values follow from."""
    found = json.loads(json.dumps(values))
    for path, value in changed.items():
        match path.split("."):
            case ["traffic", name, key]:
                for entry in found.get("traffic", []):
                    if entry.get("name") == name:
                        entry[key] = value
            case ["duration" | "warmup" | "seed" as key]:
                found[key] = value
            case _:
                return None
    return dict(found)


def lines(found: Sequence[Finding], subjects: Sequence[Subject]) -> list[str]:
    """Returns a line for each fault that touched a result or may have; one for all where nothing is known of the scenarios."""
    if found and all(one.values is None for one in subjects):
        return [f"{counted(len(found), 'mended fault')} may have touched it, as {found[0].why}"]
    return [one.line for one in found]


def said(where: Path, found: Sequence[Finding], subjects: Sequence[Subject], of: int) -> str:
    """Returns the last line of `elephan doctor`."""
    versions = sorted({one.version or "unknown" for one in subjects})
    made = f"elephan {', '.join(versions)}" if versions else "no trials"
    touched, unsure = sum(one.touched > 0 for one in found), sum(one.touched == 0 for one in found)
    if not found:
        return f"{where} ({made}): none of {counted(of, 'mended fault')} touches it"
    parts = [f"{touched} touch{'es' if touched == 1 else ''} it"] if touched else []
    parts += [f"{unsure} may"] if unsure else []
    return f"{where} ({made}): of {counted(of, 'mended fault')} {', '.join(parts)}"
