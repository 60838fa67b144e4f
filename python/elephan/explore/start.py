"""What a page begins with: a scenario, a finished result, a store of trials, a capture, or the gallery."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import elephan
from elephan.base.errors import InputError
from elephan.scenario.source import library, open_source
from elephan.scenario.trust import NOBODY, Trust

_CAPTURES = (
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x0a\x0d\x0d\x0a",
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
)


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
    """Whether a folder is a store of trials."""
    return (path / "store.json").is_file() and not (path / "manifest.json").is_file()


def is_capture(path: Path) -> bool:
    """Whether a file begins as captures do, compressed or not."""
    try:
        with path.open("rb") as file:
            return file.read(4).startswith(_CAPTURES)
    except OSError:
        return False


def start(what: str | None, trust: bool) -> Start:
    """Reads what a command line named; raises InputError for what is none of these."""
    if what is None:
        return Start(trust=trust)
    path = Path(what)
    if what not in library() and path.is_dir():
        if not (path / "manifest.json").is_file() and not is_store(path):
            raise InputError(f"{path}: no result and no store of elephan: it has neither manifest.json nor store.json")
        return Start(load=str(path), trust=trust)
    if what not in library() and path.is_file() and is_capture(path):
        return Start(load=str(path), trust=trust)
    source = open_source(what)
    if source.format != "toml":
        raise InputError(f"{what}: the page shows scenarios in TOML")
    place = source.name if path.is_file() else "scenario"
    return Start({"name": source.stem, "text": source.text}, place=place, agreed=source.agreed, trust=trust)
