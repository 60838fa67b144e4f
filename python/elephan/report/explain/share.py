"""Rules about queues, limits, and who got what."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from elephan.base.quantity import show
from elephan.report.explain.facts import Facts, Flow
from elephan.report.explain.finding import Finding, instant, number
from elephan.report.words.answer import STAGES
from elephan.report.words.phases import change_lines
from elephan.report.words.spreading_table import spread_lines
from elephan.report.words.view import arrow

SHARE_TOLD = 0.05  # of a flow's life, from which on a limit is told
STANDING = 0.5  # mean delay of a queue in round-trip times without it
FULL = 0.95  # utilisation from which on a bottleneck is busy
UNFAIR = 2.0  # rates of two flows that this is told of


def receive_window(facts: Facts) -> Iterator[Finding]:
    """The receiver's window was the limit."""
    for flow, share in _limited(facts, "rwin"):
        window, help = flow.value("max_rwin_rcvd"), ""
        bdp = 0.0 if facts.bottleneck is None else facts.ports("rate_bps")[facts.bottleneck] * flow.value("min_rtt_ns") / 8e9
        if window < bdp:
            port, times = facts.port_names[facts.bottleneck or 0], show(window / bdp, "1", 2)
            help = (
                f"This window was {show(window, 'bytes')} at most, {times} times what is on the way at the full rate of {port}. "
                "A larger tcp.receive_window lets it send more."
            )
        text = f"{flow.name} was limited by the window that its receiver offered, for {share} of its time."
        yield Finding("receive_window", text, flow=flow.name, help=help)


def own_side(facts: Facts) -> Iterator[Finding]:
    """The application or the send buffer was the limit."""
    for flow, share in _limited(facts, "snd"):
        # A transfer that is over waits for nothing.
        if np.isnan(flow.value("size_bytes")):
            what = "its own side: the application had nothing to send, or the send buffer was full"
            yield Finding("own_side", f"{flow.name} was limited by {what}, for {share} of its time.", flow=flow.name)


def _limited(facts: Facts, who: str) -> Iterator[tuple[Flow, str]]:
    """Flows that were limited by the receiver (`rwin`) or the sender (`snd`), and for which share of their time."""
    for flow in facts.flows:
        spent = {name: flow.value(f"snd_lim_time_{name}_ns") for name in ("rwin", "cwnd", "snd")}
        total = sum(spent.values())
        if total > 0 and spent[who] >= SHARE_TOLD * total:
            yield flow, show(spent[who] / total, "%", 2)


def standing_queue(facts: Facts) -> Iterator[Finding]:
    """A queue added much to every round trip."""
    port = facts.bottleneck
    if port is None or not facts.flows:
        return
    delay = facts.ports("queue_mean_bytes")[port] * 8e9 / facts.ports("rate_bps")[port]
    least = min(flow.value("min_rtt_ns") for flow in facts.flows)
    if not delay >= STANDING * least:
        return
    time, queue = facts.queue(port)
    first = min(float(flow.repairs.time[0]) if len(flow.repairs) else 0.0 for flow in facts.flows)
    later = queue[time > max(first, facts.run.warmup_ns)]
    floor = float(later.min()) if later.size else 0.0
    help = ""
    if floor > 0.1 * facts.ports("queue_max_bytes")[port]:
        help = (
            f"The queue never fell below {show(floor, 'bytes')} in these samples: a queue shorter by that would cost no throughput."
        )
    yield Finding(
        "standing_queue",
        f"The queue of {facts.port_names[port]} held packets for {instant(delay)} on average, {show(delay / least, '1', 2)} times "
        f"the round-trip time without it ({instant(least)}).",
        port=facts.port_names[port],
        help=help,
    )


def _endless(facts: Facts) -> list[Flow]:
    """Flows without a size that were there for most of the run."""
    return [flow for flow in facts.flows if np.isnan(flow.value("size_bytes")) and flow.lived_ns > 0.5 * facts.run.duration_ns]


def idle_bottleneck(facts: Facts) -> Iterator[Finding]:
    """The port that dropped packets had time to spare."""
    port = facts.bottleneck
    if port is None or facts.ports("drops")[port] == 0 or facts.ports("utilisation")[port] >= FULL or not _endless(facts):
        return
    busy = float(facts.ports("utilisation")[port])
    flow = max(_endless(facts), key=lambda one: one.value("delivered_bytes"))
    bdp = facts.ports("rate_bps")[port] * flow.value("min_rtt_ns") / 8e9
    buffer = float(facts.ports("queue_max_bytes")[port])
    short = (
        f" Its queue holds {show(buffer / bdp, '1', 2)} times the bandwidth-delay product of {flow.name}."
        if buffer < 0.9 * bdp
        else ""
    )
    stall = max(one.value("stall_max_ns") for one in facts.flows)
    waited = f" The longest pause of a flow was {instant(stall)}." if stall > 0.01 * facts.run.duration_ns else ""
    help = "With a longer queue the window after a cut still fills the path." if short and not waited else ""
    yield Finding(
        "idle_bottleneck",
        f"{facts.port_names[port]} dropped packets, and yet it was busy for only {show(busy, '%', 3)} of the time.{short}{waited}",
        port=facts.port_names[port],
        help=help,
    )


def unfair_share(facts: Facts) -> Iterator[Finding]:
    """Flows that ran side by side got very different rates."""
    flows = sorted(_endless(facts), key=lambda flow: flow.value("goodput_bps"))
    if len(flows) < 2:
        return
    least, most = flows[0], flows[-1]
    low, high = least.value("goodput_bps"), most.value("goodput_bps")
    if not high >= UNFAIR * max(low, 1e-9):
        return
    differs = []
    if least.text("congestion_control") != most.text("congestion_control"):
        differs.append(f"{least.text('congestion_control')} beside {most.text('congestion_control')}")
    if (ratio := least.value("min_rtt_ns") / most.value("min_rtt_ns")) >= 1.5:
        differs.append(f"a round-trip time {show(ratio, '1', 2)} times as long")
    if (later := least.value("start_ns") - most.value("start_ns")) > 0.05 * facts.run.duration_ns:
        differs.append(f"a start {instant(later)} later")
    if (lost := least.value("timeouts")) > most.value("timeouts"):
        differs.append(f"{number(lost)} timeouts, the other {number(most.value('timeouts'))}")
    said = (
        f" What differs: {', '.join(differs)}."
        if differs
        else " Their settings and round-trip times are the same: other seeds may say otherwise."
    )
    yield Finding(
        "unfair_share",
        f"{most.name} delivered {show(high, 'bps')}, {show(high / max(low, 1e-9), '1', 2)} times as much as {least.name} "
        f"({show(low, 'bps')}).{said}",
        flow=least.name,
    )


def marks(facts: Facts) -> Iterator[Finding]:
    """Queues marked packets, so that senders slowed down without a loss."""
    count = facts.ports("marks")
    if not np.nansum(count) > 0:
        return
    port = int(np.nanargmax(count))
    drops = facts.ports("drops")[port]
    beside = "dropped none" if drops == 0 else f"dropped {number(drops)}"
    marked = number(count[port])
    yield Finding(
        "marks",
        f"{facts.port_names[port]} marked {marked} packets and {beside}: senders slowed down by marks (ECN).",
        port=facts.port_names[port],
    )


def pauses(facts: Facts) -> Iterator[Finding]:
    """PAUSE or PFC stopped ports, and whose packets waited."""
    for line in spread_lines(facts.run):
        yield Finding("pauses", line)


def changes(facts: Facts) -> Iterator[Finding]:
    """What a `[[change]]` of the scenario did."""
    times = [time for time, _ in facts.view.changes()]
    for line in change_lines(facts.view):
        yield Finding("changes", line, times[0] / 1e9 if times else None)


def deadlock(facts: Facts) -> Iterator[Finding]:
    """Ports waited for each other in a cycle."""
    if found := facts.run.summary.get("deadlock"):
        ports = ", ".join(arrow(port) for port in found["ports"])
        yield Finding("deadlock", f"Deadlock: the paused ports {ports} waited for each other's buffers.", float(found["since_s"]))


def copy_limit(facts: Facts) -> Iterator[Finding]:
    """What held up transfers from disk to disk."""
    found = facts.run.summary.get("copies")
    if found and found["limit"]:
        share = show(found["limited"][found["limit"]], "%", 2)
        rate = show(found["rate_bps"], "bps")
        yield Finding(
            "copy_limit",
            f"Transfers from disk to disk ran at {rate}; {STAGES[found['limit']]} held them up for {share} of the time.",
        )
