"""Captures as others make them: odd handshakes, odd clocks, offloading, tunnels, copies, cut-off headers, closed windows.

Each right value is a literal: it is what the packets of the file carry, counted by hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import elephan as el
import pytest
import segments as s
from elephan.report.figure.trace_figures import throughput
from elephan.report.page.trace_page import answer, shown
from segments import ACK, FIN, RST, SERVER, SYN, Capture, rows, trace


def from_server(found: list[dict[str, Any]]) -> dict[str, Any]:
    (row,) = [row for row in found if row["source_port"] == 5001]
    return row


def from_client(found: list[dict[str, Any]]) -> dict[str, Any]:
    (row,) = [row for row in found if row["source_port"] != 5001]
    return row


# The beginning of a stream.


def served(c: Capture, first: int, begin: float = 1.05) -> None:
    """Ten segments of 1000 B from the server, each acknowledged."""
    for i in range(10):
        c.segment(begin + i * 0.02, first + 1000 * i, 1001, length=1000, by=SERVER)
        c.segment(begin + 0.01 + i * 0.02, 1001, first + 1000 * (i + 1))


def test_a_second_syn_ack_that_nobody_takes_up(tmp_path: Path) -> None:
    c = Capture()
    c.handshake()
    c.segment(1.03, 99_000, 1001, SYN | ACK, by=SERVER)
    c.segment(1.04, 1001, 5001)
    served(c, 5001)
    row = from_server(rows(c, tmp_path))
    assert (row["delivered_bytes"], row["data_segs_out"], row["missed_bytes"], row["segs_retrans"]) == (10_000, 10, 0, 0)


@pytest.mark.parametrize("acknowledged", [False, True])
def test_a_second_syn_ack_that_the_connection_goes_on_with(acknowledged: bool, tmp_path: Path) -> None:
    """A SYN proxy, or SYN cookies whose secret has changed: the client takes the second one."""
    c = Capture()
    c.segment(1.0, 1000, 0, SYN)
    c.segment(1.01, 5000, 1001, SYN | ACK, by=SERVER)
    if acknowledged:
        c.segment(1.011, 1001, 5001)
    c.segment(1.03, 99_000, 1001, SYN | ACK, by=SERVER)
    c.segment(1.04, 1001, 99_001)
    served(c, 99_001)
    row = from_server(rows(c, tmp_path))
    assert (row["delivered_bytes"], row["data_segs_out"], row["missed_bytes"]) == (10_000, 10, 0)


def test_the_next_connection_whose_syn_was_not_captured(tmp_path: Path) -> None:
    c = Capture()
    c.handshake()
    c.exchange(1.05, 1001, 5)
    c.segment(3.0, 2_290_000_000, 3_000_000_001, SYN | ACK, by=SERVER)
    c.segment(3.01, 3_000_000_001, 2_290_000_001)
    c.exchange(3.05, 3_000_000_001, 7, peer=2_290_000_001)
    assert [row["delivered_bytes"] for row in rows(c, tmp_path)] == [5000, 7000]


@pytest.mark.parametrize("repeated", [1, 3])
def test_an_ack_of_what_nobody_sent(repeated: int, tmp_path: Path) -> None:
    """RFC 5961 section 4: an end that still has an older connection answers a SYN with an ACK of that one, and is reset."""
    c = Capture()
    c.segment(1, 1000, 0, SYN)
    for i in range(repeated):
        c.segment(1.01 + i / 1000, 700, 860_000_000, by=SERVER)
    c.segment(1.02, 860_000_000, 0, RST)
    c.handshake(2.0, 7000)
    c.exchange(2.05, 7001, 10)
    found = trace(c, tmp_path)
    assert [row["delivered_bytes"] for row in found.connections.to_pylist()] == [0, 10_000]
    assert any("nobody sent what it acknowledges" in note for note in found.notes)


def test_an_old_ack_within_a_connection_delivers_nothing(tmp_path: Path) -> None:
    c = Capture()
    c.handshake()
    after = c.exchange(1.05, 1001, 10)
    c.segment(1.3, 5001, after + 700_000_000, by=SERVER)
    c.exchange(1.35, after, 10)
    assert rows(c, tmp_path)[0]["delivered_bytes"] == 20_000


def test_a_gap_of_the_capture_is_still_a_gap(tmp_path: Path) -> None:
    """The capture lost 40 MB in the middle: what comes after it goes on there."""
    c = Capture()
    c.handshake()
    after = c.exchange(1.05, 1001, 10)
    c.exchange(2.0, after + 40_000_000, 10)
    row = rows(c, tmp_path)[0]
    assert (row["delivered_bytes"], row["data_segs_out"]) == (40_020_000, 20)
    assert 40_000_000 <= row["missed_bytes"] <= 40_001_000


# Lengths.


@pytest.mark.parametrize("version", [4, 6])
def test_an_ip_length_of_zero_is_offloading(version: int, tmp_path: Path) -> None:
    c = Capture(version)
    c.handshake()
    for i in range(10):
        c.segment(2 + i, 1001 + 14_600 * i, 5001, length=14_600, total=0)
        c.segment(2.01 + i, 5001, 1001 + 14_600 * (i + 1), by=SERVER)
    row = rows(c, tmp_path)[0]
    assert (row["delivered_bytes"], row["data_octets_out"], row["segs_retrans"]) == (146_000, 146_000, 0)
    assert (row["count_rtt"], row["min_rtt_ns"]) == (10, 10_000_000)


@pytest.mark.parametrize(("snap", "known"), [(54, False), (58, False), (68, False), (96, True)])
def test_a_snapshot_that_ends_within_the_options(snap: int, known: bool, tmp_path: Path) -> None:
    """Ethernet 14, IP 20, TCP 20; then time stamps and SACK. The first ACK comes when one segment was sent: it is no duplicate."""
    c = Capture(snap=snap)
    c.handshake()
    for i in range(200):
        c.segment(2 + i * 0.01, 1001 + 1000 * i, 5001, length=1000, options=s.timestamps(i, 1))
        blocks = s.sack((2001, 2001 + 1000 * i)) if i else b""
        c.segment(2.005 + i * 0.01, 5001, 1001, by=SERVER, options=s.timestamps(1, i) + blocks)
    found = trace(c, tmp_path)
    row = found.connections.to_pylist()[0]
    assert (row["data_segs_out"], row["data_octets_out"], row["dup_acks_in"]) == (200, 200_000, 199)
    assert (row["sacks_rcvd"], row["sack_blocks_rcvd"]) == ((199, 199) if known else (None, None))
    assert any("the snapshot cuts off" in note for note in found.notes) is not known


def test_headers_that_are_cut_off_are_counted(tmp_path: Path) -> None:
    c = Capture(snap=45)
    c.handshake()
    found = trace(c, tmp_path)
    assert (found.summary["packets"], found.summary["other"]) == (3, 3)
    assert found.summary["skipped"] == {"damaged or cut-off headers": 3}


# Times.


@pytest.mark.parametrize("gap", [0.0, 0.0005])
def test_an_ack_before_its_data(gap: float, tmp_path: Path) -> None:
    c = Capture()
    c.handshake()
    c.segment(1.03, 5001, 1501, by=SERVER)
    c.segment(1.03 - gap, 1001, 5001, length=500)
    c.segment(1.04, 5001, 1501, length=700, by=SERVER)
    c.segment(1.05, 1501, 5701)
    found = trace(c, tmp_path)
    one, other = from_client(found.connections.to_pylist()), from_server(found.connections.to_pylist())
    assert (one["delivered_bytes"], one["segs_retrans"], one["missed_bytes"], one["count_rtt"]) == (500, 0, 0, 0)
    assert (other["delivered_bytes"], other["segs_retrans"]) == (700, 0)
    assert any("in the file behind the ACK that covers it" in note for note in found.notes)
    assert answer(found)


@pytest.mark.parametrize("late", ["data", "ack"])
def test_a_packet_with_an_odd_time(late: str, tmp_path: Path) -> None:
    c = Capture()
    c.handshake()
    for i in range(900):
        time = 2 + i * 0.01
        c.segment(time + (60 if i == 450 and late == "data" else 0), 1001 + 1000 * i, 5001, length=1000)
        c.segment(time + 0.005 + (60 if i == 450 and late == "ack" else 0), 5001, 2001 + 1000 * i, by=SERVER)
    found = trace(c, tmp_path)
    row = found.connections.to_pylist()[0]
    assert (row["delivered_bytes"], row["min_rtt_ns"], row["max_rtt_ns"]) == (900_000, 5_000_000, 5_000_000)
    assert row["goodput_bps"] == pytest.approx(900_000 * 8 / 8.995, rel=1e-6)
    assert found.summary["span_ns"] == pytest.approx(9.995e9, abs=1e3)
    assert [note for note in found.notes if "1 packet has a time out of order" in note]


def test_a_clock_that_is_set_back(tmp_path: Path) -> None:
    c = Capture()
    c.handshake()
    for i in range(900):
        time = 2 + i * 0.01 - (2 if i >= 450 else 0)
        c.segment(time, 1001 + 1000 * i, 5001, length=1000)
        c.segment(time + 0.005, 5001, 2001 + 1000 * i, by=SERVER)
    found = trace(c, tmp_path)
    row = found.connections.to_pylist()[0]
    # Of the pause in which the clock was set, 5 ms, nothing is known.
    assert row["goodput_bps"] == pytest.approx(900_000 * 8 / 8.99, rel=1e-6)
    assert row["min_rtt_ns"] == 5_000_000
    busy = found.activity(0).delivered
    assert len(set(busy.tolist())) > 890, "packets are not at one instant"
    assert any("was set once, by 1.995 s back" in note for note in found.notes)


def ten_seconds(idle: float | None) -> Capture:
    c = Capture()
    c.handshake()
    after = c.exchange(2, 1001, 1000, gap=0.01, rtt=0.005)
    if idle is not None:
        c.exchange(idle, after, 1, size=10, rtt=0.005)
    return c


def test_an_idle_hour_at_the_end_decides_no_resolution(tmp_path: Path) -> None:
    alone, idle = trace(ten_seconds(None), tmp_path), trace(ten_seconds(3700.0), tmp_path)
    assert idle.phases().interval_s == alone.phases().interval_s
    assert idle.phases().stretches == alone.phases().stretches
    drawings = [throughput(one) for one in (alone, idle)]
    widths = [drawing.caption.split("intervals of ")[1] for drawing in drawings if drawing is not None]
    assert widths[0] == widths[1]
    assert drawings[1] is not None
    assert drawings[1].figure.axes[0].get_xlim()[1] < 13, "seconds"


def test_an_idle_hour_in_the_middle(tmp_path: Path) -> None:
    c = ten_seconds(None)
    c.exchange(3700, 1_001_001, 10, gap=0.01, rtt=0.005)
    found = trace(c, tmp_path)
    alone = trace(ten_seconds(None), tmp_path).phases().stretches
    assert [(p.name, round(p.begin_s, 6), round(p.end_s, 6)) for p in found.phases().stretches] == [
        (p.name, round(p.begin_s, 6), round(p.end_s, 6)) for p in alone
    ]
    assert any(line.startswith("From 1 s to 11") for line in answer(found))


def test_too_little_data_has_no_phases_and_no_rate(tmp_path: Path) -> None:
    c = Capture()
    c.handshake()
    c.exchange(2, 1001, 200, size=100, gap=1.0, rtt=0.02)
    found = trace(c, tmp_path)
    with pytest.raises(el.InputError, match="too little data for phases"):
        found.phases()
    said = " ".join(answer(found))
    assert "best" not in said
    assert "0 b/s" not in said
    # 1.6 kB in a burst, acknowledged at the receiver at once: 25 us are no time for a rate.
    c = Capture()
    c.handshake(rtt=0.0001)
    c.segment(1.02, 1001, 5001, length=800)
    c.segment(1.02001, 1801, 5001, length=800)
    c.segment(1.020025, 5001, 2601, by=SERVER)
    found = trace(c, tmp_path)
    (line,) = [line for line in answer(found) if "delivered" in line]
    assert "delivered 1.6 kB in 2 segments" in line
    assert "Mb/s" not in line
    assert shown(found, found.ranked[0], "goodput_bps", "bps").text == "n/a"


# Windows.


@pytest.mark.parametrize("probe", ["byte", "old byte", "bare"])
def test_a_closed_window_is_no_loss(probe: str, tmp_path: Path) -> None:
    """Three times 7.48 s: the window closes 20 ms after the data and opens 7.5 s after it. Twelve probes."""
    c = Capture()
    c.handshake()
    seq, time = 1001, 1.1
    for _ in range(3):
        c.segment(time, seq, 5001, length=1000)
        seq += 1000
        c.segment(time + 0.02, 5001, seq, by=SERVER, window=0)
        for k in range(4):
            place, length = {"byte": (seq, 1), "old byte": (seq - 1, 1), "bare": (seq - 1, 0)}[probe]
            c.segment(time + 0.5 * 2**k, place, 5001, length=length)
            c.segment(time + 0.5 * 2**k + 0.02, 5001, seq, by=SERVER, window=0)
        c.segment(time + 7.5, 5001, seq, by=SERVER)
        c.segment(time + 7.52, seq, 5001, length=1)
        seq += 1
        c.segment(time + 7.54, 5001, seq, by=SERVER)
        time += 9
    found = trace(c, tmp_path)
    row = found.connections.to_pylist()[0]
    assert (row["segs_retrans"], row["cong_signals"], row["window_probes"], row["zero_rwin_rcvd"]) == (0, 0, 12, 3)
    assert row["rwin_closed_ns"] == pytest.approx(3 * 7.48e9, abs=1e4)
    assert (row["delivered_bytes"], row["missed_bytes"]) == (3003, 0)
    said = " ".join(answer(found))
    assert "The receiver's window was closed for 22.4 s in all (3 times); the sender sent 12 probes." in said
    assert "retransmission" not in said


def test_a_probe_that_the_receiver_takes(tmp_path: Path) -> None:
    c = Capture()
    c.handshake()
    c.segment(1.1, 1001, 5001, length=1000)
    c.segment(1.12, 5001, 2001, by=SERVER, window=0)
    for i in range(5):
        c.segment(1.5 + i, 2001 + i, 5001, length=1)
        c.segment(1.52 + i, 5001, 2002 + i, by=SERVER, window=0)
    row = rows(c, tmp_path)[0]
    assert (row["delivered_bytes"], row["missed_bytes"], row["segs_retrans"], row["window_probes"]) == (1005, 0, 0, 5)


@pytest.mark.parametrize(("shifts", "known"), [((7, 7), True), ((7, None), True), (None, False)])
def test_without_a_handshake_the_scale_is_unknown(shifts: tuple[int, int | None] | None, known: bool, tmp_path: Path) -> None:
    c = Capture()
    if shifts is not None:
        c.segment(1.0, 1000, 0, SYN, options=s.scale(shifts[0]))
        c.segment(1.01, 5000, 1001, SYN | ACK, by=SERVER, options=b"" if shifts[1] is None else s.scale(shifts[1]))
        c.segment(1.0101, 1001, 5001)
    for i in range(20):
        c.segment(2 + i * 0.02, 1001 + 1000 * i, 5001, length=1000)
        c.segment(2.01 + i * 0.02, 5001, 2001 + 1000 * i, by=SERVER, window=500)
    found = trace(c, tmp_path)
    row = found.connections.to_pylist()[0]
    window = 500 << 7 if shifts is not None and shifts[1] is not None else 500
    assert row["cur_rwin_rcvd"] == (window if known else None)
    assert (row["max_rwin_rcvd"] is None) == (not known)
    assert (found.samples.column("cur_rwin_rcvd").null_count > 0) is not known
    assert any("scale" in line for line in answer(found)) is not known


# Copies and retransmissions.


@pytest.mark.parametrize("version", [4, 6])
def test_packets_that_were_captured_twice(version: int, tmp_path: Path) -> None:
    c = Capture(version)
    c.handshake()
    for i in range(50):
        for later in (0, 2e-6):
            c.segment(2 + i * 0.02 + later, 1001 + 1000 * i, 5001, length=1000, ident=i + 1)
        for later in (0, 2e-6):
            c.segment(2.01 + i * 0.02 + later, 5001, 2001 + 1000 * i, by=SERVER, ident=i + 1)
    found = trace(c, tmp_path)
    row = found.connections.to_pylist()[0]
    assert (row["data_segs_out"], row["segs_retrans"], row["dup_acks_in"], row["delivered_bytes"]) == (50, 0, 0, 50_000)
    assert found.summary["skipped"] == {"captured twice": 100}
    assert any("every packet is there twice, but 3" in note for note in found.notes)


def test_a_retransmission_is_no_copy(tmp_path: Path) -> None:
    """It has an identification of its own (RFC 6864); stacks that give all packets the same one are not believed."""
    c = Capture()
    c.handshake(ident=1)
    for i in range(4):
        c.segment(2 + i * 0.001, 1001 + 1000 * i, 5001, length=1000, ident=10 + i)
    for i in range(3):
        c.segment(2.01 + i * 0.001, 5001, 1001, by=SERVER, ident=1)
    c.segment(2.014, 1001, 5001, length=1000, ident=14)
    c.segment(2.024, 5001, 5001, by=SERVER, ident=1)
    row = rows(c, tmp_path)[0]
    assert (row["data_segs_out"], row["segs_retrans"], row["dup_acks_in"]) == (5, 1, 3)


def lossy(c: Capture, time: float, seq: int, how: str, duplicate: bool) -> int:
    """Ten segments of which one is retransmitted; `how`: by duplicate ACKs, a timeout, a tail probe. 20 ms of round trip."""
    last = seq + 9000
    lost = last if how == "probe" else seq
    for i in range(10):
        c.segment(time + i * 1e-4, seq + 1000 * i, 5001, length=1000)
    if how == "fast":
        for i in range(1, 10):
            c.segment(time + 0.02 + i * 1e-4, 5001, seq, by=SERVER, options=s.sack((seq + 1000, seq + 1000 * (i + 1))))
    if how == "probe":
        c.segment(time + 0.02, 5001, last, by=SERVER)
    again = time + {"fast": 0.0204, "timeout": 0.25, "probe": 0.06}[how]
    c.segment(again, lost, 5001, length=1000)
    end = seq + 10_000
    c.segment(again + 0.02, 5001, end, by=SERVER, options=s.sack((lost, lost + 1000)) if duplicate else b"")
    return end


@pytest.mark.parametrize("duplicate", [False, True])
@pytest.mark.parametrize("how", ["fast", "timeout", "probe"])
def test_retransmissions_have_kinds(how: str, duplicate: bool, tmp_path: Path) -> None:
    c = Capture()
    c.handshake(rtt=0.02)
    seq = c.exchange(1.1, 1001, 20, gap=0.03, rtt=0.02)
    lossy(c, 2.0, seq, how, duplicate)
    found = trace(c, tmp_path)
    row = found.connections.to_pylist()[0]
    kinds = {key: row[f"segs_retrans_{key}"] for key in ("fast", "timeout", "probe")}
    assert kinds == dict.fromkeys(("fast", "timeout", "probe"), 0) | {how: 1}
    assert (row["segs_retrans"], row["segs_retrans_needless"]) == (1, int(duplicate))
    # RFC 2883: what the receiver had before was not lost, so nothing was cut.
    assert row["cong_signals"] == (0 if duplicate else 1)
    assert len(found.times(0, "cut")[0]) == (0 if duplicate else 1)
    words = {"fast": "1 fast", "timeout": "1 after a timeout", "probe": "1 as a tail probe"}[how]
    said = f"1 retransmission: {words}{'; 1 of them needless, as D-SACK shows' if duplicate else ''}."
    assert said in answer(found)


def test_a_slow_set_up_is_told(tmp_path: Path) -> None:
    c = Capture()
    c.segment(1.0, 1000, 0, SYN)
    c.segment(2.0, 1000, 0, SYN)
    c.segment(2.02, 5000, 1001, SYN | ACK, by=SERVER)
    c.segment(2.0201, 1001, 5001)
    c.exchange(2.1, 1001, 20)
    found = trace(c, tmp_path)
    row = found.connections.to_pylist()[0]
    assert (row["syn_retrans"], row["setup_ns"], row["handshake_rtt_ns"], row["segs_retrans"]) == (1, 1_020_100_000, None, 0)
    assert "Its set-up took 1.02 s, with 1 retransmitted SYN: most of its time." in answer(found)


def test_what_limited_it_is_said(tmp_path: Path) -> None:
    # Each segment waits for 90 ms after the ACK of the one before: 10 of 100 ms are in flight.
    c = Capture()
    c.handshake()
    c.exchange(2, 1001, 100, gap=0.1, rtt=0.01)
    (line,) = [line for line in answer(trace(c, tmp_path)) if line.startswith("It was limited")]
    assert line.startswith("It was limited by the sender, which had nothing to send (90 % of the time), then by the path")
    assert "no loss seen" in line
    # A window of four segments that is always full.
    c = Capture()
    c.handshake(window=4000)
    for i in range(400):
        c.segment(2 + i * 0.01, 1001 + 1000 * i, 5001, length=1000)
        c.segment(2.0399 + i * 0.01, 5001, 2001 + 1000 * i, by=SERVER, window=4000)
    c.frames.sort(key=lambda frame: frame[0])
    (line,) = [line for line in answer(trace(c, tmp_path)) if line.startswith("It was limited")]
    assert line == "It was limited by the receiver's full window (99 % of the time)."


def test_connections_that_follow_each_other(tmp_path: Path) -> None:
    """Ports that are used again after FINs, after a reset, and without a captured SYN."""
    c = Capture()
    c.handshake()
    after = c.exchange(1.05, 1001, 3)
    c.segment(1.3, after, 5001, FIN | ACK)
    c.segment(1.31, 5001, after + 1, FIN | ACK, by=SERVER)
    c.segment(1.32, after + 1, 5002)
    c.handshake(2.0, 90_000, 700_000)
    c.exchange(2.05, 90_001, 4, peer=700_001)
    c.segment(2.5, 94_001, 0, RST)
    c.exchange(3.0, 3_000_000_000, 5, peer=1_200_000_000)
    assert [row["delivered_bytes"] for row in rows(c, tmp_path) if row["source_port"] == 40_000] == [3000, 4000, 5000]


def test_sequence_numbers_wrap(tmp_path: Path) -> None:
    c = Capture()
    c.handshake(seq=2**32 - 5000)
    c.exchange(1.05, 2**32 - 4999, 20)
    row = rows(c, tmp_path)[0]
    assert (row["delivered_bytes"], row["missed_bytes"], row["count_rtt"]) == (20_000, 0, 20)
