"""Print the answer of a finished result again."""

from pathlib import Path
from typing import Annotated

import typer

from elephan.cli.options import Json
from elephan.cli.show import show
from elephan.open import load


def command(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A result folder.")], json: Json = False) -> None:
    show(load(folder), folder, json)
