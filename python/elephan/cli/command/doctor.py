"""Says whether a kept result has numbers that a mended fault made wrong: elephan doctor results/first.

A line for each fault that touched it, or may have; exit status 1 if there is one.
"""

from pathlib import Path
from typing import Annotated

from elephan.cli.options import Json
from elephan.cli.parser import Argument
from elephan.cli.show import print_json
from elephan.experiment.doctor.doctor import examine, lines, register, said


def command(
    where: Annotated[Path, Argument(metavar="RESULT|STORE", help="A result folder, a store, or a folder with stores below it.")],
    json: Json = False,
) -> int:
    faults = register()
    found, subjects = examine(where, faults)
    if json:
        print_json({"faults": len(faults), "scenarios": len(subjects), "found": [one.as_dict() for one in found]})
    else:
        for line in lines(found, subjects):
            print(line)
        print(said(where, found, subjects, len(faults)))
    return int(bool(found))
