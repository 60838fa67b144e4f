"""The rule about retransmission timers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from elephan.base.quantity import show
from elephan.report.explain.facts import Facts, Flow
from elephan.report.explain.finding import (
    Finding,
    Trial,
    back_in_avoidance,
    grouped,
    instant,
    last_ns,
    many,
    number,
    tcp_trial,
    times,
    whose,
)
from elephan.report.words.view import nice_step
from elephan.table.rows import column, texts

SMALL_WINDOW = 4  # segments in flight that cannot give three duplicate ACKs
DUPLICATES = 3  # duplicate ACKs that start a retransmission
TIMER_LONG = 5  # round-trip times that the timer waits at least, from which on it is told
WHY = {  # of one flow, and of several
    "down": ("{0} of its packets and ACKs were lost because a link was down", "packets of {1} were lost because a link was down"),
    "mtu": (
        "{0} of its packets were larger than the MTU of a link on the way, which dropped them",
        "a link on the way dropped packets of {1}, which were larger than its MTU",
    ),
    "recovery": ("what it sent in recovery was lost as well ({0})", "what {1} sent in recovery was lost as well"),
    "first": ("of its first window {0} were lost, too many for three duplicate ACKs", "{1} lost nearly all of their first window"),
    "small": (
        "its window was {0}, too small for three duplicate ACKs",
        "the windows of {1} were too small for three duplicate ACKs",
    ),
    "host": ("its own host had dropped {0} that came to it, ACKs among them", "the hosts of {1} had dropped ACKs"),
}


def timeouts(facts: Facts) -> Iterator[Finding]:
    """Flows waited for their retransmission timer."""
    for group in grouped([(flow, flow.timeouts.time) for flow in facts.lossy if len(flow.timeouts)], 1):
        flows, at = [flow for flow, _ in group], np.sort(np.concatenate([times for _, times in group]))
        causes = [why_timeout(flow, float(times[0])) for flow, times in group]
        first, count = float(at[0]), at.size
        worst = max(flows, key=lambda flow: np.nan_to_num(flow.value("stall_max_ns")))
        stall, alone = worst.value("stall_max_ns"), len(group) == 1
        silent = (
            f" The longest time without progress was {instant(stall)}{'' if alone else f' ({worst.name})'}." if stall > 0 else ""
        )
        if alone:
            when = ", ".join(instant(float(time)) for time in at[:3]) + (" ..." if count > 3 else "")
            text = f"{flows[0].name} waited for its retransmission timer {times(count)} (at {when})."
            why = _why(causes[0], count)
        else:
            text = (
                f"{whose(flows)} waited for their retransmission timer, {times(count)} in all, first at {instant(first)}, "
                f"last at {instant(float(at[-1]))}."
            )
            why = _whys([cause for cause in causes if cause])
        end = last_ns(back_in_avoidance(flow, float(times[-1])) for flow, times in group)
        who = whose(flows) if len(facts.flows) > 1 else "The flow"
        began = f", first at {instant(first)}" if count > 1 else f" at {instant(first)}"
        short = f" once{began}" if count == 1 else f" {times(count)}{began}"
        brief = f"{who} waited for {'its' if alone else 'their'} retransmission timer{short}.{why}"
        lived = sum(flow.lived_ns for flow in flows)
        weight = float(np.nansum([flow.value("stall_max_ns") for flow in flows])) / max(lived, 1.0) if lived > 0 else 0.0
        name, weight = flows[0].name if alone else "", min(weight, 1.0)
        help, trial = _timer_long(flows)
        yield Finding("timeouts", text + why + silent, first / 1e9, end, name, "", help, trial, False, len(group), brief, weight)


def _timer_long(flows: list[Flow]) -> tuple[str, Trial | None]:
    """What may help where the timer waits many round-trip times at least: twice the longest mean of these flows."""
    waits = sorted((flow.span_ns("rto_min"), flow.value("min_rtt_ns"), flow.text("stack")) for flow in flows)
    ratio = min(least / rtt for least, rtt, _ in waits)
    trips = [flow.value("sum_rtt_ns") / max(flow.value("count_rtt"), 1) for flow in flows]
    shorter = nice_step(2 * max(*trips, 1e6))
    if len({least for least, _, _ in waits}) > 1 or not ratio >= TIMER_LONG or not shorter <= waits[0][0] / 2:
        return "", None
    where = f" in stack {waits[0][2]}" if len({stack for _, _, stack in waits}) == 1 and waits[0][2] else ""
    each = f"{show(ratio, '1', 2)} round-trip times" if len(flows) == 1 else f"{show(ratio, '1', 2)} round-trip times or more"
    waits_for = f"The timer waits {instant(waits[0][0])} at least{where} (tcp.rto_min), {each}."
    trial = tcp_trial(flows, "rto_min", f"{shorter / 1e6:g} ms", "stall")
    return f"{waits_for} Try {trial.words}.", trial


def _why(cause: tuple[str, str] | None, count: int) -> str:
    """Why the first of a flow's timeouts came about."""
    if cause is None:
        return ""
    said = WHY[cause[0]][0].format(cause[1])
    return f" The first time {said}." if count > 1 else f" {said[0].upper()}{said[1:]}."


def _whys(causes: list[tuple[str, str]]) -> str:
    """Why the first timeouts of several flows came about, the commonest reason first."""
    if not causes:
        return ""
    counts = Counter(kind for kind, _ in causes).most_common()
    said = [WHY[kind][1].format("", number(count)) for kind, count in counts]
    return f" Why: {'; '.join(said)}."


def why_timeout(flow: Flow, time_ns: float) -> tuple[str, str] | None:
    """Why duplicate ACKs did not repair what a timer had to, where the tables show it, and a number about it."""
    before = flow.repairs.time[(flow.repairs.time < time_ns) & flow.repairs.kind.are("fast_retransmit")]
    since = float(before[-1]) if before.size else 0.0
    on_the_way = ~np.isnan(flow.drops.port)  # a host drops what came to it: ACKs, at a sender
    lost = flow.drops.where((flow.drops.time >= since) & (flow.drops.time < time_ns) & on_the_way)
    if down := int(lost.reason.are("link_down").sum()):
        return "down", number(down)
    if large := int(lost.reason.are("mtu_exceeded").sum()):
        return "mtu", number(large)
    if before.size and len(lost) and flow.phase_before(time_ns) == "recovery":
        return "recovery", many(len(lost), "packet")
    segments, early = flow.setting("initial_window"), None if before.size else flow.first_flight
    if early is not None and len(early) > segments - DUPLICATES - 1:
        return "first", f"{number(min(len(early), segments))} of {many(segments, 'segment')}"
    if dropped := _dropped_by_host(flow, since, time_ns):
        return "host", many(dropped, "packet")
    if not len(lost):
        return None
    last = int(np.searchsorted(flow.samples["time_ns"], lost.time[0])) if flow.followed else 0
    window = float(flow.samples["cwnd_bytes"][last - 1]) / flow.value("cur_mss") if last else np.nan
    return ("small", f"{show(window, '1', 2)} segments") if window <= SMALL_WINDOW else None


def _dropped_by_host(flow: Flow, begin: float, end: float) -> int:
    """How many packets the sender's host dropped of what came to it between two samples around the two times."""
    samples = flow.facts.run.host_samples
    if not samples.num_rows:
        return 0
    own = np.asarray(texts(samples, "host")) == flow.text("source")
    time, drops = column(samples, "time_ns")[own], column(samples, "drops")[own]
    if not time.size:
        return 0
    first, last = (max(int(np.searchsorted(time, at, side="right")) - 1, 0) for at in (begin, end))
    return int(drops[last] - drops[first])
