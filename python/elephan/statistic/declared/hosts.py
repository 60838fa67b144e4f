"""Statistics of hosts' receive side and processor."""

from __future__ import annotations

from elephan.statistic import needs
from elephan.statistic.measure import measure
from elephan.table import hostrows
from elephan.table.rows import column

measure(
    "host_drops",
    "1",
    "packets dropped on their way in by each modelled host",
    hostrows.drops,
    whole=True,
    needs=(needs.modelled_host,),
)
measure(
    "cpu",
    "%",
    "busy time of each modelled host's processor",
    lambda run: column(run.hosts, "cpu"),
    noun="load of the processor",
    whole=True,
    warmup=False,
    needs=(needs.modelled_host,),
)
measure(
    "logger_gap_ns",
    "ns",
    "longest time between two lines of each host's logger",
    lambda run: column(run.hosts, "logger_gap_max_ns"),
    noun="gap of the logger",
    whole=True,
    needs=(needs.logger,),
)
measure(
    "window_after_gap",
    "%",
    "congestion window in the first sample after each logger gap of 0.1 s or more over that before it",
    hostrows.windows_after_gaps,
    noun="window after a gap of the logger",
    share=False,
    needs=(needs.logger,),
)
