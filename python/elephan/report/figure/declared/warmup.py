"""The warm-up of a run: goodput, what the scenario leaves out, and where MSER-5 says that it has settled."""

from __future__ import annotations

import math

from elephan.report.figure import draw as d
from elephan.report.figure.registry import figure
from elephan.report.style import VERMILLION, Drawing, new_figure
from elephan.report.words.view import View
from elephan.report.words.warmup import settling, warmup_words
from elephan.statistic import needs


@figure(
    "warm-up",
    "goodput from the start on, with the end of the warm-up by MSER-5",
    lambda view: settling(view)[0].size >= 50,
    why_not="it is of 50 windows of goodput or more",
    needs=(needs.samples,),
    page=False,
)
def warm_up(view: View) -> Drawing:
    times, rates, _, settled = settling(view)
    fig, (axes,) = new_figure(height=2.6)
    series = {"all flows": (times, rates)}
    factor = d.value_axis(axes, "goodput", float(rates.max()), "bps")
    x = d.time_scale(view.end_ns)[0]
    d.mark_warmup(axes, view.run.warmup_ns, x)
    d.lines(axes, {name: (t * x, y * factor) for name, (t, y) in series.items()}, controls=view.controls(), linewidth=1.2)
    if not math.isnan(settled):
        axes.axvline(settled * x, color=VERMILLION, linewidth=1.2, dashes=(3, 2))
    d.time_axis(axes, 0, view.end_ns)
    caption = f"{warmup_words(view)} Shaded: what the scenario leaves out; dashed: where MSER-5 says that the run has settled."
    return Drawing("warm-up", "Warm-up", caption, fig)
