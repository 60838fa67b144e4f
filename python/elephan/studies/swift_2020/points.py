"""Points that follow from a formula: targets, loads, and numbers of flows at their fair share."""

from __future__ import annotations

from elephan.experiment.study import Point
from elephan.studies.swift_2020 import model

TARGETS_US = (15, 20, 25, 30, 50, 70)
LOADS_PERCENT = (10, 50, 80, 96)
FLOWS = (10, 100, 1000, 5000)
SENDERS = 10
LINE_BPS = 50e9
FRAME_BYTES = 1538  # on the wire, of a datagram of 1472 B


def targets() -> list[Point]:
    """Returns base targets from 15 to 70 us."""
    return [Point(f"{us} us", {"tcp.congestion_control.base_target": f"{us} us"}, us * 1e3) for us in TARGETS_US]


def loads() -> list[Point]:
    """Returns payload offered by each machine, in percent of 100 Gb/s."""
    return [Point(f"{percent} %", {"traffic.write.load": f"{percent} Gbps"}, percent / 100) for percent in LOADS_PERCENT]


def flows() -> list[Point]:
    """Returns numbers of flows that each send one packet in the time of as many; starts are spread over that time."""
    found = []
    for n in FLOWS:
        period_ns = model.period_ns(n, FRAME_BYTES, LINE_BPS)
        given = {
            "traffic.paced.connections": n // SENDERS,
            "traffic.paced.rate": f"{LINE_BPS / n:.0f} bps",
            "traffic.paced.start": {"uniform": ["0 s", f"{period_ns:.0f} ns"]},
        }
        found.append(Point(str(n), given, float(n)))
    return found
