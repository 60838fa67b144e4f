"""Logs of iperf3 and ss as people have them: what the receiver got, streamed events, warnings, names of ports, wrapped lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.report.page.trace_page import answer

DATA = Path(__file__).parent / "data"


def test_what_was_written_is_not_what_was_delivered() -> None:
    """`end.streams[].receiver`: 23 919 512 of 24 491 472 B, in 4.054442 s."""
    found = el.analyze(DATA / "iperf3.json")
    (row,) = found.connections.to_pylist()
    assert row["delivered_bytes"] == 23_919_512
    assert row["goodput_bps"] == pytest.approx(47_196_653.94, rel=1e-6)
    assert found.samples.column("sent_bytes")[-1].as_py() == 24_491_472
    assert found.samples.column("delivered_bytes")[-1].as_py() == 23_919_512
    assert found.notes == ["24.5 MB were written to the sockets and 23.9 MB received: intervals show what was written"]


def test_only_the_sum_of_what_was_received(tmp_path: Path) -> None:
    result = json.loads((DATA / "iperf3.json").read_text())
    del result["end"]["streams"]
    file = tmp_path / "r.json"
    file.write_text(json.dumps(result))
    assert el.analyze(file).connections.column("delivered_bytes")[0].as_py() == 23_919_512
    result["end"] = {}
    file.write_text(json.dumps(result))
    found = el.analyze(file)
    assert found.connections.column("delivered_bytes")[0].as_py() == 24_491_472
    assert "does not say what the receiver got" in found.notes[0]


def udp(sender: bool, lost: int) -> dict[str, Any]:
    interval = {"socket": 5, "start": 0.0, "end": 1.0, "seconds": 1.0, "bytes": 1_000_000, "packets": 1000, "sender": sender}
    total = {"socket": 5, "start": 0.0, "end": 1.0, "seconds": 1.0, "bytes": 1_000_000, "packets": 1000, "lost_packets": lost}
    start = {
        "connected": [{"socket": 5, "local_host": "10.0.0.1", "local_port": 4000, "remote_host": "10.0.0.2", "remote_port": 5201}],
        "timestamp": {"timesecs": 1_700_000_000},
        "test_start": {"protocol": "UDP"},
    }
    return {"start": start, "intervals": [{"streams": [interval]}], "end": {"streams": [{"udp": total | {"sender": sender}}]}}


def test_lost_datagrams_are_not_delivered(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text(json.dumps(udp(True, 250)))
    found = el.analyze(file)
    assert found.connections.column("delivered_bytes")[0].as_py() == 750_000
    assert found.notes == ["the receiver reports 250 of 1000 datagrams lost (25 %)"]


def test_json_stream(tmp_path: Path) -> None:
    result = json.loads((DATA / "iperf3.json").read_text())
    events = [{"event": "start", "data": result["start"]}]
    events += [{"event": "interval", "data": interval} for interval in result["intervals"]]
    events.append({"event": "end", "data": result["end"]})
    file = tmp_path / "r.json"
    file.write_text("\n".join(json.dumps(event) for event in events) + "\n")
    found, whole = el.analyze(file), el.analyze(DATA / "iperf3.json")
    assert found.connections.equals(whole.connections)
    assert found.samples.equals(whole.samples)
    # One that was interrupted has no end, and its last line is torn.
    lines = [json.dumps(event) for event in events]
    for torn in ('{"event": "inter', lines[-3][:-9], lines[-3][:40], "{"):
        file.write_text("\n".join([*lines[:-3], torn]))
        cut = el.analyze(file)
        written = [one["streams"][0]["bytes"] for one in result["intervals"][:-2]]
        assert cut.samples.column("data_octets_out").to_pylist() == written
        assert f"line {len(events) - 2} is damaged and left out" in cut.notes
    # A line in the middle, as two programs write that share a file.
    file.write_text("\n".join([*lines[:3], lines[3][:80], *lines[4:]]) + "\n")
    assert el.analyze(file).samples.num_rows == whole.samples.num_rows - 1
    file.write_text('{"event": "start", "da\n{"event": "inter\n')
    with pytest.raises(el.InputError, match=r"r\.json:1: damaged JSON"):
        el.analyze(file)
    file.write_text("\n".join(json.dumps(event) for event in events[:-1]) + "\n")
    assert "does not say what the receiver got" in el.analyze(file).notes[0]


@pytest.mark.parametrize(
    ("before", "after"), [("warning: Warning: UDP block size 1460 exceeds TCP MSS 1448\n", ""), ("", "\niperf3: done\n")]
)
def test_text_around_a_result(before: str, after: str, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text(before + (DATA / "iperf3.json").read_text() + after)
    assert el.analyze(file).connections.equals(el.analyze(DATA / "iperf3.json").connections)


DETAILS = "cubic wscale:7,7 rto:204 rtt:{rtt}/1 mss:1448 cwnd:10 bytes_sent:{sent} bytes_acked:{sent} segs_out:30 send 11584000bps"


def look(sent: int, head: str = "ESTAB 0 0 10.0.0.1:4000 10.0.0.2:5201", rtt: float = 10) -> str:
    return f"{head}\n\t {DETAILS.format(sent=sent, rtt=rtt)}\n"


def log(times: tuple[str, str], tmp_path: Path, looks: tuple[str, str] | None = None) -> el.Trace:
    file = tmp_path / "ss.log"
    first, second = looks or (look(20_000), look(120_000))
    file.write_text(f"{times[0]}\n{first}{times[1]}\n{second}")
    return el.analyze(file)


def is_right(found: el.Trace, port: int = 5201) -> None:
    """100 000 B in two seconds."""
    (row,) = found.connections.to_pylist()
    assert (row["delivered_bytes"], row["goodput_bps"]) == (120_000, 400_000)
    assert (row["source_port"], row["destination_port"]) == (4000, port)
    assert found.samples.column("cwnd_bytes").to_pylist() == [14_480, 14_480]
    assert found.notes == []


@pytest.mark.parametrize(
    "times",
    [
        ("Wed Nov 25 17:22:08 UTC 2026", "Wed Nov 25 17:22:10 UTC 2026"),
        ("Wed Nov 25 11:59:59 PM CET 2026", "Thu Nov 26 12:00:01 AM CET 2026"),
        ("Wed 25 Nov 2026 05:22:08 PM UTC", "Wed 25 Nov 2026 05:22:10 PM UTC"),
        ("Wed, 25 Nov 2026 17:22:08 +0100", "Wed, 25 Nov 2026 17:22:10 +0100"),
        ("2026-11-25T17:22:08+01:00", "2026-11-25T17:22:10+01:00"),
        ("1795341554.4", "1795341556.4"),
    ],
)
def test_times_of_date(times: tuple[str, str], tmp_path: Path) -> None:
    is_right(log(times, tmp_path))


def test_names_of_ports(tmp_path: Path) -> None:
    head = "ESTAB 0 0 10.0.0.1:4000 10.0.0.2:https"
    is_right(log(("1700000000", "1700000002"), tmp_path, (look(20_000, head), look(120_000, head))), 443)
    odd = "ESTAB 0 0 10.0.0.1:4000 10.0.0.2:no-such-service"
    is_right(log(("1700000000", "1700000002"), tmp_path, (look(20_000, odd), look(120_000, odd))), 0)


@pytest.mark.parametrize("width", [40, 64, 80, 100])
def test_lines_that_a_terminal_has_wrapped(width: int, tmp_path: Path) -> None:
    """Cut after so many columns, in the middle of words and numbers."""

    def wrapped(text: str) -> str:
        return "".join(f"{line[at : at + width]}\n" for line in text.splitlines() for at in range(0, len(line), width))

    is_right(log(("1700000000", "1700000002"), tmp_path, (wrapped(look(20_000)), wrapped(look(120_000)))))


def test_ends_in_lines_of_their_own(tmp_path: Path) -> None:
    head = "ESTAB      0      0              10.0.0.1:4000\n                     10.0.0.2:5201"
    is_right(log(("1700000000", "1700000002"), tmp_path, (look(20_000, head), look(120_000, head))))


def test_a_log_of_ss_knows_the_congestion_window(tmp_path: Path) -> None:
    file = tmp_path / "ss.log"
    file.write_text("".join(f"17000000{i:02}\n{look(1_000_000 * i)}" for i in range(30)))
    page = el.analyze(file).report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "A capture does not see the congestion window" not in page
    assert answer(el.analyze(file))
