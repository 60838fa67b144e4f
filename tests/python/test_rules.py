"""Rules of RFCs that one endpoint shows beside a peer written by hand (docs/requirements). The expectations are the RFC's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import elephan as el
import pytest
import segments

PEER, OWN = 100, 300


def segment(flags: str, seq: int, ack: int = 0, **other: Any) -> dict[str, Any]:
    return {"flags": flags, "seq": seq, "ack": ack, "len": 0, "window": 60_000} | other


def server(syn: dict[str, Any] | None = None, stack: str = "rfc", **options: Any) -> Any:
    """Returns an established endpoint of a stack that the peer has opened, with segments of 1 000 bytes."""
    b = el.tcp.Endpoint(stack, isn=OWN, **({"mss": 1000, "timestamps": False} | options))
    b.listen(0.0)
    b.on_segment(0.0, segment("SYN", PEER, mss=1000) | (syn or {}))
    b.poll_transmit(0.0)
    b.on_segment(0.1, segment("ACK", PEER + 1, OWN + 1))
    b.poll_transmit(0.1)
    assert b.state == "established"
    return b


def test_a_marked_window_probe_is_echoed() -> None:
    # RFC 3168 section 6.1.6.
    b = server({"flags": "SYN|ECE|CWR"}, ecn="classic")
    b.on_segment(0.2, segment("ACK", PEER + 1, OWN + 1, len=1, ecn=3))
    b.on_timer(1.0)
    (ack,) = b.poll_transmit(1.0)
    assert "ECE" in ack["flags"].split("|")


def duplicates(count: int) -> Any:
    """Returns a sender without SACK, 10 segments in flight, after so many duplicate ACKs."""
    a = server(sack=False, recovery="reno", limited_transmit=False, congestion_control="reno")
    a.write(0.1, 20_000)
    assert len(a.poll_transmit(0.1)) == 10
    for place in range(count):
        a.on_segment(0.2 + place / 1000, segment("ACK", PEER + 1, OWN + 1))
    return a


def test_the_third_duplicate_counts_three_segments_that_have_left() -> None:
    # RFC 5681 section 3.2, steps 2 and 3: ssthresh is half of FlightSize, cwnd = ssthresh + 3 SMSS.
    info = duplicates(3).info()
    assert (info["snd_ssthresh"], info["snd_cwnd"]) == (5, 8)


def test_each_further_duplicate_opens_the_window_by_a_segment() -> None:
    # RFC 5681 section 3.2, steps 4 and 5: with cwnd 5 + 3 + 3 = 11 of which 10 are in flight one new segment leaves.
    a = duplicates(6)
    assert a.info()["snd_cwnd"] == 11
    assert [seg["seq"] for seg in a.poll_transmit(0.3)] == [OWN + 1, OWN + 10_001]


def test_an_echo_without_ack_is_no_sample() -> None:
    # RFC 7323 section 3.2: TSecr is valid only with ACK.
    b = el.tcp.Endpoint("rfc", isn=OWN)
    b.listen(5.0)
    b.on_segment(5.0, segment("SYN", PEER, mss=1000, ts=(1000, 7)))
    (answer,) = b.poll_transmit(5.0)
    assert answer["ts"][1] == 1000
    assert b.srtt is None


def test_a_timestamp_that_was_not_agreed_is_ignored() -> None:
    # RFC 7323 section 3.2: neither PAWS nor an echo follows from it.
    b = server()
    for place, stamp in enumerate((5000, 1000)):
        b.on_segment(0.2, segment("ACK", PEER + 1 + 100 * place, OWN + 1, len=100, ts=(stamp, 1)))
    assert b.info()["bytes_received"] == 200
    b.on_timer(1.0)
    assert all(seg["ts"] is None for seg in b.poll_transmit(1.0))


def test_the_timestamp_clock_ticks_each_millisecond() -> None:
    # RFC 7323 section 5.4: at least once in a window, 64 KiB to 1 GiB; and no faster than once a millisecond.
    values = []
    for ms in (10, 11, 1010):
        a = el.tcp.Endpoint("rfc", isn=OWN)
        a.connect(ms / 1000)
        values.append(a.poll_transmit(ms / 1000)[0]["ts"][0])
    assert (values[1] - values[0], values[2] - values[0]) == (1, 1000)


def test_the_probe_timer_without_a_round_trip_time_is_a_second() -> None:
    # RFC 8985 section 7.2: without SRTT the PTO is 1 s. The SYN-ACK was retransmitted, so that it gives no sample (Karn).
    b = el.tcp.Endpoint("rfc", isn=OWN, mss=1000, timestamps=False, loss_detection="rack", tail_loss_probe=True)
    b.listen(0.0)
    b.on_segment(0.0, segment("SYN", PEER, mss=1000, sack_permitted=True))
    b.poll_transmit(0.0)
    b.on_timer(1.0)
    b.poll_transmit(1.0)
    b.on_segment(1.1, segment("ACK", PEER + 1, OWN + 1))
    assert b.srtt is None
    b.write(1.1, 3000)
    assert len(b.poll_transmit(1.1)) == 3
    assert abs(b.next_timer() - 2.1) < 1e-9


def test_a_window_that_shrinks_to_zero_is_probed() -> None:
    # RFC 9293 section 3.8.6, MUST-35: data is in flight when the window shrinks; when all of it is acknowledged probes begin.
    a = server()
    a.write(0.1, 20_000)
    sent = a.poll_transmit(0.1)
    a.on_segment(0.2, segment("ACK", PEER + 1, OWN + 1001, window=0))
    a.on_segment(0.3, segment("ACK", PEER + 1, OWN + 1 + 1000 * len(sent), window=0))
    assert a.poll_transmit(0.3) == []
    a.on_timer(a.next_timer())
    assert len(a.poll_transmit(a.next_timer())) == 1


def test_data_in_a_window_that_was_offered_before_is_taken() -> None:
    # RFC 7323 section 2.4: the right edge does not move to the left when the buffer shrinks.
    b = server(receive_window=20_000, window_scaling=False)
    edge = PEER + 1 + 20_000
    b.set(0.1, receive_buffer=5000)
    b.on_segment(0.2, segment("ACK", PEER + 1, OWN + 1, len=1000))
    b.on_timer(0.5)
    acks = b.poll_transmit(0.5)
    assert acks[-1]["ack"] + acks[-1]["window"] >= edge
    b.on_segment(0.6, segment("ACK", PEER + 1001, OWN + 1, len=1000))
    b.on_segment(0.6, segment("ACK", edge - 1000, OWN + 1, len=1000))
    assert b.info()["rcv_ooopack"] == 1


def test_a_retransmitted_syn_keeps_its_number() -> None:
    # RFC 9768 section 3.1.4.1.
    a = el.tcp.Endpoint("rfc", isn=OWN, ecn="accurate")
    a.connect(0.0)
    (first,) = a.poll_transmit(0.0)
    a.on_timer(1.0)
    (second,) = a.poll_transmit(1.0)
    assert (first["seq"], second["seq"]) == (OWN, OWN)
    assert "AE" in first["flags"].split("|")


def test_flags_of_a_syn_in_an_established_connection_are_ignored() -> None:
    # RFC 9768 section 3.1.5: the ACE field of the ACK is 5, as before any mark, whatever the SYN says.
    b = server({"flags": "SYN|AE|ECE|CWR"}, ecn="accurate")
    b.on_segment(0.2, segment("ACK", PEER + 1, OWN + 1, len=10, ecn=2))
    b.on_timer(1.0)
    (before,) = b.poll_transmit(1.0)
    for flags in ("SYN", "SYN|ECE|CWR"):
        b.on_segment(1.1, segment(flags, PEER, mss=1000))
        (ack,) = b.poll_transmit(1.1)
        assert ack["flags"] == before["flags"]


def test_an_ack_with_ece_does_not_open_the_window() -> None:
    # RFC 3168 section 6.1.2: in the window of the reduction ACKs with ECE leave it as it is, others open it.
    windows = []
    for flags in ("ACK|ECE", "ACK"):
        a = server({"flags": "SYN|ECE|CWR"}, ecn="classic", congestion_control="reno")
        a.write(0.1, 40_000)
        a.poll_transmit(0.1)
        a.on_segment(0.2, segment("ACK|ECE", PEER + 1, OWN + 1001))
        reduced = a.cwnd
        a.on_segment(0.21, segment(flags, PEER + 1, OWN + 6001))
        windows.append(a.cwnd - reduced)
    assert windows[0] == 0 < windows[1]


def active(flags: str | None = None, **options: Any) -> Any:
    """Returns an endpoint of stack `rfc` that has sent its SYN, or has got a SYN-ACK with these flags."""
    a = el.tcp.Endpoint("rfc", isn=OWN, **({"mss": 1000, "timestamps": False} | options))
    a.connect(0.0)
    a.poll_transmit(0.0)
    if flags is not None:
        a.on_segment(0.1, segment(flags, PEER, OWN + 1, mss=1000))
        a.poll_transmit(0.1)
        assert a.state == "established"
    return a


def stamped(stack: str) -> Any:
    """Returns an established endpoint with timestamps."""
    b = el.tcp.Endpoint(stack, isn=OWN, mss=1000)
    b.listen(0.0)
    b.on_segment(0.0, segment("SYN", PEER, mss=1000, ts=(1000, 0)))
    b.poll_transmit(0.0)
    b.on_segment(0.1, segment("ACK", PEER + 1, OWN + 1, ts=(1000, 1)))
    b.poll_transmit(0.1)
    assert b.state == "established"
    return b


def test_listening_leaves_a_connection_alone() -> None:
    # RFC 9293 section 3.9.1.1, MUST-41.
    b = server()
    b.listen(0.2)
    assert b.state == "established"
    b.on_segment(0.3, segment("ACK", PEER + 1, OWN + 1, len=100))
    assert b.info()["bytes_received"] == 100


def test_a_shift_is_14_at_most() -> None:
    # RFC 7323 section 2.3. Linux shifts by what its largest buffer needs, here twice the largest window: 15 by itself.
    a = el.tcp.Endpoint("linux", isn=OWN, receive_window=65_535 << 14, receive_window_initial=65_536)
    a.connect(0.0)
    assert a.poll_transmit(0.0)[0]["wscale"] == 14


def test_a_duplicate_without_sack_delivers_a_segment() -> None:
    # RFC 9937 section 6 (DeliveredData without SACK): each duplicate stands for one segment, and the ACK of all ten for the rest.
    a = server(stack="linux", sack=False, congestion_control="reno")
    a.write(0.1, 10_000)
    assert len(a.poll_transmit(0.1)) == 10
    begin = a.info()["delivered"]
    counted = []
    for place, ack in enumerate((1, 1, 1, 10_001)):
        a.on_segment(0.2 + place / 1000, segment("ACK", PEER + 1, OWN + ack))
        counted.append(a.info()["delivered"] - begin)
    assert counted == [1, 2, 3, 10]


def test_the_divisor_of_conservative_slow_start_is_two_at_least() -> None:
    # RFC 9406 section 4.3.
    el.tcp.Endpoint("rfc", slow_start={"kind": "hystartpp", "css_growth_divisor": 2})
    with pytest.raises(el.ScenarioError, match="css_growth_divisor"):
        el.tcp.Endpoint("rfc", slow_start={"kind": "hystartpp", "css_growth_divisor": 1.9})


def test_a_paced_sender_has_no_limit_in_hystartpp() -> None:
    # RFC 9406 section 4.2: L is 8 for what is not paced, infinite for what is. One ACK of 20 segments opens the window by as many.
    opened = []
    for pacing in ("controller", "window"):
        a = server(slow_start="hystartpp", congestion_control="reno", initial_window=20, pacing=pacing)
        a.write(0.1, 100_000)
        now = 0.1
        a.poll_transmit(now)
        while a.inflight < 20_000:
            now = a.next_timer()
            a.on_timer(now)
            a.poll_transmit(now)
        now += 0.02
        a.on_timer(now)
        assert a.poll_transmit(now) == []  # the window is full
        before = a.cwnd
        a.on_segment(now, segment("ACK", PEER + 1, OWN + 20_001))
        opened.append(round((a.cwnd - before) / 1000))
    assert opened == [8, 20]


MARKED = """
duration = "5 s"
[hosts.a]
[hosts.b]
[switches.s]
[switches.t]
[[links]]
between = ["a", "s"]
rate = "1 Gbps"
delay = "1 ms"
[[links]]
between = ["s", "t"]
rate = "20 Mbps"
delay = "5 ms"
queue = { kind = "fifo", limit = "200 p", mark_above = "10 p" }
[[links]]
between = ["t", "b"]
rate = "19 Mbps"
delay = "5 ms"
queue = { kind = "fifo", limit = "400 p" }
[[traffic]]
kind = "bulk"
from = "a"
to = "b"
size = "4 MB"
tcp = { ecn = "classic" }
"""


def test_a_later_queue_leaves_marks_alone() -> None:
    # RFC 3168 section 12: what the first queue marks reaches the receiver marked, through a second queue that marks nothing.
    run = el.run(MARKED)
    (flow,) = run.flows.to_pylist()
    assert flow["ce_rcvd"] == run.statistic("marks.sum") > 0


@pytest.mark.parametrize(
    ("flags", "answer", "echo"),
    [
        ("SYN|AE|ECE|CWR", "SYN|ACK|CWR", "ACK|AE|CWR"),
        ("SYN|ECE|CWR", "SYN|ACK|ECE", "ACK|ECE"),
        ("SYN", "SYN|ACK", "ACK"),
    ],
)
def test_ends_that_open_at_once_take_the_mode_of_the_other_syn(flags: str, answer: str, echo: str) -> None:
    # RFC 9768 section 3.1.2: the answer is that of a server, table 2. A mark then counts: ACE 5 becomes 6; RFC 3168 echoes by ECE.
    a = active(ecn="accurate")
    a.on_segment(0.1, segment(flags, PEER, mss=1000))
    (sent,) = a.poll_transmit(0.1)
    assert set(sent["flags"].split("|")) == set(answer.split("|"))
    a.on_segment(0.2, segment(answer, PEER, OWN + 1, mss=1000))
    a.poll_transmit(0.2)
    assert a.state == "established"
    a.on_segment(0.3, segment("ACK", PEER + 1, OWN + 1, len=100, ecn=3))
    a.on_timer(1.0)
    (ack,) = a.poll_transmit(1.0)
    assert set(ack["flags"].split("|")) == set(echo.split("|"))


def test_the_option_comes_at_least_once_in_4_mib() -> None:
    # RFC 9768 section 3.2.3.3: with the policy that leaves options out the 70th segment of 60 000 bytes brings ECT(0) over 2^22.
    b = server({"flags": "SYN|AE|ECE|CWR", "wscale": 10}, ecn="accurate", accecn_option="minimum", accecn_beacon=0)
    told = []
    for place in range(72):
        now = 1.0 + place
        b.on_segment(now, segment("ACK", PEER + 1 + 60_000 * place, OWN + 1, len=60_000, ecn=2))
        b.on_timer(now + 0.5)
        told += [place + 1 for seg in b.poll_transmit(now + 0.5) if seg["accecn"]]
    assert told == [70]


def test_an_end_that_gets_no_option_goes_on_sending_its_own() -> None:
    # RFC 9768 section 3.2.3.2.3.
    b = server({"flags": "SYN|AE|ECE|CWR"}, ecn="accurate")
    b.on_segment(0.2, segment("ACK", PEER + 1, OWN + 1, len=100, ecn=2))
    b.on_timer(1.0)
    (ack,) = b.poll_transmit(1.0)
    assert ack["accecn"]["e0b"] == 101


@pytest.mark.parametrize(("first", "second"), [("SYN|ACK|CWR", "SYN|ACK|ECE"), ("SYN|ACK|ECE", "SYN|ACK|CWR")])
def test_syn_acks_that_agree_to_both_end_the_connection(first: str, second: str) -> None:
    # RFC 9768 section 3.1.5: AccECN and RFC 3168 are both agreed to. A repetition of the first is answered by an ACK.
    for again, answer, state in ((first, "ACK", "established"), (second, "RST", "closed")):
        a = active(first, ecn="accurate")
        a.on_segment(0.2, segment(again, PEER, OWN + 1, mss=1000))
        (sent,) = a.poll_transmit(0.2)
        assert answer in sent["flags"].split("|")
        assert a.state == state


def test_a_segment_without_the_timestamp_that_was_agreed_is_dropped() -> None:
    # RFC 7323 section 3.2: in silence, and without harm to the connection. A reset needs none (section 5.2).
    b = stamped("rfc")
    b.on_segment(0.2, segment("ACK", PEER + 1, OWN + 1, len=100))
    b.on_timer(1.0)
    assert (b.poll_transmit(1.0), b.info()["bytes_received"], b.state) == ([], 0, "established")
    b.on_segment(1.1, segment("ACK", PEER + 1, OWN + 1, len=100, ts=(1001, 1)))
    assert b.info()["bytes_received"] == 100
    b.on_segment(1.2, segment("RST", PEER + 101))
    assert b.state == "closed"
    linux = stamped("linux")
    linux.on_segment(0.2, segment("ACK", PEER + 1, OWN + 1, len=100))
    assert linux.info()["bytes_received"] == 100


def test_a_reset_has_a_timestamp() -> None:
    # RFC 7323 section 5.2: that of an application that gives up, and that which answers a wrong ACK of the handshake.
    b = stamped("rfc")
    b.abort(0.2)
    (reset,) = b.poll_transmit(0.2)
    assert (reset["flags"], reset["ts"]) == ("RST|ACK", (201, 1000))
    c = el.tcp.Endpoint("rfc", isn=OWN, mss=1000)
    c.listen(0.0)
    c.on_segment(0.0, segment("SYN", PEER, mss=1000, ts=(1000, 0)))
    c.poll_transmit(0.0)
    c.on_segment(0.1, segment("ACK", PEER + 1, OWN + 77, ts=(1000, 1)))
    (reset,) = c.poll_transmit(0.1)
    assert (reset["flags"], reset["ts"]) == ("RST", (101, 1000))


@pytest.mark.parametrize("stack", ["rfc", "linux"])
def test_no_reset_follows_both_fins(stack: str) -> None:
    # RFC 9293 section 3.10.5: CLOSING and LAST-ACK forget the connection in silence, the states before them reset it.
    def end(*steps: str) -> Any:
        b = el.tcp.Endpoint(stack, isn=OWN, mss=1000, timestamps=False, auto_read=True)
        b.listen(0.0)
        b.on_segment(0.0, segment("SYN", PEER, mss=1000))
        b.poll_transmit(0.0)
        b.on_segment(0.1, segment("ACK", PEER + 1, OWN + 1))
        for step in steps:
            if step == "fin":
                b.on_segment(0.2, segment("ACK|FIN", PEER + 1, OWN + 1))
            elif step == "write":
                b.write(0.2, 100_000)
            else:
                b.close(0.2)
            b.poll_transmit(0.2)
        state = b.state
        b.abort(0.3)
        assert b.state == "closed"
        return state, ["RST" in seg["flags"] for seg in b.poll_transmit(0.3)]

    assert end("close", "fin") == ("closing", [])
    assert end("fin", "close") == ("last_ack", [])
    for state, steps in {"established": (), "close_wait": ("fin",), "fin_wait_1": ("close",)}.items():
        assert end(*steps) == (state, [True])
    # The own FIN waits behind data: the peer has not got the end of the stream, so that RFC 9293 has CLOSE-WAIT still.
    assert end("write", "fin", "close") == ("last_ack", [True])


def test_options_begin_at_any_byte(tmp_path: Path) -> None:
    # RFC 9293 section 3.2, MUST-64: MSS 1234 at byte 1 and shift 7 at byte 5, neither at a multiple of four.
    capture = segments.Capture()
    options = b"\1\2\4\x04\xd2\3\3\7"
    capture.segment(1.0, 1000, 0, segments.SYN, options=options)
    capture.segment(1.01, 5000, 1001, segments.SYN | segments.ACK, by=segments.SERVER, options=options)
    capture.segment(1.02, 1001, 5001, window=10)
    capture.exchange(1.1, 1001, 3)
    (row,) = segments.rows(capture, tmp_path)
    assert (row["mss_sent"], row["mss_rcvd"], row["win_scale_sent"], row["win_scale_rcvd"]) == (1234, 1234, 7, 7)
