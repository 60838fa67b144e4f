"""Completion in shells, and files around the package: that they say what the package says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from elephan import cli
from elephan.cli import app

ROOT = Path(__file__).parents[2]


def completed(script: str, *words: str) -> list[str]:
    """What bash offers for the last of some words."""
    line = f'{script}\nCOMP_WORDS=({" ".join(words)}); [ -n "{words[-1]}" ] || COMP_WORDS+=(""); '
    asked = subprocess.run(
        ["bash", "-c", f'{line}COMP_CWORD={len(words) - 1}; _elephan; printf "%s\\n" "${{COMPREPLY[@]}}"'],
        capture_output=True,
        text=True,
        check=True,
    )
    return asked.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("elephan", "comp"), {"compare", "completion"}),
        (("elephan", "store", ""), {"check", "gc", "list", "show"}),
        (("elephan", "run", "saw"), {"sawtooth"}),
        (("elephan", "run", "sawtooth", "--se"), {"--set", "--seed"}),
        (("elephan", "study", "run", "--qu"), {"--quick"}),
        (("elephan", "show", "saw"), set()),
    ],
)
def test_bash_completes(words: tuple[str, ...], offered: set[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.status_of(["completion", "bash"]) == 0
    assert {*completed(capsys.readouterr().out, *words)} == offered


def test_every_shell_has_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert cli.status_of(["completion", shell]) == 0
        script = capsys.readouterr().out
        assert all(path.split()[-1] in script for path, _ in app.commands()), shell
        if shutil.which(shell):
            subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.status_of(["completion", "fsh"]) == 2
    assert capsys.readouterr().err == 'elephan: no completion for "fsh"; did you mean "fish"?\n'


def test_workflows_are_well_formed() -> None:
    """Each step is a command or an action with a version; every wheel is tried before it is published."""
    for file in sorted((ROOT / ".github/workflows").glob("*.yml")):
        found = yaml.safe_load(file.read_text(encoding="utf-8"))
        assert True in found, "`on`, which YAML reads as true"
        for job in found["jobs"].values():
            assert job["runs-on"]
            assert all(("run" in step) != ("uses" in step) for step in job["steps"]), file
            assert all(re.search(r"@(v\d+|release/v\d+|[0-9a-f]{40})$", step["uses"]) for step in job["steps"] if "uses" in step)
    release = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
    targets = " ".join(one["target"] for one in release["jobs"]["wheel"]["strategy"]["matrix"]["include"])
    assert all(kind in targets for kind in ("linux-gnu", "linux-musl", "apple-darwin", "windows-msvc"))
    assert {*release["jobs"]["publish"]["needs"]} == {"wheel", "profiled", "source"}


def test_the_version_is_the_same_everywhere() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == version
    assert re.search(rf"^## {re.escape(version)} ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert f"| {version.rpartition('.')[0]} | yes |" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_the_container_installs_what_the_project_asks_for() -> None:
    rust = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["rust-version"]
    assert f"FROM rust:{rust}-slim" in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    assert container["features"]["ghcr.io/devcontainers/features/rust:1"]["version"] == rust
    assert ":3.11-" in container["image"]
