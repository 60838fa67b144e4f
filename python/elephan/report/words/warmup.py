"""How long a run warms up, by MSER-5 (`elephan.base.stats.mser5`) over the goodput of all flows; what its scenario leaves out."""

from __future__ import annotations

import math

import numpy as np

from elephan.base import stats
from elephan.base.quantity import show
from elephan.report.words.view import View
from elephan.table.rows import Array

WINDOWS = 500  # of the run, so that means of five are a hundredth of it


def settling(view: View) -> tuple[Array, Array, float, float]:
    """Returns middles and goodput of windows, their length, and when the run has settled, in ns; NaN if it has not."""
    series, step = view.goodput_series(WINDOWS)
    if not series:
        return np.empty(0), np.empty(0), step, math.nan
    times = next(iter(series.values()))[0]
    rates = np.nansum([rate for _, rate in series.values()], axis=0)
    cut = stats.mser5(rates)
    return times, rates, step, math.nan if cut is None else float(times[cut] - step / 2)


def warmup_words(view: View) -> str:
    """Returns a sentence or two: the warm-up that MSER-5 finds, and whether the scenario leaves out as much."""
    times, _, step, settled = settling(view)
    if times.size < 50:
        return "MSER-5 cannot tell the warm-up: it needs 50 windows of goodput, so set a shorter record.every."
    what = f"goodput of all flows in windows of {show(step, 'ns')}"
    own = view.run.warmup_ns
    if math.isnan(settled):
        return f"MSER-5 finds no end of the warm-up in the first half of the run ({what}): the run is too short, or never settles."
    found = f"Warm-up by MSER-5: {show(max(settled, 0.0), 'ns')} ({what})"
    if settled <= own:
        return f"{found}; the scenario leaves out {show(own, 'ns')}, which is enough."
    return f'{found}; the scenario leaves out only {show(own, "ns")}. Set warmup = "{_rounded_up(settled)}".'


def _rounded_up(ns: float) -> str:
    """A time as a scenario writes it, rounded up to two digits."""
    unit = 10.0 ** (math.floor(math.log10(ns)) - 1)
    whole = math.ceil(ns / unit) * unit
    return f"{whole * 1e-9:g} s" if whole >= 1e9 else f"{whole * 1e-6:g} ms"
