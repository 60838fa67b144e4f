"""Figures of a sweep: small pictures of a statistic against a parameter, rows of names, clouds of drawn points, heat maps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.base.quantity import counted, scale_for, show
from elephan.base.stats import NOTHING
from elephan.experiment.claims import interval_text
from elephan.report.figure import draw as d
from elephan.report.figure.dots import mark, row_height, rows_of, small_heading, wide
from elephan.report.palette import BLUE, INK, MUTED, PAPER, Look, look, looks, numbered
from elephan.report.style import Drawing, new_figure
from elephan.report.words.swept import Array, Axis, Estimates, Places, Roles, Swept, estimates
from elephan.statistic import measures, titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BANDS_MAX = 3  # with more lines in a panel their bands would cover one another
POINTS_MAX = 400  # variants of a drawn design that are drawn one by one
BINS_MAX = 12  # of a parameter of a drawn design
WRAP = 230  # pixels of a panel at least
HEAT_LEVELS = 10
HEAT_TEXTS_MAX = 60  # cells with their value in them
HEAT_PANELS_MAX = 6


def shape(count: int, most: int = 3) -> tuple[int, int]:
    """Rows and columns of so many panels, with at most so many columns."""
    columns = min(count, 2 if count == 4 else most)
    return -(-count // columns), columns


def panels(count: int, height: float, most: int = 3, **options: Any) -> tuple[Figure, list[Axes]]:
    """Returns a figure of so many panels, which are below one another where the page is narrow."""
    rows, columns = shape(count, most)
    figure, axes = new_figure(rows, columns, 0.6 + height * rows, wrap=WRAP if count > 1 else 0, **options)
    for axis in axes[count:]:
        axis.set_visible(False)
    return figure, axes[:count]


def looks_of(axis: Axis | None) -> list[Look]:
    """How the values of the parameter that gives colours look: as congestion controls, or one after the other."""
    if axis is None:
        return [numbered(0)]
    if axis.controls:
        return [*looks(axis.controls).values()]
    return [numbered(place) for place in range(len(axis))]


def _limits(found: Estimates, unit: str) -> tuple[bool, float, float]:
    """Whether values need a logarithmic axis, and its ends: no interval takes more than 1.6 times the room of the means."""
    known = found.mean[~np.isnan(found.mean)]
    top = float(known.max(initial=0.0))
    high = found.high[np.isfinite(found.high)]
    most = min(max(float(high.max(initial=0.0)), top), 1.6 * top)
    if wide(known.tolist(), unit):
        return True, float(known.min()) * 0.7, most * 1.2
    low = found.low[np.isfinite(found.low)]
    least = min(0.0, float(known.min(initial=0.0)), float(low.min(initial=0.0)))
    return False, least * 1.08, most * 1.08


def _heading(figure: Any, axes: Sequence[Axes], statistic: str, unit: str, logarithmic: bool, titled: Axis | None) -> None:
    """Names what is drawn: above the one panel, or beside all, each of which has its value of a parameter above it."""
    what = titles.title(statistic) + (" (logarithmic)" if logarithmic else "")
    if titled is None:
        d.heading(axes[0], what, unit)
        return
    figure.supylabel(f"{what}, {unit}" if unit else what, fontsize=9, color=INK)
    for axis, text in zip(axes, titled.texts, strict=True):
        small_heading(axis, text if titled.named else f"{titled.words} {text}")


def _along(axes: Sequence[Axes], words: str) -> None:
    """Names the x axis below the lowest panel of each column."""
    rows, columns = shape(len(axes))
    for place, axis in enumerate(axes[-columns:], len(axes) - columns):
        axis.set_xlabel(words)
        if place < (rows - 1) * columns:  # nothing stands below it
            axis.tick_params(axis="x", labelbottom=True)


def _key(figure: Any, axis: Axis | None, found: Sequence[Look], axes: Any, joined: bool = True) -> None:
    """Names the colours below a figure, of points or of lines that join them."""
    if axis is None:
        return
    keys = []
    for text, one in zip(axis.labels, found, strict=True):
        stroke = one.stroke if joined else "none"
        face = PAPER if not joined and one.stroke != "-" else one.color
        style: Any = {"linestyle": stroke, "color": one.color, "marker": "o", "markersize": 4, "markerfacecolor": face}
        keys += axes.plot([], [], label=text, gid=text, **style)
    columns = max(1, min(4, 100 // max(len(text) + 5 for text in axis.labels)))
    figure.legend(handles=keys, loc="outside lower center", ncols=columns, frameon=False, fontsize=8.5, labelcolor=INK)


def _lines(swept: Swept, roles: Roles, statistic: str) -> Figure:
    """A panel for each value of one parameter, a line for each value of another, along the third."""
    keys = {key: place for place, key in enumerate(roles.cells)}
    found = swept.averaged(statistic, [*roles.cells.values()])
    count, lines = len(roles.panel or ()) or 1, len(roles.color or ()) or 1
    figure, axes = panels(count, 2.3 if count == 1 else 1.7, sharex=True, sharey=True)
    unit = measures.unit_of(statistic)
    logarithmic, least, most = _limits(found, unit)
    factor, label = scale_for(most, unit)
    _heading(figure, axes, statistic, label, logarithmic, roles.panel)
    own = looks_of(roles.color)
    for p, axis in enumerate(axes):
        if logarithmic:
            d.log_axis(axis, "y", least * factor, most * factor)
        else:
            axis.set_ylim(least * factor, most * factor or 1.0)
        ends = []
        for c, one in enumerate(own):
            places = [place for place in range(len(roles.x)) if (p, c, place) in keys]
            if not places:
                continue
            at = np.array([keys[p, c, place] for place in places])
            mean, low, high = (values[at] * factor for values in (found.mean, found.low, found.high))
            low = np.maximum(low, least * factor) if logarithmic else low  # a band down to 0 ends at the foot
            name = roles.color.labels[c] if roles.color else ""
            d.error_line(
                axis, roles.x.places[places], mean, low, high, one.color, dashes=one.stroke, band=lines <= BANDS_MAX, gid=name
            )
            known = mean[~np.isnan(mean)]
            ends.append((float(known[-1]) if known.size else 0.0, name, one.color))
        if roles.x.logarithmic:
            axis.set_xscale("log")
        d.plain_ticks(axis, roles.x.places.tolist(), _spaced(roles.x, shape(count)[1]))
        d.tick_names(axis, "x", roles.x.places, roles.x.texts)
        if count == 1 and roles.color:
            d.end_labels(axis, ends, gap=0.1)
    if count > 1:
        _key(figure, roles.color, own, axes[0])
    _along(axes, roles.x.words)
    return figure


def _spaced(axis: Axis, columns: int = 1) -> list[str]:
    """The labels of numbers without those that would touch the one before, in so many columns of panels."""
    places = np.log(axis.places) if axis.logarithmic else axis.places
    share = (places - places[0]) / (places[-1] - places[0] or 1)
    letter = 0.013 * columns
    kept, last = [], -1.0
    for i, label in enumerate(axis.texts):
        end = i == len(axis) - 1
        fits = share[i] - last >= letter * (len(label) + 2) and (end or share[-1] - share[i] >= letter * (len(axis.texts[-1]) + 2))
        kept.append(label if fits or end else "")
        last = float(share[i]) if kept[-1] else last
    return kept


def _rows(swept: Swept, roles: Roles, statistic: str) -> Figure:
    """A row for each name, with a point for each value of another parameter: a line would join what has no order."""
    keys = {key: place for place, key in enumerate(roles.cells)}
    found = swept.averaged(statistic, [*roles.cells.values()])
    count, groups = len(roles.panel or ()) or 1, len(roles.color or ()) or 1
    figure, axes = panels(count, row_height(len(roles.x), groups) - 0.3, sharex=True, sharey=True)
    unit = measures.unit_of(statistic)
    logarithmic, least, most = _limits(found, unit)
    factor, label = scale_for(most, unit)
    what = titles.title(statistic) + (" (logarithmic)" if logarithmic else "")
    own = looks_of(roles.color)
    by_row = [look(text).color for text in roles.x.controls] if roles.x.controls and roles.color is None else None
    for p, axis in enumerate(axes):
        rows_of(axis, roles.x.texts)
        if logarithmic:
            d.log_axis(axis, "x", least * factor, most * factor * 1.2)
        else:
            axis.set_xlim(least * factor, most * factor or 1.0)
            axis.locator_params(axis="x", nbins=5 if count < 3 else 4)
        for c, one in enumerate(own):
            intervals = [found.at(keys[p, c, place]) if (p, c, place) in keys else NOTHING for place in range(len(roles.x))]
            offset = (c - (groups - 1) / 2) * min(0.26, 0.8 / groups)
            name = roles.color.labels[c] if roles.color else ""
            mark(axis, intervals, factor, by_row or one.color, offset, one.stroke != "-", name)
        small_heading(axis, what if roles.panel is None else roles.panel.texts[p], label if roles.panel is None else "")
    if roles.panel is not None:
        _along(axes, f"{what}, {label}" if label else what)
    _key(figure, roles.color, own, axes[0], False)
    return figure


def _cloud(swept: Swept, roles: Roles, statistic: str) -> Figure:
    """A panel for each parameter of a drawn design, with a point for each variant and means along the parameter."""
    axes_of = [axis for axis in swept.axes if len(axis) > 1]
    figure, axes = panels(len(axes_of), 2.2, sharey=True)
    found, unit = swept.estimates(statistic), measures.unit_of(statistic)
    logarithmic, least, most = _limits(found, unit)
    factor, label = scale_for(most, unit)
    what = titles.title(statistic) + (" (logarithmic)" if logarithmic else "")
    figure.supylabel(f"{what}, {label}" if label else what, fontsize=9, color=INK)
    own = looks_of(roles.color)
    color = roles.color.at if roles.color else np.zeros(len(swept.labels), dtype=np.intp)
    for axis, parameter in zip(axes, axes_of, strict=True):
        if logarithmic:
            d.log_axis(axis, "y", least * factor, most * factor)
        else:
            axis.set_ylim(least * factor, most * factor or 1.0)
        places, heading = _placed(axis, parameter)
        small_heading(axis, heading)
        if len(swept.labels) <= POINTS_MAX:
            for c, one in enumerate(own):
                chosen = color == c
                name = roles.color.labels[c] if roles.color else "variant"
                x, mean = places[chosen], found.mean[chosen] * factor
                axis.vlines(
                    x, found.low[chosen] * factor, found.high[chosen] * factor, color=one.color, linewidth=0.8, alpha=0.3, gid=name
                )
                axis.plot(x, mean, "o", color=one.color, markersize=3.4, alpha=0.8, gid=name)
        groups = _bins(parameter)
        middle = np.array([float(np.median(parameter.places[parameter.at[group]])) for group in groups])
        means = [estimates(found.mean[group][None, :]) for group in groups]
        mean, low, high = (np.concatenate([getattr(one, name) for one in means]) * factor for name in ("mean", "low", "high"))
        scale = parameter.scale[0]
        joined = "-" if not parameter.named else "none"
        d.error_line(axis, middle * scale, mean, low, high, MUTED, dashes=joined, band=False, gid="mean of several variants")
    _key(figure, roles.color if len(swept.labels) <= POINTS_MAX else None, own, axes[0], False)
    return figure


def _placed(axes: Axes, axis: Axis) -> tuple[Array, str]:
    """Prepares the x axis for a parameter of a drawn design; returns where its variants stand, and its name with the unit."""
    factor, unit = axis.scale
    places: Array = axis.places[axis.at] * factor
    if axis.named:
        axes.set_xlim(-0.5, len(axis) - 0.5)
        axes.set_xticks(range(len(axis)), list(axis.texts))
        spread = (np.arange(len(axis.at)) * 0.618034) % 1 - 0.5  # the golden section spreads any number evenly
        return places + 0.5 * spread, axis.words
    if axis.logarithmic:
        d.log_axis(axes, "x", float(axis.places[0]) * factor / 1.1, float(axis.places[-1]) * factor * 1.1)
    return places, f"{axis.words}, {unit}" if unit else axis.words


def _bins(axis: Axis) -> list[Places]:
    """Variants in groups along a parameter: by name, or as many in each of up to twelve groups."""
    if axis.named:
        return [np.flatnonzero(axis.at == place) for place in range(len(axis))]
    return [
        np.asarray(group) for group in np.array_split(np.argsort(axis.at, kind="stable"), max(1, min(BINS_MAX, len(axis.at) // 8)))
    ]


def heat_axes(roles: Roles, swept: Swept) -> tuple[Axis, Axis] | None:
    """The two parameters of a heat map: numbers with at least three values each; None if there are not two."""
    numeric = sorted((axis for axis in swept.axes if not axis.named and len(axis) > 2), key=len, reverse=True)
    return (numeric[0], numeric[1]) if len(numeric) > 1 and not roles.drawn else None


def _heat(swept: Swept, pair: tuple[Axis, Axis], statistic: str) -> tuple[Figure, str, list[Axis]]:
    """A cell for each two values of two parameters; returns also its scale in words, and what its cells are averages over."""
    across, up = pair
    others = [axis for axis in swept.axes if axis not in pair and len(axis) > 1]
    panel = next((axis for axis in others if len(axis) <= HEAT_PANELS_MAX), None)
    zero = np.zeros(len(swept.labels), dtype=np.intp)
    cells: dict[tuple[int, int, int], list[int]] = {}
    for variant, key in enumerate(zip((panel.at if panel else zero).tolist(), across.at.tolist(), up.at.tolist(), strict=True)):
        cells.setdefault(key, []).append(variant)
    found = swept.averaged(statistic, [np.array(members, dtype=np.intp) for members in cells.values()])
    low, high = float(np.nanmin(found.mean)), float(np.nanmax(found.mean))
    unit, count = measures.unit_of(statistic), len(panel or ()) or 1
    figure, axes = panels(count, min(0.4 * len(up) + 0.7, 3.2), sharex=True, sharey=True)
    level = np.nan_to_num((found.mean - low) / ((high - low) or 1.0) * (HEAT_LEVELS - 1)).round().astype(int)
    keys = np.array([*cells], dtype=np.intp)
    factor, label = scale_for(high, unit)
    for p, axis in enumerate(axes):
        for strength in range(HEAT_LEVELS):
            chosen = (keys[:, 0] == p) & (level == strength) & ~np.isnan(found.mean)
            if chosen.any():
                x, y = keys[chosen, 1].astype(float), keys[chosen, 2].astype(float)
                alpha = 0.06 + 0.6 * strength / (HEAT_LEVELS - 1)
                axis.bar(x, np.ones(x.size), 1.0, y - 0.5, color=BLUE, alpha=alpha, linewidth=0)
        for place in np.flatnonzero((keys[:, 0] == p) & ~np.isnan(found.mean)) if len(keys) <= HEAT_TEXTS_MAX else ():
            said = f"{found.mean[place] * factor:.3g}"
            axis.text(keys[place, 1], keys[place, 2], said, ha="center", va="center", fontsize=7.5, color=INK, fit=1.0)
        own = np.flatnonzero((keys[:, 0] == p) & ~np.isnan(found.mean))
        tips = [f"{across.texts[keys[k, 1]]}, {up.texts[keys[k, 2]]}\n{interval_text(found.at(k), unit, 4)}" for k in own.tolist()]
        d.tips(axis, keys[own, 1].astype(float), keys[own, 2].astype(float), tips)
        _heat_frame(axis, across, up)
        small_heading(axis, panel.texts[p] if panel else titles.title(statistic), "" if panel else label)
    figure.supxlabel(across.words, fontsize=9, color=INK)
    figure.supylabel(up.words, fontsize=9, color=INK)
    return (
        figure,
        f"from {show(low, unit, 3)} (pale) to {show(high, unit, 3)} (strong)",
        [axis for axis in others if axis is not panel],
    )


def _heat_frame(axes: Axes, across: Axis, up: Axis) -> None:
    axes.set_xlim(-0.5, len(across) - 0.5)
    axes.set_ylim(-0.5, len(up) - 0.5)
    axes.grid(False)
    for side in ("left", "bottom"):
        d.hide_spine(axes, side)
    for axis, ticks in ((across, axes.set_xticks), (up, axes.set_yticks)):
        every = -(-len(axis) // 12)
        ticks(range(0, len(axis), every), list(axis.texts[::every]))
    axes.tick_params(length=0, labelcolor=INK)
    for edge in range(1, len(across)) if len(across) <= 40 else ():
        axes.axvline(edge - 0.5, color=PAPER, linewidth=1.2)
    for edge in range(1, len(up)) if len(up) <= 40 else ():
        axes.axhline(edge - 0.5, color=PAPER, linewidth=1.2)


def _caption(swept: Swept, roles: Roles, statistic: str) -> str:
    """What points, colours and panels are."""
    runs = swept.repetitions
    groups = roles.cells.values()
    averaged = any(group.size > 1 for group in groups)
    if roles.drawn:
        said = [
            "Each point is a variant."
            if len(swept.labels) <= POINTS_MAX
            else f"{counted(len(swept.labels), 'variant')} are too many to draw."
        ]
        said.append("Grey: means of as many variants each, with 95 % intervals over variants.")
        return " ".join([*said, f"Colours: {roles.color.words}."] if roles.color and len(swept.labels) <= POINTS_MAX else said)
    said = ["One run each."] if runs < 2 and not averaged else []
    if runs > 1 and not swept.alike([statistic]):
        said.append(f"Points are means of {runs} runs with their 95 % intervals.")
    if roles.panel:
        said.append(f"Panels: {roles.panel.words}.")
    if roles.color:
        said.append(f"{'Colours' if roles.x.named else 'Lines'}: {roles.color.words}.")
    elif roles.x.named:
        said.append(f"Rows: {roles.x.words}.")
    if averaged:
        said.append(f"Averaged over {' and '.join(f'{len(axis)} values of {axis.words}' for axis in roles.averaged)}.")
    return " ".join(said)


def draw(swept: Swept, statistic: str) -> list[Drawing]:
    """The figure of a statistic, and its heat map if two parameters are numbers; nothing when nothing varies."""
    roles = swept.roles
    if roles is None:
        return []
    figure = (_cloud if roles.drawn else _rows if roles.x.named else _lines)(swept, roles, statistic)
    title, name = titles.title(statistic), file_name(statistic)
    title = title[0].upper() + title[1:]
    found = [Drawing(name, title, _caption(swept, roles, statistic), figure)]
    if (pair := heat_axes(roles, swept)) is not None:
        drawn, scale, averaged = _heat(swept, pair, statistic)
        over = f" Averaged over {' and '.join(axis.words for axis in averaged)}." if averaged else ""
        found.append(Drawing(f"{name}-map", f"{title} by {pair[0].words} and {pair[1].words}", f"Means, {scale}.{over}", drawn))
    return found


def draw_all(swept: Swept, statistics: Sequence[str]) -> list[Drawing]:
    """The figures of some statistics."""
    return [drawing for statistic in statistics for drawing in draw(swept, statistic)]


def file_name(statistic: str) -> str:
    """The name of a figure of a statistic: a part in brackets may have any sign."""
    return re.sub(r"[^A-Za-z0-9]+", "-", statistic).strip("-")
