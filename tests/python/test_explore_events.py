"""What the page says of a run is true of its tables: sentences, reasons, packets."""

import itertools
import re
from pathlib import Path

import elephan as el
import numpy as np
import pytest
from elephan.scenario.source import library
from pages import Failed, Page, array, served

UNITS = {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1.0, "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}


@pytest.fixture(scope="module")
def page():
    with served() as (address, _), Page(address) as page:
        yield page


def opened(page: Page, name: str, **changes: str):
    text = library()[name].path.read_text(encoding="utf-8")
    handle = page.ask("run", text=text, set=changes)[0]["handle"]
    return handle, el.run(name, set=changes)


def quantity(text: str) -> float:
    number, unit = text.split(" ")
    return float(number) * UNITS[unit]


def near(said: str, value: float) -> bool:
    """Whether a number of three digits is this one."""
    return abs(quantity(said) - value) <= 0.005 * value


def test_timeouts_changes_and_ends_are_told(page):
    handle, run = opened(page, "incast", duration="2 s")
    told = page.ask("events", handle=handle, limit=10_000)[0]["value"]
    timeouts = run.events.filter(np.array(run.events["kind"].to_pylist()) == "rto")
    assert sorted(one["at_ns"] for one in told if one["kind"] == "rto") == sorted(timeouts["time_ns"].to_pylist())
    done = {one["flow"]: one for one in told if one["kind"] == "done"}
    for flow in run.flows.to_pylist():
        if flow["fct_ns"] is not None:
            said = re.search(r"was done: (.+) in (.+), ", done[flow["flow"]]["text"])
            assert near(said[1], flow["delivered_bytes"])
            assert near(said[2], flow["fct_ns"])
    handle, run = opened(page, "qcn-hotspot")
    changes = page.ask("events", handle=handle, limit=2)[0]["value"]
    assert {one["kind"] for one in changes} == {"change"}, "what was changed matters most"
    assert changes[0]["text"] == "At 0.02 s the rate of sw → receiver changed to 2 Gb/s."
    # Those of one flow, and fewer of them.
    few = page.ask("events", handle=handle, flow=0, limit=5)[0]
    assert len(few["value"]) == 5 < few["of"]


def test_why_is_the_attribution_of_the_tables(page):
    handle, run = opened(page, "socket-buffer", duration="12 s")
    flow = run.flows["flow"][0].as_py()
    spans = page.ask("why", handle=handle, flow=flow)[0]["value"]
    assert all(a["to_ns"] == b["from_ns"] for a, b in itertools.pairwise(spans))
    samples = [row for row in run.flow_samples.to_pylist() if row["flow"] == flow]
    keys = {"rwin": "snd_lim_time_rwin_ns", "cwnd": "snd_lim_time_cwnd_ns", "snd": "snd_lim_time_snd_ns"}
    group = {"receive window": "rwin", "application": "snd", "send buffer": "snd"}
    for before, row in itertools.pairwise(samples):
        spent = {who: row[key] - before[key] for who, key in keys.items()}
        middle = (before["time_ns"] + row["time_ns"]) / 2
        reason = next(span["reason"] for span in spans if span["from_ns"] <= middle < span["to_ns"])
        if sum(spent.values()) > 0:
            assert spent[group.get(reason, "cwnd")] == max(spent.values()), (reason, spent)
    assert "receive window" in {span["reason"] for span in spans}


def test_packets_are_those_of_the_run(page):
    changes = {"duration": "3 s", "warmup": "0 s"}
    handle, _ = opened(page, "sawtooth", **changes)
    head, body = page.ask("packets", handle=handle, flow=0, from_ns=250_000_000, to_ns=600_000_000, limit=100_000)
    segments = head["segments"]
    seq, end, kind, t = (
        array(body, segments[name], segments["count"], "<u4" if name == "kind" else "<f8") for name in ("seq", "end", "kind", "t")
    )
    assert not head["truncated"]
    assert np.all(np.diff(t) >= 0)
    assert t[0] >= 250e6
    assert t[-1] <= 600e6 + 1
    # Retransmissions of the tables, and of the packets, by kind.
    run = el.run("sawtooth", set={"duration": "600 ms", "warmup": "0 s"})
    first = np.flatnonzero(kind == 0)
    assert np.all(np.diff(end[first]) > 0), "what is sent first goes on in the stream"
    assert np.count_nonzero(kind) == run.flows["segs_retrans"][0].as_py() > 0
    assert np.count_nonzero(kind == head["kinds"].index("fast")) > 0
    acks = head["acks"]
    ack, edge = (array(body, acks[name], acks["count"]) for name in ("ack", "edge"))
    assert np.all(edge >= ack)
    acked = array(body, segments["acked"], segments["count"])
    # A segment is acknowledged at the first ACK beyond its end.
    times = array(body, acks["t"], acks["count"])
    for place in range(0, segments["count"], 50):
        beyond = times[ack >= end[place]]
        assert (beyond.size == 0 and np.isnan(acked[place])) or beyond[0] == acked[place]
    assert head["sacks"]["count"] > 0
    assert np.all(seq >= 0)


def packets(page: Page, handle: int, flow: int, from_ns: int, to_ns: int):
    """Segments, acknowledgements and SACK blocks of an answer as columns, and its kinds as words."""
    head, body = page.ask("packets", handle=handle, flow=flow, from_ns=from_ns, to_ns=to_ns, limit=100_000)
    assert not head["truncated"]
    parts = {}
    for part, names in {
        "segments": ("t", "seq", "end", "acked"),
        "acks": ("t", "ack", "edge"),
        "sacks": ("t", "left", "right"),
    }.items():
        for name in names:
            parts[part, name] = array(body, head[part][name], head[part]["count"])
    kinds = array(body, head["segments"]["kind"], head["segments"]["count"], "<u4")
    return parts, [head["kinds"][kind] for kind in kinds]


def test_packets_of_a_capture_are_those_of_the_run(page, tmp_path):
    changes = {"duration": "4 s", "warmup": "0 s"}
    handle, _ = opened(page, "sawtooth", **changes)
    el.run("sawtooth", set=changes, pcap=True, out=tmp_path / "run", report=False)
    capture = next((tmp_path / "run").rglob("sender*.pcapng"))
    dropped = page.ask("open", name=capture.name, payload=capture.read_bytes())[0]
    assert dropped["packets"] is True
    told, kinds = packets(page, handle, 0, 0, 4_000_000_000)
    seen, seen_kinds = packets(page, dropped["handle"], 0, 0, 4_000_000_000)
    # A connection has its number from its first data on, so that its SYN-ACK is not among the answers.
    assert told["acks", "ack"][0] == 0
    for name in ("t", "ack", "edge"):
        told["acks", name] = told["acks", name][1:]
    # The capture's times count from its first packet, the SYN.
    (begin,) = set(told["segments", "t"] - seen["segments", "t"])
    for part, name in told:
        if name not in ("t", "acked"):
            assert np.array_equal(told[part, name], seen[part, name]), (part, name)
    for part in ("acks", "sacks"):
        assert np.array_equal(told[part, "t"], seen[part, "t"] + begin)
    assert np.array_equal(told["segments", "acked"], seen["segments", "acked"] + begin, equal_nan=True)
    assert seen_kinds == kinds
    assert kinds.count("fast") == el.analyze(capture, report=False).connections["segs_retrans"][0].as_py() > 10
    assert told["sacks", "left"].size > 10
    # An interval has its part of them.
    part, _ = packets(page, dropped["handle"], 0, 300_000_000, 500_000_000)
    inside = (seen["segments", "t"] >= 300e6) & (seen["segments", "t"] <= 500e6)
    assert np.array_equal(part["segments", "seq"], seen["segments", "seq"][inside])
    # At the receiver, segments that fill a hole late are known as retransmissions too.
    at_receiver = next((tmp_path / "run").rglob("receiver*.pcapng"))
    other = page.ask("open", name="receiver.pcapng", payload=at_receiver.read_bytes())[0]
    _, there = packets(page, other["handle"], 0, 0, 4_000_000_000)
    lost = el.analyze(at_receiver, report=False).connections
    assert len(there) - there.count("first") - there.count("late") == lost["segs_retrans"][0].as_py() > 10


def test_a_log_has_no_packets(page):
    log = (Path(__file__).parent / "data/ss.log").read_bytes()
    opened = page.ask("open", name="ss.log", payload=log)[0]
    assert opened["packets"] is False
    with pytest.raises(Failed, match="open the capture itself"):
        page.ask("packets", handle=opened["handle"], flow=0)
