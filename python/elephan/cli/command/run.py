"""One run: a summary on the terminal, tables and report in a folder.

The tables are Parquet files; elephan schema --tables says what is in them. With PAUSE or PFC the tables pauses and holds
say which port was paused when and by whom, and whose packets waited; in Python run.spreading() makes trees of them.
"""

from pathlib import Path
from typing import Annotated, Any

from elephan.base.errors import InputError
from elephan.cli import state
from elephan.cli.live import Live
from elephan.cli.options import FilesFrom, Json, NoReport, PythonFrom, Scenario, Seed, Set, Verbose, out_option
from elephan.cli.parser import Option
from elephan.cli.show import print_json, show
from elephan.experiment.job import Job
from elephan.experiment.trials import Variant
from elephan.report.screen import Screen
from elephan.report.words.ways import ways_table
from elephan.result import run as runs
from elephan.result.folder import default_folder
from elephan.scenario import core
from elephan.scenario.settings import hint_of_sweep, settings
from elephan.scenario.source import open_source


def command(
    scenario: Scenario,
    set: Set = None,
    seed: Seed = None,
    out: Annotated[Path | None, out_option("results/NAME-SEED")] = None,
    pcap: Annotated[
        bool, Option("--pcap", help="Capture packets (pcapng): at every host, or where the scenario's record.captures says.")
    ] = False,
    warmup_check: Annotated[
        bool, Option("--warmup-check", help="Say how long the run warms up, by MSER-5, and whether the scenario leaves that out.")
    ] = False,
    ports: Annotated[
        bool, Option("--ports", help="Say which way packets take through each port, and why a port needs a queue; run nothing.")
    ] = False,
    replace: Annotated[bool, Option("--replace", help="Replace the result of another scenario or seed in --out.")] = False,
    python_from: PythonFrom = None,
    files_from: FilesFrom = None,
    no_report: NoReport = False,
    json: Json = False,
    verbose: Verbose = False,
    *,
    live: Live,
) -> None:
    state.verbose = verbose
    changes = settings(set or [])
    source = open_source(scenario).with_trust(python_from, changes, files_from=files_from)
    try:
        resolved = core.resolve(source, changes, seed)
    except InputError as error:
        raise InputError(f"{error}{hint_of_sweep(set or [], str(error))}") from error.__cause__
    run_with = runs.capturing(source, changes, seed) if pcap else changes
    if pcap:
        resolved = core.resolve(source, run_with, seed)
    if ports:
        _show_ways(core.port_ways(source, run_with, seed), scenario if resolved.get("has_sweep") else None, json)
        return
    folder = out or default_folder(f"{source.stem}-{resolved['seed']}", runs.experiment(resolved["toml"]))
    with live.run(Job(source, changes, resolved["seed"], Variant(""))):
        done = runs.run(
            source,
            seed=seed,
            set=changes,
            out=folder,
            progress=True,
            report=False,
            pcap=pcap,
            replace=replace,
            python_from=python_from,
            files_from=files_from,
        )
        _show(done, scenario, folder, warmup_check, bool(resolved.get("has_sweep")), json, no_report)


def _show_ways(ways: list[dict[str, Any]], swept: str | None, json: bool) -> None:
    if json:
        print_json(ways)
        return
    if swept:
        _tell_of_sweep(swept)
    Screen().print(ways_table(ways))


def _tell_of_sweep(scenario: str) -> None:
    print(f"The scenario has a [sweep], which a single run ignores: elephan sweep {scenario}")


def _show(done: runs.Run, scenario: str, folder: Path, warmup_check: bool, has_sweep: bool, json: bool, no_report: bool) -> None:
    if has_sweep and not json:
        _tell_of_sweep(scenario)
    if warmup_check and not json:
        from elephan.report.words.view import View
        from elephan.report.words.warmup import warmup_words

        print(warmup_words(View(done)))
    show(done, folder, json, draw=not no_report)
