"""Response functions, background, impact: the figures of the slides again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.base.stats import Interval
from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.style import INK, MUTED, Drawing, new_figure
from elephan.result.run import Run
from elephan.studies.ucl_2004.common import LEFT_BPS, NAMES, PAINT, impact, impact_on_background, present
from elephan.studies.ucl_2004.response import BERNOULLI, BY_NAME, CONTROLLERS, PERIODIC
from elephan.table.rows import Part, column

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MODES = {"periodic": ("one loss in 1/p new segments", PERIODIC), "bernoulli": ("each segment lost with probability p", BERNOULLI)}
STACKS = ("reno", "highspeed", "scalable", "htcp")


def measured(results: Results, mode: str, controller: str) -> tuple[d.Array, d.Array, d.Array, d.Array]:
    """Loss rates, mean windows and their intervals of a controller."""
    rows = []
    for label, every in MODES[mode][1].items():
        interval = results.interval(mode, f"{controller} {label}", "window_segments.mean")
        if interval.n:
            rows.append((1 / every, interval.mean, interval.low, interval.high))
    table = np.array(rows).reshape(-1, 4)
    return table[:, 0], table[:, 1], table[:, 2], table[:, 3]


def response(results: Results) -> Drawing:
    """Mean window against loss, with closed forms."""
    fig, axes = new_figure(1, 2, height=4.3, sharey=True)
    for ax, (mode, (words, rates)) in zip(axes, MODES.items(), strict=True):
        lowest, highest = 1 / max(rates.values()), 1 / min(rates.values())
        grid, ends = np.geomspace(lowest, highest, 60 if mode == "periodic" else 16), []
        for controller in CONTROLLERS:
            form = np.array([controller.window(p, mode) for p in grid])
            ax.plot(grid, form, color=PAINT[controller.name], linewidth=1.1, alpha=0.75)
            p, mean, _, _ = measured(results, mode, controller.name)
            ax.plot(p, mean, "o" if controller.name != "griddt" else "D", color=PAINT[controller.name], markersize=4, clip_on=False)
            ends.append((float(form[0]), NAMES[controller.name], PAINT[controller.name]))
        ax.set_xscale("log")
        ax.set_xlim(highest, lowest)
        ax.set_yscale("log")
        ax.set_ylim(8, 1.2e6)
        ax.set_xlabel(f"p: {words}")
        ax.grid(axis="both")
        d.end_labels(ax, ends, gap=0.052)
    d.heading(axes[0], "mean window, segments")
    caption = (
        "Points: measured. Lines: closed forms; H-TCP and BIC have none and are integrated. Under random loss they are means over "
        "the stationary windows at losses (BIC: as under periodic loss). H-TCP and CUBIC at 100 ms, the others do not depend on "
        "the round trip. Loss becomes rarer to the right."
    )
    return Drawing("response", "Response functions", caption, fig)


def deviation(results: Results) -> Drawing:
    """Measured window over closed form."""
    fig, axes = new_figure(1, 2, height=3.2, sharey=True)
    for ax, (mode, (words, rates)) in zip(axes, MODES.items(), strict=True):
        lowest, highest = 1 / max(rates.values()), 1 / min(rates.values())
        ends = []
        for controller in CONTROLLERS:
            p, mean, low, high = measured(results, mode, controller.name)
            if not p.size:
                continue
            form = np.array([controller.window(x, mode) for x in p])
            d.error_line(ax, p, mean / form, low / form, high / form, PAINT[controller.name])
            ends.append((float(mean[-1] / form[-1]), NAMES[controller.name], PAINT[controller.name]))
        ax.axhspan(0.85, 1.15, color=MUTED, alpha=0.12, linewidth=0, zorder=0)
        ax.axhline(1, color=MUTED, linewidth=0.9, dashes=(4, 3))
        ax.set_xscale("log")
        ax.set_xlim(highest, lowest)
        ax.set_ylim(0.7, 2.2)
        ax.set_xlabel(f"p: {words}")
        d.end_labels(ax, ends, gap=0.065)
    d.heading(axes[0], "measured window over closed form")
    caption = (
        "Shaded: 15 %. Each against the form for its kind of loss (BIC has one for periodic loss only). Under random loss means of "
        "the repetitions with 95 % intervals; periodic loss has nothing random in it."
    )
    return Drawing("deviation", "How near the closed forms", caption, fig)


def background(results: Results) -> Drawing:
    """TCP's goodput beside self-similar background against the buffer."""
    experiment = results.experiment("background")
    rows = len(experiment.points["network"])
    fig, axes = new_figure(rows, 2, height=0.6 + 2.2 * rows, sharex=True, sharey=True)
    places = {point.label: point.value for point in experiment.points["buffer"]}
    networks = [n.label for n in experiment.points["network"]]
    cells = [(network, flows) for network in networks for flows in ("1 flow", "10 flows")]
    for ax, (network, flows) in zip(axes, cells, strict=True):
        ends = []
        for stack in STACKS:
            labels = present(results, "background", [f"{stack}/{flows}/{network}/{label}" for label in places])
            if not labels:
                continue
            x = np.array([places[label.rsplit("/", 1)[1]] for label in labels])
            found = [results.interval("background", label, "goodput_bps[tcp].sum") for label in labels]
            mean, low, high = (np.array([getattr(i, key) for i in found]) * 1e-6 for key in ("mean", "low", "high"))
            d.error_line(ax, x, mean, low, high, PAINT[stack])
            ends.append((float(mean[-1]), NAMES[stack], PAINT[stack]))
        ax.set_xscale("log")
        ax.set_xlim(0.045, 1.1)
        ax.set_ylim(0, 880)
        d.plain_ticks(ax, list(places.values()), [label.replace(" ", "\u00a0") for label in places])
        d.reference(ax, LEFT_BPS * 1e-6, "left by the background", "right")
        rtt = {"MB-NG": "6 ms", "DataTAG": "120 ms"}[network]
        d.heading(ax, f"{network} ({rtt}), {flows}: Mb/s")
        d.end_labels(ax, ends)
    for ax in axes[-2:]:
        ax.set_xlabel("buffer, share of the BDP")
    first = {v.label.split("/")[2]: v.label for v in reversed(experiment.variants)}
    when = "; ".join(f"{network}: {results.measured('background', first[network])} after the start" for network in networks)
    slow = ", in which one Reno flow has not yet climbed back from its first loss" if networks[-1] == "DataTAG" else ""
    caption = (
        "Goodput of all TCP flows together beside 200 Mb/s of on/off UDP (H = 0.8) on 1 Gb/s. Means with 95 % intervals. "
        f"{when}{slow}."
    )
    return Drawing("background", "TCP beside self-similar background", caption, fig)


def background_loads(results: Results) -> Drawing:
    """What one flow takes of what 10, 20 and 40 % of background leave."""
    experiment = results.experiment("background-load")
    networks = [point.label for point in experiment.points["network"]]
    fig, axes = new_figure(1, len(networks), height=2.8, sharey=True)
    loads = sorted([(0.2, ""), *((point.value, point.label) for point in experiment.points["load"])])
    for ax, network in zip(axes, networks, strict=True):
        ends = []
        for stack in STACKS:
            rows = []
            for load, label in loads:
                where = (
                    ("background-load", f"{stack}/{label}/{network}")
                    if label
                    else ("background", f"{stack}/1 flow/{network}/100 %")
                )
                found = results.interval(*where, "goodput_bps[tcp].sum")
                if found.n:
                    left = (1 - load) * LEFT_BPS / 0.8
                    rows.append((load, found.mean / left, found.low / left, found.high / left))
            if rows:
                table = np.array(rows)
                d.error_line(ax, table[:, 0], table[:, 1], table[:, 2], table[:, 3], PAINT[stack])
                ends.append((float(table[-1, 1]), NAMES[stack], PAINT[stack]))
        ax.set_xlim(0.08, 0.42)
        ax.set_ylim(0.7, 1.15)
        d.plain_ticks(ax, [load for load, _ in loads], [f"{100 * load:.0f}\u00a0%" for load, _ in loads])
        ax.axhline(1, color=MUTED, linewidth=0.9, dashes=(4, 3))
        d.percent_axis(ax)
        d.heading(ax, f"{network} ({PATHS[network].partition(',')[0]}), 1 flow")
        ax.set_xlabel("load of the background")
        d.end_labels(ax, ends)
    caption = (
        "Goodput of one flow over what the background leaves of 1 Gb/s, buffer of one BDP. Means with 95 % intervals, cut off at "
        "the frame; times as above."
    )
    return Drawing("background-loads", "More and less background", caption, fig)


def example(results: Results) -> Drawing:
    """Ten flows on DataTAG, second by second."""
    stacks = [stack for stack in STACKS if results.runs("example", stack)]
    rows = max(1, -(-len(stacks) // 2))
    fig, axes = new_figure(rows, 2, height=0.4 + 2.1 * rows, sharex=True, sharey=True)
    for ax, stack in zip(axes, stacks, strict=False):
        run = results.runs("example", stack)[0]
        time, rate = _rate(run, "tcp")
        ax.plot(time, rate * 1e-6, color=PAINT[stack], linewidth=1.1)
        ax.set_ylim(0, 1000)
        ax.set_xlim(0, 110)
        d.heading(ax, f"ten {NAMES[stack]} flows together, Mb/s")
        d.reference(ax, LEFT_BPS * 1e-6, "")
    for ax in axes[-2:]:
        ax.set_xlabel("simulated time, s")
    caption = (
        "DataTAG (1 Gb/s, 120 ms), buffer of 20 % of the BDP, seed 1, a point each second. Dashed: what the background leaves "
        "on average."
    )
    return Drawing("example", "Ten flows beside self-similar background on DataTAG", caption, fig)


def _rate(run: Run, traffic: str) -> tuple[d.Array, d.Array]:
    """Goodput of a traffic entry per sample interval: seconds, bit/s."""
    samples = Part(run, traffic).flow_samples
    time, delivered = column(samples, "time_ns"), column(samples, "delivered_bytes")
    times = np.unique(time)
    total = np.zeros(times.size)
    np.add.at(total, np.searchsorted(times, time), delivered)
    return (times[1:] + times[:-1]) / 2e9, np.diff(total) * 8e9 / np.diff(times)


def cbr(results: Results) -> Drawing:
    """Window and goodput of one Scalable flow beside 200 Mb/s of CBR on MB-NG."""
    variants = [v for v in ("scalable/drawn gaps", "scalable/equal gaps") if results.runs("cbr", v)]
    fig, axes = new_figure(2, len(variants) or 1, height=4.2, sharex=True, sharey="row")
    columns = len(variants)
    for place, variant in enumerate(variants):
        runs = results.runs("cbr", variant)
        samples = Part(runs[0], "tcp").flow_samples
        time = column(samples, "time_ns") * 1e-9
        window = column(samples, "cwnd_bytes") / 1448
        chosen = (time >= 10) & (time <= 25)
        axes[place].plot(*d.thin(time[chosen], window[chosen]), color=PAINT["scalable"], linewidth=1.0)
        d.heading(axes[place], f"{variant.partition('/')[2]}: cwnd, segments")
        middle, rate = _rate(runs[0], "tcp")
        steps = middle.size // 10
        rate = rate[: steps * 10].reshape(-1, 10).mean(axis=1)  # 100 ms
        middle = middle[: steps * 10].reshape(-1, 10).mean(axis=1)
        chosen = (middle >= 10) & (middle <= 25)
        axes[columns + place].plot(middle[chosen], rate[chosen] * 1e-6, color=PAINT["scalable"], linewidth=1.0)
        d.heading(axes[columns + place], "goodput per 100 ms, Mb/s")
        axes[columns + place].axhline(LEFT_BPS * 1e-6, color=MUTED, linewidth=0.9, dashes=(4, 3))
        axes[columns + place].set_xlabel("simulated time, s")
    axes[0].set_ylim(bottom=0)
    axes[-1].set_ylim(0, 1000)
    axes[0].set_xlim(10, 25)
    caption = (
        "One Scalable flow on MB-NG (1 Gb/s, 6 ms, buffer of one BDP) beside 200 Mb/s of UDP, seed 1; hosts cost nothing. Dashed: "
        "what the UDP leaves; higher, and cut off at 1000 Mb/s, where a hole that is filled delivers what waited behind it. With "
        "equal gaps it locks into the phase of the bottleneck."
    )
    return Drawing("cbr", "Scalable TCP on MB-NG with 200 Mb/s of CBR background", caption, fig)


PATHS = {"DataTAG": "120 ms, windows of 500 to 1000", "MB-NG": "6 ms, windows of 25 to 50"}
NEW = ("10 new", "1 new")


def impacts(results: Results) -> Drawing:
    """I_van of one and ten new flows on both paths."""
    paths = [point.label for point in results.experiment("impact").points["path"]]
    fig, axes = new_figure(1, len(paths), height=3.0, sharey=True)
    stacks = ("htcp", "highspeed", "scalable")
    top = 1.0
    for ax, path in zip(axes, paths, strict=True):
        for row, stack in enumerate(stacks):
            for shift, new in ((0.17, "1 new"), (-0.17, "10 new")):
                found = impact(results, stack, new, path)
                if not found.n:
                    continue
                _dot(ax, row + shift, found.mean, found.low, found.high, PAINT[stack], f"{new}: {found.mean:.2f}")
                top = max(top, found.mean, found.high if np.isfinite(found.high) and found.high < 3 * found.mean else 0)
        ax.axvline(1, color=MUTED, linewidth=0.9, dashes=(4, 3))
        d.heading(ax, f"{path}: {PATHS[path]}")
        ax.set_yticks(range(len(stacks)), [NAMES[stack] for stack in stacks])
        ax.set_ylim(-0.5, len(stacks) - 0.5)
        ax.grid(axis="x")
        ax.grid(axis="y", visible=False)
        ax.set_xlabel("impact on vanilla flows, I_van")
    for ax in axes:
        d.log_axis(ax, "x", 0.8, top * 2.5)
    caption = (
        "Mean goodput of the vanilla flows among twenty vanilla ones over that beside one or ten new ones; 1 is no harm. Windows "
        "are fair shares without and with a full buffer of one BDP. 95 % intervals."
    )
    return Drawing("impact", "Impact of 1 and of 10 new flows", caption, fig)


def _dot(ax: Axes, y: float, mean: float, low: float, high: float, paint: str, text: str) -> None:
    if np.isfinite(low):
        ax.plot([low, high], [y, y], color=paint, linewidth=2.5, alpha=0.4)
    ax.plot([mean], [y], "o", color=paint, markersize=5)
    at = np.nanmax([mean, high])
    ax.annotate(
        text, (at, y), xytext=(7, 0), textcoords="offset points", color=paint if paint != INK else INK, fontsize=8.5, va="center"
    )


def impact_rows(results: Results) -> list[tuple[str, list[Interval]]]:
    """The readings of the impact formula: a row each, a factor per new stack."""
    rows = []
    for path in PATHS:
        for new in NEW[::-1]:
            for name, statistic in (("I_van", "goodput_bps[vanilla].mean"), ("I_agg", "goodput_bps.sum")):
                found = [impact(results, stack, new, path, statistic) for stack in STACKS[1:]]
                if any(interval.n for interval in found):
                    rows.append((f"{name}, {new} of 20, {path}", found))
        for name, statistic in (("I_bg, goodput", "goodput_bps[tcp_bg].sum"), ("I_bg, completion time", "fct_ns[tcp_bg].p50")):
            found = [impact_on_background(results, stack, path, statistic) for stack in STACKS[1:]]
            if statistic.startswith("fct"):  # a longer time is the harm
                found = [type(i)(1 / i.mean, 1 / i.high, 1 / i.low, i.n) if i.n else i for i in found]
            if any(interval.n for interval in found):
                rows.append((f"{name}, 1 flow, {path}", found))
    return rows


def worst(results: Results, mode: str) -> tuple[float, str, float, str]:
    """The lowest and the highest mean window over closed form, and of which controller: `(low, controller, high, controller)`."""
    found = []
    for controller in CONTROLLERS:
        p, mean, _, _ = measured(results, mode, controller.name)
        chosen = p <= (3.1e-4 if controller.name in ("cubic", "highspeed") else 1.001e-3)
        points = zip(p[chosen], mean[chosen], strict=True)
        found += [(float(m / BY_NAME[controller.name].window(x, mode)), controller.name) for x, m in points]
    low, high = min(found), max(found)
    return low[0], low[1], high[0], high[1]
