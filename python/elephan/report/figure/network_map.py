"""Draws a network as a map: nodes at their places, each direction of a link by a number from 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.report.figure import draw as d
from elephan.report.figure.layout import Link, Place
from elephan.report.palette import BLUE, GREEN, INK, MUTED, ORANGE, SKY, VERMILLION, WIDTH_IN
from elephan.report.style import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES_MAX = 40  # nodes that all have their names
NAMED_LINKS = 3  # of a larger network: the ends of its busiest links have names
_LETTERS_MAX = 18  # of a name
_SIDES = (  # of a node: how a name there is aligned, and in which direction it is
    ("center", "bottom", 0, 1),
    ("center", "top", 0, -1),
    ("left", "center", 1, 0),
    ("right", "center", -1, 0),
    ("left", "bottom", 1, 1),
    ("right", "bottom", -1, 1),
    ("left", "top", 1, -1),
    ("right", "top", -1, -1),
)
_WIDTH = WIDTH_IN - 0.2
_HEIGHT_MIN, _HEIGHT_MAX, _LEGEND_IN = 2.6, 6.6, 0.5


@dataclass(frozen=True)
class Class:
    """The links with values up to `top`: how they are drawn, so that width and colour both tell them apart."""

    top: float
    label: str
    color: str
    width: float


def percents(tops: Sequence[float] = (0.2, 0.4, 0.6, 0.8, math.inf)) -> list[Class]:
    """Returns classes of shares, the smallest first."""
    looks = ((SKY, 1.2), (BLUE, 1.8), (GREEN, 2.4), (ORANGE, 3.0), (VERMILLION, 3.8))
    texts = [f"{100 * low:g} to {100 * top:g} %" if top < math.inf else f"above {100 * low:g} %" for low, top in _edges(tops)]
    return [Class(top, text, *look) for top, text, look in zip(tops, texts, looks, strict=True)]


def _edges(tops: Sequence[float]) -> list[tuple[float, float]]:
    return [*zip((0.0, *tops), tops, strict=False)]


def draw_map(
    places: Mapping[str, Place], values: Mapping[Link, float], classes: Sequence[Class], tips: Mapping[Link, str], none: str
) -> Any:
    """Returns a figure of nodes and links.

    `values`: of each direction of a link, drawn on the half of the link that is next to its sender. `none` names those of 0.
    `tips` is what a page shows beside the pointer.
    """
    x, y = (np.array([place[i] for place in places.values()]) for i in (0, 1))
    wide, tall = (max(float(np.ptp(one)), 1e-9) for one in (x, y))
    margin = 0.06 * max(wide, tall)
    height = min(max(_WIDTH * (tall + 2 * margin) / (wide + 2 * margin), _HEIGHT_MIN), _HEIGHT_MAX)
    per_inch = max((wide + 2 * margin) / _WIDTH, (tall + 2 * margin) / height)
    figure, (axes,) = new_figure(height=height + _LEGEND_IN)
    axes.set_axis_off()
    for set_limits, one, inches in ((axes.set_xlim, x, _WIDTH), (axes.set_ylim, y, height)):
        middle = float(one.max() + one.min()) / 2
        set_limits(middle - per_inch * inches / 2, middle + per_inch * inches / 2)
    _links(axes, places, values, classes, none)
    axes.plot(x, y, "o", color=INK, markersize=5 if len(places) <= NAMES_MAX else 2)
    _names(axes, places, values, per_inch)
    at = np.array([_along(places[a], places[b], 0.25) for a, b in tips])
    d.tips(axes, at[:, 0], at[:, 1], [*tips.values()])
    d.legend_below(axes)
    return figure


def _along(a: Place, b: Place, share: float) -> Place:
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])


def _links(axes: Axes, places: Mapping[str, Place], values: Mapping[Link, float], classes: Sequence[Class], none: str) -> None:
    """Draws half a link for each direction, the busiest last."""
    least = Class(0.0, none, MUTED, 0.8)
    of: dict[str, list[Link]] = {one.label: [] for one in (least, *classes)}
    for link, value in values.items():
        of[next(one.label for one in (least, *classes) if value <= one.top)].append(link)
    thinner = 1.0 if len(values) <= 400 else 0.7
    for one in (least, *classes):
        points: list[Place] = []
        for a, b in of[one.label]:
            points += [places[a], _along(places[a], places[b], 0.5), (math.nan, math.nan)]
        if points:
            xs, ys = np.array(points[:-1]).T
            axes.plot(xs, ys, color=one.color, linewidth=one.width * thinner, label=one.label)


def _names(axes: Axes, places: Mapping[str, Place], values: Mapping[Link, float], per_inch: float) -> None:
    """Writes names beside nodes where there is room; of a large network those at the ends of the links with the largest values."""
    chosen = list(places)
    if len(places) > NAMES_MAX:
        first = sorted(values, key=lambda link: -values[link])[:NAMED_LINKS]
        chosen = list(dict.fromkeys(name for link in first for name in link))
    radius = 0.05 * per_inch
    taken = [(x - radius, y - radius, x + radius, y + radius) for x, y in places.values()] if len(places) <= NAMES_MAX else []
    for name in chosen:
        text = name if len(name) <= _LETTERS_MAX else f"{name[: _LETTERS_MAX - 1]}…"
        wide, tall = 0.062 * per_inch * len(text), 0.13 * per_inch
        x, y = places[name]
        for ha, va, right, up in _SIDES:
            at = x + right * 1.4 * radius, y + up * 1.3 * radius
            left = at[0] - wide * (1 - right) / 2
            low = at[1] - tall * (1 - up) / 2
            box = (left, low, left + wide, low + tall)
            if not any(_overlap(box, other) for other in taken):
                axes.text(*at, text, ha=ha, va=va, fontsize=7.5, color=INK)
                taken.append(box)
                break


def _overlap(a: Sequence[float], b: Sequence[float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
