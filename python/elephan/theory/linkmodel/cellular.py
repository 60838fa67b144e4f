"""Cellular: a rate that wanders, with outages.

It follows the model that Sprout infers (Winstein, Sivaraman and Balakrishnan, NSDI 2013). Packets of 1,500 bytes may leave in a
Poisson process whose rate r wanders,

    r(t + dt) = r(t) + (mean - r(t)) dt / memory + sigma sqrt(dt) N(0, 1)        kept from 0 to r_max

At 0 it stays there for a time of mean 1 / escape: an outage. The pull towards a mean is elephan's; without it the rate has none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from elephan.base.errors import InputError
from elephan.theory.linkmodel.model import CHANCE_BYTES, LinkModel

STEP_S = 0.02  # of the wandering rate


def _make(seconds: float, draw: np.random.Generator, given: Mapping[str, float]) -> str:
    packet = 8 * CHANCE_BYTES / 1e6
    rate, top = given["mean_mbps"] / packet, given["max_mbps"] / packet
    sigma, escape = given["sigma_mbps"] / packet, given["escape_per_s"]
    times: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    for number in range(math.ceil(seconds / STEP_S)):
        if rate <= 0:
            rate = sigma * math.sqrt(STEP_S) if draw.random() < escape * STEP_S else 0.0
        else:
            pull = (given["mean_mbps"] / packet - rate) * STEP_S / given["memory_s"]
            rate = min(max(rate + pull + sigma * math.sqrt(STEP_S) * float(draw.standard_normal()), 0.0), top)
        chances = number * STEP_S + STEP_S * draw.random(draw.poisson(rate * STEP_S))
        times.append(np.sort(np.ceil(1000 * chances)).astype(np.int64))
    found = np.concatenate(times)
    found = found[found <= round(1000 * seconds)]
    if not found.size or found[-1] == 0:
        raise InputError("the link has no chance to send in this time: choose a higher rate or more seconds")
    return "\n".join(map(str, found.tolist())) + "\n"


MODEL = LinkModel(
    "a cellular link whose rate wanders, with outages (Mahimahi's format)",
    {"mean_mbps": 6.0, "max_mbps": 12.0, "sigma_mbps": 2.4, "memory_s": 5.0, "escape_per_s": 1.0},
    _make,
)
