"""The report of a capture or a log."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from elephan.base.quantity import counted, multiple, show
from elephan.capture.flenttest import RATES, TIMES
from elephan.capture.limits import HELD, has_rate
from elephan.capture.logrows import PROBE
from elephan.capture.oneway import way_of
from elephan.capture.plateau import SHARE_MIN
from elephan.capture.trace import CONTROLLED
from elephan.report.figure.flow_phases import phase_lines
from elephan.report.figure.trace_figures import draw_all
from elephan.report.page.notebook import answered
from elephan.report.page.page import Cell, Column, Page, Section, Table, number_cell
from elephan.report.page.run_page import facts
from elephan.table.phases import Phases

if TYPE_CHECKING:
    from elephan.capture.trace import Trace

ROWS_MAX = 20
# Reasons to skip a packet that do not say what it is.
UNKNOWN = (
    "link type",
    "damaged",
    "fragments",
    "of an interface",
    "captured twice",
    "left out",
    "encrypted",
    "MACsec",
    "IPsec",
)
# What a table of series says of each, and units of logs as factors and units of ours.
_NUMBERS = {
    "median": "median",
    "before load": "median_before_load",
    "under load": "median_under_load",
    "least": "min",
    "most": "max",
}
_UNITS = {name: (factor, unit) for known, unit in ((RATES, "bps"), (TIMES, "ns")) for name, factor in known.items()}
PART_MAX = 0.5  # of a connection's time: phases of a shorter part say which
# What was in flight is behind a capture at the receiver.
UNSEEN_AT_RECEIVER = ("max_inflight_bytes",)


_RTTS = (("min_rtt_ns", "round-trip time at least"), ("handshake_rtt_ns", "round-trip time of its handshake"))


def answer(trace: Trace) -> list[str]:
    """What was seen, in a few sentences."""
    summary, rows = trace.summary, trace.ranked
    if not rows:
        return [_nothing(summary)]
    span = show(trace.span_ns, "ns", 3)
    packets = counted(summary["packets"], "packet") if summary["packets"] else f"a log of {summary['format']}"
    probes = int(rows.probes.sum())
    beside = f" and {counted(probes, 'series', 'series')} of round-trip times" if probes else ""
    lines = [f"{packets} in {span}: {counted(trace.count, 'connection')}{beside}.", *summary.get("said", [])]
    lines += trace.pair.told if trace.pair else []
    total = trace.total
    if total is not None and total.connections > 1:
        rate = f" at {show(total.goodput_bps, 'bps')}" if total.goodput_bps else ""
        lasted = show(total.end_ns - total.begin_ns, "ns", 3)
        lines.append(
            f"Together {counted(total.connections, 'connection')} delivered {show(total.delivered_bytes, 'bytes', 3)}{rate} in the "
            f"{lasted} from the first data to the last."
        )
    unknown = rows[0]["delivered_bytes"] is None and rows[0]["protocol"] != PROBE
    if rows[0]["goodput_bps"] or (rows[0]["delivered_bytes"] and rows[0]["data_segs_out"]) or unknown:
        lines.append(_largest(trace, rows[0]))
    if trace.focus != rows[0]["connection"]:
        lines.append(f"Of connection {trace.focus}, {trace.label(trace.focus)}:")
        # Only the crate `trace` has sentences about each connection.
        lines += [] if summary["packets"] else [_largest(trace, trace.row(trace.focus))]
    lines += trace.told(trace.focus)
    found = trace.found_phases
    lines += _phase_lines(trace, found) if found is not None else []
    if trace.twin is not None:
        lines += trace.twin.told["told"] + [answer["told"] for answer in trace.twin.told["what_if"]]
    # Of a single connection they are told above.
    return lines + (summary.get("ranks", []) if trace.count > 1 else [])


def _nothing(summary: dict[str, Any]) -> str:
    """What a capture without a connection has."""
    packets = counted(summary["packets"], "packet")
    if not summary["packets"]:
        return f"{packets}."
    skipped = summary.get("skipped", {})
    kinds = ", ".join(f"{count} {reason}" for reason, count in skipped.items())
    unknown = any(reason.startswith(UNKNOWN) for reason in skipped)
    what = "and nobody knows whether TCP or UDP is among them" if unknown else "no TCP or UDP among them"
    return f"{packets}, {what}{f': {kinds}' if kinds else ''}."


def _largest(trace: Trace, best: dict[str, Any]) -> str:
    """What the connection that delivered most did."""
    # Nobody acknowledges datagrams: what was sent is all that is seen.
    answered = best["protocol"] in CONTROLLED
    retransmitted = ""
    if answered and best["data_segs_out"] and best["segs_retrans"] is not None:
        retransmitted = f", {show(best['segs_retrans'] / best['data_segs_out'], '%', 2)} of the segments retransmitted"
    # A few segments, or less than two round trips, are no rate.
    rate = f" in {counted(best['data_segs_out'], 'segment')}" if best["data_segs_out"] else ""
    rate = f" at {show(best['goodput_bps'], 'bps', 3)}" if has_rate(best) else rate
    least = next(((name, best[key]) for key, name in _RTTS if best[key]), None)
    rtt = f", {least[0]} {show(least[1], 'ns', 3)}" if least else ""
    if best["delivered_bytes"] is None:
        return f"{trace.label(best['connection'])}: what it delivered is unknown{rtt}."
    delivered = f"{'delivered' if answered else 'sent'} {show(best['delivered_bytes'], 'bytes', 3)}"
    return f"{trace.label(best['connection'])} {delivered}{rate}{retransmitted}{rtt}."


def _phase_lines(trace: Trace, found: Phases) -> list[str]:
    lines = phase_lines(found, trace.knows_cuts)
    busy = found.stretches[-1].end_s - found.stretches[0].begin_s
    if trace.summary["packets"] and busy < PART_MAX * trace.activity(trace.focus).whole_s:
        span = f"{show(found.stretches[0].begin_s, 's', 3)} to {show(found.stretches[-1].end_s, 's', 3)}"
        lines[0] = f"From {span}, between long silences: {lines[0][0].lower()}{lines[0][1:]}"
    if found.path_known:
        return lines
    others = trace.beside_share(trace.row(trace.focus))
    if others > SHARE_MIN:
        lines.append(f"It shares its path: meanwhile other connections delivered {multiple(others)} as much as it did.")
    elif "rate_bps" not in trace.manifest:
        lines.append("A capture does not show the rate of the path. If you know it, give it with --rate.")
    return lines


def shown(trace: Trace, row: dict[str, Any], key: str, unit: str, digits: int = 3) -> Cell:
    """A value of a connection with its unit, or n/a: nobody knows it, or the capture cannot show it."""
    way = way_of(trace, row)
    unseen = key in UNSEEN_AT_RECEIVER and row["vantage"] == "receiver"
    unseen |= way is not None and key in way.columns
    unseen |= key == "goodput_bps" and not has_rate(row)
    return Cell("n/a") if row[key] is None or unseen else number_cell(row[key], unit, digits)


def _unseen_note(trace: Trace) -> str:
    """Why values are n/a."""
    if not trace.summary["packets"]:
        return "n/a: the log does not say it."
    rows = trace.ranked[:ROWS_MAX]
    whys = ["at the receiver"] if any(row["vantage"] == "receiver" for row in rows) else []
    whys += ["of one direction"] if any(way_of(trace, row) for row in rows) else []
    unscaled = any(row["protocol"] == "tcp" and row["segs_in"] and row["max_rwin_rcvd"] is None for row in rows)
    whys += ["without the handshake, which says the window's scale,"] if unscaled else []
    return f"n/a: a capture {' or '.join(whys)} does not show it." if whys else ""


def _connection_table(trace: Trace) -> Table:
    units = {
        "delivered_bytes": "bytes",
        "goodput_bps": "bps",
        "data_segs_out": "1",
        "segs_retrans": "1",
        "dup_acks_in": "1",
        "min_rtt_ns": "ns",
        "p99_rtt_ns": "ns",
        "max_inflight_bytes": "bytes",
        "burst_max_segs": "1",
    }
    rows = [
        [Cell(trace.label(row["connection"])), Cell(row["vantage"])]
        + [shown(trace, row, key, unit, 9 if unit == "1" else 3) for key, unit in units.items()]
        for row in trace.ranked[:ROWS_MAX]
    ]
    heads = (
        "connection",
        "seen at",
        "delivered",
        "goodput",
        "segments",
        "retransmitted",
        "dup ACKs",
        "least RTT",
        "p99 RTT",
        "in flight",
        "burst",
    )
    note = f"The {len(rows)} of {len(trace.ranked)} directions that delivered most." if len(trace.ranked) > len(rows) else ""
    note = " ".join(part for part in (note, _unseen_note(trace)) if part)
    return Table([Column(head, i >= 2) for i, head in enumerate(heads)], rows, note, "connections")


def _limits_table(trace: Trace) -> Table:
    rows = []
    for row in trace.ranked[:ROWS_MAX]:
        span = sum(row[name] or 0 for name in HELD)
        if span <= 0 or row["protocol"] != "tcp":
            continue
        shares = {name: (row[name] or 0) / span for name in HELD}
        share = [shown(trace, row | shares, key, "%", 2) for key in shares]
        window, closed = shown(trace, row, "max_rwin_rcvd", "bytes"), shown(trace, row, "zero_rwin_rcvd", "1", 9)
        scale = Cell("unknown") if row["win_scale_rcvd"] is None else number_cell(row["win_scale_rcvd"])
        missed = shown(trace, row, "missed_bytes", "bytes")
        options = [name for key, name in (("time_stamps", "timestamps"), ("will_use_sack", "SACK"), ("ecn", "ECN")) if row[key]]
        rows.append([Cell(trace.label(row["connection"])), *share, window, scale, closed, missed, Cell(", ".join(options))])
    heads = (
        "connection",
        "window closed",
        "window full",
        "nothing to send",
        "losses repaired",
        "waiting for a timer",
        "link full",
        "path or congestion window",
        "unknown",
        "largest window",
        "window scale",
        "times closed",
        "missed by the capture",
        "options",
    )
    return Table([Column(head, 1 <= i <= 12) for i, head in enumerate(heads)], rows, _unseen_note(trace), "limits")


def _of_series(one: dict[str, Any], key: str) -> Cell:
    """A number of a series, in a unit as people read it; n/a where nobody knows it."""
    value, unit = one[key], one["unit"]
    if value is None:
        return Cell("n/a")
    factor, known = _UNITS.get(unit.lower(), (1.0, "1"))
    return number_cell(value * factor, known) if known != "1" else Cell(f"{show(value)} {unit}".rstrip())


def series_table(trace: Trace) -> Table | None:
    """The series that a log has, each in numbers; None of a capture, and of a log of single connections."""
    listed = trace.summary.get("series", [])
    if not listed:
        return None
    several = len({one["file"] for one in listed}) > 1
    rows = [
        [Cell(f"{one['file']}: {one['name']}" if several else one["name"]), number_cell(one["values"]), number_cell(one["missing"])]
        + [_of_series(one, key) for key in _NUMBERS.values()]
        for one in listed
    ]
    columns = [Column("series", False), *(Column(head, True) for head in ("values", "missing", *_NUMBERS))]
    return Table(columns, rows, "A missing value is unknown. Under load: while a flow carried data.", "series")


def page(trace: Trace) -> Page:
    """The page of a trace."""
    drawings = draw_all(trace)
    summary = trace.summary
    begin = datetime.fromtimestamp(summary["begin_ns"] / 1e9, UTC).isoformat(timespec="milliseconds")
    tables = [table for table in (_connection_table(trace), _limits_table(trace)) if table.rows]
    sections = [Section("", "", drawings[:1])] if drawings else []
    sections += [Section("More figures", drawings=drawings[1:])] if drawings[1:] else []
    sections.append(Section("Connections", tables=tables))
    sections += [Section("Series of the log", tables=[table]) for table in [series_table(trace)] if table is not None]
    beside = f" Dashed: the run {trace.beside.name}." if trace.beside is not None else ""
    return Page(
        kicker=f"elephan · {summary['format']}",
        title=trace.name,
        question="What did these connections do, and what held them back?",
        answer=answer(trace),
        fine=f"Begins {begin}.{beside}",
        warnings=trace.notes,
        version=str(trace.manifest["elephan"]),
        command=str(trace.manifest["command"]),
        sections=sections,
        facts=facts(trace.manifest),
    )


def notebook(trace: Trace) -> str:
    """What a capture or a log says in a notebook."""
    shown = page(trace)
    drawings = [drawing for section in shown.sections for drawing in section.drawings]
    tables = [table for section in shown.sections for table in section.tables]
    return answered(trace.name, shown.answer, shown.warnings, drawings, tables)
