"""Queue disciplines, stepped by hand."""

from __future__ import annotations

from typing import Any

import elephan as el
import pytest


def drain(queue: Any, now: float = 0.0) -> list[Any]:
    """The ids of all that leaves at `now`."""
    out = []
    while (sent := queue.dequeue(now)) is not None:
        out.append(sent[0])
    return out


def test_drop_tail_and_what_was_dropped() -> None:
    q = el.queue.new("fifo", limit="2 p")
    assert [q.enqueue(0.0, 1500, id=name) for name in "abc"] == ["accepted", "accepted", "dropped"]
    assert (q.kind, q.bytes, q.packets, repr(q)) == ("fifo", 3000, 2, "<fifo 2 p 3000 B>")
    assert q.dequeue(0.5) == ("a", False)
    assert q.stats() == {
        "offered": 3,
        "enqueued": 2,
        "dequeued": 1,
        "marked": 0,
        "dropped": 1,
        "bytes": 1500,
        "packets": 1,
        "drops": [{"id": "c", "reason": "queue_full", "at": 0.0}],
    }
    assert q.dequeue(0.5) == ("b", False)
    assert q.dequeue(0.5) is None


def test_packets_without_a_name_are_numbered_and_marks_are_told() -> None:
    q = el.queue.new("fifo", mark_above="1 p")
    assert [q.enqueue(0.0, 100, ect=ect) for ect in (2, 2, 2, 0)] == ["accepted", "accepted", "marked", "accepted"]
    assert drain(q) == [0, 1, 2, 3]
    assert q.stats()["marked"] == 1


def test_another_flow_s_packet_is_dropped() -> None:
    """Shreedhar and Varghese: a full queue drops from the flow that keeps most waiting."""
    q = el.queue.new("drr", limit="4 p")
    assert [q.enqueue(0.0, 1000, flow=7, id=n) for n in range(4)] == ["accepted"] * 4
    assert q.enqueue(1.0, 1000, flow=8, id="new") == "accepted"
    assert q.stats()["drops"] == [{"id": 3, "reason": "queue_full", "at": 1.0}]
    assert drain(q, 1.0) == [0, "new", 1, 2]


@pytest.mark.parametrize("kind", ["fq", "scfq", "drr", "sfq"])
def test_two_flows_share_alike_and_by_weight(kind: str) -> None:
    q = el.queue.new(kind)
    for _ in range(20):
        q.enqueue(0.0, 1000, flow=1, id=1)
    for _ in range(20):
        q.enqueue(0.0, 1000, flow=2, id=2)
    first = [q.dequeue(0.0)[0] for _ in range(20)]
    assert abs(first.count(1) - first.count(2)) <= 2
    if kind != "sfq":
        q = el.queue.new(kind)
        for _ in range(30):
            q.enqueue(0.0, 1000, flow=1, id=1)
            q.enqueue(0.0, 1000, flow=2, id=2, weight=3)
        first = [q.dequeue(0.0)[0] for _ in range(40)]
        assert abs(first.count(2) - 30) <= 2


def test_strict_priority() -> None:
    q = el.queue.new("prio")
    for priority in (0, 7, 3, 7):
        q.enqueue(0.0, 100, priority=priority, id=priority)
    assert drain(q) == [7, 7, 3, 0]


def test_a_shaper_says_when_to_ask_again() -> None:
    """8 Mbit/s is a byte a microsecond: after the burst of 3000 bytes the third packet goes at 1.5 ms."""
    q = el.queue.new("tbf", rate=8e6, burst=3000, limit="10 p")
    for n in range(3):
        q.enqueue(0.0, 1500, id=n)
    assert drain(q) == [0, 1]
    assert q.ready_at() == pytest.approx(1.5e-3)
    assert q.dequeue(1.4e-3) is None
    assert q.dequeue(1.5e-3) == (2, False)
    assert q.ready_at() is None
    assert q.enqueue(2e-3, 3001) == "dropped"
    assert q.stats()["drops"][0]["reason"] == "larger_than_burst"


@pytest.mark.parametrize("kind", el.queue.names())
def test_every_kind_gives_back_what_it_took(kind: str) -> None:
    """Each packet leaves once or is dropped once, and the counts are those of what is inside."""
    q = el.queue.new(kind, link_rate=1e7, bdp=25_000)
    now, out = 0.0, []
    for n in range(400):
        now += 1e-4
        q.enqueue(now, 100 + n % 1400, flow=n % 5, ect=n % 3, id=n, priority=n % 8)
        if n % 3 == 0 and (sent := q.dequeue(now)) is not None:
            out.append(sent[0])
        stats = q.stats()
        assert stats["packets"] == stats["offered"] - stats["dequeued"] - stats["dropped"] == q.packets
    for _ in range(1000):
        if (sent := q.dequeue(now)) is not None:
            out.append(sent[0])
        elif (at := q.ready_at()) is not None:
            now = max(now, at) + 1e-9
    assert (q.packets, q.bytes) == (0, 0)
    assert sorted(out + [lost["id"] for lost in q.stats()["drops"]]) == list(range(400))


def test_parameters_and_state_can_be_seen() -> None:
    assert el.queue.parameters(el.queue.new("sfq", perturb=10)) == {
        "kind": "sfq",
        "limit": "127 p",
        "quantum": "1.514 KB",
        "buckets": 1024,
        "flows": 128,
        "depth": 127,
        "perturb": "10 s",
        "head_drop": False,
    }
    assert "Fifo" in el.queue.new("fifo").debug()
    assert {"fifo", "xcp", "fq", "scfq", "drr", "sfq", "prio", "tbf"} <= set(el.queue.names())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda: el.queue.new("fiffo"), 'Queue: kind: unknown kind "fiffo"; did you mean "fifo"?'),
        (lambda: el.queue.new("fifo", limt="1 p"), 'Queue: unknown key "limt"; did you mean "limit"?'),
        (lambda: el.queue.new("fifo", limit=5), 'Queue: limit: 5: a limit needs a unit, like "100 p"'),
        (lambda: el.queue.new("prio", bands=0), "Queue: bands: 0: must be at least 1"),
        (lambda: el.queue.new("fq", link_rate=0), "link_rate must be from 1 to 1e14 bit/s, not 0"),
        (lambda: el.queue.new("fifo", limit="0 p"), "Queue: limit: 0: a queue holds one packet at least"),
        (
            lambda: el.queue.new("fifo", limit="1 bdp"),
            "Queue: limit: a limit in bdp needs bdp, the bandwidth-delay product in bytes",
        ),
        (lambda: el.queue.new("fifo").enqueue(0, 0), "size must be from 1 to 4294967295, not 0"),
        (lambda: el.queue.new("fifo").enqueue(0, 100, ect=4), "ect must be from 0 to 3, not 4"),
        (lambda: el.queue.new("fifo").enqueue(0, 100, priority=8), "priority must be from 0 to 7, not 8"),
        (lambda: el.queue.new("fifo").enqueue(0, 100, flow=-1), "flow must be from 0 to 4294967295, not -1"),
        (lambda: el.queue.new("fifo").enqueue(0, 2**40), "size must be from 1 to 4294967295, not 1099511627776"),
        (lambda: el.queue.new("fifo").enqueue(0, 100, weight=0), "weight must be from 1 to 65535, not 0"),
        (lambda: el.queue.new("fifo").dequeue(-1), "now must be from 0 to 18446744 s, not -1"),
    ],
)
def test_bad_input_is_one_clear_line(body: Any, message: str) -> None:
    with pytest.raises(el.InputError) as caught:
        body()
    assert str(caught.value) == message


def test_time_does_not_go_back() -> None:
    q = el.queue.new("fifo")
    q.enqueue(2.0, 100)
    with pytest.raises(el.InputError, match="now must not go back: 1 s is before 2 s"):
        q.dequeue(1.0)
