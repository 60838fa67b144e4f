"""Figures of a comparison. Controllers stand in rows or in small pictures of their own, so that twenty stay readable."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.base.quantity import scale_for
from elephan.base.stats import Interval
from elephan.experiment.compare.experiments import STATISTICS
from elephan.experiment.compare.panel import Panel
from elephan.report.figure import draw as d
from elephan.report.figure.dots import NAME_MAX, dot_columns, mark, reach, row_height, rows_of, short_names, small_heading
from elephan.report.palette import look
from elephan.report.style import BLUE, INK, MUTED, PAPER, VERMILLION, Drawing, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

USED = 0.9  # of the most that a flow or pair gets, below which a pair leaves room
SCATTERED_MAX = 8  # with more congestion controls than this, names beside points would cover each other
WRAP = 165  # pixels of a small picture at least
_INTERVALS = "Points are means, lines their 95 % intervals over the repetitions."


def _paints(labels: Sequence[str]) -> list[str]:
    """The colour of each congestion control."""
    return [look(label).color for label in labels]


def overview(panel: Panel) -> Drawing:
    """Goodput, queueing delay and loss of one flow alone."""

    def all_of(statistic: str) -> list[Interval]:
        return [panel.interval("alone", label, statistic) for label in panel.labels]

    figure = dot_columns(
        panel.labels,
        [
            ("goodput", "bps", [("", all_of("goodput_bps"))]),
            ("queueing delay", "ns", [("mean", all_of("queue_delay_mean_ns")), ("99 %", all_of("queue_delay_p99_ns"))]),
            ("loss at the bottleneck", "%", [("", all_of("loss"))]),
        ],
        _paints(panel.labels),
    )
    caption = f"One flow alone, after the warm-up. {_INTERVALS}"
    return Drawing("overview", "What one flow makes of the bottleneck", caption, figure)


def tradeoff(panel: Panel) -> Drawing:
    """Goodput and queueing delay of two flows of a controller (RFC 7928): one against the other; with many controllers, or while no
    run of two flows is done, in rows.
    """
    points = []
    for label in panel.labels:
        both, delay = panel.together(label, label), panel.interval("pair", f"{label} + {label}", "queue_delay_mean_ns")
        if both.n and delay.n:
            points.append((label, delay, both.mean))
    return _scattered(points) if points and len(panel.labels) <= SCATTERED_MAX else _listed(panel)


def _listed(panel: Panel) -> Drawing:
    def all_of(statistic: str) -> list[Interval]:
        return [panel.interval("pair", f"{label} + {label}", statistic) for label in panel.labels]

    figure = dot_columns(
        panel.labels,
        [
            ("goodput of both", "bps", [("", [panel.together(label, label) for label in panel.labels])]),
            ("mean queueing delay", "ns", [("", all_of("queue_delay_mean_ns"))]),
            ("loss at the bottleneck", "%", [("", all_of("loss"))]),
        ],
        _paints(panel.labels),
    )
    caption = f"Two flows with the same congestion control, with the same round trip. {_INTERVALS}"
    return Drawing("tradeoff", "Goodput and queueing delay of two flows", caption, figure)


def _scattered(points: Sequence[tuple[str, Interval, float]]) -> Drawing:
    """Each controller with its delay and the goodput of both flows."""
    figure, (axes,) = new_figure(height=3.6)
    top_x, top_y = max(p[1].mean for p in points), max(p[2] for p in points)
    x, x_label = scale_for(top_x, "ns")
    y, y_label = scale_for(top_y, "bps")
    least = min(p[2] for p in points)
    room = max(0.04 * top_y, 0.35 * (top_y - least)) or 1.0
    axes.set_xlim(0, (top_x * x or 1.0) * 1.18)
    axes.set_ylim((least - room) * y, (top_y + room) * y)
    for label, delay, total in points:
        paint = look(label).color
        if math.isfinite(delay.low):
            axes.plot([max(delay.low, 0) * x, delay.high * x], [total * y] * 2, color=paint, linewidth=1.2, alpha=0.45)
        axes.plot([delay.mean * x], [total * y], "o", color=paint, markersize=5)
    small_heading(axes, "goodput of both flows", y_label)
    axes.set_xlabel(f"mean queueing delay, {x_label}; further to the left and higher is better")
    _label_points(axes, [(label, delay.mean * x, total * y) for label, delay, total in points])
    caption = "Two flows with the same congestion control, with the same round trip. Lines are 95 % intervals of the delay."
    return Drawing("tradeoff", "Goodput against queueing delay", caption, figure)


def _label_points(axes: Axes, points: Sequence[tuple[str, float, float]]) -> None:
    """Names beside points, in steps where they would cover each other: who stands further to the left is named higher, so that no
    line from a point to its name meets another name.
    """
    (x_low, x_high), (y_low, y_high) = axes.get_xlim(), axes.get_ylim()
    first, step, top = 0.028, 0.05, 0.97  # shares of the height: half a line of text, a line, the last line that is inside
    taken: list[tuple[float, float, float]] = []
    for label, x, y in sorted(points, key=lambda p: -p[1]):
        share_x, share_y = (x - x_low) / (x_high - x_low), (y - y_low) / (y_high - y_low)
        width = 0.012 * len(label) + 0.02
        left = share_x + width > 1
        begin = share_x - width if left else share_x

        def free(level: float, begin: float = begin, end: float = begin + width) -> bool:
            return not any(abs(level - other) < 0.95 * step and begin < e and s < end for s, e, other in taken)

        above = [share_y + first + step * k for k in range(len(points))]
        below = [share_y - first - step * k for k in range(len(points))]
        level = next((one for one in (*(one for one in above if one < top), *below) if free(one)), above[0])
        taken.append((begin, begin + width, level))
        axes.annotate(
            label,
            (x, y),
            xytext=(share_x + (-0.008 if left else 0.008), level),
            textcoords="axes fraction",
            fontsize=8.5,
            color=INK,
            ha="right" if left else "left",
            va="center",
            arrowprops={"arrowstyle": "-", "color": MUTED, "linewidth": 0.6, "relpos": (1.0 if left else 0.0, 0.5)}
            if abs(level - share_y) > 1.5 * first
            else None,
        )


def _heat(
    panel: Panel, value: Any, least: float, paint: Any, title: str, note: Callable[[str, str], str] = lambda _a, _b: ""
) -> Figure:
    """A cell for each pair of controllers: `value(a, b)` is an interval between `least` and 1, `paint(mean)` a colour and its
    strength, `note(a, b)` a line on top.
    """
    count = len(panel.labels)
    size = min(0.62, 5.6 / count)
    figure, (axes,) = new_figure(height=0.9 + size * count + 0.16 * _longest(panel) * (count > 6))
    for row, a in enumerate(panel.labels):
        for column, b in enumerate(panel.labels):
            interval = value(a, b)
            if math.isnan(interval.mean):
                continue
            colour, strength = paint(interval.mean)
            axes.bar(column, 1, 1, row - 0.5, color=colour, alpha=strength, linewidth=0)
            text = f"{interval.mean:.2f}"
            if count <= 7 and math.isfinite(interval.low) and interval.high > interval.low:
                axes.text(column, row + 0.27, _spread(interval, least), ha="center", va="center", fontsize=7, color=MUTED, fit=1.0)
            if said := note(a, b):
                axes.text(column, row - 0.36, said, ha="center", va="center", fontsize=min(7, 60 / count), color=INK)
            shift = -0.1 if count <= 7 else 0.0
            axes.text(column, row + shift, text, ha="center", va="center", fontsize=min(9.5, 130 / count + 1), color=INK)
    axes.set_xlim(-0.5, count - 0.5)
    axes.set_ylim(count - 0.5, -0.5)
    axes.grid(False)
    for side in ("left", "bottom"):
        d.hide_spine(axes, side)
    axes.tick_params(axis="x", top=True, labeltop=True, bottom=False, labelbottom=False)
    axes.set_xticks(range(count), short_names(panel.labels), rotation=90 if count > 6 else 0)
    axes.set_yticks(range(count), short_names(panel.labels))
    axes.tick_params(length=0, labelcolor=INK)
    axes.set_ylabel(title)
    for edge in range(count + 1):
        axes.axhline(edge - 0.5, color=PAPER, linewidth=1.5)
        axes.axvline(edge - 0.5, color=PAPER, linewidth=1.5)
    return figure


def _spread(interval: Interval, least: float) -> str:
    """Half of an interval, or both ends of one that is cut off at the least value or at 1."""
    low, high = f"{interval.low:.2f}", f"{interval.high:.2f}"
    if least < interval.low and interval.high < 1:
        return f"±{interval.half_width:.2f}"
    return f"{low} to {high}" if low != high else "±0.00"


def _longest(panel: Panel) -> float:
    return max(min(len(label), NAME_MAX) for label in panel.labels) / 3


def jain_map(panel: Panel) -> Drawing:
    """Jain's index of every pair."""

    def paint(mean: float) -> tuple[str, float]:
        return VERMILLION, min(1.0, max(0.0, (1 - mean) * 2)) * 0.8

    idle = {
        (a, b): share for a in panel.labels for b in panel.labels if (share := panel.together(a, b).mean / panel.most_bps) < USED
    }

    def note(a: str, b: str) -> str:
        return f"{100 * idle[a, b]:.0f} % used" if (a, b) in idle else ""

    figure = _heat(panel, panel.jain, STATISTICS["jain"].low, paint, "this congestion control", note)
    caption = (
        "Two flows at one bottleneck with the same round trip. 1: both get the same; 0.5: one has everything. "
        "The diagonal is a congestion control beside itself. The stronger the colour, the less fair."
    )
    if idle:
        caption += f" On top, where it is below {100 * USED:.0f} %: what both get together of the most that any flow or pair gets."
    return Drawing("jain", "Jain's index of every pair", caption, figure)


def share_map(panel: Panel) -> Drawing:
    """The share of the controller of the row beside that of the column."""

    def paint(mean: float) -> tuple[str, float]:
        return (BLUE if mean > 0.5 else VERMILLION), min(1.0, abs(mean - 0.5) * 2) * 0.75

    figure = _heat(panel, panel.share, 0.0, paint, "share of this congestion control")
    caption = (
        "What the congestion control of the row gets of the goodput of both, beside that of the column. "
        "Blue: more than half; vermillion: less than half."
    )
    return Drawing("share", "Who gets how much of whom", caption, figure)


def friendliness(panel: Panel) -> Drawing:
    """What a Reno flow keeps."""
    labels = [label for label in panel.labels if label != "reno"] or panel.labels
    intervals = [panel.friendliness(label) for label in labels]
    figure, (axes,) = new_figure(height=row_height(len(labels)))
    rows_of(axes, labels)
    axes.axvline(1, color=MUTED, linewidth=0.9, dashes=(4, 3))
    axes.set_xlim(0, max(1.15, reach([intervals]) * 1.08))
    mark(axes, intervals, 1.0, _paints(labels))
    small_heading(axes, "goodput of a Reno flow beside this congestion control, over that beside another Reno flow")
    caption = f"1: as friendly to Reno as Reno itself; below, it takes from Reno. {_INTERVALS}"
    return Drawing("friendliness", "What a Reno flow keeps", caption, figure)


def rtt_fairness(panel: Panel) -> Drawing:
    """Goodput of the long round trip over that of the short one."""
    intervals = [panel.interval("rtt", label, "long_over_short") for label in panel.labels]
    figure, (axes,) = new_figure(height=row_height(len(panel.labels)))
    rows_of(axes, panel.labels)
    for place in (1.0, 0.25):
        axes.axvline(place, color=MUTED, linewidth=0.9, dashes=(4, 3))
    axes.set_xlim(0, max(1.15, reach([intervals]) * 1.08))
    mark(axes, intervals, 1.0, _paints(panel.labels))
    small_heading(axes, "goodput of the flow with four times the round trip, over that of the other")
    caption = f"Dashed: equal shares, and shares by the inverse of the round trip (1/4). {_INTERVALS}"
    return Drawing("rtt-fairness", "Round-trip fairness", caption, figure)


def convergence(panel: Panel) -> Drawing:
    """Times until a joining flow has its share."""
    labels = panel.labels
    figure, axes = new_figure(1, 2, row_height(len(labels)))
    what = (("delta_fair_ns", "until both have 45 % of the whole"), ("settled_ns", "until both are within 20 % of half for 5 s"))
    for i, (axis, (statistic, title)) in enumerate(zip(axes, what, strict=True)):
        found = [panel.until("join", label, statistic, "horizon_ns") for label in labels]
        top = reach([[interval for interval, _ in found]])
        factor, unit = scale_for(top, "ns")
        rows_of(axis, labels, named=i == 0)
        axis.set_xlim(0, (top * factor or 1.0) * 1.12)
        mark(axis, [interval for interval, _ in found], factor, _paints(labels))
        for row, (interval, late) in enumerate(found):
            if late:
                axis.annotate(
                    f"not in {late} of {interval.n}",
                    (interval.mean * factor, row),
                    xytext=(0, 6),
                    textcoords="offset points",
                    fontsize=7.5,
                    color=VERMILLION,
                    ha="right" if interval.mean > 0.6 * top else "left",
                )
        small_heading(axis, title)
        axis.set_xlabel(unit)
    caption = (
        "Time from the start of the second flow (left: delta-fair with delta = 0.1). A run in which it never happened counts with "
        f"the time that was watched and is written beside. {_INTERVALS}"
    )
    return Drawing("convergence", "Time until a flow that joins has its share", caption, figure)


def _grid(labels: Sequence[str], height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """A small picture for each controller."""
    columns = len(labels) if len(labels) <= 3 else 4 if len(labels) > 8 else 2 if len(labels) == 4 else 3
    rows = -(-len(labels) // columns)
    figure, axes = new_figure(rows, columns, 0.5 + height * rows, WRAP, sharex=True, sharey=True, **options)
    for axis in axes[len(labels) :]:
        axis.set_visible(False)
    for axis, label in zip(axes, labels, strict=False):
        axis.set_title("\n".join(textwrap.wrap(label, 26)[:2]), loc="left", fontsize=9)
    return figure, axes[: len(labels)]


def _series(panel: Panel, experiment: str, label: str) -> list[Mapping[str, Any]]:
    chosen = [one for one in panel.series if one["experiment"] == experiment and one["variant"] in (label, f"{label} + {label}")]
    return sorted(chosen, key=lambda one: one["seed"])


def _flows_over_time(
    panel: Panel, experiment: str, columns: Sequence[tuple[str, str]], height: float
) -> tuple[Figure, list[Axes], str]:
    """Series of every repetition, faint, and their mean, in a small picture for each controller.

    `columns`: each with its colour; without one it is that of the congestion control.
    """
    found = {label: _series(panel, experiment, label) for label in panel.labels}
    means = [
        np.mean([one["columns"][column] for one in _even(runs, column)], axis=0)
        for runs in found.values()
        for column, _ in columns
        if runs
    ]
    top = max((float(mean.max()) for mean in means), default=1.0)
    unit = columns[0][0].rsplit("_", 1)[1]
    factor, label_of = scale_for(top, unit)
    figure, axes = _grid(panel.labels, height)
    for axis, label in zip(axes, panel.labels, strict=True):
        for column, given in columns:
            paint = given or look(label).color
            runs = _even(found[label], column)
            if not runs:
                continue
            for one in runs:
                axis.plot(one["columns"]["time_s"], one["columns"][column] * factor, color=paint, linewidth=0.5, alpha=0.22)
            mean = np.mean([one["columns"][column] for one in runs], axis=0)
            axis.plot(runs[0]["columns"]["time_s"], mean * factor, color=paint, linewidth=1.5)
        axis.set_ylim(0, (top * factor or 1.0) * 1.15)
    return figure, axes, label_of


def _even(runs: Sequence[Mapping[str, Any]], column: str) -> list[dict[str, Any]]:
    """Runs cut to the length of the shortest."""
    if not runs:
        return []
    length = min(len(one["columns"][column]) for one in runs)
    return [{"columns": {k: np.asarray(v)[:length] for k, v in one["columns"].items()}} for one in runs]


def joining(panel: Panel) -> Drawing:
    """Goodput of both flows around the moment when the second joins."""
    figure, axes, unit = _flows_over_time(panel, "join", [("goodput_a_bps", ""), ("goodput_b_bps", MUTED)], 1.25)
    for axis in axes:
        axis.axvline(0, color=MUTED, linewidth=0.6, dashes=(2, 2))
    figure.supxlabel("time since the second flow began, s", fontsize=9, color=MUTED)
    figure.supylabel(f"goodput, {unit}", fontsize=9, color=MUTED)
    caption = (
        "Grey: the flow that joins; in the colour of its congestion control: the one that was there. "
        "Windows of 1 s; thin lines are single runs, bold their mean."
    )
    return Drawing("joining", "A second flow joins", caption, figure)


def windows(panel: Panel) -> Drawing:
    """Congestion window of one flow alone."""
    found = {label: _series(panel, "alone", label) for label in panel.labels}
    tops = [float(np.percentile(runs[0]["columns"]["cwnd_bytes"], 99)) for runs in found.values() if runs]
    bdp = float(panel.facts["network"]["rate_bps"]) * float(panel.facts["network"]["rtt_s"]) / 8
    top = max([*tops, bdp])
    factor, unit = scale_for(top, "bytes")
    figure, axes = _grid(panel.labels, 1.15)
    for axis, label in zip(axes, panel.labels, strict=True):
        axis.axhline(bdp * factor, color=MUTED, linewidth=0.7, dashes=(4, 3))
        for one in found[label][:1]:
            line = d.thin(one["columns"]["time_s"], one["columns"]["cwnd_bytes"] * factor, 500)
            axis.plot(*line, color=look(label).color, linewidth=1.0)
        axis.set_ylim(0, (top * factor or 1.0) * 1.12)
    figure.supxlabel("simulated time, s", fontsize=9, color=MUTED)
    figure.supylabel(f"congestion window, {unit}", fontsize=9, color=MUTED)
    caption = "One flow alone, the first repetition. Dashed: the bandwidth-delay product."
    return Drawing("windows", "Congestion windows", caption, figure)


def change(panel: Panel) -> list[Drawing]:
    """How one flow follows the capacity."""
    shown = next(one for one in panel.facts["experiments"] if one["name"] == "change")
    drop, rise = shown["event_s"]
    rate = float(panel.facts["network"]["rate_bps"])
    figure, axes, unit = _flows_over_time(panel, "change", [("goodput_a_bps", "")], 1.15)
    factor = scale_for(rate, "bps")[0]
    for axis in axes:
        x = [drop / 2, drop, drop, rise, rise, shown["duration_s"]]
        axis.plot(x, np.array([1, 1, 0.25, 0.25, 1, 1]) * rate * factor, color=MUTED, linewidth=0.9, dashes=(4, 2), zorder=1)
        axis.set_ylim(0, rate * factor * 1.15)
    figure.supxlabel("simulated time, s", fontsize=9, color=MUTED)
    figure.supylabel(f"goodput, {unit}", fontsize=9, color=MUTED)
    note = "Dashed: the capacity of the wire. Windows of 0.5 s; thin lines are single runs, the bold line their mean."
    first = Drawing("capacity", "Goodput while the capacity changes", note, figure)

    figure, axes, unit = _flows_over_time(panel, "change", [("queue_delay_ns", "")], 1.15)
    figure.supxlabel("simulated time, s", fontsize=9, color=MUTED)
    figure.supylabel(f"queueing delay, {unit}", fontsize=9, color=MUTED)
    note = "The longest delay in windows of 0.5 s; thin lines are single runs, the bold line their mean."
    second = Drawing("capacity-delay", "Queueing delay while the capacity changes", note, figure)

    def all_of(statistic: str) -> list[Interval]:
        return [panel.interval("change", label, statistic) for label in panel.labels]

    rises = [panel.until("change", label, "rise_ns", "rise_horizon_ns")[0] for label in panel.labels]
    delays = [("mean", all_of("drop_queue_mean_ns")), ("longest", all_of("drop_queue_peak_ns"))]
    columns: list[Any] = [
        ("delay at low capacity", "ns", delays),
        ("loss at low capacity", "%", [("", all_of("drop_loss"))]),
        ("until 80 % is used again", "ns", [("", rises)]),
    ]
    note = f"At a quarter of the capacity, and after it came back. {_INTERVALS}"
    drawn = dot_columns(panel.labels, columns, _paints(panel.labels))
    third = Drawing("capacity-figures", "A capacity that falls and comes back", note, drawn)
    return [third, first, second]
