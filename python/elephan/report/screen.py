"""A screen: the terminal, or the file, that commands print to."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from elephan.base.errors import shown
from elephan.base.quantity import scale_for
from elephan.base.quantity import show as quantity
from elephan.base.stats import Interval

_WIDTH_OF_A_FILE = 132
_LOPSIDED = 0.1  # of half an interval: a mean further from its middle is shown with both ends


class Screen(Console):
    """Prints texts as they are, since titles and paths are the user's: no markup, no emoji, no control characters."""

    def __init__(self, width: int | None = None) -> None:
        super().__init__(highlight=False, soft_wrap=False, markup=False, emoji=False, width=width)
        if width is None and not self.is_terminal:
            self.width = _WIDTH_OF_A_FILE

    def render_str(self, text: str, **options: Any) -> Text:
        """Returns a text for the console, without what would command a terminal."""
        return super().render_str(shown(text), **options)

    def long(self, text: str | Text, style: str = "") -> None:
        """Prints a line that a terminal does not break, such as a path or a command."""
        self.print(text, style=style, soft_wrap=True)

    def sentences(self, lines: Iterable[str | Text], style: str = "") -> None:
        """Prints sentences. In a file a sentence is a line, for grep; a terminal breaks it between words."""
        for line in lines:
            self.print(line, style=style, soft_wrap=not self.is_terminal)

    def warn(self, lines: Iterable[str]) -> None:
        """Prints what a reader must know before he uses an answer, apart from it."""
        self.sentences(Text.assemble(("warning: ", "bold yellow"), (shown(line), "yellow")) for line in lines)


def beside(text: str, dim: str) -> Text:
    """Returns a text and another one, dim, after it."""
    return Text.assemble(shown(text), (shown(dim), "dim"))


def grid(*heads: str, words: Sequence[str] = ()) -> Table:
    """Returns a table: its first column and those of `words` begin at the left, numbers end at the right."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for i, head in enumerate(heads):
        table.add_column(head, justify="left" if i == 0 or head in words else "right", overflow="fold")
    return table


def bounds(interval: Interval, unit: str) -> str:
    """Returns a mean and half of its interval, or both ends if the mean is not in the middle, as of one cut off at a bound."""
    if not math.isfinite(interval.low) or interval.low == interval.high:
        return quantity(interval.mean, unit, 4)
    factor, label = scale_for(interval.mean, unit)
    mean, half = quantity(interval.mean * factor, "1", 4), quantity(interval.half_width * factor, "1", 2)
    beyond = interval.low >= 0 > interval.mean - interval.half_width
    if not beyond and abs(interval.high + interval.low - 2 * interval.mean) <= _LOPSIDED * interval.half_width:
        return f"{mean} ± {half} {label}".strip()
    low, high = (quantity(bound * factor, "1", 3) for bound in (interval.low, interval.high))
    return f"{mean} ({low} to {high}) {label}".strip() if low != high else f"{mean} {label}".strip()
