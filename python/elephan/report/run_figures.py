"""Figures of one run, by name: which a report shows, and in what order."""

from __future__ import annotations

from elephan.errors import InputError, nearest

# Each registers its figures.
from elephan.report import burst_figures as burst_figures
from elephan.report import copy_figures as copy_figures
from elephan.report import flow_phases as flow_phases
from elephan.report import host_figures as host_figures
from elephan.report import outcome_figures as outcome_figures
from elephan.report import spreading_figures as spreading_figures
from elephan.report import switch_figures as switch_figures
from elephan.report import time_figures as time_figures
from elephan.report import transmit_figures as transmit_figures
from elephan.report.registry import REGISTRY as REGISTRY
from elephan.report.style import Drawing
from elephan.report.view import View
from elephan.runs import Run

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


def draw(run: Run, name: str = "") -> Drawing:
    """A figure of a run by name; without a name the first of the report's figures that the run has data for."""
    view = View(run)
    if not name:
        kind = next((REGISTRY[n] for n in (*_order(view), "bars") if REGISTRY[n].possible(view)), None)
        if kind is None:
            raise InputError('nothing to draw: the run has no samples; set "record.every"')
        return kind.draw(view)
    if not REGISTRY[known(name)].possible(view):
        raise InputError(f'figure "{name}" needs data that this run did not record; set "record.every"')
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
