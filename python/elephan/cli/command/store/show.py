"""The experiments in a store: variants, seeds, failures, and how long their runs took."""

from pathlib import Path
from typing import Annotated

from elephan.base.progress import note
from elephan.base.quantity import show
from elephan.cli.options import Json
from elephan.cli.parser import Argument
from elephan.cli.show import print_json
from elephan.experiment.store.store import Store
from elephan.report.screen import Screen, grid


def command(
    store: Annotated[Path, Argument(metavar="STORE", help="The folder of a store, such as results/NAME.trials.")],
    json: Json = False,
) -> None:
    opened = Store.at(store)
    found = opened.summary()
    for line in opened.notes:
        note(line)
    if json:
        print_json(found.as_dict())
        return
    screen, table = Screen(), grid("experiment", "variants", "trials", "failed", "wall time")
    for name, one in found.experiments.items():
        table.add_row(name, str(one["variants"]), str(one["trials"]), str(one["failed"]), show(one["wall_s"], "s"))
    screen.print(table)
    screen.print(found.words, style="dim")
