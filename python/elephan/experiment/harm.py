"""Which link hurts most: what each failure of a sweep over failed links costs, against the variant without a failure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elephan.experiment.failed import AXIS, NONE
from elephan.experiment.trials import Variant, as_text, described_table

if TYPE_CHECKING:
    import pyarrow as pa

    from elephan.experiment.sweep import Sweep

GOODPUT, BUSIEST = "goodput_bps.sum", "utilisation.max"
SLOWEST = ("fct_ns.p99", "latency_ns.p99")  # of transfers, else of messages
STEP = 0.005  # of the goodput without a failure: a smaller difference of losses decides nothing


@dataclass(frozen=True)
class Harm:
    """What one failure costs, means over the seeds; a number is NaN if the sweep cannot have it.

    `lost_bps` is the goodput without the failure less that with it, and `lost_share` its share. `unserved_bps` is the demand of
    the `cut` entries of traffic that no path carries any more. `busiest` is the utilisation of the busiest port. `slowest_ns` is
    the 99th percentile of completion times of transfers, or of latencies of messages. `usual_ns` and `usual_busiest` are the same
    without the failure.
    """

    link: str
    variant: str
    rest: str  # what the variant sets beside the failure
    lost_bps: float
    lost_share: float
    unserved_bps: float
    cut: int
    busiest: float
    slowest_ns: float
    usual_ns: float
    usual_busiest: float

    @property
    def _order(self) -> tuple[float, float, float]:
        def rank(value: float) -> float:
            return 0.0 if math.isnan(value) else -value

        return round(rank(self.lost_share) / STEP), round(rank(self.busiest), 2), rank(self.slowest_ns)


def harms(sweep: Sweep) -> list[Harm]:
    """Returns what each failure costs, the worst first.

    Failures are in the order of the share of goodput that is lost, in steps of 0.5 %. Within a step the order is that of the
    busiest port in steps of 1 %, and then that of the 99th percentile.
    """
    failed = sweep.facts.get("failed", {})
    base = {_rest(one): one.label for one in sweep.variants if one.parameters.get(AXIS) == NONE}
    seen = {row.variant for row in sweep.trials}
    slowest = next((name for name in SLOWEST if name in sweep.statistics), "")
    found = []
    for one in sweep.variants:
        usual = base.get(_rest(one))
        if one.parameters.get(AXIS) in (NONE, None) or usual not in seen or one.label not in seen:
            continue
        goodput, lost = _mean(sweep, usual, GOODPUT), _lost(sweep, usual, one.label)
        told = failed[one.parameters[AXIS]]
        found.append(
            Harm(
                link=str(one.parameters[AXIS]),
                variant=one.label,
                rest=_words(one),
                lost_bps=lost,
                lost_share=lost / goodput if goodput else math.nan,
                unserved_bps=math.nan if told["unserved_bps"] is None else float(told["unserved_bps"]),
                cut=len(told["cut"]),
                busiest=_mean(sweep, one.label, BUSIEST),
                slowest_ns=_mean(sweep, one.label, slowest),
                usual_ns=_mean(sweep, usual, slowest),
                usual_busiest=_mean(sweep, usual, BUSIEST),
            )
        )
    return sorted(found, key=lambda one: one._order)


def _others(variant: Variant) -> Mapping[str, Any]:
    return {name: value for name, value in variant.parameters.items() if name != AXIS}


def _rest(variant: Variant) -> str:
    return as_text(dict(_others(variant)))


def _words(variant: Variant) -> str:
    return ", ".join(f"{name.rpartition('.')[2]}={as_text(value)}" for name, value in _others(variant).items())


def _mean(sweep: Sweep, label: str, statistic: str) -> float:
    return sweep.interval(label, statistic).mean if statistic in sweep.statistics else math.nan


def _lost(sweep: Sweep, usual: str, label: str) -> float:
    return sweep.difference(usual, label, GOODPUT).mean if GOODPUT in sweep.statistics else math.nan


def harm_table(found: Sequence[Harm]) -> pa.Table:
    """Returns a row for each failure, the worst first, with units in the metadata."""
    import pyarrow as pa

    about = {
        "lost_bps": ("bit/s", "goodput that is lost"),
        "lost_share": ("", "share of the goodput that is lost"),
        "unserved_bps": ("bit/s", "load of the traffic that is cut off"),
        "cut": ("", "entries of traffic that are cut off"),
        "busiest": ("", "utilisation of the busiest port"),
        "slowest_ns": ("ns", "99th percentile of completion times, or of latencies of messages"),
        "usual_ns": ("ns", "the same percentile without a failure"),
        "usual_busiest": ("", "utilisation of the busiest port without a failure"),
    }
    columns: dict[str, Any] = {name: [getattr(one, name) for one in found] for name in ("link", "variant")}
    for name in about:
        columns[name] = pa.array([getattr(one, name) for one in found], pa.int64() if name == "cut" else pa.float64())
    fields = {
        name: {"unit": unit, "description": words} if unit else {"description": words} for name, (unit, words) in about.items()
    }
    return described_table(columns, fields)
