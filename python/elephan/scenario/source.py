"""From what a user names - a file, a library scenario, a text, a Scenario object - to scenario text."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, TextIO

from elephan import _renamed
from elephan.base.errors import InputError, nearest
from elephan.base.paths import as_path
from elephan.scenario.model import plain
from elephan.scenario.pack import Pack
from elephan.scenario.reference import KEYS
from elephan.scenario.trust import NOBODY, Trust, trust
from elephan.scenario.watch import Notes as Read


@dataclass(frozen=True)
class Notes:
    """What answers a scenario: what to look for, the figure, and the statistics that a sweep reports (the first one answers)."""

    look_for: str = ""
    figure: str = ""
    statistics: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """Scenario text, where it came from (for error messages), and its language."""

    text: str
    name: str  # shown in errors, e.g. "scenarios/incast.toml"
    format: str  # toml | json
    stem: str  # names a result folder, e.g. "incast"
    agreed: Trust = NOBODY  # what code the caller lets run, and which files he lets it read

    def with_trust(self, python_from: Any = None, *words: Any, files_from: Any = None) -> Source:
        """The same text with what the caller agrees to: code of `python_from`, data of `files_from`, and what `words` names."""
        return replace(self, agreed=trust(python_from, *words, files_from=files_from))

    def packed(self, pack: Pack | None = None) -> Source:
        """The same text, whose files are read once from now on: through `pack`, or a new one, unless it has one."""
        return replace(self, agreed=self.agreed.packed(pack))

    def note_files(self, overrides: Mapping[str, Any], notes: Read) -> list[str]:
        """Notes the files that the scenario may read, as they are now, and returns them: every text in it that is the name of one,
        but for congestion controls. A pack remembers how they were at first.
        """
        first, asked = (self.agreed.pack or Pack()).known, ("files", self, json_text(overrides))
        if asked not in first:
            first[asked] = self._files(overrides)
        for path in first[asked]:
            notes.file(path)
            first.setdefault(("first", path), notes.read[f"file {path}"])
        return list(first[asked])

    def have_changed(self, files: Sequence[str], notes: Read) -> bool:
        """Whether one of these files is no longer as it was at first, which is noted."""
        first = self.agreed.pack.known if self.agreed.pack is not None else {}
        notes.end()
        notes.changed |= {path for path in files if first.get(("first", path), "") not in ("", notes.read[f"file {path}"])}
        return bool(notes.changed)

    def _files(self, overrides: Mapping[str, Any]) -> list[str]:
        folder = "" if self.name.startswith("<") else str(Path(self.name).parent)
        texts = {*_texts(self.text, self.format), *_texts_of(overrides)}
        found = {os.path.abspath(path) for text in texts for path in (os.path.join(folder, text), text) if _is_file(path)}
        return sorted(found)

    @property
    def notes(self) -> Notes:
        """What answers the scenario: its table `answer`."""
        return self.noted({})

    def noted(self, overrides: Mapping[str, Any]) -> Notes:
        """Returns what answers the scenario after overrides such as `answer.figure`."""
        table = _answer_table(self.text, self.format) if "answer" in self.text else None
        found = notes(table) if table is not None else _of_comment(self.name, self.text)
        return notes({key.removeprefix("answer."): value for key, value in overrides.items() if key.startswith("answer.")}, found)

    def place(self, word: str) -> str:
        """Returns the file, and line and column where a word of it stands, as errors of the core begin."""
        before, found, _ = self.text.partition(word)
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        return f"{self.name}:{line}:{column}" if found else self.name


@dataclass(frozen=True)
class LibraryEntry:
    """A ready scenario: its title, its question, and what answers it."""

    name: str
    path: Path
    title: str
    question: str
    notes: Notes


def _folder(name: str) -> Path:
    return Path(str(resources.files("elephan"))) / name


def _as_json(value: Any, what: str) -> str:
    shown = " ".join(repr(value)[:80].split())
    try:
        text = json.dumps(plain(value), allow_nan=False, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what}: {shown} is not text: it has half of a surrogate pair") from None
    except RecursionError:
        raise InputError(f"{what}: nested too deeply") from None
    except (TypeError, ValueError):
        raise InputError(f"{what}: {shown} is not a text, a finite number, true or false, a list or a table of these") from None
    return text


def json_text(table: Mapping[Any, Any], what: str = "") -> str:
    """A table as a JSON object, in order; the error names the entry that is none of JSON's (`what`: and whose it is)."""
    before = f"{what}: " if what else ""
    entries = (f"{_as_json(str(key), what or 'a key')}: {_as_json(value, f'{before}{key}')}" for key, value in table.items())
    return f"{{{', '.join(entries)}}}"


FILE_MAX_CHARACTERS = 100_000_000  # far beyond any scenario or manifest, and no burden on the memory


def check_regular(path: Path) -> None:
    """Raises InputError for what is there and no regular file: to read a pipe or a device may never end."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return  # who opens it says why it cannot be read
    if not stat.S_ISREG(mode):
        raise InputError(f"{path}: is {'a folder' if stat.S_ISDIR(mode) else 'no regular file'}")


def _beginning(file: TextIO, most: int) -> str:
    """Returns at most so many characters. A single `read` of them takes the memory for all, however short the file is."""
    pieces: list[str] = []
    while most > 0 and (piece := file.read(min(most, 1 << 16))):
        pieces.append(piece)
        most -= len(piece)
    return "".join(pieces)


def read_text(path: Path) -> str:
    """The text of a file, or one line about why not. Line ends are as Python's text files have them."""
    check_regular(path)
    try:
        with path.open(encoding="utf-8") as file:
            text = _beginning(file, FILE_MAX_CHARACTERS + 1)
        if len(text) > FILE_MAX_CHARACTERS:  # an endless device, say
            raise InputError(f"{path}: is larger than 100 million characters")
        return text
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file (UTF-8)") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def read_json(path: Path) -> Any:
    """What a JSON file says, or one line about why not."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise error if isinstance(error, InputError) else InputError(f"{path}: damaged: not JSON") from None


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object of a file, or one line about why not."""
    found = read_json(path)
    if not isinstance(found, dict):
        raise InputError(f"{path}: damaged: not a JSON object")
    return found


@lru_cache(maxsize=64)
def _texts(text: str, language: str) -> frozenset[str]:
    import tomllib

    try:
        return frozenset(_texts_of((json.loads if language == "json" else tomllib.loads)(text)))
    except (ValueError, RecursionError):
        return frozenset()  # the core refuses it


def _texts_of(value: Any) -> Iterator[str]:
    """The texts in a value that may name a file to read."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if str(key).rpartition(".")[2] not in KEYS:
                yield from _texts_of(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts_of(inner)
    elif isinstance(value, str) and len(value) <= _PATH_MAX_CHARACTERS:
        yield value


def _is_file(path: str) -> bool:
    return "\0" not in path and os.path.isfile(path)


_PATH_MAX_CHARACTERS = 4096
_TYPES: dict[str, Any] = {"look_for": str, "figure": str, "statistics": (list, tuple)}


def notes(table: Any, over: Notes | None = None) -> Notes:
    """Returns what a table `answer` says. What has a wrong type is left out: the core refuses it."""
    said = {key: value for key, value in table.items() if isinstance(value, _TYPES.get(key, ()))} if isinstance(table, dict) else {}
    if "statistics" in said:
        said["statistics"] = tuple(name for name in said["statistics"] if isinstance(name, str))
    return replace(over or Notes(), **said)


def _answer_table(text: str, language: str) -> Any:
    """Returns the table `answer` of a scenario; None if there is none, or if the core will refuse the text."""
    import tomllib

    try:
        return (json.loads if language == "json" else tomllib.loads)(text).get("answer")
    except (ValueError, RecursionError, AttributeError):
        return None


_HEADER = re.compile(r"^#\s*(look for|figure|statistics):\s*(.+)$", re.IGNORECASE)


@lru_cache(8)
def _of_comment(name: str, text: str) -> Notes:
    """Returns what the leading comment of an older scenario says (`# Look for:`, `# Figure:`, `# Statistics:`), with a note."""
    found: dict[str, Any] = {}
    key = ""
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if match := _HEADER.match(line):
            key = match[1].lower().replace(" ", "_")
            found[key] = match[2].strip()
        elif key and line.startswith("#   "):
            found[key] += " " + line[1:].strip()
        else:
            key = ""
    if found:
        _renamed.note(f"{name}: '# Look for:', '# Figure:' or '# Statistics:' in its comment", "the table [answer]", 5)
        found["statistics"] = [name.strip() for name in found.get("statistics", "").split(",") if name.strip()]
    return notes(found)


@cache
def library() -> dict[str, LibraryEntry]:
    """The ready scenarios by name."""
    import tomllib

    entries = {}
    for path in sorted(_folder("scenarios").glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        document = tomllib.loads(text)
        title, question = str(document.get("title", "")), str(document.get("question", ""))
        entries[path.stem] = LibraryEntry(path.stem, path, title, question, notes(document.get("answer")))
    return entries


def studies() -> dict[str, Path]:
    """The folders of the studies that there are, by name."""
    return {path.parent.name.replace("_", "-"): path.parent for path in sorted(_folder("studies").glob("*/study.toml"))}


def _from_text(text: str) -> Source:
    language = "json" if text.lstrip().startswith("{") else "toml"
    return Source(text, f"<{language} text>", language, "scenario")


def _from_path(path: Path) -> Source:
    if path.is_dir():
        raise InputError(f"{path}: is a folder, not a scenario file")
    if path.stem in library() and not os.path.lexists(path):
        raise InputError(f'{path}: No such file or directory; did you mean the library\'s "{path.stem}"?')
    language = "json" if path.suffix.lower() == ".json" else "toml"
    return Source(read_text(path), str(path), language, path.stem)


def open_source(scenario: Any) -> Source:
    """Reads a scenario given as a path, the name of a library scenario, TOML or JSON text, or an `elephan.Scenario`."""
    if isinstance(scenario, Source):
        return scenario
    if isinstance(scenario, os.PathLike):
        return _from_path(as_path(scenario, "scenario"))
    if isinstance(scenario, dict):
        return Source(json_text({k: v for k, v in scenario.items() if v is not None}, "<dict>"), "<dict>", "json", "scenario")
    if isinstance(scenario, str):
        if not scenario.strip():
            raise InputError("an empty text is no scenario; give a file, a name of the library, or TOML or JSON text")
        if "\n" in scenario or scenario.lstrip().startswith("{"):
            return _from_text(scenario)
        if scenario in _renamed.SCENARIOS and not os.path.lexists(scenario):
            _renamed.note(f"the scenario {scenario}", _renamed.SCENARIOS[scenario])
            scenario = _renamed.SCENARIOS[scenario]
        if scenario in library():
            return _from_path(library()[scenario].path)
        if as_path(scenario, "scenario").exists() or "/" in scenario or scenario.endswith((".toml", ".json")):
            return _from_path(Path(scenario))
        beside = [file for file in (f"{scenario}.toml", f"{scenario}.json") if Path(file).is_file()]
        hint = f"; did you mean {beside[0]}?" if beside else nearest(scenario, list(library()))
        if scenario in studies():
            hint = f"; it is a study: elephan study run {scenario}"
        raise InputError(f'no scenario file or library scenario "{scenario}"{hint}')
    for method in ("to_toml", "to_json"):
        if hasattr(scenario, method):
            return Source(getattr(scenario, method)(), f"<{type(scenario).__name__}>", method[3:], "scenario")
    raise InputError(f"a scenario is a path, a name, a text or a Scenario, not {type(scenario).__name__}")
