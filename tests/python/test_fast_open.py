"""Fast Open beside marks and losses."""

import elephan as el
import pytest

MARKED = """
duration = "20 s"
[hosts.a]
[hosts.b]
[switches.s]
[[links]]
between = ["a", "s"]
rate = "1 Gbps"
delay = "1 ms"
[[links]]
between = ["s", "b"]
rate = "20 Mbps"
delay = "10 ms"
loss = { bernoulli = 0.1 }
queue = { kind = "fifo", limit = "100 p", mark_above = "2 p" }
[[traffic]]
kind = "transfers"
from = "a"
to = "b"
size = "200 kB"
arrivals_per_s = 20
fast_open = true
tcp = { fast_open = "both", ecn = "accurate" }
"""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_mark_while_the_data_of_a_syn_are_repaired_begins_a_reduction_of_its_own(seed: int) -> None:
    """The data of a lost SYN are retransmitted without a reduction; a mark then lowers the threshold, and a loss brings the window
    down to it: the reduction was never begun, and divided by a window of 0."""
    run = el.run(MARKED, seed=seed)
    assert run.statistic("marks.sum") > 0
    assert run.statistic("retransmits.sum") > 0
