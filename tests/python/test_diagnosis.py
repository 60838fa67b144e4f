"""What held a connection of a capture back: made captures whose answer follows from how they were made."""

from __future__ import annotations

import dataclasses
import itertools
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.capture.limits import HELD, limits_of
from elephan.report.page.trace_page import answer
from segments import ACK, CWR, ECE, PSH, RST, SECTION, SERVER, SYN, Capture, block, ipv4, ipv6, scale

RTT = 0.03


def opened(near: bool = True, window: int = 64_240, shift: int = 7, flags: tuple[int, int] = (0, 0)) -> Capture:
    """A capture that begins with a handshake at 1 s, seen at the client or at the server."""
    c = Capture()
    options = b"\2\4\x05\xb4" + scale(shift)
    to_server = RTT if near else 1e-4
    c.segment(1.0, 1000, 0, SYN | flags[0], options=options)
    c.segment(1.0 + to_server, 5000, 1001, SYN | ACK | flags[1], by=SERVER, options=options, window=window)
    c.segment(1.0 + RTT + 1e-4, 1001, 5001, window=512)
    return c


def rounds(
    c: Capture, begin: float, first: int, count: int, size: int = 12, near: bool = True, window: int = 512, gap: float = 0.001
) -> float:
    """Windows of `size` segments of 1000 bytes from segment `first` on, one a round trip; returns when the next could begin."""
    after = RTT if near else 2e-5
    for _ in range(count):
        for i in range(size):
            c.segment(begin + i * 1e-4, 1001 + 1000 * (first + i), 5001, length=1000, window=512)
            if i % 2:
                c.segment(begin + i * 1e-4 + after, 5001, 1001 + 1000 * (first + i + 1), by=SERVER, window=window)
        first += size
        begin += RTT + gap
    return begin


def analysed(c: Capture, where: Path) -> tuple[el.Trace, dict[str, Any]]:
    c.frames.sort(key=lambda frame: frame[0])
    trace = el.analyze(c.write(where / "made.pcap"), report=False)
    return trace, trace.ranked[0]


def shares(row: dict[str, Any]) -> dict[str, float]:
    found = limits_of(row)
    assert found is not None
    return dataclasses.asdict(found)


def check_sums(trace: el.Trace) -> None:
    """The parts of the time add up, and the stretches say the same by another path."""
    stretches = trace.stretches.to_pylist()
    for row in trace.connections.to_pylist():
        own = [one for one in stretches if one["connection"] == row["connection"]]
        assert all(a["end_ns"] == b["begin_ns"] for a, b in itertools.pairwise(own))
        assert sum(one["end_ns"] - one["begin_ns"] for one in own) == sum(row[name] for name in HELD)
        if len(own) < 100:  # nothing was joined
            for name in HELD:
                owner = name.removeprefix("held_").removesuffix("_ns")
                assert sum(one["end_ns"] - one["begin_ns"] for one in own if one["owner"] == owner) == row[name], name


def full_window(c: Capture, near: bool) -> None:
    rounds(c, 1.2, 0, 80, near=near, window=12_000)


def thinking(c: Capture, near: bool) -> None:
    """The client asks each 500 ms and the server thinks for 400 ms: seen from the direction of the server."""
    to_server, to_client = (RTT, 0.0) if near else (0.0, RTT)
    for k in range(15):
        at, seq, peer = 1.2 + 0.5 * k, 1001 + 200 * k, 5001 + 10_000 * k
        c.segment(at, seq, peer, ACK | PSH, length=200, window=512)
        c.segment(at + to_server + 1e-5, peer, seq + 200, by=SERVER, window=512)
        for i in range(10):
            came = at + 0.4 + to_server + i * 1e-5
            c.segment(came, peer + 1000 * i, seq + 200, length=1000, by=SERVER, window=512)
            c.segment(came + to_client + 1e-5, seq + 200, peer + 1000 * (i + 1), window=512)


@pytest.mark.parametrize("near", [True, False])
@pytest.mark.parametrize(("write", "owner", "least"), [(full_window, "window", 0.9), (thinking, "idle", 0.9)])
def test_both_places_see_the_same_cause(
    write: Callable[[Capture, bool], None], owner: str, least: float, near: bool, tmp_path: Path
) -> None:
    c = opened(near, window=12_000, shift=0)
    write(c, near)
    trace, row = analysed(c, tmp_path)
    assert shares(row)[owner] >= least
    assert sum(shares(row).values()) == pytest.approx(1)
    check_sums(trace)


def test_an_outage_has_its_times_and_what_came_again(tmp_path: Path) -> None:
    c = opened()
    begin = rounds(c, 1.2, 0, 30)
    flight = [360 + i for i in range(12)]
    for i, n in enumerate(flight):
        c.segment(begin + i * 1e-4, 1001 + 1000 * n, 5001, length=1000, window=512)
    for after in (0.3, 0.9, 2.1):
        c.segment(begin + after, 1001 + 1000 * flight[0], 5001, length=1000, window=512)
    over = begin + 4.5
    for i, n in enumerate(flight):
        c.segment(over + i * 1e-3, 1001 + 1000 * n, 5001, length=1000, window=512)
        c.segment(over + i * 1e-3 + RTT, 5001, 2001 + 1000 * n, by=SERVER, window=512)
    rounds(c, over + 0.1, 372, 30)
    trace, row = analysed(c, tmp_path)
    # From the last of the flight to the last of the timeouts.
    assert shares(row)["timer"] == pytest.approx(4.5 / (row["data_end_ns"] - row["data_start_ns"]) * 1e9, rel=0.02)
    (line,) = [line for line in trace.told(trace.focus) if "(an outage)" in line]
    assert float(line.split()[1]) == pytest.approx(begin - 1, abs=2e-3)
    assert "; then 15 segments came again" in line  # three timeouts and the flight
    check_sums(trace)


def test_what_the_receiver_cannot_see_is_unknown(tmp_path: Path) -> None:
    c = opened(near=False)
    begin = rounds(c, 1.2, 0, 40, near=False)
    rounds(c, begin + 5, 480, 40, near=False)
    trace, row = analysed(c, tmp_path)
    assert shares(row)["unknown"] == pytest.approx(5 / (5 + 80 * 0.031), abs=0.02)
    assert shares(row)["idle"] == 0
    assert any("an outage, or a pause of the sender" in line for line in answer(trace))


def test_a_window_closed_half_of_the_time(tmp_path: Path) -> None:
    c = opened(window=12_000, shift=0)
    at, n = 1.2, 0
    for _ in range(6):
        at = rounds(c, at, n, 10, window=12_000, gap=0.0)
        n += 120
        at += 0.002  # behind the last ACK of the round
        c.segment(at, 5001, 1001 + 1000 * n, by=SERVER, window=0)
        at += 0.3
        c.segment(at, 5001, 1001 + 1000 * n, by=SERVER, window=12_000)
    trace, row = analysed(c, tmp_path)
    assert shares(row)["closed"] == pytest.approx(0.5, abs=0.03)
    assert shares(row)["window"] == pytest.approx(0.5, abs=0.03)
    check_sums(trace)


def test_a_queue_is_told_by_its_round_trips(tmp_path: Path) -> None:
    c = opened()
    for n in range(2000):
        at = 1.2 + n * 2e-3
        c.segment(at, 1001 + 1000 * n, 5001, length=1000, window=512)
        c.segment(at + RTT + min(n * 2e-4, 0.2), 5001, 2001 + 1000 * n, by=SERVER, window=32_000)
    trace, row = analysed(c, tmp_path)
    assert shares(row)["rate"] > 0.9
    assert "The round-trip time grew from 30 ms to 230 ms: a queue of up to 200 ms." in answer(trace)


@pytest.mark.parametrize("wait", [0.04, 0.2])
def test_a_small_segment_that_waits_for_a_delayed_ack(wait: float, tmp_path: Path) -> None:
    c = opened()
    at, seq, peer = 1.2, 1001, 5001
    for _ in range(20):
        c.segment(at, seq, peer, ACK | PSH, length=80, window=512)
        c.segment(at + wait, peer, seq + 80, by=SERVER, window=512)
        c.segment(at + wait + 1e-4, seq + 80, peer, ACK | PSH, length=60, window=512)
        at += wait + RTT
        c.segment(at, peer, seq + 140, ACK | PSH, length=500, by=SERVER, window=512)
        c.segment(at + 1e-4, seq + 140, peer + 500, window=512)
        at, seq, peer = at + 0.01, seq + 140, peer + 500
    trace, _ = analysed(c, tmp_path)
    said = [line for line in answer(trace) if "Nagle" in line]
    # At a round trip of 30 ms nobody can tell 40 ms from the path's.
    assert bool(said) == (wait > 4 * RTT)
    if said:
        assert "20 times a small segment waited for the ACK of the one before it, 200 ms in the median and 4 s in all" in said[0]


def test_cuts_by_marks_are_no_losses(tmp_path: Path) -> None:
    c = opened(flags=(ECE | CWR, ECE))
    at = 1.2
    for k in range(60):
        for i in range(12):
            more = CWR if k % 6 == 0 and k and not i else 0
            c.segment(at + i * 1e-4, 1001 + 1000 * (12 * k + i), 5001, ACK | more, length=1000, window=512)
            if i % 2:
                more = ECE if k % 6 == 5 else 0
                c.segment(at + i * 1e-4 + RTT, 5001, 1001 + 1000 * (12 * k + i + 1), ACK | more, by=SERVER, window=512)
        at += RTT + 0.002
    trace, row = analysed(c, tmp_path)
    assert (row["cong_signals"], row["cong_signals_marked"], shares(row)["recovery"]) == (9, 9, 0)
    assert any(line.startswith("9 of 9 cuts of the window were by ECN") for line in answer(trace))


@pytest.mark.parametrize(("passes", "hole"), [(700, True), (1460, False)])
def test_a_segment_that_never_passes(passes: int, hole: bool, tmp_path: Path) -> None:
    c = opened()
    seq = 1001
    for k in range(12):
        c.segment(1.2 + k * 0.05, seq, 5001, ACK | PSH, length=passes, window=512)
        c.segment(1.2 + k * 0.05 + RTT, 5001, seq + passes, by=SERVER, window=512)
        seq += passes
    for after in (0.0, 0.3, 0.9, 2.1, 4.5):
        c.segment(2.0 + after, seq, 5001, length=1460, window=512)
    trace, _ = analysed(c, tmp_path)
    said = " ".join(answer(trace))
    assert ("A segment of 1\u202f460 bytes never passed: it was sent 5 times" in said) == hole
    assert ("the sender sent the same segment 5 times without an ACK" in said) != hole


def test_all_connections_are_ranked(tmp_path: Path) -> None:
    c = opened()
    rounds(c, 1.2, 0, 60)
    for i in range(7):
        c.segment(4.0 + i, 1000, 0, SYN, port=50_000 + i)
        if i < 5:
            c.segment(4.01 + i, 0, 1001, RST | ACK, by=SERVER, port=50_000 + i)
    for after in (0, 1, 3):
        c.segment(20.0 + after, 1000, 0, SYN, port=51_000)
    c.segment(23.03, 5000, 1001, SYN | ACK, by=SERVER, port=51_000)
    c.segment(23.031, 1001, 5001, port=51_000)
    trace, _ = analysed(c, tmp_path)
    lines = trace.summary["ranks"]
    assert any(line.startswith("5 connections were refused: 10.0.0.1:50000 → 10.0.0.2:5001 (at 3.01 s, packet ") for line in lines)
    assert any(line.startswith("2 connections got no answer: 10.0.0.1:5000") for line in lines)
    assert any(
        line.startswith("1 connection was slow to set up: 10.0.0.1:51000 → 10.0.0.2:5001 (3.03 s at 19 s, packet") for line in lines
    )
    assert not any("10.0.0.1:40000" in line for line in lines), "the large one is well"


def test_answers_and_requests_have_their_times(tmp_path: Path) -> None:
    c = opened()
    thinking(c, True)
    trace, row = analysed(c, tmp_path)
    assert (row["source"], row["turns"]) == ("10.0.0.2", 15)
    assert row["turn_median_ns"] == pytest.approx(430e6, rel=0.03)
    (line,) = [line for line in answer(trace) if line.startswith("10.0.0.2 answered 15 times")]
    assert "30 ms of each is the round trip to it" in line


def test_the_first_byte_of_a_single_answer(tmp_path: Path) -> None:
    """A request at 2 s, the first byte of the only answer 180 ms later, of which 30 ms are the round trip."""
    c = opened()
    c.segment(2.0, 1001, 5001, length=200)
    c.segment(2.03, 5001, 1201, by=SERVER)
    c.segment(2.18, 5001, 1201, by=SERVER, length=1000)
    c.segment(2.181, 1201, 6001)
    trace, row = analysed(c, tmp_path)
    assert (row["source"], row["turns"]) == ("10.0.0.2", 1)
    (line,) = [line for line in answer(trace) if line.startswith("10.0.0.2 answered")]
    assert "answered once: the first byte came after 180 ms (at 1.18 s, packet 6)" in line
    assert "; 30 ms of it is the round trip to it" in line


def test_a_syn_whose_data_is_refused_is_no_loss(tmp_path: Path) -> None:
    c = Capture()
    c.segment(1.0, 1000, 0, SYN, length=300)
    c.segment(1.03, 5000, 1001, SYN | ACK, by=SERVER)
    c.segment(1.0301, 1001, 5001, length=300)
    c.segment(1.06, 5001, 1301, by=SERVER)
    c.exchange(1.1, 1301, 20)
    _, row = analysed(c, tmp_path)
    assert (row["refused_syn_bytes"], row["segs_retrans"], row["cong_signals"], row["delivered_bytes"]) == (300, 0, 0, 20_300)


def test_the_counter_of_accecn_is_no_ece(tmp_path: Path) -> None:
    """RFC 9768: the counter begins at 5, a SYN-ACK with CWR alone agrees, the client's first ACK says how that arrived."""
    c = Capture()

    def flagged(number: int) -> int:
        return ACK | (0x100 if number & 4 else 0) | (CWR if number & 2 else 0) | (ECE if number & 1 else 0)

    c.segment(1.0, 1000, 0, SYN | ECE | CWR | 0x100)
    c.segment(1.03, 5000, 1001, SYN | ACK | CWR, by=SERVER)
    c.segment(1.0301, 1001, 5001, flagged(2))
    marks = 0
    for i in range(20):
        c.segment(1.1 + i * 0.05, 1001 + 1000 * i, 5001, flagged(5), length=1000)
        marks += 2 if i % 4 == 3 else 0
        c.segment(1.13 + i * 0.05, 5001, 2001 + 1000 * i, flagged((5 + marks) % 8), by=SERVER)
    trace, row = analysed(c, tmp_path)
    assert (row["acc_ecn"], row["ace_marks"], row["ece_in"], row["ecn"]) == (True, 10, 0, False)
    assert any("Both ends use AccECN: the receiver counted 10 marked packets." in line for line in answer(trace))


def test_copies_with_many_packets_between_them(tmp_path: Path) -> None:
    c = opened()
    for i in range(6000):
        for lag in (0.0, 0.06):
            c.segment(2 + i * 5e-6 + lag, 1001 + 1000 * i, 5001, length=1000, ident=i + 1)
    c.segment(2.2, 5001, 6_001_001 - 1000, by=SERVER, ident=9)
    trace, row = analysed(c, tmp_path)
    assert (row["segs_retrans"], row["data_segs_out"], trace.summary["skipped"]) == (0, 6000, {"captured twice": 6000})


@pytest.mark.parametrize(("code", "units"), [(6, 10**6), (9, 10**9), (0x80 | 10, 1024), (0x80 | 20, 1 << 20)])
def test_resolutions_of_pcapng_in_any_section(code: int, units: int, tmp_path: Path) -> None:
    """Sections with other resolutions: the draft says 10 to the -value or, with the highest bit, 2 to the -value."""

    c = opened()
    rounds(c, 1.2, 0, 10)
    c.frames.sort(key=lambda frame: frame[0])
    half, data = len(c.frames) // 2, b""
    for part, (exponent, per_second) in ((c.frames[:half], (6, 10**6)), (c.frames[half:], (code, units))):
        data += SECTION + block(1, struct.pack("<HHIHHB3xHH", 1, 0, 65_535, 9, 1, exponent, 0, 0))
        for time, frame, length in part:
            ticks = round(time * per_second)
            data += block(6, struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), length) + frame)
        data += block(5, struct.pack("<III", 0, 0, 0) + struct.pack("<HHQHHQHH", 5, 8, 3, 7, 8, 4, 0, 0))
    path = tmp_path / "sections.pcapng"
    path.write_bytes(data)
    trace = el.analyze(path, report=False)
    assert trace.span_ns == pytest.approx((c.frames[-1][0] - c.frames[0][0]) * 1e9, abs=2e9 / units)
    assert any("the kernel dropped 14 packets" in note for note in trace.notes)


def error(c: Capture, time: float, head: bytes, ends: tuple[str, str], about: bytes) -> None:
    """An ICMP error from the first of `ends` to the other; it quotes the beginning of a packet."""
    if c.version == 4:
        c.put(time, ipv4(head + about[:28], ends, protocol=1))
    else:
        c.put(time, ipv6(head + about[:48], ends, protocol=58))


@pytest.mark.parametrize(
    ("head", "kind", "value", "words"),
    [
        (b"\3\4\0\0\0\0\5\x78", "icmp_too_big", 1400, "larger than the MTU of the next link, 1 400 bytes"),
        (b"\3\x0d\0\0\0\0\0\0", "icmp_prohibited", 0, "a filter forbids the packet"),
        (b"\3\1\0\0\0\0\0\0", "icmp_unreachable", 0, "the destination cannot be reached"),
        (b"\x0b\0\0\0\0\0\0\0", "icmp_expired", 0, "the packet's time to live ran out"),
    ],
)
def test_errors_of_icmp_are_told_with_their_connection(head: bytes, kind: str, value: int, words: str, tmp_path: Path) -> None:
    """Two errors of a router 10.0.0.9 about segments of the client, at 0.5 and 0.6 s of the capture."""
    c = opened()
    rounds(c, 1.1, 0, 3)
    before = len(c.frames)
    for time in (1.5, 1.6):
        error(c, time, head, ("10.0.0.9", "10.0.0.1"), c.ip(37_001, 5001, length=1000))
    trace, row = analysed(c, tmp_path)
    (found,) = [one for one in trace.findings.to_pylist() if one["kind"].startswith("icmp")]
    assert (found["kind"], found["connection"], found["count"], found["value"]) == (kind, row["connection"], 2, value)
    assert (found["frame"], found["begin_ns"], found["end_ns"]) == (before + 1, 500_000_000, 600_000_000)
    said = " ".join(answer(trace)).replace("\u202f", " ")
    assert f"10.0.0.9 reported by ICMP at 0.5 s (packet {before + 1}), 2 times:" in said
    assert words in said
    assert trace.summary["skipped"] == {"ICMP": 2}


def test_an_error_of_icmp_that_refuses_a_connection(tmp_path: Path) -> None:
    """Over IPv6: the host says that nobody listens, the SYN comes again. An echo, and an error about a datagram, say nothing."""
    c = Capture(version=6)
    for time in (1.0, 2.0):
        c.segment(time, 1000, 0, SYN)
        error(c, time + 0.02, b"\1\4\0\0\0\0\0\0", ("fd00::2", "fd00::1"), c.ip(1000, 0, SYN))
    error(c, 3.0, b"\x80\0\0\0\0\0\0\0", ("fd00::2", "fd00::1"), c.ip(1000, 0, SYN))
    datagram = ipv6(struct.pack(">HHHH", 40_000, 5001, 8, 0), ("fd00::1", "fd00::2"), protocol=17)
    error(c, 3.1, b"\1\4\0\0\0\0\0\0", ("fd00::2", "fd00::1"), datagram)
    trace, _ = analysed(c, tmp_path)
    kinds = {one["kind"]: one["count"] for one in trace.findings.to_pylist()}
    assert kinds == {"unanswered": 2, "icmp_no_port": 2}
    said = "fd00::2 reported by ICMP at 0.02 s (packet 2), 2 times: nobody listens at that port."
    assert said in " ".join(answer(trace))
