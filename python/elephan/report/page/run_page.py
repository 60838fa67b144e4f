"""The report of one run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from elephan.base.errors import InputError
from elephan.base.quantity import counted, seconds, show
from elephan.report.explain.advice import told
from elephan.report.explain.facts import Facts
from elephan.report.explain.finding import Finding, marks, numbers, when
from elephan.report.figure.registry import MORE, OVER_TIME
from elephan.report.figure.run_figures import draw, of_report
from elephan.report.page.notebook import PAPER, inline, said, small_table
from elephan.report.page.page import Cell, Column, Page, Section, Table, number_cell, parameter_groups
from elephan.report.words.answer import answer
from elephan.report.words.spreading_table import victim_table
from elephan.report.words.view import View, arrow
from elephan.report.words.warnings import warnings
from elephan.result.run import Run
from elephan.statistic import measures
from elephan.statistic.observed import timeouts
from elephan.table.rows import column, texts

ROWS_MAX = 20
DASH = "\u2013"  # where a value has no meaning
CAPTURES_MAX = 8
ZOOM = "Drag over a figure to zoom, double-click to go back; click a name to hide its line. Figures over time move together."
BESIDE = {"Congestion spreading": victim_table}  # tables of sections with figures
COARSE = 0.01  # of the least RTT: a tick that is worth a word


def _tick_ns(run: Run, source: str, traffic: str) -> float:
    """The tick of the time stamps that a flow's sender measures round trips by."""
    entries = [one for one in run.resolved.get("traffic", []) if one.get("name") == traffic]
    host = run.resolved.get("hosts", {}).get(source.partition("[")[0], {})
    # What the traffic says goes before what its host says.
    ticks = [of["tcp"]["timestamp_granularity"] for of in (*entries, host) if "timestamp_granularity" in of.get("tcp", {})]
    return seconds(ticks[0]) * 1e9 if ticks else 0.0


def _coarse_ticks(run: Run, order: Iterable[int]) -> str:
    """A note about least round-trip times that are whole ticks of time stamps, and so up to a tick below that of the path.

    Stacks measure by ticks only where something was sent twice.
    """
    flows = run.flows
    if "time_stamps" not in flows.column_names:
        return ""
    least, stamps = column(flows, "min_rtt_ns"), column(flows, "time_stamps")
    source, traffic = texts(flows, "source"), texts(flows, "traffic")
    ticks = {i: _tick_ns(run, source[i], traffic[i]) for i in order if stamps[i] == 1 and not np.isnan(least[i])}
    coarse = sorted({tick for i, tick in ticks.items() if tick > COARSE * least[i] and least[i] % tick == 0})
    each = " or ".join(show(tick, "ns") for tick in coarse)
    return f"Least RTT as the stack measures it, in ticks of {each}: up to one less than the path's." if coarse else ""


def _flow_table(view: View) -> Table | None:
    flows = view.run.flows
    if not flows.num_rows:
        return None
    names, controller = list(view.flow_names.values()), texts(flows, "congestion_control")
    paths = [f"{a} → {b}" for a, b in zip(texts(flows, "source"), texts(flows, "destination"), strict=True)]
    rate, again, least, took, size = (
        column(flows, key) for key in ("goodput_bps", "segs_retrans", "min_rtt_ns", "fct_ns", "size_bytes")
    )
    expiries = timeouts(view.run)
    finite = ~np.isnan(size)
    transfers = bool(finite.any())
    # What a transfer got is over its own time: over the measured time all of one size would have got the same.
    lasted = np.where(np.isnan(took), np.maximum(view.run.duration_ns - column(flows, "start_ns"), 1), took)
    rate = np.where(finite, column(flows, "delivered_bytes") * 8e9 / lasted, rate)
    order = np.lexsort((-rate, np.where(finite, -lasted, 0.0), finite))[:ROWS_MAX]
    heads = ["flow", "path", "congestion control", "goodput", "retransmitted", "timeouts", "least RTT"] + (
        ["completion"] if transfers else []
    )
    rows = []
    for i in order:
        counts = [number_cell(one, "1", 9) for one in (again[i], expiries[i])]
        of_tcp = [*counts, _or_dash(least[i], "ns")] if controller[i] else [Cell(DASH)] * 3
        who = [Cell(text) for text in (names[i].removesuffix(f", {paths[i]}"), paths[i], controller[i] or "UDP")]
        rows.append([*who, number_cell(rate[i], "bps"), *of_tcp])
        if transfers:
            rows[-1].append(Cell("not complete") if finite[i] and np.isnan(took[i]) else _or_dash(took[i], "ns"))
    note = " ".join(part for part in (_which_flows(flows.num_rows, finite), _coarse_ticks(view.run, order)) if part)
    return Table([Column(h, i >= 3) for i, h in enumerate(heads)], rows, note, "flows")


def _or_dash(value: float, unit: str) -> Cell:
    return Cell(DASH) if np.isnan(value) else number_cell(value, unit)


def _which_flows(count: int, finite: npt.NDArray[np.bool_]) -> str:
    """Which flows the table shows, and what goodput means there."""
    which = f"{ROWS_MAX} of {show(count, '1', 9)} flows: " if count > ROWS_MAX else ""
    if not finite.any():
        return f"{which}those with the most goodput." if which else ""
    if which:
        which += "the slowest transfers. " if finite.all() else "those without an end, then the slowest transfers. "
    return f"{which}Goodput of a transfer: what it delivered over its own time."


MARKED = "Numbers in figures over time mark when each of these began."


def _story_table(story: Sequence[Finding]) -> Table:
    """The findings of `elephan explain`, numbered as in figures."""
    rows = [
        [Cell(number), Cell(when(one) or "whole run"), Cell(one.text, more=f"What would help: {one.help}" if one.help else "")]
        for number, one in zip(numbers(story), story, strict=True)
    ]
    return Table([Column(""), Column("when"), Column("what happened")], rows, "elephan explain prints the same.")


def _port_table(run: Run) -> Table:
    ports = run.ports
    names = texts(ports, "name")
    keys = ("utilisation", "drops", "queue_mean_bytes", "queue_max_bytes", "paused_ns")
    numeric = {key: column(ports, key) for key in keys}
    busy = np.argsort(-(numeric["utilisation"] + 1e3 * (numeric["drops"] > 0)), kind="stable")[: ROWS_MAX // 2]
    units = {"utilisation": "%", "drops": "1", "queue_mean_bytes": "bytes", "queue_max_bytes": "bytes", "paused_ns": "ns"}
    rows = [[Cell(arrow(names[i]))] + [_of_port(k, numeric[k][i], u) for k, u in units.items()] for i in busy]
    heads = ("port", "busy", "drops", "mean queue", "longest queue", "paused")
    which = "those that dropped packets, then the busiest" if numeric["drops"].any() else "the busiest"
    note = f"{len(rows)} of {len(names)} ports: {which}." if len(names) > len(rows) else ""
    return Table([Column(h, i >= 1) for i, h in enumerate(heads)], rows, note, "ports")


def _of_port(key: str, value: float, unit: str) -> Cell:
    return number_cell(value, unit, 9 if key == "drops" else 3)


def facts(manifest: dict[str, object]) -> list[tuple[str, str]]:
    """What a reader needs to know about how a result came about."""
    host = manifest.get("host") or {}
    assert isinstance(host, dict)
    cores = counted(int(str(host.get("cpus") or 1)), "core")
    rows = [
        ("elephan", str(manifest.get("elephan", ""))),
        ("seed", str(manifest.get("seed", ""))),
        ("runs", str(manifest.get("runs", ""))),
        ("scenario", f"sha256 {manifest['scenario_sha256']}" if manifest.get("scenario_sha256") else ""),
        ("changed", ", ".join(f"{k} = {v}" for k, v in _items(manifest.get("overrides")))),
        ("dropped keys", ", ".join(str(v) for v in _list(manifest.get("dropped_overrides")))),
        ("wall time", show(float(str(manifest["wall_s"])), "s") if "wall_s" in manifest else ""),
        ("events", show(float(str(manifest["events"])), "1", 12) if "events" in manifest else ""),
        ("packet-hops", show(float(str(manifest["packet_hops"])), "1", 12) if "packet_hops" in manifest else ""),
        ("captures", _captures(_list(manifest.get("captures")))),
        (
            "machine",
            f"{host.get('system', '')} {host.get('machine', '')}, {cores}, Python {host.get('python', '')}",
        ),
    ]
    return [(name, value) for name, value in rows if value]


def _captures(files: list[object]) -> str:
    shown = ", ".join(str(file) for file in files[:CAPTURES_MAX])
    return f"{shown} and {len(files) - CAPTURES_MAX} more" if len(files) > CAPTURES_MAX else shown


def _items(value: object) -> list[tuple[str, object]]:
    return list(value.items()) if isinstance(value, dict) else []


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def page(run: Run) -> Page:
    """The page of a run."""
    view = View(run)
    story = told(Facts(run))
    view.marks = marks(story)
    kinds = of_report(view, run.curated_figure)
    tables = [table for table in (_flow_table(view), _port_table(run)) if table is not None]
    look = str(run.manifest.get("look_for", ""))
    sections = [Section("", look, [kind.draw(view) for kind in kinds[:1]], look=True)]
    sections += [Section("What happened", MARKED, tables=[_story_table(story)])] if story else []
    for title in sorted({kind.section for kind in kinds[1:]}, key=lambda title: (title == MORE, title != OVER_TIME, title)):
        beside = BESIDE[title](run) if title in BESIDE else None
        drawings = [kind.draw(view) for kind in kinds[1:] if kind.section == title]
        over_time = title == OVER_TIME
        sections.append(Section(title, ZOOM if over_time else "", drawings, [beside] if beside else [], hint=over_time))
    sections.append(Section("Flows and ports", tables=tables))
    fine = "One run says nothing about chance: elephan sweep with repetitions gives confidence intervals over seeds."
    if run.warmup_ns:
        after = show(run.warmup_ns, "ns")
        what = "Goodput, utilisation and mean queues are of the time after"
        fine = f"{what} {after}, counts and longest queues of the whole run. {fine}"
    return Page(
        kicker=f"elephan · {run.name} · seed {run.seed}",
        title=run.title,
        question=run.question,
        answer=answer(run),
        fine=fine,
        warnings=warnings(run),
        version=str(run.manifest.get("elephan", "")),
        command=str(run.manifest.get("command", "")),
        sections=sections,
        parameters=parameter_groups(run.provenance),
        facts=facts(run.manifest),
    )


def notebook(run: Run) -> str:
    """A run in a notebook."""
    try:
        picture = inline(draw(run, run.curated_figure))
    except InputError:
        picture = ""
    found = measures.usual(run)
    rows = [
        [name, show(value, measures.unit_of(name), 4), measures.place_of(run, name), measures.time_of(run, name)]
        for name, value in found.items()
    ]
    words = said(f"{run.title} (seed {run.seed})", answer(run), warnings(run))
    return f'<div style="{PAPER}">{words}{picture}{small_table(["statistic", "value", "port", "time"], rows)}</div>'
