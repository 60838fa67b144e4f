"""Figures of transfers from disk to disk: how fast bytes pass each stage, and which stage holds up the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import show
from elephan.report.figure import draw as d
from elephan.report.figure.registry import figure
from elephan.report.style import BLUE, GREEN, MUTED, ORANGE, SKY, VERMILLION, Drawing, new_figure
from elephan.report.words.view import View, nice_step
from elephan.statistic import needs
from elephan.table.rows import column, texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STAGES = {
    "read": ("disk that is read", BLUE),
    "network": ("network", GREEN),
    "send_buffer": ("send buffer", SKY),
    "receive_buffer": ("receive buffer", MUTED),
    "write": ("disk that is written", VERMILLION),
}


def _sampled(view: View) -> bool:
    if not view.run.summary.get("copies") or not view.run.copy_samples.num_rows:
        return False
    start = float(column(view.run.copies, "start_ns")[_chosen(view)])
    return bool((column(view.run.copy_samples, "time_ns") > start).any())


def _chosen(view: View) -> int:
    """The transfer that moved most."""
    copies = view.run.copies
    return int(np.argmax(column(copies, "on_disk_bytes") + column(copies, "cached_bytes")))


def _samples(view: View, copy: int) -> dict[str, d.Array]:
    """The samples of one transfer by column, a row of zeros at its start before them."""
    rows = view.run.copy_samples
    mine = column(rows, "copy") == copy
    start = float(column(view.run.copies, "start_ns")[copy])
    names = ["read_bytes", "delivered_bytes", "cached_bytes", "on_disk_bytes"]
    names += [f"limited_{stage}_ns" for stage in STAGES]
    time = column(rows, "time_ns")[mine]
    later = time > start
    found = {name: np.append(0.0, column(rows, name)[mine][later]) for name in names}
    found["time_ns"] = np.append(start, time[later])
    return found


def _binned(time: d.Array, value: d.Array, edges: d.Array) -> d.Array:
    """A running total at the edges of windows."""
    return np.interp(edges, time, value)


def _plot_rates(axes: Axes, view: View, found: dict[str, d.Array], edges: d.Array) -> None:
    lines = {
        "read": ("read_bytes", BLUE),
        "received": ("delivered_bytes", GREEN),
        "into the cache": ("cached_bytes", ORANGE),
        "on the disk": ("on_disk_bytes", VERMILLION),
    }
    step = np.diff(edges)
    rates = {n: np.diff(_binned(found["time_ns"], found[c], edges)) * 8e9 / step for n, (c, _) in lines.items()}
    top = max(float(rate.max()) for rate in rates.values())
    factor = d.value_axis(axes, f"rate of each stage in windows of {show(float(step[0]), 'ns')}", top, "bps")
    x = d.time_scale(view.run.duration_ns)[0]
    d.mark_warmup(axes, view.run.warmup_ns, x)
    for name, rate in rates.items():
        axes.plot((edges[:-1] + step / 2) * x, rate * factor, color=lines[name][1], linewidth=1.2, label=name)
    axes.set_ylim(0, top * factor * 1.2)
    d.legend(axes, loc="upper right", ncols=4)


def _plot_stages(axes: Axes, view: View, found: dict[str, d.Array], edges: d.Array) -> None:
    """Shares of each window that the transfer waited for each stage, one above the other."""
    x = d.time_scale(view.run.duration_ns)[0]
    step = np.diff(edges)
    below = np.zeros(step.size)
    for stage, (name, color) in STAGES.items():
        share = np.diff(_binned(found["time_ns"], found[f"limited_{stage}_ns"], edges)) / step
        if share.max() > 0.005:
            named = name if share.mean() > 0.01 else None
            axes.bar(edges[:-1] * x, share, step * x, below, align="edge", color=color, alpha=0.75, linewidth=0, label=named)
        below = below + share
    axes.set_ylim(0, 1)
    d.percent_axis(axes)
    d.heading(axes, "share of the time waited for")
    d.legend(axes, loc="lower right", bbox_to_anchor=(1, 1), ncols=5)


@figure(
    "copy",
    "disk to disk: the rate of each stage over time, and which held up the others",
    _sampled,
    why_not="no transfer from disk to disk was sampled",
    needs=(needs.samples,),
    order=20,
)
def copy(view: View) -> Drawing:
    copies = view.run.copies
    chosen = _chosen(view)
    found = _samples(view, chosen)
    begin, end = float(found["time_ns"][0]), float(found["time_ns"][-1])
    interval = float(np.median(np.diff(found["time_ns"]))) if found["time_ns"].size > 2 else end - begin
    step = max(nice_step((end - begin) / 120), interval)
    edges = np.arange(begin, end + step * 1e-6, step)
    if edges.size < 2:
        edges = np.asarray([begin, end])
    fig, (above, below) = new_figure(2, 1, height=4.6, sharex=True, gridspec_kw={"height_ratios": [3, 2]})
    _plot_rates(above, view, found, edges)
    _plot_stages(below, view, found, edges)
    d.time_axis(below, 0, view.run.duration_ns)
    name, rate = texts(copies, "traffic")[chosen], column(copies, "rate_bps")[chosen]
    others = f" The transfer of {copies.num_rows} that moved most." if copies.num_rows > 1 else ""
    caption = (
        f"Above: bytes that pass each stage of {name}; {show(float(rate), 'bps')} end to end. Below: the disk that is written "
        f"holds up a stream without a free buffer, the disk that is read starves all streams, else it is the network or a buffer."
        f"{others}"
    )
    return Drawing("copy", "From disk to disk", caption, fig)
