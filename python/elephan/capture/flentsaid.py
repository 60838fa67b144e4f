"""What a Flent test says, in numbers of each series and in a few sentences."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from elephan.base.quantity import counted, multiple, show
from elephan.capture.flentrows import seen_windows_without_size
from elephan.capture.flenttest import Series, Test

_NAMED_MAX = 12  # series that a sentence names


def more(tests: Sequence[Test]) -> dict[str, Any]:
    """Returns what `summary.json` has of tests beside their rows."""
    loads = [test.load_s for test in tests]
    series = [_numbers(test, one) for test in tests for one in test.series.values()]
    found: dict[str, Any] = {"said": [line for test in tests for line in _sentences(test, len(tests) > 1)], "series": series}
    if len(tests) == 1 and loads[0]:
        found["load_ns"] = [round(time * 1e9) for time in loads[0]]
    return found


def _parts(test: Test, series: Series) -> tuple[list[float], list[float]]:
    """The known values before the flows began, and those while they carried something."""
    if test.load_s is None:
        return [], []
    begin, end = test.load_s
    before, under = list[float](), list[float]()
    for time, span, value in zip(test.times, test.spans, series.values, strict=True):
        if value is not None and time + span <= begin + 1e-9:
            before.append(value)
        elif value is not None and begin <= time < end:
            under.append(value)
    return before, under


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _numbers(test: Test, series: Series) -> dict[str, Any]:
    known = [value for value in series.values if value is not None]
    before, under = _parts(test, series)
    return {
        "file": test.name,
        "name": series.name,
        "unit": series.unit,
        "values": len(known),
        "missing": len(series.values) - len(known),
        "median": _median(known),
        "min": min(known, default=None),
        "max": max(known, default=None),
        "median_before_load": _median(before),
        "median_under_load": _median(under),
    }


def _value(series: Series, value: float) -> str:
    return show(value * series.factor, "bps" if series.is_rate else "ns", 3)


def _sentences(test: Test, named: bool) -> list[str]:
    """What the test was, how fast its flows were, and how long round trips took before and under load."""
    about = test.text("NAME") or "a test"
    title = f' "{test.text("TITLE")}"' if test.text("TITLE") else ""
    when = "" if test.begin_ns is None else f", {datetime.fromtimestamp(test.begin_ns / 1e9, UTC):%Y-%m-%d %H:%M} UTC"
    begin = f"{test.name}: " if named else ""
    found = [f"{begin}Flent ran {about}{title} from {test.local} to {', '.join(test.hosts)}{when}."]
    if test.load_s:
        first, last = test.load_s
        found.append(f"{begin}The flows carried data from {show(first, 's', 3)} to {show(last, 's', 3)} of the test.")
    flows = [one for one in test.series.values() if one.is_flow]
    sums = [one for one in test.series.values() if one.is_rate and one.is_computed]
    for of, some in (("goodput of each flow", flows), ("of the sums and means that Flent computed", sums)):
        medians = [(one, _median([value for value in one.values if value is not None])) for one in some]
        texts = [f"{one.name} {_value(one, median)}" for one, median in medians if median is not None]
        rest = f", and {len(texts) - _NAMED_MAX} more in the table of series" if len(texts) > _NAMED_MAX else ""
        if texts:
            found.append(f"{begin}Median {of}: {', '.join(texts[:_NAMED_MAX])}{rest}.")
    return found + [f"{begin}{line}" for line in _latencies(test)]


def _latencies(test: Test) -> list[str]:
    series = [one for one in test.series.values() if one.is_latency and any(value is not None for value in one.values)]
    found = []
    for one in series[:_NAMED_MAX]:
        before, under = (_median(part) for part in _parts(test, one))
        if before is not None and under is not None:
            times = f" ({multiple(under / before)} as long)" if before > 0 else ""
            found.append(f"{one.name}: median {_value(one, before)} before the load, {_value(one, under)} under load{times}.")
        elif under is not None:
            found.append(f"{one.name}: median {_value(one, under)} under load; the test has no value before it.")
        elif (median := _median([value for value in one.values if value is not None])) is not None:
            found.append(f"{one.name}: median {_value(one, median)}.")
    return found + ([f"{len(series) - _NAMED_MAX} more series of times are in the table."] if len(series) > _NAMED_MAX else [])


def missing(test: Test) -> list[str]:
    """Returns sentences about values that a test does not have."""
    notes = []
    holes = []
    for one in test.series.values():
        places = [place for place, value in enumerate(one.values) if value is not None]
        inner = places[-1] - places[0] + 1 - len(places) if places else 0
        if one.is_flow and inner:
            holes.append(f"{one.name} ({inner} of {places[-1] - places[0] + 1})")
    if holes:
        more_holes = f" and {len(holes) - _NAMED_MAX} more" if len(holes) > _NAMED_MAX else ""
        which = f"{', '.join(holes[:_NAMED_MAX])}{more_holes}"
        notes.append(
            f"{test.name}: {counted(len(holes), 'flow')} without a value in some steps: {which}. A missing value is unknown, not 0"
        )
    empty = [one.name for one in test.series.values() if all(value is None for value in one.values)]
    if empty:
        notes.append(f"{test.name}: {counted(len(empty), 'series', 'series')} without any value: {', '.join(empty[:_NAMED_MAX])}")
    if sizeless := seen_windows_without_size(test):
        notes.append(
            f"{test.name}: the result does not say how large the segments of {counted(len(sizeless), 'flow')} are: "
            "their congestion windows are in the table of series, in packets"
        )
    return notes
