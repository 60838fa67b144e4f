"""Figures of the transmit side of hosts: what waits in qdisc and ring, and what a full queue does to the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.measures import column
from elephan.report import draw as d
from elephan.report.run_figures import _few, _plot_windows, figure
from elephan.report.style import BLUE, INK, ORANGE, Drawing, new_figure
from elephan.report.view import View, arrow

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _sampled(view: View) -> bool:
    return bool(view.run.transmit_samples.num_rows)


def _busiest(view: View) -> tuple[str, int, d.Array, d.Array, d.Array]:
    """Name and number of the port at which most waits, and its times in ns, packets in the qdisc and in the ring."""
    samples = view.run.transmit_samples
    port, time = column(samples, "port").astype(int), column(samples, "time_ns")
    qdisc, ring = column(samples, "qdisc_packets"), column(samples, "ring_packets")
    sums = {int(p): float((qdisc + ring)[port == p].sum()) for p in np.unique(port)}
    chosen = max(sums, key=lambda p: sums[p])
    mine = port == chosen
    return view.port_names()[chosen], chosen, time[mine], qdisc[mine], ring[mine]


def _room(view: View, name: str) -> float:
    """Packets that qdisc and ring of a port hold together."""
    host = name.split("->", 1)[0].split("[", 1)[0]
    words = view.run.resolved["hosts"][host]["transmit"]
    return sum(float(str(words[key]).split()[0]) for key in ("txqueuelen", "ring"))


def _plot_waiting(axes: Axes, view: View) -> None:
    name, _, time, qdisc, ring = _busiest(view)
    x = d.time_scale(view.run.duration_ns)[0]
    d.heading(axes, f"waiting in the host at {arrow(name)}", "packets")
    times, both = d.thin(time * x, qdisc + ring)
    _, inner = d.thin(time * x, ring)
    if times.size == inner.size:
        axes.fill_between(times, inner, color=BLUE, alpha=0.35, linewidth=0, label="ring")
        axes.fill_between(times, inner, both, color=ORANGE, alpha=0.35, linewidth=0, label="qdisc")
    axes.plot(times, both, color=ORANGE, linewidth=0.9)
    room = _room(view, name)
    top = max(float((qdisc + ring).max()), 1.0)
    if room <= 1.6 * top:
        d.reference(axes, room, f"room for {room:,.0f}".replace(",", "\u202f"), "right")
        top = max(top, room)
    axes.set_ylim(0, top * 1.12)
    stalls = view.events("send_stall")
    if stalls.size:
        shown = np.unique(np.round(stalls / view.run.duration_ns * 600)) / 600 * view.run.duration_ns
        place = axes.get_xaxis_transform()
        axes.plot(shown * x, np.ones(shown.size), "|", color=INK, markersize=6, markeredgewidth=0.8, transform=place, clip_on=False)
    d.legend(axes, loc="upper right", bbox_to_anchor=(1, 0.92), ncols=2)


@figure("transmit", "congestion window, and what waits in the host's queue and ring", lambda v: _few(v) and _sampled(v))
def transmit(view: View) -> Drawing:
    fig, (above, below) = new_figure(2, 1, height=4.6, sharex=True)
    _plot_windows(above, view, thresholds=True)
    _plot_waiting(below, view)
    d.time_axis(below, 0, view.run.duration_ns)
    stalls = int(column(view.run.flows, "send_stall").sum())
    what = (
        "nothing was refused" if stalls == 0 else f"{stalls} refused in all" + ("; ticks" if view.events("send_stall").size else "")
    )
    caption = f"Below: packets in the qdisc (txqueuelen) and in the driver's ring of the busiest host; {what}. A refused segment stays unsent."
    return Drawing("transmit", "What waits in the host", caption, fig)
