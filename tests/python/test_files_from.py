"""Which files a scenario reads: those of its folder, and what the caller names, at every entry and for every key of a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan import cli
from elephan.experiment.study import run_study
from pages import Failed, Page, served

NETWORK = 'duration = "2 s"\n[template]\nkind = "dumbbell"\nrate = "10 Mbps"\ndelay = "5 ms"\n'
TRAFFIC = '[[traffic]]\nname = "flow"\nfrom = "sender"\nto = "receiver"\n'
TRACE = "start_ms,size_bytes\n0,424242\n"
SIZES = "size_bytes,cdf\n1000,0.5\n424242,1\n"
TIMES = "time_ms,cdf\n250,0.5\n424,1\n"
PROFILE = (Path(__file__).parents[2] / "crates/scenario/tests/disk/good.toml").read_text()
# What a file says, and a scenario that names it.
KEYS = {
    "trace": (TRACE, NETWORK + TRAFFIC + 'kind = "replay"\nfile = "NAME"\n'),
    "sizes": (SIZES, NETWORK + TRAFFIC + 'kind = "transfers"\nload = "2 Mbps"\nsize = { cdf = "NAME" }\n'),
    "thoughts": (TIMES, NETWORK + TRAFFIC + 'kind = "users"\nusers = 3\nsize = "1 KB"\nthink = { cdf = "NAME" }\n'),
    "disk": (PROFILE, NETWORK + '[hosts.sender]\ndisk = { profile = "NAME" }\n' + TRAFFIC + 'kind = "bulk"\n'),
}
REFUSED = "is not in the folder of the scenario; it is read only where the caller names it: --files-from"


def lab(tmp_path: Path, key: str, name: str) -> Path:
    """A scenario in `lab/`, a file beside it, below it and outside."""
    content, text = KEYS[key]
    for place in ("lab/in.csv", "lab/data/deep.csv", "outside.csv", "lab2/near.csv"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(content)
    file = tmp_path / "lab" / "mine.toml"
    file.write_text(text.replace("NAME", name.replace("ROOT", str(tmp_path))))
    return file


def entries(file: Path, **named: Any) -> list[Callable[[], Any]]:
    """Everything that takes a scenario."""
    return [
        lambda: el.run(file, **named),
        lambda: el.sweep(file, repetitions=2, **named),
        lambda: el.compare(["reno"], scenario=file, repetitions=1, **named),
        lambda: el.explain(file, **named),
    ]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("name", ["../outside.csv", "ROOT/outside.csv", "./link.csv", "up/outside.csv", "data/../../lab2/near.csv"])
def test_a_scenario_reads_no_file_from_elsewhere(tmp_path: Path, key: str, name: str) -> None:
    file = lab(tmp_path, key, name)
    (file.parent / "link.csv").symlink_to(tmp_path / "outside.csv")
    (file.parent / "up").symlink_to(tmp_path)
    for call in entries(file)[:2]:
        with pytest.raises(el.InputError, match=REFUSED) as caught:
            call()
        assert "\n" not in str(caught.value)
        assert "424" not in str(caught.value)
    assert cli.status_of(["run", str(file), "--out", str(tmp_path / "out")]) == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "name", ["./in.csv", "data/deep.csv", "data/../in.csv", "../lab/in.csv", "ROOT/lab/data/deep.csv", "fine.csv"]
)
def test_a_scenario_reads_what_is_in_its_folder_and_below(tmp_path: Path, name: str) -> None:
    file = lab(tmp_path, "trace", name)
    (file.parent / "fine.csv").symlink_to("data/deep.csv")
    assert el.run(file).flows["size_bytes"].to_pylist() == [424242]


def test_every_entry_asks_and_takes_what_the_caller_names(tmp_path: Path) -> None:
    file = lab(tmp_path, "trace", "../outside.csv")
    for call in entries(file):
        with pytest.raises(el.InputError, match=REFUSED):
            call()
    for named in (tmp_path / "outside.csv", [str(tmp_path / "outside.csv")], tmp_path, [tmp_path / "lab2", tmp_path]):
        assert el.run(file, files_from=named).flows["size_bytes"].to_pylist() == [424242]
    for call in entries(file, files_from=tmp_path):
        call()
    out = str(tmp_path / "out")
    for words in (
        ["run", str(file), "--out", out],
        ["explain", str(file)],
        ["sweep", str(file), "-n", "2", "--out", out + "-sweep"],
    ):
        assert cli.status_of(words) == 2, words
        assert cli.status_of([*words, "--files-from", str(tmp_path / "lab2")]) == 2, words
        assert cli.status_of([*words, "--files-from", str(tmp_path / "lab2"), "--files-from", str(tmp_path)]) == 0, words
    assert cli.status_of(["compare", "reno", "--scenario", str(file), "-n", "1", "--out", out + "-compare"]) == 2


def test_workers_of_their_own_take_what_the_caller_names(tmp_path: Path) -> None:
    file = lab(tmp_path, "trace", "../outside.csv")
    done = el.sweep(file, repetitions=2, on="processes", workers=1, files_from=tmp_path)
    assert (len(done.trials), done.failures) == (2, [])


def test_the_page_takes_them_with_trust(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = lab(tmp_path, "trace", "../outside.csv")
    assert cli.status_of(["explore", str(file), "--no-open", "--files-from", str(tmp_path)]) == 2
    assert "they go with it" in capsys.readouterr().err
    text = file.read_text()
    with served(str(file), "--trust") as (address, _), Page(address) as page, pytest.raises(Failed, match=REFUSED):
        page.ask("run", text=text)
    with served(str(file), "--trust", "--files-from", str(tmp_path)) as (address, _), Page(address) as page:
        assert page.ask("run", text=text)[0]["kind"] == "done"


def test_what_lands_in_the_result_is_what_was_agreed_to(tmp_path: Path) -> None:
    secret = lab(tmp_path, "trace", "../outside.csv")
    with pytest.raises(el.InputError):
        el.run(secret, out=tmp_path / "out", report=False)
    assert not (tmp_path / "out").exists()
    el.run(secret, out=tmp_path / "out", report=False, files_from=tmp_path)
    assert "424242" in (tmp_path / "out" / "scenario.toml").read_text()
    # The result has the text of the trace, and needs the file no more.
    assert el.run(tmp_path / "out" / "scenario.toml").flows["size_bytes"].to_pylist() == [424242]


def test_the_callers_own_words_need_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In `set`, `-s`, a list that is swept, a design; relative to the scenario, else to the working directory."""
    file = lab(tmp_path, "trace", "in.csv")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "day.csv").write_text("start_ms,size_bytes\n0,777\n")
    monkeypatch.chdir(tmp_path / "here")
    key = "traffic.flow.file"
    for name, size in (("../outside.csv", 424242), ("day.csv", 777), (str(tmp_path / "here" / "day.csv"), 777)):
        assert el.run(file, set={key: name}).flows["size_bytes"].to_pylist() == [size]
        assert cli.status_of(["run", str(file), "-s", f"{key}={name}", "--out", str(tmp_path / "out"), "--replace"]) == 0
    swept = el.sweep(file, set={key: ["../outside.csv", "day.csv"]}, repetitions=1)
    assert (len(swept.labels), swept.failures) == (2, [])
    drawn = el.sweep(file, design=[{key: "../outside.csv"}, {key: "day.csv"}], repetitions=1)
    assert (len(drawn.labels), drawn.failures) == (2, [])
    sizes = lab(tmp_path / "sizes", "sizes", "./in.csv")
    assert el.run(sizes, set={"traffic.flow.size": {"cdf": "../outside.csv"}}).flows.num_rows > 0
    disk = lab(tmp_path / "disk", "disk", "./in.csv")
    assert el.run(disk, set={"hosts.sender.disk.profile": "../outside.csv"}).flows.num_rows == 1


def test_the_scenarios_own_sweep_is_no_word_of_the_caller(tmp_path: Path) -> None:
    file = lab(tmp_path, "trace", "in.csv")
    file.write_text(file.read_text() + '[sweep]\n"traffic.flow.file" = ["in.csv", "../outside.csv"]\n')
    with pytest.raises(el.InputError, match=REFUSED):
        el.sweep(file, repetitions=1)
    assert el.sweep(file, repetitions=1, files_from=tmp_path).failures == []


def test_a_text_has_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = lab(tmp_path, "trace", "in.csv").read_text()
    monkeypatch.chdir(tmp_path / "lab")
    import tomllib

    for scenario in (text, tomllib.loads(text), text.replace("in.csv", str(tmp_path / "lab" / "in.csv"))):
        with pytest.raises(el.InputError, match="is not beside the scenario; it is read only where the caller names it"):
            el.run(scenario)
        assert el.run(scenario, files_from="in.csv").flows["size_bytes"].to_pylist() == [424242]


def test_none_is_nothing_but_the_callers_words(tmp_path: Path) -> None:
    file = lab(tmp_path, "trace", "in.csv")
    with pytest.raises(el.InputError, match=r"in\.csv: no file beside the scenario is read here"):
        el.run(file, files_from="none")
    assert el.run(file, files_from="none", set={"traffic.flow.file": "data/deep.csv"}).flows.num_rows == 1


def test_what_runs_and_what_is_read_are_two_words(tmp_path: Path) -> None:
    file = lab(tmp_path, "trace", "../outside.csv")
    with pytest.raises(el.InputError, match=REFUSED):
        el.run(file, python_from=tmp_path)
    (tmp_path / "mine.py").write_text(
        "import elephan as el\nclass Mine(el.CongestionControl):\n    def on_ack(self, ack):\n        pass\n"
    )
    file.write_text(NETWORK + TRAFFIC + 'kind = "bulk"\ncongestion_control = { python = "../mine.py:Mine" }\n')
    with pytest.raises(el.InputError, match="its code runs only where the caller names it"):
        el.run(file, files_from=tmp_path)


@pytest.mark.parametrize(
    ("named", "line"),
    [
        (3, "files_from is a name or a list of names"),
        ([3], "files_from: the path of a file or a folder, not 3"),
        ("no/such.csv", "files_from: no/such.csv: no such file or folder"),
        ("", "files_from: an empty text is no path"),
        (["a\0b"], "NUL"),
        (os, "files_from: the path of a file or a folder, not <module"),
    ],
)
def test_wrong_names_are_refused(named: Any, line: str) -> None:
    with pytest.raises(el.InputError) as caught:
        el.run("sawtooth", files_from=named)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


STUDY = """title = "t"
question = "q"
[[axes.rate]]
label = "10"
set = { "template.rate" = "10 Mbps" }
[[experiments]]
name = "one"
scenario = "mine.toml"
axes = ["rate"]
repetitions = 1
"""


def test_a_study_reads_its_folder(tmp_path: Path) -> None:
    file = lab(tmp_path, "trace", "../outside.csv")
    study = file.parent / "study.toml"
    study.write_text(STUDY)
    with pytest.raises(el.InputError, match=REFUSED):
        run_study(str(file.parent), out=tmp_path / "a", report=False)
    run_study(str(file.parent), out=tmp_path / "b", report=False, files_from=tmp_path)
    assert cli.status_of(["study", "run", str(file.parent), "--out", str(tmp_path / "c"), "--no-report"]) == 2
    # A file of the study that is a link would be copied into the result.
    for name in ("mine.toml", "claims.toml", "study.toml"):
        here = file.parent / name
        if here.exists():
            here.rename(tmp_path / name)
        else:
            (tmp_path / name).write_text("secret = 424\n")
        here.symlink_to(tmp_path / name)
        with pytest.raises(el.InputError, match=f"{name}: {REFUSED}"):
            run_study(str(file.parent), out=tmp_path / "d", report=False)
        here.unlink()
        if name != "claims.toml":
            (tmp_path / name).rename(here)
