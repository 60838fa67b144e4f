"""Whether every file of a store is whole; exit status 1 if one is not."""

from pathlib import Path
from typing import Annotated

from elephan.cli.parser import Argument
from elephan.experiment.store.store import Store


def command(store: Annotated[Path, Argument(metavar="STORE", help="The folder of a store.")]) -> int:
    found = Store.at(store).check()
    for line in found:
        print(line)
    print(f"{store}: {'damaged' if found else 'whole'}")
    return 1 if found else 0
