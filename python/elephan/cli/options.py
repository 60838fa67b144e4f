"""The options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from elephan.cli.parser import Argument, Option


def whole(least: float = -math.inf, most: float = math.inf) -> Callable[[str], int]:
    """Reads a whole number; the error tells the value and what is valid."""
    valid = "a whole number" if math.isinf(least) else f"a whole number from {least} to {most}"

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise ValueError(f"{text} is not {valid}") from None
        if not least <= number <= most:
            raise ValueError(f"{text} is not {valid}")
        return number

    return read


def out_option(default: str) -> Any:
    """The option `--out` of a command, which tells the folder that it takes by itself."""
    return Option(metavar="DIR", help=f"Folder for tables and report; default: {default}.")


Scenario = Annotated[str, Argument(metavar="FILE|NAME", help="A scenario file, or one of `elephan list scenarios`.")]
Set = Annotated[
    list[str] | None,
    Option("--set", "-s", metavar="KEY=VALUE", help='Change a parameter: -s switches.sw.memory="96 KiB"; may be repeated.'),
]
Seed = Annotated[
    int | None, Option(parser=whole(0, 2**63 - 1), metavar="N", help="Seed of all random draws; default: the scenario's.")
]
PythonFrom = Annotated[
    list[str] | None,
    Option(
        "--python-from",
        metavar="MODULE|PATH",
        help="Let congestion controls of a module, file or folder run, besides those beside the scenario; none: only what the "
        "command line itself names; may be repeated.",
    ),
]
FilesFrom = Annotated[
    list[str] | None,
    Option(
        "--files-from",
        metavar="PATH",
        help="Let the scenario read a file, or all files of a folder, besides those in its own folder; none: only what the "
        "command line itself names; may be repeated.",
    ),
]
Json = Annotated[bool, Option("--json", help="Print JSON for machines.")]
NoReport = Annotated[bool, Option("--no-report", help="Draw no report, as with --json; elephan report DIR draws it later.")]
Workers = Annotated[int | None, Option(parser=whole(1, 1024), metavar="N", help="Runs at the same time; default: one per core.")]


@dataclass(frozen=True)
class Chosen:
    """What a report of a sweep shows."""

    filter: Annotated[
        str | None,
        Option(
            "--filter", metavar="EXPR", help='Show only some variants of a sweep: "limit >= 50 kB and queue == red", "seed <= 3".'
        ),
    ] = None
    baseline: Annotated[
        str | None,
        Option(
            "--baseline",
            metavar="EXPR",
            help='Compare the variants of a sweep with this one, or with those that are alike but for it: "limit == 100 p".',
        ),
    ] = None


Verbose = Annotated[
    bool,
    Option("--verbose", "-v", help="With the traceback of a congestion control in Python that fails."),
]
