"""Statistics of bursts before a slow link."""

from __future__ import annotations

from elephan.statistic import needs
from elephan.statistic.measure import measure
from elephan.statistic.observed import burst

measure(
    "burst_first_lost",
    "1",
    "number of the first packet that a burst lost",
    burst("first_lost"),
    whole=True,
    warmup=False,
    needs=(needs.bursts,),
)
measure("burst_lost", "1", "packets that a burst lost", burst("lost"), whole=True, warmup=False, needs=(needs.bursts,))
measure(
    "burst_memory_bytes",
    "bytes",
    "memory before the slow link as a burst measures it",
    burst("memory_bytes"),
    whole=True,
    warmup=False,
    needs=(needs.bursts,),
)
