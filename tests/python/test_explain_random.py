"""What is said of random scenarios follows from their rows: findings, advice, answers and warnings, each computed a second time.

Two things that are said of one event must both be able to be true.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from typing import Any

import elephan as el
import pytest
import warningchecks
from drawn import scenario
from elephan.report.words.answer import answer
from elephan.report.words.warnings import warnings
from statements import STATEMENTS, judge
from stories import NUMBER, QUANTITY, Rows, near, value

FAST = 200  # seeds of the fast suite, ten to a test
CHUNK = 10
N, Q = NUMBER, QUANTITY


def told(seed: int) -> tuple[Rows, Any]:
    run = el.run(json.dumps(scenario(seed)), seed=seed)
    return Rows(run), el.explain(run)


def judged(seed: int) -> Counter[str]:
    """The rules that spoke in a scenario, whose words all hold."""
    rows, story = told(seed)
    for finding in story.findings:
        judge(rows, finding)
    said = answer(rows.run)
    answered(rows, said)
    lines = warnings(rows.run)
    warned = sum((warningchecks.judge(rows, line) for line in lines), Counter())
    warningchecks.silent(rows, lines)
    agree(rows, story, " ".join(said))
    spoke = Counter(finding.rule for finding in story.findings)
    spoke.update({f"warned: {name}": times for name, times in warned.items()})
    spoke["advice"] += sum(finding.simulated for finding in story.findings)
    spoke["guess"] += sum(bool(finding.help) and not finding.simulated for finding in story.findings)
    return spoke


SPOKE: dict[int, Counter[str]] = {}


@pytest.mark.parametrize(
    "first", [pytest.param(one, marks=pytest.mark.slow if one >= FAST else ()) for one in range(0, 5 * FAST, CHUNK)]
)
def test_what_is_said_of_random_scenarios_follows_from_their_rows(first: int) -> None:
    for seed in range(first, first + CHUNK):
        judged(seed)


@cache
def many() -> Counter[str]:
    total: Counter[str] = Counter()
    for seed in range(60):
        rows, story = told(seed)
        total.update(finding.rule for finding in story.findings)
        total["simulated"] += sum(finding.simulated for finding in story.findings)
        total["warned"] += bool(warnings(rows.run))
        total.update(name for line in warnings(rows.run) for name in warningchecks.judge(rows, line))
    return total


def test_the_random_scenarios_make_the_rules_speak() -> None:
    """So that the test above has something to judge: all rules but those of disks, of PAUSE and of modelled hosts."""
    of_other_networks = {"copy_limit", "straggler", "pauses", "deadlock", "host_queue", "host_drops"}
    assert set(STATEMENTS) - of_other_networks <= set(many())
    assert many()["simulated"] >= 5
    assert many()["warned"] >= 10
    assert {"without_ecn", "without_router", "beside_marks"} <= set(many())


def answered(rows: Rows, said: list[str]) -> None:
    """Goodput, losses, timeouts, the bottleneck and completions of an answer."""
    text, run = " ".join(said), rows.run
    assert not re.search(r"\bn/a\b|\bnan\b|\binf\b", text), text
    flows, ports = run.flows.to_pylist(), list(rows.ports.values())
    total = sum(row["measured_bytes"] for row in flows) * 8e9 / (run.duration_ns - run.warmup_ns)
    if found := re.search(rf"(?:The flow delivered|together) ({Q}) in {Q}", text):
        near(found[1], total)
    drops, lost = sum(port["drops"] for port in ports), sum(port["lost"] for port in ports)
    found = re.search(rf"({N}) packets? (?:was|were) dropped (?:at (\S+ → \S+) \(({Q}) of what came\)|\(up to)", text)
    assert value(found[1] if found else "0") == drops, text
    if found and found[2]:
        port = rows.ports[found[2]]
        near(found[3], port["drops"] / (port["drops"] + port["tx_packets"]), 2)
    found = re.search(rf"The links lost ({N}) packets?[;.]", text)
    assert value(found[1] if found else "0") == lost
    found = re.search(rf"there (?:was|were) ({N}) (?:retransmission )?timeouts?", text)
    expired = sum(row["timeouts"] + row["subsequent_timeouts"] for row in flows)
    assert value(found[1] if found else "0") == expired == sum(row["kind"] == "rto" for row in rows.repairs)
    if found := re.search(rf"The port (\S+ → \S+) was busy ({Q}) of the time", text):
        near(found[2], rows.ports[found[1]]["utilisation"])
    if found := re.search(rf"({N}) of ({N}) transfers completed", text):
        begun = [row for row in flows if row["size_bytes"] is not None and row["start_ns"] >= run.warmup_ns]
        assert (value(found[1]), value(found[2])) == (sum(row["fct_ns"] is not None for row in begun), len(begun))
    if found := re.search(rf"Its startup took ({Q})(?: to ({Q}))?", text):
        times = sorted({row["time_ns"] for samples in rows.samples.values() for row in samples})
        assert value(found[2] or found[1]) >= (times[1] - times[0]) / 2


def agree(rows: Rows, story: Any, text: str) -> None:
    """No two things that are said contradict each other."""
    by_rule: dict[str, list[Any]] = {}
    for finding in story.findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    without = {rows.names[flow] for flow, row in rows.flows.items() if row["established_ns"] is None}
    # What never connected took part in nothing.
    for finding in story.findings:
        assert finding.rule == "no_connection" or finding.flow not in without, finding.text
    assert not without & set(story.limits)
    for name in without:
        assert not re.search(rf"\b{re.escape(name)} for {Q}", text), text
    # Something was dropped, or nothing was.
    dropped = any("No packet was dropped" in one for one in (text,))
    assert not dropped or not [one for one in by_rule.get("losses", ()) if " dropped " in one.text]
    # A delay was taken for a loss only by who lost nothing, and no timer of his had a loss for its reason.
    for one in by_rule.get("needless", ()):
        if "took a delay for a loss" in one.text and one.flow:
            causes = [other.text for other in by_rule.get("timeouts", ()) if other.flow == one.flow]
            assert not any("lost" in cause.replace("no loss", "") for cause in causes)
            assert not rows.of(rows.number(one.flow), rows.drops)
    # A queue is too long or too short, and slow start ends by a loss or without one.
    longer = {one.port for one in by_rule.get("idle_bottleneck", ()) if one.help}
    assert not longer & {one.port for one in by_rule.get("standing_queue", ()) if one.help}
    ended = Counter(
        one.flow for rule in ("slow_start_overshoot", "slow_start_by_delay") for one in by_rule.get(rule, ()) if one.flow
    )
    assert max(ended.values(), default=1) == 1
    # A share of what came is the same wherever it stands.
    shares = dict(re.findall(rf"dropped at (\S+ → \S+) \(({Q}) of what came\)", text))
    for one in by_rule.get("losses", ()):
        if one.port in shares and (found := re.search(rf"({Q}) of what came", one.text)):
            assert found[1] == shares[one.port]
    # The times of a finding lie within the run, and end after they begin.
    for one in story.findings:
        begin, end = one.begin_s or 0.0, one.end_s
        assert 0 <= begin * 1e9 <= rows.run.duration_ns
        assert end is None or begin <= end <= rows.run.duration_ns / 1e9 + 1e-9
