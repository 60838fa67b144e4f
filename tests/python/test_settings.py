"""-s key=value."""

from __future__ import annotations

import tomllib
import warnings
from pathlib import Path

import elephan as el
import pytest
from elephan._renamed import Renamed
from elephan.base.errors import InputError
from elephan.scenario.settings import axes, settings
from elephan.scenario.source import Notes, Source


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
    with pytest.warns(Renamed, match=r"header\.toml: .* in its comment is the table \[answer\] now"):
        assert Source(text, "header.toml", "toml", "header").notes == Notes("one two", "queue", ("a.sum", "b.max"))
    with warnings.catch_warnings():  # said once
        warnings.simplefilter("error")
        assert Source(text, "header.toml", "toml", "header").notes.figure == "queue"


ANSWER = """title = "Two flows"
duration = "1 s"
hosts = { a = {}, b = {} }
links = [{ between = ["a", "b"], rate = "10 Mbps", delay = "1 ms" }]
traffic = [{ from = "a", to = "b", kind = "bulk" }]
record = { every = "10 ms" }

[answer]
look_for = "the window"
figure = "sawtooth"
statistics = ["goodput_bps.sum", "drops.sum"]
"""


def test_the_answer_of_a_scenario_is_read_kept_and_changes_no_run(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(ANSWER)
    run = el.run(file, out=tmp_path / "r")
    assert (run.curated_figure, run.curated_statistics) == ("sawtooth", ("goodput_bps.sum", "drops.sum"))
    assert run.manifest["look_for"] == "the window"
    assert run.resolved["answer"] == tomllib.loads(ANSWER)["answer"]
    assert el.run(run.scenario).curated_figure == "sawtooth"  # a resolved scenario is a scenario
    assert [row["path"] for row in run.provenance["parameters"] if "answer" in row["path"]] == []
    plain = el.run(ANSWER[: ANSWER.index("[answer]")])
    assert (plain.curated_figure, "answer" in plain.resolved) == ("", False)
    for name in run.tables:
        assert run.tables[name].equals(plain.tables[name]), name
    other = el.run(file, set={"answer.figure": "queue", "answer.statistics": ["loss.max"]})
    assert (other.curated_figure, other.curated_statistics) == ("queue", ("loss.max",))


def test_the_answer_of_a_scenario_in_python() -> None:
    table = {"figure": "queue", "statistics": ["loss.max"]}
    words = {key: value for key, value in tomllib.loads(ANSWER).items() if key != "answer"}
    for scenario in (el.Scenario(answer=el.ScenarioAnswer(**table), **words), {"answer": table, **words}):
        run = el.run(scenario)
        assert (run.curated_figure, run.curated_statistics) == ("queue", ("loss.max",))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("figure =", "figur =", 'unknown key "figur"'),
        ('"sawtooth"', '"sawtoth"', 'answer: no figure "sawtoth"; did you mean "sawtooth"?'),
        ('"drops.sum"', '"dropss.sum"', 'did you mean "drops"?'),
        ('"sawtooth"', "3", "figure"),
        ('["goodput_bps.sum", "drops.sum"]', '"drops.sum"', "statistics"),
    ],
)
def test_a_wrong_answer_is_a_line_with_its_place(old: str, new: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = ANSWER.replace(old, new)
    file.write_text(text)
    line = text[: text.index(new.strip("[]"))].count("\n") + 1
    for ask in (el.run, lambda file: el.sweep(file, repetitions=2)):
        with pytest.raises(el.InputError) as caught:
            ask(file)
        assert str(caught.value).startswith(f"{file}:{line}:")
        assert told in str(caught.value)
