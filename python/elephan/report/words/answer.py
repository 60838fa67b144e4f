"""What a run says to its scenario's question, in a few sentences with numbers and names.

What was delivered, by flow or by traffic entry; what was lost; what explains most of it (`elephan explain`); what each `[[change]]`
did: to goodput, to the queue of the port that it is about, to flows that stood still while a link was down; where the queue
stood; how far pauses spread.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from elephan.base import stats
from elephan.base.quantity import counted, show
from elephan.report.explain.facts import Facts
from elephan.report.explain.rules import foremost
from elephan.report.figure.flow_phases import phase_lines, telling
from elephan.report.words import curated, ranks
from elephan.report.words.phases import change_lines
from elephan.report.words.reasons import REASONS, STAGES
from elephan.report.words.spreading_table import spread_lines
from elephan.report.words.view import NAMED_MAX, View, arrow
from elephan.result.run import Run
from elephan.statistic import measures
from elephan.table import hostrows
from elephan.table.rows import Array, column, texts
from elephan.table.spreading import spreading


def answer(run: Run) -> list[str]:
    """What happened, in a few sentences."""
    found = measures.usual(run)
    view = View(run)
    asked = next(iter(run.curated_statistics), "").startswith("latency_ns")
    took = _took(found)
    parts = [took if asked else "", _delivered(view, found), _repaired(run, found), _at_hosts(run), "" if asked else took]
    parts += [_rounds(run, found), ranks.iterations(run), _given_up(run)]
    changed = change_lines(view)
    parts += [
        _copied(run),
        _hung(run),
        _stalled(run),
        _limited(run),
        "" if changed else _bottleneck(run),
        _notified(run),
    ]
    # What the scenario is about comes first.
    spread, held = spread_lines(run), any(tree.victims for tree in spreading(run))
    first, then = (spread, changed) if held or run.curated_figure.startswith("pause") else (changed, spread)
    own = [said] if (said := curated.words(view)) else []
    why = " ".join(foremost(Facts(run)))
    return [*own, *first, " ".join(part for part in parts if part), *([why] if why else []), *_phases(view), *then]


def _took(found: dict[str, float]) -> str:
    """How long messages took."""
    if "latency_ns.p50" not in found:
        return ""
    median, tail, worst = (show(found[f"latency_ns.{q}"], "ns") for q in ("p50", "p99", "max"))
    return f"Half of the messages took less than {median}, 99 % less than {tail}, the slowest {worst}."


def _phases(view: View) -> list[str]:
    """The phases of a lone flow, and whether it recovers before it finishes, where they say something."""
    found = telling(view) if view.run.flows.num_rows == 1 else None
    return [" ".join(phase_lines(found))] if found else []


def _delivered(view: View, found: dict[str, float]) -> str:
    """What the flows got, each by its name when they are few, else each traffic entry."""
    run = view.run
    flows = run.flows.num_rows
    if found.get("fct_ns.mean", 0.0) > 0:
        return _completed(view, found)
    measured = show(run.duration_ns - run.warmup_ns, "ns")
    total = f"{show(found.get('goodput_bps.sum', 0.0), 'bps')} in {measured}{_within(run)}"
    if flows <= 1:
        return f"The flow delivered {total}."
    index = found.get("goodput_bps.jain", math.nan)  # NaN where nothing was delivered
    joint = "" if math.isnan(index) else f", Jain's index {show(index)}"
    rates = column(run.flows, "goodput_bps")
    if flows <= NAMED_MAX:
        lived = _lived(run)
        each = [
            f"{name} {show(rate, 'bps')}{span}" for name, rate, span in zip(view.flow_names.values(), rates, lived, strict=True)
        ]
        over = " Every rate is over the measured time, also of a flow that ran for a part of it." if any(lived) else ""
        return f"Delivered: {_listed(each)}, together {total}{joint}.{over}"
    entries = texts(run.flows, "traffic")
    if 1 < len(set(entries)) <= NAMED_MAX:
        return f"Delivered: {_listed(_by_entry(entries, rates))}; all {counted(flows, 'flow')} together {total}{joint}."
    least, most = show(float(rates.min()), "bps"), show(float(rates.max()), "bps")
    return f"{counted(flows, 'flow')} delivered {total} together, from {least} to {most} each{joint}."


def _lived(run: Run) -> list[str]:
    """` (from 10 s to 20 s)` for each flow that ran for a part of the measured time only, else nothing."""
    start, end = column(run.flows, "start_ns"), column(run.flows, "end_ns")
    least = 0.01 * (run.duration_ns - run.warmup_ns)
    said = []
    for first, last in zip(start, end, strict=True):
        begun = f"from {show(first, 'ns')}" if first > run.warmup_ns + least else ""
        over = f"to {show(last, 'ns')}" if last < run.duration_ns - least else ""
        said.append(f" ({' '.join(part for part in (begun, over) if part)})" if begun or over else "")
    return said


def _completed(view: View, found: dict[str, float]) -> str:
    """How many transfers came to their end in which time, and what flows without an end got beside them."""
    flows = view.run.flows
    finite = ~np.isnan(column(flows, "size_bytes"))
    begun = int(np.sum(finite & (column(flows, "start_ns") >= view.run.warmup_ns)))
    done = int(measures.statistic(view.run, "fct_ns.count"))
    mean, tail, worst = (
        show(x, "ns") for x in (found["fct_ns.mean"], found["fct_ns.p99"], measures.statistic(view.run, "fct_ns.max"))
    )
    what = "streams of transfers from disk to disk" if view.run.copies.num_rows else "transfers"
    came = f"{show(done, '1', 9)} of {show(begun, '1', 9)} {what}"
    said = f"{came} completed, in {mean} on average, {tail} at the 99th percentile and {worst} at most."
    over = ~np.isnan(column(flows, "end_ns")) & np.isnan(column(flows, "fct_ns"))
    if cut := begun - done - int(np.sum(over & finite & (column(flows, "start_ns") >= view.run.warmup_ns))):
        ran = np.where(finite & ~over, view.run.duration_ns - column(flows, "start_ns"), 0.0)[np.isnan(column(flows, "fct_ns"))]
        rest = "The other one" if cut == 1 else f"The other {cut}"
        said += f" {rest} had run for up to {show(float(ran.max()), 'ns')} at the end of the run."
    others = np.flatnonzero(~finite)
    if not 0 < others.size <= NAMED_MAX:
        return said
    rates, names = column(flows, "goodput_bps"), list(view.flow_names.values())
    beside = [f"{names[i]} delivered {show(rates[i], 'bps')}" for i in others]
    return f"{said} Beside them {_listed(beside)}."


def _given_up(run: Run) -> str:
    """How many connections ended because one end did not answer any more."""
    count = int(run.summary.get("given_up", 0))
    if not count:
        return ""
    which = "One connection was" if count == 1 else f"{counted(count, 'connection')} were"
    return f"{which} given up: the peer did not answer any more."


def _rounds(run: Run, found: dict[str, float]) -> str:
    """How long rounds of answers took."""
    if "round_time.mean" not in found:
        return ""
    mean, tail, worst = (
        show(x, "ns") for x in (found["round_time.mean"], found["round_time.p99"], measures.statistic(run, "round_time.max"))
    )
    count = int(measures.statistic(run, "round_time.count"))
    return f"{counted(count, 'round')} completed, in {mean} on average, {tail} at the 99th percentile and {worst} at most."


def _by_entry(entries: list[str], rates: Array) -> list[str]:
    """`web 30 Mb/s (12 flows, 1 to 4 Mb/s each)` for each traffic entry."""
    said = []
    for entry, count in Counter(entries).items():
        mine = rates[[one == entry for one in entries]]
        least, most = show(float(mine.min()), "bps"), show(float(mine.max()), "bps")
        of = f" ({counted(count, 'flow')}, {least} to {most} each)" if count > 1 else ""
        said.append(f"{entry} {show(float(mine.sum()), 'bps')}{of}")
    return said


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _repaired(run: Run, found: dict[str, float]) -> str:
    """What was lost, and how often a sender had to wait for its timer."""
    ports = run.ports
    drops, timeouts = int(found.get("drops.sum", 0)), int(found.get("timeouts.sum", 0))
    lost = int(column(ports, "lost").sum()) if "lost" in ports.column_names else 0
    taken = f"The links lost {_packets(lost)}" if lost else ""
    if not drops:
        waits = f"; there {_were(timeouts, 'timeout')}" if timeouts else ""
        where = " at a port" if lost or (run.summary.get("hosts") or {}).get("drops") else ""
        return f"{taken}{'; no' if lost else 'No'} packet was dropped{where}{waits}."
    rto = f", and there {_were(timeouts, 'retransmission timeout')}" if timeouts else ""
    share = show(found.get("loss.max", 0.0), "%", 2)
    at = [arrow(name) for name, count in zip(texts(ports, "name"), column(ports, "drops"), strict=True) if count > 0]
    where = f"at {at[0]} ({share} of what came)" if len(at) == 1 else f"(up to {share} at a port)"
    were = "was" if drops == 1 else "were"
    return f"{f'{taken}; ' if lost else ''}{_packets(drops)} {were} dropped {where}{rto}."


def _at_hosts(run: Run) -> str:
    """What hosts dropped of what came in and why, and how long a logger was silent."""
    hosts = run.hosts
    said = []
    if hosts.num_rows and (each := hostrows.drops(run)).sum() > 0:
        i = int(each.argmax())
        alone = each[i] == each.sum()
        why = max(REASONS, key=lambda key: float(column(hosts, key)[i]))
        share = show(float(each[i] / max(column(hosts, "frames")[i], 1)), "%", 2)
        others = "" if alone else f" (all hosts together {show(float(each.sum()), '1', 9)})"
        said.append(
            f"{texts(hosts, 'host')[i]} dropped {_packets(int(each[i]))} that had come to it{others}, {share} of them all, mostly "
            f"because {REASONS[why]}."
        )
    if run.logger_gaps.num_rows:
        said.append(f"A logger at user level was silent for {show(run.summary['hosts']['logger_gap_max_s'] * 1e9, 'ns')}.")
    return " ".join(said)


def _hung(run: Run) -> str:
    """Ports that wait for each other's buffers in a cycle, and priorities that a watchdog has freed."""
    said = []
    if found := run.summary.get("deadlock"):
        ports, priority = [arrow(port) for port in found["ports"]], found["priority"]
        which = "" if priority is None else f" of priority {priority}"
        since = show(found["since_s"] * 1e9, "ns")
        said.append(f"Deadlock{which} from {since} on: the paused ports {_listed(ports)} waited for each other's buffers.")
    if bites := int(run.summary.get("watchdogs", 0)):
        said.append(f"Watchdogs dropped what waited {'once' if bites == 1 else counted(bites, 'time')}.")
    return " ".join(said)


def _copied(run: Run) -> str:
    """What transfers from disk to disk reached, and what held them up."""
    found = run.summary.get("copies")
    if not found:
        return ""
    many = int(found["transfers"]) > 1
    what = f"{found['transfers']} transfers from disk to disk" if many else "The transfer from disk to disk"
    said = f"{what} ran at {show(found['rate_bps'], 'bps')}{' together while any of them ran' if many else ''}"
    if found["limit"]:
        share = found["limited"][found["limit"]]
        said += f", limited by {STAGES[found['limit']]} for {show(share, '%', 2)} of the time"
    done = column(run.copies, "on_disk_ns"), column(run.copies, "cached_ns")
    if not many and not np.isnan(done[0]).any():
        said += f"; its last byte was in the cache after {show(done[1][0], 'ns')} and on the disk after {show(done[0][0], 'ns')}"
    return f"{said}."


def _stalled(run: Run) -> str:
    """Segments that hosts refused because their own queues were full."""
    stalls = int(column(run.flows, "send_stall").sum())
    if not stalls:
        return ""
    segments = counted(stalls, "segment")
    return f"Hosts refused {segments} because qdisc and ring were full (send stalls)."


def _limited(run: Run) -> str:
    """What kept a lone flow from sending more, when it was not congestion."""
    if run.flows.num_rows != 1 or run.summary.get("copies"):
        return ""
    spent = {who: float(column(run.flows, f"snd_lim_time_{who}_ns")[0]) for who in ("rwin", "cwnd", "snd")}
    total = sum(spent.values())
    spent["snd"] -= _over_ns(run)
    words = {"rwin": "the receiver's window", "snd": "its own side (application or send buffer)"}
    most = [who for who in words if total > 0 and spent[who] > 0.05 * total]
    shares = [f"{words[who]} for {show(spent[who] / total, '%', 2)}" for who in most]
    return f"It was limited by {' and by '.join(shares)} of the time." if shares else ""


def _over_ns(run: Run) -> float:
    """How long a lone transfer had nothing more to send: its last byte was out."""
    size, samples = column(run.flows, "size_bytes")[0], run.flow_samples
    if np.isnan(size) or not samples.num_rows:
        return 0.0
    out = column(samples, "delivered_bytes") + column(samples, "inflight_bytes") >= size
    limited = column(samples, "snd_lim_time_snd_ns")
    return float(limited[-1] - limited[out.argmax()]) if out.any() else 0.0


def _bottleneck(run: Run) -> str:
    """The port of the network that drops most, or else the busiest, and its queue, in bytes and as the delay that it adds; a host's
    own only if no other is busy.

    A host's port is where its application waits for TCP, and full for no reason of the network's.
    """
    ports = run.ports
    if not ports.num_rows:
        return ""
    busy, mean, most, drops = (column(ports, key) for key in ("utilisation", "queue_mean_bytes", "queue_max_bytes", "drops"))
    hosts = set(run.resolved.get("hosts", {}))
    inside = np.array([node.partition("[")[0] not in hosts for node in _nodes(run)])
    eligible = inside if (busy[inside] > 0.05).any() else np.ones(busy.size, dtype=bool)
    longest, worst = (max(1.0, float(one[eligible].max())) for one in (mean, drops))
    score = np.where(eligible, busy + mean / longest + 2 * drops / worst, -1.0)
    i = int(np.argmax(score))
    if busy[i] <= 0:
        return ""
    said = f"The port {arrow(texts(ports, 'name')[i])} was busy {show(busy[i], '%')} of the time"
    if most[i] <= 0:
        return f"{said}, without a queue."
    delay = f" ({show(mean[i] * 8e9 / column(ports, 'rate_bps')[i], 'ns')} of delay)" if "rate_bps" in ports.column_names else ""
    whole = " in the whole run" if run.warmup_ns else ""
    return f"{said}, its queue {show(mean[i], 'bytes')}{delay} on average, {show(most[i], 'bytes')} at most{whole}."


def _nodes(run: Run) -> list[str]:
    """Who owns each port."""
    return (
        texts(run.ports, "node") if "node" in run.ports.column_names else [n.partition("->")[0] for n in texts(run.ports, "name")]
    )


def _notified(run: Run) -> str:
    """Who told senders to slow down: congestion points of layer 2, and ports that mark."""
    ports = run.ports
    said = []
    for key, what in (
        ("notifications_sent", "sent {} notifications of congestion"),
        ("marks", "marked {} packets"),
        ("trims", "trimmed {} packets"),
    ):
        if key not in ports.column_names:
            continue
        counts = np.nan_to_num(column(ports, key))
        if counts.sum() > 0:
            i = int(counts.argmax())
            more = "" if counts[i] == counts.sum() else f" (of {show(float(counts.sum()), '1', 9)} in all)"
            said.append(f"The port {arrow(texts(ports, 'name')[i])} {what.format(show(float(counts[i]), '1', 9))}{more}.")
    return " ".join(said)


def _packets(count: int) -> str:
    return counted(int(count), "packet")


def _were(count: int, what: str) -> str:
    return f"was 1 {what}" if count == 1 else f"were {count} {what}s"


def _within(run: Run) -> str:
    """The 95 % interval of goodput over ten stretches of the run; none where a change makes stretches differ."""
    if not run.warmup_ns or run.resolved.get("change"):
        return ""
    series = measures.MEASURES["goodput_10ms_bps"].values(run)
    interval = stats.batch_interval(series) if series.size >= 20 else None
    if interval is None or not math.isfinite(interval.low):
        return ""
    interval = stats.within(interval, 0.0, math.inf)
    low, high = show(interval.low, "bps"), show(interval.high, "bps")
    return f" ({low} to {high} over ten stretches of the run)" if low != high else ""
