"""The transmissions of one direction of a captured connection, what became of them, and the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elephan.scenario import core

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
ARRIVED, LOST, UNKNOWN = 0.0, 1.0, 2.0


@dataclass(frozen=True)
class Packets:
    """Columns of transmissions and of answers, as `fates` of the core has them; times in seconds, places in bytes of the stream."""

    sent_s: Array
    begin: Array
    end: Array
    again: Array
    marked: Array
    covered_s: Array
    fate: Array
    answer_s: Array
    ack: Array
    window: Array
    bytes: Array
    pieces: Array
    rtt_s: Array
    sacked: Array
    marks: Array

    @property
    def lost(self) -> Places:
        """Ordinals, from 1, of the transmissions that were lost."""
        return np.flatnonzero(self.fate == LOST) + 1

    @property
    def marks_at(self) -> Places:
        """Ordinals, from 1, of the transmissions that answers report as marked: of those that an answer covers, the last."""
        found: list[int] = []
        arrived = np.flatnonzero((self.fate == ARRIVED) & ~np.isnan(self.covered_s))
        order = arrived[np.argsort(self.covered_s[arrived], kind="stable")]
        times = self.covered_s[order]
        for place in np.flatnonzero(self.marks > 0):
            covered = order[
                np.searchsorted(times, self.answer_s[place]) : np.searchsorted(times, self.answer_s[place], side="right")
            ]
            found += (covered[-int(self.marks[place]) :] + 1).tolist()
        return np.unique(np.array(found, dtype=np.int64))

    @property
    def total(self) -> int:
        """Bytes of the stream that were sent."""
        return int(self.end.max(initial=0.0))

    @property
    def done_s(self) -> float:
        """When the last byte that was acknowledged was."""
        new = self.answer_s[self.bytes > 0]
        return float(new[-1]) if new.size else 0.0

    def inflight(self, times: Array) -> Array:
        """Returns what was sent and not acknowledged at times, in bytes."""
        highest = np.maximum.accumulate(self.end) if self.end.size else self.end
        acked = np.maximum.accumulate(self.ack) if self.ack.size else self.ack
        return np.maximum(_step(self.sent_s, highest, times) - _step(self.answer_s, acked, times), 0.0)

    def delivered(self, times: Array) -> Array:
        """Returns the bytes that answers had covered at times."""
        return _step(self.answer_s, np.cumsum(self.bytes), times)


def _step(at: Array, values: Array, times: Array) -> Array:
    """The last of `values` at each of `times`, and 0 before the first."""
    place = np.searchsorted(at, times, side="right")
    return np.concatenate(([0.0], values))[place]


def read(files: Sequence[Path], row: dict[str, Any], segment: int, vantage: str | None = None) -> Packets:
    """Returns the packets of a connection, `segment` bytes of payload the largest. Ctrl-C stops the reading."""

    def reading(stop: core.Stop) -> Any:
        return core.call_with("fates", [str(file) for file in files], int(row["connection"]), segment, vantage, cancel=stop.token)

    sent, answers = core.interruptible("elephan-twin", reading)

    def column(of: dict[str, bytes], name: str, unit: float = 1.0) -> Array:
        return np.frombuffer(of[name], dtype="<f8") / unit

    return Packets(
        sent_s=column(sent, "time_ns", 1e9),
        begin=column(sent, "begin"),
        end=column(sent, "end"),
        again=column(sent, "again"),
        marked=column(sent, "marked"),
        covered_s=column(sent, "covered_ns", 1e9),
        fate=column(sent, "fate"),
        answer_s=column(answers, "time_ns", 1e9),
        ack=column(answers, "ack"),
        window=column(answers, "window"),
        bytes=column(answers, "bytes"),
        pieces=column(answers, "pieces"),
        rtt_s=column(answers, "rtt_ns", 1e9),
        sacked=column(answers, "sacked"),
        marks=column(answers, "marks"),
    )
