"""What the study shows: its answer, the figures of the paper again, and its tables."""

from __future__ import annotations

from collections.abc import Sequence

from elephan.base.quantity import show
from elephan.experiment.study import Results
from elephan.report.page.page import Cell, Column, Section, Table, interval_cell
from elephan.studies.dctcp_2010 import analysis, curves, traces

SCHEMES = tuple(curves.PAINT)


def answer(results: Results) -> list[str]:
    """The answer, with its numbers."""
    said = []
    for scheme in SCHEMES:
        rate = results.interval("queue", scheme, "goodput_bps.sum")
        queue = results.interval("queue", scheme, f"queue_bytes[at {traces.PORT}].p50")
        if rate.n and queue.n:
            said.append(f"{scheme} carries {show(rate.mean, 'bps', 3)} with {queue.mean / analysis.FRAME_BYTES:.0f} packets queued")
    sentences = [f"Two long flows at 1 Gb/s: {'; '.join(said)} (medians)."] if said else []
    late = {scheme: results.interval("all-to-all", scheme, "rounds_timed_out.mean") for scheme in SCHEMES}
    parts = [f"{show(found.mean, '%', 2)} of the queries of {scheme}" for scheme, found in late.items() if found.n]
    if parts:
        sentences.append(f"Where 41 machines ask each other for 1 MB at once, {' and '.join(parts)} wait for a timer.")
    return sentences


_PAPER = {"TCP/alone": "9.87 ms", "TCP/beside": "46.94 ms", "DCTCP/alone": "9.17 ms", "DCTCP/beside": "9.09 ms"}


def _pressure(results: Results) -> Table:
    """Table 2 of the paper beside what came out here."""
    columns = [Column("long flows"), Column("95th percentile", True), Column("paper", True), Column("queries with a timeout", True)]
    rows = []
    for variant, paper in _PAPER.items():
        time, late = (results.interval("pressure", variant, name) for name in ("round_time.p95", "rounds_timed_out.mean"))
        if time.n:
            rows.append([Cell(variant), interval_cell(time, "ns", 4), Cell(paper), interval_cell(late, "%", 3)])
    return Table(columns, rows, "The paper's shares of queries with a timeout beside long flows: TCP 7 %, DCTCP 0.08 %.")


def _bottlenecks(results: Results) -> Table:
    """Figure 17: rates on the wire of a sender of each group."""
    columns = [
        Column("sender of"),
        *(Column(scheme, True) for scheme in SCHEMES),
        Column("paper (DCTCP)", True),
        Column("fair", True),
    ]
    rows = []
    for group, paper, fair in (("s1", 46, 50), ("s2", 475, 475), ("s3", 54, 50)):
        cells = []
        for scheme in SCHEMES:
            rate = results.interval("two-bottlenecks", scheme, f"goodput_bps[{group}].mean").mean * 1538 / 1460
            cells.append(Cell(show(rate, "bps", 3)))
        rows.append([Cell(group.upper()), *cells, Cell(f"{paper} Mb/s"), Cell(f"{fair} Mb/s")])
    return Table(columns, rows, "Rates on the wire: 1538 bytes for 1460 of goodput. Means over the repetitions.")


def _theory(results: Results) -> Table:
    """The sawtooth of the analysis beside the queue of the runs, in packets."""
    columns = [Column("flows"), *(Column(name, True) for name in ("W*", "alpha", "A", "Q min", "Q max", "p1 here", "p99 here"))]
    rows = []
    for point in results.experiment("analysis").points["analysed"]:
        one = analysis.steady(traces.PIPE, 40, int(point.label))
        found = [results.interval("analysis", point.label, f"queue_bytes[at {traces.PORT}].{take}").mean for take in ("p1", "p99")]
        values = (one.w_star, one.alpha, one.amplitude, one.q_min, one.q_max, *(x / analysis.FRAME_BYTES for x in found))
        rows.append([Cell(point.label), *(Cell(f"{value:.3g}") for value in values)])
    return Table(columns, rows, "C x RTT is 81.3 packets of 1538 bytes, K = 40 packets.")


def sections(results: Results) -> Sequence[Section]:
    """The body of the report."""
    return [
        Section(
            "Short queues at full throughput",
            "The figures of the paper were not to be had, only its text. Marks and reference lines are the numbers of the text.",
            [traces.queue(results), curves.thresholds(results), traces.red(results)],
        ),
        Section("Sharing", "", [traces.converge(results)], [_bottlenecks(results)]),
        Section("Incast", "", [curves.incast(results), curves.dynamic(results)]),
        Section("What flows do to queries", "", [traces.times(results)], [_pressure(results)]),
        Section("The analysis", "Section 3.3 of the paper.", [traces.sawtooth(results)], [_theory(results)]),
    ]
