"""The story of a run: each rule speaks where its thing happened and is silent where it did not; every number is of the tables."""

from __future__ import annotations

import json
import re
import time
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import elephan as el
import pyarrow.compute as pc
import pytest
from elephan import cli
from elephan.report.explain.facts import Facts
from elephan.report.explain.finding import Finding
from elephan.report.explain.rules import RULES, findings, foremost
from elephan.report.figure.draw import mark_numbers
from elephan.report.page import run_page
from elephan.report.words.answer import answer

ROOT = Path(__file__).parents[2]
README = re.search(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
assert README is not None
FIRST = README[1]

PAIR = """
title = "Two"
duration = "6 s"
stack = "rfc"
[template]
kind = "dumbbell"
pairs = 2
rate = "10 Mbps"
delay = "10 ms"
queue = { kind = "fifo", limit = "1 bdp" }
[[traffic]]
name = "a"
from = "sender[0]"
to = "receiver[0]"
kind = "bulk"
[[traffic]]
name = "b"
from = "sender[1]"
to = "receiver[1]"
kind = "bulk"
[record]
every = "10 ms"
"""
# Five switches in a ring, and two flows over each of its links: each buffer waits for the next one.
RING = """
duration = "2 ms"
record = { every = "50 us" }
[hosts.h]
count = 5
[switches.s]
count = 5
memory = "600 KB"
flow_control = { kind = "pfc", priorities = [3], xoff = "30 KB" }
[[links]]
between = ["h", "s"]
rate = "40 Gbps"
delay = "500 ns"
""" + "".join(
    f"""
[[links]]
between = ["s[{i}]", "s[{(i + 1) % 5}]"]
rate = "10 Gbps"
delay = "500 ns"
[[traffic]]
from = "h[{i}]"
to = "h[{(i + 2) % 5}]"
kind = "cbr"
rate = "10 Gbps"
priority = 3
"""
    for i in range(5)
)
# Two hosts overload a switch that pauses when all but 5 kB of its memory are full.
LATE = """
duration = "5 ms"
[hosts.a]
count = 2
[hosts.b]
[switches.s]
memory = "200 kB"
flow_control = { kind = "pause", xoff = "195 kB", xon = "100 kB" }
[[links]]
between = ["a", "s"]
rate = "10 Gbps"
delay = "1 us"
[[links]]
between = ["s", "b"]
rate = "10 Gbps"
delay = "1 us"
[[traffic]]
from = "a"
to = "b"
kind = "cbr"
rate = "9 Gbps"
gaps = "exponential"
"""
# The names of scenarios below: text or library, and what is set.
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "cubic rfc": (FIRST, {"traffic.bulk.congestion_control": "cubic", "stack": "rfc", "duration": "10 s"}),
    "reno rfc": (FIRST, {"stack": "rfc", "duration": "10 s"}),
    "cubic linux": (FIRST, {"traffic.bulk.congestion_control": "cubic", "duration": "10 s"}),
    "small window": (FIRST, {"tcp.receive_window": "40 KB", "duration": "3 s"}),
    "random loss": (FIRST, {"links[1].loss": {"bernoulli": 0.01}, "links[1].queue.limit": "1000 p", "duration": "5 s"}),
    "short queue": (FIRST, {"links[1].queue.limit": "10 p", "duration": "5 s"}),
    "marks": (FIRST, {"links[1].queue": {"kind": "codel", "ecn": True}, "tcp.ecn": "classic", "duration": "5 s"}),
    "reordering": (FIRST, {"links[1].reorder": {"share": 0.02, "extra": "3 ms"}, "tcp.receive_window": "60 KB", "duration": "3 s"}),
    "far and near": (PAIR, {"traffic.b.congestion_control": "bbr"}),
    "alike": (PAIR, {}),
    "change": (FIRST, {"change": [{"at": "2 s", "set": {"links.router->receiver.rate": "10 Mbps"}}], "duration": "4 s"}),
    "incast": ("incast", {}),
    "pauses": ("pause-head-of-line", {}),
    "slow receiver": ("slow-receiver", {}),
    "host queue": ("txqueuelen", {}),
    "disks": ("disk-to-disk", {}),
    "slow uplink": ("all-reduce", {}),
    "ring": (RING, {}),
    "late pause": (LATE, {}),
    "cut off": (FIRST, {"links[1].loss": {"bernoulli": 1.0}, "duration": "20 s"}),
}


@cache
def story(name: str) -> tuple[el.Run, list[Finding]]:
    scenario, changes = RUNS[name]
    run = el.run(scenario, set=changes)
    return run, findings(Facts(run))


def told(name: str, rule: str) -> list[Finding]:
    return [one for one in story(name)[1] if one.rule == rule]


# Each rule with a run where it must speak and one where it must be silent.
CASES = {
    "slow_start_overshoot": ("cubic rfc", "cubic linux"),
    "slow_start_by_delay": ("cubic linux", "cubic rfc"),
    "timeouts": ("cubic rfc", "cubic linux"),
    "losses": ("cubic rfc", "small window"),
    "noticed": ("cubic rfc", "small window"),
    "link_loss": ("random loss", "cubic rfc"),
    "needless": ("reordering", "cubic rfc"),
    "host_queue": ("host queue", "cubic rfc"),
    "host_drops": ("slow receiver", "cubic rfc"),
    "receive_window": ("small window", "cubic rfc"),
    "own_side": ("disks", "cubic rfc"),
    "standing_queue": ("cubic linux", "short queue"),
    "idle_bottleneck": ("short queue", "cubic linux"),
    "unfair_share": ("far and near", "alike"),
    "marks": ("marks", "cubic rfc"),
    "pauses": ("pauses", "cubic rfc"),
    "changes": ("change", "cubic rfc"),
    "copy_limit": ("disks", "cubic rfc"),
    "straggler": ("slow uplink", "cubic rfc"),
    "first_window": ("incast", "cubic rfc"),
    "deadlock": ("ring", "pauses"),
    "short_room": ("late pause", "pauses"),
    "no_connection": ("cut off", "cubic rfc"),
}


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_speaks_where_it_must_and_only_there(rule: str) -> None:
    speaks, silent = CASES[rule]
    assert told(speaks, rule)
    assert not told(silent, rule)


def test_every_rule_has_a_case() -> None:
    assert {rule.__name__ for rule in RULES} == set(CASES)


def test_a_syn_that_was_lost_cut_no_window_and_no_congestion_control_helps() -> None:
    """With every packet of the way there lost there is no connection, so nobody took a loss for congestion. Of the SYNs Linux
    sends one at 0, 1, 2, 3, 4, 5, 7, 11 and 19 s (tcp_syn_linear_timeouts), of which none comes back.
    """
    run, _ = story("cut off")
    (lost,) = told("cut off", "link_loss")
    assert lost.text == "The link router → receiver lost 9 packets on the way (loss in the scenario)."
    assert not lost.help
    (none,) = told("cut off", "no_connection")
    assert none.text == "bulk never connected: no answer to 9 SYNs got through."
    assert none.text in " ".join(answer(run))


def test_a_story_says_nothing_twice(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.status_of(["explain", "pause-head-of-line"]) == 0
    printed = " ".join(capfd.readouterr().out.split())
    for text in (printed, " ".join(el.explain("pause-head-of-line").markdown().split())):
        assert text.count("Congestion at the root right → slow paused 5 ports") == 1


def test_acks_that_a_sender_dropped_are_not_what_it_sent() -> None:
    """Its links lose one packet; the 9 000 that its own backlog refuses are ACKs."""
    run = el.run("sack-processing")
    timeouts = [one for one in el.explain(run).findings if one.rule == "timeouts"]
    assert timeouts
    assert not any("was lost as well" in one.text for one in timeouts)


def test_readmes_first_variation_says_why_cubic_delivers_less() -> None:
    """Hand-made numbers: 50 Mb/s for 20 ms are 125 kB on the way, and the queue holds one of those."""
    run, found = story("cubic rfc")
    (start,) = (one for one in found if one.rule == "slow_start_overshoot")
    events = run.events.to_pylist()
    drops = [row["time_ns"] / 1e9 for row in events if row["kind"] == "drop"]
    assert start.begin_s == pytest.approx(min(drops))
    assert start.end_s is not None
    lost = sum(time <= start.end_s for time in drops)
    assert f"{lost} packets were lost until" in start.text
    assert lost > 600
    assert "the path holds 251 kB: 125 kB on the way and 126 kB in the queue. So it overshot by 2 times the buffer." in start.text
    assert "HyStart is off in stack rfc." in start.text
    # Seven tenths of 484 kB, with headers 1518 bytes for 1448: the reason why Reno, which halves, gets away.
    after = sum(time > 0.166898208 for time in drops if time <= start.end_s)
    assert f"The cut left 355 kB, still more than the path holds: {after} packets were lost after it." in start.text
    assert not any("The cut left" in one.text for one in story("reno rfc")[1])
    assert "try tcp.slow_start=hystart" in start.help
    (waits,) = (one for one in found if one.rule == "timeouts")
    assert waits.text.startswith("bulk waited for its retransmission timer twice (at 1.23 s, 3.23 s).")
    assert sum(row["kind"] == "rto" for row in events) == 2
    # What is advised helps: the same run with HyStart loses less and delivers more.
    better = el.run(FIRST, set={**RUNS["cubic rfc"][1], "tcp.slow_start": "hystart"})
    assert better.summary["drops"] < 0.1 * run.summary["drops"]
    assert better.summary["goodput_bps"] > 1.2 * run.summary["goodput_bps"]


def test_what_differs_between_unequal_flows_is_named() -> None:
    (found,) = told("far and near", "unfair_share")
    rates = story("far and near")[0].flows["goodput_bps"].to_pylist()
    ratio = float(re.search(r"([\d.]+) times as much", found.text)[1])
    assert ratio == pytest.approx(max(rates) / min(rates), rel=0.06)
    assert "bbr beside" in found.text or "beside bbr" in found.text


def test_ports_that_wait_for_each_other_are_named() -> None:
    """The table of pauses has one row for each port of the ring that is never let go again."""
    run, _ = story("ring")
    (found,) = told("ring", "deadlock")
    held = run.pauses.filter(pc.is_null(run.pauses["end_ns"])) if run.pauses["end_ns"].null_count else run.pauses
    ring = {f"s[{i}]->s[{(i + 1) % 5}]" for i in range(5)}
    assert {port.replace(" → ", "->") for port in re.findall(r"s\[\d\] → s\[\d\]", found.text)} == ring
    names = dict(zip(run.ports["port"].to_pylist(), run.ports["name"].to_pylist(), strict=True))
    assert ring <= {names[port] for port in held["port"].to_pylist()}
    assert found.begin_s == run.summary["deadlock"]["since_s"]
    assert found.text.startswith("Deadlock: the paused ports s[")
    # Nothing moves any more: what the last samples have sent is what they had sent when it began.
    late = run.port_samples.filter(pc.greater(run.port_samples["time_ns"], int(found.begin_s * 1e9) + 100_000)).to_pylist()
    sent = {port: {row["tx_packets"] for row in late if names[row["port"]] == port} for port in ring}
    assert all(len(counts) == 1 for counts in sent.values()), sent


MANY = """
duration = "4 s"
stack = "rfc"
[template]
kind = "dumbbell"
pairs = {pairs}
rate = "50 Mbps"
delay = "10 ms"
queue = {{ kind = "fifo", limit = "1 bdp" }}
[[traffic]]
name = "web"
from = "sender"
to = "receiver"
kind = "bulk"
connections = {each}
start = {{ uniform = ["0 s", "500 ms"] }}
[record]
every = "20 ms"
"""


@pytest.mark.parametrize(("pairs", "each"), [(1, 1), (7, 1), (50, 2), (1, 500)])
def test_statements_count_all_flows(pairs: int, each: int) -> None:
    """Hand-made counts from rows of the tables, whatever the number of flows."""
    run = el.run(MANY.format(pairs=pairs, each=each))
    flows, rows = run.flows.num_rows, run.events.to_pylist()
    assert flows == pairs * each
    begin = time.process_time()
    found = el.explain(run)
    assert time.process_time() - begin < 1.5
    timers = [row for row in rows if row["kind"] == "rto"]
    waited = {row["flow"] for row in timers}
    said = [one for one in found.findings if one.rule == "timeouts"]
    assert sum(one.count for one in said) == len(waited)
    if len(waited) > 3:
        (one,) = said
        lead = f"All {flows} flows" if len(waited) == flows else f"{len(waited)} of {flows} flows"
        assert one.text.startswith(f"{lead} waited for their retransmission timer, {plain(len(timers))} times in all")
    (noticed,) = (one for one in found.findings if one.rule == "noticed")
    fast = sum(row["kind"] == "fast_retransmit" for row in rows)
    assert f"{plain(fast)} times because of the ACKs" in noticed.text
    begun = [one for one in found.findings if one.rule in ("slow_start_overshoot", "first_window")]
    assert sum(one.count for one in begun) == ended_in_slow_start(run)
    assert len(found.findings) < 12, "what flows say alike stands once"
    assert len(found.limit_lines()) == (1 if flows > 6 else flows)


def ended_in_slow_start(run: el.Run) -> int:
    """How many flows first retransmitted in slow start, and lost a packet in a queue before."""
    rows, last = run.events.to_pylist(), {}
    first = {row["flow"]: row["time_ns"] for row in reversed(rows) if row["kind"] in ("rto", "fast_retransmit")}
    lost = {row["flow"] for row in rows if row["kind"] == "drop" and row["time_ns"] <= first.get(row["flow"], 0)}
    samples = run.flow_samples.select(["time_ns", "flow", "phase"]).to_pydict()
    for time_ns, flow, phase in zip(*samples.values(), strict=True):
        if time_ns < first.get(flow, 0):
            last[flow] = phase
    return sum(last.get(flow, "handshake") in ("slow_start", "handshake") for flow in lost)


def test_an_answer_says_what_explains_most_and_nothing_twice() -> None:
    """Slow start is told with its time and its losses in one sentence; a run without a reason gets none."""
    run = el.run("sawtooth")
    lines = answer(run)
    drops = [row["time_ns"] for row in run.events.to_pylist() if row["kind"] == "drop"]
    before = sum(time < 0.65e9 for time in drops)  # The recovery ends at 650 ms; Reno fills the queue again at 713 ms.
    shot = f"At 308 ms slow start overflowed the queue of left → right by 2 times the buffer, and {before} packets were lost."
    assert lines[2].startswith(shot)
    for name in ("incast", "rtt-fairness", "link-failure", "bbr-vs-cubic", "slow-start"):
        whole = answer(el.run(name))
        parts = re.split(r"(?<=\.) (?=[A-Z])", " ".join(whole))
        assert len(set(parts)) == len(parts), name
    assert not foremost(Facts(el.run("load-latency")))
    assert not foremost(Facts(el.run("socket-buffer"))), "the answer itself says what limited its flow"


def plain(count: int) -> str:
    """A count with a thin space in thousands."""
    return f"{count:,}".replace(",", "\u202f")


def test_a_first_window_that_fits_into_no_queue_is_no_slow_start() -> None:
    """7 988 segments of 1518 bytes leave at once; the queue holds 500 kB."""
    (first,) = (one for one in el.explain("forbidden-area").findings if one.rule == "first_window")
    rules = {one.rule for one in el.explain("forbidden-area").findings}
    assert "slow_start_overshoot" not in rules
    assert "7\u202f988 segments or 12.1 MB, left at once" in first.text
    assert "initial_window" in first.help


def test_advice_needs_its_reason() -> None:
    """A flow that its receiver limits needs no other congestion control; one with little data did not overshoot."""
    one = el.explain("sack-processing").findings
    assert not any("bbr" in each.help for each in one)
    assert "try bbr" in told("random loss", "link_loss")[0].help
    call = [each for each in el.explain("aqm").findings if each.flow == "call"]
    assert {each.rule for each in call} == {"own_side"}
    assert "the application had nothing to send." in call[0].text
    far = el.explain("long-fat", set={"duration": "10 s", "warmup": "1 s"})
    beside = [each for each in far.findings if each.rule == "unfair_share"]
    assert not beside, "its flows share no port"


def test_a_story_as_text_markdown_and_json(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _, found = story("cubic rfc")
    kept = el.run(FIRST, set=RUNS["cubic rfc"][1], out=tmp_path / "r")
    one = el.explain(kept)
    assert [each.text for each in one.findings] == [each.text for each in found]
    assert str(el.explain(tmp_path / "r")) == str(one)
    assert one.markdown().startswith("# One flow, one bottleneck (seed 1)\n")
    assert "1. **125 ms:** Slow start of bulk" in one.markdown()
    shares = one.limit_lines()
    assert shares[0].startswith("bulk: full link ")
    assert cli.status_of(["explain", str(tmp_path / "r")]) == 0
    text = capfd.readouterr().out
    assert "1. 125 ms: Slow start of bulk" in text
    assert "What would help: The round-trip time rose to" in text
    assert cli.status_of(["explain", str(tmp_path / "r"), "--json"]) == 0
    read = json.loads(capfd.readouterr().out)
    assert [each["number"] for each in read["findings"]] == list(range(1, len(found) + 1))
    spans = read["limits"]["bulk"]
    assert all(a["to_s"] <= b["from_s"] for a, b in pairwise(spans))
    assert cli.status_of(["explain", str(tmp_path / "r"), "--markdown"]) == 0
    assert capfd.readouterr().out == one.markdown()


def test_the_report_has_the_story_and_its_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = story("cubic rfc")[0].report(tmp_path / "report.html").read_text()
    assert ">What happened</h2>" in page
    assert "HyStart is off in stack rfc." in page
    assert page.count("①") == 1, "in the table; in figures it is a shape"
    monkeypatch.setattr(run_page, "marks", lambda story: [])
    assert len(story("cubic rfc")[0].report(tmp_path / "bare.html").read_text()) < len(page)


def test_marks_that_would_touch_stand_side_by_side() -> None:
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    mark_numbers(axes, [(2e9, "①"), (2e9, "②"), (8e9, "③")], 10e9)
    assert [one.get_text() for one in axes.texts] == ["①", "②", "③"]
    first, second, third = (one.xy[0] for one in axes.texts)
    assert first == 2
    assert 2.2 <= second <= 2.3
    assert third == 8


def test_what_is_no_run_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    el.sweep(
        "sawtooth",
        set={"duration": "1 s", "warmup": "1 ms", "template.rate": ["5 Mbps", "6 Mbps"]},
        repetitions=1,
        out=tmp_path / "s",
    )
    assert cli.status_of(["explain", str(tmp_path / "s")]) == 2
    assert capfd.readouterr().err == f"elephan: {tmp_path / 's'}: explain tells the story of a single run, and this is a sweep\n"
    assert cli.status_of(["explain", "sawtoth"]) == 2
    assert "sawtooth" in capfd.readouterr().err
    with pytest.raises(el.InputError, match="are for a scenario that explain runs"):
        el.explain(story("alike")[0], seed=2)


def test_a_run_without_events_and_samples_is_told_by_what_there_is() -> None:
    bare = el.explain(FIRST, set={"record.events": False, "record.flows": False, "record.ports": "none", "duration": "2 s"})
    assert bare.limits == {}
    assert bare.markdown().endswith("\n")


def test_a_queue_of_a_host_is_told_where_there_is_no_switch() -> None:
    """Two hosts on one cable: what waits, waits in the sender."""
    found = el.explain(el.run(DIRECT))
    assert any("The queue of a → b held packets" in finding.text for finding in found.findings)


DIRECT = """
duration = "5 s"
[hosts.a]
[hosts.b]
[[links]]
between = ["a", "b"]
rate = "10 Mbps"
delay = "5 ms"
[[traffic]]
from = "a"
to = "b"
kind = "bulk"
[record]
every = "10 ms"
"""
