"""Low Earth orbit: every `period` seconds another satellite serves.

Rate and delay are then drawn anew, and for `gap` seconds after the hand-over packets are lost. Between hand-overs the path's length
changes evenly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from elephan.base.errors import InputError
from elephan.theory.linkmodel.model import LinkModel

LEAST_S = 0.001  # between two rows


def _make(seconds: float, draw: np.random.Generator, given: Mapping[str, float]) -> str:
    rows, period, gap = ["time_s,rate_mbps,delay_ms,loss"], given["period_s"], given["gap_s"]
    if not LEAST_S <= gap <= period - LEAST_S:
        raise InputError(f"leo: gap_s is at least {LEAST_S:g} s, and as much below period_s")
    step = 1.0
    for number in range(math.ceil(round(seconds / period, 6))):
        start = number * period
        rate = draw.uniform(given["min_mbps"], given["max_mbps"])
        near, far = np.sort(draw.uniform(given["min_delay_ms"], given["max_delay_ms"], 2))
        begin, end = (near, far) if draw.random() < 0.5 else (far, near)
        rows.append(f"{start:.3f},{rate:.3f},{begin:.3f},{given['loss']:g}")
        inner = np.arange(start + gap, min(start + period, seconds) - LEAST_S / 2, step)
        rows += [f"{at:.3f},{rate:.3f},{begin + (end - begin) * (at - start) / period:.3f},0" for at in inner]
    return "\n".join([*rows, f"{max(seconds, gap + step):.3f},{rate:.3f},{end:.3f},0"]) + "\n"


MODEL = LinkModel(
    "a low satellite orbit: a hand-over each 15 s changes rate and delay, with losses (CSV)",
    {
        "period_s": 15.0,
        "gap_s": 0.1,
        "loss": 0.2,
        "min_mbps": 50.0,
        "max_mbps": 250.0,
        "min_delay_ms": 12.0,
        "max_delay_ms": 30.0,
    },
    _make,
)
