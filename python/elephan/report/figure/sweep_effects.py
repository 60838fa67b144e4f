"""What each parameter of a sweep does to each statistic: a panel for each statistic, parameters by the size of their effect."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence

import numpy as np

from elephan.base.quantity import scale_for, show
from elephan.report.figure.dots import NAME_MAX, mark, row_height, rows_of, small_heading
from elephan.report.figure.sweep_figures import panels
from elephan.report.style import BLUE, MUTED, Drawing
from elephan.report.words.effects import Effect
from elephan.report.words.swept import Swept
from elephan.report.words.view import nice_step
from elephan.statistic import measures, titles

ROWS_MAX = 8  # parameters of a panel


def draw(swept: Swept, found: Mapping[str, Sequence[Effect]]) -> Drawing:
    """Main effects, the largest first."""
    rows = min(ROWS_MAX, max(map(len, found.values())))
    figure, axes = panels(len(found), row_height(rows) - 0.2, 2)
    for axis, (statistic, own) in zip(axes, found.items(), strict=True):
        shown = own[:ROWS_MAX]
        unit = measures.unit_of(statistic)
        ends = [abs(end) for one in shown for end in (one.interval.low, one.interval.high, one.interval.mean) if math.isfinite(end)]
        top = min(max(ends), 1.6 * max(abs(one.interval.mean) for one in shown)) or 1.0
        factor, label = scale_for(top, unit)
        rows_of(axis, [one.axis.words for one in shown])
        axis.set_yticks(range(len(shown)), [_row(one) for one in shown])
        falls = any(one.interval.mean < 0 for one in shown)
        reach = top * factor
        axis.set_xlim(-reach * (1.1 if falls else 0.12), reach * 1.1)
        axis.axvline(0, color=MUTED, linewidth=0.9)
        step = nice_step(reach * 0.4)
        ticks = np.arange(-int(reach / step) if falls else 0, int(reach / step) + 1) * step
        axis.set_xticks(ticks, [show(float(tick), "1", 3) for tick in ticks])
        mark(axis, [one.interval for one in shown], factor, BLUE)
        small_heading(axis, titles.title(statistic), "pp" if unit == "%" else label)
    over = "variants" if swept.roles is not None and swept.roles.drawn else "the seeds"
    known = any(math.isfinite(one.interval.low) for own in found.values() for one in own)
    caption = "The change of each statistic between two values of a parameter, on average over the others; the largest first. "
    caption += f"Lines are 95 % intervals over {over}. " if known else ""
    caption += "Where effects depend on one another, look at the figures below."
    return Drawing("effects", "What each parameter does", caption, figure)


def _row(one: Effect) -> str:
    """A parameter, and below it the two values between which it does most."""
    return "\n".join(textwrap.shorten(line, NAME_MAX + 8, placeholder=" …") for line in (one.axis.words, f"{one.frm} to {one.to}"))
