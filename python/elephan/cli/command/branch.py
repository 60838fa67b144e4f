"""What if: a run that goes on from an instant under other conditions, beside the run as it was.

Both runs share all that comes before the instant, which is simulated once. A
link's rate, delay, loss, up and queue limits can change, and a traffic entry's
congestion control. The result is a whole run: its scenario has one [[change]]
more, and its tables begin at zero.
"""

from pathlib import Path
from typing import Annotated

from elephan.base.errors import InputError
from elephan.base.quantity import show as quantity
from elephan.cli.options import FilesFrom, Json, NoReport, PythonFrom, Scenario, Seed, out_option
from elephan.cli.parser import Option
from elephan.cli.show import print_json, show
from elephan.report.screen import Screen, grid
from elephan.result import run as runs
from elephan.result.branch import branch_of
from elephan.result.folder import default_folder
from elephan.scenario import core
from elephan.scenario.settings import settings
from elephan.scenario.source import open_source
from elephan.statistic import measures


def command(
    scenario: Scenario,
    at: Annotated[str, Option("--at", metavar="TIME", help='The instant of the change: --at "30 s".')],
    set: Annotated[
        list[str] | None,
        Option("--set", "-s", metavar="KEY=VALUE", help='What changes then: -s "links.left->right.rate=5 Mbps"; may be repeated.'),
    ] = None,
    seed: Seed = None,
    out: Annotated[Path | None, out_option("results/NAME-SEED-branch")] = None,
    replace: Annotated[bool, Option("--replace", help="Replace the result of another scenario or seed in --out.")] = False,
    python_from: PythonFrom = None,
    files_from: FilesFrom = None,
    no_report: NoReport = False,
    json: Json = False,
) -> None:
    changes = settings(set or [])
    if not changes:
        raise InputError("nothing changes; say what does: -s links.left->right.rate=5Mbps")
    source = open_source(scenario).with_trust(python_from, changes, files_from=files_from).packed()
    beginning = core.Beginning(source, {}, seed)
    before = branch_of(beginning, at, {}, [changes], None, not json)
    resolved = core.resolve(source, beginning.changed(at, changes), seed)
    if out is not None and not replace:
        runs.check_same(out, resolved["toml"])
    folder = out or default_folder(f"{source.stem}-{resolved['seed']}-branch", runs.experiment(resolved["toml"]))
    after = branch_of(beginning, at, changes, [], folder, not json)
    values = [measures.usual(run, after.curated_statistics) for run in (before, after)]
    if json:
        print_json({"folder": str(folder), "at": at, "set": changes, "without": values[0], "with": values[1]})
        return
    show(after, folder, json, draw=not no_report)
    table = grid("statistic", "without the change", f"changed at {at}")
    for name in values[1]:
        unit = measures.unit_of(name)
        table.add_row(name, *(quantity(one[name], unit, 4) if name in one else "" for one in values))
    Screen().print(table)
    if after.captures:
        Screen().long("note: the scenario captures packets, so this run was simulated from its start", "yellow")
