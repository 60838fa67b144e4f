"""One palette (Okabe and Ito, safe for colour-blind readers) and one type scale, light and dark.

Figures name the light colours. On a page every colour is a CSS variable, so that a page in the dark scheme shows dark figures.
"""

from __future__ import annotations

from typing import Any

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
