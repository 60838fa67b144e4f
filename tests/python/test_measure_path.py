"""Logs of real paths as traces: ping of several systems, iperf3, ss; each log is written here, as those programs write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan import cli
from elephan.base.errors import InputError
from elephan.capture.pathlog import Asked, PathTrace, path_trace


def traced(text: str, folder: Path, **asked: Any) -> PathTrace:
    file = folder / "path.log"
    file.write_text(text, encoding="utf-8")
    return path_trace(file, Asked(**asked))


IPUTILS = """PING gate.example (192.0.2.1) 56(84) bytes of data.
64 bytes from gate.example (192.0.2.1): icmp_seq=1 ttl=57 time=20.0 ms
64 bytes from gate.example (192.0.2.1): icmp_seq=2 ttl=57 time=24.0 ms
64 bytes from gate.example (192.0.2.1): icmp_seq=4 ttl=57 time=30 ms

--- gate.example ping statistics ---
5 packets transmitted, 3 received, 40% packet loss, time 2000ms
rtt min/avg/max/mdev = 20.000/24.666/30.000/4.109 ms
"""
STAMPED = """PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
[1700000000.020000] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=20.0 ms
[1700000000.224000] 64 bytes from 192.0.2.1: icmp_seq=2 ttl=57 time=24.0 ms
no answer yet for icmp_seq=3
[1700000000.630000] 64 bytes from 192.0.2.1: icmp_seq=4 ttl=57 time=30.0 ms
^C
--- 192.0.2.1 ping statistics ---
4 packets transmitted, 3 received, 25% packet loss, time 610ms
"""
BUSYBOX = """PING 192.0.2.1 (192.0.2.1): 56 data bytes
64 bytes from 192.0.2.1: seq=0 ttl=64 time=2.500 ms
64 bytes from 192.0.2.1: seq=1 ttl=64 time=3.500 ms
64 bytes from 192.0.2.1: seq=3 ttl=64 time=4.500 ms

--- 192.0.2.1 ping statistics ---
4 packets transmitted, 3 packets received, 25% packet loss
round-trip min/avg/max = 2.500/3.500/4.500 ms
"""
MACOS = """PING gate.example (192.0.2.1): 56 data bytes
64 bytes from 192.0.2.1: icmp_seq=0 ttl=56 time=11.600 ms
Request timeout for icmp_seq 1
64 bytes from 192.0.2.1: icmp_seq=2 ttl=56 time=13.600 ms
64 bytes from 192.0.2.1: icmp_seq=2 ttl=56 time=900.1 ms (DUP!)

--- gate.example ping statistics ---
3 packets transmitted, 2 packets received, +1 duplicates, 33.3% packet loss
round-trip min/avg/max/stddev = 11.600/12.600/13.600/1.000 ms
"""
APPLE_TIME = """PING 192.0.2.1 (192.0.2.1): 56 data bytes
23:59:59.500000 64 bytes from 192.0.2.1: icmp_seq=0 ttl=56 time=10.0 ms
00:00:00.500000 64 bytes from 192.0.2.1: icmp_seq=1 ttl=56 time=10.0 ms
00:00:01.520000 64 bytes from 192.0.2.1: icmp_seq=2 ttl=56 time=30.0 ms
"""
MACOS_6 = """PING6(56=40+8+8 bytes) 2001:db8::2 --> 2001:db8::1
16 bytes from 2001:db8::1, icmp_seq=0 hlim=57 time=12.0 ms
16 bytes from 2001:db8::1, icmp_seq=1 hlim=57 time=14.0 ms
"""
FREEBSD = """PING 192.0.2.1 (192.0.2.1): 56 data bytes
64 bytes from 192.0.2.1: icmp_seq=1 ttl=56 time=11.0 ms
64 bytes from 192.0.2.1: icmp_seq=0 ttl=56 time=1010.0 ms
--- 192.0.2.1 ping statistics ---
2 packets transmitted, 2 packets received, 0.0% packet loss
"""
WINDOWS = """
Pinging gate.example [192.0.2.1] with 32 bytes of data:
Reply from 192.0.2.1: bytes=32 time=12ms TTL=57
Request timed out.
Reply from 192.0.2.1: bytes=32 time<1ms TTL=57
Reply from 192.0.2.254: Destination host unreachable.

Ping statistics for 192.0.2.1:
    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),
"""
WINDOWS_6 = """Pinging 2001:db8::1 with 32 bytes of data:
Reply from 2001:db8::1: time=8ms
Reply from 2001:db8::1: time=9ms
"""
OLD = """PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
64 bytes from 192.0.2.1: icmp_req=2 ttl=57 time=5.0 ms
From 192.0.2.254 icmp_seq=3 Destination Host Unreachable
64 bytes from 192.0.2.1: icmp_req=4 ttl=57 time=6.0 ms
"""
PART = """64 bytes from 192.0.2.1: icmp_seq=71 ttl=57 time=5.0 ms
64 bytes from 192.0.2.1: icmp_seq=72 ttl=57 time=7.0 ms
64 bytes from 192.0.2.1: icmp_seq=74 ttl=57 time=6.0 ms
"""
FLOOD = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n" + "".join(
    f"64 bytes from 192.0.2.1: icmp_seq={number % 65536} ttl=57 time=5.0 ms\n"
    for number in range(65_530, 65_546)
    if number != 65_540
)


@pytest.mark.parametrize(
    ("text", "delays", "lost", "end"),
    [
        (IPUTILS, {0.0: 10.0, 0.5: 12.0, 1.5: 15.0}, 2 / 5, 2.5),
        (STAMPED, {0.0: 10.0, 0.2: 12.0, 0.6: 15.0}, 1 / 4, 0.8),
        (BUSYBOX, {0.0: 1.25, 1.0: 1.75, 3.0: 2.25}, 1 / 4, 4.0),
        (MACOS, {0.0: 5.8, 2.0: 6.8}, 1 / 3, 3.0),
        (APPLE_TIME, {0.0: 5.0, 2.0: 15.0}, 0.0, 3.0),
        (MACOS_6, {0.0: 6.0, 1.0: 7.0}, 0.0, 2.0),
        (FREEBSD, {0.0: 505.0, 1.0: 5.5}, 0.0, 2.0),
        (WINDOWS, {0.0: 6.0, 2.0: 0.5}, 2 / 4, 4.0),
        (WINDOWS_6, {0.0: 4.0, 1.0: 4.5}, 0.0, 2.0),
        (OLD, {0.0: 2.5, 3.0: 3.0}, 2 / 4, 4.0),
        (PART, {0.0: 2.5, 1.0: 3.5, 3.0: 3.0}, 1 / 4, 4.0),
        (FLOOD, {0.0: 2.5}, 1 / 16, 16.0),
        ("\ufeff" + IPUTILS.replace("\n", "\r\n"), {0.0: 10.0, 0.5: 12.0, 1.5: 15.0}, 2 / 5, 2.5),
    ],
    ids=[
        *("iputils", "stamped", "busybox", "macos", "apple-time", "macos-6", "freebsd", "windows", "windows-6"),
        *("old", "part", "wrapped", "crlf"),
    ],
)
def test_ping_gives_delays_and_losses(text: str, delays: dict[float, float], lost: float, end: float, tmp_path: Path) -> None:
    if text is FLOOD:
        text = text.replace("56(84) bytes of data.", "")
    trace = traced(text, tmp_path, window_s=100.0)
    assert trace.columns == ("delay_ms", "loss")
    # The probe before the first reply is lost where OLD begins: its delay is the first one that is known.
    first = next(iter(delays.values()))
    expected = {0.0: first, **delays} if text is not OLD else {0.0: first, 3.0: delays[3.0]}
    assert {round(time, 6): delay for time, delay, _ in trace.rows} == pytest.approx(expected)
    assert [loss for *_, loss in trace.rows] == pytest.approx([lost] * len(trace.rows))
    assert trace.end_s == pytest.approx(end, abs=0.02)


def test_a_probe_without_its_round_trip_is_lost_in_its_window_alone(tmp_path: Path) -> None:
    """A hundred probes 1 s apart, of which 30 to 34 are lost: half of the window from 30 to 40 s."""
    lines = [f"64 bytes from 192.0.2.1: icmp_seq={number} ttl=57 time=8.0 ms" for number in range(100) if not 30 <= number < 35]
    trace = traced("PING 192.0.2.1 (192.0.2.1): 56 data bytes\n" + "\n".join(lines), tmp_path)
    assert [(time, loss) for time, _, loss in trace.rows] == [(0.0, 0.0), (30.0, 0.5), (40.0, 0.0)]
    assert any("10 probes: its lost share is coarse" in note for note in trace.notes)


def test_the_share_of_a_round_trip_and_the_time_between_probes_are_assumptions_of_the_caller(tmp_path: Path) -> None:
    trace = traced(BUSYBOX, tmp_path, share=0.8, every_s=0.2)
    assert [row[:2] for row in trace.rows] == [pytest.approx(row) for row in [(0.0, 2.0), (0.2, 2.8), (0.6, 3.6)]]
    assert any("0.8 of each round trip" in note for note in trace.notes)


def iperf3(
    rates: list[list[float]],
    *,
    udp: bool = False,
    sender: bool = True,
    rtt: int | None = 40_000,
    reverse: bool = False,
    server: bool = False,
    **more: Any,
) -> dict[str, Any]:
    """Returns a result: for each second the rates in Mb/s of the streams."""
    intervals = []
    for second, row in enumerate(rates):
        streams = []
        for place, rate in enumerate(row):
            one: dict[str, Any] = {"socket": 5 + 2 * place, "start": second, "end": second + 1, "seconds": 1, "omitted": False}
            one |= {"bytes": round(rate * 125_000), "bits_per_second": rate * 1e6, "sender": sender}
            if sender and not udp:
                one |= {"retransmits": 0, "snd_cwnd": 100_000}
                one |= {"rtt": rtt + 1000 * second} if rtt else {}
            if udp and not sender:
                one |= {"jitter_ms": 0.1, "lost_packets": 1, "packets": 100, "lost_percent": 1.0}
            streams.append(one)
        total = {"start": second, "end": second + 1, "seconds": 1, "bytes": sum(one["bytes"] for one in streams), "omitted": False}
        intervals.append({"streams": streams, "sum": total})
    connected = [
        {
            "socket": 5 + 2 * place,
            "local_host": "192.0.2.2",
            "local_port": 40000 + place,
            "remote_host": "192.0.2.1",
            "remote_port": 5201,
        }
        for place in range(len(rates[0]))
    ]
    start: dict[str, Any] = {"connected": connected, "timestamp": {"timesecs": 1_700_000_000}}
    start["test_start"] = {"protocol": "UDP" if udp else "TCP", "num_streams": len(rates[0]), "reverse": int(reverse)}
    start |= {"accepted_connection": {"host": "192.0.2.1", "port": 5201}} if server else {}
    return {"start": start, "intervals": intervals, "end": {}, **more}


ONE = [[8.0], [4.0], [6.0]]
RESULTS: dict[str, tuple[str, list[float], bool]] = {
    "tcp": (json.dumps(iperf3(ONE)), [8, 4, 6], True),
    "two streams": (json.dumps(iperf3([[8, 2], [4, 1], [6, 3]])), [10, 5, 9], True),
    "reverse": (json.dumps(iperf3(ONE, sender=False, reverse=True)), [8, 4, 6], False),
    "server": (json.dumps(iperf3(ONE, sender=False, server=True)), [8, 4, 6], False),
    "udp of the server": (json.dumps(iperf3(ONE, udp=True, sender=False, server=True)), [8, 4, 6], False),
    "without round trips": (json.dumps(iperf3(ONE, rtt=None)), [8, 4, 6], False),
    "indented": (json.dumps(iperf3(ONE), indent="\t"), [8, 4, 6], True),
    "stopped": (json.dumps(iperf3(ONE, error="interrupt - the client has terminated")), [8, 4, 6], True),
    "outage": (json.dumps(iperf3([[8.0], [0.0], [6.0]])), [8, 0, 6], True),
    "stream of events": (
        "\n".join(
            json.dumps(event)
            for event in [
                {"event": "start", "data": iperf3(ONE)["start"]},
                *({"event": "interval", "data": interval} for interval in iperf3(ONE)["intervals"]),
                {"event": "end", "data": {}},
            ]
        ),
        [8, 4, 6],
        True,
    ),
    "with text before it": ("warning: server is busy\n" + json.dumps(iperf3(ONE)), [8, 4, 6], True),
}


@pytest.mark.parametrize("name", RESULTS)
def test_iperf3_gives_rates(name: str, tmp_path: Path) -> None:
    text, rates, delayed = RESULTS[name]
    trace = traced(text, tmp_path)
    assert trace.columns == (("rate_mbps", "delay_ms") if delayed else ("rate_mbps",))
    assert [row[1] for row in trace.rows] == pytest.approx(rates)
    assert [row[0] for row in trace.rows] == pytest.approx([0, 1, 2])
    assert trace.end_s == 3
    if delayed:  # half of the smallest round trip
        assert {row[2] for row in trace.rows} == {20.0}
    assert "lower bound" in trace.notes[0]


def test_an_interval_that_is_missing_keeps_the_rate_before_it(tmp_path: Path) -> None:
    whole = iperf3([[8.0], [4.0], [6.0], [7.0]])
    del whole["intervals"][1]
    trace = traced(json.dumps(whole), tmp_path)
    assert [row[:2] for row in trace.rows] == [(0.0, 8.0), (2.0, 6.0), (3.0, 7.0)]
    assert any("1 interval of the log is missing" in note for note in trace.notes)


def test_each_round_trip_of_a_transfer(tmp_path: Path) -> None:
    trace = traced(json.dumps(iperf3(ONE)), tmp_path, delay="each", share=0.25)
    # At 0 s the first known one, at 1 s the one of the interval that ends there.
    assert [row[2] for row in trace.rows] == [10.0, 10.0, 10.25]
    assert traced(json.dumps(iperf3(ONE)), tmp_path, delay="none").columns == ("rate_mbps",)


def test_both_ways_are_told_apart(tmp_path: Path) -> None:
    both = iperf3([[8.0, 2.0], [4.0, 1.0]])
    for interval in both["intervals"]:
        interval["streams"][1] |= {"sender": False}
        for name in ("retransmits", "snd_cwnd", "rtt"):
            interval["streams"][1].pop(name)
        interval["sum_bidir_reverse"] = interval["sum"]
    assert [row[1] for row in traced(json.dumps(both), tmp_path).rows] == [8.0, 4.0]
    assert [row[1] for row in traced(json.dumps(both), tmp_path, received=True).rows] == [2.0, 1.0]


def ss(looks: list[tuple[str, dict[str, str]]]) -> str:
    """Returns a log: a line with the time of each look, then connections by their ends with their fields."""
    lines = []
    for time, connections in looks:
        lines += [time] if time else []
        lines.append("State Recv-Q Send-Q Local Address:Port Peer Address:Port Process")
        for ends, fields in connections.items():
            lines += [f"ESTAB 0 0 {ends}", f"\t cubic wscale:7,7 rto:204 mss:1448 cwnd:10 {fields}"]
    return "\n".join(lines) + "\n"


FAR = "192.0.2.2:40000 192.0.2.1:5201"
ACKED = [
    "rtt:40.0/1.0 minrtt:39 bytes_acked:1000",
    "rtt:41.0/1.0 minrtt:39 bytes_acked:1001000",
    "rtt:44.0/1.0 minrtt:38 bytes_acked:1501000",
]


def looks(
    fields: list[str] = ACKED, times: tuple[str, ...] = ("1700000000.0", "1700000001.0", "1700000002.0"), ends: str = FAR
) -> list[tuple[str, dict[str, str]]]:
    return [(time, {ends: one}) for time, one in zip(times, fields, strict=True)]


LOOKS: dict[str, tuple[str, list[float], float | None]] = {
    "epoch": (ss(looks()), [8, 4], 19.0),
    "iso": (ss(looks(times=("2026-01-01T00:00:00+00:00", "2026-01-01T00:00:01+00:00", "2026-01-01T00:00:02+00:00"))), [8, 4], 19.0),
    "date": (
        ss(
            looks(
                times=("Thu Jan  1 00:00:00 UTC 2026", "Thu Jan  1 00:00:01 UTC 2026", "Thu Jan  1 00:00:02 UTC 2026"),
            )
        ),
        [8, 4],
        19.0,
    ),
    "milliseconds": (ss(looks(times=("1700000000000", "1700000001000", "1700000002000"))), [8, 4], 19.0),
    "nanoseconds": (ss(looks(times=("1700000000000000000", "1700000001000000000", "1700000002000000000"))), [8, 4], 19.0),
    "without times": (ss(looks(times=("", "", ""))), [8, 4], 19.0),
    "without minrtt": (ss(looks([one.replace("minrtt:39 ", "").replace("minrtt:38 ", "") for one in ACKED])), [8, 4], 20.0),
    "without rtt": (ss(looks([one[one.index("bytes") :] for one in ACKED])), [8, 4], None),
    "received": (ss(looks([one.replace("acked", "received") for one in ACKED])), [8, 4], 19.0),
    "one line each": (ss(looks()).replace("\n\t", " "), [8, 4], 19.0),
    "ipv6": (ss(looks(ends="[2001:db8::2]:40000 [2001:db8::1]:5201")), [8, 4], 19.0),
    "beside ssh": (
        ss([(time, one | {"192.0.2.2:22 192.0.2.9:50000": "rtt:1/1 minrtt:1 bytes_acked:500"}) for time, one in looks()]),
        [8, 4],
        19.0,
    ),
    "two connections": (
        ss([(time, one | {"192.0.2.2:40001 192.0.2.1:5201": one[FAR]}) for time, one in looks()]),
        [16, 8],
        19.0,
    ),
}


@pytest.mark.parametrize("name", LOOKS)
def test_ss_gives_rates(name: str, tmp_path: Path) -> None:
    text, rates, delay = LOOKS[name]
    trace = traced(text, tmp_path)
    assert [row[:2] for row in trace.rows] == [pytest.approx((place, rate)) for place, rate in enumerate(rates)]
    assert trace.end_s == pytest.approx(2)
    assert trace.columns == (("rate_mbps",) if delay is None else ("rate_mbps", "delay_ms"))
    if delay is not None:
        assert {row[2] for row in trace.rows} == {delay}


HEAD = "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n"
REPLY = "64 bytes from 192.0.2.1: icmp_seq={} ttl=56 time={} ms\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "an empty file"),
        ("\n \n", "an empty log"),
        ("hello\n", "no log of iperf3 -J, ss -tin or ping"),
        ("\x00\x01\x02", "no text: a log of iperf3 -J, ss -tin or ping is"),
        (HEAD, "no line of a reply of ping"),
        (HEAD + "Request timeout for icmp_seq 0\n", "no reply to any probe"),
        (HEAD + REPLY.format(0, 5), "one probe gives no trace"),
        (HEAD + REPLY.format(0, 5) + "64 bytes from 192.0.2.1: icmp_seq=1 ttl=56\n", ":3: a reply without its time"),
        (HEAD + REPLY.format(0, 5) + "64 bytes from 192.0.2.1: ttl=56 time=1 ms\n", ":3: a reply without the number"),
        (HEAD + REPLY.format(0, 5) + REPLY.format(1, 9e9), ":3: a round trip of 9e+06 s is longer"),
        (MACOS + "3 packets transmitted, 3 packets received, 0.0% packet loss\n", ":10: a second ping begins before this line"),
        (STAMPED.replace("[1700000000.630000]", "[1690000000.630000]"), ":5: this probe was sent 1e+07 s before the one before it"),
        ("Antwort von 192.0.2.1: Bytes=32 Zeit=12ms TTL=57\n", "no log of iperf3 -J, ss -tin or ping"),
        ("{", "damaged JSON"),
        ('{"start": {}, "intervals": [', "not a result of iperf3 -J"),
        (json.dumps({"error": "unable to connect to server: Connection refused"}), "iperf3 reports an error: unable to connect"),
        (json.dumps(iperf3(ONE, udp=True)), "the sender of UDP counts what it sent"),
        (json.dumps(iperf3([[0.0], [0.0]])), "nothing was delivered"),
        (ss(looks()[:1]), "no two times between which bytes were delivered"),
        (ss(looks([ACKED[0]] * 3)), "nothing was delivered"),
        (ss(looks(times=("2026-13-01T00:00:00", "", ""))), ":1: no time"),
        (ss(looks([one.replace("acked:1", "acked:x") for one in ACKED])), ":4: a counter that is no count"),
        (json.dumps({"qlog_version": "0.3", "traces": []}), "gives no trace of a path"),
    ],
)
def test_what_is_wrong_with_a_log_is_one_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as wrong:
        traced(text, tmp_path)
    assert words in str(wrong.value)
    assert str(wrong.value).startswith(str(tmp_path / "path.log"))
    assert "\n" not in str(wrong.value)


def test_the_command_writes_a_trace_that_a_link_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rate.json").write_text(json.dumps(iperf3([[8.0], [4.0]] * 5)))
    Path("ping.log").write_text(HEAD + "".join(REPLY.format(number, 30) for number in range(10)))
    assert cli.status_of(["measure", "path", "rate.json", "--delay", "none"]) == 0
    assert 'in a scenario: rate = { trace = "rate.csv" }\n' in capsys.readouterr().out
    assert cli.status_of(["measure", "path", "ping.log", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mean_delay_ms"] == pytest.approx(15)
    scenario: dict[str, Any] = {
        "duration": "10 s",
        "hosts": {"a": {}, "b": {}},
        "links": [
            {"between": ["a", "b"], "rate": {"trace": "rate.csv"}, "delay": {"trace": "ping.csv"}, "loss": {"trace": "ping.csv"}}
        ],
        "traffic": [{"name": "t", "from": "a", "to": "b", "kind": "bulk"}],
    }
    run = el.run(scenario, report=False, files_from=tmp_path)
    assert run.statistic("capacity_used.max") == pytest.approx(1, abs=0.1)
    assert run.flows.to_pylist()[0]["min_rtt_ns"] == pytest.approx(30e6, rel=0.2)
    for wrong in (
        ["none.log"],
        ["ping.log", "--share", "0"],
        ["ping.log", "--delay", "most"],
        ["ping.log", "--window", "0 s"],
        ["ping.log", "--every", "soon"],
        ["ping.log", "--out", "ping.log"],
        ["ping.log", "--out", "no/folder.csv"],
        ["rate.json", "--received"],
    ):
        assert cli.status_of(["measure", "path", *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1
