"""The statistic of links that follow a trace."""

from __future__ import annotations

from elephan.statistic.capacity import capacity_used
from elephan.statistic.measure import Scope, measure

measure(
    "capacity_used",
    "%",
    "share of what its trace let it carry that each port has sent",
    capacity_used,
    noun="capacity used",
    scope=Scope.PORTS,
    whole=True,
    titles={"max": "share of its trace that the busiest port used"},
)
