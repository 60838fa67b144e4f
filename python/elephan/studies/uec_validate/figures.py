"""What the study shows: each tail over that of the reference, and how spraying copes with slow links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elephan.base.quantity import show
from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.page.page import Section
from elephan.report.style import Drawing, color, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TAIL = "sender_fct_ns.max"
# Tails of the reference in us, with experiments that it calls failed: those of 1 path and of large queues among slow links.
SPRAY_US = {
    "oblivious": 212.794,
    "oblivious, large queues": 221.895,
    "bitmap, large queues": 202.349,
    "REPS, each": 198.246,
    "REPS": 208.239,
    "mixed, each": 193.184,
    "mixed": 200.507,
}
SLOW_US = {
    "oblivious": 280.775,
    "bitmap": 220.269,
    "bitmap, large queues": 478.668,
    "REPS, each, large queues": 209.872,
    "REPS": 245.821,
    "mixed": 219.554,
}


def answer(results: Results) -> list[str]:
    """The answer, with its numbers."""
    tails = [part for claim in results.study.claims if len(claim.parts) == 1 and not (part := claim.parts[0]).compare]
    known = [(part, results.interval(part.experiment, part.variant, TAIL)) for part in tails]
    run = [part.bounds.low <= interval.mean <= part.bounds.high for part, interval in known if interval.n]
    if not run:
        return []
    one = results.interval("small", "sender/one flow", TAIL)
    said = [f"Of {len(run)} experiments {sum(run)} have a mean tail within 5 % of the reference."]
    return said + ([f"One flow of 2 MB takes {show(one.mean * 1e-9, 's', 4)} for its 176.2 us."] if one.n else [])


def _bars(ax: Axes, results: Results, experiment: str, reference_us: dict[str, float], what: str) -> None:
    labels = [label for label in reference_us if results.interval(experiment, label, TAIL).n]
    for place, label in enumerate(labels):
        interval = results.interval(experiment, label, TAIL)
        mean, low, high = (value * 1e-3 for value in (interval.mean, interval.low, interval.high))
        ax.plot([low, high], [place, place], color=color(0), linewidth=1.5)
        ax.plot([mean], [place], "o", color=color(0), markersize=5, label="elephan" if not place else None)
        ax.plot([reference_us[label]], [place], "x", color=color(1), markersize=7, label="uet-htsim" if not place else None)
    d.tick_names(ax, "y", np.arange(len(labels), dtype=float), labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_xlabel("us")
    d.heading(ax, what, "")


def spraying(results: Results) -> Drawing:
    """Tails of a permutation of 1024 hosts by spraying."""
    fig, axes = new_figure(1, 2, height=3.4)
    _bars(axes[0], results, "spray", SPRAY_US, "all links at 100 Gb/s")
    _bars(axes[1], results, "slow", SLOW_US, "eight links to the core at 25 Gb/s")
    d.legend(axes[0], loc="lower right")
    caption = (
        "Completion of the last of 1024 flows of 2 MB, means over the repetitions with 95 % intervals. The reference has one "
        "run of each; it calls five of the six with slow links failed, and oblivious with large queues."
    )
    return Drawing("spraying", "Spraying in a fat-tree of 1024 hosts", caption, fig)


def sections(results: Results) -> Sequence[Section]:
    """The body of the report."""
    return [Section("Spraying", "", [spraying(results)])]
