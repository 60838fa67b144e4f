"""-s key=value."""

from __future__ import annotations

import pytest
from elephan.base.errors import InputError
from elephan.scenario.settings import axes, settings
from elephan.scenario.source import Notes, notes


def test_values_are_typed() -> None:
    given = ["a.b=10 Gbps", "c=3", "d=true", 'e="x, y"', 'f={ kind = "pause", xoff = "21 KiB" }', "g=[1, 2]", "h=0.5"]
    assert settings(given) == {
        "a.b": "10 Gbps",
        "c": 3,
        "d": True,
        "e": "x, y",
        "f": {"kind": "pause", "xoff": "21 KiB"},
        "g": [1, 2],
        "h": 0.5,
    }


def test_lists_are_swept() -> None:
    assert axes(["m=24 KiB,48 KiB", "n=1, 2 ,3", "o=x"]) == {"m": ["24 KiB", "48 KiB"], "n": [1, 2, 3], "o": "x"}
    assert axes(['q={ kind = "fifo", limit = "1 p" },{ kind = "fifo" }']) == {
        "q": [{"kind": "fifo", "limit": "1 p"}, {"kind": "fifo"}]
    }
    assert axes(['s="a,b",c']) == {"s": ["a,b", "c"]}


@pytest.mark.parametrize("wrong", ["a", "=3", "a=", "  =  "])
def test_wrong_settings(wrong: str) -> None:
    with pytest.raises(InputError, match="key=value"):
        settings([wrong])


def test_empty_values_in_a_list() -> None:
    with pytest.raises(InputError, match="empty value"):
        axes(["a=1,,2"])


def test_the_header_of_a_scenario() -> None:
    text = (
        "# A title line.\n#\n# Look for: one\n#   two\n# Figure: queue\n# Statistics: a.sum, b.max\n\ntitle = 'x'\n# Figure: no\n"
    )
    assert notes(text) == Notes("one two", "queue", ("a.sum", "b.max"))
