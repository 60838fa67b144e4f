"""What the study shows: the charts of the slides again, then what slides could not show."""

from __future__ import annotations

from collections.abc import Sequence

from elephan.base.quantity import show
from elephan.experiment.claims import interval_text
from elephan.experiment.study import Results
from elephan.report.page.page import Cell, Column, Section, Table, interval_cell
from elephan.studies.intel_2004 import beyond, slides

NOFC, PAUSE = "NoFC", "8023x"


def _main(results: Results, variant: str, statistic: str, unit: str) -> str:
    return interval_text(results.interval("main", variant, statistic), unit, 3)


def answer(results: Results) -> list[str]:
    """The answer, with its numbers."""
    n = len(results.values("main", PAUSE, "goodput_bps.sum"))
    with_fc = (
        f"With 802.3x the switch dropped {_main(results, PAUSE, 'drops.sum', '1')} packets, TCP delivered "
        f"{_main(results, PAUSE, 'goodput_bps.sum', 'bps')}, the slowest message took "
        f"{_main(results, PAUSE, 'latency_ns.max', 'ns')}, and the clients shared with a Jain index of "
        f"{_main(results, PAUSE, 'jain_1ms.mean', '1')} in windows of 1 ms."
    )
    without = (
        f"Without it the switch dropped {_main(results, NOFC, 'drops.sum', '1')} packets a second of simulated time, TCP "
        f"delivered {_main(results, NOFC, 'goodput_bps.sum', 'bps')}, the slowest message took "
        f"{_main(results, NOFC, 'latency_ns.max', 'ns')}, and the index was {_main(results, NOFC, 'jain_1ms.mean', '1')}."
    )
    span = _rto_sentence(results)
    return [with_fc, without, *([span] if span else []), f"Means of {n} runs with 95 % intervals; both cases use the same seeds."]


def _rto_sentence(results: Results) -> str:
    labels = [variant.points[0].label for variant in results.experiment("rto_min").variants[::2]]
    found = [(label, results.interval("rto_min", f"{label}/{NOFC}", "goodput_bps.sum")) for label in labels]
    found = [(label, interval) for label, interval in found if interval.n]
    if len(found) < 2:
        return ""
    parts = [f"{show(interval.mean, 'bps')} at {label}" for label, interval in found]
    return f"How much is lost without flow control depends on the minimum RTO, which the slides do not give: {', '.join(parts)}."


_ROWS = (
    ("goodput", "goodput_bps.sum", "bps"),
    ("throughput on the wire", "wire_bps.sum", "bps"),
    ("packets dropped at the switch", "drops.sum", "1"),
    ("retransmission timeouts", "timeouts.sum", "1"),
    ("latency, median", "latency_ns.p50", "ns"),
    ("latency, 99th percentile", "latency_ns.p99", "ns"),
    ("latency, longest", "latency_ns.max", "ns"),
    ("jitter: standard deviation", "latency_ns.sd", "ns"),
    ("jitter: 99th percentile less median", "latency_ns.p99-p50", "ns"),
    ("jitter: longest less shortest", "latency_ns.range", "ns"),
    ("Jain index, 1 ms windows, mean", "jain_1ms.mean", "1"),
    ("Jain index, 1 ms windows, 5th percentile", "jain_1ms.p5", "1"),
    ("Jain index, 10 ms windows, mean", "jain_10ms.mean", "1"),
    ("Jain index of the run", "goodput_bps.jain", "1"),
    ("switch memory, median", "memory_bytes.p50", "bytes"),
    ("PAUSE frames sent", "pauses_sent.sum", "1"),
)


def _table(results: Results) -> Table:
    columns = [Column("in the measured 0.9 s (drops, timeouts, PAUSE: the whole second)"), Column(NOFC, True), Column(PAUSE, True)]
    rows = [
        [Cell(title), *(interval_cell(results.interval("main", variant, name), unit) for variant in (NOFC, PAUSE))]
        for title, name, unit in _ROWS
    ]
    return Table(columns, rows, "Means over the repetitions, 95 % t intervals below.")


def sections(results: Results) -> Sequence[Section]:
    """The body of the report."""
    originals = slides.drawings(results)
    more = beyond.drawings(results)
    return [
        Section("In numbers", tables=[_table(results)]),
        Section(
            "The charts of the slides",
            "Each chart of the slides has its counterpart. Of the originals only the words survive, no numbers.",
            originals,
        ),
        Section(
            "What the slides could not show",
            "Distributions instead of averages, sharing per window, the memory of the switch microsecond by microsecond.",
            more,
        ),
        Section(
            "How far this depends on what was assumed",
            "The slides give neither the minimum RTO nor the thresholds. Each is varied here, and so are memory and load.",
            beyond.sensitivities(results),
        ),
    ]
