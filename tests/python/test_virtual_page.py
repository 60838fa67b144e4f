"""The page about programs on a bad network does what it shows."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "virtual.md"


def block(language: str) -> str:
    """Returns the first block of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[0]


def test_the_test_of_the_page_passes(pytester: pytest.Pytester) -> None:
    pytester.makefile(".toml", slow=block("toml"))
    pytester.makepyfile(test_slow=block("python"))
    pytester.runpytest_subprocess("-p", "elephan.virtual.fixture").assert_outcomes(passed=1)


def test_its_programs_run_by_the_command(pytester: pytest.Pytester) -> None:
    pytester.makefile(".toml", slow=block("toml"))
    pytester.makepyfile(app=block("python"))
    done = pytester.run(sys.executable, "-m", "elephan", "virtual", "app.py", "--scenario", "slow.toml", "--pcap", "--no-report")
    assert done.ret == 0
    done.stdout.fnmatch_lines(["client returned (500000, *"])
    assert len(list(pytester.path.glob("results/*/captures/*.pcapng"))) == 2
