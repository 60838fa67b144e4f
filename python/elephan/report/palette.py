"""One palette (Okabe and Ito, safe for colour-blind readers) and one type scale, light and dark.

Figures name the light colours. On a page every colour is a CSS variable, so that a page in the dark scheme shows dark figures.

A congestion control has one colour on every page: seven colours with four strokes tell all of them apart. A congestion control that
is not in the table, such as one written in Python, gets a colour by its name, the same one on every page, and a dashed line. One
with parameters, such as `cubic beta 0.8`, has the colour of its name. Where two in a figure would look alike, the later one gets
the next stroke.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple

BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"
SERIES = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
INK, MUTED, GRID, PAPER = "#1b1f24", "#5f6b7a", "#e4e7eb", "#fefefe"

# colour of a figure -> CSS variable of a page
VARIABLES = {color: f"var(--s{i})" for i, color in enumerate(SERIES)} | {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID: "var(--grid)",
    PAPER: "var(--paper)",
}


class Look(NamedTuple):
    """How a line is drawn: its colour, and its stroke as matplotlib names it."""

    color: str
    stroke: str


STROKES = {"-": "", "--": "dashed", ":": "dotted", "-.": "dash-dotted"}  # with the word for each
HUES = (INK, BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY)
# In each row: solid, dashed, dotted, dash-dotted. Those that people compare most are solid.
_CONTROLS = {
    INK: ("reno", "lp", "hybla", "timely"),
    BLUE: ("cubic", "westwood", "compound", "xcp"),
    VERMILLION: ("bbr", "bbr3", "fast", "griddt"),
    GREEN: ("dctcp", "prague", "dcqcn", "pcp"),
    ORANGE: ("scalable", "yeah", "copa", "hpcc"),
    PURPLE: ("highspeed", "veno", "illinois", "explicit_rate"),
    SKY: ("vegas", "bic", "ledbat", "swift"),
    MUTED: ("none", "htcp", "nscc"),
}
CONTROLS = {name: Look(hue, stroke) for hue, names in _CONTROLS.items() for name, stroke in zip(names, STROKES, strict=False)}

WIDTH_IN = 7.6
SETTINGS: Any = {
    "font.size": 9.5,
    "font.family": ["DejaVu Sans"],
    "axes.titlesize": 9.5,
    "axes.titleweight": "normal",
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.titlepad": 8.0,
    "axes.labelsize": 9.5,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "axes.formatter.useoffset": False,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "xtick.major.width": 0.7,
    "ytick.major.size": 0.0,
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.4,
    "lines.solid_capstyle": "round",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "svg.fonttype": "none",
    "svg.hashsalt": "elephan",
    "path.simplify": True,
    "path.simplify_threshold": 0.3,
}


def color(index: int) -> str:
    """The colour of the series with this index."""
    return SERIES[index % len(SERIES)]


def look(label: str) -> Look:
    """Returns how a congestion control looks, by its name or by a label that begins with its name."""
    name = label.partition(" ")[0]
    return CONTROLS.get(name) or Look(HUES[zlib.crc32(name.encode()) % len(HUES)], "--")


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """Returns how congestion controls look in one figure: of two that would look alike the later one has the next stroke."""
    found: dict[str, Look] = {}
    for label in dict.fromkeys(labels):
        hue, stroke = look(label)
        at = [*STROKES].index(stroke)
        turns = [Look(hue, [*STROKES][(at + turn) % len(STROKES)]) for turn in range(len(STROKES))]
        found[label] = next((one for one in turns if one not in found.values()), turns[0])
    return found


def numbered(index: int) -> Look:
    """Returns how the series with this index looks: from the seventh on the colours begin anew, with the next stroke."""
    return Look(color(index), [*STROKES][index // len(SERIES) % len(STROKES)])


def stroked(name: str, one: Look, among: Iterable[Look]) -> str:
    """Returns the name of a line, with its stroke in words if another line has the same colour."""
    shared = sum(other.color == one.color for other in among) > 1
    return f"{name} ({STROKES[one.stroke]})" if shared and STROKES[one.stroke] else name
