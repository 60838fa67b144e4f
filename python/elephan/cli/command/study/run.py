"""Run a study, judge its claims, write its report.

A study of your own is a folder with study.toml, claims.toml and scenarios: elephan docs your-study.
"""

from functools import partial
from pathlib import Path
from typing import Annotated

from elephan.cli.options import FilesFrom, Json, NoReport, PythonFrom, Workers, out_option
from elephan.cli.parser import Argument, Option
from elephan.cli.show import show
from elephan.cli.where import Shared
from elephan.experiment import study
from elephan.experiment.claims import FAILS
from elephan.scenario.source import studies
from elephan.scenario.trust import trust

ALL = "all"


def command(
    name: Annotated[
        str, Argument(metavar="NAME|DIR", help="One of `elephan study list`, `all`, or the folder of a study of your own.")
    ],
    quick: Annotated[bool, Option("--quick", help="Fewer repetitions and points: a minute at most.")] = False,
    readings: Annotated[bool, Option("--readings", help="Also under each reading of what the source leaves open.")] = False,
    until: Annotated[
        int | None, Option("--until", metavar="N", help="Repeat what open claims look at, at most N repetitions.")
    ] = None,
    budget: Annotated[
        str | None, Option("--budget", metavar="TIME", help="With --until: begin no repetition after this time.")
    ] = None,
    out: Annotated[Path | None, out_option("results/NAME, with --quick NAME-quick")] = None,
    strict: Annotated[bool, Option("--strict", help="Exit with status 1 if a claim fails.")] = False,
    workers: Workers = None,
    python_from: PythonFrom = None,
    files_from: FilesFrom = None,
    no_report: NoReport = False,
    json: Json = False,
    *,
    where: Shared,
) -> int:
    names = list(studies()) if name == ALL else [name]
    agreed = trust(python_from, files_from=files_from)
    status = 0
    for one in names:
        own = study.open_study(one, agreed=agreed).name
        usual = f"{own}-quick" if quick else own
        folder = Path("results") / usual if out is None else out / usual if name == ALL else out
        experiment = partial(
            study.run_study,
            one,
            quick=quick,
            readings=readings,
            until=until,
            budget=budget,
            out=folder,
            workers=workers,
            progress=True,
            report=False,
            python_from=python_from,
            files_from=files_from,
        )
        results = where.run(experiment, folder, folder, draw=not (no_report or json))
        if isinstance(results, int):
            status = max(status, results)
            continue
        show(results, folder, json, draw=not no_report)
        refuted = strict and any(verdict.verdict == FAILS for verdict in results.verdicts)
        status = max(status, int(refuted or bool(results.failures)))
    return status
