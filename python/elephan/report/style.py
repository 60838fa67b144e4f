"""How figures look, and what a figure is: a drawing with the words that belong to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.report import sketch
from elephan.report.palette import BLUE as BLUE
from elephan.report.palette import GREEN as GREEN
from elephan.report.palette import GRID as GRID
from elephan.report.palette import INK as INK
from elephan.report.palette import MUTED as MUTED
from elephan.report.palette import ORANGE as ORANGE
from elephan.report.palette import PAPER as PAPER
from elephan.report.palette import PURPLE as PURPLE
from elephan.report.palette import SERIES as SERIES
from elephan.report.palette import SETTINGS as SETTINGS
from elephan.report.palette import SKY as SKY
from elephan.report.palette import VERMILLION as VERMILLION
from elephan.report.palette import WIDTH_IN as WIDTH_IN
from elephan.report.palette import color as color

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass
class Drawing:
    """A figure with the words that belong to it."""

    name: str
    title: str
    caption: str
    drawn: Any = field(repr=False)  # what `new_figure` gave, with the calls that draw

    @cached_property
    def figure(self) -> Figure:
        """The figure as matplotlib draws it."""
        from elephan.report.paint import painted

        return painted(self.drawn)

    @cached_property
    def _svg(self) -> str:
        from elephan.report.paint import svg

        return svg(self.figure)

    @cached_property
    def _png(self) -> bytes:
        from elephan.report.paint import png

        self.svg()  # finds the layout
        return png(self.figure)

    def svg(self) -> str:
        """Returns the figure as SVG text, the same bytes every time; drawn once."""
        return self._svg

    def png(self) -> bytes:
        """Returns the figure as a PNG on white; drawn once."""
        return self._png

    def save(self, folder: Path) -> None:
        """Writes `NAME.svg` and `NAME.png` (on white)."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.name}.svg").write_text(self.svg(), encoding="utf-8")
        (folder / f"{self.name}.png").write_bytes(self.png())


def new_figure(rows: int = 1, columns: int = 1, height: float = 2.9, wrap: int = 0, **options: Any) -> tuple[Figure, list[Axes]]:
    """Returns a figure of the standard width and its axes, row by row. `options` go to `Figure.subplots`.

    `wrap`: where columns would be narrower than so many pixels, a page has fewer of them and more rows.

    The axes keep what is drawn in the words of matplotlib (`elephan.report.sketch`).
    """
    figure: Any = sketch.Figure(rows, columns, height, options, wrap)
    return figure, figure.axes
