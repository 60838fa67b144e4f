"""What a trace of a link says: its rate over time, and numbers about it."""

from __future__ import annotations

import json
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


def _last_s(text: str) -> float:
    """When a trace ends: its last time, in s."""
    from elephan.base.quantity import seconds

    rows = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if rows and rows[-1].isdigit():
        return int(rows[-1]) / 1000
    heads = [head.strip().lower() for head in rows[0].split(",")] if rows else []
    place = next((number for number, head in enumerate(heads) if head.split("_")[0] == "time"), None)
    if place is None or len(rows) < 2:
        return 1.0  # the core says what is wrong
    cell, unit = rows[-1].split(",")[place].strip(), heads[place].partition("_")[2] or "s"
    try:
        return float(cell) * {"s": 1.0, "ms": 1e-3, "us": 1e-6}[unit]
    except (ValueError, KeyError):
        return seconds(cell)


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
