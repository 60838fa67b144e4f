"""A command and a kind of result are each one file: nothing else names them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = '''"""Count to a number.

It begins at one.
"""

from typing import Annotated

from elephan.cli.parser import Argument
from elephan.cli.options import whole


def command(number: Annotated[int, Argument(parser=whole(1, 9), metavar="N", help="The last one.")]) -> int:
    print(*range(1, number + 1))
    return 1 if number == 9 else 0
'''

GROUP = '"""Things to count."""'

KIND = '''"""A dice: what it showed."""

from pathlib import Path

from elephan.base.kinds import Compared, Kind
from elephan.report.page.page import Page
from elephan.result import folder
from elephan.scenario.source import read_json


class Dice(folder.Result):
    kind = "dice"

    def __init__(self, shown):
        self.shown = shown

    def as_dict(self):
        return {"shown": self.shown}

    def fill(self, partial):
        folder.write_json(partial / "shown.json", self.shown)
        folder.write_json(partial / "manifest.json", folder.manifest_head("dice", "dice"))


def answer(dice):
    return [f"The dice showed {sum(dice.shown)} in all."]


KIND = Kind(
    holds=("shown.json",),
    load=lambda where: Dice(read_json(where / "shown.json")),
    title=lambda dice: "A dice",
    answer=answer,
    warnings=lambda dice: ["It is loaded."] if set(dice.shown) == {6} else [],
    tables=lambda dice, screen: screen.print(" ".join(map(str, dice.shown))),
    page=lambda dice: Page("elephan", "A dice", "What did it show?", answer(dice), "1", "dice"),
    notebook=lambda dice: f"<p>{answer(dice)[0]}</p>",
    compared=lambda where: Compared({"": {"drops.sum": {n: float(v) for n, v in enumerate(read_json(where / "shown.json"))}}}),
)
'''

# Gives a package of elephan a second folder, so that no file of it is touched, and runs what comes behind.
START = """
import sys, importlib
package, folder, *words = sys.argv[1:]
importlib.import_module(package).__path__.append(folder)
"""


def python(code: str, package: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", START + code, package, str(folder), *words]
    environment = os.environ | {"COLUMNS": "100"}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)


def elephan(package: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return python("from elephan.cli import status_of; sys.exit(status_of(words))", package, folder, *words)


def test_a_command_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "counting_up.py").write_text(COMMAND)
    package = "elephan.cli.command"
    listed = elephan(package, tmp_path, "--help").stdout
    assert "counting-up  Count to a number.\n" in listed
    assert "run          One run" in listed
    own = elephan(package, tmp_path, "counting-up", "--help").stdout
    assert "It begins at one." in own
    assert "The last one." in own
    done = elephan(package, tmp_path, "counting-up", "3")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 2 3\n", "")
    assert elephan(package, tmp_path, "counting-up", "9").returncode == 1
    wrong = elephan(package, tmp_path, "counting-up", "12")
    assert (wrong.returncode, wrong.stderr) == (2, "elephan: Invalid value for 'N': 12 is not a whole number from 1 to 9\n")
    assert 'did you mean "counting-up"?' in elephan(package, tmp_path, "counting-ap").stderr


def test_a_group_of_commands_is_one_folder(tmp_path: Path) -> None:
    (tmp_path / "counting").mkdir()
    (tmp_path / "counting" / "__init__.py").write_text(GROUP)
    (tmp_path / "counting" / "up.py").write_text(COMMAND)
    package = "elephan.cli.command"
    assert "counting     Things to count.\n" in elephan(package, tmp_path, "--help").stdout
    assert "up  Count to a number.\n" in elephan(package, tmp_path, "counting", "--help").stdout
    assert elephan(package, tmp_path, "counting", "up", "2").stdout == "1 2\n"


def test_the_list_of_commands_reads_none_of_them(tmp_path: Path) -> None:
    """A command that cannot even be imported is listed; what the others import is not loaded."""
    (tmp_path / "broken.py").write_text('"""Fail."""\n\nimport no_such_module\n')
    heavy = "[name for name in ('numpy', 'rich', 'elephan.open') if name in sys.modules]"
    code = f"from elephan.cli import status_of; status_of(words); print({heavy})"
    for words in (["--help"], ["--version"]):
        said = python(code, "elephan.cli.command", tmp_path, *words).stdout
        assert said.endswith("[]\n")
        assert ("broken       Fail." in said) == (words == ["--help"])


def test_a_kind_of_result_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "dice.py").write_text(KIND)
    package = "elephan.open.kind"
    save = "from elephan.open.kind.dice import Dice; Dice([int(one) for one in words[1:]]).save(words[0])"
    assert python(save, package, tmp_path, "a", "6", "6").stderr == ""
    assert python(save, package, tmp_path, "b", "1", "2").stderr == ""
    manifest = json.loads((tmp_path / "a" / "manifest.json").read_text())
    assert (manifest["kind"], manifest["files"]) == ("dice", ["manifest.json", "report.html", "shown.json"])
    assert "The dice showed 12 in all." in (tmp_path / "a" / "report.html").read_text()

    load = "import elephan as el; found = el.load(words[0]); print(found.shown, found._repr_html_())"
    assert python(load, package, tmp_path, "a").stdout == "[6, 6] <p>The dice showed 12 in all.</p>\n"
    shown = elephan(package, tmp_path, "show", "a").stdout.splitlines()
    lines = ["A dice", "The dice showed 12 in all.", "warning: It is loaded.", "6 6", "report: a/report.html"]
    assert [line.rstrip() for line in shown] == lines
    machine = json.loads(elephan(package, tmp_path, "show", "a", "--json").stdout)
    assert machine == {"folder": "a", "shown": [6, 6], "warnings": ["It is loaded."]}

    (tmp_path / "a" / "report.html").unlink()
    assert elephan(package, tmp_path, "report", "a").stdout == "a/report.html\n"
    assert (tmp_path / "a" / "report.html").exists()
    (one,) = json.loads(elephan(package, tmp_path, "diff", "a", "b", "--json").stdout)
    assert (one["a"]["mean"], one["b"]["mean"], one["difference"]["mean"]) == (6.0, 1.5, -4.5)

    del manifest["files"]
    (tmp_path / "a" / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "a" / "report.html").unlink()
    (tmp_path / "a" / "notes.txt").write_text("mine")
    assert "a/notes.txt: not written by elephan" in python(save, package, tmp_path, "a", "6").stderr
    (tmp_path / "a" / "notes.txt").unlink()
    assert python(save, package, tmp_path, "a", "6").stderr == ""


@pytest.mark.parametrize("kind", ["nonesuch", "../run", "", None, 3, ["run"]])
def test_a_kind_that_is_none_is_one_line(kind: object, tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    head = {"format": "elephan", "version": 1, "complete": True, "kind": kind}
    (tmp_path / "r" / "manifest.json").write_text(json.dumps(head))
    for words in (["show", "r"], ["report", "r"], ["diff", "r", "r"]):
        done = elephan("elephan.open.kind", tmp_path, *words)
        assert (done.returncode, len(done.stderr.splitlines()), "kind" in done.stderr) == (2, 1, True)
