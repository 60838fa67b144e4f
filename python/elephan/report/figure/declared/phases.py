"""The phases of the largest flow of a run, as bands behind its goodput."""

from __future__ import annotations

from elephan.report.figure import draw as d
from elephan.report.figure.flow_phases import phase_lines, plot, telling
from elephan.report.figure.registry import figure
from elephan.report.style import Drawing, new_figure
from elephan.report.words.view import View
from elephan.statistic import needs
from elephan.table.flow_phases import chosen_flow
from elephan.table.rows import column


@figure(
    "phases",
    "the phases of the largest flow, as bands behind its goodput",
    lambda view: telling(view) is not None,
    why_not="it is of a long bulk flow over TCP",
    needs=(needs.samples,),
    order=60,
)
def phases(view: View) -> Drawing:
    number, samples, found = chosen_flow(view.run)["flow"], view.run.flow_samples, view.run.phases()
    own = column(samples, "flow") == number
    fig, (axes,) = new_figure(height=2.9)
    d.time_axis(axes, 0, view.end_ns)
    plot(axes, found, column(samples, "time_ns")[own], column(samples, "delivered_bytes")[own], view.end_ns, view.round_ns(number))
    whose = f" of {view.flow_names[number]}" if len(view.flow_ids) > 1 else ""
    caption = f"Goodput{whose}. {' '.join(phase_lines(found))} How phases are found is in docs/analyze.md."
    return Drawing("phases", "Phases", caption, fig)
