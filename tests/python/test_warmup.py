"""The warm-up of a run by MSER-5, in words and as a figure."""

from __future__ import annotations

import re
from pathlib import Path

import elephan as el
import pytest
from elephan.base.quantity import seconds
from elephan.cli import status_of
from elephan.report.words.view import View
from elephan.report.words.warmup import warmup_words

# Packets at a constant rate from the first second on: the run settles at 1 s.
LATE = """
duration = "10 s"
warmup = "%s"
hosts = { a = {}, b = {} }
links = [{ between = ["a", "b"], rate = "10 Mbps", delay = "1 ms" }]
record = { every = "%s" }
[[traffic]]
from = "a"
to = "b"
kind = "cbr"
rate = "5 Mbps"
start = "1 s"
"""


@pytest.mark.parametrize(
    ("warmup", "said"), [("0 s", "leaves out only 0 s"), ("500 ms", "only 500 ms"), ("2 s", "which is enough")]
)
def test_the_warm_up_ends_where_traffic_begins(warmup: str, said: str) -> None:
    words = warmup_words(View(el.run(LATE % (warmup, "10 ms"))))
    found = re.match(r"Warm-up by MSER-5: (\S+ m?s) ", words)
    assert found is not None, words
    assert 0.95 <= seconds(found[1]) <= 1.15  # means of five windows of 20 ms
    assert said in words


def test_the_advice_is_a_warm_up_that_is_enough() -> None:
    words = warmup_words(View(el.run(LATE % ("0 s", "10 ms"))))
    advised = re.search(r'Set warmup = "(.*)"', words)[1]
    assert warmup_words(View(el.run(LATE % (advised, "10 ms")))).endswith("which is enough.")


def test_too_few_samples_and_runs_that_never_settle_are_said() -> None:
    assert "set a shorter record.every" in warmup_words(View(el.run(LATE % ("0 s", "1 s"))))
    late = LATE.replace('start = "1 s"', 'start = "8 s"')
    assert "in the first half" in warmup_words(View(el.run(late % ("0 s", "10 ms"))))


def test_the_check_on_the_command_line_and_the_figure(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "late.toml"
    file.write_text(LATE % ("500 ms", "10 ms"))
    for more, there in (([], False), (["--warmup-check"], True)):
        assert status_of(["run", str(file), "--out", str(tmp_path / "o"), *more]) == 0
        assert ("Warm-up by MSER-5" in capfd.readouterr().out) is there
    run = el.load(tmp_path / "o")
    run.figure("warm-up").savefig(tmp_path / "warm-up.svg")
    assert "Warm-up" not in (tmp_path / "o" / "report.html").read_text()  # only on demand
