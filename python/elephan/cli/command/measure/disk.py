"""A real disk: its rates of writing, and of reading with several read-ahead windows, as a profile for a scenario."""

from pathlib import Path
from typing import Annotated

from elephan.base.quantity import show
from elephan.capture import fio as diskmeasure
from elephan.cli.options import Json, whole
from elephan.cli.parser import Argument, Option
from elephan.cli.show import print_json
from elephan.report.screen import Screen, grid


def command(
    path: Annotated[Path, Argument(metavar="PATH", help="A folder on the disk; a file is written there, read and removed.")],
    size: Annotated[str, Option(help="Size of the file; take more than the disk's own cache holds.")] = "1 GiB",
    block: Annotated[str, Option(help="Bytes of a request.")] = "1 MiB",
    read_ahead: Annotated[str | None, Option(metavar="SIZE,SIZE", help="Read-ahead windows; default: 32 KiB to 4 MiB.")] = None,
    repetitions: Annotated[
        int,
        Option("--repetitions", "-n", parser=whole(), metavar="N", help="Measurements of each point; the median counts."),
    ] = 1,
    out: Annotated[Path, Option(metavar="FILE", help="The profile.")] = Path("disk.toml"),
    json: Json = False,
) -> None:
    windows = [part.strip() for part in read_ahead.split(",")] if read_ahead is not None else None
    with diskmeasure.profile_file(out) as partial:
        done = diskmeasure.measure(path, size=size, block=block, windows=windows, repetitions=repetitions, progress=True)
        diskmeasure.write_profile(done, partial, out)
    if json:
        print_json(done.as_dict())
        return
    screen = Screen()
    where = f"{done.path} on {done.device}" if done.device else done.path
    screen.print(f"{where}: writes {show(done.write, 'bps')}", style="bold")
    table = grid("read-ahead", "reads")
    for point in done.points:
        mark = "  (as it is set)" if point.read_ahead == done.read_ahead else ""
        table.add_row(f"{point.read_ahead // 1024} KiB{mark}", show(point.rate, "bps"))
    screen.print(table)
    screen.print(done.tool, style="dim")
    screen.long(f'profile: {out}; in a scenario: disk = {{ profile = "{out}" }}')
