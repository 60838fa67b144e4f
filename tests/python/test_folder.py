"""Result folders appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import elephan as el
import pytest
from elephan.base.errors import ElephanError, InputError, OutputError
from elephan.open import redraw
from elephan.result import folder
from elephan.table.classes import RUN as TABLES


def write(target: Path, text: str = "x") -> None:
    with folder.result_folder(target) as partial:
        (partial / "data").write_text(text)
        folder.write_json(partial / "manifest.json", {"format": "elephan", "version": 1, "complete": True, "kind": "run"})


def write_and_fail(target: Path, error: BaseException) -> None:
    with folder.result_folder(target) as partial:
        (partial / "data").write_text("half")
        raise error


def test_a_result_appears_under_its_name(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b" / "data").read_text() == "x"
    assert not (tmp_path / "a" / "b.partial").exists()


def test_ours_is_replaced(tmp_path: Path) -> None:
    write(tmp_path / "r", "old")
    write(tmp_path / "r", "new")
    assert (tmp_path / "r" / "data").read_text() == "new"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r"]


def test_what_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").write_text("meow")
    with pytest.raises(InputError, match="not a result of elephan"):
        write(tmp_path / "photos")
    assert (tmp_path / "photos" / "cat.png").read_text() == "meow"
    (tmp_path / "file").write_text("text")
    with pytest.raises(InputError, match="not a folder"):
        write(tmp_path / "file")


def test_a_manifest_of_something_else_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "manifest.json").write_text('{"format": "npm"}')
    with pytest.raises(InputError):
        write(tmp_path / "x")


def test_a_report_that_cannot_be_drawn_costs_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from elephan.report.page import page

    def broken(*_: object, **__: object) -> Path:
        raise TypeError("no such colour")

    out = tmp_path / "r"
    with monkeypatch.context() as patch:
        patch.setattr(page, "write_page", broken)
        with pytest.raises(ElephanError, match=r"tables are written.*TypeError: no such colour.*elephan report"):
            el.run("sawtooth", set={"duration": "1 s", "warmup": "0 s"}, out=out)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r"]
    assert not (out / "report.html").exists()
    assert el.load(out).summary["packet_hops"] > 0
    redraw(out)
    assert (out / "report.html").exists()


@pytest.mark.parametrize("error", [RuntimeError("boom"), KeyboardInterrupt()])
def test_nothing_is_left_of_a_failure(tmp_path: Path, error: BaseException) -> None:
    write(tmp_path / "r", "old")
    with pytest.raises(type(error)):
        write_and_fail(tmp_path / "r", error)
    assert (tmp_path / "r" / "data").read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r"]


def test_what_a_crash_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / "r.partial").mkdir()
    folder.write_json(tmp_path / "r.partial" / "manifest.json", {"format": "elephan", "complete": False})
    (tmp_path / "r.partial" / "half.parquet").write_text("half")
    write(tmp_path / "r")
    assert not (tmp_path / "r" / "half.parquet").exists()


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="No space left") as caught:
        write_and_fail(tmp_path / "r", OSError(28, os.strerror(28)))
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_place_is_one_line() -> None:
    with pytest.raises(OutputError, match="cannot write /proc/results"):
        write(Path("/proc/results"))


def test_reading_what_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such"):
        folder.open_result(tmp_path / "none")
    with pytest.raises(InputError, match="not a result"):
        folder.open_result(tmp_path)
    folder.write_json(tmp_path / "manifest.json", {"format": "elephan", "complete": False})
    with pytest.raises(InputError, match="unfinished"):
        folder.open_result(tmp_path)


def test_two_writers_at_once(tmp_path: Path) -> None:
    with folder.result_folder(tmp_path / "r") as partial:
        (partial / "data").write_text("first")
        with (
            pytest.raises(InputError, match=rf"r\.partial: process {os.getpid()} is writing it"),
            folder.result_folder(tmp_path / "r"),
        ):
            pass
        assert (partial / "data").read_text() == "first"
        # A run has its own manifest before its report is drawn, and is not complete before that.
        folder.write_json(partial / "manifest.json", {"format": "elephan", "version": 1, "complete": True, "kind": "run"})
        with pytest.raises(InputError, match="is writing it"), folder.result_folder(tmp_path / "r"):
            pass
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == ["data", "manifest.json"]


def test_the_mark_of_a_dead_process_does_not_hold(tmp_path: Path) -> None:
    done = subprocess.Popen(["true"])
    done.wait()
    (tmp_path / "r.partial").mkdir()
    folder.write_json(tmp_path / "r.partial" / "manifest.json", {"format": "elephan", "complete": False})
    folder.write_json(tmp_path / "r.partial" / "writer.json", {"host": socket.gethostname(), "process": done.pid})
    write(tmp_path / "r")
    assert (tmp_path / "r" / "data").exists()


SHORT = {"duration": "1 s", "warmup": "0 s"}


def test_what_the_user_put_there_is_not_deleted(tmp_path: Path) -> None:
    write(tmp_path / "r", "old")
    (tmp_path / "r" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"r/notes\.txt: not written by elephan"):
        folder.check_target(tmp_path / "r")
    with pytest.raises(InputError, match=r"r/notes\.txt: not written by elephan"):
        write(tmp_path / "r", "new")
    assert (tmp_path / "r" / "notes.txt").read_text() == "mine"
    assert (tmp_path / "r" / "data").read_text() == "old"
    (tmp_path / "r" / "notes.txt").unlink()
    write(tmp_path / "r", "new")


def test_a_link_within_a_result_is_the_users(tmp_path: Path) -> None:
    write(tmp_path / "r")
    (tmp_path / "r" / "more").symlink_to(tmp_path)
    with pytest.raises(InputError, match="r/more: not written by elephan"):
        write(tmp_path / "r")


def test_a_result_without_a_list_of_files_has_the_known_ones(tmp_path: Path) -> None:
    out = tmp_path / "r"
    el.run("sawtooth", set=SHORT, out=out, pcap=True)
    manifest = folder.read_manifest(out)
    assert manifest is not None
    assert manifest["files"] == folder.files(out)
    del manifest["files"]
    folder.write_json(out / "manifest.json", manifest)
    folder.check_target(out, "run")
    (out / "figures" / "deep").mkdir(parents=True)
    (out / "figures" / "deep" / "mine.svg").write_text("mine")
    with pytest.raises(InputError, match=r"figures/deep/mine\.svg: not written by elephan"):
        folder.check_target(out, "run")


def test_a_result_of_another_kind_is_not_replaced(tmp_path: Path) -> None:
    write(tmp_path / "r")
    with pytest.raises(InputError, match="holds a result of the kind run, not sweep"):
        folder.check_target(tmp_path / "r", "sweep")
    folder.check_target(tmp_path / "r", "run")


def test_what_is_drawn_again_is_ours(tmp_path: Path) -> None:
    out = tmp_path / "r"
    el.run("sawtooth", set=SHORT, out=out, report=False)
    redraw(out)
    assert (out / "report.html").exists()
    el.run("sawtooth", set=SHORT, out=out, report=False)
    assert not (out / "report.html").exists()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    write(tmp_path / "r", "old")
    (tmp_path / "link").symlink_to("r")
    (tmp_path / "ahead").symlink_to("later")
    write(tmp_path / "link", "new")
    write(tmp_path / "ahead", "first")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "ahead").is_symlink()
    assert (tmp_path / "r" / "data").read_text() == "new"
    assert (tmp_path / "later" / "data").read_text() == "first"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ahead", "later", "link", "r"]


@pytest.mark.parametrize("after", [1, 2])
def test_ctrl_c_while_a_result_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    write(tmp_path / "r", "old")
    rename, calls = Path.rename, []

    def interrupted(self: Path, target: Path) -> Path:
        moved = rename(self, target)
        calls.append(target)
        if len(calls) == after:
            raise KeyboardInterrupt
        return moved

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path / "r", "new")
    assert (tmp_path / "r" / "data").read_text() == ("old" if after == 1 else "new")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r"]


def test_any_table_in_place_of_another_is_named(tmp_path: Path) -> None:
    el.run("slow-receiver", set={"duration": "20 ms"}, out=tmp_path / "r", report=False)
    files = sorted((tmp_path / "r").glob("*.parquet"))
    assert len(files) == len(TABLES)
    older = Path(shutil.copytree(tmp_path / "r", tmp_path / "older"))  # as before elephan wrote digests
    manifest = folder.read_manifest(older)
    assert manifest is not None
    folder.write_json(older / "manifest.json", {key: value for key, value in manifest.items() if key not in ("digests", "seal")})
    for name in TABLES:
        own = tmp_path / "r" / f"{name}.parquet"
        kept = own.read_bytes()
        for other in (file for file in files if file != own):
            own.write_bytes(other.read_bytes())
            with pytest.raises(InputError, match=f"r/{name}.parquet: damaged: it is not what elephan wrote; make the result again"):
                _ = el.load(tmp_path / "r").tables[name]
            (older / own.name).write_bytes(other.read_bytes())
            with pytest.raises(InputError, match=f"older/{name}.parquet: damaged: not the table {name}, it has no column"):
                _ = el.load(older).tables[name]
        own.write_bytes(kept)
        assert el.load(tmp_path / "r").tables[name].num_rows >= 0


def test_a_result_is_not_replaced_by_another_experiment(tmp_path: Path) -> None:
    """The same run goes over itself; another seed or another value of a parameter needs another folder, or the word `replace`."""
    out = tmp_path / "one"
    first = el.run("sawtooth", set={"duration": "11 s"}, out=out, report=False)
    assert el.run("sawtooth", set={"duration": "11 s"}, out=out, report=False).summary == first.summary
    for duration, seed in (("12 s", 1), ("11 s", 7)):
        with pytest.raises(InputError, match="holds the result of another scenario or seed"):
            el.run("sawtooth", set={"duration": duration}, seed=seed, out=out, report=False)
        assert el.load(out).scenario == first.scenario
    assert el.run("sawtooth", set={"duration": "12 s"}, out=out, report=False, replace=True).duration_ns == 12_000_000_000


def test_default_folders_of_two_experiments_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    again = ("run", "sawtooth", "-s", "duration=11 s")
    for arguments in (again, again, (*again, "-s", "traffic.reno.congestion_control=cubic")):
        subprocess.run([sys.executable, "-m", "elephan", *arguments], check=True, capture_output=True)
    results = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert len(results) == 2
    assert results[0] == "sawtooth-1"
    assert results[1].startswith("sawtooth-1-")


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("two")
    for name, delay in (("a", "5 ms"), ("b", "6 ms")):
        el.run("sawtooth", set={"duration": "3 s", "warmup": "1 s", "template.delay": delay}, out=where / name)
    return where


@pytest.mark.parametrize("name", ["flows.parquet", "port_samples.parquet", "summary.json", "provenance.json", "scenario.toml"])
def test_a_file_of_another_result_is_known(two_runs: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(two_runs / "a", tmp_path / "a")
    (tmp_path / "a" / name).write_bytes((two_runs / "b" / name).read_bytes())
    with pytest.raises(InputError, match=rf"{name}: damaged: it is not what elephan wrote"):
        el.load(tmp_path / "a").tables[name.removesuffix(".parquet")]


def test_an_edited_figure_or_an_empty_summary_is_known(two_runs: Path, tmp_path: Path) -> None:
    shutil.copytree(two_runs / "a", tmp_path / "a")
    summary = tmp_path / "a" / "summary.json"
    text = summary.read_text()
    for other in ("{}\n", text.replace("0", "1", 1), ""):
        summary.write_text(other)
        with pytest.raises(InputError, match=r"summary\.json: damaged"):
            el.load(tmp_path / "a")
    summary.write_text(text)
    (tmp_path / "a" / "report.html").write_text("drawn again, or annotated")
    assert el.load(tmp_path / "a").flows.num_rows == 1


def test_a_kill_between_the_renames_costs_nothing(two_runs: Path, tmp_path: Path) -> None:
    """The old result is out of the way and the new one not yet in its place."""
    shutil.copytree(two_runs / "a", tmp_path / "r.999999999.partial")
    shutil.copytree(two_runs / "b", tmp_path / "r.partial")
    new = el.load(tmp_path / "r")
    assert new.resolved["links"] == el.load(two_runs / "b").resolved["links"]
    assert [path.name for path in tmp_path.iterdir()] == ["r"]
    (tmp_path / "r").rename(tmp_path / "r.999999999.partial")
    assert el.load(tmp_path / "r").seed == new.seed
