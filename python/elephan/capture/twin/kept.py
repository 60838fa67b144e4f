"""A twin as a result keeps it: values and sentences, the scenario, and what was in flight beside the capture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.base.errors import InputError
from elephan.capture.pair import Pair
from elephan.capture.twin import replay, words
from elephan.capture.twin.packets import Array, Packets
from elephan.capture.twin.twin import Twin, twin_of
from elephan.capture.twin.whatif import ask
from elephan.scenario import core

if TYPE_CHECKING:
    import pyarrow as pa

SCENARIO, SAMPLES = "twin.toml", "twin.parquet"
_POINTS = 2000


@dataclass(frozen=True)
class Kept:
    """What a result has of a twin."""

    told: dict[str, Any]
    scenario: str  # TOML
    samples: pa.Table

    def fill(self, partial: Path) -> None:
        """Writes the scenario and the samples into a folder."""
        from pyarrow import parquet

        (partial / SCENARIO).write_text(self.scenario, encoding="utf-8")
        parquet.write_table(self.samples, partial / SAMPLES)


def at_sender(paths: Sequence[Path], pair: Pair | None, is_log: bool) -> list[Path]:
    """Returns the files of a capture, of two captures the one that is nearer to the sender. Raises InputError for a log."""
    if is_log:
        raise InputError(f"{paths[0]}: a log has no packets, so its connections have no twins")
    return [path for path in paths if pair is None or str(path) == pair.near]


def make(files: Sequence[Path], row: Mapping[str, Any], what_if: Mapping[str, Any] | None, progress: bool) -> Kept:
    """Returns the twin of a connection of a capture, and what a change would have done to it."""
    twin = twin_of(files, row, progress=progress)
    answers = [ask(twin, what_if, progress=progress)] if what_if is not None else []
    return Kept(words.as_dict(twin, answers), core.to_toml(twin.scenario), _samples(twin))


def load(folder: Path, told: dict[str, Any] | None) -> Kept | None:
    """Returns the twin of a result folder whose summary has `told` of it."""
    from pyarrow import parquet

    if told is None:
        return None
    return Kept(told, (folder / SCENARIO).read_text(encoding="utf-8"), parquet.read_table(folder / SAMPLES))


def _samples(twin: Twin) -> pa.Table:
    """What was in flight, delivered and how long round trips were, in the capture and in the twin, since the first data."""
    import pyarrow as pa

    pair = {"": twin.real, "twin_": twin.best.packets}
    lasts = max(words.completion_s(packets) for packets in pair.values())
    times = np.linspace(0.0, lasts, _POINTS)
    columns: dict[str, Array] = {"time_ns": np.round(1e9 * times)}
    for prefix, packets in pair.items():
        at = times + replay.first_s(packets)
        columns[f"{prefix}inflight_bytes"] = packets.inflight(at)
        columns[f"{prefix}delivered_bytes"] = packets.delivered(at)
        columns[f"{prefix}rtt_ns"] = _round_trips(packets, at)
    return pa.table(columns)


def _round_trips(packets: Packets, times: Array) -> Array:
    """The last known round trip at times, ns; NaN before the first."""
    known = ~np.isnan(packets.rtt_s)
    place = np.searchsorted(packets.answer_s[known], times, side="right")
    return np.concatenate(([np.nan], 1e9 * packets.rtt_s[known]))[place]
