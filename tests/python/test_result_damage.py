"""Result folders in which something is wrong: each command names the file in one line, says the way on, and ends."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan.cli import status_of

SHORT = {"duration": "2 s", "warmup": "500 ms"}
RATES = {**SHORT, "template.rate": ["2 Mbps", "4 Mbps"]}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A whole result of several kinds, without reports."""
    place = tmp_path_factory.mktemp("made")
    el.run("sawtooth", set=SHORT, out=place / "run", report=False)
    el.sweep("sawtooth", set=RATES, repetitions=2, out=place / "sweep", store=False, report=False)
    el.compare(["reno"], quick=True, repetitions=1, rate="2 Mbps", out=place / "compare", store=False, report=False)
    el.path("10 Mbps", "20 ms", size="1 MB", streams=2, out=place / "path", store=False, report=False)
    el.conformance("reno", only=["bounds"], quick=True, out=place / "conformance", store=False, report=False)
    return {path.name: path for path in sorted(place.iterdir())}


KINDS = ["run", "sweep", "compare", "path", "conformance"]


def _commands(folder: Path, whole: Path) -> list[list[str]]:
    return [
        ["show", str(folder)],
        ["show", str(folder), "--json"],
        ["report", str(folder)],
        ["diff", str(folder), str(whole)],
        ["diff", str(whole), str(folder), "--json"],
    ]


def _said(words: list[str], capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The status of a command, and what it said on standard error, which is one line if it failed."""
    status = status_of(words)
    said = capfd.readouterr().err
    assert status in (0, 1, 2), f"{words}: {said}"
    assert "internal error" not in said, f"{words}: {said}"
    assert status == 0 or (said.startswith("elephan: ") and said.count("\n") == 1), f"{words}: {said}"
    return status, said


@pytest.mark.parametrize("kind", KINDS)
def test_one_wrong_byte_in_any_file_is_named(
    made: dict[str, Path], tmp_path: Path, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Also where it makes other numbers of a table, or other words of a JSON file."""
    whole, draw = made[kind], random.Random(kind)
    names = sorted(path.relative_to(whole).as_posix() for path in whole.rglob("*") if path.is_file())
    for name in names if kind != "run" else ["manifest.json", "summary.json", "flows.parquet", "port_samples.parquet"]:
        folder = tmp_path / name.replace("/", "-")
        shutil.copytree(whole, folder)
        data = bytearray((folder / name).read_bytes())
        data[draw.randrange(len(data))] ^= 1
        (folder / name).write_bytes(data)
        found = [_said(words, capfd) for words in _commands(folder, whole)]
        named = [said for status, said in found if status == 2 and str(folder / name) in said]
        if name.endswith(".parquet"):  # a table is checked when it is read, and not every command reads each
            others = [said for status, said in found if status and said not in named]
            assert all("has no statistics to compare" in said for said in others), (name, found)
            assert named or name not in ("runs.parquet", "flows.parquet", "curves.parquet"), (name, found)
        else:
            assert len(named) == len(found), (name, found)
        assert all(re.search("damaged|not a result of elephan|unfinished", said) for said in named), named


@pytest.mark.parametrize("byte", [4, 0.3, 0.6, -20, -6])
def test_one_wrong_byte_in_a_table(made: dict[str, Path], tmp_path: Path, byte: float, capfd: pytest.CaptureFixture[str]) -> None:
    folder = Path(shutil.copytree(made["sweep"], tmp_path / "r"))
    file = folder / "runs.parquet"
    data = bytearray(file.read_bytes())
    data[int(byte * len(data)) if isinstance(byte, float) else byte] ^= 1
    file.write_bytes(data)
    line = f"elephan: {file}: damaged: it is not what elephan wrote; make the result again\n"
    for words in _commands(folder, made["sweep"]):
        assert _said(words, capfd) == (2, line)


OTHERS: list[Any] = [None, True, 7, -1, 1e308, "text", [], {}, [[]], {"x": 1}, "../../x", [1, "a"]]


def _every_place(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        inner = [place for key, one in value.items() for place in _every_place(one, (*path, key))]
    elif isinstance(value, list):
        inner = [place for number, one in enumerate(value[:3]) for place in _every_place(one, (*path, number))]
    else:
        inner = []
    return [path, *inner]


def _set(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    value[path[0]] = _set(value[path[0]], path[1:], new)
    return value


def _unsealed(folder: Path, seed: int) -> str:
    """Puts another value into a JSON file of a result whose manifest has neither seal nor digests, as of an older elephan."""
    draw = random.Random(seed)
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["seal"], manifest["digests"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    file = draw.choice(sorted(folder.rglob("*.json")))
    value = json.loads(file.read_text())
    place, new = draw.choice(_every_place(value)), draw.choice(OTHERS)
    file.write_text(json.dumps(_set(value, place, new)))
    return f"{file.name} {place} {new!r}"


def _one_value(whole: Path, place: Path, seed: int, capfd: pytest.CaptureFixture[str]) -> None:
    folder = Path(shutil.copytree(whole, place / str(seed)))
    what = _unsealed(folder, seed)
    for words in _commands(folder, whole):
        try:
            _said(words, capfd)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, {what}: {error}") from error


@pytest.mark.parametrize("kind", KINDS)
def test_another_value_in_an_older_result(
    made: dict[str, Path], tmp_path: Path, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    for seed in range(3):
        _one_value(made[kind], tmp_path, seed, capfd)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_values_in_an_older_result(
    made: dict[str, Path], tmp_path: Path, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    for seed in range(100, 200):
        _one_value(made[kind], tmp_path, seed, capfd)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_no_file_hangs_nobody(
    made: dict[str, Path], tmp_path: Path, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    names = sorted(path.relative_to(made[kind]).as_posix() for path in made[kind].rglob("*") if path.is_file())
    for number, name in enumerate(names if kind != "run" else ["manifest.json", "scenario.toml", "flows.parquet"]):
        for strange in (os.mkfifo, os.mkdir, lambda path: path.symlink_to(path.name)):
            folder = tmp_path / f"{number}-{strange.__name__.strip('<>')}"
            shutil.copytree(made[kind], folder)
            (folder / name).unlink()
            strange(folder / name)
            for words in (["show", str(folder)], ["diff", str(folder), str(made[kind])]):
                status, said = _said(words, capfd)
                assert status == 0 or str(folder) in said, (words, said)
                assert status == 2 or name.endswith(".parquet"), (words, said)


def test_reports_are_drawn_again_over_a_seal(made: dict[str, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = Path(shutil.copytree(made["run"], tmp_path / "r"))
    for _ in range(2):
        assert _said(["report", str(folder)], capfd)[0] == 0
        assert el.load(folder).summary == el.load(made["run"]).summary
