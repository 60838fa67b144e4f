"""What the page says of the library and of random scenarios, computed again from rows."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import elephan as el
import eventchecks
import numpy as np
import pytest
import whychecks
from desk import Desk
from drawn import scenario
from elephan import _core
from elephan.explore.told import told
from elephan.scenario.source import library
from stories import Rows

SLOW = {"long-fat", "tcp-background"}
SLOW_ALONE = {"short-flows", "shared-switch", "dcqcn-victim"}  # a second each
RANDOM = 15  # of the fast suite
ALL = 200
FLOWS = 3  # of a scenario whose reasons are computed again
SEEN: Counter[str] = Counter()


class Opened:
    """A scenario that the page has run, and the same run as rows."""

    def __init__(self, name: str | int) -> None:
        self.desk = Desk()
        self.text = library()[name].path.read_text(encoding="utf-8") if isinstance(name, str) else json.dumps(scenario(name))
        seed = {} if isinstance(name, str) else {"seed": name}
        self.head = self.desk.ask("run", text=self.text, **seed)[0]
        self.handle = self.head["handle"]
        self.run = el.run(self.text, **seed)
        self.seed = self.run.seed
        self.rows = Rows(self.run)
        self.flows = self.value("flows")

    def value(self, method: str, **params: Any) -> Any:
        return self.desk.ask(method, handle=self.handle, **params)[0]["value"]


def judge(name: str | int) -> None:
    page = Opened(name)
    assert page.head["summary"] == page.run.summary
    names(page)
    ports(page)
    events(page)
    reasons(page)
    totals(page)
    chance(page)
    SEEN["scenarios"] += 1


CASES = [pytest.param(one, marks=pytest.mark.slow if one in SLOW | SLOW_ALONE else ()) for one in sorted(library())]


@pytest.mark.parametrize("name", CASES)
def test_what_the_page_says_of_the_library_is_in_its_rows(name: str) -> None:
    judge(name)


@pytest.mark.parametrize("seed", [pytest.param(one, marks=pytest.mark.slow if one >= RANDOM else ()) for one in range(ALL)])
def test_what_the_page_says_of_random_scenarios_is_in_their_rows(seed: int) -> None:
    judge(seed)


def test_every_kind_of_event_was_told() -> None:
    """So that the checks above have something to check."""
    if SEEN["scenarios"] < RANDOM:
        pytest.skip("the tests above did not run here")
    others = {"deadlock", "watchdog", "give_up", "duplicate", "reorder", "cnp"}  # of other networks, and of slow ones
    assert set(eventchecks.SENTENCES) - others <= set(SEEN)


FIGURES = ("traffic", "source", "destination", "protocol", "congestion_control", "goodput_bps", "start_ns", "delivered_bytes")


def names(page: Opened) -> None:
    """A legend names each flow once, after a congestion control only if it has it, and has the figures of its row."""
    rows = page.run.flows.to_pylist()
    assert [flow["id"] for flow in page.flows] == [row["flow"] for row in rows]
    assert len({flow["name"] for flow in page.flows}) == len(rows)
    assert {flow["id"]: flow["name"] for flow in page.flows} == page.rows.names
    controls = {name for name, _ in _core.listing("congestion-controls")}
    of_entry = Counter(flow["traffic"] for flow in page.flows)
    for flow, row in zip(page.flows, rows, strict=True):
        for key in FIGURES:
            assert flow[key] == row[key], (key, flow)
        if (entry := flow["entry"].lower()) in controls and row["congestion_control"] in controls:
            own = {one["congestion_control"] for one in rows if one["traffic"] == row["traffic"]}
            assert entry == row["congestion_control"] or len(own) > 1
        assert of_entry[flow["traffic"]] > 1 or flow["name"] == flow["entry"]
        SEEN["names"] += 1


def ports(page: Opened) -> None:
    """The network picture knows the load of each port that has samples, calls others unknown, and draws values of rows."""
    rows = {row["port"]: row for row in page.run.ports.to_pylist()}
    sampled: dict[int, list[dict[str, Any]]] = {}
    for row in page.run.port_samples.to_pylist():
        sampled.setdefault(row["port"], []).append(row)
    every = "every" in page.run.resolved["record"]
    for port in page.value("ports"):
        row = rows[port["port"]]
        assert port["sampled"] == (port["port"] in sampled), port
        assert port["bottleneck"] == (row["name"] == page.run.summary["bottleneck"]["port"])
        for key in ("name", "tx_bytes", "drops", "lost", "marks", "utilisation", "queue_mean_bytes", "queue_max_bytes"):
            assert port[key] == row[key] or (port[key] is None and math.isnan(row[key])), (key, port)
        for column in ("utilisation", "queue_bytes"):
            time, line = page.desk.line(page.handle, table="port_samples", column=column, where={"port": port["port"]})
            own = sampled.get(port["port"], []) if every else []
            assert time.tolist() == [one["time_ns"] for one in own]
            assert line.tolist() == [one[column] for one in own]
            SEEN["samples"] += len(own)
        assert all(0 <= one["utilisation"] <= 1 + 1e-9 for one in sampled.get(port["port"], []))


def events(page: Opened) -> None:
    """Each sentence of the whole run, and of a tenth of it, is that of its rows, and every row is in one."""
    whole = page.run.duration_ns
    for begin, end in ((0, whole), (int(0.3 * whole), int(0.4 * whole))):
        lane = eventchecks.Lane(page.rows, page.rows.names, end - begin)
        answer = page.desk.ask("events", handle=page.handle, from_ns=begin, to_ns=end, limit=10_000)[0]
        held: Counter[int] = Counter()
        for one in answer["value"]:
            own = eventchecks.judge(lane, one)
            if one["kind"] not in eventchecks.ALONE:
                held.update(own)
            SEEN[one["kind"]] += 1
            SEEN["sentences"] += 1
        assert max(held.values(), default=1) == 1, "no row is in two sentences"
        if answer["of"] == len(answer["value"]):
            inside = Counter(row["kind"] for row in lane.events if begin <= row["time_ns"] <= end)
            said = Counter(one["kind"] for one in answer["value"])
            for kind in eventchecks.ALONE & set(inside):
                assert said[kind] == inside[kind], (kind, said, inside)
            missing = [
                row
                for place, row in enumerate(lane.events)
                if begin <= row["time_ns"] <= end and row["kind"] not in eventchecks.ALONE and not held[place]
            ]
            assert not missing, missing[:3]


def reasons(page: Opened) -> None:
    changes = bool(page.run.resolved.get("change"))
    for row in [row for row in page.rows.flows.values() if row["established_ns"] is not None][:FLOWS]:
        spans = page.value("why", flow=row["flow"])
        SEEN["reasons"] += whychecks.judge(page.rows, row, spans, changes)


def totals(page: Opened) -> None:
    """The goodput of all flows together has every byte that was delivered."""
    if not page.run.flow_samples.num_rows:
        return
    asked = {"table": "flow_samples", "column": "delivered_bytes", "how": "rate", "each": "flow"}
    times, rates = page.desk.line(page.handle, **asked)
    got = float(np.sum(rates * np.diff(times, prepend=0.0))) / 8e9
    assert got == pytest.approx(sum(row["delivered_bytes"] for row in page.run.flows.to_pylist()), rel=1e-9)
    assert (rates >= 0).all()


def chance(page: Opened) -> None:
    """The intervals of the chance panel over three seeds end where their numbers do, and there are none of equal runs."""
    runs = [page.run.summary, *(el.run(page.text, seed=seed).summary for seed in (page.seed + 1, page.seed + 2))]
    flows = max(run["flows"] for run in runs)
    figures = {
        "utilisation": ("share", [run["bottleneck"]["utilisation"] for run in runs]),
        "loss": ("share", [run["bottleneck"]["loss_rate"] for run in runs]),
        "jain": ("index", [run["jain"] for run in runs]),
    }
    figures |= {key: ("amount", [run[key] for run in runs]) for key in ("goodput_bps", "drops", "timeouts")}
    for name, (kind, values) in figures.items():
        if any(one is None for one in values):
            continue
        low, top = {"share": (0, 1), "index": (1 / flows if flows else 0, 1), "amount": (0, math.inf)}[kind]
        found = page.desk.intervals(kind, [float(one) for one in values], flows)
        assert low - 1e-12 <= found["low"] <= found["mean"] <= found["high"] <= top + 1e-12, (name, values, found)
        assert low - 1e-12 <= min(values) <= max(values) <= top + 1e-9, (name, values)
        if len(set(values)) == 1:
            assert (found["low"], found["high"], found["clear"]) == (values[0], values[0], 0)
        SEEN["intervals"] += 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [*sorted(set(library()) - SLOW), *range(RANDOM)])
def test_the_story_of_the_page_is_that_of_elephan_explain(name: str | int) -> None:
    """Its findings are those of the rows; what it simulates before it advises may be less, as a page waits."""
    page = Opened(name)
    given = {"handle": page.handle, "text": page.text, "seed": page.seed, "summary": page.head["summary"]}
    story = told(lambda method, params: page.desk.ask(method, **params), given)
    findings = el.explain(page.run).findings
    assert [(one["kind"], one["text"], one["at_ns"]) for one in story] == [
        (one.rule, one.text, None if one.begin_s is None else one.begin_s * 1e9) for one in findings
    ]
