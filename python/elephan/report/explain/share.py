"""Rules about queues, limits, and who got what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from elephan.base.quantity import multiple, show
from elephan.report.explain.facts import SPENT, Facts, Flow
from elephan.report.explain.finding import Finding, grouped, instant, limit_trial, many, number, tcp_trial, whose
from elephan.report.words.phases import change_lines
from elephan.report.words.reasons import STAGES
from elephan.report.words.rooms import advice, said, short_rooms
from elephan.report.words.spreading_table import spread_lines
from elephan.report.words.view import arrow
from elephan.scenario import kinds
from elephan.table.spreading import spreading

SHARE_TOLD = 0.05  # of a flow's life, from which on a limit is told
STANDING = 0.5  # mean delay of a queue in round-trip times without it
FULL = 0.95  # utilisation from which on a bottleneck is busy
MOSTLY = 0.9  # of the time that the own side limits a flow, from which on only one reason is told
SHORT = 0.9  # of the queue that a cut needs, below which a queue is too short
SEEN = 10  # round-trip times between two samples, beyond which the least queue may be missed
PATHS_MAX = 20  # flows of which the path is looked for
PAIRS = 5  # of the fastest and of the slowest flows, among which two are looked for that share a port
UNFAIR = 2.0  # rates of two flows that this is told of


def receive_window(facts: Facts) -> Iterator[Finding]:
    """The receiver's window was the limit."""
    for group in grouped(_limited(facts, 0), 1):
        flows, shares = [flow for flow, _ in group], [share for _, share in group]
        what, help, trial = _spread(shares, "%", 2), "", None
        if len(group) == 1:
            text = f"{flows[0].name} was limited by the window that its receiver offered, for {what} of its time."
        else:
            text = f"{whose(flows)} were limited by the window that their receivers offered, each for {what} of its time."
        port = _narrowest(facts, flows)
        if port is not None and not facts.rates_change and not facts.run.copies.num_rows:
            bdp = facts.ports("rate_bps")[port] * max(flow.value("min_rtt_ns") for flow in flows) / 8e9
            window = max(flow.value("max_rwin_rcvd") for flow in flows)
            if window * len(facts.flows) < bdp:
                size, times = show(window, "bytes"), multiple(window / bdp)
                help = (
                    f"This window was {size} at most, {times} the bandwidth-delay product of "
                    f"{facts.port_names[port]}. Try a larger tcp.receive_window."
                )
                trial = tcp_trial(flows, "receive_window", f"{2 * bdp:.0f} B", "goodput")
        name = flows[0].name if len(group) == 1 else ""
        yield Finding("receive_window", text, flow=name, help=help, trial=trial, count=len(group))


def _narrowest(facts: Facts, flows: Sequence[Flow]) -> int | None:
    """The slowest port that all of some flows go through, of several alike the bottleneck or the busiest; None if there is none."""
    ends = frozenset.intersection(*(flow.path for flow in flows)) if len(flows) <= PATHS_MAX else frozenset()
    rate, busy = facts.ports("rate_bps"), facts.ports("utilisation")
    shared = [place for place, end in enumerate(facts.ends) if end in ends]
    return min(shared, key=lambda place: (rate[place], place != facts.bottleneck, -busy[place]), default=None)


def own_side(facts: Facts) -> Iterator[Finding]:
    """The application or the send buffer was the limit."""
    # A transfer that is over waits for nothing.
    for group in grouped([(flow, share) for flow, share in _limited(facts, 2) if np.isnan(flow.value("size_bytes"))], 1):
        flows, shares = [flow for flow, _ in group], [share for _, share in group]
        what = _spread(shares, "%", 2)
        full = [_buffer_full(flow) for flow in flows]
        if all(share >= MOSTLY for share in full):
            why = "the send buffer was full" if len(group) == 1 else "the send buffers were full"
        elif all(share <= 1 - MOSTLY for share in full):
            why = "the application had nothing to send"
        else:
            why = "the application had nothing to send, or the send buffer was full"
        if len(group) == 1:
            text = f"{flows[0].name} was limited by its own side for {what} of its time: {why}."
        else:
            text = f"{whose(flows)} were limited by their own side, each for {what} of its time: {why}."
        yield Finding("own_side", text, flow=flows[0].name if len(group) == 1 else "", count=len(group))


def _spread(values: Sequence[float], unit: str, digits: int) -> str:
    """`5 %`, or `5 % to 12 %` for several values."""
    low, high = show(min(values), unit, digits), show(max(values), unit, digits)
    return low if low == high else f"{low} to {high}"


def _buffer_full(flow: Flow) -> float:
    """For which share of the time that its own side limited a flow data waited in its socket."""
    spent, unsent = flow.samples["snd_lim_time_snd_ns"], flow.samples["cur_app_w_queue"]
    if not flow.followed or spent.size < 2 or not spent[-1] > spent[0]:
        return 0.5
    waits = (unsent[1:] >= 1) & (unsent[:-1] >= 1)
    return float(np.diff(spent)[waits].sum() / (spent[-1] - spent[0]))


def _limited(facts: Facts, which: int) -> list[tuple[Flow, float]]:
    """Flows that the receiver (0), the congestion window (1) or the sender (2) limited, and for which share of their time.

    None if that is little of the time of all flows together.
    """
    spent = np.nan_to_num([facts.flow_column(name) for name in SPENT])
    total = spent.sum(axis=0)
    shares = spent[which] / np.maximum(total, 1)
    found = [(flow, float(shares[flow.place])) for flow in facts.flows if shares[flow.place] >= SHARE_TOLD]
    together = sum(float(spent[which, flow.place]) for flow, _ in found)
    return found if together >= SHARE_TOLD * total.sum() else []


def standing_queue(facts: Facts) -> Iterator[Finding]:
    """A queue added much to every round trip."""
    port = facts.bottleneck
    if port is None or facts.rates_change:
        return
    delay = facts.ports("queue_mean_bytes")[port] * 8e9 / facts.ports("rate_bps")[port]
    near = sorted((flow for flow in facts.flows if delay >= STANDING * flow.value("min_rtt_ns")), key=_least_round_trip)
    through = next((flow for flow in near[:PATHS_MAX] if facts.ends[port] in flow.path), None)
    if through is None:
        return
    least = through.value("min_rtt_ns")
    time, queue = facts.queue(port)
    first = min((float(flow.repairs.time[0]) for flow in facts.lossy if len(flow.repairs)), default=0.0)
    later = queue[time > max(first, facts.run.warmup_ns)]
    floor = float(later.min()) if later.size else 0.0
    help, trial = "", None
    seen = later.size > 1 and np.diff(time).max() <= SEEN * (least + delay)
    # Without a receiver's window to hold it back, a window would fill the shorter queue until packets are lost.
    held = any(rwin > 0.5 * (rwin + cwnd + own) for rwin, cwnd, own in (flow.spent() for flow in facts.flows))
    full = facts.ports("utilisation")[port] >= FULL
    most = float(facts.ports("queue_max_bytes")[port])
    if floor > 0.1 * most and seen and full and not (held or facts.paused):
        less = show(floor, "bytes")
        trial = limit_trial(facts, port, most - floor, "delay")
        help = f"The queue never fell below {less} in the samples: try a limit that is as much smaller." if trial else ""
    whose_round = "the round-trip time" if len(facts.flows) == 1 else f"the round-trip time of {through.name}"
    yield Finding(
        "standing_queue",
        f"The queue of {facts.port_names[port]} held packets for {instant(delay)} on average, {multiple(delay / least)} "
        f"{whose_round} without it ({instant(least)}).",
        port=facts.port_names[port],
        help=help,
        trial=trial,
    )


def _least_round_trip(flow: Flow) -> float:
    return flow.value("min_rtt_ns")


def idle_bottleneck(facts: Facts) -> Iterator[Finding]:
    """The port that dropped packets had time to spare."""
    if facts.rates_change or facts.paused:
        return
    busy, drops = facts.ports("utilisation"), facts.ports("drops")
    endless = [flow for flow in facts.lossy if flow.endless and flow.by_window()]
    for port in np.flatnonzero(facts.inside & (drops > 0) & (busy < FULL)):
        own = facts.drops.where(facts.drops.port == facts.ports("port")[port])
        lost = set(own.flow[~np.isnan(own.flow)].tolist())
        flow = max((one for one in endless if one.number in lost), key=lambda one: one.value("delivered_bytes"), default=None)
        if flow is None or _busier(facts, flow) != port:
            continue
        name, bdp = facts.port_names[port], facts.ports("rate_bps")[port] * flow.value("min_rtt_ns") / 8e9
        buffer = float(facts.ports("queue_max_bytes")[port])
        needed = _needed(flow)
        # With other flows, or losses on links, a cut does not begin with a full queue.
        alone = sum(one.number in lost for one in endless) == 1 and not flow.drops.reason.are("link_loss").any()
        short = needed is not None and buffer < SHORT * needed * bdp and alone
        queue = f"{multiple(buffer / bdp)} the bandwidth-delay product of {flow.name}"
        said = f" Its queue holds {queue}." if buffer < bdp else ""
        stall = flow.value("stall_max_ns")
        waits = stall > 0.01 * facts.run.duration_ns and stall > 2 * flow.value("max_rtt_ns")
        waited = f" The longest pause of {flow.name} was {instant(stall)}." if waits else ""
        trial = limit_trial(facts, int(port), 1.1 * needed * bdp, "goodput") if short and not waits and needed else None
        help = "With a longer queue the window after a cut may still fill the path: try one." if trial else ""
        text = f"{name} dropped packets, and yet it was busy for only {show(float(busy[port]), '%', 3)} of the time.{said}{waited}"
        brief = f"The queue of {name} holds {queue}, so the window after a cut does not fill the path." if help else ""
        yield Finding("idle_bottleneck", text, port=name, help=help, trial=trial, brief=brief, weight=1 - float(busy[port]))


def _busier(facts: Facts, flow: Flow) -> int | None:
    """The busiest port inside the network that a flow goes through; None where its path is not known."""
    busy = facts.ports("utilisation")
    on_path = [place for place, end in enumerate(facts.ends) if end in flow.path and facts.inside[place]]
    return max(on_path, key=lambda place: float(busy[place]), default=None)


def _needed(flow: Flow) -> float | None:
    """The queue in bandwidth-delay products with which a window fills the path after a cut; None where that is not known."""
    leaves = kinds.congestion_control(flow.control).get("loss_leaves")
    own = flow.setting("congestion_control.beta")
    leaves = own if leaves is not None and isinstance(own, int | float) else leaves
    return 1 / float(leaves) - 1 if leaves is not None else None


def unfair_share(facts: Facts) -> Iterator[Finding]:
    """Flows that ran side by side got very different rates."""
    flows = sorted(
        (flow for flow in facts.flows if flow.connected and flow.endless and flow.spent()[2] <= 0.5 * sum(flow.spent())),
        key=lambda flow: flow.value("goodput_bps"),
    )
    pairs = ((least, most) for least in flows[:PAIRS] for most in reversed(flows[-PAIRS:]) if least.number != most.number)
    found = next((pair for pair in pairs if _side_by_side(facts, *pair)), None)
    if found is None:
        return
    least, most = found
    low, high = least.value("goodput_bps"), most.value("goodput_bps")
    if not high >= UNFAIR * max(low, 1e-9):
        return
    differs = _differences(facts, least, most)
    if differs:
        said = f" What differs: {', '.join(differs)}."
    else:
        said = " Their settings and round-trip times are the same: other seeds may say otherwise."
    often = f"{multiple(high / low)} as much as {least.name}" if low > 0 else f"while {least.name} delivered nothing"
    rate = f" ({show(low, 'bps')})" if low > 0 else ""
    among = f" Of {number(len(flows))} flows these are the first and the last." if len(flows) > 2 else ""
    text = f"{most.name} delivered {show(high, 'bps')}, {often}{rate}.{said}{among}"
    brief = f"{most.name} delivered {often if low > 0 else f'data, {often}'}.{said}"
    yield Finding("unfair_share", text, flow=least.name, brief=brief, weight=1 - low / high if differs else 0.0)


def _side_by_side(facts: Facts, one: Flow, other: Flow) -> bool:
    """Whether both go through one port inside the network."""
    return any(end in one.path & other.path for end, inside in zip(facts.ends, facts.inside, strict=True) if inside)


def _differences(facts: Facts, least: Flow, most: Flow) -> list[str]:
    """What is different about two flows that may say why one got less."""
    kinds = [str(facts.traffic.get(flow.text("traffic"), {}).get("kind", "")) for flow in (least, most)]
    differs = [f"traffic of kind {kinds[0]} beside {kinds[1]}"] if kinds[0] != kinds[1] else []
    if least.text("congestion_control") != most.text("congestion_control"):
        differs.append(f"{least.text('congestion_control')} beside {most.text('congestion_control')}")
    else:
        differs += _settings_of_tcp(facts, least, most)
    longer, ratio = (least.value("min_rtt_ns") - most.value("min_rtt_ns")), least.value("min_rtt_ns") / most.value("min_rtt_ns")
    if ratio >= 1.5 and longer > _longest_wait(facts):  # by more than a queue that was never empty can feign
        differs.append(f"a round-trip time {multiple(ratio)} as long")
    full = [_full_ports(facts, flow) for flow in (least, most)]
    if full[0] > full[1]:
        differs.append(f"{many(full[0], 'port')} that dropped or marked its packets, the other {number(full[1])}")
    if (later := least.value("start_ns") - most.value("start_ns")) > 0.05 * facts.run.duration_ns:
        differs.append(f"a start {instant(later)} later")
    if (lost := least.value("timeouts")) > most.value("timeouts"):
        differs.append(f"{many(lost, 'timeout')}, the other {number(most.value('timeouts'))}")
    rwin, _, _ = least.spent()
    if rwin > 0.5 * sum(least.spent()) and least.value("max_rwin_rcvd") < most.value("max_rwin_rcvd"):
        differs.append("a smaller receive window")
    return differs


def _settings_of_tcp(facts: Facts, least: Flow, most: Flow) -> list[str]:
    """The settings of TCP that two flows do not have alike, at most three."""
    one, other = ({name: flow.setting(name) for name in facts.names_of_tcp} for flow in (least, most))
    return [f"{name} {one[name]} beside {other[name]}" for name in facts.names_of_tcp if one[name] != other[name]][:3]


def _longest_wait(facts: Facts) -> float:
    """The time in ns that the longest queue inside the network has held a packet."""
    waits = facts.ports("queue_max_bytes") * 8e9 / facts.ports("rate_bps")
    return float(np.nanmax(waits[facts.inside], initial=0.0))


def _full_ports(facts: Facts, flow: Flow) -> int:
    """At how many ports its packets were dropped or marked."""
    kinds = facts.events.kind.are("drop", "mark") & (facts.events.flow == flow.number) & ~np.isnan(facts.events.port)
    return int(np.unique(facts.events.port[kinds]).size)


def marks(facts: Facts) -> Iterator[Finding]:
    """Queues marked packets, so that senders slowed down without a loss."""
    count = facts.ports("marks")
    if not np.nansum(count) > 0:
        return
    port = int(np.nanargmax(count))
    drops = facts.ports("drops")[port]
    beside = "dropped none" if drops == 0 else f"dropped {number(drops)}"
    total = np.nansum(count)
    of = f" (of {number(total)} in all)" if count[port] < total else ""
    marked = f"{many(count[port], 'packet')}{of}"
    deaf = bool(facts.flows) and not any(flow.minds("marks") for flow in facts.flows)
    told = facts.flow_column("ecn_signals")
    slowed = "their senders do not slow down for marks (ECN)" if deaf else "senders slowed down by marks (ECN)"
    if not np.nansum(told) > 0 and not np.isnan(told).all():
        slowed = "no sender slowed down for marks (ECN)"
    yield Finding(
        "marks",
        f"{facts.port_names[port]} marked {marked} and {beside}: {slowed}.",
        port=facts.port_names[port],
    )


def pauses(facts: Facts) -> Iterator[Finding]:
    """PAUSE or PFC stopped ports, and whose packets waited."""
    begins = [tree.begin_ns / 1e9 for tree in spreading(facts.run)]
    for place, line in enumerate(spread_lines(facts.run)):
        yield Finding("pauses", line, begins[place])


def short_room(facts: Facts) -> Iterator[Finding]:
    """A switch that pauses had too little room for what still arrived, and lost frames that it should not lose."""
    for room, lost in short_rooms(facts.run):
        yield Finding("short_room", said(room, lost), help=advice(room))


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
