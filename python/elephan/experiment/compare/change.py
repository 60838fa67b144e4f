"""The experiment `change` of the panel: the capacity of the bottleneck falls to a quarter and comes back."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np

from elephan.experiment.compare import signals
from elephan.experiment.compare.experiments import Experiment, Measured, Times, scenario
from elephan.experiment.compare.network import BACKGROUND_SHARE, Network, rate_text
from elephan.result.run import Run
from elephan.scenario import core
from elephan.scenario.source import Source
from elephan.table.rows import column

DROP_TO = 0.25  # of the capacity
USED = 0.8  # of the capacity that counts as used
_WINDOW_S = 0.5
_HOLD_S = 1.0


def possible() -> bool:
    """Whether the scenario language has `[[change]]`."""
    return "change" in json.loads(core.call("schema")).get("properties", {})


def _source(network: Network, times: Times) -> Source:
    """The scenario of one flow alone, with both changes written under it."""
    alone = scenario("alone")
    drop, rise = times.event_s
    steps = [(drop, network.rate_bps * DROP_TO), (rise, network.rate_bps)]
    changes = "".join(
        f'\n[[change]]\nat  = "{at:g} s"\nset = {{ "links.left->right.rate" = "{rate_text(rate)}" }}\n' for at, rate in steps
    )
    return replace(alone, text=alone.text + changes, name="compare/change.toml", stem="change")


def _filling(run: Run, network: Network, share: float, packet_bytes: float) -> float:
    """Goodput in bit/s that fills this share of the capacity: less the other traffic, less headers; infinite if nothing came."""
    if not packet_bytes:
        return math.inf
    mss = float(np.nanmax(column(run.flows, "cur_mss")))
    return network.rate_bps * (share - BACKGROUND_SHARE) * mss / packet_bytes


def _used_from(time_s: signals.Array, rates: signals.Array, enough: float, begin_s: float) -> float:
    """Time after `begin_s` from which windows have `enough` for `_HOLD_S`; NaN if never."""
    need = round(_HOLD_S / _WINDOW_S)
    run = 0
    for index, rate in enumerate(rates):
        run = run + 1 if rate >= enough else 0
        if run == need:
            return float(time_s[index + 1 - need]) - begin_s
    return math.nan


def _measure(run: Run, network: Network, times: Times) -> Measured:
    drop, rise = times.event_s
    end = run.duration_ns * 1e-9
    queue = signals.bottleneck(run, [(0.0, network.rate_bps), (drop, network.rate_bps * DROP_TO), (rise, network.rate_bps)])
    full, lower = (_filling(run, network, share, queue.packet_bytes) for share in (1.0, DROP_TO))
    low = (queue.time_s >= drop) & (queue.time_s < rise)
    edges, rates = signals.window_goodput(run, "a", 0.0, _WINDOW_S)
    lowered = (edges >= drop + _WINDOW_S) & (edges < rise - _WINDOW_S)
    after = (edges >= rise) & (edges < end)
    found = {
        "drop_queue_peak_ns": float(queue.delay_s[low].max()) * 1e9,
        "drop_queue_mean_ns": float(queue.delay_s[low].mean()) * 1e9,
        "drop_loss": signals.loss(queue, drop, rise),
        "drop_goodput_share": float(rates[lowered].mean()) / lower,
        "rise_ns": _used_from(edges[after], rates[after], USED * full, rise) * 1e9,
        "rise_horizon_ns": (end - rise) * 1e9,
    }
    begin = drop / 2
    shown = edges >= begin
    middle = edges[shown] + _WINDOW_S / 2
    delay = [float(queue.delay_s[(queue.time_s >= e) & (queue.time_s < e + _WINDOW_S)].max(initial=0.0)) for e in edges[shown]]
    series = {"time_s": middle, "goodput_a_bps": rates[shown], "queue_delay_ns": np.asarray(delay) * 1e9}
    return found, series


CHANGE = Experiment(
    "change",
    "the capacity falls to a quarter and comes back",
    ("a",),
    _source,
    lambda network, _times: network.overrides(),
    _measure,
    Times(90, 10, (30.0, 60.0)),
    Times(48, 5, (16.0, 32.0)),
)
