"""The figure of a conformance run: how far from its margin each check is."""

from __future__ import annotations

import math
from dataclasses import replace

from elephan.base.stats import Interval
from elephan.experiment.conformance.conformance import Conformance
from elephan.report.figure.dots import mark, row_height, rows_of, small_heading
from elephan.report.figure.draw import log_axis
from elephan.report.palette import look
from elephan.report.style import MUTED, Drawing, new_figure

_NEAREST, _FARTHEST = 1 / 16, 16.0


def _shown(interval: Interval) -> Interval:
    """An interval whose mean is on the axis."""
    if math.isnan(interval.mean):
        return interval
    return replace(interval, mean=min(max(interval.mean, _NEAREST), _FARTHEST))


def room(found: Conformance) -> Drawing | None:
    """A row for each check with a margin: 1 is at the margin, left of it is worse. None without such a check."""
    findings = [one for one in found.findings if one.room().n]
    if not findings:
        return None
    others = found.others
    figure, (axes,) = new_figure(height=row_height(len(findings)))
    rows_of(axes, [one.check.id for one in findings])
    log_axis(axes, "x", _NEAREST, _FARTHEST)
    axes.axvline(1, color=MUTED, linewidth=0.9, dashes=(4, 3))
    colours = {name: look(name).color for name in (found.label, *others)}
    for name in others:
        mark(axes, [replace(_shown(one.room(name)), low=math.nan) for one in findings], 1.0, colours[name], hollow=True, gid=name)
    mark(axes, [_shown(one.room()) for one in findings], 1.0, colours[found.label], gid=found.label)
    keys = [axes.plot([], [], "o", color=colours[name], label=name)[0] for name in colours]
    figure.legend(handles=keys, loc="outside lower center", ncols=4, frameon=False)
    small_heading(axes, "score, in units of the margin (right is better)")
    caption = (
        f"At 1 a score is at its margin; left of it the check fails. Filled: {found.label} with its 95 % interval; hollow: "
        f"{', '.join(others)} in the same experiments. What is beyond the axis is at its end."
    )
    return Drawing("room", "Scores and margins", caption, figure)
