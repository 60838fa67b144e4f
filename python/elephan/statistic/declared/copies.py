"""Statistics of transfers from disk to disk."""

from __future__ import annotations

from elephan.statistic import needs
from elephan.statistic.measure import measure
from elephan.statistic.observed import copies_together, copy_column, copy_share

measure(
    "copy_bps",
    "bps",
    "rate of each transfer from disk to disk, to where it is complete",
    copy_column("rate_bps"),
    takes={"sum": copies_together("rate_bps")},
    noun="rate from disk to disk",
    titles={"sum": "rate from disk to disk"},
    needs=(needs.copies,),
)
measure(
    "copy_cached_bps",
    "bps",
    "rate of each transfer from disk to disk into the cache",
    copy_column("cached_bps"),
    takes={"sum": copies_together("cached_bps")},
    noun="rate from disk into the cache",
    needs=(needs.copies,),
)
measure(
    "copy_on_disk_bps",
    "bps",
    "rate of each transfer from disk to disk onto the disk",
    copy_column("on_disk_bps"),
    takes={"sum": copies_together("on_disk_bps")},
    noun="rate from disk onto the disk",
    needs=(needs.copies,),
)
measure(
    "copy_read_limited",
    "%",
    "share of time that transfers waited for the disk that is read",
    copy_share("read"),
    needs=(needs.copies,),
)
measure(
    "copy_network_limited", "%", "share of time that transfers waited for the network", copy_share("network"), needs=(needs.copies,)
)
measure(
    "copy_send_buffer_limited",
    "%",
    "share of time that transfers waited for send buffers",
    copy_share("send_buffer"),
    needs=(needs.copies,),
)
measure(
    "copy_receive_buffer_limited",
    "%",
    "share of time that transfers waited for receive buffers",
    copy_share("receive_buffer"),
    needs=(needs.copies,),
)
measure(
    "copy_write_limited",
    "%",
    "share of time that transfers waited for the disk that is written",
    copy_share("write"),
    needs=(needs.copies,),
)
