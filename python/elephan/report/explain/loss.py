"""Rules about what was lost, where, and how that was noticed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from elephan.base.quantity import show
from elephan.report.explain.facts import Events, Facts, Flow
from elephan.report.explain.finding import ALONE, Finding, Trial, grouped, listed, many, number, tcp_trial, times, whose
from elephan.report.words.reasons import REASONS
from elephan.scenario import kinds
from elephan.table import hostrows
from elephan.table.rows import column, texts

LONGER = 10  # times the queue of a host that is tried
FULL = 0.95  # utilisation from which on a link is busy


WHY = {
    "queue_full": "its queue was full",
    "memory_full": "the memory of the switch had no room",
    "link_down": "the link was down",
    "mtu_exceeded": "the link carries no packet so large",
}


def _because(reason: str) -> str:
    """Why packets were dropped."""
    return f"because {WHY[reason]}" if reason in WHY else f"by {_discipline(reason)}" if reason else "for no reason that is known"


def _discipline(reason: str) -> str:
    """A queue discipline as people write it."""
    return kinds.queue({"kind": reason}).get("title") or reason.replace("_", " ").upper()


def losses(facts: Facts) -> Iterator[Finding]:
    """Where packets were dropped, and why."""
    drops = facts.drops.where(~facts.drops.reason.are("link_loss") & ~np.isnan(facts.drops.port))
    counts = {float(port): int(count) for port, count in zip(*np.unique(drops.port, return_counts=True), strict=True)}
    ranked = sorted(counts, key=lambda port: -counts[port])
    if len(ranked) > ALONE:
        named = [f"{facts.port_names[facts.place_of(port)]} {number(counts[port])}" for port in ranked[:ALONE]]
        lost = sum(_cut_off(facts, port) for port in ranked)
        also = f" Among them are {many(lost, 'packet')} that links lost on the way as they went down." if lost else ""
        text = f"{number(len(ranked))} ports dropped {many(len(drops), 'packet')}, most of them {listed(named)}.{also}"
        yield Finding("losses", text, float(drops.time[0]) / 1e9, float(drops.time[-1]) / 1e9, count=len(ranked))
        return
    for port in ranked:
        own = drops.where(drops.port == port)
        name = facts.port_names[facts.place_of(port)]
        yield Finding("losses", _dropped(facts, port, own), float(own.time[0]) / 1e9, float(own.time[-1]) / 1e9, "", name)


def _dropped(facts: Facts, port: float, own: Events) -> str:
    """What a port dropped of what came to it, and what its link lost on the way as it went down."""
    place, lost, reasons = facts.place_of(port), _cut_off(facts, port), own.reason.counts()
    name, count = facts.port_names[place], len(own) - lost
    reasons["link_down"] = reasons.get("link_down", 0) - lost
    reasons = {reason: number_of for reason, number_of in reasons.items() if number_of > 0}
    if not count:
        return f"The link {name} lost {_on_the_way(lost)}."
    share = show(count / max(count + facts.ports("tx_packets")[place], 1), "%", 2)
    dropped, came = f"{name} dropped {many(count, 'packet')}", f"{share} of what came"
    also = f" The link lost {number(lost)} more that were on the way as it went down." if lost else ""
    if len(reasons) == 1:
        return f"{dropped} {_because(next(iter(reasons)))}, {came}.{also}"
    parts = listed([f"{number(amount)} {_because(reason)}" for reason, amount in reasons.items()])
    return f"{dropped}, {came}: {parts}.{also}"


def _cut_off(facts: Facts, port: float) -> int:
    """How many packets were lost on the way because their link went down: `lost` of the table counts its own losses as well."""
    of_port = facts.drops.port == port
    lost = np.nan_to_num(facts.ports("lost")[facts.place_of(port)])
    return int(max(lost - (of_port & facts.drops.reason.are("link_loss")).sum(), 0))


def _on_the_way(count: int) -> str:
    """`12 packets that were on the way as it went down`."""
    return f"{many(count, 'packet')} that {'was' if count == 1 else 'were'} on the way as it went down"


def noticed(facts: Facts) -> Iterator[Finding]:
    """What made senders retransmit. It may have been needless: the next rule says so."""
    fast = int(facts.repairs.kind.are("fast_retransmit").sum())
    slow = len(facts.repairs) - fast
    if not len(facts.drops) or not fast + slow:
        return
    by = [f"{times(fast)} because of the ACKs of later data" if fast else "", f"{times(slow)} because of the timer" if slow else ""]
    flows, every = len({*facts.repairs.flow.tolist()}), len(facts.flows)
    of = f", in {'all' if flows == every else f'{number(flows)} of'} {number(every)} flows" if every > ALONE else ""
    yield Finding("noticed", f"Senders began to retransmit {' and '.join(word for word in by if word)}{of}.")


def no_connection(facts: Facts) -> Iterator[Finding]:
    """No answer to a SYN got through."""
    # A single SYN may still be on its way.
    waiting = [flow for flow in facts.flows if not flow.connected and (flow.value("segs_out") > 1 or len(flow.drops))]
    if not waiting:
        return
    who = listed([flow.name for flow in waiting]) if len(waiting) <= ALONE else whose(waiting)
    brief = f"{who} never connected: no answer to {many(sum(flow.value('segs_out') for flow in waiting), 'SYN')} got through."
    begin = min(flow.value("start_ns") for flow in waiting) / 1e9
    name = waiting[0].name if len(waiting) == 1 else ""
    weight = len(waiting) / len(facts.flows)
    yield Finding("no_connection", brief, begin, flow=name, count=len(waiting), brief=brief, weight=weight)


def link_loss(facts: Facts) -> Iterator[Finding]:
    """A link lost packets, whatever its queue was."""
    lost = facts.drops.where(facts.drops.reason.are("link_loss"))
    if not len(lost):
        return
    ports = [facts.place_of(one) for one in np.unique(lost.port)]
    names = listed([facts.port_names[port] for port in ports])
    who = f"The link{'s' if len(ports) > 1 else ''} {names}"
    text, help, trial = f"{who} lost {many(len(lost), 'packet')} on the way (loss in the scenario).", "", None
    losers = [flow for flow in facts.lossy if flow.number in set(lost.flow.tolist()) and len(flow.repairs)]
    blind = not any(flow.minds("loss") for flow in losers)
    if losers and not blind and len(lost) == len(facts.drops):
        cuts = int(sum(flow.value("cong_signals") for flow in losers))
        sender = "The sender" if len(losers) == 1 else "Senders"
        text += f" {sender} took that for congestion {times(cuts)} and made the window smaller."
    busy = max(float(facts.ports("utilisation")[port]) for port in ports)
    weight = 0.0
    if losers and busy < FULL:
        which = "The link" if len(ports) == 1 else "The busiest of them"
        text += f" {which} was busy for {show(busy, '%', 2)} of the time: the losses were no sign of congestion."
        if not blind and any(_held_down(flow, lost) for flow in losers):
            help = "A congestion control that does not take each loss for congestion may keep the rate: try bbr."
            trial = tcp_trial(losers, "congestion_control", "bbr", "goodput", "")
            weight = 1 - busy
    brief = f"{who} lost {many(len(lost), 'packet')} on the way; senders took lost data for congestion."
    yield Finding(
        "link_loss", text, float(lost.time[0]) / 1e9, float(lost.time[-1]) / 1e9, "", names, help, trial, brief=brief, weight=weight
    )


def _held_down(flow: Flow, lost: Events) -> bool:
    """Whether losses on links held the window of a flow down: it limited the flow, and had no time to grow back from the cuts."""
    own = lost.where(lost.flow == flow.number)
    if not len(own) or not flow.by_window():
        return False
    rate, rtt = flow.facts.ports("rate_bps")[flow.facts.place_of(own.port[0])], flow.value("min_rtt_ns")
    rounds = rate * rtt / 8e9 / flow.value("cur_mss") / 2  # Reno adds a segment a round trip to half of what the path holds
    return bool(len(own) * rounds * rtt >= 0.5 * flow.lived_ns)


def needless(facts: Facts) -> Iterator[Finding]:
    """Data was retransmitted that had not been lost."""
    spurious = np.nan_to_num(facts.flow_column("spurious_fr_detected") + facts.flow_column("spurious_rto_detected"))
    undone = [(flow, int(spurious[flow.place])) for flow in facts.flows if spurious[flow.place] > 0]
    # That nothing of a flow was lost is known of few runs. Else its data may have been late, or the ACK of it lost.
    late = facts.recorded and not _refused_by_hosts(facts)
    for lossless in (True, False):
        cases = [(flow, count) for flow, count in undone if (late and not len(flow.drops)) == lossless]
        for group in grouped(cases, 1):
            yield _undone([flow for flow, _ in group], sum(count for _, count in group), lossless)
    if len(facts.drops) or not facts.recorded or _refused_by_hosts(facts):
        return
    again = np.nan_to_num(facts.flow_column("segs_retrans"))
    for group in grouped(
        [(flow, again[flow.place]) for flow in facts.flows if again[flow.place] > 0 and not spurious[flow.place]], 1
    ):
        flows, sent = [flow for flow, _ in group], many(sum(count for _, count in group), "segment")
        text = f"{whose(flows)} retransmitted {sent} although nothing was lost: packets came late or out of order."
        yield Finding("needless", text, flow=flows[0].name if len(group) == 1 else "", count=len(group))


def _undone(flows: list[Flow], count: int, lossless: bool) -> Finding:
    """That flows took back cuts of their windows; `lossless`: nothing of theirs was lost."""
    alone, all_told = len(flows) == 1, "" if len(flows) == 1 else " in all"
    if lossless:
        text = f"{whose(flows)} took a delay for a loss {times(count)}{all_told}, noticed it, and undid the cut."
    else:
        text = (
            f"{whose(flows)} undid a cut of the window {times(count)}{all_told}: ACKs showed that what was retransmitted first had "
            "arrived, late or without its ACK."
        )
    return Finding("needless", text, flow=flows[0].name if alone else "", count=len(flows))


def _refused_by_hosts(facts: Facts) -> bool:
    """Whether hosts dropped or refused packets, which the events of ports do not have."""
    dropped = hostrows.drops(facts.run).sum() if facts.run.hosts.num_rows else 0
    return bool(dropped + np.nansum(facts.flow_column("send_stall")) > 0)


def host_queue(facts: Facts) -> Iterator[Finding]:
    """A host's own queue refused segments."""
    stalls = np.nan_to_num(facts.flow_column("send_stall"))
    for group in grouped([(flow, int(stalls[flow.place])) for flow in facts.flows if stalls[flow.place] > 0]):
        flows, count = [flow for flow, _ in group], sum(count for _, count in group)
        refused = facts.events.where(
            facts.events.kind.are("send_stall") & np.isin(facts.events.flow, [one.number for one in flows])
        )
        begin = float(refused.time[0]) / 1e9 if len(refused) else None
        cuts = {str(flow.setting("local_drop")) for flow in flows} == {"cwr"}
        host = f"The host of {flows[0].name}" if len(group) == 1 else f"The hosts of {many(len(group), 'flow')}"
        text = f"{host} refused segments {times(count)}: qdisc and ring of the interface were full."
        text += " TCP takes such a refusal for congestion and makes its window smaller." if cuts else ""
        full = facts.ports("utilisation")
        help, trial = "", None
        if cuts and np.nanmax(full, initial=0.0) < FULL:
            trial = _longer_queue(facts, flows)
            help = f"A longer queue of the host refuses later: try {trial.words}." if trial else ""
        name = flows[0].name if len(group) == 1 else ""
        yield Finding("host_queue", text, begin, flow=name, help=help, trial=trial, count=len(group))


def _longer_queue(facts: Facts, flows: list[Flow]) -> Trial | None:
    """Ten times the queue that the hosts of some flows have before the ring of their interface; None if one has no such queue."""
    hosts = dict.fromkeys(flow.text("source").partition("[")[0] for flow in flows)
    limits = [facts.run.resolved.get("hosts", {}).get(host, {}).get("transmit", {}).get("txqueuelen") for host in hosts]
    if not all(isinstance(one, str) and one.endswith(" p") for one in limits):
        return None
    longer = f"{LONGER * max(int(str(one).removesuffix(' p')) for one in limits)} p"
    changes = {f"hosts.{host}.transmit.txqueuelen": longer for host in hosts}
    return Trial(changes, f"transmit.txqueuelen = {longer}", "goodput", tuple(flow.number for flow in flows))


def host_drops(facts: Facts) -> Iterator[Finding]:
    """A host dropped what had come to it."""
    hosts = facts.run.hosts
    if not hosts.num_rows:
        return
    for place in np.flatnonzero(dropped := hostrows.drops(facts.run)):
        why = max(REASONS, key=lambda key: float(column(hosts, key)[place]))
        share = show(float(dropped[place] / max(column(hosts, "frames")[place], 1)), "%", 2)
        name = texts(hosts, "host")[place]
        came = f"{name} dropped {many(dropped[place], 'packet')} that had come to it, {share} of them all"
        yield Finding("host_drops", f"{came}, mostly because {REASONS[why]}.", port=name)
