"""When a connection of a capture did something: long silences divide its series, and decide no resolution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from elephan.base.errors import InputError
from elephan.table.rows import column

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[np.float64]

SILENCE_MIN_NS, SILENCE_MIN_ROUNDS = 3e9, 20.0  # shorter silences may be those of timeouts
IDLE_MAX = 0.8  # of the time: a sender with less to send has no phases
SEGMENTS_MIN = 20
HOLE = 0.5  # of an interval: what begins later than this after the one before has time between them of which nothing is known
TAIL = 0.005  # of the bytes at either end, which figures need not show


class Activity:
    """The intervals of one connection: their ends, what was delivered by then, and whether nothing was in flight or came."""

    def __init__(self, samples: pa.Table, number: int) -> None:
        chosen = column(samples, "connection") == number if samples.num_rows else np.empty(0, dtype=bool)
        if samples.num_rows:
            chosen &= ~np.isnan(column(samples, "delivered_bytes"))  # a log with gaps may not know them

        def own(name: str) -> Array:
            return column(samples, name)[chosen] if samples.num_rows else np.empty(0)

        self.time, self.span, self.delivered = own("time_ns"), own("span_ns"), own("delivered_bytes")
        moved = np.diff(self.delivered, prepend=0.0) > 0
        self.quiet = ~moved & (own("data_octets_out") == 0) & (own("inflight_bytes") == 0)

    def _silences(self, least: float) -> list[tuple[int, int]]:
        """First and last row of each silence that is longer than `least`, ns."""
        edges = np.flatnonzero(np.diff(np.concatenate([[False], self.quiet, [False]]).astype(int)))
        found = []
        for first, end in zip(edges[::2], edges[1::2], strict=True):
            if self.time[end - 1] - (self.time[first] - self.span[first]) > least:
                found.append((int(first), int(end - 1)))
        return found

    @property
    def whole_s(self) -> float:
        """How long the series is, in seconds."""
        return float(self.time[-1] - (self.time[0] - self.span[0])) / 1e9 if self.time.size else 0.0

    def active_ns(self, round_ns: float) -> float:
        """Returns the time without long silences."""
        if not self.time.size:
            return 0.0
        whole = float(self.time[-1] - (self.time[0] - self.span[0]))
        silences = self._silences(max(SILENCE_MIN_NS, SILENCE_MIN_ROUNDS * round_ns))
        return whole - sum(float(self.time[b] - (self.time[a] - self.span[a])) for a, b in silences)

    def busiest(self, round_ns: float) -> tuple[Array, Array]:
        """Returns times and bytes of the stretch between long silences in which most was delivered."""
        silences = self._silences(max(SILENCE_MIN_NS, SILENCE_MIN_ROUNDS * round_ns))
        begins, ends = [0, *(b + 1 for _, b in silences)], [*(a for a, _ in silences), self.time.size]
        stretches = [slice(a, b) for a, b in zip(begins, ends, strict=True) if b > a]
        if not stretches:
            return self.time, self.delivered

        def gained(part: slice) -> float:
            before = self.delivered[part.start - 1] if part.start else 0.0
            return float(self.delivered[part.stop - 1] - before)

        best = max(stretches, key=gained)
        if float(self.span[best][self.quiet[best]].sum()) > IDLE_MAX * float(self.span[best].sum()):
            raise InputError("its sender had nothing in flight most of the time: too little data for phases")
        # The row before the stretch says where it begins.
        first = max(best.start - 1, 0)
        return self.time[first : best.stop], self.delivered[first : best.stop]

    def bounds(self) -> tuple[float, float] | None:
        """Returns when all but a sliver of the bytes were delivered: from when to when, ns; None if nothing was."""
        if not self.delivered.size or self.delivered[-1] <= 0:
            return None
        first, last = np.searchsorted(self.delivered, [TAIL * self.delivered[-1], (1 - TAIL) * self.delivered[-1]])
        return float(self.time[first] - self.span[first]), float(self.time[min(last, self.time.size - 1)])


def enough(row: dict[str, Any]) -> None:
    """Refuses phases of a connection of a capture that has too few segments for them."""
    if 0 < row["data_segs_out"] < SEGMENTS_MIN:
        raise InputError(f"connection {row['connection']}: {row['data_segs_out']} segments are too little data for phases")


def known_stretches(samples: pa.Table) -> list[tuple[Array, Array]]:
    """Returns the stretches of time of which the intervals of a connection are known: times, and what was delivered by then.

    Each begins where its first interval does. Behind a hole in a log nobody knows the total: there it counts from the begin of the
    stretch.
    """
    names = ("time_ns", "span_ns", "data_octets_out", "delivered_bytes")
    counted = ~np.isnan(column(samples, "data_octets_out"))
    time, span, octets, delivered = (column(samples, name)[counted] for name in names)
    holes = np.flatnonzero(time[1:] - span[1:] > time[:-1] + HOLE * span[1:]) + 1
    found = []
    for place in np.split(np.arange(time.size), holes if np.isnan(delivered).any() else []):
        if place.size:
            total = np.cumsum(octets[place]) if np.isnan(delivered[place]).any() else delivered[place]
            first = max(total[0] - octets[place[0]], 0.0)
            found.append((np.insert(time[place], 0, (time - span)[place[0]]), np.insert(total, 0, first)))
    return found
