"""The rules of `explain`: each looks for one thing in a run, and speaks only where tables show it.

A rule is a function of `Facts` that gives findings. `RULES` names them all; a new one is a function and a line there.
"""

from __future__ import annotations

from elephan.report.explain import loss, ranks, share, start, timer
from elephan.report.explain.facts import Facts
from elephan.report.explain.finding import Finding, Rule

TOLD = 2  # findings that the answer of a run takes
LEAST = 0.1  # of the result that they explain

RULES: tuple[Rule, ...] = (
    loss.no_connection,
    start.slow_start_overshoot,
    start.first_window,
    start.slow_start_by_delay,
    timer.timeouts,
    loss.losses,
    loss.noticed,
    loss.link_loss,
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
    share.short_room,
    share.changes,
    share.copy_limit,
    ranks.straggler,
)

# Those of which the answer of a run takes a sentence; the others it says itself, or they explain no result.
FOREMOST: tuple[Rule, ...] = (
    loss.no_connection,
    start.slow_start_overshoot,
    start.first_window,
    timer.timeouts,
    loss.link_loss,
    share.idle_bottleneck,
    share.unfair_share,
)


def findings(facts: Facts) -> list[Finding]:
    """Returns what the rules find: in the order of time, and then what is about the whole run."""
    found = [one for rule in RULES for one in rule(facts)]
    return sorted(found, key=lambda one: (one.begin_s is None, one.begin_s or 0.0))


def foremost(facts: Facts) -> list[str]:
    """Returns what explains most of a run, in a sentence or two with time and cause; nothing where nothing explains much."""
    told = [max(found, key=lambda one: one.weight) for rule in FOREMOST if (found := [one for one in rule(facts) if one.brief])]
    most = sorted((one for one in told if one.weight >= LEAST), key=lambda one: -one.weight)[:TOLD]
    return [one.brief for one in sorted(most, key=lambda one: (one.begin_s is None, one.begin_s or 0.0))]
