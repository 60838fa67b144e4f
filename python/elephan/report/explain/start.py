"""Rules about slow start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from elephan.base.quantity import multiple, show
from elephan.report.explain.facts import FULL_QUEUE, Events, Facts, Flow
from elephan.report.explain.finding import (
    Finding,
    back_in_avoidance,
    grouped,
    instant,
    last_ns,
    many,
    number,
    packets,
    tcp_trial,
    whose,
)
from elephan.scenario import congestion, kinds

TOO_MUCH = 1.1  # of what the path holds, from which on a window after a cut still overflows the queue
DELAY_RISE = 1.25  # of the round-trip time before a loss, from which on HyStart would have seen it


@dataclass(frozen=True)
class _Overflow:
    """A slow start that a full queue ended: when its loss was noticed, when it was repaired, and what was lost until then."""

    noticed: float
    repaired: float  # NaN where samples do not tell
    lost: Events
    port: int
    off: str  # why HyStart did not end it, if so
    rise: float  # of the round-trip time before the loss was noticed, in least round-trip times


def burst(flow: Flow) -> tuple[Events, int, float, int] | None:
    """Losses, segments and room of a first window that does not fit into a queue together with those that begin beside it, and how
    many they are together.
    """
    if (lost := flow.first_flight) is None:
        return None
    segments, room = flow.setting("initial_window"), float(flow.facts.ports("queue_max_bytes")[flow.facts.place_of(lost.port[0])])
    at, rtt = flow.value("established_ns"), flow.value("min_rtt_ns")
    first, last = np.searchsorted(flow.facts.established, [at - rtt, at + rtt])
    together = int(last - first)
    return (lost, int(segments), room, together) if segments * float(lost.bytes[0]) * together > room else None


def _overflow(flow: Flow) -> _Overflow | None:
    if not len(flow.repairs) or not len(flow.drops) or burst(flow) is not None:
        return None
    noticed = float(flow.repairs.time[0])
    full = flow.drops.where(flow.drops.reason.are(*FULL_QUEUE))
    if not len(full) or full.time[0] > noticed:
        return None
    first, off = float(full.time[0]), _hystart_off(flow)
    # The phase just before the loss was noticed: HyStart may have ended slow start while the loss was on its way back. Without
    # HyStart only a loss or a mark ends it, also between two samples.
    phase = flow.phase_before(noticed)
    slow = phase == "slow_start" or (phase in ("", "handshake") and off and not len(flow.facts.view.events("mark")))
    if not slow or not flow.by_window(first):
        return None
    repaired = back_in_avoidance(flow, noticed)
    rtt = flow.samples["sample_rtt_ns"][flow.samples["time_ns"] <= noticed] if flow.followed else np.empty(0)
    rise = float(np.nanmax(rtt)) / flow.value("min_rtt_ns") if rtt.size and not np.isnan(rtt).all() else 0.0
    lost = flow.drops.between(first, noticed if np.isnan(repaired) else repaired)
    return _Overflow(noticed, repaired, lost, flow.facts.place_of(full.port[0]), off, rise)


def _hystart_off(flow: Flow) -> str:
    kind, stack, control = str(flow.setting("slow_start.kind") or ""), flow.text("stack"), flow.text("congestion_control")
    if not kind or _has_own_start(flow) or kinds.ends_by_delay(kind, control) is not False:
        return ""
    having = [name for name in congestion.names() if kinds.ends_by_delay(kind, name)]
    return f" In stack {stack} only {' and '.join(having)} has HyStart." if having else f" HyStart is off in stack {stack}."


def _has_own_start(flow: Flow) -> bool:
    """Whether the congestion control of a flow begins in its own way."""
    return bool(kinds.congestion_control(flow.control).get("own_start", True))


def slow_start_overshoot(facts: Facts) -> Iterator[Finding]:
    """Slow start went on until a queue overflowed."""
    cases = [(flow, over) for flow in facts.lossy if (over := _overflow(flow)) is not None]
    for group in grouped(cases):
        flows, found = [flow for flow, _ in group], [one for _, one in group]
        begins, lost = [float(one.lost.time[0]) for one in found], sum(len(one.lost) for one in found)
        port = facts.port_names[found[0].port] if len({one.port for one in found}) == 1 else ""
        off = found[0].off if len({one.off for one in found}) == 1 else ""
        help, trial = "", None
        if off and (rise := min(one.rise for one in found)) >= DELAY_RISE:
            least = "" if len(group) == 1 else " at least"
            help = (
                f"The round-trip time rose to {multiple(rise)} its least value{least} before the loss was noticed. "
                "HyStart looks for such a rise: try tcp.slow_start=hystart."
            )
            trial = tcp_trial(flows, "slow_start", "hystart", "drops")
        what, own = f"the queue of {port}" if port else "a queue", ""
        unseen = any(np.isnan(one.repaired) for one in found)
        if len(group) == 1:
            beyond, own = _over(flows[0], found[0])
            ended = found[0].repaired
            until = f"before that was noticed at {instant(found[0].noticed)}" if np.isnan(ended) else f"until {instant(ended)}"
            text = f"{_start_of(flows[0])} went on until {what} overflowed; {packets(lost)} lost {until}.{beyond}{off}"
        else:
            at, last = instant(min(begins)), instant(max(begins))
            until = "before they noticed that" if unseen else "until slow start was over and its losses were repaired"
            text = (
                f"{whose(flows)} were in slow start when {what} overflowed, the first at {at}, the last at {last}. They lost "
                f"{number(lost)} packets {until}.{off}"
            )
        start = "the startup" if all(map(_has_own_start, flows)) else "slow start"
        who = f"{start} of {whose(flows, 'all')}" if len(facts.flows) > 1 else start
        before = " before that was noticed" if unseen else ""
        brief = f"At {instant(min(begins))} {who} overflowed {what}{own}, and {packets(lost)} lost{before}.{off}"
        weight = lost / max(len(facts.drops), 1)
        end = last_ns(one.repaired for one in found)
        name = flows[0].name if len(group) == 1 else ""
        yield Finding(
            "slow_start_overshoot", text, min(begins) / 1e9, end, name, port, help, trial, False, len(group), brief, weight
        )


def _start_of(flow: Flow) -> str:
    """What the congestion control of a flow calls its first phase."""
    return f"{'The startup' if _has_own_start(flow) else 'Slow start'} of {flow.name}"


def _over(flow: Flow, found: _Overflow) -> tuple[str, str]:
    """By how much a flow that was alone at the port overshot, in sentences and in a few words."""
    facts, lost = flow.facts, found.lost
    wire = float(lost.bytes[0]) / flow.value("cur_mss") if flow.value("cur_mss") > 0 else 1.0
    window = flow.value("max_ss_cwnd") * wire
    bdp = facts.ports("rate_bps")[found.port] * flow.value("min_rtt_ns") / 8e9
    buffer = facts.ports("queue_max_bytes")[found.port]
    alone = set(facts.drops.where(facts.drops.port == lost.port[0]).between(0, found.noticed).flow.tolist()) == {flow.number}
    beyond = window - bdp - buffer
    if not (alone and buffer > 0 and beyond > 0) or (facts.rates_change and _changed_before(facts, found.noticed)):
        return "", ""
    grew, holds, way, room = (show(size, "bytes") for size in (window, bdp + buffer, bdp, buffer))
    shot = f" by {multiple(beyond / buffer)} the buffer"
    over = (
        f" With headers its window grew to {grew}, but the path holds {holds}: {way} on the way and {room} in the queue. "
        f"So it overshot{shot}."
    )
    return over + _left_too_much(flow, lost, found.noticed, wire, bdp + buffer), shot


def _changed_before(facts: Facts, time_ns: float) -> bool:
    return any(at <= time_ns for at, _ in facts.view.changes())


def _left_too_much(flow: Flow, lost: Events, noticed: float, wire: float, holds: float) -> str:
    """Whether the first cut left a window that the path could not hold either, and what that cost."""
    left = flow.samples["ssthresh_bytes"][flow.samples["time_ns"] >= noticed]
    more = int((lost.time > noticed).sum())
    if not flow.followed or not left.size or not left[0] * wire > TOO_MUCH * holds or not more:
        return ""
    return f" The cut left {show(float(left[0] * wire), 'bytes')}, still more than the path holds: {packets(more)} lost after it."


def first_window(facts: Facts) -> Iterator[Finding]:
    """First windows, which leave at once, did not fit into a queue."""
    cases = [(flow, found) for flow in facts.lossy if (found := burst(flow)) is not None]
    for group in grouped(cases):
        flows, drops = [flow for flow, _ in group], [found[0] for _, found in group]
        count = sum(len(one) for one in drops)
        begin, ports = min(float(one.time[0]) for one in drops), {int(one.port[0]) for one in drops}
        port = facts.port_names[facts.place_of(next(iter(ports)))] if len(ports) == 1 else ""
        what = f"the queue of {port}" if port else "a queue"
        sizes, room = sorted({found[1] for _, found in group}), group[0][1][2]
        each = many(sizes[0], "segment") if len(sizes) == 1 else f"{number(sizes[0])} to {number(sizes[-1])} segments"
        help, name, trial = "", "", None
        if len(group) == 1:
            size, name = sizes[0] * float(drops[0].bytes[0]), flows[0].name
            first = f"first window of {name}"
            others = group[0][1][3] - 1
            beside, they = ("", "It") if size > room else (f" with {many(others, 'other first window')}", "Together they")
            text = (
                f"The {first}, {each} or {show(size, 'bytes')}, left at once{beside}. {they} overflowed {what}, which holds "
                f"{show(room, 'bytes')}, and {packets(count)} lost."
            )
            if size > room:
                fits = int(room / float(drops[0].bytes[0]))
                help = f"A first window of {many(fits, 'segment')} fits into the queue: try tcp.initial_window={fits}."
                trial = tcp_trial(flows, "initial_window", fits, "drops")
        else:
            first = f"first windows of {whose(flows, 'all')}"
            text = f"{whose(flows)} lost packets of their first window ({each}): {what} overflowed, and {packets(count)} lost."
        brief = f"At {instant(begin)} the {first} overflowed {what}, and {packets(count)} lost."
        end = max(float(one.time[-1]) for one in drops) / 1e9
        weight = count / max(len(facts.drops), 1)
        yield Finding("first_window", text, begin / 1e9, end, name, port, help, trial, False, len(group), brief, weight)


def slow_start_by_delay(facts: Facts) -> Iterator[Finding]:
    """Slow start ended before anything was lost."""
    cases = [(flow, found) for flow in facts.flows if (found := _by_delay(flow)) is not None]
    for group in grouped(cases):
        flows, windows = [flow for flow, _ in group], [window for _, (_, window) in group]
        begin, last = min(at for _, (at, _) in group), max(at for _, (at, _) in group)
        kind = str(flows[0].setting("slow_start.kind"))
        looks = f"slow start ({kind}) looks at the delay" if len({flow.setting("slow_start.kind") for flow in flows}) == 1 else ""
        if len(group) == 1:
            flow, share = flows[0], ""
            if facts.bottleneck is not None and len(facts.flows) == 1 and not facts.rates_change:
                bdp = facts.ports("rate_bps")[facts.bottleneck] * flow.value("min_rtt_ns") / 8e9
                port = facts.port_names[facts.bottleneck]
                share = f", {multiple(windows[0] / bdp)} the bandwidth-delay product of {port}"
            text = f"Slow start of {flow.name} ended without a loss at a window of {show(windows[0], 'bytes')}{share}"
            yield Finding("slow_start_by_delay", f"{text}: its {looks}.", begin / 1e9, begin / 1e9, flow.name)
            continue
        least, most = show(min(windows), "bytes"), show(max(windows), "bytes")
        size = f"a window of {least}" if least == most else f"windows of {least} to {most}"
        why = f": their {looks}" if looks else ""
        text = f"{whose(flows)} left slow start without a loss, at {size}, the last at {instant(last)}{why}."
        yield Finding("slow_start_by_delay", text, begin / 1e9, last / 1e9, count=len(group))


def _by_delay(flow: Flow) -> tuple[float, float] | None:
    """When a flow had left slow start because of the delay, and its window then; None if it did not."""
    kind, control = str(flow.setting("slow_start.kind") or ""), flow.text("congestion_control")
    if not kind or not kinds.ends_by_delay(kind, control):
        return None
    if not flow.followed:
        return None
    times, words = flow.samples["time_ns"], flow.phase
    left = np.flatnonzero(words.are("congestion_avoidance"))
    slow = np.flatnonzero(words.are("slow_start"))
    if not left.size or not slow.size or slow[0] > left[0]:
        return None
    at = float(times[left[0]])
    rwin, cwnd, own = flow.spent(at)
    marked = flow.facts.view.events("mark")
    if len(flow.drops) and flow.drops.time[0] <= at:  # what was lost had not been noticed yet
        return None
    if (flow.repairs.time <= at).any() or (marked.size and marked[0] <= at) or not cwnd >= max(rwin, own):
        return None
    threshold = float(flow.samples["ssthresh_bytes"][left[0]])
    return at, threshold if threshold > 0 else float(flow.samples["cwnd_bytes"][left[0]])
