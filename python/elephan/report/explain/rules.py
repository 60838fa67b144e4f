"""The rules of `explain`: each looks for one thing in a run, and speaks only where tables show it.

A rule is a function of `Facts` that gives findings. `RULES` names them all; a new one is a function and a line there.
"""

from __future__ import annotations

from elephan.report.explain import loss, share, start
from elephan.report.explain.facts import Facts
from elephan.report.explain.finding import Finding, Rule, times

KEPT = 2  # findings of one rule that are told alone; what the others say is one more

RULES: tuple[Rule, ...] = (
    start.slow_start_overshoot,
    start.slow_start_by_delay,
    start.timeouts,
    loss.losses,
    loss.noticed,
    loss.random_loss,
    loss.needless,
    loss.host_queue,
    loss.host_drops,
    share.receive_window,
    share.own_side,
    share.standing_queue,
    share.idle_bottleneck,
    share.unfair_share,
    share.marks,
    share.pauses,
    share.deadlock,
    share.changes,
    share.copy_limit,
)


def findings(facts: Facts) -> list[Finding]:
    """Returns what the rules find: in the order of time, and then what is about the whole run."""
    found: list[Finding] = []
    for rule in RULES:
        own = sorted(rule(facts), key=lambda one: one.begin_s or 0.0)
        found += own if len(own) <= KEPT + 1 else [*own[:KEPT], _others(own[KEPT:])]
    return sorted(found, key=lambda one: (one.begin_s is None, one.begin_s or 0.0))


def _others(rest: list[Finding]) -> Finding:
    """One finding for all that say the same of other flows or ports."""
    names = [one.flow or one.port for one in rest if one.flow or one.port]
    of = f": {', '.join(names)}" if names else ""
    begin = min((one.begin_s for one in rest if one.begin_s is not None), default=None)
    return Finding(rest[0].rule, f"The same holds {times(len(rest))} more{of}.", begin)
