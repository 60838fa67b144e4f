"""How figures look: one palette (Okabe and Ito, safe for colour-blind readers), one type scale, light and dark.

Figures are drawn in the light colours; inlined into a page, every colour becomes a CSS variable, so that a page in the dark
scheme shows dark figures.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.base.errors import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"
SERIES = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
INK, MUTED, GRID, PAPER = "#1b1f24", "#5f6b7a", "#e4e7eb", "#fefefe"

# colour of a figure -> CSS variable of a page
_VARIABLES = {color: f"var(--s{i})" for i, color in enumerate(SERIES)} | {
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


@dataclass
class Drawing:
    """A figure with the words that belong to it."""

    name: str
    title: str
    caption: str
    figure: Figure = field(repr=False)
    _svg: str = field(default="", repr=False)
    _png: bytes = field(default=b"", repr=False)

    def svg(self) -> str:
        """The figure as SVG text, the same bytes every time; drawn once."""
        import matplotlib as mpl

        if not self._svg:
            text = io.StringIO()
            with mpl.rc_context(SETTINGS):
                _write_numbers_plainly(self.figure)
                self.figure.savefig(text, format="svg", metadata={"Date": None, "Creator": "elephan"})
            self._svg = shown(text.getvalue())
            self.figure.set_layout_engine(None)  # the layout is found: drawing again need not look for it
        return self._svg

    def inline_svg(self) -> str:
        """The figure for a page: no prolog, colours as CSS variables, the page's font, ids of its own."""
        svg = self.svg()
        svg = svg[svg.index("<svg") :]
        svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
        svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg))
        # Matplotlib leaves out the colour of black text, which would stay black on a dark page.
        svg = re.sub(r'<text style="(?![^"]*fill:)', f'<text style="fill: {INK}; ', svg)
        for color, variable in _VARIABLES.items():
            svg = svg.replace(color, variable)
        svg = re.sub(r"font: ([0-9.]+)px [^;\"]*", r"font-size: \1px; font-family: var(--figure-font)", svg)
        svg = re.sub(r'(?<=\bid=")|(?<=href="#)|(?<=url\(#)', f"{self.name}-", svg)
        return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(self.title)}" ', 1).strip()

    def png(self) -> bytes:
        """The figure as a PNG on white; drawn once."""
        import matplotlib as mpl

        self.svg()  # finds the layout
        if not self._png:
            data = io.BytesIO()
            with mpl.rc_context(SETTINGS):
                self.figure.savefig(data, format="png", dpi=160, facecolor="white", metadata={"Software": "elephan"})
            self._png = data.getvalue()
        return self._png

    def save(self, folder: Path) -> None:
        """Writes `NAME.svg` and `NAME.png` (on white)."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.name}.svg").write_text(self.svg(), encoding="utf-8")
        (folder / f"{self.name}.png").write_bytes(self.png())


_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def plain_power(text: str) -> str:
    """A tick label of a logarithmic axis without mathematics to typeset: `$\\mathdefault{10^{-6}}$` as `10⁻⁶`."""
    inner = text.removeprefix(r"$\mathdefault{").removesuffix("}$").replace(r"\times", "\u00d7")
    return re.sub(r"\^\{([^}]*)\}", lambda power: power[1].translate(_SUPERSCRIPTS), inner)


def grouped(text: str) -> str:
    """A tick label of a linear axis with its digits in threes, as the text has them: `700000` as `700 000`."""
    return re.sub(r"(?<![.\d])\d{4,}", lambda digits: f"{int(digits[0]):,}".replace(",", "\u202f"), text)


def _write_numbers_plainly(figure: Figure) -> None:
    """Long numbers in threes, powers without mathematics: to read labels as formulas takes longer than to draw everything else."""
    from matplotlib.ticker import LogFormatterSciNotation, ScalarFormatter

    class PlainPowers(LogFormatterSciNotation):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return plain_power(super().__call__(x, pos))

    class Grouped(ScalarFormatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return grouped(super().__call__(x, pos))

    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if type(axis.get_major_formatter()) is ScalarFormatter:
                axis.set_major_formatter(Grouped())
            if isinstance(axis.get_major_formatter(), LogFormatterSciNotation):
                axis.set_major_formatter(PlainPowers())
            if isinstance(axis.get_minor_formatter(), LogFormatterSciNotation):
                axis.set_minor_formatter(PlainPowers())


def new_figure(rows: int = 1, columns: int = 1, height: float = 2.9, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure of the standard width with its axes, row by row. `options` go to `Figure.subplots`."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with mpl.rc_context(SETTINGS):
        engine = ConstrainedLayoutEngine(h_pad=0.06, w_pad=0.06, hspace=0.06, wspace=0.06)
        figure = Figure(figsize=(WIDTH_IN, height), layout=engine)
        axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, [axis for row in axes for axis in row]


def color(index: int) -> str:
    """The colour of the series with this index."""
    return SERIES[index % len(SERIES)]
