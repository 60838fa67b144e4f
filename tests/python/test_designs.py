"""Designs of sweeps: which points are run; and repetitions until an interval is narrow."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import elephan as el
import numpy as np
import pytest
from elephan.base.errors import InputError
from elephan.base.quantity import bits_per_second
from elephan.cli import status_of
from elephan.experiment.design import label, points
from elephan.experiment.job import Job, Outcome, Outcomes
from elephan.experiment.store.row import Measured
from elephan.experiment.sweep import plan
from elephan.experiment.trials import Variant
from elephan.experiment.until import Goal, run_until
from elephan.scenario.source import open_source

RATE, LIMIT = "template.rate", "template.queue.limit"
SHORT = {"duration": "12 s"}


def parameters(design: Any, set: dict[str, Any]) -> list[dict[str, Any]]:
    return [point for _, point in points(design, set)]


def rates(design: str, text: str) -> list[float]:
    return [bits_per_second(point[RATE]) for point in parameters(design, {RATE: text})]


def test_a_latin_hypercube_has_a_point_in_each_stratum() -> None:
    """McKay, Beckman and Conover 1979: of n points one lies in each n-th of every range."""
    found = parameters("lhs:20", {RATE: "0 Mbps..20 Mbps", "x": "0.0..1.0"})
    assert sorted(int(bits_per_second(p[RATE]) / 1e6) for p in found) == list(range(20))
    assert sorted(int(20 * p["x"]) for p in found) == list(range(20))


def test_sobol_points_are_balanced_and_grow() -> None:
    """Of 2^k points of a (t, m, s)-net in base 2 every part of a range has its share; more points keep the first."""
    few, many = rates("sobol:16", "0 Mbps..16 Mbps"), rates("sobol:64", "0 Mbps..16 Mbps")
    assert sorted(int(x / 1e6) for x in few) == list(range(16))
    assert many[:16] == few
    assert len({*many}) == 64


def test_a_range_in_even_ratios() -> None:
    """A quarter of the points lies in each decade of four."""
    found = np.log10(rates("sobol:64", "1 kbps..10 Mbps log"))
    assert np.histogram(found, [3, 4, 5, 6, 7])[0].tolist() == [16, 16, 16, 16]


@pytest.mark.parametrize(
    ("text", "least", "most", "kind"),
    [("1..4", 1, 4, int), ("1..4 log", 1, 4, int), ("0.5..1.5", 0.5, 1.5, float), ("10..20", 10, 20, int)],
)
def test_whole_numbers_stay_whole(text: str, least: float, most: float, kind: type) -> None:
    found = [point["n"] for point in parameters("sobol:256", {"n": text})]
    assert {type(one) for one in found} == {kind}
    assert least <= min(found)
    assert max(found) <= most
    if kind is int:
        assert sorted(found) == list(range(int(least), int(most) + 1))  # those that round to one value are one point


def test_drawn_values_are_valid_in_a_scenario() -> None:
    """Sizes are whole bytes, packets whole packets, rates without an exponent: the core refuses others."""
    source = open_source("sawtooth")
    for limit in ("20 KB..90 KB", "10 p..60 p", "0.5 bdp..4 bdp"):
        variants, jobs = plan(source, {**SHORT, RATE: "5 Mbps..0.05 Gbps log", LIMIT: limit}, 2, 1, "lhs:8")
        assert (len(variants), len(jobs)) == (8, 16)
        assert {job.seed for job in jobs} == {1, 2}
        for job in jobs:
            job.described()


def test_a_list_in_a_drawn_design_has_its_share_of_the_points() -> None:
    found = parameters("sobol:8", {"cc": ["reno", "cubic"], RATE: "1 Mbps..9 Mbps"})
    assert sorted(point["cc"] for point in found) == ["cubic"] * 4 + ["reno"] * 4


def test_a_zip_takes_the_lists_side_by_side() -> None:
    found = points("zip", {RATE: ["1 Mbps", "2 Mbps"], LIMIT: ["10 p", "20 p"], **SHORT})
    assert found == [
        ({**SHORT, RATE: "1 Mbps", LIMIT: "10 p"}, {RATE: "1 Mbps", LIMIT: "10 p"}),
        ({**SHORT, RATE: "2 Mbps", LIMIT: "20 p"}, {RATE: "2 Mbps", LIMIT: "20 p"}),
    ]


def test_labels_are_those_of_a_grid() -> None:
    source = open_source("sawtooth")
    set = {**SHORT, RATE: ["10 Mbps", "20 Mbps"], LIMIT: ["20 p", "30 p"]}
    grid, zipped = (plan(source, set, 1, 1, design)[0][0] for design in ("grid", "zip"))
    assert (grid.label, grid.parameters) == (zipped.label, zipped.parameters)
    assert label({"a.rate": 1, "b.rate": 2}, "base") == "a.rate=1, b.rate=2"
    assert label({"a.rate": 1}, "pairs=2") == "rate=1, pairs=2"


def test_the_scenario_s_own_sweep_is_crossed_with_the_points_unless_they_set_it() -> None:
    """buffer-sizing sweeps limits and 1 or 16 pairs, with three repetitions."""
    variants, jobs = plan(open_source("buffer-sizing"), {}, None, None, [{LIMIT: "1 bdp"}, {LIMIT: "2 bdp"}])
    assert [one.label for one in variants] == [f"limit={limit} bdp, pairs={pairs}" for limit in (1, 2) for pairs in (1, 16)]
    assert len(jobs) == 12


def test_points_of_a_list_and_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    file.write_text(f'{RATE}, {LIMIT}\n10 Mbps, 20 p\n\n"20 Mbps", 30 p\n')
    listed = [{RATE: "10 Mbps", LIMIT: "20 p"}, {RATE: "20 Mbps", LIMIT: "30 p"}]
    assert parameters(str(file), {}) == parameters(listed, {}) == listed
    sweep = el.sweep("sawtooth", set=SHORT, design=listed, repetitions=2, statistics=["goodput_bps.sum"])
    assert sweep.labels == ["rate=10 Mbps, limit=20 p", "rate=20 Mbps, limit=30 p"]
    assert sweep.table[RATE].to_pylist() == [1e7, 1e7, 2e7, 2e7]
    assert sweep.table["seed"].to_pylist() == [1, 2, 1, 2]


@pytest.mark.parametrize(
    ("design", "set", "why"),
    [
        ("sobol:60", {RATE: "1 Mbps..2 Mbps"}, "powers of two; take 32 or 64"),
        ("lhs:0", {RATE: "1 Mbps..2 Mbps"}, "from 1 to 65536"),
        ("lhs:many", {RATE: "1 Mbps..2 Mbps"}, "from 1 to 65536"),
        ("lhs:4", {RATE: "1 Mbps"}, "at least one parameter a range"),
        ("lhs:4", {RATE: "2 Mbps..1 Mbps"}, "from a smaller to a larger"),
        ("lhs:4", {RATE: "1 Mbps..1 ms"}, "of one unit"),
        ("lhs:4", {RATE: "0 Mbps..1 Mbps log"}, "from above 0"),
        ("grid", {RATE: "1 Mbps..2 Mbps"}, "a range needs a design"),
        ("zip", {RATE: ["1 Mbps"], LIMIT: ["1 p", "2 p"]}, "as many values as the others"),
        ("zip", {RATE: "1 Mbps"}, "several values"),
        ([{RATE: "1 Mbps"}], {LIMIT: ["1 p", "2 p"]}, "no further lists"),
        ([], {}, "at least one point"),
        ([{}], {}, "at least one point"),
        ("cube", {}, "unknown design"),
        (7, {}, "unknown design"),
        ("nowhere.csv", {}, "nowhere.csv"),
    ],
)
def test_wrong_designs_are_one_line(design: Any, set: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why) as raised:
        points(design, set)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["", "a,b\n", "a,b\n1\n", "a,b\n1,\n", "a,a\n1,2\n"])
def test_a_file_of_points_that_is_none_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "points.csv").write_text(text)
    with pytest.raises(InputError, match=r"points\.csv: "):
        points(str(tmp_path / "points.csv"), {})


def test_a_point_that_stands_twice_is_refused() -> None:
    with pytest.raises(InputError, match="two variants"):
        el.sweep("sawtooth", set=SHORT, design=[{RATE: "10 Mbps"}, {RATE: "10 Mbps"}])


def test_a_design_on_the_command_line(tmp_path: Path) -> None:
    words = ["sweep", "sawtooth", "-s", f"{RATE}=5Mbps..50Mbps log", "-s", "duration=12 s", "--design", "sobol:4", "-n", "1"]
    assert status_of([*words, "--statistic", "goodput_bps.sum", "--out", str(tmp_path / "o")]) == 0
    done = el.load(tmp_path / "o")
    found = np.log10([value / 5e6 for value in done.means[RATE].to_pylist()])
    assert sorted(int(4 * x) for x in found) == [0, 1, 2, 3]  # a point in each quarter of the decade
    assert (tmp_path / "o" / "report.html").exists()


def job_of(repetitions: int, *labels: str) -> list[Job]:
    source = open_source("sawtooth")
    return [Job(source, {}, seed, Variant(one)) for one in labels for seed in range(1, repetitions + 1)]


def outcomes(jobs: list[Job], spread: dict[str, float]) -> Outcomes:
    """Odd seeds are above 1 by their variant's spread, even ones below."""
    values = [1 + spread[job.variant.label] * (-1) ** (job.seed + 1) for job in jobs]
    return Outcomes([Outcome(job, Measured({"drops.sum": v})) for job, v in zip(jobs, values, strict=True)])


def repeated(goal: str, spread: dict[str, float], begin: int = 1) -> tuple[Outcomes, Any, list[int]]:
    asked: list[int] = []

    def run(jobs: list[Job]) -> Outcomes:
        asked.append(len(jobs))
        return outcomes(jobs, spread)

    return *run_until(Goal.read(goal), list(spread), lambda n: job_of(n, *spread), begin, run), asked


def test_repetitions_are_added_until_the_interval_is_narrow() -> None:
    """Values 1 +- 0.1 in turn have the half-width 0.1 t / sqrt(n - 1): 7.5 % of 10, 0.2093 / sqrt(19) = 4.8 % of 20."""
    done, look, asked = repeated("drops.sum within 5 %", {"a": 0.1, "b": 0.01})
    assert asked == [20, 20]  # of two variants ten runs each, then ten more; none is run again
    assert (look.reached, look.repetitions, look.label) == (True, 20, "a")
    assert look.width == pytest.approx(2.093024 * 0.1 / math.sqrt(19), rel=1e-6)
    assert [outcome.job.label for outcome in done] == [job.label for job in job_of(20, "a", "b")]
    assert look.words == "drops.sum is within 5 % after 20 repetitions: at most 4.8 %, of a."


def test_a_bound_that_is_reached_is_said_with_what_to_do() -> None:
    _, look, asked = repeated("drops.sum within 1 %, at most 15", {"a": 0.1})
    assert asked == [10, 5]
    assert not look.reached
    assert look.words.startswith("drops.sum is not within 1 % after 15 repetitions, the most there may be")
    assert 'until = "drops.sum within 1 %, at most 60"' in look.words
    assert repeated("drops.sum within 50 %", {"a": 0.1}, begin=30)[2] == [30]  # what was asked for is run
    assert repeated("drops.sum within 1 %", {"a": 0.0})[1].width == 0.0


def test_a_variant_without_a_value_ends_it() -> None:
    def run(jobs: list[Job]) -> Outcomes:
        return Outcomes([Outcome(job, error="broke off") for job in jobs])

    _, look = run_until(Goal.read("drops.sum within 1 %"), ["a"], lambda n: job_of(n, "a"), 1, run)
    assert look.words == "drops.sum is not within 1 % after 10 repetitions: no run of a has a value."


def test_what_is_done_at_ctrl_c_stays() -> None:
    calls = itertools.count()

    def run(jobs: list[Job]) -> Outcomes:
        if next(calls):
            raise KeyboardInterrupt
        return outcomes(jobs, {"a": 0.1})

    done, look = run_until(Goal.read("drops.sum within 5 %"), ["a"], lambda n: job_of(n, "a"), 1, run)
    assert (len(done), done.interrupted, look.reached) == (10, True, False)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("drops.sum", "write it like"),
        ("drops.sum within 2", "write it like"),
        ("nonesuch.sum within 2 %", "no measure"),
        ("drops.sum within 0 %", "between 0 and 100"),
        ("drops.sum within 1.2.3 %", "between 0 and 100"),
        ("drops.sum within 2 %, at most 1", "from 2 to"),
        (2, "write it like"),
    ],
)
def test_goals_that_are_none_are_one_line(text: Any, why: str) -> None:
    with pytest.raises(InputError, match=why):
        Goal.read(text)


def test_until_on_the_command_line_and_what_is_kept(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The trials are those of any sweep: with as many repetitions nothing runs again."""
    place = tmp_path / "short.toml"
    place.write_text(open_source("sawtooth").text)
    words = ["sweep", str(place), "-s", "duration=12 s,13 s", "--store", str(tmp_path / "store"), "--out", str(tmp_path / "o")]
    assert status_of([*words, "--until", "goodput_bps.sum within 2 %", "--json"]) == 0
    said = json.loads(capfd.readouterr().out)
    assert said["until"]["reached"] is True
    assert said["until"]["repetitions"] == 10
    done = el.load(tmp_path / "o")
    assert (done.size, done.facts["until"]["words"]) == ("2 variants, 20 runs", said["until"]["words"])
    assert status_of([*words, "--until", "goodput_bps.sum within 2 %"]) == 0
    assert said["until"]["words"] in (tmp_path / "o" / "report.html").read_text().replace("\u00a0", " ")
    capfd.readouterr()
    assert status_of([*words, "-n", "10"]) == 0
    assert "20 of 20 trials are kept" in "".join(capfd.readouterr())


def test_until_and_a_share_of_the_runs_are_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for more in (["--shard", "0/2"], ["--on", "slurm"], ["--on", "kept"]):
        assert status_of(["sweep", "sawtooth", "--until", "drops.sum within 90 %", *more, "--out", str(tmp_path / "o")]) == 2
        assert "looks at all runs" in capfd.readouterr().err


def test_coverage_of_the_sequential_rule() -> None:
    """Normal draws, about 20 repetitions needed: the intervals cover a little less than 95 % (Chow and Robbins 1965)."""
    random = np.random.default_rng(11)
    goal, deviation = 0.02, 0.02 * math.sqrt(20) / 1.96
    text = f"drops.sum within {100 * goal:g} %, at most 1000"
    covered = 0
    for _ in range(400):
        draws = random.normal(1.0, deviation, 1000)

        def run(jobs: list[Job], draws: Any = draws) -> Outcomes:
            return Outcomes([Outcome(job, Measured({"drops.sum": float(draws[job.seed])})) for job in jobs])

        done, look = run_until(Goal.read(text), ["a"], lambda n: JOBS[:n], 1, run)
        mean = np.mean([outcome.measured.values["drops.sum"] for outcome in done])
        covered += abs(mean - 1) <= look.width * mean
    assert 0.90 <= covered / 400 <= 0.97  # 20,000 replications give 93.5 %


JOBS = job_of(999, "a")
