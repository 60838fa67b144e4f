"""Statistics of what flows get together, over time."""

from __future__ import annotations

from elephan.statistic import needs, sharing
from elephan.statistic.measure import measure
from elephan.statistic.observed import goodput_windows, jain_windows

_WINDOWS = {"sum": "rates of different times are not added; take mean, or goodput_bps.sum"}

measure(
    "goodput_1ms_bps",
    "bps",
    "goodput of all flows together, in windows of 1 ms",
    goodput_windows(1_000_000),
    takes=_WINDOWS,
    noun="goodput in windows of 1 ms",
    needs=(needs.samples,),
)
measure(
    "goodput_10ms_bps",
    "bps",
    "goodput of all flows together, in windows of 10 ms",
    goodput_windows(10_000_000),
    takes=_WINDOWS,
    noun="goodput in windows of 10 ms",
    needs=(needs.samples,),
)
measure(
    "goodput_1s_bps",
    "bps",
    "goodput of all flows together, in windows of 1 s",
    goodput_windows(1_000_000_000),
    takes=_WINDOWS,
    noun="goodput in windows of 1 s",
    needs=(needs.samples,),
)
measure(
    "jain_1ms",
    "1",
    "Jain index of the flows in each window of 1 ms, UDP and frames left out",
    jain_windows(1_000_000),
    noun="Jain index in windows of 1 ms",
    share=True,
    index=True,
    needs=(needs.samples,),
)
measure(
    "jain_10ms",
    "1",
    "Jain index of the flows in each window of 10 ms, UDP and frames left out",
    jain_windows(10_000_000),
    noun="Jain index in windows of 10 ms",
    share=True,
    index=True,
    needs=(needs.samples,),
)
measure(
    "jain_100ms",
    "1",
    "Jain index of the flows in each window of 100 ms, UDP and frames left out",
    jain_windows(100_000_000),
    noun="Jain index in windows of 100 ms",
    share=True,
    index=True,
    needs=(needs.samples,),
)
measure(
    "convergence_ns",
    "ns",
    "from the last start until its share lasts within 20 % of equal",
    sharing.convergence,
    noun="time to converge",
)
measure(
    "delta_fair_ns",
    "ns",
    "from the last start until all flows have 90 % of an equal share",
    sharing.delta_fair,
    noun="time to a fair share",
)
measure(
    "reclaim_ns",
    "ns",
    "from the first end until the others have 80 % of the goodput before it",
    sharing.reclaim,
    noun="time to reclaim",
)
