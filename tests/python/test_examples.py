"""Every public function and class of elephan has an example in its docstring, and the examples run."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import elephan as el
import pytest

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _members(module: ModuleType) -> list[str]:
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return getattr(module, "__all__", None) or [name for name in own if not name.startswith("_")]


def _public() -> dict[str, Any]:
    """The functions and classes that `elephan` offers, and those of the modules that it offers, by name."""
    found: dict[str, Any] = {}
    for name in el.__all__:
        value = getattr(el, name)
        inner = _members(value) if isinstance(value, ModuleType) else []
        found |= {f"{name}.{one}": getattr(value, one) for one in inner} if inner else {name: value}
    return {name: value for name, value in found.items() if inspect.isfunction(value) or inspect.isclass(value)}


PUBLIC = _public()


def _methods(owner: type) -> list[str]:
    """The public methods that a class itself defines, but for the one that `save` calls."""
    return [name for name, value in vars(owner).items() if inspect.isfunction(value) and name[0] != "_" and name != "fill"]


def _missing(name: str, value: Any) -> list[str]:
    """What of a function or class no example shows."""
    text = inspect.getdoc(value) or ""
    examples = "\n".join(example.source for example in doctest.DocTestParser().get_examples(text))
    if inspect.isfunction(value):
        return [] if f"{name.split('.')[-1]}(" in examples or f"@el.{name}" in examples else [name]
    if not examples:
        return [name]
    return [f"{name}.{method}" for method in _methods(value) if not re.search(rf"(\.|def ){method}\(", examples)]


def test_everything_public_is_seen() -> None:
    assert {"run", "Run", "theory.max_goodput", "cc.new", "stats.Interval", "measures.statistic"} <= set(PUBLIC)
    assert len(PUBLIC) > 80


def test_every_public_function_and_class_has_an_example() -> None:
    assert [missing for name, value in PUBLIC.items() for missing in _missing(name, value)] == []


def test_what_lacks_an_example_is_found() -> None:
    class Empty:
        """Nothing to see."""

    def function() -> None:
        """>>> other()"""

    assert _missing("x.Empty", Empty) == ["x.Empty"]
    assert _missing("x.function", function) == ["x.function"]


@pytest.mark.parametrize("name", ["elephan", *PUBLIC])
def test_the_example_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = inspect.getdoc(PUBLIC.get(name, el)) or ""
    test = doctest.DocTestParser().get_doctest(text, {"el": el, "__name__": "__main__"}, name, None, 0)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS, verbose=False).run(test, out=said.append)
    assert "".join(said) == ""
