"""What figures and columns of a statistic are called."""

from __future__ import annotations

import re

from elephan.statistic.measure import MEASURES, Scope
from elephan.statistic.measures import EACH, parse

_TAKEN = {
    "sum": "total {}",
    "mean": "mean {}",
    "sd": "standard deviation of the {}",
    "min": "smallest {}",
    "max": "largest {}",
    "second": "second largest {}",
    "positive": "number above zero of the {}",
    "range": "range of the {}",
    "min/max": "smallest over largest {}",
    "first/last": "first over last {}",
    "p1": "1st percentile of the {}",
    "p5": "5th percentile of the {}",
    "p50": "median {}",
    "p95": "95th percentile of the {}",
    "p99": "99th percentile of the {}",
    "p999": "99.9th percentile of the {}",
    "p99/p50": "99th percentile over median of the {}",
    "p99-p50": "99th percentile less median of the {}",
    "jain": "Jain's index of the {}",
    "cov": "coefficient of variation of the {}",
    "count": "number of values of the {}",
}
_TAIL = re.compile(r" (?:of|at|by|into|in|over) (?:a |each )|[,:(]")


def _selected(selection: str) -> str:
    """Conditions in brackets as words: of traffic by name, as `v+n`, the others as they stand."""
    words = []
    for condition in selection.split(", "):
        traffic = " " not in condition
        words.append(f"of {' and '.join(condition.split('+'))}" if traffic else condition.replace("->", " → "))
    return " ".join(words)


def _composed(name: str) -> str:
    measure, take = parse(name)
    selection = measure.name.partition("[")[2]
    noun = measure.noun or _TAIL.split(MEASURES[measure.base].description)[0].strip()
    # One port has one value of most measures, whose sum, mean or largest says no more.
    single = selection.startswith("at ") and measure.scope is Scope.PORTS and not measure.sampled and take in ("sum", "mean", "max")
    words = noun if single else _TAKEN[take].format(noun)
    return f"{words} {_selected(selection.removesuffix(']'))}" if selection and measure.selected is None else words


def title(name: str) -> str:
    """What a figure of a statistic is called."""
    measure, take = parse(name)
    if measure.name == EACH:
        return take
    own = "" if "[" in measure.name else measure.titles.get(take, "")
    return own or _composed(name)
