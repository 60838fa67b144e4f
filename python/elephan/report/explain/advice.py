"""What would help, tried: a rule names settings and what they should better, and the run is simulated with them before it is said.

A trial has the seed and all other settings of the run, and records nothing but its totals. Advice stands only where the trial
betters what it is about and costs no goodput. What is too long to try, or has code that only its author's machine has, is told as a
guess.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from elephan.base.errors import ElephanError
from elephan.base.quantity import show
from elephan.report.explain.facts import Facts
from elephan.report.explain.finding import Finding, Trial
from elephan.report.explain.rules import findings
from elephan.result.run import Run
from elephan.result.run import run as run_scenario
from elephan.table.rows import column

EVENTS_MAX = 3_000_000  # of one trial: less than a second
EVENTS_ALL = 6_000_000  # of all trials of a story
BETTER = 0.02  # of what an advice is about, below which it is not worth saying
COSTS = 0.005  # of the goodput of all flows, which an advice may cost
BARE = {"record.events": False, "record.flows": False, "record.ports": "none", "record.messages": False, "record.captures": "none"}
TOO_LONG = "its run is too long to try that here"
NO_VALUE = "which value helps is open"
NO_CODE = "its run needs files or code that the result does not hold"


@dataclass(frozen=True)
class _Aim:
    """What an advice is about: its value in a run for some flows and a port, its unit, its words, and whether more is better."""

    value: Callable[[Run, Sequence[int], str], float]
    unit: str
    words: str
    more: bool


def _of_flows(name: str, together: Callable[[np.ndarray], float]) -> Callable[[Run, Sequence[int], str], float]:
    """A column of `flows` of some flows; of all flows where the numbers are of none."""

    def value(run: Run, flows: Sequence[int], port: str) -> float:
        own = np.isin(column(run.flows, "flow"), flows)
        return float(together(np.nan_to_num(column(run.flows, name)[own])))

    return value


def _queue_delay(run: Run, flows: Sequence[int], port: str) -> float:
    row = next(row for row in run.ports.to_pylist() if row["name"] == port)
    return float(row["queue_mean_bytes"] * 8e9 / row["rate_bps"])


AIMS = {
    "drops": _Aim(lambda run, flows, port: float(run.summary["drops"]), "1", "the number of dropped packets is", False),
    "stall": _Aim(_of_flows("stall_max_ns", np.max), "ns", "the longest time without progress is", False),
    "goodput": _Aim(_of_flows("goodput_bps", np.sum), "bps", "goodput is", True),
    "delay": _Aim(_queue_delay, "ns", "the mean delay of the queue is", False),
    "refused": _Aim(_of_flows("send_stall", np.sum), "1", "the number of refused segments is", False),
}


class _TooLongError(Exception):
    """A trial has come to its last event that is allowed."""


def told(facts: Facts, events: int | None = None) -> list[Finding]:
    """Returns what the rules find, each advice simulated, or called a guess. `events`: of all trials together, at most."""
    found, left = [], EVENTS_ALL if events is None else events
    for one in findings(facts):
        if not one.help:
            found.append(one)
            continue
        tried, why = _tried(facts.run, one.trial, min(EVENTS_MAX, left))
        if tried is None or one.trial is None:
            found.append(replace(one, help=f"{one.help} This is a guess: {why}."))
            continue
        left -= int(tried.summary["events"])
        effect = _effect(one.trial, facts.run, tried)
        found.append(replace(one, help=f"{one.help} {effect}" if effect else "", simulated=bool(effect)))
    return found


def _tried(run: Run, trial: Trial | None, allowed: int) -> tuple[Run | None, str]:
    """The run with the settings of a trial; none, and why, if there are none, it takes more events, or lacks what it needs."""
    if trial is None:
        return None, NO_VALUE
    if int(run.summary.get("events", EVENTS_ALL)) > allowed:
        return None, TOO_LONG

    def look(share: float, events: int) -> None:
        if events > 2 * allowed:
            raise _TooLongError

    try:
        return run_scenario(run.scenario, set={**BARE, **trial.changes}, seed=run.seed, progress=look), ""
    except _TooLongError:
        return None, TOO_LONG
    except ElephanError:
        return None, NO_CODE


def _effect(trial: Trial, before: Run, after: Run) -> str:
    """What the settings did, in a sentence; nothing if they did not help."""
    if before.flows.num_rows != after.flows.num_rows:
        return ""
    aim, every = AIMS[trial.aim], column(before.flows, "flow").astype(int).tolist()
    was, now = (aim.value(run, trial.flows, trial.port) for run in (before, after))
    total = [AIMS["goodput"].value(run, every, "") for run in (before, after)]
    if (now - was if aim.more else was - now) < BETTER * max(was, 1e-9) or total[1] < (1 - COSTS) * total[0]:
        return ""
    digits = 9 if aim.unit == "1" else 3
    whose = ("its " if len(trial.flows) == 1 else "their ") if trial.aim == "goodput" and len(trial.flows) < len(every) else ""
    said = [f"{whose}{aim.words} {show(now, aim.unit, digits)} instead of {show(was, aim.unit, digits)}"]
    if trial.aim != "goodput" or whose:
        rates = [show(rate, "bps") for rate in total]
        said.append(f"all flows together deliver {rates[1]} {'as before' if rates[0] == rates[1] else f'instead of {rates[0]}'}")
    return f"Simulated with {trial.words}: {', and '.join(said)}."
