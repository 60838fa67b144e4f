"""A congestion control put through the checks of RFC 9743: a report, JSON and JUnit for CI.

CONTROL is a built-in name (cubic, cubic:preset=linux), a class (mine.py:Mine,
mine.py:Mine:share=0.1), a program (./mine) or a table ({ kind = "cubic", beta =
0.8 }). reno, cubic and bbr run in the same experiments. Of each check that
fails, stories/ has the smallest scenario that fails. The exit status is 1 if a
check fails.
"""

from functools import partial
from pathlib import Path
from typing import Annotated

from elephan.cli.options import Json, NoReport, PythonFrom, Seed, Workers, out_option, whole
from elephan.cli.parser import Argument, Option
from elephan.cli.show import show
from elephan.cli.where import Shared
from elephan.experiment.conformance import conformance
from elephan.experiment.conformance.junit import check_junit
from elephan.result.folder import default_folder
from elephan.scenario.congestion import read_controllers


def command(
    control: Annotated[str, Argument(metavar="CONTROL", help="The congestion control: cubic:preset=linux, mine.py:Mine.")],
    like: Annotated[
        str | None, Option(metavar="NAME", help="The built-in control that it implements: more checks compare the two.")
    ] = None,
    checks: Annotated[
        Path | None, Option(metavar="FILE", help="Checks of one's own: they are added, or replace those with the same id.")
    ] = None,
    only: Annotated[list[str] | None, Option(metavar="ID", help="Only this check; may be repeated.")] = None,
    quick: Annotated[bool, Option("--quick", help="3 repetitions of each check, even if the verdict is not sure then.")] = False,
    fail_fast: Annotated[bool, Option("--fail-fast", help="End at the first check that fails.")] = False,
    no_stories: Annotated[bool, Option("--no-stories", help="Do not look for the smallest failing stories.")] = False,
    repetitions: Annotated[
        int | None,
        Option(
            "--repetitions",
            "-n",
            parser=whole(),
            metavar="N",
            help="At most so many runs of a check while its verdict is not sure; default 9.",
        ),
    ] = None,
    seed: Seed = None,
    workers: Workers = None,
    junit: Annotated[Path | None, Option(metavar="FILE", help="Write JUnit XML, which CI systems read.")] = None,
    out: Annotated[Path | None, out_option("results/conformance-NAME")] = None,
    python_from: PythonFrom = None,
    no_report: NoReport = False,
    json: Json = False,
    *,
    where: Shared,
) -> int:
    if junit is not None:
        check_junit(junit)
    (controller,) = read_controllers([control], python_from)
    name = f"conformance-{''.join(letter if letter.isalnum() else '-' for letter in controller.label)}"
    folder = out or default_folder(name, {"control": control})
    experiment = partial(
        conformance.conformance,
        control,
        like=like,
        checks=checks,
        only=only or (),
        quick=quick,
        fail_fast=fail_fast,
        stories=not no_stories,
        repetitions=repetitions,
        seed=seed,
        workers=workers,
        out=folder,
        progress=True,
        report=False,
        python_from=python_from,
    )
    done = where.run(experiment, folder, out or Path("results") / name, draw=not (no_report or json))
    if isinstance(done, int):
        return done
    if junit is not None:
        done.junit(junit)
    show(done, folder, json, draw=not no_report)
    return 0 if done.passed else 1
