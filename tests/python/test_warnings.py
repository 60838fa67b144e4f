"""Warnings stand apart from the answer, marked: in the terminal, the report, the notebook and JSON."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import elephan as el
import pytest
import warningchecks
from elephan import cli
from elephan.report.page.sweep_page import REMEDY, sweep_warnings
from elephan.report.screen import Screen
from elephan.report.words.answer import answer
from elephan.report.words.warnings import warnings
from elephan.scenario import core, kinds
from elephan.scenario.source import open_source
from stories import Rows

# Round trips of 220 and 232 ms over a drop-tail queue of 15 packets (issue 32; Floyd and Jacobson 1992, section 3).
PHASES = """
duration = "60 s"
stack    = "rfc"
[template]
kind         = "dumbbell"
pairs        = 2
rate         = "800 kbps"
delay        = "100 ms"
access_rate  = "8 Mbps"
access_delay = { linear = ["5 ms", "8 ms"] }
queue        = { kind = "fifo", limit = "15 p" }
[[traffic]]
name = "long"
from = "sender"
to   = "receiver"
kind = "bulk"
congestion_control = "reno"
"""
STAR = """
duration = "100 ms"
stack    = "rfc"
[switches.sw]
memory       = "200 KB"
flow_control = { kind = "pause", xoff = "100 KB", xon = "50 KB" }
[hosts.c]
count = 3
[hosts.s]
[[links]]
between = ["c", "sw"]
rate    = "1 Gbps"
delay   = "5 us"
queue   = { kind = "fifo", limit = "%s" }
[[links]]
between = ["sw", "s"]
rate    = "1 Gbps"
delay   = "5 us"
queue   = { kind = "fifo", limit = "%s" }
[[traffic]]
name = "up"
from = "c"
to   = "s"
kind = "bulk"
start = { uniform = ["0 s", "1 ms"] }
"""
MARKS = """
duration = "5 s"
stack    = "rfc"
[template]
kind  = "dumbbell"
pairs = 2
rate  = "20 Mbps"
delay = "10 ms"
queue = { kind = "codel", ecn = true }
[[traffic]]
name = "marked"
from = "sender[0]"
to   = "receiver[0]"
kind = "bulk"
tcp  = { ecn = "classic" }
[[traffic]]
name = "plain"
from = "sender[1]"
to   = "receiver[1]"
kind = "bulk"
"""


def about(run: Any, words: str) -> list[str]:
    """The warnings of a run with some words in them; what each warning says is computed again from rows."""
    lines = warnings(run)
    for line in lines:
        warningchecks.judge(Rows(run), line)
    return [line for line in lines if words in line]


def test_phase_effects_are_said_and_every_seed_gives_the_same() -> None:
    shares = set()
    for seed in (1, 2, 3):
        run = el.run(PHASES, seed=seed)
        assert about(run, "phases (Floyd and Jacobson 1992)")
        assert not any("Floyd" in line for line in answer(run))
        shares.add(tuple(run.flows["delivered_bytes"].to_pylist()))
    assert len(shares) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"traffic.long.start": {"uniform": ["0 s", "1 s"]}},  # what is drawn differs from seed to seed
        {"template.queue.kind": "red"},
        {"template.loss": {"bernoulli": 1e-2}},
        {"template.pairs": 1},  # a flow alone has no share
        {"template.queue.limit": "10 MB"},  # nothing overflows
        {"traffic.long.congestion_control": "bbr"},  # which draws the phases of its probes
    ],
)
def test_what_is_random_or_loses_nothing_has_no_phase_effects(change: dict[str, Any]) -> None:
    run = el.run(PHASES, set={"duration": "20 s", **change})
    assert not about(run, "phases")
    if "template.pairs" not in change and "template.queue.limit" not in change:
        other = el.run(PHASES, seed=2, set={"duration": "20 s", **change})
        assert run.flows["delivered_bytes"].to_pylist() != other.flows["delivered_bytes"].to_pylist()


@pytest.mark.parametrize(
    ("change", "drawn"),
    [
        ({}, []),
        ({"template.access_delay": {"uniform": ["1 ms", "2 ms"]}}, ["links[0].delay", "links[2].delay"]),
        ({"traffic.long.start": {"uniform": ["0 s", "1 s"]}}, ["traffic[0]"]),
        ({"traffic.long.congestion_control": "pcp"}, ["traffic[0]"]),
        ({"template.queue.kind": "red"}, ["left->right", "right->left"]),
        ({"template.queue.kind": "drr"}, []),
        ({"change": [{"at": "5 s", "set": {"links.left->right.loss": {"bernoulli": 0.1}}}]}, ["change[0]"]),
        ({"congestion_management": {"kind": "qcn"}}, ["congestion_management"]),
    ],
)
def test_what_is_drawn(change: dict[str, Any], drawn: list[str]) -> None:
    resolved = core.resolved_toml(open_source(PHASES), change)
    assert kinds.scenario(resolved)["draws"] == drawn


@pytest.mark.parametrize(
    ("words", "drawn"),
    [
        ({"kind": "onoff", "load": "1 Mbps"}, True),
        ({"kind": "cbr", "rate": "1 Mbps"}, False),
        ({"kind": "cbr", "rate": "1 Mbps", "gaps": "exponential"}, True),
        ({"kind": "burst", "packets": 9}, False),
        ({"kind": "frames", "rate": "1 Mbps"}, False),
        ({"kind": "users", "size": "1 MB", "think": "1 s"}, False),
        ({"kind": "incast", "size": "1 MB"}, False),
        ({"kind": "incast", "size": {"exponential": "1 MB"}}, True),
        # Each transfer has one of both pairs at random.
        ({"kind": "transfers", "size": "1 MB", "load": "1 Mbps", "gaps": "fixed"}, True),
    ],
)
def test_which_traffic_draws(words: dict[str, Any], drawn: bool) -> None:
    scenario = tomllib.loads(PHASES) | {"traffic": [{"from": "sender", "to": "receiver", **words}]}
    assert (kinds.scenario(core.resolved_toml(open_source(scenario), {}))["draws"] != []) == drawn


@pytest.mark.parametrize(("limit", "never"), [("10 p", True), ("30 KB", False)])
def test_a_pause_that_can_never_fire(limit: str, never: bool) -> None:
    """Four ports hold ten frames of 1518 B and one on the wire each, 66.8 kB, below xoff of 100 kB; with 30 KB each 126 kB."""
    run = el.run(STAR % (limit, limit))
    assert bool(about(run, "PAUSE of sw can never fire")) == never
    if never:
        assert sum(run.ports["pauses_sent"].to_pylist()) == 0


def test_no_ecn_beside_marks() -> None:
    run = el.run(MARKS)
    assert sum(run.ports["marks"].to_pylist()) > 0
    assert about(run, "1 flow of reno has no ECN beside flows whose packets left → right marks")
    both = el.run(MARKS, set={"traffic.plain.tcp.ecn": "classic"})
    assert not about(both, "beside flows")


SLOW = """
duration = "40 s"
warmup   = "10 s"
stack    = "rfc"
[template]
kind  = "dumbbell"
pairs = 2
rate  = "%s"
delay = "10 ms"
queue = { kind = "dualpi2", any_ect = true%s }
[[traffic]]
name = "scalable"
from = "sender[0]"
to   = "receiver[0]"
kind = "bulk"
congestion_control = "dctcp"
tcp  = { ecn = "dctcp" }
[[traffic]]
name = "classic"
from = "sender[1]"
to   = "receiver[1]"
kind = "bulk"
congestion_control = "reno"
"""


def test_dualpi2_on_a_slow_link() -> None:
    """A frame takes 1.23 ms at 10 Mb/s: a step of 1 ms marks what waits for another packet. Issue 32: 0.1 of the classic flow."""
    shares = {}
    for name, rate, more in (("slow", "10 Mbps", ""), ("fast", "100 Mbps", ""), ("wide", "10 Mbps", ', step_thresh = "10 ms"')):
        run = el.run(SLOW % (rate, more))
        assert bool(about(run, "longer than step_thresh of dualpi2")) == (name == "slow")
        scalable, classic = run.flows["goodput_bps"].to_pylist()
        shares[name] = scalable / classic
    assert shares["slow"] < 0.3
    assert shares["wide"] > 3 * shares["slow"]
    assert shares["fast"] > 3 * shares["slow"]


def test_the_preset_of_the_rfc_spares_a_packet_alone() -> None:
    """Th_len of RFC 9332 appendix A.1 is one packet."""
    plain, rfc = (el.run(SLOW % ("10 Mbps", more)) for more in ("", ', preset = "rfc9332"'))
    assert rfc.flows["goodput_bps"].to_pylist()[0] > plain.flows["goodput_bps"].to_pylist()[0]
    queue = el.queue.new("dualpi2", preset="rfc9332", link_rate=10e6)
    assert el.queue.parameters(queue)["th_len"] == 1
    queue.enqueue(0.0, 1500, ect=1)
    assert queue.dequeue(0.05) == (0, False)


def test_warnings_stand_apart_everywhere(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "phases.toml"
    file.write_text(PHASES)
    assert cli.status_of(["run", str(file), "--out", str(tmp_path / "o")]) == 0
    lines = capfd.readouterr().out.splitlines()
    (marked,) = [i for i, line in enumerate(lines) if line.startswith("warning: ")]
    assert "Nothing in this scenario is drawn at random" in lines[marked]
    assert '<p class="warning">Nothing in this scenario' in (tmp_path / "o" / "report.html").read_text()
    run = el.load(tmp_path / "o")
    assert "<b>Warning:</b> Nothing in this scenario" in run._repr_html_()
    assert cli.status_of(["run", str(file), "--out", str(tmp_path / "p"), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["warnings"] == warnings(run)


def test_a_sweep_whose_seeds_are_alike_warns(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "phases.toml"
    file.write_text(PHASES)
    words = ["sweep", str(file), "-s", "template.queue.limit=15 p,20 p", "-s", "duration=10 s", "--repetitions", "2"]
    assert cli.status_of([*words, "--out", str(tmp_path / "o")]) == 0
    assert "warning: The repetitions of a variant are all alike: nothing in them is random." in capfd.readouterr().out
    assert '<p class="warning">The repetitions' in (tmp_path / "o" / "report.html").read_text()


def _repeated(change: dict[str, Any]) -> list[str]:
    set = {"duration": "20 s", "template.queue.limit": ["15 p", "20 p"], **change}
    return sweep_warnings(el.sweep(PHASES, set=set, repetitions=3))


def test_a_sweep_whose_seeds_are_nearly_alike_warns_with_a_remedy() -> None:
    """A draw of a nanosecond is far below a packet's 12 ms: it moves no loss. A second does."""
    (said,) = _repeated({"traffic.long.start": {"uniform": ["0 s", "1 ns"]}})
    assert said.startswith("The repetitions of all variants are nearly alike: no statistic differs by more than 0.1 % of its mean")
    assert 'start = { uniform = ["0 s", "100 ms"] }' in said
    assert "jitter" in said
    assert _repeated({"traffic.long.start": {"uniform": ["0 s", "1 s"]}}) == []
    one, *more = _repeated({})
    assert one.startswith("The repetitions of a variant are all alike")
    assert more == []


def test_the_remedies_for_phase_effects_are_valid_scenarios() -> None:
    """Both make repetitions differ."""
    text = """
        duration = "20 s"
        hosts = { a = { count = 2 }, b = {} }
        switches = { sw = {} }
        [[links]]
        between = ["a", "sw"]
        rate = "10 Mbps"
        delay = "1 ms"
        %s
        [[links]]
        between = ["sw", "b"]
        rate = "1 Mbps"
        delay = "10 ms"
        queue = { kind = "fifo", limit = "15 p" }
        [[traffic]]
        from = "a"
        to = "b"
        kind = "bulk"
        %s
    """
    start, jitter = REMEDY.removeprefix("Draw something: ").removesuffix(" of a link.").split(" of the traffic, or ")
    for words, differs in ((("", ""), False), (("", start), True), ((jitter, ""), True)):
        runs = [el.run(text % words, seed=seed) for seed in (1, 2)]
        assert (runs[0].flows["delivered_bytes"] != runs[1].flows["delivered_bytes"]) is differs


@pytest.mark.parametrize(("queue", "warned"), [("", False), ('queue = { kind = "fifo", limit = "20 p" }', True)])
def test_a_queue_of_a_link_without_a_switch(queue: str, warned: bool) -> None:
    run = el.run(
        f"""
        duration = "100 ms"
        hosts = {{ a = {{ count = 2 }}, b = {{}} }}
        links = [{{ between = ["a", "b"], rate = "10 Mbps", delay = "1 ms"{", " + queue if queue else ""} }}]
        [[traffic]]
        from = "a"
        to = "b"
        kind = "bulk"
        """
    )
    found = [one for one in warnings(run) if "host_queue" in one]
    assert found == (
        ["links[0].queue has no effect: it is of switch ports, and a and b are hosts; say host_queue."] if warned else []
    )


def test_a_sweep_and_a_comparison_have_their_warnings_in_json(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The key and its shape are those of `run --json`."""
    file = tmp_path / "s.toml"
    file.write_text(PHASES.replace('"60 s"', '"10 s"'))
    words = ["sweep", str(file), "-s", "template.queue.limit=15 p,20 p", "--repetitions", "2", "--workers", "1"]
    assert cli.status_of([*words, "--out", str(tmp_path / "s"), "--json"]) == 0
    (said,) = json.loads(capfd.readouterr().out)["warnings"]
    assert "phases (Floyd and Jacobson 1992)" in said
    words = ["compare", "reno,xcp", "--rate", "10Mbps", "--rtt", "20ms", "--quick", "--repetitions", "1", "--workers", "1"]
    assert cli.status_of([*words, "--out", str(tmp_path / "c"), "--json"]) == 0
    (said,) = json.loads(capfd.readouterr().out)["warnings"]
    assert "xcp" in said


def test_sentences_end_at_the_width_of_a_terminal(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """In a file a sentence is a line, for grep; in a terminal a word is never broken."""
    screen = Screen(width=40)
    for terminal, lines in ((True, ["warning: This sentence is longer than", "forty characters are."]), (False, None)):
        monkeypatch.setattr(Screen, "is_terminal", terminal)
        screen.warn(["This sentence is longer than forty characters are."])
        found = [line.rstrip() for line in capfd.readouterr().out.splitlines()]
        assert found == (lines or ["warning: This sentence is longer than forty characters are."])
