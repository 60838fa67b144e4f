"""A TOML file whose mistakes are told with their line: `tomllib` says what stands there, and this where."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError, brief, nearest
from elephan.scenario.source import read_text

Where = tuple[str | int, ...]  # of a value: keys of tables, places in lists
_BLANK = re.compile(r"(?:\s|#[^\n]*)*")
_KEY = re.compile(r'[ \t]*("(?:\\.|[^"\\])*"|\'[^\']*\'|[\w-]+)[ \t]*(\.?)')
_PLAIN = re.compile(r"[^,\]}#\n]*")
_TEXTS = {
    '"""': re.compile(r'"""(?:\\.|[^\\])*?"{3,5}', re.DOTALL),
    "'''": re.compile(r"'''.*?'{3,5}", re.DOTALL),
    '"': re.compile(r'"(?:\\.|[^"\\])*"'),
    "'": re.compile(r"'[^']*'"),
}


class _Lines:
    """Finds the line of each value of a text that `tomllib` has read."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.found: dict[Where, int] = {(): 1}
        self.lists: Counter[Where] = Counter()  # how many tables each [[list]] has so far
        table: Where = ()
        while self._blank() < len(text):
            if text[self.at] != "[":
                self._pair(table)
                continue
            double = text.startswith("[[", self.at)
            line = self._line()
            self.at += 2 if double else 1
            table = self._table(self._keys(), double, line)
            self.at += 2 if double else 1

    def _line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self.text, self.at)
        assert match is not None  # tomllib has read it
        self.at = match.end()
        return match

    def _blank(self) -> int:
        self._match(_BLANK)
        return self.at

    def _keys(self) -> list[str]:
        keys: list[str] = []
        more = "."
        while more:
            word, more = self._match(_KEY).groups()
            keys += tomllib.loads(f"{word} = 0")
        return keys

    def _table(self, keys: Sequence[str], double: bool, line: int) -> Where:
        path: Where = ()
        for place, key in enumerate(keys):
            path += (key,)
            self.found.setdefault(path, line)
            if double and place == len(keys) - 1:
                self.lists[path] += 1
            if count := self.lists[path]:
                path += (count - 1,)
                self.found.setdefault(path, line)
        return path

    def _pair(self, table: Where) -> None:
        line = self._line()
        path = table
        for key in self._keys():
            path += (key,)
            self.found.setdefault(path, line)
        self._blank()
        self.at += 1  # the sign of equality
        self._blank()
        self._value(path)

    def _value(self, path: Where) -> None:
        first = self.text[self.at]
        if first in "\"'":
            quote = first * 3 if self.text.startswith(first * 3, self.at) else first
            self._match(_TEXTS[quote])
        elif first in "[{":
            self._several(path, first)
        else:
            self._match(_PLAIN)

    def _several(self, path: Where, first: str) -> None:
        """A list, or a table in braces."""
        self.at += 1
        count = 0
        while self.text[self._blank()] not in "]}":
            if first == "{":
                self._pair(path)
            else:
                self.found[(*path, count)] = self._line()
                self._value((*path, count))
                count += 1
            if self.text[self._blank()] == ",":
                self.at += 1
        self.at += 1


class TomlFile:
    """A TOML file that has been read. `at` says where a value stands, as errors begin: `study.toml:12`."""

    def __init__(self, path: Path, text: str | None = None) -> None:
        self.path, self.text = path, read_text(path) if text is None else text
        try:
            self.table = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            words, _, where = str(error).removesuffix(")").partition(" (at ")
            line = re.match(r"line (\d+)", where)
            last = self.text.count("\n", 0, len(self.text.rstrip())) + 1  # of a file that ends too early
            raise InputError(f"{path}:{line[1] if line else last}: {words}") from None
        except RecursionError:
            raise InputError(f"{path}: nested too deeply") from None
        self._lines: dict[Where, int] | None = None

    def at(self, *path: str | int) -> str:
        """The file, and the line of a value; of one that is not there, that of the nearest table or list around it."""
        if self._lines is None:
            self._lines = _Lines(self.text).found
        while path not in self._lines:
            path = path[:-1]
        return f"{self.path}:{self._lines[path]}"

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
