"""What `elephan explain` gives as a reason or as advice is true: of settings, links, samples and controls that it might mistake."""

import re
from typing import Any

import elephan as el
import pytest
from elephan.report.explain import advice
from elephan.report.words.answer import answer
from test_explain import FIRST, PAIR


def test_settings_that_unequal_flows_do_not_share_are_named() -> None:
    cubic = {"kind": "cubic"}
    unequal = {
        "traffic.a.congestion_control": {**cubic, "beta": 0.3},
        "traffic.b.congestion_control": {**cubic, "beta": 0.95},
    }
    (found,) = (one for one in el.explain(PAIR, set={**unequal, "duration": "30 s"}).findings if one.rule == "unfair_share")
    assert "congestion_control.beta 0.3 beside 0.95" in found.text
    assert "settings" not in found.text


def test_a_window_is_compared_with_a_link_that_its_flow_takes() -> None:
    """Another link, slow and full, is no measure of it."""
    apart = """
title = "Apart"
duration = "5 s"
[template]
kind = "dumbbell"
pairs = 1
rate = "1 Mbps"
delay = "10 ms"
queue = { kind = "fifo", limit = "10 p" }
[hosts.x]
[hosts.y]
[switches.z]
[[links]]
between = ["x", "z"]
rate = "1 Gbps"
delay = "10 ms"
[[links]]
between = ["z", "y"]
rate = "100 Mbps"
delay = "10 ms"
[[traffic]]
name = "slow"
from = "sender"
to = "receiver"
kind = "bulk"
[[traffic]]
name = "win"
from = "x"
to = "y"
kind = "bulk"
tcp = { receive_window = "64 KiB" }
[record]
every = "10 ms"
"""
    (found,) = (one for one in el.explain(apart).findings if one.rule == "receive_window")
    assert "of z → y" in found.help


def test_a_shorter_queue_is_advised_only_where_the_samples_show_it() -> None:
    """At 10 s a sample no least queue is seen; a receiver's window that fits would not fit into a shorter one."""
    advised = {"links[1].queue.limit": "1 bdp", "traffic.bulk.congestion_control": "cubic"}
    seldom = {**advised, "record.every": "10 s"}
    held = {**advised, "traffic.bulk.tcp.receive_window": "230 kB", "warmup": "5 s"}
    helps = [
        [one.help for one in el.explain(FIRST, set=changes).findings if one.rule == "standing_queue"]
        for changes in (advised, seldom, held)
    ]
    assert [len(one) for one in helps] == [1, 1, 1]
    assert ["as much smaller. Simulated with a limit of 80.5 kB: " in one[0] for one in helps] == [True, False, False]
    assert "all flows together deliver 47 Mb/s as before." in helps[0][0]


def test_bbr_does_not_slow_down_for_marks() -> None:
    marked = {f"traffic.{name}.tcp.ecn": "classic" for name in "ab"} | {
        f"traffic.{name}.congestion_control": "bbr" for name in "ab"
    }
    story = el.explain(PAIR, set={**marked, "template.queue": {"kind": "codel", "limit": "2 bdp", "ecn": True}})
    (found,) = (one for one in story.findings if one.rule == "marks")
    assert "do not slow down" in found.text


@pytest.mark.parametrize(
    ("control", "queue", "cuts"),
    [
        # Nothing tells it a rate: it is Reno, and halves its window (RFC 5681 equation 4).
        ("explicit_rate", {"kind": "fifo", "limit": "2 bdp"}, True),
        ("explicit_rate", {"kind": "fq", "limit": "2 bdp"}, False),
        ({"kind": "explicit_rate", "window_rtts": 2.0}, {"kind": "fifo", "limit": "2 bdp"}, True),
        ("reno", {"kind": "fq", "limit": "2 bdp"}, True),
        ("bbr", {"kind": "fifo", "limit": "2 bdp"}, False),
    ],
)
def test_who_asks_routers_is_reno_where_none_tells(control: Any, queue: dict[str, str], cuts: bool) -> None:
    lossy = {"links[1].loss": {"bernoulli": 0.01}, "links[1].queue": queue, "duration": "5 s"}
    story = el.explain(FIRST, set={**lossy, "traffic.bulk.congestion_control": control})
    (found,) = (one for one in story.findings if one.rule == "link_loss")
    assert ("took that for congestion" in found.text) == cuts


@pytest.mark.parametrize(("l4s", "slow_down"), [(True, True), (False, False)])
def test_parameters_say_who_minds_marks(l4s: bool, slow_down: bool) -> None:
    """BBRv3 answers marks of L4S with `l4s` alone."""
    marked = {f"traffic.{name}.tcp.ecn": "accurate" for name in "ab"} | {
        f"traffic.{name}.congestion_control": {"kind": "bbr3", "l4s": l4s} for name in "ab"
    }
    story = el.explain(PAIR, set={**marked, "template.queue": {"kind": "codel", "limit": "2 bdp", "ecn": True}})
    (found,) = (one for one in story.findings if one.rule == "marks")
    assert ("do not slow down" in found.text) != slow_down


OUTAGE = """
title = "Outage"
duration = "20 s"
[template]
kind = "dumbbell"
pairs = 1
rate = "20 Mbps"
delay = "{delay}"
queue = {{ kind = "fifo", limit = "1 bdp" }}
[[traffic]]
name = "bulk"
from = "sender"
to = "receiver"
kind = "bulk"
congestion_control = "reno"
[[change]]
at = "4 s"
set = {{ "links.left->right.up" = false }}
[[change]]
at = "6 s"
set = {{ "links.left->right.up" = true }}
[record]
every = "10 ms"
"""


@pytest.mark.parametrize("delay", ["10 ms", "20 ms"])
def test_what_an_outage_lost_was_no_delay(delay: str) -> None:
    """F-RTO undid the timeout's cut, since the head of the window had arrived and only its ACK was lost; all else was lost."""
    run = el.run(OUTAGE.format(delay=delay))
    assert run.flows["spurious_rto_detected"].to_pylist() == [1]
    text = " ".join(one.text for one in el.explain(run).findings)
    assert "were lost because a link was down" in text
    assert "took a delay for a loss" not in text
    assert "bulk undid a cut of the window once: ACKs showed that what was retransmitted first had arrived" in text


def test_what_was_only_late_is_called_a_delay() -> None:
    """Packets overtake each other by 3 ms on a queue that drops nothing."""
    late = {"links[1].reorder": {"share": 0.02, "extra": "3 ms"}, "tcp.receive_window": "60 KB", "duration": "3 s"}
    run = el.run(FIRST, set=late)
    assert run.summary["drops"] == 0
    (found,) = (one for one in el.explain(run).findings if one.rule == "needless")
    assert "took a delay for a loss" in found.text or "although nothing was lost" in found.text


def test_drops_of_an_outage_have_one_share() -> None:
    """What was on the way as the link went down came and left; the share of the port counts what it dropped."""
    run = el.run(OUTAGE.format(delay="10 ms"))
    row = next(row for row in run.ports.to_pylist() if row["name"] == "left->right")
    down = sum(one["reason"] == "link_down" and one["port"] == row["port"] for one in run.events.to_pylist())
    full = sum(one["reason"] == "queue_full" for one in run.events.to_pylist())
    assert row["drops"] == full + down - row["lost"]
    (found,) = (one for one in el.explain(run).findings if one.rule == "losses" and one.port == "left → right")
    assert f"dropped {row['drops']} packets" in found.text
    assert f"{full} because its queue was full and {down - row['lost']} because the link was down" in found.text
    assert f"The link lost {row['lost']} more that were on the way as it went down." in found.text


def test_an_advice_that_does_not_help_is_not_given() -> None:
    """A timer of 50 ms rings sooner in an outage of 2 s, but the pause ends when a retransmission meets the link up again."""
    run = el.run(OUTAGE.format(delay="10 ms"))
    (found,) = (one for one in el.explain(run).findings if one.rule == "timeouts")
    assert found.trial is not None
    tried = el.run(OUTAGE.format(delay="10 ms"), set=dict(found.trial.changes))
    stalls = [one.flows["stall_max_ns"].to_pylist()[0] for one in (run, tried)]
    rates = [one.flows["goodput_bps"].to_pylist()[0] for one in (run, tried)]
    helps = stalls[1] < 0.98 * stalls[0] and rates[1] >= 0.995 * rates[0]
    assert bool(found.help) == helps


def test_an_advice_has_what_it_brings_or_is_called_a_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    """HyStart leaves slow start before the queue of this flow overflows; a run of more events than are allowed is not tried."""
    flow = {"traffic.bulk.congestion_control": "cubic", "stack": "rfc", "duration": "10 s"}
    (start,) = (one for one in el.explain(FIRST, set=flow).findings if one.rule == "slow_start_overshoot")
    better = el.run(FIRST, set={**flow, "tcp.slow_start": "hystart"})
    before = el.run(FIRST, set=flow)
    counts = " instead of ".join(f"{one.summary['drops']:,}".replace(",", "\u202f") for one in (better, before))
    assert f"Simulated with tcp.slow_start = hystart: the number of dropped packets is {counts}" in start.help
    assert start.simulated
    monkeypatch.setattr(advice, "EVENTS_MAX", before.summary["events"] - 1)
    (guess,) = (one for one in el.explain(before).findings if one.rule == "slow_start_overshoot")
    assert guess.help.endswith("try tcp.slow_start=hystart. This is a guess: its run is too long to try that here.")
    assert not guess.simulated


def test_the_advice_for_a_first_window_fits_and_helps() -> None:
    """The queue holds 500 kB, 329 frames of 1518 bytes; a first window of 10 segments would deliver a tenth of what 7 988 do."""
    (first,) = (one for one in el.explain("forbidden-area").findings if one.rule == "first_window")
    assert "try tcp.initial_window=329" in first.help
    assert first.simulated


@pytest.mark.parametrize("every", ["25 s", "5 s", "1 s"])
def test_samples_that_are_far_apart_tell_no_times(every: str) -> None:
    """Recorded finely, this flow stands still for 3.5 s, and has repaired its first losses by 270 ms."""
    run = el.run(OUTAGE.format(delay="10 ms"), set={"record.every": every})
    text = " ".join([*answer(run), *(one.text for one in el.explain(run).findings)])
    assert "were lost before that was noticed at 141 ms" in text
    assert "lost until" not in text
    assert "startup took" not in text
    if every == "5 s":
        assert "is not known" in text
        assert not re.search(r"stood still, |while down \(", text)
