"""The commands of `elephan`: a file below `elephan/cli/command` is a command, a folder is a group of commands.

The docstring of a file is the help of its command, the function `command` has the options (`elephan.cli.parser`). A file is found
by its name and imported when its command is used; a list of commands reads only the first lines of the docstrings.
"""

import ast
import importlib
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from elephan.base.errors import InputError, nearest
from elephan.cli import ends
from elephan.cli.parser import HELP, command_help, paragraphs, parse, table

_ABOUT = "elephan: a laboratory for the performance of TCP."


def _commands(package: ModuleType) -> dict[str, Path]:
    """Returns the commands of a package by name, and the file of each."""
    found = {}
    for one in sorted(pkgutil.iter_modules(package.__path__), key=lambda one: one.name):
        place = Path(getattr(one.module_finder, "path", "")) / one.name
        found[one.name.replace("_", "-")] = place / "__init__.py" if one.ispkg else place.with_suffix(".py")
    return found


def commands(package: str = "elephan.cli.command", path: str = "elephan") -> Iterator[tuple[str, ModuleType]]:
    """Gives each command by its words with its module, those of groups too."""
    for name in _commands(importlib.import_module(package)):
        module = importlib.import_module(f"{package}.{name.replace('-', '_')}")
        if hasattr(module, "__path__"):
            yield from commands(module.__name__, f"{path} {name}")
        else:
            yield f"{path} {name}", module


def _first_line(file: Path) -> str:
    return (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def _group_help(path: str, package: ModuleType, commands: dict[str, Path]) -> str:
    about = _ABOUT if path == "elephan" else package.__doc__ or ""
    options = [("--version", "Print the version and exit.")] if path == "elephan" else []
    options.append((", ".join(HELP), "Show this message and exit."))
    rows = [(name, _first_line(file)) for name, file in commands.items()]
    usage = f"Usage: {path} [OPTIONS] COMMAND [ARGS]...\n"
    return "\n".join([usage, paragraphs(about), table("Options", options), table("Commands", rows)])


def run(words: list[str], path: str = "elephan", package: str = "elephan.cli.command") -> int:
    """Runs the command that words say; returns the exit status."""
    group = importlib.import_module(package)
    commands = _commands(group)
    if not words or words[0] in HELP:
        print(_group_help(path, group, commands), end="", file=sys.stdout if words else sys.stderr)
        return 0 if words else 2
    name, rest = words[0], words[1:]
    if name not in commands:
        raise InputError(f"No such {'option' if name.startswith('-') else 'command'} '{name}'{nearest(name, list(commands))}")
    module = importlib.import_module(f"{package}.{name.replace('-', '_')}")
    if hasattr(module, "__path__"):
        return run(rest, f"{path} {name}", module.__name__)
    if any(word in HELP for word in rest):
        print(command_help(f"{path} {name}", module.command, module.__doc__ or ""), end="")
        return 0
    given = parse(module.command, rest)
    ends.while_running()
    return module.command(**given) or 0
