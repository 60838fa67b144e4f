"""A study at full length finds what its README says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from elephan.experiment.study import open_study, run_study
from elephan.scenario.source import studies

# id -> verdict of the claims that do not hold; and how many claims there are
FOUND = {
    "intel-2004": ({"C000-2/bound": "fails", "C000-4/rto-1ms": "inconclusive", "C000-6": "fails"}, 15),
    "ucl-2004": (
        {
            "C001-1": "inconclusive",
            "C001-1/bic": "fails",
            "C001-1/scalable-random": "inconclusive",
            "C001-1/cubic-random": "fails",
            "C001-1/htcp-random": "fails",
            "C001-1/bic-random": "fails",
            "C001-3/short": "fails",
            "C001-3/fast-path": "fails",
            "C001-3/no-walk": "inconclusive",
            "C001-4": "inconclusive",
            "C001-4/cbr": "fails",
            "C001-4/fast-path": "inconclusive",
            "C001-5": "inconclusive",
            "C001-5/one-flow": "fails",
            "C001-5/short": "fails",
            "C001-8/800": "fails",
            "ToN-1": "fails",
            "ToN-2": "fails",
            "ToN-3": "inconclusive",
            "ToN-3/standard": "inconclusive",
        },
        45,
    ),
    "intel-2007": (
        {
            "C003-1": "fails",
            "C003-1/wire": "inconclusive",
            "C003-2/all": "fails",
            "C003-3": "fails",
            "C003-4": "fails",
            "C003-4/two-tier": "fails",
            "C003-5": "inconclusive",
            "C003-5/ranking": "fails",
            "C003-7": "fails",
            "C003-10": "inconclusive",
            "C003-10/before": "fails",
            "C003-11": "fails",
            "C003-11/ecm": "fails",
            "C003-12": "fails",
            "C003-12/wire": "fails",
            "C003-12/pause": "inconclusive",
        },
        23,
    ),
    "uva-2003": (
        {
            "C004-2/hstcp": "fails",
            "C004-5": "fails",
            "slide-15/ratio-before": "fails",
            "slide-15/single": "fails",
            "C004-7/formula": "fails",
        },
        27,
    ),
    "pcp-2006": (
        {
            "C002-1": "fails",
            "C002-2": "inconclusive",
            "C002-2/tail": "inconclusive",
            "C002-3": "fails",
            "C002-5": "fails",
            "C002-5/pcp": "fails",
            "C002-8": "inconclusive",
            "C002-9": "inconclusive",
            "C002-9/tcp": "inconclusive",
        },
        15,
    ),
    "dctcp-2010": (
        {
            "dctcp-1/formula": "fails",
            "dctcp-2/10g-full": "inconclusive",
            "dctcp-2/10g-short": "inconclusive",
            "dctcp-3/full": "inconclusive",
            "dctcp-3/default": "inconclusive",
            "dctcp-4/fair": "inconclusive",
            "dctcp-4/tcp-fair": "inconclusive",
            "dctcp-4/variation": "inconclusive",
            "dctcp-4/soon-1g": "fails",
            "dctcp-4/tcp-1g": "inconclusive",
            "dctcp-4/soon-10g": "inconclusive",
            "dctcp-4/tcp-10g": "inconclusive",
            "dctcp-5/fair": "fails",
            "dctcp-6/least": "fails",
            "dctcp-6/tcp-before": "fails",
            "dctcp-7/ten": "fails",
            "dctcp-8/dctcp": "fails",
            "dctcp-8/memory": "fails",
            "dctcp-9/tcp": "fails",
            "dctcp-9/ratio": "fails",
            "dctcp-10/tcp-alone": "inconclusive",
            "dctcp-10/tcp-beside": "fails",
            "dctcp-10/tcp-worse": "inconclusive",
            "dctcp-10/alone-timeouts": "fails",
            "dctcp-10/long": "fails",
            "dctcp-11/smaller-40": "fails",
            "dctcp-12/queries-dctcp": "fails",
            "dctcp-12/short": "inconclusive",
            "dctcp-12/background": "fails",
        },
        82,
    ),
    "incast-2009": (
        {
            "incast-1/cause": "inconclusive",
            "incast-1/retransmitted": "inconclusive",
            "incast-1/stall": "inconclusive",
            "incast-1/needed": "fails",
            "incast-1/200-us": "fails",
            "incast-1/not-lossless": "inconclusive",
            "incast-2/halved": "inconclusive",
            "incast-5/minimum": "fails",
            "incast-5/recovery": "inconclusive",
            "incast-5/faster": "inconclusive",
            "incast-5/ack-1ms": "inconclusive",
            "incast-5/ack-200us": "fails",
            "incast-5/retransmit": "inconclusive",
        },
        35,
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_readme_names_every_claim_that_does_not_hold(name: str) -> None:
    text = (studies()[name] / "README.md").read_text(encoding="utf-8")
    assert [claim for claim in FOUND[name][0] if f"`{claim}`" not in text] == []


@pytest.mark.parametrize("name", FOUND)
def test_every_claim_that_does_not_hold_says_why(name: str) -> None:
    assert {claim.id for claim in open_study(name, quick=False).claims if claim.reason} == set(FOUND[name][0])


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUND)
def test_a_study_finds_what_its_readme_says(name: str, tmp_path: Path) -> None:
    results = run_study(name, out=tmp_path / "r")
    found = {verdict.claim.id: verdict.verdict for verdict in results.verdicts}
    expected, claims = FOUND[name]
    assert {claim: verdict for claim, verdict in found.items() if verdict != "holds"} == expected
    assert len(found) == claims
    file = studies()[name] / "numbers.json"
    if file.is_file():
        stored = json.loads(file.read_text(encoding="utf-8"))
        assert stored["claims"] == found
        means = {key: [one.mean for one, _ in measured] for key, measured in results.numbers.items()}
        assert {key: [ends[0] for ends, _ in measured] for key, measured in stored["numbers"].items()} == {
            key: pytest.approx(values, rel=1e-7, nan_ok=True) for key, values in means.items()
        }
