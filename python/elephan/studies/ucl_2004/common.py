"""What the figures of this study share: colours, names, ratios of paired runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from elephan.base import stats
from elephan.experiment.study import Results
from elephan.report.palette import look

NAMES = {
    "reno": "Reno",
    "scalable": "Scalable",
    "highspeed": "HighSpeed",
    "htcp": "H-TCP",
    "bic": "BIC",
    "cubic": "CUBIC",
    "fast": "FAST",
    "griddt": "GridDT",
}
PAINT = {name: look(name).color for name in NAMES}
LEFT_BPS = 0.8e9 * 1448 / 1538  # payload rate of what 200 Mb/s leave of 1 Gb/s: 753 Mb/s


def ratio(results: Results, experiment: str, statistic: str, variant: str, against: str) -> stats.Interval:
    """Ratio of a statistic of two variants over the seeds that both have; n = 0 where there is none."""
    a, b = results.by_seed(experiment, variant, statistic), results.by_seed(experiment, against, statistic)
    pairs = [(a[s], b[s]) for s in a if s in b and a[s] > 0 and b[s] > 0]
    return stats.paired_ratio([x for x, _ in pairs], [y for _, y in pairs]) if pairs else stats.NOTHING


def impact(results: Results, stack: str, new: str, path: str, statistic: str = "goodput_bps[vanilla].mean") -> stats.Interval:
    """I: the statistic among vanilla flows only over that in the mix."""
    return ratio(results, "impact", statistic, f"reno/{new}/{path}", f"{stack}/{new}/{path}")


def impact_on_background(results: Results, stack: str, network: str, statistic: str) -> stats.Interval:
    """I_bg: one vanilla flow beside a TCP background over one new flow beside the same."""
    return ratio(results, "impact-background", statistic, f"reno/{network}", f"{stack}/{network}")


def present(results: Results, experiment: str, labels: Sequence[str], rest: str = "") -> list[str]:
    """Those labels whose variants were run (the quick run leaves some out)."""
    return [label for label in labels if (experiment, label + rest) in results.trials.by_variant]


def factor(interval: stats.Interval) -> str:
    """`2.1 (1.9 to 2.3)`"""
    if not interval.n:
        return "n/a"
    mean, low, high = (f"{x:.3g}" if abs(x) >= 1 else f"{x:.2f}" for x in (interval.mean, interval.low, interval.high))
    return f"{mean} ({low} to {high})" if math.isfinite(interval.low) else mean
