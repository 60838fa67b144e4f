"""What a program in GOAL does: its ranks, messages and bytes, and how long it takes alone in a network."""

from pathlib import Path
from typing import Annotated

from elephan.base.errors import InputError
from elephan.base.quantity import bits_per_second, seconds, show, size_bytes
from elephan.cli.options import Json
from elephan.cli.parser import Argument, Option
from elephan.cli.show import print_json
from elephan.report.screen import Screen, grid
from elephan.scenario.source import read_text
from elephan.step import ranks


def command(
    file: Annotated[Path, Argument(metavar="FILE", help="A text in GOAL.")],
    rate: Annotated[str, Option(help="Rate of each interface.")] = "100 Gbps",
    latency: Annotated[str, Option(help="From a rank to another, beside the bytes.")] = "2 us",
    eager: Annotated[str, Option(help="Largest message whose send is done at once.")] = f"{ranks.EAGER_BYTES} B",
    json: Json = False,
) -> None:
    text, most = read_text(file), size_bytes(eager)
    try:
        program = ranks.new(text, most)
    except InputError as error:
        raise InputError(f"{file}:{error}") from None
    try:
        ends = program.ideal(bits_per_second(rate), seconds(latency))
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    found = {
        "ranks": program.count,
        "operations": program.operations,
        "pairs": len(program.pairs),
        "bytes": program.bytes,
        "ideal_s": max(ends),
        "first_rank_done_s": min(ends),
    }
    if json:
        print_json(found)
        return
    screen = Screen()
    screen.print(f"{file}: {program.count} ranks", style="bold")
    table = grid("", "")
    table.add_row("operations", show(program.operations, "1", 9))
    table.add_row("pairs of ranks that talk", show(len(program.pairs), "1", 9))
    table.add_row("payload", show(program.bytes, "bytes"))
    table.add_row(f"alone in a network, at {rate} and {latency}", show(max(ends) * 1e9, "ns"))
    screen.print(table)
