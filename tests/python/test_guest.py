"""Congestion controls written in Python: in runs, by stepping, under the harness, and when they are wrong."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.scenario.source import library
from waiting import PATIENCE_S

CONTROLLER = "traffic.reno.congestion_control"
SHORT = {"duration": "12 s", "warmup": "1 s", "stack": "rfc"}


class Reno(el.CongestionControl):
    """Reno, RFC 5681 with bytes counted."""

    def on_ack(self, ack: Any) -> None:
        if not ack.app_limited:
            self.cwnd += self.mss * min(ack.acked, self.cwnd) / self.cwnd


class RoundReno(el.CongestionControl):
    """One segment more a round trip."""

    states = ("rounds",)

    def __init__(self, segments: float = 1.0) -> None:
        self.segments = segments
        self.rounds = 0

    def on_round(self, round: Any) -> None:
        self.rounds += 1
        if not round.app_limited:
            self.cwnd += min(self.segments * self.mss, round.acked)


def run(controller: Any, scenario: Any = "sawtooth", **named: Any) -> el.Run:
    return el.run(scenario, set={CONTROLLER: controller, **SHORT}, **named)


def same_but_the_name(a: el.Run, b: el.Run) -> None:
    for name in a.tables:
        one, other = a.tables[name], b.tables[name]
        if name == "flows":
            one, other = one.drop(["congestion_control"]), other.drop(["congestion_control"])
        assert one.equals(other), name


def test_reno_in_python_is_reno_to_the_packet() -> None:
    built_in, guest = run("reno"), run(Reno)
    assert guest.flows["congestion_control"].to_pylist() == ["Reno"]
    assert built_in.events.num_rows > 10, "losses, so that the cut is compared as well"
    same_but_the_name(built_in, guest)


def test_reno_in_python_on_a_pacing_free_path_with_timeouts_and_many_flows() -> None:
    """One object for each connection: fifty of them lose and time out as the built-in ones do."""
    text = """
duration = "3 s"
stack    = "rfc"
[hosts.sender]
count = 50
[hosts.receiver]
[switches.sw]
[[links]]
between = ["sender", "sw"]
rate = "1 Gbps"
delay = { linear = ["1 ms", "9 ms"] }
[[links]]
between = ["sw", "receiver"]
rate = "20 Mbps"
delay = "1 ms"
queue = { kind = "fifo", limit = "30 p" }
[[traffic]]
name = "reno"
kind = "bulk"
from = "sender"
to = "receiver"
congestion_control = "reno"
"""
    built_in, guest = (el.run(text, set={CONTROLLER: controller}) for controller in ("reno", Reno))
    assert built_in.summary["timeouts"] > 10
    same_but_the_name(built_in, guest)


def test_a_round_based_reno_grows_a_segment_a_round() -> None:
    """By the sawtooth: the built-in one and this one lose within a tenth as often in two minutes."""
    longer = {"duration": "120 s"}
    losses = [
        el.run("sawtooth", set={CONTROLLER: controller, **longer}).flows["fast_retran"].to_pylist()[0]
        for controller in ("reno", RoundReno)
    ]
    assert losses[0] > 5
    assert abs(losses[1] / losses[0] - 1) < 0.15, losses


def test_parameters_reach_the_constructor() -> None:
    one = run({"python": f"{__name__}:RoundReno", "params": {"segments": 4}})
    other = run(functools.partial(RoundReno, segments=4))
    made = run(lambda: RoundReno(4))
    assert one.scenario == other.scenario
    assert "params = { segments = 4 }" in one.scenario
    same_but_the_name(one, other)
    same_but_the_name(one, made)
    assert not one.flow_samples.equals(run(RoundReno).flow_samples)


def test_classes_of_the_scenario_language_take_a_class() -> None:
    text = el.run("sawtooth", set=SHORT).scenario
    scenario = __import__("tomllib").loads(text)
    scenario["traffic"][0]["congestion_control"] = Reno
    assert el.run(scenario).flows["congestion_control"].to_pylist() == ["Reno"]
    bulk = el.Bulk(from_="a", to="b", congestion_control=Reno)
    assert bulk.to_dict()["congestion_control"] == {"python": f"{__name__}:Reno"}


FILE = """
import elephan as el

class Slow(el.CongestionControl):
    def __init__(self, share=1.0):
        self.share = share

    def on_ack(self, ack):
        if not ack.app_limited:
            self.cwnd += self.share * self.mss * ack.acked / self.cwnd
"""


def beside(tmp_path: Path, words: str, controller: str = FILE) -> Path:
    """A scenario file and a folder `controllers` with `slow.py` beside it."""
    text = library()["sawtooth"].path.read_text()
    assert 'congestion_control = "reno"' in text
    (tmp_path / "controllers").mkdir(exist_ok=True)
    (tmp_path / "controllers" / "slow.py").write_text(controller)
    file = tmp_path / "mine.toml"
    file.write_text(text.replace('congestion_control = "reno"', f"congestion_control = {words}"))
    return file


WORDS = '{ python = "controllers/slow.py:Slow", params = { share = 0.5 } }'


def test_a_file_beside_the_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = beside(tmp_path, WORDS)
    done = el.run(file, set=SHORT, out=tmp_path / "out", report=False)
    assert done.flows["congestion_control"].to_pylist() == ["Slow"]
    digest = hashlib.sha256(FILE.encode()).hexdigest()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["guests"] == [{"python": "controllers/slow.py:Slow", "source_sha256": digest}]
    assert "guests" not in el.run("sawtooth", set=SHORT).manifest
    # The file is read again when it has changed.
    (tmp_path / "controllers" / "slow.py").write_text(FILE.replace("self.share *", "2 *"))
    again = el.run(file, set=SHORT)
    assert again.manifest["guests"][0]["source_sha256"] != digest
    assert not again.flow_samples.equals(done.flow_samples)


def test_a_sweep_over_controllers(tmp_path: Path) -> None:
    results = [el.sweep("sawtooth", set={**SHORT, CONTROLLER: ["reno", Reno, RoundReno]}, workers=workers) for workers in (1, 2)]
    assert results[0].table.equals(results[1].table)
    reno, guest, other = (results[0].values(label, "goodput_bps.sum") for label in results[0].labels)
    assert reno == guest != other
    results[0].save(tmp_path / "out")
    guests = json.loads((tmp_path / "out" / "manifest.json").read_text())["guests"]
    assert [row["python"] for row in guests] == [f"{__name__}:Reno", f"{__name__}:RoundReno"]


def command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-c", "from elephan.cli import main; main()", *arguments]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.run(call, capture_output=True, text=True, cwd=cwd, env=environment, check=False, timeout=60)


def test_the_command_line(tmp_path: Path) -> None:
    file = beside(tmp_path, WORDS)
    done = command("run", str(file), "-s", "duration=12 s", "--json", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    words = f'{CONTROLLER}={{ python = "controllers/slow.py:Slow" }}'
    done = command("run", "sawtooth", "-s", "duration=12 s", "-s", words, "--out", "library", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for key, value in ((f"{CONTROLLER}.python", "controllers/slow.py:Slo"), (f"{CONTROLLER}.params.shre", "1")):
        done = command("run", str(file), "-s", f"{key}={value}", "--out", "wrong", cwd=tmp_path)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
        assert "did you mean" in done.stderr
    assert not (tmp_path / "wrong").exists()


def test_an_exception_ends_the_run_with_one_line(tmp_path: Path) -> None:
    broken = FILE.replace("if not ack.app_limited:", "if ack.now > 3:\n            1 / 0\n        if not ack.app_limited:")
    file = beside(tmp_path, WORDS, broken)
    with pytest.raises(el.ElephanError) as caught:
        el.run(file, set=SHORT, seed=5, out=tmp_path / "out")
    text = str(caught.value)
    assert text.startswith("Slow.on_ack failed in flow 0 (reno: sender[0] -> receiver[0]) at 3.0"), text
    assert text.endswith("s, seed 5: ZeroDivisionError: division by zero (slow.py:10)")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["controllers", "mine.toml"], "nothing half-written"
    done = command("run", str(file), "--out", "out", cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
    done = command("run", "-v", str(file), "--out", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert 'slow.py", line 10, in on_ack' in done.stderr
    outcome = el.sweep("sawtooth", set={**SHORT, CONTROLLER: ["reno", Failing]}, workers=2)
    assert len(outcome.failures) == 1
    assert "Failing.on_ack failed" in outcome.failures[0]
    outcome.save(tmp_path / "sweep")
    assert "1 run failed: congestion_control=" in (tmp_path / "sweep" / "report.html").read_text(encoding="utf-8")


FAILING = """
import elephan as el

class Fails(el.CongestionControl):
    def on_ack(self, ack):
        if self.now > 4.5:
            raise KeyError("late")
"""


@pytest.mark.parametrize("until", ["5 s", "4.6 s", None])
def test_an_exception_in_a_controller_that_a_change_brings_or_takes_away(tmp_path: Path, until: str | None) -> None:
    (tmp_path / "late.py").write_text(FAILING)
    text = library()["sawtooth"].path.read_text(encoding="utf-8")
    text += f'\n[[change]]\nat = "4 s"\nset = {{ "{CONTROLLER}" = {{ python = "late.py:Fails" }} }}\n'
    if until is not None:
        text += f'\n[[change]]\nat = "{until}"\nset = {{ "{CONTROLLER}" = "cubic" }}\n'
    file = tmp_path / "change.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(el.ElephanError, match=r"^Fails.on_ack failed in flow 0 .* at 4\.5\d+ s, seed 1: KeyError: 'late'"):
        el.run(file, set={"duration": "20 s", "warmup": "1 s"}, seed=1)


class Failing(Reno):
    def on_ack(self, ack: Any) -> None:
        raise RuntimeError("first line\nsecond line")


class Nan(Reno):
    def on_ack(self, ack: Any) -> None:
        self.cwnd = math.nan


class MinusInfinite(Reno):
    def on_ack(self, ack: Any) -> None:
        self.cwnd = -math.inf


class MinusInfiniteThreshold(Reno):
    def on_ack(self, ack: Any) -> None:
        self.ssthresh = -math.inf


class PacedByNothing(Reno):
    def on_ack(self, ack: Any) -> None:
        self.pacing_rate = -math.inf


class RingsBefore(Reno):
    def on_ack(self, ack: Any) -> None:
        self.timer = -math.inf


class Backwards(Reno):
    def on_ack(self, ack: Any) -> None:
        self.timer = self.now


class Unpaced(Reno):
    def on_ack(self, ack: Any) -> None:
        self.pacing_rate = 0.0


class Sends(Reno):
    def on_sent(self, now: float, bytes: int, inflight: int) -> None:
        self.cwnd += 1


class Early(Reno):
    def __init__(self) -> None:
        self.cwnd = 10 * self.mss


class NoGrowth(el.CongestionControl):
    def on_congestion(self, event: Any) -> None: ...


class NoState(Reno):
    states = ("w_max",)


class WordForSwitch(Reno):
    slow_start = "no"


class CountForSwitch(Reno):
    measures_rate = 1


class MisspelledHook(Reno):
    def on_congested(self, event: Any) -> None:
        self.ssthresh = self.cwnd * 0.7


class MisspelledSwitch(Reno):
    slow_strat = False


class NotOurs:
    pass


@pytest.mark.parametrize(
    ("controller", "message"),
    [
        (Failing, "RuntimeError: first line second line (test_guest.py:"),
        (Nan, "Nan.on_ack failed in flow 0 (reno: sender[0] -> receiver[0]) at"),
        (MinusInfinite, "cwnd must be a number of bytes, not -inf"),
        (MinusInfiniteThreshold, "ssthresh must be a number of bytes, not -inf"),
        (PacedByNothing, "pacing_rate must be None or a positive number of bit/s, not -inf"),
        (RingsBefore, "timer must be None or a time after now"),
        (Backwards, "timer must be None or a time after now"),
        (Unpaced, "pacing_rate must be None or a positive number of bit/s, not 0"),
        (Sends, "Sends.on_sent failed"),
    ],
)
def test_nonsense_in_a_run_fails_it(controller: Any, message: str) -> None:
    with pytest.raises(el.ElephanError) as caught:
        run(controller)
    assert caught.value.exit_status == 1
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("controller", "message"),
    [
        (Early, "Early cannot be made: AttributeError: mss is not known in __init__, before there is a connection"),
        (NoGrowth, "NoGrowth has none of on_ack, on_round and on_delivery"),
        (NoState, 'names the state "w_max", which is None after __init__'),
        (WordForSwitch, "WordForSwitch.slow_start is True or False, not 'no'"),
        (CountForSwitch, "CountForSwitch.measures_rate is True or False, not 1"),
        (MisspelledHook, 'MisspelledHook defines "on_congested", which nothing asks for; did you mean "on_congestion"?'),
        (MisspelledSwitch, 'MisspelledSwitch defines "slow_strat", which nothing asks for; did you mean "slow_start"?'),
        (NotOurs, "NotOurs is not an elephan.CongestionControl"),
        (Reno(), "give the class Reno and not an object of it"),
        (functools.lru_cache(maxsize=1)(lambda: Reno()), "gives the same object twice; each connection needs its own"),
        (lambda: 3, "gives int, which is not an elephan.CongestionControl"),
        (functools.partial(RoundReno, segmnts=2), 'has no parameter "segmnts"; did you mean "segments"?'),
        (functools.partial(RoundReno, y=1), 'RoundReno has no parameter "y"; it has: segments'),
        ({"python": "no_such_module:A"}, 'no module "no_such_module"; a file is named by its path'),
        ({"python": "json:A"}, 'json has no "A"'),
        ({"python": f"{__name__}:Rno"}, 'has no "Rno"; did you mean "Reno"?'),
        ({"python": "Mine"}, 'write "module:Class" or "path/to/file.py:Class"'),
        ({"python": "no/such.py:A"}, f"/no/such.py: No such file or directory, nor is it in the working directory {Path.cwd()}"),
        ({"python": f"{__name__}:CONTROLLER"}, "CONTROLLER is str, not a class"),
    ],
)
def test_what_is_no_congestion_control_is_refused_before_the_run(controller: Any, message: str) -> None:
    for call in (lambda: run(controller), lambda: el.sweep("sawtooth", set={CONTROLLER: ["reno", controller]})):
        with pytest.raises(el.InputError) as caught:
            call()
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_file_that_is_no_python_is_one_line_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(el.InputError, match=r"slow\.py:3: SyntaxError: "):
        el.run(beside(tmp_path, WORDS, "import elephan\n\nclass Slow(:\n"))
    with pytest.raises(el.InputError, match=r"NameError: name 'nothing' is not defined \(slow\.py:2\)"):
        el.run(beside(tmp_path, WORDS, "\nnothing\n"))


class Tiny(Reno):
    def on_congestion(self, event: Any) -> None:
        self.ssthresh = self.cwnd = -5.0


def test_a_window_below_a_segment_is_a_segment() -> None:
    c = el.cc.new(Tiny, mss=1000, initial_window=10)
    c.on_loss(0.1, 1000, 10_000)
    assert (c.cwnd, c.ssthresh) == (1000.0, 2000.0)
    assert run(Tiny).summary["goodput_bps"] > 0


class Everything(el.CongestionControl):
    """Notes what it is told."""

    slow_start = False
    measures_rate = True
    states = ("seen",)

    def __init__(self) -> None:
        self.seen = 0.0
        self.told: list[Any] = []
        objects.append(self)

    def on_sent(self, now: float, bytes: int, inflight: int) -> None:
        self.told.append(("sent", now, bytes, inflight))

    def on_delivery(self, ack: Any) -> None:
        self.seen += ack.acked
        self.told.append(("delivery", ack.now, ack.acked, ack.rtt, ack.inflight, ack.ce, ack.delivered, ack.rate))

    def on_ack(self, ack: Any) -> None:
        self.cwnd += 100
        self.pacing_rate = 8e6
        self.timer = ack.now + 0.5

    def on_timer(self, now: float) -> None:
        self.told.append(("timer", now, self.timer))

    def on_congestion(self, event: Any) -> None:
        self.told.append((event.kind, event.now, event.lost, event.inflight))
        self.ssthresh = self.cwnd = 5 * self.mss

    def on_undo(self, now: float) -> None:
        self.told.append(("undo", now, self.cwnd))


objects: list[Everything] = []


class Counting(el.CongestionControl):
    told = 0

    def on_delivery(self, ack: Any) -> None:
        Counting.told += ack.acked


def test_every_byte_is_told_once_though_segments_overtake_each_other() -> None:
    """Two of a hundred segments are a millisecond late, so that they are SACKed around; none is lost."""
    Counting.told = 0
    run = el.run(
        """
        duration = "20 s"
        [hosts.c]
        [hosts.s]
        [[links]]
        between = ["c", "s"]
        rate = "20 Mbps"
        delay = "20 ms"
        reorder = { share = 0.02, extra = "1 ms" }
        [[traffic]]
        name = "bulk"
        from = "c"
        to = "s"
        kind = "bulk"
        size = "4 MB"
        """,
        set={"traffic.bulk.congestion_control": Counting, "stack": "linux"},
    )
    flow = run.flows.to_pylist()[0]
    assert (flow["delivered_bytes"], flow["segs_retrans"]) == (4_000_000, 0)
    assert flow["dup_acks_in"] > 5
    assert Counting.told == 4_000_001  # the FIN counts as one


def test_stepping_tells_everything() -> None:
    c = el.cc.new(Everything, mss=1000, initial_window=10)
    controller = objects[-1]
    assert (c.name, c.pacing_rate, c.state, c.next_timer()) == ("Everything", None, {"seen": 0.0}, None)
    c.on_sent(0.0, 1000, 2000)
    c.on_ack(0.25, 3000, 0.1, 9000, ce=500, delivered=7000, rate=1e6)
    assert (c.cwnd, c.pacing_rate, c.next_timer(), c.state) == (10_100.0, 8e6, 0.75, {"seen": 3000.0})
    c.on_timer(0.5)
    c.on_timer(0.75)
    assert c.next_timer() is None
    c.on_loss(1.0, 2000, 9000)
    assert (c.cwnd, c.ssthresh) == (5000.0, 5000.0)
    c.on_undo(1.5)
    assert c.cwnd == 10_100.0
    c.on_ecn(2.0, 100)
    c.on_rto(3.0, 200)
    c.on_local_drop(4.0, 300)
    assert controller.told == [
        ("sent", 0.0, 1000, 2000),
        ("delivery", 0.25, 3000, 0.1, 9000, 500, 7000, 1e6),
        ("timer", 0.75, None),
        ("loss", 1.0, 2000, 9000),
        ("undo", 1.5, 10_100.0),
        ("ecn", 2.0, 0, 100),
        ("rto", 3.0, 0, 200),
        ("local_drop", 4.0, 0, 300),
    ]
    c.poke(seen=7.0, cwnd=3000.0)
    assert (c.state, c.cwnd) == ({"seen": 7.0}, 3000.0)
    with pytest.raises(el.InputError, match="no value `seem`"):
        c.poke(seem=1.0)


def test_stepping_raises_what_the_class_raises() -> None:
    c = el.cc.new(Failing, mss=1000)
    c.poke(ssthresh=2000.0)
    with pytest.raises(RuntimeError, match="first line"):
        c.on_ack(0.1, 1000, 0.1, 1000)
    with pytest.raises(el.InputError, match="RoundReno has no parameter"):
        el.cc.new(RoundReno, gain=1)


def test_describe_a_class() -> None:
    about = el.cc.describe(RoundReno)
    assert (about["name"], about["summary"]) == ("RoundReno", "One segment more a round trip.")
    assert [(p["name"], p["default"]) for p in about["parameters"]] == [("segments", 1.0)]
    assert [state["name"] for state in about["states"]] == ["rounds"]


def test_a_paced_controller_with_its_own_slow_start_runs() -> None:
    controller = run(Everything)
    assert controller.flow_samples["pacing_bps"].to_pylist()[-1] == 8e6
    # 8 Mbit/s of payload once the window is no limit.
    delivered = {row["time_ns"]: row["delivered_bytes"] for row in controller.flow_samples.to_pylist()}
    assert delivered[11 * 10**9] - delivered[6 * 10**9] == pytest.approx(5 * 8e6 / 8, abs=2 * 1448)
    assert any(told[0] == "delivery" and told[-1] is not None for told in objects[-1].told)


def test_right_controllers_pass_the_check() -> None:
    for controller in (Reno, RoundReno):
        el.testing.check_congestion_control(controller, cases=100)
    el.testing.check_congestion_control(RoundReno, cases=20, days=False, segments=2)


class GrowsWhileLimited(Reno):
    def on_ack(self, ack: Any) -> None:
        self.cwnd += self.mss * min(ack.acked, self.cwnd) / self.cwnd


class DoublesInCongestionAvoidance(Reno):
    def on_ack(self, ack: Any) -> None:
        if not ack.app_limited:
            self.cwnd += 2 * ack.acked


class RaisesAtALoss(Reno):
    def on_congestion(self, event: Any) -> None:
        self.ssthresh = self.cwnd = self.cwnd + 4 * self.mss


class BelowASegment(Reno):
    def on_congestion(self, event: Any) -> None:
        self.cwnd = min(self.cwnd, event.inflight) / 2
        self.ssthresh = max(self.cwnd, 2 * self.mss)


class Random(Reno):
    def on_ack(self, ack: Any) -> None:
        if not ack.app_limited:
            self.cwnd += random.random() * min(ack.acked, self.mss)


class DividesByTheRtt(Reno):
    def on_ack(self, ack: Any) -> None:
        if not ack.app_limited and ack.acked:
            self.cwnd += min(ack.acked, 1 / ack.rtt)


class Overflows(Reno):
    def __init__(self) -> None:
        self.gain = 1.0

    def on_ack(self, ack: Any) -> None:
        self.gain *= 1.01
        self.cwnd += 0.0 * int(self.gain)


class ForgetsUndo(Reno):
    states = ("w_max",)

    def __init__(self) -> None:
        self.w_max = 0.0

    def on_congestion(self, event: Any) -> None:
        self.w_max = self.cwnd
        super().on_congestion(event)

    def on_undo(self, now: float) -> None: ...


@pytest.mark.parametrize(
    ("controller", "rule", "steps"),
    [
        (GrowsWhileLimited, "while the application was the limit", 4),
        (DoublesInCongestionAvoidance, "where slow start adds", 4),
        (RaisesAtALoss, "a congestion event raised the window by 5792 B", 2),
        (BelowASegment, "cwnd was set to", 1),
        (Random, "two that were told the same differ", 4),
        (DividesByTheRtt, "TypeError: unsupported operand type(s) for /: 'int' and 'NoneType' (test_guest.py:", 4),
        (Overflows, "OverflowError: cannot convert float infinity to integer", None),
        (ForgetsUndo, "an event undone at once leaves", 3),
        (Nan, "ValueError: cwnd must be a number of bytes, not NaN", 4),
    ],
)
def test_wrong_controllers_fail_the_check(controller: Any, rule: str, steps: int | None) -> None:
    with pytest.raises(AssertionError) as caught:
        el.testing.check_congestion_control(controller)
    text = str(caught.value)
    assert text.startswith(f"{controller.__name__}: ")
    assert rule in text
    if steps is None:
        assert "after " in text
        assert "ten days" in text
    else:
        assert "\nseed " in text
        assert text.count("\n  at ") <= steps, text
    assert isinstance(caught.value.__cause__, Exception) == ("Error" in rule or rule == "cwnd was set to")


def test_the_example_of_the_documentation() -> None:
    """A quarter of the smallest round-trip time, 50 ms, at 20 Mbit/s is 31 KB of queue; it sways by some segments."""
    docs = Path(__file__).parents[2] / "docs"
    example = (docs / "examples" / "gentle.py").read_text()
    controller = example[example.index("class Gentle") : example.index("def picture")].strip()
    assert controller in (docs / "python-congestion-control.md").read_text()
    words = {"python": f"{docs / 'examples' / 'gentle.py'}:Gentle"}
    run = el.run("sawtooth", set={CONTROLLER: words, "duration": "20 s", "warmup": "10 s"})
    queue = [row["queue_bytes"] for row in run.port_samples.to_pylist() if row["time_ns"] > 10**10]
    assert 31_250 / 2 < max(queue) < 31_250 + 5 * 1538


def test_the_check_takes_sense_only() -> None:
    with pytest.raises(el.InputError, match="cases is a whole number, not -1"):
        el.testing.check_congestion_control(Reno, cases=-1)
    with pytest.raises(el.InputError, match="a congestion control is a name, a class"):
        el.testing.check_congestion_control("reno")


def documented() -> tuple[str, list[str]]:
    """The first block of the page, and the arguments of the command that it gives for a file."""
    page = (Path(__file__).parents[2] / "docs" / "python-congestion-control.md").read_text()
    found = re.search(r"`elephan (run sawtooth -s '[^']*gentle\.py:Gentle[^']*')`", page)
    assert found is not None
    return page.split("```python\n")[1].split("```")[0], shlex.split(found[1])


def test_the_documented_file_and_command(tmp_path: Path) -> None:
    block, arguments = documented()
    (tmp_path / "gentle.py").write_text(block)
    done = command(*arguments, "-s", "duration=12 s", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # Without the guard it is a line, not a wait for ever: the run needs the class of the file that waits for the run.
    (tmp_path / "gentle.py").write_text(block.replace('if __name__ == "__main__":', "if True:"))
    for words in ("gentle.py:Gentle", "gentle:Gentle"):
        done = command("run", "sawtooth", "-s", f'{CONTROLLER}={{ python = "{words}" }}', cwd=tmp_path)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
        assert f"{words.split(':')[0]} runs a simulation when it is loaded; put that under" in done.stderr


def test_a_module_may_run_its_own_class_while_it_is_imported(tmp_path: Path) -> None:
    runs = f'\nresult = el.run("sawtooth", set={{"{CONTROLLER}": Slow, "duration": "12 s"}})\n'
    (tmp_path / "own.py").write_text(FILE + runs)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *(p for p in sys.path if p)])}
    subprocess.run([sys.executable, "-c", "import own"], env=environment, check=True, timeout=60)


def test_a_file_whose_own_thread_runs_it_is_not_waited_for_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elephan.scenario.guest._PATIENCE", 0.2)
    words = f'{{"{CONTROLLER}": {{"python": "{tmp_path}/slow.py:Slow"}}}}'
    asks = f"""
import threading
def work():
    try:
        el.run("sawtooth", set={words})
    except el.InputError as error:
        Slow.told = str(error)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    (tmp_path / "slow.py").write_text(FILE + asks)
    el.run("sawtooth", set=json.loads(words) | SHORT)
    (module,) = [module for name, module in sys.modules.items() if name.startswith("elephan_guest_slow") and "work" in vars(module)]
    assert module.Slow.told.endswith("slow.py: another thread has not loaded it, or a file before it, in 0.2 s")


@pytest.mark.parametrize("order", ["run", "sweep"])
def test_an_interrupt_while_a_file_is_loaded(tmp_path: Path, order: str) -> None:
    (tmp_path / "slow.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n")
    done = command(order, "sawtooth", "-s", f'{CONTROLLER}={{ python = "slow.py:Slow" }}', cwd=tmp_path)
    assert (done.returncode, done.stderr) == (130, "elephan: interrupted\n")


@pytest.mark.parametrize(("body", "interrupts"), [("for _ in range(100_000): pass", 1), ("while True: pass", 3)])
def test_an_interrupt_of_a_slow_controller(tmp_path: Path, body: str, interrupts: int) -> None:
    """The run has stopped when Python ends, or Python would be aborted; a controller that never returns is left by force."""
    (tmp_path / "slow.py").write_text(
        "import elephan as el\n\nclass Slow(el.CongestionControl):\n    def on_ack(self, ack):\n"
        f"        print('begun', flush=True)\n        {body}\n"
    )
    call = [
        sys.executable,
        "-c",
        "from elephan.cli import main; main()",
        "run",
        "sawtooth",
        "-s",
        f'{CONTROLLER}={{ python = "slow.py:Slow" }}',
    ]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    for _ in range(4 if interrupts == 1 else 1):
        running = subprocess.Popen(call, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        for _ in range(interrupts):
            running.send_signal(signal.SIGINT)
            time.sleep(0.2)
        _, errors = running.communicate(timeout=PATIENCE_S)
        # The last of three may come when the interpreter is about to end, which it then does at once.
        assert running.returncode == 130 or (interrupts == 3 and running.returncode == -signal.SIGINT)
        assert errors == "elephan: interrupted\n"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file() and "__pycache__" not in path.parts] == ["slow.py"]


def test_a_file_that_leaves_python_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(el.InputError, match=r'"controllers/slow.py:Slow": SystemExit: 0 \(slow\.py:2\)$'):
        el.run(beside(tmp_path, WORDS, "import sys\nsys.exit(0)\n"))
    left = [
        name for name, module in sys.modules.items() if getattr(module, "__file__", "") == str(tmp_path / "controllers" / "slow.py")
    ]
    assert not left


def test_what_elephan_refuses_in_a_file_has_the_files_line(tmp_path: Path) -> None:
    with pytest.raises(el.InputError, match=r"unknown|no congestion control.*\(slow\.py:3\)$"):
        el.run(beside(tmp_path, WORDS, 'import elephan as el\n\nel.cc.new("renno")\n'))


def test_an_interrupt_of_the_check_is_no_fault_of_the_class() -> None:
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        el.testing.check_congestion_control(Reno, cases=10**9)


class Begins(Reno):
    """Notes where its connection begins."""

    slow_start = False
    seen: float | None = None

    def on_ack(self, ack: Any) -> None:
        if Begins.seen is None:
            Begins.seen = self.ssthresh
        self.cwnd += min(ack.acked, self.mss)


@pytest.mark.parametrize(("stack", "ssthresh"), [("linux", math.inf), ("winxp", 65536.0)])
def test_the_threshold_before_the_first_congestion_event_is_the_stacks(stack: str, ssthresh: float) -> None:
    Begins.seen = None
    el.run("sawtooth", set={CONTROLLER: Begins, "hosts.sender.stack": stack, "hosts.receiver.stack": stack, **SHORT})
    assert Begins.seen == ssthresh
