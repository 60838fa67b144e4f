"""`elephan conformance`: checks as data, verdicts, reports, the smallest failing stories."""

from __future__ import annotations

import importlib
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import elephan as el
import pytest
from elephan import cli
from elephan.base.errors import InputError
from elephan.experiment.conformance.checks import FILE, Asked, Check, Margin, Setting, read_checks
from elephan.experiment.conformance.expression import read_expression
from elephan.experiment.conformance.judge import judge
from elephan.experiment.trials import Trial, Trials
from elephan.scenario import core
from elephan.scenario.source import open_source

ROOT = Path(__file__).parents[2]

# A window that never shrinks below 60 segments takes all that a Reno flow beside it has.
GREEDY = """import elephan as el


class Greedy(el.CongestionControl):
    def on_round(self, round):
        self.cwnd += self.mss

    def on_congestion(self, event):
        self.cwnd = max(self.cwnd, 60 * self.mss)
"""

OWN = """
[experiments.short]
scenario = "sawtooth"
control  = ["reno"]
set      = { duration = "12 s", "warmup" = "2 s" }

[[checks]]
id         = "fills"
area       = "lab"
title      = "It fills the line"
learn      = "What a flow gets."
source     = "ticket 1"
margin     = "half"
experiment = "short"
statistic  = "goodput_bps[reno].sum / 1000000"
at_least   = 10
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "greedy.py").write_text(GREEDY)
    (tmp_path / "own.toml").write_text(OWN)
    return tmp_path


def test_a_class_that_takes_all_fails_with_a_story_that_fails_alone(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = "conformance greedy.py:Greedy --only fair-to-reno --only buffer-1 --quick --out out --junit out.xml --json"
    assert cli.status_of(shlex.split(words)) == 1
    found = json.loads(capfd.readouterr().out)
    assert found["counts"] == {"passed": 1, "failed": 1, "not sure": 0, "not applicable": 0}
    check = next(one for one in found["checks"] if one["id"] == "fair-to-reno")
    assert check["verdict"] == "failed"
    assert check["judged"]["mean"] < 0.5 < 1 - 1e-9 <= 1.0  # of what Reno has beside Reno
    assert check["references"]["reno"]["mean"] == pytest.approx(4.7e6, rel=0.1)  # half of 10 Mb/s, less headers
    assert (check["source"], check["story"]) == ("RFC 9743 section 5.2.1", "stories/fair-to-reno.toml")

    suites = ElementTree.parse(folder / "out.xml").getroot()
    assert (suites.get("tests"), suites.get("failures"), suites.get("skipped")) == ("2", "1", "0")
    assert [one.get("name") for one in suites.iter("testcase") if one.find("failure") is not None] == ["fair-to-reno"]

    # Alone, in its own folder, which has the class as well: shorter, with one seed, and the Reno flow is starved in it.
    (folder / "greedy.py").unlink()
    story = folder / "out" / "stories" / "fair-to-reno.toml"
    run = el.run(story)
    assert run.duration_ns < 60e9
    assert run.statistic("goodput_bps[b].sum") < 0.25 * run.statistic("goodput_bps.sum")
    assert "seed = " in story.read_text()
    assert cli.status_of(["run", str(story), "--no-report"]) == 0

    loaded = el.load(folder / "out")
    assert loaded.as_dict() == {key: value for key, value in found.items() if key not in ("folder", "warnings")}
    page = Path(el.load(folder / "out").draw(folder / "out")).read_text()
    assert "elephan explore " in page
    assert "A Reno flow beside it keeps half" in page
    assert loaded.save(folder / "again").joinpath("stories", "fair-to-reno.toml").read_text() == story.read_text()


def test_a_story_of_a_class_from_elsewhere_stands_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "lab").mkdir()
    (folder / "greedy.py").rename(folder / "lab" / "elsewhere.py")
    monkeypatch.syspath_prepend(folder / "lab")
    for control in ("lab/elsewhere.py:Greedy", importlib.import_module("elsewhere").Greedy):
        found = el.conformance(control, only=["starves-reno-shallow"], quick=True, out=folder / "out", report=False)
        assert [one.file for one in found.stories] == ["stories/starves-reno-shallow.toml"]
        shutil.rmtree(folder / "moved", ignore_errors=True)
        shutil.move(folder / "out" / "stories", folder / "moved")
        assert el.run(folder / "moved" / "starves-reno-shallow.toml").flows["congestion_control"].to_pylist()[0] == "Greedy"


def test_checks_of_ones_own_are_added(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.status_of(shlex.split("conformance cubic --checks own.toml --only fills --quick --no-report")) == 0
    told = capfd.readouterr().out
    assert re.search(r"fills +passed +\d", told)
    assert "at least 10" in told
    own, shipped = ({one.id: one for one in read_checks(file)} for file in (folder / "own.toml", None))
    assert "short-flows" in own.keys() & shipped.keys()  # whose experiment has the name of one of this file
    settings = [checks["short-flows"].asked.setting for checks in (own, shipped)]
    assert settings[0] == settings[1]
    assert settings[0].source.text == settings[1].source.text
    (folder / "own.toml").write_text(OWN.replace('"fills"', '"buffer-1"').replace("at_least   = 10", "at_most    = 10"))
    assert cli.status_of(shlex.split("conformance cubic --checks own.toml --only buffer-1 --quick --no-report --out two")) == 1


@pytest.mark.parametrize(
    ("written", "instead", "why"),
    [
        ("at_least ", "at_leest ", 'own.toml:16: unknown key "at_leest"; did you mean "at_least"?'),
        ('"short"\nstat', '"shart"\nstat', 'own.toml:14: check fills: experiment: no experiment "shart"; did you mean "short"?'),
        ("goodput_bps[", "goodputt_bps[", 'own.toml:15: check fills: statistic: no measure "goodputt_bps"; did you mean'),
        ("/ 1000000", "/", "own.toml:15: check fills: statistic: "),
        ("= 10", '= "ten"', "own.toml:16: check fills: at_least is a number, not 'ten'"),
        ('source     = "ticket 1"', 'source     = ""', "own.toml:12: check fills: source is a text"),
        ("at_least   = 10", "at_least = 10\nat_most = 20", "own.toml:17: check fills: at_most: a check has one of"),
        ('"sawtooth"', '"sawtoth"', 'own.toml:3: no scenario file or library scenario "sawtoth"; did you mean "sawtooth"?'),
        ('["reno"]', '"reno"', "own.toml:4: check fills: control is a list of texts"),
        ('["reno"]', '["renno"]', "own.toml:4: check fills: traffic.renno.congestion_control=reno: no "),
        ('"12 s"', '"12 sec"', 'own.toml:5: check fills: duration=12 sec: unknown unit "sec"'),
        ("duration =", "duratoin =", 'own.toml:5: check fills: duratoin=12 s: no such key; did you mean "duration"?'),
        (
            "area ",
            'set = { "template.rates" = "1 Mbps" }\narea ',
            "own.toml:9: check fills: template.rates=1 Mbps: no such key; did",
        ),
        ("area ", 'beside = { other = "reno" }\narea ', "own.toml:9: check fills: traffic.other.congestion_control=reno: no "),
        ("area ", 'beside = { reno = "renno" }\narea ', "own.toml:9: check fills: beside: reno has the congestion control under"),
        ("area ", "beside = 3\narea ", "own.toml:9: check fills: beside is a table, not 3"),
        ("control  =", "controls =", 'own.toml:4: unknown key "controls"; did you mean "control"?'),
        ("[experiments.short]", "[experiment.short]", 'own.toml:2: unknown key "experiment"; did you mean "experiments"?'),
        ("at_least   = 10", "at_least = inf", "own.toml:16:12: checks[0].at_least: inf: must be a finite number"),
        ("set      = {", "set = 3 # {", "own.toml:5: check fills: set is a table, not 3"),
        ('id         = "fills"', 'id = "A B"', "own.toml:8: check 1: id is a word"),
        ("[[checks]]", "[[checks", "own.toml:7:9: "),
        ("area ", "given = 3\narea ", "check fills: given is a text such as"),
        ("area ", 'unit = "m"\narea ', "check fills: unit is bps, ns, bytes, % or 1, not 'm'"),
        ("area ", 'of = ["cubci"]\narea ', 'check fills: of: no score of "cubci"; did you mean "cubic"?'),
        ("at_least   = 10", "within = [5, 1]", "own.toml:16: check fills: within is the lower number, then the higher, not [5, 1]"),
        ("area ", 'stories = "a"\narea ', 'unknown key "experiment"'),
        ("area ", 'of = ["like", "reno"]\narea ', 'check fills: of: "like" stands alone'),
        ("area ", 'requires = "buffer-01"\narea ', 'requires: no other check "buffer-01"; did you mean "buffer-0.1"?'),
        ("area ", 'requires = "fills"\narea ', 'requires: no other check "fills"'),
    ],
)
def test_what_is_wrong_in_a_file_of_checks_is_one_line(
    folder: Path, capfd: pytest.CaptureFixture[str], written: str, instead: str, why: str
) -> None:
    assert written in OWN
    (folder / "own.toml").write_text(OWN.replace(written, instead, 1))
    assert cli.status_of(["conformance", "reno", "--checks", "own.toml", "--only", "fills"]) == 2
    told = capfd.readouterr().err
    assert why in told
    assert told.count("\n") == 1
    assert not (folder / "results").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("renoo", 'no congestion control "renoo"; did you mean "reno"?'),
        ("greedy.py", "which class of this file"),
        ("reno --only fair-to-ren", 'no check "fair-to-ren"; did you mean "fair-to-reno"?'),
        ("reno --checks none.toml", "none.toml: No such file"),
        ("reno --like cubik", 'no congestion control "cubik"; did you mean "cubic"?'),
        ("reno --like greedy.py:Greedy", "like: the name of a built-in congestion control such as cubic"),
        ("reno -n 0", "repetitions must be a whole number"),
    ],
)
def test_wrong_words_are_one_line(folder: Path, capfd: pytest.CaptureFixture[str], words: str, why: str) -> None:
    assert cli.status_of(["conformance", *words.split()]) == 2
    told = capfd.readouterr().err
    assert why in told
    assert told.count("\n") == 1


def test_a_class_that_raises_fails_with_its_line(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "greedy.py").write_text(GREEDY.partition("    def on_congestion")[0].replace("self.mss", "1 / (round.now < 3)"))
    words = "conformance greedy.py:Greedy --only buffer-1 --only buffer-4 --quick --no-report --out out --junit out.xml"
    assert cli.status_of(shlex.split(words)) == 1
    told = capfd.readouterr().out
    assert "Greedy.on_round failed in flow 0" in told
    assert "ZeroDivisionError" in (folder / "out.xml").read_text()
    # One story for both checks, in which 35 of the 40 s are left out.
    assert told.count("elephan run out/stories/buffer-1.toml") == 2
    assert [one.name for one in sorted((folder / "out" / "stories").iterdir())] == ["buffer-1.toml", "greedy.py"]
    assert 'duration = "5 s"' in (folder / "out" / "stories" / "buffer-1.toml").read_text()
    assert cli.status_of(["run", "out/stories/buffer-1.toml", "--no-report"]) == 1
    assert "Greedy.on_round failed in flow 0" in capfd.readouterr().err
    assert sorted(one.name for one in folder.iterdir() if one.suffix == ".partial") == []


def test_junit_is_written_to_a_pipe_or_a_link_and_does_not_replace_it(folder: Path) -> None:
    found = el.conformance("reno", only=["bounds"], quick=True, out=folder / "out", report=False)
    (folder / "link.xml").symlink_to(folder / "real.xml")
    found.junit(folder / "link.xml")
    assert (folder / "link.xml").is_symlink()
    assert ElementTree.parse(folder / "real.xml").getroot().get("tests") == "1"
    os.mkfifo(folder / "pipe")
    reader = os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    found.junit(folder / "pipe")
    assert os.read(reader, 100_000).startswith(b"<?xml")
    os.close(reader)
    assert (folder / "pipe").is_fifo()


def test_the_harness_tells_the_shortest_story(folder: Path) -> None:
    (folder / "greedy.py").write_text(GREEDY.replace("60 * self.mss", "math.inf").replace("import el", "import math\nimport el", 1))
    found = el.conformance("greedy.py:Greedy", only=["bounds"])
    assert found.finding("bounds").verdict == "failed"
    assert "the shortest story" in found.finding("bounds").message
    assert found.finding("bounds").no_story.startswith("The harness calls the control without a network")
    found.save(folder / "out", False, True)
    assert "so no scenario shows this" in (folder / "out" / "report.html").read_text()
    assert el.load(folder / "out").finding("bounds").no_story == found.finding("bounds").no_story


def test_diff_names_the_checks_that_differ_with_numbers(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    only = ["buffer-1", "loss-1-friendly", "start"]
    for name, control, checks in (("a", "reno", only), ("b", "greedy.py:Greedy", only), ("c", "reno", ["buffer-1", "outage"])):
        found = el.conformance(control, only=checks, quick=True, stories=False, store=folder / "store")
        found.save(folder / name, report=False)
    assert cli.status_of(["diff", "a", "b"]) == 0
    told = capfd.readouterr().out
    assert re.search(r"loss-1-friendly +passed +failed +1 \u00d7 +\d[\d.]* ", told)
    assert cli.status_of(["diff", "a", "b", "--json"]) == 0
    rows = {one["check"]: one for one in json.loads(capfd.readouterr().out)}
    friendly = rows["loss-1-friendly"]
    assert (friendly["differs"], friendly["verdict_a"], friendly["verdict_b"]) == ("verdict", "passed", "failed")
    assert (friendly["a"]["mean"], friendly["unit"]) == (1.0, "1")
    assert friendly["b"]["mean"] > 2
    assert cli.status_of(["diff", "a", "a"]) == 0
    told = capfd.readouterr().out
    assert "No check has another verdict" in told
    assert "0 have another score within the 95 % intervals, 3 the same" in told
    assert cli.status_of(["diff", "a", "c"]) == 0
    told = capfd.readouterr().out
    assert "Only A has loss-1-friendly, start." in told
    assert "Only B has outage." in told


def test_built_in_controls_go_through_the_harness_too() -> None:
    for control in ("reno", {"kind": "cubic", "preset": "linux"}, "hybla"):
        found = el.conformance([control], only=["bounds", "ten-days"])
        assert [one.verdict for one in found.findings] == ["passed", "passed"]


def test_every_shipped_check_runs_and_says_what_it_is_for() -> None:
    checks = read_checks()
    assert len(checks) > 45
    assert len({one.id for one in checks}) == len(checks)
    for one in checks:
        assert one.source
        assert one.reason
        assert one.learn.endswith(".")
        if one.asked is not None:
            core.resolve(one.asked.setting.source, one.asked.setting.overrides("cubic"), 1)
    assert {"fairness", "starvation", "queue", "change", "loss", "limits", "short flows", "aqm", "bounds"} <= {
        c.area for c in checks
    }
    # RFC 9743: self, Reno, CUBIC and BBR; buffers from 0.1 to 20 BDP
    assert {"fair-to-itself", "fair-to-reno", "fair-to-cubic", "fair-to-bbr", "buffer-0.1", "buffer-20"} <= {c.id for c in checks}


@pytest.mark.slow
def test_the_page_of_the_built_in_controls_is_current(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "docs" / "conformance_reports.py"), "--check"]
    assert subprocess.run(command, cwd=tmp_path, check=False, timeout=3600).returncode == 0


def test_a_control_is_compared_with_what_it_says_it_implements(folder: Path) -> None:
    """Greedy grows by a segment a round trip as Reno does, and keeps 60 segments at a loss, where Reno halves."""
    checks = ["like-first-rounds", "like-loss-1"]
    plain = el.conformance("greedy.py:Greedy", only=checks)
    assert [(one.verdict, one.message) for one in plain.findings] == [
        ("not applicable", "it compares with a built-in control: --like NAME")
    ] * 2
    assert len(plain.trials) == 0
    for like, others in (("reno", ["reno", "cubic", "bbr"]), ("highspeed", ["reno", "cubic", "bbr", "highspeed"])):
        found = el.conformance(
            "greedy.py:Greedy", like=like, only=checks, quick=True, stories=False, out=folder / like, report=False
        )
        first, loss = found.findings
        assert (first.verdict, first.judged.mean) == ("passed", pytest.approx(1.0, abs=0.1))
        assert (loss.verdict, loss.check.of) == ("failed", (like,))
        assert loss.judged.mean > 1.25
        assert loss.check.expected == f"from 0.8 to 1.25 times that of {like}"
        assert {one.variant for one in found.trials} == {"Greedy", like}  # the others do not run for it
        loaded = el.load(folder / like)
        assert (loaded.like, loaded.others, loaded.as_dict()) == (like, others, found.as_dict())


def test_a_check_that_requires_another_brings_it_and_waits_for_it(folder: Path) -> None:
    (folder / "own.toml").write_text(
        OWN.replace("area ", 'given = "marks.sum"\narea ') + OWN.partition("[[checks]]")[2].join(["\n[[checks]]", ""])
        .replace('"fills"', '"second"').replace("area ", 'requires = "fills"\narea ')
    )  # fmt: skip
    found = el.conformance("reno", checks=folder / "own.toml", only=["second"], quick=True)
    assert [(one.check.id, one.verdict, one.message) for one in found.findings] == [
        ("fills", "not applicable", "no run has marks.sum above 0"),
        ("second", "not applicable", "fills is not applicable: no run has marks.sum above 0"),
    ]


def test_checks_of_l4s_are_for_what_sends_ect1_alone() -> None:
    for control in ("dctcp", "bbr3"):
        found = el.conformance(control, only=["l4s-round-trips"], quick=True)
        assert [one.verdict for one in found.findings] == ["not applicable", "not applicable"]
        assert {one.experiment for one in found.trials} == {"l4s-marks"}
    found = el.conformance("bbr3:l4s=true", only=["l4s-marks"], quick=True)
    assert [one.verdict for one in found.findings] == ["passed"]


@pytest.mark.slow
def test_the_checks_of_l4s_tell_what_prague_is_for() -> None:
    """Without its target Prague's rate depends on the round trip as DCTCP's does; RFC 9331 has a fallback for classic marks."""
    for words, failed in (
        ("prague", {"l4s-at-classic-marks"}),
        ("prague:classic_fallback=true", set()),
        ("prague:rtt_target=0s", {"l4s-at-classic-marks", "l4s-round-trips", "l4s-beside-cubic-5"}),
    ):
        found = el.conformance(words, only=[one.id for one in read_checks() if one.area == "l4s"], stories=False)
        assert {one.check.id for one in found.findings if one.verdict == "failed"} == failed
        assert found.counts["passed"] >= 7


def test_expressions() -> None:
    values = {"goodput_bps[a].sum": 6.0, "goodput_bps[a+b].min/max": 0.5}
    for text, value in (
        ("goodput_bps[a].sum", 6.0),
        ("goodput_bps[a].sum / 4 - 1", 0.5),
        ("2 * ( goodput_bps[a].sum + 1 )", 14.0),
        ("goodput_bps[a+b].min/max", 0.5),
        ("12 / goodput_bps[a].sum / 2", 1.0),
    ):
        assert read_expression(text).value(values) == value
    assert math.isnan(read_expression("1 / ( goodput_bps[a].sum - 6 )").value(values))
    assert math.isnan(read_expression("loss.max").value(values))
    assert read_expression("goodput_bps[a].sum").unit == "bps"
    for wrong in ("", "goodput_bps[a].sum /", "( 1", "1 2", "+ 1", "loss.mox"):
        with pytest.raises(InputError):
            read_expression(wrong)


def _check(margin: Margin, of: tuple[str, ...] = (), given: str = "") -> Check:
    setting = Setting("x", open_source("sawtooth"), ("reno",))
    asked = Asked(setting, read_expression("loss.max"), read_expression(given) if given else None)
    return Check("x", "a", "t", "l", "s", "m", margin, of=of, asked=asked)


def _trials(**values: list[float]) -> Trials:
    rows = [({"loss.max": v, "marks.sum": v} if not math.isnan(v) else {"marks.sum": 1.0}) for vs in values.values() for v in vs]
    names = [(name, seed) for name, some in values.items() for seed in range(len(some))]
    return Trials([Trial(name, seed, row, "x") for (name, seed), row in zip(names, rows, strict=True)])


@pytest.mark.parametrize(
    ("margin", "values", "verdict"),
    [
        # Student: 0.1, 0.2, 0.3 are 0.2 +- 0.248
        (Margin(low=0.0), [0.2, 0.21, 0.22], "passed"),
        (Margin(low=0.0), [0.1, 0.2, 0.3], "not sure"),
        (Margin(high=0.45), [0.1, 0.2, 0.3], "passed"),
        (Margin(high=0.44), [0.1, 0.2, 0.3], "not sure"),
        (Margin(low=0.45), [0.1, 0.2, 0.3], "failed"),
        (Margin(0.3, 0.4), [0.2, 0.2, 0.2], "failed"),
        (Margin(0.2, 0.4), [0.2, 0.2, 0.2], "passed"),
        (Margin(low=0.1), [math.nan, math.nan, math.nan], "failed"),
        (Margin(low=0.1), [math.nan, 0.2, 0.2], "not sure"),
    ],
)
def test_verdicts_are_those_of_intervals(margin: Margin, values: list[float], verdict: str) -> None:
    assert judge(_check(margin), "mine", _trials(mine=values), {}, True).verdict == verdict


def test_margins_in_units_of_others_take_the_most_lenient_seed_by_seed() -> None:
    trials = _trials(mine=[0.4, 0.2], reno=[0.4, 0.2], cubic=[0.8, 0.1])
    one = judge(_check(Margin(low=0.9), ("reno",)), "mine", trials, {}, True)
    assert (one.verdict, one.judged.mean, one.judged.low) == ("passed", 1.0, 1.0)
    least = judge(_check(Margin(low=0.9), ("reno", "cubic")), "mine", trials, {}, True)  # 0.4 / 0.4 and 0.2 / 0.1
    assert least.judged.mean == pytest.approx(math.sqrt(1.0 * 2.0))
    most = judge(_check(Margin(high=0.9), ("reno", "cubic")), "mine", trials, {}, True)  # 0.4 / 0.8 and 0.2 / 0.2
    assert most.judged.mean == pytest.approx(math.sqrt(0.5 * 1.0))


def test_runs_that_a_check_is_not_about_do_not_count() -> None:
    found = judge(_check(Margin(high=0.1), given="marks.sum"), "mine", _trials(mine=[0.0, 0.0]), {}, True)
    assert (found.verdict, found.message) == ("not applicable", "no run has marks.sum above 0")
    failed = judge(_check(Margin(high=0.1)), "mine", _trials(mine=[0.0]), {"mine": "seed 1: it broke"}, True)
    assert (failed.verdict, failed.message) == ("failed", "seed 1: it broke")


def test_a_scenario_without_its_defaults_is_the_same_scenario() -> None:
    for name, overrides in (("sawtooth", {"traffic.reno.congestion_control": "bbr"}), ("capacity-change", {}), ("incast", {})):
        source = open_source(name)
        table = core.brief(source, overrides, 7)
        text = core.to_toml(table)
        assert core.resolved_toml(open_source(text), {}) == core.resolve(source, overrides, 7)["toml"]
        assert len(text) < len(core.resolve(source, overrides, 7)["toml"]) / 2


def test_the_workflow_for_ci_is_yaml_whose_command_runs(folder: Path) -> None:
    yaml = pytest.importorskip("yaml")
    text = (ROOT / "docs" / "examples" / "conformance.yml").read_text()
    steps = yaml.safe_load(text)["jobs"]["conformance"]["steps"]
    (command,) = (step["run"] for step in steps if step.get("run", "").startswith("elephan"))
    _, *words = shlex.split(command)
    (folder / "mine.py").write_text(GREEDY.replace("Greedy", "Mine"))
    assert cli.status_of([*words, "--only", "buffer-1", "--quick", "--no-report"]) == 0
    kept = next(step["with"]["path"] for step in steps if "upload-artifact" in step.get("uses", ""))
    assert [path for path in kept.split() if not (folder / path).exists()] == []


def test_the_page_of_the_docs_names_every_area() -> None:
    page = (ROOT / "docs" / "conformance.md").read_text()
    areas = re.findall(r"^\| ([a-z0-9 ]+?) \|", page, re.MULTILINE)
    assert {one.area for one in read_checks()} <= set(areas)
    assert FILE.name in page


@pytest.mark.parametrize(
    ("path", "said"), [("out", "--junit out is a folder; name a file"), ("sheet/x.xml", "nothing can be written in")]
)
def test_a_path_for_junit_is_refused_before_the_runs(
    path: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "sheet").touch()
    assert cli.status_of(["conformance", "reno", "--junit", path]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "results").exists()
