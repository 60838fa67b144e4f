"""Every statement of `elephan explain` about the library: its words are known, and each number is computed again from rows."""

from __future__ import annotations

from typing import Any

import elephan as el
import pytest
import warningchecks
from elephan.report.words.warnings import warnings
from elephan.scenario.source import library
from statements import STATEMENTS, judge
from stories import Rows

SLOW = {"long-fat", "tcp-background"}  # 3 s each
SEEN: dict[str, list[Any]] = {}  # the findings of each scenario that was told


@pytest.mark.parametrize("name", [pytest.param(one, marks=pytest.mark.slow if one in SLOW else ()) for one in sorted(library())])
def test_every_number_of_a_story_is_in_the_tables(name: str) -> None:
    rows = Rows(el.run(name))
    SEEN[name] = el.explain(rows.run).findings
    for finding in SEEN[name]:
        judge(rows, finding)
    lines = warnings(rows.run)
    for line in lines:
        warningchecks.judge(rows, line)
    warningchecks.silent(rows, lines)


def test_the_library_is_told_in_every_kind_of_statement() -> None:
    """So that each check above has something to check."""
    found = [SEEN.get(name) or el.explain(name).findings for name in set(library()) - SLOW]
    assert {finding.rule for findings in found for finding in findings} == set(STATEMENTS) - {"no_connection", "deadlock"}
