"""The twin of a captured connection: a path and an application that would have made it, run and laid beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from elephan.base.errors import InputError
from elephan.capture.twin import replay, scenario
from elephan.capture.twin.packets import Packets, read
from elephan.capture.twin.path import FittedPath, fit
from elephan.capture.twin.replay import Replay
from elephan.capture.twin.scenario import Ends
from elephan.capture.twin.writes import Writes, find

IP_TCP, TIME_STAMPS = 40, 12  # bytes of headers (RFC 791, RFC 9293), and of the option with its padding (RFC 7323 appendix A)
IPV6 = 20  # more
OPTIONS_MAX = 40  # bytes of TCP (RFC 9293 section 3.1)
SEGMENTS_MIN = 20  # of fewer data segments no path can be fitted
HELD_MIN = 0.02  # of the time: the receiver's window limited


@dataclass(frozen=True)
class Twin:
    """A twin: the fitted path, the ends, what was written, and the replays, the nearest first."""

    row: Mapping[str, Any]
    real: Packets
    path: FittedPath
    ends: Ends
    writes: Writes
    segment: int  # payload of a full segment
    replays: tuple[Replay, ...]

    @property
    def best(self) -> Replay:
        return self.replays[0]

    @cached_property
    def scenario(self) -> dict[str, Any]:
        """The scenario in which just the lost transmissions of the capture are lost."""
        return with_control(replayed(self.real, self.path, self.ends, self.writes), self.best)


def with_control(words: Mapping[str, Any], best: Replay) -> dict[str, Any]:
    """Returns a twin's scenario with the congestion control of a replay, and its options."""
    traffic = {**words["traffic"][0], "congestion_control": best.controller}
    return {**words, "tcp": {**words["tcp"], **best.options}, "traffic": [traffic]}


def replayed(real: Packets, path: FittedPath, ends: Ends, writes: Writes) -> dict[str, Any]:
    """Returns the scenario in which the capture's losses come as they came."""
    return scenario.replayed(path, ends, writes, real.marks_at.tolist(), real.done_s - replay.first_s(real) + ends.first_s)


def twin_of(
    files: Sequence[Path], row: Mapping[str, Any], controllers: Sequence[str] | None = None, progress: bool = False
) -> Twin:
    """Returns the twin of a row of `connections` of a capture. Raises InputError where the capture does not show enough.

    `controllers`: congestion controls to try; without it all that there are.
    """
    name = f"connection {row['connection']}"
    if row["protocol"] != "tcp" or not row["data_segs_out"]:
        raise InputError(f"{name}: it sent no data over TCP, so it has no twin")
    if not row["syn"] or row["setup_ns"] is None:
        raise InputError(f"{name}: the capture lacks its beginning (SYN, SYN-ACK, ACK), so its twin cannot begin")
    if row["vantage"] in ("receiver", "between"):
        raise InputError(f"{name}: it was captured away from its sender, which does not show when segments left: no twin")
    if row["data_segs_out"] < SEGMENTS_MIN:
        raise InputError(f"{name}: {row['data_segs_out']} data segments are too few for a twin; it takes {SEGMENTS_MIN}")
    stamps = TIME_STAMPS if row["time_stamps"] else 0
    announced = min((row[key] for key in ("mss_sent", "mss_rcvd") if row[key]), default=1460)
    segment = int(announced) - stamps
    real = read(files, dict(row), segment, row["vantage"] if row["vantage"] != "unknown" else None)
    # Further options, such as that of AccECN, take their room from the payload.
    full = int((real.end - real.begin).max(initial=0.0))
    options = stamps if not stamps <= int(announced) - full <= OPTIONS_MAX else int(announced) - full
    header = IP_TCP + options + (IPV6 if ":" in str(row["source"]) else 0)
    path = fit(real, header)
    if path is None:
        raise InputError(f"{name}: no round-trip time is known, so its path cannot be fitted")
    writes = find(real)
    ends = _ends(row, real, int(announced), segment)
    words = replayed(real, path, ends, writes)
    chosen = list(controllers) if controllers is not None else replay.candidates(ends.ecn != "off")
    return Twin(row, real, path, ends, writes, full, tuple(replay.replays(real, words, chosen, segment, progress)))


def _ends(row: Mapping[str, Any], real: Packets, announced: int, segment: int) -> Ends:
    first = real.answer_s[real.bytes > 0]
    initial = int((real.sent_s < first[0]).sum()) if first.size else 10
    span = max(row["data_end_ns"] - row["data_start_ns"], 1)
    held = ((row["held_window_ns"] or 0) + (row["held_closed_ns"] or 0)) / span
    closed = (row["held_closed_ns"] or 0) / span
    window = int(row["max_rwin_rcvd"]) if held > HELD_MIN and row["max_rwin_rcvd"] else None
    return Ends(
        mss=announced,
        time_stamps=bool(row["time_stamps"]),
        initial_window=max(min(initial, 10), 1),
        receive_window=window,
        reader_bps=float(row["goodput_bps"]) if closed > HELD_MIN else None,
        ecn="accurate" if row["acc_ecn"] else "classic" if row["ecn"] else "off",
        handshake_s=row["setup_ns"] / 1e9,
        first_s=real.sent_s[0] - row["start_ns"] / 1e9,
    )
