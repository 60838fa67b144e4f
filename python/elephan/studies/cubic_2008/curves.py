"""The figures: the tables as curves, how one entry settles, and how flows share."""

from __future__ import annotations

import numpy as np

from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.palette import look
from elephan.report.style import BLUE, GREEN, INK, MUTED, ORANGE, SKY, VERMILLION, Drawing, new_figure
from elephan.studies.cubic_2008 import rows, start, theory

PAINT = {"Reno": INK, "HSTCP": look("highspeed").color, "C 0.04": SKY, "C 0.4": BLUE, "C 4": GREEN}
WINDOW = "window_segments.mean"


def tables(results: Results) -> Drawing:
    """Draws tables 1 and 2: mean window against loss rate, here and as printed."""
    fig, axes = new_figure(1, 2, height=3.9, sharey=True)
    for ax, (rtt, printed) in zip(axes, rows.PRINTED.items(), strict=True):
        p = np.array([1 / rows.RATES[name] for name in printed])
        for place, column in enumerate(rows.COLUMNS):
            values = [row[place] for row in printed.values()]
            found = np.array([results.interval("tables", f"{column}, {name}, {1e3 * rtt:g} ms", WINDOW).mean for name in printed])
            ax.plot(p, values, color=PAINT[column], linewidth=1.0, dashes=(4, 3))
            known = ~np.isnan(found)
            ax.plot(p[known], found[known], "o", color=PAINT[column], markersize=4.2, label=column.replace("C ", "CUBIC, C = "))
        d.log_axis(ax, "x", 6e-7, 1.6e-2)
        d.log_axis(ax, "y", 8, 2e4)
        ax.set_xlabel("loss rate")
        d.heading(ax, f"mean window at {1e3 * rtt:g} ms", "segments")
    d.legend(axes[0], loc="lower left")
    caption = "Points: measured under deterministic loss. Dashed: the printed entries of tables 1 and 2 of RFC 9438."
    return Drawing("tables", "The tables of RFC 9438, measured", caption, fig)


def off(results: Results) -> Drawing:
    """Draws by how much each measured entry is off the printed one."""
    fig, axes = new_figure(1, 2, height=3.0, sharey=True)
    for ax, (rtt, printed) in zip(axes, rows.PRINTED.items(), strict=True):
        for place, column in enumerate(rows.COLUMNS):
            x = [1 / rows.RATES[name] for name in printed]
            y = [
                100 * (results.interval("tables", f"{column}, {name}, {1e3 * rtt:g} ms", WINDOW).mean / row[place] - 1)
                for name, row in printed.items()
            ]
            known = ~np.isnan(y)
            ax.plot(np.array(x)[known], np.array(y)[known], "o-", color=PAINT[column], markersize=3.6, label=column)
        d.log_axis(ax, "x", 6e-7, 1.6e-2)
        ax.axhspan(-100 * rows.MARGIN, 100 * rows.MARGIN, color=MUTED, alpha=0.15, linewidth=0)
        ax.set_xlabel("loss rate")
        d.heading(ax, f"off the table, {1e3 * rtt:g} ms", "%")
    d.legend(axes[1], loc="lower left")
    caption = "Grey: 5 %, the margin of the claims, to which half a printed segment is added."
    return Drawing("off", "Entry by entry", caption, fig)


def settling(results: Results) -> Drawing:
    """Draws how the mean window comes back to the cycle, measured and step by step."""
    fig, (axes,) = new_figure(height=3.2)
    steps = theory.Cycles(start.EVERY, start.RTT)
    for deviation, name, paint in ((start.ABOVE, "30 % above", VERMILLION), (0.0, "on the cycle", BLUE)):
        means = [mean for mean, _ in steps.means(start.TOP * (1 + deviation), 110)]
        axes.plot(range(110), means, color=paint, linewidth=1.0, dashes=(4, 3))
        x = np.array(start.AFTER) + start.SPAN / 2
        y = np.array([results.interval("settling", f"{name}, after {after} losses", WINDOW).mean for after in start.AFTER])
        known = ~np.isnan(y)
        axes.plot(x[known], y[known], "o", color=paint, label=f"begun {name}")
    d.reference(axes, start.MEAN, "1054, table 1", "right")
    d.reference(axes, 1246, "1246, once measured", "right")
    axes.set_xlim(0, 112)
    axes.set_ylim(1000, 1360)
    axes.set_xlabel("losses so far")
    d.heading(axes, "mean window", "segments")
    d.legend(axes, loc="upper right")
    caption = "p = 1e-5, 100 ms, C = 0.4. Points: measured over ten losses. Dashed: the cycle step by step (theory.py)."
    return Drawing("settling", "Why a measurement finds more than the table", caption, fig)


def shares(results: Results) -> Drawing:
    """Draws the ratio of throughputs against that of the round trips."""
    fig, (axes,) = new_figure(height=2.8)
    ratios = results.experiment("trips").points["ratio"]
    x = np.array([point.value for point in ratios])
    for experiment, paint, words in (("trips", BLUE, "buffer: the path"), ("trips-shallow", VERMILLION, "buffer: 0.2 of it")):
        each = [results.interval(experiment, f"{point.label}/2 flows", "goodput_bps.min/max") for point in ratios]
        mean, low, high = (np.array([getattr(one, what) for one in each]) for what in ("mean", "low", "high"))
        d.error_line(axes, x, 1 / mean, 1 / high, 1 / low, paint, words, band=False)
    grid = np.linspace(1, 4.4, 60)
    axes.plot(grid, grid, color=MUTED, dashes=(4, 3), label="inverse of the round trips")
    axes.plot(grid, grid**2, color=ORANGE, dashes=(1, 2), label="its square")
    axes.set_xlim(1, 4.5)
    axes.set_ylim(0, 8)
    axes.set_xlabel("ratio of the round trips")
    d.heading(axes, "ratio of the throughputs")
    d.legend(axes, loc="upper left")
    caption = "Two CUBIC flows over 100 Mb/s, 40 ms and 80 or 160 ms of propagation; a queue adds to both round trips."
    return Drawing("shares", "Flows with other round trips", caption, fig)
