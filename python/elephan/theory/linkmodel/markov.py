"""Markov: a rate that jumps between levels, as N channels come and go.

The model is that of Anick, Mitra and Sondhi (Bell System Technical Journal 61, 1982). Each channel carries max / N while it is on.
It is on for a time of mean `on`, then off for a time of mean `off`, both exponential. With p = on / (on + off) the rate of all has

    P(k channels are on) = binomial(N, p)        mean = max p        variance = max^2 p (1 - p) / N
    autocorrelation(t) = exp(-t (1 / on + 1 / off))
    outages: a share (1 - p)^N of the time, each of mean off / N

One channel is Gilbert's model (1960): the link is there or is not.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elephan.base.errors import InputError
from elephan.theory.linkmodel.model import LinkModel

MOST_CHANNELS = 1000
MOST_ROWS = 10_000_000
_TICKS = 1_000_000  # of a second: rows have whole microseconds


def _make(seconds: float, draw: np.random.Generator, given: Mapping[str, float]) -> str:
    channels, on, off = round(given["channels"]), given["on_s"], given["off_s"]
    if channels != given["channels"] or not 1 <= channels <= MOST_CHANNELS:
        raise InputError(f"markov: channels is a whole number from 1 to {MOST_CHANNELS}, not {given['channels']:g}")
    if min(on, off) <= 0:
        raise InputError("markov: on_s and off_s are above 0")
    if 2 * channels * seconds / (on + off) > MOST_ROWS:
        raise InputError(f"markov: the rate would jump more than {MOST_ROWS} times: choose longer on_s and off_s or fewer seconds")
    each = given["max_mbps"] / channels
    count = int(draw.binomial(channels, on / (on + off)))
    now, end, rows = 0, max(round(seconds * _TICKS), 1), [f"0,{count * each:.6g}"]
    while True:
        ends, begins = count / on, (channels - count) / off
        now += max(round(float(draw.exponential(_TICKS / (ends + begins)))), 1)
        if now >= end:
            break
        count += -1 if draw.random() * (ends + begins) < ends else 1
        rows.append(f"{now / _TICKS:.6f},{count * each:.6g}")
    return "\n".join(["time_s,rate_mbps", *rows, f"{end / _TICKS:.6f},{count * each:.6g}"]) + "\n"


MODEL = LinkModel(
    "a link whose rate jumps between levels, as channels come and go (CSV)",
    {"max_mbps": 12.0, "channels": 4.0, "on_s": 2.0, "off_s": 2.0},
    _make,
)
