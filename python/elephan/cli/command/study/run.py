"""Run a study, judge its claims, write its report."""

from pathlib import Path
from typing import Annotated

import typer

from elephan.cli.options import Json, Workers, out_option
from elephan.cli.show import show
from elephan.experiment import study


def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="One of `elephan study list`.")],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repetitions and points: a minute at most.")] = False,
    out: Annotated[Path | None, out_option("results/NAME, with --quick NAME-quick")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with status 1 if a claim fails.")] = False,
    workers: Workers = None,
    json: Json = False,
) -> int:
    folder = out or Path("results") / (f"{name}-quick" if quick else name)
    results = study.run_study(name, quick=quick, out=folder, workers=workers, progress=True)
    show(results, folder, json)
    refuted = strict and any(verdict.verdict == "fails" for verdict in results.verdicts)
    return 1 if refuted or results.failures else 0
