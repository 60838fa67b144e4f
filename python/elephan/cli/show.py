"""What the commands print: short tables for people, JSON for machines."""

from __future__ import annotations

import json as json_module
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from elephan.base.errors import escaped_json, shown
from elephan.base.quantity import POINTS, scale_for
from elephan.base.quantity import show as quantity
from elephan.base.stats import Interval
from elephan.statistic import measures
from elephan.table.rows import texts

if TYPE_CHECKING:
    from elephan.capture.fio import Measured
    from elephan.capture.trace import Trace
    from elephan.experiment.claims import Verdict
    from elephan.experiment.compare.panel import Panel
    from elephan.experiment.path.answer import Answer
    from elephan.experiment.study import Results
    from elephan.experiment.sweep import Sweep
    from elephan.open import Difference
    from elephan.result.run import Run

_WIDTH_OF_A_FILE = 132
_CONNECTIONS_MAX = 12  # rows on a terminal
_COLUMNS_MAX = 8  # congestion controls beside each other on a terminal
_LOPSIDED = 0.1  # of half an interval: a mean further from its middle is shown with both ends
_COLOURS = {"holds": "green", "fails": "red", "inconclusive": "yellow", "not run": "dim"}


class _Console(Console):
    """Prints texts as they are, since titles and paths are the user's: no markup, no emoji, no control characters."""

    def __init__(self, width: int | None = None) -> None:
        super().__init__(highlight=False, soft_wrap=False, markup=False, emoji=False, width=width)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(shown(text), **options)


def _console() -> Console:
    console = _Console()
    return console if console.is_terminal else _Console(_WIDTH_OF_A_FILE)


def _beside(text: str, dim: str) -> Text:
    """A text and another one, dim, after it."""
    return Text.assemble(shown(text), (shown(dim), "dim"))


def _plain(value: Any) -> Any:
    """JSON without NaN and infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def print_json(value: Any) -> None:
    """JSON on standard output."""
    escaped = not (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    print(escaped_json(json_module.dumps(_plain(value), indent=1, ensure_ascii=escaped)))


def _grid(*heads: str, words: Sequence[str] = ()) -> Table:
    """A table: its first column and those of `words` begin at the left, numbers end at the right."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for i, head in enumerate(heads):
        table.add_column(head, justify="left" if i == 0 or head in words else "right", overflow="fold")
    return table


def _report_line(console: Console, folder: Path) -> None:
    console.print(f"report: {folder / 'report.html'}", style="bold", soft_wrap=True)


def _warnings(console: Console, lines: Sequence[str]) -> None:
    """What a reader must know before he uses an answer, apart from it."""
    for line in lines:
        console.print(Text.assemble(("warning: ", "bold yellow"), (shown(line), "yellow")), soft_wrap=not console.is_terminal)


def run(done: Run, folder: Path, scenario: str, ignored_sweep: bool) -> None:
    """A run of `scenario`, as it was called: its answer, its picture in characters, its statistics, where the report is."""
    from elephan.report.figure.terminal import picture
    from elephan.report.words.answer import answer
    from elephan.report.words.warnings import warnings

    console = _console()
    console.print(_beside(f"{done.title}  ", f"(seed {done.seed})"), style="bold")
    for line in answer(done):
        console.print(line)
    _warnings(console, warnings(done))
    for line in picture(done, min(console.width, 100)):
        console.print(line, style="cyan" if line.startswith("  ") else "dim")
    table = _grid("statistic", "value", "of", words=("of",))
    for name, value in _statistics(done).items():
        table.add_row(name, quantity(value, measures.unit_of(name), 4), _of(done, name))
    console.print(table)
    if ignored_sweep:
        words = f"The scenario has a [sweep], which a single run ignores: elephan sweep {scenario}"
        console.print(words, style="dim", soft_wrap=True)
    hops = done.manifest["packet_hops"]
    stacks = ", ".join(sorted({stack for stack in texts(done.flows, "stack") if stack}))
    said = f"; TCP stack {stacks}" if stacks else ""
    took = quantity(done.manifest["wall_s"], "s")
    console.print(f"{quantity(hops, '1', len(str(hops)))} packet-hops in {took}{said}", style="dim")
    if done.captures:
        console.print(f"captures: {_captures(done.captures)}", soft_wrap=True)
    _report_line(console, folder)


def _statistics(done: Run) -> dict[str, float]:
    """The statistics that the scenario names, then the usual ones."""
    return measures.usual(done, done.curated_statistics)


def _of(done: Run, name: str) -> str:
    """The port that a number is of, and which part of the run it counts."""
    return ", ".join(part for part in (measures.place_of(done, name), measures.time_of(done, name)) if part)


def _captures(files: Sequence[Path]) -> str:
    return str(files[0]) if len(files) == 1 else f"{len(files)} files in {files[0].parent}"


def disk(done: Measured, file: Path) -> None:
    """A measured disk: what it writes, what it reads with each window, where the profile is."""
    console = _console()
    where = f"{done.path} on {done.device}" if done.device else done.path
    console.print(f"{where}: writes {quantity(done.write, 'bps')}", style="bold")
    table = _grid("read-ahead", "reads")
    for point in done.points:
        mark = "  (as it is set)" if point.read_ahead == done.read_ahead else ""
        table.add_row(f"{point.read_ahead // 1024} KiB{mark}", quantity(point.rate, "bps"))
    console.print(table)
    console.print(done.tool, style="dim")
    console.print(f'profile: {file}; in a scenario: disk = {{ profile = "{file}" }}', soft_wrap=True)


def run_json(done: Run, folder: Path) -> None:
    """A run for machines."""
    from elephan.report.words.warnings import warnings

    said = {"summary": done.summary, "statistics": _statistics(done), "warnings": warnings(done)}
    print_json({"folder": str(folder), **done.manifest, **said})


def _bounds(interval: Interval, unit: str) -> str:
    """A mean and half of its interval, or both ends where the mean is not in the middle, as of one cut off at a bound."""
    if not math.isfinite(interval.low) or interval.low == interval.high:
        return quantity(interval.mean, unit, 4)
    factor, label = scale_for(interval.mean, unit)
    mean, half = quantity(interval.mean * factor, "1", 4), quantity(interval.half_width * factor, "1", 2)
    beyond = interval.low >= 0 > interval.mean - interval.half_width
    if not beyond and abs(interval.high + interval.low - 2 * interval.mean) <= _LOPSIDED * interval.half_width:
        return f"{mean} ± {half} {label}".strip()
    low, high = (quantity(bound * factor, "1", 3) for bound in (interval.low, interval.high))
    return f"{mean} ({low} to {high}) {label}".strip() if low != high else f"{mean} {label}".strip()


def sweep(done: Sweep, folder: Path) -> None:
    """A sweep: a row per variant."""
    from elephan.report.figure.sweep_figures import alike
    from elephan.report.page.sweep_page import shown as of_sweep
    from elephan.report.page.sweep_page import sweep_warnings

    console = _console()
    console.print(str(done.facts.get("title") or done.name), style="bold")
    statistics = of_sweep(done)
    cells = {s: [_bounds(done.interval(label, s), measures.unit_of(s)) for label in done.labels] for s in statistics}
    room = console.width - max(map(len, ("variant", *done.labels)))
    for group in _fitting({s: max(map(len, (s, *column))) + 2 for s, column in cells.items()}, room):
        table = _grid("variant", *group)
        for i, label in enumerate(done.labels):
            table.add_row(label, *(cells[s][i] for s in group))
        console.print(table)
    repetitions = len(done.trials.seeds)
    if repetitions > 1 and not alike(done, statistics):
        console.print(
            f"Means of {repetitions} runs, ± half of the 95 % interval (in brackets one cut off where its quantity ends).",
            style="dim",
        )
    _warnings(console, sweep_warnings(done))
    for line in done.failures[:5]:
        console.print(f"failed: {line}", style="red")
    for name in done.missing:
        console.print(f'{name}: no run has a value of "{measures.parse(name)[0].description}"', style="red")
    _report_line(console, folder)


def _fitting(widths: dict[str, int], room: int) -> list[list[str]]:
    """Columns in tables as wide as there is room for, at least two in each."""
    groups: list[list[str]] = [[]]
    for name in widths:
        if len(groups[-1]) >= 2 and sum(widths[n] for n in groups[-1]) + widths[name] > room:
            groups.append([])
        groups[-1].append(name)
    return groups


def sweep_json(done: Sweep, folder: Path) -> None:
    """A sweep for machines."""
    from elephan.report.page.sweep_page import sweep_warnings

    print_json({"folder": str(folder), **done.as_dict(), "warnings": sweep_warnings(done)})


def compare(done: Panel, folder: Path) -> None:
    """A comparison: its answer, a row per controller, every pair."""
    from elephan.report.page.compare_page import answer, merits, network_line, panel_warnings, shorter

    console = _console()
    console.print(network_line(done), style="bold")
    for line in answer(done):
        console.print(line)
    _warnings(console, panel_warnings(done))
    merit = merits(done)
    table = _grid(*(column.title for column in merit.columns))
    for row in merit.rows:
        table.add_row(*(cell.text for cell in row))
    console.print(table)
    if 1 < len(done.labels) <= _COLUMNS_MAX:
        table = _grid("share beside", *done.labels)
        for a in done.labels:
            table.add_row(a, *(quantity(done.share(a, b).mean, "%", 2) for b in done.labels))
        console.print(table)
    means = "Of one run each, so without intervals." if done.repetitions == 1 else ""
    means = means or f"Means of {done.repetitions} runs; intervals are in the report and in compare.json."
    console.print(f"{means}{shorter(done)}", style="dim")
    for line in done.failures[:5]:
        console.print(f"failed: {line}", style="red")
    _report_line(console, folder)


def compare_json(done: Panel | Sweep, folder: Path) -> None:
    """A comparison for machines."""
    from elephan.experiment.compare.panel import Panel
    from elephan.report.page.compare_page import panel_warnings
    from elephan.report.page.sweep_page import sweep_warnings

    warnings = panel_warnings(done) if isinstance(done, Panel) else sweep_warnings(done)
    print_json({"folder": str(folder), **done.as_dict(), "warnings": warnings})


def trace(done: Trace, folder: Path) -> None:
    """A capture or a log: what was seen, a row for each of the largest connections, where the report is."""
    from elephan.report.page.trace_page import answer
    from elephan.report.page.trace_page import shown as of_trace

    console = _console()
    console.print(_beside(f"{done.name}  ", f"({done.summary['format']})"), style="bold")
    for line in answer(done):
        console.print(line, soft_wrap=not console.is_terminal)
    _warnings(console, done.notes)
    grid = _grid("connection", "number", "delivered", "goodput", "retransmitted", "least RTT", "p99 RTT", "burst")
    for row in done.ranked[:_CONNECTIONS_MAX]:
        units = {"delivered_bytes": "bytes", "goodput_bps": "bps", "segs_retrans": "1", "min_rtt_ns": "ns", "p99_rtt_ns": "ns"}
        units |= {"burst_max_segs": "1"}
        cells = [of_trace(done, row, key, unit, 9 if unit == "1" else 3) for key, unit in units.items()]
        grid.add_row(done.label(row["connection"]), str(row["connection"]), *cells)
    console.print(grid)
    if len(done.ranked) > _CONNECTIONS_MAX:
        console.print(
            f"and {len(done.ranked) - _CONNECTIONS_MAX} more in {folder / 'connections.parquet'}", style="dim", soft_wrap=True
        )
    _report_line(console, folder)


def trace_json(done: Trace, folder: Path) -> None:
    """A capture or a log, for machines."""
    from elephan.report.page.trace_page import found_phases

    found = found_phases(done)
    print_json(
        {
            "folder": str(folder),
            "summary": done.summary,
            "connections": done.ranked,
            "total": done.total.as_dict() if done.total else None,
            "phases": found.as_dict() if found else None,
        }
    )


def path(done: Answer, folder: Path) -> None:
    """A path: its answer, the times, the closed forms, the settings."""
    from elephan.cli.pathrows import print_rows
    from elephan.experiment.path.settings import as_text
    from elephan.report.page.path_page import answer_lines, path_warnings, value_text

    console = _console()
    console.print(done.question.text, style="bold")
    for line in answer_lines(done):
        console.print(line)
    _warnings(console, path_warnings(done))
    print_rows(console, [("", row) for row in done.rows])
    console.print("Closed forms:", style="bold")
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for form in done.forms:
        table.add_row(value_text(form), _beside(f"{form.about} ", f"({form.equation})"))
    console.print(table)
    if done.advice.now is not None:
        console.print(f"Settings (stack {done.advice.stack}, simulated):", style="bold")
        tried = [("now: ", done.advice.now), ("after: ", done.advice.after)]
        print_rows(console, [(words, row) for words, row in tried if row is not None])
    for line in as_text(done.settings):
        console.print(line, soft_wrap=True, style="dim" if line.startswith("#") else "")
    for look in done.advice.unsimulated:
        console.print(f"not simulated, worth a look: {look.text} ({look.why})", style="dim", soft_wrap=True)
    if done.question.assumed:
        console.print(f"Assumed: {'; '.join(done.question.assumed)}.", style="dim")
    for line in done.failures[:5]:
        console.print(f"failed: {line}", style="red")
    _report_line(console, folder)


def path_json(done: Answer, folder: Path) -> None:
    """A path for machines."""
    from elephan.report.page.path_page import path_warnings

    print_json({"folder": str(folder), **done.as_dict(), "warnings": path_warnings(done)})


def study(results: Results, verdicts: Sequence[Verdict], folder: Path) -> None:
    """A study: its answer and the verdict of every claim."""
    from elephan.report.page.study_page import tally

    console = _console()
    console.print(results.study.question, style="bold")
    for line in results.study.figures.answer(results):
        console.print(line)
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("claim", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("observed (95 % interval), expected", overflow="fold")
    for verdict in (one for one in verdicts if one.run):
        lines = [f"{f.part.subject}: {f.text}, expected {f.part.expected}" for f in verdict.run]
        table.add_row(verdict.claim.id, Text(verdict.word, _COLOURS[verdict.verdict]), "\n".join(lines))
    console.print(table)
    console.print(f"{tally(verdicts)}. {quantity(results.facts['wall_s'], 's')}.", style="dim")
    for line in results.facts["failures"][:5]:
        console.print(f"failed: {line}", style="red")
    _report_line(console, folder)


def study_json(results: Results, verdicts: Sequence[Verdict], folder: Path) -> None:
    """A study for machines."""
    claims = [verdict.as_dict() for verdict in verdicts]
    print_json({"folder": str(folder), "study": results.study.name, "claims": claims, "failures": results.facts["failures"]})


def listing(rows: Sequence[tuple[str, str]], json: bool) -> None:
    """Names with a line each."""
    if json:
        print_json([{"name": name, "about": about} for name, about in rows])
        return
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for name, about in rows:
        table.add_row(name, about)
    _console().print(table)


def diff(differences: Sequence[Difference], changes: str, json: bool) -> None:
    """Two results side by side. `changes`: how their scenarios differ, if they do."""
    if json:
        print_json([difference.as_dict() for difference in differences])
        return
    if changes:
        _console().print(f"note: {changes}", style="yellow", soft_wrap=True)
    table = _grid("statistic", "A", "B", "B less A (95 % interval, same seeds)")
    variant = ""  # as of a single run, which has no line of its own
    for one in differences:
        if one.variant != variant:
            variant = one.variant
            table.add_row(Text(shown(variant), "bold"), "", "", "")
        unit = one.unit
        text = _bounds(one.difference, POINTS if unit == "%" else unit)
        table.add_row(one.statistic, _bounds(one.a, unit), _bounds(one.b, unit), text)
    _console().print(table)
    if any(one.a.n != one.difference.n or one.b.n != one.difference.n for one in differences):
        _console().print("A and B are means of all their runs, the difference that of the runs whose seed both have.", style="dim")


def _slowdowns(console: Console, row: dict[str, Any]) -> None:
    """Slowdowns of a workload by size of the transfer, if it has them."""
    classes: dict[str, list[str]] = {}
    for key, value in row.items():
        if key.startswith("slowdown "):
            label, _, _ = key.removeprefix("slowdown ").rpartition(" ")
            classes.setdefault(label, []).append(quantity(value, "1", 3))
    if classes:
        table = _grid(f"{row['workload']}: slowdown by size", "p50", "p95", "p99")
        for label, values in classes.items():
            table.add_row(label, *values)
        console.print(table)


def bench(rows: Sequence[dict[str, Any]]) -> None:
    """The workloads, and ns-3's beside them."""
    console = _console()
    table = _grid("workload", "", "wall", "per hop", "hops", "memory", "goodput", "loss", "Jain", "FCT mean", "99 %")
    for row in rows:
        hops = row["packet_hops"]
        table.add_row(
            row["workload"],
            row.get("simulator", "elephan"),
            quantity(row["wall_s"], "s"),
            quantity(row["ns_per_packet_hop"], "ns"),
            f"{quantity(hops / 1e6, '1')} M",
            quantity(row["peak_rss_bytes"], "bytes"),
            quantity(row["goodput_bps"], "bps", 4),
            quantity(row["loss_rate"], "%", 2),
            quantity(row["jain"], "1") if row.get("jain") is not None else "",
            quantity(row["fct_mean_s"], "s") if "fct_mean_s" in row else "",
            quantity(row["fct_p99_s"], "s") if "fct_p99_s" in row else "",
        )
    console.print(table)
    for row in rows:
        _slowdowns(console, row)
        if "times_slower" in row:
            whole, hop = (quantity(row[key], "1", 3) for key in ("times_slower", "times_slower_per_packet_hop"))
            cpu = quantity(row["times_slower_cpu_per_packet_hop"], "1", 3)
            line = (
                f"elephan is {whole} times as fast as ns-3, {hop} times per packet-hop ({cpu} in processor time, set-up included)"
            )
            console.print(f"{row['workload']}: {line}", style="bold")
        if "times_beside_per_packet_hop" in row:
            ratio = quantity(row["times_beside_per_packet_hop"], "1", 3)
            console.print(f"{row['workload']}: {ratio} times {row['beside']} per packet-hop, in processor time", style="bold")
