"""Claims are judged by their intervals; margins cannot move."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from elephan.base.errors import InputError
from elephan.experiment import claims
from elephan.experiment.claimsfile import read_claims
from elephan.experiment.declaration import Declaration
from elephan.scenario.source import studies


class Numbers:
    """Evidence from plain numbers: {(experiment, variant, statistic): {seed: value}}."""

    def __init__(self, **values: list[float]) -> None:
        self.values = values

    def flows(self, *where: str) -> int:
        return 0

    def by_seed(self, experiment: str, variant: str, statistic: str) -> Mapping[int, float]:
        return dict(enumerate(self.values.get(f"{variant}_{statistic.replace('.', '_')}", []), start=1))


def read(text: str) -> list[claims.Claim]:
    return read_claims(Declaration(Path("claims.toml"), text))


def judge(part: str, **values: list[float]) -> claims.Verdict:
    text = f'[[claims]]\nid = "X-1"\nstatement = "s"\nsource = "t"\nparts = [{{ experiment = "e", {part} }}]'
    return claims.judge(read(text), Numbers(**values))[0]


GOODPUT = 'statistic = "goodput_bps.sum", variant = "a"'


def test_every_run_is_every_run_that_was_planned() -> None:
    """Of ten runs nine drop nothing and one broke off: that none drops is not known. One that does drop is enough to fail."""
    part = '{ experiment = "e", statistic = "drops.sum", variant = "a", max = 0, every = true }'
    text = f'[[claims]]\nid = "X-1"\nstatement = "s"\nsource = "t"\nparts = [{part}]'
    written = read(text)
    for drops, planned, verdict in (([0.0] * 9, 10, "inconclusive"), ([0.0] * 10, 10, "holds"), ([0.0] * 8 + [1.0], 10, "fails")):
        assert claims.judge(written, Numbers(a_drops_sum=drops), {("e", "a"): planned})[0].verdict == verdict


def test_an_interval_inside_holds_outside_fails_across_is_inconclusive() -> None:
    # 4, 5, 6: 95 % interval 2.516 to 7.484
    values = {"a_goodput_bps_sum": [4.0, 5.0, 6.0]}
    assert judge(f"{GOODPUT}, min = 2.5, max = 7.5", **values).verdict == "holds"
    assert judge(f"{GOODPUT}, min = 2.6", **values).verdict == "inconclusive"
    assert judge(f"{GOODPUT}, min = 7.4", **values).verdict == "inconclusive"
    assert judge(f"{GOODPUT}, min = 7.5", **values).verdict == "fails"
    assert judge(f"{GOODPUT}, below = 2.5", **values).verdict == "fails"


@pytest.mark.parametrize(
    ("part", "values", "low", "high", "verdict"),
    [
        # 0.58, 1, 1: mean 0.86, standard error 0.14, t(0.975, 2) = 4.30265, so 0.2576 to 1.4624
        ('statistic = "utilisation.max", variant = "a", min = 0, max = 1', [0.58, 1, 1], 0.2576, 1, "inconclusive"),
        ('statistic = "utilisation.sum", variant = "a", min = 0', [0.58, 1, 1], 0.2576, 1.4624, "holds"),
        ('statistic = "drops.sum", variant = "a", max = 600', [0, 0, 300], 0, 530.265, "holds"),
        ('statistic = "goodput_bps.min/max", variant = "a", max = 2', [0, 0, 0.9], 0, 1, "holds"),
        # 0.9, 0, 0: mean and standard error 0.3, so -0.9908 to 1.5908
        (
            'statistic = "loss.max", variant = "a", compare = "difference", against = "b", max = 1',
            [0.9, 0, 0],
            -0.99079,
            1,
            "inconclusive",
        ),
        (
            'statistic = "drops.sum", variant = "a", compare = "difference", against = "b", max = 600',
            [300, 0, 0],
            -330.265,
            530.265,
            "holds",
        ),
    ],
)
def test_an_interval_is_shown_where_its_quantity_can_be_and_judged_whole(
    part: str, values: list[float], low: float, high: float, verdict: str
) -> None:
    name = part.split('"')[1].replace(".", "_")
    found = judge(part, **{f"a_{name}": values, f"b_{name}": [0.0, 0.0, 0.0]})
    shown = found.findings[0].observed
    assert (shown.low, shown.high) == pytest.approx((low, high), abs=1e-3)
    assert found.verdict == verdict


def test_every_run_must_satisfy_it() -> None:
    drops = 'statistic = "drops.sum", variant = "a", min = 0, max = 0, every = true'
    assert judge(drops, a_drops_sum=[0, 0, 0]).verdict == "holds"
    assert judge(drops, a_drops_sum=[0, 0, 1]).verdict == "fails"


def test_open_and_closed_bounds() -> None:
    assert judge(f"{GOODPUT}, above = 0", a_goodput_bps_sum=[0.0, 0.0]).verdict == "fails"
    assert judge(f"{GOODPUT}, min = 0", a_goodput_bps_sum=[0.0, 0.0]).verdict == "holds"


def test_differences_are_paired_by_seed() -> None:
    part = f'{GOODPUT}, compare = "difference", against = "b", min = 1, max = 1'
    verdict = judge(part, a_goodput_bps_sum=[11, 21, 31], b_goodput_bps_sum=[10, 20, 30])
    assert verdict.verdict == "holds"
    assert verdict.as_dict()["observed"] == {"mean": 1.0, "ci_low": 1.0, "ci_high": 1.0, "n": 3}


def test_ratios() -> None:
    part = f'{GOODPUT}, compare = "ratio", against = "b", below = 0.5'
    assert judge(part, a_goodput_bps_sum=[1, 2, 3], b_goodput_bps_sum=[4, 8, 12]).verdict == "holds"
    assert judge(part, a_goodput_bps_sum=[1, 2, 3], b_goodput_bps_sum=[0, 0, 0]).verdict == "inconclusive"


def test_a_condition_leaves_runs_out() -> None:
    part = 'statistic = "latency_ns.max", variant = "a", min = 10, every = true, given = "timeouts.sum"'
    assert judge(part, a_latency_ns_max=[5, 12], a_timeouts_sum=[0, 3]).verdict == "holds"
    assert judge(part, a_latency_ns_max=[5, 12], a_timeouts_sum=[1, 3]).verdict == "fails"
    assert judge(part, a_latency_ns_max=[5, 12], a_timeouts_sum=[0, 0]).verdict == "inconclusive"


def test_one_repetition_proves_nothing_about_a_mean() -> None:
    assert judge(f"{GOODPUT}, min = 0", a_goodput_bps_sum=[5.0]).verdict == "inconclusive"
    assert judge(f"{GOODPUT}, min = 0").verdict == "inconclusive"


def test_the_entry_of_claims_json() -> None:
    entry = judge(f"{GOODPUT}, min = 7.5", a_goodput_bps_sum=[4.0, 5.0, 6.0]).as_dict()
    assert {"id", "statement", "source", "expected", "observed", "verdict"} <= set(entry)
    assert entry["verdict"] == "fails"
    assert entry["observed"]["n"] == 3
    assert entry["observed"]["mean"] == 5


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (GOODPUT, "needs one of"),
        (f"{GOODPUT}, min = 1, above = 1", "one of min, above"),
        (f"{GOODPUT}, min = 2, max = 1", "no value satisfies min = 2 and max = 1"),
        (f"{GOODPUT}, above = 1, max = 1", "no value satisfies above = 1 and max = 1"),
        (f"{GOODPUT}, mn = 0.99", 'no key "mn"; did you mean "min"?'),
        (f'{GOODPUT}, min = "high"', "min is a number, not 'high'"),
        (f"{GOODPUT}, max = nan", r"parts\[0\].max: NaN: must be a finite number"),
        (f'{GOODPUT}, min = 1, compare = "quotient", against = "b"', "difference"),
        (f'{GOODPUT}, min = 1, compare = "ratio"', "go together"),
        (f"{GOODPUT}, min = 1, colour = 3", "colour"),
        ('statistic = "goodput.sum", variant = "a", min = 1', "no measure"),
    ],
)
def test_wrong_claims_are_one_line(part: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        judge(part)


def test_the_claims_of_every_study_are_well_formed() -> None:
    from elephan.experiment import study

    for name in studies():
        found = study.open_study(name)
        variants = {e.name: {v.label for v in e.variants} for e in found.experiments}
        for claim in found.claims:
            for part in claim.parts:
                assert part.variant in variants[part.experiment], claim.id
                assert not part.against or part.against in variants[part.experiment], claim.id
                assert part.statistic in found.statistics, claim.id
                assert not part.given or part.given in found.statistics, claim.id


def test_an_axis_may_be_a_function_of_the_study() -> None:
    """The response functions of ucl-2004: a point's run lasts as many loss events as it should."""
    from elephan.base.quantity import seconds
    from elephan.experiment.study import open_study

    study = open_study("ucl-2004")
    points = {v.label: v.points[0] for e in study.experiments if e.name == "periodic" for v in e.variants}
    reno = points["reno 1e-4"]
    assert reno.value == 1e-4
    # 10,000 packets at a mean window of 122.47 and 10 ms are 0.8165 s; 10 events to settle, 30 measured
    assert seconds(reno.set["warmup"]) == pytest.approx(8.165, abs=0.001)
    assert seconds(reno.set["duration"]) == pytest.approx(32.66, abs=0.004)
    quick = {v.label for e in open_study("ucl-2004", quick=True).experiments if e.name == "periodic" for v in e.variants}
    assert quick == {label for label in points if label.endswith((" 1e-3", " 1e-4"))}
    assert "goodput_bps[vanilla].mean" in study.statistics


def test_parts_are_counted() -> None:
    parts = ", ".join(f'{{ experiment = "e", statistic = "goodput_bps.sum", variant = "{v}", min = 2.5 }}' for v in "aabcd")
    text = f'[[claims]]\nid = "X-1"\nstatement = "s"\nsource = "t"\nparts = [{parts}]'
    evidence = Numbers(a_goodput_bps_sum=[4.0, 5.0, 6.0], b_goodput_bps_sum=[1.0, 1.0], c_goodput_bps_sum=[0.0, 5.0])
    planned = {("e", variant): 1 for variant in "abc"}
    found = claims.judge(read(text), evidence, planned)[0]
    assert found.tally == "2 of 5 parts hold, 1 fails, 1 is inconclusive, 1 was not run"


def test_what_a_quick_cut_leaves_out_is_not_run_and_what_failed_is_inconclusive() -> None:
    parts = ", ".join(f'{{ experiment = "e", statistic = "goodput_bps.sum", variant = "{v}", min = 2.5 }}' for v in "ab")
    written = read(f'[[claims]]\nid = "X-1"\nstatement = "s"\nsource = "t"\nparts = [{parts}]')
    some = Numbers(a_goodput_bps_sum=[4.0, 5.0, 6.0])

    def seen(evidence: Numbers, planned: str) -> tuple[str, str]:
        found = claims.judge(written, evidence, {("e", variant): 1 for variant in planned})[0]
        assert found.as_dict()["verdict"] == found.verdict
        return found.verdict, found.word

    assert seen(some, "a") == ("not run", "partly run")
    assert seen(some, "ab") == ("inconclusive", "inconclusive")  # every run of b failed
    assert seen(Numbers(a_goodput_bps_sum=[1.0, 1.0]), "a") == ("fails", "fails")
    assert seen(Numbers(), "") == ("not run", "not run")


def _claims(*parts: str) -> list[claims.Claim]:
    """A claim of one part for each of `parts`."""
    text = "".join(
        f'[[claims]]\nid = "X-{i}"\nstatement = "s"\nsource = "t"\nparts = [{{ experiment = "e", {part} }}]\n'
        for i, part in enumerate(parts)
    )
    return read(text)


def test_p_values_are_those_of_the_t_test() -> None:
    """Student's sleep data (1908): the paired t test has t = 4.0621 and p = 0.002833, as R's `t.test` prints it."""
    drug = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    placebo = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    values = {"a_goodput_bps_sum": drug, "b_goodput_bps_sum": placebo}
    compared = f'{GOODPUT}, compare = "difference", against = "b"'
    above, below = judge(f"{compared}, above = 0", **values), judge(f"{compared}, max = 0", **values)
    assert (above.verdict, below.verdict) == ("holds", "fails")
    assert (above.p, below.p) == pytest.approx((0.002833, 0.002833), abs=1e-6)
    entry = above.as_dict()
    assert (entry["p"], entry["p_holm"], entry["holm"]) == (above.p, above.p, "holds")


def test_holm_leaves_what_stands_beside_all_claims() -> None:
    """4, 5, 6 has p = 2 P(T > (5 - b) / 0.57735) with 2 degrees of freedom, in closed form 1 - t / sqrt(2 + t^2)."""
    bounds = [0.0, 2.0, 2.5]
    t = [(5 - b) / 0.5773503 for b in bounds]
    plain = [1 - x / (2 + x * x) ** 0.5 for x in t]  # 0.0131, 0.0351, 0.0494: each is below 5 %
    found = claims.judge(_claims(*(f"{GOODPUT}, min = {b}" for b in bounds)), Numbers(a_goodput_bps_sum=[4.0, 5.0, 6.0]))
    assert [one.p for one in found] == pytest.approx(plain, abs=1e-6)
    assert [one.verdict for one in found] == ["holds"] * 3
    assert [one.p_holm for one in found] == pytest.approx([3 * plain[0], 2 * plain[1], 2 * plain[1]], abs=1e-6)
    assert [one.holm for one in found] == ["holds", "inconclusive", "inconclusive"]


def test_a_claim_of_several_parts_has_the_largest_p_or_that_of_the_failed_part_times_their_number() -> None:
    two = f'parts = [{{ experiment = "e", {GOODPUT}, min = 0 }}, {{ experiment = "e", {GOODPUT}, min = 2 }}]'
    head = '[[claims]]\nid = "X-1"\nstatement = "s"\nsource = "t"\n'
    evidence = Numbers(a_goodput_bps_sum=[4.0, 5.0, 6.0])
    p = {b: 1 - (5 - b) / 0.5773503 / (2 + ((5 - b) / 0.5773503) ** 2) ** 0.5 for b in (0, 2)}
    assert claims.judge(read(head + two), evidence)[0].p == pytest.approx(p[2], abs=1e-6)
    failed = claims.judge(read(head + two.replace("min = 0", "max = 0")), evidence)[0]
    assert (failed.verdict, failed.holm) == ("fails", "fails")
    assert failed.p == pytest.approx(2 * p[0], abs=1e-6)


def test_what_every_run_shows_is_no_test_and_does_not_count_in_the_family() -> None:
    drops = 'statistic = "drops.sum", variant = "a", max = 0, every = true'
    evidence = Numbers(a_drops_sum=[0.0, 0.0], a_goodput_bps_sum=[4.0, 5.0, 6.0])
    every, mean = claims.judge(_claims(drops, f"{GOODPUT}, min = 2"), evidence)
    assert (every.as_dict()["p"], every.holm) == (None, "holds")
    assert mean.p_holm == mean.p < 0.05
    alike = judge(f"{GOODPUT}, min = 1", a_goodput_bps_sum=[1.0, 1.0, 1.0])
    assert (alike.p, alike.holm) == (0.0, "holds")
    one_run = judge(f"{GOODPUT}, min = 1", a_goodput_bps_sum=[2.0])
    assert (one_run.p, one_run.holm) == (1.0, "inconclusive")


def test_a_ratio_is_tested_as_it_is_judged() -> None:
    """Ratios 2, 4, 8: logarithms 1, 2, 3 of base 2, so against 1 t = 2 / (1 / sqrt 3), and p = 1 - t / sqrt(2 + t^2)."""
    part = f'{GOODPUT}, compare = "ratio", against = "b", above = 1'
    found = judge(part, a_goodput_bps_sum=[2.0, 4.0, 8.0], b_goodput_bps_sum=[1.0, 1.0, 1.0])
    assert found.p == pytest.approx(1 - 3.4641016 / (2 + 12) ** 0.5, abs=1e-6)


def test_the_report_says_what_stands_after_holm() -> None:
    from elephan.report.page.study_page import of_holm

    found = claims.judge(_claims(f"{GOODPUT}, min = 0", f"{GOODPUT}, min = 2.5"), Numbers(a_goodput_bps_sum=[4.0, 5.0, 6.0]))
    assert of_holm(found).startswith("Of 2 verdicts on means 2 stand after Holm's correction for 2 claims")
    three = claims.judge(_claims(*(f"{GOODPUT}, min = {b}" for b in (0, 2, 2.5))), Numbers(a_goodput_bps_sum=[4.0, 5.0, 6.0]))
    assert of_holm(three).startswith("Of 3 verdicts on means 1 stands after Holm's correction for 3 claims")
    assert of_holm(three).endswith("not X-1, X-2.")
    assert of_holm([]) == ""
