"""What a rule of `explain` finds, and words that several rules use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from elephan.base.quantity import show
from elephan.report.explain.facts import Facts, Flow


@dataclass(frozen=True)
class Finding:
    """One thing that happened: when (seconds; None: all the time), to which flow, at which port, in words, and what would help."""

    rule: str
    text: str
    begin_s: float | None = None
    end_s: float | None = None
    flow: str = ""
    port: str = ""
    help: str = ""


Rule = Callable[[Facts], Iterable[Finding]]


def number(count: float) -> str:
    """A count as people write it."""
    return show(float(count), "1", 9)


def packets(count: int) -> str:
    """`1 packet was`, `12 packets were`."""
    return "1 packet was" if count == 1 else f"{number(count)} packets were"


def times(count: int) -> str:
    """`once`, `twice`, `12 times`."""
    return {1: "once", 2: "twice"}.get(count, f"{number(count)} times")


def instant(ns: float) -> str:
    """A time of the run."""
    return show(ns, "ns")


def phase_before(flow: Flow, time_ns: float) -> str:
    """The phase of the last sample before a time."""
    found = flow.samples["phase"][flow.samples["time_ns"] < time_ns]
    return str(found[-1]) if found.size else ""


def back_in_avoidance(flow: Flow, time_ns: float) -> float:
    """When a flow was back in congestion avoidance, or its end, or that of the run."""
    samples = flow.samples
    back = samples["time_ns"][(samples["time_ns"] > time_ns) & (samples["phase"] == "congestion_avoidance")]
    return float(back[0]) if back.size else flow.value("start_ns") + flow.lived_ns


def when(finding: Finding) -> str:
    """When something happened, as people write it; nothing for the whole run."""
    return "" if finding.begin_s is None else show(finding.begin_s * 1e9, "ns")


def numbers(story: Sequence[Finding]) -> list[str]:
    """The number of each finding, in a circle while there are such signs."""
    return [chr(ord("①") + place) if place < 20 else str(place + 1) for place in range(len(story))]


def marks(story: Sequence[Finding]) -> list[tuple[float, str]]:
    """Time in ns and number of each finding that began at a time."""
    return [(one.begin_s * 1e9, sign) for sign, one in zip(numbers(story), story, strict=True) if one.begin_s is not None]
