"""The studies that there are."""

from collections import Counter

from elephan.cli.command.list import studies
from elephan.cli.options import Json
from elephan.cli.show import print_json
from elephan.experiment.claims import FAILS, HOLDS
from elephan.experiment.studyfile import kept_verdicts
from elephan.report.screen import Screen, grid
from elephan.scenario import source


def command(json: Json = False) -> None:
    folders = source.studies()
    rows = [(name, str(title), Counter(kept_verdicts(folders[name]).values())) for name, title in studies()]
    if json:
        print_json([{"name": name, "about": title, "verdicts": dict(found)} for name, title, found in rows])
        return
    table = grid("study", "about", "verdicts of its claims", words=("about", "verdicts of its claims"))
    for name, title, found in rows:
        rest = found.total() - found[HOLDS] - found[FAILS]
        table.add_row(name, title, f"{found[HOLDS]} hold, {found[FAILS]} fail, {rest} open" if found else "not run in full yet")
    Screen().print(table)
