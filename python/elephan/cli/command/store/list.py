"""The stores below a folder, with how many trials they have."""

from pathlib import Path
from typing import Annotated

from elephan.cli.options import Json
from elephan.cli.parser import Argument
from elephan.cli.show import listing
from elephan.experiment.store.store import Store, stores


def command(
    folder: Annotated[Path, Argument(metavar="DIR", help="Where to look; default: results.")] = Path("results"),
    json: Json = False,
) -> None:
    listing([(str(place), Store.at(place).summary().words) for place in stores(folder)], json)
