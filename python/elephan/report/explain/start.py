"""Rules about slow start and timeouts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from elephan.base.quantity import show
from elephan.report.explain.facts import Events, Facts, Flow
from elephan.report.explain.finding import Finding, back_in_avoidance, instant, number, packets, phase_before, times

TOO_MUCH = 1.1  # of what the path holds, from which on a window after a cut still overflows the queue
DELAY_RISE = 1.25  # of the round-trip time before a loss, from which on HyStart would have seen it
SMALL_WINDOW = 4  # segments in flight that cannot give three duplicate ACKs
TIMER_LONG = 5  # round-trip times that the timer waits at least, from which on it is told
OWN_START = ("bbr", "bbr3", "copa", "pcp")  # congestion controls that begin in their own way


def _overflow(flow: Flow) -> tuple[float, float, Events] | None:
    """Of a slow start that a full queue ended: when its loss was noticed, when it was repaired, and what was lost until then."""
    if not len(flow.repairs) or not len(flow.drops):
        return None
    noticed = float(flow.repairs.time[0])
    full = flow.drops.where(flow.drops.reason.are("queue_full", "memory_full"))
    first = full.time[full.time <= noticed]
    if not first.size or phase_before(flow, float(first[0])) != "slow_start":
        return None
    repaired = back_in_avoidance(flow, noticed)
    return noticed, repaired, flow.drops.between(float(first[0]), repaired)


def slow_start_overshoot(facts: Facts) -> Iterator[Finding]:
    """Slow start went on until a queue overflowed."""
    for flow in facts.flows:
        if (found := _overflow(flow)) is None:
            continue
        noticed, repaired, lost = found
        port = int(np.flatnonzero(facts.ports("port") == lost.port[0])[0])
        wire = float(lost.bytes[0]) / flow.value("cur_mss") if flow.value("cur_mss") > 0 else 1.0
        window = flow.value("max_ss_cwnd") * wire
        bdp = facts.ports("rate_bps")[port] * flow.value("min_rtt_ns") / 8e9
        buffer = facts.ports("queue_max_bytes")[port]
        alone = set(facts.drops.where(facts.drops.port == lost.port[0]).between(0, noticed).flow.tolist()) == {flow.number}
        beyond = window - bdp - buffer
        over = ""
        if alone and buffer > 0 and beyond > 0:
            grew, holds, way, room = (show(size, "bytes") for size in (window, bdp + buffer, bdp, buffer))
            over = (
                f" Its window grew to {grew}, but the path holds {holds}: {way} on the way and {room} in the queue. So it "
                f"overshot by {show(beyond / buffer, '1', 2)} times the buffer."
            )
            over += _left_too_much(flow, lost, noticed, wire, bdp + buffer)
        kind, stack = str(flow.setting("slow_start.kind") or ""), flow.text("stack")
        control = flow.text("congestion_control")
        off = ""
        if kind == "classic" and control not in OWN_START:
            off = f" HyStart is off in stack {stack}."
        elif kind == "linux" and control not in ("cubic", *OWN_START):
            off = f" In stack {stack} only cubic has HyStart."
        rtt = flow.samples["sample_rtt_ns"][flow.samples["time_ns"] <= noticed]
        rise = float(np.nanmax(rtt)) / flow.value("min_rtt_ns") if rtt.size and not np.isnan(rtt).all() else 0.0
        help = ""
        if off and rise >= DELAY_RISE:
            help = (
                f"The round-trip time rose to {show(rise, '1', 2)} times its least value before the loss was noticed. HyStart "
                "looks for such a rise: try tcp.slow_start=hystart."
            )
        yield Finding(
            "slow_start_overshoot",
            f"Slow start of {flow.name} went on until the queue of {facts.port_names[port]} overflowed; {packets(len(lost))} lost "
            f"until {instant(repaired)}.{over}{off}",
            float(lost.time[0]) / 1e9,
            repaired / 1e9,
            flow.name,
            facts.port_names[port],
            help,
        )


def _left_too_much(flow: Flow, lost: Events, noticed: float, wire: float, holds: float) -> str:
    """Whether the first cut left a window that the path could not hold either, and what that cost."""
    left = flow.samples["ssthresh_bytes"][flow.samples["time_ns"] >= noticed]
    more = int((lost.time > noticed).sum())
    if not left.size or not left[0] * wire > TOO_MUCH * holds or not more:
        return ""
    return f" The cut left {show(float(left[0] * wire), 'bytes')}, still more than the path holds: {packets(more)} lost after it."


def slow_start_by_delay(facts: Facts) -> Iterator[Finding]:
    """Slow start ended before anything was lost."""
    for flow in facts.flows:
        kind, samples = str(flow.setting("slow_start.kind") or ""), flow.samples
        left = samples["time_ns"][samples["phase"] == "congestion_avoidance"]
        slow = samples["time_ns"][samples["phase"] == "slow_start"]
        if kind in ("", "classic", "limited") or not left.size or not slow.size or slow[0] > left[0]:
            continue
        at = float(left[0])
        if (flow.repairs.time <= at).any() or facts.events.between(0, at).kind.are("mark").any():
            continue
        window = float(samples["cwnd_bytes"][samples["time_ns"] == at][0])
        share = ""
        if facts.bottleneck is not None:
            bdp = facts.ports("rate_bps")[facts.bottleneck] * flow.value("min_rtt_ns") / 8e9
            share = (
                f", {show(window / bdp, '1', 2)} times what is on the way at the full rate of {facts.port_names[facts.bottleneck]}"
            )
        yield Finding(
            "slow_start_by_delay",
            f"Slow start of {flow.name} ended without a loss at a window of {show(window, 'bytes')}{share}: its slow start "
            f"({kind}) looks at the delay.",
            float(slow[0]) / 1e9,
            at / 1e9,
            flow.name,
        )


def timeouts(facts: Facts) -> Iterator[Finding]:
    """A flow waited for its retransmission timer."""
    for flow in facts.flows:
        count = len(flow.timeouts)
        if not count:
            continue
        at = flow.timeouts.time
        stall = flow.value("stall_max_ns")
        silent = f" The longest time without progress was {instant(stall)}." if stall > 0 else ""
        first = float(at[0])
        listed = ", ".join(instant(float(time)) for time in at[:3]) + (" ..." if count > 3 else "")
        least, rtt = flow.span_ns("rto_min"), flow.value("min_rtt_ns")
        help = ""
        if least >= TIMER_LONG * rtt:
            where = f" in stack {flow.text('stack')}" if flow.text("stack") else ""
            help = (
                f"The timer waits {instant(least)} at least{where} (tcp.rto_min), {show(least / rtt, '1', 2)} round-trip times. A "
                "smaller value shortens each of these pauses."
            )
        yield Finding(
            "timeouts",
            f"{flow.name} waited for its retransmission timer {times(count)} (at {listed}).{_why_timeout(flow, first)}{silent}",
            first / 1e9,
            back_in_avoidance(flow, float(at[-1])) / 1e9,
            flow.name,
            "",
            help,
        )


def _why_timeout(flow: Flow, time_ns: float) -> str:
    """Why duplicate ACKs did not repair what a timer had to, where the tables show it."""
    before = flow.repairs.time[(flow.repairs.time < time_ns) & flow.repairs.kind.are("fast_retransmit")]
    since = float(before[-1]) if before.size else 0.0
    on_the_way = ~np.isnan(flow.drops.port)  # a host drops what came to it: ACKs, at a sender
    lost = flow.drops.where((flow.drops.time >= since) & (flow.drops.time < time_ns) & on_the_way)
    if before.size and len(lost) and phase_before(flow, time_ns) == "recovery":
        return f" What it sent in recovery was lost as well ({number(len(lost))} packets)."
    samples = flow.samples
    if not len(lost):
        return ""
    window = samples["cwnd_bytes"][samples["time_ns"] < lost.time[0]]
    if window.size and window[-1] <= SMALL_WINDOW * flow.value("cur_mss"):
        segments = show(float(window[-1] / flow.value("cur_mss")), "1", 2)
        return f" Its window was {segments} segments, too small for three duplicate ACKs after a loss."
    return ""
