"""Figures of the transmit side of hosts: what waits in qdisc and ring, and what a full queue does to the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.report.figure import draw as d
from elephan.report.figure.declared.over_time import WINDOWS, few, plot_windows
from elephan.report.figure.registry import figure
from elephan.report.style import BLUE, INK, ORANGE, Drawing, new_figure
from elephan.report.words.view import View, arrow
from elephan.statistic import needs
from elephan.table.rows import column

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _sampled(view: View) -> bool:
    return bool(view.run.transmit_samples.num_rows)


def _busiest(view: View) -> tuple[str, d.Array, d.Array]:
    """Name of the port at which most waits, its times in ns and the packets that were found waiting since the sample before."""
    samples = view.run.transmit_samples
    port, time, found = column(samples, "port").astype(int), column(samples, "time_ns"), column(samples, "found_max_packets")
    chosen = max(np.unique(port), key=lambda p: float(found[port == p].sum()))
    return view.port_names()[int(chosen)], time[port == chosen], found[port == chosen]


def _room(view: View, name: str) -> tuple[float, float]:
    """Packets that the ring of a port holds, and qdisc and ring together."""
    host = name.split("->", 1)[0].split("[", 1)[0]
    words = view.run.resolved["hosts"][host]["transmit"]
    queue, ring = (float(str(words[key]).split()[0]) for key in ("txqueuelen", "ring"))
    return ring, queue + ring


def _plot_waiting(axes: Axes, view: View) -> None:
    name, time, found = _busiest(view)
    x = d.time_scale(view.run.duration_ns)[0]
    d.heading(axes, f"waiting in the host, {arrow(name)}", "packets")
    times, found = d.thin(time * x, found)
    ring, room = _room(view, name)
    inner = np.minimum(found, ring)
    axes.fill_between(times, inner, color=BLUE, alpha=0.35, linewidth=0, label="ring", step="pre")
    axes.fill_between(times, inner, found, color=ORANGE, alpha=0.5, linewidth=0, label="qdisc", step="pre")
    top = max(float(found.max()), 1.0)
    if room <= 3 * top:
        d.reference(axes, room, f"room for {room:,.0f}".replace(",", "\u202f"), "right")
        top = max(top, room)
    axes.set_ylim(0, top * 1.2)
    stalls = view.events("send_stall")
    if stalls.size:
        shown = d.places(stalls, view.run.duration_ns)
        place = axes.get_xaxis_transform()
        axes.plot(shown * x, np.ones(shown.size), "|", color=INK, markersize=6, markeredgewidth=0.8, transform=place, clip_on=False)
    d.legend(axes, loc="lower right", bbox_to_anchor=(1, 1), ncols=2)


@figure(
    "transmit",
    "congestion window, and what waits in the host's queue and ring",
    lambda v: few(v) and _sampled(v),
    why_not=f"{WINDOWS}, and of a host with a transmit side",
    needs=(needs.samples,),
    order=40,
)
def transmit(view: View) -> Drawing:
    fig, (above, below) = new_figure(2, 1, height=4.6, sharex=True)
    plot_windows(above, view, thresholds=True)
    _plot_waiting(below, view)
    d.time_axis(below, 0, view.run.duration_ns)
    stalls = int(column(view.run.flows, "send_stall").sum())
    what = (
        "nothing was refused" if stalls == 0 else f"{stalls} refused in all" + ("; ticks" if view.events("send_stall").size else "")
    )
    caption = (
        f"Below: most packets in the driver's ring and in the qdisc between two samples; {what}. A refused segment stays unsent."
    )
    return Drawing("transmit", "What waits in the host", caption, fig)
