"""What the page says is what the rows say: intervals, names, totals, full links, and what it does not know."""

from __future__ import annotations

import math

import elephan as el
import numpy as np
import pytest
from desk import Desk
from elephan.base import stats
from elephan.report.explain.facts import Facts
from elephan.report.explain.rules import findings
from elephan.scenario.source import library
from elephan.statistic import bounds
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

FULL = 0.95


@pytest.fixture(scope="module")
def desk():
    return Desk()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=25), st.sampled_from(["share", "index", "amount"]), st.integers(2, 9))
def test_no_interval_reaches_beyond_what_its_number_can_be(values, kind, flows):
    low, top = {"share": (0, 1), "index": (1 / flows, 1), "amount": (0, math.inf)}[kind]
    values = [max(value, low) for value in values]
    found = Desk().intervals(kind, values, flows)
    assert low <= found["low"] <= found["mean"] <= found["high"] <= top
    mean, half = np.mean(values), student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values))
    if np.ptp(values) > 1e-9:
        assert found["mean"] == pytest.approx(mean, rel=1e-12, abs=1e-300)
        assert (found["low"], found["high"]) == pytest.approx((max(mean - half, low), min(mean + half, top)), rel=1e-9)
    # The command line says the same.
    told = stats.mean_within(values, low, top)
    assert (told.mean, told.low, told.high) == (found["mean"], found["low"], found["high"])


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-3, 1e12), st.floats(1e-3, 1e12), st.integers(2, 30))
def test_no_difference_is_claimed_where_all_runs_are_equal(now, kept, count):
    found = Desk().intervals("amount", [now] * count, less=[kept] * count)
    assert (found["clear"], found["low"]) == (0, found["high"])
    noisy = [now * (1 + 2e-16 * (seed % 2)) for seed in range(count)]
    same = Desk().intervals("amount", noisy, less=[now] * count)
    assert (same["mean"], same["low"], same["high"], same["clear"]) == (0, 0, 0, 0)


def test_the_numbers_of_seeds_that_the_issue_names(desk):
    """`bbr-vs-cubic` with 3 seeds: Jain's index and loss ended beyond 1 and below 0. `sawtooth`: 18.8 Mb/s +- 1.79e-9 b/s."""
    runs = [el.run("bbr-vs-cubic", seed=seed, set={"duration": "20 s"}).summary for seed in (1, 2, 3)]
    loss = desk.intervals("share", [run["bottleneck"]["loss_rate"] for run in runs])
    jain = desk.intervals("index", [run["jain"] for run in runs], flows=2)
    assert 0 <= loss["low"] <= loss["high"] <= 1
    assert 0.5 <= jain["low"] <= jain["high"] <= 1
    goodput = el.run("sawtooth", set={"duration": "12 s"}).summary["goodput_bps"]
    alike = desk.intervals("amount", [goodput] * 20)
    assert (alike["mean"], alike["low"], alike["high"], alike["spread"]) == (goodput, goodput, goodput, 0)


def test_each_kind_of_number_has_one_place_for_its_bounds():
    assert [bounds.kind_of(name) for name in ("utilisation.max", "goodput_bps.jain", "goodput_bps.sum", "drops.sum", "each.x")] == [
        "share",
        "index",
        "amount",
        "amount",
        "number",
    ]
    assert bounds.of_difference("utilisation.max") == (-1, 1)
    assert (bounds.low_of("goodput_bps.jain", 4), bounds.top_of("goodput_bps.jain")) == (0.25, 1)


@pytest.mark.parametrize(
    ("scenario", "entry", "control", "names"),
    [
        ("sawtooth", "reno", "cubic", ["cubic"]),
        ("sawtooth", "reno", "reno", ["reno"]),
        ("cubic-vs-reno", "Reno", "bbr", ["CUBIC", "bbr"]),
        ("bbr-vs-cubic", "cubic", "bbr", ["bbr (entry cubic)", "bbr"]),
    ],
)
def test_a_flow_is_called_after_the_control_that_it_has(desk, scenario, entry, control, names):
    """The page, and `elephan explain` for its story."""
    change = {f"traffic.{entry}.congestion_control": control, "duration": "12 s", "warmup": "1 s"}
    run = el.run(scenario, set=change)
    text = library()[scenario].path.read_text(encoding="utf-8")
    text = desk.ask("edit", text=text, path=f"traffic.{entry}.congestion_control", value=control, controls=False)[0]["text"]
    head = desk.ask("run", text=text, set={"duration": "12 s", "warmup": "1 s"})[0]
    flows = desk.ask("flows", handle=head["handle"])[0]["value"]
    assert [flow["name"] for flow in flows] == [flow["entry"] for flow in flows] == names
    facts = Facts(run)
    assert list(facts.view.flow_names.values()) == names
    told = " ".join(one.text for one in findings(facts))
    if control == "cubic":
        assert told
        assert "reno" not in told.lower()


def test_the_goodput_of_all_flows_has_every_flow(desk):
    """60 flows, of which panels draw 48, and transfers that live between two samples."""
    text = library()["incast"].path.read_text(encoding="utf-8")
    head = desk.ask("run", text=text, set={"template.clients": 60, "duration": "300 ms"}, record={"every": "20 ms"})[0]
    flows = desk.ask("flows", handle=head["handle"])[0]["value"]
    assert len(flows) >= 60
    times, rates = desk.line(head["handle"], table="flow_samples", column="delivered_bytes", how="rate", each="flow")
    whole = float(np.sum(rates * np.diff(times, prepend=0.0))) / 8e9
    assert whole == pytest.approx(sum(flow["delivered_bytes"] for flow in flows), rel=1e-9)
    assert (rates >= 0).all()


def test_samples_of_all_ports_are_of_the_same_run(desk):
    """Four links of hosts of `congestion-spreading` carry 24 to 46 % and are paused at 10 ms; a run samples them only if asked."""
    text = library()["congestion-spreading"].path.read_text(encoding="utf-8")
    usual = desk.ask("run", text=text)[0]
    every = desk.ask("run", text=text, record={"ports": "all"})[0]
    assert every["summary"] == usual["summary"]
    ports = {port["name"]: port for port in desk.ask("ports", handle=usual["handle"])[0]["value"]}
    assert all(port["sampled"] for port in desk.ask("ports", handle=every["handle"])[0]["value"])
    for host, whole in (("a[0]", 0.24), ("a[1]", 0.24), ("a[2]", 0.3), ("a[3]", 0.46)):
        port = ports[f"{host}->rack-a"]
        assert not port["sampled"]
        assert port["utilisation"] == pytest.approx(whole, abs=0.006)
        asked = {"table": "port_samples", "column": "paused_ns", "where": {"port": port["port"]}, "how": "rate"}
        assert len(desk.line(usual["handle"], **asked)[0]) == 0
        times, paused = desk.line(every["handle"], **asked)
        assert paused[np.searchsorted(times, 10e6, side="right") - 1] > 0.9


def reasons(desk, handle, flow):
    """Shares of the time of a flow's reasons."""
    spans = desk.ask("why", handle=handle, flow=flow)[0]["value"]
    found = {}
    for span in spans:
        found[span["reason"]] = found.get(span["reason"], 0.0) + span["to_ns"] - span["from_ns"]
    whole = sum(found.values())
    return {name: time / whole for name, time in found.items()}


def test_the_sawtooth_fills_its_link(desk):
    """The utilisation of the bottleneck is 100 %; the page said "congestion window 97 %"."""
    head = desk.ask("run", text=library()["sawtooth"].path.read_text(encoding="utf-8"))[0]
    assert head["summary"]["bottleneck"]["utilisation"] > FULL
    assert reasons(desk, head["handle"], 0)["full link"] > 0.9


@pytest.mark.parametrize("name", ["sawtooth", "cubic-vs-reno", "bbr-vs-cubic", "long-fat", "l4s", "dcqcn-victim"])
def test_a_link_is_called_full_where_its_samples_are(desk, name):
    """Each span that names a port is computed again from the samples of that port."""
    text = library()[name].path.read_text(encoding="utf-8")
    head = desk.ask(
        "run", text=text, set={"duration": "8 s", "warmup": "0 s"} if "duration" in text and name != "dcqcn-victim" else {}
    )[0]
    flows = [flow for flow in desk.ask("flows", handle=head["handle"])[0]["value"] if flow["protocol"] == "tcp"][:4]
    ports = {port["port"]: port for port in desk.ask("ports", handle=head["handle"])[0]["value"]}
    for flow in flows:
        for span in desk.ask("why", handle=head["handle"], flow=flow["id"])[0]["value"]:
            assert (span["reason"] == "full link") == ("port" in span)
            if "port" not in span:
                continue
            where = {"port": span["port"]}
            t, use = desk.line(head["handle"], table="port_samples", column="utilisation", where=where)
            inside = use[(t > span["from_ns"]) & (t <= span["to_ns"])]
            full = inside if len(t) else np.array([ports[span["port"]]["utilisation"]])
            assert len(full)
            assert (full >= FULL).all()


def test_each_refusal_names_its_own_reason(desk):
    text = library()["sawtooth"].path.read_text(encoding="utf-8")
    for control in ('{ python = "lab.py:Mine" }', '{ program = "./mine.sh" }'):
        found = desk.refused("run", text=text.replace('congestion_control = "reno"', f"congestion_control = {control}"))
        assert "a page runs no code; start elephan explore with --trust" in found
        assert "Python front" not in found
    replay = text.replace('kind = "bulk"', 'kind = "replay"\nfile = "x.csv"').replace('congestion_control = "reno"', "")
    assert "a page reads no files; start elephan explore with --trust" in desk.refused("run", text=replay)
