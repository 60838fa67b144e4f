"""Figures of the receive side and the processor of hosts: how busy it was, what waited, when the logger was silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import show
from elephan.report.figure import draw as d
from elephan.report.figure.declared.over_time import few, plot_goodput, plot_windows
from elephan.report.figure.registry import figure
from elephan.report.style import BLUE, MUTED, ORANGE, VERMILLION, Drawing, new_figure
from elephan.report.words.view import View
from elephan.statistic import needs
from elephan.table.hostrows import drops
from elephan.table.rows import column, texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_SAMPLED = ("cpu", "ring_packets", "backlog_packets", "drops")


def _sampled(view: View) -> bool:
    """There is something to see: a host that only delays packets is never busy."""
    samples = view.run.host_samples
    return samples.num_rows > 0 and any(bool(np.nan_to_num(column(samples, name)).any()) for name in _SAMPLED)


def _busiest(view: View) -> str:
    """The host that dropped most or, if none did, whose processor was busiest."""
    hosts = view.run.hosts
    order = np.lexsort((column(hosts, "cpu"), drops(view.run)))
    return texts(hosts, "host")[int(order[-1])]


def _series(view: View, host: str) -> dict[str, d.Array]:
    samples = view.run.host_samples
    mine = np.asarray(texts(samples, "host")) == host
    return {name: column(samples, name)[mine] for name in ("time_ns", *_SAMPLED)}


def gaps(view: View, host: str) -> list[tuple[float, float]]:
    """Beginnings and ends of the logger's gaps of a host, in ns."""
    rows = view.run.logger_gaps
    found = zip(texts(rows, "host"), column(rows, "begin_ns"), column(rows, "end_ns"), strict=True)
    return [(float(begin), float(end)) for name, begin, end in found if name == host]


def _plot_cpu(axes: Axes, view: View, host: str, x: float) -> None:
    series = _series(view, host)
    d.heading(axes, f"processor of {host}, busy", "%")
    axes.plot(*d.thin(series["time_ns"] * x, 100 * series["cpu"]), color=BLUE, linewidth=0.9)
    axes.set_ylim(0, 105)


def _plot_waiting(axes: Axes, view: View, host: str, x: float) -> None:
    series = _series(view, host)
    time, ring, backlog = series["time_ns"] * x, series["ring_packets"], series["backlog_packets"]
    d.heading(axes, f"waiting in {host}", "packets")
    axes.plot(*d.thin(time, ring + backlog), color=ORANGE, linewidth=0.9)
    axes.set_ylim(0, max(1.0, float((ring + backlog).max())) * 1.12)
    dropped = series["time_ns"][1:][np.diff(series["drops"]) > 0]
    if dropped.size:
        shown = d.places(dropped, view.run.duration_ns)
        place = axes.get_xaxis_transform()
        axes.plot(shown * x, np.full(shown.size, 0.985), "|", color=VERMILLION, markersize=6, transform=place, clip_on=False)


@figure(
    "host",
    "window, processor and backlog of a host; the silences of its logger",
    _sampled,
    why_not="no host with receive or cpu was ever busy",
    needs=(needs.samples,),
    order=110,
)
def host(view: View) -> Drawing:
    name = _busiest(view)
    has_flows = view.run.flow_samples.num_rows > 0
    fig, axes = new_figure(2 + has_flows, 1, height=1.9 * (2 + has_flows), sharex=True)
    x = d.time_scale(view.run.duration_ns)[0]
    if has_flows and few(view):
        plot_windows(axes[0], view, thresholds=False)
    elif has_flows:
        plot_goodput(axes[0], view)
    _plot_cpu(axes[-2], view, name, x)
    _plot_waiting(axes[-1], view, name, x)
    silences = gaps(view, name)
    for begin, end in silences:
        for one in axes:
            one.axvspan(begin * x, end * x, color=MUTED, alpha=0.18, linewidth=0, zorder=0)
    d.time_axis(axes[-1], 0, view.run.duration_ns)
    longest = max((end - begin for begin, end in silences), default=0.0)
    words = f" Shaded: the logger is silent, {show(longest, 'ns')} at the longest." if silences else ""
    caption = f"{name}: busy share between samples, packets in its receive ring and backlog; ticks are drops there.{words}"
    return Drawing("host", "A host's processor and backlog", caption, fig)
