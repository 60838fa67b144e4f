"""A TOML file that declares something, such as a study or claims: its values, and the line of each for errors."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError, brief, nearest
from elephan.scenario import core
from elephan.scenario.source import read_text


class Declaration:
    """A TOML file that has been read. The core keeps where each value stands, and refuses dates, NaN and infinity."""

    def __init__(self, path: Path, text: str | None = None) -> None:
        self.path, self.text = path, read_text(path) if text is None else text
        self._written = core.build("TomlText", str(path), self.text)
        self.table: dict[str, Any] = json.loads(self._written.values())

    def at(self, *path: str | int) -> str:
        """Returns the place of a value as errors begin, such as `study.toml:12`; of one that is not there, of what is around it."""
        return f"{self.path}:{self._written.line(path)}"

    def wrong(self, path: Sequence[str | int], words: str) -> InputError:
        """An error about a value."""
        return InputError(f"{self.at(*path)}: {words}")

    def known(self, table: Any, types: Mapping[str, Any], path: Sequence[str | int], what: str = "") -> Mapping[str, Any]:
        """Returns a table if it has these keys only, each with a value of its type; raises InputError otherwise."""
        lead = f"{what}: " if what else ""
        if not isinstance(table, Mapping):
            raise self.wrong(path, f"{what or 'the file'} is a table, not {brief(table)}")
        for key, value in table.items():
            if key not in types:
                raise self.wrong((*path, key), f'{lead}no key "{key}"{nearest(key, list(types), "there are")}')
            kinds = types[key]
            if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
                raise self.wrong((*path, key), f"{lead}{key} is {WORDS[kinds]}, not {brief(value)}")
        return table


WORDS: Mapping[Any, str] = {
    str: "a text",
    list: "a list",
    dict: "a table",
    int: "a whole number",
    bool: "true or false",
    (int, float): "a number",
}
