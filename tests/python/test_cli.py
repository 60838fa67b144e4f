"""The command: exit statuses, one line for an error, JSON for machines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from elephan import cli


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(capfd: pytest.CaptureFixture[str], *words: str) -> str:
    """Runs a wrong command; gives its one line."""
    assert cli.status_of(words) == 2
    out, err = capfd.readouterr()
    assert out == ""
    lines = err.strip().splitlines()
    assert len(lines) == 1, err
    assert "Traceback" not in err
    return lines[0]


def test_a_file_named_without_its_ending(capfd: pytest.CaptureFixture[str]) -> None:
    Path("first.toml").write_text("")
    assert refused(capfd, "run", "first").endswith('no scenario file or library scenario "first"; did you mean first.toml?')


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["run"], "Missing argument"),
        (["run", "nosuchscenario"], "no scenario file or library scenario"),
        (["run", "sawtoth"], 'did you mean "sawtooth"'),
        (["run", "nosuch.toml"], "No such file"),
        (["run", "/"], "is a folder"),
        (["run", "sawtooth", "-s", "x"], "key=value"),
        (["run", "sawtooth", "-s", "durration=3 s"], "duration"),
        (["run", "sawtooth", "-s", "links[1].loss=nan"], "links[1].loss: nan is not a text, a finite number"),
        (["run", "sawtooth", "--seed", "-1"], "--seed"),
        (["run", "sawtooth", "--nosuch"], "--nosuch"),
        (["sweep", "sawtooth", "-n", "0"], "repetition"),
        (["sweep", "sawtooth", "-s", "seed=1,,2"], "empty value"),
        (["sweep", "sawtooth", "--statistic", "nosuch.sum"], "no measure"),
        (["sweep", "sawtooth", "--workers", "0"], "--workers"),
        (["sweep", "sawtooth"], "nothing to sweep"),
        (["sweep", "sawtooth", "-s", "duration=11 s", "-n", "1"], "nothing to sweep"),
        *((["run", "sawtooth", "--out", out], "not a name for a result folder") for out in (".", "/", "", "..")),
        *((["sweep", "incast", "--out", out], "not a name for a result folder") for out in (".", "/", "", "..")),
        *((["study", "run", "intel-2004", "--out", out], "not a name for a result folder") for out in (".", "/", "", "..")),
        (["study", "run", "nosuch"], "no study"),
        (["list", "nosuch"], "no list"),
        (["report", "nosuch"], "no such result folder"),
        (["diff", "nosuch", "nosuch"], "no such result folder"),
        (["bench", "W9"], "no workload"),
        (["bench", "W1", "--against", "nosuch"], "no Makefile"),
        (["frobnicate"], "No such command"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capfd: pytest.CaptureFixture[str], words: list[str], why: str) -> None:
    assert why in refused(capfd, *words)
    assert list(Path().iterdir()) == []


def test_files_that_cannot_be_read(capfd: pytest.CaptureFixture[str]) -> None:
    Path("binary.toml").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in refused(capfd, "run", "binary.toml")
    Path("wrong.toml").write_text('title = "x"\nduration = "ten"\n')
    assert "wrong.toml:2:" in refused(capfd, "run", "wrong.toml")


def test_a_folder_that_is_not_ours(capfd: pytest.CaptureFixture[str]) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.tex").write_text("years of work")
    assert "not a result of elephan" in refused(capfd, "run", "sawtooth", "-s", "duration=11 s", "--out", "mine")
    assert Path("mine/thesis.tex").read_text() == "years of work"


def test_a_run(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.status_of(["run", "sawtooth", "-s", "duration=11 s", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["folder"] == "results/sawtooth-1"
    assert found["statistics"]["goodput_bps.sum"] == pytest.approx(20e6 * 1448 / 1538, rel=0.02)
    assert found["dropped_overrides"] == []
    assert Path("results/sawtooth-1/report.html").exists()
    assert Path("results/sawtooth-1/figures/sawtooth.png").exists()


def test_a_run_for_people(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.status_of(["run", "load-latency", "-s", "duration=110 ms", "--out", "r"]) == 0
    out = capfd.readouterr().out
    assert "report: r/report.html" in out
    assert "goodput_bps.sum" in out
    assert "ignores" in out


def test_lists(capfd: pytest.CaptureFixture[str]) -> None:
    for kind, name in (("scenarios", "incast"), ("congestion-controls", "cubic"), ("stacks", "winxp"), ("queues", "fifo"),
                       ("traffic", "bulk"), ("figures", "sawtooth"), ("studies", "intel-2004")):  # fmt: skip
        assert cli.status_of(["list", kind, "--json"]) == 0
        assert name in {row["name"] for row in json.loads(capfd.readouterr().out)}
    assert cli.status_of(["list", "--json"]) == 0
    for row in json.loads(capfd.readouterr().out):
        assert cli.status_of(["list", row["name"]]) == 0
        assert capfd.readouterr().out.strip()


def test_the_library_has_its_words() -> None:
    from elephan.report.run_figures import REGISTRY
    from elephan.source import library

    assert len(library()) >= 8
    assert {"sawtooth", "incast", "buffer-sizing", "rtt-fairness", "slow-start", "long-fat"} <= set(library())
    for entry in library().values():
        assert entry.title
        assert entry.question.endswith("?")
        assert entry.notes.look_for
        assert entry.notes.figure in REGISTRY
        assert entry.notes.statistics


def test_schema(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.status_of(["schema"]) == 0
    assert "properties" in json.loads(capfd.readouterr().out)


def test_version(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.status_of(["--version"]) == 0
    assert capfd.readouterr().out.startswith("elephan 0.")


@pytest.mark.parametrize("module", ["typer", "elephan.cli.app", "elephan.errors", "elephan.source"])
def test_ctrl_c_while_importing(module: str) -> None:
    code = f"""
import sys
class Interrupting:
    def find_spec(self, name, *rest):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from elephan.cli import main
sys.argv = ["elephan", "run", "sawtooth"]
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "elephan: interrupted\n")
