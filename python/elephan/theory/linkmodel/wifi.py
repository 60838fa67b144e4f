"""Wi-Fi: a station behind an access point that aggregates.

The access point sends to its station once in each round of all stations. It then sends what waits, at most n packets, in one
aggregate (IEEE 802.11 A-MPDU) of

    T = overhead + n 8 L / rate        overhead: DIFS, mean back-off, preamble, SIFS and block ACK
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from elephan.base.errors import InputError
from elephan.theory.linkmodel.model import CHANCE_BYTES, LinkModel


def _make(seconds: float, draw: np.random.Generator, given: Mapping[str, float]) -> str:
    size, stations = int(given["aggregate"]), int(given["stations"])
    air_s = given["overhead_us"] * 1e-6 + size * 8 * CHANCE_BYTES / (given["phy_mbps"] * 1e6)
    if size < 1 or stations < 1:
        raise InputError("wifi: aggregate and stations are 1 or more")
    now, times = 0.0, []
    while now < seconds:
        # Who sends next is drawn: each station, and the access point, once in the mean in a round.
        now += air_s * float(draw.gamma(stations, 1.0)) if stations > 1 else air_s
        times += [math.ceil(1000 * now)] * size
    kept = [time for time in times if time <= round(1000 * seconds)]
    if not kept:
        raise InputError("wifi: no aggregate fits into this time")
    return "\n".join(map(str, kept)) + "\n"


MODEL = LinkModel(
    "a station behind a Wi-Fi access point that aggregates (Mahimahi's format)",
    {"phy_mbps": 300.0, "aggregate": 32.0, "stations": 4.0, "overhead_us": 250.0},
    _make,
)
