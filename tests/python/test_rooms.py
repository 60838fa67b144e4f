"""Switches that pause too late: the warning and the story say that the room is short, and by how much."""

from __future__ import annotations

import random
import re
from typing import Any

import elephan as el
import pytest
from elephan.report.words.rooms import advice, short_rooms
from elephan.report.words.warnings import warnings
from elephan.scenario import kinds

# Two hosts send 10 Gb/s each to one of 10 Gb/s. Headroom as in docs/models/ports.md: with F = 1518 and W = 1538, a response time of
# 10 quanta (640 B) and 1 us (1250 B) each way D = 1538 + 84 + 2500 + 640 = 4762, A = 4761 - 20 * 4 + 1518 = 6199, and a port
# needs F + A = 7717.
STAR = """
duration = "5 ms"
[hosts.a]
count = 2
[hosts.b]
[switches.s]
memory = "200 kB"
flow_control = {}
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
rate = "10 Gbps"
"""
NEED = 7717  # bytes of a port


def star(control: str, **changes: Any) -> el.Run:
    return el.run(STAR.replace("{}", control), set=changes)


def short(run: el.Run) -> list[str]:
    return [line for line in warnings(run) if "more arrives than there is room for" in line]


def test_need_of_a_port_by_hand() -> None:
    d = 1538 + 84 + 2 * 1250 + 10 * 64
    assert d - 1 - 20 * -(-(d - 1) // 1538) + 1518 + 1518 == NEED


@pytest.mark.parametrize(
    ("control", "needs", "xoff"),
    [
        # Per memory: xoff - 1 and what three ports may still send, of which the receiver's could bring ACKs.
        ('{ kind = "pause", xoff = "195 kB", xon = "100 kB" }', 194_999 + 3 * NEED, 200_000 - 3 * NEED + 1),
        # Per ingress each of the three may have xoff - 1.
        ('{ kind = "pause", per = "ingress", xoff = "99900 B", xon = "50 kB" }', 3 * (99_899 + NEED), 200_000 // 3 - NEED + 1),
    ],
)
def test_pause_that_comes_too_late(control: str, needs: int, xoff: int) -> None:
    run = star(control)
    lost = int(run.statistic("drops.sum"))
    assert lost > 0
    (line,) = short(run)
    assert line.startswith(f"s lost {lost} frame")
    (room,) = kinds.scenario(run.scenario)["short_rooms"]
    assert (room["has_bytes"], room["needs_bytes"], room["xoff_bytes"]) == (200_000, needs, xoff)
    (told,) = (one for one in el.explain(run).findings if one.rule == "short_room")
    assert f"{lost} frame" in told.text
    # What is advised is enough: in both ways nothing is lost, and nothing is said.
    for better in (
        star(control.replace(re.search(r'xoff = "[^"]*"', control)[0], f'xoff = "{room["xoff_bytes"]} B"')),
        star(control, **{"switches.s.memory": f"{room['needs_bytes']} B"}),
    ):
        assert better.statistic("drops.sum") == 0
        assert not short(better)
        assert kinds.scenario(better.scenario)["short_rooms"] == []


def test_headroom_of_pfc_that_is_given_too_small() -> None:
    control = '{ kind = "pfc", priorities = [0], xoff = "60 kB", headroom = "HEAD" }'
    run = star(control.replace("HEAD", "2 kB"))
    assert run.statistic("drops.sum") > 0
    (line,) = short(run)
    assert f'Say headroom = "{NEED} B".' in line
    enough = star(control.replace("HEAD", f"{NEED} B"))
    assert enough.statistic("drops.sum") == 0
    assert not short(enough)


def test_a_room_that_is_enough_says_nothing() -> None:
    assert not short(star('{ kind = "pause", xoff = "100 kB", xon = "50 kB" }'))
    # Short, but nothing was lost: nobody needs to know.
    quiet = star('{ kind = "pause", xoff = "195 kB", xon = "100 kB" }', **{"traffic[0].rate": "1 Gbps"})
    assert kinds.scenario(quiet.scenario)["short_rooms"]
    assert not short(quiet)


def advised(scenario: str, way: dict[str, Any], switch: str = "s") -> el.Run:
    """The scenario with one way of the advice, in which nothing else is changed."""
    at = f"switches.{switch}"
    keys = {"memory_bytes": "memory", "headroom_bytes": "flow_control.headroom"}
    keys |= {"xoff_bytes": "flow_control.xoff", "xon_bytes": "flow_control.xon"}
    changes: dict[str, Any] = {f"{at}.{keys[name]}": f"{way[name]} B" for name in keys if way[name] is not None}
    # Each link of STAR has one number, and the queue of s->b is that of the second.
    for limit in (limit for link, limit in way["queues"] if link == "s->b"):
        changes["links[1].queue"] = {"kind": "fifo", "limit": f"{limit} B"}
    return el.run(scenario, set=changes)


@pytest.mark.parametrize(
    ("control", "memory", "xoff", "xon"),
    [
        # Per egress each of three queues may have xoff - 1 and a frame: 3 (x - 1 + 1518) + 3 (7717) <= 200 000. xon is below.
        ('{ kind = "pause", per = "egress", xoff = "195 kB", xon = "100 kB" }', 3 * (194_999 + 1518) + 3 * NEED, 57_432, 54_396),
        # The lowest way leaves xon as it is: 30 kB are below.
        ('{ kind = "pause", per = "egress", xoff = "195 kB", xon = "30 kB" }', 3 * (194_999 + 1518) + 3 * NEED, 57_432, None),
    ],
)
def test_xon_goes_down_with_xoff(control: str, memory: int, xoff: int, xon: int | None) -> None:
    text = STAR.replace("{}", control)
    (room,) = kinds.scenario(el.run(text, set={"duration": "1 us"}).scenario)["short_rooms"]
    more, less = room["advice"]
    assert more == {"memory_bytes": memory, "headroom_bytes": None, "queues": [], "xoff_bytes": None, "xon_bytes": None}
    assert (less["memory_bytes"], less["xoff_bytes"], less["xon_bytes"]) == (None, xoff, xon)
    for way in room["advice"]:
        assert advised(text, way).statistic("drops.sum") == 0


def test_headroom_that_no_threshold_makes_up_for() -> None:
    """Eight priorities of three ports need 24 times 7717 B, 185 208 of 300 000 B: that is enough, whatever xoff is."""
    control = '{ kind = "pfc", xoff = "60 kB", headroom = "2 kB" }'
    text = STAR.replace("{}", control).replace("200 kB", "300 kB")
    run = el.run(text)
    assert run.statistic("drops.sum") > 0
    (room, *_) = kinds.scenario(run.scenario)["short_rooms"]
    (way,) = room["advice"]
    assert (way["headroom_bytes"], way["memory_bytes"], way["xoff_bytes"]) == (NEED, None, None)
    assert advised(text, way).statistic("drops.sum") == 0
    # With 100 kB the scenario would be refused if only the headroom grew.
    small = text.replace("300 kB", "100 kB").replace("60 kB", "30 kB")
    (way,) = kinds.scenario(el.run(small).scenario)["short_rooms"][0]["advice"]
    assert (way["headroom_bytes"], way["memory_bytes"]) == (NEED, 24 * NEED)
    assert advised(small, way).statistic("drops.sum") == 0


def drawn(draw: random.Random) -> str:
    """A switch that may have too little room of any kind."""
    kind = draw.choice(["pause", "pfc"])
    per = draw.choice(["memory", "egress", "ingress"] if kind == "pause" else ["egress", "ingress"])
    memory = draw.randrange(60_000, 400_000)
    xoff = draw.randrange(10_000, memory)
    words = [f'kind = "{kind}"', f'per = "{per}"', f'xoff = "{xoff} B"']
    if kind == "pause" or draw.random() < 0.5:
        words.append(f'xon = "{draw.randrange(1, xoff)} B"')
    if kind == "pfc":
        priorities = sorted(draw.sample(range(1, 8), draw.randrange(0, 4)))
        words += [f"priorities = {[0, *priorities]}", f'headroom = "{draw.randrange(1, 2500)} B"']
    text = STAR.replace("{}", f"{{ {', '.join(words)} }}").replace("200 kB", f"{memory} B").replace('"5 ms"', '"2 ms"')
    if draw.random() < 0.4:
        limit = draw.randrange(max(xoff, 20_000), memory)
        text = text.replace("[[traffic]]", f'queue = {{ kind = "fifo", limit = "{limit} B" }}\n[[traffic]]')
    return text.replace('delay = "1 us"', f'delay = "{draw.choice(["200 ns", "1 us", "4 us"])}"')


def test_a_switch_changed_as_advised_loses_nothing() -> None:
    draw = random.Random(44)
    ways = 0
    for _ in range(40):
        text = drawn(draw)
        run = el.run(text)
        lost = [room for room, _ in short_rooms(run)]
        for way in lost[0]["advice"] if lost else []:
            ways += 1
            better = advised(text, way)
            assert better.statistic("drops.sum") == 0, (text, way)
            assert kinds.scenario(better.scenario)["short_rooms"] == []
        if lost:
            assert all(
                str(value) in advice(lost[0]) for way in lost[0]["advice"] for value in way.values() if isinstance(value, int)
            )
    assert ways > 20
