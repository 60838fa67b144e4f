"""qlogs of QUIC: forms of files, of times and of names, both ends of a connection, and files that are damaged.

The files are written here by the drafts of qlog. The transfer: three packets of 1000 B payload at 0, 10 and 20 ms; the second is
declared lost at 60 ms and its data go again at 61 ms. Each ACK comes 50 ms after its packet.
"""

from __future__ import annotations

import copy
import gzip
import json
import math
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.capture.ranges import Ranges
from elephan.report.page.trace_page import answer, page

Event = dict[str, Any]
GROUP = "127ecc830d98f9d5"
BEGIN_MS = 1_714_564_800_000.0  # 2024-05-01T12:00:00Z
OLD_NAMES = {
    "quic:packet_sent": "transport:packet_sent",
    "quic:packet_received": "transport:packet_received",
    "quic:packet_lost": "recovery:packet_lost",
    "quic:recovery_metrics_updated": "recovery:metrics_updated",
    "quic:congestion_state_updated": "recovery:congestion_state_updated",
    "quic:connection_started": "connectivity:connection_started",
    "quic:connection_closed": "connectivity:connection_closed",
}


def packet(time: float, number: int, offset: int | None, ways: str = "sent", acked: list[list[int]] | None = None) -> Event:
    frames: list[Event] = [] if acked is None else [{"frame_type": "ack", "acked_ranges": acked}]
    if offset is not None:
        frames.append({"frame_type": "stream", "stream_id": 0, "offset": offset, "raw": {"payload_length": 1000}})
    data = {"header": {"packet_type": "1RTT", "packet_number": number}, "raw": {"length": 1040}, "frames": frames}
    return {"time": time, "name": f"quic:packet_{ways}", "data": data}


def measured(time: float, **values: Any) -> Event:
    return {"time": time, "name": "quic:recovery_metrics_updated", "data": values}


EVENTS: list[Event] = [
    {
        "time": 0,
        "name": "quic:connection_started",
        "data": {"local": {"ip_v4": "192.0.2.1", "port_v4": 443}, "remote": {"ip_v4": "192.0.2.2", "port_v4": 50_000}},
    },
    packet(0, 0, 0),
    measured(0, congestion_window=12_000, bytes_in_flight=1040),
    packet(10, 1, 1000),
    packet(20, 2, 2000),
    measured(20, bytes_in_flight=3120),
    packet(50, 0, None, "received", [[0]]),
    measured(
        50, latest_rtt=50.0, smoothed_rtt=50.0, min_rtt=50.0, congestion_window=13_000, bytes_in_flight=2080, pacing_rate=2_000_000
    ),
    {"time": 60, "name": "quic:packet_lost", "data": {"header": {"packet_type": "1RTT", "packet_number": 1}}},
    {"time": 60, "name": "quic:congestion_state_updated", "data": {"old": "slow_start", "new": "recovery"}},
    measured(60, congestion_window=6500, ssthresh=6500, bytes_in_flight=1040),
    packet(61, 3, 1000),
    packet(70, 1, None, "received", [[0], [2]]),
    measured(70, latest_rtt=52.0, smoothed_rtt=50.5),
    packet(111, 2, None, "received", [[2, 3], [0]]),
    measured(111, latest_rtt=54.0),
    {"time": 120, "name": "quic:connection_closed", "data": {"initiator": "local"}},
]
COMMON: Event = {"group_id": GROUP, "reference_time": {"clock_type": "system", "epoch": "2024-05-01T12:00:00.000Z"}}
TRACE: Event = {"common_fields": COMMON, "vantage_point": {"type": "server"}}
SEQUENTIAL: Event = {"file_schema": "urn:ietf:params:qlog:file:sequential", "serialization_format": "application/qlog+json-seq"}


def old(events: Iterable[Event]) -> list[Event]:
    return [event | {"name": OLD_NAMES[event["name"]]} for event in events]


def moved(events: Iterable[Event], by_ms: float) -> list[Event]:
    return [event | {"time": event["time"] + by_ms} for event in events]


def deltas(events: list[Event]) -> list[Event]:
    times = [0, *(event["time"] for event in events)]
    return [event | {"time": event["time"] - before} for event, before in zip(events, times, strict=False)]


def lines(*records: Event, mark: str = "") -> str:
    return "".join(f"{mark}{json.dumps(record)}\n" for record in records)


def contained(events: list[Event], trace: Event = TRACE, **head: Any) -> str:
    return json.dumps({**head, "traces": [{**trace, "events": events}]})


def of_old(time_format: str | None, reference: Any) -> Event:
    times = {} if time_format is None else {"time_format": time_format}
    return {"common_fields": {"ODCID": GROUP, **times, "reference_time": reference}, "vantage_point": {"type": "server"}}


FORMS = {
    "contained": contained(EVENTS, file_schema="urn:ietf:params:qlog:file:contained"),
    "contained 0.3": contained(old(EVENTS), of_old("relative", BEGIN_MS), qlog_version="0.3", qlog_format="JSON"),
    "absolute": contained(moved(old(EVENTS), BEGIN_MS), of_old("absolute", None), qlog_version="0.3"),
    "absolute by default": contained(moved(old(EVENTS), BEGIN_MS), of_old(None, None), qlog_version="0.3"),
    "delta": contained(deltas(old(EVENTS)), of_old("delta", BEGIN_MS), qlog_version="0.3"),
    "a text for the reference": contained(old(EVENTS), of_old("relative", "1714564800000"), qlog_version="0.3"),
    "events before what the trace says": json.dumps({"qlog_version": "0.4", "traces": [{"events": EVENTS, **TRACE}]}),
    "printed": json.dumps({"qlog_version": "0.4", "traces": [{**TRACE, "events": EVENTS}]}, indent=4),
    "sequence": lines(SEQUENTIAL | {"trace": TRACE}, *EVENTS, mark="\x1e"),
    "printed sequence": "".join(f"\x1e{json.dumps(one, indent=2)}\n" for one in (SEQUENTIAL | {"trace": TRACE}, *EVENTS)),
    "sequence 0.3": lines(
        {"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "trace": of_old("relative", BEGIN_MS)}, *old(EVENTS), mark="\x1e"
    ),
    "lines": lines({"qlog_version": "0.3", "qlog_format": "NDJSON", "trace": of_old("relative", BEGIN_MS)}, *old(EVENTS)),
    "deltas of 0.4": lines(
        SEQUENTIAL | {"trace": {**TRACE, "common_fields": COMMON | {"time_format": "relative_to_previous_event"}}}, *deltas(EVENTS)
    ),
    "events alone": lines(*moved(EVENTS, BEGIN_MS)),
}


def written(folder: Path, text: str, name: str = "a.qlog") -> Path:
    file = folder / name
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return file


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_say_the_same(form: str, tmp_path: Path) -> None:
    trace = el.analyze(written(tmp_path, FORMS[form], "a.qlog.gz" if form == "lines" else "a.qlog"))
    (row,) = trace.connections.to_pylist()
    assert trace.summary["begin_ns"] == 1_714_564_800_000_000_000
    ends = ("192.0.2.1", 443, "192.0.2.2", 50_000)
    assert [row[key] for key in ("source", "source_port", "destination", "destination_port")] == list(ends)
    assert (row["protocol"], row["vantage"], row["fin"]) == ("quic", "sender", True)
    assert (row["delivered_bytes"], row["data_octets_out"], row["octets_retrans"], row["segs_retrans"]) == (3000, 4000, 1000, 1)
    assert (row["segs_out"], row["segs_in"], row["data_segs_out"], row["cong_signals"]) == (4, 3, 4, 1)
    assert (row["min_rtt_ns"], row["median_rtt_ns"], row["max_rtt_ns"]) == (50_000_000, 52_000_000, 54_000_000)
    assert row["goodput_bps"] == pytest.approx(3000 * 8 / 0.111)
    assert row["max_inflight_bytes"] == 3120
    # Nobody knows these of QUIC.
    assert {row[key] for key in ("dup_acks_in", "segs_retrans_fast", "zero_rwin_rcvd")} == {None}


def test_series_and_events(tmp_path: Path) -> None:
    trace = el.analyze(written(tmp_path, FORMS["sequence"]), every="10 ms")
    time, window = trace.series(0, "cwnd_bytes")
    # The window holds until the log tells another one.
    assert dict(zip((time / 1e6).tolist(), window.tolist(), strict=True))[60.0] == 13_000
    assert window.tolist()[0] == 12_000
    assert window.tolist()[-1] == 6500
    _, delivered = trace.series(0, "delivered_bytes")
    assert (delivered.max(), sorted(set(delivered.tolist()))) == (3000, [0.0, 1000.0, 2000.0, 3000.0])
    kinds = {row["kind"]: (row["time_ns"], row["size_bytes"]) for row in trace.events.to_pylist()}
    assert kinds == {"lost": (60_000_000, 1000), "cut": (60_000_000, 0), "retransmission": (61_000_000, 1000)}
    assert trace.knows_cuts
    rtts = [row["rtt_mean_ns"] for row in trace.samples.to_pylist() if row["rtt_mean_ns"] is not None]
    assert rtts == [50_000_000, 52_000_000, 54_000_000]
    assert [row["pacing_bps"] for row in trace.samples.to_pylist()][-1] == 2e6
    said = answer(trace)
    assert "Its sender logged 4 packets and declared 1 packet lost (25 %)." in said
    assert "Its congestion control entered recovery 1 time." in said
    assert page(trace).sections


def of_peer() -> list[Event]:
    """The same transfer as the other end logged it: the lost packet is missing."""
    got = [(25, 0, 0), (45, 2, 2000), (86, 3, 1000)]
    received = [packet(time, number, offset, "received") for time, number, offset in got]
    acks = [packet(time + 0.1, place, None, "sent", [[number]]) for place, (time, number, _) in enumerate(got)]
    return sorted(received + acks, key=lambda event: event["time"])


@pytest.mark.parametrize("together", [True, False])
def test_both_ends_of_a_connection(together: bool, tmp_path: Path) -> None:
    client = {**TRACE, "vantage_point": {"type": "client"}}
    alone = el.analyze(written(tmp_path, contained(of_peer(), client, qlog_version="0.4"), "client.qlog"))
    (row,) = alone.connections.to_pylist()
    assert (row["vantage"], row["source"], row["destination"], row["delivered_bytes"]) == ("receiver", "server", "client", 3000)
    if together:
        both = {"qlog_version": "0.4", "traces": [{**TRACE, "events": EVENTS}, {**client, "events": of_peer()}]}
        trace = el.analyze(written(tmp_path, json.dumps(both)))
    else:
        trace = el.analyze([written(tmp_path, FORMS["sequence"], "server.sqlog"), tmp_path / "client.qlog"], out=tmp_path / "out")
    assert trace.count == 1
    assert [(row["vantage"], row["delivered_bytes"]) for row in trace.ranked if row["delivered_bytes"]] == [("sender", 3000)]
    assert "1 connection logged at both ends: each direction is as its sender logged it" in trace.notes


def test_connections_of_one_trace_are_told_apart_by_their_group(tmp_path: Path) -> None:
    common = {key: value for key, value in COMMON.items() if key != "group_id"}
    events = [event | {"group_id": group} for group in ("aaaaaaaa", "bbbbbbbb") for event in EVENTS[1:-1]]
    events.sort(key=lambda event: event["time"])
    trace = el.analyze(written(tmp_path, contained(events, {**TRACE, "common_fields": common}, qlog_version="0.4")))
    assert [trace.label(n) for n in (0, 1)] == ["server aaaaaaaa → client aaaaaaaa", "server bbbbbbbb → client bbbbbbbb"]
    assert trace.connections["delivered_bytes"].to_pylist() == [3000, 3000]
    assert trace.count == 2


def test_a_log_of_measurements_alone(tmp_path: Path) -> None:
    events = [event for event in EVENTS if event["name"] == "quic:recovery_metrics_updated"]
    trace = el.analyze(written(tmp_path, lines(SEQUENTIAL | {"trace": TRACE}, *events)), out=tmp_path / "out")
    (row,) = trace.connections.to_pylist()
    assert (row["delivered_bytes"], row["goodput_bps"], row["segs_out"]) == (None, None, None)
    assert trace.samples["delivered_bytes"].null_count == trace.samples.num_rows
    assert f"server {GROUP[:8]}: the log has no packets: what was delivered is unknown" in trace.notes
    drawn = [drawing.name for section in page(trace).sections for drawing in section.drawings]
    assert drawn == ["windows", "round-trip"]
    assert "server → client: what it delivered is unknown, round-trip time at least 50 ms." in answer(trace)


def test_a_log_without_frames_or_without_acknowledgements(tmp_path: Path) -> None:
    bare = copy.deepcopy(EVENTS)
    for event in bare:
        event["data"].pop("frames", None)
    trace = el.analyze(written(tmp_path, contained(bare, qlog_version="0.4")))
    row = trace.row(0)
    assert (row["delivered_bytes"], row["segs_retrans"], row["data_octets_out"]) == (4160, None, 4160)
    assert any("bytes are those of packets with their headers" in note for note in trace.notes)
    assert any("what is called delivered is what was sent" in note for note in trace.notes)
    listed = [event for event in bare if event["name"] != "quic:packet_received"]
    listed.append(
        {"time": 112, "name": "quic:packets_acked", "data": {"packet_number_space": "application_data", "packet_numbers": [0, 2]}}
    )
    assert el.analyze(written(tmp_path, contained(listed, qlog_version="0.4"))).row(0)["delivered_bytes"] == 2080


@pytest.mark.parametrize("value", [None, -5, "many", "", True, [], {}, 10**400, math.nan, math.inf, -math.inf, 1e300, 2**70])
def test_a_value_that_is_no_number_is_unknown(value: Any, tmp_path: Path) -> None:
    damaged = [
        *EVENTS,
        measured(115, latest_rtt=value, congestion_window=value, bytes_in_flight=value, ssthresh=value, pacing_rate=value),
    ]
    damaged.append(measured(value, latest_rtt=1.0) if not (isinstance(value, int) and value == 1) else measured(116))
    trace = el.analyze(written(tmp_path, lines(SEQUENTIAL | {"trace": TRACE}, *damaged)))
    row = trace.row(0)
    assert (row["delivered_bytes"], row["max_rtt_ns"], row["max_inflight_bytes"]) == (3000, 54_000_000, 3120)
    assert trace.span_ns < 10**9


def test_times_that_go_back_count_at_the_time_before(tmp_path: Path) -> None:
    events = copy.deepcopy(EVENTS)
    events[4]["time"] = 3
    trace = el.analyze(written(tmp_path, contained(events, qlog_version="0.4")))
    assert trace.row(0)["delivered_bytes"] == 3000
    assert f"server {GROUP[:8]}: 1 event with an earlier time than the event before: they count at its time" in trace.notes


def test_lines_that_are_damaged_or_cut_off_are_left_out(tmp_path: Path) -> None:
    text = lines(SEQUENTIAL | {"trace": TRACE}, *EVENTS).encode()
    file = tmp_path / "a.sqlog"
    file.write_bytes(text[:600] + b"\xff\xfe garbage\n" + text[600:-30])
    trace = el.analyze(file)
    assert any("damaged or cut off and left out" in note for note in trace.notes)


def test_a_compressed_file_that_is_cut_off_is_read_up_to_there(tmp_path: Path) -> None:
    random_ = random.Random(4)
    noise = [measured(200 + n, latest_rtt=50.0, of_no_use=random_.randbytes(100).hex()) for n in range(20_000)]
    packed = gzip.compress(lines(SEQUENTIAL | {"trace": TRACE}, *EVENTS, *noise).encode())
    file = tmp_path / "a.sqlog.gz"
    file.write_bytes(packed[: len(packed) * 3 // 4])
    trace = el.analyze(file)
    assert trace.row(0)["delivered_bytes"] == 3000
    assert any("the file ends in the middle" in note for note in trace.notes)
    file.write_bytes(packed[:50])
    with pytest.raises(el.InputError) as error:
        el.analyze(file)
    assert "\n" not in str(error.value)


def test_an_object_that_ends_in_the_middle_is_read_up_to_there(tmp_path: Path) -> None:
    text = FORMS["contained"]
    begin = text.index('"events"')
    seen = set()
    for end in range(begin + 400, len(text) - 3, 97):
        trace = el.analyze(written(tmp_path, text[:end]))
        assert any("damaged or cut off at line 1: what is before it is read" in note for note in trace.notes)
        seen.add(trace.row(0)["segs_out"])
    assert seen >= {1, 2, 3, 4}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"qlog_version": "0.4", "traces": []}', "a qlog without an event of QUIC"),
        ('{"qlog_version": "0.4", "traces": 5}', "damaged or cut-off JSON"),
        ('{"qlog_version": "0.4", "traces": [{"events": [7, null, "x"]}]}', "a qlog without an event of QUIC"),
        ('{"qlog_version": "0.4", "traces"', "damaged or cut-off JSON"),
        ("\x1e{damaged\n", "damaged JSON"),
        (
            '{"qlog_version": "draft-01", "traces": [{"event_fields": ["time"], "common_fields": {}, "events": [[1]]}]}',
            "before 0.3",
        ),
        (lines(SEQUENTIAL | {"trace": TRACE}), "a qlog without an event of QUIC"),
        ('{"qlog_version": ' + "[" * 5000, "damaged or cut-off JSON"),
    ],
)
def test_files_without_anything_are_refused_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(el.InputError) as error:
        el.analyze(written(tmp_path, text))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_files_of_two_kinds_are_not_read_together(tmp_path: Path) -> None:
    qlog = written(tmp_path, FORMS["sequence"])
    iperf3 = Path(__file__).parent / "data" / "iperf3.json"
    with pytest.raises(el.InputError, match=r"iperf3\.json: no log of qlog, as .*; files of one analysis are of one kind"):
        el.analyze([qlog, iperf3])
    with pytest.raises(el.InputError, match="a log of iperf3 is read alone"):
        el.analyze([iperf3, iperf3])
    with pytest.raises(el.InputError, match="a log is read whole; a filter and two places are for captures"):
        el.analyze(qlog, port=443)


def test_random_damage_gives_a_trace_or_one_line(tmp_path: Path) -> None:
    random_ = random.Random(9)
    values = (None, -5, "x", "", True, [], {}, [[]], 10**400, math.nan, math.inf, 1e300)

    def places(one: Any) -> list[tuple[Any, Any]]:
        keys = list(one) if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        return [(one, key) for key in keys] + [place for key in keys for place in places(one[key])]

    read, refused = 0, list[str]()
    for _ in range(150):
        result = {"traces": [{**copy.deepcopy(TRACE), "events": copy.deepcopy(EVENTS)}]}
        for _ in range(random_.choice((1, 1, 2, 5))):
            holder, key = random_.choice(places(result))
            holder[key] = random_.choice(values)
        try:
            trace = el.analyze(written(tmp_path, json.dumps({"qlog_version": "0.4"} | result)))
        except el.InputError as error:
            refused.append(str(error))
            continue
        read += 1
        assert answer(trace)
    assert read > 100
    assert not [said for said in refused if "\n" in said]


def test_a_byte_of_a_stream_counts_once() -> None:
    random_ = random.Random(3)
    ranges, there = Ranges(), set[int]()
    for _ in range(2000):
        begin = random_.randrange(300)
        wanted = set(range(begin, begin + random_.randrange(1, 30)))
        assert ranges.add(min(wanted), max(wanted) + 1) == len(wanted - there)
        there = there | wanted if len(there) < 280 else set[int]()
        ranges = ranges if there else Ranges()
