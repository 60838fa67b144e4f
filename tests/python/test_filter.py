"""Conditions on parameters: what they choose, and the line that a wrong one gets."""

from __future__ import annotations

import ast
from pathlib import Path

import elephan.experiment.filter as filters
import pytest
from elephan.base.errors import InputError
from elephan.experiment.filter import parse

LIMIT, KIND = "template.queue.limit", "template.queue.kind"
KNOWN = {
    LIMIT: ["10 kB", "50 kB", "100 kB"],
    KIND: ["red", "codel"],
    "traffic.a.rate": ["1 Mbps", "2 Mbps"],
    "traffic.b.rate": ["1 Mbps"],
    "traffic.a.congestion_control": [{"kind": "bbr", "params": {"x": 1}}, {"kind": "cubic", "beta": 0.8}, "reno"],
    "links[sw->h].delay": ["1 ms", "20 ms"],
    "flows": [1, 2, 3, 4, 5, 6, 7],
    "loss": [0.01, 0.02],
    "window": ["1 bdp", "50 kB", "none"],
    "ecn": [True, False],
    "seed": None,
}
ROWS = [{LIMIT: limit, KIND: kind, "seed": seed} for limit in KNOWN[LIMIT] or () for kind in ("red", "codel") for seed in (1, 2)]


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("limit >= 50 kB", [4, 5, 6, 7, 8, 9, 10, 11]),
        ("limit > 0.05 MB", [8, 9, 10, 11]),
        ("limit=50kB and queue == red", [4, 5]),
        ("template.queue.limit < 50 kB or queue.kind == red and seed == 2", [0, 1, 2, 3, 5, 9]),
        ("(limit < 50 kB or queue == red) and seed == 2", [1, 3, 5, 9]),
        ("not queue == red and not not seed != 1", [3, 7, 11]),
        ("limit in (10 kB, 100 kB) and seed in (2)", [1, 3, 9, 11]),
        ("limit <= 10 kB and queue != 'red'", [2, 3]),
        ("seed > 2", []),
    ],
)
def test_it_chooses(text: str, chosen: list[int]) -> None:
    wanted = parse(text, KNOWN)
    assert [number for number, row in enumerate(ROWS) if wanted(row)] == chosen


@pytest.mark.parametrize(
    ("text", "value", "holds"),
    [
        ("a.rate == 1000 kb/s", {"traffic.a.rate": "1 Mbps"}, True),
        ("delay >= 2 ms", {"links[sw->h].delay": "20 ms"}, True),
        ("links[sw->h].delay>=2ms", {"links[sw->h].delay": "1 ms"}, False),
        ("loss < 1.5 %", {"loss": 0.01}, True),
        ("ecn == true", {"ecn": True}, True),
        ("congestion_control == bbr", {"traffic.a.congestion_control": {"kind": "bbr", "params": {"x": 1}}}, True),
        ('congestion_control == { kind = "bbr", params = { x = 1 } }', {"traffic.a.congestion_control": "reno"}, False),
        ("congestion_control == cubic beta 0.8", {"traffic.a.congestion_control": {"kind": "cubic", "beta": 0.8}}, True),
        ("window >= 10 kB", {"window": "50 kB"}, True),
        ("window >= 10 kB", {"window": "1 bdp"}, False),  # of another unit
        ("window == none", {"window": "none"}, True),
        ("flows != 3", {}, True),  # not set
        ("flows <= 7", {}, False),
    ],
)
def test_values_are_as_scenarios_write_them(text: str, value: dict[str, object], holds: bool) -> None:
    assert parse(text, KNOWN)(value) is holds


def test_it_says_what_it_asks_about() -> None:
    assert parse("queue == red or seed == 1", KNOWN).names == {KIND, "seed"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("limt >= 50 kB", 'no parameter "limt"; did you mean "limit"?'),
        ("rate == 1 Mbps", '"rate" may be traffic.a.rate or traffic.b.rate; write more of it'),
        ("queue == rad", f'{KIND} is never "rad"; did you mean "red"?'),
        ("limit == 51 kB", f"{LIMIT} is never 51 kB; it is 10 kB, 50 kB, 100 kB"),
        ("flows == 9", "flows is never 9; the nearest are 6, 7"),
        ("limit >= 50", f'"50" is no value of {LIMIT}; write it like 10 kB'),
        ("limit >= 50 ms", f'"50 ms" is no value of {LIMIT}; write it like 10 kB'),
        ("queue < red", "compare them with == or !="),
        ("seed == one", 'seed is a number, not "one"'),
        ("limit", "one of == != < <= > >= in was expected"),
        ("limit >=", f"a value of {LIMIT} was expected"),
        ("queue == red seed == 1", 'is never "red seed"'),
        ("flows == 3, 4", '"and" or "or" was expected before ", 4"'),
        ("flows in 3", "write the values after"),
        ("(flows == 3", 'a ")" is missing'),
        ("flows == 3 or", "it ends before a parameter"),
        ("(" * 5000, "nested more than 50 deep"),
        ("__import__('os').system('true')", 'no parameter "__import__"'),
        ("", "write a condition such as"),
    ],
)
def test_a_wrong_condition_is_one_line(text: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        parse(text, KNOWN, "--filter")
    assert words in str(error.value)
    assert str(error.value).startswith("--filter")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_nothing_is_evaluated() -> None:
    called = {node.func.id for node in ast.walk(_tree()) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert not called & {"eval", "exec", "compile", "__import__"}


def _tree() -> ast.AST:
    return ast.parse(Path(filters.__file__).read_text(encoding="utf-8"))
