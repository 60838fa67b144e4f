"""The experiments of the panel: which scenario, which controllers in it, what is measured in a run.

Metrics follow RFC 5166; delta-fair convergence Bansal, Balakrishnan, Floyd and Shenker 2001.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elephan.base import stats
from elephan.base.errors import InputError
from elephan.base.quantity import seconds, show
from elephan.experiment.compare import signals
from elephan.experiment.compare.network import RTT_RATIO, Network
from elephan.result.run import Run
from elephan.scenario.congestion import Controller
from elephan.scenario.source import Source, read_text
from elephan.statistic.observed import timeouts
from elephan.table.rows import column, texts

Series = dict[str, signals.Array]  # columns of equal length; `time_s` is one of them
Measured = tuple[dict[str, float], Series]
WINDOW_S = 1.0  # of goodput over time, and of convergence


@dataclass(frozen=True)
class Statistic:
    """What a number of the panel is."""

    name: str
    unit: str
    about: str
    top: float = math.inf  # what it cannot exceed; none can fall below 0 unless `low` says so
    low: float = 0.0


_ALL = [
    Statistic("goodput_bps", "bps", "goodput of one flow alone"),
    Statistic("queue_delay_mean_ns", "ns", "mean queueing delay at the bottleneck, one flow alone"),
    Statistic("queue_delay_p99_ns", "ns", "99th percentile of queueing delay, one flow alone"),
    Statistic("loss", "%", "packets dropped at the bottleneck over packets offered to it, after the warm-up", top=1.0),
    Statistic("goodput_cov", "1", "coefficient of variation of goodput in windows of 1 s, one flow alone"),
    Statistic("timeouts", "1", "retransmission timeouts of the flow"),
    Statistic("goodput_a_bps", "bps", "goodput of the first flow"),
    Statistic("goodput_b_bps", "bps", "goodput of the second flow"),
    Statistic("share_a", "%", "share of the first flow in what both get", top=1.0),
    Statistic("jain", "1", "Jain's index of the two flows", top=1.0, low=0.5),
    Statistic("long_over_short", "1", "goodput of the flow with the long round trip over that with the short one"),
    Statistic("rtt_exponent", "1", "z in goodput ~ RTT^-z", low=-math.inf),
    Statistic("delta_fair_ns", "ns", "time until both flows have 0.45 of the whole in a window of 1 s (delta-fair, delta = 0.1)"),
    Statistic("settled_ns", "ns", "time until both flows are within 20 % of half, for 5 s on end"),
    Statistic("joined_share", "%", "share of the joining flow in the rest of the run", top=1.0),
    Statistic("drop_queue_peak_ns", "ns", "longest queueing delay after the capacity fell"),
    Statistic("drop_queue_mean_ns", "ns", "mean queueing delay while the capacity was low"),
    Statistic("drop_loss", "%", "packets lost at the bottleneck while the capacity was low", top=1.0),
    Statistic("drop_goodput_share", "%", "goodput while the capacity was low, over what it allows"),
    Statistic("rise_ns", "ns", "time after the capacity came back until 80 % of it is used for 1 s"),
]
STATISTICS: dict[str, Statistic] = {statistic.name: statistic for statistic in _ALL}


@dataclass(frozen=True)
class Times:
    """Lengths of the experiments: of the whole run, of the warm-up, and when something happens."""

    duration_s: float
    warmup_s: float
    event_s: tuple[float, ...] = ()

    def overrides(self) -> dict[str, Any]:
        return {"duration": f"{self.duration_s:g} s", "warmup": f"{self.warmup_s:g} s"}


@dataclass(frozen=True)
class Experiment:
    """A scenario, the controllers that are put into it, and what a run of it tells."""

    name: str
    title: str
    flows: tuple[str, ...]  # traffic entries that carry a controller
    source: Callable[[Network, Times], Source]
    overrides: Callable[[Network, Times], dict[str, Any]]
    measure: Callable[[Run, Network, Times], Measured]
    full: Times
    quick: Times

    def times(self, quick: bool) -> Times:
        return self.quick if quick else self.full


def scenario(name: str) -> Source:
    """A scenario file of the panel."""
    path = Path(__file__).with_name(f"{name}.toml")
    return Source(read_text(path), f"compare/{path.name}", "toml", name)


def controller_overrides(experiment: Experiment, controllers: Mapping[str, Controller]) -> dict[str, Any]:
    """The controllers of the flows, `a` and `b`."""
    return {f"traffic.{flow}.congestion_control": controllers[flow].value for flow in experiment.flows}


def rate_steps(network: Network, run: Run) -> list[tuple[float, float]]:
    """The bottleneck's rate: one for the whole run."""
    ports = run.ports
    rates = dict(zip(texts(ports, "name"), column(ports, "rate_bps"), strict=True))
    return [(0.0, float(rates.get(signals.BOTTLENECK, network.rate_bps)))]


def warmup_s(run: Run) -> float:
    return seconds(run.resolved.get("warmup", 0))


def _measure_alone(run: Run, network: Network, _times: Times) -> Measured:
    queue = signals.bottleneck(run, rate_steps(network, run))
    warm = warmup_s(run)
    delay = queue.delay_s[queue.time_s >= warm]
    _, rates = signals.window_goodput(run, "a", warm, WINDOW_S)
    row = texts(run.flows, "traffic").index("a")
    found = {
        "goodput_bps": signals.goodput(run, "a"),
        "queue_delay_mean_ns": float(delay.mean()) * 1e9,
        "queue_delay_p99_ns": stats.quantiles(delay, [0.99])[0] * 1e9,
        "loss": signals.loss(queue, warm),
        "goodput_cov": stats.coefficient_of_variation(rates),
        "timeouts": float(timeouts(run)[row]),
    }
    samples = run.flow_samples
    mine = column(samples, "flow") == column(run.flows, "flow")[row]
    time = column(samples, "time_ns")[mine] * 1e-9
    windows = column(samples, "cwnd_bytes")[mine]
    series = {
        "time_s": time,
        "cwnd_bytes": windows,
        "queue_delay_ns": np.interp(time, queue.time_s, queue.delay_s) * 1e9,
    }
    return found, series


def _shares(run: Run, network: Network) -> dict[str, float]:
    a, b = signals.goodput(run, "a"), signals.goodput(run, "b")
    queue = signals.bottleneck(run, rate_steps(network, run))
    warm = warmup_s(run)
    return {
        "goodput_a_bps": a,
        "goodput_b_bps": b,
        "share_a": a / (a + b) if a + b > 0 else math.nan,
        "jain": stats.jain([a, b]),
        "queue_delay_mean_ns": float(queue.delay_s[queue.time_s >= warm].mean()) * 1e9,
        "loss": signals.loss(queue, warm),
    }


def _measure_pair(run: Run, network: Network, _times: Times) -> Measured:
    return _shares(run, network), {}


def _measure_rtt(run: Run, network: Network, _times: Times) -> Measured:
    found = _shares(run, network)
    near, far = found["goodput_a_bps"], found["goodput_b_bps"]
    ratio = far / near if near > 0 else math.nan
    found["long_over_short"] = ratio
    found["rtt_exponent"] = -math.log(ratio) / math.log(RTT_RATIO) if ratio > 0 else math.nan
    return found, {}


def _measure_join(run: Run, _network: Network, _times: Times) -> Measured:
    begin = signals.start_s(run, "b")
    _, a = signals.window_goodput(run, "a", begin, WINDOW_S)
    _, b = signals.window_goodput(run, "b", begin, WINDOW_S)
    total = float(np.sum(a + b))
    found = {
        "delta_fair_ns": signals.delta_fair_s(a, b, WINDOW_S) * 1e9,
        "settled_ns": signals.settled_s(a, b, WINDOW_S) * 1e9,
        "joined_share": float(np.sum(b)) / total if total > 0 else math.nan,
        "horizon_ns": a.size * WINDOW_S * 1e9,
    }
    before = max(0.0, begin - 5.0)
    time, a = signals.window_goodput(run, "a", before, WINDOW_S)
    _, b = signals.window_goodput(run, "b", before, WINDOW_S)
    return found, {"time_s": time + WINDOW_S / 2 - begin, "goodput_a_bps": a, "goodput_b_bps": b}


def _join_overrides(network: Network, times: Times) -> dict[str, Any]:
    (begin,) = times.event_s
    return network.overrides() | {"traffic.b.start": {"uniform": [f"{begin:g} s", f"{begin + 1:g} s"]}}


def _plain(network: Network, _times: Times) -> dict[str, Any]:
    return network.overrides()


def _file(name: str) -> Callable[[Network, Times], Source]:
    return lambda _network, _times: scenario(name)


ALONE = Experiment(
    "alone", "one flow", ("a",), _file("alone"), _plain, _measure_alone, Times(80, 20), Times(35, 10)
)  # fmt: skip
PAIR = Experiment(
    "pair", "two flows with the same round trip", ("a", "b"), _file("pair"), _plain, _measure_pair, Times(80, 20), Times(35, 10)
)
RTT = Experiment(
    "rtt",
    f"two flows, one with {RTT_RATIO} times the round trip",
    ("a", "b"),
    _file("rtt"),
    lambda network, _times: network.overrides(RTT_RATIO),
    _measure_rtt,
    Times(100, 20),
    Times(40, 10),
)
JOIN = Experiment(
    "join",
    "a second flow joins",
    ("a", "b"),
    _file("join"),
    _join_overrides,
    _measure_join,
    Times(121, 10, (20.0,)),
    Times(51, 5, (10.0,)),
)


def experiments() -> list[Experiment]:
    """The experiments that this build of the core can run, in the order of the report."""
    from elephan.experiment.compare.change import CHANGE, possible

    return [ALONE, PAIR, RTT, JOIN, *([CHANGE] if possible() else [])]


def check_rtt(network: Network, quick: bool) -> None:
    """Refuses a round trip longer than the warm-up of an experiment, which would measure what flows do before they begin."""
    for experiment in experiments():
        longest = network.rtt_s * (RTT_RATIO if experiment is RTT else 1)
        if longest > (warmup_s := experiment.times(quick).warmup_s):
            raise InputError(
                f"rtt: {show(network.rtt_s, 's')} is too long: the experiment {experiment.name} has flows with a round trip of "
                f"{show(longest, 's')} and a warm-up of {warmup_s:g} s; use --scenario with one of your own"
            )
