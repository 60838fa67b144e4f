"""What a text of iperf3 holds: one result (`-J`), several one after another (a server's), or the events of `--json-stream`.

People keep results that are not whole JSON: iperf3 writes `-nan` where it divides by zero, warnings stand around an object, and a
test that was killed, or a full disk, ends the text in the middle. What is whole is read, and a note says what is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import counted

_OBJECT = re.compile(r"^[ \t]*\{", re.MULTILINE)
_NEXT = re.compile(r"^\{", re.MULTILINE)
# What C libraries print for a number that is none; JSON has no word for it.
_NO_NUMBER = re.compile(r"(?<=[:,\[\s])[+-]?(?:nan(?:\([\w-]*\))?|inf(?:inity)?|1\.#\w+)(?=\s*[,}\]])", re.IGNORECASE)

Object = dict[str, Any]


def results(file: Path, text: str) -> tuple[list[Object], list[str]]:
    """Returns the results in a text, and sentences about what of it is not whole; InputError where nothing is."""
    found: list[Object] = []
    torn: list[int] = []
    cut = 0
    for line, one, whole in _objects(_NO_NUMBER.sub("null", text)):
        if one is None or ("event" in one and not (whole and _take(one, found))):
            torn.append(line)
        elif "event" not in one and (whole or _cut(one)):
            found.append(one)
            cut += not whole
    if not found and torn:
        raise InputError(f"{file}:{torn[0]}: damaged JSON" if text.count("\n") else f"{file}: damaged JSON")
    if not found:
        raise InputError(f"{file}: not a result of iperf3 -J (no intervals)")
    notes = ["the result ends in the middle: its last, unfinished interval is left out"] if cut else []
    if torn:
        where = f"line {torn[0]}" if len(torn) == 1 else f"{counted(len(torn), 'line')}, the first of them line {torn[0]},"
        notes.append(f"{where} {'is' if len(torn) == 1 else 'are'} damaged and left out")
    return found, notes


def _take(event: Object, found: list[Object]) -> bool:
    """Puts an event of `--json-stream` into the result that it belongs to; whether it is what it says."""
    name, data = event["event"], event.get("data")
    if name == "interval" and not isinstance(data, dict):
        return False
    if name == "start" or not found:
        found.append({"intervals": []})
    if name == "interval":
        found[-1]["intervals"].append(data)
    elif name in ("start", "end", "error"):
        found[-1][name] = data
    return True


def _objects(text: str) -> Iterator[tuple[int, Object | None, bool]]:
    """Gives each object of a text with the number of its line and whether it is whole; of one that is not, what can be read."""
    decoder = json.JSONDecoder()
    place, lines, counted_to = 0, 1, 0
    while begin := _OBJECT.search(text, place):
        lines, counted_to = lines + text.count("\n", counted_to, begin.start()), begin.start()
        try:
            found, place = decoder.raw_decode(text, begin.end() - 1)
            whole = True
        except (ValueError, RecursionError):
            following = _NEXT.search(text, begin.end())
            place = following.start() if following else len(text)
            found, whole = _closed(text[begin.end() - 1 : place]), False
        yield lines, found, whole


def _closed(text: str) -> Object | None:
    """Returns an object whose text ends too early, up to the last value in it that is closed; None if there is none."""
    open_now: list[str] = []
    last: tuple[int, str] | None = None
    quoted = False
    for match in re.finditer(r'\\.|["{}\[\]]', text, re.DOTALL):
        sign = match[0]
        if sign == '"':
            quoted = not quoted
        elif quoted or sign[0] == "\\":
            continue
        elif sign in "{[":
            open_now.append("}" if sign == "{" else "]")
        elif not open_now or open_now.pop() != sign:
            break
        else:
            last = match.end(), "".join(reversed(open_now))
    try:
        found = json.loads(text[: last[0]] + last[1]) if last else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _cut(result: Object) -> bool:
    """Takes an unfinished interval, which has no sum, from a result that ends too early; whether anything is left."""
    intervals = result.get("intervals")
    if isinstance(intervals, list) and intervals and not (isinstance(intervals[-1], dict) and "sum" in intervals[-1]):
        intervals.pop()
    return bool(intervals)
