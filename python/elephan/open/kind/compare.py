"""A comparison of congestion controls in the same experiments."""

from elephan.base.kinds import Kind
from elephan.base.quantity import show
from elephan.experiment.compare.panel import Panel
from elephan.experiment.compare.saved import load_panel
from elephan.open.difference import of_runs
from elephan.report.page.compare_page import answer, merits, network_line, notebook, page, panel_warnings, shorter
from elephan.report.screen import Screen, grid
from elephan.report.words.few import few

_COLUMNS_MAX = 8  # congestion controls beside each other on a terminal


def tables(panel: Panel, screen: Screen) -> None:
    """Prints a row per congestion control, and every pair."""
    merit = merits(panel)
    table = grid(*(column.title for column in merit.columns))
    for row in merit.rows:
        table.add_row(*(cell.text for cell in row))
    screen.print(table)
    if 1 < len(panel.labels) <= _COLUMNS_MAX:
        table = grid("share beside", *panel.labels)
        for a in panel.labels:
            table.add_row(a, *(show(panel.share(a, b).mean, "%", 2) for b in panel.labels))
        screen.print(table)
    means = "Of one run each, so without intervals." if panel.repetitions == 1 else ""
    means = means or f"Means of {panel.repetitions} runs; intervals are in the report and in compare.json."
    screen.print(" ".join(filter(None, (means, few(panel.repetitions)))) + shorter(panel), style="dim")


KIND = Kind(
    holds=("compare.json", "provenance.json", "scenarios/*.toml", "runs.parquet", "means.parquet", "series.parquet"),
    load=load_panel,
    title=network_line,
    answer=answer,
    warnings=panel_warnings,
    tables=tables,
    page=page,
    notebook=notebook,
    compared=of_runs,
)
