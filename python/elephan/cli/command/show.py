"""Print the answer of a finished result again."""

from pathlib import Path
from typing import Annotated

from elephan.cli.options import Json
from elephan.cli.parser import Argument
from elephan.cli.show import show
from elephan.open import load


def command(folder: Annotated[Path, Argument(metavar="DIR", help="A result folder.")], json: Json = False) -> None:
    show(load(folder), folder, json)
