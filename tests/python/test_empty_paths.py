"""An empty path is none, not the current folder: each command that takes a path says so in one line, and so does Python."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.cli import command
from elephan.cli.parser import Argument, Parameter, parameters, parse
from elephan.experiment.study import run_study


def functions(package: Any = command) -> list[tuple[str, Any]]:
    """Each command with its function."""
    found = []
    for one in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{one.name}")
        found += functions(module) if one.ispkg else [(f"{module.__name__.removeprefix('elephan.cli.command.')}", module.command)]
    return found


PATHS = [(name, function, one) for name, function in functions() for one in parameters(function) if one.type is Path]


@pytest.mark.parametrize(("function", "one"), [(f, p) for _, f, p in PATHS], ids=[f"{n} {p.label}" for n, _, p in PATHS])
def test_each_path_of_each_command(function: Any, one: Parameter) -> None:
    words = [""] if isinstance(one.about, Argument) else [one.names[0], ""]
    with pytest.raises(el.InputError, match=r"an empty text is no path$"):
        parse(function, words)


def test_there_are_paths_of_all_kinds() -> None:
    assert {"doctor", "report", "show", "diff", "query", "analyze", "store.check"} <= {name for name, *_ in PATHS}


@pytest.mark.parametrize(
    "call",
    [
        lambda: el.run(""),
        lambda: el.load(""),
        lambda: el.analyze(""),
        lambda: run_study("", out="x"),
        lambda: el.load(Path()),
        lambda: el.run("sawtooth", set={"duration": "11 s"}, out=""),
        lambda: el.run("sawtooth", set={"duration": "11 s"}, python_from=[""]),
        lambda: el.run("sawtooth", set={"duration": "11 s"}, files_from=[""]),
    ],
)
def test_from_python(call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(el.ElephanError) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert "empty" in str(caught.value) or "not a result" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_the_current_folder_may_hold_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    el.run("sawtooth", set={"duration": "11 s"}, out=tmp_path / "r", report=False)
    monkeypatch.chdir(tmp_path / "r")
    assert el.load(".").kind == "run"


@pytest.mark.parametrize("command_line", ["link.toml", "there/real.toml"])
def test_a_link_is_named_as_it_was_written(command_line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "real.toml").write_text('duration = "1 s"\nfoo = 3\n')
    (tmp_path / "link.toml").symlink_to(tmp_path / "folder" / "real.toml")
    (tmp_path / "there").symlink_to(tmp_path / "folder")
    with pytest.raises(el.ElephanError) as caught:
        el.run(command_line)
    assert str(caught.value).startswith(f'{command_line}:2:1: unknown key "foo"')
