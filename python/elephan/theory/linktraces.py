"""Models of links that vary, as traces: cellular, a satellite link with hand-overs, a station behind a Wi-Fi access point.

Cellular (after the model that Sprout infers, Winstein, Sivaraman and Balakrishnan, NSDI 2013): packets of 1,500 bytes may leave in
a Poisson process whose rate r wanders,

    r(t + dt) = r(t) + (mean - r(t)) dt / memory + sigma sqrt(dt) N(0, 1)        kept from 0 to r_max

At 0 it stays there for a time of mean 1 / escape: an outage. The pull towards a mean is elephan's; without it the rate has none.

Low Earth orbit: every `period` seconds another satellite serves, so that rate and delay are drawn anew, and for `gap` seconds
after the hand-over packets are lost. Between hand-overs the path's length changes evenly.

Wi-Fi: the access point sends to its station once in each round of all stations. It then sends what waits, at most n packets, in one
aggregate (IEEE 802.11 A-MPDU) of

    T = overhead + n 8 L / rate        overhead: DIFS, mean back-off, preamble, SIFS and block ACK

All numbers are parameters. The defaults are assumptions of elephan, of the order that the literature names. None is a measurement.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from elephan.base.errors import InputError

STEP_S = 0.02  # of the wandering rate
CHANCE_BYTES = 1504


@dataclass(frozen=True)
class LinkModel:
    """A model: what it is in a line, its parameters with their defaults, and the function that makes the text of a trace."""

    line: str
    defaults: Mapping[str, float]
    make: Callable[[float, np.random.Generator, Mapping[str, float]], str]


def _cellular(seconds: float, draw: np.random.Generator, given: Mapping[str, float]) -> str:
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


def _leo(seconds: float, draw: np.random.Generator, given: Mapping[str, float]) -> str:
    rows, period, gap = ["time_s,rate_mbps,delay_ms,loss"], given["period_s"], given["gap_s"]
    if not 0 < gap < period:
        raise InputError("leo: gap_s is above 0 and below period_s")
    start, step = 0.0, 1.0
    while start < seconds:
        rate = draw.uniform(given["min_mbps"], given["max_mbps"])
        near, far = np.sort(draw.uniform(given["min_delay_ms"], given["max_delay_ms"], 2))
        begin, end = (near, far) if draw.random() < 0.5 else (far, near)
        rows.append(f"{start:.3f},{rate:.3f},{begin:.3f},{given['loss']:g}")
        inner = np.arange(start + gap, min(start + period, seconds), step)
        rows += [f"{at:.3f},{rate:.3f},{begin + (end - begin) * (at - start) / period:.3f},0" for at in inner]
        start += period
    return "\n".join([*rows, f"{max(seconds, gap + step):.3f},{rate:.3f},{end:.3f},0"]) + "\n"


def _wifi(seconds: float, draw: np.random.Generator, given: Mapping[str, float]) -> str:
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


MODELS: Mapping[str, LinkModel] = {
    "cellular": LinkModel(
        "a cellular link whose rate wanders, with outages (Mahimahi's format)",
        {"mean_mbps": 6.0, "max_mbps": 12.0, "sigma_mbps": 2.4, "memory_s": 5.0, "escape_per_s": 1.0},
        _cellular,
    ),
    "leo": LinkModel(
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
        _leo,
    ),
    "wifi": LinkModel(
        "a station behind a Wi-Fi access point that aggregates (Mahimahi's format)",
        {"phy_mbps": 300.0, "aggregate": 32.0, "stations": 4.0, "overhead_us": 250.0},
        _wifi,
    ),
}


def link_trace(kind: str, seconds: float, seed: int = 1, given: Mapping[str, float] | None = None) -> str:
    """Returns the text of a trace of a model of links, the same for the same arguments.

    `given` has parameters of the model that differ from their defaults. Raises InputError for an unknown kind or parameter.

    >>> el.link_trace("cellular", 1.0, seed=3).splitlines()[:3]
    ['2', '3', '4']
    """
    from elephan.base.errors import nearest

    if kind not in MODELS:
        raise InputError(f'no model of links "{kind}"{nearest(kind, list(MODELS), "there are")}')
    model = MODELS[kind]
    for name, value in (given or {}).items():
        if name not in model.defaults:
            raise InputError(f'{kind}: no parameter "{name}"{nearest(name, list(model.defaults), "there are")}')
        if not (math.isfinite(value) and value >= 0):
            raise InputError(f"{kind}: {name} is a number, 0 or above, not {value}")
    if not 0 < seconds <= 86_400:
        raise InputError(f"{seconds:g} seconds: a trace lasts from more than 0 s to a day")
    return model.make(seconds, np.random.default_rng(seed), {**model.defaults, **(given or {})})
