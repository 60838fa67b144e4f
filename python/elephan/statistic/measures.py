"""Statistics of one run by name: what sweeps tabulate and claims judge.

A statistic is `MEASURE.TAKE`, for example `latency_ns.p99` or `goodput_bps.jain`: a measure is a list of values found
in the tables of a run (a value per flow, message, port, window ...), a take reduces it to one number. Both sets are
fixed. Measures count from the end of the warm-up where a value has a time. `goodput_bps[web].mean` is that of one traffic
entry: a measure may name in brackets what of the run it takes (`elephan.table.rows.Part`), as in
`delivered_bps[to client[0], during 100-400 ms].sum` or `queue_bytes[at sw->client[0]].p95`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.base.errors import InputError, nearest
from elephan.statistic import sharing
from elephan.statistic.declared.programs import numbers
from elephan.statistic.measure import MEASURES as MEASURES
from elephan.statistic.measure import TAKES as TAKES
from elephan.statistic.measure import Measure, Scope, declare_all
from elephan.table.rows import EMPTY, Array, NoSuchPart, texts

if TYPE_CHECKING:
    from elephan.result.run import Run


_PURE = {"jain", "cov", "count", "positive", "min/max", "first/last", "p99/p50"}  # takes that have no unit

declare_all()

_JAIN, _PAUSES = "goodput_bps.jain", "pauses_sent.sum"
_USUAL = sorted((place, f"{one.name}.{take}") for one in MEASURES.values() for take, place in one.usual.items())
# What a sweep tabulates unless told otherwise; those without values in a run are left out.
DEFAULT = tuple(name for _, name in _USUAL)


# What other tools and texts call measures and takes.
_CALLED = {
    "throughput": "goodput_bps",
    "bandwidth": "goodput_bps",
    "rate": "goodput_bps",
    "delay": "latency_ns",
    "completion": "fct_ns",
    "losses": "loss",
    "utilization": "utilisation",
    "queue": "queue_bytes",
    "window": "cwnd_bytes",
    "fairness": "jain_1ms",
}
_TAKEN = {
    "avg": "mean",
    "average": "mean",
    "median": "p50",
    "std": "sd",
    "stdev": "sd",
    "stddev": "sd",
    "total": "sum",
    "p90": "p95",
}


EACH = "each"  # what a caller's function gives for a run: `each.NAME`
_EACH = Measure(EACH, "1", "number that the caller's function gives for each run", lambda run: EMPTY)
_NAME = re.compile(r"([^.\[]*)(?:\[(.+)\])?\.?(.*)", re.DOTALL)


def parse(name: str) -> tuple[Measure, str]:
    """Returns the measure and the take of a statistic such as `latency_ns.p99`.

    Raises InputError with one line about what is wrong.

    >>> measure, take = el.measures.parse("latency_ns.p99")
    >>> measure.name, measure.unit, take
    ('latency_ns', 'ns', 'p99')
    """
    if not isinstance(name, str):
        raise InputError(f"a statistic is named by a text such as goodput_bps.sum, not {name!r}")
    if name.startswith(f"{EACH}."):
        return _EACH, name[len(EACH) + 1 :]
    match = _NAME.fullmatch(name)
    measure, traffic, take = match.groups() if match else (name, None, "")
    if measure not in MEASURES:
        raise InputError(f'no measure "{measure}"{nearest(_CALLED.get(measure, measure), list(MEASURES))}')
    if take not in TAKES:
        if name.count("[") > name.count("]"):
            raise InputError(f'statistic "{name}": a "]" is missing')
        raise InputError(f'statistic "{name}": no take "{take}"{nearest(_TAKEN.get(take, take), list(TAKES))}')
    if isinstance(why := MEASURES[measure].takes.get(take), str):
        raise InputError(f'statistic "{name}": {why}')
    return MEASURES[measure] if traffic is None else MEASURES[measure].of(traffic), take


def is_statistic(name: str) -> bool:
    """Returns whether a text names a statistic.

    >>> el.measures.is_statistic("loss.max"), el.measures.is_statistic("seed")
    (True, False)
    """
    try:
        parse(name)
    except InputError:
        return False
    return True


def unit_of(name: str) -> str:
    """Returns the unit of a statistic: `bps`, `ns`, `bytes`, `%` or `1`.

    >>> el.measures.unit_of("latency_ns.p99"), el.measures.unit_of("goodput_bps.jain")
    ('ns', '1')
    """
    measure, take = parse(name)
    return "1" if take in _PURE else measure.unit


def describe(name: str) -> str:
    """Returns a statistic in words: `99th percentile of latency ...`.

    >>> el.measures.describe("loss.max")
    'max: packets dropped at a port over packets offered to it'
    """
    measure, take = parse(name)
    words = {
        "sum": "total",
        "p50": "median",
        "sd": "standard deviation",
        "jain": "Jain index",
        "second": "second largest",
        "positive": "number above zero",
        "min/max": "smallest over largest",
        "first/last": "first over last",
    }
    words |= {"p1": "1st percentile", "p5": "5th percentile", "p95": "95th percentile", "p99": "99th percentile"}
    words |= {"p999": "99.9th percentile", "p99-p50": "99th percentile less median", "p99/p50": "99th percentile over median"}
    words |= {"cov": "coefficient of variation"}
    return f"{words.get(take, take)}: {measure.description}"


def absent(name: str, resolved: Mapping[str, Any]) -> str:
    """Returns why no run of a resolved scenario can have a statistic; empty if a run may have it.

    >>> run = el.run("sawtooth", set={"duration": "12 s"})
    >>> el.measures.absent("goodput_bps.sum", run.resolved)
    ''
    >>> el.measures.absent("copy_bps.max", run.resolved) != ""
    True
    """
    return next((why for need in parse(name)[0].needs if (why := need(resolved))), "")


def _named(name: str, error: NoSuchPart) -> NoSuchPart:
    """What is wrong with the brackets of a statistic, with its name."""
    return NoSuchPart(f'statistic "{name}": {error}')


def statistic(run: Run, name: str) -> float:
    """Returns one number of a run; NaN where it needs more values than there are.

    Raises InputError for what is no statistic, for a part in brackets that the run does not have, and where there is no value:
    only counts and, of what the scenario can have, sums are 0 then.

    >>> run = el.run("sawtooth", set={"duration": "12 s"})
    >>> el.measures.statistic(run, "goodput_bps.count")
    1.0
    """
    measure, take = parse(name)
    try:
        values = measure.values(run)
    except NoSuchPart as error:
        raise _named(name, error) from None
    values = values[~np.isnan(values)]
    if values.size == 0:
        why = absent(name, run.resolved)
        if take in ("count", "positive") or (take == "sum" and not why):
            return 0.0
        reason = why or f'no value of "{measure.description}"'
        raise InputError(f"the run has no {name}: {reason}")
    try:
        return measure.take(take, run, values)
    except InputError as error:
        raise InputError(f"the run has no {name}: {error}") from None


def statistics(run: Run, names: tuple[str, ...] = DEFAULT, strict: bool = True) -> dict[str, float]:
    """Returns several statistics of a run by name. Of measures without any value counts and sums are 0; others are left out.

    A part in brackets that the run does not have is an InputError, or with `strict=False` has no values: one list of statistics
    serves runs of several scenarios.

    >>> run = el.run("sawtooth", set={"duration": "12 s"})
    >>> el.measures.statistics(run, ("goodput_bps.count", "timeouts.sum"))
    {'goodput_bps.count': 1.0, 'timeouts.sum': 0.0}
    """
    cache: dict[str, Array] = {}
    missing: set[str] = set()
    found: dict[str, float] = {}
    for name in names:
        measure, take = parse(name)
        if measure.name not in cache:
            try:
                values = measure.values(run)
            except NoSuchPart as error:
                if strict:
                    raise _named(name, error) from None
                values = EMPTY
                missing.add(measure.name)
            cache[measure.name] = values[~np.isnan(values)]
        values = cache[measure.name]
        if values.size > (1 if take == "jain" else 0):
            with suppress(InputError):
                found[name] = measure.take(take, run, values)
        elif take in ("count", "positive") or (take == "sum" and measure.name not in missing and not absent(name, run.resolved)):
            found[name] = 0.0
    return found


def usual(run: Run, asked: Sequence[str] = ()) -> dict[str, float]:
    """Returns the statistics asked for and the usual ones of a run: first what its programs returned.

    Jain's index is among them only where equal shares are what to expect, and pauses only where a port can be paused.

    >>> run = el.run("sawtooth", set={"duration": "12 s"})
    >>> "goodput_bps.sum" in el.measures.usual(run)
    True
    """
    returned = (f"returned[{name}].mean" if name else "returned.mean" for name in numbers(run))
    found = statistics(run, tuple(dict.fromkeys((*asked, *returned, *DEFAULT))))
    if _JAIN in found and _JAIN not in asked and not sharing.compete_alike(run):
        del found[_JAIN]
    if _PAUSES in found and _PAUSES not in asked and not _can_pause(run.resolved):
        del found[_PAUSES]
    return found


def _can_pause(resolved: Mapping[str, Any]) -> bool:
    """Whether a host or a switch of a scenario has a flow control."""
    nodes = [*resolved.get("switches", {}).values(), *resolved.get("hosts", {}).values()]
    return any(node.get("flow_control", {}).get("kind", "none") != "none" for node in nodes)


def time_of(run: Run, name: str) -> str:
    """Returns which part of a run a statistic is of, where its warm-up makes a difference: `after the warm-up` or `whole run`.

    >>> run = el.run("sawtooth", set={"duration": "12 s"})
    >>> el.measures.time_of(run, "goodput_bps.sum")
    'after the warm-up'
    """
    if not run.warmup_ns:
        return ""
    return "whole run" if parse(name)[0].of_whole_run else "after the warm-up"


def place_of(run: Run, name: str) -> str:
    """Returns the port whose number a statistic is, as `loss.max` is of one port; empty if it is of several or of none.

    >>> run = el.run("sawtooth", set={"duration": "12 s"})
    >>> el.measures.place_of(run, "queue_max_bytes.max")
    'left->right'
    """
    measure, take = parse(name)
    if take not in ("max", "min") or "[" in measure.name or measure.scope is not Scope.PORTS or not run.ports.num_rows:
        return ""
    values = measure.values(run)
    names = texts(run.ports, "name")
    if values.size != len(names) or np.isnan(values).all():
        return ""
    best = values == (np.nanmax(values) if take == "max" else np.nanmin(values))
    return names[int(best.argmax())] if best.sum() == 1 else ""
