"""Scenarios as short TOML: what is not a default, in the order of the language."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from elephan.base.errors import ElephanError
from elephan.scenario import core
from elephan.scenario.source import Source

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STEP = re.compile(r'"([^"]*)"|\[(\d+)\]|([^.\["]+)')


def without_defaults(source: Source, overrides: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Returns a scenario as a table with the seed and all that is set, without what is the default anyway.

    What cannot be left out without another scenario coming of it stays.
    """
    found = core.resolve(source, overrides, seed)
    rows = found["provenance"]["parameters"]
    given = [row["path"] for row in rows if row["from"] == "given"]
    above = {".".join(row["path"].split(".")[:end]) for row in rows for end in range(1, row["path"].count(".") + 1)}
    paths = [row["path"] for row in rows if row["from"] != "given"]
    paths += sorted(path for path in above if not any(one.startswith(f"{path}.") for one in given))
    return _without(core.toml_values(found["toml"]), paths, replace(source, format="toml"), found["toml"])


def _without(table: dict[str, Any], paths: list[str], source: Source, toml: str) -> dict[str, Any]:
    """The table without as many of the paths as can be left out."""
    fewer = copy.deepcopy(table)
    for path in reversed(paths):
        _remove(fewer, [name or (int(number) if number else word) for name, number, word in _STEP.findall(path)])
    if _same(source, fewer, toml):
        return fewer
    half = len(paths) // 2
    if half == 0:
        return table
    return _without(_without(table, paths[:half], source, toml), paths[half:], source, toml)


def _same(source: Source, table: Mapping[str, Any], toml: str) -> bool:
    """Whether a table is the scenario that this resolved text is."""
    try:
        return core.resolved_toml(replace(source, text=write_toml(table)), {}) == toml
    except ElephanError:
        return False


def _remove(table: Any, steps: list[Any]) -> None:
    for step in steps[:-1]:
        try:
            table = table[step]
        except (KeyError, IndexError, TypeError):
            return
    if isinstance(table, dict):
        table.pop(steps[-1], None)


def write_toml(table: Mapping[str, Any]) -> str:
    """Returns a table as TOML: values first, then tables, then lists of tables."""
    plain = {key: value for key, value in table.items() if not _is_table(value) and not _is_tables(value)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in table.items():
        if _is_table(value):
            lines += _section([key], value)
        elif _is_tables(value):
            for one in value:
                lines += ["", f"[[{_key(key)}]]", *(f"{_key(name)} = {_value(inner)}" for name, inner in one.items())]
    return "\n".join(lines) + "\n"


def _section(path: list[str], table: Mapping[str, Any]) -> list[str]:
    """A table below its heading; tables of tables, as hosts are, have a heading each."""
    if path[0] in ("hosts", "switches") and len(path) == 1:
        return [line for key, value in table.items() for line in _section([*path, key], value)]
    return ["", f"[{'.'.join(map(_key, path))}]", *(f"{_key(key)} = {_value(value)}" for key, value in table.items())]


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    """A value on one line; JSON's texts, numbers, true and false are those of TOML."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(inner)}' for key, inner in value.items())} }}" if value else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
