"""Numbers in the texts of a study are computed from its runs: in reasons as it runs, in its README when it was last run in full."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest
from elephan.base.errors import InputError
from elephan.experiment.claimsfile import read_claims
from elephan.experiment.declaration import Declaration
from elephan.experiment.numbers import fill, read_numbers
from elephan.experiment.study import open_study
from elephan.scenario.source import studies
from held import free

ROOT = Path(__file__).parents[2]
NAMES = sorted(studies())

# Numbers of reasons that no run gives: they follow by arithmetic that the reason or the README spells out.
DERIVED: dict[str, tuple[str, ...]] = {
    "C000-2/bound": ("101 kB", "421 us"),  # 8000 x (ln 170 000 + 0.58) B; 3 x (65 536 + 101 000) B over the capacity
    "C000-4/rto-1ms": ("1 %", "95 Mb/s"),  # of 9.493 Gb/s, the bound of its part
    "C002-5": ("5 %",),  # the default of pcp's slope_max
    "C002-5/pcp": ("5 %",),
    "C001-1": ("58",),  # parts of the claim
    "C001-1/scalable-random": ("0.0745",),  # 0.0697 x 14.35 / 13.35 round trips
    "C001-5/short": ("18.6",),  # where 0.0697/p is 1.2247/sqrt(p)
    "C003-10/before": ("1 Gb/s", "20 ms"),  # the largest step of ecm; where the statistic begins
    "C003-12": ("0.23",),  # Gb/s: 84 B for every second segment of 8.07 Gb/s
    "C004-7/formula": ("343", "15.87 us", "15"),  # b (1 - µ/f) - 556; 12 / (1 - 3 / 12.304) us; 12 + 3 us
    "slide-15/single": ("5056 packets", "80 Mb/s"),  # 622.08 Mb/s x 100 ms / (8 x 1538 B); the slide
    "slide-15/ratio-before": ("80 Mb/s",),  # the slide
    "dctcp-1/formula": ("1.4 packets",),  # (8.3 + 20) / 20: C x RTT and K over the flows
    "dctcp-3/default": ("10 %", "7.8 Gb/s"),  # the margin; the paper
    "dctcp-4/soon-1g": ("475 Mb/s", "30 ms"),  # half of 950 Mb/s; the paper
    "dctcp-4/tcp-1g": ("475 Mb/s",),  # half of 950 Mb/s
    "dctcp-4/tcp-10g": ("4.75 Gb/s",),  # half of 9.5 Gb/s
    "dctcp-5/fair": ("12 %", "46", "54 Mb/s", "8 %"),  # 1538/1500 of goodput; the paper, and its distance from 50
    "dctcp-8/dctcp": ("87 KB", "121 KB"),  # 0.212 x 4 MB / (1 + 41 x 0.212); 80 x 1514 B
    "dctcp-8/memory": ("87 KB",),  # as above
    "dctcp-9/tcp": ("5.6 ms", "14 packets", "20 ms"),  # 700 KB at 1 Gb/s; 20 KB / 1460 B; 3.5 round trips
    "dctcp-10/tcp-beside": ("10 to 20 ms", "47 ms"),  # the timer and its tick; the paper
    "incast-1/retransmitted": ("4 %",),  # the bound, as a share
    "incast-1/needed": ("80 %", "35 ms"),  # the bound; 16 x 256 KB with headers at 1 Gb/s
    # One segment a round trip for each of 100 flows; values of `ai` in the readings.
    **dict.fromkeys([f"swift-1/rtt-{target}" for target in (20, 25, 30, 50, 70)], ("1", "0.1", "100 flows", "100 packets")),
    "swift-1/rtt-15": ("14 us",),  # the empty path: links, hosts and frames at 50 Gb/s
    "swift-2/three": ("99.9", "13.2 us", "50 us", "17 us"),  # the paper's percentile and its bound; links and hosts; 50 / 3
    "swift-3/rtt": ("128 us",),  # the largest target of the flow scaling in the scenario
    "swift-5/jain": ("100 ms", "25 packets", "5000 B"),  # where the statistic is taken; 50 Gb/s over 5000 flows
    "hpcc-2/no-pause": ("60 s", "9.7 MB"),  # 60 x 13 us at 100 Gb/s
}


class Runs:
    """Evidence from plain numbers, by variant."""

    def __init__(self, **values: list[float]) -> None:
        self.values = values

    def flows(self, *where: str) -> int:
        return 0

    def by_seed(self, experiment: str, variant: str, statistic: str) -> Mapping[int, float]:
        return dict(enumerate(self.values.get(variant, []), start=1))


def said(text: str, declared: str, **values: list[float]) -> str:
    numbers = read_numbers(Declaration(Path("claims.toml"), f"[numbers]\n{declared}"))
    return fill(text, numbers, {name: number.measure(Runs(**values)) for name, number in numbers.items()})


GOODPUT = 'g = { experiment = "e", statistic = "goodput_bps.sum", variant = "a" }'


def test_a_number_is_written_with_its_interval_and_unit() -> None:
    # 4, 5, 6 Mb/s: mean 5, standard error 0.57735, t(0.975, 2) = 4.30265, so 2.516 to 7.484
    values = {"a": [4e6, 5e6, 6e6]}
    assert said("It has {g}.", GOODPUT, **values) == "It has 5 Mb/s (2.52 Mb/s to 7.48 Mb/s)."
    assert said("{g:mean}, {g:low}, {g:high}", GOODPUT, **values) == "5 Mb/s, 2.52 Mb/s, 7.48 Mb/s"
    assert said("{g:range}; {g:runs} in {g:n} runs", GOODPUT, **values) == "2.52 to 7.48 Mb/s; 4, 5 and 6 Mb/s in 3 runs"


def test_a_number_is_divided_compared_and_spans_variants() -> None:
    window = 'w = { experiment = "e", statistic = "window_segments.mean", variants = ["a", "b"], over = [10, 20] }'
    assert said("{w}", window, a=[9.0], b=[22.0]) == "0.9 to 1.1"
    ratio = 'r = { experiment = "e", statistic = "drops.sum", variant = "a", against = "b", compare = "ratio", unit = "%" }'
    assert said("keeps {r:mean}", ratio, a=[3.0, 6.0], b=[4.0, 8.0]) == "keeps 75 %"
    difference = 'd = { experiment = "e", statistic = "drops.sum", variant = "a", against = "b", compare = "difference" }'
    assert said("{d:mean} more", difference, a=[5.0, 7.0], b=[4.0, 2.0]) == "3 more"


def test_a_sentence_whose_number_was_not_measured_is_left_out() -> None:
    assert said("Before. It has {g}. After it.", GOODPUT) == "Before. After it."


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[numbers]\nA = { experiment = "e", statistic = "drops.sum", variant = "a" }', "claims.toml:2: a number's name has small"),
        (
            '[numbers]\nholds = { experiment = "e", statistic = "drops.sum", variant = "a" }',
            "claims.toml:2: a number's name has small",
        ),
        ('[numbers]\na = { statistic = "drops.sum", variant = "a" }', "claims.toml:2: number a: has no experiment"),
        (
            '[numbers]\na = { experiment = "e", statistic = "drops.sum" }',
            "claims.toml:2: number a: has one of variant and variants",
        ),
        ('[numbers]\n\na = { experiment = "e", statistic = "drop.sum", variant = "a" }', 'did you mean "drops"?'),
        ('[numbers]\na = { experiment = "e", statistic = "drops.sum", variant = "a", over = 0 }', "over is above 0, not 0"),
        (
            '[numbers]\na = { experiment = "e", statistic = "drops.sum", variants = ["a"], over = [1, 2] }',
            "one for each of 1 variants",
        ),
        (
            '[numbers]\na = { experiment = "e", statistic = "drops.sum", variant = "a", compare = "ratio" }',
            "compare and against go",
        ),
        ('[numbers]\na = { experiment = "e", statistic = "drops.sum", variant = "a", more = 1 }', 'number a: no key "more"'),
    ],
)
def test_a_wrong_number_is_one_line_with_its_place(text: str, line: str) -> None:
    with pytest.raises(InputError) as error:
        read_numbers(Declaration(Path("claims.toml"), text))
    assert line in str(error.value)


def test_a_reason_names_only_numbers_that_are_declared() -> None:
    claim = '[[claims]]\nid = "X-1"\nstatement = "s"\nsource = "t"\nreason = "{gg} is low"\nparts = [{ experiment = "e", PART }]'
    text = claim.replace("PART", 'statistic = "drops.sum", variant = "a", max = 0')
    with pytest.raises(InputError, match=r"claims\.toml:7: claim X-1: reason: no number \{gg\} is declared"):
        read_claims(Declaration(Path("claims.toml"), f"[numbers]\n{GOODPUT}\n{text}"))


def _inputs(name: str, claim_id: str) -> str:
    """What a study is given: its scenarios, what is varied, and what the claim says and expects."""
    files = [file for file in sorted(studies()[name].glob("*.toml")) if file.name != "claims.toml"]
    claim = next(one for one in open_study(name).claims if one.id == claim_id)
    bounds = " ".join(f"{part.bounds.low} {part.bounds.high} {part.variant} {part.against}" for part in claim.parts)
    words = (claim.statement, claim.source, claim.says, claim.derived, bounds)
    return "\n".join([*(file.read_text(encoding="utf-8") for file in files), *words])


@pytest.mark.parametrize("name", NAMES)
def test_no_number_of_a_reason_is_written_by_hand(name: str) -> None:
    found = {}
    for claim in open_study(name).claims:
        by_hand = " ".join(DERIVED.get(claim.id, ()))
        if wrong := free(claim.reason, f"{_inputs(name, claim.id)}\n{by_hand}", []):
            found[claim.id] = wrong
    assert found == {}


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_studies", ROOT / "docs" / "studies.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_readme_is_what_its_template_and_numbers_give(capsys: pytest.CaptureFixture[str]) -> None:
    assert (_script().main(["--check"]), capsys.readouterr().err) == (0, "")


@pytest.mark.parametrize("name", NAMES)
def test_a_number_that_drifts_is_seen(name: str) -> None:
    script, place = _script(), studies()[name]
    if not (place / script.TEMPLATE).is_file():
        return
    stored = json.loads((place / script.NUMBERS).read_text(encoding="utf-8"))
    template = (place / script.TEMPLATE).read_text(encoding="utf-8")
    used = next(key for key, one in stored["numbers"].items() if f"{{{key}:mean}}" in template and one[0][0][0])
    stored["numbers"][used][0][0][0] *= 1.5
    study = open_study(name)
    assert script.readme(template, study.numbers, stored, study.claims) != (place / script.README).read_text(encoding="utf-8")


def test_a_verdict_that_changed_has_a_reason_and_a_row() -> None:
    script, name = _script(), "intel-2004"
    found = script.stored(name)["claims"]
    known = {"verdicts": {**found, "C000-1": "fails"}}
    with pytest.raises(InputError, match="C000-1"):
        script.table(name, known)
    table = script.table(name, {**known, "why": {"C000-1": "Its bound was wrong."}})
    assert "- `C000-1`: Its bound was wrong." in table
    assert "| `C000-1` | source | fails | holds |" in table


def test_a_readme_says_where_a_reading_turns_a_verdict_and_which_is_without_effect() -> None:
    script = _script()
    turn = "rate: holds with 5 Mb/s (as taken); fails with 10 Mb/s"
    varied = {"X-1": {"word": "depends on rate", "turns": [turn]}, "X-2": {"word": "holds in all 3 readings", "turns": []}}
    stored = {"numbers": {}, "claims": {}, "readings": varied, "without_effect": ["Fb-hat", "EFR"]}
    text = script.readme("A study.", {}, stored, [], assumed=True)
    assert "An assumption plays a part in 2 claims. Changed one at a time, the assumptions turn 1 of them." in text
    assert f"- `X-1`: {turn}." in text
    assert "Without effect in this study: Fb-hat, EFR. No number of any claim depends on it." in text
    assert script.readme("A study.", {}, stored, []) == script.readme(
        "A study.", {}, {"numbers": {}, "claims": {}}, [], assumed=True
    )


def test_processor_time_is_told_in_minutes_of_two_digits() -> None:
    script = _script()
    assert [script._minutes(one) for one in (None, 45, 235, 7800)] == ["", "0.75 min", "3.9 min", "130 min"]
