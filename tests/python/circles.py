"""The files of each crate and the arrows between them: `python tests/python/circles.py` prints the circles.

An arrow is a path to an item of another file, in a `use` or in code; tests are left out. A re-export alone is none, unless its own
file uses the name too. A call of a method is none either: what it needs of the other file is named where the type is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import rooms

CRATES = Path(__file__).parents[2] / "crates"

_SKIPPED = re.compile(
    r"""//[^\n]*|/\*.*?\*/|(?<!\w)b?r(?P<mark>\#*)".*?"(?P=mark)|b?"(?:\\.|[^"\\])*"|'(?:\\[^']*|[^'\\])'""",
    re.DOTALL,
)
_USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")
_MODULE = re.compile(r"\bmod\s+\w+\s*;")
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod\s+\w+\s*\{.*", re.DOTALL)
_INLINE = re.compile(r"\b(?:crate|super|self)(?:\s*::\s*\w+)+")

Module = tuple[str, ...]
Exports = dict[Module, dict[str, str]]


def code(text: str) -> str:
    """Returns the source without comments, texts, characters and its tests."""
    return _TESTS.sub("", _SKIPPED.sub('""', text))


def paths(tree: str) -> Iterator[str]:
    """Yields the paths of the tree of a `use`, each with the name that it has from then on behind ` as `."""
    tree = tree.strip()
    if "{" not in tree:
        path, _, name = (part.strip() for part in tree.partition(" as "))
        if path:
            yield f"{path} as {name or path.rsplit('::', 1)[-1]}"
        return
    before, _, rest = tree.partition("{")
    depth, part = 0, ""
    for character in rest[: rest.rindex("}")] + ",":
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            part = part.strip()
            if part:
                yield from paths(before.rstrip(": ") if part == "self" else before + part)
            part = ""
        else:
            part += character


def files(crate: Path) -> dict[Module, str]:
    """Returns the code of each module of a crate; the crate itself is the empty path."""
    found = {}
    for file in sorted((crate / "src").rglob("*.rs")):
        parts = file.relative_to(crate / "src").with_suffix("").parts
        found[parts[:-1] if parts[-1] in {"mod", "lib", "main"} else parts] = code(file.read_text(encoding="utf-8"))
    return found


def arrows(sources: dict[Module, str]) -> dict[Module, set[Module]]:
    """Returns the modules whose items each module uses, the crate's own file apart."""
    exported: Exports = {module: {} for module in sources}
    used: dict[Module, list[str]] = {}
    for module, text in sources.items():
        rest = _MODULE.sub("", _USE.sub("", text))
        used[module] = _INLINE.findall(rest)
        for public, tree in _USE.findall(text):
            for path, name in (entry.split(" as ") for entry in paths(tree)):
                if public:
                    exported[module][name] = path
                if not public or re.search(rf"\b{re.escape(name)}\b", rest):
                    used[module].append(path)
    found = {}
    for module, asked in used.items():
        places = {_place(sources, exported, module, path) for path in asked}
        found[module] = {place for place in places if place and place != module}
    return found


def _place(sources: dict[Module, str], exported: Exports, module: Module, path: str, steps: int = 6) -> Module | None:
    """Returns the module of the item at `path` as `module` sees it, through re-exports; `None` for what is not of this crate."""
    names = [name.strip() for name in path.split("::")]
    base = [] if names[0] == "crate" else list(module)
    if names[0] in {"crate", "self"}:
        names.pop(0)
    elif names[0] != "super" and (*base, names[0]) not in sources:
        return None
    while names and names[0] == "super":
        base.pop()
        names.pop(0)
    while names and (*base, names[0]) in sources:
        base.append(names.pop(0))
    place = tuple(base)
    if names and steps and (further := exported.get(place, {}).get(names[0])):
        return _place(sources, exported, place, further, steps - 1) or place
    return place


def circles() -> dict[str, list[list[str]]]:
    """Returns for each crate the sets of files that reach one another, largest first."""
    found = {}
    for crate in sorted(path.parent.name for path in CRATES.glob("*/Cargo.toml")):
        named = {
            "/".join(module): {"/".join(other) for other in others}
            for module, others in arrows(files(CRATES / crate)).items()
            if module
        }
        found[crate] = rooms.circles(named)
    return found


def main() -> int:
    for crate, found in circles().items():
        for circle in found:
            print(f"{crate}: {len(circle)} files: {', '.join(circle)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
