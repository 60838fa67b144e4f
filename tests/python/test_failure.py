"""What a report says about a link that failed: which flows stood still because of it."""

from __future__ import annotations

import elephan as el
import numpy as np
import pytest
from elephan.report.words.answer import answer
from elephan.report.words.phases import _silences

# Two ways without a link in common; `flow` of y stands still from 500 ms on, when the link of its own fails for good.
TWO_WAYS = """
duration = "2 s"
[hosts.a]
[hosts.b]
[hosts.c]
[hosts.d]
[switches.x]
[switches.y]
[[links]]
between = ["a", "x"]
rate = "100 Mbps"
delay = "1 ms"
[[links]]
between = ["x", "b"]
rate = "10 Mbps"
delay = "1 ms"
queue = { kind = "fifo", limit = "20 p" }
[[links]]
between = ["c", "y"]
rate = "100 Mbps"
delay = "1 ms"
[[links]]
between = ["y", "d"]
rate = "10 Mbps"
delay = "1 ms"
queue = { kind = "fifo", limit = "20 p" }
[[traffic]]
name = "here"
kind = "bulk"
from = "a"
to = "b"
[[traffic]]
name = "elsewhere"
kind = "bulk"
from = "c"
to = "d"
[[change]]
at = "500 ms"
set = { "links.y->d.up" = false }
[[change]]
at = "1 s"
set = { "links.x->b.up" = false }
[[change]]
at = "1.2 s"
set = { "links.x->b.up" = true }
[record]
every = "10 ms"
"""


def test_a_failed_link_is_not_blamed_for_flows_that_go_elsewhere() -> None:
    said = {line.partition(" was")[0]: line for line in answer(el.run(TWO_WAYS)) if " was down" in line}
    assert "1 of 1 flow with a way over it stood still, elsewhere for " in said["y → d"]
    assert "1 of 1 flow with a way over it stood still, here for " in said["x → b"]
    assert "elsewhere" not in said["x → b"]


@pytest.mark.parametrize(
    ("news", "expected"),
    [
        # Something every 10 ms until it fails at 100 ms, and again from 160 ms on.
        ([*range(0, 101, 10), *range(160, 201, 10)], (10, 60)),
        # The last news is 20 ms old, as it may be: its round trip is 30 ms. Counted from the failure on.
        ([0, 30, 60, 80, 160, 200], (30, 60)),
        # Silent since 40 ms, for reasons of its own.
        ([0, 10, 20, 30, 40, 160, 200], (10, 0)),
    ],
)
def test_silences_are_counted_from_the_failure_on(news: list[int], expected: tuple[int, int]) -> None:
    time = np.arange(0, 201, 10.0)
    delivered = np.cumsum(np.isin(time, news)).astype(float)
    assert _silences(time, delivered, 100.0, 150.0, 10.0) == expected
