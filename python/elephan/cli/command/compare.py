"""Congestion controls side by side: alone, in pairs, with other round trips, joining, friendliness to Reno."""

from functools import partial
from pathlib import Path
from typing import Annotated

from elephan.base.errors import InputError
from elephan.cli.live import Live
from elephan.cli.options import FilesFrom, Json, NoReport, PythonFrom, Seed, Set, Workers, out_option, whole
from elephan.cli.parser import Argument, Option
from elephan.cli.show import show
from elephan.cli.where import Shared
from elephan.experiment.compare import panel
from elephan.result.command import command_line
from elephan.result.folder import default_folder
from elephan.scenario.settings import settings
from elephan.scenario.source import open_source


def command(
    controllers: Annotated[
        str, Argument(metavar="CONTROL,CONTROL...", help="Congestion controls: reno,cubic:preset=linux,mine.py:Mine.")
    ],
    scenario: Annotated[
        str | None, Option(metavar="NAME|FILE", help="Compare on this scenario instead of the standard panel.")
    ] = None,
    repetitions: Annotated[
        int | None,
        Option("--repetitions", "-n", parser=whole(), metavar="N", help="Runs of each variant, with paired seeds; default 5."),
    ] = None,
    quick: Annotated[bool, Option("--quick", help="Shorter runs and 3 repetitions.")] = False,
    rate: Annotated[str | None, Option(help="Rate of the bottleneck; default 50Mbps.")] = None,
    rtt: Annotated[str | None, Option(help="Round-trip time; default 40ms.")] = None,
    buffer: Annotated[str | None, Option(help='Buffer at the bottleneck, as 250KB or "1 bdp"; default 1 bdp.')] = None,
    set: Set = None,
    seed: Seed = None,
    workers: Workers = None,
    out: Annotated[Path | None, out_option("results/compare, with --scenario compare-NAME")] = None,
    python_from: PythonFrom = None,
    files_from: FilesFrom = None,
    no_report: NoReport = False,
    json: Json = False,
    *,
    where: Shared,
    live: Live,
) -> int:
    if scenario is not None and (rate or rtt or buffer or quick):
        raise InputError("--rate, --rtt, --buffer and --quick belong to the standard panel; change a scenario with -s")
    source = open_source(scenario) if scenario is not None else None
    folder = out or default_folder(f"compare-{source.stem}" if source else "compare", {"command": command_line()})
    result = out or Path("results") / (f"compare-{source.stem}" if source else "compare")
    experiment = partial(
        panel.compare,
        controllers,
        scenario=source,
        repetitions=repetitions,
        quick=quick,
        rate=rate or panel.RATE,
        rtt=rtt or panel.RTT,
        buffer=buffer or panel.BUFFER,
        set=settings(set or []),
        seed=seed,
        workers=workers,
        out=folder,
        progress=True,
        report=False,
        python_from=python_from,
        files_from=files_from,
    )
    title = f"Congestion controls compared: {controllers}" + (f" on {source.stem}" if source else "")
    with live.experiment("compare" if source is None else "sweep", title, folder, where.on) as seen:
        done = where.run(partial(experiment, seen=seen), folder, result, draw=not (no_report or json or live.live))
        if isinstance(done, int):
            return done
        show(done, folder, json, draw=not no_report)
    return 1 if done.failures else 0
