"""The Python interface over the compiled core."""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import elephan as el
import numpy as np
import pyarrow as pa
import pytest
from elephan._core import data_dictionary
from elephan.base.errors import InputError
from elephan.report.words.view import View
from elephan.scenario.source import library
from elephan.table.classes import RUN as TABLES
from elephan.table.classes import TRACE
from waiting import PATIENCE_S

SHORT = {"duration": "11 s"}


def test_a_run_has_its_tables() -> None:
    run = el.run("sawtooth", seed=3, set=SHORT)
    for name in TABLES:
        assert isinstance(getattr(run, name), pa.Table)
    assert run.flows.num_rows == 1
    assert run.seed == 3
    assert 'duration = "11 s"' in run.scenario
    assert run.summary["flows"] == 1
    assert run.flow_samples.num_rows == 11_000 // 50 + 1 or run.flow_samples.num_rows == 11_000 // 50


def test_every_table_of_the_core_is_a_property_of_a_run_with_its_words() -> None:
    """The data dictionary is the core's own; a table that is declared in the crate `record` needs no other line of Python."""
    of_runs, of_traces = (
        dict(re.findall(r"^## (\w+)\n\n(.+)", part, re.M)) for part in data_dictionary().split("# Tables of a trace")
    )
    assert {"flows", "transmit_samples"} < set(of_runs)
    assert (list(TABLES), list(TRACE)) == (list(of_runs), list(of_traces))
    for name, words in of_runs.items():
        said = " ".join((getattr(el.Run, name).__doc__ or "").split())
        assert said.startswith("A row is ")
        assert words.startswith(said.removesuffix("."))


def test_the_same_seed_gives_the_same_tables() -> None:
    a, b = (el.run("incast", seed=5) for _ in range(2))
    for name in a.tables:
        assert a.tables[name].equals(b.tables[name]), name
    assert a.summary == b.summary
    assert a.scenario == b.scenario


def test_tables_in_a_folder_are_the_tables_in_memory(tmp_path: Path) -> None:
    memory = el.run("incast", seed=5)
    disk = el.run("incast", seed=5, out=tmp_path / "r", report=False)
    for name in memory.tables:
        assert memory.tables[name].to_pylist() == disk.tables[name].to_pylist(), name


def test_a_sweep_is_the_same_on_one_and_two_threads() -> None:
    one, two = (el.sweep("shared-switch", set={"duration": "20 ms"}, repetitions=2, workers=n) for n in (1, 2))
    assert one.table.equals(two.table)
    assert one.labels == ["kind=none", "kind=pause"]


def test_wrong_scenarios_raise_one_error() -> None:
    with pytest.raises(el.ScenarioError, match="nosuch"):
        el.run("sawtooth", set={"nosuch.key": 1})
    with pytest.raises(ValueError, match="toml"):
        el.run("title = \n")
    for wrong in (object(), float("nan"), {1, 2}):
        with pytest.raises(el.ScenarioError, match=r"^seed: .* is not a text, a finite number"):
            el.run("sawtooth", set={"seed": wrong})
    with pytest.raises(el.ScenarioError, match="not int"):
        el.run(3)


def test_progress_is_told() -> None:
    told: list[float] = []
    el.run("long-fat", set={"duration": "30 s"}, progress=lambda share, events: told.append(share))
    assert all(0 <= share <= 1 for share in told)
    assert told == sorted(told)


def test_stepping_a_congestion_control() -> None:
    # RFC 5681: initial window 10 segments; slow start adds what is acknowledged; a loss halves
    controller = el.cc.new("reno", mss=1000, initial_window=10)
    assert controller.cwnd == 10_000
    controller.on_ack(0.1, 1000, 0.1, 10_000)
    assert controller.cwnd == 11_000
    controller.on_loss(0.2, 1000, 11_000)
    assert controller.cwnd == 5_500
    assert controller.ssthresh == 5_500
    assert "reno" in el.cc.names()
    assert el.cc.describe("cubic")["name"] == "cubic"
    for call in (el.cc.new, el.cc.describe):
        with pytest.raises(el.InputError, match=r'^no congestion control "renno"; did you mean "reno"\?$'):
            call("renno")
        with pytest.raises(el.InputError, match=r'^no congestion control "qqq"; there are: reno, '):
            call("qqq")
    for words, message in (
        ({"betta": 0.7}, 'cubic has no parameter "betta"; did you mean "beta"?'),
        ({"preset": "linx"}, 'cubic has no preset "linx"; did you mean "linux"?'),
        ({"preset": "qqq"}, 'cubic has no preset "qqq"; it has: rfc9438, rfc8312, linux, linux-2.6'),
    ):
        with pytest.raises(el.InputError, match=f"^{re.escape(message)}$"):
            el.cc.new("cubic", **words)
    with pytest.raises(el.InputError, match=r'^none has no parameter "qqq"; it has none$'):
        el.cc.new("none", qqq=1)
    with pytest.raises(el.InputError, match=r"^gain: nan is not a text, a finite number"):
        el.cc.new("reno", gain=math.nan)


@pytest.mark.parametrize(
    ("value", "shown"), [(math.nan, "nan"), ({1, 2}, r"\{1, 2\}"), ([1, math.inf], r"\[1, inf\]"), (b"5 s", "b'5 s'")]
)
def test_an_override_of_no_kind_is_named(value: object, shown: str) -> None:
    with pytest.raises(el.InputError, match=f"^duration: {shown} is not a text, a finite number, true or false, a list or"):
        el.run("sawtooth", set={"duration": value})


def test_none_is_no_value() -> None:
    for call in (el.run, el.sweep):
        with pytest.raises(el.InputError, match=r"^-s duration=null: null is no value; leave it out$"):
            call("sawtooth", set={"duration": None})
    with pytest.raises(el.InputError, match="null is no value"):
        el.sweep("sawtooth", set={"duration": ["1 s", None]})


def test_stepping_a_congestion_control_that_probes() -> None:
    controller = el.cc.new("pcp", mss=1210)
    controller.set_seed(7)
    controller.recall(rate=30e6)
    controller.begin(0.025, rtt=0.025, packet=1250)
    assert controller.state["delta"] == pytest.approx(10e6)
    now = 0.025
    for tested in (10e6, 20e6):
        train = controller.next_train(now, segments=100)
        assert train is not None
        assert controller.next_train(now, segments=100) is None
        assert (train["packets"], train["gap"]) == (5, pytest.approx(1e4 / tested))
        for n in range(5):
            left = now + n * train["gap"]
            controller.on_arrival(left + 0.025, left, left + 0.0125, train=train["id"], sent=n + 1, in_train=True)
        now += 0.1
    assert controller.pacing_rate == pytest.approx(30e6)
    memory = controller.remember()
    assert memory is not None
    assert memory == {"rate": pytest.approx(30e6), "trust": 1.0}
    assert el.cc.new("reno").next_train(now, segments=100) is None
    with pytest.raises(el.ScenarioError, match="trust"):
        controller.recall(rate=1e6, trust=2.0)


def test_stepping_the_round_trip_estimator() -> None:
    # RFC 6298 section 2: first sample R: SRTT = R, RTTVAR = R/2, RTO = R + 4 R/2 = 3 R, at least 1 s
    estimator = el.rtt.Estimator()
    assert estimator.rto == 1.0
    estimator.sample(0.0, 0.5)
    assert (estimator.srtt, estimator.rttvar, estimator.rto) == (0.5, 0.25, 1.5)
    estimator.backoff()
    assert estimator.rto == 3.0


@pytest.mark.parametrize("name", list(library()))
def test_every_library_scenario_resolves(name: str) -> None:
    from elephan.scenario import core
    from elephan.scenario.source import open_source

    found = core.resolve(open_source(name), {})
    assert found["plan"]["flows"] >= 1
    assert core.variants(open_source(name), {}, None)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_who_ends_a_run_gets_130_and_nothing_is_left(tmp_path: Path, how: signal.Signals) -> None:
    # a test may run in the background, where SIGINT is ignored, or without a terminal to lose: the run must not be
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
        "from elephan.cli import main; sys.argv = ['elephan', 'run', 'long-fat', '-s', 'duration=2000 s']; main()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=os.environ)
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "results").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(how)
        _, err = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err == "elephan: interrupted\n"
    assert list((tmp_path / "results").iterdir()) == []


def test_a_scenario_of_classes() -> None:
    scenario = el.Scenario(
        title="by hand",
        duration="1 s",
        template=el.Dumbbell(rate="10 Mbps", delay="5 ms", queue=el.Fifo(limit="1 bdp")),
        traffic=[el.Bulk(from_="sender", to="receiver", size="100 KB")],
    )
    run = el.run(scenario)
    assert run.title == "by hand"
    assert run.flows["completed"].to_pylist() == [True]
    assert run.flows["delivered_bytes"].to_pylist() == [100_000]
    with pytest.raises(AttributeError):
        _ = el.NoSuchThing


def test_a_queue_and_a_controller_of_one_name() -> None:
    scenario = el.Scenario(
        duration="1 s",
        template=el.Dumbbell(rate="10 Mbps", delay="5 ms", queue=el.XcpQueue(alpha=0.3, queue_time_min="1 ms")),
        traffic=[el.Bulk(from_="sender", to="receiver", congestion_control=el.Xcp(reduce_from="flight"))],
    )
    resolved = el.run(scenario).resolved
    assert resolved["traffic"][0]["congestion_control"] == {"kind": "xcp", "beta": 0.5, "reduce_from": "flight"}
    queues = [link["queue"] for link in resolved["links"] if link.get("queue", {}).get("kind") == "xcp"]
    assert [(queue["alpha"], queue["beta"], queue["queue_time_min"]) for queue in queues] == [(0.3, 0.226, "1 ms")]


def test_a_scenario_of_classes_that_changes() -> None:
    scenario = el.Scenario(
        duration="3 s",
        hosts={"a": el.Host(), "b": el.Host()},
        links=[
            el.Link(
                between=["a", "b"],
                rate="10 Mbps",
                delay="5 ms",
                duplicate=0.1,
                reorder=el.Reorder(share=0.1, extra="3 ms"),
                jitter=el.Jitter(extra=el.Exponential("100 us"), order="free"),
            )
        ],
        traffic=[el.Bulk(from_="a", to="b", congestion_control="reno")],
        change=[
            el.Change(at="1 s", set={"links.a->b.rate": "5 Mbps"}),
            el.Change(at="2 s", set={"traffic.bulk.congestion_control": "htcp"}),
        ],
        record=el.Record(every="100 ms"),
    )
    run = el.run(scenario)
    changes = [e for e in run.events.to_pylist() if e["kind"] == "change"]
    assert [(e["time_ns"], e["reason"]) for e in changes] == [(10**9, "rate"), (10**9, "rate"), (2 * 10**9, "htcp")]
    assert run.flows["congestion_control"].to_pylist() == ["htcp"]
    assert run.summary["duplicates"] > 0
    assert run.summary["reordered"] > 0
    assert run.resolved["change"][1]["set"]["traffic.bulk.congestion_control"]["kind"] == "htcp"
    marks = View(run).changes()
    assert marks == [(1e9, "rate 5 Mb/s"), (2e9, "htcp")]
    # In figures with the link or traffic, once while it stays the same.
    assert View(run).change_labels() == [(1e9, "a → b: rate 5 Mb/s"), (2e9, "bulk: htcp")]
    more = {"change[0].set": {"links[0].rate": "5 Mbps"}, "change[1].set": {"links": {"a->b": {"delay": "9 ms"}}}}
    assert View(el.run(scenario, set=more)).change_labels() == [(1e9, "a → b: rate 5 Mb/s"), (2e9, "delay 9 ms")]
    with pytest.raises(el.InputError, match="duration cannot change during a run"):
        el.run(scenario, set={"change[0].set": {"duration": "5 s"}})


def test_stepping_another_slow_start() -> None:
    # RFC 3465: L = 2 lets an ACK of five segments add two; RFC 3742 with max_ssthresh of 100 segments: K = int(200 / 50) = 4
    controller = el.cc.new("reno", mss=1000, initial_window=10, abc_limit=2)
    controller.on_ack(0.1, 5_000, 0.1, 10_000)
    assert controller.cwnd == 12_000
    limited = el.cc.new("reno", mss=1000, initial_window=200, slow_start={"kind": "limited", "max_ssthresh": 100})
    limited.on_ack(0.1, 1000, 0.1, 200_000)
    assert limited.cwnd == 200_250
    for words, message in (
        ({"slow_start": "hystartp"}, r"slow_start: unknown slow start `hystartp`"),
        ({"slow_start": {"kind": "limited", "max": 1}}, "slow_start: .*max"),
        ({"slow_start": 3}, "slow_start is a name or a table"),
        ({"abc_limit": 0.5}, "abc_limit must be at least 1 segment, not 0.5"),
        ({"abc_limit": "2"}, "abc_limit is a number of segments"),
    ):
        with pytest.raises(el.InputError, match=message):
            el.cc.new("reno", **words)


def test_wrong_arguments_of_what_is_stepped_by_hand() -> None:
    for make in (
        lambda: el.rtt.Estimator(rto_mn=1),
        lambda: el.rtt.Estimator(rto_min=[]),
        lambda: el.cc.new("reno", mss=-1),
        lambda: el.cc.new("reno", mss="x"),
        lambda: el.cc.new("reno", mss=2**70),
        lambda: el.cc.new("reno", initial_window="x"),
        lambda: el.cc.new("reno", initial_window=0),
        lambda: [controller.on_timer(at) for controller in [el.cc.new("reno")] for at in (1.0, 0.5)],
        lambda: el.cc.new(3),
        lambda: el.cc.describe(3),
    ):
        with pytest.raises(el.InputError) as caught:
            make()
        assert "\n" not in str(caught.value)
    with pytest.raises(el.InputError, match='did you mean "rto_min"'):
        el.rtt.Estimator(rto_mn=1)


def test_proportional_rate_reduction_steps() -> None:
    """RFC 9937 by hand: half of 20 segments; every other ACK sends one."""
    p = el.prr.Recovery(mss=1)
    p.start(cwnd=20, ssthresh=10, inflight=20)
    assert [p.on_ack(1, pipe) for pipe in (18, 18, 17, 17, 16)] == [1, 0, 1, 0, 1]
    # Below ssthresh: as much as was delivered, one more on an ACK that shows no further loss.
    p.start(20, 10, 20)
    assert p.on_ack(3, 2, safe=False) == 3
    p.on_sent(0)
    assert p.on_ack(1, 4, safe=True) == 5
    # With nothing in flight when it began there is no proportion: the forced first segment of RFC 9937, nothing under RFC 6937.
    for variant, allowed in (("rfc9937", 1000), ("rfc6937", 0)):
        p = el.prr.Recovery(mss=1000, variant=variant)
        p.start(10000, 5000, 0)
        assert p.on_ack(1000, 10000) == allowed
    with pytest.raises(el.InputError, match="unknown variant `x`, expected one of `rfc9937`, `rfc6937`, `rfc6937-crb`"):
        el.prr.Recovery(variant="x")
    with pytest.raises(ValueError, match="on_ack before start"):
        el.prr.Recovery().on_ack(1, 1)


def test_a_trace_beside_the_scenario_is_replayed(tmp_path: Path) -> None:
    """Starts and sizes are those of the file; the result runs again without it, to the byte."""
    (tmp_path / "flows.csv").write_text("start_ms,size_bytes,pair\n500,100000,1\n100,2000,0\n500,3000,1\n")
    template = '[template]\nkind = "dumbbell"\npairs = 2\nrate = "100 Mbps"\ndelay = "5 ms"\n'
    traffic = '[[traffic]]\nkind = "replay"\nfrom = "sender"\nto = "receiver"\nfile = "flows.csv"\n'
    scenario = tmp_path / "replay.toml"
    scenario.write_text(f'duration = "3 s"\n{template}{traffic}')
    run = el.run(scenario, out=tmp_path / "out")
    rows = [(f["source"], f["start_ns"], f["delivered_bytes"]) for f in run.flows.to_pylist()]
    assert rows == [("sender[0]", 100_000_000, 2000), ("sender[1]", 500_000_000, 100_000), ("sender[1]", 500_000_000, 3000)]
    (tmp_path / "flows.csv").unlink()
    again = el.run(tmp_path / "out" / "scenario.toml")
    assert again.flows.equals(run.flows)
    assert again.manifest["scenario_sha256"] == run.manifest["scenario_sha256"]
    with pytest.raises(el.InputError, match=r"replay\.toml:11:8: traffic\[0\]\.file: .*flows\.csv: cannot be read"):
        el.run(scenario)


@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (lambda: el.load(5), "result folder: 5 is not a path"),
        (lambda: el.load(None), "result folder: None is not a path"),
        (lambda: el.analyze(5), "capture or log: 5 is not a path"),
        (lambda: el.run("sawtooth", out=5), "out: 5 is not a path"),
        (lambda: el.sweep("sawtooth", repetitions=2, out=5), "out: 5 is not a path"),
        (lambda: el.compare(["reno"], out=5), "out: 5 is not a path"),
        (lambda: el.compare(["reno"], rate=5), "rate, rtt and buffer: 1 bdp of 5 b/s and 40 ms"),
        (lambda: el.run("sawtooth", out="a\0b"), "NUL"),
        (lambda: el.run("a\0b"), "NUL"),
        (lambda: el.run("sawtooth", out="a\ud800"), "not a path in UTF-8"),
        (lambda: el.run({"duration": object()}), "<dict>: duration: <object object"),
        (lambda: el.run("sawtooth", set={"duration": object()}), "duration: <object object"),
        (lambda: el.run("sawtooth", set={"title": "\ud800"}), r"^title: '\\ud800' is not text"),
        (lambda: el.run({"title": "\ud800"}), r"<dict>: title: '\\ud800' is not text"),
        (lambda: el.run('title = "\ud800"\n'), "not text"),
    ],
)
def test_what_is_no_input_is_one_line(ask: Callable[[], object], why: str) -> None:
    with pytest.raises(InputError, match=why) as caught:
        ask()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["l2", "prr", "queue", "rtt", "stats", "theory"])
def test_tab_completion_offers_what_a_module_is_for(name: str) -> None:
    module = getattr(el, name)
    shown = {key for key in dir(module) if not key.startswith("_")}
    assert shown == set(module.__all__)
    assert not shown & {"annotations", "core", "json", "math", "np", "npt", "Any", "InputError", "plain", "nearest", "seconds"}
    own = {key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__ and key[0] != "_"}
    assert own <= shown


def test_seeds_may_be_numbers_of_numpy(tmp_path: Path) -> None:
    short = {"duration": "20 ms"}
    assert el.run("incast", seed=np.int64(2), set=short).seed == 2
    assert [row.seed for row in el.sweep("incast", seed=np.uint8(3), set=short, repetitions=2).trials][:2] == [3, 4]
    answer = el.path("10 Mbps", "10 ms", size="100 KB", streams=1, congestion_control="reno", seed=np.int32(4), out=tmp_path / "p")
    assert answer.manifest()["seed"] == 4
    assert el.l2.qcn_congestion_point(seed=np.int64(5)) is not None
    for wrong in (True, np.bool_(True), 2.0, np.float64(2), "2", np.int64(-1)):
        with pytest.raises(el.InputError, match="a seed is a whole number from 0"):
            el.run("incast", seed=wrong, set=short)


def test_any_sequence_is_swept() -> None:
    for values in (range(1, 3), (1, 2), np.array([1, 2])):
        swept = el.sweep("incast", set={"template.clients": values, "duration": "5 ms"}, repetitions=1)
        assert {variant.parameters["template.clients"] for variant in swept.variants} == {1, 2}


def test_answers_and_traces_draw_themselves(tmp_path: Path) -> None:
    answer = el.path("10 Mbps", "10 ms", size="100 KB", streams=1, congestion_control=["reno", "cubic"])
    run = el.run("sawtooth", set={"duration": "2 s", "warmup": "1 s"}, pcap=True, out=tmp_path / "run", report=False)
    for html, words in ((answer._repr_html_(), "how it is known"), (el.analyze(run.captures[0])._repr_html_(), "seen at")):
        assert html.startswith("<div")
        assert "<svg" in html
        assert f">{words}</th>" in html
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    assert "0 packets" in el.analyze(empty)._repr_html_()
