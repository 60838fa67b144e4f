"""Results of Flent (`.flent`, `.flent.gz`) as tables of a trace: versions 1 to 4 of its format.

A result has series of values at common times. Those of what TCP carried are connections; the congestion window, round-trip time
and pacing rate that `ss` saw go into the samples of their flow. Those of ping are probes: rows with round-trip times alone. What
Flent computed of others (sums, means, fairness), and what has no column, stands in `series` of `summary.json` with all others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from elephan.base.errors import InputError
from elephan.base.quantity import counted
from elephan.capture import flentsaid
from elephan.capture.fields import TIME_S, Fields, record, records
from elephan.capture.flentrows import lines
from elephan.capture.flenttest import Series, Test, moment
from elephan.capture.logfile import LogFile
from elephan.capture.logrows import UNSEEN, Found, Log, Part, joined

NEWEST = 4
_BEGINS = re.compile(r"^\s*\{")
_LARGEST = 1e12  # of a value in the unit of any series
_LEAP_S = 366 * 86400.0
_CLOCK_MAX_S = 1e11  # since 1970
_ZONE_S, _ZONE_MAX_S = 900, 14 * 3600  # zones are whole quarters of an hour


def _takes(file: LogFile) -> bool:
    return _BEGINS.match(file.begin) is not None and '"x_values"' in file.text and '"results"' in file.text


def read(files: Sequence[LogFile], every_ns: int | None) -> Found:
    """Returns the series of results as rows; InputError for a file that is none."""
    names = _names(files)
    fields, notes = Fields(), list[str]()
    tests = [_test(file, name, fields, notes) for file, name in zip(files, names, strict=True)]
    parts = [Part(place, test.begin_ns, lines(test, fields)) for place, test in enumerate(tests)]
    if not any(part.lines for part in parts):
        raise InputError(f"{files[0]}: a result of Flent without a value of a flow or of ping")
    notes += [note for test in tests for note in flentsaid.missing(test)] + fields.notes()
    return joined(parts, names, notes, flentsaid.more(tests))


def _names(files: Sequence[LogFile]) -> list[str]:
    """What readers call the files: their names without endings, with their folders where these names are equal."""
    short = [re.sub(r"\.flent(\.gz|\.zst)?$", "", file.path.name) for file in files]
    return [name if short.count(name) == 1 else str(file) for name, file in zip(short, files, strict=True)]


def _test(file: LogFile, name: str, fields: Fields, notes: list[str]) -> Test:
    try:
        found = json.loads(file.text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 0)
        raise InputError(f"{file}:{line or 1}: damaged or cut-off JSON of Flent") from None
    if not (isinstance(found, dict) and isinstance(found.get("results"), dict) and isinstance(found.get("x_values"), list)):
        raise InputError(f"{file}: not a result of Flent (no results at x_values)")
    version = found.get("version")
    if isinstance(version, int) and version > NEWEST:
        notes.append(f"{name}: version {str(version)[:20]} of the format is newer than {NEWEST}, the newest that elephan knows")
    metadata = record(found.get("metadata"))
    places, times, spans = _grid(found["x_values"], metadata, name, fields, notes)
    about = record(metadata.get("SERIES_META"))
    series, uneven = {}, 0
    for key, values in found["results"].items():
        listed = values if isinstance(values, list) else []
        uneven += len(listed) != len(found["x_values"])
        one = Series(key, [], record(about.get(key)))
        # Rates and times are not negative; other series may be.
        read = fields.value if one.is_rate or one.is_latency or one.parent else fields.signed
        one.values.extend(read(listed[place] if place < len(listed) else None, key, _LARGEST) for place in places)
        series[key] = one
    if uneven:
        notes.append(f"{name}: {counted(uneven, 'series', 'series')} and the times differ in length: what has no time is left out")
    raw = record(found.get("raw_values")) or {key: record(one).get("RAW_VALUES") for key, one in about.items()}
    begin = _begin(metadata, raw)
    if begin is None:
        notes.append(f"{name}: the result does not say when it began")
    return Test(name, metadata, times, spans, series, raw, begin)


def _begin(metadata: Mapping[str, Any], raw: Mapping[str, Any]) -> int | None:
    """When a test began, ns. Early versions wrote times of the local zone and no zone; what Flent measured tells the zone."""
    written = next((one for one in (metadata.get("T0"), metadata.get("TIME")) if moment(one) is not None), None)
    begin = moment(written)
    if begin is None or re.search(r"(?:Z|[+-]\d\d:?\d\d)$", str(written)):
        return begin
    clocks = [one["t"] for values in raw.values() for one in records(values) if isinstance(one.get("t"), int | float)]
    earliest = min((time for time in clocks if 0 < time < _CLOCK_MAX_S), default=None)
    if earliest is None:
        return begin
    zone = round((begin / 1e9 - earliest) / _ZONE_S) * _ZONE_S
    return begin - zone * 1_000_000_000 if abs(zone) <= _ZONE_MAX_S else begin


def _grid(
    x_values: list[Any], metadata: Any, name: str, fields: Fields, notes: list[str]
) -> tuple[list[int], list[float], list[float]]:
    """Places, times and lengths in s of the steps whose times are known and ascend. A value is that of the step after its time."""
    places, times = list[int](), list[float]()
    for place, time in _known(x_values, fields):
        if not times or times[-1] < time < times[-1] + _LEAP_S:
            places.append(place)
            times.append(time)
    if left_out := len(x_values) - len(places):
        notes.append(f"{name}: {counted(left_out, 'step')} whose time is unknown or does not ascend are left out")
    gaps = [after - before for before, after in pairwise(times)]
    step = fields.number(metadata, "STEP_SIZE") or (sorted(gaps)[len(gaps) // 2] if gaps else 1.0)
    # Behind a hole in the times nothing is known.
    return places, times, [gap if gap <= 1.5 * step else step for gap in gaps] + [step] * bool(times)


def _known(x_values: list[Any], fields: Fields) -> Iterator[tuple[int, float]]:
    for place, value in enumerate(x_values):
        time = fields.value(value, "x_values", TIME_S)
        if time is not None:
            yield place, time


KIND = Log(
    "Flent",
    _takes,
    read,
    UNSEEN,
    several=True,
    ended=True,
)
