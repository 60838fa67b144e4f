"""Print the answer of a finished result again."""

from pathlib import Path
from typing import Annotated

from elephan.cli.options import Json
from elephan.cli.parser import Argument
from elephan.cli.show import show
from elephan.open import load
from elephan.result.folder import damaged


def command(folder: Annotated[Path, Argument(metavar="DIR", help="A result folder.")], json: Json = False) -> None:
    with damaged(folder):
        show(load(folder), folder, json)
