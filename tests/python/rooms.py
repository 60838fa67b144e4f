"""The rooms of the Python front and the arrows between them: `python tests/python/rooms.py` prints them.

An arrow is an import, also one inside a function; imports for type checkers alone are none.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python" / "elephan"

# From below. A room imports those before it.
ORDER = (
    *("_core", "_start", "_renamed", "base", "theory", "scenario", "step", "table", "statistic", "result", "capture", "experiment"),
    *("report", "open", "explore", "studies", "bench", "testing", "virtual", "cli", "__main__"),
)


def _typing_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        todo += node.orelse if _typing_only(node) else ast.iter_child_nodes(node)


def modules() -> dict[str, Path]:
    """Returns the files of the package by the names of their modules."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = ("elephan", *file.relative_to(PACKAGE).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def arrows() -> dict[str, set[str]]:
    """Returns what each module imports of the package, the package itself apart."""
    known = modules()
    found: dict[str, set[str]] = {name: set() for name in known}
    for name, file in known.items():
        package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
        for node in _imports(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                asked = [alias.name for alias in node.names]
            else:
                above = package[: len(package) + 1 - node.level] if node.level else []
                base = ".".join([*above, *([node.module] if node.module else [])])
                asked = [f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base for alias in node.names]
            found[name] |= {other for other in asked if other.startswith("elephan.") and other != name}
    return found


def room(module: str) -> str:
    """Returns the room of a module: the first name below the package."""
    return module.split(".")[1]


def upward(found: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Returns the arrows that do not point down."""
    level = {name: number for number, name in enumerate(ORDER)}
    own = [name for name in found if name != "elephan"]
    return sorted((name, other) for name in own for other in found[name] if level[room(other)] > level[room(name)])


def circles(found: dict[str, set[str]]) -> list[list[str]]:
    """Returns the sets of modules that reach one another, largest first."""
    reach = {name: _reached(found, name) for name in found}
    together = {frozenset(other for other in reach[name] if name in reach.get(other, ())) for name in found if name in reach[name]}
    return sorted((sorted(one) for one in together), key=len, reverse=True)


def _reached(found: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    todo = list(found[start])
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += found.get(name, ())
    return seen


def main() -> int:
    found = arrows()
    between = Counter((room(a), room(b)) for a, others in found.items() if a != "elephan" for b in others if room(a) != room(b))
    for name in ORDER:
        below = ", ".join(f"{other} {count}" for (own, other), count in sorted(between.items()) if own == name)
        print(f"{name:12s} {below}")
    files = modules().values()
    statements = sum(isinstance(node, ast.stmt) for file in files if file.name != "classes.py" for node in _all(file))
    sizes = [len(one) for one in circles(found)]
    print(f"{len(found)} modules, {sum(between.values())} arrows between rooms, {statements} statements without generated classes")
    print(f"upward: {len(upward(found))}; circles: {len(sizes)}, the largest of {max(sizes, default=1)}")
    return int(bool(upward(found)) or max(sizes, default=1) > 2)


def _all(file: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(file.read_text(encoding="utf-8")))


if __name__ == "__main__":
    sys.exit(main())
