"""One end of a TCP connection, stepped by hand."""

from __future__ import annotations

import re
from typing import Any

import elephan as el
import pytest
from elephan import _core

Segment = dict[str, Any]


def exchange(a: Any, b: Any, now: float, delay: float = 0.0) -> list[Segment]:
    """Lets everything that both have to send arrive after `delay`; returns it in the order of sending."""
    sent: list[Segment] = []
    while True:
        batch = [(b, seg) for seg in a.poll_transmit(now)] + [(a, seg) for seg in b.poll_transmit(now)]
        if not batch:
            return sent
        now += delay
        for receiver, seg in batch:
            receiver.on_segment(now, seg)
            sent.append(seg)


def connected(**options: Any) -> tuple[Any, Any]:
    """Two ends that have shaken hands at 0 s, with initial sequence numbers 100 and 300."""
    a, b = el.tcp.Endpoint(isn=100, **options), el.tcp.Endpoint(isn=300, auto_read=True, **options)
    b.listen(0.0)
    a.connect(0.0)
    exchange(a, b, 0.0)
    assert (a.state, b.state) == ("established", "established")
    return a, b


def test_the_handshake_of_rfc_9293_figure_6() -> None:
    a, b = el.tcp.Endpoint(isn=100), el.tcp.Endpoint(isn=300)
    assert (a.state, b.state) == ("closed", "closed")
    b.listen(0.0)
    a.connect(0.0)
    assert (a.state, b.state) == ("syn_sent", "listen")
    (syn,) = a.poll_transmit(0.0)
    assert (syn["seq"], syn["flags"], syn["len"]) == (100, "SYN", 0)
    b.on_segment(0.1, syn)
    (answer,) = b.poll_transmit(0.1)
    assert (answer["seq"], answer["ack"], answer["flags"]) == (300, 101, "SYN|ACK")
    assert (a.state, b.state) == ("syn_sent", "syn_received")
    a.on_segment(0.2, answer)
    (ack,) = a.poll_transmit(0.2)
    assert (ack["seq"], ack["ack"], ack["flags"], ack["len"]) == (101, 301, "ACK", 0)
    b.on_segment(0.3, ack)
    assert (a.state, b.state) == ("established", "established")
    assert a.write(0.3, 10) == 10
    (data,) = a.poll_transmit(0.3)
    assert (data["seq"], data["ack"], data["len"], data["flags"]) == (101, 301, 10, "PSH|ACK")
    b.on_segment(0.4, data)
    assert (b.received, b.read(4), b.read(100), b.received) == (0, 4, 6, 10)


def test_the_segments_of_a_handshake_carry_their_options() -> None:
    a = el.tcp.Endpoint(mss=1460, sack=True, timestamps=False, window_scaling=True, receive_window=1 << 20)
    a.connect(0.0)
    (syn,) = a.poll_transmit(0.0)
    # 2^20 >> 5 fits 16 bits, 2^20 >> 4 does not.
    assert (syn["mss"], syn["wscale"], syn["sack_permitted"], syn["ts"]) == (1460, 5, True, None)
    b = el.tcp.Endpoint(mss=1000, sack=False, window_scaling=False, receive_window=65_535)
    b.listen(0.0)
    b.on_segment(0.0, {"seq": 7, "flags": ["SYN"], "window": 1000, "mss": 536})
    (answer,) = b.poll_transmit(0.0)
    assert (answer["ack"], answer["wscale"], answer["sack_permitted"]) == (8, None, False)


def test_a_lost_segment_is_sent_again_after_three_duplicate_acks() -> None:
    """RFC 5681 section 3.2, with SACK blocks (RFC 2018 section 4) in the duplicates."""
    a, b = connected(timestamps=False, sack=True, initial_window=10)
    mss = a.mss
    assert a.write(0.0, 5 * mss) == 5 * mss
    first, *rest = a.poll_transmit(0.0)
    assert [first["seq"], *(seg["seq"] for seg in rest)] == [101 + n * mss for n in range(5)]
    for n, seg in enumerate(rest[:3], 1):
        b.on_segment(0.1, seg)
        (duplicate,) = b.poll_transmit(0.1)
        assert duplicate["ack"] == 101
        assert duplicate["sack"] == [(101 + mss, 101 + (n + 1) * mss)]
        a.on_segment(0.2, duplicate)
        again = a.poll_transmit(0.2)
        assert [seg["seq"] for seg in again] == ([] if n < 3 else [101])
    assert (a.phase, a.stats["fast_retran"], a.stats["sacks_rcvd"], a.stats["segs_retrans"]) == ("recovery", 1, 3, 1)
    assert a.ssthresh == max(5 * mss / 2, 2 * mss)
    b.on_segment(0.3, first)
    b.on_segment(0.3, rest[3])
    assert b.poll_transmit(0.3)[-1]["ack"] == 101 + 5 * mss
    assert b.received == 5 * mss


def test_the_timer_is_a_second_before_any_sample_and_doubles() -> None:
    """RFC 6298 rules 2.1 and 5.5."""
    a = el.tcp.Endpoint()
    assert (a.next_timer(), a.rto, a.srtt) == (None, 1.0, None)
    a.connect(5.0)
    assert a.next_timer() == 6.0
    assert [seg["flags"] for seg in a.poll_transmit(5.0)] == ["SYN"]
    a.on_timer(5.5)
    assert a.poll_transmit(5.5) == []
    a.on_timer(6.0)
    assert [seg["flags"] for seg in a.poll_transmit(6.0)] == ["SYN"]
    assert (a.rto, a.next_timer()) == (2.0, 8.0)


def test_the_first_sample_sets_the_timer() -> None:
    """RFC 6298 rule 2.2: R = 400 ms, RTO = SRTT + 4 R / 2 = 1.2 s."""
    a, b = el.tcp.Endpoint(isn=1), el.tcp.Endpoint(isn=2)
    b.listen(0.0)
    a.connect(0.0)
    exchange(a, b, 0.0, 0.2)
    assert (a.srtt, a.rto) == (0.4, pytest.approx(1.2))


def test_close_goes_through_the_states_of_rfc_9293_figure_12() -> None:
    a, b = connected()
    a.close(1.0)
    (fin,) = a.poll_transmit(1.0)
    assert "FIN" in fin["flags"]
    assert a.state == "fin_wait_1"
    b.on_segment(1.1, fin)
    assert b.state == "close_wait"
    a.on_segment(1.2, b.poll_transmit(1.1)[0])
    assert a.state == "fin_wait_2"
    b.close(1.3)
    a.on_segment(1.4, b.poll_transmit(1.3)[0])
    assert (a.state, b.state) == ("time_wait", "last_ack")
    b.on_segment(1.5, a.poll_transmit(1.4)[0])
    assert b.state == "closed"


def test_a_window_that_is_full_and_read() -> None:
    a, b = el.tcp.Endpoint(isn=1, timestamps=False), el.tcp.Endpoint(isn=2, timestamps=False, mss=1000, receive_window=3000)
    b.listen(0.0)
    a.connect(0.0)
    exchange(a, b, 0.0)
    assert a.write(0.0, 10_000) == 10_000
    sent = exchange(a, b, 0.0)
    b.on_timer(1.0)
    sent += exchange(a, b, 1.0)
    assert (a.acked, a.inflight) == (3000, 0)
    assert [seg["window"] for seg in sent if seg["ack"] == 2 + 3000] == [0]
    assert b.read(3000) == 3000
    assert b.poll_transmit(1.0)[-1]["window"] == 3000


@pytest.mark.parametrize("stack", [name for name, _ in _core.listing("stacks")])
def test_every_stack_carries_a_stream(stack: str) -> None:
    a, b = connected(stack=stack)
    now, written, total = 0.0, 0, 100_000
    for _ in range(2000):
        written += a.write(now, total - written)
        exchange(a, b, now)
        if b.received == total:
            return
        timers = [at for at in (a.next_timer(), b.next_timer()) if at is not None]
        now = max(now, min(timers))
        a.on_timer(now)
        b.on_timer(now)
    pytest.fail(f"{b.received} bytes of {total}")


class Fixed(el.CongestionControl):
    """Four segments, always."""

    slow_start = False

    def on_ack(self, ack: Any) -> None:
        self.cwnd = 4 * self.mss


def test_a_controller_of_ones_own_steers_an_endpoint() -> None:
    a, b = connected(congestion_control=Fixed, timestamps=False)
    a.write(0.0, 60_000)
    for now in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        for seg in a.poll_transmit(now):
            b.on_segment(now, seg)
        b.on_timer(now)
        for seg in b.poll_transmit(now):
            a.on_segment(now, seg)
    assert a.cwnd == 4 * a.mss


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: el.tcp.Endpoint("rcf"), 'unknown stack "rcf"; did you mean "rfc"?'),
        (lambda: el.tcp.Endpoint(rto_mn=1), 'unknown key "rto_mn"; did you mean "rto_min"?'),
        (lambda: el.tcp.Endpoint(rto_min="1 B"), "rto_min: "),
        (lambda: el.tcp.Endpoint(mss=10), "mss: must be from 88 B"),
        (lambda: el.tcp.Endpoint(congestion_control="rno"), "unknown congestion control"),
        (lambda: el.tcp.Endpoint(isn=-1), "isn"),
        (lambda: el.tcp.Endpoint().connect(-1.0), "now must be from 0"),
        (lambda: el.tcp.Endpoint().connect(0.0, mss=1.5), "mss is a whole number from 0 to 65535, not 1.5"),
        (lambda: el.tcp.Endpoint().connect(0.0, mss=True), "mss is a whole number from 0 to 65535, not True"),
        (lambda: el.tcp.Endpoint().on_segment(0.0, {"mss": True}), "segment: mss is a whole number"),
        (lambda: (lambda e: (e.connect(2.0), e.on_timer(1.0)))(el.tcp.Endpoint()), "now must not go back: 1 s is before 2 s"),
        (lambda: el.tcp.Endpoint().write(0.0, -1), "n must be from 0"),
        (lambda: el.tcp.Endpoint().on_segment(0.0, {"sq": 1}), 'unknown key "sq"; did you mean "seq"?'),
        (lambda: el.tcp.Endpoint().on_segment(0.0, {"seq": -1}), "seq is a whole number from 0 to 4294967295, not -1"),
        (lambda: el.tcp.Endpoint().on_segment(0.0, {"flags": "SNY"}), 'no flag "SNY"; did you mean "SYN"?'),
        (lambda: el.tcp.Endpoint().on_segment(0.0, {"flags": 1.5}), "flags is a text"),
        (lambda: el.tcp.Endpoint().on_segment(0.0, {"ts": 3}), "ts is a pair of whole numbers, not 3"),
        (lambda: el.tcp.Endpoint().on_segment(0.0, {"sack": [(1, 2)] * 5}), "at most four pairs"),
        (lambda: el.tcp.Endpoint().on_segment(0.0, {"ecn": 4}), "ecn is a whole number from 0 to 3, not 4"),
        (lambda: el.tcp.Endpoint().on_segment(0.0, {"wscale": 15}), "wscale is a whole number from 0 to 14"),
    ],
)
def test_wrong_input_is_one_line(call: Any, message: str) -> None:
    with pytest.raises(el.InputError) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_stepping_class_raises_the_same_error() -> None:
    for call in (
        lambda: el.cc.new("reno").on_ack(-1.0, 1448, 0.1, 14480),
        lambda: el.cc.new("reno").poke(nothing=1.0),
        lambda: el.rtt.Estimator().sample(1.0, -0.1),
        lambda: el.prr.Recovery().on_ack(1, 1),
    ):
        with pytest.raises(el.InputError):
            call()


def test_an_ack_may_tell_losses_and_when_its_segments_were_sent() -> None:
    # Rounds of 10 000 bytes and 100 ms that lose 3000: two intervals of four rounds at 800 kbit/s show BBR a policer. What
    # on_loss tells is not counted once more.
    c = el.cc.new("bbr", mss=1000)
    for n in range(8):
        assert c.state["policer"] == 0.0
        c.on_loss(0.1 * (n + 1), 1000, 20_000)
        prior = 10_000.0 * n
        c.on_ack(0.1 * (n + 1), 10_000, 0.1, 20_000, rate=8e5, prior_delivered=prior, newly_lost=3000)
    assert abs(c.state["policer"] - 8e5) < 1.0
    # At 1900 of 10 000, below 50 / 256, nothing is seen; counted twice, they would be 2900.
    c = el.cc.new("bbr", mss=1000)
    for n in range(20):
        c.on_loss(0.1 * (n + 1), 1000, 20_000)
        c.on_ack(0.1 * (n + 1), 10_000, 0.1, 20_000, rate=8e5, prior_delivered=10_000.0 * n, newly_lost=1900)
    assert c.state["policer"] == 0.0


def test_an_ack_may_tell_a_one_way_delay() -> None:
    c = el.cc.new("lp", mss=1000)
    c.on_ack(0.1, 1000, 0.1, 10_000, one_way=0.04)
    c.on_ack(0.2, 1000, 0.3, 10_000, one_way=0.05)
    c.on_ack(0.3, 1000, 0.9, 10_000)
    assert (c.state["delay_min"], c.state["delay_max"]) == (0.04, 0.05)


def test_accurate_ecn_is_negotiated_and_counts() -> None:
    """RFC 9768: the SYN asks with AE, CWR and ECE; ACE counts from 5, EE0B from 1, ECEB from 0."""
    ends = [el.tcp.Endpoint("rfc", isn=isn, ecn="accurate", mss=1000, timestamps=False) for isn in (100, 500)]
    a, b = ends
    b.listen(0.0)
    a.connect(0.0)
    (syn,) = a.poll_transmit(0.0)
    assert set(syn["flags"].split("|")) == {"SYN", "AE", "CWR", "ECE"}
    b.on_segment(0.0, syn)
    (answer,) = b.poll_transmit(0.0)
    assert set(answer["flags"].split("|")) == {"SYN", "ACK", "CWR"}  # 010: the SYN was not ECN-capable
    a.on_segment(0.0, answer)
    (first,) = a.poll_transmit(0.0)
    b.on_segment(0.0, first)
    a.write(0.0, 4000)
    data = a.poll_transmit(0.0)
    begin = {"order": 0, "e0b": 1, "ceb": 0, "e1b": 1}
    assert (syn["accecn"], answer["accecn"]) == (None, begin)
    assert (first["len"], first["accecn"]) == (0, begin)
    assert [seg["ecn"] for seg in data] == [2] * 4
    b.on_segment(0.0, data[0])
    b.on_segment(0.0, data[1] | {"ecn": 3})
    (ack,) = b.poll_transmit(0.0)
    assert ack["accecn"] == begin | {"e0b": 1001, "ceb": 1000}
    assert set(ack["flags"].split("|")) == {"ACK", "AE", "CWR"}  # 5 + 1 = 110
    before = a.cwnd
    a.on_segment(0.1, ack)
    assert a.cwnd < before
    assert a.stats["ecn_signals"] == 1
    info = b.info()
    assert [info[f"received_{name}_bytes"] for name in ("e0", "e1", "ce")] == [1000, 0, 1000]
    assert a.info()["delivered_ce_bytes"] == 1000
    # On data, in both orders (RFC 9768 section 3.2.3): stack `linux` puts order 1 on every segment.
    c, d = (el.tcp.Endpoint("linux", isn=isn, ecn="accurate", mss=1012, timestamps=False) for isn in (100, 500))
    d.listen(0.0)
    c.connect(0.0)
    for one, other in ((c, d), (d, c), (c, d)):
        for seg in one.poll_transmit(0.0):
            other.on_segment(0.0, seg)
    c.write(0.0, 2000)
    first, second = c.poll_transmit(0.0)
    assert [(seg["len"], seg["ecn"], seg["accecn"]["order"]) for seg in (first, second)] == [(1000, 2, 1)] * 2
    d.on_segment(0.0, first | {"ecn": 1})
    assert d.poll_transmit(0.0)[0]["accecn"] == {"order": 1, "e1b": 1001, "ceb": 0, "e0b": 1}
    # AE by name and as a bit of the wire.
    for flags in ("SYN|AE|CWR|ECE", 0x1C2):
        c = el.tcp.Endpoint("rfc", ecn="accurate")
        c.listen(0.0)
        c.on_segment(0.0, syn | {"flags": flags})
        assert set(c.poll_transmit(0.0)[0]["flags"].split("|")) == {"SYN", "ACK", "CWR"}
    for more, message in (
        ({"accecn": (1, 0)}, "accecn is a dict of order (0 or 1) and counters from 0 to 16777215"),
        ({"accecn": {"e0b": 1 << 24}}, "accecn is a dict of order"),
        ({"accecn": {"e0b": 1, "e1b": 1}}, "accecn is a dict of order"),
        ({"accecn": {"order": 2}}, "accecn is a dict of order"),
        ({"accecn": begin, "sack": [(1, 2)] * 4, "ts": (1, 1)}, "no room beside the other options"),
        ({"flags": "AEE"}, 'no flag "AEE"; did you mean "AE"?'),
    ):
        with pytest.raises(el.InputError, match=re.escape(message)):
            el.tcp.Endpoint().on_segment(0.0, more)


def after_loss(data: int, lost: int, *, stack: str = "rfc", fin: bool = True, mark: int = -1, **options: Any) -> tuple[Any, Any]:
    """Ten segments (the last with the FIN); `lost` never comes, `mark` is marked; all ACKs of the others have come."""
    a = el.tcp.Endpoint(stack, isn=100, timestamps=False, initial_window=10, **options)
    b = el.tcp.Endpoint(stack, isn=300, auto_read=True, timestamps=False, delayed_ack_segments=1, **options)
    b.listen(0.0)
    a.connect(0.0)
    exchange(a, b, 0.0, 0.05)
    a.write(1.0, data * a.mss)
    if fin:
        a.close(1.0)
    for n, seg in enumerate([seg for seg in a.poll_transmit(1.0) if seg["len"]]):
        if n != lost:
            b.on_segment(1.05 + n * 1e-5, seg | ({"ecn": 3} if n == mark else {}))
            for ack in b.poll_transmit(1.05 + n * 1e-5):
                a.on_segment(1.1 + n * 1e-5, ack)
    return a, b


def test_the_segment_with_the_fin_is_sacked_and_counts_as_a_duplicate_ack() -> None:
    # RFC 2018: the number of the FIN is one of the last segment's; RFC 6675 section 5: the third duplicate ACK begins recovery.
    a, b = after_loss(10, 6)
    assert a.stats["fast_retran"] == 1
    (again,) = [seg for seg in a.poll_transmit(1.2) if seg["len"]]
    assert again["seq"] == 101 + 6 * a.mss
    b.on_segment(1.25, again)
    answers = b.poll_transmit(1.25)
    assert [ack["ack"] for ack in answers] == [101 + 10 * a.mss + 1]
    assert (b.received, b.state) == (10 * a.mss, "close_wait")


def test_cwr_follows_a_reduction_for_whatever_reason_and_one_window_is_cut_once() -> None:
    # RFC 3168 section 6.1.2. Segment 2 is lost, segment 7 of the same window is marked.
    a, b = after_loss(10, 2, fin=False, mark=7, ecn="classic")
    assert (a.stats["fast_retran"], a.stats["ecn_signals"]) == (1, 0)
    cut = a.ssthresh
    a.write(1.2, 20 * a.mss)
    sent = [seg for seg in a.poll_transmit(1.2) if seg["len"]]
    assert [("CWR" in seg["flags"], seg["seq"] > 100 + 10 * a.mss) for seg in sent[:2]] == [(False, False), (True, True)]
    for seg in sent:
        b.on_segment(1.25, seg)
        for ack in b.poll_transmit(1.25):
            a.on_segment(1.3, ack)
    assert (a.ssthresh, a.stats["ecn_signals"]) == (cut, 0)


def test_reading_without_window_scaling_announces_no_room_that_a_window_cannot_say() -> None:
    # RFC 9293 section 3.8.6.2.2: an update is due where the window that the peer knows moves.
    # The peer does not scale, so 65,535 B is all that a buffer of 4 MiB can say.
    a = el.tcp.Endpoint(isn=100, window_scaling=False, receive_window="65535 B")
    b = el.tcp.Endpoint(isn=300, receive_window="4 MiB")
    b.listen(0.0)
    a.connect(0.0)
    exchange(a, b, 0.0)
    a.write(1.0, 2 * a.mss)
    exchange(a, b, 1.0)
    updates = []
    for n in range(10):
        b.read(100)
        updates += b.poll_transmit(2.0 + n)
    assert updates == []


def test_what_paws_drops_is_reported_as_a_duplicate() -> None:
    # As Linux tcp_send_dupack: RFC 2883 says what has come twice, though the old time stamp makes it unacceptable.
    a, b = connected(timestamps=True, dsack=True)
    a.write(1.0, 100)
    (first,) = a.poll_transmit(1.0)
    a.write(2.0, 50)
    b.on_segment(2.0, first | {"ts": (first["ts"][0] + 1000, first["ts"][1])})
    b.poll_transmit(3.0)
    (second,) = a.poll_transmit(3.0)
    b.on_segment(3.0, second | {"ts": (first["ts"][0] + 2000, first["ts"][1])})
    b.on_timer(4.0)
    b.poll_transmit(4.0)
    b.on_segment(5.0, first)
    (answer,) = b.poll_transmit(5.0)
    assert answer["sack"] == [(101, 201)]


def test_a_syn_ack_that_is_sent_again_is_not_timed() -> None:
    # RFC 6298 section 3 (Karn): the SYN-ACK of 0.1 s is lost, the one that the second SYN brings is answered 0.2 s after it.
    a, b = el.tcp.Endpoint(isn=100, timestamps=False), el.tcp.Endpoint(isn=300, timestamps=False, rto_initial="10 s")
    b.listen(0.0)
    a.connect(0.0)
    (syn,) = a.poll_transmit(0.0)
    b.on_segment(0.1, syn)
    b.poll_transmit(0.1)
    b.on_segment(1.1, syn)
    (answer,) = b.poll_transmit(1.1)
    a.on_segment(1.2, answer)
    for seg in a.poll_transmit(1.2):
        b.on_segment(1.3, seg)
    assert (b.state, b.srtt) == ("established", None)


def test_reducing_for_a_mark_is_no_loss_recovery() -> None:
    # RFC 8985 section 7.2 and Linux tcp_schedule_loss_probe: a probe may be waited for after ECN has reduced the window.
    timers = []
    for mark in (-1, 1):
        a, _b = after_loss(6, -1, stack="linux", fin=False, mark=mark, ecn="classic")
        a.write(1.2, 3 * a.mss)
        a.poll_transmit(1.2)
        timers.append(round(a.next_timer() - 1.2, 3))
    assert timers[0] == timers[1] < 0.25


@pytest.mark.parametrize("stack", ["rfc", "linux", "linux-2.4"])
def test_a_duplicate_of_the_network_takes_no_reduction_back(stack: str) -> None:
    # RFC 3708 section 3, Linux tcp_sacktag_one: segment 4 was never retransmitted, so that its second copy is the network's.
    a, _b = connected(stack=stack, initial_window=10, mss=1000, timestamps=False, undo="both", congestion_control="reno")
    a.write(1.0, 10_000)
    a.poll_transmit(1.0)

    def answer(*blocks: tuple[int, int]) -> dict[str, Any]:
        sack = [(101 + 1000 * left, 101 + 1000 * right) for left, right in blocks]
        return {"seq": 301, "ack": 101, "flags": ["ACK"], "window": 65_535, "sack": sack}

    for upto in range(2, 8):
        a.on_segment(1.1, answer((1, upto)))
        a.poll_transmit(1.1)
    before = (a.phase, a.cwnd, a.ssthresh)
    assert (a.phase, a.ssthresh) == ("recovery", 5000)
    a.on_segment(1.15, answer((4, 5), (1, 7)))
    a.poll_transmit(1.15)
    assert (a.phase, a.ssthresh) == (before[0], before[2])
    assert a.stats["spurious_fr_detected"] == 0


@pytest.mark.parametrize(("stack", "at_once"), [("linux", 10), ("rfc", 2)])
def test_the_first_ten_segments_of_linux_are_not_paced(stack: str, at_once: int) -> None:
    # Linux tcp_update_skb_after_send: data_segs_out >= 10, and 6.18 does so. A window of 20 in 0.1 s makes bursts of two segments.
    a = el.tcp.Endpoint(stack=stack, isn=100, pacing="window", initial_window=20, congestion_control="reno")
    b = el.tcp.Endpoint(stack=stack, isn=300)
    b.listen(0.0)
    a.connect(0.0)
    exchange(a, b, 0.0, 0.05)
    a.write(1.0, 100 * a.mss)
    assert len(a.poll_transmit(1.0)) == at_once
    assert 1.0 < a.next_timer() < 1.1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1e9, -1), "rounds is a whole number from 0 to 18446744073709551615, not -1"),
        (("1 GB", 3), "bytes is a number of bytes, not '1 GB'"),
    ],
)
def test_rounds_are_asked_for_in_numbers(arguments: tuple[Any, ...], message: str) -> None:
    rounds = el.rounds.new("cubic", 4, rate="1 Gbps", rtt="50 ms")
    with pytest.raises(ValueError, match=re.escape(message)):
        rounds.run(*arguments)


def test_fast_open_carries_data_in_the_syn() -> None:
    """RFC 7413: the first connection earns a cookie; the next sends data with it, MSS less 40 bytes."""

    def ends() -> tuple[Any, Any]:
        a, b = (el.tcp.Endpoint("rfc", isn=isn, mss=1000, timestamps=False) for isn in (100, 500))
        b.listen(0.0, cookie=b"\x01\x02\x03\x04")
        a.write(0.0, 2000)
        return a, b

    a, b = ends()
    a.connect(0.0, fast_open=True)
    (syn,) = a.poll_transmit(0.0)
    assert (syn["len"], syn["fast_open"]) == (0, b"")
    b.on_segment(0.0, syn)
    (granted,) = b.poll_transmit(0.0)
    assert (granted["ack"], granted["fast_open"]) == (101, b"\x01\x02\x03\x04")

    a, b = ends()
    a.connect(0.0, fast_open=True, cookie=granted["fast_open"], mss=granted["mss"])
    (syn,) = a.poll_transmit(0.0)
    assert (syn["len"], syn["fast_open"]) == (960, b"\x01\x02\x03\x04")
    b.on_segment(0.0, syn)
    assert b.read(1e4) == 960
    b.write(0.0, 100)
    answer, early = b.poll_transmit(0.0)
    assert (answer["ack"], answer["fast_open"], early["len"], b.state) == (100 + 1 + 960, None, 100, "syn_received")
    a.on_segment(0.1, answer)
    assert (a.acked, a.info()["options"] & 32, b.info()["options"] & 32) == (960, 32, 32)
    for wrong in (b"\x01\x02\x03", b"\x01" * 18, "0102"):
        with pytest.raises(el.InputError, match="cookie is bytes, 4 to 16 of them"):
            el.tcp.Endpoint().listen(0.0, cookie=wrong)
