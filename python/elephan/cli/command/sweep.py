"""Every variant that a scenario's sweep table or -s key=v1,v2 asks for, each with the same seeds."""

from pathlib import Path
from typing import Annotated

import typer

from elephan.cli.options import Json, PythonFrom, Scenario, Seed, Workers, out_option, whole
from elephan.cli.show import show
from elephan.cli.where import Again, Elements, On, Shard, Slurm, Store, Wait, Why, place, submitted
from elephan.experiment import sweep as sweeps
from elephan.experiment.place.slurm import ELEMENTS
from elephan.experiment.pool import store_beside
from elephan.result.folder import check_target, command_line, default_folder
from elephan.scenario.settings import axes
from elephan.scenario.source import open_source


def command(
    scenario: Scenario,
    set: Annotated[list[str] | None, typer.Option("--set", "-s", metavar="KEY=V1,V2", help="Change or sweep a parameter.")] = None,
    repetitions: Annotated[
        int | None,
        typer.Option("--repetitions", "-n", parser=whole(), metavar="N", help="Runs of each variant, with paired seeds."),
    ] = None,
    seed: Seed = None,
    statistic: Annotated[
        list[str] | None,
        typer.Option(
            help="A statistic such as latency_ns.p99 or drops[at sw->h[0]].sum (elephan list statistics); may be repeated."
        ),
    ] = None,
    workers: Workers = None,
    out: Annotated[Path | None, out_option("results/NAME-sweep")] = None,
    python_from: PythonFrom = None,
    store: Store = None,
    again: Again = False,
    why: Why = False,
    on: On = "threads",
    shard: Shard = "",
    slurm: Slurm = None,
    elements: Elements = ELEMENTS,
    wait: Wait = False,
    json: Json = False,
) -> int:
    source = open_source(scenario)
    folder = out or default_folder(f"{source.stem}-sweep", {"command": command_line()})
    check_target(folder, "sweep")
    kept = store or store_beside(out or Path("results") / f"{source.stem}-sweep")
    if submitted(on, folder, kept, slurm, elements, wait):
        return 0
    done = sweeps.sweep(
        source,
        set=axes(set or []),
        repetitions=repetitions,
        seed=seed,
        statistics=statistic or (),
        workers=workers,
        out=folder,
        progress=True,
        python_from=python_from,
        store=kept,
        again=again,
        on=place(on, shard),
        why=why,
    )
    show(done, folder, json)
    return 1 if done.failures or done.missing else 0
