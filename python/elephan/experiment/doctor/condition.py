"""Conditions on a resolved scenario, as the register of mended faults writes them in TOML.

A condition is a table of paths: all must hold. `traffic[].kind` is the kind of any entry; `switches[]` goes over a table's values
as over a list, and `**` is any number of tables. What a path must be:

- a value or a list of values, of which one must be met. A model is met by its kind: `queue = "red"`.
- `{ above = "1 s" }`, `{ below = ... }`, `{ not = ... }`, `{ given = true }`: compared as quantities, another value, there at all.
- a table of further paths, which must hold of one and the same element: `"traffic[]" = { kind = "onoff", packet_size = { above =
  "1500 B" } }`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from elephan.base.errors import InputError, nearest
from elephan.base.quantity import unit_parts

_SIGNS = ("above", "below", "not", "given")


def holds(conditions: Sequence[Mapping[str, Any]], values: Mapping[str, Any]) -> bool:
    """Returns whether one of the conditions holds of a scenario's values, or there is none."""
    return not conditions or any(_all(one, values) for one in conditions)


def could_hold(conditions: Sequence[Mapping[str, Any]], first: str) -> bool:
    """Returns whether one of the conditions asks for nothing below the name `first`, which a result has not."""
    return not conditions or any(not path.startswith(f"{first}.") for one in conditions for path in one)


def _all(condition: Mapping[str, Any], values: Any) -> bool:
    return all(_meets(list(_at(values, path.split("."))), wanted) for path, wanted in condition.items())


def _at(values: Any, path: Sequence[str]) -> Iterator[Any]:
    """What stands at a path: nothing, one value, or with `[]` several."""
    if not path:
        yield values
        return
    if path[0] == "**":
        yield from _at(values, path[1:])
        for one in values.values() if isinstance(values, Mapping) else ():
            yield from _at(one, path)
        return
    name, each = path[0].removesuffix("[]"), path[0].endswith("[]")
    if not isinstance(values, Mapping) or name not in values:
        return
    found = values[name]
    if each:
        for one in found.values() if isinstance(found, Mapping) else found:
            yield from _at(one, path[1:])
    else:
        yield from _at(found, path[1:])


def _meets(found: Sequence[Any], wanted: Any) -> bool:
    """Whether one of the values at a path is what it must be."""
    if not isinstance(wanted, Mapping):
        accepted = wanted if isinstance(wanted, list) else [wanted]
        return any(_is(value, one) for value in found for one in accepted)
    if signs := [key for key in wanted if key in _SIGNS]:
        if len(signs) < len(wanted):
            raise InputError(f"a condition has {', '.join(signs)} beside {', '.join(set(wanted) - set(signs))}")
        return _given(found, wanted) and any(_compares(value, wanted) for value in found or [None])
    return any(_all(wanted, value) for value in found)


def _given(found: Sequence[Any], wanted: Mapping[str, Any]) -> bool:
    return bool(found) is bool(wanted.get("given", True))


def _compares(value: Any, wanted: Mapping[str, Any]) -> bool:
    if "not" in wanted and _is(value, wanted["not"]):
        return False
    return all(_sign(value, wanted[name], name) for name in ("above", "below") if name in wanted)


def _sign(value: Any, bound: Any, name: str) -> bool:
    given, limit = _number(value), _number(bound)
    if limit is None:
        raise InputError(f"{name} = {bound!r} is no quantity")
    if given is None or (given[1] != limit[1] and given[0] != 0):
        return False
    return given[0] > limit[0] if name == "above" else given[0] < limit[0]


def _number(value: Any) -> tuple[float, str] | None:
    return None if isinstance(value, bool) else unit_parts(value)


def _is(value: Any, wanted: Any) -> bool:
    """Whether a value is what is wanted; a model is by its kind, a quantity in any unit."""
    if isinstance(value, Mapping) and not isinstance(wanted, Mapping):
        value = value.get("kind")
    given, number = _number(value), _number(wanted)
    if given is not None and number is not None:
        return given == number
    return bool(value == wanted and isinstance(value, bool) == isinstance(wanted, bool))


def check(conditions: Any, names: Sequence[str]) -> None:
    """Raises InputError for conditions whose first names no scenario has."""
    if not isinstance(conditions, list) or not all(isinstance(one, dict) and one for one in conditions):
        raise InputError("when: an array of tables, each with a path at least")
    for condition in conditions:
        for path in condition:
            first = path.partition(".")[0].removesuffix("[]")
            if first not in names:
                raise InputError(f'when: no "{first}" in a scenario{nearest(first, list(names))}')
