"""`record.info`: what Linux's `tcp_info` shows of a connection, sampled into a table."""

from __future__ import annotations

from typing import Any

import elephan as el
import pytest


def run(record: dict[str, Any], **traffic: Any) -> Any:
    """A flow of stack `linux` over 10 Mb/s, 40 ms and 20 packets."""
    far = {
        "between": ["sw", "b"],
        "rate": "10 Mbps",
        "delay": "20 ms",
        "forward": {"queue": {"kind": "fifo", "limit": "20 packets"}},
    }
    scenario = {
        "title": "Info",
        "duration": "2 s",
        "stack": "linux",
        "hosts": {"a": {}, "b": {}},
        "switches": {"sw": {}},
        "links": [{"between": ["a", "sw"], "rate": "1 Gbps", "delay": "0 s"}, far],
        "traffic": [{"name": "bulk", "from": "a", "to": "b", "kind": "bulk", **traffic}],
        "record": record,
    }
    return el.run(scenario)


def test_the_table_is_what_a_connection_shows() -> None:
    """At 50 ms the ten segments of the initial window, 1448 bytes each, are in flight. Names and units are those of `tcp_info`."""
    result = run({"every": "50 ms", "info": True})
    rows = result.info.to_pylist()
    first, last = rows[0], rows[-1]
    assert [row["time_ns"] for row in rows[:3]] == [50_000_000, 100_000_000, 150_000_000]
    assert (first["state"], first["ca_state"], first["snd_cwnd"], first["unacked"]) == ("established", "open", 10, 10)
    assert (first["snd_mss"], first["reordering"], first["options"] & 7) == (1448, 3, 7)
    assert (first["snd_ssthresh"], first["pacing_rate"]) == (None, None)
    assert 40_000 <= first["min_rtt"] <= 43_000
    assert {"open", "recovery"} <= {row["ca_state"] for row in rows}
    assert last["snd_ssthresh"] < 100
    assert last["total_retrans"] > 0
    assert last["bytes_sent"] - last["bytes_retrans"] >= last["bytes_acked"]
    # The sender always has data to send or in flight, and an ACK of two segments comes every 2.4 ms.
    assert last["busy_time"] > 1_900_000
    assert last["last_ack_recv"] <= 5
    assert result.info.schema.field("busy_time").metadata[b"unit"] == b"us"


def test_without_it_the_table_is_empty_and_it_needs_an_interval() -> None:
    """Nothing is sampled unless asked for, and samples need `record.every`."""
    assert run({"every": "50 ms"}).info.num_rows == 0
    with pytest.raises(el.InputError, match=r"info is sampled: give record\.every its interval"):
        run({"info": True})
