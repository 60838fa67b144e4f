"""What an end takes from a segment, and what it answers: the gate of RFC 9293 section 3.10.7.4 and RFC 7323 section 5.3."""

from __future__ import annotations

from typing import Any

import elephan as el
import pytest

Segment = dict[str, Any]
STACKS = ["rfc", "linux"]


def conn(stack: str, **options: Any) -> tuple[Any, Any]:
    """Two ends that have shaken hands at 0 s, with initial sequence numbers 100 and 300."""
    a, b = el.tcp.Endpoint(stack, isn=100, **options), el.tcp.Endpoint(stack, isn=300, auto_read=True, **options)
    b.listen(0.0)
    a.connect(0.0)
    for _ in range(3):
        for seg in a.poll_transmit(0.0):
            b.on_segment(0.0, seg)
        for seg in b.poll_transmit(0.0):
            a.on_segment(0.0, seg)
    assert (a.state, b.state) == ("established", "established")
    return a, b


def data(seq: int, tsval: int, length: int = 1000, ack: int = 301, flags: str = "ACK") -> Segment:
    return {"seq": seq, "ack": ack, "len": length, "flags": flags, "window": 1000, "ts": (tsval, 1)}


@pytest.mark.parametrize("stack", STACKS)
def test_a_late_duplicate_does_not_make_paws_refuse_what_was_sent_before_it(stack: str) -> None:
    # RFC 7323 section 5.3: PAWS, then the window, and only then TS.Recent.
    _, b = conn(stack)
    for seq, tsval in ((101, 1000), (1101, 1001), (101, 1010), (2101, 1005)):
        b.on_segment(0.1, data(seq, tsval))
        b.poll_transmit(0.1)
    assert b.received == 3000


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize(
    "wrong",
    [
        data(101, 900_000, 0, ack=9999),
        data(1, 900_000, 0, ack=9999),
        data(101, 900_000, 0, flags="PSH"),
        data(90, 900_000, 0, flags="RST"),
        data(101, 900_000, 0, flags="SYN"),
        data(50, 900_000, 0),
    ],
)
def test_what_is_refused_leaves_no_trace(stack: str, wrong: Segment) -> None:
    # RFC 9293 section 3.10.7.4.
    _, b = conn(stack)
    b.on_segment(0.1, wrong)
    b.poll_transmit(0.1)
    b.on_segment(0.2, data(101, 300))
    answers = b.poll_transmit(0.2)
    while not answers:
        now = b.next_timer()
        b.on_timer(now)
        answers = b.poll_transmit(now)
    assert (b.received, answers[-1]["ts"][1]) == (1000, 300)


def test_late_packets_cost_timestamps_nothing(tmp_path: Any) -> None:
    # 2 % of the packets are 2 ms late. With timestamps reno had 49 Mb/s, without 93: PAWS refused what was sent before a late
    # duplicate. Now 92.7 and 93.5.
    scenario = """
    title = "Reordered"
    duration = "20 s"
    stack = "rfc"
    seed = 3
    [hosts.a]
    [hosts.b]
    [[links]]
    between = ["a", "b"]
    rate = "100 Mbps"
    delay = "21 ms"
    host_queue = { kind = "fifo", limit = "500 p" }
    forward = { reorder = { share = 0.02, extra = "2 ms" } }
    [[traffic]]
    name = "bulk"
    from = "a"
    to = "b"
    kind = "bulk"
    tcp = { congestion_control = "reno", loss_detection = "rack", undo = "dsack", timestamps = TS }
    """
    rates = []
    for stamped in ("true", "false"):
        run = el.run(scenario.replace("TS", stamped), out=tmp_path / stamped, report=False)
        rates.append(run.statistic("goodput_bps.mean"))
    assert rates[0] > 0.9 * rates[1]
