"""Statistics against offered load, with what queueing theory says of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.palette import look
from elephan.report.style import MUTED, Drawing, new_figure
from elephan.studies.pcp_2006 import points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CONTROLS = {
    "TCP": "reno",
    "PCP": "pcp",
    "FQ": "explicit_rate",
    "TCP over FQ": "reno",
    "PCP over FQ": "pcp",
    "CUBIC": "cubic",
    "BBR": "bbr",
    "CUBIC over FQ-CoDel": "cubic",
}
PAINT = {scheme: look(control).color for scheme, control in _CONTROLS.items()}


def stroke(scheme: str) -> str:
    """The stroke of a scheme: dashed over another queue than that of the same congestion control without it."""
    return "--" if " over " in scheme else "-"


PAPER = ("TCP", "PCP", "FQ")
MEAN, SD, QUEUE, LOSS, P99 = "fct_ns.mean", "fct_ns.sd", "queue_mean_bytes.max", "loss.max", "fct_ns.p99"


def present(results: Results, schemes: Sequence[str]) -> list[str]:
    """Those of the schemes that were run."""
    return [scheme for scheme in schemes if any(variant.startswith(f"{scheme}/") for _, variant in results.trials.by_variant)]


def ends(results: Results) -> tuple[float, float]:
    """The lowest and the highest load that were run."""
    loads = [point.value for point in results.experiment("load").points["load"]]
    return min(loads), max(loads)


def curve(axes: Axes, results: Results, scheme: str, statistic: str, factor: float) -> tuple[float, str, str] | None:
    """Draws a statistic of a scheme; gives what its name at the end of the line needs."""
    found = []
    for point in results.experiment("load").points["load"]:
        interval = results.interval("load", f"{scheme}/{point.label}", statistic)
        if interval.n:
            found.append((point.value, interval.mean * factor, interval.low * factor, interval.high * factor))
    if not found:
        return None
    x, mean, low, high = np.array(found).T
    d.error_line(axes, x, mean, low, high, PAINT[scheme], dashes=stroke(scheme))
    return float(mean[-1]), scheme, PAINT[scheme]


def panel(axes: Axes, results: Results, schemes: Sequence[str], statistic: str, factor: float, gap: float = 0.075) -> None:
    """Lines of several schemes with their names, from zero up."""
    names = [end for scheme in schemes if (end := curve(axes, results, scheme, statistic, factor))]
    axes.set_ylim(bottom=0)
    low, high = ends(results)
    axes.set_xlim(low, high)
    loads = [point.value for point in results.experiment("load").points["load"]]
    d.plain_ticks(axes, loads, [f"{100 * load:.0f}" for load in loads])
    axes.set_xlabel("offered load, %")
    d.end_labels(axes, names, gap)


def theory(axes: Axes, results: Results, index: int) -> None:
    """Processor sharing and first-come first-served transfers: mean (index 0) or deviation (1), in ms."""
    grid = np.linspace(*ends(results), 60)
    for form, dashes, words in ((points.sharing_s, (4, 3), "processor sharing"), (points.fifo_s, (1, 2), "M/D/1")):
        values = [1e3 * form(load)[index] for load in grid]
        axes.plot(grid, values, color=MUTED, linewidth=1.0, dashes=dashes, label=words, zorder=1)


def figure_four(results: Results) -> Drawing:
    """The four panels of the paper."""
    schemes = present(results, PAPER)
    fig, axes = new_figure(2, 2, height=5.6)
    panel(axes[0], results, schemes, MEAN, 1e-6)
    theory(axes[0], results, 0)
    d.heading(axes[0], "mean response time", "ms")
    panel(axes[1], results, schemes, SD, 1e-6)
    theory(axes[1], results, 1)
    d.heading(axes[1], "its standard deviation", "ms")
    panel(axes[2], results, schemes, QUEUE, 1 / points.PACKET_BYTES)
    d.heading(axes[2], "mean queue", "packets")
    panel(axes[3], results, schemes, LOSS, 1)
    d.percent_axis(axes[3])
    d.heading(axes[3], "packets lost")
    d.legend(axes[0], loc="upper left")
    caption = (
        "Transfers of 200 packets, Poisson arrivals over 100 pairs with round trips of 15 to 35 ms, 40 Mb/s, buffer of 100 "
        "packets (FQ: no limit, so that it cannot lose; a round trip of its fair rate waits of each flow, which is assumed). "
        "Response times from the SYN to the last byte at the receiver. Means of "
        f"{results.experiment('load').repetitions} runs of about 2200 transfers each, with 95 % intervals. Dashed: transfers share "
        "the link evenly, S / (1 - rho) + 1.5 RTT; dotted: the link serves whole transfers one after the other."
    )
    return Drawing("figure-4", "Response time, its spread, queue and loss against offered load", caption, fig)


def fair_routers(results: Results) -> Drawing:
    """TCP and PCP over FIFO and over fair queueing."""
    schemes = present(results, ("TCP", "TCP over FQ", "PCP", "PCP over FQ"))
    fig, axes = new_figure(2, 2, height=5.6)
    panel(axes[0], results, schemes, MEAN, 1e-6)
    d.heading(axes[0], "mean response time", "ms")
    panel(axes[1], results, schemes, SD, 1e-6)
    d.heading(axes[1], "its standard deviation", "ms")
    panel(axes[2], results, schemes, QUEUE, 1 / points.PACKET_BYTES)
    d.heading(axes[2], "mean queue", "packets")
    panel(axes[3], results, schemes, LOSS, 1)
    d.percent_axis(axes[3])
    d.heading(axes[3], "packets lost")
    caption = (
        "The same endpoints, the bottleneck FIFO or fair queueing (bit-by-bit round robin), both with a buffer of 100 packets."
    )
    return Drawing("fair-routers", "Over routers with fair queueing", caption, fig)


def today(results: Results) -> Drawing:
    """The paper's schemes beside those of today."""
    schemes = present(results, ("TCP", "PCP", "CUBIC", "BBR", "CUBIC over FQ-CoDel"))
    fig, axes = new_figure(2, 2, height=5.6)
    for ax, statistic, words in (
        (axes[0], MEAN, "mean response time"),
        (axes[1], P99, "99th percentile"),
    ):
        panel(ax, results, schemes, statistic, 1e-6)
        d.heading(ax, words, "ms")
    theory(axes[0], results, 0)
    d.legend(axes[0], loc="upper left")
    panel(axes[2], results, schemes, QUEUE, 1 / points.PACKET_BYTES)
    d.heading(axes[2], "mean queue", "packets")
    panel(axes[3], results, schemes, LOSS, 1)
    d.percent_axis(axes[3])
    d.heading(axes[3], "packets lost")
    caption = (
        "TCP and PCP of the paper beside a current kernel's TCP (ten initial segments, RACK-TLP, PRR) with CUBIC and BBR over the "
        "same FIFO, and with CUBIC over FQ-CoDel (its own default limit). What FQ-CoDel drops on purpose counts as lost."
    )
    return Drawing("today", "What a reader of today would ask for", caption, fig)


def tail(results: Results) -> Drawing:
    """How far the slowest are from the median, and the part of timeouts in it."""
    schemes = present(results, PAPER)
    fig, axes = new_figure(1, 3, height=3.0)
    panel(axes[0], results, schemes, "fct_ns.p99/p50", 1, 0.09)
    d.heading(axes[0], "p99 over median")
    panel(axes[1], results, schemes, "fct_no_rto_ns.p99/p50", 1, 0.09)
    d.heading(axes[1], "without timeouts")
    names = []
    for scheme in schemes:
        found = []
        for point in results.experiment("load").points["load"]:
            all_, late = (
                results.interval("load", f"{scheme}/{point.label}", f"{name}.count").mean for name in ("fct_ns", "fct_rto_ns")
            )
            found.append((point.value, late / all_ if all_ else np.nan))
        x, share = np.array(found).T
        axes[2].plot(x, share, stroke(scheme), color=PAINT[scheme], marker="o", markersize=3.6, clip_on=False)
        names.append((float(share[-1]), scheme, PAINT[scheme]))
    loads = [point.value for point in results.experiment("load").points["load"]]
    axes[2].set_xlim(*ends(results))
    axes[2].set_ylim(bottom=0)
    d.plain_ticks(axes[2], loads, [f"{100 * load:.0f}" for load in loads])
    axes[2].set_xlabel("offered load, %")
    d.percent_axis(axes[2])
    d.end_labels(axes[2], names, 0.09)
    d.heading(axes[2], "transfers with a timeout")
    caption = (
        "99th percentile of response times over their median. Left: all transfers. Middle: those without a retransmission "
        "timeout. Right: the share of those with one."
    )
    return Drawing("tail", "The slow ones", caption, fig)
