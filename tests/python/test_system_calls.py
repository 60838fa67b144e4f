"""Each call of the system in a sweep fails once: the error is one line, the store stays whole, and the same command goes on.

`faults.c` is a library that is loaded before the C library; `faulty.py` sweeps with it. A sweep of four trials whose tables are
kept makes about 2 700 calls.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs LD_PRELOAD as Linux has it"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="cc is not installed, which builds the library of faults"),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("faults") / "faults.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", file, HERE / "faults.c", "-ldl"], check=True)
    return file


def _swept(library: Path, place: Path, first: int, step: int, last: int) -> int:
    """Lets every `step`-th call fail; returns how many calls a sweep makes."""
    command = [sys.executable, HERE / "faulty.py", place, *map(str, (first, step, last))]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LD_PRELOAD": str(library)})
    assert (done.returncode, done.stderr) == (0, "")
    *wrong, calls = done.stdout.splitlines()
    assert wrong == []
    return int(calls.removeprefix("calls: "))


def test_some_calls_of_a_sweep_fail(library: Path, tmp_path: Path) -> None:
    """Another kind of failure for each, at calls from the first to the last."""
    assert _swept(library, tmp_path, 1, 173, 2000) > 2000


@pytest.mark.slow  # 4 min
@pytest.mark.parametrize("part", range(5))
def test_each_of_2000_calls_of_a_sweep_fails(library: Path, tmp_path: Path, part: int) -> None:
    """Each call fails in one way, and its neighbours fail in the four others."""
    first = 1 + 400 * part
    assert _swept(library, tmp_path, first, 1, first + 400) > 2000
