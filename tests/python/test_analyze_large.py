"""Captures of very many connections: memory grows with what is shown, not with a dict for each connection."""

from __future__ import annotations

import itertools
import json
import struct
import tracemalloc
from pathlib import Path

import elephan as el
import numpy as np
import pyarrow as pa
import pytest
from elephan.base import kinds
from elephan.capture import ranked
from elephan.capture.oneway import ACKS, BARE_ACKS, DATA, way_of
from elephan.cli.show import print_json
from elephan.report.figure.trace_figures import _sum_of_lines

# From the client?, flags, payload, sequence and acknowledgement number: a request of 400 B on a connection of its own.
SCRIPT = (
    (True, 2, 0, 1000, 0),
    (False, 18, 0, 5000, 1001),
    (True, 24, 400, 1001, 5001),
    (False, 16, 0, 5001, 1401),
    (True, 17, 0, 1401, 5001),
    (False, 17, 0, 5001, 1402),
)
PORTS = 60_000


def short_connections(file: Path, count: int, script: tuple[tuple[bool, int, int, int, int], ...] = SCRIPT) -> Path:
    """Writes a capture of `count` connections, one each 50 us, to one server; the payload is cut off."""
    number = np.arange(count)
    packets = np.zeros((count, len(script), 70), np.uint8)
    for place, (from_client, flags, length, seq, ack) in enumerate(script):
        own = packets[:, place]
        time_us = 50 * number + 7 * place
        record = np.stack([1 + time_us // 10**6, time_us % 10**6, np.full(count, 54), np.full(count, 54 + length)], axis=1)
        own[:, :16] = record.astype("<u4").view(np.uint8).reshape(count, 16)
        ends = [bytes([10, 0, 0, 0]), bytes([10, 1, 0, 2])][:: 1 if from_client else -1]
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + length, 0, 0x4000, 64, 6, 0) + b"".join(ends)
        tcp = struct.pack(">HHIIBBHHH", 5001, 5001, seq, ack, 5 << 4, flags, 65_535, 0, 0)
        own[:, 16:] = np.frombuffer(b"\2" * 6 + b"\4" * 6 + b"\x08\0" + ip + tcp, np.uint8)
        host, port = (44, 50) if from_client else (48, 52)
        own[:, host : host + 2] = (number // PORTS + 1).astype(">u2").view(np.uint8).reshape(count, 2)
        own[:, port : port + 2] = (1024 + number % PORTS).astype(">u2").view(np.uint8).reshape(count, 2)
    file.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1) + packets.tobytes())
    return file


def test_memory_of_many_connections_is_that_of_a_few_columns(tmp_path: Path) -> None:
    """A dict of a row takes about 3 000 B. The answer, the page and the first rows of the JSON stay below 200 B for each row."""
    count = 80_000
    el.analyze(short_connections(tmp_path / "c.pcap", count), out=tmp_path / "t", report=False)
    trace = el.load(tmp_path / "t")
    assert isinstance(trace, el.Trace)
    kind = kinds.of(trace)
    kind.page(trace)  # what is imported once
    trace = el.load(tmp_path / "t")
    tracemalloc.start()
    try:
        answer = kind.answer(trace)
        kind.page(trace)
        assert sum(1 for _ in itertools.islice(trace.streamed()["connections"], 2000)) == 2000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert answer[0].replace("\u202f", " ").replace("\u2009", " ") == "480 000 packets in 4 s: 80 000 connections."
    assert trace.total is not None
    assert (trace.total.connections, trace.total.delivered_bytes, len(trace.ranked)) == (count, 400 * count, count)
    assert peak < 200 * count


@pytest.mark.parametrize("piece", [1, 3, 1000])
def test_rows_from_a_file_are_those_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], piece: int
) -> None:
    """Of a large table only what is asked for is read; a small one is read at once. Both say the same."""
    monkeypatch.setattr(ranked, "PIECE", piece)
    monkeypatch.setattr(ranked, "KEPT_MAX", 2)
    el.analyze(short_connections(tmp_path / "c.pcap", 10), out=tmp_path / "t", report=False)
    trace = el.load(tmp_path / "t")
    assert isinstance(trace, el.Trace)
    rows = trace.connections.to_pylist()
    assert list(trace.ranked) == rows == trace.ranked[:]
    assert [trace.row(number) for number in (7, 0, 7)] == [rows[7], rows[0], rows[7]]
    assert trace.label(7) == "10.0.0.1:1031 → 10.1.0.2:5001"
    own = [row for row in trace.samples.to_pylist() if row["connection"] == 7]
    assert trace.series(7, "delivered_bytes")[1].tolist() == [row["delivered_bytes"] for row in own]
    assert trace.series(7, "time_ns")[0].tolist() == [row["time_ns"] for row in own] != []
    print_json({"folder": "t", **trace.streamed(), "warnings": []})
    told = capsys.readouterr().out
    assert told == json.dumps({"folder": "t", **trace.as_dict(), "warnings": []}, indent=1, ensure_ascii=False) + "\n"
    with pytest.raises(el.InputError, match="no connection 10: they are 0 to 9"):
        trace.row(10)


def test_rank_is_by_what_was_delivered_then_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranked, "KEPT_MAX", 2)
    table = pa.table({"connection": [0, 1, 2, 3], "delivered_bytes": [5, 9, 5, 7], "source": ["a", "b", "a", "c"]})
    rows = ranked.Ranked(ranked.Large(table))
    assert [row["connection"] for row in rows] == [1, 3, 0, 2] == [row["connection"] for row in rows[:]]
    assert rows[-1] == dict.fromkeys(ranked.LATER) | {"connection": 2, "delivered_bytes": 5, "source": "a"}
    assert (len(rows[:2]), rows[1]["source"], rows.place(2), rows.place(4)) == (2, "c", 2, None)


def test_directions_of_one_connection_count_once() -> None:
    """Two directions of one connection, another connection of the same ports later, and one of other hosts with these ports."""
    columns = {
        "source": ["a", "b", "a", "c"],
        "source_port": [1, 2, 1, 1],
        "destination": ["b", "a", "b", "b"],
        "destination_port": [2, 1, 2, 2],
        "start_ns": [0, 0, 5, 0],
    }
    rows = ranked.Ranked(ranked.Large(pa.table(columns)))
    assert rows.both_ways() == 3
    assert rows.both_ways(np.array([True, True, False, False])) == 1
    assert rows.both_ways(np.zeros(4, dtype=bool)) == 0


@pytest.mark.parametrize(("only", "way"), [(True, DATA), (False, ACKS)])
def test_one_direction_of_many_is_told_once(tmp_path: Path, only: bool, way: object) -> None:
    script = tuple(packet for packet in SCRIPT if packet[0] is only)
    trace = el.analyze(short_connections(tmp_path / "c.pcap", 30, script))
    assert {way_of(trace, row) for row in trace.ranked} <= {way, BARE_ACKS}
    (note,) = trace.notes
    assert note.startswith("all 30 connections: the capture has ")


def test_lines_add_up_as_one_by_one() -> None:
    """The sum over all connections against numpy's interpolation of each: steps, short lines, long ones, and those before 0."""
    random = np.random.default_rng(3)
    grid = np.arange(0.0, 50.0, 0.25)
    begin = np.concatenate([random.uniform(-2, 45, 300), [4.0, 4.0, 7.1, 8.0]])
    end = begin + np.concatenate([random.exponential(1.5, 300), [0.0, 0.25, 0.01, 2.0]])
    begin, end = begin[end < 49], end[end < 49]
    rise = random.uniform(0, 10, begin.size)
    expected = np.zeros(grid.size)
    for first, last, height in zip(begin, end, rise, strict=True):
        expected += np.where(grid >= last, height, np.clip((grid - first) / max(last - first, 1e-300), 0, 1) * height)
    assert np.allclose(_sum_of_lines(grid, 0.25, begin, end, rise), expected, rtol=0, atol=1e-9)
    assert all(before <= after + 1e-9 for before, after in itertools.pairwise(_sum_of_lines(grid, 0.25, begin, end, rise)))
