"""Weights and priorities of traffic: a run says where nothing looks at them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.report.words.regard import TRAITS, ignored, unread
from elephan.report.words.warnings import warnings
from elephan.scenario import core

WEIGHT, PRIORITY = TRAITS
WEIGHTS = """
duration = "1 s"
[template]
kind  = "dumbbell"
pairs = 2
rate  = "10 Mbps"
delay = "5 ms"
[[traffic]]
name   = "heavy"
from   = "sender[0]"
to     = "receiver[0]"
kind   = "bulk"
weight = 3
[[traffic]]
name = "light"
from = "sender[1]"
to   = "receiver[1]"
kind = "bulk"
"""


@pytest.mark.parametrize(
    ("more", "remark"),
    [
        *(({"template.queue": {"kind": kind}}, True) for kind in ("fifo", "sfq", "fq_codel", "prio")),
        *(({"template.queue": {"kind": kind}}, False) for kind in ("fq", "scfq", "drr")),
        ({"template.queue": {"kind": "ets", "classes": [{"priorities": [*range(8)], "queue": {"kind": "drr"}}]}}, False),
        ({"links.right->left.queue": {"kind": "drr"}}, False),  # where its ACKs go
        ({"links[0].host_queue": {"kind": "fq"}}, False),
        ({"traffic.heavy.weight": 1}, False),
    ],
)
def test_a_weight_that_nothing_looks_at_is_said(more: dict[str, Any], remark: bool, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(WEIGHTS, encoding="utf-8")
    said = "heavy has a weight, but no queue on the way looks at it: only those of kind fq, scfq and drr do."
    assert any(said in line for line in warnings(el.run(tmp_path / "s.toml", set=more))) == remark


def test_a_queue_that_is_not_on_the_way_does_not_count(tmp_path: Path) -> None:
    ends = [f"[hosts.{name}]" for name in "abc"]
    links = [
        f'[[links]]\nbetween = ["{name}", "sw"]\nrate = "10 Mbps"\ndelay = "1 ms"\nqueue = {{ kind = "{kind}" }}'
        for name, kind in zip("abc", ("fifo", "fifo", "drr"), strict=True)
    ]
    traffic = [f'[[traffic]]\nname = "to {end}"\nfrom = "a"\nto = "{end}"\nkind = "bulk"\nweight = 2' for end in "bc"]
    file = tmp_path / "star.toml"
    file.write_text("\n".join(['duration = "1 s"', "[switches.sw]", *ends, *links, *traffic]), encoding="utf-8")
    assert ignored(el.run(file), WEIGHT) == ["to b"]


@pytest.mark.parametrize(
    ("more", "remark"),
    [
        *(({"template.queue": {"kind": kind}}, True) for kind in ("fifo", "drr", "fq_codel")),
        *(({"template.queue": {"kind": kind}}, False) for kind in ("prio", "ets", "wrr", "trim")),
        (
            {
                "switches.left.memory": "1 MB",
                "switches.left.flow_control": {"kind": "pfc", "priorities": [3], "xoff": "100 KB", "xon": "50 KB"},
            },
            False,
        ),
        ({"switches.left.memory": "1 MB", "switches.left.flow_control": {"kind": "pause", "xoff": "100 KB", "xon": "50 KB"}}, True),
        ({"traffic.light.priority": 0}, False),
    ],
)
def test_a_priority_that_nothing_looks_at_is_said(more: dict[str, Any], remark: bool, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(WEIGHTS.replace("weight = 3\n", "").rstrip() + "\npriority = 3\n", encoding="utf-8")
    said = "light has a priority, but no queue on the way looks at it: only those of kind prio, ets, wrr and trim do, and PFC."
    assert any(said in line for line in warnings(el.run(tmp_path / "s.toml", set=more))) == remark


SWITCH = """
duration = "20 ms"
[switches.sw]
[hosts.c]
count = 2
[[links]]
between = ["c", "sw"]
rate    = "1 Gbps"
delay   = "5 us"
[[traffic]]
name = "a"
from = "c[0]"
to   = "c[1]"
kind = "bulk"
[congestion_management]
kind   = "qcn"
preset = "seed-2007"
"""


def test_a_parameter_that_no_model_reads_is_said(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(SWITCH, encoding="utf-8")
    said = "{} is without effect: what it means was not found, so the model does not read it."
    of_preset, given = (el.run(file, set=more) for more in ({}, {"congestion_management.efr_max": 5}))
    assert (of_preset.resolved["congestion_management"]["efr_max"], unread(of_preset)) == (1_000_000, [])
    assert said.format("congestion_management.efr_max") in warnings(given)
    assert unread(el.run(file, set={"congestion_management.fbhat": False})) == ["congestion_management.fbhat"]
    key = "delivered_bps.sum"
    assert given.statistic(key) == of_preset.statistic(key) > 0


def test_the_reference_says_which_queues_look_at_weights() -> None:
    of_traffic = re.findall(r"Share of each [^.]*\. Queues of kind ([^.]*) look at it", core.call("schema"))
    assert {tuple(re.findall(r"`(\w+)`", kinds)) for kinds in of_traffic} == {tuple(WEIGHT.queues)}
    of_traffic = re.findall(r"7 is the most urgent\. Queues of kind ([^.]*) look at it, and PFC", core.call("schema"))
    assert {tuple(re.findall(r"`(\w+)`", kinds)) for kinds in of_traffic} == {tuple(PRIORITY.queues)}
