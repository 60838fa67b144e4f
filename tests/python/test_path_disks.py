"""Disks at both ends of a long path: against arithmetic, and against programs that copy packet by packet."""

from __future__ import annotations

import re
from typing import Any

import elephan as el
import pytest
from elephan.experiment.path.question import read_question


def copied(controller: str, streams: int, rate: str, rtt: str, **path: Any) -> float:
    """Seconds that `disk-copy` takes over the path, its streams begun together."""
    question = read_question(rate, rtt, controllers=controller, streams=streams, stack="rfc", **path)
    disk = 'disk = { read = "%d bps", write = "%d bps", cache = "0 B", block = "64 KiB" }'
    ends = [disk % ((bps or 10**12,) * 2) for bps in (question.disk_read_bps, question.disk_write_bps)]
    text = question.scenario().replace('duration = "1 s"', 'duration = "400 s"')
    if "[hosts.sender]" not in text:
        text = text.replace("[[traffic]]", "[hosts.sender]\n\n[[traffic]]")
    text = text.replace("[hosts.sender]", f"[hosts.receiver]\n{ends[1]}\n\n[hosts.sender]\n{ends[0]}")
    words = f'kind = "disk-copy"\nsize = "{question.size_bytes:.0f} B"\nblock = "64 KiB"\nstreams = {streams}\n'
    text = re.sub(r'kind = "bulk"\nconnections = 1\n', f'{words}congestion_control = "{controller}"\n', text)
    copies = el.run(text, seed=1).summary["copies"]
    assert copies["completed"] == 1
    return question.size_bytes * 8 / float(copies["rate_bps"])


@pytest.mark.parametrize("disk", ["disk_read", "disk_write"])
@pytest.mark.parametrize(("window", "seconds"), [("1 MB", 100.0), ("1.3 MB", 80.0), ("4 MB", 80.0)])
def test_a_window_near_what_the_disk_needs(disk: str, window: str, seconds: float) -> None:
    """1 GB over 100 ms with a disk of 100 Mb/s, which needs a window of 1.25 MB: W / RTT is 80 Mb/s at 1 MB, beyond it the disk
    goes at its rate. That a gigabit carries the window in 8 ms and is idle for 92 ms makes nothing slower."""
    named: dict[str, Any] = {disk: "100 Mbps", "streams": 1, "congestion_control": "reno", "size": "1 GB", "window": window}
    row = el.path("1 Gbps", "100 ms", **named).rows[0]
    assert row.time_s.mean == pytest.approx(seconds, rel=0.012)
    assert row.limit == (
        "receive window" if window == "1 MB" else {"disk_read": "disk (reading)", "disk_write": "disk (writing)"}[disk]
    )


@pytest.mark.parametrize(
    ("controller", "streams", "rate", "rtt", "path"),
    [
        (
            "reno",
            4,
            "1 Gbps",
            "100 ms",
            {"host_rate": "1 Gbps", "txqueuelen": 100, "disk_write": "300 Mbps", "size": "2 GB", "window": "8 MB"},
        ),
        ("cubic", 4, "100 Mbps", "20 ms", {"disk_read": "30 Mbps", "disk_write": "60 Mbps", "size": "200 MB"}),
        ("reno", 1, "1 Gbps", "20 ms", {"buffer": "100 kB", "disk_write": "200 Mbps", "size": "300 MB"}),
    ],
)
def test_programs_that_copy_take_as_long(controller: str, streams: int, rate: str, rtt: str, path: dict[str, Any]) -> None:
    """Within 1 % of the transfer packet by packet, where the streams begin together in both."""
    seconds = copied(controller, streams, rate, rtt, **path)
    path |= {"stack": "rfc", "set": {"traffic.transfer.start": "0 s"}}
    row = el.path(rate, rtt, streams=streams, congestion_control=controller, **path).rows[0]
    assert row.time_s.mean == pytest.approx(seconds, rel=0.01)
