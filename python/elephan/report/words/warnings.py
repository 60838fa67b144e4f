"""What a reader of a run must know before he uses its answer: settings without effect, and shares that hold for this run only.

Phase effects (Floyd and Jacobson 1992, "On traffic phase effects in packet-switched gateways"): where nothing in a scenario is
drawn at random, packets arrive at a full drop-tail queue in a fixed rhythm. Which flow meets it full then follows from the phases
of the flows, not from their congestion controls, and every seed gives the same result.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from elephan.base.quantity import seconds, show, size_bytes
from elephan.report.words import mtu
from elephan.report.words.regard import port_queues, remarks
from elephan.report.words.rooms import rooms
from elephan.report.words.unheard import teller, untold
from elephan.report.words.view import arrow
from elephan.result.run import Run
from elephan.scenario import kinds
from elephan.table.rows import column, texts
from elephan.table.steps import shortest_ports

FRAMING = 38  # bytes that Ethernet adds to a packet on the wire: header, checksum, preamble and gap
FULL_PACKET = 1500  # bytes of one where nobody knows the largest
_DEFAULT_QUEUE = {"kind": "fifo"}
PORTS_MAX = 3  # that a warning names
QUEUE_FULL = "queue_full"  # the reason of drops at a full queue


def warnings(run: Run) -> list[str]:
    """The warnings of a run, each a sentence or two."""
    found = [
        _without_ecn(run),
        *_without_router(run),
        *_without_switch(run),
        _beside_marks(run),
        _slow_steps(run),
        *_pauses_never(run),
        *rooms(run),
        *mtu.remarks(run),
        *remarks(run),
        _phases(run),
    ]
    return [one for one in found if one]


def _needed_marks(run: Run) -> dict[tuple[str, str], kinds.Answers]:
    """Of traffic entries and congestion controls, by their names, the marks that they cannot do without."""
    entries = {str(entry.get("name")): entry.get("congestion_control") for entry in run.resolved.get("traffic", [])}
    found: dict[tuple[str, str], kinds.Answers] = {}
    for pair in dict.fromkeys(zip(texts(run.flows, "traffic"), texts(run.flows, "congestion_control"), strict=True)):
        traffic, controller = pair
        own = entries.get(traffic)
        words = own if isinstance(own, dict) and own.get("kind") == controller else controller
        if marks := kinds.congestion_control(words).get("needs_marks"):
            found[pair] = {**marks, "called": "ECN" if len(marks["by"]) > 1 else "Accurate ECN"}
    return found


def _spoke(run: Run) -> npt.NDArray[np.bool_]:
    """Which flows have shown what they are: connections that were made, and what needs none and has sent data.

    What a flow that never connected did not agree on, mark or lose follows from no setting of its.
    """
    flows = run.flows
    sent = np.nan_to_num(column(flows, "data_segs_out")) > 0
    if "established_ns" not in flows.column_names:
        return np.asarray(sent)
    connects = np.asarray([protocol == "tcp" for protocol in texts(flows, "protocol")], dtype=bool)
    return np.where(connects, ~np.isnan(column(flows, "established_ns")), sent)


def _asked_ecn(run: Run) -> list[set[str]]:
    """The kinds of ECN that each flow's two ends ask for: what the traffic says goes before what the hosts say."""
    entries = {entry.get("name"): entry.get("tcp", {}).get("ecn") for entry in run.resolved.get("traffic", [])}
    hosts = {name: host.get("tcp", {}).get("ecn", "off") for name, host in run.resolved.get("hosts", {}).items()}
    rows = zip(*(texts(run.flows, name) for name in ("traffic", "source", "destination")), strict=True)
    return [
        {own} if (own := entries.get(traffic)) else {hosts.get(end.partition("[")[0], "off") for end in ends}
        for traffic, *ends in rows
    ]


def _without_ecn(run: Run) -> str:
    """What is not what it is meant to be, because its connections have not agreed on marks that it can read."""
    if "ecn" not in run.flows.column_names:
        return ""
    needed = _needed_marks(run)
    pairs = zip(texts(run.flows, "traffic"), texts(run.flows, "congestion_control"), strict=True)
    told: Counter[tuple[str, str]] = Counter()
    for pair, ecn, spoke, asked in zip(pairs, column(run.flows, "ecn"), _spoke(run), _asked_ecn(run), strict=True):
        if (marks := needed.get(pair)) is None or not spoke:
            continue
        no_marks = f"no {marks['called']}, and {marks['without']}"
        if not asked <= set(marks["by"]):
            told[pair[1], f'{no_marks}: say tcp = {{ ecn = "{marks["by"][0]}" }}'] += 1
        elif not ecn:
            told[pair[1], f"{no_marks}: the SYN that asked for it was lost, or its answer"] += 1
    return " ".join(f"{_flows(count, which, 'has', 'have')} {why}." for (which, why), count in sorted(told.items()))


def _flows(count: int, which: str, one: str, many: str) -> str:
    """`1 flow of dctcp has`, `3 flows of dctcp have`."""
    return f"1 flow of {which} {one}" if count == 1 else f"{count} flows of {which} {many}"


def _without_router(run: Run) -> list[str]:
    """What a congestion control that lives by what routers tell is where there is no such router."""
    spoke = zip(texts(run.flows, "congestion_control"), _spoke(run), strict=True)
    controllers, links = Counter(name for name, did in spoke if did and name), run.resolved.get("links", [])
    return [
        f"{_flows(count, controller, 'passes', 'pass')} no queue that tells a rate, and without one {controller} "
        f'is Reno: say queue = {{ kind = "{teller(asks)}" }}.'
        for controller, count in sorted(controllers.items())
        if (asks := untold(controller, links))
    ]


def _without_switch(run: Run) -> list[str]:
    """Queues of switch ports that are given to links without a switch."""
    hosts, said = run.resolved.get("hosts", {}), []
    for i, link in enumerate(run.resolved.get("links", [])):
        one, other = (str(end).split("[")[0] for end in link["between"])
        if {one, other} <= hosts.keys() and link.get("queue", _DEFAULT_QUEUE) != _DEFAULT_QUEUE:
            said.append(f"links[{i}].queue has no effect: it is of switch ports, and {one} and {other} are hosts; say host_queue.")
    return said


def _ways(run: Run, rows: Collection[int]) -> Iterator[tuple[int, set[tuple[str, str]]]]:
    """Rows of flows, each with the ports of its shortest ways."""
    known: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for row, ends in enumerate(zip(texts(run.flows, "source"), texts(run.flows, "destination"), strict=True)):
        if row not in rows:
            continue
        if ends not in known:
            known[ends] = set(shortest_ports(run, *ends))
        yield row, known[ends]


def _ports_with(run: Run, key: str) -> set[tuple[str, str]]:
    """The ports that count something above zero, as (node, peer)."""
    if key not in run.ports.column_names or not run.ports.num_rows:
        return set()
    counts = np.nan_to_num(column(run.ports, key))
    pairs = zip(texts(run.ports, "node"), texts(run.ports, "peer"), strict=True)
    return {pair for pair, count in zip(pairs, counts, strict=True) if count > 0}


def _named(ports: Iterable[tuple[str, str]]) -> str:
    """Names of some ports."""
    names = sorted(arrow(f"{node}->{peer}") for node, peer in ports)
    more = f" and {len(names) - PORTS_MAX} more" if len(names) > PORTS_MAX else ""
    return f"{', '.join(names[:PORTS_MAX])}{more}"


def _beside_marks(run: Run) -> str:
    """Flows of TCP without ECN that pass a port which marks the packets of others."""
    marking = _ports_with(run, "marks")
    if not marking or "ecn" not in run.flows.column_names:
        return ""
    controllers, agreed = texts(run.flows, "congestion_control"), column(run.flows, "ecn")
    if not any(controller and ecn for controller, ecn in zip(controllers, agreed, strict=True)):
        return ""
    spoke, asked = _spoke(run), _asked_ecn(run)
    rows = {row for row in range(len(controllers)) if controllers[row] and spoke[row] and not agreed[row]}
    deaf = [row for row, ports in _ways(run, rows) if ports & marking]
    if not deaf:
        return ""
    silent = any("off" in asked[row] for row in deaf)
    flows = _flows(len(deaf), " and ".join(sorted({controllers[row] for row in deaf})), "has", "have")
    return (
        f"{flows} no ECN beside flows whose packets {_named(marking)} marks: where those are marked, packets without ECN are "
        "dropped or wait, so the shares are no comparison of congestion controls."
        + (' Say tcp = { ecn = "classic" } for them, "accurate" for prague and bbr3 with l4s.' if silent else "")
    )


def _slow_steps(run: Run) -> str:
    """Ports with a queue whose step is shorter than a full frame takes, so that it marks every packet behind another."""
    rates = dict(
        zip(zip(texts(run.ports, "node"), texts(run.ports, "peer"), strict=True), column(run.ports, "rate_bps"), strict=True)
    )
    slow, found = {}, ("", "")
    for port in _ports_with(run, "marks"):
        for queue in port_queues(run, *port):
            key, step = kinds.queue(queue or {}).get("marks_after") or ("", "1 d")
            if (takes := (_packet_bytes(run) + FRAMING) * 8 / rates[port]) > seconds(step):
                slow[port] = (takes, seconds(step))
                found = (key, _kind(queue))
    if not slow:
        return ""
    takes, step = max(slow.values())
    return (
        f"A full frame takes {show(takes, 's')} at {_named(slow)}, longer than {found[0]} of {found[1]}, {show(step, 's')}: every "
        "packet of scalable flows that waits for another one is marked, so these flows get less than their share. "
        f"Raise {found[0]} to two frames or more."
    )


def _pauses_never(run: Run) -> list[str]:
    """Switches whose flow control can never fire, because their queues' limits hold less than its threshold."""
    said = []
    for name, switch in run.resolved.get("switches", {}).items():
        control = switch.get("flow_control") or {}
        if control.get("kind") != "pause" or "xoff" not in control:
            continue
        xoff, per = size_bytes(control["xoff"]), control.get("per", "memory")
        held = _most_held(run, name, per)
        if held < xoff:
            what = "the queue of a port holds" if per == "egress" else "the queues of its ports together hold"
            said.append(
                f"PAUSE of {name} can never fire: {what} {show(held, 'bytes')} at most, and xoff is {show(xoff, 'bytes')}. "
                "Raise the limits of the queues, or lower xoff."
            )
    return said


def _most_held(run: Run, switch: str, per: str) -> float:
    """The most bytes that PAUSE of a switch can count: the limits of the queues of one of its hosts' ports, or of all of them, and
    the frames on the wire."""
    frame = _packet_bytes(run) + FRAMING
    ports = zip(texts(run.ports, "node"), texts(run.ports, "peer"), strict=True)
    groups: dict[str, list[float]] = {}
    for node, peer in ports:
        if node.partition("[")[0] == switch:
            queues = list(port_queues(run, node, peer))
            groups.setdefault(node, []).append(max(_limit(queue, frame) for queue in queues) + frame if queues else math.inf)
    each = [max(limits) if per == "egress" else sum(limits) for limits in groups.values()]
    return max(each, default=math.inf)


def _limit(queue: Any, frame: float) -> float:
    """Bytes that a queue holds at most; infinite where nothing says so in bytes or packets."""
    limit = queue.get("limit") if isinstance(queue, dict) else None
    if not isinstance(limit, str) or limit.endswith("bdp"):
        return math.inf
    if limit.endswith("p"):
        return float(limit.removesuffix("p")) * frame
    return float(size_bytes(limit))


def _packet_bytes(run: Run) -> int:
    """The largest packet of the traffic."""
    return int(kinds.scenario(run.scenario).get("largest_packet_bytes", FULL_PACKET))


def _kind(queue: Any) -> str:
    """The kind of a queue; none of what is no single queue."""
    return str(queue.get("kind", "")) if isinstance(queue, dict) else ""


def _drops_at_tail(queue: Any) -> bool:
    """Whether a queue drops only what finds it full."""
    return bool(kinds.queue(queue if isinstance(queue, dict) else _DEFAULT_QUEUE).get("is_drop_tail"))


def _overflowed(run: Run) -> set[tuple[str, str]]:
    """The ports whose queue was full for what came, as (node, peer); all that dropped anything if full queues alone did."""
    dropping = _ports_with(run, "drops")
    reasons = run.summary.get("drops_by_reason", {})
    if set(reasons) <= {QUEUE_FULL}:
        return dropping
    events = run.events
    if QUEUE_FULL not in reasons or not events.num_rows:
        return set()
    full = (column(events, "port")[i] for i, reason in enumerate(texts(events, "reason")) if reason == QUEUE_FULL)
    names = dict(zip(column(run.ports, "port"), zip(texts(run.ports, "node"), texts(run.ports, "peer"), strict=True), strict=True))
    return dropping & {names[port] for port in set(full)}


def _phases(run: Run) -> str:
    """Whether the shares of flows at a full drop-tail queue follow from phases."""
    dropping = {port for port in _overflowed(run) if all(map(_drops_at_tail, port_queues(run, *port)))}
    if not dropping or kinds.scenario(run.scenario).get("draws") != []:
        return ""
    spoke = _spoke(run)
    sharing = Counter(
        port for row, ports in _ways(run, {row for row, said in enumerate(spoke) if said}) for port in ports & dropping
    )
    shared = [port for port, flows in sharing.items() if flows > 1]
    if not shared:
        return ""
    return (
        f"Nothing in this scenario is drawn at random, and the drop-tail queue of {_named(shared)} overflows. Which flow loses "
        "then follows from phases (Floyd and Jacobson 1992): every seed gives the same shares, and they hold for these very "
        'delays, sizes and starts. Draw something, as start = { uniform = ["0 s", "100 ms"] }, and repeat with other seeds.'
    )
