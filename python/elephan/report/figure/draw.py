"""Pieces that figures share: axes in good units, lines with their names beside them, bands, distributions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from elephan.base.quantity import scale_for
from elephan.report.palette import STROKES, Look, looks, numbered, stroked
from elephan.report.style import GRID, INK, MUTED, PAPER, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from elephan.report.sketch import Recorder

Array = npt.NDArray[np.float64]
_PLACES = 600  # over the width of a figure
PHASES = 8  # of a round trip
POINTS_MAX = 1600  # a line has no more points than this: beyond it only the extremes of each pixel column matter


def thin(x: Array, y: Array, points: int = POINTS_MAX) -> tuple[Array, Array]:
    """At most about `points` points of a line, keeping the smallest and the largest value of each stretch."""
    if x.size <= points:
        return x, y
    size = -(-x.size * 2 // points)
    whole = x.size - x.size % size
    blocks = np.where(np.isnan(y[:whole]), 0.0, y[:whole]).reshape(-1, size)
    starts = np.arange(0, whole, size)
    chosen = np.unique(np.concatenate([starts + blocks.argmin(1), starts + blocks.argmax(1), np.arange(whole, x.size)]))
    return x[chosen], y[chosen]


def rates(time: Array, total: Array, width: float, round_ns: float = 0.0) -> tuple[Array, Array]:
    """Middles of intervals of `width` ns and the rate in each, bit/s, from a cumulative count. `round_ns`: see `phases_of`."""
    if time.size < 2:
        return np.empty(0), np.empty(0)
    begin = max(time[0] - width, 0.0)
    times, totals = np.insert(time, 0, begin), np.insert(total, 0, 0.0)

    def from_phase(phase: float) -> tuple[Array, Array]:
        # Whole intervals only: in a part of one the rate would seem to fall.
        edges = begin + phase + width * np.arange(max(int((time[-1] - begin - phase) / width + 1e-9), 1) + 1)
        return (edges[:-1] + edges[1:]) / 2, np.diff(np.interp(edges, times, totals)) * 8e9 / width

    return calmest(from_phase(phase) for phase in phases_of(round_ns))


def phases_of(round_ns: float) -> Array:
    """Where in a round trip intervals of whole round trips may begin, ns.

    Windows leave in bursts: an interval that begins within one has more or less of it as samples happen to fall, one that begins
    in the pause between two has all.
    """
    return np.arange(PHASES) * round_ns / PHASES if round_ns > 0 else np.zeros(1)


def calmest(candidates: Iterable[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Of the same rates in intervals that begin elsewhere those that go up and down least."""
    return min(candidates, key=lambda one: float(np.abs(np.diff(one[1], axis=0)).mean()) if len(one[1]) > 1 else 0.0)


def whole_rounds(width: float, round_ns: float | None) -> float:
    """The least number of whole round trips, at least one, that is not shorter than `width` ns; `width` without a round trip."""
    return math.ceil(width / round_ns - 1e-9) * round_ns if round_ns else width


def places(times: Array, end_ns: float) -> Array:
    """Returns where ticks at some times stand, ns: one for all that could not be told apart."""
    return np.flatnonzero(np.bincount(np.round(times / end_ns * _PLACES).astype(int))) / _PLACES * end_ns


def time_scale(span_ns: float) -> tuple[float, str]:
    """`(factor, label)` for an axis of times in ns."""
    return scale_for(span_ns, "ns")


def time_axis(axes: Axes, begin_ns: float, end_ns: float, label: bool = True) -> float:
    """Prepares an x axis of simulated time; gives the factor for values in ns."""
    factor, unit = time_scale(end_ns)
    axes.set_xlim(begin_ns * factor, end_ns * factor)
    if label:
        axes.set_xlabel(f"simulated time, {unit}")
    return factor


def heading(axes: Axes, what: str, unit: str = "") -> None:
    """Names the y axis above it, where it can be read without turning the head."""
    axes.set_title(f"{what}, {unit}" if unit else what, loc="left", color=INK)


def value_axis(axes: Axes, what: str, top: float, unit: str, zero: bool = True) -> float:
    """Prepares a y axis for values up to `top` in `unit`; gives the factor to multiply values with."""
    factor, label = scale_for(top, unit)
    heading(axes, what, label)
    if zero:
        axes.set_ylim(0, (top * factor or 1.0) * 1.06)
    return factor


def end_labels(axes: Axes, ends: Sequence[tuple[float, str, str]], gap: float = 0.075) -> None:
    """Writes names at the right end of lines, `(y, text, colour)`, moved apart where they would touch.

    On a page a click on a name hides what has it as `gid`.
    """
    if not ends:
        return
    low, high = axes.get_ylim()
    logarithmic = axes.get_yscale() == "log"

    def place(y: float) -> float:
        if logarithmic:
            return float(np.log(max(y, low) / low) / np.log(high / low))
        return (y - low) / (high - low)

    order = sorted(range(len(ends)), key=lambda i: ends[i][0])
    heights = [min(max(place(ends[i][0]), 0.0), 1.0) for i in order]
    for k in range(1, len(heights)):
        heights[k] = max(heights[k], heights[k - 1] + gap)
    overflow = max(0.0, heights[-1] - 1.0)
    heights = [height - overflow for height in heights]
    for k in range(len(heights) - 2, -1, -1):
        heights[k] = min(heights[k], heights[k + 1] - gap)
    for height, i in zip(heights, order, strict=True):
        _, text, paint = ends[i]
        axes.annotate(
            text,
            (1.0, height),
            xycoords="axes fraction",
            xytext=(6, 0),
            textcoords="offset points",
            color=paint,
            va="center",
            fontsize=8.5,
            annotation_clip=False,
            gid=text,
        )


LINES_MAX = 6  # with more lines than this, single ones are not named
GROUPS_MAX = 2 * len(SERIES)  # with more groups of lines than this, they are not named: from the seventh on they are dashed


def looks_of(names: Sequence[str], controls: Mapping[str, str]) -> dict[str, Look]:
    """Returns how lines look: as the congestion controls in `controls`, where these tell lines apart, else one after the other.

    Of several lines of one congestion control each has another stroke.
    """
    of = {name: controls.get(name, "") for name in names}
    apart = len({*of.values()}) > 1 or len(names) == 1
    if not apart or not all(of.values()) or max(map([*of.values()].count, of.values())) > len(STROKES):
        return {name: numbered(i) for i, name in enumerate(names)}
    found = looks(f"{control} {name}" for name, control in of.items())
    return {name: found[f"{control} {name}"] for name, control in of.items()}


def lines(
    axes: Axes,
    series: Mapping[str, tuple[Array, Array]],
    named: bool = True,
    groups: Mapping[str, str] | None = None,
    controls: Mapping[str, str] | None = None,
    **style: Any,
) -> None:
    """Lines with their names at the right end (up to six), else a bundle for each of `groups` by name (up to twelve).

    `controls`: the congestion control of each line, or of each group, which gives it its colour.
    """
    if len(series) > LINES_MAX:
        _bundles(axes, series, {name: (groups or {}).get(name, "") for name in series}, named, controls or {})
        return
    found, ends = looks_of([*series], controls or {}), []
    for name, (x, y) in series.items():
        one = found[name]
        said = stroked(name, one, found.values())
        axes.plot(*thin(x, y), one.stroke, color=one.color, gid=said, **style)
        if y.size:
            ends.append((_end(y), said, one.color))
    if named and len(series) > 1:
        end_labels(axes, ends)


def _end(y: Array) -> float:
    """Where a line ends, about: the mean of its last twelfth."""
    known = y[~np.isnan(y)]
    return float(np.mean(known[-max(1, known.size // 12) :])) if known.size else 0.0


def _bundles(
    axes: Axes, series: Mapping[str, tuple[Array, Array]], groups: Mapping[str, str], named: bool, controls: Mapping[str, str]
) -> None:
    """Many lines, thin where a group has several: a look for each group of them, its name where they end on average."""
    members: dict[str, list[str]] = {}
    for name in series:
        members.setdefault(groups[name], []).append(name)
    if len(members) > GROUPS_MAX:
        members = {"": list(series)}
    found, ends = looks_of([*members], controls), []
    for group, names in members.items():
        one = found[group]
        said = stroked(group, one, found.values())
        width: dict[str, Any] = (
            {"linewidth": 1.2} if len(names) == 1 else {"linewidth": 0.8, "alpha": max(0.12, min(1.0, 2.0 / len(names)))}
        )
        for name in names:
            x, y = series[name]
            axes.plot(*thin(x, y, 400), one.stroke, color=one.color, gid=said, **width)
        middle = float(np.mean([_end(series[name][1]) for name in names]))
        ends.append((middle, said, one.color))
    if named and len(members) > 1:
        end_labels(axes, ends)


def mark_warmup(axes: Axes, warmup_ns: float, factor: float) -> None:
    """Shades the time before measurements count."""
    if warmup_ns > 0:
        axes.axvspan(0, warmup_ns * factor, color=GRID, alpha=0.6, linewidth=0, zorder=0)


_LETTER_PT = 4.9  # mean width of a letter at 8 points
_ROW_PT = 10.5
_CHANGE_ROWS_MAX = 3
_CHANGES_APART = 200  # lines over the width of a figure; closer ones could not be told apart


def mark_numbers(axes: Axes, marks: Sequence[tuple[float, str]], end_ns: float) -> None:
    """A sign at each `(time in ns, sign)`, at the lower edge of the plot; signs that would touch stand side by side."""
    factor, free = time_scale(end_ns)[0], -math.inf
    for time, sign in sorted(marks):
        at = max(time, free)
        free = at + end_ns / 40
        axes.annotate(
            sign,
            (at * factor, 0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=9,
            color=INK,
            annotation_clip=False,
        )


def mark_changes(axes: Axes, changes: Sequence[tuple[float, str]], end_ns: float, named: bool) -> None:
    """A vertical line at each change of the run, `(time in ns, words)`, with the words above the plot if `named`. Of changes closer
    than a line can be seen the first has one.

    Names stand in as many rows as they need, up to three; what finds no room there has its line only. The axes have their
    heading already, which moves up.
    """
    factor = time_scale(end_ns)[0]
    drawn = -math.inf
    for time, _ in sorted(changes):
        if time - drawn >= end_ns / _CHANGES_APART:
            axes.axvline(time * factor, color=MUTED, linewidth=0.9, dashes=(2, 2), zorder=1)
            drawn = time
    if not named or end_ns <= 0:
        return
    width = 430.0 / getattr(axes.get_figure(), "columns", 1)  # about, in points: beside it stand names of lines
    free = [-math.inf] * _CHANGE_ROWS_MAX
    rows = 0
    for time, words in sorted(changes):
        half = len(words) * _LETTER_PT / 2
        at = time / end_ns * width
        middle = min(max(at, half), max(width - half, half))
        row = next((i for i, taken in enumerate(free) if middle - half >= taken), None)
        if row is None:
            continue
        free[row] = middle + half + 8
        rows = max(rows, row + 1)
        axes.annotate(
            words,
            (time * factor, 1),
            xycoords=("data", "axes fraction"),
            xytext=(middle - at, 4 + row * _ROW_PT),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=8,
            color=MUTED,
            annotation_clip=False,
        )
    axes.set_title(axes.get_title(loc="left"), loc="left", color=INK, pad=8 + rows * _ROW_PT)


def reference(axes: Axes, y: float, text: str, where: str = "left") -> None:
    """A thin horizontal line with its name."""
    axes.axhline(y, color=MUTED, linewidth=0.9, dashes=(4, 3))
    side = 0.005 if where == "left" else 0.995
    axes.annotate(
        text,
        (side, y),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        ha=where,
        va="bottom",
        color=MUTED,
        fontsize=8,
        bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.6, "alpha": 0.8},
    )


def ccdf(values: Array, points: int = 700) -> tuple[Array, Array]:
    """Complementary distribution `P(X > x)` of a sample, thinned evenly in the logarithm of the probability."""
    ordered = np.sort(values)
    n = ordered.size
    if n == 0:
        return ordered, ordered
    above = 1.0 - np.arange(1, n + 1) / n
    wanted = np.unique(np.clip(n - np.geomspace(1, n, points), 0, n - 1).astype(int))
    return ordered[wanted], np.maximum(above[wanted], 0.5 / n)


def cdf(values: Array, points: int = 700) -> tuple[Array, Array]:
    """Distribution `P(X <= x)` of a sample."""
    ordered = np.sort(values)
    if ordered.size == 0:
        return ordered, ordered
    wanted = np.unique(np.linspace(0, ordered.size - 1, min(points, ordered.size)).astype(int))
    return ordered[wanted], (wanted + 1) / ordered.size


def error_line(
    axes: Axes,
    x: Array,
    mean: Array,
    low: Array,
    high: Array,
    paint: str,
    label: str = "",
    dashes: str = "-",
    band: bool = True,
    gid: str = "",
) -> None:
    """A line through means with its band of confidence and a point for each mean; without `band` only the interval of each.

    On a page a click on a name hides what has it as `gid`.
    """
    known = ~np.isnan(mean)
    line: Any = {"color": paint, "marker": "o", "markersize": 3.6, "label": label or None, "clip_on": False, "gid": gid or label}
    axes.plot(x[known], mean[known], linestyle=dashes, **line)
    floor = 0.0 if (mean[known] >= 0).all() else -np.inf  # an interval of something that cannot be negative ends at 0
    low = np.maximum(low, floor)
    bound = known & ~np.isnan(low) & ~np.isnan(high)
    if bound.any():
        if band:
            axes.fill_between(x[bound], low[bound], high[bound], color=paint, alpha=0.18, linewidth=0, gid=gid or label)
        axes.vlines(x[bound], low[bound], high[bound], color=paint, linewidth=1.0, alpha=0.7, gid=gid or label)


def plain_ticks(axes: Axes, x: Sequence[float], labels: Sequence[str]) -> None:
    """Ticks exactly at the points that were run."""
    axes.set_xticks(list(x), list(labels))
    axes.minorticks_off()


def number_format(axes: Axes, axis: str, kind: str, subs: Sequence[float] = ()) -> None:
    """Says how the numbers of an axis are written (`elephan.report.paint.FORMATS`), and which parts of a decade have ticks."""
    cast("Recorder", axes).keep("number_format", axis, kind, subs)


def hide_spine(axes: Axes, side: str) -> None:
    """Leaves out the line of an axis."""
    cast("Recorder", axes).keep("hide_spine", side)


def tips(axes: Axes, x: Array, y: Array, texts: Sequence[str]) -> None:
    """Says what a page shows beside a pointer at some places."""
    cast("Recorder", axes).keep("tips", x, y, list(texts))


def tick_names(axes: Axes, axis: str, places: Array, texts: Sequence[str]) -> None:
    """Names the values of an axis for the pointer of a page, also those whose ticks have no room for a label."""
    cast("Recorder", axes).keep("tick_names", axis, places, list(texts))


def legend(axes: Axes, **where: Any) -> None:
    """A legend without a box."""
    axes.legend(frameon=False, fontsize=8.5, labelcolor=INK, handlelength=1.4, columnspacing=1.4, borderaxespad=0.3, **where)


def legend_below(axes: Axes) -> None:
    """Names below the picture, where there is more than one of them."""
    handles, labels = axes.get_legend_handles_labels()
    figure = axes.get_figure()
    if len(labels) > 1 and figure is not None:
        columns = 2 if max(len(label) for label in labels) > 24 else 4 if len(labels) == 4 else 3
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=8.5)


def log_time_axis(axes: Axes, axis: str, low_ns: float, high_ns: float) -> None:
    """A logarithmic axis of times in ns: 10 µs, 100 µs, 1 ms."""
    log_axis(axes, axis, low_ns, high_ns, "time")


def percent_axis(axes: Axes, axis: str = "y") -> None:
    """Fractions written as percent: 50 %, 0.1 %."""
    number_format(axes, axis, "percent")


def count_axis(axes: Axes, top: float) -> None:
    """A logarithmic y axis of counts, with 0 below 1."""
    axes.set_yscale("symlog", linthresh=1, linscale=0.4)
    axes.set_ylim(0, top * 1.5)
    axes.set_yticks([0.0, *(10.0**k for k in range(math.floor(math.log10(top)) + 1))])
    axes.minorticks_off()
    number_format(axes, "y", "count")


def log_axis(axes: Axes, axis: str, low: float, high: float, kind: str = "plain") -> None:
    """A logarithmic axis with plain numbers; within two decades also 2 and 5 are written."""
    scale, limit = (axes.set_yscale, axes.set_ylim) if axis == "y" else (axes.set_xscale, axes.set_xlim)
    scale("log")
    limit(low, high)
    number_format(axes, axis, kind, (1.0,) if high / low > 300 else (1.0, 2.0, 5.0))
