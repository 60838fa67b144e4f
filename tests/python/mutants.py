"""Mutants of a congestion control, made mechanically: one change in the syntax tree of a class each.

`python tests/python/mutants.py FILE` lists those of a file.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_SIGNS: dict[type, type] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult}
_COMPARED: dict[type, type] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A source with one change. `name`: line, kind and what stands there now, which no other mutant of the file has."""

    name: str
    line: int
    tree: ast.Module
    node: int  # which of the tree is changed
    change: Callable[[ast.AST], None]

    @property
    def source(self) -> str:
        """The changed source."""
        other = copy.deepcopy(self.tree)
        self.change(list(ast.walk(other))[self.node])
        return ast.unparse(ast.fix_missing_locations(other))


def mutants(source: str) -> list[Mutant]:
    """Returns all mutants of a source, in the order of its syntax tree."""
    tree = ast.parse(source)
    found: list[Mutant] = []
    counts: Counter[str] = Counter()
    for number, node in enumerate(ast.walk(tree)):
        for kind, change in _changes(node):
            line = getattr(node, "lineno", 0)
            name = f"{line}: {kind}: {_line(source, line)}"
            counts[name] += 1
            found.append(Mutant(name if counts[name] == 1 else f"{name} ({counts[name]})", line, tree, number, change))
    return found


def _line(source: str, number: int) -> str:
    return source.splitlines()[number - 1].partition("#")[0].strip()


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[[ast.AST], None]]]:
    """What can be changed in a node, in words, with a function that changes such a node."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _SIGNS:
        swapped = _SIGNS[type(node.op)]
        yield "sign", lambda other: setattr(other, "op", swapped())
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARED:
        turned = _COMPARED[type(node.ops[0])]
        yield "comparison", lambda other: setattr(other, "ops", [turned(), *other.ops[1:]])
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        for kind, factor in (("times ten", 10), ("a tenth", 0.1)):
            changed = node.value * factor if node.value else 1
            changed = round(changed) if isinstance(node.value, int) and changed >= 1 else changed
            yield kind, lambda other, changed=changed: setattr(other, "value", changed)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max") and len(node.args) == 2:
        for side in (0, 1):
            yield f"no {node.func.id}, {'second' if side else 'first'}", lambda other, side=side: _become(other, other.args[side])
    if isinstance(node, ast.Attribute) and node.attr == "mss" and isinstance(node.ctx, ast.Load):
        yield "unit", lambda other: _become(other, ast.Constant(1))
    if isinstance(node, ast.BoolOp):
        yield "and, or", lambda other: setattr(other, "op", ast.Or() if isinstance(other.op, ast.And) else ast.And())
    if isinstance(node, ast.FunctionDef | ast.If):
        for block in ("body", "orelse"):
            for place, statement in enumerate(getattr(node, block, [])):
                is_words = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                if not is_words and isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Return):
                    words = f"dropped {statement.lineno - node.lineno}"
                    yield words, lambda other, block=block, place=place: getattr(other, block).__setitem__(place, ast.Pass())


def _become(node: ast.AST, other: ast.AST) -> None:
    """Makes a node another one, in place."""
    node.__class__ = other.__class__
    node.__dict__.clear()
    node.__dict__.update(other.__dict__)


if __name__ == "__main__":
    for one in mutants(Path(sys.argv[1]).read_text(encoding="utf-8")):
        print(one.name)
