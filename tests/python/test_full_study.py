"""A study at full length finds what its README says."""

from __future__ import annotations

from pathlib import Path

import pytest
from elephan.study import run_study

FAIL = {"C000-2/p99-p50", "C000-2/bound", "C000-6"}


@pytest.mark.slow
def test_intel_2004(tmp_path: Path) -> None:
    _, verdicts = run_study("intel-2004", out=tmp_path / "r")
    found = {verdict.claim.id: verdict.verdict for verdict in verdicts}
    assert {claim for claim, verdict in found.items() if verdict != "holds"} == FAIL
    assert len(found) == 15
