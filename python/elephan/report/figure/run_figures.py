"""Figures of one run, by name: which a report shows, and in what order."""

from __future__ import annotations

from elephan.base.errors import InputError, nearest

# Each registers its figures.
from elephan.report.figure import burst_figures as burst_figures
from elephan.report.figure import copy_figures as copy_figures
from elephan.report.figure import flow_phases as flow_phases
from elephan.report.figure import host_figures as host_figures
from elephan.report.figure import outcome_figures as outcome_figures
from elephan.report.figure import spreading_figures as spreading_figures
from elephan.report.figure import switch_figures as switch_figures
from elephan.report.figure import time_figures as time_figures
from elephan.report.figure import transmit_figures as transmit_figures
from elephan.report.figure.registry import REGISTRY as REGISTRY
from elephan.report.style import Drawing
from elephan.report.words.view import NAMED_MAX, View
from elephan.result.run import Run

# What a report shows, in this order, as far as the run has the data.
REPORT = (
    "burst",
    "copy",
    "sawtooth",
    "transmit",
    "goodput",
    "phases",
    "sharing",
    "ranking",
    "latency",
    "completion",
    "host",
    "limiters",
    "memory",
    "drops",
    "pause",
    "pause-timeline",
    "pause-tree",
    "rtt",
)

_OF_SAMPLES = {"sawtooth", "windows", "slow-start", "goodput-window", "rtt", "goodput", "queue", "transmit", "phases", "sharing"}
_OF_SAMPLES |= {"copy", "host", "limiters", "memory"}
_OF_TABLES = {"events": ("drops", "pause", "pause-timeline", "pause-tree"), "messages": ("latency",)}  # that record turns off

_WINDOWS = "it is of 1 to 40 flows with a window or a rate of their own that were sampled"
_PAUSE = "no port sent PAUSE"
# Why a run that was recorded has nothing for a figure to show.
WHY_NOT = {
    "sawtooth": f"{_WINDOWS}, and of a port at which something waited",
    **dict.fromkeys(("windows", "slow-start", "goodput-window", "rtt"), _WINDOWS),
    "goodput": "no flow was sampled",
    "queue": "nothing waited at a port when it was sampled",
    "transmit": f"{_WINDOWS}, and of a host with a transmit side",
    "phases": "it is of a long bulk flow over TCP",
    "sharing": "it compares two flows or more that want alike, have no end and share a port",
    "ranking": f"it is of more than {NAMED_MAX} flows, none of which has an end",
    "bars": "it compares two flows or more, 40 at most",
    "latency": "it is of more than 20 messages or transfers that begin after the warm-up",
    "completion": "no transfer that began after the warm-up came to its end",
    "burst": 'it is of traffic of the kind burst, whose receiver logs it; set "record.datagrams"',
    "forbidden-area": "it is of a fast link before a slower one with a limited queue",
    "copy": "no transfer from disk to disk was sampled",
    "host": "no host with receive or cpu was ever busy",
    "limiters": "no source was limited by congestion management",
    "memory": "no switch has a limit of memory",
    "drops": "no packet was dropped",
    **dict.fromkeys(("pause", "pause-timeline", "pause-tree"), _PAUSE),
}


def _order(view: View) -> tuple[str, ...]:
    """What a report shows: of RDMA first what was delivered, with the rate that the law allows, then the queue."""
    if not view.by_rate():
        return REPORT
    return ("goodput-window", "goodput", "queue", *(name for name in REPORT if name not in ("goodput", "sawtooth")))


def known(name: str) -> str:
    """The name of a figure, or one line about it."""
    if name not in REGISTRY:
        raise InputError(f'no figure "{name}"{nearest(name, list(REGISTRY))}')
    return name


def _why_not(run: Run, name: str) -> str:
    """Why a run has not what a figure shows: what was not recorded, or else what did not happen."""
    record = run.resolved.get("record", {})
    if name in _OF_SAMPLES and "every" not in record:
        return 'it is of samples; set "record.every"'
    for table, names in _OF_TABLES.items():
        if name in names and not record.get(table, True):
            return f'it is of {table}; set "record.{table}"'
    return WHY_NOT[name]


def draw(run: Run, name: str = "") -> Drawing:
    """A figure of a run by name; without a name the first of the report's figures that the run has data for."""
    view = View(run)
    if not name:
        kind = next((REGISTRY[n] for n in (*_order(view), "bars") if REGISTRY[n].possible(view)), None)
        if kind is None:
            raise InputError('nothing to draw: the run has no samples; set "record.every"')
        return kind.draw(view)
    if not REGISTRY[known(name)].possible(view):
        raise InputError(f'no figure "{name}" of this run: {_why_not(run, name)}')
    return REGISTRY[name].draw(view)


def draw_all(run: Run, first: str = "") -> list[Drawing]:
    """All figures that a report of this run shows, `first` before the others."""
    view = View(run)
    names = [name for name in dict.fromkeys((first, *_order(view))) if name in REGISTRY and REGISTRY[name].possible(view)]
    if "goodput-window" in names and "goodput" in names:
        names.remove("goodput")
    if first in ("slow-start", "goodput-window") and "sawtooth" in names:
        names.remove("sawtooth")
    return [REGISTRY[name].draw(view) for name in names]
