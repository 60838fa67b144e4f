"""Packets that the network delivers late or twice are not lost, and duplicates of its own say nothing about reductions."""

from __future__ import annotations

from typing import Any

import elephan as el
import pytest


def flow(stack: str, link: dict[str, Any], **tcp: Any) -> dict[str, Any]:
    """The flow of a bulk transfer of 20 s with Reno at 50 Mb/s and 42 ms."""
    near = {"between": ["a", "sw"], "rate": "1 Gbps", "delay": "0 s"}
    far = {"between": ["sw", "b"], "rate": "50 Mbps", "delay": "21 ms", "forward": link}
    scenario = {
        "title": "Late and twice",
        "duration": "20 s",
        "stack": stack,
        "tcp": tcp,
        "hosts": {"a": {}, "b": {}},
        "switches": {"sw": {}},
        "links": [near, far],
        "traffic": [{"name": "bulk", "from": "a", "to": "b", "kind": "bulk", "congestion_control": "reno"}],
    }
    return el.run(scenario).flows.to_pylist()[0]


@pytest.mark.parametrize("stack", ["rfc", "linux", "linux-2.4"])
@pytest.mark.parametrize("undo", ["dsack", "both"])
def test_duplicates_of_the_network_take_no_reduction_back(stack: str, undo: str) -> None:
    """RFC 3708: only a duplicate of what was retransmitted speaks for a needless retransmission; Linux `tcp_dsack_seen`."""
    plain = flow(stack, {"loss": {"periodic": 1000}}, undo=undo)
    twice = flow(stack, {"loss": {"periodic": 1000}, "duplicate": 0.02}, undo=undo)
    assert plain["delivered_bytes"] * 8 / 20 < 15e6
    assert twice["dsack_dups"] > 200
    assert twice["spurious_fr_detected"] == 0
    assert twice["delivered_bytes"] == pytest.approx(plain["delivered_bytes"], rel=0.1)


def test_rack_of_linux_learns_from_packets_that_were_late() -> None:
    """Linux `tcp_try_undo_partial`: the first recovery that proves needless shows reordering, and RACK then waits for a quarter of
    the 42 ms, in which a packet that is 2 ms late arrives. Without it there were 140 fast retransmits in these 20 s."""
    late = flow("linux", {"reorder": {"share": 0.001, "extra": "2 ms"}})
    assert late["fast_retran"] <= 4
    assert late["delivered_bytes"] * 8 / 20 > 46e6
