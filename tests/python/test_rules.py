"""Rules of RFCs that one endpoint shows beside a peer written by hand (docs/requirements). The expectations are the RFC's."""

from __future__ import annotations

from typing import Any

import elephan as el

PEER, OWN = 100, 300


def segment(flags: str, seq: int, ack: int = 0, **other: Any) -> dict[str, Any]:
    return {"flags": flags, "seq": seq, "ack": ack, "len": 0, "window": 60_000} | other


def server(syn: dict[str, Any] | None = None, **options: Any) -> Any:
    """Returns an established endpoint of stack `rfc` that the peer has opened, with segments of 1 000 bytes."""
    b = el.tcp.Endpoint("rfc", isn=OWN, **({"mss": 1000, "timestamps": False} | options))
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
