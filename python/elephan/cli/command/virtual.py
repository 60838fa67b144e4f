"""Real programs over the network of a scenario, in virtual time.

The file has a coroutine function for each host: one that is named as the host or as its group, or else main. A function that takes
an argument gets the name of its host. The programs use asyncio, and libraries on it, as on the real network; hosts find one
another by name. The run ends when all programs have returned but those that only wait for connections.
"""

from pathlib import Path
from typing import Annotated

from elephan.base.errors import ElephanError, brief
from elephan.base.signals import from_outside
from elephan.cli import state
from elephan.cli.options import FilesFrom, Json, NoReport, PythonFrom, Seed, Set, Verbose, out_option
from elephan.cli.parser import Argument, Option
from elephan.cli.show import show
from elephan.result.folder import default_folder
from elephan.result.run import experiment
from elephan.scenario import core
from elephan.scenario.settings import settings
from elephan.scenario.source import open_source
from elephan.virtual import app, run, traffic


def command(
    program: Annotated[str, Argument(metavar="FILE", help="A file of Python with the programs.")],
    scenario: Annotated[str, Option(metavar="FILE|NAME", help="The network: a scenario file, or a name of the library.")],
    set: Set = None,
    seed: Seed = None,
    out: Annotated[Path | None, out_option("results/NAME-SEED")] = None,
    pcap: Annotated[
        bool, Option("--pcap", help="Capture packets (pcapng): at every host, or where the scenario's record.captures says.")
    ] = False,
    executor_time: Annotated[
        str, Option("--executor-time", metavar="TIME", help="How long each function takes that a program gives to an executor.")
    ] = "0 s",
    replace: Annotated[bool, Option("--replace", help="Replace the result of another scenario or seed in --out.")] = False,
    python_from: PythonFrom = None,
    files_from: FilesFrom = None,
    no_report: NoReport = False,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    state.verbose = verbose
    changes = settings(set or [])
    source = open_source(scenario).with_trust(python_from, changes, files_from=files_from)
    programs = app.programs(app.load(program), traffic.groups_of(source, changes, seed), program)
    joined = traffic.with_traffic(source, changes, seed, list(programs))
    resolved = core.resolve(joined, changes, seed)
    folder = out or default_folder(f"{Path(program).stem}-{resolved['seed']}", experiment(resolved["toml"]))
    try:
        done = run(
            joined,
            programs,
            seed=seed,
            set=changes,
            out=folder,
            report=False,
            pcap=pcap,
            replace=replace,
            executor_time=executor_time,
            python_from=python_from,
            files_from=files_from,
        )
    except Exception as error:
        if from_outside(error) or isinstance(error, ElephanError):
            raise
        raise ElephanError(app.told(error)) from error
    if not json:
        for host, value in done.returned.items():
            print(f"{host} returned {brief(value)}")
    show(done, folder, json, draw=not no_report)
