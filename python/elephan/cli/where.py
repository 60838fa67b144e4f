"""The options of commands that do many runs: where they run, and where they are kept."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from elephan.base.errors import InputError
from elephan.cli.options import whole
from elephan.cli.parser import Option

Store = Annotated[
    Path | None, Option("--store", metavar="DIR", help="Keep runs in this folder; default: that of the result, with .trials.")
]
Again = Annotated[bool, Option("--again", help="Run what is kept once more.")]
Why = Annotated[bool, Option("--why", help="Say why runs are not taken from the store.")]
On = Annotated[
    str,
    Option(
        "--on",
        metavar="PLACE",
        help="Where runs run: threads; dask, a cluster of this machine; tcp://HOST:8786, a Dask scheduler; slurm, an array job; "
        "kept, nothing runs and the result is of what is kept.",
    ),
]
Shard = Annotated[str, Option("--shard", metavar="I/N", help="Do only share I of N (from 0), for other schedulers.")]
Slurm = Annotated[
    list[str] | None,
    Option("--slurm", metavar="KEY=VALUE", help="For the jobs of --on slurm: partition, account, time, mem ...; may be repeated."),
]
Elements = Annotated[int, Option("--elements", parser=whole(1), metavar="N", help="Elements of the array of --on slurm.")]
Wait = Annotated[bool, Option("--wait", help="With --on slurm: wait for the report.")]

_WITH_VALUE = ("--on", "--slurm", "--elements", "--store", "--workers", "--out")
_FLAGS = ("--wait", "--why")


def place(on: str, shard: str) -> str:
    """The place that `--on` or `--shard` names."""
    if shard and on != "threads":
        raise InputError("--shard runs a share of the trials here; it goes without --on")
    return f"shard {shard}" if shard else on


def submitted(on: str, out: Path, store: Path, slurm: Any, elements: int, wait: bool) -> bool:
    """Submits this command as a SLURM array if `--on slurm` asks for it, and says so; returns whether it did."""
    if on != "slurm":
        if slurm or wait:
            raise InputError("--slurm and --wait go with --on slurm")
        return False
    from elephan.experiment.place import slurm as jobs

    options = jobs.check(slurm or [], elements)
    command = [*words_without(sys.argv[1:]), "--out", str(out.absolute())]
    print(jobs.write(command, store.absolute(), options, elements).submit(wait))
    return True


def words_without(words: Sequence[str]) -> list[str]:
    """The words of a command line without the options of this file that differ from job to job."""
    found: list[str] = []
    left = iter(words)
    for word in left:
        if word in _WITH_VALUE:
            next(left, None)
        elif word not in _FLAGS and not word.startswith(tuple(f"{option}=" for option in _WITH_VALUE)):
            found.append(word)
    return found
