"""What a rule of `explain` finds, and words that several rules use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from elephan.base.quantity import counted, show
from elephan.report.explain.facts import Facts, Flow
from elephan.scenario import kinds
from elephan.table.steps import link_of

FRAME_BYTES = 1518  # of a full frame, which a queue must hold
ALONE = 3  # flows or ports with a sentence of their own; more share one


@dataclass(frozen=True)
class Trial:
    """Settings that may help: by path, in words, and what they should better (`elephan.report.explain.advice.AIMS`), of which flows
    or at which port.
    """

    changes: Mapping[str, object]
    words: str
    aim: str
    flows: tuple[int, ...] = ()
    port: str = ""


def tcp_trial(flows: Sequence[Flow], option: str, value: object, aim: str, says: str = "tcp.") -> Trial:
    """Returns the trial of an option of the entries of traffic that some flows are of; `says`: where people write it."""
    entries = dict.fromkeys(flow.text("traffic") for flow in flows)
    path = f"{says}{option}" if says else option
    changes = {f"traffic.{entry}.{path}": value for entry in entries}
    return Trial(changes, f"{path} = {value}", aim, tuple(flow.number for flow in flows))


def limit_trial(facts: Facts, port: int, size: float, aim: str) -> Trial | None:
    """Returns the trial of another limit of a port's queue, in bytes; None for a queue that drops before it is full."""
    run, (node, peer) = facts.run, facts.ends[port]
    entry, direction = link_of(run, node, peer)
    own = entry.get(direction, {}).get("queue")
    queue = own or entry.get("queue") or {}
    if not kinds.queue(queue).get("is_drop_tail") or not facts.inside[port] or size < FRAME_BYTES:
        return None
    place = run.resolved["links"].index(entry)
    path = f"links[{place}].{direction}.queue.limit" if own else f"links[{place}].queue.limit"
    flows = tuple(flow.number for flow in facts.flows)
    return Trial({path: f"{size:.0f} B"}, f"a limit of {show(size, 'bytes')}", aim, flows, f"{node}->{peer}")


@dataclass(frozen=True)
class Finding:
    """One thing that happened: when (seconds; None: all the time), to which flow, at which port, in words, and what would help."""

    rule: str
    text: str
    begin_s: float | None = None
    end_s: float | None = None
    flow: str = ""
    port: str = ""
    help: str = ""  # with the effect of a simulation, or called a guess, once `advice.told` has been asked
    trial: Trial | None = None
    simulated: bool = False  # whether the help has been tried
    count: int = 1  # of flows or ports that the text is about
    brief: str = ""  # the same in one sentence, for the answer of a run
    weight: float = 0.0  # how much it explains of the result, 0 to 1


Rule = Callable[[Facts], Iterable[Finding]]
Case = TypeVar("Case")


def grouped(cases: Sequence[tuple[Flow, Case]], alone: int = ALONE) -> list[list[tuple[Flow, Case]]]:
    """Returns what flows say alike in groups, each for one sentence: each flow alone, or those of a traffic, or all."""
    if len(cases) <= alone:
        return [[case] for case in cases]
    entries: dict[str, list[tuple[Flow, Case]]] = {}
    for case in cases:
        entries.setdefault(case[0].text("traffic"), []).append(case)
    return list(entries.values()) if len(entries) <= ALONE else [list(cases)]


def whose(flows: Sequence[Flow], every: str = "All") -> str:
    """The flows of a group: `12 of 50 flows of web`, `All 80 flows`; of one its name."""
    if len(flows) == 1:
        return flows[0].name
    facts, entries = flows[0].facts, {flow.text("traffic") for flow in flows}
    alike = [flow for flow in facts.flows if flow.text("traffic") in entries] if len(entries) == 1 else facts.flows
    of = f" of {next(iter(entries))}" if len(entries) == 1 and len(alike) < len(facts.flows) else ""
    many = f"{every} {number(len(flows))}" if len(flows) == len(alike) else f"{number(len(flows))} of {number(len(alike))}"
    return f"{many} flows{of}"


def number(count: float) -> str:
    """A count as people write it."""
    return show(float(count), "1", 9)


def packets(count: int) -> str:
    """`1 packet was`, `12 packets were`."""
    return f"{counted(count, 'packet')} {'was' if count == 1 else 'were'}"


def many(count: float, what: str) -> str:
    """`1 packet`, `12 packets`."""
    return counted(int(count), what)


def times(count: int) -> str:
    """`once`, `twice`, `12 times`."""
    return {1: "once", 2: "twice"}.get(count, f"{number(count)} times")


def instant(ns: float) -> str:
    """A time of the run."""
    return show(ns, "ns")


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def back_in_avoidance(flow: Flow, time_ns: float) -> float:
    """When a flow was back in congestion avoidance, or its end, or that of the run; NaN where samples do not tell."""
    if not flow.followed:
        return float("nan")
    times = flow.samples["time_ns"]
    back = times[(times > time_ns) & flow.phase.are("congestion_avoidance")]
    return float(back[0]) if back.size else flow.value("start_ns") + flow.lived_ns


def last_ns(times: Iterable[float]) -> float | None:
    """The last of some times in seconds; None if one of them is not known."""
    found = [time / 1e9 for time in times]
    return None if any(math.isnan(time) for time in found) else max(found)


def when(finding: Finding) -> str:
    """When something happened, as people write it; nothing for the whole run."""
    return "" if finding.begin_s is None else show(finding.begin_s * 1e9, "ns")


def numbers(story: Sequence[Finding]) -> list[str]:
    """The number of each finding, in a circle while there are such signs."""
    return [chr(ord("①") + place) if place < 20 else str(place + 1) for place in range(len(story))]


def marks(story: Sequence[Finding]) -> list[tuple[float, str]]:
    """Time in ns and number of each finding that began at a time."""
    return [(one.begin_s * 1e9, sign) for sign, one in zip(numbers(story), story, strict=True) if one.begin_s is not None]
