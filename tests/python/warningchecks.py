"""The words of every warning of a run, each with the function that computes what it says again from plain rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from elephan.base.quantity import size_bytes
from elephan.scenario import kinds
from elephan.table.steps import shortest_ports
from stories import NUMBER, QUANTITY, Rows, near, value

N, Q = NUMBER, QUANTITY
FLOWS = rf"(?:1 flow|(?P<count>{N}) flows) of (?P<who>[\w ]+?) "
FRAME = 1500 + 38
Check = Callable[[Rows, re.Match[str]], None]


def count(said: re.Match[str]) -> float:
    return value(said["count"] or "1")


def connected(rows: Rows, control: str) -> list[dict[str, Any]]:
    return [row for row in rows.flows.values() if row["congestion_control"] == control and row["established_ns"] is not None]


def without_ecn(rows: Rows, said: re.Match[str]) -> None:
    """As many flows of this control are connected, and none of them less has what it needs: marks that it reads."""
    own = connected(rows, said["who"])
    assert 0 < count(said) <= len(own)
    assert kinds.congestion_control(said["who"])["needs_marks"]
    if "was lost" in said["why"]:
        assert count(said) <= sum(not row["ecn"] for row in own)
    else:
        asked = re.search(r'ecn = "(\w+)"', said["why"])
        assert asked
        assert asked[1] in kinds.congestion_control(said["who"])["needs_marks"]["by"]


def without_router(rows: Rows, said: re.Match[str]) -> None:
    assert count(said) == len(connected(rows, said["who"])) > 0
    queues = [kinds.queue(one) for one in kinds.queues_of(rows.run.resolved["links"])]
    asks = kinds.congestion_control(said["who"])["asks"]
    assert asks not in [one.get("tells") for one in queues]
    assert kinds.queue({"kind": said["queue"]})["tells"] == asks


def between_hosts(rows: Rows, said: re.Match[str]) -> None:
    link = rows.run.resolved["links"][int(said["link"])]
    ends = {str(end).split("[")[0] for end in link["between"]}
    assert ends == {said["one"], said["other"]} <= set(rows.run.resolved["hosts"])
    assert link["queue"]["kind"]


def small_mtu(rows: Rows, said: re.Match[str]) -> None:
    """Packets were dropped for this reason, a link has this MTU, and the MSS that is proposed fits it."""
    assert rows.run.summary["drops_by_reason"]["mtu_exceeded"] > 0
    assert int(said["packet"]) > int(said["mtu"])
    places = [words for link in rows.run.resolved["links"] for words in (link, link.get("forward", {}), link.get("backward", {}))]
    assert int(said["mtu"]) in [size_bytes(words["mtu"]) for words in places if "mtu" in words]
    if said["mss"]:
        assert int(said["mtu"]) - int(said["mss"]) in (40, 60)


def beside_marks(rows: Rows, said: re.Match[str]) -> None:
    """Connected flows without ECN pass a port that marks."""
    named = [rows.ports[name] for name in re.findall(r"\S+ → [^\s,]+", said["ports"])]
    assert named
    assert all(port["marks"] > 0 for port in named)
    marking = {(port["node"], port["peer"]) for port in rows.ports.values() if port["marks"]}
    deaf = [
        row
        for row in rows.flows.values()
        if row["established_ns"] is not None
        and not row["ecn"]
        and row["congestion_control"]
        and marking & set(shortest_ports(rows.run, row["source"], row["destination"]))
    ]
    assert count(said) == len(deaf)
    assert said["who"] == " and ".join(sorted({row["congestion_control"] for row in deaf}))
    assert any(row["ecn"] for row in rows.flows.values())


def slow_steps(rows: Rows, said: re.Match[str]) -> None:
    named = [rows.ports[name] for name in re.findall(r"\S+ → [^\s,]+", said["ports"])]
    assert all(port["marks"] > 0 for port in named)
    near(said["takes"], max(FRAME * 8e9 / port["rate_bps"] for port in named))
    assert value(said["takes"]) > value(said["step"])
    assert any(said["key"] in one for one in queues_with_steps(rows, said["kind"]))


def queues_with_steps(rows: Rows, kind: str) -> list[dict[str, Any]]:
    return [one for one in kinds.queues_of(rows.run.resolved["links"]) if one["kind"] == kind] or [{}]


def pause_never(rows: Rows, said: re.Match[str]) -> None:
    control = rows.run.resolved["switches"][said["switch"]]["flow_control"]
    assert value(said["held"]) < value(said["xoff"])
    assert control["kind"] == "pause"
    sent = [row for row in rows.run.ports.to_pylist() if row["node"].partition("[")[0] == said["switch"]]
    assert sum(row["pauses_sent"] or 0 for row in sent) == 0


def short_room(rows: Rows, said: re.Match[str]) -> None:
    own = [row for row in rows.drops if row["node"] == said["switch"] and row["reason"] in ("memory_full", "queue_full")]
    assert 0 < value(said["lost"]) <= len(own)
    assert abs(value(said["needs"]) - value(said["has"]) - value(said["short"])) <= 1e-3 * value(said["needs"])
    assert re.search(r"\d+ B", said["advice"])


def ignored(rows: Rows, said: re.Match[str]) -> None:
    entries = {entry["name"]: entry for entry in rows.run.resolved["traffic"]}
    for name in re.split(r", | and ", said["who"]):
        assert entries[name][said["key"]]
    reading = {one["kind"] for one in kinds.queues_of(rows.run.resolved) if said["key"] in kinds.queue(one)["reads"]}
    assert not reading or len(entries) > 1
    assert reading <= set(re.split(r", | and ", said["kinds"]))


def phases(rows: Rows, said: re.Match[str]) -> None:
    """Nothing is drawn, the ports named dropped what found their queue full, and two flows or more that sent share each."""
    assert kinds.scenario(rows.run.scenario)["draws"] == []
    full = Counter((row["node"], row["peer"]) for row in rows.drops if row["reason"] == "queue_full")
    sent = [row for row in rows.run.flows.to_pylist() if row["protocol"] != "tcp" or row["established_ns"] is not None]
    for name in re.findall(r"\S+ → [^\s,]+", said["ports"]):
        port = rows.ports[name]
        assert port["drops"] > 0
        assert not rows.events or full[port["node"], port["peer"]] > 0
        ways = [shortest_ports(rows.run, row["source"], row["destination"]) for row in sent]
        assert sum((port["node"], port["peer"]) in way for way in ways) > 1


WARNINGS: dict[str, list[tuple[str, Check]]] = {
    "without_ecn": [
        (rf"{FLOWS}ha(?:s|ve) no (?:Accurate )?ECN, and (?P<why>.+?(?:\}}|was lost, or its answer))\.", without_ecn),
    ],
    "without_router": [
        (
            rf"{FLOWS}pass(?:es)? no queue that tells a rate, and without one (?P=who) is Reno: say "
            r'queue = \{ kind = "(?P<queue>\w+)" \}\.',
            without_router,
        ),
    ],
    "between_hosts": [
        (
            r"links\[(?P<link>\d+)\]\.queue has no effect: it is of switch ports, and (?P<one>\S+) and (?P<other>\S+) are hosts; "
            r"say host_queue\.",
            between_hosts,
        ),
    ],
    "small_mtu": [
        (
            r"(?P<links>.+?) ha(?:s|ve) an MTU of (?P<mtu>\d+) B, and packets of (?P<traffic>.+?) have up to (?P<packet>\d+) B: "
            r"larger packets are dropped\.(?: No sender finds the MTU of a path: "
            r'say tcp = \{ mss = "(?P<mss>\d+) B" \} for (?P=traffic)\.)?',
            small_mtu,
        ),
    ],
    "beside_marks": [
        (
            rf"{FLOWS}ha(?:s|ve) no ECN beside flows whose packets (?P<ports>.+?) marks: where those are marked, packets without "
            r"ECN are dropped or wait, so the shares are no comparison of congestion controls\."
            r'(?: Say tcp = \{ ecn = "classic" \} for them, "accurate" for prague and bbr3 with l4s\.)?',
            beside_marks,
        ),
    ],
    "slow_steps": [
        (
            rf"A full frame takes (?P<takes>{Q}) at (?P<ports>.+?), longer than (?P<key>\w+) of (?P<kind>\w+), (?P<step>{Q}): .+",
            slow_steps,
        ),
    ],
    "pause_never": [
        (
            rf"PAUSE of (?P<switch>\S+) can never fire: .+ (?P<held>{Q}) at most, and xoff is (?P<xoff>{Q})\. .+",
            pause_never,
        ),
    ],
    "short_room": [
        (
            rf"(?P<switch>\S+) lost (?P<lost>{N}) frames? that it should not lose: after it decides .+ needs (?P<needs>{Q}) "
            rf"and has (?P<has>{Q}), (?P<short>{Q}) too little\. (?P<advice>.+)",
            short_room,
        ),
    ],
    "ignored": [
        (
            r"(?P<who>.+?) ha(?:s|ve) a (?P<key>weight|priority), but no queue on the way looks at it: only those of kind "
            r"(?P<kinds>.+?) do(?:, and PFC)?\.",
            ignored,
        ),
    ],
    "phases": [
        (
            r"Nothing in this scenario is drawn at random, and the drop-tail queue of (?P<ports>.+?) overflows\. .+",
            phases,
        ),
    ],
}


def judge(rows: Rows, line: str) -> Counter[str]:
    """Fails if the words of a warning are not known, or what it says is not so in the rows; returns which warnings it is."""
    spoke: Counter[str] = Counter()
    # Several sentences about ECN are one line.
    parts = re.findall(rf"(?:1 flow|{N} flows) of .+?(?=(?: (?:1 flow|{N} flows) of )|$)", line) if "ECN, and" in line else [line]
    for part in parts:
        fits = [
            (name, said, check) for name, all_ in WARNINGS.items() for words, check in all_ if (said := re.fullmatch(words, part))
        ]
        assert len(fits) == 1, (part, [one[0] for one in fits])
        name, said, check = fits[0]
        check(rows, said)
        spoke[name] += 1
    return spoke


def silent(rows: Rows, lines: list[str]) -> None:
    """No warning is missing: of phases and of controls that need marks."""
    text = " ".join(lines)
    needing = {
        control
        for control in {row["congestion_control"] for row in rows.flows.values()}
        if control and kinds.congestion_control(control).get("needs_marks")
    }
    for control in needing:
        own = connected(rows, control)
        if any(not row["ecn"] for row in own):
            assert re.search(rf"of {control} ha(?:s|ve) no (?:Accurate )?ECN, and", text), (control, lines)
    assert all(a != b for a, b in pairwise(lines))
