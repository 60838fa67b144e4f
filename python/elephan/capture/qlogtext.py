"""What a qlog holds, event by event: one object of JSON with traces, a JSON text sequence (RFC 7464), or a record a line.

A sequence is read record by record: no more of it than a record and a piece of the file is in memory. Of an object with traces the
text is in memory, and its events are made one at a time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import counted
from elephan.capture.fields import record
from elephan.capture.logfile import LogFile

MARK = b"\x1e"  # begins a record of a sequence
_SPACE = re.compile(r"[ \t\r\n]*")
_HEADER = ("qlog_version", "qlog_format", "file_schema", "trace")
_OF_HEADER = re.compile(r'"(?:qlog_version|qlog_format)"\s*:|"file_schema"\s*:\s*"urn:ietf:params:qlog')
_OF_EVENT = re.compile(r'^\s*\{.*"name"\s*:\s*"(?:quic|transport|recovery|connectivity|security|http|h3|qpack|loglevel)[\w-]*:')

Object = Mapping[str, Any]
Item = tuple[str, Object]  # ("trace", what a trace says of itself) or ("event", an event of the trace before it)


def takes(file: LogFile) -> bool:
    """Returns whether a file is a qlog."""
    begin = file.begin
    if begin.startswith("\x1e") or _OF_HEADER.search(begin[:4096]):
        return True
    line = begin.lstrip().partition("\n")[0]
    return bool(_OF_EVENT.match(line)) and '"time"' in line


def items(file: LogFile, notes: list[str]) -> Iterator[Item]:
    """Gives the traces of a file, each before its events. What is damaged or cut off is left out, with a note."""
    whole = file.begin.lstrip("\x1e \t\r\n\ufeff")
    if MARK.decode() not in file.begin[:1] and ('"traces"' in whole[:4096] or "\n" not in whole.strip() or _is_printed(whole)):
        yield from _contained(file, notes)
    else:
        yield from _sequence(file, MARK if file.begin.startswith("\x1e") else b"\n", notes)


def _is_printed(begin: str) -> bool:
    """Whether an object is printed over several lines: its first line is no object of its own."""
    try:
        json.loads(begin.partition("\n")[0])
    except (ValueError, RecursionError):
        return True
    return False


def _sequence(file: LogFile, mark: bytes, notes: list[str]) -> Iterator[Item]:
    damaged, first, number = 0, 0, 0
    begun = False
    try:
        for number, text in enumerate(file.records(mark), 1):
            text = text.removeprefix(b"\xef\xbb\xbf").strip(b"\x1e \t\r\n")
            if not text:
                continue
            try:
                one = json.loads(text)
            except (ValueError, RecursionError):
                one = None
            if not isinstance(one, dict):
                damaged, first = damaged + 1, first or number
            elif "time" in one and "name" in one:
                begun = True
                yield "event", one
            elif any(key in one for key in _HEADER):
                begun = True
                yield "trace", {**record(one.get("trace")), "of_file": one}
    except InputError as error:
        if not begun:
            raise
        notes.append(f"{file}: the file ends in the middle ({str(error).rpartition(': ')[2]}): what is whole is read")
    if damaged and not begun:
        raise InputError(f"{file}:{first}: damaged JSON")
    if damaged:
        are = "record is" if damaged == 1 else "records are"
        notes.append(f"{file}: {counted(damaged, are, are)} damaged or cut off and left out (the first is record {first})")


class _Cursor:
    """A place in a text of JSON, of which parts are read one after another."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self._decoder = json.JSONDecoder()

    def _sign(self) -> str:
        self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
        return self.text[self.at : self.at + 1]

    def value(self) -> Any:
        """Reads a whole value."""
        self._sign()
        found, self.at = self._decoder.raw_decode(self.text, self.at)
        return found

    def _each(self, begin: str, end: str) -> Iterator[None]:
        if self._sign() != begin:
            raise ValueError(f"no {begin} where one should be")
        self.at += 1
        while (sign := self._sign()) != end:
            self.at += sign == ","
            if not self._sign():
                raise ValueError("the end is missing")
            yield
        self.at += 1

    def keys(self) -> Iterator[str]:
        """Gives the keys of an object; whoever takes one reads its value before the next."""
        for _ in self._each("{", "}"):
            key = self.value()
            if not isinstance(key, str) or self._sign() != ":":
                raise ValueError("no key where one should be")
            self.at += 1
            yield key

    def elements(self) -> Iterator[None]:
        """Stops before each element of a list; who takes it reads it."""
        return self._each("[", "]")

    @property
    def line(self) -> int:
        """The number of the line."""
        return self.text.count("\n", 0, self.at) + 1


def _contained(file: LogFile, notes: list[str]) -> Iterator[Item]:
    cursor = _Cursor(file.text)
    of_file: dict[str, Any] = {}
    begun = False
    try:
        for key in cursor.keys():  # noqa: SIM118
            if key != "traces":
                of_file[key] = cursor.value()
                continue
            for _ in cursor.elements():
                for item in _trace(cursor, of_file):
                    begun = True
                    yield item
    except (ValueError, RecursionError):
        if not begun:
            raise InputError(f"{file}:{cursor.line}: damaged or cut-off JSON") from None
        notes.append(f"{file}: the file is damaged or cut off at line {cursor.line}: what is before it is read")


def _trace(cursor: _Cursor, of_file: Object) -> Iterator[Item]:
    """A trace and its events. Where the events stand before what the trace says of itself they are read twice."""
    said: dict[str, Any] = {"of_file": of_file}
    events: int | None = None
    for key in cursor.keys():  # noqa: SIM118
        if key != "events":
            said[key] = cursor.value()
        elif "common_fields" in said or "vantage_point" in said:
            yield "trace", said
            for _ in cursor.elements():
                yield "event", record(cursor.value())
            said = {}
        else:
            events = cursor.at
            for _ in cursor.elements():
                cursor.value()
    if events is not None:
        yield "trace", said
        end, cursor.at = cursor.at, events
        for _ in cursor.elements():
            yield "event", record(cursor.value())
        cursor.at = end
    elif "error_description" in said:
        yield "trace", said
