"""What `elephan explain` gives as a reason or as advice is true: of settings, links, samples and controls that it might mistake."""

import elephan as el
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
    assert ["smaller would cost no throughput" in one[0] for one in helps] == [True, False, False]


def test_bbr_does_not_slow_down_for_marks() -> None:
    marked = {f"traffic.{name}.tcp.ecn": "classic" for name in "ab"} | {
        f"traffic.{name}.congestion_control": "bbr" for name in "ab"
    }
    story = el.explain(PAIR, set={**marked, "template.queue": {"kind": "codel", "limit": "2 bdp", "ecn": True}})
    (found,) = (one for one in story.findings if one.rule == "marks")
    assert "do not slow down" in found.text
