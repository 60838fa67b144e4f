"""Stores in which something is wrong: each command names the file in one line, says the way on, and ends."""

from __future__ import annotations

import binascii
import hashlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import elephan as el
import pyarrow as pa
import pytest
from elephan.cli import status_of
from elephan.experiment.store import parts
from elephan.experiment.store.store import Store
from pyarrow import parquet

pytest.importorskip("duckdb")

SWEEP = {"duration": "2 s", "warmup": "500 ms", "template.delay": ["5 ms", "20 ms"]}
WORDS = ["-s", "duration=2s", "-s", "warmup=500ms", "-s", "template.delay=5ms,20ms", "-n", "2", "--no-report"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with parts, attempts, runs, and the tail of a writer that was killed."""
    place = tmp_path_factory.mktemp("made") / "s"
    el.sweep("sawtooth", set=SWEEP, repetitions=2, store=place, keep="samples if seed == 1")
    rows = Store.at(place).rows()
    driver = "import sys, os, pickle; from elephan.experiment.store.store import Store; s = Store.to(sys.argv[1])\n"
    driver += "[s.put(row, {'on': 'threads', 'begun_s': 1.0, 'wall_s': 1.0, 'error': None}) for row in s.rows()]; os._exit(9)"
    subprocess.run([sys.executable, "-c", driver, place], check=False)
    assert len(list((place / "tails").iterdir())) == 1
    assert len(rows) == 4
    return place


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "s"))


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return el.sweep("sawtooth", set=SWEEP, repetitions=2).table


def _line(data: bytes) -> bytes:
    return b"%08x %s\n" % (binascii.crc32(data), data)


def _only(folder: Path) -> Path:
    (found,) = folder.iterdir()
    return found


def _part(store: Path, folder: str, data: bytes, why: str = "made-1") -> Path:
    """Writes a part whose name has the right digest of its bytes."""
    path = store / folder / f"{why}-000001-{hashlib.blake2b(data, digest_size=16).hexdigest()}.parquet"
    path.write_bytes(data)
    return path


def _parquet(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(rows, sink)
    return bytes(sink.getvalue())


NONSENSE = [b"", b"{}", b"[]", b"null", b"3", b'"x"', b"true", b"[" * 100_000, b"{", b"\xff\xfe", b'{"row": 1, "attempts": []}']
NONSENSE += [b'{"row": {}, "attempts": []}', b'{"row": {"base64": "!"}, "attempts": []}', b'{"attempts": {}}']


def _changed(change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, Any]], bytes]:
    def made(record: dict[str, Any]) -> bytes:
        change(record)
        return json.dumps(record).encode()

    return made


OTHERS = {
    "seed": lambda one: one["row"].update(seed="1"),
    "key": lambda one: one["row"].update(key="0" * 32),
    "parameters": lambda one: one["row"].update(parameters={"a": 1}),
    "value": lambda one: one["row"].update({name: "much" for name in one["row"] if name.startswith("stat.")}),
    "names": lambda one: one["row"].update(names="[1]"),
    "no-names": lambda one: one["row"].update(names="}"),
    "series": lambda one: one["row"].update(series={"base64": "AAAA"}),
    "about": lambda one: one["row"].update(about="["),
    "variant": lambda one: one["row"].update(variant=7),
    "large": lambda one: one["row"].update(seed=2**70),
    "attempts": lambda one: one.update(attempts=[3]),
    "attempt": lambda one: one.update(attempts=[{"wall_s": "long"}]),
}


@pytest.mark.parametrize("line", [*NONSENSE, *OTHERS], ids=[f"nonsense-{number}" for number in range(len(NONSENSE))] + list(OTHERS))
def test_a_line_of_a_tail_with_the_right_sum_that_is_no_trial(
    store: Path, table: pa.Table, line: bytes | str, capfd: pytest.CaptureFixture[str]
) -> None:
    tail = _only(store / "tails")
    first, _, rest = tail.read_bytes().partition(b"\n")
    if isinstance(line, str):
        record = json.loads(first.partition(b" ")[2])
        line = _changed(OTHERS[line])(record)
    tail.write_bytes(_line(line) + rest)
    assert status_of(["store", "check", str(store)]) == 1
    said = f"{tail}: 1 of 4 lines are damaged, the first is line 1; its trials run again"
    assert capfd.readouterr().out == f"{said}\n{store}: damaged\n"
    again = el.sweep("sawtooth", set=SWEEP, repetitions=2, store=store)
    assert again.table.equals(table)
    assert status_of(["store", "check", str(store)]) == 0


@pytest.mark.parametrize("folder", ["parts", "attempts"])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PAR1",
        _parquet(pa.table({"x": [1]})),
        _parquet(pa.table({"key": [1], "wall_s": ["long"]})),
        _parquet(pa.table({})),
    ],
    ids=["empty", "torn", "another", "types", "nothing"],
)
def test_a_part_with_the_right_digest_that_is_no_table_of_trials(
    store: Path, table: pa.Table, folder: str, data: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    path = _part(store, folder, data)
    assert status_of(["store", "check", str(store)]) == 1
    assert f"{path}: " in capfd.readouterr().out
    assert el.sweep("sawtooth", set=SWEEP, repetitions=2, store=store).table.equals(table)
    assert Store.at(store).summary().trials == 4
    assert (path.exists(), (store / "aside" / path.name).exists()) == (False, True)


@pytest.mark.parametrize("column", ["names", "about", "sources", "series"])
def test_a_part_whose_texts_are_nonsense(store: Path, table: pa.Table, column: str) -> None:
    path = _only(store / "parts")
    rows = parquet.read_table(path)
    place = rows.column_names.index(column)
    data = _parquet(
        rows.set_column(place, rows.field(place), pa.array([b"{" if column == "series" else "{"] * 4, rows.field(place).type))
    )
    path.unlink()
    (store / "tails" / _only(store / "tails").name).unlink()
    path = _part(store, "parts", data)
    assert Store.at(store).check() == [f"{path}: its rows are not what elephan writes; its trials run again"]
    assert el.sweep("sawtooth", set=SWEEP, repetitions=2, store=store).table.equals(table)


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    where = os.getcwd()
    os.chdir(path.parent)  # its address has no more than 108 bytes
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)
    os.chdir(where)


STRANGE: dict[str, Callable[[Path], object]] = {
    "fifo": _fifo,
    "socket": _socket,
    "folder": lambda path: path.mkdir(),
    "full-folder": lambda path: (path / "x").mkdir(parents=True),
    "loop": lambda path: path.symlink_to(path.name),
    "nowhere": lambda path: path.symlink_to("nothing"),
    "device": lambda path: path.symlink_to("/dev/zero"),
}
COMMANDS = [["list"], ["show"], ["check"], ["gc"]]


def _every_command(store: Path) -> Iterator[tuple[list[str], subprocess.CompletedProcess[str]]]:
    """All commands that read a store, each with what it said; none may hang."""
    runs = [["store", *words, str(store)] for words in COMMANDS]
    runs.insert(
        0, ["query", "select count(*) as n, max(cwnd_bytes) from trials left join flow_samples using (key)", "--store", str(store)]
    )
    runs.append(["sweep", "sawtooth", *WORDS, "--store", str(store), "--out", str(store.parent / "r")])
    for words in runs:
        command = [sys.executable, "-m", "elephan", *words]
        yield words, subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=store.parent)


@pytest.mark.parametrize("kind", STRANGE)
def test_what_is_no_regular_file_hangs_nobody(store: Path, table: pa.Table, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    digest = "0" * 32
    places = [store / "parts" / f"x-1-000001-{digest}.parquet", store / "attempts" / f"x-1-000002-{digest}.parquet"]
    places += [store / "tails" / "x-1-000001.log", store / "parts" / "mine", store / "runs" / f"{digest}-x"]
    for path in places:
        STRANGE[kind](path)
    found = "\n".join(Store.at(store).check())
    assert all(f"{path}: " in found for path in places[:4])
    before = Store.at(store)
    assert len(before.rows()) == 4
    assert len(before.notes) == 3
    assert el.query("select count(*) as n from trials", store).to_pylist() == [{"n": 4}]
    assert status_of(["store", "show", str(store)]) == 0
    assert status_of(["store", "gc", str(store)]) == 0
    assert el.sweep("sawtooth", set=SWEEP, repetitions=3, store=store).table.num_rows == 6


@pytest.mark.parametrize("kind", STRANGE)
def test_the_mark_of_a_store_that_is_no_file(store: Path, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    (store / "store.json").unlink()
    STRANGE[kind](store / "store.json")
    for words in (["show"], ["check"], ["gc"]):
        assert status_of(["store", *words, str(store)]) == 2
        said = capfd.readouterr().err
        assert said.startswith(f"elephan: {store / 'store.json'}: not the mark of a store of trials (it is ")
        assert said.count("\n") == 1


@pytest.mark.parametrize("folder", parts.FOLDERS)
def test_a_folder_that_is_a_file(store: Path, folder: str, capfd: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(store / folder)
    (store / folder).write_text("x")
    for words in (["show"], ["check"]):
        assert status_of(["store", *words, str(store)]) == 1
        said = capfd.readouterr().err
        assert (said.startswith(f"elephan: {store / folder}: is no folder; "), said.count("\n")) == (True, 1)


def _damages(data: bytes, draw: random.Random) -> bytes:
    """A file after an accident."""
    kind = draw.randrange(6)
    if kind == 0 and data:
        place = draw.randrange(len(data))
        return data[:place] + bytes([data[place] ^ (1 << draw.randrange(8))]) + data[place + 1 :]
    if kind == 1:
        return data[: draw.randrange(len(data) + 1)]
    if kind == 2:
        return b""
    if kind == 3:
        return draw.choice([b"[]", b"{}", b"null", b"7", b'"text"', b'{"format": "elephan-store"}', b"{", b"PAR1PAR1"])
    if kind == 4:
        return data[::-1]
    return bytes(draw.randrange(256) for _ in range(draw.randrange(1, 300)))


def _fuzzed(made: Path, table: pa.Table, place: Path, seed: int) -> None:
    draw = random.Random(seed)
    store = Path(shutil.copytree(made, place / "s"))
    files = sorted(path for path in store.rglob("*") if path.is_file())
    for path in draw.sample(files, draw.randrange(1, 4)):
        if draw.random() < 0.2:
            other = draw.choice(files)
            one, two = path.read_bytes(), other.read_bytes()
            path.write_bytes(two)
            other.write_bytes(one)
        else:
            path.write_bytes(_damages(path.read_bytes(), draw))
    for words, done in _every_command(store):
        what = f"seed {seed}: {words}: {done.stdout}{done.stderr}"
        assert done.returncode in (0, 1, 2), what
        assert "internal error" not in done.stderr, what
        assert "Traceback" not in done.stderr, what
        if done.returncode == 2 or (done.returncode == 1 and words[:2] != ["store", "check"]):
            assert done.stderr.splitlines()[-1].startswith("elephan: "), what
            assert str(store) in done.stderr, what
        if words[0] == "sweep" and done.returncode == 0:
            without = ["variant", "template.delay.text"]  # 5ms here, 5 ms there
            assert el.load(place / "r").table.drop_columns(without).equals(table.drop_columns(without)), what


@pytest.mark.parametrize("seed", range(2))
def test_accidents_in_a_store(made: Path, table: pa.Table, tmp_path: Path, seed: int) -> None:
    _fuzzed(made, table, tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 160))
def test_more_accidents_in_a_store(made: Path, table: pa.Table, tmp_path: Path, seed: int) -> None:
    _fuzzed(made, table, tmp_path, seed)
