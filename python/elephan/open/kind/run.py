"""A single run."""

from pathlib import Path

from elephan.base.kinds import Compared, Kind, later
from elephan.base.quantity import counted, show
from elephan.report.figure import run_figures
from elephan.report.figure.terminal import picture
from elephan.report.screen import Screen, grid
from elephan.report.words.answer import answer
from elephan.report.words.warnings import warnings
from elephan.result.run import Run, load_run
from elephan.statistic import measures
from elephan.table.classes import RUN
from elephan.table.network import directions
from elephan.table.rows import texts

_PAGE = "elephan.report.page.run_page"
_WIDTH_MAX = 100  # of a picture
_LINKS_MIN, _LINKS_SHOWN = 8, 5  # links between switches: a network with fewer has no table of the busiest


def tables(run: Run, screen: Screen) -> None:
    """Prints the picture of a run in characters, and its statistics."""
    for line in picture(run, min(screen.width, _WIDTH_MAX)):
        screen.print(line, style="cyan" if line.startswith("  ") else "dim")
    table = grid("statistic", "value", "of", words=("of",))
    for name, value in measures.usual(run, run.curated_statistics).items():
        of = ", ".join(part for part in (measures.place_of(run, name), measures.time_of(run, name)) if part)
        table.add_row(name, show(value, measures.unit_of(name), 4), of)
    screen.print(table)
    _links(run, screen)
    hops = run.manifest["packet_hops"]
    stacks = ", ".join(sorted({stack for stack in texts(run.flows, "stack") if stack}))
    said = f"; TCP stack {stacks}" if stacks else ""
    shared = f"; those from {show(run.manifest['shared_s'], 's')} on" if "shared_s" in run.manifest else ""
    screen.print(f"{counted(hops, 'packet-hop')}{shared} in {show(run.manifest['wall_s'], 's')}{said}", style="dim")
    if files := run.captures:
        screen.long(f"captures: {files[0] if len(files) == 1 else f'{len(files)} files in {files[0].parent}'}")


def _links(run: Run, screen: Screen) -> None:
    """Prints the busiest links of a larger network of switches."""
    found = directions(run)
    if len(found) < 2 * _LINKS_MIN:
        return
    table = grid("busiest links", "busy", "of", "drops", "mean queue")
    for one in sorted(found, key=lambda one: -one.utilisation)[:_LINKS_SHOWN]:
        busy, rate = show(one.utilisation, "%", 3), show(one.rate_bps, "bps")
        table.add_row(f"{one.sender} → {one.receiver}", busy, rate, show(one.drops, "1", 9), show(one.queue_bytes, "bytes", 3))
    screen.print(table)


def compared(where: Path) -> Compared:
    """Returns the usual statistics of a run as those of its only variant."""
    run = load_run(where)
    return Compared({"": {name: {run.seed: value} for name, value in measures.usual(run).items()}})


KIND = Kind(
    holds=(
        *("scenario.toml", "summary.json", "provenance.json", "captures/*.pcapng"),
        *(f"{name}.parquet" for name in RUN),
    ),
    load=load_run,
    title=lambda run: f"{run.title}  (seed {run.seed})",
    answer=answer,
    warnings=warnings,
    tables=tables,
    page=later(_PAGE, "page"),
    notebook=later(_PAGE, "notebook"),
    compared=compared,
    figures=run_figures,
)
