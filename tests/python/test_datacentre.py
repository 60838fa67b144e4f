"""Published figures of data centres: DCTCP across two bottlenecks, and who pays when only PFC is there."""

from __future__ import annotations

import elephan as el
import pytest

# DCTCP, Alizadeh et al., SIGCOMM 2010, figure 17: S1 (10 hosts) and S3 (10) send to R1, S2 (20) to one of R2 (20) each.
# S1 and S2 share the 10 Gb/s trunk, S1 and S3 the 1 Gb/s port of R1. K is 65 packets at 10 Gb/s and 20 at 1 Gb/s; links
# have 10 us, as in ns-3's example.
_TWO_BOTTLENECKS = """
title    = "DCTCP across two bottlenecks"
stack    = "rfc"
duration = "2 s"
warmup   = "1 s"
[switches]
t1 = {}
t2 = {}
[hosts]
s1 = { count = 10 }
s2 = { count = 20 }
s3 = { count = 10 }
r1 = {}
r2 = { count = 20 }
"""
_EACH_LINK = """
[[links]]
between = ["{}", "{}"]
rate    = "{} Gbps"
delay   = "10 us"
queue   = {{ kind = "fifo", limit = "2 MB", mark_above = "{} p" }}
"""
_EACH_GROUP = """
[[traffic]]
name = "{0}"
from = "{0}"
to   = "{1}"
kind = "bulk"
start = {{ uniform = ["0 s", "100 ms"] }}
congestion_control = "dctcp"
tcp  = {{ ecn = "dctcp", rto_min = "10 ms" }}
"""


_GROUPS = [("s1", "r1"), ("s2", "r2"), ("s3", "r1")]


def two_bottlenecks(seed: int) -> el.Run:
    links = [
        ("s1", "t1", 1, 20),
        ("s2", "t1", 1, 20),
        ("t1", "t2", 10, 65),
        ("s3", "t2", 1, 20),
        ("t2", "r1", 1, 20),
        ("t2", "r2", 1, 20),
    ]
    text = _TWO_BOTTLENECKS + "".join(_EACH_LINK.format(*link) for link in links)
    return el.run(text + "".join(_EACH_GROUP.format(*group) for group in _GROUPS), seed=seed)


@pytest.mark.parametrize("seed", [1, 2])
def test_dctcp_across_two_bottlenecks(seed: int) -> None:
    """A sender of S1, S2 and S3 has 46, 475 and 54 Mb/s: ten of the first and of the last fill 1 Gb/s, and ten of the first
    with twenty of the middle 10 Gb/s, so these are rates on the wire: 1538 bytes for 1448 of TCP with timestamps. The Jain
    index within each group is 0.99."""
    run = two_bottlenecks(seed)
    for (group, _), published in zip(_GROUPS, (46e6, 475e6, 54e6), strict=True):
        rates = [
            rate * 1538 / 1448
            for rate, traffic in zip(run.flows["goodput_bps"].to_pylist(), run.flows["traffic"].to_pylist(), strict=True)
            if traffic == group
        ]
        assert sum(rates) / len(rates) == pytest.approx(published, rel=0.05)
        assert sum(rates) ** 2 / len(rates) / sum(rate**2 for rate in rates) > 0.99
    assert run.statistic("drops.sum") == 0


def test_with_pfc_alone_who_shares_a_port_with_many_gets_little() -> None:
    """The parking lot (Zhu et al., SIGCOMM 2015, figures 3 and 4). The spine's two ports share 40 Gb/s alike, so each of the two
    behind `t3` has 10 Gb/s and each of the four behind `t1` 5, of which 1000 of 1082 bytes count; the bystander, paused with the
    four, has no more though its own way is free. With DCQCN the six have much the same, nobody is paused, and the bystander
    has what they leave of its link."""
    sent = {}
    for controller in ("none", "dcqcn"):
        controllers = {f"traffic.{name}.congestion_control": controller for name in ("to one receiver", "the bystander")}
        run = el.run("dcqcn-victim", set=controllers)
        sent[controller] = dict(zip(run.flows["source"].to_pylist(), run.flows["goodput_bps"].to_pylist(), strict=True))
        assert (run.statistic("pauses_sent.sum") > 0) == (controller == "none")
        assert run.statistic("drops.sum") == 0
    left, right = [f"left[{i}]" for i in range(4)], [f"right[{i}]" for i in range(2)]
    useful = 1000 / 1082
    for hosts, fair in ((left, 5e9), (right, 10e9), (["bystander"], 5e9)):
        for host in hosts:
            assert sent["none"][host] == pytest.approx(fair * useful, rel=0.02)
    shares = [sent["dcqcn"][host] for host in left + right]
    assert max(shares) / min(shares) < 1.5
    assert sum(shares) > 0.9 * 40e9 * useful
    # The four leave 40 - 4 x 40/6 = 13.3 Gb/s of their link.
    assert sent["dcqcn"]["bystander"] == pytest.approx(40e9 / 3 * useful, rel=0.1)
