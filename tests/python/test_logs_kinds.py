"""Logs that iperf3 3.12 and ss 6.1 wrote over a link of 20 Mb/s with a queue of 15 kB: both directions, and what is not whole.

The files are in `data`. Each expectation is a number that stands in the file: `end.streams` of a result, the last line of `ss`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.capture.fields import signed
from elephan.report.page.trace_page import answer

DATA = Path(__file__).parent / "data"
CLIENT, SERVER = "10.9.4.1", "10.9.4.2"
UNKNOWN = "the result does not say how many segments the sender retransmitted"


def rows(file: Path) -> list[tuple[Any, ...]]:
    """Source, destination, where it was seen, bytes and retransmissions of each connection."""
    names = ("source", "destination", "vantage", "delivered_bytes", "segs_retrans")
    return [tuple(row[name] for name in names) for row in el.analyze(file).connections.to_pylist()]


def written(tmp_path: Path, result: Any) -> Path:
    file = tmp_path / "r.json"
    file.write_text(result if isinstance(result, str) else json.dumps(result))
    return file


def without(result: Any, *names: str) -> Any:
    """The result without these fields anywhere in its intervals and its end, as earlier versions of iperf3 write it."""
    if isinstance(result, dict):
        kept = {key: one for key, one in result.items() if key not in names or isinstance(one, dict)}
        return {key: without(one, *names) for key, one in kept.items()}
    return [without(one, *names) for one in result] if isinstance(result, list) else result


REVERSE = [(SERVER, CLIENT, "receiver", 7_179_184, 68)]
BIDIR = [(CLIENT, SERVER, "sender", 6_862_072, 365), (SERVER, CLIENT, "receiver", 6_917_096, 100)]
AT_SERVER = [(SERVER, CLIENT, "sender", 7_261_720, 68)]


@pytest.mark.parametrize(
    ("name", "found"), [("iperf3-reverse", REVERSE), ("iperf3-bidir", BIDIR), ("iperf3-server", AT_SERVER)], ids=str
)
def test_each_direction_has_its_ends_and_retransmissions(name: str, found: list[Any], tmp_path: Path) -> None:
    result = json.loads((DATA / f"{name}.json").read_text())
    assert rows(DATA / f"{name}.json") == found
    assert rows(written(tmp_path, without(result, "sender"))) == found


def test_a_direction_is_known_without_any_field_of_one_side(tmp_path: Path) -> None:
    """Before version 3.1 and outside of Linux a sender's interval has bytes alone: then the options say who sends."""
    bare = ("sender", "retransmits", "snd_cwnd", "snd_wnd", "rtt", "rttvar", "pmtu")
    for name, ends in (
        ("iperf3", ("sender", None)),
        ("iperf3-reverse", (SERVER, "receiver")),
        ("iperf3-server", (SERVER, "sender")),
    ):
        result = without(json.loads((DATA / f"{name}.json").read_text()), *bare)
        ((source, _, vantage, _, again),) = rows(written(tmp_path, result))
        assert again is None
        assert vantage == (ends[1] or ends[0])
        assert ends[1] is None or source == ends[0]
    both = rows(written(tmp_path, without(json.loads((DATA / "iperf3-bidir.json").read_text()), *bare)))
    assert [row[:3] for row in both] == [row[:3] for row in BIDIR]


def test_the_sum_says_what_one_sender_retransmitted(tmp_path: Path) -> None:
    result = json.loads((DATA / "iperf3-bidir.json").read_text())
    del result["end"]["streams"]
    assert [row[-1] for row in rows(written(tmp_path, result))] == [365, 100]


def test_what_nobody_says_is_unknown(tmp_path: Path) -> None:
    result = json.loads((DATA / "iperf3-reverse.json").read_text())
    result["end"] = {}
    found = el.analyze(written(tmp_path, result))
    assert found.connections.column("segs_retrans").to_pylist() == [None]
    assert found.notes == [UNKNOWN]
    assert "retransmi" not in " ".join(answer(found))


@pytest.mark.parametrize(
    ("value", "count"),
    [(0, 0), (7, 7), (4294967294, -2), (4294967295, -1), (2**31 - 1, 2**31 - 1), (2**64 - 2, -2), (-2, -2), (2**32, 2**32)],
)
def test_a_count_that_has_wrapped_is_negative(value: int, count: int) -> None:
    """esnet/iperf issues 725 and 79: 4294967294 and 2**32 - 1 for -2 and -1."""
    assert signed(value) == count


@pytest.mark.parametrize(
    ("counts", "end", "found"),
    [
        ([300, 4294967294, 27], None, 325),
        ([300, -2, 27], None, 325),
        ([300, 4294967294, 27], 365, 365),
        ([300, 38, 27], 4294967294, 365),
        ([4294967294, 0, 0], None, None),
        ([4294967295, -1, -1], -1, None),
    ],
)
def test_wrapped_retransmissions(counts: list[int], end: int | None, found: int | None, tmp_path: Path) -> None:
    """A count of an interval is a difference of two totals, so that a sum over all is right where a part is negative."""
    result = json.loads((DATA / "iperf3-bidir.json").read_text())
    for interval, count in zip(result["intervals"], counts, strict=True):
        interval["streams"][0]["retransmits"] = count
    for report in (result["end"]["streams"][0]["sender"], result["end"]["sum_sent"]):
        report["retransmits"] = end
    trace = el.analyze(written(tmp_path, result))
    assert trace.connections.column("segs_retrans").to_pylist() == [found, 100]
    unknown = "the result does not say how many segments the senders of 1 of 2 streams retransmitted"
    said = [f"{unknown} (its counts come to {sum(map(signed, counts))})"] if found is None else []
    assert [note for note in trace.notes if "retransmitted" in note] == said


@pytest.mark.parametrize("no_number", ["nan", "-nan", "NaN", "-nan(ind)", "inf", "-inf", "Infinity", "1.#QNAN", "-1.#IND"])
def test_a_number_that_is_none(no_number: str, tmp_path: Path) -> None:
    """esnet/iperf issues 364 and 613: `"lost_percent": -nan` where no packet came."""
    text = (DATA / "iperf3.json").read_text()
    there = '"bits_per_second":'
    text = text.replace(there, f'"lost_percent":\t{no_number},\n"jitter_ms": {no_number} , {there}').replace(
        '"title":', '"nan": "-nan",'
    )
    assert el.analyze(written(tmp_path, text)).samples == el.analyze(DATA / "iperf3.json").samples


@pytest.mark.parametrize("name", ["iperf3", "iperf3-bidir"])
def test_a_result_that_ends_in_the_middle(name: str, tmp_path: Path) -> None:
    """Whole intervals stay, wherever the text ends; no number is one that the whole result has not."""
    text = (DATA / f"{name}.json").read_text()
    whole = el.analyze(DATA / f"{name}.json").samples.column("data_octets_out").to_pylist()
    first = text.index('"sum"')  # 400 characters later the first interval is whole
    seen = set()
    for end in range(first + 400, len(text) - 2, max((len(text) - first) // 60, 1)):
        trace = el.analyze(written(tmp_path, text[:end]))
        found = trace.samples.column("data_octets_out").to_pylist()
        assert found == whole[: len(found)]
        assert "the result ends in the middle: its last, unfinished interval is left out" in trace.notes
        seen.add(len(found))
    assert max(seen) == len(whole)
    assert len(seen) > 2


def test_results_one_after_another(tmp_path: Path) -> None:
    """As a server that goes on writes them (`iperf3 -s --json > FILE`), here two tests 60 s apart and one that failed."""
    first, second = (json.loads((DATA / "iperf3-server.json").read_text()) for _ in range(2))
    second["start"]["timestamp"]["timesecs"] += 60
    failed = {"start": {"version": "iperf 3.12"}, "intervals": [], "end": {}, "error": "interrupt - the server has terminated"}
    text = "\n".join(json.dumps(one, indent="\t") for one in (first, second, failed))
    found = el.analyze(written(tmp_path, text))
    assert found.connections.column("connection").to_pylist() == [0, 1]
    assert found.connections.column("delivered_bytes").to_pylist() == [7_261_720] * 2
    begins = found.connections.column("start_ns").to_pylist()
    assert begins[1] - begins[0] == 60_000_000_000
    assert "the file has 3 results of iperf3, one after another" in found.notes
    assert "iperf3 reports an error: interrupt - the server has terminated" in found.notes


def test_the_first_interval_after_an_omitted_time(tmp_path: Path) -> None:
    """With `-O 1` iperf3 3.12 gives it 1.0 s, though its bytes came in 0.5 s: 3 145 728 B in each half of a second."""
    result = json.loads((DATA / "iperf3-reverse.json").read_text())
    base = {"socket": 5, "bytes": 3_145_728, "omitted": False, "sender": False}
    result["intervals"] = [
        {"streams": [base | {"start": 0.499996, "end": 0.500082, "seconds": 1.00007796}]},
        {"streams": [base | {"start": 0.500082, "end": 1.000112, "seconds": 0.50002998}]},
    ]
    (row,) = el.analyze(written(tmp_path, result)).connections.to_pylist()
    assert row["start_ns"] == 0
    assert row["goodput_bps"] == pytest.approx(2 * 3_145_728 * 8 / 1.000112)


def test_ss_at_the_receiver() -> None:
    """The data connection has `bytes_acked:38`, its cookie, and at last `bytes_received:4710344`; the control one sent 200 B."""
    trace = el.analyze(DATA / "ss-receiver.log")
    control, data = trace.connections.to_pylist()
    assert (data["source"], data["source_port"], data["destination"], data["destination_port"]) == (SERVER, 15203, CLIENT, 39350)
    assert (data["vantage"], data["delivered_bytes"], data["data_segs_out"]) == ("receiver", 4_710_344, 3253)
    assert data["segs_retrans"] is None
    assert (control["vantage"], control["source"], control["delivered_bytes"]) == ("sender", CLIENT, 201)
    _, delivered = trace.series(1, "delivered_bytes")
    assert delivered.tolist()[:3] == [7240, 1_165_640, 2_357_344]
    said = " ".join(answer(trace))
    assert f"{SERVER} → {CLIENT} delivered 4.71 MB at 18.6 Mb/s" in said
    assert "of the segments retransmitted" not in said
    assert trace.notes == [
        "1 connection was seen at the receiver of the data: ss does not know there what the sender retransmitted"
    ]


LINE = (
    "ESTAB 0 0 10.0.0.1:4000 10.0.0.2:5201\n\t cubic mss:1448 cwnd:10 rtt:20/1 bytes_sent:{sent} bytes_acked:{sent} "
    "bytes_received:{received} segs_out:{segs} segs_in:{segs} minrtt:20\n"
)


def ss(tmp_path: Path, *calls: tuple[int, int, int]) -> el.Trace:
    """A log of calls a second apart: bytes sent, bytes received, segments."""
    file = tmp_path / "ss.log"
    text = [f"{1_700_000_000 + n}\n" + LINE.format(sent=a, received=b, segs=c) for n, (a, b, c) in enumerate(calls)]
    file.write_text("".join(text))
    return el.analyze(file)


def test_data_both_ways_is_told(tmp_path: Path) -> None:
    trace = ss(tmp_path, (0, 0, 1), (4_000_000, 1_000_000, 4000))
    (row,) = trace.connections.to_pylist()
    assert (row["vantage"], row["source"], row["delivered_bytes"]) == ("sender", "10.0.0.1", 4_000_000)
    assert "1 connection has data both ways: the tables have the larger part, and 1 MB are not in them" in trace.notes


def test_a_receiver_whose_counters_begin_anew(tmp_path: Path) -> None:
    trace = ss(tmp_path, (518, 1000, 9), (518, 9_000_000, 9000), (518, 2000, 9001), (518, 5_000_000, 9900))
    assert trace.connections.column("delivered_bytes").to_pylist() == [9_000_000, 5_000_000]
    assert trace.connections.column("vantage").to_pylist() == ["receiver"] * 2
