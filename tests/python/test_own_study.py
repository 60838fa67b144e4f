"""A study of one's own is a folder: it runs, judges, draws, and opens again when the folder is gone; a mistake is one line."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan import cli
from elephan.experiment.declaration import Declaration

SCENARIO = """title = "A line"
duration = "3 s"
warmup = "500 ms"
template = { kind = "dumbbell", pairs = 1, rate = "5 Mbps", delay = "5 ms", queue = { kind = "fifo", limit = "1 bdp" } }
traffic = [{ name = "bulk", from = "sender", to = "receiver", kind = "bulk", start = { uniform = ["0 s", "100 ms"] } }]
"""
STUDY = """title = "Buffers"
question = "How much?"
statistics = ["queue_max_bytes.max"]

[axes]
rate = [
    { label = "5 Mb/s", value = 5e6 },
    { label = "10 Mb/s", value = 10e6, set = { "template.rate" = "10 Mbps" } },
]

[[experiments]]
name = "rates"
scenario = "line.toml"
axes = ["rate"]
repetitions = 2
quick = { repetitions = 1 }
"""
# Ethernet carries 1460 of 1538 bytes as payload without time stamps, and less with them.
CLAIMS = """[[claims]]
id = "A"
statement = "No link carries more payload than its rate."
source = "arithmetic"
parts = [{ experiment = "rates", statistic = "goodput_bps.sum", variant = "5 Mb/s", below = 4.75e6, every = true }]

[[claims]]
id = "B"
statement = "Twice the rate is three times the goodput."
source = "a wrong guess"
parts = [
    { experiment = "rates", statistic = "goodput_bps.sum", variant = "10 Mb/s", min = 3, compare = "ratio", against = "5 Mb/s" },
]
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "buffers"
    folder.mkdir()
    for name, text in (("line.toml", SCENARIO), ("study.toml", STUDY), ("claims.toml", CLAIMS)):
        (folder / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return folder


def test_it_runs_and_opens_without_its_folder(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.status_of(["study", "run", "buffers"]) == 0
    said = capsys.readouterr().out
    assert "A holds: No link carries more" in said
    assert "B fails: Twice the rate" in said
    page = Path("results/buffers/report.html").read_text(encoding="utf-8")
    assert "Experiment rates" in page
    assert "longest queue" in page
    verdicts = {one["id"]: one["verdict"] for one in json.loads(Path("results/buffers/claims.json").read_text())}
    assert verdicts == {"A": "holds", "B": "fails"}
    shutil.rmtree(study)
    again = el.load("results/buffers")
    assert {one.claim.id: one.verdict for one in again.verdicts} == verdicts
    assert again.table().num_rows == 4
    assert cli.status_of(["report", "results/buffers"]) == 0
    assert "elephan · study buffers<" in Path("results/buffers/report.html").read_text(encoding="utf-8")
    assert cli.status_of(["study", "run", "buffers", "--strict"]) == 2


def test_the_quick_run_and_a_study_without_claims(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (study / "claims.toml").unlink()
    assert cli.status_of(["study", "run", "buffers", "--quick", "--no-report"]) == 0
    said = capsys.readouterr().out
    assert "2 runs; the study has no claims." in said
    assert "verdict" not in said  # no empty table
    assert Path("results/buffers-quick/manifest.json").is_file()


# The file, what is written instead of what, the line that the error names, and its words.
# fmt: off
MISTAKES = [
    ("study.toml", "title = ", "titel = ", 1, 'no key "titel"; did you mean "title"?'),
    ("study.toml", 'title = "Buffers"', 'title = ""', 1, "the study has no title"),
    ("study.toml", 'title = "Buffers"', "title = 3", 1, "title is a text, not 3"),
    ("study.toml", 'question = "How much?"\n', "", 1, "the study has no question"),
    ("study.toml", "[axes]", "[axes", 5, ""),
    ("study.toml", "[axes]", "[[axes]]", 5, "axes is a table, not [{"),
    ("study.toml", "[axes]", "[axis]", 5, 'no key "axis"; did you mean "axes"?'),
    ("study.toml", "[axes]\nrate = [", "[axes]\nrate = 3\nrat = [", 6, "axis rate is a list of points"),
    ("study.toml", "[axes]\nrate = [", "[axes]\nempty = []\nrate = [", 6, "axis empty is a list of points"),
    ("study.toml", "[axes]\nrate = [", '[axes]\nother = "points:all"\nrate = [', 6, "axis other is a list of points"),
    ("study.toml", '{ label = "5 Mb/s", value', '{ lable = "5 Mb/s", value', 7, 'axis rate: point 1: no key "lable"; did you'),
    ("study.toml", 'label = "5 Mb/s", ', "", 7, "axis rate: point 1 has no label"),
    ("study.toml", 'label = "5 Mb/s"', "label = 5", 7, "axis rate: point 1: label is a text, not 5"),
    ("study.toml", "value = 5e6", 'value = "5e6"', 7, "axis rate: point 1: value is a number, not '5e6'"),
    ("study.toml", "value = 5e6", "value = nan", 7, "axes.rate[0].value: NaN: must be a finite number"),
    ("study.toml", "10 Mb/s", "5 Mb/s", 8, 'axis rate: two points are "5 Mb/s"'),
    ("study.toml", '{ "template.rate" = "10 Mbps" }', "3", 8, "axis rate: point 2: set is a table, not 3"),
    ("study.toml", '"template.rate"', '"template.rates"', 8, 'rate "10 Mb/s": template.rates=10 Mbps: no such'),
    ("study.toml", '"10 Mbps"', '"10 Mbsp"', 8, 'rate "10 Mb/s": template.rate=10 Mbsp: unknown unit'),
    ("study.toml", "[[experiments]]", "[experiments]", 11, "experiments is a list, not {"),
    ("study.toml", 'name = "rates"\n', "", 11, "experiment has no name"),
    ("study.toml", 'name = "rates"', "name = 3", 12, "experiment: name is a text, not 3"),
    ("study.toml", "line.toml", "lines.toml", 13, 'no scenario lines.toml beside study.toml; did you mean "line'),
    ("study.toml", "line.toml", "../line.toml", 13, "experiment rates: no scenario ../line.toml beside study.toml"),
    ("study.toml", "scenario = ", "scenarios = ", 13, 'no key "scenarios"; did you mean "scenario"?'),
    ("study.toml", 'axes = ["rate"]', 'axes = ["rat"]', 14, 'experiment rates: no axis "rat"; did you mean "rate"?'),
    ("study.toml", 'axes = ["rate"]', 'axes = "rate"', 14, "experiment rates: axes is a list, not 'rate'"),
    ("study.toml", 'axes = ["rate"]', 'axes = [["rate"]]', 14, "experiment rates: axes is a list of texts, not [['rate']]"),
    ("study.toml", 'axes = ["rate"]', 'axes = ["rate", "rate"]', 14, 'experiment rates: axes: "rate" stands there twice'),
    ("study.toml", 'axes = ["rate"]', "axes = []", 14, "experiment rates has no axes"),
    ("study.toml", "repetitions = 2", "repetitions = 0", 15, "experiment rates: repetitions is 0, not a number from 1"),
    ("study.toml", "repetitions = 2", "repetitions = true", 15, "experiment rates: repetitions is a whole number, not True"),
    ("study.toml", "repetitions = 2", "repetitions = 9999999", 15, "experiment rates: repetitions is 9999999, not"),
    ("study.toml", "repetitions = 2", "repetition = 2", 15, 'experiment rates: no key "repetition"; did you mean "rep'),
    ("study.toml", "repetitions = 2", 'repetitions = 2\nset = { "template.rat" = 1 }',
     16, "experiment rates: template.rat=1: no such"),
    ("study.toml", "{ repetitions = 1 }", "{ repetition = 1 }", 16, 'experiment rates: quick: no key "repetition"; did'),
    ("study.toml", "{ repetitions = 1 }", "{ repetitions = -1 }", 16, "experiment rates: repetitions is -1"),
    ("study.toml", "{ repetitions = 1 }", '{ points = { rat = ["5 Mb/s"] } }', 16, 'experiment rates: quick: no axis "rat"; did'),
    ("study.toml", "{ repetitions = 1 }", '{ points = { rate = ["5 Mb"] } }',
     16, 'quick: axis rate has no point "5 Mb"; did you mean "5 Mb/s"?'),
    ("study.toml", "{ repetitions = 1 }", '{ set = { "template.rate" = "x" } }', 16, "experiment rates: quick: template.rate=x: "),
    ("study.toml", "queue_max_bytes.max", "queue_max_byte.max", 3, 'statistics: no measure "queue_max_byte"; did you mean'),
    ("study.toml", '["queue_max_bytes.max"]', "[3]", 3, "statistics is a list of texts, not [3]"),
    ("study.toml", 'title = "Buffers"', 'title = "Buffers"\nname = "../x"', 2, 'name "../x" has letters, digits'),
    ("claims.toml", "[[claims]]", "[[claim]]", 1, 'no key "claim"; did you mean "claims"?'),
    ("claims.toml", "every = true", "every = true,,", 5, ""),
    ("claims.toml", 'id = "A"', "id = 3", 2, "claim ?: id is a text, not 3"),
    ("claims.toml", 'id = "B"', 'id = "A"', 8, 'two claims have the same id "A"'),
    ("claims.toml", 'source = "arithmetic"', 'sorce = "arithmetic"', 4, 'claim A: no key "sorce"; did you mean "source"?'),
    ("claims.toml", 'source = "arithmetic"\n', "", 1, "claim A: has no source"),
    ("claims.toml", "every = true", 'every = "yes"', 5, "claim A: every is true or false, not 'yes'"),
    ("claims.toml", 'variant = "5 Mb/s"', 'variant = "5 Mbps"', 5, 'claim A: rates has no variant "5 Mbps"; did you mean "5 Mb/s'),
    ("claims.toml", 'experiment = "rates"', 'experiment = "rate"', 5, 'claim A: no experiment "rate"; did you mean "rates"?'),
    ("claims.toml", "goodput_bps.sum", "goodput_bps.summ", 5, "claim A: statistic: "),
    ("claims.toml", "min = 3, ", "", 12, "claim B: needs one of min"),
    ("claims.toml", "min = 3, ", "mn = 3, ", 12, 'claim B: no key "mn"; did you mean "min"?'),
    ("claims.toml", "min = 3, ", "min = 3, max = 2, ", 12, "claim B: no value satisfies min = 3 and max = 2"),
    ("claims.toml", '"ratio"', '"ration"', 12, 'claim B: compare is "difference" or "ratio", not "ration"; did you mean "ratio"?'),
    ("claims.toml", ', against = "5 Mb/s"', "", 12, "claim B: compare and against go together"),
    ("line.toml", "5 Mbps", "5 Mbsp", 4, 'template.rate: unknown unit "Mbsp"'),
]
# fmt: on


@pytest.mark.parametrize(("file", "right", "wrong", "line", "said"), MISTAKES, ids=[f"{number}" for number in range(len(MISTAKES))])
def test_a_mistake_is_one_line(
    study: Path, file: str, right: str, wrong: str, line: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (study / file).read_text()
    assert right in text
    (study / file).write_text(text.replace(right, wrong))
    assert cli.status_of(["study", "run", "buffers"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"elephan: buffers/{file}:{line}:")
    assert (error.count("\n"), said in error) == (1, True), error
    assert not Path("results/buffers").exists()


def test_a_folder_without_a_study_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    assert cli.status_of(["study", "run", "empty"]) == 2
    assert cli.status_of(["study", "run", "nosuch"]) == 2
    assert [line.count("study") > 0 for line in capsys.readouterr().err.splitlines()] == [True, True]


def test_every_value_of_a_toml_file_has_its_line() -> None:
    def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
        yield path
        pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, one in pairs:
            yield from places(one, (*path, key))

    files = [Declaration(file) for file in sorted((Path(el.__file__).parent).rglob("*.toml"))]
    assert len(files) > 50
    count = 0
    for file in files:
        lines = file.text.splitlines()
        for path in places(file.table):
            if path and isinstance(path[-1], str):
                number = int(file.at(*path).rpartition(":")[2])
                assert path[-1] in lines[number - 1], (file.path, path, number)
                count += 1
    assert count > 2000
    assert file.at("nothing", 3, "of this") == f"{file.path}:1"


def test_a_study_whose_runs_are_not_all_done_draws_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run = ["study", "run", "intel-2004", "--quick", "--store", "kept"]
    assert cli.status_of([*run, "--shard", "0/12"]) == 0
    assert cli.status_of([*run, "--on", "kept", "--out", "part"]) == 0
    told = re.escape(el.load("part").facts["incomplete"])
    assert re.fullmatch(r"\d+ of \d+ runs are done", told.replace("\\", ""))
    assert cli.status_of(["report", "part"]) == 0
    assert re.search(f"Incomplete: {told}", Path("part/report.html").read_text(encoding="utf-8"))
    assert cli.status_of(["show", "part"]) == 0
    assert "report it" not in capsys.readouterr().err
