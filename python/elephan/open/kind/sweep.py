"""A sweep: one scenario with many parameters and seeds."""

from pathlib import Path

from elephan.base.kinds import Compared, Kind
from elephan.experiment.harm import harms
from elephan.experiment.sweep import Sweep
from elephan.experiment.trials import Trials, Variant
from elephan.open.difference import of_runs
from elephan.report.page import failed_links
from elephan.report.page.sweep_page import alike, answer, flat, notebook, page, power, shown, sweep_warnings
from elephan.report.screen import Screen, bounds, grid
from elephan.report.words.few import few
from elephan.result import folder
from elephan.result.run import read_table
from elephan.scenario.source import read_object
from elephan.statistic import measures

_FAILED_MAX = 20  # rows of a terminal


def load(path: Path) -> Sweep:
    """Returns a finished sweep from its folder."""
    where, manifest = folder.open_result(path)
    summary = read_object(where / "summary.json")
    with folder.damaged(where / "summary.json"):
        variants = [Variant(v["variant"], v["parameters"]) for v in summary["variants"]]
        facts = summary["facts"] | {"manifest": manifest}
    with folder.damaged(where / "runs.parquet"):
        trials = Trials.of_table(read_table(where / "runs.parquet"), measures.is_statistic, variants)
    with folder.damaged(where / "manifest.json"):
        return Sweep(manifest["name"], variants, trials, facts)


def tables(sweep: Sweep, screen: Screen) -> None:
    """Prints a row per variant."""
    statistics = shown(sweep)
    if sweep.facts.get("failed"):
        _failed(sweep, screen)
        return
    cells = {s: [bounds(sweep.interval(label, s), measures.unit_of(s)) for label in sweep.labels] for s in statistics}
    room = screen.width - max(map(len, ("variant", *sweep.labels)))
    for group in _fitting({s: max(map(len, (s, *column))) + 2 for s, column in cells.items()}, room):
        table = grid("variant", *group)
        for i, label in enumerate(sweep.labels):
            table.add_row(label, *(cells[s][i] for s in group))
        screen.print(table)
    if left := flat(sweep):
        screen.print(left, style="dim")
    repetitions = len(sweep.trials.seeds)
    if repetitions > 1 and not alike(sweep, statistics):
        words = f"Means of {repetitions} runs, ± half of the 95 % interval."
        bounded = any("(" in cell for column in cells.values() for cell in column)
        cut = "Brackets show an interval that ends at a bound of its quantity." if bounded else ""
        words = " ".join(filter(None, (words, cut, few(repetitions), power(sweep, statistics[0]))))
        screen.print(words, style="dim")
    for name in sweep.missing:
        screen.print(f'{name}: no run has a value of "{measures.parse(name)[0].description}"', style="red")


def _failed(sweep: Sweep, screen: Screen) -> None:
    """Prints a row for each failed link, the worst first."""
    found = harms(sweep)
    table = grid(*failed_links.HEADS)
    for row in failed_links.table_rows(found, _FAILED_MAX):
        table.add_row(*row)
    screen.print(table)
    if len(found) > _FAILED_MAX:
        screen.print(f"The {_FAILED_MAX} worst of {len(found)} failures; the report has all.", style="dim")


def _fitting(widths: dict[str, int], room: int) -> list[list[str]]:
    """Returns columns in tables as wide as there is room for, at least two in each."""
    groups: list[list[str]] = [[]]
    for name in widths:
        if len(groups[-1]) >= 2 and sum(widths[n] for n in groups[-1]) + widths[name] > room:
            groups.append([])
        groups[-1].append(name)
    return groups


def compared(where: Path) -> Compared:
    """Returns the statistics of every run, with the flows of each variant."""
    return of_runs(where, read_object(where / "summary.json")["facts"].get("flows", {}))


KIND = Kind(
    holds=("scenario.toml", "summary.json", "compare.json", "runs.parquet", "means.parquet"),
    load=load,
    title=lambda sweep: str(sweep.facts.get("title") or sweep.name),
    answer=answer,
    warnings=sweep_warnings,
    tables=tables,
    page=page,
    notebook=notebook,
    compared=compared,
)
