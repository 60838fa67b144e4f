"""Reads the words of a command line for a function: its parameters are annotated with `Option` and `Argument`.

A parameter whose type is a dataclass stands for the options that its fields are, which several commands share.

Plain Python, since a parser of the usual kind takes longer to import than `elephan run` takes.
"""

from __future__ import annotations

import dataclasses
import inspect
import shutil
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

from elephan.base.errors import InputError, nearest

HELP = ("-h", "--help")


class Option:
    """An option: its names (`--NAME` if none is given), what stands for its value in the help, how its value is read."""

    def __init__(self, *names: str, metavar: str = "TEXT", help: str = "", parser: Callable[[str], Any] | None = None) -> None:
        self.names, self.metavar, self.help, self.parser = names, metavar, help, parser


class Argument(Option):
    """An argument, named by its `metavar`."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a command's function."""

    key: str
    about: Option
    type: Any
    many: bool
    default: Any
    group: str = ""  # the parameter of the function that it is a field of

    @property
    def names(self) -> tuple[str, ...]:
        return self.about.names or (f"--{self.key.replace('_', '-')}",)

    @property
    def label(self) -> str:
        """What errors call it."""
        return self.about.metavar if isinstance(self.about, Argument) else self.names[0]

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    def read(self, text: str) -> Any:
        """Returns the value that a word stands for; raises InputError where it stands for none."""
        if text == "" and issubclass(self.type, Path):
            raise InputError(f"Invalid value for '{self.label}': an empty text is no path")
        try:
            return (self.about.parser or self.type)(text)
        except ValueError as error:
            raise InputError(f"Invalid value for '{self.label}': {error}") from None

    def head(self) -> str:
        if isinstance(self.about, Argument):
            return self.about.metavar
        return ", ".join(self.names) + ("" if self.type is bool else f" {self.about.metavar}")

    def help(self) -> str:
        shown = [] if self.required or self.default in (None, False, "") else [f"[default: {self.default}]"]
        return " ".join([self.about.help, *shown])


def parameters(function: Callable[..., Any], group: str = "") -> list[Parameter]:
    """Returns the parameters of a command's function, or of a class of options; a group of them is spread out."""
    owner = function.__init__ if inspect.isclass(function) else function
    hints, found = get_type_hints(function, include_extras=True), list[Parameter]()
    for key, parameter in inspect.signature(owner).parameters.items():
        if key == "self":
            continue
        if dataclasses.is_dataclass(hints[key]):
            found += parameters(cast(type, hints[key]), key)
            continue
        kind, about = get_args(hints[key])
        if isinstance(kind, UnionType):  # or None
            kind = get_args(kind)[0]
        many = get_origin(kind) is list
        found.append(Parameter(key, about, get_args(kind)[0] if many else kind, many, parameter.default, group))
    return found


def _options(words: list[str], known: dict[str, Parameter], rest: list[str]) -> Iterator[tuple[Parameter, str | None]]:
    """Gives the options among words with their values; puts the other words into `rest`. Consumes the words."""
    while words:
        word = words.pop(0)
        if word == "--":
            rest += words
            return
        if not word.startswith("-") or word == "-":
            rest.append(word)
            continue
        name, equals, value = word.partition("=")
        if not word.startswith("--"):
            name, value, equals = word[:2], word[2:], word[2:]
        if name not in known:
            raise InputError(f"No such option: {name}{nearest(name, list(known))}")
        if known[name].type is bool:
            if equals:
                raise InputError(f"Option '{name}' does not take a value.")
            yield known[name], None
        elif not equals and not words:
            raise InputError(f"Option '{name}' requires an argument.")
        else:
            yield known[name], value if equals else words.pop(0)


def parse(function: Callable[..., Any], words: Sequence[str]) -> dict[str, Any]:
    """Returns the arguments of a command's function that words stand for; raises InputError with one line about others."""
    expected, rest, found = parameters(function), list[str](), dict[str, Any]()
    known = {name: one for one in expected if not isinstance(one.about, Argument) for name in one.names}

    def take(one: Parameter, text: str | None) -> None:
        value = True if text is None else one.read(text)
        found[one.key] = [*found.get(one.key, []), value] if one.many else value

    for one, text in _options(list(words), known, rest):
        take(one, text)
    for one in (one for one in expected if isinstance(one.about, Argument)):
        for text in rest if one.many else rest[:1]:
            take(one, text)
        rest = [] if one.many else rest[1:]
    if rest:
        raise InputError(f"Got unexpected extra argument ({' '.join(rest)})")
    for one in expected:
        if one.required and one.key not in found:
            raise InputError(f"Missing {'argument' if isinstance(one.about, Argument) else 'option'} '{one.label}'.")
    return _grouped(function, expected, found)


def _grouped(function: Callable[..., Any], expected: Sequence[Parameter], found: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments with those of each group in an object of its class."""
    hints = get_type_hints(function)
    groups: dict[str, dict[str, Any]] = {one.group: {} for one in expected if one.group}
    for one in expected:
        if one.group and one.key in found:
            groups[one.group][one.key] = found.pop(one.key)
    return found | {name: hints[name](**given) for name, given in groups.items()}


def _width() -> int:
    return min(shutil.get_terminal_size().columns, 100)


def table(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """Returns a heading and rows of a name with a text."""
    indent = min(max((len(head) for head, _ in rows), default=0), 30) + 4
    lines = []
    for head, about in rows:
        text = textwrap.wrap(about, max(_width() - indent, 20)) or [""]
        first = f"  {head}"
        lines += [f"{first:{indent}}{text[0]}".rstrip()] if len(first) < indent - 1 else [first, " " * indent + text[0]]
        lines += [" " * indent + line for line in text[1:]]
    return "\n".join([f"{title}:", *lines, ""])


def paragraphs(text: str) -> str:
    """Returns the paragraphs of a docstring, two spaces from the left."""
    parts = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(textwrap.fill(part, _width(), initial_indent="  ", subsequent_indent="  ") for part in parts) + "\n"


def command_help(path: str, function: Callable[..., Any], about: str) -> str:
    """Returns the help of a command."""
    expected = parameters(function)
    arguments = [one for one in expected if isinstance(one.about, Argument)]
    heads = [one.about.metavar if one.required else f"[{one.about.metavar.strip('[]')}]" for one in arguments]
    options = [(one.head(), one.help()) for one in expected if one not in arguments]
    parts = [f"Usage: {' '.join([path, '[OPTIONS]', *heads])}\n", paragraphs(about)]
    parts += [table("Arguments", [(one.head(), one.help()) for one in arguments])] if arguments else []
    return "\n".join([*parts, table("Options", [*options, (", ".join(HELP), "Show this message and exit.")])])
