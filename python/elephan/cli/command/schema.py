"""Print the JSON Schema of the scenario language."""

import json
from typing import Annotated

from elephan.cli.parser import Option
from elephan.scenario import core


def command(
    tables: Annotated[bool, Option("--tables", help="The data dictionary of the result tables instead.")] = False,
) -> None:
    if tables:
        print(core.call("data_dictionary"))
    else:
        print(json.dumps(json.loads(core.call("schema")), indent=2))
