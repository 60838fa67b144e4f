"""Captures that mislead: coarse clocks, old counters, refused data, counters at their ends, bytes behind compressed data.

Each right value is a literal: it is what the packets of the file carry, counted by hand.
"""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import elephan as el
import pyarrow as pa
import pytest
import segments as s
from segments import ACK, CWR, ECE, SERVER, SYN, Capture, rows, trace

AE = 256
FAST_OPEN = b"\x22\x0a" + bytes(8)


def transfer() -> Capture:
    """Five segments of 1000 bytes."""
    c = Capture()
    c.handshake()
    c.exchange(1.05, 1001, 5)
    return c


def packets(c: Capture) -> list[tuple[float, bytes]]:
    return [(time, frame) for time, frame, _ in c.frames]


# Times.


def test_a_clock_coarser_than_the_round_trip(tmp_path: Path) -> None:
    """With ticks of 10 ms most round trips of 2 ms have no length: they are not known, and no queue stands."""
    c = Capture()
    c.handshake(rtt=0.002)
    c.exchange(1.05, 1001, 100, rtt=0.002, gap=0.007)
    c.frames = [(int(time * 100 + 1e-6) / 100, frame, length) for time, frame, length in c.frames]
    (row,) = rows(c, tmp_path)
    times = [row[f"{name}_ns"] for name in ("min_rtt", "median_rtt", "handshake_rtt", "setup")]
    assert (times, row["held_rate_ns"]) == ([None] * 4, 0)
    (lines,) = trace(c, tmp_path).summary["told"].values()
    assert lines
    assert not any("set-up" in line for line in lines)


# AccECN (RFC 9768).


def test_an_old_counter_adds_no_marks(tmp_path: Path) -> None:
    """Four marks; then the network delivers the first ACK, which counts one of them, again and late."""
    c = Capture()
    c.segment(1.0, 1000, 0, SYN | AE | CWR | ECE)
    c.segment(1.01, 5000, 1001, SYN | ACK | CWR, by=SERVER)
    c.segment(1.011, 1001, 5001, ACK | CWR)
    counter = {6: AE | CWR, 7: AE | CWR | ECE, 0: 0, 1: ECE}
    for i, flags in enumerate(counter.values()):
        c.segment(1.02 + i * 0.02, 1001 + 1000 * i, 5001, ACK | AE | ECE, length=1000)
        c.segment(1.03 + i * 0.02, 5001, 2001 + 1000 * i, ACK | flags, by=SERVER)
    c.segment(1.3, 5001, 2001, ACK | AE | CWR, by=SERVER)
    (row,) = rows(c, tmp_path)
    assert (row["acc_ecn"], row["ace_marks"], row["ece_in"]) == (True, 4, 0)


# Fast Open (RFC 7413).


@pytest.mark.parametrize("taken", [0, 200, 500])
def test_data_of_a_syn_that_the_server_does_not_take(taken: int, tmp_path: Path) -> None:
    """What comes again after the SYN-ACK was not lost."""
    c = Capture()
    c.segment(1.0, 1000, 0, SYN, length=500, options=FAST_OPEN)
    c.segment(1.01, 5000, 1001 + taken, SYN | ACK, by=SERVER)
    c.segment(1.011, 1001 + taken, 5001, length=600 - taken)
    c.segment(1.021, 5001, 1601, by=SERVER)
    (row,) = rows(c, tmp_path)
    assert (row["delivered_bytes"], row["refused_syn_bytes"], row["segs_retrans"], row["cong_signals"]) == (600, 500 - taken, 0, 0)


def test_a_retransmitted_syn_with_data_counts_as_a_syn(tmp_path: Path) -> None:
    c = Capture()
    c.segment(1.0, 1000, 0, SYN, length=500, options=FAST_OPEN)
    c.segment(2.0, 1000, 0, SYN, length=500, options=FAST_OPEN)
    c.segment(2.01, 5000, 1501, SYN | ACK, by=SERVER)
    c.segment(2.011, 1501, 5001, length=500)
    c.segment(2.021, 5001, 2001, by=SERVER)
    (row,) = rows(c, tmp_path)
    counted = [row[name] for name in ("delivered_bytes", "syn_retrans", "segs_retrans", "cong_signals", "data_octets_out")]
    assert counted == [1000, 1, 0, 0, 1500]
    assert row["count_rtt"] == 1, "only the second segment was sent once"


# Files.


def option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def statistics(interface: int, dropped_by_interface: int, dropped_by_system: int) -> bytes:
    counts = [option(code, struct.pack("<Q", count)) for code, count in ((5, dropped_by_interface), (7, dropped_by_system))]
    return s.block(5, struct.pack("<III", interface, 0, 0) + b"".join(counts))


def with_drops(time: float, frame: bytes, drops: int) -> bytes:
    """An enhanced packet block that says how many packets were dropped before it."""
    ticks, padding = round(time * 1e6), bytes(-len(frame) % 4)
    head = struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame))
    return s.block(6, head + frame + padding + option(4, struct.pack("<Q", drops)))


def dropped(blocks: bytes, where: Path) -> list[str]:
    path = where / "c.pcapng"
    path.write_bytes(s.SECTION + s.INTERFACE + s.INTERFACE + blocks)
    notes: list[str] = el.analyze(path).summary["notes"]
    return [note.split(" of this capture")[0] for note in notes]


def test_drops_of_several_interfaces(tmp_path: Path) -> None:
    """The counters grow, and each interface has its own; all ones stand for what is not known."""
    blocks = b"".join(s.enhanced(time, frame) for time, frame in packets(transfer()))
    blocks += statistics(0, 3, 4) + statistics(1, 2**64 - 1, 10) + statistics(0, 5, 4)
    assert dropped(blocks, tmp_path) == ["the kernel dropped 19 packets"]


def test_drops_beyond_what_a_number_holds(tmp_path: Path) -> None:
    blocks = statistics(0, 2**64 - 2, 2**64 - 2) + statistics(1, 2**64 - 2, 7)
    assert dropped(blocks, tmp_path) == [f"the kernel dropped {2**64 - 1} packets"]


@pytest.mark.parametrize("obsolete", [False, True])
def test_drops_that_packets_name(obsolete: bool, tmp_path: Path) -> None:
    """Seven packets before the third one, two before the fourth: the statistics of the interface count the same ones."""
    lost = {2: 7, 3: 2}
    blocks = b""
    for i, (time, frame) in enumerate(packets(transfer())):
        drops = lost.get(i, 0)
        if obsolete:
            block = s.obsolete(time, frame)
            blocks += block[:10] + struct.pack("<H", drops) + block[12:]
        else:
            blocks += with_drops(time, frame, drops)
    assert dropped(blocks, tmp_path) == ["the kernel dropped 9 packets"]
    assert dropped(blocks + statistics(0, 0, 9), tmp_path) == ["the kernel dropped 9 packets"]


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_long_headers_of_early_linux(order: str, tmp_path: Path) -> None:
    """The magic number of early Linux announces eight more bytes in each header, in either byte order."""
    parts = [struct.pack(order + "IHHiIII", 0xA1B2CD34, 2, 4, 0, 0, 65_535, 1)]
    for time, frame in packets(transfer()):
        ticks = round(time * 1e6)
        parts.append(struct.pack(order + "IIII", ticks // 10**6, ticks % 10**6, len(frame), len(frame)))
        parts.append(struct.pack(order + "IHBB", 2, 0x0800, 0, 0) + frame)
    path = tmp_path / "c.pcap"
    path.write_bytes(b"".join(parts))
    (row,) = el.analyze(path).connections.to_pylist()
    assert (row["delivered_bytes"], row["handshake_rtt_ns"]) == (5000, 10_100_000)


@pytest.mark.parametrize("rest", [b"garbage behind the end", bytes(512)])
def test_bytes_behind_compressed_data(rest: bytes, tmp_path: Path) -> None:
    """They are no part of the capture, and a note names them."""
    path = tmp_path / "c.pcap.gz"
    path.write_bytes(gzip.compress(transfer().write(tmp_path / "c.pcap").read_bytes()) + rest)
    found = el.analyze(path)
    assert found.connections["delivered_bytes"].to_pylist() == [5000]
    (note,) = found.summary["notes"]
    assert "cannot be read any further" in note


def test_frames_of_zstd_without_data(tmp_path: Path) -> None:
    """A program that compresses in parallel begins with such a frame (RFC 8878 section 3.1.2)."""
    skippable = struct.pack("<II", 0x184D2A50, 5) + b"hello"
    frame = pa.compress(transfer().write(tmp_path / "c.pcap").read_bytes(), "zstd", asbytes=True)
    path = tmp_path / "c.pcap.zst"
    path.write_bytes(skippable + frame + skippable)
    found = el.analyze(path)
    assert (found.connections["delivered_bytes"].to_pylist(), found.summary["notes"]) == ([5000], [])
