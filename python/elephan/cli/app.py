"""The commands of `elephan` and their options. What they print is in `elephan.cli.show`."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from elephan.cli import questions
from elephan.cli.options import Json, PythonFrom, Scenario, Seed, Set, Verbose, Workers, out_option, whole
from elephan.cli.packetdrill import packetdrill

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="elephan: a laboratory for the performance of TCP.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
study_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Published experiments, made executable.")
app.add_typer(study_app, name="study")
measure_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Real hardware, as profiles for the models.")
app.add_typer(measure_app, name="measure")


def _version(asked: bool) -> None:
    if asked:
        from elephan.scenario import core

        typer.echo(f"elephan {core.call('version')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """elephan: a laboratory for the performance of TCP."""


@app.command()
def run(
    scenario: Scenario,
    set: Set = None,
    seed: Seed = None,
    out: Annotated[Path | None, out_option("results/NAME-SEED")] = None,
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Capture packets (pcapng): at every host, or where the scenario's record.captures says.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the result of another scenario or seed in --out.")] = False,
    python_from: PythonFrom = None,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """One run: a summary on the terminal, tables and report in a folder.

    The tables are Parquet files; elephan schema --tables says what is in them. With PAUSE or PFC the tables pauses and holds
    say which port was paused when and by whom, and whose packets waited; in Python run.spreading() makes trees of them.
    """
    from elephan.base.errors import InputError
    from elephan.cli import show
    from elephan.result import run as runs
    from elephan.result.folder import default_folder
    from elephan.scenario import core
    from elephan.scenario.settings import hint_of_sweep, settings
    from elephan.scenario.source import open_source

    changes = settings(set or [])
    source = open_source(scenario).with_trust(python_from, changes)
    try:
        resolved = core.resolve(source, changes, seed)
    except InputError as error:
        raise InputError(f"{error}{hint_of_sweep(set or [], str(error))}") from error.__cause__
    if pcap:
        resolved = core.resolve(source, runs.capturing(source, changes, seed), seed)
    folder = out or default_folder(f"{source.stem}-{resolved['seed']}", runs.experiment(resolved["toml"]))
    done = runs.run(source, seed=seed, set=changes, out=folder, progress=True, pcap=pcap, replace=replace, python_from=python_from)
    if json:
        show.run_json(done, folder)
    else:
        show.run(done, folder, str(scenario), ignored_sweep=bool(resolved.get("has_sweep")))


@app.command()
def sweep(
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
    json: Json = False,
) -> int:
    """Every variant that a scenario's sweep table or -s key=v1,v2 asks for, each with the same seeds."""
    from elephan.cli import show
    from elephan.experiment import sweep as sweeps
    from elephan.result.folder import check_target, command_line, default_folder
    from elephan.scenario.settings import axes
    from elephan.scenario.source import open_source

    source = open_source(scenario)
    folder = out or default_folder(f"{source.stem}-sweep", {"command": command_line()})
    check_target(folder, "sweep")
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
    )
    if json:
        show.sweep_json(done, folder)
    else:
        show.sweep(done, folder)
    return 1 if done.failures or done.missing else 0


app.command()(questions.compare)
app.command()(questions.path)
app.command()(questions.analyze)
app.command()(packetdrill)


@study_app.command("list")
def study_list(json: Json = False) -> None:
    """The studies that there are."""
    from elephan.cli import show
    from elephan.experiment import study
    from elephan.scenario.source import studies

    show.listing([(name, study.open_study(name).title) for name in studies()], json)


@study_app.command("run")
def study_run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="One of `elephan study list`.")],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repetitions and points: a minute at most.")] = False,
    out: Annotated[Path | None, out_option("results/NAME, with --quick NAME-quick")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with status 1 if a claim fails.")] = False,
    workers: Workers = None,
    json: Json = False,
) -> int:
    """Run a study, judge its claims, write its report."""
    from elephan.cli import show
    from elephan.experiment import study

    folder = out or Path("results") / (f"{name}-quick" if quick else name)
    results, verdicts = study.run_study(name, quick=quick, out=folder, workers=workers, progress=True)
    if json:
        show.study_json(results, verdicts, folder)
    else:
        show.study(results, verdicts, folder)
    refuted = strict and any(verdict.verdict == "fails" for verdict in verdicts)
    return 1 if refuted or results.facts["failures"] else 0


@measure_app.callback()
def measure_root() -> None:
    """Real hardware, as profiles for the models."""


measure_app.command("disk")(questions.measure_disk)


@app.command("list")
def list_things(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="KIND",
            help="scenarios, studies, congestion-controls, stacks, queues, traffic, disks, ...; all kinds if left out",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """What there is, with one line each; without KIND, of what there are lists."""
    from elephan.cli import show
    from elephan.cli.listing import rows

    show.listing(rows(kind), json)


@app.command()
def report(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A result folder.")], json: Json = False) -> None:
    """Draw the report of a result again."""
    from elephan.base.errors import shown
    from elephan.cli import show
    from elephan.open import redraw

    file = redraw(folder)
    if json:
        show.print_json({"folder": str(folder), "report": str(file)})
    else:
        typer.echo(shown(str(file)))


@app.command()
def diff(
    a: Annotated[Path, typer.Argument(metavar="A", help="A result folder.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Another one.")],
    json: Json = False,
) -> None:
    """Two results side by side; runs with the same seed are compared in pairs."""
    from elephan.cli import show
    from elephan.open import compare, scenario_changes

    show.diff(compare(a, b), scenario_changes(a, b), json)


@app.command()
def schema(
    tables: Annotated[bool, typer.Option("--tables", help="The data dictionary of the result tables instead.")] = False,
) -> None:
    """Print the JSON Schema of the scenario language."""
    from elephan.scenario import core

    if tables:
        typer.echo(core.call("data_dictionary"))
    else:
        typer.echo(json_module.dumps(json_module.loads(core.call("schema")), indent=2))


@app.command()
def bench(
    workloads: Annotated[
        list[str] | None, typer.Argument(metavar="[W1 W3 W4 ...]", help="Workloads (elephan list workloads); default: W1 to W4.")
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option("--repetitions", "-n", parser=whole(1, 1000), metavar="N", help="Runs of each; default 5.")
    ] = None,
    against: Annotated[Path | None, typer.Option(metavar="DIR", help="A folder of ns-3 programs to build and run beside.")] = None,
    json: Json = False,
) -> int:
    """The standard workloads: wall time, memory, and what was simulated."""
    from elephan.base.errors import shown
    from elephan.bench import run_bench
    from elephan.cli import show

    rows, broken = run_bench(workloads or [], repetitions, against)
    if json:
        show.print_json(rows)
    else:
        show.bench(rows)
    for line in broken:
        typer.echo(f"elephan: {shown(line)}", err=True)
    return 1 if broken else 0
