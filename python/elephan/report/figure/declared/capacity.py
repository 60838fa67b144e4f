"""The figure of a link that follows a trace: what it could carry, what it carried, and what waited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import show
from elephan.report.figure import draw as d
from elephan.report.figure.declared.over_time import mark_changes
from elephan.report.figure.registry import OVER_TIME, figure
from elephan.report.style import BLUE, MUTED, VERMILLION, Drawing, new_figure
from elephan.report.words.view import arrow
from elephan.statistic import needs
from elephan.statistic.capacity import capacities, capacity_used
from elephan.table.rows import texts

if TYPE_CHECKING:
    from elephan.report.words.view import View

BINS_MAX = 400
OUTAGE_S = 0.5  # so long nothing can be sent


def _places(view: View) -> list[int]:
    """The sampled ports that follow a trace, the one that sent most first."""
    names, series = texts(view.run.ports, "name"), view.port_series("tx_bytes")
    traced = capacities(view.run, np.array([view.run.duration_ns]))
    return sorted((port for port in series if names[port] in traced), key=lambda port: -float(series[port][1][-1]))


@figure(
    "capacity",
    "what a link that follows a trace can carry and carries, and its queue",
    lambda view: bool(_places(view)),
    why_not="no link that was sampled follows a trace of its rate",
    needs=(needs.samples,),
    order=49,
    section=OVER_TIME,
)
def capacity(view: View) -> Drawing:
    """Draws the busiest of the links that follow a trace."""
    port = _places(view)[0]
    name = texts(view.run.ports, "name")[port]
    time, sent = view.port_series("tx_bytes")[port]
    packets, queue = (view.port_series(column)[port][1] for column in ("tx_packets", "queue_bytes"))
    step = max(1, -(-len(time) // BINS_MAX))
    edges = np.arange(0, len(time), step)
    bits, more = capacities(view.run, time[edges])[name]
    spans = np.diff(time[edges]) * 1e-9
    could = np.diff(bits) / spans
    did = 8 * np.diff(sent[edges] + more * packets[edges]) / spans
    fig, (above, below) = new_figure(2, 1, height=4.6, sharex=True)
    x = d.time_scale(view.end_ns)[0]
    factor = d.value_axis(above, f"rate of {arrow(name)}", float(max(could.max(), did.max())), "bps")
    above.stairs(could * factor, time[edges] * x, fill=True, color=MUTED, alpha=0.35, label="can carry")
    above.stairs(did * factor, time[edges] * x, color=BLUE, linewidth=1.1, label="carries")
    mark_changes(above, view)
    d.legend(above, loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    held = d.value_axis(below, "queue", float(queue.max()), "bytes")
    below.fill_between(*d.thin(time * x, queue * held), color=VERMILLION, alpha=0.25, linewidth=0)
    d.time_axis(below, 0, view.end_ns)
    caption = f"In windows of {show(float(np.median(spans)), 's')}. {_words(view, port, could, spans)}"
    return Drawing("capacity", "Capacity of the link", caption, fig)


def _words(view: View, port: int, could: d.Array, spans: d.Array) -> str:
    """Says what the link could carry, and how much of it was used."""
    mean, low, high = float(could.mean()), *(float(np.quantile(could, level)) for level in (0.05, 0.95))
    text = (
        f"The link can carry {show(mean, 'bps')} in the mean; 90 % of the windows have {show(low, 'bps')} to {show(high, 'bps')}. "
    )
    nothing = np.concatenate(([0], (could == 0).astype(int), [0]))
    begins, ends = np.flatnonzero(np.diff(nothing) == 1), np.flatnonzero(np.diff(nothing) == -1)
    times = [float(spans[begin:end].sum()) for begin, end in zip(begins, ends, strict=True)]
    outages = [one for one in times if one >= OUTAGE_S]
    if outages:
        count = f"{len(outages)} time{'s' if len(outages) > 1 else ''}"
        text += f"It could carry nothing for {show(OUTAGE_S, 's')} or more {count}, at most for {show(max(outages), 's')}. "
    used = float(capacity_used(view.run)[port])
    return f"{text}Of all that it could carry {100 * used:.3g} % was used."
