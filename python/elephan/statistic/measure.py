"""What a statistic is made of: a measure, which is a named list of values of a run, and a take of it (`mean`, `p99` ...).

Everything about a measure stands in its declaration, a call of `measure` in a file of `elephan.statistic.declared`, each of
which is found by itself:

    measure("retransmits", "1", "segments retransmitted by each flow", flow_column("segs_retrans"), whole=True)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.base import stats
from elephan.base.declared import read_all
from elephan.base.errors import InputError
from elephan.table.rows import Array, part_of

if TYPE_CHECKING:
    from elephan.result.run import Run

# Why no run of a resolved scenario has a value, or nothing.
Need = Callable[[Mapping[str, Any]], str]


class Scope(Enum):
    """What the values are of, and so by which parts of a run they may be taken."""

    FLOWS = "flows"
    PORTS = "ports"
    ALL_PORTS = "all ports"


@dataclass(frozen=True)
class Measure:
    """A named list of values of a run."""

    name: str
    unit: str  # bps, ns, bytes, % (a fraction) or 1
    description: str
    values: Callable[[Run], Array]
    # Takes that need more than the values, since each has a time of its own; a text says why there is none.
    takes: Mapping[str, Callable[[Run], float] | str] = field(default_factory=dict)
    noun: str = ""  # what titles call it; else the first words of the description
    scope: Scope = Scope.FLOWS
    whole: bool = False  # counted over the whole run, or its measured time: of no part of the time
    warmup: bool | None = None  # the warm-up counts too; unless said, that of the whole run does
    share: bool | None = None  # no value is above 1; unless said, no fraction is
    index: bool = False  # Jain's index, which is no smaller than 1/n
    signed: bool = False  # it may be below 0
    scales: bool = False  # `between` chooses its bins
    sampled: bool = False  # of a port it has samples, not one value
    usual: Mapping[str, int] = field(default_factory=dict)  # takes that a sweep tabulates unless told otherwise, by place
    titles: Mapping[str, str] = field(default_factory=dict)  # of takes that have names of their own
    needs: tuple[Need, ...] = ()
    selected: Callable[[str], Callable[[Run], Array]] | None = None  # what brackets select, where that is no part of a run

    def take(self, name: str, run: Run, values: Array) -> float:
        """Returns the take called `name` of the values that this measure has found in a run."""
        own = self.takes.get(name)
        return own(run) if callable(own) else TAKES[name](values)

    @property
    def base(self) -> str:
        """The name without a part in brackets."""
        return self.name.partition("[")[0]

    @property
    def of_whole_run(self) -> bool:
        """Whether the warm-up counts too."""
        return self.warmup if self.warmup is not None else self.whole or self.scope is Scope.ALL_PORTS

    @property
    def is_share(self) -> bool:
        """Whether no value of it is above 1."""
        return self.share if self.share is not None else self.unit == "%"

    def of(self, selection: str) -> Measure:
        """The same measure of a part of a run: of a traffic entry, a host, a port, a time (`elephan.table.rows.Part`)."""
        name = f"{self.name}[{selection}]"
        if self.selected is not None:
            own = {"name": name, "description": f"{self.description}: {selection}", "values": self.selected(selection)}
            return Measure(**(vars(self) | own | {"noun": selection.replace("_", " ")}))
        conditions = [condition.partition(" ")[0] for condition in selection.split(", ")]
        if self.scope is Scope.ALL_PORTS:
            raise InputError(f'statistic "{name}": {self.name} is of all ports and the whole run')
        if self.scope is Scope.PORTS and not set(conditions) <= {"at", "during", *(["between"] if self.scales else [])}:
            raise InputError(f'statistic "{name}": {self.name} is about ports, not about flows')
        if "between" in conditions and not self.scales:
            known = " and ".join(measure.name for measure in MEASURES.values() if measure.scales)
            raise InputError(f'statistic "{name}": a range of times between bins is of {known}')
        if self.whole and "during" in conditions:
            raise InputError(f'statistic "{name}": {self.name} is of the whole run; sampled ones have times')
        words = f"{self.description}; {selection if len(conditions) > 1 or ' ' in selection else f'traffic {selection}'}"
        # A part answers to what measures ask of a run, by handing the rest on to it.
        takes = {take: _of_part(own, selection) if callable(own) else own for take, own in self.takes.items()}
        part = {"name": name, "description": words, "values": lambda run: self.values(part_of(run, selection)), "takes": takes}
        return Measure(**(vars(self) | part))


def _of_part(value: Callable[[Run], float], selection: str) -> Callable[[Run], float]:
    return lambda run: value(part_of(run, selection))


MEASURES: dict[str, Measure] = {}


def measure(name: str, unit: str, description: str, values: Callable[[Run], Array], **about: Any) -> None:
    """Declares a measure; `about` are the other fields of `Measure`."""
    MEASURES[name] = Measure(name, unit, description, values, **about)


def declare_all() -> None:
    """Reads the declarations: every file of `elephan.statistic.declared`."""
    read_all("elephan.statistic.declared")


def _quantile(q: float) -> Callable[[Array], float]:
    return lambda x: stats.quantiles(x, [q])[0]


def _second(x: Array) -> float:
    return float(np.sort(x)[-2]) if x.size > 1 else math.nan


TAKES: dict[str, Callable[[Array], float]] = {
    "sum": lambda x: float(x.sum()),
    "mean": lambda x: float(x.mean()),
    "sd": lambda x: float(x.std(ddof=1)) if x.size > 1 else math.nan,
    "min": lambda x: float(x.min()),
    "max": lambda x: float(x.max()),
    "second": _second,
    "positive": lambda x: float((x > 0).sum()),
    "range": lambda x: float(np.ptp(x)),
    "min/max": lambda x: float(x.min() / x.max()) if x.max() > 0 else math.nan,
    "first/last": lambda x: float(x[0] / x[-1]) if x[-1] > 0 else math.nan,
    "p1": _quantile(0.01),
    "p5": _quantile(0.05),
    "p50": _quantile(0.5),
    "p95": _quantile(0.95),
    "p99": _quantile(0.99),
    "p999": _quantile(0.999),
    "p99/p50": lambda x: _quantile(0.99)(x) / median if (median := _quantile(0.5)(x)) > 0 else math.nan,
    "p99-p50": lambda x: _quantile(0.99)(x) - _quantile(0.5)(x),
    "jain": lambda x: stats.jain(x),
    "cov": lambda x: stats.coefficient_of_variation(x),
    "count": lambda x: float(x.size),
}
