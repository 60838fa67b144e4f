"""What a trace of a link says: its rate over time, and numbers about it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elephan.base.errors import InputError
from elephan.scenario import core
from elephan.table.rows import Array

WINDOWS = 300
_SCENARIO = """duration = "{seconds} s"
hosts = {{ a = {{}}, b = {{}} }}
links = [{{ between = ["a", "b"], delay = "0 s", framing = "none", rate = {{ trace = {{ text = {text} }} }} }}]
traffic = [{{ name = "t", from = "a", to = "b", kind = "bulk" }}]
"""
_LATEST_S = 86_400.0


@dataclass(frozen=True)
class LinkTrace:
    """The rate of a trace over one pass: bit/s in windows between `edges_s`."""

    edges_s: Array
    rates_bps: Array

    @property
    def duration_s(self) -> float:
        return float(self.edges_s[-1])

    @property
    def mean_bps(self) -> float:
        return float(np.average(self.rates_bps, weights=np.diff(self.edges_s)))

    def quantile(self, level: float) -> float:
        """Returns a quantile of the rates of the windows."""
        return float(np.quantile(self.rates_bps, level))

    @property
    def outages_s(self) -> list[float]:
        """How long nothing can be sent, for each time in which a window or more has nothing."""
        nothing = np.concatenate(([0], (self.rates_bps == 0).astype(int), [0]))
        begins, ends = np.flatnonzero(np.diff(nothing) == 1), np.flatnonzero(np.diff(nothing) == -1)
        return [float(self.edges_s[end] - self.edges_s[begin]) for begin, end in zip(begins, ends, strict=True)]

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON."""
        return {
            "duration_s": self.duration_s,
            "mean_bps": self.mean_bps,
            "p5_bps": self.quantile(0.05),
            "p95_bps": self.quantile(0.95),
            "outages": len(self.outages_s),
            "longest_outage_s": max(self.outages_s, default=0.0),
        }


def _ends(text: str) -> tuple[str, str]:
    """The first and the last line with content; a trace of millions of lines is not split for them."""

    def content(lines: Iterable[str]) -> str:
        return next((line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")), "")

    def forwards() -> Iterator[str]:
        begin = 0
        while begin < len(text):
            end = text.find("\n", begin)
            end = len(text) if end < 0 else end
            yield text[begin:end]
            begin = end + 1

    def backwards() -> Iterator[str]:
        end = len(text)
        while end > 0:
            begin = text.rfind("\n", 0, end)
            yield text[begin + 1 : end]
            end = begin

    return content(forwards()), content(backwards())


def _last_s(text: str) -> float:
    """When a trace ends: its last time, in s."""
    from elephan.base.quantity import seconds

    first, last = _ends(text)
    if last.isdigit():
        return int(last) / 1000
    heads = [head.strip().lower() for head in first.split(",")]
    place = next((number for number, head in enumerate(heads) if head.split("_")[0] == "time"), None)
    cells = last.split(",")
    if place is None or first == last or len(cells) <= place:
        return 1.0  # the core says what is wrong
    cell, unit = cells[place].strip(), heads[place].partition("_")[2] or "s"
    try:
        return float(cell) * {"s": 1.0, "ms": 1e-3, "us": 1e-6}[unit]
    except (ValueError, KeyError):
        pass
    try:
        return seconds(cell)
    except InputError:
        return 1.0


def read_link_trace(file: Path) -> LinkTrace:
    """Returns what a trace of rates says; raises InputError with the file and the line of what is wrong."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or 'no text (UTF-8)'}") from None
    try:
        last = min(_last_s(text), _LATEST_S)
        edges = np.linspace(0.0, max(last, 1e-3), WINDOWS + 1)
        scenario = _SCENARIO.format(seconds=f"{max(last, 1e-3):.6f}", text=json.dumps(text))
        found = core.capacities(scenario, [round(1e9 * float(edge)) for edge in edges])["a->b"]
    except InputError as error:
        said = str(error).partition("trace: ")[2] or str(error)
        place, _, words = said.partition(": ")
        raise InputError(
            f"{file}:{place.removeprefix('line ')}: {words}" if place.startswith("line ") else f"{file}: {said}"
        ) from None
    return LinkTrace(edges, np.diff(np.array(found[0])) / np.diff(edges))
