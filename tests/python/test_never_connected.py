"""What a run says of flows that never connected, began as the run ended, or were cut off: nothing that only a connection shows."""

from __future__ import annotations

import json
from typing import Any

import elephan as el
import pytest
from elephan.report.words.warnings import warnings

DOWN = {"at": "0 s", "set": {"links.left->right.up": False}}


def scenario(*traffic: dict[str, Any], queue: dict[str, Any] | None = None, change: list[dict[str, Any]] | None = None) -> str:
    """Two pairs of hosts at 10 Mb/s and 20 ms; the entries of traffic are `t0` and `t1`."""
    entries = [
        {"name": f"t{i}", "from": f"sender[{i}]", "to": f"receiver[{i}]", "kind": "bulk", **one} for i, one in enumerate(traffic)
    ]
    limit = queue or {"kind": "fifo", "limit": "1 bdp"}
    template = {"kind": "dumbbell", "pairs": 2, "rate": "10 Mbps", "delay": "10 ms", "queue": limit}
    found = {"duration": "10 s", "template": template, "traffic": entries, "record": {"every": "10 ms"}}
    return json.dumps({**found, "change": change} if change else found)


ASKS = {"congestion_control": "dctcp", "tcp": {"ecn": "dctcp"}}
L4S = {"congestion_control": {"kind": "bbr3", "l4s": True}, "tcp": {"ecn": "accurate"}}
MARKING = {"kind": "codel", "ecn": True}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(scenario(ASKS, change=[DOWN]), id="dctcp behind a link that is down"),
        pytest.param(scenario({"congestion_control": "dctcp"}, change=[DOWN]), id="dctcp that asks for nothing"),
        pytest.param(scenario({"congestion_control": "prague"}, L4S, change=[DOWN]), id="prague and bbr3"),
        pytest.param(scenario({"congestion_control": "xcp"}, change=[DOWN]), id="xcp"),
        pytest.param(scenario({}, {}, change=[DOWN]), id="the queue of a link that is down does not overflow"),
        pytest.param(scenario(ASKS, {"start": "9.995 s"}, queue=MARKING), id="began 5 ms before the end, beside marks"),
        pytest.param(scenario({}, {**ASKS, "start": "9.99 s"}), id="began 10 ms before the end, at a full queue"),
        pytest.param(scenario({}, {"size": "1 MB", "start": "9.99 s"}), id="a transfer that began 10 ms before the end"),
    ],
)
def test_no_warning_concludes_from_a_flow_that_never_connected(text: str) -> None:
    assert warnings(el.run(text)) == []


def test_connected_flows_are_warned_of_beside_one_that_never_connected() -> None:
    """The handshake takes one round trip of 20.04 ms: what begins at 9.99 s has no connection at 10 s."""
    alone, both = ({"congestion_control": "dctcp"}, {"congestion_control": "dctcp", "start": "9.99 s"})
    expected = '1 flow of dctcp has no ECN, and without marks dctcp is Reno: say tcp = { ecn = "dctcp" }.'
    assert warnings(el.run(scenario(alone, both))) == [expected]
    plain = el.run(scenario(ASKS, {}, queue=MARKING))
    (line,) = warnings(plain)
    assert line.startswith("1 flow of cubic has no ECN beside flows whose packets left → right marks")


@pytest.mark.parametrize(("controller", "ecn"), [("dctcp", "dctcp"), ("prague", "accurate")])
def test_the_settings_that_a_warning_advises_end_it(controller: str, ecn: str) -> None:
    plain = el.run(scenario({"congestion_control": controller}))
    assert any(f'say tcp = {{ ecn = "{ecn}" }}' in line for line in warnings(plain))
    for changes in ({"traffic.t0.tcp.ecn": ecn}, {"tcp.ecn": ecn}):
        followed = el.run(scenario({"congestion_control": controller}), set=changes)
        assert followed.flows["ecn"].to_pylist() == [True]
        assert not any("has no" in line for line in warnings(followed))


def test_ecn_that_a_lost_syn_gave_up_is_not_asked_for_again() -> None:
    """The first SYN meets a link that is down until 0.5 s; Linux repeats it without ECN (net.ipv4.tcp_ecn_fallback)."""
    up = {"at": "500 ms", "set": {"links.left->right.up": True}}
    run = el.run(scenario(ASKS, change=[DOWN, up]))
    assert run.flows["ecn"].to_pylist() == [False]
    (line,) = warnings(run)
    assert line == "1 flow of dctcp has no ECN, and without marks dctcp is Reno: the SYN that asked for it was lost, or its answer."


def test_a_host_that_asks_for_another_kind_of_ecn_is_told() -> None:
    """Classic ECN tells prague no more than once a window; the hosts say it, and the traffic says nothing."""
    run = el.run(scenario({"congestion_control": "prague"}), set={"tcp.ecn": "classic"})
    assert run.flows["ecn"].to_pylist() == [True]
    assert any("1 flow of prague has no Accurate ECN" in line for line in warnings(run))


def direct(queue: str) -> str:
    """Two hosts on one cable, whose queue is told under a key."""
    link = {"between": ["a", "b"], "rate": "10 Mbps", "delay": "5 ms", queue: {"kind": "fifo", "limit": "20 p"}}
    found = {"hosts": {"a": {}, "b": {}}, "links": [link], "traffic": [{"from": "a", "to": "b", "kind": "bulk"}]}
    return json.dumps({"duration": "2 s", **found})


STEP = {"kind": "dualpi2", "step_thresh": "1 ms"}
SLOW = {"template.rate": "4 Mbps", "traffic.t0.tcp.ecn": "accurate"}


@pytest.mark.parametrize(
    ("text", "line", "followed", "changes"),
    [
        (
            scenario({"congestion_control": "xcp"}),
            'say queue = { kind = "xcp" }',
            scenario({"congestion_control": "xcp"}, queue={"kind": "xcp"}),
            {},
        ),
        (direct("queue"), "say host_queue", direct("host_queue"), {}),
        (
            scenario({"congestion_control": "prague"}, queue=STEP),
            "Raise step_thresh to two frames or more",
            scenario({"congestion_control": "prague"}, queue={**STEP, "step_thresh": "7 ms"}),  # two frames take 6.2 ms
            SLOW,
        ),
        (
            scenario(ASKS, {}, queue=MARKING),
            'Say tcp = { ecn = "classic" } for them',
            scenario(ASKS, {"tcp": {"ecn": "classic"}}, queue=MARKING),
            {},
        ),
        (
            scenario({}, {}),
            'Draw something, as start = { uniform = ["0 s", "100 ms"] }',
            scenario({"start": {"uniform": ["0 s", "100 ms"]}}, {}),
            {},
        ),
    ],
)
def test_what_a_warning_says_to_do_ends_it(text: str, line: str, followed: str, changes: dict[str, Any]) -> None:
    assert any(line in one for one in warnings(el.run(text, set=changes)))
    assert not any(line in one for one in warnings(el.run(followed, set=changes)))
