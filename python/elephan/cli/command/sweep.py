"""Every variant that a scenario's sweep table or -s key=v1,v2 asks for, each with the same seeds."""

from functools import partial
from pathlib import Path
from typing import Annotated

from elephan.base.errors import InputError
from elephan.cli.live import Live
from elephan.cli.options import Chosen, FilesFrom, Json, NoReport, PythonFrom, Scenario, Seed, Workers, out_option, whole
from elephan.cli.parser import Option
from elephan.cli.show import show
from elephan.cli.where import Shared
from elephan.experiment import sweep as sweeps
from elephan.experiment.filter import parse, values_of
from elephan.experiment.plan import fail_of, plan
from elephan.open import narrowed
from elephan.result.command import command_line
from elephan.result.folder import check_target, default_folder
from elephan.scenario import core
from elephan.scenario.settings import axes
from elephan.scenario.source import open_source


def command(
    scenario: Scenario,
    set: Annotated[list[str] | None, Option("--set", "-s", metavar="KEY=V1,V2", help="Change or sweep a parameter.")] = None,
    repetitions: Annotated[
        int | None,
        Option("--repetitions", "-n", parser=whole(), metavar="N", help="Runs of each variant, with paired seeds."),
    ] = None,
    design: Annotated[
        str,
        Option(
            metavar="DESIGN",
            help="Which points are run: grid (every combination), zip (lists side by side), sobol:64 or lhs:64 (points drawn from "
            "lists and from ranges, -s KEY=LOW..HIGH), or a CSV file with a point a line.",
        ),
    ] = "grid",
    until: Annotated[
        str | None,
        Option(
            metavar="GOAL",
            help='Add repetitions until an interval is narrow: "goodput_bps.sum within 2 %, at most 200" (else 100).',
        ),
    ] = None,
    seed: Seed = None,
    fail: Annotated[
        list[str] | None,
        Option(
            metavar="links|busiest:N|LINK",
            help="Run each variant also with links down from the start, one by one: links (each between two switches), the N that "
            'the loads of traffic use most, or names such as "a->b" and "a->*"; may be repeated.',
        ),
    ] = None,
    statistic: Annotated[
        list[str] | None,
        Option(help="A statistic such as latency_ns.p99 or drops[at sw->h[0]].sum (elephan list statistics); may be repeated."),
    ] = None,
    workers: Workers = None,
    out: Annotated[Path | None, out_option("results/NAME-sweep")] = None,
    python_from: PythonFrom = None,
    files_from: FilesFrom = None,
    no_report: NoReport = False,
    json: Json = False,
    *,
    where: Shared,
    chosen: Chosen,
    live: Live,
) -> int:
    source = open_source(scenario)
    folder = out or default_folder(f"{source.stem}-sweep", {"command": command_line()})
    check_target(folder, "sweep")
    result = out or Path("results") / f"{source.stem}-sweep"
    if until is not None and where.on == "slurm":
        raise InputError("--until looks at all runs: run it without --on slurm, or give the array a number of repetitions, -n")
    asked = {"--filter": chosen.filter, "--baseline": chosen.baseline}
    if given := {option: condition for option, condition in asked.items() if condition is not None}:
        over = core.as_overrides(axes(set or []))
        failed = fail_of(source, over, fail or ())
        known = values_of(plan(source, over, repetitions, seed, design, failed)[0])
        for option, condition in given.items():
            parse(condition, known, option)  # a wrong one is told before the runs
    experiment = partial(
        sweeps.sweep,
        source,
        set=axes(set or []),
        repetitions=repetitions,
        design=design,
        until=until,
        seed=seed,
        statistics=statistic or (),
        workers=workers,
        out=folder,
        progress=True,
        report=False,
        python_from=python_from,
        files_from=files_from,
        fail=fail or (),
    )
    with live.experiment("sweep", source.stem, folder, where.on) as seen:
        done = where.run(partial(experiment, seen=seen), folder, result, draw=not (no_report or json or live.live))
        if isinstance(done, int):
            return done
        show(narrowed(done, chosen.filter, chosen.baseline), folder, json, draw=not no_report)
    return 1 if done.failures or done.missing else 0
