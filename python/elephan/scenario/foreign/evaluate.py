"""Values of Python expressions that need no run: constants, names, arithmetic, texts with values in them, ranges, lists."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

LARGEST = 100_000  # items of a range, characters of a text
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv, ast.Mod: operator.mod,
}  # fmt: skip
_COMPARED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip
Names = dict[str, Any]


class Unread(Exception):
    """An expression that only a run could tell."""


def _range(*numbers: Any) -> list[int]:
    found = range(*numbers)
    if len(found) > LARGEST:
        raise Unread
    return list(found)


_CALLS: dict[str, Callable[..., Any]] = {
    "range": _range, "irange": lambda first, last: _range(first, last + 1), "str": str, "int": int, "float": float, "len": len,
    "dict": dict, "list": list, "enumerate": lambda items, start=0: [list(pair) for pair in enumerate(items, start)],
    "zip": lambda *items: [list(pair) for pair in zip(*items, strict=False)], "min": min, "max": max, "round": round,
}  # fmt: skip


def value_of(node: ast.expr, names: Names) -> Any:
    """Returns the value of an expression; raises Unread if it takes more than constants and known names."""
    try:
        found = _value(node, names)
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError, MemoryError):
        raise Unread from None
    if isinstance(found, str | list) and len(found) > LARGEST:
        raise Unread
    return found


def _value(node: ast.expr, names: Names) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return names[name]
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return names[f"self.{name}"]
        case ast.JoinedStr(values=parts):
            return "".join(_value(part, names) for part in parts)
        case ast.FormattedValue(value=inner, format_spec=spec):
            return format(_value(inner, names), _narrow(_value(spec, names)) if spec else "")
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(op, _value(left, names), _value(right, names))
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner, names)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not _value(inner, names)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
            return _COMPARED[type(op)](_value(left, names), _value(right, names))
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item, names) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {_value(key, names): _value(value, names) for key, value in zip(keys, values, strict=True) if key is not None}
        case ast.Subscript(value=inner, slice=index):
            return _value(inner, names)[_value(index, names)]
        case ast.ListComp(elt=item, generators=[ast.comprehension(target=ast.Name(id=name), iter=over, ifs=[])]):
            return [_value(item, names | {name: one}) for one in _value(over, names)]
        case ast.Call():
            return _called(node, names)
    raise Unread


def _binary(op: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(op, ast.Mult) and (isinstance(left, str | list) or isinstance(right, str | list)):
        raise Unread
    if isinstance(op, ast.Mod) and isinstance(left, str) and isinstance(right, list):
        right = tuple(right)
    if isinstance(op, ast.Mod) and isinstance(left, str):
        _narrow(left)
    if type(op) not in _BINARY:
        raise Unread
    return _BINARY[type(op)](left, right)


def _narrow(text: str) -> str:
    """Returns a format; raises Unread where its widths would make a text without end."""
    if re.search(r"\d{4}", text):
        raise Unread
    return text


def _called(node: ast.Call, names: Names) -> Any:
    given = [_value(one, names) for one in node.args]
    named = {one.arg: _value(one.value, names) for one in node.keywords if one.arg}
    match node.func:
        case ast.Name(id=name) if name in _CALLS:
            return _CALLS[name](*given, **named)
        case ast.Attribute(value=inner, attr="format") if isinstance(text := _value(inner, names), str):
            _narrow(text)
            return text.format(*(one for one in given if isinstance(one, str | int | float)), **named)
        case ast.Attribute(value=inner, attr="items") if isinstance(table := _value(inner, names), dict):
            return [list(pair) for pair in table.items()]
    raise Unread
