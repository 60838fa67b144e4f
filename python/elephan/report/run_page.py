"""The report of one run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from elephan.observed import timeouts
from elephan.quantity import seconds, show
from elephan.report.answer import answer
from elephan.report.interactive import panels
from elephan.report.page import Cell, Column, Page, Section, Table, interval_cell, parameter_groups, write_page
from elephan.report.run_figures import draw_all
from elephan.report.spreading_table import victim_table
from elephan.report.view import View, arrow
from elephan.rows import column, texts
from elephan.runs import Run

ROWS_MAX = 20
CAPTURES_MAX = 8
COARSE = 0.01  # of the least RTT: a tick that is worth a word
SPREADING = ("pause-timeline", "pause-tree")


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
    order = np.argsort(-column(flows, "goodput_bps"), kind="stable")[:ROWS_MAX]
    names, source, destination = list(view.flow_names.values()), texts(flows, "source"), texts(flows, "destination")
    law = texts(flows, "congestion_control")
    numeric = {key: column(flows, key) for key in ("goodput_bps", "segs_retrans", "min_rtt_ns", "fct_ns")}
    expiries = timeouts(view.run)
    finite = bool((~np.isnan(numeric["fct_ns"])).any())
    heads = ["flow", "path", "law", "goodput", "retransmitted", "timeouts", "least RTT"] + (["completion"] if finite else [])
    rows = []
    for i in order:
        cells = [names[i], f"{source[i]} → {destination[i]}", law[i] or "UDP", show(numeric["goodput_bps"][i], "bps")]
        cells += [
            show(numeric["segs_retrans"][i], "1", 9),
            show(expiries[i], "1", 9),
            show(numeric["min_rtt_ns"][i], "ns"),
        ]
        rows.append([Cell(c) for c in cells] + ([Cell(show(numeric["fct_ns"][i], "ns"))] if finite else []))
    shown = f"The first {ROWS_MAX} of {flows.num_rows} flows by goodput." if flows.num_rows > ROWS_MAX else ""
    note = " ".join(part for part in (shown, _coarse_ticks(view.run, order)) if part)
    return Table([Column(h, i >= 3) for i, h in enumerate(heads)], rows, note)


def _port_table(run: Run) -> Table:
    ports = run.ports
    names = texts(ports, "name")
    keys = ("utilisation", "drops", "queue_mean_bytes", "queue_max_bytes", "paused_ns")
    numeric = {key: column(ports, key) for key in keys}
    busy = np.argsort(-(numeric["utilisation"] + 1e3 * (numeric["drops"] > 0)), kind="stable")[: ROWS_MAX // 2]
    units = {"utilisation": "%", "drops": "1", "queue_mean_bytes": "bytes", "queue_max_bytes": "bytes", "paused_ns": "ns"}
    rows = [
        [Cell(arrow(names[i]))] + [Cell(show(numeric[k][i], u, 9 if k == "drops" else 3)) for k, u in units.items()] for i in busy
    ]
    heads = ("port", "busy", "drops", "mean queue", "longest queue", "paused")
    note = f"The {len(rows)} busiest of {len(names)} ports." if len(names) > len(rows) else ""
    return Table([Column(h, i >= 1) for i, h in enumerate(heads)], rows, note)


def facts(manifest: dict[str, object]) -> list[tuple[str, str]]:
    """What a reader needs to know about how a result came about."""
    host = manifest.get("host") or {}
    assert isinstance(host, dict)
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
            f"{host.get('system', '')} {host.get('machine', '')}, {host.get('cpus', '')} cores, Python {host.get('python', '')}",
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


def run_page(run: Run) -> Page:
    """The page of a run."""
    view = View(run)
    drawings = draw_all(run, run.curated_figure)
    charts = panels(view)
    tables = [table for table in (_flow_table(view), _port_table(run)) if table is not None]
    sections = [Section("", str(run.manifest.get("look_for", "")), drawings[:1], look=True)]
    if charts:
        sections.append(Section("Over time", interactive=True))
    spread = [drawing for drawing in drawings[1:] if drawing.name in SPREADING]
    more = [drawing for drawing in drawings[1:] if drawing not in spread]
    if spread:
        victims = victim_table(run)
        sections.append(Section("Congestion spreading", tables=[victims] if victims else [], drawings=spread))
    sections += [Section("More figures", drawings=more)] if more else []
    sections.append(Section("Flows and ports", tables=tables))
    fine = "One run says nothing about chance: elephan sweep with repetitions gives confidence intervals over seeds."
    if run.warmup_ns:
        fine = f"Goodput, utilisation and queues are of the time after {show(run.warmup_ns, 'ns')}, counts of the whole run. {fine}"
    return Page(
        kicker=f"elephan · {run.name} · seed {run.seed}",
        title=run.title,
        question=run.question,
        answer=answer(run),
        fine=fine,
        version=str(run.manifest.get("elephan", "")),
        command=str(run.manifest.get("command", "")),
        sections=sections,
        parameters=parameter_groups(run.provenance),
        facts=facts(run.manifest),
        panels=charts,
    )


def write_run_report(run: Run, path: Path, figures: Path | None = None) -> Path:
    """Writes the report of a run."""
    return write_page(run_page(run), path, figures)


__all__ = ["answer", "facts", "interval_cell", "run_page", "write_run_report"]
