"""A study with the verdicts on its claims."""

from pathlib import Path

from rich.text import Text

from elephan.base.kinds import Compared, Kind
from elephan.base.quantity import show
from elephan.experiment.study import Results, load_study
from elephan.open.difference import of_runs
from elephan.open.kind import run
from elephan.report.page.study_page import answer, idle, notebook, of_holm, page, tally
from elephan.report.screen import Screen, grid
from elephan.result.folder import DRAWN, read_manifest

_COLOURS = {"holds": "green", "fails": "red", "inconclusive": "yellow", "not run": "dim"}


def tables(results: Results, screen: Screen) -> None:
    """Prints the verdict of every claim."""
    if not results.study.claims:
        screen.print(f"The study has no claims. {show(results.facts['wall_s'], 's')}.", style="dim")
        return
    table = grid("claim", "verdict", "observed (95 % interval), expected", words=("verdict", "observed (95 % interval), expected"))
    for verdict in (one for one in results.verdicts if one.run):
        lines = [f"{f.part.subject}: {f.text}, expected {f.part.expected}" for f in verdict.run]
        if verdict.holm != verdict.verdict:
            lines.append(f"after Holm's correction: {verdict.holm} (p = {verdict.p_holm:.2g})")
        if (depends := results.dependences.get(verdict.claim.id)) is not None:
            lines.append("; ".join(filter(None, (f"readings: {depends.word}", *depends.turns))))
        whose = "" if verdict.claim.whose == "source" or not verdict.claim.derived else "\n(derived)"
        table.add_row(verdict.claim.id + whose, Text(verdict.word, _COLOURS[verdict.verdict]), "\n".join(lines))
    screen.print(table)
    for line in idle(results):
        screen.print(line)
    screen.print(f"{tally(results.verdicts)}. {of_holm(results.verdicts)} {show(results.facts['wall_s'], 's')}.", style="dim")


def _compared(where: Path) -> Compared:
    """Returns the statistics of every run, with the flows of each variant."""
    counts = (read_manifest(where) or {}).get("flows", {})
    return of_runs(where, {f"{name}: {label}": count for name, own in counts.items() for label, count in own.items()})


KIND = Kind(
    holds=(
        *("claims.json", "provenance.json", "scenario.toml", "scenarios/*", "runs.parquet", "study/*"),
        *(f"runs/*/*/{name}" for name in ("manifest.json", *DRAWN, *run.KIND.holds)),
    ),
    load=load_study,
    title=lambda results: results.study.question,
    answer=answer,
    warnings=lambda _: (),
    tables=tables,
    page=page,
    notebook=notebook,
    compared=_compared,
)
