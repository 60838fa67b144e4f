"""Defaults in the tables of parameters on pages of congestion controls are those of the registry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.base.quantity import parse_any

MODELS = Path(__file__).parents[2] / "docs" / "models"
PAGES = {name: MODELS / f"{name.replace('_', '-')}.md" for name in el.cc.names() if (MODELS / f"{name}.md").is_file()}


# Pages that have the defaults in a sentence.
OTHERWISE = {"xcp"}


def tables(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """The names and the defaults of each row of a table of parameters."""
    inside = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        inside = bool(cells) and ((cells[0] == "parameter" and "default" in cells[1]) or (inside and len(cells) > 1))
        if inside and (names := re.findall(r"`(\w+)`", cells[0])):
            yield names, re.sub(r"[`\"]|\[assumed[^]]*\]", "", cells[1]).split(", ")


def value(written: Any) -> Any:
    """What a default says: a number (of seconds, bytes, bit/s or none), true or false, nothing, or a word."""
    text = str(written).replace("bit/s", "b/s").replace(",", "").lower().strip()
    if text in ("none", "true", "false"):
        return {"none": None, "true": True, "false": False}[text]
    if re.fullmatch(r"[\d.e-]+(?:/\d+)?", text):
        return float(Fraction(text)) if "/" in text else float(text)
    if text.endswith("%"):
        return float(text[:-1]) / 100
    found = parse_any(str(written).replace("bit/s", "b/s"))
    return found[0] if found else text


def same(written: Any, default: Any) -> bool:
    """Whether a page says a default; words may stand for one that follows from something else (none, or 0)."""
    one, other = value(written), value(default)
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=0.005)
    return bool(one == other or (isinstance(one, str) and not other))


@pytest.mark.parametrize("name", sorted(PAGES))
def test_defaults_on_a_page_are_those_of_the_registry(name: str) -> None:
    known = {one["name"]: one["default"] for one in el.cc.describe(name)["parameters"]}
    rows = [(names, told) for names, told in tables(PAGES[name].read_text(encoding="utf-8")) if set(names) <= set(known)]
    wrong = [
        f"{names}: {told} is written, {[known[one] for one in names]} is right"
        for names, told in rows
        if len(names) != len(told) or not all(same(one, known[key]) for key, one in zip(names, told, strict=True))
    ]
    assert wrong == []
    assert rows or name in OTHERWISE


def test_a_default_is_read_as_it_is_written() -> None:
    rows = list(tables("| parameter | default | meaning |\n|---|---|---|\n| `a`, `b` | 1/8, `4 ms` | x |\n\n| `c` | 7 | x |\n"))
    assert rows == [(["a", "b"], ["1/8", "4 ms"])]
    assert same("1/8", 0.125)
    assert same("4 ms", 0.004)
    assert not same("4 ms", 0.005)
    assert same("none", None)
    assert not same("true", False)
