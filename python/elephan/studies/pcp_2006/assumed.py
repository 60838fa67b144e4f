"""What the paper's text does not say: the region that its readings span, and which claims hold where."""

from __future__ import annotations

import numpy as np

from elephan.report import draw as d
from elephan.report.page import Cell, Column, Table
from elephan.report.style import BLUE, INK, MUTED, VERMILLION, Drawing, new_figure
from elephan.studies.pcp_2006.curves import LOSS, MEAN, QUEUE, SD
from elephan.study import Results


def _shared(results: Results, experiment: str) -> list[str]:
    """Labels of the loads that both this experiment and the main one have."""
    main = {point.label for point in results.experiment("load").points["load"]}
    return [point.label for point in results.experiment(experiment).points["some_load"] if point.label in main]


def _ratio(results: Results, variant: str, load: str, statistic: str) -> float:
    """Mean of the ratios to TCP with the same seed."""
    own = results.by_seed("assumed", f"{variant}/{load}", statistic)
    tcp = results.by_seed("load", f"TCP/{load}", statistic)
    found = [own[seed] / tcp[seed] for seed in own if tcp.get(seed, 0.0) > 0 and not np.isnan(own[seed])]
    return float(np.mean(found)) if found else float("nan")


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
        widths = [max(float(np.ptp(values)), 1e-9) for values in zip(*found.values(), strict=True)] if found else [1.0, 1.0]
        for label, place in found.items():
            paint = {"default": BLUE, "no history": VERMILLION}.get(label, INK)
            ax.plot(*place, "o", color=paint, markersize=5 if label == "default" else 3.6, zorder=4 if label == "default" else 3)
            away = [abs(u - v) / width for u, v, width in zip(place, found.get("default", place), widths, strict=True)]
            if label == "default" or max(away) > 0.06:
                ax.annotate(label, place, xytext=(4, 2), textcoords="offset points", fontsize=6.5, color=paint)
        ax.axvline(1, color=MUTED, linewidth=0.9, dashes=(4, 3))
        ax.set_ylim(bottom=0)
        left, right = ax.get_xlim()
        ax.set_xlim(min(left, 0.95), right + 0.25 * (right - left))
        d.percent_axis(ax)
        ax.set_xlabel("mean response time over TCP's")
        d.heading(ax, f"{load} load: packets lost")
    for ax in axes[len(loads) :]:
        ax.set_visible(False)
    caption = (
        "Each point is PCP with one of its assumed parameters changed, the others as they are by default (blue). Left of the "
        "dashed line PCP is faster than TCP (C002-1); on the axis it loses nothing (C002-5). Points without a name hardly "
        "differ from the default. Same seeds for all."
    )
    return Drawing("assumed", "How far PCP depends on what was assumed", caption, fig)


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
            cells.append(Cell(", ".join(words) or "none", f"mean {means[0]:.2f} of TCP's, loss {100 * loss:.2g} %"))
        rows.append(cells)
    note = (
        "What PCP does better than TCP in each reading: mean response time (C002-1), its deviation (C002-2), mean queue (C002-4), "
        "no loss at all (C002-5). By means over the repetitions; intervals are with the claims."
    )
    return Table(columns, rows, note)


def tcp(results: Results) -> Table:
    """What the paper does not say of its TCP."""
    loads = _shared(results, "tcp")
    columns = [Column("TCP"), *(Column(f"{load} load", True) for load in loads)]
    rows = []
    for point in results.experiment("tcp").points["tcp"]:
        cells = [Cell(point.label)]
        for load in loads:
            mean, sd = (results.interval("tcp", f"{point.label}/{load}", name).mean * 1e-6 for name in (MEAN, SD))
            cells.append(Cell(f"{mean:.0f} ms", f"deviation {sd:.0f} ms"))
        rows.append(cells)
    return Table(columns, rows, "Mean response time and its standard deviation; means over the repetitions.")
