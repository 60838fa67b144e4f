"""The points of the axes, and what theory says of them."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from elephan.experiment.study import Point

PAYLOAD, FRAME = 1448, 1538  # of a full segment with timestamps, and what it takes of the wire
# Figure 10 has a mark at each of these.
LOSSES = (1e-5, 1e-4, 1e-3, 0.01, 0.02, 0.05, 0.10, 0.15, 0.20, 0.25, 0.30, 0.40, 0.50)
RATES_BPS = {"1 Mb/s": 1e6, "10 Mb/s": 10e6, "100 Mb/s": 100e6, "1 Gb/s": 1e9}
RTT_S = 0.04
BUFFERS_MB = (0.15, 0.75, 1.5, 3.0, 6.0, 10.0)
MOBILE_BPS = 128e3
TEN = 10  # segments of the initial window


@dataclass(frozen=True)
class Read:
    """A place of a curve of the paper: x and y in the units of the figure, and how far the reading may be off."""

    x: float
    y: float
    error: float


@cache
def digitised() -> dict[tuple[str, str], tuple[Read, ...]]:
    """Returns the places that were read from the paper's figures, by figure and curve."""
    found: dict[tuple[str, str], list[Read]] = {}
    with (Path(__file__).parent / "digitised.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.setdefault((row["figure"], row["curve"]), []).append(Read(*(float(row[key]) for key in ("x", "y", "error"))))
    return {key: tuple(value) for key, value in found.items()}


def percent(share: float) -> str:
    """Returns a loss rate as the labels have it: `0.001 %`.

    >>> percent(1e-5), percent(0.15)
    ('0.001 %', '15 %')
    """
    return f"{100 * share:.6f}".rstrip("0").rstrip(".") + " %"


def losses() -> Iterator[Point]:
    """The loss rates of figure 10."""
    for share in LOSSES:
        yield Point(percent(share), {"template.loss": {"bernoulli": share}}, share)


def high_losses() -> Iterator[Point]:
    """Those at which a policer may be suspected."""
    yield from (point for point in losses() if 0.05 <= point.value <= 0.2)


def rates() -> Iterator[Point]:
    """Rates of a path of 40 ms, each with a buffer of six bandwidth-delay products."""
    for label, bps in RATES_BPS.items():
        yield Point(label, {"template.rate": f"{bps:.0f} bps", "template.queue": {"kind": "fifo", "limit": "6 bdp"}}, bps)


def buffers() -> Iterator[Point]:
    """The buffers of figure 12, of 10^6 bytes; a run is as long as the fill and the drain of the largest."""
    for size in BUFFERS_MB:
        yield Point(f"{size:g} MB", {"template.queue.limit": f"{round(1000 * size)} KB"}, size)


def goodput(rate_bps: float) -> float:
    """Returns the goodput of full segments at a rate of the wire."""
    return rate_bps * PAYLOAD / FRAME


def segments(rate_bps: float, rtt_s: float) -> float:
    """Returns the bandwidth-delay product in segments."""
    return rate_bps * rtt_s / 8 / FRAME


def rounds(rate_bps: float, rtt_s: float) -> float:
    """Returns the round trips that doubling needs from one segment to the bandwidth-delay product."""
    return math.log2(segments(rate_bps, rtt_s))


def reno_window(p: float) -> float:
    """Returns Reno's mean window in segments at periodic loss."""
    return math.sqrt(1.5 / p)


def cubic_window(p: float, rtt_s: float) -> float:
    """Returns CUBIC's mean window in segments at periodic loss (RFC 9438, C = 0.4 and beta = 0.7), or Reno's if that is larger."""
    return max(1.054 * float((rtt_s / p) ** 0.75), reno_window(p))


def cubic_loss(window: float, rtt_s: float) -> float:
    """Returns the loss rate at which CUBIC's own growth gives this mean window."""
    return float(rtt_s * (1.054 / window) ** (4 / 3))


def inverse_square(window: float) -> float:
    """Returns the loss rate that the paper names for a full pipe: one over the square of the bandwidth-delay product."""
    return 1 / (window * window)
