"""What a machine without Rust and without this folder installs: the wheel of `make wheel` and the locked packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCK, BOOK = ((ROOT / name).read_text(encoding="utf-8") for name in ("requirements.lock", "docs/requirements.lock"))


@pytest.mark.parametrize("lock", [LOCK, BOOK], ids=["requirements.lock", "docs/requirements.lock"])
def test_each_locked_package_has_its_version_and_hashes(lock: str) -> None:
    entries = [entry for entry in re.split(r"\n(?=\w)", lock) if entry[0] != "#"]
    loose = [
        entry.split()[0]
        for entry in entries
        if not re.match(r"[\w.-]+==[\w.]+( ; .*)?( \\\n +--hash=sha256:[0-9a-f]{64})+\s*$", entry)
    ]
    assert loose == []
    assert "://" not in lock, "a lock names no registry"


def test_what_pyproject_asks_for_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"], "pip"]
    locked = set(re.findall(r"^([\w.-]+)==", LOCK, re.MULTILINE))
    assert {re.split(r"[<>=\[ ]", one)[0] for one in asked} <= locked
    book = dict(re.findall(r"^([\w.-]+)==(\S+)", BOOK, re.MULTILINE))
    assert {re.split(r"[<>=\[ ]", one)[0] for one in project["dependency-groups"]["docs"]} <= set(book)
    both = dict(re.findall(r"^([\w.-]+)==(\S+)", LOCK, re.MULTILINE))
    assert {name: version for name, version in book.items() if both.get(name, version) != version} == {}, "two versions of one"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(["make", "wheel", f"WHEELS={out}"], cwd=ROOT, check=True)
    (found,) = out.glob("*.whl")
    return found


@pytest.mark.slow
def test_the_wheel_is_for_any_linux_with_a_c_library_of_2_34(wheel: Path) -> None:
    assert re.fullmatch(r"elephan-[\d.]+-cp311-abi3-manylinux_2_\d+_x86_64\.whl", wheel.name)
    assert int(wheel.name.split("_")[2]) <= 34
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {
        path.relative_to(ROOT / "python").as_posix()
        for path in (ROOT / "python" / "elephan").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".so"
    }
    assert sources - names == set(), "scenarios, studies, assets of the report, stubs"
    assert "elephan/_core.abi3.so" in names


@pytest.mark.slow
def test_the_wheel_runs_a_scenario_where_there_is_no_rust(wheel: Path, tmp_path: Path) -> None:
    """The locked packages, then the wheel, into an empty environment; PATH has that environment alone."""
    place = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    bare = {key: value for key, value in os.environ.items() if not key.startswith(("CARGO", "RUST", "PYTHON", "VIRTUAL_ENV"))}
    bare["PATH"] = str(place / "bin")
    assert shutil.which("cargo", path=bare["PATH"]) is None
    pip = [place / "bin" / "python", "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--require-hashes", "--requirement", ROOT / "requirements.lock"], env=bare, check=True)
    subprocess.run([*pip, "--no-index", wheel], env=bare, check=True)
    words = [place / "bin" / "elephan", "run", "sawtooth", "--out", "here"]
    done = subprocess.run(words, cwd=tmp_path, env=bare, capture_output=True, text=True, check=True)
    assert "sawtooth" in done.stdout
    assert (tmp_path / "here" / "report.html").stat().st_size > 100_000
    code = "import elephan, sys; print(elephan.__file__)"
    where = subprocess.run(
        [place / "bin" / "python", "-c", code], cwd=tmp_path, env=bare, capture_output=True, text=True, check=True
    )
    assert Path(where.stdout.strip()).is_relative_to(place)
