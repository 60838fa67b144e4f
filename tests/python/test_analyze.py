"""`elephan analyze`: captures of our own runs give the runs' counters exactly; damaged files survive; logs."""

from __future__ import annotations

import gzip
import json
import re
import struct
import subprocess
import sys
import warnings
from pathlib import Path

import elephan as el
import numpy as np
import pytest
from elephan.capture.seriesnotes import widened
from elephan.report.figure.trace_figures import _flows_beside, _matched, _run_of_one, throughput
from elephan.report.page.trace_page import answer
from elephan.report.words.view import View

DATA = Path(__file__).parent / "data"

SCENARIO = """
title    = "Losses"
duration = "8 s"

[hosts.client]
count = 2
[hosts.server]
[switches.sw]

[[links]]
between = ["client", "sw"]
rate    = "100 Mbps"
delay   = "1 ms"

[[links]]
between = ["sw", "server"]
rate    = "20 Mbps"
delay   = "10 ms"
queue   = { kind = "fifo", limit = "1 bdp" }
forward = { loss = { bernoulli = 0.01 }, packets = "data" }

[[traffic]]
name = "upload"
from = "client"
to   = "server"
kind = "bulk"
size = "3 MB"

[record]
every    = "100 ms"
captures = ["client[0]", "server"]
"""

# The same names mean the same in `flows` and in `connections`.
SAME = [
    "segs_out",
    "segs_in",
    "data_segs_out",
    "data_octets_out",
    "segs_retrans",
    "octets_retrans",
    "dup_acks_in",
    "sacks_rcvd",
    "sack_blocks_rcvd",
    "zero_rwin_rcvd",
    "cur_rwin_rcvd",
    "max_rwin_rcvd",
    "mss_sent",
    "mss_rcvd",
    "win_scale_sent",
    "win_scale_rcvd",
    "time_stamps",
    "will_use_sack",
    "ecn",
]


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> el.Run:
    return el.run(SCENARIO, seed=2, out=tmp_path_factory.mktemp("lossy") / "r", report=False)


def capture(run: el.Run, name: str) -> Path:
    return next(path for path in run.captures if path.stem == name)


@pytest.mark.parametrize("stack", ["rfc", "linux", "winxp", "linux-2.4"])
def test_counters_are_those_of_the_run(stack: str, tmp_path: Path) -> None:
    # stacks that count ACKs take twice as long
    run = el.run(SCENARIO, set={"stack": stack, "duration": "30 s"}, out=tmp_path / "r", report=False)
    flow = run.flows.to_pylist()[0]
    (row,) = el.analyze(capture(run, "client[0]")).connections.to_pylist()
    assert flow["segs_retrans"] > 5, "there are losses"
    assert {name: row[name] for name in SAME} == {name: flow[name] for name in SAME}
    assert row["delivered_bytes"] == flow["thru_octets_acked"] == 3_000_000
    assert (row["source"], row["destination"], row["vantage"]) == ("client[0]", "server", "sender")
    assert (row["syn"], row["fin"], row["opener"], row["missed_bytes"], row["out_of_order"]) == (True, True, True, 0, 0)


def test_at_the_receiver_only_what_arrived_is_seen(lossy: el.Run) -> None:
    rows = el.analyze(capture(lossy, "server")).connections.to_pylist()
    flows = {flow["source"]: flow for flow in lossy.flows.to_pylist()}
    assert {row["source"] for row in rows} == set(flows)
    for row in rows:
        flow = flows[row["source"]]
        assert row["vantage"] == "receiver"
        assert row["delivered_bytes"] == 3_000_000
        assert 3_000_000 <= row["data_octets_out"] < flow["data_octets_out"]
        # Nothing overtakes anything here, so what fills a hole was sent again.
        assert row["out_of_order"] == 0
        assert 0 < row["segs_retrans"] <= flow["segs_retrans"]


def test_round_trips_series_and_bursts(lossy: el.Run) -> None:
    trace = el.analyze(capture(lossy, "client[0]"), every="100 ms")
    (row,) = trace.connections.to_pylist()
    # 2 x 11 ms of propagation, 1538 B at 100 Mb/s and at 20, the ACK's 84 B (with 12 B of timestamps more) at both rates.
    least = 22e6 + 1538 * 8 * (10 + 50) + 90 * 8 * (10 + 50)
    # The last segment has 1192 B of payload instead of 1448 B.
    assert least - (1448 - 1192) * 8 * (10 + 50) <= row["min_rtt_ns"] < least + 1e5
    assert row["min_rtt_ns"] <= row["median_rtt_ns"] <= row["p99_rtt_ns"] <= row["max_rtt_ns"]
    assert row["handshake_rtt_ns"] == pytest.approx(22e6, abs=2e5)
    samples = trace.samples.to_pylist()
    assert {s["span_ns"] for s in samples} == {100_000_000}
    assert sum(s["data_octets_out"] for s in samples) == row["data_octets_out"]
    assert sum(s["octets_retrans"] for s in samples) == row["octets_retrans"]
    assert max(s["inflight_max_bytes"] for s in samples) == row["max_inflight_bytes"]
    assert samples[-1]["delivered_bytes"] == 3_000_000
    again = [e for e in trace.events.to_pylist() if e["kind"] == "retransmission"]
    assert sum(e["size_bytes"] for e in again) == row["octets_retrans"]
    # The initial window of ten segments is handed to the port at once.
    assert row["burst_max_segs"] >= 10
    one = el.analyze(capture(lossy, "client[0]"), burst_gap="10 s").connections.to_pylist()[0]
    assert (one["bursts"], one["burst_max_segs"], one["burst_max_bytes"]) == (1, row["data_segs_out"], row["data_octets_out"])


def test_round_trips_at_the_receiver_are_of_the_whole_way(lossy: el.Run, tmp_path: Path) -> None:
    at_sender = el.analyze(capture(lossy, "client[0]"))
    trace = el.analyze(capture(lossy, "server"))
    (sent,) = at_sender.connections.to_pylist()
    row = next(row for row in trace.connections.to_pylist() if row["source"] == "client[0]")
    # Both clocks tick once a millisecond, so a time stamp may be that much older than the segment that is timed.
    assert row["min_rtt_ns"] == pytest.approx(sent["min_rtt_ns"], abs=1.1e6)
    assert row["median_rtt_ns"] == pytest.approx(sent["median_rtt_ns"], rel=0.1)
    # Without time stamps a receiver knows no round trip; the handshake does.
    bare = el.run(SCENARIO, set={"tcp.timestamps": False, "duration": "2 s"}, out=tmp_path / "r", report=False)
    trace = el.analyze(capture(bare, "server"))
    row = trace.ranked[0]
    assert (row["count_rtt"], row["min_rtt_ns"], row["p99_rtt_ns"]) == (0, None, None)
    # At the receiver from the SYN to the ACK that ends the handshake: it comes with data, behind up to 34 packets of the other.
    assert 22e6 <= row["handshake_rtt_ns"] < 22e6 + 35 * 1538 * 8 * 50
    page = (trace.report(tmp_path / "t.html")).read_text(encoding="utf-8")
    assert "round-trip time of its handshake" in page
    assert ">n/a<" in page
    assert "shaded height" not in page


SAWTOOTH = """
duration = "20 s"
[template]
kind  = "dumbbell"
pairs = 1
rate  = "20 Mbps"
delay = "10 ms"
queue = { kind = "fifo", limit = "1 bdp" }
[[traffic]]
name = "flow"
from = "sender"
to   = "receiver"
kind = "bulk"
[record]
captures = ["sender[0]", "receiver[0]"]
"""


@pytest.mark.parametrize(
    "more",
    [
        {"traffic.flow.congestion_control": "reno"},
        {"traffic.flow.congestion_control": "cubic", "stack": "linux"},
        {"traffic.flow.congestion_control": "reno", "tcp.ecn": "classic", "template.queue.mark_above": "30 kB"},
        # Losses in the middle of recoveries as well.
        {"stack": "linux", "traffic.flow.congestion_control": "cubic", "links.left->right.loss": {"bernoulli": 0.001}},
    ],
)
def test_cuts_are_those_of_the_sender(more: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(SAWTOOTH, encoding="utf-8")
    run = el.run(file, set=more, out=tmp_path / "r", report=False)
    (flow,) = run.flows.to_pylist()
    assert flow["cong_signals"] > 3
    assert flow["timeouts"] == 0
    for end in ("sender[0]", "receiver[0]"):
        trace = el.analyze(capture(run, end))
        assert trace.ranked[0]["cong_signals"] == flow["cong_signals"]
        assert trace.phases().cuts in (flow["cong_signals"], flow["cong_signals"] - 1)  # one may be in the last interval


def test_a_file_cut_off_anywhere_gives_what_came_before(lossy: el.Run, tmp_path: Path) -> None:
    whole = capture(lossy, "client[0]").read_bytes()
    packets = el.analyze(capture(lossy, "client[0]")).summary["packets"]
    cut = tmp_path / "cut.pcapng"
    before = 0
    for length in (120, 400, 401, 5000, len(whole) // 2, len(whole) - 1):
        cut.write_bytes(whole[:length])
        trace = el.analyze(cut)
        assert before <= trace.summary["packets"] < packets
        before = trace.summary["packets"]
    assert "ends in the middle of a block" in trace.notes[0]
    cut.write_bytes(whole[:100_000] + bytes([255]) * 64 + whole[100_064:])
    assert any("damaged" in note or "block" in note for note in el.analyze(cut).notes)
    for start in range(28):  # less than a section header
        cut.write_bytes(whole[:start])
        with pytest.raises(el.InputError, match=r"cut\.pcapng: "):
            el.analyze(cut)


def test_gzip_and_pcap_are_read(lossy: el.Run, tmp_path: Path) -> None:
    file = capture(lossy, "client[0]")
    plain = el.analyze(file)
    with gzip.open(tmp_path / "c.pcapng.gz", "wb") as packed:
        packed.write(file.read_bytes())
    again = el.analyze(tmp_path / "c.pcapng.gz")
    assert again.connections.equals(plain.connections)
    assert again.samples.equals(plain.samples)


def ipv4_tcp(seq: int, payload: int, flags: int = 0x10, ack: int = 0, source: int = 1, vlan: bool = False) -> bytes:
    """An Ethernet frame by hand (RFC 791, 9293), without the payload's bytes."""
    tag = b"\x81\x00\x00\x05" if vlan else b""
    ip = struct.pack(
        ">BBHHHBBH4s4s", 0x45, 0, 40 + payload, 1, 0, 64, 6, 0, bytes([10, 0, 0, source]), bytes([10, 0, 0, 3 - source])
    )
    ports = (1000, 2000) if source == 1 else (2000, 1000)
    tcp = struct.pack(">HHIIBBHHH", *ports, seq % 2**32, ack % 2**32, 0x50, flags, 1000, 0, 0)
    return b"\x02" * 12 + tag + b"\x08\x00" + ip + tcp


def pcap(path: Path, frames: list[tuple[float, bytes]], link_type: int = 1, order: str = "<", nanoseconds: bool = False) -> Path:
    """A pcap file by hand; times in seconds."""
    unit = 1e9 if nanoseconds else 1e6
    data = struct.pack(order + "IHHiIII", 0xA1B23C4D if nanoseconds else 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type)
    for time, frame in frames:
        data += struct.pack(order + "IIII", int(time), round(time % 1 * unit), len(frame), 1500) + frame
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nanoseconds", [False, True])
@pytest.mark.parametrize("vlan", [False, True])
def test_frames_made_by_hand(order: str, nanoseconds: bool, vlan: bool, tmp_path: Path) -> None:
    first = 2**32 - 1000  # sequence numbers wrap in the second segment
    frames = [
        (5.0, ipv4_tcp(first, 0, flags=2, vlan=vlan)),
        (5.01, ipv4_tcp(99, 0, flags=0x12, ack=first + 1, source=2, vlan=vlan)),
        (5.0101, ipv4_tcp(first + 1, 0, ack=100, vlan=vlan)),
        (5.02, ipv4_tcp(first + 1, 1000, ack=100, vlan=vlan)),
        (5.021, ipv4_tcp(first + 1001, 1000, ack=100, vlan=vlan)),
        (5.04, ipv4_tcp(100, 0, ack=first + 1001, source=2, vlan=vlan)),
        (5.25, ipv4_tcp(first + 1001, 1000, ack=100, vlan=vlan)),
        (5.27, ipv4_tcp(100, 0, ack=first + 2001, source=2, vlan=vlan)),
    ]
    trace = el.analyze(pcap(tmp_path / "c.pcap", frames, order=order, nanoseconds=nanoseconds))
    (row,) = trace.connections.to_pylist()
    assert (row["source"], row["source_port"], row["destination_port"]) == ("10.0.0.1", 1000, 2000)
    assert (row["segs_out"], row["segs_in"], row["data_segs_out"], row["data_octets_out"]) == (5, 3, 3, 3000)
    assert (row["segs_retrans"], row["delivered_bytes"], row["count_rtt"]) == (1, 2000, 1), "Karn: the second is not sampled"
    assert row["min_rtt_ns"] == pytest.approx(20e6, abs=1000)
    assert row["handshake_rtt_ns"] == pytest.approx(10.1e6, abs=1000)
    assert row["vantage"] == "sender"
    assert trace.summary["begin_ns"] == 5_000_000_000


def test_what_the_capture_lost_is_said(tmp_path: Path) -> None:
    frames = [(1.0, ipv4_tcp(1, 1000)), (1.001, ipv4_tcp(2001, 1000)), (1.1, ipv4_tcp(100, 0, ack=3001, source=2))]
    trace = el.analyze(pcap(tmp_path / "c.pcap", frames))
    (row,) = trace.connections.to_pylist()
    assert (row["missed_bytes"], row["delivered_bytes"], row["segs_retrans"]) == (1000, 3000, 0)
    assert [e["kind"] for e in trace.events.to_pylist()] == ["missed"]


_HANDSHAKE = [(0.9, ipv4_tcp(0, 0, flags=2)), (0.95, ipv4_tcp(99, 0, flags=0x12, ack=1, source=2))]
_DATA = [(1 + i / 100, ipv4_tcp(1 + 1000 * i, 1000, ack=100)) for i in range(5)]
_ACKS = [(1.005 + i / 100, ipv4_tcp(100, 0, ack=1001 + 1000 * i, source=2)) for i in range(5)]
_ONE_WAY = "the capture has {} only, no packet of the other direction, so "


@pytest.mark.parametrize(
    ("frames", "note", "unknown", "known"),
    [
        (_HANDSHAKE[:1] + _DATA, _ONE_WAY.format("data") + "what was delivered, goodput, ", "delivered goodput", "retransmitted"),
        (_DATA, _ONE_WAY.format("data") + "what was delivered, goodput, ", "delivered goodput", "retransmitted"),
        (_HANDSHAKE[1:] + _ACKS, _ONE_WAY.format("ACKs") + "mean goodput, retrans", "goodput retransmitted burst", "delivered"),
        (_ACKS, _ONE_WAY.format("ACKs") + "what was delivered, mean goodput, retrans", "delivered goodput retransmitted burst", ""),
    ],
)
def test_one_direction_says_what_it_cannot_know(
    frames: list[tuple[float, bytes]], note: str, unknown: str, known: str, tmp_path: Path
) -> None:
    file = pcap(tmp_path / "c.pcap", frames)
    said = command("analyze", file, "--out", tmp_path / "t")
    (line,) = [line for line in said.splitlines() if line.startswith("warning: ")]
    assert note in line
    assert line.endswith("what was in flight, bursts and phases are not known" if "ACKs" in note else "and phases are not known")
    head, row = (line for line in said.splitlines() if line.startswith(("connection ", "10.0.0.")))
    cells = dict(zip(re.split(r"  +", head), re.split(r"  +", row), strict=True))
    assert all(cells[name] == "n/a" for name in unknown.split())
    assert all(cells[name] != "n/a" for name in known.split())
    page = (tmp_path / "t" / "report.html").read_text(encoding="utf-8")
    assert note in page
    assert "a capture of one direction does not show it" in page
    assert "in flight is" not in page
    assert "acknowledged</text>" not in page


def test_both_directions_say_nothing_of_it(tmp_path: Path) -> None:
    whole = sorted(_HANDSHAKE + _DATA + _ACKS, key=lambda frame: frame[0])
    syns = [(time, frame) for time in (0.9, 1.9, 3.9) for _, frame in _HANDSHAKE[:1]]
    for frames in (whole, syns, _HANDSHAKE[1:]):
        assert el.analyze(pcap(tmp_path / "c.pcap", frames)).notes == []
    twice = [(time, frame.replace(struct.pack(">HH", 1000, 2000), struct.pack(">HH", 1001, 2000))) for time, frame in _DATA]
    (note,) = el.analyze(pcap(tmp_path / "c.pcap", sorted(whole + twice, key=lambda frame: frame[0]))).notes
    assert note.startswith("10.0.0.1:1001 → 10.0.0.2:2000: the capture has data only")
    (note,) = el.analyze(pcap(tmp_path / "c.pcap", sorted(_DATA + twice, key=lambda frame: frame[0]))).notes
    assert note.startswith("all 2 connections: the capture has data only")


@pytest.mark.parametrize(("count", "said"), [(1, "1 packet in 0 s: 1 connection."), (3, "3 packets in 0 s: 1 connection.")])
def test_a_capture_of_an_instant(count: int, said: str, tmp_path: Path) -> None:
    frames = [(1.0, ipv4_tcp(1, 100)), (1.0, ipv4_tcp(100, 0, ack=101, source=2)), (1.0, ipv4_tcp(101, 100))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace = el.analyze(pcap(tmp_path / "c.pcap", frames[:count]), out=tmp_path / "t")
    assert answer(trace)[0] == said
    with pytest.raises(el.InputError, match=r"^no connection 7: there is only 0$"):
        el.analyze(tmp_path / "c.pcap", connection=7)
    with pytest.raises(el.InputError, match=r'^"1e400 bps" is too large$'):
        el.analyze(tmp_path / "c.pcap", rate="1e400 bps")


def test_reordering_is_told_from_retransmission(tmp_path: Path) -> None:
    swapped = [(1.0, ipv4_tcp(1, 100)), (1.001, ipv4_tcp(201, 100)), (1.0011, ipv4_tcp(101, 100))]
    late = [(1.0, ipv4_tcp(1, 100)), (1.001, ipv4_tcp(201, 100)), (1.2, ipv4_tcp(101, 100))]
    found = [el.analyze(pcap(tmp_path / "c.pcap", frames)).connections.to_pylist()[0] for frames in (swapped, late)]
    assert [(row["out_of_order"], row["segs_retrans"]) for row in found] == [(1, 0), (0, 1)]


def test_iperf3() -> None:
    trace = el.analyze(DATA / "iperf3.json")
    end = json.loads((DATA / "iperf3.json").read_text())["end"]
    (row,) = trace.connections.to_pylist()
    assert (row["delivered_bytes"], row["segs_retrans"]) == (end["sum_received"]["bytes"], end["sum_sent"]["retransmits"])
    assert row["goodput_bps"] == pytest.approx(end["sum_received"]["bits_per_second"], rel=1e-3)
    assert trace.samples.column("cwnd_bytes")[0].as_py() == 52128


def test_ss() -> None:
    trace = el.analyze(DATA / "ss.log")
    bulk = trace.ranked[0]
    assert (bulk["source"], bulk["source_port"], bulk["mss_sent"]) == ("10.9.0.1", 46034, 1448)
    time, window = trace.series(bulk["connection"], "cwnd_bytes")
    assert window[:2].tolist() == [51 * 1448, 56 * 1448]
    assert np.diff(time[:2])[0] == pytest.approx((1795341554.759440593 - 1795341554.405974114) * 1e9, abs=1e3)
    # bytes_sent of the last look less that of the first, of which bytes_retrans are a part
    assert trace.series(bulk["connection"], "data_octets_out")[1].sum() == 69_399_781 - 1_190_293
    assert trace.notes == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an empty file"),
        ("hello\n", "neither a capture, nor a qlog, nor a result of Flent or iperf3 -J, nor a log of ss -tin"),
        ('{"start": {}}', r"not a result of iperf3 -J \(no intervals\)"),
        ("\0\1\2\3 rubbish", "not a capture: neither pcap nor pcapng"),
    ],
)
def test_what_is_no_capture_is_one_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text(text)
    with pytest.raises(el.InputError, match=rf"x\.log: {message}"):
        el.analyze(tmp_path / "x.log")
    with pytest.raises(el.InputError, match="No such file"):
        el.analyze(tmp_path / "nothing.pcap")
    with pytest.raises(el.InputError, match="between 1 ns and a day"):
        el.analyze(DATA / "ss.log", every="0 s")
    with pytest.raises(el.InputError, match='not "sendr"'):
        el.analyze(DATA / "ss.log", at="sendr")


def command(*words: str | Path) -> str:
    code = "from elephan.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_command_writes_a_report(lossy: el.Run, tmp_path: Path) -> None:
    where = tmp_path / "t"
    arguments = ["analyze", capture(lossy, "client[0]"), "--out", where, "--compare", lossy.tables.path]
    assert "client[0] → server delivered 3 MB" in command(*arguments)
    assert {p.name for p in where.iterdir()} >= {
        "connections.parquet",
        "connection_samples.parquet",
        "manifest.json",
        "report.html",
    }
    assert "run: upload" in (where / "report.html").read_text()
    assert el.load(where).connections.num_rows == 1
    command("report", where, "--figures")
    assert {"throughput", "time-sequence", "windows", "round-trip", "phases"} <= {p.stem for p in (where / "figures").iterdir()}
    assert json.loads(command(*arguments, "--json"))["connections"][0]["delivered_bytes"] == 3_000_000


STREAMS = """
duration = "4 s"
[template]
kind  = "dumbbell"
pairs = 1
rate  = "100 Mbps"
delay = "10 ms"
[[traffic]]
name        = "stream"
from        = "sender"
to          = "receiver"
kind        = "bulk"
connections = 8
start       = { uniform = ["0 s", "1 s"] }
[record]
every    = "20 ms"
captures = ["sender"]
"""


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> el.Run:
    """Eight connections that begin one after another, in another order than that of their flows."""
    folder = tmp_path_factory.mktemp("streams")
    (folder / "s.toml").write_text(STREAMS, encoding="utf-8")
    return el.run(folder / "s.toml", out=folder / "r")


def test_the_run_beside_a_connection_is_that_of_its_own_flow(streams: el.Run) -> None:
    """A flow begins with its SYN, which is the first packet of its connection: so their starts say which belongs to which."""
    trace = el.analyze(streams.captures[0], compare=streams.tables.path)
    starts = {row["flow"]: row["start_ns"] for row in streams.flows.to_pylist()}
    first = min(starts.values())
    found = _flows_beside(trace)
    assert sorted(found.values()) == list(range(8))
    assert [found[number] for number in range(8)] != list(range(8))
    assert all(starts[flow] - first == trace.row(number)["start_ns"] for number, flow in found.items())
    # What somebody else's capture has other ports: then the order of their starts says it.
    rows = [row | {"source_port": 50_000 + 7 * row["connection"]} for row in trace.ranked]
    assert _matched(rows, streams.flows.to_pylist()) == found
    delivered = {row["flow"]: row["delivered_bytes"] for row in streams.flows.to_pylist()}
    for number, flow in found.items():
        one = el.analyze(streams.captures[0], compare=streams.tables.path, connection=number)
        ((label, (_, _, total)),) = _run_of_one(one).items()
        assert (label, total[-1]) == ("run: stream", delivered[flow])


LOOKS = """1700000000.0
ESTAB 0 0 10.0.0.1:4000 10.0.0.2:5201
\t cubic rtt:10/1 mss:1448 cwnd:10 bytes_sent:30000 bytes_acked:20000 segs_out:30 segs_in:12
1700000001.0
ESTAB 0 0 10.0.0.1:4000 10.0.0.2:5201
\t cubic rtt:10/1 mss:1448 cwnd:20 bytes_sent:130000 bytes_acked:120000 segs_out:130 segs_in:62
1700000002.0
ESTAB 0 0 10.0.0.1:4000 10.0.0.2:5201
\t cubic rtt:10/1 mss:1448 cwnd:10 bytes_sent:9000 bytes_acked:7000 segs_out:9 segs_in:5
1700000003.0
ESTAB 0 0 10.0.0.1:4000 10.0.0.2:5201
\t cubic rtt:10/1 mss:1448 cwnd:10 bytes_sent:59000 bytes_acked:57000 segs_out:59 segs_in:25
"""


def test_ss_of_ports_that_are_used_again(tmp_path: Path) -> None:
    """Counters that fall are another connection's: 100 000 bytes in the second between looks, then 50 000."""
    file = tmp_path / "ss.log"
    file.write_text(LOOKS)
    trace = el.analyze(file)
    rows = trace.connections.to_pylist()
    assert [row["delivered_bytes"] for row in rows] == [120000, 57000]
    assert [row["goodput_bps"] for row in rows] == [800e3, 400e3]
    assert trace.notes == ["1 pair of ends had more than one connection in turn: counters began anew"]


def test_ss_in_lines_of_one_connection(tmp_path: Path) -> None:
    """`ss -O` writes head and details in one line."""
    two, one = tmp_path / "two.log", tmp_path / "one.log"
    two.write_text(LOOKS)
    one.write_text(LOOKS.replace("5201\n\t", "5201     "))
    assert el.analyze(one).connections == el.analyze(two).connections
    assert el.analyze(one).samples == el.analyze(two).samples


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_logs_with_a_byte_order_mark(encoding: str, tmp_path: Path) -> None:
    """As Windows writes what a program prints."""
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    for name in ("iperf3.json", "ss.log"):
        text = (DATA / name).read_text(encoding="utf-8").replace("\n", "\r\n")
        (tmp_path / name).write_bytes((mark + text).encode(encoding))
        assert el.analyze(tmp_path / name).samples == el.analyze(DATA / name).samples


def test_iperf3_streams_without_a_socket(tmp_path: Path) -> None:
    result = json.loads((DATA / "iperf3.json").read_text())
    whole = el.analyze(DATA / "iperf3.json").connections.to_pylist()
    for interval in result["intervals"]:
        for stream in interval["streams"]:
            del stream["socket"]
    file = tmp_path / "iperf3.json"
    file.write_text(json.dumps(result))
    trace = el.analyze(file)
    found = trace.connections.to_pylist()
    assert [row["delivered_bytes"] for row in found] == [row["delivered_bytes"] for row in whole]
    assert "without a socket" in trace.notes[0]


def test_intervals_that_get_wider_than_asked_for_are_told(lossy: el.Run) -> None:
    """A silence is one interval, so that intervals stay as short as they were asked for while there are few enough of them."""
    file = lossy.captures[0]
    for every, least in (("1 ms", 1_000_000), ("1 us", 1000)):
        trace = el.analyze(file, every=every)
        assert not [note for note in trace.notes if "intervals" in note]
        assert min(trace.samples.column("span_ns").to_pylist()) == least
    note = widened(trace, 400)
    assert note.startswith("1 connection has intervals of up to 1 µs, not 400 ns")


def test_streams_have_a_total_and_share_their_path(streams: el.Run, tmp_path: Path) -> None:
    """What the sender counts as acknowledged, of all flows; of a path that eight share nobody knows what is left to one."""
    trace = el.analyze(streams.captures[0], rate="100 Mbps", out=tmp_path / "t")
    acked = sum(row["thru_octets_acked"] for row in streams.flows.to_pylist())
    assert trace.total is not None
    assert (trace.total.connections, trace.total.delivered_bytes) == (8, acked)
    # Its slowest link carries 1448 of 1538 bytes of 100 Mb/s, and the first starts up to 1 s before the last.
    assert 0.5 * 94.1e6 < (trace.total.goodput_bps or 0) < 94.2e6
    assert not trace.phases().path_known
    assert all(trace.phases(number).recovers is None for number in range(8))
    page = (tmp_path / "t" / "report.html").read_text(encoding="utf-8")
    assert "Together 8 connections delivered" in page
    assert "It shares its path: meanwhile other connections delivered" in page
    assert "plateau of" not in page
    drawing = throughput(trace)
    assert drawing is not None
    lines = {line.get_label(): line.get_ydata() for line in drawing.figure.axes[0].lines}
    assert "all connections" in lines
    assert np.max(lines["all connections"]) > 90  # Mb/s: together they fill it


def test_a_connection_alone_has_its_path_to_itself(lossy: el.Run) -> None:
    trace = el.analyze(capture(lossy, "client[0]"), rate="20 Mbps")
    assert trace.phases().path_known
    drawing = throughput(trace)
    assert drawing is not None
    assert "all connections" not in [line.get_label() for line in drawing.figure.axes[0].lines]


LONG = """
duration = "30 s"
[template]
kind = "path"
hops = [{ rate = "1 Gbps", delay = "10 us" }, { rate = "622.08 Mbps", delay = "98 ms" }]
[[traffic]]
name = "flow"
from = "sender"
to   = "receiver"
kind = "bulk"
tcp  = { receive_window = "2 MB", send_buffer = "64 MB" }
[record]
every    = "20 ms"
captures = ["sender"]
"""


def test_a_steady_flow_over_a_long_path_is_drawn_steady(tmp_path: Path) -> None:
    """A window of 2 MB leaves in one burst a round trip: 2 MB / 196.02 ms = 81.6 Mb/s, in intervals of whole round trips."""
    (tmp_path / "s.toml").write_text(LONG, encoding="utf-8")
    run = el.run(tmp_path / "s.toml", out=tmp_path / "r")
    drawing = throughput(el.analyze(run.captures[0]))
    assert drawing is not None
    (time, rate) = (np.asarray(axis, dtype=float) for axis in drawing.figure.axes[0].lines[0].get_data())
    assert "in intervals of 392 ms" in drawing.caption
    assert rate[(time > 8)] == pytest.approx(81.6, rel=0.01)
    series, step = View(run).goodput_series()
    assert step == pytest.approx(3 * 196.02e6, rel=0.01)  # of 0.5 s
    middle, goodput = series["flow"]
    assert goodput[middle > 8e9] == pytest.approx(81.6e6, rel=0.01)


SS = "ESTAB 0 0 10.0.0.1:4000 10.0.0.2:5000\n\t cubic mss:1448 cwnd:10 rtt:1.5/0.1 bytes_acked:{} unacked:3\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (SS.format("9" * 5000), ":2: a counter that is no count"),
        (SS.format("-1"), ":2: a counter that is no count"),
        (SS.format(1).replace("cwnd:10", "cwnd:" + "9" * 18), ":2: a counter that is no count"),
        (SS.format(1).replace(":4000", ":" + "4" * 20), ":2: a counter that is no count"),
        ("1700000000\n" + SS.format(1) + "2024-13-45T00:00:00\n" + SS.format(1), ":4: no time"),
        ("{" + '"a":[' * 300_000, ": damaged JSON"),
    ],
)
def test_broken_logs_are_one_line(text: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "broken.log"
    file.write_text(text)
    with pytest.raises(el.InputError, match=f"broken.log{why}") as caught:
        el.analyze(file)
    assert "\n" not in str(caught.value)
