"""A study at full length finds what it stores in `numbers.json`, and its README and its claims say what does not hold, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from elephan.experiment.claims import FAILS, HOLDS
from elephan.experiment.claimsfile import read_claims
from elephan.experiment.declaration import Declaration
from elephan.experiment.study import open_study, run_study
from elephan.experiment.studyfile import CLAIMS
from elephan.scenario.source import studies

NAMES = sorted(studies())


def stored(name: str) -> dict[str, Any]:
    """Returns what a study found when it was last run in full."""
    found: dict[str, Any] = json.loads((studies()[name] / "numbers.json").read_text(encoding="utf-8"))
    return found


def failing(name: str) -> set[str]:
    """Returns the claims that do not hold."""
    return {claim for claim, verdict in stored(name)["claims"].items() if verdict != HOLDS}


@pytest.mark.parametrize("name", NAMES)
def test_a_study_stores_the_verdict_of_each_of_its_claims(name: str) -> None:
    assert list(stored(name)["claims"]) == [claim.id for claim in open_study(name).claims]


@pytest.mark.parametrize("name", NAMES)
def test_a_readme_names_every_claim_that_does_not_hold(name: str) -> None:
    text = (studies()[name] / "README.md").read_text(encoding="utf-8")
    assert [claim for claim in failing(name) if f"`{claim}`" not in text] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_that_does_not_hold_says_why(name: str) -> None:
    study = open_study(name)
    with_reason = {claim.id for claim in study.claims if claim.reason}
    assert failing(name) - with_reason == set()
    # Claims that a function writes have the reason of their kind, whether or not they hold.
    by_hand = {claim.id for claim in read_claims(Declaration(study.path / CLAIMS))}
    assert with_reason & by_hand - failing(name) == set()


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_says_whose_words_it_judges_and_every_reason_has_a_cause(name: str) -> None:
    claims = open_study(name).claims
    assert [claim.id for claim in claims if not claim.says and not claim.derived] == []
    assert [claim.id for claim in claims if bool(claim.reason) != bool(claim.cause)] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_reading_has_a_reason(name: str) -> None:
    readings = open_study(name).readings
    assert [reading.name for reading in readings if not reading.why or not all(point.why for point in reading.points)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_quick_run_ends_within_a_minute_and_judges(name: str, tmp_path: Path) -> None:
    """A minute of processor time: what else the machine does must not count."""
    results = run_study(name, quick=True, out=tmp_path / "r")
    assert results.failures == []
    assert 0 < results.facts["processor_s"]["study"] < 60
    assert {verdict.verdict for verdict in results.verdicts} & {HOLDS, FAILS}
    assert (tmp_path / "r" / "report.html").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_study_finds_what_it_stores(name: str, tmp_path: Path) -> None:
    results, before = run_study(name, out=tmp_path / "r"), stored(name)
    assert {verdict.claim.id: verdict.verdict for verdict in results.verdicts} == before["claims"]
    means = {key: [one.mean for one, _ in measured] for key, measured in results.numbers.items()}
    assert {key: [ends[0] for ends, _ in measured] for key, measured in before["numbers"].items()} == {
        key: pytest.approx(values, rel=1e-7, nan_ok=True) for key, values in means.items()
    }
