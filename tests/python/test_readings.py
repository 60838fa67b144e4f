"""What a source leaves open has readings: claims are judged in all of them. An open claim is repeated until it is decided."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import elephan as el
import pytest
from elephan import cli
from elephan.base.errors import InputError
from elephan.experiment.claims import FAILS, HOLDS, INCONCLUSIVE, Bounds, Claim, Finding, Part, Verdict, judge
from elephan.experiment.decide import Decided, Until, decide
from elephan.experiment.modes import modes_of, separation
from elephan.experiment.readings import Dependence, Reading, ReadingPoint, Setting, without_effect
from elephan.experiment.study import run_study

SCENARIO = """title = "A line"
duration = "3 s"
warmup = "500 ms"
template = { kind = "dumbbell", pairs = 1, rate = "5 Mbps", delay = "5 ms", queue = { kind = "fifo", limit = "1 bdp" } }
traffic = [{ name = "bulk", from = "sender", to = "receiver", kind = "bulk", start = { uniform = ["0 s", "100 ms"] } }]
"""
STUDY = """title = "Frames"
question = "How much?"
axes = { pairs = [{ label = "one" }, { label = "two", set = { "template.pairs" = 2 } }] }

[[experiments]]
name = "line"
scenario = "line.toml"
axes = ["pairs"]
repetitions = 2

[[readings]]
name = "rate"
default = "5 Mb/s"
why = "no text gives it"
experiments = ["line"]
points = [
    { label = "4.9 Mb/s", set = { "template.rate" = "4.9 Mbps" }, why = "rounded" },
    { label = "10 Mb/s", set = { "template.rate" = "10 Mbps" } },
]

[[readings]]
name = "delay"
default = "5 ms"
experiments = ["line"]
variants = ["two"]
points = [{ label = "6 ms", set = { "template.delay" = "6 ms" } }]
"""
# Payload is at most 1460 of 1538 bytes of each frame.
CLAIMS = """[[claims]]
id = "below"
statement = "No more than 4.75 Mb/s arrive."
source = "arithmetic"
says = "the link has 5 Mb/s"
derived = "1460/1538 of it is payload"
parts = [{ experiment = "line", statistic = "goodput_bps.sum", variant = "one", below = 4.75e6, every = true }]

[[claims]]
id = "some"
statement = "Data arrive."
source = "arithmetic"
says = "data arrive"
parts = [{ experiment = "line", statistic = "goodput_bps.sum", variant = "one", above = 0 }]
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "frames"
    folder.mkdir()
    for name, text in (("line.toml", SCENARIO), ("study.toml", STUDY), ("claims.toml", CLAIMS)):
        (folder / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return folder


def test_each_claim_is_judged_in_all_readings(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.status_of(["study", "run", "frames", "--readings"]) == 0
    said = capsys.readouterr().out
    assert "depends on rate" in said
    assert "holds in all 3 readings" in said
    found = {one["id"]: one["readings"] for one in json.loads(Path("results/frames/claims.json").read_text())}
    assert found["below"]["verdicts"]["rate: 4.9 Mb/s"] == "holds"
    assert found["below"]["verdicts"]["rate: 10 Mb/s"] == "fails"
    assert found["below"]["turns"] == ["rate: holds with 5 Mb/s (as taken), 4.9 Mb/s; fails with 10 Mb/s"]
    assert "delay: 6 ms" not in found["below"]["verdicts"]  # it plays no part in this variant
    page = Path("results/frames/report.html").read_text(encoding="utf-8")
    assert all(
        words in page for words in ("What depends on what is assumed", "The source says:", "We conclude:", "no text gives it")
    )
    again = el.load("results/frames")
    assert {name: one.as_dict() for name, one in again.dependences.items()} == found
    # Each reading alone with the one variant that claims look at, and the random combinations that touch it.
    names = {row.experiment for row in again.trials}
    assert {"line", "line | rate: 4.9 Mb/s", "line | rate: 10 Mb/s"} <= names
    assert {row.variant for row in again.trials if row.experiment != "line"} == {"one"}


def test_a_claim_that_is_open_as_taken_depends_on_the_readings_that_decide_it_both_ways() -> None:
    def setting(name: str) -> Setting:
        point = ReadingPoint("other", {}, "")
        return Setting(f"{name}: other", ((Reading(name, "taken", "", (), (point,)), point),))

    claim = Claim("X-1", "s", "t", ())
    each = ((setting("rate"), HOLDS), (setting("delay"), FAILS), (setting("loss"), INCONCLUSIVE))
    assert Dependence(claim, INCONCLUSIVE, each).word == "depends on rate, delay"
    assert Dependence(claim, INCONCLUSIVE, each[:1]).word == "holds or stays open"


def test_random_combinations_follow_the_rate_that_they_draw(study: Path) -> None:
    results = run_study("frames", out="r", readings=True, report=False)
    together = [(setting, verdict) for setting, verdict in results.dependences["below"].each if setting.together]
    assert together
    for setting, verdict in together:
        drawn = {reading.name: point.label for reading, point in setting.chosen}
        assert verdict == ("fails" if drawn["rate"] == "10 Mb/s" else "holds")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            'experiments = ["line"]\npoints',
            'experiments = ["lime"]\npoints',
            'study.toml:15: reading rate: no experiment "lime"; did you mean "line"?',
        ),
        ('"template.rate" = "10 Mbps"', '"template.rate" = "10 apples"', 'study.toml:18: reading rate "10 Mb/s": template.rate'),
        ('label = "10 Mb/s"', 'label = "4.9 Mb/s"', 'study.toml:18: reading rate: two points are "4.9 Mb/s"'),
        ('name = "delay"', 'name = "rate"', 'two readings are called "rate"'),
        ('default = "6 ms"', 'default = "6 ms"', ""),
    ],
)
def test_a_wrong_reading_is_one_line(study: Path, before: str, after: str, words: str) -> None:
    text = (study / "study.toml").read_text()
    (study / "study.toml").write_text(text.replace(before, after))
    if not words:
        run_study("frames", out="r", readings=True, report=False)
        return
    with pytest.raises(InputError) as wrong:
        run_study("frames", out="r", readings=True, report=False)
    assert words in str(wrong.value)
    assert "\n" not in str(wrong.value)


PART = Part("e", "drops.sum", "a", Bounds(high=10.0))


class Coin:
    """Verdicts of a claim that is decided once a place has so many repetitions."""

    def __init__(self, enough: int) -> None:
        self.enough, self.ran, self.levels = enough, [(("e", "a"), (1, 5))], [0.0]

    def judged(self, decided: Decided) -> list[Verdict]:
        self.levels.append(decided.levels.get("X", 0.95))
        had = decided.repetitions.get(("e", "a"), 5)
        verdict = HOLDS if had >= self.enough else INCONCLUSIVE
        return [Verdict(Claim("X", "s", "t", (PART,)), (Finding(PART, el.stats.mean_interval([1.0, 2.0]), verdict),))]

    def run(self, wanted: Mapping[tuple[str, str], tuple[int, int]]) -> bool:
        self.ran += wanted.items()
        return True


def test_repetitions_double_until_a_claim_is_decided_or_the_most_is_reached() -> None:
    for enough, seeds in ((5, []), (9, [(6, 10)]), (31, [(6, 10), (11, 20), (21, 40)]), (99, [(6, 10), (11, 20), (21, 40)])):
        coin = Coin(enough)
        decided = decide(Until(40), {("e", "a"): 5}, coin.judged, coin.run)
        assert [place for _, place in coin.ran[1:]] == seeds
        assert decided.repetitions == ({("e", "a"): seeds[-1][1]} if seeds else {})
        # Three further looks are possible, 10, 20 and 40: each at 5 % / 3.
        assert coin.levels[-1] == (pytest.approx(1 - 0.05 / 3) if seeds else 0.95)
        assert Decided.of(json.loads(json.dumps(decided.as_dict()))) == decided


def test_until_runs_and_judges_with_wider_intervals(study: Path) -> None:
    """Two repetitions leave "some" open by chance of their spread only; the claim about a narrow band needs more."""
    text = CLAIMS.replace("above = 0 }", "min = 4.60e6, max = 4.66e6 }")
    (study / "claims.toml").write_text(text)
    few = run_study("frames", out="few", report=False, store="kept")
    many = run_study("frames", out="many", report=False, until=8, store="kept")
    was, found = few.verdicts[1], many.verdicts[1]
    if was.verdict == INCONCLUSIVE:
        assert found.findings[0].observed.n > 2
        assert many.decided.levels == {"some": pytest.approx(1 - 0.05 / 2)}
        assert found.findings[0].observed.level == many.decided.levels["some"]
    assert el.load("many").verdicts == many.verdicts


@pytest.mark.parametrize(("most", "budget"), [(1, None), (True, None), (40, "0 s"), (40, "soon")])
def test_a_goal_that_makes_no_sense_is_refused(most: int, budget: str | None) -> None:
    with pytest.raises(InputError):
        Until.read(most, budget)


@pytest.mark.parametrize(
    ("sample", "groups"),
    [
        # A window after silence: none in five runs, 4 to 63 in five.
        ([0, 63, 0, 0, 22, 4, 0, 9, 40, 0], (5, 5)),
        ([0.25, 0.26, 0.24, 0.9, 0.91, 0.25, 0.24, 0.92, 0.25, 0.26], (7, 3)),
        ([1.0, 1.0, 1.0, 0.3, 0.5, 0.4], (3, 3)),
        ([0, 1, 0, 1, 1, 0, 0, 2, 1, 0], None),  # Poisson with a mean of 0.6 has as many zeros
        ([0, 0, 0, 0, 0, 0, 0, 0, 0, 50], None),  # one run is no mode
        ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], None),
        ([0.0, 0.0, 5.0, 5.5], None),  # too few
        ([2.0] * 10, None),
        ([1.0, math.nan, 1.0, 2.0, 3.0, 4.0, 5.0], None),
        # Nearly equal: two goodputs apart by 4 in 100 000, and a gap of 0.9 % of the largest value beside one of 1.1 %.
        ([4.9225e10] * 3 + [4.9227e10] * 5, None),
        ([99.0, 99.01, 99.0, 99.02, 99.01, 99.91, 99.92, 99.91, 99.93, 99.92], None),
        ([98.8, 98.81, 98.8, 98.82, 98.81, 99.91, 99.92, 99.91, 99.93, 99.92], (5, 5)),
        # Full frames of 1518 B: five or six of them are neighbours, as 5 and 6 are. Without that step they would be a point.
        ([7590.0] * 7 + [9108.0] * 13, None),
        ([1518.0] * 7 + [9108.0] * 13, (7, 13)),
        # Times that are taken each second, in ns: 1, 1 and 2 to 13 s.
        ([1e9, 1e9, 2e9, 3e9, 5e9, 8e9, 9e9, 13e9], None),
        # A point at 0.5, from which the rest begins to spread: D = 1.414 x 1.625 / 1.436 = 1.60. At 0 it is what did not happen.
        ([0.5, 0.5, 0.5, 0.75, 1.25, 2.5, 4.0], None),
        ([0.0, 0.0, 0.0, 0.25, 0.75, 2.0, 3.5], (3, 4)),
    ],
)
def test_two_modes(sample: list[float], groups: tuple[int, int] | None) -> None:
    found = modes_of(sample)
    assert (found and (len(found.low), len(found.high))) == groups


def test_a_gap_of_half_of_the_range_has_a_clean_separation() -> None:
    """w and v are the widths of groups with w + v below the gap g. Their means are more than g apart, and a sample variance is at
    most w²/2, so D is above 1.414 g / root((w² + v²) / 2) >= 2."""
    assert separation([0.0, 1.0], [2.0 + 1e-9, 3.0]) > 2
    assert separation([0.0, 1.99], [4.0, 4.0]) == pytest.approx((4 - 0.995) / math.sqrt(1.99**2 / 4))
    assert separation([1.0, 1.0], [2.0, 2.0]) == math.inf


def test_differences_are_small_beside_what_differs() -> None:
    """Differences of 1 and 2 Mb/s have two modes as they stand; between flows of 9.4 Gb/s they are one outcome."""
    differences = [1e6, 1e6, 1e6, 2e6, 2.01e6, 2.02e6]
    assert modes_of(differences) is not None
    assert modes_of(differences, 9.4e9) is None
    against = dict(enumerate([9.4e9] * 6))
    fast = {seed: 9.4e9 + more for seed, more in enumerate(differences)}
    part = Part("e", "goodput_bps.sum", "fast", Bounds(low=1.5e6), "difference", "slow")
    (verdict,) = judge([Claim("X", "s", "t", (part,))], Fixed({("e", "fast"): fast, ("e", "slow"): against}))
    assert verdict.findings[0].modes is None


class Fixed:
    """Evidence from plain numbers, by experiment and variant."""

    def __init__(self, values: Mapping[tuple[str, str], Mapping[int, float]]) -> None:
        self.values = values

    def flows(self, experiment: str, *variants: str) -> int:
        return 0

    def by_seed(self, experiment: str, variant: str, statistic: str) -> Mapping[int, float]:
        return self.values.get((experiment, variant), {})


def test_a_reading_that_changes_no_number_is_without_effect() -> None:
    def reading(name: str, *labels: str, variant: str = "a") -> Reading:
        return Reading(name, "taken", "", ("e",), tuple(ReadingPoint(one, {name: one}, "") for one in labels), (variant,))

    still, moves, half, other, unrun = (
        reading("still", "x", "y"),
        reading("moves", "x"),
        reading("half", "x", "y"),
        reading("other", "x", variant="b"),
        reading("unrun", "x"),
    )
    taken, moved = {1: 5.0, 2: math.nan}, {1: 5.0, 2: 6.0}
    found = {"e": taken, "e | still: x": taken, "e | still: y": taken, "e | moves: x": moved, "e | half: x": taken}
    found |= {"e | half: y": moved}
    claims = [Claim("X", "s", "t", (Part("e", "drops.sum", "a", Bounds(high=10.0)),))]
    evidence = Fixed({(name, "a"): values for name, values in found.items()})
    assert without_effect([still, moves, half, other, unrun], claims, evidence) == [still]


def test_a_run_under_readings_says_which_is_without_effect(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A FIFO queue looks at no weight."""
    more = """
[[readings]]
name = "weight"
default = "1"
experiments = ["line"]
points = [{ label = "2", set = { "traffic.bulk.weight" = 2 } }]
"""
    (study / "study.toml").write_text(STUDY + more)
    assert cli.status_of(["study", "run", "frames", "--readings"]) == 0
    line = "The reading weight is without effect in this study: with 2 every claim has the same numbers."
    assert line in " ".join(capsys.readouterr().out.split())
    assert line in Path("results/frames/report.html").read_text(encoding="utf-8")
    found = el.load("results/frames")
    assert [one.name for one in found.without_effect] == ["weight"]
    took = found.facts["processor_s"]
    assert took["study"] > 0
    assert took["readings"] > 0
    again = run_study("frames", out="again", readings=True, report=False, store="results/frames.trials")
    assert "processor_s" not in again.facts  # the runs were taken from the store


def test_normal_samples_have_one_mode() -> None:
    import numpy as np

    draw = np.random.default_rng(1)
    assert sum(modes_of(draw.normal(size=10).tolist()) is not None for _ in range(2000)) < 20
    assert sum(modes_of(draw.poisson(1.5, size=10).tolist()) is not None for _ in range(2000)) < 20
