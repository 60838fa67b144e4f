"""Queues and congestion controls beside ns-3, where it is installed: the same bottleneck in both (docs/ns3.md).

A load that does not respond compares the drop rules alone: what is dropped is what the link cannot carry, and the mean queue is
where the discipline drops that much. Of TCP the mean window and the goodput are compared. Tolerances are those of `ns3/courses.py`.
"""

from __future__ import annotations

import pytest
from ns3.compare import available, mean, ours, peer
from ns3.courses import COURSES

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not available(), reason="needs make, g++ and ns-3 (libns3-dev)")]


@pytest.mark.parametrize("name", [name for name, course in COURSES.items() if course.tolerance is not None])
def test_elephan_does_what_ns3_does(name: str) -> None:
    course = COURSES[name]
    assert course.tolerance is not None
    theirs, mine = mean(peer, course), mean(ours, course)
    assert mine.goodput_bps == pytest.approx(theirs.goodput_bps, rel=0.03)
    if course.udp_bps:
        # A queue that still grows hides some of what is dropped.
        assert mine.share == pytest.approx(theirs.share, rel=0.01, abs=2e-4)
        assert mine.queue == pytest.approx(theirs.queue, rel=course.tolerance)
    else:
        assert mine.cwnd == pytest.approx(theirs.cwnd, rel=course.tolerance)
