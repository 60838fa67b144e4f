"""Switches that pause too late: the warning and the story say that the room is short, and by how much."""

from __future__ import annotations

import re
from typing import Any

import elephan as el
import pytest
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
