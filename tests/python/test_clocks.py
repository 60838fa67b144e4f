"""No test of the fast suite judges by the wall clock, which a slow or busy machine stretches; `waiting.py` says what does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "tests" / "python", ROOT / "crates" / "py" / "tests")
CLOCKS = ("monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "time", "time_ns")
ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)
WAITS = ("communicate", "wait", "run", "join", "check_output", "check_call")
LEAST_S = 60  # of a wait that only ends what hangs
POLL_S = 1.0  # a wait that is shorter looks again


def _reads_clock(node: ast.AST, tainted: set[str]) -> bool:
    for one in ast.walk(node):
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in CLOCKS:
            if isinstance(one.func.value, ast.Name) and one.func.value.id == "time":
                return True
        elif isinstance(one, ast.Name) and one.id in tainted:
            return True
    return False


def _is_least(test: ast.AST) -> bool:
    """Whether it says how long something took at least, which holds on every machine."""
    is_span = isinstance(test, ast.Compare) and isinstance(test.left, ast.BinOp) and isinstance(test.left.op, ast.Sub)
    return is_span and all(isinstance(one, ast.Gt | ast.GtE) for one in test.ops)


def _is_slow(function: ast.AST) -> bool:
    return any("mark.slow" in ast.unparse(one) for one in getattr(function, "decorator_list", ()))


def _scopes(tree: ast.Module) -> Iterator[ast.AST]:
    """The functions of a file that the fast suite runs, those within others as a part of these, and what stands outside of all."""
    for one in ast.iter_child_nodes(tree):
        inner = ast.iter_child_nodes(one) if isinstance(one, ast.ClassDef) else [one]
        yield from (part for part in inner if not _is_slow(part))


def judged(text: str) -> list[int]:
    """The lines of a test file where an assertion compares what a wall clock says, or a wait fails after little time."""
    tree = ast.parse(text)
    if any(isinstance(one, ast.Assign) and "mark.slow" in ast.unparse(one) for one in tree.body):
        return []
    lines = set()
    for scope in _scopes(tree):
        tainted: set[str] = set()
        for _ in range(2):  # what is computed from a time that was read further down, as in a loop
            for one in ast.walk(scope):
                value = getattr(one, "value", None) if isinstance(one, ASSIGNMENTS) else None
                if value is not None and _reads_clock(value, tainted):
                    targets = one.targets if isinstance(one, ast.Assign) else [one.target]
                    tainted |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
        for one in ast.walk(scope):
            if isinstance(one, ast.Assert) and _reads_clock(one.test, tainted) and not _is_least(one.test):
                lines.add(one.lineno)
            if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in WAITS:
                given = [key.value for key in one.keywords if key.arg == "timeout"]
                given += one.args[:1] if one.func.attr in ("wait", "join") else []
                seconds = [
                    value.value for value in given if isinstance(value, ast.Constant) and isinstance(value.value, int | float)
                ]
                lines |= {one.lineno for value in seconds if POLL_S <= value < LEAST_S}
    return sorted(lines)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("def test():\n    begin = time.monotonic()\n    work()\n    assert time.monotonic() - begin < 5", [4]),
        ("def test():\n    begin = time.time()\n    took = time.time() - begin\n    rate = 5 / took\n    assert rate > 3", [5]),
        ("def test():\n    process.communicate(timeout=10)", [2]),
        ("def test():\n    process.wait(5)\n    thread.join(10)", [2, 3]),
        ("def test():\n    begin = time.monotonic()\n    assert time.monotonic() - begin >= 0.3", []),
        ("def test():\n    begin = time.process_time()\n    work()\n    assert time.process_time() - begin < 5", []),
        ("def test():\n    process.communicate(timeout=PATIENCE_S)\n    subprocess.run(words, timeout=600)", []),
        ("@pytest.mark.slow\ndef test():\n    begin = time.monotonic()\n    assert time.monotonic() - begin < 5", []),
        ("def test():\n    end = time.monotonic() + 5\n    while time.monotonic() < end:\n        pass\n    assert done", []),
    ],
)
def test_what_is_found(text: str, lines: list[int]) -> None:
    assert judged(text) == lines


@pytest.mark.parametrize("folder", FOLDERS, ids=["tests", "core"])
def test_no_fast_test_judges_by_the_wall_clock(folder: Path) -> None:
    found = {path.name: lines for path in sorted(folder.rglob("*.py")) if (lines := judged(path.read_text()))}
    assert found == {}, "judge by processor time, or wait for a state (waiting.py)"


def test_patience_is_long() -> None:
    assert PATIENCE_S > LEAST_S
