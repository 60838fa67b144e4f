"""What the study shows: its answer, the charts of the slides again, then what slides could not show."""

from __future__ import annotations

import math
from collections.abc import Sequence

from elephan.base.quantity import show
from elephan.experiment.claims import interval_text
from elephan.experiment.study import Results
from elephan.report.page.page import Cell, Column, Section, Table, interval_cell, number_cell
from elephan.studies.intel_2007 import beyond, slides
from elephan.studies.intel_2007.slides import left_out, was_run


def _text(results: Results, variant: str, statistic: str, unit: str, experiment: str = "baseline") -> str:
    return interval_text(results.interval(experiment, variant, statistic), unit, 3)


def answer(results: Results) -> list[str]:
    """The answer, with its numbers."""
    found = []
    schemes = ("No CM", "PAUSE", "ECM", "QCN", "QCN & PAUSE")
    for scheme in was_run(results, "baseline", schemes):
        drops = results.interval("baseline", scheme, "drops.sum")
        together = _text(results, scheme, beyond.IN_HOTSPOT, "bps")
        lost = show(results.interval("baseline", scheme, "timeouts.positive").mean, "1", 2)
        found.append(
            f"{scheme}: {together} of the 34.2 Gb/s that the links allow, {show(drops.mean, '1', 3)} packets dropped at all ports, "
            f"{lost} of 20 connections timed out."
        )
    n = len(results.values("baseline", "No CM", "drops.sum"))
    missing = left_out(results, "baseline", schemes=schemes)
    return [
        "During the hotspot five hosts deliver together:",
        *found,
        f"Means of {n} runs with 95 % intervals; all schemes get the same messages.{missing}",
    ]


_ROWS = (
    ("goodput, whole run", "goodput_bps.sum", "bps"),
    ("before the hotspot", "delivered_bps[during 20-100 ms].sum", "bps"),
    ("in the hotspot", beyond.IN_HOTSPOT, "bps"),
    ("after it", "delivered_bps[during 410-500 ms].sum", "bps"),
    ("C0 in the hotspot", beyond.HOT, "bps"),
    ("what C0 sends, in the hotspot", "delivered_bps[from C[0], during 100-400 ms].sum", "bps"),
    ("a connection to C0 that never times out", "delivered_bps[to C[0], during 100-400 ms, without timeouts].mean", "bps"),
    ("slowest connection, whole run", "goodput_bps.min", "bps"),
    ("packets dropped, all ports", "drops.sum", "1"),
    ("of them at a full queue", "queue_full_drops.sum", "1"),
    ("of them at a full memory", "memory_full_drops.sum", "1"),
    ("at CS1 → C[0], first 10 ms of the hotspot", "sampled_drops[at CS1->C[0], during 100-110 ms].sum", "1"),
    ("at CS1 → C[0], rest of the hotspot", "sampled_drops[at CS1->C[0], during 110-400 ms].sum", "1"),
    ("segments retransmitted", "retransmits.sum", "1"),
    ("connections that timed out", "timeouts.positive", "1"),
    ("hot queue, mean", "queue_bytes[at CS1->C[0], during 110-400 ms].mean", "bytes"),
    ("hot queue, standard deviation", "queue_bytes[at CS1->C[0], during 110-400 ms].sd", "bytes"),
    ("notifications", "notifications.sum", "1"),
    ("PAUSE frames", "pauses_sent.sum", "1"),
)


def _table(results: Results, experiment: str, title: str) -> Table:
    schemes = was_run(results, experiment)
    columns = [Column(title), *(Column(scheme, True) for scheme in schemes)]
    rows = []
    for words, name, unit in _ROWS:
        where = slides.CLOSE_UP.get(experiment, experiment) if name.startswith("queue_bytes[") else experiment
        rows.append([Cell(words), *(interval_cell(results.interval(where, scheme, name), unit, 3) for scheme in schemes)])
    return Table(columns, rows, f"Means over the repetitions, 95 % t intervals below.{left_out(results, experiment)}")


def _spreading(results: Results) -> Table:
    columns = [Column("flows between C1 to C4 in the hotspot"), Column("one switch", True), Column("edge switches", True)]
    return Table(
        columns,
        [
            [Cell(scheme), *(Cell("not run") if math.isnan(rate) else number_cell(rate, "bps") for rate in rates)]
            for scheme, *rates in beyond.spreading(results)
        ],
        f"The links allow 32.3 Gb/s.{left_out(results, 'baseline', 'two-tier')}",
    )


_STAR_ROWS = (
    ("goodput", "goodput_bps.sum", "bps"),
    ("latency, median", "latency_ns.p50", "ns"),
    ("latency, 99th percentile", "latency_ns.p99", "ns"),
    ("latency, longest", "latency_ns.max", "ns"),
    ("Jain index, 1 ms windows", "jain_1ms.mean", "1"),
    ("packets dropped", "drops.sum", "1"),
    ("of them at a full queue", "queue_full_drops.sum", "1"),
    ("of them at a full memory", "memory_full_drops.sum", "1"),
    ("timeouts", "timeouts.sum", "1"),
    ("packets marked", "marks.sum", "1"),
)


def _star(results: Results) -> Table:
    labels = [variant.label for variant in results.experiment("star-2004").variants]
    columns = [
        Column("in the measured 0.9 s (drops, timeouts, marks: the whole second)"),
        *(Column(label, True) for label in labels),
    ]
    rows = [
        [Cell(words), *(interval_cell(results.interval("star-2004", label, name), unit, 3) for label in labels)]
        for words, name, unit in _STAR_ROWS
    ]
    return Table(columns, rows)


def sections(results: Results) -> Sequence[Section]:
    """The body of the report."""
    return [
        Section(
            "The charts of the slides: baseline",
            "Each chart of the slides has its counterpart. Of the originals only the words survive, no numbers.",
            slides.drawings(results, "baseline"),
        ),
        Section("The charts of the slides: single hop", "", slides.drawings(results, "single-hop")),
        Section(
            "What the slides could not show",
            "Single connections instead of averages, the onset every 10 µs, the hotspot with frames that nothing acknowledges.",
            [
                beyond.survivors(results, "baseline"),
                beyond.survivors(results, "single-hop"),
                beyond.onset(results),
                beyond.raw_frames(results),
            ],
        ),
        Section(
            "What PAUSE costs",
            "PAUSE stops a host's whole port: frames for other hosts wait behind those for C0. With edge switches it is passed on.",
            [beyond.room(results)],
            [_spreading(results)],
        ),
        Section(
            "The next steps of the slides",
            "Tuning TCP, longer links, flows that come and go.",
            [beyond.minimum_rto(results), beyond.long_links(results), beyond.completion_times(results)],
        ),
        Section("What there is today", "", [beyond.today(results)]),
        Section("The next steps of 2004", "", [beyond.star_2004(results)], [_star(results)]),
        Section(
            "In numbers",
            "",
            tables=[
                _table(results, "baseline", "baseline"),
                _table(results, "single-hop", "single hop"),
                _table(results, "two-tier", "baseline with edge switches"),
                _table(results, "frames", "raw frames, 5 hosts"),
            ],
        ),
    ]
