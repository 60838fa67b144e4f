"""Rules about what was lost, where, and how that was noticed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from elephan.base.quantity import show
from elephan.report.explain.facts import Facts
from elephan.report.explain.finding import Finding, number, times
from elephan.report.words.answer import REASONS
from elephan.table import hostrows
from elephan.table.rows import column, texts

FULL = 0.95  # utilisation from which on a link is busy


def losses(facts: Facts) -> Iterator[Finding]:
    """Where packets were dropped, why, and how that was found."""
    drops = facts.drops.where(~facts.drops.reason.are("link_loss"))
    for port_number in np.unique(drops.port[~np.isnan(drops.port)]):
        own = drops.where(drops.port == port_number)
        port = facts.port_names[int(np.flatnonzero(facts.ports("port") == port_number)[0])]
        why = {
            "queue_full": "its queue was full",
            "memory_full": "the memory of the switch was full",
            "link_down": "the link was down",
        }
        reason = own.reason.commonest()
        said = f" because {why[reason]}" if reason in why else f" by {reason.replace('_', ' ').upper()}" if reason else ""
        share = len(own) / max(len(own) + facts.ports("tx_packets")[facts.ports("port") == port_number][0], 1)
        many = "1 packet" if len(own) == 1 else f"{number(len(own))} packets"
        yield Finding(
            "losses",
            f"{port} dropped {many}{said}, {show(share, '%', 2)} of what came.",
            float(own.time[0]) / 1e9,
            float(own.time[-1]) / 1e9,
            "",
            port,
        )


def noticed(facts: Facts) -> Iterator[Finding]:
    """How senders noticed losses."""
    fast = int(facts.repairs.kind.are("fast_retransmit").sum())
    slow = len(facts.repairs) - fast
    if not len(facts.drops) or not fast + slow:
        return
    by = [f"{times(fast)} by the ACKs of later data" if fast else "", f"{times(slow)} by the timer" if slow else ""]
    yield Finding("noticed", f"Senders noticed losses {' and '.join(word for word in by if word)}.")


def random_loss(facts: Facts) -> Iterator[Finding]:
    """A link lost packets, whatever its queue was."""
    lost = facts.drops.where(facts.drops.reason.are("link_loss"))
    if not len(lost):
        return
    ports = [int(np.flatnonzero(facts.ports("port") == one)[0]) for one in np.unique(lost.port)]
    busy = max(float(facts.ports("utilisation")[port]) for port in ports)
    idle = f" The link was busy for {show(busy, '%', 2)} of the time: the losses were no sign of congestion." if busy < FULL else ""
    names = " and ".join(facts.port_names[port] for port in ports)
    many = "1 packet" if len(lost) == 1 else f"{number(len(lost))} packets"
    if not len(facts.repairs):  # a SYN, or an ACK that a later one made good
        yield Finding("random_loss", f"The link {names} lost {many} at random.", float(lost.time[0]) / 1e9, port=names)
        return
    yield Finding(
        "random_loss",
        f"The link {names} lost {many} at random. Each time a sender took it for congestion and made its window smaller.{idle}",
        float(lost.time[0]) / 1e9,
        float(lost.time[-1]) / 1e9,
        "",
        names,
        "A congestion control that does not take each loss for congestion keeps the rate: try bbr." if idle else "",
    )


def needless(facts: Facts) -> Iterator[Finding]:
    """Data was retransmitted that had not been lost."""
    for flow in facts.flows:
        spurious = flow.value("spurious_fr_detected") + flow.value("spurious_rto_detected")
        if spurious > 0:
            text = f"{flow.name} took a delay for a loss {times(int(spurious))}, noticed it, and undid the cut."
        elif flow.value("segs_retrans") > 0 and not len(facts.drops) and facts.recorded:
            segments = number(flow.value("segs_retrans"))
            text = f"{flow.name} retransmitted {segments} segments although nothing was lost: packets came late or out of order."
        else:
            continue
        yield Finding("needless", text, flow=flow.name)


def host_queue(facts: Facts) -> Iterator[Finding]:
    """A host's own queue refused segments."""
    for flow in facts.flows:
        if (stalls := flow.value("send_stall")) > 0:
            yield Finding(
                "host_queue",
                f"The host of {flow.name} refused its segments {times(int(stalls))}: qdisc and ring of the interface were full.",
                flow=flow.name,
            )


def host_drops(facts: Facts) -> Iterator[Finding]:
    """A host dropped what had come to it."""
    hosts = facts.run.hosts
    if not hosts.num_rows:
        return
    for place in np.flatnonzero(dropped := hostrows.drops(facts.run)):
        why = max(REASONS, key=lambda key: float(column(hosts, key)[place]))
        share = show(float(dropped[place] / max(column(hosts, "frames")[place], 1)), "%", 2)
        name = texts(hosts, "host")[place]
        came = f"{name} dropped {number(dropped[place])} packets that had come to it, {share} of them all"
        yield Finding("host_drops", f"{came}, mostly because {REASONS[why]}.", port=name)
