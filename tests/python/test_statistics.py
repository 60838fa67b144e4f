"""The table `statistics`: every instrument of RFC 4898 at each sample time."""

from __future__ import annotations

import elephan as el
import pytest

DUMBBELL = """
duration = "2 s"
[record]
every = "100 ms"
statistics = true
[template]
kind = "dumbbell"
pairs = 2
rate = "10 Mbps"
delay = "10 ms"
queue = { kind = "fifo", limit = "20 p" }
[[traffic]]
name = "bulk"
from = "sender"
to = "receiver"
kind = "bulk"
congestion_control = "reno"
[[traffic]]
name = "noise"
from = "sender[0]"
to = "receiver[0]"
kind = "cbr"
rate = "1 Mbps"
"""


def test_the_last_sample_is_what_flows_has() -> None:
    """Samples of the end of the run are taken after all else, so that both tables say the same; UDP has no instruments."""
    run = el.run(DUMBBELL)
    names = run.statistics.column_names[2:]
    assert run.statistics.column_names[:2] == ["time_ns", "flow"]
    assert run.flows.column_names[-len(names) :] == names
    assert len(names) > 80
    rows = run.statistics.to_pylist()
    assert {row["flow"] for row in rows} == {0, 1}
    end = {row["flow"]: row for row in rows if row["time_ns"] == 2_000_000_000}
    for flow in run.flows.to_pylist()[:2]:
        assert {name: end[flow["flow"]][name] for name in names} == {name: flow[name] for name in names}
    sent = [row["data_octets_out"] for row in rows if row["flow"] == 0]
    assert sent == sorted(sent)
    assert sum(row["segs_retrans"] for row in end.values()) > 0


def test_without_an_interval_there_is_nothing_to_sample() -> None:
    with pytest.raises(el.InputError, match=r"record.statistics: statistics are sampled: give record.every their interval"):
        el.run(DUMBBELL.replace('every = "100 ms"\n', ""))


def test_unasked_for_it_is_empty() -> None:
    assert el.run(DUMBBELL.replace("statistics = true\n", "")).statistics.num_rows == 0
