"""The studies that there are."""

from elephan.cli.command.list import studies
from elephan.cli.options import Json
from elephan.cli.show import listing


def command(json: Json = False) -> None:
    listing(studies(), json)
