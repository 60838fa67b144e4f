"""Print the JSON Schema of the scenario language."""

import json
from typing import Annotated

import typer

from elephan.scenario import core


def command(
    tables: Annotated[bool, typer.Option("--tables", help="The data dictionary of the result tables instead.")] = False,
) -> None:
    if tables:
        typer.echo(core.call("data_dictionary"))
    else:
        typer.echo(json.dumps(json.loads(core.call("schema")), indent=2))
