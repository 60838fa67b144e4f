"""The charts of the slides: throughput, drops, latency, bandwidth sharing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import scale_for, show
from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.style import BLUE, INK, MUTED, PAPER, VERMILLION, Drawing, color, new_figure
from elephan.report.words.view import View
from elephan.result.run import Run
from elephan.table.rows import column, windows
from elephan.theory import closed as theory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NOFC, PAUSE = "NoFC", "8023x"
PAINT = {NOFC: VERMILLION, PAUSE: BLUE}
CAPACITY_BPS = theory.max_goodput("10 Gbps")


def drawings(results: Results) -> list[Drawing]:
    """The counterparts of the slides' charts."""
    first = {variant: results.runs("main", variant)[0] for variant in (NOFC, PAUSE) if results.runs("main", variant)}
    found = [throughput(results), drops(results), latency(first)]
    titles = {
        NOFC: ("Bandwidth sharing between TCP applications, no flow control", "sharing-nofc"),
        PAUSE: ("Bandwidth sharing between TCP applications, with flow control", "sharing-8023x"),
    }
    return found + [sharing(run, *titles[variant]) for variant, run in first.items()]


def _bar(axes: Axes, place: float, values: list[float], paint: str, factor: float) -> None:
    from elephan.base.stats import mean_interval

    interval = mean_interval(values)
    axes.barh(place, interval.mean * factor, height=0.62, color=paint, alpha=0.85)
    axes.plot(np.array(values) * factor, np.full(len(values), place), "|", color=INK, markersize=7, alpha=0.5)
    if np.isfinite(interval.low):
        axes.plot([interval.low * factor, interval.high * factor], [place, place], color=INK, linewidth=2)
    axes.annotate(
        show(interval.mean, "bps"),
        (0, place),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
        color=PAPER,
        fontweight="bold",
    )


def throughput(results: Results) -> Drawing:
    """Goodput and wire throughput of both cases."""
    fig, (axes,) = new_figure(height=2.7)
    rows = [(v, s) for s in ("goodput_bps.sum", "wire_bps.sum") for v in (NOFC, PAUSE)]
    names = {"goodput_bps.sum": "TCP, without overheads", "wire_bps.sum": "on the wire"}
    for place, (variant, statistic) in zip((3.4, 2.6, 1.4, 0.6), rows, strict=True):
        _bar(axes, place, results.values("main", variant, statistic), PAINT[variant], 1e-9)
    axes.set_yticks([3.4, 2.6, 1.4, 0.6], [f"{names[s]}, {v}" for v, s in rows])
    axes.grid(visible=False)
    axes.axvline(CAPACITY_BPS * 1e-9, color=MUTED, dashes=(4, 3), linewidth=0.9)
    axes.annotate(
        f"most that TCP can have: {show(CAPACITY_BPS, 'bps')}",
        (CAPACITY_BPS * 1e-9, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(0, 4),
        textcoords="offset points",
        ha="right",
        fontsize=8.5,
        color=MUTED,
    )
    axes.set_xlim(0, 11.4)
    axes.set_xlabel("throughput at the server, Gb/s")
    caption = "Slide: TCP Application Throughput. Bars are means, ticks single runs, thick lines 95 % intervals."
    return Drawing("throughput", "Throughput at the server", caption, fig)


def _drop_series(run: Run) -> tuple[d.Array, d.Array]:
    """Cumulative drops of the whole switch over time."""
    view = View(run)
    ports = view.port_series("drops")
    time = next(iter(ports.values()))[0]
    return time, np.sum([values for _, values in ports.values()], axis=0)


def drops(results: Results) -> Drawing:
    """Cumulative drops over time, every repetition."""
    fig, (axes,) = new_figure(height=2.9)
    ends = []
    for variant in (NOFC, PAUSE):
        last = []
        for run in results.runs("main", variant):
            time, count = _drop_series(run)
            axes.plot(*d.thin(time * 1e-9, count, 600), color=PAINT[variant], linewidth=0.9, alpha=0.55)
            last.append(float(count[-1]))
        if last:
            ends.append((float(np.mean(last)), f"{variant}: {show(float(np.mean(last)), '1')}", PAINT[variant]))
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=-0.02 * max([e[0] for e in ends] + [1.0]))
    d.heading(axes, "packets dropped at the switch since the start")
    axes.set_xlabel("simulated time, s")
    d.end_labels(axes, ends)
    caption = "Slide: Packet Drop at the Switch, No Flow Control. A line for each repetition; with 802.3x they lie on zero."
    return Drawing("drops", "Packets dropped at the switch", caption, fig)


def latency(runs: dict[str, Run]) -> Drawing:
    """Every message's latency over time, for one seed."""
    fig, axes = new_figure(1, 2, height=3.2, sharey=True)
    slowest = 1e6
    for ax, (variant, run) in zip(axes, runs.items(), strict=False):
        enter, value = column(run.messages, "enter_ns"), column(run.messages, "latency_ns")
        known = ~np.isnan(value)
        enter, value = enter[known], value[known]
        ordinary = np.flatnonzero(value < np.quantile(value, 0.98))[:: max(1, value.size // 4000)]
        shown = np.concatenate([ordinary, np.flatnonzero(value >= np.quantile(value, 0.98))[:: max(1, value.size // 150_000)]])
        ax.plot(enter[shown] * 1e-9, value[shown], ".", color=PAINT[variant], markersize=2, alpha=0.5, rasterized=True)
        ax.set_xlim(0, 1)
        ax.set_xlabel("simulated time, s")
        d.heading(ax, f"{variant}: latency of each message")
        slowest = max(slowest, float(value.max()))
    d.log_time_axis(axes[0], "y", 3e3, slowest * 1.5)
    caption = (
        "Slide: TCP Application Latency. From entry into the client's TCP to the last byte at the server application, "
        "retransmissions included. Seed 1; a sample of the messages and all of the slowest 2 %."
    )
    return Drawing("latency-time", "Application latency", caption, fig)


def sharing(run: Run, title: str, name: str) -> Drawing:
    """Goodput of each client in windows of 10 ms, and 20 ms of it in windows of 1 ms."""
    fig, axes = new_figure(1, 2, height=3.1, sharey=True, gridspec_kw={"width_ratios": [3, 2]})
    names = View(run).flow_names
    for ax, step, begin, end in ((axes[0], 10_000_000, 100e6, 1000e6), (axes[1], 1_000_000, 500e6, 560e6)):
        starts, shares, flows = windows(run, step)
        rates = shares * 8e9 / step
        chosen = (starts >= begin) & (starts < end)
        together = float(np.ptp(rates[chosen], axis=1).max()) < 0.02 * CAPACITY_BPS  # then widths keep all three visible
        for i, flow in enumerate(flows):
            width = 4.6 - 1.8 * i if together else 1.2
            ax.plot((starts[chosen] + step / 2) * 1e-6, rates[chosen, i] * 1e-9, color=color(i), linewidth=width, label=names[flow])
        ax.set_xlim(begin * 1e-6, end * 1e-6)
        ax.set_ylim(0, 10)
        ax.axhline(CAPACITY_BPS / 3e9, color=MUTED, dashes=(4, 3), linewidth=0.9)
        d.heading(ax, f"goodput per {show(step, 'ns')}", "Gb/s")
        ax.set_xlabel("simulated time, ms")
    handles, labels = axes[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8.5, labelcolor=INK, handlelength=1.4)
    factor, _ = scale_for(CAPACITY_BPS, "bps")
    axes[1].annotate(
        "a third", (1, CAPACITY_BPS / 3 * factor), xycoords=("axes fraction", "data"), xytext=(-2, 3),
        textcoords="offset points", ha="right", fontsize=8, color=MUTED,
    )  # fmt: skip
    caption = "Slide: BW Sharing between TCP Applications. Seed 1; the dashed line is a third of the capacity."
    return Drawing(name, title, caption, fig)
