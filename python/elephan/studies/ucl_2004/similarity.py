"""How self-similar the background is: its variance over time and its energy over octaves, beside Poisson packets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.experiment.study import Results
from elephan.report.figure import draw as d
from elephan.report.style import BLUE, INK, MUTED, Drawing, new_figure
from elephan.statistic.observed import sent_per_sample
from elephan.theory import hurst

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXPERIMENT = "self-similarity"
KINDS = {"on/off": (BLUE, 0.8), "Poisson": (INK, 0.5)}  # and what theory says of each
# Block lengths and octaves that are drawn, from one sample on; the estimates take those of `elephan.theory.hurst` by themselves.
DRAWN_S = (0.5, 64.0)


def _series(results: Results, kind: str) -> list[tuple[float, d.Array]]:
    return [sent_per_sample(run)[0] for run in results.runs(EXPERIMENT, kind)]


def _middle(values: d.Array) -> d.Array:
    """Geometric means over the runs."""
    return np.asarray(np.exp(np.log(values).mean(axis=0)))


def _lines(ax: Axes, times: d.Array, runs: d.Array, slope: float, paint: str) -> float:
    """Each run faintly, their means, and the slope that theory gives through the middle one; answers the last mean."""
    for values in runs:
        ax.plot(times, values, color=paint, linewidth=0.7, alpha=0.35)
    means, half = _middle(runs), times.size // 2
    ax.plot(times, means, "o", color=paint, markersize=3.6)
    ax.plot(times, means[half] * (times / times[half]) ** slope, color=MUTED, linewidth=0.9, dashes=(4, 3))
    return float(means[-1])


def similarity(results: Results) -> Drawing:
    """Deviation of mean rates over block length (slope H - 1), and energy of wavelet coefficients over octaves (slope 2H - 1)."""
    fig, (left, right) = new_figure(1, 2, height=3.4)
    ends: dict[str, list[tuple[float, str, str]]] = {"hurst_variance_time": [], "hurst_wavelet": []}
    of_poisson = 1.0
    for kind, (paint, h) in reversed(KINDS.items()):
        series = _series(results, kind)
        if not series:
            continue
        by_blocks = [hurst.variance_time(counts, bin_s, DRAWN_S) for bin_s, counts in series]
        by_octaves = [hurst.wavelet(counts, bin_s, (2 * DRAWN_S[0], DRAWN_S[1])) for bin_s, counts in series]
        mbps = np.array([np.exp2(found.logs / 2) for found in by_blocks]) * 8e-6 / series[0][0]
        energy = np.exp2(np.array([found.logs for found in by_octaves]))
        if kind == "Poisson":
            of_poisson = float(_middle(energy.reshape(-1)))
        last = (
            _lines(left, by_blocks[0].times_s, mbps, h - 1, paint),
            _lines(right, by_octaves[0].times_s, energy / of_poisson, 2 * h - 1, paint),
        )
        for (name, labels), y in zip(ends.items(), last, strict=True):
            found = results.interval(EXPERIMENT, kind, f"{name}.mean")
            labels.append((y, f"{kind}\nH = {found.mean:.2f}\n({found.low:.2f} to {found.high:.2f})", paint))
    d.log_axis(left, "y", 0.1, 40)
    d.log_axis(right, "y", 0.4, 3000)
    for ax, labels in zip((left, right), ends.values(), strict=True):
        d.log_axis(ax, "x", 0.4, 70)
        ax.grid(axis="both")
        d.end_labels(ax, labels, gap=0.2)
    left.set_xlabel("length of a block, s")
    right.set_xlabel("octave, s")
    d.heading(left, "standard deviation of mean rates, Mb/s")
    d.heading(right, "wavelet energy, Poisson = 1")
    caption = (
        "The background alone, and as many packets at random: each run and the means. Dashed: slopes of H = 0.8 and 0.5. "
        "H with 95 % intervals over the runs, by blocks from 2 s on and by octaves from 4 s on."
    )
    return Drawing("self-similarity", "How self-similar the background is", caption, fig)
