"""What the paper's text does not say: the region that its readings span, and which claims hold where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from elephan.base.quantity import show
from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.page.page import Cell, Column, Table, number_cell
from elephan.report.style import BLUE, INK, MUTED, VERMILLION, Drawing, new_figure
from elephan.studies.pcp_2006.curves import LOSS, MEAN, QUEUE, SD

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _shared(results: Results, experiment: str) -> list[str]:
    """Labels of the loads that both this experiment and the main one have."""
    main = {point.label for point in results.experiment("load").points["load"]}
    return [point.label for point in results.experiment(experiment).points["some_load"] if point.label in main]


def _over(results: Results, one: tuple[str, str], other: tuple[str, str], statistic: str) -> float:
    """Mean of the ratios of one (experiment, variant) to another with the same seed."""
    above, below = (results.by_seed(*variant, statistic) for variant in (one, other))
    found = [above[seed] / below[seed] for seed in above if below.get(seed, 0.0) > 0 and not np.isnan(above[seed])]
    return float(np.mean(found)) if found else float("nan")


def _ratio(results: Results, variant: str, load: str, statistic: str) -> float:
    """That of a reading to TCP."""
    return _over(results, ("assumed", f"{variant}/{load}"), ("load", f"TCP/{load}"), statistic)


def _paint(label: str) -> str:
    return {"default": BLUE, "no history": VERMILLION}.get(label, INK)


def _name(ax: Axes, found: dict[str, tuple[float, float]]) -> None:
    """Names of points, each at the first place beside its point where it covers no point and no other name."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    at = {label: np.array([(x - left) / (right - left), (y - bottom) / (top - bottom)]) for label, (x, y) in found.items()}
    taken = [(*(place - 0.012), *(place + 0.012)) for place in at.values()]
    height, letter, gap = 0.05, 0.0165, 0.018  # shares of the panel at this size of type
    for label, (x, y) in sorted(at.items(), key=lambda one: (one[0] != "default", one[0] != "no history")):
        width = letter * len(label)
        sides: list[tuple[float, Literal["left", "right"]]] = [(x + gap, "left"), (x - gap - width, "right")]
        for (start, align), shift in ((side, shift) for shift in (0.0, 0.04, -0.04) for side in sides):
            box = (start, y + shift - height / 2, start + width, y + shift + height / 2)
            covers = any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken)
            if not covers and min(box) >= 0 and max(box) <= 1:
                edge = start if align == "left" else start + width
                ax.text(edge, y + shift, label, transform=ax.transAxes, fontsize=6.5, color=_paint(label), ha=align, va="center")
                taken.append(box)
                break


def region(results: Results) -> Drawing:
    """Each reading as a point: its mean response time over TCP's and its loss, a panel for each load."""
    loads = _shared(results, "assumed")
    columns = min(2, len(loads))
    fig, axes = new_figure(-(-len(loads) // columns), columns, height=0.7 + 2.6 * (-(-len(loads) // columns)))
    for ax, load in zip(axes, loads, strict=False):
        found = {}
        for point in results.experiment("assumed").points["assumed"]:
            x, y = _ratio(results, point.label, load, MEAN), results.interval("assumed", f"{point.label}/{load}", LOSS).mean
            if not np.isnan(x + y):
                found[point.label] = (x, y)
        for label, place in found.items():
            size, order = (5, 4) if label == "default" else (3.6, 3)
            ax.plot(*place, "o", color=_paint(label), markersize=size, zorder=order)
        ax.axvline(1, color=MUTED, linewidth=0.9, dashes=(4, 3))
        ax.set_ylim(bottom=0)
        left, right = ax.get_xlim()
        ax.set_xlim(min(left, 0.95), right + 0.25 * (right - left))
        _name(ax, found)
        d.percent_axis(ax)
        ax.set_xlabel("mean response time over TCP's")
        d.heading(ax, f"{load} load: packets lost")
    for ax in axes[len(loads) :]:
        ax.set_visible(False)
    caption = (
        "Each point is PCP as read here with one of its assumed parameters changed, the others as they are by default (blue). "
        "Left of the dashed line it is faster than TCP (C002-1); at 0 it would lose nothing (C002-5). Where points crowd some "
        "have no name; the table has all. Same seeds for all."
    )
    return Drawing("assumed", "How far PCP as read here depends on what was assumed", caption, fig)


def holds(results: Results) -> Table:
    """Which of the paper's statements hold in which reading, load by load."""
    loads = _shared(results, "assumed")
    columns = [Column("reading"), *(Column(f"{load} load") for load in loads)]
    rows = []
    for point in results.experiment("assumed").points["assumed"]:
        cells = [Cell(point.label)]
        for load in loads:
            means = [_ratio(results, point.label, load, statistic) for statistic in (MEAN, SD, QUEUE)]
            loss = results.interval("assumed", f"{point.label}/{load}", LOSS).mean
            words = [name for name, ratio in zip(("mean", "sd", "queue"), means, strict=True) if ratio < 1]
            words += ["loss"] if loss == 0 else []
            cells.append(Cell(", ".join(words) or "none", more=f"mean {means[0]:.2f} of TCP's, loss {show(loss, '%', 2)}"))
        rows.append(cells)
    note = (
        "What PCP as read here does better than TCP in each reading: mean response time (C002-1), its deviation (C002-2), "
        "mean queue (C002-4), no loss at all (C002-5). By means over the repetitions; intervals are with the claims."
    )
    return Table(columns, rows, note)


def compared(results: Results, experiment: str, title: str) -> Table:
    """What the paper does not say of what PCP is compared with: an experiment whose readings are an axis of its name."""
    loads = _shared(results, experiment)
    columns = [Column(title), *(Column(f"{load} load", True) for load in loads)]
    rows = []
    for point in results.experiment(experiment).points[experiment]:
        cells = [Cell(point.label)]
        for load in loads:
            variant = f"{point.label}/{load}"
            mean, sd, loss = (results.interval(experiment, variant, name).mean for name in (MEAN, SD, LOSS))
            pcp = _over(results, ("load", f"PCP/{load}"), (experiment, variant), MEAN)
            more = f"sd {sd * 1e-6:.0f} ms, loss {show(loss, '%', 2)}, PCP {pcp:.2f} of it"
            cells.append(number_cell(mean, "ns", text=f"{mean * 1e-6:.0f} ms", more=more))
        rows.append(cells)
    note = "Mean response time; its standard deviation, packets lost, PCP's mean over it. Means over the repetitions."
    return Table(columns, rows, note)
