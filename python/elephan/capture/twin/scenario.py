"""The twin of a captured connection as a scenario: one queue before a delay, and what was lost there."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elephan.capture.twin.path import FittedPath
from elephan.capture.twin.writes import SOON_S, Writes

FLOW = "twin"
SENDER, SWITCH, RECEIVER = "sender", "bottleneck", "receiver"
AFTER_S = 0.5  # a run goes on for longer than its capture


@dataclass(frozen=True)
class Ends:
    """What both hosts said and how they behaved."""

    mss: int  # that a SYN announces: payload and options
    time_stamps: bool
    initial_window: int  # segments
    receive_window: int | None  # bytes, where it limited or never grew
    reader_bps: float | None  # what the application reads, where the window closed
    ecn: str  # as the scenario has it: off, classic, accurate
    handshake_s: float  # from SYN to the end of the handshake
    first_s: float  # from SYN to the first data

    @property
    def before_data(self) -> int:
        """How many packets the sender sends before its first data: the SYN, and the ACK of the handshake if no data carry it."""
        return 0 if self.first_s == 0 else 2 if self.first_s > self.handshake_s + SOON_S else 1


def replayed(path: FittedPath, ends: Ends, writes: Writes, marked: Sequence[int], lasts_s: float) -> dict[str, Any]:
    """Returns the scenario in which just the transmissions of the capture are lost and marked, and none at a full queue.

    What met a full queue is lost before it, so that it takes no time of the link, and the rest behind it. Behind the queue
    packets are counted without those that are lost before it.
    """
    before = [ends.before_data + number for number in path.overflowed]

    def behind(numbers: Sequence[int]) -> dict[str, list[int]]:
        counted = [ends.before_data + number for number in numbers]
        return {"listed": [number - bisect(before, number) for number in counted]}

    first: dict[str, Any] = {"loss": {"listed": before}} if before else {}
    forward = {key: behind(numbers) for key, numbers in (("loss", path.random), ("mark", marked)) if len(numbers)}
    return _scenario(path, ends, writes, (first, forward), lasts_s)


def caused(path: FittedPath, ends: Ends, writes: Writes, share: float, lasts_s: float) -> dict[str, Any]:
    """Returns the scenario in which the queue overflows by itself, and other losses come at random with `share`."""
    forward: dict[str, Any] = {"loss": {"bernoulli": share}} if share > 0 else {}
    if path.buffer_known:
        forward["queue"] = {"kind": "fifo", "limit": f"{path.buffer_packets} packets"}
    return _scenario(path, ends, writes, ({}, forward), lasts_s)


def _scenario(
    path: FittedPath, ends: Ends, writes: Writes, impaired: tuple[Mapping[str, Any], Mapping[str, Any]], lasts_s: float
) -> dict[str, Any]:
    """The scenario with what the link before the queue, and the one behind it, do to packets."""
    first, forward = impaired
    reading = {} if ends.reader_bps is None else {"receive": {"reader": f"{ends.reader_bps:.0f} bps"}}
    return {
        "title": "The twin of a captured connection",
        "duration": f"{lasts_s + AFTER_S:.6f} s",
        "stack": "linux",
        "tcp": _options(ends),
        "hosts": {SENDER: {}, RECEIVER: reading},
        "switches": {SWITCH: {}},
        "links": [
            {"between": [SENDER, SWITCH], "rate": "100 Gbps", "delay": "0 s", "framing": "none", "forward": dict(first)},
            {
                "between": [SWITCH, RECEIVER],
                "rate": "100 Gbps",
                "delay": f"{1e9 * path.propagation_s / 2:.0f} ns",
                "framing": "none",
                "forward": {"rate": f"{path.rate_bps:.0f} bps", **forward},
            },
        ],
        "traffic": [{"name": FLOW, "from": SENDER, "to": RECEIVER, **_application(writes, ends)}],
    }


def _options(ends: Ends) -> dict[str, Any]:
    options: dict[str, Any] = {"mss": f"{ends.mss} B", "timestamps": ends.time_stamps, "initial_window": ends.initial_window}
    if ends.receive_window is not None:
        options["receive_window"] = f"{ends.receive_window} B"
        options["receive_window_initial"] = f"{ends.receive_window} B"
    if ends.ecn != "off":
        options["ecn"] = ends.ecn
    return options


def _application(writes: Writes, ends: Ends) -> dict[str, Any]:
    late = ends.first_s if ends.before_data == 2 else 0.0
    if writes.single and not late:
        return {"kind": "bulk"} | ({"size": f"{writes.size[0]} B"} if writes.size and writes.ended else {})
    return {
        "kind": "writes",
        "at": [f"{1e9 * (late + at - writes.at_s[0]):.0f} ns" for at in writes.at_s],
        "size": [f"{size} B" for size in writes.size],
    }
