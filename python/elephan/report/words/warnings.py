"""What a reader of a run must know before he uses its answer: settings without effect, and shares that hold for this run only.

Phase effects (Floyd and Jacobson 1992, "On traffic phase effects in packet-switched gateways"): where nothing in a scenario is
drawn at random, packets arrive at a full drop-tail queue in a fixed rhythm. Which flow meets it full then follows from the phases
of the flows, not from their congestion controls, and every seed gives the same result.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from elephan.base.quantity import seconds, show, size_bytes
from elephan.report.words.regard import port_queues, remarks
from elephan.report.words.unheard import TOLD_BY, queue_kinds
from elephan.report.words.view import arrow
from elephan.result.run import Run
from elephan.table.rows import column, texts
from elephan.table.steps import shortest_ports

DRAWN = frozenset(
    "uniform exponential pareto lognormal bernoulli gilbert_elliott empirical histogram random jitter reorder duplicate".split()  # noqa: SIM905
)
DRAWN_CONTROLLERS = frozenset(("bbr", "bbr3", "pcp"))  # whose probes begin at random
FRAME_BEYOND_MSS = 58  # bytes of a frame beside the payload of its segment: Ethernet, IP and TCP headers, checksum
FRAMING = 20  # bytes of preamble and gap
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
        *remarks(run),
        _phases(run),
    ]
    return [one for one in found if one]


def _is_l4s(controller: Any) -> bool:
    return isinstance(controller, dict) and controller.get("l4s") is True


@dataclass(frozen=True)
class _Marked:
    """A congestion control that needs marks: what brings it them, the best first, what that is called, what it is without."""

    by: tuple[str, ...]
    called: str
    without: str
    asks: Callable[[Any], bool] = lambda controller: True


_BY_MARKS = {
    "dctcp": _Marked(("dctcp", "classic", "accurate"), "ECN", "without marks dctcp is Reno"),
    "prague": _Marked(("accurate",), "Accurate ECN", "without marks prague is Reno"),
    "bbr3": _Marked(
        ("accurate",),
        "Accurate ECN",
        "without it l4s does nothing",
        lambda given: isinstance(given, dict) and given.get("l4s") is True,
    ),
}


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
    entries = {entry.get("name"): entry for entry in run.resolved.get("traffic", [])}
    names = (texts(run.flows, name) for name in ("congestion_control", "traffic"))
    deaf: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for controller, traffic, ecn, spoke, asked in zip(*names, column(run.flows, "ecn"), _spoke(run), _asked_ecn(run), strict=True):
        marked = _BY_MARKS.get(controller)
        if marked is None or not spoke or not marked.asks(entries.get(traffic, {}).get("congestion_control")):
            continue
        if not asked <= set(marked.by):
            deaf[controller] += 1
        elif not ecn:
            refused[controller] += 1
    said = [(controller, count, f'say tcp = {{ ecn = "{_BY_MARKS[controller].by[0]}" }}') for controller, count in deaf.items()]
    said += [(controller, count, "the SYN that asked for it was lost, or its answer") for controller, count in refused.items()]
    return " ".join(
        f"{_flows(count, controller, 'has', 'have')} no {_BY_MARKS[controller].called}, and {_BY_MARKS[controller].without}: {why}."
        for controller, count, why in sorted(said)
    )


def _flows(count: int, which: str, one: str, many: str) -> str:
    """`1 flow of dctcp has`, `3 flows of dctcp have`."""
    return f"1 flow of {which} {one}" if count == 1 else f"{count} flows of {which} {many}"


def _without_router(run: Run) -> list[str]:
    """What a congestion control that lives by what routers tell is where there is no such router."""
    spoke = zip(texts(run.flows, "congestion_control"), _spoke(run), strict=True)
    controllers, kinds = Counter(name for name, did in spoke if did), queue_kinds(run.resolved.get("links", []))
    return [
        f"{_flows(controllers[controller], controller, 'passes', 'pass')} no queue that tells a rate, and without one {controller} "
        f'is Reno: say queue = {{ kind = "{kind}" }}.'
        for controller, kind in TOLD_BY.items()
        if controllers[controller] and kind not in kinds
    ]


def _without_switch(run: Run) -> list[str]:
    """Queues of switch ports that are given to links without a switch."""
    hosts, said = run.resolved.get("hosts", {}), []
    for i, link in enumerate(run.resolved.get("links", [])):
        one, other = (str(end).split("[")[0] for end in link["between"])
        if {one, other} <= hosts.keys() and link.get("queue", _DEFAULT_QUEUE) != _DEFAULT_QUEUE:
            said.append(f"links[{i}].queue has no effect: it is of switch ports, and {one} and {other} are hosts; say host_queue.")
    return said


def _ways(run: Run) -> Iterator[tuple[int, set[tuple[str, str]]]]:
    """Each flow's row with the ports of its shortest ways."""
    known: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for row, ends in enumerate(zip(texts(run.flows, "source"), texts(run.flows, "destination"), strict=True)):
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
    deaf = [row for row, ports in _ways(run) if controllers[row] and spoke[row] and not agreed[row] and ports & marking]
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
    """Ports with `dualpi2` whose step is shorter than a full frame takes, so that it marks every packet behind another one."""
    rates = dict(
        zip(zip(texts(run.ports, "node"), texts(run.ports, "peer"), strict=True), column(run.ports, "rate_bps"), strict=True)
    )
    busy, frame = _ports_with(run, "marks"), _frame_bytes(run) + FRAMING
    slow = {}
    for port in busy:
        for queue in port_queues(run, *port):
            if _kind(queue) == "dualpi2" and (takes := frame * 8 / rates[port]) > seconds(queue.get("step_thresh", "1 ms")):
                slow[port] = (takes, seconds(queue.get("step_thresh", "1 ms")))
    if not slow:
        return ""
    takes, step = max(slow.values())
    return (
        f"A full frame takes {show(takes, 's')} at {_named(slow)}, longer than step_thresh of dualpi2, {show(step, 's')}: every "
        "packet of the L queue that waits for another one is marked, so scalable flows get less than their share. Raise "
        'step_thresh to two frames or more; preset = "rfc9332" spares only packets that are alone.'
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
    frame = _frame_bytes(run)
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


def _frame_bytes(run: Run) -> float:
    """The largest frame that a host sends."""
    sizes = [host["tcp"]["mss"] for host in run.resolved.get("hosts", {}).values() if "mss" in host.get("tcp", {})]
    return max((float(size_bytes(one)) for one in sizes), default=1460.0) + FRAME_BEYOND_MSS


def draws(part: Any) -> bool:
    """Whether anything in a part of a resolved scenario is drawn at random."""
    if isinstance(part, dict):
        return any(key in DRAWN or draws(value) for key, value in part.items())
    if isinstance(part, list):
        return any(map(draws, part))
    return isinstance(part, str) and (part in DRAWN or part in DRAWN_CONTROLLERS)


def _kind(queue: Any) -> str:
    """The kind of a queue; none of what is no single queue."""
    return str(queue.get("kind", "")) if isinstance(queue, dict) else ""


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
    dropping = {port for port in _overflowed(run) if {_kind(queue) for queue in port_queues(run, *port)} == {"fifo"}}
    scenario = {key: run.resolved.get(key) for key in ("links", "traffic", "hosts", "switches", "change")}
    if not dropping or draws(scenario) or not queue_kinds(scenario["links"] or []) <= {"fifo"}:
        return ""
    spoke = _spoke(run)
    sharing = Counter(port for row, ports in _ways(run) if spoke[row] for port in ports & dropping)
    shared = [port for port, flows in sharing.items() if flows > 1]
    if not shared:
        return ""
    return (
        f"Nothing in this scenario is drawn at random, and the drop-tail queue of {_named(shared)} overflows. Which flow loses "
        "then follows from phases (Floyd and Jacobson 1992): every seed gives the same shares, and they hold for these very "
        'delays, sizes and starts. Draw something, as start = { uniform = ["0 s", "100 ms"] }, and repeat with other seeds.'
    )
