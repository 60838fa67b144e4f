"""Two results side by side; runs with the same seed are compared in pairs.

Of two conformance runs the checks whose verdict or score differs are named.
"""

from pathlib import Path
from typing import Annotated

from rich.text import Text

from elephan.base.errors import shown
from elephan.base.quantity import POINTS
from elephan.cli.options import Json
from elephan.cli.parser import Argument
from elephan.cli.show import print_json
from elephan.open.difference import compare, scenario_changes, side_by_side
from elephan.report.screen import Screen, bounds, grid
from elephan.result.folder import damaged


def command(
    a: Annotated[Path, Argument(metavar="A", help="A result folder.")],
    b: Annotated[Path, Argument(metavar="B", help="Another one.")],
    json: Json = False,
) -> None:
    with damaged(a), damaged(b):
        own = side_by_side(a, b)
        if own is not None and json:
            print_json(own.as_dict())
        elif own is not None:
            own.tables(Screen())
    if own is not None:
        return
    with damaged(a), damaged(b):
        differences, changes = compare(a, b), scenario_changes(a, b)
    if json:
        print_json([difference.as_dict() for difference in differences])
        return
    screen = Screen()
    if changes:
        screen.long(f"note: {changes}", "yellow")
    table = grid("statistic", "A", "B", "B less A (95 % interval, same seeds)")
    variant = ""  # as of a single run, which has no line of its own
    for one in differences:
        if one.variant != variant:
            variant = one.variant
            table.add_row(Text(shown(variant), "bold"), "", "", "")
        text = bounds(one.difference, POINTS if one.unit == "%" else one.unit)
        table.add_row(one.statistic, bounds(one.a, one.unit), bounds(one.b, one.unit), text)
    screen.print(table)
    if any(one.a.n != one.difference.n or one.b.n != one.difference.n for one in differences):
        screen.print("A and B are means of all their runs, the difference that of the runs whose seed both have.", style="dim")
