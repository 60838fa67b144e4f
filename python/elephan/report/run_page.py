"""The report of one run."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from elephan import measures, stats
from elephan.measures import column, texts
from elephan.quantity import show
from elephan.report.interactive import panels
from elephan.report.page import Cell, Column, Page, Section, Table, interval_cell, parameter_groups, write_page
from elephan.report.run_figures import draw_all
from elephan.report.spreading_table import spread_lines, victim_table
from elephan.report.view import NAMED_MAX, View, arrow
from elephan.runs import Run

ROWS_MAX = 20
CAPTURES_MAX = 8
SPREADING = ("pause-timeline", "pause-tree")


def answer(run: Run) -> list[str]:
    """What happened, in a few sentences."""
    found = measures.statistics(run)
    parts = [_delivered(run, found), _repaired(run, found), _at_hosts(run)]
    if "latency_ns.p50" in found and "fct_ns.mean" not in found:
        median, tail, worst = (show(found[f"latency_ns.{q}"], "ns") for q in ("p50", "p99", "max"))
        parts.append(f"Half of the messages took less than {median}, 99 % less than {tail}, the slowest {worst}.")
    parts += [_copied(run), _hung(run), _limited(run), _bottleneck(run)]
    return [" ".join(part for part in parts if part), *spread_lines(run)]


def _delivered(run: Run, found: dict[str, float]) -> str:
    """What the flows got, each by its name when they are few."""
    flows = run.flows.num_rows
    if found.get("fct_ns.mean", 0.0) > 0:
        done = int(measures.statistic(run, "fct_ns.count"))
        return f"{done} of {flows} transfers completed, in {_pair(found, 'fct_ns.mean', 'fct_ns.p99')}."
    total = f"{show(found.get('goodput_bps.sum', 0.0), 'bps')}{_within(run)}"
    if flows <= 1:
        return f"The flow delivered {total}."
    joint = f", Jain's index {show(found['goodput_bps.jain'])}" if "goodput_bps.jain" in found else ""
    names = View(run).flow_names
    if flows > NAMED_MAX or any(name == f"flow {i}" for i, name in names.items()):
        return f"{flows} flows delivered {total} together{joint}."
    rates = column(run.flows, "goodput_bps")
    each = [f"{name} {show(rate, 'bps')}" for name, rate in zip(names.values(), rates, strict=True)]
    return f"Delivered: {', '.join(each[:-1])} and {each[-1]}, together {total}{joint}."


def _repaired(run: Run, found: dict[str, float]) -> str:
    """What was lost, and how often a sender had to wait for its timer."""
    drops, timeouts = int(found.get("drops.sum", 0)), int(found.get("timeouts.sum", 0))
    if not drops:
        waits = f"; there {_were(timeouts, 'timeout')}" if timeouts else ""
        where = " at a port" if (run.summary.get("hosts") or {}).get("drops") else ""
        return f"No packet was dropped{where}{waits}."
    rto = f", and there {_were(timeouts, 'retransmission timeout')}" if timeouts else ""
    packets = "1 packet was" if drops == 1 else f"{drops} packets were"
    return f"{packets} dropped (up to {show(found.get('loss.max', 0.0), '%', 2)} at a port){rto}."


def _at_hosts(run: Run) -> str:
    """What hosts dropped of what came in, and how long a logger was silent."""
    hosts = run.summary.get("hosts") or {}
    said = []
    if drops := int(hosts.get("drops", 0)):
        said.append(f"Hosts dropped {drops} packet{'s' if drops > 1 else ''} that had reached them.")
    if run.logger_gaps.num_rows:
        said.append(f"A logger at user level was silent for {show(hosts['logger_gap_max_s'] * 1e9, 'ns')}.")
    return " ".join(said)


def _hung(run: Run) -> str:
    """Ports that wait for each other's buffers in a cycle, and priorities that a watchdog has freed."""
    said = []
    if found := run.summary.get("deadlock"):
        ports, priority = [arrow(port) for port in found["ports"]], found["priority"]
        which = "" if priority is None else f" of priority {priority}"
        since = show(found["since_s"] * 1e9, "ns")
        ring = f"{', '.join(ports[:-1])} and {ports[-1]}" if len(ports) > 1 else ports[0]
        said.append(f"Deadlock{which} from {since} on: the paused ports {ring} waited for each other's buffers.")
    if bites := int(run.summary.get("watchdogs", 0)):
        said.append(f"Watchdogs dropped what waited {'once' if bites == 1 else f'{bites} times'}.")
    return " ".join(said)


STAGES = {
    "read": "the disk that is read",
    "network": "the network",
    "send_buffer": "the send buffers of the sockets",
    "receive_buffer": "the receive buffers of the sockets",
    "write": "the disk that is written",
}


def _copied(run: Run) -> str:
    """What transfers from disk to disk reached, and what held them up."""
    found = run.summary.get("copies")
    if not found:
        return ""
    many = int(found["transfers"]) > 1
    what = f"{found['transfers']} transfers from disk to disk" if many else "The transfer from disk to disk"
    said = f"{what} ran at {show(found['rate_bps'], 'bps')}{' together' if many else ''}"
    if found["limit"]:
        share = found["limited"][found["limit"]]
        said += f", limited by {STAGES[found['limit']]} for {show(share, '%', 2)} of the time"
    done = column(run.copies, "on_disk_ns"), column(run.copies, "cached_ns")
    if not many and not np.isnan(done[0]).any():
        said += f"; its last byte was in the cache after {show(done[1][0], 'ns')} and on the disk after {show(done[0][0], 'ns')}"
    return f"{said}."


def _limited(run: Run) -> str:
    """What kept a lone flow from sending more, when it was not congestion."""
    if run.flows.num_rows != 1 or run.summary.get("copies"):
        return ""
    spent = {who: float(column(run.flows, f"snd_lim_time_{who}_ns")[0]) for who in ("rwin", "cwnd", "snd")}
    total = sum(spent.values())
    words = {"rwin": "the receiver's window", "snd": "the sender, which had nothing to send,"}
    shares = [f"{words[who]} for {show(spent[who] / total, '%', 2)}" for who in words if total > 0 and spent[who] > 0.05 * total]
    return f"It was limited by {' and by '.join(shares)} of the time." if shares else ""


def _bottleneck(run: Run) -> str:
    """The busiest port and its queue, in bytes and as the delay that it adds."""
    ports = run.ports
    if not ports.num_rows:
        return ""
    busy, mean, most = (column(ports, key) for key in ("utilisation", "queue_mean_bytes", "queue_max_bytes"))
    i = int(np.argmax(busy + mean / max(1.0, float(mean.max()))))
    if busy[i] <= 0:
        return ""
    said = f"The port {arrow(texts(ports, 'name')[i])} was busy {show(busy[i], '%')} of the time"
    if most[i] <= 0:
        return f"{said}, without a queue."
    delay = f" ({show(mean[i] * 8e9 / column(ports, 'rate_bps')[i], 'ns')} of delay)" if "rate_bps" in ports.column_names else ""
    return f"{said}, its queue {show(mean[i], 'bytes')}{delay} on average, {show(most[i], 'bytes')} at most."


def _were(count: int, what: str) -> str:
    return f"was 1 {what}" if count == 1 else f"were {count} {what}s"


def _pair(found: dict[str, float], mean: str, tail: str) -> str:
    return f"{show(found[mean], 'ns')} on average and {show(found[tail], 'ns')} at the 99th percentile"


def _within(run: Run) -> str:
    """The 95 % interval of goodput over ten stretches of the run."""
    series = measures.MEASURES["goodput_10ms_bps"].values(run) if run.warmup_ns else np.empty(0)
    interval = stats.batch_interval(series) if series.size >= 20 else None
    if interval is None or not np.isfinite(interval.low):
        return ""
    return f" ({show(interval.low, 'bps')} to {show(interval.high, 'bps')} over ten stretches of the run)"


def _flow_table(view: View) -> Table | None:
    flows = view.run.flows
    if not flows.num_rows:
        return None
    order = np.argsort(-column(flows, "goodput_bps"), kind="stable")[:ROWS_MAX]
    names, source, destination = list(view.flow_names.values()), texts(flows, "source"), texts(flows, "destination")
    law = texts(flows, "congestion_control")
    numeric = {key: column(flows, key) for key in ("goodput_bps", "segs_retrans", "timeouts", "min_rtt_ns", "fct_ns")}
    finite = bool((~np.isnan(numeric["fct_ns"])).any())
    heads = ["flow", "path", "law", "goodput", "retransmitted", "timeouts", "least RTT"] + (["completion"] if finite else [])
    rows = []
    for i in order:
        cells = [names[i], f"{source[i]} → {destination[i]}", law[i] or "UDP", show(numeric["goodput_bps"][i], "bps")]
        cells += [
            show(numeric["segs_retrans"][i], "1", 9),
            show(numeric["timeouts"][i], "1", 9),
            show(numeric["min_rtt_ns"][i], "ns"),
        ]
        rows.append([Cell(c) for c in cells] + ([Cell(show(numeric["fct_ns"][i], "ns"))] if finite else []))
    note = f"The first {ROWS_MAX} of {flows.num_rows} flows by goodput." if flows.num_rows > ROWS_MAX else ""
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
