"""Slide 5 from captures: how far apart packets and acknowledgements are, at both ends."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elephan.result.run import Run
from elephan.table.rows import Array

ENHANCED_PACKET = 6
DATA_BYTES = 1500

# What is looked at, and the capture of the port that puts it on the wire.
PLACES = {
    "data, from the sender": "sender.to.near",
    "data, to the receiver": "far.to.receiver",
    "ACKs, from the receiver": "receiver.to.far",
    "ACKs, to the sender": "near.to.sender",
}


@dataclass(frozen=True)
class Gaps:
    """Packets of one kind at one place: times of all but the first, and the time since the one before; in seconds."""

    time_s: Array
    gap_s: Array

    def during(self, begin_s: float, end_s: float) -> Array:
        """The gaps that end in a stretch of time."""
        return self.gap_s[(self.time_s >= begin_s) & (self.time_s < end_s)]


def packets(file: Path) -> list[tuple[int, int]]:
    """Time in ns and length of each packet of a capture of this simulator's."""
    data, at, found = file.read_bytes(), 0, []
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == ENHANCED_PACKET:
            _, high, low, _, length = struct.unpack_from("<IIIII", data, at + 8)
            found.append(((high << 32) | low, length))
        at += size
    return found


def gaps(run: Run) -> dict[str, Gaps]:
    """Of the data and of the acknowledgements at the places of `PLACES`, which the run has captured."""
    files = {path.stem: path for path in run.captures}
    found = {}
    for words, port in PLACES.items():
        rows = packets(files[port])
        wanted = words.startswith("data")
        time = np.array([t for t, size in rows if (size == DATA_BYTES) == wanted], dtype=float) * 1e-9
        found[words] = Gaps(time[1:], np.diff(time))
    return found
