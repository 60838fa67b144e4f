"""The commands of `elephan`: a file below `elephan/cli/command` is a command, a folder is a group of commands.

The docstring of a file is the help of its command, the function `command` has the options. A file is found by its name and imported
when its command is used; a list of commands reads only the first lines of the docstrings.
"""

import ast
import importlib
import pkgutil
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

_PACKAGE = "elephan.cli.command"


class _Group(TyperGroup):
    """The commands of a package."""

    def __init__(self, package: str = _PACKAGE, **options: Any) -> None:
        super().__init__(**options)
        self.package = importlib.import_module(package)
        found = sorted(one.name for one in pkgutil.iter_modules(self.package.__path__))
        commands: Any = dict.fromkeys(name.replace("_", "-") for name in found)
        self.commands = commands  # that a typing mistake is compared with

    def get_command(self, _context: Any, name: str) -> Any:
        """Returns a command, whose file is imported."""
        if name not in self.commands:
            return None
        module = importlib.import_module(self._module(name))
        if hasattr(module, "__path__"):
            return _Group(module.__name__, name=name, help=module.__doc__, no_args_is_help=True, rich_markup_mode=None)
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name, help=module.__doc__)(module.command)
        return typer.main.get_command(single)

    def format_commands(self, _context: Any, formatter: Any) -> None:
        """Writes the commands with the first line of each docstring."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._about(name)) for name in self.commands])

    def _about(self, name: str) -> str:
        found = find_spec(self._module(name))
        text = Path(found.origin).read_text(encoding="utf-8") if found and found.origin else ""
        return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]

    def _module(self, name: str) -> str:
        return f"{self.package.__name__}.{name.replace('-', '_')}"


app = typer.Typer(
    cls=_Group,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="elephan: a laboratory for the performance of TCP.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from elephan.scenario import core

        typer.echo(f"elephan {core.call('version')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """elephan: a laboratory for the performance of TCP."""
