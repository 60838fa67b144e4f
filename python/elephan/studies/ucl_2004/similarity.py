"""How self-similar the background is: its variance over time and its energy over octaves, beside Poisson packets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan import hurst
from elephan.observed import sent_per_sample
from elephan.report import draw as d
from elephan.report.style import BLUE, INK, MUTED, Drawing, new_figure
from elephan.study import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXPERIMENT = "self-similarity"
KINDS = {"on/off": (BLUE, 0.8), "Poisson": (INK, 0.5)}  # and what theory says of each
# Block lengths and octaves that are drawn, from one sample on; the estimates take those of `elephan.hurst` by themselves.
DRAWN_S = (0.5, 64.0)


def _series(results: Results, kind: str) -> list[tuple[float, d.Array]]:
    return [sent_per_sample(run)[0] for run in results.runs(EXPERIMENT, kind)]


def _points(ax: Axes, times: d.Array, runs: d.Array, paint: str) -> None:
    """Each run faintly, and their mean."""
    for values in runs:
        ax.plot(times, values, color=paint, linewidth=0.7, alpha=0.35)
    ax.plot(times, np.exp(np.log(runs).mean(axis=0)), "o", color=paint, markersize=3.6)


def _slope(ax: Axes, times: d.Array, at: float, slope: float) -> None:
    """The slope that theory gives, through the mean of the last points."""
    ax.plot(times, at * (times / times[-1]) ** slope, color=MUTED, linewidth=0.9, dashes=(4, 3))


def similarity(results: Results) -> Drawing:
    """Deviation of mean rates over block length, and energy of wavelet coefficients over octaves."""
    fig, (left, right) = new_figure(1, 2, height=3.4)
    ends: tuple[list[tuple[float, str, str]], list[tuple[float, str, str]]] = ([], [])
    floor = None
    for kind, (paint, h) in reversed(KINDS.items()):
        series = _series(results, kind)
        if not series:
            continue
        by_blocks = [hurst.variance_time(counts, bin_s, DRAWN_S) for bin_s, counts in series]
        mbps = np.array([np.exp2(found.logs / 2) for found in by_blocks]) * 8e-6 / series[0][0]
        _points(left, by_blocks[0].times_s, mbps, paint)
        middle = float(np.exp(np.log(mbps[:, mbps.shape[1] // 2]).mean()))
        times = by_blocks[0].times_s
        _slope(left, times, middle * (times[-1] / times[times.size // 2]) ** (h - 1), h - 1)
        by_octaves = [hurst.wavelet(counts, bin_s, (2 * DRAWN_S[0], DRAWN_S[1])) for bin_s, counts in series]
        energy = np.exp2(np.array([found.logs for found in by_octaves]))
        floor = float(np.exp(np.log(energy).mean())) if floor is None else floor
        _points(right, by_octaves[0].times_s, energy / floor, paint)
        times = by_octaves[0].times_s
        middle = float(np.exp(np.log(energy[:, times.size // 2] / floor).mean()))
        _slope(right, times, middle * (times[-1] / times[times.size // 2]) ** (2 * h - 1), 2 * h - 1)
        for side, ends_of, values in ((left, ends[0], mbps), (right, ends[1], energy / floor)):
            name = "hurst_variance_time" if side is left else "hurst_wavelet"
            found = results.interval(EXPERIMENT, kind, f"{name}.mean")
            text = f"{kind}\nH = {found.mean:.2f}\n({found.low:.2f} to {found.high:.2f})"
            ends_of.append((float(np.exp(np.log(values[:, -1]).mean())), text, paint))
    d.log_axis(left, "y", 0.1, 40)
    d.log_axis(right, "y", 0.4, 3000)
    for ax, labels in zip((left, right), ends, strict=True):
        d.log_axis(ax, "x", 0.4, 70)
        ax.grid(axis="both")
        d.end_labels(ax, labels, gap=0.2)
    left.set_xlabel("length of a block, s")
    right.set_xlabel("octave, s")
    d.heading(left, "standard deviation of mean rates, Mb/s")
    d.heading(right, "wavelet energy, Poisson = 1")
    caption = (
        "The background alone for 1000 s, and as many packets at random: each run and the means. Dashed: slopes of H = 0.8 "
        "and 0.5. H with 95 % intervals over the runs, by blocks of 2 to 10 s and by octaves of 4 to 64 s."
    )
    return Drawing("self-similarity", "How self-similar the background is", caption, fig)
