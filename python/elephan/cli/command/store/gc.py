"""Puts the parts of a store together, and removes what was set aside and trials of other builds of elephan."""

from pathlib import Path
from typing import Annotated

from elephan.cli.parser import Argument, Option
from elephan.experiment.store.store import Store


def command(
    store: Annotated[Path, Argument(metavar="STORE", help="The folder of a store.")],
    other_builds: Annotated[bool, Option("--other-builds", help="Remove trials of other builds of elephan too.")] = False,
) -> None:
    Store.at(store)  # is it one?
    with Store.to(store) as opened:
        print(f"{store}: {opened.collect(other_builds)}")
