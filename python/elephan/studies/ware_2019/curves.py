"""The model, the simulations and a re-run with Linux hosts beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.palette import look
from elephan.report.style import INK, MUTED, PURPLE, VERMILLION, Drawing, new_figure
from elephan.studies.ware_2019 import grid, model, rows
from elephan.table.rows import column, texts, windows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAINT = {1: VERMILLION, 4: PURPLE, 16: INK}
AXIS = {"cubic": "queue", "reno": "queue", "fast": "short_queue"}


def share(results: Results, network: str, flows: int, queue: int) -> float:
    """Returns BBR's mean share of the link in a cell; NaN if it was not run."""
    found = results.interval(network, f"{flows} BBR/{queue} BDP", rows.SHARE)
    return found.mean / grid.capacity(grid.NETWORKS[network]) if found.n else float("nan")


def _panel(ax: Axes, results: Results, network: str, numbers: tuple[int, ...]) -> None:
    path = grid.NETWORKS[network]
    fine = np.geomspace(1, 64, 120)
    ends = []
    for flows in numbers:
        cells = results.experiment(network).points[AXIS[network]]
        found = [results.interval(network, f"{flows} BBR/{point.label}", rows.SHARE) for point in cells]
        x = np.array([point.value for point, one in zip(cells, found, strict=True) if one.n])
        if not x.size:
            continue
        top = grid.capacity(path)
        mean, low, high = (np.array([getattr(one, key) / top for one in found if one.n]) for key in ("mean", "low", "high"))
        d.error_line(ax, x, mean, low, high, PAINT[flows])
        ax.plot(fine, [model.bbr_share(path, q, flows) for q in fine], "--", color=PAINT[flows], linewidth=1.0)
        ax.plot(fine, [model.careful_share(path, q, flows) for q in fine], ":", color=PAINT[flows], linewidth=1.2)
        again = [(q, value) for (name, n, q), value in grid.rerun().items() if (name, n) == (network, flows)]
        if again:
            ax.plot(*np.array(again).T, "o", color=PAINT[flows], markersize=5.4, markerfacecolor="none")
        ends.append((float(mean[-1]), f"{flows} BBR", PAINT[flows]))
    d.log_axis(ax, "x", 0.9, 70)
    d.plain_ticks(ax, grid.QUEUES, [str(queue) for queue in grid.QUEUES])
    ax.set_ylim(0, 1.05)
    ax.set_xlabel("queue, BDP")
    d.percent_axis(ax)
    d.heading(ax, rows.NAMES[network])
    if len(numbers) > 1:
        d.end_labels(ax, ends)


def one(results: Results) -> Drawing:
    """Figure 8: one BBR flow against one loss-based flow."""
    fig, axes = new_figure(1, 3, height=3.1)
    for ax, network in zip(axes, grid.NETWORKS, strict=True):
        _panel(ax, results, network, (1,))
    caption = (
        "BBR's share of the link in the last 100 s. Dashed: the model. Dotted: the same with two changes (careful_share of "
        "model.py). Line: simulations with 95 % intervals. Circles: a re-run with Linux hosts in Mininet "
        "(wisclmy0611/bbr-fairness-experiment), read from its plots with an error of 0.01."
    )
    return Drawing("one-flow", "One BBR flow against one loss-based flow", caption, fig)


def more(results: Results) -> Drawing:
    """Figure 8: several BBR flows against one loss-based flow."""
    fig, axes = new_figure(1, 3, height=3.1)
    for ax, network in zip(axes, grid.NETWORKS, strict=True):
        _panel(ax, results, network, (4, 16))
    caption = "The same with 4 and 16 BBR flows: their share together. Lines as above. Circles: the re-run, with 4 flows."
    return Drawing("more-flows", "Several BBR flows against one loss-based flow", caption, fig)


def time(results: Results) -> Drawing:
    """Figure 1: goodput over time."""
    fig, axes = new_figure(1, 1, height=3.0)
    ax = axes[0]
    run = results.runs("time", results.experiment("time").variants[0].label)[0]
    begins, delivered, numbers = windows(run, 5_000_000_000)
    ends = []
    names = dict(zip((int(n) for n in column(run.flows, "flow")), texts(run.flows, "traffic"), strict=True))
    for place, number in enumerate(numbers):
        bbr = names[number] == "bbr"
        paint, label = (VERMILLION, "BBR") if bbr else (look("cubic").color, "CUBIC")
        rate = delivered[:, place] * 8 / 5e6
        ax.plot(begins * 1e-9 + 2.5, rate, color=paint)
        ends.append((float(rate[-6:].mean()), label, paint))
    for (begin, end), mean in grid.FIGURE_1.items():
        ax.fill_between([begin, end], [mean - grid.READING_ERROR] * 2, [mean + grid.READING_ERROR] * 2, color=MUTED, alpha=0.5)
    predicted = model.bbr_share(grid.NETWORKS["cubic"], 32, 1) * grid.capacity(grid.NETWORKS["cubic"]) * 1e-6
    d.reference(ax, predicted, "the model", "right")
    ax.set_xlim(0, 300)
    ax.set_ylim(0, 10)
    ax.set_xlabel("time, s")
    d.heading(ax, "goodput", "Mb/s")
    d.end_labels(ax, ends)
    caption = (
        "One BBR flow and one CUBIC flow over 10 Mb/s and 40 ms with a queue of 32 products, means over 5 s of one run. Grey: "
        "means of the BBR flow in the authors' own figure, with the error of reading."
    )
    return Drawing("figure-1", "Minutes until the shares are steady", caption, fig)


def others(results: Results) -> Drawing:
    """Figure 1c and section 4.1: the number of loss-based flows."""
    fig, axes = new_figure(1, 2, height=3.0)
    top = grid.capacity(grid.NETWORKS["cubic"])
    experiment = results.experiment("others")
    for ax, against in zip(axes, ("CUBIC", "Reno"), strict=True):
        ends = []
        for queue, paint in ((8, VERMILLION), (32, INK)):
            points = experiment.points["others"]
            found = [results.interval("others", f"{against}/{queue} BDP/{point.label}", rows.SHARE) for point in points]
            known = [(point.value, one) for point, one in zip(points, found, strict=True) if one.n]
            if not known:
                continue
            x = np.array([value for value, _ in known])
            mean, low, high = (np.array([getattr(one, key) / top for _, one in known]) for key in ("mean", "low", "high"))
            d.error_line(ax, x, mean, low, high, paint)
            ax.axhline(model.bbr_share(grid.NETWORKS["cubic"], queue, 1), color=paint, linewidth=0.9, dashes=(4, 3))
            ends.append((float(mean[-1]), f"{queue} BDP", paint))
        d.log_axis(ax, "x", 0.9, 18)
        d.plain_ticks(ax, grid.OTHERS, [str(number) for number in grid.OTHERS])
        ax.set_ylim(0, 0.7)
        ax.set_xlabel(f"{against} flows")
        d.percent_axis(ax)
        d.heading(ax, f"share of one BBR flow beside {against}")
        d.end_labels(ax, ends)
    caption = (
        "10 Mb/s and 40 ms, the last 100 s of 400 s. Dashed: the model, in which the number of loss-based flows plays no part."
    )
    return Drawing("others", "How many loss-based flows there are", caption, fig)


def alone(results: Results) -> Drawing:
    """Section 4.2: BBR flows without others."""
    fig, axes = new_figure(1, 1, height=3.0)
    ax, path = axes[0], grid.NETWORKS["cubic"]
    fine = np.geomspace(1, 32, 100)
    theory = {
        "queue_bytes.min": [model.rtt_estimate_s(path, n) * path.packets_per_s - path.product for n in fine],
        "queue_bytes.p50": [model.standing_queue(path, n) for n in fine],
    }
    for statistic, paint, label in (("queue_bytes.min", INK, "least"), ("queue_bytes.p50", VERMILLION, "median")):
        points = results.experiment("alone").points["flows"]
        found = [results.interval("alone", point.label, statistic) for point in points]
        x = np.array([point.value for point in points])
        mean, low, high = (np.array([getattr(one, key) / grid.PACKET for one in found]) for key in ("mean", "low", "high"))
        d.error_line(ax, x, mean, low, high, paint, label=label)
        ax.plot(fine, theory[statistic], "--", color=paint, linewidth=1.0)
    d.log_axis(ax, "x", 0.9, 36)
    d.plain_ticks(ax, grid.FLOWS, [str(number) for number in grid.FLOWS])
    ax.set_ylim(bottom=0)
    ax.set_xlabel("BBR flows")
    d.heading(ax, "queue", "packets")
    d.legend(ax, loc="upper left")
    caption = "BBR flows alone over 10 Mb/s and 40 ms (33 packets) with room for 64 products, from 60 to 120 s. Dashed: the model."
    return Drawing("alone", "BBR flows alone", caption, fig)
