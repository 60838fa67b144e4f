"""Statistics of how long packets of each class wait in queues."""

from __future__ import annotations

import elephan as el
import pytest
from elephan.base.errors import InputError


@pytest.fixture(scope="module")
def l4s() -> el.Run:
    return el.run("l4s", set={"record.queue_delays": True, "duration": "12 s", "warmup": "2 s"})


def test_they_are_of_the_rows(l4s: el.Run) -> None:
    rows = l4s.queue_delays.to_pylist()
    worst = max(row["p99_ns"] for row in rows if row["l4s"])
    assert l4s.statistic("queue_delay_p99[l4s].max") == worst
    port = max(rows, key=lambda row: row["p99_ns"])["name"]
    assert l4s.statistic(f"queue_delay_max[classic, at {port}].max") == max(
        row["max_ns"] for row in rows if not row["l4s"] and row["name"] == port
    )
    assert l4s.statistic("queue_delay_mean.count") == len(rows)


def test_the_queues_of_dualpi2_part_the_classes(l4s: el.Run) -> None:
    """RFC 9332: about a millisecond for L4S (its step threshold), 15 ms for the others (the target of PI2)."""
    low, classic = (l4s.statistic(f"queue_delay_mean[{part}].max") / 1e6 for part in ("l4s", "classic"))
    assert 0.1 < low < 2.5
    assert 10 < classic < 20


def test_little_by_another_way(l4s: el.Run) -> None:
    """Packets a second times their mean wait are the packets that wait on average: bytes, for packets of one size."""
    rows = l4s.queue_delays.to_pylist()
    port = max(l4s.ports.to_pylist(), key=lambda row: row["queue_mean_bytes"])
    waiting = sum(row["packets"] * row["mean_ns"] for row in rows if row["name"] == port["name"]) / 10e9
    full = port["tx_bytes"] / port["tx_packets"]
    assert waiting * full == pytest.approx(port["queue_mean_bytes"], rel=0.05)


def test_datagrams_have_delays() -> None:
    """Alone: 1500 B of IP with 38 of framing at 10 Mb/s twice, and 1 ms twice."""
    text = """
    duration = "1 s"
    record = { datagrams = 5 }
    [template]
    kind = "star"
    clients = 1
    servers = 1
    rate = "10 Mbps"
    delay = "1 ms"
    server_delay = "1 ms"
    [[traffic]]
    from = "client"
    to = "server"
    kind = "cbr"
    rate = "100 kbps"
    """
    run = el.run(text)
    assert run.statistic("datagram_delay.max") == pytest.approx(2 * (1538 * 8 / 10e6 + 1e-3) * 1e9, abs=2)
    assert run.statistic("datagram_delay.count") == 5


def test_what_is_no_part_is_told(l4s: el.Run) -> None:
    with pytest.raises(InputError, match='"queue 3" is not at PORT, priority NUMBER, l4s or classic'):
        l4s.statistic("queue_delay_p50[queue 3].max")
    with pytest.raises(InputError, match="no delays were recorded at nowhere"):
        l4s.statistic("queue_delay_p50[at nowhere].max")
    with pytest.raises(InputError, match=r"set record.queue_delays"):
        el.run("incast", set={"template.clients": 2, "duration": "100 ms"}).statistic("queue_delay_p50.max")
