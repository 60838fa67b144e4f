"""Logs with values that are none: what they are about is unknown and said so, the rest stays as it is in the whole file."""

from __future__ import annotations

import copy
import json
import math
import random
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.report.page.trace_page import answer, page

DATA = Path(__file__).parent / "data"
RESULTS = ("iperf3", "iperf3-bidir", "iperf3-reverse", "iperf3-server")
# What is written where a number should stand; each as Python has it once JSON is read.
NO_NUMBERS = (None, -5, -1.5, "many", "", True, [], {}, 2**64 - 5, 10**400, math.nan, math.inf, -math.inf, 1e300)
CLIENT, SERVER = "10.9.4.1", "10.9.4.2"


def loaded(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text())


def analyzed(tmp_path: Path, result: Any) -> el.Trace:
    file = tmp_path / "r.json"
    file.write_text(result if isinstance(result, str) else json.dumps(result))
    return el.analyze(file)


def streamed(result: Any) -> list[str]:
    events = [{"event": "start", "data": result["start"]}]
    events += [{"event": "interval", "data": interval} for interval in result["intervals"]]
    return [json.dumps(event) for event in [*events, {"event": "end", "data": result["end"]}]]


def is_no_faster_than_its_intervals(trace: el.Trace, most_bps: float) -> None:
    """No rate beyond the fastest interval of the whole file; the mean is no more than the best; a page can be made."""
    for row in trace.connections.to_pylist():
        rates = [
            one["data_octets_out"] * 8e9 / one["span_ns"]
            for one in trace.samples.to_pylist()
            if one["connection"] == row["connection"] and one["span_ns"]
        ]
        assert row["delivered_bytes"] >= 0
        assert all(0 <= rate <= most_bps * 1.001 for rate in rates)
        if row["goodput_bps"] is not None and rates:
            assert 0 <= row["goodput_bps"] <= max(rates) * 1.001
        time, delivered = trace.series(row["connection"], "delivered_bytes")
        steps = [b - a for a, b in pairwise(delivered)]
        assert all(step >= 0 for step in steps)
        # Also across a gap: what was delivered in it is not more than the line carried.
        spans = [b - a for a, b in pairwise(time)]
        assert all(step * 8e9 <= most_bps * 1.1 * span for step, span in zip(steps, spans, strict=True))
    assert answer(trace)
    assert page(trace).sections


# 8 intervals of half a second, 24 491 472 B written, 23 919 512 received in 4.054442 s.
@pytest.mark.parametrize("place", range(8))
def test_a_torn_interval_is_unknown_time(place: int, tmp_path: Path) -> None:
    result = loaded("iperf3")
    lines = streamed(result)
    lines[place + 1] = lines[place + 1][:80]
    trace = analyzed(tmp_path, "\n".join(lines) + "\n")
    kept = [one["streams"][0] for n, one in enumerate(result["intervals"]) if n != place]
    gone = result["intervals"][place]["streams"][0]
    assert trace.samples.column("data_octets_out").to_pylist() == [one["bytes"] for one in kept]
    (row,) = trace.connections.to_pylist()
    assert (row["delivered_bytes"], row["segs_retrans"]) == (23_919_512, 60_220)
    assert row["goodput_bps"] == pytest.approx(23_919_512 * 8 / 4.054442)
    said = [note for note in trace.notes if "is unknown in 1 stretch of time" in note]
    assert len(said) == 1
    until = f"to {gone['end']:.3g} s" if gone["end"] >= 1 else f"to {gone['end'] * 1e3:.3g} ms"
    assert until in said[0]
    # What was written up to the end of each interval: the total says what the torn one had, but for a beginning that is missing.
    sent, total = 0, []
    for n, one in enumerate(result["intervals"]):
        sent += 0 if n == place == 0 else one["streams"][0]["bytes"]
        total += [] if n == place else [sent]
    assert trace.samples.column("sent_bytes").to_pylist() == total
    is_no_faster_than_its_intervals(trace, max(one["streams"][0]["bits_per_second"] for one in result["intervals"]))


def test_without_an_end_nothing_is_known_after_a_gap(tmp_path: Path) -> None:
    result = loaded("iperf3")
    lines = streamed(result)
    trace = analyzed(tmp_path, "\n".join([*lines[:4], lines[4][:70], *lines[5:-1]]) + "\n")
    known = [one["streams"][0] for n, one in enumerate(result["intervals"]) if n != 3]
    assert trace.samples.column("sent_bytes").to_pylist() == [3_763_352, 6_760_712, 10_018_712, None, None, None, None]
    (row,) = trace.connections.to_pylist()
    assert row["delivered_bytes"] == sum(one["bytes"] for one in known)
    assert row["goodput_bps"] == pytest.approx(row["delivered_bytes"] * 8 / sum(one["seconds"] for one in known), rel=1e-4)
    assert row["segs_retrans"] is None
    assert any(note.endswith("what the known intervals have, so at least") for note in trace.notes)


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: str(value)[:9])
@pytest.mark.parametrize("name", ["bytes", "end"])
def test_one_number_of_one_interval(name: str, value: Any, tmp_path: Path) -> None:
    result = loaded("iperf3")
    whole = el.analyze(DATA / "iperf3.json").samples.column("data_octets_out").to_pylist()
    result["intervals"][2]["streams"][0][name] = value
    trace = analyzed(tmp_path, result)
    assert trace.samples.column("data_octets_out").to_pylist() == whole[:2] + whole[3:]
    assert any("what was sent is unknown in 1 stretch of time: 1 s to 1.52 s" in note for note in trace.notes)


@pytest.mark.parametrize("name", RESULTS)
def test_each_number_of_each_record(name: str, tmp_path: Path) -> None:
    """Three fields at a time become something else or go: one clear line, or a trace that invents nothing."""
    whole = loaded(name)
    most = max(stream["bytes"] * 8 / stream["seconds"] for interval in whole["intervals"] for stream in interval["streams"])
    draw = random.Random(name)
    refused = []
    for _ in range(60):
        result = copy.deepcopy(whole)
        for _ in range(3):
            parent, key = draw.choice(list(places(result)))
            if draw.random() < 0.2 and isinstance(parent, dict):
                del parent[key]
            else:
                parent[key] = draw.choice(NO_NUMBERS)
        try:
            trace = analyzed(tmp_path, result)
        except el.InputError as error:
            refused.append(str(error))
            continue
        is_no_faster_than_its_intervals(trace, most)
    assert len(refused) < 10
    assert not any("\n" in why for why in refused)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Gives where each number of a result stands: what holds it, and its key."""
    for key, one in list(value.items() if isinstance(value, dict) else enumerate(value)):
        if isinstance(one, dict | list):
            yield from places(one)
        elif not isinstance(one, str):
            yield value, key


def test_nobody_says_who_sends(tmp_path: Path) -> None:
    """Of -R without any field that tells. The sum of the intervals is 7 179 184 B, what the receiver got; 7 261 720 were sent."""

    def bare(value: Any) -> Any:
        if isinstance(value, list):
            return [bare(one) for one in value]
        gone = ("sender", "reverse", "retransmits")
        kept = (
            {key: one for key, one in value.items() if key not in gone or isinstance(one, dict)} if isinstance(value, dict) else {}
        )
        return {key: bare(one) for key, one in kept.items()} if isinstance(value, dict) else value

    result = bare(loaded("iperf3-reverse"))
    trace = analyzed(tmp_path, result)
    assert [(row["source"], row["vantage"]) for row in trace.connections.to_pylist()] == [(SERVER, "receiver")]
    assert not any("taken for the sender" in note for note in trace.notes)
    result["end"] = {}
    trace = analyzed(tmp_path, result)
    assert trace.connections.column("source").to_pylist() == [CLIENT]
    assert "the result does not say who sent on 1 stream: the client is taken for the sender" in trace.notes


def test_a_result_that_does_not_say_when_it_began(tmp_path: Path) -> None:
    result = loaded("iperf3")
    result["start"]["timestamp"]["timesecs"] = -1
    trace = analyzed(tmp_path, result)
    assert trace.connections.column("delivered_bytes").to_pylist() == [23_919_512]
    assert "a result does not say when it began" in trace.notes


SS = "ESTAB 0 0 10.0.0.1:4000 10.0.0.2:5000\n\t cubic mss:1448 cwnd:10 rtt:1.5/0.1 bytes_acked:{} segs_out:{} unacked:3\n"


@pytest.mark.parametrize(
    "wrong", ["bytes_acked:-7", "bytes_acked:nan", "bytes_acked:", "bytes_acked:1.5", "bytes_acked:" + "9" * 23, "segs_out:x", ""]
)
def test_a_look_of_ss_with_a_damaged_counter(wrong: str, tmp_path: Path) -> None:
    """1 MB a second; without the second look its time is part of the third, not one in which the counters began anew."""
    looks = [SS.format(1_000_000 * n, 700 * n) for n in range(1, 5)]
    name = wrong.partition(":")[0] or "bytes_acked"
    looks[1] = re.sub(rf"{name}:\d+", wrong, looks[1])
    file = tmp_path / "ss.log"
    file.write_text("".join(f"{1_700_000_000 + n}\n{look}" for n, look in enumerate(looks)))
    trace = el.analyze(file)
    (row,) = trace.connections.to_pylist()
    assert (row["delivered_bytes"], row["goodput_bps"]) == (4_000_000, 8_000_000)
    assert trace.samples.column("delivered_bytes").to_pylist() == [1_000_000, 3_000_000, 4_000_000]
    assert trace.samples.column("span_ns").to_pylist() == [0, 2_000_000_000, 1_000_000_000]
    assert trace.notes == ["1 look of ss with a damaged counter or time is left out (line 6)"]


@pytest.mark.parametrize("wrong", ["cwnd:-1", "cwnd:1e9", "rtt:nan/1", "rtt:-2/1", "mss:-1448", "unacked:-3", "mss:"])
def test_what_else_a_look_of_ss_does_not_say(wrong: str, tmp_path: Path) -> None:
    name = wrong.partition(":")[0]
    looks = [SS.format(1_000_000 * n, 700 * n) for n in range(1, 4)]
    looks[1] = re.sub(rf"{name}:\S+", wrong, looks[1])
    file = tmp_path / "ss.log"
    file.write_text("".join(f"{1_700_000_000 + n}\n{look}" for n, look in enumerate(looks)))
    trace = el.analyze(file)
    assert trace.samples.column("delivered_bytes").to_pylist() == [1_000_000, 2_000_000, 3_000_000]
    assert trace.samples.column("cwnd_bytes")[1].as_py() == (None if name in ("cwnd", "mss") else 14_480)
    assert trace.samples.column("rtt_mean_ns")[1].as_py() == (None if name == "rtt" else 1_500_000)
