"""`-s key=value` from a command line: texts to typed values, and lists of values for sweeps."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

from elephan.base.errors import InputError

_OPEN, _CLOSE = "[{", "]}"


def value(text: str) -> Any:
    """A value as TOML writes it, or the text itself: `true`, `3`, `[1, 2]`, `{ kind = "pause" }`, `10 Gbps`."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _of(key: str, text: str) -> Any:
    """The value of a key. A congestion control may be written as `compare` takes it: `cubic:preset=linux`, `mine.py:Mine`."""
    if key.rpartition(".")[2] == "congestion_control" and ":" in text and not text.lstrip().startswith(("{", '"', "'")):
        from elephan.scenario.congestion import controller_of

        return controller_of(text).value
    return value(text)


def split(text: str) -> list[str]:
    """Parts between commas; commas within quotes, brackets and braces do not separate."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in _OPEN:
            depth += 1
        elif letter in _CLOSE:
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append("")
            continue
        parts[-1] += letter
    return [part.strip() for part in parts]


def _pairs(arguments: Sequence[str]) -> list[tuple[str, str]]:
    pairs = []
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise InputError(f"-s {argument}: write it as key=value")
        pairs.append((key.strip(), value.strip()))
    return pairs


def settings(arguments: Sequence[str]) -> dict[str, Any]:
    """`-s key=value` as overrides of one run; later ones win."""
    return {key: _of(key, text) for key, text in _pairs(arguments)}


def hint_of_sweep(arguments: Sequence[str], problem: str) -> str:
    """What to say to someone who gave one run several values, if that is what the problem is about."""
    given = (text for key, text in _pairs(arguments) if problem.startswith(f"-s {key}="))
    return "; `elephan sweep` runs each of several values" if any(len(split(text)) > 1 for text in given) else ""


def axes(arguments: Sequence[str]) -> dict[str, Any]:
    """`-s key=v1,v2` as overrides of a sweep: several values become a list, which is swept; a key twice is refused."""
    found: dict[str, Any] = {}
    for key, text in _pairs(arguments):
        if key in found:
            raise InputError(f"-s {key}: given twice; write all its values as one list, -s {key}=v1,v2")
        values = [_of(key, part) for part in split(text)]
        if "" in values:
            raise InputError(f"-s {key}={text}: an empty value")
        found[key] = values if len(values) > 1 else values[0]
    return found
