"""A study of one's own is a folder: it runs, judges, draws, and opens again when the folder is gone; a mistake is one line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import elephan as el
import pytest
from elephan import cli

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
    assert cli.status_of(["study", "run", "buffers", "--strict"]) == 2


def test_the_quick_run_and_a_study_without_claims(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (study / "claims.toml").unlink()
    assert cli.status_of(["study", "run", "buffers", "--quick", "--no-report"]) == 0
    assert "2 runs; the study has no claims." in capsys.readouterr().out
    assert Path("results/buffers-quick/manifest.json").is_file()


MISTAKES = [
    ("study.toml", "title = ", "titel = ", 'no key "titel"; did you mean "title"?'),
    ("study.toml", 'question = "How much?"\n', "", "has no question"),
    ("study.toml", "[axes]", "[axes", "at line 5"),
    ("study.toml", 'axes = ["rate"]', 'axes = ["rat"]', 'experiment rates: no axis "rat"; did you mean "rate"?'),
    ("study.toml", "line.toml", "lines.toml", 'no scenario lines.toml beside study.toml; did you mean "line.toml"?'),
    ("study.toml", "line.toml", "../line.toml", "no scenario ../line.toml beside study.toml"),
    ("study.toml", "repetitions = 2", "repetitions = 0", "repetitions is 0, at least 1"),
    ("study.toml", "repetitions = 2", "repetitions = true", "repetitions is a whole number, not True"),
    ("study.toml", "10 Mb/s", "5 Mb/s", 'axis rate: two points are "5 Mb/s"'),
    ("study.toml", "[axes]\nrate = [", '[axes]\nother = "points:all"\nrate = [', "axis other: is a list of points"),
    ("study.toml", "queue_max_bytes.max", "queue_max_byte.max", "queue_max_byte"),
    ("study.toml", '"template.rate"', '"template.rates"', "template.rates"),
    ("study.toml", 'title = "Buffers"', 'title = "Buffers"\nname = "../x"', "has letters, digits"),
    ("claims.toml", 'variant = "5 Mb/s"', 'variant = "5 Mbps"', 'rates has no variant "5 Mbps"; did you mean "5 Mb/s"?'),
    ("claims.toml", 'experiment = "rates"', 'experiment = "rate"', 'no experiment "rate"; did you mean "rates"?'),
    ("claims.toml", "min = 3, ", "", "needs one of min"),
    ("line.toml", "5 Mbps", "5 Mbsp", "Mbsp"),
]


@pytest.mark.parametrize(("file", "right", "wrong", "said"), MISTAKES, ids=[said for *_, said in MISTAKES])
def test_a_mistake_is_one_line(
    study: Path, file: str, right: str, wrong: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (study / file).read_text()
    assert right in text
    (study / file).write_text(text.replace(right, wrong))
    assert cli.status_of(["study", "run", "buffers"]) == 2
    error = capsys.readouterr().err
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
