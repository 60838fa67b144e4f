"""`--live`: a run, a sweep and a comparison are watched in the browser while they compute; the command stays what it is."""

import json
import subprocess
import sys
from pathlib import Path

import elephan as el
import pytest
from explored import CHROMIUM, ask, lines, until
from pages import Failed, Page
from waiting import ANSWER_S, PATIENCE_S, end

LONG = ("-s", "duration=20000 s")  # of the sawtooth: more than 5 s of computing
MANY = ("-s", "template.rate=5 Mbps,10 Mbps", "-n", "3000", "-s", "duration=10 s", "-s", "warmup=1 s", "--workers", "1")


class Command:
    """A command with `--live`, of which the address has been read."""

    def __init__(self, cwd: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "elephan", *words, "--live", "--no-open", "--no-report"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd,
        )
        self.address = ""
        for line in self.process.stderr:
            if "http://" in line:
                self.address = line.split()[-1]
                return

    def interrupt(self) -> tuple[int, float]:
        """Ctrl-C; returns the exit status and the processor time to the end, s."""
        used_s = end(self.process)[2]
        return self.process.returncode, used_s

    def __enter__(self) -> "Command":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)
        self.process.stdout.close()
        self.process.stderr.close()


def test_without_a_page_the_command_is_as_ever(tmp_path):
    small = ("sweep", "sawtooth", "-n", "2", "-s", "duration=3 s", "-s", "warmup=1 s", "--json")
    with Command(tmp_path, *small, "--out", "watched") as command:
        told = json.loads(command.process.stdout.read())
        assert command.process.wait(PATIENCE_S) == 0
    plain = el.sweep("sawtooth", repetitions=2, set={"duration": "3 s", "warmup": "1 s"}, out=tmp_path / "plain", report=False)
    assert told["variants"] == plain.as_dict()["variants"]
    for name in ("runs.parquet", "means.parquet", "scenario.toml"):
        assert (tmp_path / "watched" / name).read_bytes() == (tmp_path / "plain" / name).read_bytes()


def test_trials_of_a_sweep_come_while_it_runs_and_ctrl_c_ends_both(tmp_path):
    with Command(tmp_path, "sweep", "sawtooth", *MANY, "--out", "swept") as command, Page(command.address) as page:
        head = page.ask("load", path="swept")[0]
        assert (head["kind_of"], head["ended"], head["planned"]) == ("trials", False, 6000)
        counts = []
        while len(counts) < 3:
            found = page.ask("trials", path="swept")[0]
            if (done := sum(one["count"] for one in found["variants"])) > (counts[-1] if counts else 0):
                counts.append(done)
                assert done <= page.ask("trials", path="swept")[0]["done"]
        label = found["variants"][0]["label"]
        seed, value = found["variants"][0]["runs"][0]
        trial = page.ask("trial", path="swept", part="", variant=label, seed=seed)[0]
        assert el.run(trial["text"]).statistic(found["statistic"]) == value
        with pytest.raises(Failed):
            page.ask("load", path="elsewhere")
        status, _ = command.interrupt()
    assert status == 130
    kept = el.load(tmp_path / "swept")
    assert counts[-1] <= len(kept.trials) < 6000
    assert "runs are done" in kept.facts["incomplete"]


def test_ctrl_c_ends_a_run_and_its_page(tmp_path):
    with Command(tmp_path, "run", "sawtooth", *LONG, "--out", "run") as command, Page(command.address) as page:
        text = next(one["text"] for one in page.ask("library")[0]["value"] if one["name"] == "sawtooth")
        page.send("run", {"text": text, "set": {"duration": "20000 s"}})  # as the page does
        assert page.take()[0]["share"] < 1
        status, used_s = command.interrupt()
    assert status == 130
    assert used_s < ANSWER_S
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM.exists(), reason="no /usr/bin/chromium: apt-get install chromium")
def test_a_page_shows_a_run_while_it_computes_and_the_command_ends_with_the_page(page, tmp_path):
    with Command(tmp_path, "run", "sawtooth", "-s", "duration=1000 s", "--out", "run") as command:
        page.goto(command.address)
        until(page, "s && s.picture && s.picture.share > 0 && s.picture.share < 0.9")
        assert any(len(line["t"]) > 10 for line in lines(page, "window"))
        until(page, "s.picture.share >= 1 && s.drawn > 0")
        run = el.load(tmp_path / "run")
        assert ask(page, "[s.picture.seed, s.picture.summary.goodput_bps]") == [1, run.summary["goodput_bps"]]
        assert command.process.poll() is None
        page.close()
        assert command.process.wait(PATIENCE_S) == 0
        assert "result: run" in command.process.stdout.read()


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM.exists(), reason="no /usr/bin/chromium: apt-get install chromium")
def test_a_matrix_fills_in_while_the_comparison_runs(page, tmp_path):
    words = ("compare", "reno,cubic", "--rate", "4 Mbps", "-n", "3", "--workers", "1", "--out", "compared")
    with Command(tmp_path, *words) as command:
        page.goto(command.address)
        cells = page.locator(".heat td button")
        cells.first.wait_for()
        assert cells.count() == 4
        until(page, "document.querySelector('.trials progress') === null", seconds=40)
        panel = el.load(tmp_path / "compared")
        assert [text.split(" %")[0] for text in cells.all_inner_texts()] == [
            f"{100 * panel.share(a, b).mean:.3g}" for a in panel.labels for b in panel.labels
        ]
        status, took = command.interrupt()
        assert (status, took < 2.0) == (0, True)
