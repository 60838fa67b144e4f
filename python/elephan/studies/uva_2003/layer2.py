"""Slides 3 to 6 and 8: bursts and memory, self-clocking, the forbidden area, the receiver that cannot cope."""

from __future__ import annotations

import math

import numpy as np

from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.figure.declared.burst import plot_forbidden_area, plot_levels, plot_outcomes
from elephan.report.figure.dots import small_heading
from elephan.report.style import BLUE, GREEN, INK, MUTED, ORANGE, Drawing, color, new_figure
from elephan.studies.uva_2003 import area
from elephan.studies.uva_2003.gaps import gaps
from elephan.theory import closed as theory

BURST_FRAME = 1046  # 1000 B of payload, 28 of UDP and IP, 18 of Ethernet
RECEIVER_FRAME_US, RECEIVER_COST_US = 12.304, 15.0
RING, BACKLOG = 256, 300
CLOCK = "14 us before 20 us"


def value(results: Results, experiment: str, variant: str, statistic: str) -> float:
    """A statistic of the one run (or the mean of the runs) of a variant; NaN where it was not run."""
    return results.interval(experiment, variant, statistic).mean


def bursts(results: Results) -> Drawing:
    """First packet lost and packets lost in all, over the rate of the slow link, with their formulas."""
    experiment = results.experiment("burst")
    fig, (left, right) = new_figure(1, 2, height=3.4)
    rates = np.linspace(20e6, 700e6, 200)
    ends: dict[str, list[tuple[float, str, str]]] = {"left": [], "right": []}
    for k, memory in enumerate(experiment.points["memory"]):
        first = [theory.burst_first_lost(area.FAST_BPS, s, memory.value, BURST_FRAME) for s in rates]
        lost = [theory.burst_lost(45_000, area.FAST_BPS, s, memory.value, BURST_FRAME) for s in rates]
        left.plot(rates * 1e-6, first, color=color(k), linewidth=1.1)
        right.plot(rates * 1e-6, np.array(lost) * 1e-3, color=color(k), linewidth=1.1)
        ends["left"].append((first[-1], memory.label, color(k)))
        ends["right"].append((lost[-1] * 1e-3, memory.label, color(k)))
        for link in experiment.points["link"]:
            variant = f"{link.label}/{memory.label}"
            left.plot(
                link.value * 1e-6, value(results, "burst", variant, "burst_first_lost.mean"), "o", color=color(k), markersize=5
            )
            found = value(results, "burst", variant, "burst_lost.sum")
            right.plot(link.value * 1e-6, found * 1e-3, "o", color=color(k), markersize=5)
    left.set_yscale("log")
    right.set_ylim(0, 46)
    for axes, which in ((left, "left"), (right, "right")):
        axes.set_xlim(0, 700)
        axes.set_xlabel("rate of the slow link, Mb/s")
        d.end_labels(axes, ends[which])
    small_heading(left, "number of the first packet lost")
    small_heading(right, "packets lost of 45 000", "thousands")
    caption = (
        "Points: measured by the receiver's log, OC-1 to OC-12. Lines: M / (B (1 - s / f)), and of what follows a share of "
        "1 - s / f."
    )
    return Drawing("bursts", "45 000 packets at 1 Gb/s before a slower link", caption, fig)


def clock(results: Results) -> Drawing | None:
    """Gaps between packets at four places over the first round trips."""
    runs = results.runs("clock", CLOCK)
    if not runs:
        return None
    found = gaps(runs[0])
    fig, axes = new_figure(2, 2, height=4.2, sharex=True, sharey=True)
    for axis, (words, one) in zip(axes, found.items(), strict=True):
        shown = one.time_s < 0.1
        axis.plot(one.time_s[shown] * 1e3, one.gap_s[shown] * 1e6, ".", color=BLUE, markersize=2.5)
        axis.set_ylim(0, 30)
        axis.set_xlim(0, 100)
        small_heading(axis, words, "µs apart")
    for axis in axes[2:]:
        axis.set_xlabel("simulated time, ms")
    caption = (
        "A window of 1000 packets of 1500 B: 14 µs apart from the host (857 Mb/s) in the first round trip, 20 µs "
        "behind the link of "
        "600 Mb/s, and so its acknowledgements, and so all that follows. Gaps between round trips are beyond the picture."
    )
    return Drawing("clock", "Self-clocking", caption, fig)


def forbidden(results: Results) -> Drawing:
    """The forbidden area with what happened at each rate and round trip."""
    fig, axes = new_figure(1, 2, height=4.0, sharey=True)
    for axis, experiment, words in ((axes[0], "area", "a window at once"), (axes[1], "area-slow-start", "slow start")):
        plot_forbidden_area(axis, area.FAST_BPS, area.MEMORY_BYTES, 0.17)
        plot_levels(axis, area.FAST_BPS)
        outcomes = []
        for variant in results.experiment(experiment).variants:
            drops = value(results, experiment, variant.label, "drops.sum")
            level = int(variant.label.split()[0][3:])
            if not math.isnan(drops):
                outcomes.append((variant.points[0].value, level * area.OC_BPS, drops > 0))
        plot_outcomes(axis, outcomes)
        small_heading(axis, f"{words}: rate of the slow link, Mb/s")
    handles, labels = axes[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=8.5)
    caption = "f = 1 Gb/s, M = 0.5 MB. Points: whether the simulated window lost. 158 ms is Amsterdam to Vancouver."
    return Drawing("forbidden", "Possible bandwidth for lack of memory at the bottleneck", caption, fig)


def receiver(results: Results) -> Drawing:
    """Packets that bursts lose in a slow receiver, over their length."""
    experiment = results.experiment("receiver")
    fig, (axes,) = new_figure(height=3.2)
    length = np.linspace(0, 21_000, 200)
    beyond = length * (1 - RECEIVER_FRAME_US / RECEIVER_COST_US)
    for room, dashes in ((BACKLOG, (5, 2)), (RING + BACKLOG, (1.5, 2))):
        label = f"b (1 - µ/f) - {room}"
        axes.plot(length, np.maximum(0, beyond - room), color=MUTED, linewidth=1.0, dashes=dashes, label=label)
    for k, way in enumerate(experiment.points["backlog"]):
        points = [p for p in experiment.points["burst_size"] if p.label.endswith("1 Gb/s")]
        lost = [value(results, "receiver", f"{p.label}/{way.label}", "burst_lost.sum") for p in points]
        axes.plot([p.value for p in points], lost, marker="o", markersize=4, color=(BLUE, ORANGE, GREEN)[k], label=way.label)
    even = [p for p in experiment.points["burst_size"] if p.label.endswith("700 Mb/s")]
    for point in even:
        evenly = value(results, "receiver", f"{point.label}/throttle", "burst_lost.sum")
        axes.plot(point.value, evenly, "D", color=INK, markersize=5, label="the same number at 700 Mb/s", clip_on=False)
    axes.set_xlim(0, 21_000)
    axes.set_ylim(0)
    axes.set_xlabel("packets in the burst")
    d.heading(axes, "packets lost in the receiver")
    d.legend(axes, loc="upper left")
    caption = (
        "A receiver that takes 15 µs a packet, 820 Mb/s of wire, with a ring of 256 and a backlog of 300. What happens "
        "when the backlog is "
        "full: Linux 2.4 throttles until it is empty; or only what does not fit is dropped; or frames wait in the ring."
    )
    return Drawing("receiver", "A receiver that cannot cope with a burst", caption, fig)


def lost_words(results: Results) -> str:
    """The measured memory in a sentence."""
    rows = []
    for variant in results.experiment("burst").variants:
        found = value(results, "burst", variant.label, "burst_memory_bytes.mean")
        if not math.isnan(found):
            rows.append(found / variant.points[1].value)
    return f"{min(rows):.3f} to {max(rows):.3f}" if rows else ""
