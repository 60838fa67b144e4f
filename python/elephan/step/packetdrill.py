"""Scripts of packetdrill over the endpoint of TCP, in virtual time.

    for report in el.packetdrill.run(["tests/packetdrill"]):
        print(report.path, report.verdict)

A script's verdict is "pass", "differs" (with `line`, `expected` and `got`), "cannot-run" (with `missing`, what elephan does not
have) or "invalid" (with `message`: the text is no script). What of the language is supported: docs/packetdrill.md.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.scenario import core

VERDICTS = ("pass", "differs", "cannot-run", "invalid")
SIZE_MAX = 1 << 20
"""Largest script, bytes."""


@dataclass(frozen=True)
class Report:
    """The report on one script: its verdict, the seconds that it took, and where and how it differs.

    >>> report = el.packetdrill.run_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3")
    >>> report.verdict
    'pass'
    >>> report.as_dict()["path"]
    'script'
    """

    path: Path
    verdict: str
    seconds: float
    line: int | None = None
    event: str | None = None
    expected: str | None = None
    got: str | None = None
    missing: list[str] = field(default_factory=list)
    message: str | None = None
    printed: str = ""
    trace: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Returns what is known as a dict, without what is not."""
        known = {name: value for name, value in vars(self).items() if value not in (None, [], "")}
        return {**known, "path": str(self.path)}


def scripts(paths: Iterable[str | Path]) -> list[Path]:
    """Returns the files given, and of folders all `.pkt` files below, in order.

    >>> [path.name for path in el.packetdrill.scripts(["one.pkt"])]
    ['one.pkt']
    """
    if isinstance(paths, (str, os.PathLike)) or not isinstance(paths, Iterable):
        raise InputError(f"{paths!r} is no list of files and folders")
    found: list[Path] = []
    for one in paths:
        if not isinstance(one, (str, os.PathLike)) or not str(one):
            raise InputError(f"{one!r} is no file or folder")
        given = Path(one)
        if given.is_dir():
            below = sorted(path for path in given.rglob("*.pkt") if path.is_file())
            if not below:
                raise InputError(f"{given}: no .pkt file in this folder")
            found += below
        else:
            found.append(given)
    if not found:
        raise InputError("no script is given")
    return found


def run_text(text: str, *, path: str | Path = "script", stack: str = "linux", trace: bool = False) -> Report:
    """Runs the text of a script; commands name files beside `path`.

    >>> el.packetdrill.run_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3").verdict
    'pass'
    """
    report = json.loads(core.call("packetdrill", text, str(Path(path).parent), stack, trace))
    return Report(path=Path(path), **report)


def run_file(path: str | Path, *, stack: str = "linux", trace: bool = False) -> Report:
    """Runs the script of a file; returns its report. Raises InputError for a file that cannot be read.

    >>> from pathlib import Path
    >>> written = Path("one.pkt").write_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3")
    >>> el.packetdrill.run_file("one.pkt").verdict
    'pass'
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no file")
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_MAX + 1)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    if len(data) > SIZE_MAX:
        raise InputError(f"{path}: longer than {SIZE_MAX} bytes")
    return run_text(data.decode("utf-8", errors="replace"), path=path, stack=stack, trace=trace)


def run(paths: Sequence[str | Path], *, stack: str = "linux", trace: bool = False) -> Iterator[Report]:
    """Yields the report of each script of the files and folders given.

    >>> from pathlib import Path
    >>> written = Path("one.pkt").write_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3")
    >>> [report.verdict for report in el.packetdrill.run(["one.pkt"])]
    ['pass']
    """
    for path in scripts(paths):
        yield run_file(path, stack=stack, trace=trace)


def tally(reports: Iterable[Report]) -> dict[str, dict[str, int]]:
    """Returns how often each verdict came, by folder; the folders in order.

    >>> report = el.packetdrill.run_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3")
    >>> el.packetdrill.tally([report])
    {'.': {'pass': 1, 'differs': 0, 'cannot-run': 0, 'invalid': 0}}
    """
    rows: dict[str, dict[str, int]] = {}
    for report in reports:
        row = rows.setdefault(str(report.path.parent), dict.fromkeys(VERDICTS, 0))
        row[report.verdict] += 1
    return dict(sorted(rows.items()))
