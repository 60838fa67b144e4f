"""What a page begins with: a scenario, a finished result, a store of trials, a capture, a log, or the gallery."""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

import elephan
from elephan.base.errors import InputError
from elephan.capture import logs
from elephan.result.folder import open_result
from elephan.scenario import core
from elephan.scenario.source import Source, library, open_source, read_text
from elephan.scenario.trust import NOBODY, Trust

_TAKES = "explore takes a scenario, the folder of a result or a store, a capture, or a log of iperf3, ss, Flent or QUIC (qlog)"
_MARKS = {b"\x89PNG": "a picture", b"\xff\xd8\xff": "a picture", b"GIF8": "a picture", b"%PDF": "a PDF", b"PAR1": "a Parquet table"}
_WORDS = {
    ".py": "a Python program",
    ".html": "a page in HTML",
    ".svg": "a picture",
    ".md": "a text",
    ".ipynb": "a notebook",
    ".csv": "a table",
}
_CONTROL = re.compile(r"^class\s+(\w+)\s*\([^)]*\bCongestionControl\b", re.MULTILINE)
_OWN = {"template", "hosts", "switches", "links", "traffic", "duration"}  # a scenario has at least one of these keys
_SHOWN = ("run", "trace", "sweep", "compare", "study")  # the kinds of results that the page shows
_NEAR = 3  # folders above a file that may be the result which the file is a part of
_NAMED = 3  # results of a folder that an error names


@dataclass(frozen=True)
class Start:
    """What the command line named, and what it agreed to."""

    scenario: dict[str, str] | None = None  # name and text
    load: str = ""  # path of a result, a store or a capture
    place: str = "scenario"  # the file beside which files are looked for, with trust
    agreed: Trust = NOBODY
    trust: bool = False
    lesson: str = ""
    growing: Any = None  # the experiment that this process runs, a `Growing`

    def hello(self) -> dict[str, Any]:
        """What a page is told first."""
        begin: dict[str, Any] = {"scenario": self.scenario} if self.scenario else {"load": self.load} if self.load else {}
        if self.lesson:
            begin["lesson"] = self.lesson
        return {"version": elephan.__version__, "engine": "native", "trust": self.trust, "start": begin}


def is_store(path: Path) -> bool:
    """Returns whether a folder is a store of trials."""
    return (path / "store.json").is_file() and not (path / "manifest.json").is_file()


def start(what: str | None, trust: bool) -> Start:
    """Returns what the page begins with for the argument of the command line.

    Raises InputError for what the page cannot show, with what it is and what helps.
    """
    if what is None:
        return Start(trust=trust)
    path = Path(what)
    if what in library() or not what.strip() or not os.path.exists(what):
        return _begin(open_source(what), "scenario", trust)
    if path.is_dir():
        _check_folder(path)
        return Start(load=str(path), trust=trust)
    if path.stat().st_size == 0 and path.is_file():
        raise _none(path, "an empty file")
    if logs.is_log(path):
        source = _scenario(path)
        if source is not None:
            return _begin(source, str(path), trust)
        _check_log(path)
    elif not logs.is_capture(path):
        head = logs.head(path)
        raise _none(path, next((words for mark, words in _MARKS.items() if head.startswith(mark)), "not text"))
    return Start(load=str(path), trust=trust)


def _begin(source: Source, place: str, trust: bool) -> Start:
    return Start({"name": source.stem, "text": source.text}, place=place, agreed=source.agreed, trust=trust)


def _scenario(path: Path) -> Source | None:
    """Returns the scenario of a file, in TOML; None for another text. A damaged TOML file is one: the page shows the line."""
    try:
        source = open_source(path)
        is_json = source.text.lstrip().startswith("{")
        values = json.loads(source.text) if is_json else tomllib.loads(source.text)
    except (InputError, ValueError, RecursionError):
        return source if path.suffix.lower() == ".toml" else None
    if not isinstance(values, dict) or not _OWN & values.keys():
        return None
    return replace(source, text=core.resolved_toml(replace(source, format="json"), {})) if is_json else source


def _check_folder(path: Path) -> None:
    """Raises InputError for a folder that the page cannot open."""
    if (path / "manifest.json").is_file():
        _, manifest = open_result(path)
        if manifest.get("kind") not in _SHOWN:
            kind = manifest.get("kind")
            raise InputError(f"{path}: the page shows no result of the kind {kind}: elephan report {quote(str(path))} draws it")
        return
    if is_store(path):
        return
    below = sorted(str(file.parent) for name in ("manifest.json", "store.json") for file in path.glob(f"*/{name}"))
    below += sorted(str(file) for ending in ("toml", "pcap", "pcapng") for file in path.glob(f"*.{ending}"))
    if below:
        more = f" and {len(below) - _NAMED} more" if len(below) > _NAMED else ""
        raise InputError(
            f"{path}: a folder without manifest.json and store.json; name one in it: {', '.join(below[:_NAMED])}{more}"
        )
    raise _none(path, "a folder without manifest.json and store.json")


def _check_log(path: Path) -> None:
    """Raises InputError for a text that is no log which the page can open."""
    try:
        logs.read([path], None)
    except InputError as error:
        said = str(error)
        if path.suffix.lower() in (".json", ".log", ".txt") and "not a result" not in said and "neither a capture" not in said:
            raise
        raise _none(path, _WORDS.get(path.suffix.lower(), "none of what the page shows")) from None


def _none(path: Path, words: str) -> InputError:
    """Returns one line: what a path is, what explore takes, and what helps with the path."""
    return InputError(f"{path}: {words}; {_TAKES}{_help(path)}")


def _help(path: Path) -> str:
    """Returns what helps with a path that the page cannot show, if anything does."""
    name = quote(str(path))
    whole = next((folder for folder in path.parents[:_NEAR] if (folder / "manifest.json").is_file() or is_store(folder)), None)
    if whole is not None:
        return f"; this is a part of a result: elephan explore {quote(str(whole))}"
    if path.suffix.lower() == ".py":
        control = _CONTROL.search(read_text(path))
        if control is None:
            return f"; python {name} runs it"
        checked = f"elephan conformance {name}:{control[1]} checks it"
        return f"; {control[1]} is a congestion control: {checked}, and a scenario names it by congestion_control"
    if path.name == "study.toml":
        return f"; elephan study run {quote(str(path.parent))} runs the study"
    return ""
