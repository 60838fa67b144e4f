"""Draw the report of a result again."""

from pathlib import Path
from typing import Annotated

import typer

from elephan.base.errors import shown
from elephan.cli.options import Json
from elephan.cli.show import print_json
from elephan.open import redraw


def command(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A result folder.")], json: Json = False) -> None:
    file = redraw(folder)
    if json:
        print_json({"folder": str(folder), "report": str(file)})
    else:
        typer.echo(shown(str(file)))
